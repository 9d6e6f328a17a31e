/* SPDX-License-Identifier: Apache-2.0 */
/* Induction: values that are a function of the count of iterations, in several guises. */

void induction_value(double *restrict a, long n)
{
    for (int i = 0; i < n; i++) /* loop f64: free */
        a[i] = (double)i;
}

void induction_int(int *restrict a, int n)
{
    for (int i = 0; i < n; i++) /* loop i32: free */
        a[i] = 3 * i + 1;
}

void induction_second(double *restrict a, const double *restrict b, long n)
{
    long k = 0;
    for (long i = 0; i < n; i++) { /* loop f64: free */
        a[k] = b[i] + 1.0;
        k++;
    }
}

void induction_pointer(float *restrict a, const float *restrict b, long n)
{
    const float *end = b + n;
    while (b != end) /* loop f32: free */
        *a++ = *b++ * 2.0f;
}

void induction_by_two(float *restrict a, const float *restrict b, long n)
{
    for (long i = 0; i < 2 * n; i += 2) { /* loop f32 */
        a[i] = b[i] + 1.0f;
        a[i + 1] = b[i + 1] + 2.0f;
    }
}

void induction_sum(double *restrict a, const double *restrict b, double step, long n)
{
    double x = 0.0;
    for (long i = 0; i < n; i++) { /* loop f64: chain */
        a[i] = b[i] * x;
        x += step;
    }
}

void induction_geometric(double *restrict a, long n)
{
    double x = 1.0;
    for (long i = 0; i < n; i++) { /* loop f64: chain */
        a[i] = x;
        x *= 0.99;
    }
}

void induction_unsigned(unsigned *restrict a, const unsigned *restrict b, unsigned n)
{
    for (unsigned i = 0; i < n; i++) /* loop i32: free */
        a[i] = b[i] + i;
}

void induction_flip(double *restrict a, const double *restrict b, long n)
{
    double sign = 1.0;
    for (long i = 0; i < n; i++) { /* loop f64: chain */
        a[i] = sign * b[i];
        sign = -sign;
    }
}

void induction_wrap(double *restrict a, const double *restrict b, long n)
{
    long last = n - 1;
    for (long i = 0; i < n; i++) { /* loop f64 */
        a[i] = (b[i] + b[last]) * 0.5;
        last = i;
    }
}

void induction_short(short *restrict a, int n)
{
    for (int i = 0; i < n; i++) /* loop i16: free */
        a[i] = (short)(i & 255);
}

void induction_shifted(long *restrict a, const long *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop i64: free */
        a[i] = b[i] + (i << 3);
}
