/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time burnt while and after C++ exceptions fly, with the paths where it is burnt.
 * Usage: exceptions SECONDS
 */
#include "truth.h"

#include <stdexcept>

static uint64_t seed = 1;
static uint64_t some()
{
    return 100000 + truth_random(&seed) % 300000;
}

static uint64_t guard_ns;
struct Guard {
    uint64_t n;
    explicit Guard(uint64_t times) : n(times) {}
    NOINLINE ~Guard()
    {
        uint64_t begin = thread_ns();
        SPIN(n);
        guard_ns += thread_ns() - begin;
    }
};

static NOINLINE void thrower(int depth)
{
    if (depth == 0)
        throw std::runtime_error("thrown");
    thrower(depth - 1);
    STAY();
}
static NOINLINE void holder(uint64_t n)
{
    Guard guard(n);
    thrower(3);
}
namespace space {
template <typename T> NOINLINE void burner(T n)
{
    SPIN(n);
}
} // namespace space
static NOINLINE void catcher(uint64_t n)
{
    try {
        holder(n);
    } catch (const std::exception &) {
        MEASURE("catcher(unsigned long);void space::burner<unsigned long>(unsigned long)",
                space::burner(some()));
    }
    MEASURE("catcher(unsigned long);void space::burner<int>(int)", space::burner((int)some()));
}

int main(int argc, char **argv)
{
    uint64_t end = (uint64_t)(1e9 * (argc > 1 ? atof(argv[1]) : 0.3));
    while (thread_ns() < end) {
        guard_ns = 0;
        catcher(2 * some());
        truth_add("catcher(unsigned long);holder(unsigned long);Guard::~Guard()", guard_ns);
    }
    truth_print(stdout);
    return 0;
}
