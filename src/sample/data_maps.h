/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a process in ranges: stacks, blocks of the heap, segments of files. They come from
 * /proc/PID/maps. An address outside of the known ranges has it read again, for at most 0.5 % of
 * the time. /proc/PID/smaps has the huge pages, and takes longer: it is read for as little.
 */
#ifndef AS_SAMPLE_DATA_MAPS_H
#define AS_SAMPLE_DATA_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

enum as_data_kind {
    AS_DATA_STACK,
    AS_DATA_HEAP,    /* what malloc cuts into small blocks */
    AS_DATA_BLOCK,   /* one block of glibc's malloc */
    AS_DATA_FILE,    /* a mapping of a file */
    AS_DATA_ZEROED,  /* behind a segment of a file: .bss */
    AS_DATA_MAPPING, /* anonymous memory of which nothing else is known */
    AS_DATA_SHARED,  /* the same, shared with other processes */
    AS_DATA_KINDS
};

/* In the stream; tally.c reads it. */
extern const char *const as_data_kind_word[AS_DATA_KINDS];

struct as_data_range {
    uint64_t start, end; /* [start, end) */
    /* FILE, ZEROED: the place in the file that an address of the segment came from. */
    uint64_t base, offset;
    uint8_t kind;
    int8_t huge_pct; /* of its memory in use, in huge pages; -1: not known */
    char *path;      /* FILE, ZEROED: of the file; else NULL */
};

typedef AS_VEC(struct as_data_range) as_data_ranges;

struct as_data_process;

struct as_data_maps {
    AS_VEC(struct as_data_process *) process;
    struct as_data_process *last;
    bool imported; /* processes are not those of now */
};

void as_data_maps_fini(struct as_data_maps *maps);

/* An address that an operand has, and the stack pointer of the thread. 0 or NOMEM. */
int as_data_maps_see(struct as_data_maps *maps, uint32_t pid, uint64_t address, uint64_t stack);

/* The ranges of a process by start, disjoint; NULL: none is known. */
const as_data_ranges *as_data_maps_of(const struct as_data_maps *maps, uint32_t pid);

/* Forgets a process that executes another program. */
void as_data_maps_exec(struct as_data_maps *maps, uint32_t pid);

/* ---- Parts ----------------------------------------------------------------------------------- */

/* The ranges of the text of /proc/PID/maps or smaps. Code is left out. 0 or NOMEM. */
int as_data_maps_parse(char *text, as_data_ranges *out);

/* Reads `n` bytes at `address` of the process; false: it cannot. */
typedef bool as_peek(void *context, uint64_t address, void *out, size_t n);

/*
 * Cuts MAPPING and HEAP ranges into the blocks of glibc's malloc that have 64 KiB or more. The size
 * of a block stands before it (malloc/malloc.c of glibc 2.26 and later: struct malloc_chunk). Other
 * memory stays as it is. 0 or NOMEM.
 */
int as_data_blocks_find(as_data_ranges *ranges, as_peek *peek, void *context);

#endif
