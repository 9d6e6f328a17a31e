/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walking to callers; see callers.h. A place's row is one word of a table that all threads share:
 * reading it takes no lock, and who finds the lock taken writes nothing.
 */
#include "agent/unwind/callers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/core/agent.h"
#include "agent/unwind/unwind_row.h"

#define PLACES_N    4096u /* a power of 2 */
#define MODULES_N   256u
#define UNTOLD_N    32u
#define STEPS_MOST  128u
#define TRIES_MOST  1000u
#define OFFSET_BITS 24u
#define OFFSET_MOST ((1 << (OFFSET_BITS - 1)) - 1)
#define OFFSET_MASK ((UINT64_C(1) << OFFSET_BITS) - 1)
#define KNOWN_BIT   (UINT64_C(1) << 63)
#define LIBRARY_BIT (UINT64_C(1) << 62) /* it is an MPI's */

static struct {
    _Atomic uint64_t address, row;
} place[PLACES_N];
static uint64_t module_start[MODULES_N]; /* told already */
static unsigned modules_n;
static uint64_t unreported[UNTOLD_N]; /* where modules start that nobody could be told of yet */
_Atomic unsigned as_callers_unreported;
static _Atomic int changing; /* a lock of all of these */

/* ---- Rows as words ------------------------------------------------------------------------ */

static uint64_t pack_row(const struct as_agent_unwind_row *row, bool is_library)
{
    uint64_t word = KNOWN_BIT | (is_library ? LIBRARY_BIT : 0);
    if (row->cfa_offset > OFFSET_MOST || row->cfa_offset < -OFFSET_MOST ||
        row->saved_offset > OFFSET_MOST || row->saved_offset < -OFFSET_MOST)
        return word; /* of an unknown form */
    return word | row->cfa | (uint64_t)row->saved << 2 |
           ((uint64_t)row->cfa_offset & OFFSET_MASK) << 4 |
           ((uint64_t)row->saved_offset & OFFSET_MASK) << (4 + OFFSET_BITS);
}

static int32_t offset_of_word(uint64_t word, unsigned shift)
{
    return (int32_t)((uint32_t)(word >> shift) << (32 - OFFSET_BITS)) >> (32 - OFFSET_BITS);
}

/* ---- Modules ------------------------------------------------------------------------------ */

static bool is_library_of_mpi(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *last = slash ? slash + 1 : name;
    return strncmp(last, "libmpi", 6) == 0 || strncmp(last, "libassay-", 9) == 0;
}

const char *as_callers_path(const struct as_unwind_module *module, char *path)
{
    const long n = module->name[0] ? -1
                                   : syscall(SYS_readlinkat, AT_FDCWD, "/proc/thread-self/exe",
                                             path, PATH_MAX - 1);
    if (n > 0)
        path[n] = 0;
    return n > 0 ? path : module->name;
}

static bool is_module_known(uint64_t start)
{
    for (unsigned i = 0; i < modules_n; i++)
        if (module_start[i] == start)
            return true;
    return false;
}

/* False: there is no room for it. */
static bool note_unreported(uint64_t start)
{
    const unsigned n = as_callers_unreported;
    for (unsigned i = 0; i < n; i++)
        if (unreported[i] == start)
            return true;
    if (is_module_known(start))
        return true;
    if (n == UNTOLD_N)
        return false;
    unreported[n] = start;
    as_callers_unreported = n + 1;
    return true;
}

/* Not called where the stack may be small. */
static void __attribute__((noinline))
tell_module(const struct as_unwind_module *module, as_callers_module *tell)
{
    char path[PATH_MAX];
    if (is_module_known(module->start))
        return;
    if (modules_n < MODULES_N)
        module_start[modules_n++] = module->start;
    tell(module->start, module->end - module->start, module->start - module->bias,
         as_callers_path(module, path));
}

void as_callers_report(const struct as_unwind_module *module, as_callers_module *tell)
{
    for (unsigned tries = 0; atomic_exchange(&changing, 1); tries++) {
        if (tries == TRIES_MOST) /* a handler may have interrupted who does */
            return;
        syscall(SYS_sched_yield);
    }
    tell_module(module, tell);
    atomic_store_explicit(&changing, 0, memory_order_release);
}

/* Reads the row and keeps it, but where another thread is just at it. */
static uint64_t learn_place(uint64_t address, as_callers_module *tell)
{
    struct as_unwind_module module;
    if (!as_unwind_module_of(address - 1, &module))
        return KNOWN_BIT;
    const struct as_agent_unwind_row row = as_unwind_row_of(address, &module);
    const uint64_t word = pack_row(&row, is_library_of_mpi(module.name));
    if (as_agent_is_confined() || atomic_exchange(&changing, 1))
        return word;
    if (tell)
        tell_module(&module, tell);
    if (tell || note_unreported(module.start)) {
        __typeof__(&place[0]) at = &place[address % PLACES_N];
        atomic_store_explicit(&at->address, 0, memory_order_release);
        atomic_store_explicit(&at->row, word, memory_order_release);
        atomic_store_explicit(&at->address, address, memory_order_release);
    }
    atomic_store_explicit(&changing, 0, memory_order_release);
    return word;
}

static uint64_t row_at(uint64_t address, as_callers_module *tell)
{
    __typeof__(&place[0]) at = &place[address % PLACES_N];
    if (atomic_load_explicit(&at->address, memory_order_acquire) == address) {
        const uint64_t word = atomic_load_explicit(&at->row, memory_order_acquire);
        if (atomic_load_explicit(&at->address, memory_order_relaxed) == address)
            return word;
    }
    return learn_place(address, tell);
}

void as_callers_forget(void)
{
    for (unsigned i = 0; i < PLACES_N; i++)
        atomic_store_explicit(&place[i].address, 0, memory_order_release);
    modules_n = 0;
    as_callers_unreported = 0;
    atomic_store(&changing, 0);
}

void as_callers_report_rest(as_callers_module *tell)
{
    struct as_unwind_module module;
    const int saved = errno;
    if (as_agent_is_confined() || atomic_exchange(&changing, 1))
        return;
    for (unsigned i = 0; i < as_callers_unreported; i++)
        if (as_unwind_module_of(unreported[i], &module))
            tell_module(&module, tell);
    as_callers_unreported = 0;
    atomic_store_explicit(&changing, 0, memory_order_release);
    errno = saved;
}

/* ---- The walk ----------------------------------------------------------------------------- */

struct caller_walk {
    uintptr_t sp, frame; /* as the caller finds them when the callee has returned */
    uintptr_t high;      /* the end of the stack */
};

static bool load_word(const struct caller_walk *walk, uintptr_t at, uint64_t *out)
{
    if (at < walk->sp || at % 8 || walk->high < 8 || at > walk->high - 8)
        return false;
    memcpy(out, (const void *)at, sizeof *out);
    return true;
}

/* To the caller of the function with this row; its return address, 0: it is not known. */
static uint64_t step_up(struct caller_walk *walk, uint64_t word)
{
    const uintptr_t offset = (uintptr_t)(intptr_t)offset_of_word(word, 4);
    const uintptr_t saved = (uintptr_t)(intptr_t)offset_of_word(word, 4 + OFFSET_BITS);
    const unsigned from = word >> 2 & 3;
    uint64_t cfa = 0, frame = walk->frame, address;
    switch ((enum as_agent_unwind_cfa)(word & 3)) {
    case AS_UNWIND_BY_STACK:
        cfa = walk->sp + offset;
        break;
    case AS_UNWIND_BY_FRAME:
        cfa = walk->frame + offset;
        break;
    case AS_UNWIND_AT_FRAME:
        if (!load_word(walk, walk->frame + offset, &cfa))
            return 0;
        break;
    default:
        return 0;
    }
    if (cfa <= walk->sp || !load_word(walk, cfa - 8, &address))
        return 0;
    if (from != AS_UNWIND_SAME &&
        !load_word(walk, (from == AS_UNWIND_FROM_CFA ? cfa : walk->frame) + saved, &frame))
        return 0;
    walk->sp = cfa;
    walk->frame = frame;
    return address;
}

size_t as_callers_find(const void *return_address, const void *frame, uint64_t *out, size_t most,
                       as_callers_module *tell)
{
    const struct as_agent_thread *self = &as_agent_self;
    const uintptr_t sp = (uintptr_t)frame + 16;
    struct caller_walk walk = {.sp = sp, .high = sp};
    uint64_t address = (uintptr_t)return_address;
    size_t n = 0;
    if (sp >= self->low && sp < self->high)
        walk.high = self->high;
    memcpy(&walk.frame, frame, sizeof walk.frame);
    for (unsigned step = 0; address && n < most && step < STEPS_MOST; step++) {
        const uint64_t word = row_at(address, tell);
        if (!(word & LIBRARY_BIT))
            out[n++] = address;
        if (n < most)
            address = step_up(&walk, word);
    }
    return n;
}

size_t as_callers_stack(uint64_t pc, uintptr_t sp, uintptr_t frame, uint64_t *out, size_t most,
                        as_callers_module *tell)
{
    const struct as_agent_thread *self = &as_agent_self;
    struct caller_walk walk = {.sp = sp, .frame = frame, .high = sp};
    uint64_t address = pc + 1; /* rows are those of the instruction before */
    size_t n = 0;
    if (sp >= self->low && sp < self->high)
        walk.high = self->high;
    while (address && n < most) {
        const uint64_t word = row_at(address, tell);
        out[n] = n ? address : pc;
        n++;
        address = step_up(&walk, word);
    }
    return n;
}
