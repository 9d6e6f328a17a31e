/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Obstacles to vectorisation in the memory accesses of a loop: strides with holes, addresses from
 * memory, and arrays that may overlap as far as the code shows.
 */
#include "base/error.h"
#include "quality/vector_verdict.h"

static bool has_holes(const struct as_memory_stream *at)
{
    return !at->stack &&
           (at->stride == AS_STRIDE_CONSTANT || (at->stride == AS_STRIDE_UNKNOWN && at->steady));
}

static bool is_indirect_access(const struct as_memory_stream *at)
{
    return !at->stack && at->stride == AS_STRIDE_INDIRECT;
}

static int show_streams(struct as_verdict *v, enum as_vector_obstacle obstacle,
                        bool (*is)(const struct as_memory_stream *at))
{
    bool any = false;

    for (size_t i = 0; i < v->streams.n; i++) {
        const struct as_memory_stream *at = &v->streams.at[i];

        if (!is(at))
            continue;
        if (!any)
            AS_TRY(as_verdict_reason(v, obstacle, at->stride_b));
        any = true;
        AS_TRY(as_verdict_shows(v, at->insn));
    }
    return 0;
}

/* Returns true if the loop reads another array than the one of the store. */
static bool may_overlap(const struct as_verdict *v, const struct as_memory_stream *store)
{
    if (store->stack || !(store->access & AS_ACCESS_WRITE))
        return false;
    for (size_t i = 0; i < v->streams.n; i++) {
        const struct as_memory_stream *at = &v->streams.at[i];

        if (!at->stack && at->array != store->array && !(at->access & AS_ACCESS_WRITE))
            return true;
    }
    return false;
}

static int show_overlaps(struct as_verdict *v)
{
    bool any = false;

    for (size_t i = 0; i < v->streams.n; i++) {
        if (!may_overlap(v, &v->streams.at[i]))
            continue;
        if (!any)
            AS_TRY(as_verdict_reason(v, AS_VECTOR_OVERLAP, 0));
        any = true;
        v->reason.at[v->reason.n - 1].amount++;
        AS_TRY(as_verdict_shows(v, v->streams.at[i].insn));
    }
    return 0;
}

int as_verdict_memory(struct as_verdict *v)
{
    AS_TRY(show_streams(v, AS_VECTOR_STRIDE, has_holes));
    AS_TRY(show_streams(v, AS_VECTOR_INDIRECT, is_indirect_access));
    return v->reason.n ? 0 : show_overlaps(v); /* reported only without another reason */
}
