/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coroutines on stacks of 16 KiB that take turns in the middle of the same loop, with vector
 * registers live; a record of one that another one's entry overwrote is not counted.
 */
#include <stdio.h>
#include <ucontext.h>

#define ALONE __attribute__((noinline, noclone))
enum { ROUTINES = 5 };

static ucontext_t home, routine[ROUTINES];
static char stack[ROUTINES][16384];
static double result[ROUTINES];

ALONE void turn(int me)
{
    swapcontext(&routine[me], &home);
}

ALONE double work(int me, long n)
{
    double s = me;
    for (long i = 0; i < n; i++) {
        s = s * 1.0625 + (double)i;
        if (i % 10 == 9)
            turn(me);
    }
    return s;
}

ALONE double quiet(long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += (double)(i ^ 3);
    return s;
}

static void body(int me)
{
    for (;;) {
        result[me] += work(me, 25 + me) + quiet(10 + me);
        turn(me);
    }
}

int main(void)
{
    for (int i = 0; i < ROUTINES; i++) {
        getcontext(&routine[i]);
        routine[i].uc_stack.ss_sp = stack[i];
        routine[i].uc_stack.ss_size = sizeof stack[i];
        makecontext(&routine[i], (void (*)(void))body, 1, i);
    }
    for (int r = 0; r < 2000; r++)
        swapcontext(&home, &routine[r % ROUTINES]);
    double s = 0;
    for (int i = 0; i < ROUTINES; i++)
        s = s * 1.5 + result[i];
    printf("%.17g\n", s);
    return 0;
}
