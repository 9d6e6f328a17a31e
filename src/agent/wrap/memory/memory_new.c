/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of C++. As a rule they call the allocator, whose record then bears their name; one that
 * has memory of its own is recorded itself. An exception of theirs passes through: nothing is to be
 * undone. See memory_wrap.h.
 */
#include "agent/wrap/memory/memory_wrap.h"

/* Whatever arguments there are stand in the first three registers. */
typedef void *any_new(uintptr_t size_b, uintptr_t second, uintptr_t third);
typedef void any_delete(void *block, uintptr_t second, uintptr_t third);

static bool has_taken(enum as_memory_routine routine)
{
    const bool taken = as_memory_operator != (unsigned)routine;
    as_memory_operator = AS_MEMORY_ROUTINES_N;
    return taken;
}

static void *make_new(enum as_memory_routine routine, uintptr_t size_b, uintptr_t second,
                      uintptr_t third)
{
    any_new *real = (any_new *)as_memory_real(routine);
    struct as_memory_call call;
    if (!real)
        return as_memory_reserve(size_b, 64);
    if (as_memory_operator != AS_MEMORY_ROUTINES_N) /* one calls another */
        return real(size_b, second, third);
    as_memory_operator = (unsigned)routine;
    void *block = real(size_b, second, third);
    if (!has_taken(routine) && size_b >= as_memory_min_b && as_memory_enter(&call, routine))
        as_memory_gave(&call, block, size_b);
    return block;
}

static void make_delete(enum as_memory_routine routine, void *block, uintptr_t second,
                        uintptr_t third)
{
    any_delete *real = (any_delete *)as_memory_real(routine);
    struct as_memory_call call;
    const uint64_t least_b = as_memory_min_b;
    const bool is_recorded = block && least_b != UINT64_MAX && as_memory_usable(block) >= least_b;
    if (!real || as_memory_in_reserve(block))
        return;
    if (as_memory_operator != AS_MEMORY_ROUTINES_N) {
        real(block, second, third);
        return;
    }
    as_memory_operator = (unsigned)routine;
    real(block, second, third);
    if (!has_taken(routine) && is_recorded && as_memory_enter(&call, routine))
        as_memory_took(&call, block);
}

#define NEW(routine, symbol, name)                                                                 \
    AS_MEMORY_API void *symbol(uintptr_t size_b, uintptr_t second, uintptr_t third);               \
    AS_MEMORY_API void *symbol(uintptr_t size_b, uintptr_t second, uintptr_t third)                \
    {                                                                                              \
        return make_new(AS_MEMORY_##routine, size_b, second, third);                               \
    }
AS_MEMORY_NEWS(NEW)

#define DELETE(routine, symbol, name)                                                              \
    AS_MEMORY_API void symbol(void *block, uintptr_t second, uintptr_t third);                     \
    AS_MEMORY_API void symbol(void *block, uintptr_t second, uintptr_t third)                      \
    {                                                                                              \
        make_delete(AS_MEMORY_##routine, block, second, third);                                    \
    }
AS_MEMORY_DELETES(DELETE)
