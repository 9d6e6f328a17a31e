/* SPDX-License-Identifier: Apache-2.0 */
/* Events by time: a binary heap. */
#include "base/error.h"
#include "simulate/engine.h"

static bool is_due_before(const struct as_due *a, const struct as_due *b)
{
    return a->ns < b->ns || (a->ns == b->ns && a->order < b->order);
}

int as_due_push(struct as_due_heap *heap, int64_t ns, uint64_t order, uint32_t item)
{
    const struct as_due due = {ns, order, item};
    AS_TRY(as_vec_push(&heap->due, due));
    size_t at = heap->due.n - 1;
    for (; at > 0 && is_due_before(&due, &heap->due.at[(at - 1) / 2]); at = (at - 1) / 2)
        heap->due.at[at] = heap->due.at[(at - 1) / 2];
    heap->due.at[at] = due;
    return 0;
}

struct as_due as_due_pop(struct as_due_heap *heap)
{
    const struct as_due first = heap->due.at[0];
    const struct as_due last = heap->due.at[--heap->due.n];
    const size_t n = heap->due.n;
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        child += child + 1 < n && is_due_before(&heap->due.at[child + 1], &heap->due.at[child]);
        if (!is_due_before(&heap->due.at[child], &last))
            break;
        heap->due.at[at] = heap->due.at[child];
    }
    heap->due.at[at] = last;
    return first;
}
