/* SPDX-License-Identifier: Apache-2.0 */
/* Linear dependence: what one iteration writes and another reads, by constant distances. */

void linear_none(double *restrict a, const double *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop f64: free */
        a[i] = a[i] + 2.5 * b[i];
}

void linear_back_one(double *a, const double *restrict b, long n)
{
    for (long i = 1; i < n; i++) /* loop f64: chain */
        a[i] = a[i - 1] * 0.5 + b[i];
}

void linear_ahead(double *a, const double *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop f64: free */
        a[i] = a[i + 1] + b[i];
}

void linear_back_four(float *a, const float *restrict b, long n)
{
    for (long i = 4; i < n; i++) /* loop f32 */
        a[i] = a[i - 4] + b[i];
}

void linear_back_two(int *a, const int *restrict b, long n)
{
    for (long i = 2; i < n; i++) /* loop i32 */
        a[i] = a[i - 2] ^ b[i];
}

void linear_far(double *a, const double *restrict b, long n)
{
    for (long i = 64; i < n; i++) /* loop f64: free */
        a[i] = a[i - 64] + b[i];
}

void linear_two_statements(double *restrict a, double *restrict b, const double *restrict c, long n)
{
    for (long i = 0; i < n; i++) { /* loop f64: free */
        a[i] = b[i] + c[i];
        b[i] = c[i] * 3.0;
    }
}

void linear_crossed(double *restrict a, double *restrict b, long n)
{
    for (long i = 1; i < n; i++) { /* loop f64: chain */
        a[i] = b[i - 1] + 1.0;
        b[i] = a[i - 1] * 0.5;
    }
}

void linear_overlap(double *a, double *b, long n)
{
    for (long i = 0; i < n; i++) /* loop f64: alias */
        a[i] = b[i] * 1.5 + 2.0;
}

void linear_overlap_three(float *a, float *b, float *c, long n)
{
    for (long i = 0; i < n; i++) /* loop f32: alias */
        a[i] = b[i] + c[i];
}

void linear_reverse(double *restrict a, const double *restrict b, long n)
{
    for (long i = n - 1; i >= 0; i--) /* loop f64: free */
        a[i] = b[i] + 1.0;
}

void linear_halves(float *a, long n)
{
    for (long i = 0; i < n; i++) /* loop f32: alias */
        a[i] = a[i + n] * 0.25f;
}

void linear_stencil(double *restrict a, const double *restrict b, long n)
{
    for (long i = 1; i < n - 1; i++) /* loop f64: free */
        a[i] = 0.25 * b[i - 1] + 0.5 * b[i] + 0.25 * b[i + 1];
}

void linear_integer(int *restrict a, const int *restrict b, const int *restrict c, long n)
{
    for (long i = 0; i < n; i++) /* loop i32: free */
        a[i] = b[i] * c[i] + 7;
}
