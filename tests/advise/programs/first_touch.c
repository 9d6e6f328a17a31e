/* SPDX-License-Identifier: Apache-2.0 */
/* finding: page_faults; repair: a part of the memory is used again and again;
 * behind: memory_bandwidth narrow_accesses (the loop that touches it writes more than the caches
 * hold, too, and that time is the larger part) */
#include <sys/mman.h>

#include "program.h"

#define ALL (75l << 20)
#ifdef REPAIRED
#define PART (ALL / 15)
#else
#define PART ALL
#endif

int main(void)
{
    double *array =
        mmap(NULL, PART * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    for (int step = 0; step < 16; step++)
        for (long at = 0; at < ALL; at += PART) {
            for (long i = 0; i < PART; i++)
                array[i] = (double)(i + step);
            __asm__ volatile("" ::: "memory"); /* each pass is made */
        }
    return done(array[PART / 2]);
}
