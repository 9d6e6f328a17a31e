/* SPDX-License-Identifier: Apache-2.0 */
/* A sum of roots of quotients, with indirect access to its terms (CQA paper, figure 1). */
#include <math.h>

void reduce(int n, float *sum, const float *a, const float *b, const int *inda, const int *indb)
{
    float s = 0.0f;
    for (int i = 0; i < n; i++)
        s += sqrtf(a[inda[i]] / b[indb[i]]);
    *sum = s;
}
