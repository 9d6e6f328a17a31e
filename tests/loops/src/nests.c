/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops with known nesting and trip counts. A mark on the first line of a loop with code has this
 * form: LOOP function level depth entered=N times=N left=N. `entered` is how often `main` below
 * starts the loop with at least one iteration. `times` is the number of all iterations, `left` the
 * number of those that leave the loop before their end.
 */
#include <stdio.h>
#include <stdlib.h>

/* Called as written, whatever the optimiser knows. */
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

static int a[64], b[64];
volatile int sink;

APART int single(const int *x, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) /* LOOP single single 1 entered=1 times=20 */
        s = s * 3 ^ x[i];
    return s;
}

APART void pair(int *x, int n, int m)
{
    for (int i = 0; i < n; i++)     /* LOOP pair outermost 1 entered=1 times=7 */
        for (int j = 0; j < m; j++) /* LOOP pair innermost 2 entered=7 times=35 */
            x[i + j] ^= x[j] * i + 1;
}

APART void triple(int *x, int n)
{
    for (int i = 0; i < n; i++) {         /* LOOP triple outermost 1 entered=1 times=4 */
        for (int j = 0; j < n; j++) {     /* LOOP triple between 2 entered=4 times=16 */
            for (int k = 0; k < n; k++) { /* LOOP triple innermost 3 entered=16 times=64 */
                x[i + j + k] ^= x[k] * i + j;
            }
            x[j] += 3;
        }
        x[i] -= 5;
    }
}

APART void triangle(int *x, int n)
{
    for (int i = 0; i < n; i++)      /* LOOP triangle outermost 1 entered=1 times=9 */
        for (int j = 0; j <= i; j++) /* LOOP triangle innermost 2 entered=9 times=45 */
            x[i] = x[i] * 5 ^ x[j];
}

APART void siblings(int *x, int n)
{
    for (int i = 0; i < n; i++) {   /* LOOP siblings outermost 1 entered=1 times=6 */
        for (int j = 0; j < 5; j++) /* LOOP siblings innermost 2 entered=6 times=30 */
            x[j + i] = x[j] * 3 ^ i;
        sink = i;
        for (int j = n; j > 0; j--) /* LOOP siblings innermost 2 entered=6 times=36 */
            x[j] = x[j - 1] * 7 ^ i;
    }
}

APART int after(int *x, int n)
{
    int s = 1;
    for (int i = 0; i < n; i++) /* LOOP after single 1 entered=1 times=11 */
        x[i] = x[i] * 3 ^ 1;
    sink = s;
    for (int i = n; i-- > 0;) /* LOOP after single 1 entered=1 times=11 */
        s = s * 5 ^ x[i];
    return s;
}

/* Three ways back to the head: one loop. */
APART int skipping(const int *x, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) { /* LOOP skipping single 1 entered=1 times=30 */
        if (x[i] % 3 == 0)
            continue;
        sink = s;
        if (x[i] % 5 == 0) {
            s ^= 77;
            continue;
        }
        s = s * 3 + x[i];
    }
    return s;
}

APART int search(const int *x, int n, int what)
{
    int i = 0;
    while (i < n) { /* LOOP search single 1 entered=2 times=32 left=1 */
        if (x[i] == what)
            break;
        if (x[i] == 1000000)
            return -2;
        i++;
    }
    return i;
}

APART int tested_at_end(const int *x)
{
    int i = 0;
    do {
        sink = i; /* LOOP tested_at_end single 1 entered=1 times=13 */
    } while (x[i++] != 12);
    return i;
}

APART int left_in_middle(const int *x)
{
    int i = 0;
    for (;;) {
        sink = 1; /* LOOP left_in_middle single 1 entered=1 */
        if (x[i] == 9)
            break;
        sink = 2;
        i++;
    }
    return i;
}

__attribute__((noinline)) static void give_up(int code)
{
    sink = code;
    exit(code);
}

/* The call that does not return is neither a path round the loop nor an exit. */
APART int guarded(const int *x, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) { /* LOOP guarded single 1 entered=1 times=15 */
        if (x[i] < 0)
            give_up(3);
        if (x[i] > 5000)
            abort();
        s = s * 3 ^ x[i];
    }
    return s;
}

/* A loop made of gotos is a loop. */
APART int by_goto(const int *x, int n)
{
    int i = 0, s = 0;
again:
    s = s * 3 ^ x[i]; /* LOOP by_goto single 1 entered=1 times=8 */
    sink = s;
    if (++i < n)
        goto again;
    return s;
}

APART int chosen(const int *x, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) { /* LOOP chosen single 1 entered=1 times=40 */
        switch (x[i] & 15) {
        case 0:
            s += 11;
            break;
        case 1:
            s ^= 5;
            break;
        case 2:
            s *= 3;
            break;
        case 3:
            s -= x[i];
            break;
        case 4:
            sink = s;
            break;
        case 5:
            s = ~s;
            break;
        case 6:
            s += i;
            continue;
        case 7:
            s >>= 1;
            break;
        case 9:
            s <<= 2;
            break;
        default:
            s--;
            break;
        }
        sink = s;
    }
    return s;
}

APART int straight(int x)
{
    return x * 3 + 1;
}

int main(void)
{
    for (int i = 0; i < 64; i++) { /* LOOP main single 1 entered=1 times=64 */
        a[i] = i;
        sink = i;
    }
    sink = single(a, 20);
    pair(b, 7, 5);
    triple(b, 4);
    triangle(b, 9);
    siblings(b, 6);
    sink = after(b, 11);
    sink = skipping(a, 30);
    sink = search(a, 22, 100) + search(a, 30, 9);
    sink = tested_at_end(a);
    sink = left_in_middle(a);
    sink = guarded(a, 15);
    sink = by_goto(a, 8);
    sink = chosen(a, 40);
    sink = straight(sink);
    return 0;
}
