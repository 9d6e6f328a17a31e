/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/match/groups.h"

#include "base/error.h"
#include "base/index.h"

struct two_groups {
    uint64_t comm; /* its global number, by which it is found */
    uint32_t first_n, second_n;
};

struct as_groups {
    AS_VEC(struct two_groups) known;
    struct as_index rows;
};

static const struct two_groups *find_groups(const struct as_groups *groups, uint64_t comm)
{
    const struct two_groups *known = groups->known.at;
    const uint32_t at = as_index_of_word(&groups->rows, known, sizeof *known, comm);
    return at == AS_INDEX_NONE ? NULL : &known[at];
}

static int add_groups(struct as_groups *groups, const struct as_trace_comm *comm)
{
    const uint64_t own_n = comm->size, other_n = comm->member_n;
    if (!(comm->bits & AS_TRACE_INTER) || (comm->bits & AS_TRACE_CUT) || !comm->global ||
        own_n > UINT32_MAX || other_n > UINT32_MAX || find_groups(groups, comm->global))
        return 0;
    const bool is_second = comm->bits & AS_TRACE_SECOND;
    const struct two_groups known = {.comm = comm->global,
                                     .first_n = (uint32_t)(is_second ? other_n : own_n),
                                     .second_n = (uint32_t)(is_second ? own_n : other_n)};
    AS_TRY(as_vec_push(&groups->known, known));
    return as_index_add_word(&groups->rows, comm->global, (uint32_t)(groups->known.n - 1));
}

int as_groups_new(struct as_groups **out, const struct as_trace *trace)
{
    *out = as_calloc(1, sizeof **out);
    if (!*out)
        return AS_ERR_NOMEM;
    as_vec_foreach (&trace->process, process)
        as_vec_foreach (&process->comm, comm)
            AS_TRY(add_groups(*out, comm));
    return 0;
}

void as_groups_free(struct as_groups **groups)
{
    if (!*groups)
        return;
    as_vec_fini(&(*groups)->known);
    as_index_fini(&(*groups)->rows);
    as_free(*groups);
    *groups = NULL;
}

uint32_t as_groups_first_n(const struct as_groups *groups, uint64_t comm, uint32_t member_n)
{
    const struct two_groups *known = groups->known.n ? find_groups(groups, comm) : NULL;
    return known && (uint64_t)known->first_n + known->second_n == member_n ? known->first_n : 0;
}
