/* SPDX-License-Identifier: Apache-2.0 */
/* Strided: walks with holes. */

struct strided_point {
    double x, y, z, w;
};

struct strided_odd {
    double x, y, z;
};

void strided_two(double *restrict a, const double *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop f64: stride */
        a[i] = b[2 * i];
}

void strided_store(double *restrict a, const double *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop f64: stride */
        a[5 * i] = b[i] + 1.0;
}

double strided_column(double (*a)[100], long n)
{
    double s = 0.0;
    for (long i = 0; i < n; i++) /* loop f64: stride reduction */
        s += a[i][3];
    return s;
}

void strided_member(struct strided_point *p, double f, long n)
{
    for (long i = 0; i < n; i++) /* loop f64: stride */
        p[i].y = p[i].y * f;
}

void strided_members(struct strided_point *restrict p, const double *restrict f, long n)
{
    for (long i = 0; i < n; i++) { /* loop f64 */
        p[i].x = p[i].x * f[i];
        p[i].y = p[i].y * f[i];
        p[i].z = p[i].z * f[i];
        p[i].w = p[i].w * f[i];
    }
}

void strided_odd(double *restrict a, const struct strided_odd *restrict p, long n)
{
    for (long i = 0; i < n; i++) /* loop f64 */
        a[i] = p[i].x + p[i].y + p[i].z;
}

void strided_seven(float *restrict a, const float *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop f32: stride */
        a[i] = b[7 * i] * 2.0f;
}

void strided_complex(float *restrict a, const float *restrict b, long n)
{
    for (long i = 0; i < n; i++) { /* loop f32 */
        float re = b[2 * i], im = b[2 * i + 1];
        a[2 * i] = re * re - im * im;
        a[2 * i + 1] = 2.0f * re * im;
    }
}

void strided_transpose(double (*restrict a)[256], double (*restrict b)[256])
{
    for (long j = 0; j < 256; j++)
        for (long i = 0; i < 256; i++) /* loop f64 */
            a[j][i] = b[i][j];
}

void strided_outer(double (*restrict a)[256], const double *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop f64: stride */
        a[i][7] = a[i][7] + b[i];
}

void strided_backwards(float *restrict a, const float *restrict b, long n)
{
    for (long i = n - 1; i >= 0; i--) /* loop f32: stride */
        a[i] = b[3 * i] + 1.0f;
}

void strided_bytes(unsigned char *restrict grey, const unsigned char *restrict rgb, long n)
{
    for (long i = 0; i < n; i++) /* loop i16 */
        grey[i] =
            (unsigned char)((77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8);
}
