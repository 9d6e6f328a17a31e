/* SPDX-License-Identifier: Apache-2.0 */
/* finding: reloads; flags: -O3; repair: what does not change is in local variables;
 * says: loads [0-9]+ values in each iteration that do not change */
#include "program.h"

#define N 4096

struct fade {
    unsigned char *from, *over, *to;
    int n, part;
};

__attribute__((noinline)) static void blend(const struct fade *f)
{
#ifdef REPAIRED
    const unsigned char *restrict from = f->from, *restrict over = f->over;
    unsigned char *restrict to = f->to;
    const int n = f->n, part = f->part;

    for (int i = 0; i < n; i++)
        to[i] = (unsigned char)((from[i] * (256 - part) + over[i] * part) >> 8);
#else
    for (int i = 0; i < f->n; i++)
        f->to[i] = (unsigned char)((f->from[i] * (256 - f->part) + f->over[i] * f->part) >> 8);
#endif
}

int main(void)
{
    struct fade fade = {calloc(N, 1), calloc(N, 1), calloc(N, 1), N, 0};

    for (int i = 0; i < N; i++) {
        fade.from[i] = (unsigned char)draw();
        fade.over[i] = (unsigned char)draw();
    }
    for (int step = 0; step < 150000; step++) {
        fade.part = step % 257;
        blend(&fade);
    }
    return done(fade.to[N / 2]);
}
