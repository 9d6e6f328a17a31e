/* SPDX-License-Identifier: Apache-2.0 */
/* finding: mispredictions; flags: -O2; repair: a table of classes in place of comparisons */
#include "program.h"

#define N 60000

static unsigned char text[N];
static long counted[4];

#ifdef REPAIRED
static unsigned char kind[256];

static void count(void)
{
    for (int i = 0; i < N; i++)
        counted[kind[text[i]]]++;
}
#else
static void count(void)
{
    long small = 0, digits = 0, large = 0, others = 0;

    for (int i = 0; i < N; i++) {
        const unsigned char c = text[i];

        if (c >= 'a' && c <= 'z')
            small++;
        else if (c >= '0' && c <= '9')
            digits++;
        else if (c >= 'A' && c <= 'Z')
            large++;
        else
            others++;
    }
    counted[0] += small;
    counted[1] += digits;
    counted[2] += large;
    counted[3] += others;
}
#endif

int main(void)
{
    for (int i = 0; i < N; i++)
        text[i] = (unsigned char)("aZ4 kQ7.m"[draw() % 9]);
#ifdef REPAIRED
    for (int c = 0; c < 256; c++)
        kind[c] = c >= 'a' && c <= 'z'   ? 0
                  : c >= '0' && c <= '9' ? 1
                  : c >= 'A' && c <= 'Z' ? 2
                                         : 3;
#endif
    for (int step = 0; step < 2500; step++)
        count();
    return done((double)(counted[0] + 2 * counted[1] + 3 * counted[2]));
}
