/* SPDX-License-Identifier: Apache-2.0 */
/* cause: For each record a window of the file is mapped and unmapped again, with a page fault
 * in between.
 * place: open_window close_window visit
 * finding: memory_management system_calls page_faults memory_given_back
 * words: open_window|visit
 * flags: -O2 -g
 * arguments: 110000
 * repair: The whole file is mapped once.
 * clock: cpu */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define RECORD  8192
#define RECORDS 2048

struct archive {
    int handle;
    size_t bytes;
    const unsigned char *base;
};

static void fail(const char *what)
{
    perror(what);
    exit(2);
}

static void create(struct archive *a)
{
    char name[] = "/tmp/tilemapXXXXXX";
    unsigned char block[RECORD];
    uint32_t s = 99u;

    a->handle = mkstemp(name);
    if (a->handle < 0)
        fail("mkstemp");
    unlink(name);
    a->bytes = (size_t)RECORD * RECORDS;
    a->base = NULL;
    for (int r = 0; r < RECORDS; r++) {
        for (int i = 0; i < RECORD; i++) {
            s = s * 1664525u + 1013904223u;
            block[i] = (unsigned char)(s >> 24);
        }
        if (write(a->handle, block, RECORD) != RECORD)
            fail("write");
    }
#ifdef REPAIRED
    a->base = mmap(NULL, a->bytes, PROT_READ, MAP_SHARED, a->handle, 0);
    if (a->base == MAP_FAILED)
        fail("mmap");
#endif
}

static const unsigned char *__attribute__((noinline))
open_window(const struct archive *a, unsigned record)
{
#ifdef REPAIRED
    return a->base + (size_t)record * RECORD;
#else
    const unsigned char *p = mmap(NULL, RECORD, PROT_READ, MAP_SHARED, /* HERE */
                                  a->handle, (off_t)record * RECORD);
    if (p == MAP_FAILED)
        fail("mmap");
    return p;
#endif
}

static void __attribute__((noinline)) close_window(const struct archive *a, const unsigned char *p)
{
#ifdef REPAIRED
    (void)a;
    (void)p;
#else
    (void)a;
    munmap((void *)p, RECORD); /* HERE */
#endif
}

/* Reads the sparse index at the head of a record and some of its samples. */
static uint32_t __attribute__((noinline)) visit(const struct archive *a, unsigned record)
{
    const unsigned char *p = open_window(a, record);
    uint32_t h = 2166136261u;
    for (int i = 0; i < 3072; i++)
        h = (h ^ p[i]) * 16777619u; /* HERE */
    for (int i = 0; i < 256; i++)
        h = (h ^ p[3072 + (i * 31 & 4095)]) * 16777619u;
    close_window(a, p);
    return h;
}

int main(int argc, char **argv)
{
    long visits = argc > 1 ? atol(argv[1]) : 10000;
    struct archive a;
    uint32_t record = 0, h = 0;

    create(&a);
    for (long v = 0; v < visits; v++) {
        h ^= visit(&a, record);
        h = h << 1 | h >> 31;
        record = (record * 5 + 1 + (h & 1) * 2) % RECORDS;
    }
    printf("tilemap %08x\n", h);
    if (a.base)
        munmap((void *)a.base, a.bytes);
    close(a.handle);
    return 0;
}
