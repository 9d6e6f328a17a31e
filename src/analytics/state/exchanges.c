/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/state/exchanges.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"

static uint64_t hash_of_exchange(const struct as_exchange *exchange)
{
    const uint64_t hash = as_hash_mix(as_hash_mix(59, exchange->site), (uint64_t)exchange->from);
    return as_hash_mix(hash, (uint64_t)exchange->to);
}

static bool is_same_exchange(const struct as_exchange *a, const struct as_exchange *b)
{
    return a->site == b->site && a->from == b->from && a->to == b->to;
}

int as_exchanges_add(struct as_exchanges *exchanges, const struct as_exchange *exchange)
{
    const uint64_t hash = hash_of_exchange(exchange);
    uint32_t at;
    for (struct as_probe probe = as_index_probe(&exchanges->rows, hash);
         (at = as_index_next(&exchanges->rows, &probe)) != AS_INDEX_NONE;) {
        struct as_exchange *row = &exchanges->row.at[at];
        if (!is_same_exchange(row, exchange))
            continue;
        row->n += exchange->n;
        row->size_b += exchange->size_b;
        row->transfer_ns += exchange->transfer_ns;
        row->wait_ns += exchange->wait_ns;
        return 0;
    }
    AS_TRY(as_vec_push(&exchanges->row, *exchange));
    return as_index_add(&exchanges->rows, hash, (uint32_t)(exchanges->row.n - 1));
}

static int64_t positive_ns(int64_t ns)
{
    return ns > 0 ? ns : 0;
}

int as_exchanges_message(struct as_exchanges *exchanges, const struct as_message *message)
{
    const struct as_message_side *receive = &message->receive;
    const int64_t sent_ns =
        message->send.begin_ns < receive->leave_ns ? message->send.begin_ns : receive->leave_ns;
    const int64_t both_ns = sent_ns > receive->enter_ns ? sent_ns : receive->enter_ns;
    const struct as_exchange exchange = {
        .location = receive->location,
        .site = receive->site,
        .from = message->from,
        .to = message->to,
        .n = 1,
        .size_b = message->received_b > 0 ? (uint64_t)message->received_b : 0,
        .transfer_ns = positive_ns(receive->leave_ns - both_ns),
        .wait_ns = positive_ns(sent_ns - receive->enter_ns)};
    return as_exchanges_add(exchanges, &exchange);
}

static int compare_exchanges(const void *a, const void *b)
{
    const struct as_exchange *x = a, *y = b;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

void as_exchanges_sort(struct as_exchanges *exchanges)
{
    if (exchanges->row.n)
        qsort(exchanges->row.at, exchanges->row.n, sizeof *exchanges->row.at, compare_exchanges);
}

void as_exchanges_fini(struct as_exchanges *exchanges)
{
    as_vec_fini(&exchanges->row);
    as_index_fini(&exchanges->rows);
}
