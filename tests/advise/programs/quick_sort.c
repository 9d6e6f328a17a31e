/* SPDX-License-Identifier: Apache-2.0 */
/* finding: mispredictions; flags: -O2; repair: a partition without a branch: both elements are
 * stored, and the comparison is added to the index */
#include "program.h"

#define N 2000

static int key[N], drawn[64 * N];

/* Returns where the pivot went; what is smaller stands before it. */
static long partition(int *from, long n)
{
    const int pivot = from[n / 2];
    long at = 0;

    from[n / 2] = from[n - 1];
    for (long i = 0; i < n - 1; i++) {
        const int now = from[i];
#ifdef REPAIRED
        from[i] = from[at];
        from[at] = now;
        at += now < pivot;
#else
        if (now < pivot) {
            from[i] = from[at];
            from[at] = now;
            at++;
        }
#endif
    }
    from[n - 1] = from[at];
    from[at] = pivot;
    return at;
}

static void sort(int *from, long n)
{
    while (n > 1) {
        const long at = partition(from, n);

        sort(from, at);
        from += at + 1;
        n -= at + 1;
    }
}

int main(void)
{
    long all = 0;

    for (long i = 0; i < 64L * N; i++)
        drawn[i] = (int)draw();
    for (int step = 0; step < 14000; step++) {
        memcpy(key, drawn + N * (step % 64), sizeof key);
        sort(key, N);
        all += key[N / 3];
    }
    return done((double)all);
}
