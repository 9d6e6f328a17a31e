/* SPDX-License-Identifier: Apache-2.0 */
/* Symbolics: strides and counts that the source does not fix. */

void symbolics_offset(double *a, const double *restrict b, long k, long n)
{
    for (long i = 0; i < n; i++) /* loop f64: alias */
        a[i] = a[i + k] + b[i];
}

void symbolics_bounds(double *restrict a, const double *restrict b, long low, long high)
{
    for (long i = low; i < high; i++) /* loop f64: free */
        a[i] = b[i] - 1.0;
}

void symbolics_step(double *restrict a, const double *restrict b, long step, long n)
{
    for (long i = 0; i < n; i += step) /* loop f64 */
        a[i] = b[i] + 1.0;
}

void symbolics_row(double *restrict a, const double *restrict b, long row, long lead, long n)
{
    for (long i = 0; i < n; i++) /* loop f64: free */
        a[row * lead + i] = b[row * lead + i] * 2.0;
}

void symbolics_column(double *restrict a, long lead, long n)
{
    for (long i = 0; i < n; i++) /* loop f64 */
        a[i * lead] = a[i * lead] * 2.0;
}

void symbolics_known_count(float *restrict a, const float *restrict b)
{
    for (long i = 0; i < 4096; i++) /* loop f32: free */
        a[i] = b[i] * b[i];
}

void symbolics_nest(double *restrict a, const double *restrict b, long rows, long lead, long n)
{
    for (long j = 0; j < rows; j++)
        for (long i = 0; i < n; i++) /* loop f64: free */
            a[j * lead + i] = b[j * lead + i] + 3.0;
}

void symbolics_triangle(double *restrict a, const double *restrict b, long lead, long n)
{
    for (long j = 0; j < n; j++)
        for (long i = 0; i < j; i++) /* loop f64: free */
            a[j * lead + i] = a[j * lead + i] + b[i];
}

void symbolics_scalar(double *a, const double *s, long n)
{
    for (long i = 0; i < n; i++) /* loop f64: alias */
        a[i] = a[i] * *s;
}

void symbolics_invariant(double *restrict a, const double *restrict b, double s, double t, long n)
{
    for (long i = 0; i < n; i++) /* loop f64: free */
        a[i] = b[i] * (s + t);
}

extern double symbolics_table[4096];
double symbolics_table[4096];

void symbolics_global(double f, long n)
{
    for (long i = 0; i < n; i++) /* loop f64: free */
        symbolics_table[i] = symbolics_table[i] * f;
}

void symbolics_byte(unsigned char *a, const unsigned char *b, long n)
{
    for (long i = 0; i < n; i++) /* loop i8: alias */
        a[i] = (unsigned char)(b[i] ^ 0x5a);
}
