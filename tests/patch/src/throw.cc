// SPDX-License-Identifier: Apache-2.0
// Exceptions that are thrown through loops, caught in them and in their function, with destructors.
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#define ALONE __attribute__((noinline))

ALONE double may_throw(double x, long i, long bad)
{
    if (i == bad)
        throw std::runtime_error("bad");
    return x * 1.5;
}
struct Guard {
    double *p;
    ALONE explicit Guard(double *q) : p(q) {}
    ALONE ~Guard() { *p += 1; }
};
ALONE double out(long n, const double *x, long bad)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += may_throw(x[i], i, bad);
    return s;
}
ALONE double within(long n, const double *x, long bad)
{
    double s = 0;
    for (long i = 0; i < n; i++) {
        try {
            s += may_throw(x[i], i % 50, bad);
        } catch (const std::exception &) {
            s -= 1;
        }
    }
    return s;
}
ALONE double around(long n, const double *x, long bad)
{
    double s = 0;
    try {
        for (long i = 0; i < n; i++)
            s += may_throw(x[i], i, bad);
    } catch (const std::exception &) {
        s -= 7;
    }
    return s;
}
ALONE double guarded(long n, const double *x, long bad, double *count)
{
    double s = 0;
    for (long i = 0; i < n; i++) {
        Guard guard(count);
        s += may_throw(x[i], i, bad);
    }
    return s;
}
int main()
{
    static double x[1000];
    double s = 0, count = 0;
    std::map<std::string, int> words;
    for (int i = 0; i < 1000; i++)
        x[i] = i;
    for (int r = 0; r < 4; r++) {
        try {
            s += out(100, x, r & 1 ? 50 : -1);
        } catch (const std::exception &) {
            s += 3;
        }
        s += within(100, x, 7);
        s += around(100, x, r & 1 ? 30 : -1);
        try {
            s += guarded(100, x, r & 1 ? 10 : -1, &count);
        } catch (const std::exception &) {
            s += 5;
        }
        words["w" + std::to_string(r % 7)] += r;
    }
    for (const auto &w : words)
        s = s * 1.25 + w.second;
    std::printf("%.17g %g\n", s, count);
}
