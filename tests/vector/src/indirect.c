/* SPDX-License-Identifier: Apache-2.0 */
/* Indirect: addresses from memory. */

void indirect_gather(double *restrict a, const double *restrict b, const int *restrict x, long n)
{
    for (long i = 0; i < n; i++) /* loop f64: indirect */
        a[i] = b[x[i]];
}

void indirect_gather_sum(double *restrict a, const double *restrict b, const int *restrict x,
                         long n)
{
    for (long i = 0; i < n; i++) /* loop f64: indirect */
        a[i] = a[i] + b[x[i]] * 2.0;
}

void indirect_scatter(double *restrict a, const double *restrict b, const int *restrict x, long n)
{
    for (long i = 0; i < n; i++) /* loop f64: indirect */
        a[x[i]] = b[i] + 1.0;
}

void indirect_histogram(int *restrict a, const int *restrict x, long n)
{
    for (long i = 0; i < n; i++) /* loop i32: indirect */
        a[x[i]]++;
}

double indirect_sparse(const double *restrict a, const double *restrict v,
                       const int *restrict column, long n)
{
    double s = 0.0;
    for (long i = 0; i < n; i++) /* loop f64: indirect reduction */
        s += a[i] * v[column[i]];
    return s;
}

void indirect_update(double *restrict a, const double *restrict b, const int *restrict x, long n)
{
    for (long i = 0; i < n; i++) /* loop f64: indirect */
        a[x[i]] += b[i];
}

void indirect_double(float *restrict a, const float *restrict b, const int *restrict x,
                     const int *restrict y, long n)
{
    for (long i = 0; i < n; i++) /* loop f32: indirect */
        a[i] = b[x[y[i]]] + 1.0f;
}

void indirect_rows(double *restrict out, double *const *restrict rows, long n)
{
    for (long i = 0; i < n; i++) /* loop f64: indirect */
        out[i] = rows[i][3] * 2.0;
}

void indirect_two(double *restrict a, const double *restrict b, const int *restrict x,
                  const int *restrict y, long n)
{
    for (long i = 0; i < n; i++) /* loop f64: indirect */
        a[i] = b[x[i]] - b[y[i]];
}

void indirect_table(unsigned char *restrict a, const unsigned char *restrict table,
                    const unsigned char *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop i8: indirect */
        a[i] = table[b[i]];
}

void indirect_long(float *restrict a, const float *restrict b, const long *restrict x, long n)
{
    for (long i = 0; i < n; i++) /* loop f32: indirect */
        a[i] = b[x[i]] * 3.0f;
}

float indirect_members(const float (*restrict p)[3], const int *restrict x, long n)
{
    float s = 0.0f;
    for (long i = 0; i < n; i++) /* loop f32: indirect reduction */
        s += p[x[i]][0] * p[x[i]][1] + p[x[i]][2];
    return s;
}
