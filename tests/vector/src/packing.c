/* SPDX-License-Identifier: Apache-2.0 */
/* Packing: elements that are selected, moved together, narrowed and widened. */

long packing_positive(double *restrict a, const double *restrict b, long n)
{
    long k = 0;
    for (long i = 0; i < n; i++) { /* loop f64 */
        if (b[i] > 0.0)
            a[k++] = b[i];
    }
    return k;
}

long packing_expand(double *restrict a, const double *restrict b, const int *restrict m, long n)
{
    long k = 0;
    for (long i = 0; i < n; i++) { /* loop f64 */
        if (m[i])
            a[i] = b[k++];
    }
    return k;
}

void packing_narrow(short *restrict a, const int *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop i32 */
        a[i] = (short)b[i];
}

void packing_widen(int *restrict a, const short *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop i32 */
        a[i] = b[i];
}

void packing_to_double(double *restrict a, const float *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop f64 */
        a[i] = (double)b[i] * 2.0;
}

void packing_to_float(float *restrict a, const double *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop f64 */
        a[i] = (float)(b[i] + 1.0);
}

void packing_from_int(double *restrict a, const int *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop f64 */
        a[i] = (double)b[i];
}

void packing_to_int(int *restrict a, const float *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop i32: free */
        a[i] = (int)b[i];
}

void packing_bytes(float *restrict a, const unsigned char *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop f32 */
        a[i] = (float)b[i] * (1.0f / 255.0f);
}

void packing_saturate(unsigned char *restrict a, const short *restrict b, long n)
{
    for (long i = 0; i < n; i++) { /* loop i16 */
        int x = b[i];
        a[i] = (unsigned char)(x < 0 ? 0 : x > 255 ? 255 : x);
    }
}

void packing_halves(unsigned *restrict a, const unsigned *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop i32: free */
        a[i] = b[i] << 16 | b[i] >> 16;
}

void packing_from_long(double *restrict a, const long *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop f64 */
        a[i] = (double)b[i] + 0.5;
}

void packing_from_unsigned(double *restrict a, const unsigned *restrict b, long n)
{
    for (long i = 0; i < n; i++) /* loop f64 */
        a[i] = (double)b[i] * 0.5;
}
