/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena: a list of chunks with allocation in the head. A large block gets a chunk of its own
 * behind the head, so the head stays in use.
 */
#include "base/arena.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

#define CHUNK_FIRST_B ((size_t)4096)
#define CHUNK_MOST_B  ((size_t)4 << 20) /* the kernel maps it with large pages */

struct as_arena_chunk {
    struct as_arena_chunk *next;
    size_t used_b;
    size_t size_b;
    _Alignas(16) unsigned char data[];
};

void as_arena_init(struct as_arena *arena)
{
    *arena = (struct as_arena){.chunk_b = CHUNK_FIRST_B};
}

void as_arena_fini(struct as_arena *arena)
{
    struct as_arena_chunk *next;
    for (struct as_arena_chunk *chunk = arena->head; chunk; chunk = next) {
        next = chunk->next;
        as_free(chunk);
    }
    as_arena_init(arena);
}

/* Replaces several chunks by one of the same total size. */
void as_arena_reset(struct as_arena *arena)
{
    struct as_arena_chunk *chunk = arena->head;
    if (!chunk)
        return;
#ifdef __SANITIZE_ADDRESS__
    as_arena_fini(arena); /* use after the reset is detected then */
#else
    size_t size_b = 0;
    if (!chunk->next && chunk->size_b <= AS_ARENA_KEEP_B) {
        chunk->used_b = 0;
        return;
    }
    for (; chunk; chunk = chunk->next)
        size_b += chunk->size_b;
    as_arena_fini(arena);
    if (size_b <= AS_ARENA_KEEP_B)
        arena->chunk_b = size_b;
#endif
}

static void *allocate_in_chunk(struct as_arena_chunk *chunk, size_t size_b, size_t align_b)
{
    uintptr_t from = (uintptr_t)chunk->data + chunk->used_b;
    size_t pad_b = (size_t)(-from & (align_b - 1));
    if (pad_b > chunk->size_b - chunk->used_b || size_b > chunk->size_b - chunk->used_b - pad_b)
        return NULL;
    void *p = chunk->data + chunk->used_b + pad_b;
    chunk->used_b += pad_b + size_b;
    return p;
}

static struct as_arena_chunk *chunk_new(struct as_arena *arena, size_t size_b)
{
    size_t total_b;
    if (__builtin_add_overflow(size_b, sizeof(struct as_arena_chunk), &total_b))
        return NULL;
    struct as_arena_chunk *chunk = as_malloc_large(1, total_b);
    if (!chunk)
        return NULL;
    chunk->used_b = 0;
    chunk->size_b = size_b;
    arena->total_b += total_b;
    return chunk;
}

void *as_arena_alloc(struct as_arena *arena, size_t size_b, size_t align_b)
{
    assert(align_b && (align_b & (align_b - 1)) == 0 && "alignment is a power of two");
    void *p = arena->head ? allocate_in_chunk(arena->head, size_b, align_b) : NULL;
    if (p)
        return p;
    size_t want_b;
    if (__builtin_add_overflow(size_b, align_b, &want_b))
        return NULL;
    if (arena->head && want_b > arena->chunk_b / 2) {
        /* A large block gets its own chunk behind the head. So the free rest of the head stays in
         * use. */
        struct as_arena_chunk *own = chunk_new(arena, want_b);
        if (!own)
            return NULL;
        own->next = arena->head->next;
        arena->head->next = own;
        return allocate_in_chunk(own, size_b, align_b);
    }
    struct as_arena_chunk *chunk =
        chunk_new(arena, want_b > arena->chunk_b ? want_b : arena->chunk_b);
    if (!chunk)
        return NULL;
    chunk->next = arena->head;
    arena->head = chunk;
    if (arena->chunk_b < CHUNK_MOST_B)
        arena->chunk_b *= 2;
    return allocate_in_chunk(chunk, size_b, align_b);
}

void *as_arena_alloc_n(struct as_arena *arena, size_t count, size_t size_b, size_t align_b)
{
    size_t total_b;
    if (__builtin_mul_overflow(count, size_b, &total_b))
        return NULL;
    return as_arena_alloc(arena, total_b, align_b);
}

void *as_arena_calloc(struct as_arena *arena, size_t count, size_t size_b, size_t align_b)
{
    void *p = as_arena_alloc_n(arena, count, size_b, align_b);
    return p ? memset(p, 0, count * size_b) : NULL;
}

char *as_arena_strndup(struct as_arena *arena, const char *p, size_t n)
{
    char *copy = n < SIZE_MAX ? as_arena_alloc(arena, n + 1, 1) : NULL;
    if (!copy)
        return NULL;
    if (n)
        memcpy(copy, p, n);
    copy[n] = '\0';
    return copy;
}
