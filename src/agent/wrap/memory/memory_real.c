/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocator behind us: the C library's, or one that is preloaded behind. To look it up may
 * allocate: meanwhile there is a small reserve, which is never given back. See memory_wrap.h.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "agent/wrap/memory/memory_wrap.h"

_Alignas(64) uint8_t as_memory_reserved[AS_MEMORY_RESERVE_B];
static _Atomic size_t reserve_used;

_Atomic uint64_t as_memory_min_b = UINT64_MAX;

void *_Atomic as_memory_found[AS_MEMORY_ROUTINES_N];
static _Atomic bool ready;
static AS_MEMORY_LOCAL bool finding;

static const char *const symbols[] = {
#define SYMBOL(routine, symbol, name) [AS_MEMORY_##routine] = #symbol,
    AS_MEMORY_ROUTINES(SYMBOL) AS_MEMORY_NEWS(SYMBOL) AS_MEMORY_DELETES(SYMBOL)
#undef SYMBOL
};

/* ---- The reserve -------------------------------------------------------------------------- */

void *as_memory_reserve(size_t size_b, size_t alignment_b)
{
    const size_t least_b = alignment_b < 16 ? 16 : alignment_b;
    size_t used = atomic_load(&reserve_used), at;
    do {
        at = (used + least_b - 1) / least_b * least_b;
        if (size_b > AS_MEMORY_RESERVE_B || at > AS_MEMORY_RESERVE_B - size_b) {
            errno = ENOMEM;
            return NULL;
        }
    } while (!atomic_compare_exchange_weak(&reserve_used, &used, at + size_b));
    return as_memory_reserved + at;
}

/* ---- Looking up --------------------------------------------------------------------------- */

/* The C++ runtime may have come by dlopen, unseen by others, but for its caller's sake bound to
 * our operators. */
static void *find_operator(const char *symbol)
{
    static const char *const runtimes[] = {"libstdc++.so.6", "libc++.so.1"};
    void *at = dlsym(RTLD_NEXT, symbol);
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes && !at; i++) {
        void *handle = dlopen(runtimes[i], RTLD_LAZY | RTLD_NOLOAD);
        at = handle ? dlsym(handle, symbol) : NULL;
    }
    return at;
}

static bool is_of_one_object(void *a, void *b)
{
    Dl_info first, second;
    return a && b && dladdr(a, &first) && dladdr(b, &second) && first.dli_fbase == second.dli_fbase;
}

static void find_routines(void)
{
    const int saved = errno;
    finding = true;
    for (unsigned i = 0; i < AS_MEMORY_OF_C; i++)
        if (!as_memory_found[i])
            as_memory_found[i] = dlsym(RTLD_NEXT, symbols[i]);
    if (!is_of_one_object(as_memory_found[AS_MEMORY_MALLOC], as_memory_found[AS_MEMORY_USABLE]))
        as_memory_found[AS_MEMORY_USABLE] = NULL;
    finding = false;
    ready = true;
    errno = saved;
}

static void absent_allocator(void)
{
    static const char text[] = "assay: a memory routine was called that is in no library\n";
    (void)!write(2, text, sizeof text - 1);
    _exit(127);
}

void *as_memory_look_up(enum as_memory_routine routine)
{
    if (!ready) {
        if (finding)
            return NULL;
        find_routines();
    }
    void *at = as_memory_found[routine];
    if (!at) {
        at = routine < AS_MEMORY_OF_C ? NULL : find_operator(symbols[routine]);
        at = at ? at : (void *)absent_allocator;
        as_memory_found[routine] = at;
    }
    return at;
}

/* Its size as the allocator has it; where that is not known, as it was asked for. */
bool as_memory_is_recorded(void *block, size_t size_b)
{
    const size_t usable_b = as_memory_usable(block);
    return (usable_b ? usable_b : size_b) >= as_memory_min_b;
}
