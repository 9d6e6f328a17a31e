/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator's routines and mmap; see memory_wrap.h. */
#include "agent/memory_wrap.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

AS_MEMORY_LOCAL unsigned as_memory_operator = AS_MEMORY_ROUTINES_N;

static const struct as_tracer_hooks *hooks; /* NULL: not looked for yet, or none */
static _Atomic uint64_t least_b = UINT64_MAX;
static uint32_t name_of[AS_MEMORY_ROUTINES_N];

static const char *const names[] = {
#define NAME(routine, symbol, name) [AS_MEMORY_##routine] = name,
    AS_MEMORY_ROUTINES(NAME) AS_MEMORY_NEWS(NAME) AS_MEMORY_DELETES(NAME)
#undef NAME
};

__attribute__((constructor)) static void find_tracer(void)
{
    const int saved = errno;
    const struct as_tracer_hooks *found = dlsym(RTLD_DEFAULT, "assay_tracer_hooks");
    as_memory_real(AS_MEMORY_MALLOC);
    if (found && found->version == AS_TRACER_VERSION && (found->groups() & AS_TRACER_MEMORY)) {
        hooks = found;
        least_b = found->memory_least();
    }
    errno = saved;
}

uint64_t as_memory_least(void)
{
    return least_b;
}

/* ---- Records ------------------------------------------------------------------------------ */

static uint32_t number_of_routine(enum as_memory_routine routine)
{
    const uint32_t known = __atomic_load_n(&name_of[routine], __ATOMIC_RELAXED);
    if (known)
        return known;
    const uint32_t given = hooks->name(AS_TRACE_OF_MEMORY, names[routine]);
    __atomic_store_n(&name_of[routine], given, __ATOMIC_RELAXED);
    return given;
}

bool as_memory_enter(struct as_memory_call *call, enum as_memory_routine routine)
{
    const int saved = errno;
    call->thread = hooks ? hooks->enter(AS_TRACER_MEMORY) : NULL;
    if (call->thread) {
        call->thread->inside = 1;
        call->routine = routine;
        call->enter = as_trace_now(&call->thread->writer);
    }
    errno = saved;
    return call->thread != NULL;
}

/* False: the user's filter leaves it out. */
static bool put_call(const struct as_memory_call *call, unsigned kind, const uint64_t *field,
                     unsigned n)
{
    struct as_trace_writer *w = &call->thread->writer;
    const uint64_t name = number_of_routine(call->routine);
    if (name & AS_TRACER_LEFT_OUT) {
        as_trace_leave_out(w);
        return false;
    }
    as_trace_put(w, AS_TRACE_ENTER, call->enter, &name, 1);
    as_trace_put(w, kind, 0, field, n);
    return true;
}

static void end_call(const struct as_memory_call *call, bool is_told)
{
    struct as_trace_writer *w = &call->thread->writer;
    const uint64_t name = name_of[call->routine];
    if (is_told)
        as_trace_put(w, AS_TRACE_LEAVE, as_trace_now(w), &name, 1);
    call->thread->inside = 0;
}

/* Its size as the allocator has it; where that is not known, as it was asked for. */
static bool is_recorded(void *block, size_t size_b)
{
    const size_t usable_b = as_memory_usable(block);
    return (usable_b ? usable_b : size_b) >= least_b;
}

void as_memory_gave(const struct as_memory_call *call, void *block, size_t size_b)
{
    const int saved = errno;
    const uint64_t field[] = {(uintptr_t)block, size_b};
    end_call(call, is_recorded(block, size_b) && put_call(call, AS_TRACE_ALLOCATE, field, 2));
    errno = saved;
}

void as_memory_took(const struct as_memory_call *call, const void *block)
{
    const int saved = errno;
    const uint64_t field = (uintptr_t)block;
    end_call(call, put_call(call, AS_TRACE_RELEASE, &field, 1));
    errno = saved;
}

/* No allocator gives twice of what it was asked for and more, but for the smallest blocks. */
static bool may_be_recorded(size_t size_b)
{
    return size_b >= least_b / 2 - (least_b > 128 ? 64 : 0);
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
    if (least_b != UINT64_MAX && as_memory_usable(block) >= least_b && block &&
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

/* Two records: the old block is gone first. */
static void *resize(enum as_memory_routine routine, void *block, size_t size_b)
{
    void *(*real)(void *, size_t) = REAL(void *, REALLOC, void *, size_t);
    struct as_memory_call call;
    if (!real || as_memory_in_reserve(block))
        return block ? move_out(block, size_b) : as_memory_reserve(size_b, 16);
    const bool was = block && least_b != UINT64_MAX && as_memory_usable(block) >= least_b;
    if ((!was && !may_be_recorded(size_b)) || !as_memory_enter(&call, routine))
        return real(block, size_b);
    const uintptr_t before = (uintptr_t)block;
    void *now = real(block, size_b);
    struct as_memory_call again = call;
    if (was && (now || size_b == 0)) {
        as_memory_took(&call, (const void *)before);
        again.enter = call.thread->writer.tick;
    }
    if (now || size_b) {
        again.thread->inside = 1;
        as_memory_gave(&again, now, size_b);
    }
    again.thread->inside = 0;
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
    if (size_b < least_b || !as_memory_enter(&call, routine))
        return real(at, size_b, rights, flags, fd, offset);
    void *given = real(at, size_b, rights, flags, fd, offset);
    const int saved = errno;
    const uint64_t field[] = {given == MAP_FAILED ? 0 : (uintptr_t)given, size_b};
    end_call(&call, put_call(&call, AS_TRACE_ALLOCATE, field, 2));
    errno = saved;
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
    if (size_b >= least_b && as_memory_enter(&call, AS_MEMORY_MUNMAP))
        as_memory_took(&call, at);
    return real(at, size_b);
}
