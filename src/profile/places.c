/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions with samples: their rows in the experiment. */
#include <stdlib.h>

#include "base/error.h"
#include "base/map.h"
#include "profile/attribute.h"

static int compare_places(const void *a, const void *b)
{
    const struct as_tally_place *x = a, *y = b;

    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    return (x->address > y->address) - (x->address < y->address);
}

static struct as_tally_place *place_at(void *first, size_t size_b, size_t i)
{
    return (struct as_tally_place *)((char *)first + i * size_b);
}

/* All processes with one place get the location of its node. */
static void find_locations(struct as_attribution *all, void *first, size_t n, size_t size_b)
{
    const struct as_tally *t = &all->tally;

    if (!n)
        return;
    qsort(first, n, size_b, compare_places);
    for (size_t i = 1; i < t->node.n; i++) {
        const struct as_tally_place key = {.module = t->node.at[i].module,
                                           .address = t->node.at[i].address};
        const struct as_tally_place *found = bsearch(&key, first, n, size_b, compare_places);
        size_t at = found ? (size_t)((const char *)found - (const char *)first) / size_b : n;

        while (at > 0 && at < n && compare_places(place_at(first, size_b, at - 1), &key) == 0)
            at--;
        for (; at < n && compare_places(place_at(first, size_b, at), &key) == 0; at++)
            place_at(first, size_b, at)->location_id = all->node[i].location_id;
    }
}

static int read_loops(struct as_attribution *all, struct as_map_u64 *loop, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(as_rows_open(all->experiment,
                        "SELECT location_id, loop_id FROM location WHERE loop_id IS NOT NULL",
                        &rows, err));
    while ((rc = as_rows_next(rows, err)) > 0)
        if (as_map_u64_put(loop, (uint64_t)as_rows_integer(rows, 0),
                           (uint32_t)as_rows_integer(rows, 1)) < 0) {
            rc = as_error_nomem(err, "the loops of a run");
            break;
        }
    as_rows_close(&rows);
    return rc;
}

static void find_loops(const struct as_map_u64 *loop, void *first, size_t n, size_t size_b)
{
    for (size_t i = 0; i < n; i++) {
        struct as_tally_place *place = place_at(first, size_b, i);
        const uint32_t at = as_map_u64_get(loop, (uint64_t)place->location_id);

        place->loop_id = place->location_id && at != AS_MAP_NONE ? at : 0;
    }
}

size_t as_places_end(void *first, size_t n, size_t size_b, size_t from)
{
    const uint32_t module = place_at(first, size_b, from)->module;
    size_t to = from + 1;

    while (to < n && place_at(first, size_b, to)->module == module)
        to++;
    return to;
}

int as_attribute_places(struct as_attribution *all, struct as_error *err)
{
    struct as_tally *t = &all->tally;
    struct as_map_u64 loop;

    if (!t->operand.n && !t->registers.n) /* most runs have none */
        return 0;
    find_locations(all, t->operand.at, t->operand.n, sizeof *t->operand.at);
    find_locations(all, t->registers.at, t->registers.n, sizeof *t->registers.at);
    as_map_u64_init(&loop);
    const int rc = read_loops(all, &loop, err);
    find_loops(&loop, t->operand.at, t->operand.n, sizeof *t->operand.at);
    find_loops(&loop, t->registers.at, t->registers.n, sizeof *t->registers.at);
    as_map_u64_fini(&loop);
    return rc;
}
