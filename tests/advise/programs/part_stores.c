/* SPDX-License-Identifier: Apache-2.0 */
/* finding: failed_forwarding; flags: -O2; repair: the word is made in a register;
 * says: bytes that an earlier store wrote only in part */
#include "program.h"

struct word {
    unsigned short half[4];
};

__attribute__((noinline)) static unsigned long mix(struct word *word, int n)
{
    unsigned long all = 1, whole;

    for (int i = 0; i < n; i++) {
#ifdef REPAIRED
        whole = (all & 0xffff) | (all >> 16 & 0xffff) << 16 | (unsigned long)(i & 0xffff) << 32;
#else
        word->half[0] = (unsigned short)all;
        word->half[1] = (unsigned short)(all >> 16);
        word->half[2] = (unsigned short)i;
        word->half[3] = 0;
        __asm__ volatile("" ::: "memory"); /* as through another pointer */
        memcpy(&whole, word, sizeof whole);
#endif
        all = whole * 5 + 1;
    }
    return all;
}

int main(void)
{
    struct word word = {{0}};
    double all = 0;

    for (int step = 0; step < 200; step++)
        all += (double)mix(&word, 1000000 + step);
    return done(all);
}
