/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of a process by number: linear probing; who is dropped, those behind it that were pushed
 * away move up to (D. Knuth, The Art of Computer Programming, volume 3, 6.4, algorithm R). */
#include "base/error.h"
#include "exchange/otf2_write.h"

#define PLACES_LEAST 16u

static size_t home_of_number(const struct as_otf2_requests *requests, int64_t number)
{
    return as_hash_mix(29, (uint64_t)number) & (requests->place_n - 1);
}

/* Its place, or the free one where it would be. */
static struct as_otf2_request *place_of_number(const struct as_otf2_requests *requests,
                                               int64_t number)
{
    size_t at = home_of_number(requests, number);
    while (requests->at[at].kind && requests->at[at].number != number)
        at = (at + 1) & (requests->place_n - 1);
    return &requests->at[at];
}

struct as_otf2_request *as_otf2_request_find(const struct as_otf2_requests *requests,
                                             int64_t number)
{
    struct as_otf2_request *at = requests->n ? place_of_number(requests, number) : NULL;
    return at && at->kind ? at : NULL;
}

static int grow_table(struct as_otf2_requests *requests)
{
    const size_t place_n = requests->place_n ? 2 * requests->place_n : PLACES_LEAST;
    struct as_otf2_requests more = {as_calloc(place_n, sizeof *more.at), place_n, requests->n};
    if (!more.at)
        return ASSAY_ERR_NOMEM;
    for (size_t i = 0; i < requests->place_n; i++)
        if (requests->at[i].kind)
            *place_of_number(&more, requests->at[i].number) = requests->at[i];
    as_free(requests->at);
    *requests = more;
    return 0;
}

int as_otf2_request_put(struct as_otf2_requests *requests, const struct as_otf2_request *request)
{
    if (2 * (requests->n + 1) > requests->place_n)
        AS_TRY(grow_table(requests));
    struct as_otf2_request *place = place_of_number(requests, request->number);
    requests->n += !place->kind;
    *place = *request;
    return 0;
}

void as_otf2_request_drop(struct as_otf2_requests *requests, struct as_otf2_request *request)
{
    const size_t mask = requests->place_n - 1;
    size_t hole = (size_t)(request - requests->at);
    for (size_t at = (hole + 1) & mask; requests->at[at].kind; at = (at + 1) & mask) {
        const size_t home = home_of_number(requests, requests->at[at].number);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue; /* its home lies behind the hole */
        requests->at[hole] = requests->at[at];
        hole = at;
    }
    requests->at[hole].kind = 0;
    requests->n--;
}
