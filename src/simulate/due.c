/* SPDX-License-Identifier: Apache-2.0 */
/* Events by time: a heap of four branches. Comparisons need no jump. */
#include <assert.h>

#include "base/error.h"
#include "simulate/engine.h"

#define BRANCHES_N 4u

/* Times are not negative. */
static unsigned __int128 due_key(const struct as_due *due)
{
    return (unsigned __int128)(uint64_t)due->ns << 64 | due->order;
}

/* The event is written once, to its place: a copy would wait for its parts. */
int as_due_push(struct as_due_heap *heap, int64_t ns, uint64_t order, uint32_t item)
{
    const unsigned __int128 key = (unsigned __int128)(uint64_t)ns << 64 | order;
    AS_TRY(as_vec_reserve(&heap->due, heap->due.n + 1));
    size_t at = heap->due.n++;
    for (size_t above; at > 0 && key < due_key(&heap->due.at[above = (at - 1) / BRANCHES_N]);
         at = above)
        heap->due.at[at] = heap->due.at[above];
    heap->due.at[at] = (struct as_due){ns, order, item};
    return 0;
}

/* The first of the branches below a place; there is one. */
static size_t first_branch(const struct as_due *due, size_t from, size_t n)
{
    const size_t to = from + BRANCHES_N < n ? from + BRANCHES_N : n;
    size_t first = from;
    unsigned __int128 key = due_key(&due[from]);
    for (size_t i = from + 1; i < to; i++) {
        const unsigned __int128 other = due_key(&due[i]);
        first = other < key ? i : first;
        key = other < key ? other : key;
    }
    return first;
}

uint32_t as_due_pop(struct as_due_heap *heap)
{
    struct as_due *due = heap->due.at;
    assert(heap->due.n > 0);
    const uint32_t first = due[0].item;
    const struct as_due last = due[--heap->due.n];
    const unsigned __int128 key = due_key(&last);
    const size_t n = heap->due.n;
    size_t at = 0;
    for (size_t from; (from = BRANCHES_N * at + 1) < n;) {
        const size_t branch = first_branch(due, from, n);
        if (key <= due_key(&due[branch]))
            break;
        due[at] = due[branch];
        at = branch;
    }
    due[at] = last;
    return first;
}
