/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handler that comes every 50 us, on a stack of its own, and runs the loops that it interrupts.
 * Says whether any result was wrong, in the program or in the handler.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define ALONE __attribute__((noinline, noclone))

ALONE double dot(long n, const double *x, const double *y)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += x[i] * y[i];
    return s;
}

struct node {
    struct node *next;
    double value;
};

ALONE double chase(const struct node *p)
{
    double s = 0;
    while (p) {
        s += p->value;
        p = p->next;
    }
    return s;
}

ALONE double twice(double x)
{
    return x + x;
}

ALONE double calling(long n, const double *x)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += twice(x[i]);
    return s;
}

static double hx[16], hy[16];
static struct node hn[8];
static volatile long hits, bad;

static void handler(int signal)
{
    (void)signal;
    hits++;
    if (dot(16, hx, hy) != 96 || chase(hn) != 8 || calling(16, hx) != 64)
        bad++;
}

int main(void)
{
    static double x[64], y[64];
    static struct node n[64];
    static char stack[65536];
    long wrong = 0, rounds = 0;
    for (int i = 0; i < 64; i++) {
        x[i] = i;
        y[i] = 2;
        n[i] = (struct node){i < 63 ? &n[i + 1] : NULL, i};
    }
    for (int i = 0; i < 16; i++) {
        hx[i] = 2;
        hy[i] = 3;
    }
    for (int i = 0; i < 8; i++)
        hn[i] = (struct node){i < 7 ? &hn[i + 1] : NULL, 1};
    const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&own, NULL);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_ONSTACK | SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval often = {{0, 50}, {0, 50}};
    setitimer(ITIMER_REAL, &often, NULL);
    for (; hits < 1000; rounds++) {
        for (long q = 3; q < 10; q++) {
            wrong += dot(q, x, y) != (double)(q * (q - 1));
            wrong += calling(q, x) != (double)(q * (q - 1));
        }
        wrong += chase(n + 60) != 60 + 61 + 62 + 63;
    }
    printf("wrong %ld %ld\n", wrong, bad);
    return wrong || bad;
}
