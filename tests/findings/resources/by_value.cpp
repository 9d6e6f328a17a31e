/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Functions take a state of 4 KiB by value, and each call copies it.
 * place: pressure temperature flux_between memcpy memmove
 * finding: copying
 * words: (?i)cop(y|ies)|by reference|by value
 * false: memory_bandwidth memory_latency scalar_chain narrow_accesses memory_management
 * flags: -O2 -g
 * arguments: 64 180000
 * repair: Functions take the state by reference.
 * clock: cpu */
#include <cstdio>
#include <cstdlib>
#include <vector>

struct State {
    double density, energy, velocity[3];
    double fractions[507];
};

#ifdef REPAIRED
using Argument = const State &;
#else
using Argument = State;
#endif

__attribute__((noinline)) static double pressure(Argument state) /* HERE */
{
    double kinetic = 0;

    for (double v : state.velocity)
        kinetic += 0.5 * state.density * v * v;
    return 0.4 * (state.energy - kinetic) + state.fractions[0];
}

__attribute__((noinline)) static double temperature(Argument state) /* HERE */
{
    double heavy = 0;

    for (int i = 1; i < 40; i++)
        heavy += state.fractions[i];
    return pressure(state) / (state.density * (1 + heavy)); /* HERE */
}

__attribute__((noinline)) static double flux_between(Argument left, Argument right) /* HERE */
{
    return 0.5 * (pressure(left) - pressure(right)) +       /* HERE */
           0.01 * (temperature(left) - temperature(right)); /* HERE */
}

static std::vector<State> tube_of(size_t n)
{
    std::vector<State> tube(n);

    for (size_t i = 0; i < n; i++) {
        tube[i].density = 1 + 0.1 * (i % 5);
        tube[i].energy = 10 + i % 3;
        for (int k = 0; k < 507; k++)
            tube[i].fractions[k] = 0.001 * ((i + k) % 9);
    }
    return tube;
}

static double advance(std::vector<State> &tube, size_t i)
{
    double flux = flux_between(tube[i], tube[i + 1]);

    tube[i].energy -= 1e-4 * flux;
    tube[i + 1].energy += 1e-4 * flux;
    return flux;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    size_t n = atol(argv[1]);
    std::vector<State> tube = tube_of(n);
    double checksum = 0;

    for (long step = 0; step < atol(argv[2]) * 10; step++)
        checksum += advance(tube, step % (n - 1));
    printf("checksum %.6f\n", checksum);
}
