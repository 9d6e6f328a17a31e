/* SPDX-License-Identifier: Apache-2.0 */
/* finding: compression; libraries: -lz; repair: it is not kept for long, and copied;
 * says: go into compressing and unpacking data; advises: A lower level */
#include <zlib.h>

#include "program.h"

#define N (1 << 17)

int main(void)
{
    double *step = array_of(N);
    const uLong room = compressBound(N * sizeof *step);
    Bytef *packed = malloc(room);
    double sum = 0;

    for (int i = 0; i < 24; i++) {
        uLongf size = room;
        for (int k = 0; k < N; k++)
            step[k] = (double)((k * 977 + i) % 1200) / 8 + (double)(draw() % 16);
#ifdef REPAIRED
        memcpy(packed, step, N * sizeof *step);
#else
        if (compress2(packed, &size, (const Bytef *)step, N * sizeof *step, 6) != Z_OK)
            return 1;
#endif
        sum += (double)packed[size / 2];
    }
    return done(sum);
}
