/* finding: scalar_errno; mended flags: -fno-math-errno */
#include <math.h>

#include "program.h"

#define N 4000

int main(void)
{
    double *a = array_of(N), *b = array_of(N);

    for (int step = 0; step < 70000; step++)
        for (int i = 0; i < N; i++)
            b[i] = sqrt(a[i] + b[i]);
    return done(b[N / 2]);
}
