/* SPDX-License-Identifier: Apache-2.0 */
/*
 * False sharing: threads that write different bytes of one cache line. A line counts if at least
 * two threads store there in several samples each. No byte may have stores of two threads.
 */
#include <stdlib.h>

#include "base/error.h"
#include "profile/accesses.h"

#define LINE_B       UINT64_C(64)
#define THREAD_LEAST 3 /* samples of a thread in a line */

static uint64_t line_of_store(const struct as_sampled_address *store)
{
    return store->low / LINE_B;
}

static int list_stores(const struct as_operand_loop *loop, const as_address_list *address,
                       as_address_list *out, struct as_error *err)
{
    for (size_t i = 0; i < address->n; i++)
        if (loop->streams.at[address->at[i].stream].access & AS_ACCESS_WRITE &&
            !address->at[i].beside && as_vec_push(out, address->at[i]) < 0)
            return as_error_nomem(err, "the stores of a loop");
    return 0;
}

static int by_line_and_thread(const void *a, const void *b)
{
    const struct as_sampled_address *x = a, *y = b;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (line_of_store(x) != line_of_store(y))
        return line_of_store(x) < line_of_store(y) ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (x->low > y->low) - (x->low < y->low);
}

/* Bytes that threads have written in one line. */
struct line_threads {
    unsigned n;
    uint64_t low, high; /* of the thread before */
    uint64_t gap_min_b;
    bool apart;
};

/* Stores [from, to) are of one thread in one line. */
static void add_thread(const struct as_sampled_address *from, const struct as_sampled_address *to,
                       struct line_threads *out)
{
    uint64_t low = from->low, high = from->high;

    if (to - from < THREAD_LEAST)
        return;
    for (const struct as_sampled_address *at = from; at < to; at++) {
        low = at->low < low ? at->low : low;
        high = at->high > high ? at->high : high;
    }
    if (out->n++) {
        const uint64_t gap_b = low > out->low ? low - out->low : out->low - low;
        out->apart &= low >= out->high || high <= out->low;
        out->gap_min_b = gap_b < out->gap_min_b ? gap_b : out->gap_min_b;
    }
    out->low = low;
    out->high = high;
}

/* Stores [from, to) are of one line. */
static void look_at_line(const struct as_sampled_address *from, const struct as_sampled_address *to,
                         struct as_sharing *out)
{
    struct line_threads threads = {.apart = true, .gap_min_b = LINE_B};

    for (const struct as_sampled_address *at = from, *next; at < to; at = next) {
        for (next = at + 1; next < to && next->tid == at->tid; next++)
            ;
        add_thread(at, next, &threads);
    }
    if (threads.n < 2 || !threads.apart)
        return;
    for (const struct as_sampled_address *at = from; at < to; at++)
        out->share += at->weight;
    out->stream = out->line_n++ ? out->stream : from->stream;
    out->thread_n = threads.n > out->thread_n ? threads.n : out->thread_n;
    out->gap_b = threads.gap_min_b < out->gap_b ? threads.gap_min_b : out->gap_b;
}

int as_sharing_find(const struct as_operand_loop *loop, const as_address_list *address,
                    struct as_sharing *out, struct as_error *err)
{
    as_address_list list = {0};
    const int rc = list_stores(loop, address, &list, err);
    double all = 0;

    *out = (struct as_sharing){.gap_b = LINE_B};
    if (list.n)
        qsort(list.at, list.n, sizeof *list.at, by_line_and_thread);
    for (size_t from = 0, to; from < list.n && rc == 0; from = to) {
        for (to = from; to < list.n && list.at[to].process == list.at[from].process &&
                        line_of_store(&list.at[to]) == line_of_store(&list.at[from]);
             to++)
            all += list.at[to].weight;
        look_at_line(list.at + from, list.at + to, out);
    }
    out->share = all > 0 ? out->share / all : 0;
    as_vec_fini(&list);
    return rc;
}
