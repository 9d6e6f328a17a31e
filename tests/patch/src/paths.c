/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops reached by several paths: alone, one in another, with calls, short ones entered often. Also
 * under a moved stack pointer, and from a handler that interrupts them. They run for enough CPU
 * time to be sampled, on fast CPUs too.
 */
#include <alloca.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define ROUNDS_LEAST 1000
#define CLOCKS_LEAST (7 * CLOCKS_PER_SEC / 10)

#define ALONE __attribute__((noinline, noclone))

static double values[64];
static volatile double result;

ALONE double straight(long n)
{
    double s = 1;
    for (long i = 0; i < n; i++)
        s = s * 0.999 + values[i & 63];
    return s;
}

ALONE double nested(long n, long m)
{
    double s = 1;
    for (long i = 0; i < n; i++) {
        for (long k = 0; k < m; k++)
            s = s * 0.998 + values[k & 63];
        s += values[i & 63];
    }
    return s;
}

ALONE double twice(double x)
{
    double s = x;
    for (int i = 0; i < 40; i++)
        s = s * 0.5 + x;
    return s;
}

ALONE double calling(long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += twice(values[i & 63]);
    return s;
}

ALONE double on_stack(long n)
{
    double *own = alloca((size_t)(n & 31) * 8 + 256), s = 0;
    memset(own, 0, 256);
    for (long i = 0; i < n; i++) {
        own[i & 31] += s * 0.25 + 1;
        s = own[(i + 7) & 31] * 0.5;
    }
    return s;
}

ALONE double one_way(void)
{
    double s = 0;
    for (int i = 0; i < 200; i++)
        s += straight(1000);
    return s + 1;
}

ALONE double other_way(void)
{
    double s = nested(2000, 6);
    for (int i = 0; i < 400; i++)
        s += straight(100) + on_stack(300);
    return s + 2;
}

ALONE double third_way(void)
{
    return calling(3000) + nested(20, 1000) + 3;
}

static void handler(int number)
{
    result += straight(number * 10000);
}

int main(int argc, char **argv)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGVTALRM, &action, NULL);
    const struct itimerval often = {{0, 4000}, {0, 4000}};
    (void)argc;
    (void)argv;
    setitimer(ITIMER_VIRTUAL, &often, NULL);
    for (int i = 0; i < 64; i++)
        values[i] = i;
    for (int i = 0; i < ROUNDS_LEAST || clock() < CLOCKS_LEAST; i++) {
        values[i & 63] += 1e-3;
        result += one_way() + other_way() + third_way();
    }
    printf("%d\n", result > 0);
    return 0;
}
