/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrappers of the allocator, a library of its own that is preloaded: what they share. Blocks of the
 * least size or more are recorded, by what the allocator says that it gave: the same when they are
 * given back. Everything may be called before the program has begun, from handlers, and while we
 * look for what is behind us.
 */
#ifndef AS_AGENT_MEMORY_WRAP_H
#define AS_AGENT_MEMORY_WRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/tracer/tracer.h"

#define AS_MEMORY_API   __attribute__((visibility("default")))
#define AS_MEMORY_LOCAL __thread __attribute__((tls_model("initial-exec")))

/* Names by which they are known to the linker and to people; operators as _Z... */
#define AS_MEMORY_ROUTINES(X)                                                                      \
    X(MALLOC, malloc, "malloc")                                                                    \
    X(CALLOC, calloc, "calloc")                                                                    \
    X(REALLOC, realloc, "realloc")                                                                 \
    X(REALLOCARRAY, reallocarray, "reallocarray")                                                  \
    X(FREE, free, "free")                                                                          \
    X(POSIX_MEMALIGN, posix_memalign, "posix_memalign")                                            \
    X(ALIGNED_ALLOC, aligned_alloc, "aligned_alloc")                                               \
    X(MEMALIGN, memalign, "memalign")                                                              \
    X(VALLOC, valloc, "valloc")                                                                    \
    X(PVALLOC, pvalloc, "pvalloc")                                                                 \
    X(MMAP, mmap, "mmap")                                                                          \
    X(MMAP64, mmap64, "mmap64")                                                                    \
    X(MUNMAP, munmap, "munmap")                                                                    \
    X(USABLE, malloc_usable_size, "malloc_usable_size")
#define AS_MEMORY_NEWS(X)                                                                          \
    X(NEW, _Znwm, "operator new")                                                                  \
    X(NEW_ARRAY, _Znam, "operator new[]")                                                          \
    X(NEW_NOTHROW, _ZnwmRKSt9nothrow_t, "operator new")                                            \
    X(NEW_ARRAY_NOTHROW, _ZnamRKSt9nothrow_t, "operator new[]")                                    \
    X(NEW_ALIGNED, _ZnwmSt11align_val_t, "operator new")                                           \
    X(NEW_ARRAY_ALIGNED, _ZnamSt11align_val_t, "operator new[]")                                   \
    X(NEW_ALIGNED_NOTHROW, _ZnwmSt11align_val_tRKSt9nothrow_t, "operator new")                     \
    X(NEW_ARRAY_ALIGNED_NOTHROW, _ZnamSt11align_val_tRKSt9nothrow_t, "operator new[]")
#define AS_MEMORY_DELETES(X)                                                                       \
    X(DELETE, _ZdlPv, "operator delete")                                                           \
    X(DELETE_ARRAY, _ZdaPv, "operator delete[]")                                                   \
    X(DELETE_SIZED, _ZdlPvm, "operator delete")                                                    \
    X(DELETE_ARRAY_SIZED, _ZdaPvm, "operator delete[]")                                            \
    X(DELETE_NOTHROW, _ZdlPvRKSt9nothrow_t, "operator delete")                                     \
    X(DELETE_ARRAY_NOTHROW, _ZdaPvRKSt9nothrow_t, "operator delete[]")                             \
    X(DELETE_ALIGNED, _ZdlPvSt11align_val_t, "operator delete")                                    \
    X(DELETE_ARRAY_ALIGNED, _ZdaPvSt11align_val_t, "operator delete[]")                            \
    X(DELETE_ALIGNED_NOTHROW, _ZdlPvSt11align_val_tRKSt9nothrow_t, "operator delete")              \
    X(DELETE_ARRAY_ALIGNED_NOTHROW, _ZdaPvSt11align_val_tRKSt9nothrow_t, "operator delete[]")      \
    X(DELETE_SIZED_ALIGNED, _ZdlPvmSt11align_val_t, "operator delete")                             \
    X(DELETE_ARRAY_SIZED_ALIGNED, _ZdaPvmSt11align_val_t, "operator delete[]")

#define AS_MEMORY_ENUM(routine, symbol, name) AS_MEMORY_##routine,
enum as_memory_routine {
    AS_MEMORY_ROUTINES(AS_MEMORY_ENUM) AS_MEMORY_OF_C,
    AS_MEMORY_BEFORE_NEWS = AS_MEMORY_OF_C - 1,
    AS_MEMORY_NEWS(AS_MEMORY_ENUM) AS_MEMORY_DELETES(AS_MEMORY_ENUM) AS_MEMORY_ROUTINES_N
};
#undef AS_MEMORY_ENUM

/* ---- memory_real.c: what is behind us ---- */

extern void *_Atomic as_memory_found[AS_MEMORY_ROUTINES_N];
void *as_memory_look_up(enum as_memory_routine routine);
/* NULL: this thread is just looking for it; what it needs meanwhile comes from the reserve. */
static inline void *as_memory_real(enum as_memory_routine routine)
{
    void *at = atomic_load_explicit(&as_memory_found[routine], memory_order_acquire);
    return __builtin_expect(at != NULL, 1) ? at : as_memory_look_up(routine);
}
void *as_memory_reserve(size_t size_b, size_t alignment_b);
#define AS_MEMORY_RESERVE_B ((size_t)64 << 10)
extern uint8_t as_memory_reserved[AS_MEMORY_RESERVE_B];
/* How many bytes from here to the end of the reserve; 0: it is not in it. */
static inline size_t as_memory_in_reserve(const void *block)
{
    const uintptr_t offset = (uintptr_t)block - (uintptr_t)as_memory_reserved;
    return offset < AS_MEMORY_RESERVE_B ? AS_MEMORY_RESERVE_B - offset : 0;
}
/* What the allocator gave for it; 0: not known. */
static inline size_t as_memory_usable(void *block)
{
    size_t (*usable)(void *) = (size_t(*)(void *))atomic_load_explicit(
        &as_memory_found[AS_MEMORY_USABLE], memory_order_acquire);
    return usable && block && !as_memory_in_reserve(block) ? usable(block) : 0;
}
/* The sizes of blocks that are recorded; UINT64_MAX: none is. */
extern _Atomic uint64_t as_memory_min_b;
/* By what the allocator gave; `size_b`, what was asked for, counts where that is not known. */
bool as_memory_is_recorded(void *block, size_t size_b);

/* ---- memory_wrap.c ---- */

/* An operator of C++ that is about to call the allocator: that call bears its name. Who takes it
 * clears it. AS_MEMORY_ROUTINES_N: none. */
extern AS_MEMORY_LOCAL unsigned as_memory_operator;

/* ---- memory_trace.c or memory_sites.c: what becomes of the calls ---- */

struct as_memory_call {
    struct as_tracer_thread *thread; /* of a trace */
    enum as_memory_routine routine;
    uint64_t enter; /* the time */
};

bool as_memory_enter(struct as_memory_call *call, enum as_memory_routine routine);
/* `block` NULL: refused. Writes nothing where it is smaller than what is recorded. */
void as_memory_gave(const struct as_memory_call *call, void *block, size_t size_b);
void as_memory_took(const struct as_memory_call *call, const void *block);
/* A realloc. `before` NULL: it was not recorded. */
void as_memory_resized(const struct as_memory_call *call, const void *before, void *now,
                       size_t size_b);
/* An mmap with its flags. `at` NULL: refused. */
void as_memory_mapped(const struct as_memory_call *call, const void *at, size_t size_b, int flags);

#endif
