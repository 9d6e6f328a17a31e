/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Nothing can be gained. The threads have equal work and enter the critical section once in
 * some milliseconds. The kernel is vectorised and works in the near cache.
 * place: push main inside main._omp_fn.0
 * finding: nothing
 * false: lock_contention load_imbalance parallel_overhead parallel_time waiting_in_turn
 * flags: -O3 -g -fopenmp -march=x86-64-v3 -ffast-math
 * variables: OMP_NUM_THREADS=2
 * arguments: 768 500
 * naive: A reduction takes the place of the critical section.
 * clock: cpu */
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace
{

constexpr int kTurns = 16000;

// Particles of one thread, in arrays that fit into its near cache.
struct Bunch {
    std::vector<float> x, y, px, py;
};

Bunch injected(std::size_t n, std::size_t thread)
{
    Bunch b{std::vector<float>(n), std::vector<float>(n), std::vector<float>(n),
            std::vector<float>(n)};
    for (std::size_t i = 0; i < n; i++) {
        b.x[i] = static_cast<float>((i * 37 + thread * 11) % 101) / 101 - 0.5f;
        b.y[i] = static_cast<float>((i * 53 + thread * 7) % 103) / 103 - 0.5f;
    }
    return b;
}

// Moves a bunch through a ring of weak sextupoles; a group stays in registers.
__attribute__((noinline)) void push(Bunch &bunch, float strength)
{
    constexpr std::size_t kGroup = 32;

    for (std::size_t first = 0; first + kGroup <= bunch.x.size(); first += kGroup) {
        float x[kGroup], y[kGroup], px[kGroup], py[kGroup];

        for (std::size_t i = 0; i < kGroup; i++) {
            x[i] = bunch.x[first + i];
            y[i] = bunch.y[first + i];
            px[i] = bunch.px[first + i];
            py[i] = bunch.py[first + i];
        }
        for (int turn = 0; turn < kTurns; turn++)
            for (std::size_t i = 0; i < kGroup; i++) {
                px[i] -= 0.04f * x[i] + strength * (x[i] * x[i] - y[i] * y[i]);
                py[i] -= 0.05f * y[i] - 2 * strength * x[i] * y[i];
                x[i] += 0.9f * px[i];
                y[i] += 0.9f * py[i];
            }
        for (std::size_t i = 0; i < kGroup; i++) {
            bunch.x[first + i] = x[i];
            bunch.y[first + i] = y[i];
            bunch.px[first + i] = px[i];
            bunch.py[first + i] = py[i];
        }
    }
}

long inside(const Bunch &bunch)
{
    long n = 0;
    for (std::size_t i = 0; i < bunch.x.size(); i++)
        n += bunch.x[i] * bunch.x[i] + bunch.y[i] * bunch.y[i] < 0.09f;
    return n;
}

} // namespace

int main(int argc, char **argv)
{
    const auto particles = static_cast<std::size_t>(argc > 1 ? std::atol(argv[1]) : 128);
    const int steps = argc > 2 ? std::atoi(argv[2]) : 10;
    Bunch bunches[] = {injected(particles, 0), injected(particles, 1)};
    long kept = 0;

    for (int step = 0; step < steps; step++) {
        const float strength = 1e-4f * static_cast<float>(step % 3);
#ifdef NAIVE
#pragma omp parallel for schedule(static) reduction(+ : kept)
        for (int k = 0; k < 2; k++) {
            push(bunches[k], strength);
            kept += inside(bunches[k]);
        }
#else
#pragma omp parallel for schedule(static)
        for (int k = 0; k < 2; k++) {
            push(bunches[k], strength);
            const long n = inside(bunches[k]);
#pragma omp critical
            kept += n;
        }
#endif
    }
    std::printf("gyro_push kept %ld\n", kept);
    return 0;
}
