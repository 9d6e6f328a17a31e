/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow: conditions, several ways, more than one exit, calls. */
#include <math.h>

double control_other(double);
__attribute__((noinline)) double control_other(double x)
{
    __asm__ volatile("" : "+x"(x));
    return x;
}

void control_select(double *restrict a, const double *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop f64 */
        a[i] = b[i] > 0.0 ? b[i] : 0.0;
}

void control_both(double *restrict a, const double *restrict b, const double *restrict c, long n)
{
    for (long i = 0; i < n; i++) { /* loop f64 */
        if (b[i] > 0.0)
            a[i] = b[i] * c[i];
        else
            a[i] = b[i] - c[i];
    }
}

void control_store(double *restrict a, const double *restrict b, long n)
{
    for (long i = 0; i < n; i++) { /* loop f64: ways */
        if (b[i] > 0.0)
            a[i] = b[i] + 1.0;
    }
}

void control_guarded(double *restrict a, const double *restrict b, const double *restrict c, long n)
{
    for (long i = 0; i < n; i++) { /* loop f64: ways */
        if (c[i] != 0.0)
            a[i] = b[i] / c[i];
    }
}

long control_find(const int *a, int key, long n)
{
    long i;
    for (i = 0; i < n; i++) { /* loop i32: exits */
        if (a[i] == key)
            break;
    }
    return i;
}

void control_until_zero(char *restrict a, const char *restrict b)
{
    while (*b) /* loop i8: exits */
        *a++ = (char)(*b++ ^ 32);
}

void control_call(double *restrict a, const double *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop f64: call */
        a[i] = control_other(b[i]) + 1.0;
}

void control_sine(double *restrict a, const double *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop f64: call */
        a[i] = sin(b[i]);
}

void control_root(double *restrict a, const double *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop f64: call */
        a[i] = sqrt(b[i]) + 1.0;
}

void control_switch(int *restrict a, const int *restrict b, long n)
{
    for (long i = 0; i < n; i++) { /* loop i32 */
        switch (b[i]) {
        case 0:
            a[i] = 5;
            break;
        case 1:
            a[i] = 9 * b[i] + a[i];
            break;
        default:
            a[i] = -b[i];
        }
    }
}

void control_invariant(double *restrict a, const double *restrict b, int flag, long n)
{
    for (long i = 0; i < n; i++) { /* loop f64 */
        if (flag)
            a[i] = b[i] * 2.0;
        else
            a[i] = b[i] + 2.0;
    }
}

void control_two_exits(double *restrict a, const double *restrict b, long n)
{
    for (long i = 0; i < n; i++) { /* loop f64: exits */
        if (b[i] < 0.0)
            return;
        a[i] = b[i] * 0.5;
    }
}

void control_count(const float *restrict a, long *restrict count, long n)
{
    long k = 0;
    for (long i = 0; i < n; i++) /* loop i64 */
        k += a[i] > 0.5f;
    *count = k;
}

void control_continue(float *restrict a, const float *restrict b, long n)
{
    for (long i = 0; i < n; i++) { /* loop f32: ways */
        if (b[i] == 3.0f)
            continue;
        a[i] = a[i] / b[i] + 1.0f;
    }
}

void control_absolute(float *restrict a, const float *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop f32: free */
        a[i] = fabsf(b[i]);
}

void control_clamp(int *restrict a, const int *restrict b, long n)
{
    for (long i = 0; i < n; i++) { /* loop i32: free */
        int x = b[i];
        x = x < 0 ? 0 : x;
        a[i] = x > 255 ? 255 : x;
    }
}
