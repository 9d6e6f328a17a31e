/* finding: page_faults; mended: larger pages. */
#include <sys/mman.h>

#include "program.h"

#define SIZE (600l << 20)

int main(void)
{
    char *all = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double sum = 0;

#ifdef MENDED
    madvise(all, SIZE, MADV_HUGEPAGE);
#endif
    for (long i = 0; i < SIZE; i += 64)
        all[i] = (char)i;
    for (long i = 0; i < SIZE; i += 64)
        sum += all[i];
    return done(sum);
}
