/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/match/neighbours.h"

#include <stdbool.h>

#include "base/error.h"
#include "base/index.h"
#include "base/vec.h"

struct known_near {
    uint64_t comm; /* global number, the key */
    bool is_whole; /* all its members have a list of neighbours */
    struct as_neighbours near;
};

struct as_neighbour_table {
    const struct as_trace *trace;
    AS_VEC(struct known_near) known;
    struct as_index rows;
};

int as_neighbours_new(struct as_neighbour_table **out, const struct as_trace *trace)
{
    *out = as_calloc(1, sizeof **out);
    if (!*out)
        return AS_ERR_NOMEM;
    (*out)->trace = trace;
    return 0;
}

void as_neighbours_free(struct as_neighbour_table **table)
{
    struct as_neighbour_table *t = *table;
    if (!t)
        return;
    as_vec_foreach (&t->known, known) {
        as_free(known->near.first);
        as_free(known->near.in);
    }
    as_vec_fini(&t->known);
    as_index_fini(&t->rows);
    as_free(t);
    *table = NULL;
}

/* Collects the definition of each rank of the communicator; NULL: missing. */
static bool find_neighbour_lists(const struct as_trace *trace, uint64_t comm, uint32_t size,
                                 const struct as_trace_comm **said)
{
    uint32_t said_n = 0;
    as_vec_foreach (&trace->process, process)
        as_vec_foreach (&process->comm, c)
            if (c->global == comm && c->size == size && c->neighbour && c->rank >= 0 &&
                (uint64_t)c->rank < size) {
                said_n += said[c->rank] == NULL;
                said[c->rank] = c;
            }
    return said_n == size;
}

static int collect_neighbours(const struct as_trace_comm *const *said, uint32_t size,
                              struct as_neighbours *out)
{
    size_t all_n = 0;
    for (uint32_t r = 0; r < size; r++)
        all_n += said[r]->in_n;
    if (all_n >= UINT32_MAX)
        return AS_ERR_NOMEM;
    out->first = as_calloc((size_t)size + 1, sizeof *out->first);
    out->in = as_calloc(all_n + 1, sizeof *out->in);
    if (!out->first || !out->in)
        return AS_ERR_NOMEM;
    uint32_t n = 0;
    for (uint32_t r = 0; r < size; r++) {
        for (size_t i = 0; i < said[r]->in_n; i++)
            out->in[n++] = (uint32_t)said[r]->neighbour[i];
        out->first[r + 1] = n;
    }
    return 0;
}

static int learn_near(struct as_neighbour_table *t, uint64_t comm, uint32_t size)
{
    struct known_near known = {.comm = comm};
    const struct as_trace_comm **said = as_calloc((size_t)size + 1, sizeof *said);
    if (!said)
        return AS_ERR_NOMEM;
    int rc = 0;
    known.is_whole = find_neighbour_lists(t->trace, comm, size, said);
    if (known.is_whole)
        rc = collect_neighbours(said, size, &known.near);
    as_free(said);
    if (rc == 0 && as_vec_push(&t->known, known) == 0)
        return as_index_add_word(&t->rows, comm, (uint32_t)(t->known.n - 1));
    as_free(known.near.first);
    as_free(known.near.in);
    return AS_ERR_NOMEM;
}

static const struct known_near *find_known(struct as_neighbour_table *t, uint64_t comm)
{
    const struct known_near *known = t->known.at;
    const uint32_t at = as_index_of_word(&t->rows, known, sizeof *known, comm);
    return at == AS_INDEX_NONE ? NULL : &known[at];
}

int as_neighbours_of(struct as_neighbour_table *t, uint64_t comm, uint32_t size,
                     const struct as_neighbours **out)
{
    if (!find_known(t, comm))
        AS_TRY(learn_near(t, comm, size));
    const struct known_near *known = find_known(t, comm);
    *out = known->is_whole ? &known->near : NULL;
    return 0;
}
