/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the use of cache lines by the operands of a loop, for all operands of one array
 * together. Strides shorter than a line use parts of all lines. Longer strides skip untouched
 * lines.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "code/code.h"

#define LINE_B 64

/* Bytes of an array that one operand touches per iteration. The array advances by `step_b`. */
struct touched_bytes {
    uint32_t array;
    uint32_t stream;
    uint64_t step_b, start, end; /* bytes of the step; start and end are within the step */
};

static double least_of(double a, double b)
{
    return a < b ? a : b;
}

static int by_array_and_start(const void *a, const void *b)
{
    const struct touched_bytes *x = a, *y = b;

    if (x->array != y->array)
        return (x->array > y->array) - (x->array < y->array);
    return (x->start > y->start) - (x->start < y->start);
}

/* Returns the use of lines by the operands of one array, which are sorted by their bytes. */
static struct as_line_use use_of_array(const struct touched_bytes *at, size_t n)
{
    const double step_b = (double)at->step_b;
    uint64_t end = 0, line_end = 0;
    struct as_line_use use = {0};

    for (size_t i = 0; i < n; i++) {
        const uint64_t from = at[i].start > end ? at[i].start : end;
        const uint64_t line = at[i].start / LINE_B > line_end ? at[i].start / LINE_B : line_end;
        const uint64_t behind = (at[i].end + LINE_B - 1) / LINE_B;

        if (at[i].end > from) {
            use.used_b += (double)(at[i].end - from);
            end = at[i].end;
        }
        if (behind > line) {
            use.moved_b += (double)(behind - line) * LINE_B;
            line_end = behind;
        }
    }
    use.used_b = least_of(use.used_b, step_b);
    use.moved_b = least_of(use.moved_b, step_b);
    return use;
}

static struct touched_bytes touched_by(const struct as_memory_stream *at, uint32_t stream)
{
    const uint64_t step_b = (uint64_t)(at->stride_b < 0 ? -at->stride_b : at->stride_b);
    const int64_t rest = at->offset_b % (int64_t)step_b;
    const uint64_t start = (uint64_t)(rest < 0 ? rest + (int64_t)step_b : rest);
    const uint64_t width = at->width_b < step_b ? at->width_b : step_b;

    return (struct touched_bytes){at->array, stream, step_b, start, start + width};
}

static bool walks(const struct as_memory_stream *at)
{
    return !at->stack && at->width_b && at->stride_b &&
           (at->stride == AS_STRIDE_UNIT || at->stride == AS_STRIDE_CONSTANT);
}

int as_line_use(const struct as_streams *streams, struct as_line_use *each,
                struct as_line_use *total, struct as_error *err)
{
    struct touched_bytes *touched = as_calloc(streams->n + 1, sizeof *touched);
    size_t n = 0;

    *total = (struct as_line_use){0};
    if (!touched)
        return as_error_nomem(err, "the memory operands of a loop");
    for (size_t i = 0; i < streams->n; i++) {
        if (each)
            each[i] = (struct as_line_use){0};
        if (walks(&streams->at[i]))
            touched[n++] = touched_by(&streams->at[i], (uint32_t)i);
    }
    if (n > 1)
        qsort(touched, n, sizeof *touched, by_array_and_start);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && touched[end].array == touched[i].array;)
            end++;
        const struct as_line_use one = use_of_array(&touched[i], end - i);
        total->used_b += one.used_b;
        total->moved_b += one.moved_b;
        for (size_t k = i; each && k < end; k++)
            each[touched[k].stream] = one;
    }
    as_free(touched);
    return 0;
}
