/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/match/collectives.h"

#include <stdbool.h>

#include "base/error.h"
#include "base/index.h"
#include "base/vec.h"

struct operation {
    struct as_collective_member *member; /* NULL: without a member so far, or complete */
    uint32_t left_n;                     /* including members that missed it */
    bool is_missed;                      /* some member missed it: it never completes */
    enum as_collective_kind kind;
    int64_t root;
};

struct comm_group {
    uint64_t comm;
    uint32_t size;
    uint64_t *begun;                    /* by rank: operations that it began */
    uint64_t first;                     /* number of the first one below */
    AS_VEC(struct operation) operation; /* from `gone` on: those that some have not left */
    size_t gone;
};

struct as_collectives {
    as_collective_matched *on_matched;
    void *context;
    AS_VEC(struct comm_group) group;
    struct as_index groups;
    AS_VEC(struct as_collective_member *) spare; /* of the size that `spare_size` says */
    uint32_t spare_size;
    uint64_t missed_n; /* that some left and others missed */
};

int as_collectives_new(struct as_collectives **out, as_collective_matched *on_matched,
                       void *context)
{
    *out = as_calloc(1, sizeof **out);
    if (!*out)
        return AS_ERR_NOMEM;
    (*out)->on_matched = on_matched;
    (*out)->context = context;
    return 0;
}

void as_collectives_free(struct as_collectives **collectives)
{
    struct as_collectives *g = *collectives;
    if (!g)
        return;
    as_vec_foreach (&g->group, group) {
        as_vec_foreach (&group->operation, operation)
            as_free(operation->member);
        as_vec_fini(&group->operation);
        as_free(group->begun);
    }
    as_vec_foreach (&g->spare, members)
        as_free(*members);
    as_vec_fini(&g->spare);
    as_vec_fini(&g->group);
    as_index_fini(&g->groups);
    as_free(g);
    *collectives = NULL;
}

static struct comm_group *find_group(struct as_collectives *g, uint64_t comm)
{
    struct comm_group *group = g->group.at;
    const uint32_t at = as_index_of_word(&g->groups, group, sizeof *group, comm);
    return at == AS_INDEX_NONE ? NULL : &group[at];
}

static int make_group(struct as_collectives *g, uint64_t comm, uint32_t size,
                      struct comm_group **out)
{
    struct comm_group group = {.comm = comm, .size = size};
    group.begun = as_calloc(size, sizeof *group.begun);
    if (!group.begun)
        return AS_ERR_NOMEM;
    if (as_vec_push(&g->group, group) < 0) {
        as_free(group.begun);
        return AS_ERR_NOMEM;
    }
    *out = &g->group.at[g->group.n - 1];
    return as_index_add_word(&g->groups, comm, (uint32_t)(g->group.n - 1));
}

static struct as_collective_member *new_members(struct as_collectives *g, uint32_t size)
{
    struct as_collective_member *members;
    if (g->spare.n && g->spare_size == size)
        members = g->spare.at[--g->spare.n];
    else
        members = as_malloc((size_t)size * sizeof *members);
    for (uint32_t r = 0; members && r < size; r++)
        members[r] = (struct as_collective_member){.leave_ns = INT64_MIN};
    return members;
}

static void store_spare_members(struct as_collectives *g, struct as_collective_member *members,
                                uint32_t size)
{
    if (g->spare.n == 0)
        g->spare_size = size;
    if (size != g->spare_size || as_vec_push(&g->spare, members) < 0)
        as_free(members);
}

/* One that is not over yet; made when it is the next. */
static int find_operation(struct comm_group *group, uint64_t number, struct operation **out)
{
    if (number >= group->first + (group->operation.n - group->gone))
        AS_TRY(as_vec_push(&group->operation, (struct operation){.root = -1}));
    *out = &group->operation.at[group->gone + (number - group->first)];
    return 0;
}

/* It is made where there is none; the rank is one of it. */
static int group_for(struct as_collectives *g, uint64_t comm, uint32_t size, uint32_t rank,
                     struct comm_group **out)
{
    *out = find_group(g, comm);
    if (!*out)
        AS_TRY(make_group(g, comm, size, out));
    return rank < (*out)->size ? 0 : AS_ERR_CORRUPT;
}

int as_collectives_begin(struct as_collectives *g, uint64_t comm, uint32_t size, uint32_t rank,
                         enum as_collective_kind kind, int64_t root, uint64_t *number)
{
    struct comm_group *group;
    struct operation *operation;
    AS_TRY(group_for(g, comm, size, rank, &group));
    *number = group->begun[rank]++;
    AS_TRY(find_operation(group, *number, &operation));
    if (operation->root < 0) /* not all know it */
        operation->root = root;
    if (operation->member)
        return 0;
    operation->kind = kind;
    operation->member = new_members(g, group->size);
    return operation->member ? 0 : AS_ERR_NOMEM;
}

/* Those at the front that all have left make room. */
static void shift_operations(struct comm_group *group)
{
    while (group->gone < group->operation.n &&
           group->operation.at[group->gone].left_n >= group->size) {
        group->gone++;
        group->first++;
    }
    if (group->gone > 64 && group->gone * 2 > group->operation.n) {
        size_t left = group->operation.n - group->gone;
        for (size_t i = 0; i < left; i++)
            group->operation.at[i] = group->operation.at[group->gone + i];
        group->operation.n = left;
        group->gone = 0;
    }
}

/* By one more; the last makes it a collective, unless one missed it. */
static int leave_operation(struct as_collectives *g, struct comm_group *group,
                           struct operation *operation)
{
    int rc = 0;
    if (++operation->left_n < group->size)
        return 0;
    struct as_collective collective = {.comm = group->comm,
                                       .kind = operation->kind,
                                       .root = operation->root,
                                       .member_n = group->size,
                                       .member = operation->member};
    if (operation->is_missed)
        g->missed_n += operation->member != NULL;
    else
        rc = g->on_matched(g->context, &collective);
    if (operation->member)
        store_spare_members(g, operation->member, group->size);
    operation->member = NULL;
    shift_operations(group);
    return rc;
}

int as_collectives_leave(struct as_collectives *g, uint64_t comm, uint64_t number, uint32_t rank,
                         const struct as_collective_member *member)
{
    struct comm_group *group = find_group(g, comm);
    if (!group || rank >= group->size || number < group->first ||
        number - group->first >= group->operation.n - group->gone)
        return AS_ERR_CORRUPT;
    struct operation *operation = &group->operation.at[group->gone + (number - group->first)];
    if (!operation->member || operation->member[rank].leave_ns != INT64_MIN)
        return AS_ERR_CORRUPT;
    operation->member[rank] = *member;
    return leave_operation(g, group, operation);
}

int as_collectives_missed(struct as_collectives *g, uint64_t comm, uint32_t size, uint32_t rank,
                          uint64_t n)
{
    struct comm_group *group;
    struct operation *operation;
    AS_TRY(group_for(g, comm, size, rank, &group));
    for (; n > 0; n--) {
        AS_TRY(find_operation(group, group->begun[rank]++, &operation));
        operation->is_missed = true;
        AS_TRY(leave_operation(g, group, operation));
    }
    return 0;
}

uint64_t as_collectives_unmatched(const struct as_collectives *g)
{
    uint64_t n = g->missed_n;
    as_vec_foreach (&g->group, group)
        for (size_t i = group->gone; i < group->operation.n; i++)
            n += group->operation.at[i].member != NULL;
    return n;
}
