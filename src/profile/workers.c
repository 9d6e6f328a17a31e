/* SPDX-License-Identifier: Apache-2.0 */
/* The category of a function identifies a runtime, which may be stripped or statically linked. */
#include "profile/workers.h"

#include "base/alloc.h"

enum runtime_place {
    ELSEWHERE,
    ON_WORKER, /* a frame of the runtime that the thread library called */
    ON_CALLER, /* a frame of the runtime that the program called */
};

static uint32_t category_at(const struct as_attribution *all, uint32_t node)
{
    return all->function.at[all->node[node].function].category;
}

static enum runtime_place place_of(const struct as_attribution *all, uint32_t parent,
                                   enum runtime_place outer, uint32_t threads)
{
    if (outer != ELSEWHERE)
        return outer;
    return parent == 0 || category_at(all, parent) == threads ? ON_WORKER : ON_CALLER;
}

int as_workers_find(const struct as_attribution *all, struct as_workers *out)
{
    const uint32_t n = (uint32_t)all->tally.node.n;
    const uint32_t openmp = (uint32_t)as_category_find(all->categories, "openmp");
    const uint32_t threads = (uint32_t)as_category_find(all->categories, "pthread");
    uint8_t *place = as_calloc(n + 1, sizeof *place);
    uint32_t *first = as_calloc(all->function.n + 1, sizeof *first);
    out->region = as_calloc(n + 1, sizeof *out->region);
    out->next = as_calloc(n + 1, sizeof *out->next);
    const bool good = place && first && out->region && out->next;
    for (uint32_t i = 1; i < n && good; i++) {
        const uint32_t parent = all->tally.node.at[i].parent, own = category_at(all, i);
        if (own == openmp) {
            place[i] = (uint8_t)place_of(all, parent, place[parent], threads);
        } else if (place[parent] == ON_CALLER &&
                   as_category_in(all->categories, own, openmp) == own) {
            out->next[i] = first[all->node[i].function];
            first[all->node[i].function] = i;
        }
    }
    for (uint32_t i = 1; i < n && good; i++) {
        const uint32_t parent = all->tally.node.at[i].parent;
        if (place[parent] == ON_WORKER && place[i] == ELSEWHERE)
            out->region[i] = first[all->node[i].function];
    }
    as_free(place);
    as_free(first);
    return good ? 0 : AS_ERR_NOMEM;
}

void as_workers_fini(struct as_workers *workers)
{
    as_free(workers->region);
    as_free(workers->next);
}
