/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Each phase has two equal threads; phases differ in length, and main only joins.
 * place: evolve run_phase
 * finding: nothing
 * false: load_imbalance parallel_overhead parallel_time lock_contention waiting waiting_in_turn
 * false: late oversubscribed
 * flags: -O2 -g -pthread
 * arguments: 500000000
 * naive: Threads live for all phases and wait at a barrier.
 * clock: wall */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <thread>
#include <utility>
#include <vector>

struct Population {
    uint64_t state[2];
};

/* A walk that needs each step before the next. */
static uint64_t evolve(uint64_t state, long n)
{
    for (long i = 0; i < n; i++) { /* HERE */
        state ^= state << 13;      /* HERE */
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state;
}

static long length_of(int phase, long longest)
{
    return phase == 0 ? longest : longest / (4 + 2 * phase);
}

#ifdef NAIVE
static void run_all(Population &population, long longest, int phase_n)
{
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, nullptr, 2);
    auto work = [&](int island) {
        for (int phase = 0; phase < phase_n; phase++) {
            population.state[island] = evolve(population.state[island], length_of(phase, longest));
            if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
                std::swap(population.state[0], population.state[1]);
            pthread_barrier_wait(&barrier);
        }
    };
    std::thread other(work, 1);

    work(0);
    other.join();
    pthread_barrier_destroy(&barrier);
}
#else
static void run_phase(Population &population, long n)
{
    std::vector<std::thread> threads;

    for (uint64_t &state : population.state)
        threads.emplace_back([&state, n] { state = evolve(state, n); });
    for (std::thread &one : threads)
        one.join();
}

static void run_all(Population &population, long longest, int phase_n)
{
    for (int phase = 0; phase < phase_n; phase++) {
        run_phase(population, length_of(phase, longest));
        std::swap(population.state[0], population.state[1]);
    }
}
#endif

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    Population population = {{1, 2}};

    run_all(population, atol(argv[1]), 6);
    printf("checksum %llu %llu\n", (unsigned long long)population.state[0],
           (unsigned long long)population.state[1]);
}
