/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arena: memory that lives as long as the analysed object. Allocation increments a pointer. All
 * blocks are released at once, or the arena is emptied for reuse. Not thread-safe; use one arena
 * per thread or object.
 */
#ifndef AS_BASE_ARENA_H
#define AS_BASE_ARENA_H

#include <stddef.h>

struct as_arena_chunk;

struct as_arena {
    struct as_arena_chunk *head;
    /* Size of the next chunk; it doubles up to 4 MiB. A reset sets it to the size in use before. */
    size_t chunk_b;
    size_t total_b; /* bytes allocated from the heap */
};

void as_arena_init(struct as_arena *arena);
void as_arena_fini(struct as_arena *arena);
/* Releases all blocks, but keeps as much memory as was in use (at most AS_ARENA_KEEP_B). Later
 * use then needs few allocations. */
void as_arena_reset(struct as_arena *arena);
#define AS_ARENA_KEEP_B ((size_t)16 << 20)

/* Returns uninitialised memory aligned to `align_b` (a power of two), or NULL without memory. */
void *as_arena_alloc(struct as_arena *arena, size_t size_b, size_t align_b);
/* As as_arena_alloc, for `count` elements of `size_b` bytes. Returns NULL also if the product
 * overflows. */
void *as_arena_alloc_n(struct as_arena *arena, size_t count, size_t size_b, size_t align_b);
/* As as_arena_alloc_n, but the memory is zeroed. */
void *as_arena_calloc(struct as_arena *arena, size_t count, size_t size_b, size_t align_b);
/* Returns a copy of `n` bytes with a terminating zero, or NULL without memory. */
char *as_arena_strndup(struct as_arena *arena, const char *p, size_t n);

#define as_arena_new(arena, type)                                                                  \
    ((type *)as_arena_calloc((arena), 1, sizeof(type), _Alignof(type)))
/* Returns uninitialised elements, for arrays that the caller fills completely. */
#define as_arena_fresh(arena, type, count)                                                         \
    ((type *)as_arena_alloc_n((arena), (count), sizeof(type), _Alignof(type)))
#define as_arena_array(arena, type, count)                                                         \
    ((type *)as_arena_calloc((arena), (count), sizeof(type), _Alignof(type)))

#endif
