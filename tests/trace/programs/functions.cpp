// SPDX-License-Identifier: Apache-2.0
// As functions.c, with exceptions, templates and members. usage: functions LOG
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define UNSEEN __attribute__((no_instrument_function))

struct Call {
    int depth;
    std::string name;
};
static int depth;
static FILE *logged;
static volatile int sink;

struct Seen {
    UNSEEN explicit Seen(const char *name)
    {
        std::fprintf(logged, "%d %s\n", depth++, name);
    }
    UNSEEN ~Seen()
    {
        depth--;
    }
};

namespace solver
{

__attribute__((noinline)) int leaf(int x)
{
    Seen seen("solver::leaf(int)");
    return sink += x;
}

__attribute__((noinline)) void throws(int n)
{
    Seen seen("solver::throws(int)");
    if (n == 0)
        throw 7;
    throws(n - 1);
    sink++;
}

template <typename T> struct Grid {
    __attribute__((noinline)) T step(T by)
    {
        Seen seen("solver::Grid<double>::step(double)");
        return by + static_cast<T>(leaf(1));
    }
};

__attribute__((noinline)) int catches(int n)
{
    Seen seen("solver::catches(int)");
    try {
        throws(n);
    } catch (int caught) {
        leaf(caught);
    }
    return leaf(2);
}

__attribute__((noinline)) void rethrows(int n)
{
    Seen seen("solver::rethrows(int)");
    try {
        throws(n);
    } catch (int caught) {
        leaf(caught);
        throw;
    }
}

} // namespace solver

UNSEEN int main(int argc, char **argv)
{
    if (argc != 2 || !(logged = std::fopen(argv[1], "w")))
        return 2;
    solver::Grid<double> grid;
    for (int i = 0; i < 4; i++)
        solver::catches(i);
    grid.step(1.5);
    try {
        solver::rethrows(2);
    } catch (int) {
        solver::leaf(1);
    }
    grid.step(2.5);
    return std::fclose(logged) == 0 ? 0 : 3;
}
