/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/state/gaps.h"

#include <string.h>

#include "base/error.h"
#include "trace/record.h"

const char *as_gap_reason(uint32_t why)
{
    switch (why) {
    case AS_TRACE_BY_USER:
        return "by the program";
    case AS_TRACE_BY_LIMIT:
        return "at a limit of time or size";
    case AS_GAP_OVERWRITTEN:
        return "overwritten: the ring keeps only the latest events";
    default:
        return "from outside, or by a signal";
    }
}

static void join_closest(struct as_gaps *gaps)
{
    struct as_gap *gap = gaps->gap.at;
    size_t at = 0;
    if (!gap || gaps->gap.n < 2)
        return;
    for (size_t i = 1; i + 1 < gaps->gap.n; i++)
        if (gap[i + 1].begin_ns - gap[i].end_ns < gap[at + 1].begin_ns - gap[at].end_ns)
            at = i;
    gap[at].end_ns = gap[at + 1].end_ns;
    gap[at].off_ns += gap[at + 1].off_ns;
    gap[at].n += gap[at + 1].n;
    gaps->gap.n--;
    memmove(&gap[at + 1], &gap[at + 2], (gaps->gap.n - at - 1) * sizeof *gap);
}

int as_gaps_add(struct as_gaps *gaps, int64_t begin_ns, int64_t end_ns)
{
    struct as_gap *last = gaps->gap.n ? &gaps->gap.at[gaps->gap.n - 1] : NULL;
    if (last && last->end_ns == begin_ns) {
        last->end_ns = end_ns;
        last->off_ns += end_ns - begin_ns;
        return 0;
    }
    if (gaps->gap.n == AS_GAPS_MOST)
        join_closest(gaps);
    const struct as_gap gap = {begin_ns, end_ns, end_ns - begin_ns, 1, gaps->why};
    return as_vec_push(&gaps->gap, gap);
}
