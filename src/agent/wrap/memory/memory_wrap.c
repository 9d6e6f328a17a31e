/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator's routines and mmap; see memory_wrap.h. */
#include "agent/wrap/memory/memory_wrap.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

AS_MEMORY_LOCAL unsigned as_memory_operator = AS_MEMORY_ROUTINES_N;

/* No allocator gives twice of what it was asked for and more, but for the smallest blocks. */
static bool may_be_recorded(size_t size_b)
{
    return size_b >= as_memory_min_b / 2 - (as_memory_min_b > 128 ? 64 : 0);
}

/* What is called now: by an operator of C++, or by itself. */
static enum as_memory_routine called_as(enum as_memory_routine routine)
{
    const unsigned by = as_memory_operator;
    as_memory_operator = AS_MEMORY_ROUTINES_N;
    return by == AS_MEMORY_ROUTINES_N ? routine : (enum as_memory_routine)by;
}

/* ---- The allocator ------------------------------------------------------------------------ */

/* Headers have attributes for these names, and the compiler an opinion. */
#define WRAPS(type, symbol, ...)                                                                   \
    AS_MEMORY_API type wrap_##symbol(__VA_ARGS__) __asm__(#symbol);                                \
    AS_MEMORY_API type wrap_##symbol(__VA_ARGS__)
#define REAL(type, routine, ...) ((type(*)(__VA_ARGS__))as_memory_real(AS_MEMORY_##routine))

WRAPS(void *, malloc, size_t size_b)
{
    const enum as_memory_routine routine = called_as(AS_MEMORY_MALLOC);
    void *(*real)(size_t) = REAL(void *, MALLOC, size_t);
    struct as_memory_call call;
    if (!real)
        return as_memory_reserve(size_b, 16);
    if (!may_be_recorded(size_b) || !as_memory_enter(&call, routine))
        return real(size_b);
    void *block = real(size_b);
    as_memory_gave(&call, block, size_b);
    return block;
}

WRAPS(void *, calloc, size_t n, size_t size_b)
{
    const enum as_memory_routine routine = called_as(AS_MEMORY_CALLOC);
    void *(*real)(size_t, size_t) = REAL(void *, CALLOC, size_t, size_t);
    struct as_memory_call call;
    size_t all_b;
    if (__builtin_mul_overflow(n, size_b, &all_b))
        all_b = SIZE_MAX;
    if (!real)
        return as_memory_reserve(all_b, 16); /* it was never used: zeroed */
    if (!may_be_recorded(all_b) || !as_memory_enter(&call, routine))
        return real(n, size_b);
    void *block = real(n, size_b);
    as_memory_gave(&call, block, all_b);
    return block;
}

#define ALIGNED(routine, symbol)                                                                   \
    WRAPS(void *, symbol, size_t alignment_b, size_t size_b)                                       \
    {                                                                                              \
        const enum as_memory_routine by = called_as(AS_MEMORY_##routine);                          \
        void *(*real)(size_t, size_t) = REAL(void *, routine, size_t, size_t);                     \
        struct as_memory_call call;                                                                \
        if (!real)                                                                                 \
            return as_memory_reserve(size_b, alignment_b);                                         \
        if (!may_be_recorded(size_b) || !as_memory_enter(&call, by))                               \
            return real(alignment_b, size_b);                                                      \
        void *block = real(alignment_b, size_b);                                                   \
        as_memory_gave(&call, block, size_b);                                                      \
        return block;                                                                              \
    }
ALIGNED(ALIGNED_ALLOC, aligned_alloc)
ALIGNED(MEMALIGN, memalign)

#define BY_PAGES(routine, symbol)                                                                  \
    WRAPS(void *, symbol, size_t size_b)                                                           \
    {                                                                                              \
        void *(*real)(size_t) = REAL(void *, routine, size_t);                                     \
        struct as_memory_call call;                                                                \
        if (!real)                                                                                 \
            return as_memory_reserve(size_b, 4096);                                                \
        if (!may_be_recorded(size_b) || !as_memory_enter(&call, AS_MEMORY_##routine))              \
            return real(size_b);                                                                   \
        void *block = real(size_b);                                                                \
        as_memory_gave(&call, block, size_b);                                                      \
        return block;                                                                              \
    }
BY_PAGES(VALLOC, valloc)
BY_PAGES(PVALLOC, pvalloc)

WRAPS(int, posix_memalign, void **out, size_t alignment_b, size_t size_b)
{
    const enum as_memory_routine routine = called_as(AS_MEMORY_POSIX_MEMALIGN);
    int (*real)(void **, size_t, size_t) = REAL(int, POSIX_MEMALIGN, void **, size_t, size_t);
    struct as_memory_call call;
    if (!real) {
        *out = as_memory_reserve(size_b, alignment_b);
        return *out ? 0 : ENOMEM;
    }
    if (!may_be_recorded(size_b) || !as_memory_enter(&call, routine))
        return real(out, alignment_b, size_b);
    const int rc = real(out, alignment_b, size_b);
    as_memory_gave(&call, rc == 0 ? *out : NULL, size_b);
    return rc;
}

WRAPS(void, free, void *block)
{
    const enum as_memory_routine routine = called_as(AS_MEMORY_FREE);
    void (*real)(void *) = REAL(void, FREE, void *);
    struct as_memory_call call;
    if (!real || as_memory_in_reserve(block))
        return;
    if (as_memory_min_b != UINT64_MAX && as_memory_usable(block) >= as_memory_min_b && block &&
        as_memory_enter(&call, routine))
        as_memory_took(&call, block);
    real(block);
}

/* Out of the reserve into memory of the allocator. */
static void *move_out(void *block, size_t size_b)
{
    const size_t most_b = as_memory_in_reserve(block);
    void *(*real)(size_t) = REAL(void *, MALLOC, size_t);
    void *to = real ? real(size_b) : as_memory_reserve(size_b, 16);
    return to ? memcpy(to, block, size_b < most_b ? size_b : most_b) : NULL;
}

static void *resize(enum as_memory_routine routine, void *block, size_t size_b)
{
    void *(*real)(void *, size_t) = REAL(void *, REALLOC, void *, size_t);
    struct as_memory_call call;
    if (!real || as_memory_in_reserve(block))
        return block ? move_out(block, size_b) : as_memory_reserve(size_b, 16);
    const bool was =
        block && as_memory_min_b != UINT64_MAX && as_memory_usable(block) >= as_memory_min_b;
    if ((!was && !may_be_recorded(size_b)) || !as_memory_enter(&call, routine))
        return real(block, size_b);
    const uintptr_t before = (uintptr_t)block;
    void *now = real(block, size_b);
    as_memory_resized(&call, was ? (const void *)before : NULL, now, size_b);
    return now;
}

WRAPS(void *, realloc, void *block, size_t size_b)
{
    return resize(called_as(AS_MEMORY_REALLOC), block, size_b);
}

WRAPS(void *, reallocarray, void *block, size_t n, size_t size_b)
{
    size_t all_b;
    if (!__builtin_mul_overflow(n, size_b, &all_b))
        return resize(AS_MEMORY_REALLOCARRAY, block, all_b);
    errno = ENOMEM;
    return NULL;
}

/* ---- Maps --------------------------------------------------------------------------------- */

static void *map_any(enum as_memory_routine routine, void *at, size_t size_b, int rights, int flags,
                     int fd, off_t offset)
{
    void *(*real)(void *, size_t, int, int, int, off_t) =
        (void *(*)(void *, size_t, int, int, int, off_t))as_memory_real(routine);
    struct as_memory_call call;
    if (!real) { /* only while routines are looked for */
        errno = ENOMEM;
        return MAP_FAILED;
    }
    if (size_b < as_memory_min_b || !as_memory_enter(&call, routine))
        return real(at, size_b, rights, flags, fd, offset);
    void *given = real(at, size_b, rights, flags, fd, offset);
    as_memory_mapped(&call, given == MAP_FAILED ? NULL : given, size_b, flags);
    return given;
}

WRAPS(void *, mmap, void *at, size_t size_b, int rights, int flags, int fd, off_t offset)
{
    return map_any(AS_MEMORY_MMAP, at, size_b, rights, flags, fd, offset);
}

WRAPS(void *, mmap64, void *at, size_t size_b, int rights, int flags, int fd, off_t offset)
{
    return map_any(AS_MEMORY_MMAP64, at, size_b, rights, flags, fd, offset);
}

WRAPS(int, munmap, void *at, size_t size_b)
{
    int (*real)(void *, size_t) = REAL(int, MUNMAP, void *, size_t);
    struct as_memory_call call;
    if (!real)
        return 0;
    if (size_b >= as_memory_min_b && as_memory_enter(&call, AS_MEMORY_MUNMAP))
        as_memory_took(&call, at);
    return real(at, size_b);
}
