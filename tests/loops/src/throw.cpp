// SPDX-License-Identifier: Apache-2.0
// Exceptions in and around loops: landing pads that clean up, catch, go on with the loop, and throw
// again. No mark counts iterations: an iteration may end in a landing pad.
#include <stdexcept>
#include <string>

volatile long sink;

struct guard {
    long id;
    explicit guard(long i) : id(i) { sink = i; }
    ~guard() { sink = -id; }
};

__attribute__((noinline)) long risky(long i)
{
    if (i % 5 == 3)
        throw std::runtime_error("three");
    if (i % 7 == 6)
        throw i;
    return i * 2;
}

// NORETURN always_throws
__attribute__((noinline)) void always_throws(long i)
{
    sink = i;
    throw std::out_of_range("always");
}

__attribute__((noinline)) long catch_inside(long n)
{
    long s = 0;
    for (long i = 0; i < n; i++) { // LOOP catch_inside single 1
        try {
            guard g(i);
            s += risky(i);
        } catch (const std::exception &e) {
            s ^= 3;
        } catch (long v) {
            s ^= v;
            continue;
        }
        sink = s;
    }
    return s;
}

__attribute__((noinline)) long catch_outside(long n)
{
    long s = 0;
    try {
        for (long i = 0; i < n; i++) { // LOOP catch_outside single 1
            guard g(i);
            s += risky(i);
            sink = s;
        }
    } catch (const std::runtime_error &) {
        s = -s;
    }
    return s;
}

__attribute__((noinline)) long nested(long n)
{
    long s = 0;
    for (long i = 0; i < n; i++) { // LOOP nested outermost 1
        try {
            for (long j = i; j < n; j++) { // LOOP nested innermost 2
                guard g(j);
                if (j == 9)
                    always_throws(j);
                s += risky(j);
            }
        } catch (...) {
            s++;
        }
        sink = s;
    }
    return s;
}

__attribute__((noinline)) long again(long n)
{
    try {
        return catch_outside(n) + risky(3);
    } catch (const std::exception &e) {
        if (n == 1)
            throw;
        return 7;
    }
}

int main()
{
    sink = catch_inside(20);
    sink = catch_outside(20);
    sink = nested(12);
    sink = again(2);
    try {
        sink = again(1);
    } catch (...) {
        sink = 5;
    }
    return 0;
}
