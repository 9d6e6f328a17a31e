/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses between two sizes of stack copies.
 */
#include "profile/depth.h"

/* Min samples of a judgement: about half a second of one thread. */
#define STRETCH_N 256
/* Time until all samples are newer than a change. A pump passes on records from before the previous
 * pump. */
#define SETTLE_NS 300000000
/* Max number of changes. After that, the larger copy stays. */
#define TURNS_MOST 16

void as_depth_begin(struct as_depth *depth)
{
    *depth = (struct as_depth){.is_deep = true};
}

static bool exceeds_hundredth(uint64_t part, uint64_t all)
{
    return part * 100 > all;
}

/* Returns true if the larger copy cuts more than nine of ten stacks that the smaller one cuts. Such
 * stacks have huge frames, or a deep recursion. */
static bool is_in_vain(uint64_t cut, uint64_t deep)
{
    return cut * 10 > deep * 9;
}

static bool wants_deep(struct as_depth *depth, uint64_t copied, uint64_t cut, uint64_t deep)
{
    if (!depth->is_deep)
        return exceeds_hundredth(cut, copied) && !depth->is_useless;
    if (!exceeds_hundredth(deep, copied))
        return depth->turned >= TURNS_MOST;
    depth->is_useless = is_in_vain(cut, deep);
    return !depth->is_useless;
}

bool as_depth_look(struct as_depth *depth, const struct as_stack_counts *now, int64_t now_ns)
{
    if (now_ns < depth->settle_ns) {
        depth->from = *now;
        return false;
    }
    const uint64_t copied = now->copied - depth->from.copied;
    if (copied < STRETCH_N)
        return false;
    const bool deep =
        wants_deep(depth, copied, now->cut - depth->from.cut, now->deep - depth->from.deep);
    depth->from = *now;
    if (deep == depth->is_deep)
        return false;
    depth->is_deep = deep;
    depth->turned++;
    depth->settle_ns = now_ns + SETTLE_NS;
    return true;
}
