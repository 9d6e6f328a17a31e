/* SPDX-License-Identifier: Apache-2.0 */
/* The patterns are short and specific: a system call that only one function makes, or the code at
 * the end of a stack of makecontext(3). */
#include "object/known_code.h"

#include <assert.h>
#include <string.h>

#include "base/search.h"

#define MOST_B 16

struct known_code {
    const char *name;
    uint8_t n;
    uint8_t bytes[MOST_B];
};

static const struct known_code known[] = {
    /* mov $15, %rax; syscall: rt_sigreturn(2) of glibc and musl */
    {"__restore_rt", 9, {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}},
    /* mov $15, %eax; syscall */
    {"__restore_rt", 7, {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05}},
    /* mov %rbx, %rsp; mov (%rsp), %rdi; test %rdi, %rdi; je: glibc */
    {"__start_context", 11, {0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85, 0xff, 0x74}},
};

const char *as_known_code_name(const struct as_object *object, uint64_t address)
{
    uint64_t have_b = 0;
    const uint8_t *p = as_object_bytes(object, address, &have_b);
    for (size_t i = 0; p && i < sizeof known / sizeof *known; i++)
        if (have_b >= known[i].n && memcmp(p, known[i].bytes, known[i].n) == 0)
            return known[i].name;
    return NULL;
}

/* ---- Tail calls ---------------------------------------------------------------------------- */

/* libgomp: a barrier ends with a jump to the team barrier, which ends with a jump to its wait. */
static const struct {
    const char *symbol, *name[AS_KNOWN_JUMPS];
} tails[] = {
    {"GOMP_barrier", {"gomp_team_barrier_wait", "gomp_team_barrier_wait_end"}},
};

/* Returns the unwind range that starts at `address`, or NULL if there is none. */
static const struct as_unwind_range *range_from(const struct as_object *object, uint64_t address)
{
    const size_t at = as_first_not(i, object->unwind_n, object->unwind[i].start < address);
    assert(at + 1 >= object->unwind_n || object->unwind[at].start <= object->unwind[at + 1].start);
    return at < object->unwind_n && object->unwind[at].start == address ? &object->unwind[at]
                                                                        : NULL;
}

/* Returns the only function that jumps (E9) in [start, end) lead to; NULL for none or several. */
static const struct as_unwind_range *tail_of(const struct as_object *object, uint64_t start,
                                             uint64_t end)
{
    uint64_t have_b = 0;
    const uint8_t *p = as_object_bytes(object, start, &have_b);
    const struct as_unwind_range *found = NULL;
    for (uint64_t i = 0; p && i + 5 <= end - start && i + 5 <= have_b; i++) {
        int32_t offset;
        memcpy(&offset, p + i + 1, sizeof offset);
        const uint64_t target = start + i + 5 + (uint64_t)(int64_t)offset;
        const struct as_unwind_range *range =
            p[i] == 0xe9 && target - start >= end - start ? range_from(object, target) : NULL;
        if (range && found && range != found)
            return NULL;
        found = range ? range : found;
    }
    return found;
}

void as_known_jumps(const struct as_object *object, const char *symbol, uint64_t start,
                    uint64_t end, struct as_known_jump out[AS_KNOWN_JUMPS])
{
    memset(out, 0, AS_KNOWN_JUMPS * sizeof *out);
    for (size_t t = 0; t < sizeof tails / sizeof *tails; t++) {
        if (strcmp(symbol, tails[t].symbol) != 0)
            continue;
        for (size_t i = 0; i < AS_KNOWN_JUMPS; i++) {
            const struct as_unwind_range *to = tail_of(object, start, end);
            if (!to)
                return;
            out[i] = (struct as_known_jump){to->start, tails[t].name[i]};
            start = to->start;
            end = to->end;
        }
    }
}

/* ---- Starts of threads --------------------------------------------------------------------- */

#define ARGUMENT_B 96 /* max distance of the argument's instruction before a call */

/* Returns the function that the last `lea OFFSET(%rip), %rdx` before `at` loads; 0 for none. */
static uint64_t argument_of(const struct as_object *object, uint64_t address, const uint8_t *p,
                            uint64_t at)
{
    for (uint64_t back = 7; back <= at && back <= ARGUMENT_B; back++) {
        const uint8_t *lea = p + at - back;
        int32_t offset;
        if (lea[0] != 0x48 || lea[1] != 0x8d || lea[2] != 0x15)
            continue;
        memcpy(&offset, lea + 3, sizeof offset);
        const uint64_t target = address + at - back + 7 + (uint64_t)(int64_t)offset;
        return range_from(object, target) ? target : 0;
    }
    return 0;
}

uint64_t as_known_thread_start(const struct as_object *object, uint64_t create)
{
    uint64_t found = 0;
    for (size_t s = 0; s < object->section_n; s++) {
        const struct as_section *section = &object->section[s];
        uint64_t have_b = 0;
        const uint8_t *p =
            section->exec ? as_object_bytes(object, section->address, &have_b) : NULL;
        for (uint64_t i = 0; p && i + 5 <= have_b && i + 5 <= section->size_b; i++) {
            int32_t offset;
            memcpy(&offset, p + i + 1, sizeof offset);
            if (p[i] != 0xe8 || section->address + i + 5 + (uint64_t)(int64_t)offset != create)
                continue;
            const uint64_t start = argument_of(object, section->address, p, i);
            if (!start || (found && start != found))
                return 0;
            found = start;
        }
    }
    return found;
}

/* ---- Waits of threads between regions ------------------------------------------------------ */

#define WRAPPER_B 48 /* max size of gomp_barrier_wait(), which has 33 bytes */

/* Returns the range that a short function called at `p` (E8) jumps to at its end, or NULL. */
static const struct as_unwind_range *wait_of_call(const struct as_object *object, uint64_t address,
                                                  const uint8_t *p)
{
    int32_t offset;
    memcpy(&offset, p + 1, sizeof offset);
    const uint64_t target = address + 5 + (uint64_t)(int64_t)offset;
    const struct as_unwind_range *callee = p[0] == 0xe8 ? range_from(object, target) : NULL;
    return callee && callee->end - callee->start <= WRAPPER_B
               ? tail_of(object, callee->start, callee->end)
               : NULL;
}

uint64_t as_known_dock_wait(const struct as_object *object, uint64_t start, uint64_t team_wait)
{
    const struct as_unwind_range *range = range_from(object, start);
    uint64_t have_b = 0, found = 0;
    const uint8_t *p = range ? as_object_bytes(object, start, &have_b) : NULL;
    for (uint64_t i = 0; p && i + 5 <= have_b && start + i + 5 <= range->end; i++) {
        const struct as_unwind_range *wait = wait_of_call(object, start + i, p + i);
        if (!wait || wait->start == team_wait)
            continue;
        if (found && wait->start != found)
            return 0;
        found = wait->start;
    }
    return found;
}
