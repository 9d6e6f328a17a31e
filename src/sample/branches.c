/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks by branch records; see branches.h. */
#include "sample/branches.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* PERF_SAMPLE_BRANCH_COUNTERS of newer kernels: one more word per branch, behind all entries. */
#define BRANCH_COUNTERS (1u << 19)
/* Words of an entry: from, to, flags. */
#define WORDS 3u

/* ---- Asking -------------------------------------------------------------------------------- */

void as_branches_request(struct perf_event_attr *attr)
{
    attr->sample_type |= PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER;
    attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
                               PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES;
    attr->sample_regs_user = as_sample_regs_mask;
    attr->exclude_callchain_user = 1;
}

void as_branches_leave(struct perf_event_attr *attr)
{
    attr->sample_type &= ~(uint64_t)PERF_SAMPLE_BRANCH_STACK;
    attr->branch_sample_type = 0;
}

bool as_branches_asked(const struct perf_event_attr *attr)
{
    return (attr->sample_type & PERF_SAMPLE_BRANCH_STACK) &&
           (attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
}

int as_branches_refused(const struct perf_event_attr *attr, pid_t pid, int cpu, int error,
                        struct as_error *err)
{
    struct perf_event_attr plain = *attr;
    char why[128];
    as_branches_leave(&plain);
    const int fd = as_sample_perf_event_open(&plain, pid, cpu);
    const int counter_error = fd < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    else if (counter_error == EACCES || counter_error == EPERM)
        return as_sample_refused(err, attr->enable_on_exec ? 0 : pid, counter_error);
    if (counter_error)
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "call stacks by branch records (lbr): they need a hardware counter of "
                            "cycles, and %s; use --call-stacks dwarf or fp",
                            as_sample_why_not(counter_error, why, sizeof why));
    return as_error_set(err, AS_ERR_UNSUPPORTED,
                        "call stacks by branch records (lbr): %s (%s); use --call-stacks dwarf or "
                        "fp",
                        error == EINVAL ? "this kernel does not support branch records of this CPU"
                                        : "this CPU, or its virtual machine, has no branch records",
                        strerrorname_np(error) ? strerrorname_np(error) : strerror(error));
}

/* ---- Reading ------------------------------------------------------------------------------- */

void as_branches_parse(const struct perf_event_attr *attr, struct as_read *r,
                       struct as_sample_record *out)
{
    const uint64_t n = as_read_u64(r);
    if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
        as_read_skip(r, 8);
    const uint64_t each = attr->branch_sample_type & BRANCH_COUNTERS ? WORDS + 1 : WORDS;
    if (n > as_read_left(r) / (8 * each))
        as_read_fail(r);
    const uint8_t *entries = as_read_bytes(r, n * 8 * each);
    if (!entries || !as_branches_asked(attr))
        return;
    out->calls = (const uint64_t *)(const void *)entries; /* records are aligned to 8 */
    out->call_n = (size_t)n;
}

/* ---- Frames -------------------------------------------------------------------------------- */

/* Returns true if the record is as long as the buffer of some CPU. There may have been more
 * calls. */
static bool may_be_cut(size_t n)
{
    return n == 8 || n == 16 || n == 32;
}

/* Returns the position of the program. In the kernel it comes from the user registers. Without
 * registers the target of the last call is used. */
static uint64_t place_of(const struct as_sample_record *sample)
{
    if (!sample->in_kernel)
        return sample->ip;
    if (sample->regs)
        return sample->regs[16];
    return sample->call_n ? sample->calls[1] : 0;
}

void as_branches_frames(const struct as_sample_record *sample, const struct as_space *space,
                        const struct as_code_maps *maps, struct as_frames *out)
{
    const uint64_t place = place_of(sample);
    if (place)
        as_frames_push(out, as_frame_moved(maps, sample, space, place));
    for (size_t i = 0; i < sample->call_n; i++) {
        const uint64_t from = sample->calls[WORDS * i];
        if (from == 0) /* unused entry */
            return;
        /* The address of the call itself: unlike a return address it needs no correction. */
        as_frames_push(out, as_frame_moved(maps, sample, space, from));
    }
    if (may_be_cut(sample->call_n))
        out->end = AS_STACK_CUT;
}
