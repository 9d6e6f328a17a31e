/* SPDX-License-Identifier: Apache-2.0 */
/* Linear probing; who is dropped, those behind it that were pushed away move up to (D. Knuth, The
 * Art of Computer Programming, volume 3, 6.4, algorithm R). */
#include "analytics/requests.h"

#include "analytics/walking.h"
#include "base/error.h"

#define PLACES_LEAST 64u

static size_t home_of(const struct as_requests *requests, const struct as_request *request)
{
    return as_hash_mix(request->process, (uint64_t)request->number) & (requests->place_n - 1);
}

void as_requests_fini(struct as_requests *requests)
{
    as_free(requests->at);
    *requests = (struct as_requests){0};
}

/* Its place, or the free one where it would be. */
static struct as_request *place_for(const struct as_requests *requests, uint32_t process,
                                    int64_t number)
{
    const size_t mask = requests->place_n - 1;
    const struct as_request wanted = {.process = process, .number = number};
    for (size_t at = home_of(requests, &wanted);; at = (at + 1) & mask) {
        struct as_request *request = &requests->at[at];
        if (!request->kind || (request->number == number && request->process == process))
            return request;
    }
}

struct as_request *as_requests_find(const struct as_requests *requests, uint32_t process,
                                    int64_t number)
{
    struct as_request *request = requests->place_n ? place_for(requests, process, number) : NULL;
    return request && request->kind ? request : NULL;
}

static int grow_requests(struct as_requests *requests)
{
    const size_t place_n = requests->place_n ? 2 * requests->place_n : PLACES_LEAST;
    struct as_requests more = {as_calloc(place_n, sizeof *more.at), place_n, requests->n};
    if (!more.at)
        return ASSAY_ERR_NOMEM;
    for (size_t i = 0; i < requests->place_n; i++)
        if (requests->at[i].kind)
            *place_for(&more, requests->at[i].process, requests->at[i].number) = requests->at[i];
    as_free(requests->at);
    *requests = more;
    return 0;
}

int as_requests_put(struct as_requests *requests, const struct as_request *request)
{
    if (2 * (requests->n + 1) > requests->place_n)
        AS_TRY(grow_requests(requests));
    struct as_request *place = place_for(requests, request->process, request->number);
    requests->n += !place->kind;
    *place = *request;
    return 0;
}

void as_requests_drop(struct as_requests *requests, struct as_request *request)
{
    const size_t mask = requests->place_n - 1;
    size_t hole = (size_t)(request - requests->at);
    for (size_t at = (hole + 1) & mask; requests->at[at].kind; at = (at + 1) & mask) {
        const size_t home = home_of(requests, &requests->at[at]);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue; /* its home lies behind the hole */
        requests->at[hole] = requests->at[at];
        hole = at;
    }
    requests->at[hole].kind = 0;
    requests->n--;
}
