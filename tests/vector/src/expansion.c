/* SPDX-License-Identifier: Apache-2.0 */
/* Expansion: scalars that would have to become vectors, and arrays that could be scalars. */

void expansion_temporary(double *restrict a, double *restrict b, long n)
{
    for (long i = 0; i < n; i++) { /* loop f64: free */
        double t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

void expansion_reused(double *restrict a, const double *restrict b, const double *restrict c,
                      long n)
{
    for (long i = 0; i < n; i++) { /* loop f64: free */
        double t = b[i] + c[i];
        a[i] = t * t;
    }
}

void expansion_carried(double *restrict a, const double *restrict b, long n)
{
    double t = 0.0;
    for (long i = 0; i < n; i++) { /* loop f64 */
        double s = b[i] * 2.0;
        a[i] = s + t;
        t = s;
    }
}

double expansion_last(const double *restrict a, const double *restrict b, double *restrict c,
                      long n)
{
    double t = 0.0;
    for (long i = 0; i < n; i++) { /* loop f64: free */
        t = a[i] + b[i];
        c[i] = t;
    }
    return t;
}

void expansion_conditional(double *restrict a, const double *restrict b, long n)
{
    for (long i = 0; i < n; i++) { /* loop f64 */
        double t = b[i];
        if (t < 0.0)
            t = -t;
        a[i] = t + 1.0;
    }
}

void expansion_kept(double *restrict a, const double *restrict b, long n)
{
    double t = 0.0;
    for (long i = 0; i < n; i++) { /* loop f64 */
        if (b[i] > 0.0)
            t = b[i] * b[i];
        a[i] = t;
    }
}

void expansion_memory(double *restrict a, double *t, const double *restrict b, long n)
{
    for (long i = 0; i < n; i++) { /* loop f64 */
        *t = b[i] + 1.0;
        a[i] = *t * 2.0;
    }
}

void expansion_pair(double *restrict a, double *restrict b, const double *restrict c, long n)
{
    for (long i = 0; i < n; i++) { /* loop f64: free */
        double s = c[i] + 1.0, d = c[i] - 1.0;
        a[i] = s * d;
        b[i] = s / d;
    }
}

void expansion_polynomial(float *restrict a, const float *restrict b, long n)
{
    for (long i = 0; i < n; i++) { /* loop f32: free */
        float x = b[i];
        a[i] = ((x * 0.5f + 1.5f) * x + 2.5f) * x + 3.5f;
    }
}

void expansion_rotate(double *restrict a, double *restrict b, double c, double s, long n)
{
    for (long i = 0; i < n; i++) { /* loop f64: free */
        double x = a[i], y = b[i];
        a[i] = c * x + s * y;
        b[i] = c * y - s * x;
    }
}

void expansion_previous(float *restrict a, const float *restrict b, long n)
{
    float before = b[0], before2 = b[0];
    for (long i = 1; i < n; i++) { /* loop f32 */
        a[i] = b[i] + before + before2;
        before2 = before;
        before = b[i];
    }
}

void expansion_mean(unsigned char *restrict a, const unsigned char *restrict b,
                    const unsigned char *restrict c, long n)
{
    for (long i = 0; i < n; i++) /* loop i16 */
        a[i] = (unsigned char)((b[i] + c[i] + 1) >> 1);
}
