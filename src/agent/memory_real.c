/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocator behind us: the C library's, or one that is preloaded behind. To look it up may
 * allocate: meanwhile there is a small reserve, which is never given back. See memory_wrap.h.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "agent/memory_wrap.h"

#define RESERVE_B (64u << 10)

static _Alignas(64) uint8_t reserve[RESERVE_B];
static _Atomic size_t reserve_used;

static void *_Atomic found[AS_MEMORY_ROUTINES_N];
static _Atomic bool has_usable; /* of the same allocator */
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
        if (size_b > RESERVE_B || at > RESERVE_B - size_b) {
            errno = ENOMEM;
            return NULL;
        }
    } while (!atomic_compare_exchange_weak(&reserve_used, &used, at + size_b));
    return reserve + at;
}

size_t as_memory_in_reserve(const void *block)
{
    const uintptr_t offset = (uintptr_t)block - (uintptr_t)reserve;
    return offset < RESERVE_B ? RESERVE_B - offset : 0;
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
        if (!found[i])
            found[i] = dlsym(RTLD_NEXT, symbols[i]);
    has_usable = is_of_one_object(found[AS_MEMORY_MALLOC], found[AS_MEMORY_USABLE]);
    finding = false;
    ready = true;
    errno = saved;
}

static void absent_allocator(void)
{
    static const char text[] = "assay: a routine of memory was called that no library has\n";
    (void)!write(2, text, sizeof text - 1);
    _exit(127);
}

void *as_memory_real(enum as_memory_routine routine)
{
    if (!ready) {
        if (finding)
            return NULL;
        find_routines();
    }
    void *at = found[routine];
    if (!at) {
        at = routine < AS_MEMORY_OF_C ? NULL : find_operator(symbols[routine]);
        at = at ? at : (void *)absent_allocator;
        found[routine] = at;
    }
    return at;
}

size_t as_memory_usable(void *block)
{
    if (!has_usable || !block || as_memory_in_reserve(block))
        return 0;
    return ((size_t(*)(void *))found[AS_MEMORY_USABLE])(block);
}
