/* finding: scalar_branches; mended: a selection that stores in each case. */
#include "program.h"

#define N 4000

int main(void)
{
    double *a = array_of(N), *b = array_of(N);

    for (int i = 0; i < N; i++)
        a[i] = draw() % 2 ? 1.5 : -1.5;
    for (int step = 0; step < 100000; step++)
        for (int i = 0; i < N; i++) {
#ifdef MENDED
            b[i] = a[i] > 0 ? b[i] + a[i] * 0.5 : b[i];
#else
            if (a[i] > 0)
                b[i] += a[i] * 0.5;
#endif
        }
    return done(b[N / 2]);
}
