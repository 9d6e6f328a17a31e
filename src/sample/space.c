/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address spaces: executable mappings of each process, updated by MAP, FORK, EXIT and exec records
 * in time order. The kernel does not record unmapping. A later mapping at the same address replaces
 * the earlier one.
 */
#include <string.h>

#include "base/search.h"
#include "sample/recorder.h"

int as_spaces_init(struct as_spaces *spaces)
{
    memset(spaces, 0, sizeof *spaces);
    as_map_u64_init(&spaces->by_pid);
    return 0;
}

void as_spaces_fini(struct as_spaces *spaces)
{
    as_vec_foreach (&spaces->space, space)
        as_vec_fini(&space->map);
    as_vec_fini(&spaces->space);
    as_vec_fini(&spaces->unused);
    as_map_u64_fini(&spaces->by_pid);
}

/* Returns the index of the live space of `pid`, or AS_MAP_NONE. Process ids are reused. */
static uint32_t find_space(const struct as_spaces *spaces, uint32_t pid)
{
    uint32_t i = as_map_u64_get(&spaces->by_pid, pid);
    if (i == AS_MAP_NONE || spaces->space.at[i].threads == 0 || spaces->space.at[i].pid != pid)
        return AS_MAP_NONE;
    return i;
}

int as_space_of(struct as_spaces *spaces, uint32_t pid, uint32_t *out)
{
    *out = find_space(spaces, pid);
    if (*out != AS_MAP_NONE)
        return 0;
    if (spaces->unused.n) {
        *out = spaces->unused.at[--spaces->unused.n];
    } else {
        struct as_space space = {0};
        *out = (uint32_t)spaces->space.n;
        AS_TRY(as_vec_push(&spaces->space, space));
        AS_TRY(as_vec_reserve(&spaces->unused, spaces->space.n)); /* an exit needs no memory then */
    }
    struct as_space *space = &spaces->space.at[*out];
    space->pid = pid;
    space->threads = 1;
    space->generation = ++spaces->generations;
    space->map.n = 0;
    return as_map_u64_put(&spaces->by_pid, pid, *out);
}

/* Returns the index of the first mapping that ends after `address`. */
static size_t first_after(const struct as_space *space, uint64_t address)
{
    return as_first_not(i, space->map.n, space->map.at[i].end <= address);
}

static int insert(struct as_space *space, size_t at, struct as_mapping mapping)
{
    AS_TRY(as_vec_push(&space->map, mapping));
    memmove(&space->map.at[at + 1], &space->map.at[at],
            (space->map.n - 1 - at) * sizeof *space->map.at);
    space->map.at[at] = mapping;
    return 0;
}

int as_space_map(struct as_spaces *spaces, uint32_t pid, struct as_mapping mapping)
{
    uint32_t index;
    if (mapping.end <= mapping.start)
        return 0;
    AS_TRY(as_space_of(spaces, pid, &index));
    struct as_space *space = &spaces->space.at[index];
    space->generation = ++spaces->generations;
    size_t at = first_after(space, mapping.start);
    if (at < space->map.n && space->map.at[at].start < mapping.start) {
        struct as_mapping *old = &space->map.at[at];
        struct as_mapping rest = *old;
        old->end = mapping.start;
        rest.offset += mapping.end - rest.start;
        rest.start = mapping.end;
        at++;
        if (rest.end > mapping.end)
            AS_TRY(insert(space, at, rest));
    }
    size_t to = at;
    while (to < space->map.n && space->map.at[to].end <= mapping.end)
        to++;
    if (to < space->map.n && space->map.at[to].start < mapping.end) {
        space->map.at[to].offset += mapping.end - space->map.at[to].start;
        space->map.at[to].start = mapping.end;
    }
    if (to > at) { /* reuses the slot of a covered mapping */
        space->map.at[at] = mapping;
        memmove(&space->map.at[at + 1], &space->map.at[to],
                (space->map.n - to) * sizeof *space->map.at);
        space->map.n -= to - at - 1;
        return 0;
    }
    return insert(space, at, mapping);
}

int as_space_fork(struct as_spaces *spaces, const struct as_sample_record *fork)
{
    uint32_t parent, child;
    if (fork->pid == fork->parent_pid) {
        AS_TRY(as_space_of(spaces, fork->pid, &child));
        spaces->space.at[child].threads++;
        return 0;
    }
    AS_TRY(as_space_of(spaces, fork->parent_pid, &parent));
    child = find_space(spaces, fork->pid);
    if (child != AS_MAP_NONE)
        spaces->space.at[child].threads = 1; /* its exit was not recorded */
    AS_TRY(as_space_of(spaces, fork->pid, &child));
    struct as_space *to = &spaces->space.at[child];
    const struct as_space *from = &spaces->space.at[parent];
    to->map.n = 0;
    AS_TRY(as_vec_reserve(&to->map, from->map.n));
    if (from->map.n)
        memcpy(to->map.at, from->map.at, from->map.n * sizeof *from->map.at);
    to->map.n = from->map.n;
    return 0;
}

void as_space_exit(struct as_spaces *spaces, const struct as_sample_record *exit)
{
    uint32_t i = find_space(spaces, exit->pid);
    if (i == AS_MAP_NONE || --spaces->space.at[i].threads != 0)
        return;
    spaces->space.at[i].generation = ++spaces->generations;
    as_vec_fini(&spaces->space.at[i].map);
    spaces->unused.at[spaces->unused.n++] = i;
}

void as_space_exec(struct as_spaces *spaces, uint32_t pid)
{
    uint32_t i = find_space(spaces, pid);
    if (i == AS_MAP_NONE)
        return;
    spaces->space.at[i].map.n = 0;
    spaces->space.at[i].threads = 1; /* exec ends the other threads */
    spaces->space.at[i].generation = ++spaces->generations;
}

const struct as_mapping *as_space_at(const struct as_space *space, uint64_t address)
{
    size_t at = first_after(space, address);
    if (at < space->map.n && address >= space->map.at[at].start)
        return &space->map.at[at];
    return NULL;
}
