/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets the bytes that a loop moves beyond the first cache level, and their cycles on a measured
 * machine. Counts the vector accesses that cannot be aligned.
 */
#include <math.h>
#include <stdlib.h>

#include "quality/cqa.h"

#define LEAST_VECTOR_B 16

void as_cqa_set_levels(const struct as_cqa_engine *engine, const struct as_streams *streams,
                       double *m)
{
    static const int metric[] = {[AS_PREDICT_L2] = AS_CQA_L2_CY,
                                 [AS_PREDICT_L3] = AS_CQA_L3_CY,
                                 [AS_PREDICT_RAM] = AS_CQA_RAM_CY};
    _Static_assert(sizeof metric / sizeof *metric == AS_PREDICT_LEVELS,
                   "an entry for each of the enumeration");
    struct as_traffic traffic = {0};

    if (streams)
        as_traffic_of(streams, engine->uarch->set[AS_UARCH_line_b], &traffic);
    m[AS_CQA_MOVED_READ_B] = traffic.read_b;
    m[AS_CQA_MOVED_WRITTEN_B] = traffic.written_b;
    m[AS_CQA_INDIRECT_ELEMENT_N] = traffic.gathered_n;
    for (unsigned level = AS_PREDICT_L2; level <= AS_PREDICT_RAM; level++) {
        double cycles;
        const bool known = streams && engine->figures && !traffic.unknown_n &&
                           as_predict_at(&traffic, engine->figures, (enum as_predict_level)level,
                                         m[AS_CQA_CYCLES], &cycles, NULL);

        m[metric[level]] = known ? cycles : NAN;
    }
}

/* ---- Alignment ----------------------------------------------------------------------------- */

static bool is_vector_access(const struct as_cqa_body *body, size_t i)
{
    const struct as_memory_stream *at = &body->streams->at[i];

    return body->on_path[i] && !at->stack && at->width_b >= LEAST_VECTOR_B &&
           (at->stride == AS_STRIDE_UNIT || at->stride == AS_STRIDE_CONSTANT);
}

static int64_t rest_of(const struct as_memory_stream *at)
{
    const int64_t width_b = at->width_b;

    return (at->offset_b % width_b + width_b) % width_b;
}

/* Returns the number of vector accesses with the array, the width and the remainder of access `i`.
 * The remainder is that of the offset by the width. */
static size_t count_alike(const struct as_cqa_body *body, size_t i)
{
    const struct as_memory_stream *at = &body->streams->at[i], *other;
    size_t n = 0;

    for (size_t k = 0; k < body->streams->n; k++) {
        other = &body->streams->at[k];
        n += is_vector_access(body, k) && other->array == at->array &&
             other->width_b == at->width_b && rest_of(other) == rest_of(at);
    }
    return n;
}

/* Returns true if access `i` cannot be aligned because more accesses have another remainder.
 * Vectors of one array and width can be aligned together only with equal remainders. */
static bool is_outvoted(const struct as_cqa_body *body, const size_t *alike, size_t i)
{
    const struct as_memory_stream *at = &body->streams->at[i];

    for (size_t k = 0; k < body->streams->n; k++) {
        const struct as_memory_stream *other = &body->streams->at[k];

        if (!is_vector_access(body, k) || other->array != at->array ||
            other->width_b != at->width_b || rest_of(other) == rest_of(at))
            continue;
        if (alike[k] > alike[i] || (alike[k] == alike[i] && rest_of(other) < rest_of(at)))
            return true;
    }
    return false;
}

void as_cqa_count_alignment(const struct as_cqa_body *body, double *m)
{
    /* Longer lists are not counted: the time grows with the square of their length. */
    enum { STREAMS_MOST = 256 };

    size_t alike[STREAMS_MOST];

    if (!body->streams || body->streams->n > STREAMS_MOST)
        return;
    for (size_t i = 0; i < body->streams->n; i++)
        alike[i] = is_vector_access(body, i) ? count_alike(body, i) : 0;
    for (size_t i = 0; i < body->streams->n; i++) {
        const struct as_memory_stream *at = &body->streams->at[i];

        if (!is_vector_access(body, i))
            continue;
        m[AS_CQA_VECTOR_ACCESS_N]++;
        m[AS_CQA_UNALIGNED_N] +=
            llabs(at->stride_b) % at->width_b != 0 || is_outvoted(body, alike, i);
    }
}
