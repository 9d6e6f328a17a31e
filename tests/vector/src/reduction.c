/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions: one value of many. */
#include <math.h>

double reduction_sum(const double *a, long n)
{
    double s = 0.0;
    for (long i = 0; i < n; i++) /* loop f64: reduction */
        s += a[i];
    return s;
}

float reduction_dot(const float *a, const float *b, long n)
{
    float s = 0.0f;
    for (long i = 0; i < n; i++) /* loop f32: reduction */
        s += a[i] * b[i];
    return s;
}

double reduction_product(const double *a, long n)
{
    double p = 1.0;
    for (long i = 0; i < n; i++) /* loop f64: reduction */
        p *= a[i];
    return p;
}

int reduction_int(const int *a, long n)
{
    int s = 0;
    for (long i = 0; i < n; i++) /* loop i32 */
        s += a[i];
    return s;
}

double reduction_max(const double *a, long n)
{
    double m = a[0];
    for (long i = 1; i < n; i++) /* loop f64 */
        m = a[i] > m ? a[i] : m;
    return m;
}

int reduction_max_int(const int *a, long n)
{
    int m = a[0];
    for (long i = 1; i < n; i++) /* loop i32 */
        m = a[i] > m ? a[i] : m;
    return m;
}

unsigned reduction_xor(const unsigned *a, long n)
{
    unsigned s = 0;
    for (long i = 0; i < n; i++) /* loop i32 */
        s ^= a[i];
    return s;
}

double reduction_norm(const double *a, long n)
{
    double s = 0.0;
    for (long i = 0; i < n; i++) /* loop f64: reduction */
        s += a[i] * a[i];
    return sqrt(s);
}

double reduction_two(const double *a, const double *b, double *out, long n)
{
    double s = 0.0, t = 0.0;
    for (long i = 0; i < n; i++) { /* loop f64 */
        s += a[i];
        t += b[i];
    }
    *out = t;
    return s;
}

double reduction_conditional(const double *a, long n)
{
    double s = 0.0;
    for (long i = 0; i < n; i++) { /* loop f64: reduction */
        if (a[i] > 0.0)
            s += a[i];
    }
    return s;
}

long reduction_widened(const int *a, long n)
{
    long s = 0;
    for (long i = 0; i < n; i++) /* loop i64 */
        s += a[i];
    return s;
}

void reduction_rows(double *restrict out, const double *restrict a, long rows, long n)
{
    for (long j = 0; j < rows; j++) {
        double s = 0.0;
        for (long i = 0; i < n; i++) /* loop f64: reduction */
            s += a[j * n + i];
        out[j] = s;
    }
}

double reduction_differences(const double *restrict a, const double *restrict b, long n)
{
    double s = 0.0;
    for (long i = 0; i < n; i++) /* loop f64: reduction */
        s += fabs(a[i] - b[i]);
    return s;
}

long reduction_place(const double *a, long n)
{
    double m = a[0];
    long at = 0;
    for (long i = 1; i < n; i++) { /* loop f64 */
        if (a[i] > m) {
            m = a[i];
            at = i;
        }
    }
    return at;
}
