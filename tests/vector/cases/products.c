/* SPDX-License-Identifier: Apache-2.0 */
/* Four columns times two rows of factors (CQA paper, figure 12): 48 values are needed for 16 that
 * are stored. */

void products(int lda, const float *restrict a, const int *restrict k, const float *restrict d,
              float *restrict c1, float *restrict c2)
{
    const float *a1 = a + (long)k[0] * lda, *a2 = a + (long)k[1] * lda;
    const float *a3 = a + (long)k[2] * lda, *a4 = a + (long)k[3] * lda;
    for (int j = 0; j < lda; j++) {
        c1[j] += a1[j] * d[0] + a2[j] * d[1] + a3[j] * d[2] + a4[j] * d[3];
        c2[j] += a1[j] * d[4] + a2[j] * d[5] + a3[j] * d[6] + a4[j] * d[7];
    }
}
