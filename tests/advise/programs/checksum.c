/* SPDX-License-Identifier: Apache-2.0 */
/* finding: no_debug; libraries: -lz; repair: the code that takes the time has debug information;
 * saves: nothing (it tells where to look);
 * says: libz[.].* has no debug information and takes [0-9.]+ % of the time */
#include "program.h"

#define N 100000

#ifdef REPAIRED
static unsigned long checksum(unsigned long sum, const unsigned char *text, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        sum = (sum ^ text[i]) * 16777619u;
    return sum;
}
#else
#include <zlib.h>

#define checksum crc32
#endif

int main(void)
{
    static unsigned char text[N];
    unsigned long sum = 0;

    for (int i = 0; i < N; i++)
        text[i] = (unsigned char)draw();
    for (int step = 0; step < 6000; step++)
        sum = checksum(sum, text, N);
    return done((double)sum);
}
