/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a process as ranges: stacks, blocks of the heap, segments of files. The ranges come
 * from /proc/PID/maps. The file is read again for an address outside the known ranges, for at most
 * 0.5 % of the time. /proc/PID/smaps gives the share of huge pages and is slower. It gets the same
 * share of the time.
 */
#ifndef AS_SAMPLE_DATA_MAPS_H
#define AS_SAMPLE_DATA_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

enum as_data_kind {
    AS_DATA_STACK,
    AS_DATA_HEAP,    /* heap of malloc with small blocks */
    AS_DATA_BLOCK,   /* one block of glibc's malloc */
    AS_DATA_FILE,    /* a mapping of a file */
    AS_DATA_ZEROED,  /* zeroed memory behind a file segment: .bss */
    AS_DATA_MAPPING, /* anonymous memory of unknown use */
    AS_DATA_SHARED,  /* anonymous memory shared with other processes */
    AS_DATA_KINDS
};

/* Names of the kinds in the stream, which tally.c reads. */
extern const char *const as_data_kind_word[AS_DATA_KINDS];

struct as_data_range {
    uint64_t start, end; /* [start, end) */
    /* FILE, ZEROED: an address of the segment and its offset in the file. */

    uint64_t base, offset;
    uint8_t kind;
    int8_t huge_pct; /* per cent of the memory in use that is in huge pages; -1: unknown */
    char *path;      /* FILE, ZEROED: path of the file; otherwise NULL */
};

typedef AS_VEC(struct as_data_range) as_data_ranges;

struct as_data_process;

struct as_data_maps {
    AS_VEC(struct as_data_process *) process;
    struct as_data_process *last;
    bool imported; /* recorded earlier: /proc does not describe these processes */
};

void as_data_maps_fini(struct as_data_maps *maps);

/* Notes the address of a memory operand and the stack pointer of its thread. Reads the maps again
 * if no known range contains the address. Returns 0 or NOMEM. */
int as_data_maps_see(struct as_data_maps *maps, uint32_t pid, uint64_t address, uint64_t stack);

/* Returns the disjoint ranges of a process sorted by start, or NULL if none is known. */
const as_data_ranges *as_data_maps_of(const struct as_data_maps *maps, uint32_t pid);

/* Forgets a process that executes another program. */
void as_data_maps_exec(struct as_data_maps *maps, uint32_t pid);

/* ---- Parts ----------------------------------------------------------------------------------- */

/* Parses the text of /proc/PID/maps or smaps without ranges of code. Returns 0 or NOMEM. */
int as_data_maps_parse(char *text, as_data_ranges *out);

/* Reads `n` bytes at `address` of the process. Returns false if the memory is unreadable. */
typedef bool as_peek(void *context, uint64_t address, void *out, size_t n);

/*
 * Splits MAPPING and HEAP ranges into the blocks of glibc's malloc of at least 64 KiB. The size of
 * a block is stored before it (malloc/malloc.c of glibc 2.26 and later: struct malloc_chunk). Other
 * memory is unchanged. Returns 0 or NOMEM.
 */
int as_data_blocks_find(as_data_ranges *ranges, as_peek *peek, void *context);

#endif
