/* SPDX-License-Identifier: Apache-2.0 */
/* finding: cache_latency; flags: -O2; repair: the work is sorted by address;
 * says: gathers .indirect access. from at least [0-9.]+ MiB, more than the [0-9.]+ MiB of L2 */
#include "program.h"

#define N (1 << 20)
#ifdef REPAIRED
#define IS_SORTED 1
#else
#define IS_SORTED 0
#endif

int main(void)
{
    double *x = array_of(N), sum = 0;
    int *index = malloc(N * sizeof *index);

    for (int i = 0; i < N; i++)
        index[i] = i;
    for (int i = N - 1; i > 0; i--) {
        const int other = (int)((i * 2654435761u + 12345u) % (unsigned)(i + 1));
        const int kept = index[i];
        if (!IS_SORTED) {
            index[i] = index[other];
            index[other] = kept;
        }
    }
    for (int round = 0; round < 200; round++)
        for (int i = 0; i < N; i++)
            sum += x[index[i]];
    return done(sum);
}
