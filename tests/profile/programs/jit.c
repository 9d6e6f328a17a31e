/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code made while running: two functions that are bytes in a mapping, named in /tmp/perf-PID.map.
 * Usage: jit SECONDS
 */
#define _GNU_SOURCE
#include "truth.h"

#include <sys/mman.h>
#include <unistd.h>

/* push %rbp; mov %rsp,%rbp; 1: dec %rdi; jnz 1b; pop %rbp; ret */
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff,
                                     0xcf, 0x75, 0xfb, 0x5d, 0xc3};
static uint64_t seed = 1;

static NOINLINE void run(void (*burn)(uint64_t), uint64_t n)
{
    burn(n);
    STAY();
}

int main(int argc, char **argv)
{
    uint64_t end = (uint64_t)(1e9 * (argc > 1 ? atof(argv[1]) : 0.3));
    char name[64];
    unsigned char *page =
        mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return 1;
    memcpy(page + 64, code, sizeof code);
    memcpy(page + 4096, code, sizeof code);
    if (mprotect(page, 8192, PROT_READ | PROT_EXEC) != 0)
        return 1;
    snprintf(name, sizeof name, "/tmp/perf-%d.map", getpid());
    FILE *map = fopen(name, "w");
    if (!map)
        return 1;
    fprintf(map, "%lx %zx jit_one\n%lx %zx jit two()\n", (unsigned long)(page + 64), sizeof code,
            (unsigned long)(page + 4096), sizeof code);
    fclose(map);
    while (thread_ns() < end) {
        MEASURE("run;jit_one",
                run((void (*)(uint64_t))(page + 64), 100000 + truth_random(&seed) % 300000));
        MEASURE("run;jit two()",
                run((void (*)(uint64_t))(page + 4096), 300000 + truth_random(&seed) % 300000));
    }
    truth_print(stdout);
    return 0;
}
