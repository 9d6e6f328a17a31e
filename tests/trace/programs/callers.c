/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls MPI out of frames of every sort. Prints the load address of the program. Prints for each
 * call the return addresses that the C library's own unwinder finds.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <execinfo.h>
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 16

/* Its first entry lies in here, behind another call than that of MPI. */
static __attribute__((noinline)) void call_it(const char *sort)
{
    void *caller[DEPTH];
    int rank;
    const int n = backtrace(caller, DEPTH);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("%s", sort);
    for (int i = 1; i < n; i++)
        printf(" %lx", (unsigned long)caller[i]);
    printf("\n");
}

static __attribute__((noinline)) int plain(int depth)
{
    if (depth > 0)
        return plain(depth - 1) + 1;
    call_it("plain");
    return 0;
}

static __attribute__((noinline)) int varying(size_t n)
{
    char *room = alloca(n);
    memset(room, (int)n, n);
    call_it("varying");
    return room[n - 1];
}

static __attribute__((noinline)) int aligned(int n)
{
    _Alignas(64) double room[16];
    char *more = alloca((size_t)n * 16);
    memset(more, n, (size_t)n * 16);
    for (int i = 0; i < 16; i++)
        room[i] = n + more[i];
    __asm__ volatile("" ::"r"(room) : "memory");
    call_it("aligned");
    return (int)room[n];
}

static int compare(const void *a, const void *b)
{
    static int done;
    if (!done++)
        call_it("callback");
    return *(const int *)a - *(const int *)b;
}

static int find_base(struct dl_phdr_info *info, size_t size, void *out)
{
    (void)size;
    *(unsigned long *)out = info->dlpi_addr;
    return 1;
}

int main(int argc, char **argv)
{
    int numbers[] = {3, 1, 2};
    unsigned long base = 0;
    MPI_Init(&argc, &argv);
    dl_iterate_phdr(find_base, &base);
    printf("base %lx\n", base);
    const int sum = plain(3) + varying(100) + aligned(3);
    qsort(numbers, 3, sizeof *numbers, compare);
    MPI_Finalize();
    return sum < 0;
}
