/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways out of a function other than a return. Some calls never come back: known names, and
 * functions of ours that only lead there. Tail calls are direct, through a pointer, or to each
 * other. Also cold parts, longjmp, and callbacks from the C library.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

volatile long sink;
static jmp_buf place;

/* NORETURN stop */
APART void stop(int code)
{
    sink = code;
    exit(code);
}

/* NORETURN stop_later: through another function of ours */
APART void stop_later(int code)
{
    sink = code + 1;
    if (code > 5)
        stop(code);
    stop(code + 1);
}

/* NORETURN jump_back */
APART void jump_back(int code)
{
    sink = code;
    longjmp(place, code);
}

APART long maybe_stop(long x)
{
    if (x > 1000)
        stop_later((int)x);
    if (x > 900)
        abort();
    return x * 3;
}

__attribute__((cold, noinline)) static void complain(long x)
{
    sink = x;
    if (x == 12345)
        puts("rare");
}

APART long rarely(const int *x, int n)
{
    long s = 0;
    for (int i = 0; i < n; i++) { /* LOOP rarely single 1 entered=1 times=16 */
        if (__builtin_expect(x[i] > 13, 0)) {
            complain(x[i]);
            complain(x[i] * 2);
            s ^= 1;
        }
        s = s * 3 ^ x[i];
    }
    return s;
}

APART long last(long x)
{
    return x ^ 5;
}

APART long tail_direct(long x)
{
    sink = x;
    return last(x + 1);
}

APART long tail_pointer(long (*f)(long), long x)
{
    sink = x;
    return f(x + 2);
}

static long (*const table[])(long) = {last, tail_direct, maybe_stop, last};

APART long tail_table(unsigned i, long x)
{
    sink = x;
    return table[i & 3](x);
}

APART long odd(long n);
APART long even(long n)
{
    return n == 0 ? 1 : odd(n - 1);
}
APART long odd(long n)
{
    return n == 0 ? 0 : even(n - 1);
}

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

APART long with_longjmp(int n)
{
    volatile int tries = 0;
    int code = setjmp(place);
    if (tries < n) {
        tries++;
        jump_back(tries);
    }
    return code;
}

int main(void)
{
    static int x[16];
    for (int i = 0; i < 16; i++) {
        x[i] = (i * 7) % 16; /* LOOP main single 1 entered=1 times=16 */
        sink = i;
    }
    qsort(x, 16, sizeof *x, ascending);
    sink = rarely(x, 16);
    sink = tail_direct(3) + tail_pointer(last, 4) + tail_pointer(maybe_stop, 5);
    for (unsigned i = 0; i < 4; i++)
        sink = tail_table(i, 9); /* LOOP main single 1 entered=1 times=4 */
    sink = even(10) + odd(7);
    sink = with_longjmp(3);
    if (sink == 3)
        stop_later(0);
    return 9;
}
