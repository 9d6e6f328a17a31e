// SPDX-License-Identifier: Apache-2.0
// C++: members of templates and a functor that are inlined into a template, one of them into two
// callers. Also a recursion with an inlined path down. Built with -DINLINE=NOINLINE it is the same
// program with functions. Prints time by chain of functions below main. Usage: inlining SECONDS
#include "truth.h"

#ifndef INLINE
#define INLINE inline __attribute__((always_inline))
#endif
// Lengths of which none is the same as another's, so that a mistake of two functions is seen.
static uint64_t seed = 1;
static NOINLINE uint64_t some(uint64_t part)
{
    return part * (20000 + truth_random(&seed) % 20000);
}

namespace mesh {
template <int K> struct Grid {
    INLINE void relax(const char *chain)
    {
        uint64_t n = some(K);
        for (int sweep = 0; sweep < 2; sweep++)
            MEASURE(chain, SPIN(n));
    }
};
struct Smooth {
    const char *relax, *here;
    INLINE void operator()()
    {
        Grid<5>().relax(relax);
        uint64_t n = some(4);
        MEASURE(here, SPIN(n));
    }
};
template <class F> INLINE void each(F f, int times, const char *here)
{
    for (int i = 0; i < times; i++)
        f();
    uint64_t n = some(7);
    MEASURE(here, SPIN(n));
}
} // namespace mesh

static NOINLINE void smoothing()
{
    mesh::each(mesh::Smooth{"smoothing;mesh::each<mesh::Smooth>;mesh::Smooth::operator();"
                            "mesh::Grid<5>::relax",
                            "smoothing;mesh::each<mesh::Smooth>;mesh::Smooth::operator()"},
               3, "smoothing;mesh::each<mesh::Smooth>");
    STAY();
}

static NOINLINE void alone()
{
    mesh::Grid<5>().relax("alone;mesh::Grid<5>::relax");
    uint64_t n = some(6);
    MEASURE("alone", SPIN(n));
}

// Not static: of an inlined function without a name for linking perf now and then says the symbol.
NOINLINE void walk(int depth);
INLINE void descend(int depth)
{
    uint64_t n = some(3);
    MEASURE(depth == 2 ? "walk;descend" : depth == 1 ? "walk;descend;walk;descend" : "", SPIN(n));
    walk(depth - 1);
    STAY();
}
NOINLINE void walk(int depth)
{
    uint64_t n = some(2);
    MEASURE(depth == 2   ? "walk"
            : depth == 1 ? "walk;descend;walk"
                         : "walk;descend;walk;descend;walk",
            SPIN(n));
    if (depth > 0)
        descend(depth);
    STAY();
}

int main(int argc, char **argv)
{
    uint64_t end = (uint64_t)(1e9 * (argc > 1 ? atof(argv[1]) : 0.3));
    while (thread_ns() < end) {
        smoothing();
        alone();
        walk(2);
    }
    truth_print(stdout);
    return 0;
}
