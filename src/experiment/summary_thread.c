/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds up the samples of a run, thread by thread. The call paths of a thread are walked in
 * preorder. Each object has a count of how often it is on the current path. It is opened when the
 * count leaves zero, so that recursion counts a sample once. Objects of all kinds share one range
 * of indices. Functions have two sums: as functions of the binary, and as frames, with inlined code
 * counted for the inlined function. The cost grows with the samples and the paths of each thread.
 */
#include <assert.h>

#include "experiment/summary.h"

static uint32_t index_of(const struct as_summary *s, enum as_object_kind kind, uint32_t id)
{
    return (uint32_t)(s->base[kind] + id);
}

/* ---- One thread -------------------------------------------------------------------------- */

static struct as_sums *touch(struct as_summary *s, uint32_t object)
{
    if (!s->is_touched[object]) {
        s->is_touched[object] = true;
        s->no_memory |= as_vec_push(&s->touched, object) < 0;
    }
    return &s->thread[object];
}

/* Adds an object to the current path; the first time opens it. */
static void enter_object(struct as_summary *s, enum as_object_kind kind, uint32_t id)
{
    const uint32_t object = index_of(s, kind, id);

    if (!id)
        return;
    if (s->standing[object]++ == 0)
        s->no_memory |= as_vec_push(&s->opened, object) < 0;
    s->no_memory |= as_vec_push(&s->entered, object) < 0;
}

static void enter_place(struct as_summary *s, const struct as_summary_place *place)
{
    enter_object(s, AS_OBJECT_BLOCK, place->block);
    enter_object(s, AS_OBJECT_LINE, place->line);
    for (uint32_t loop = place->loop; loop; loop = s->tables.loop_parent[loop])
        enter_object(s, AS_OBJECT_LOOP, loop);
    for (uint32_t at = place->inlining; at; at = s->tables.inlining[at].parent)
        enter_object(s, AS_OBJECT_FRAME, s->tables.inlining[at].inlined);
}

/* Removes objects from the current path down to the given lengths. Closed objects get `sums` as
 * inclusive time. */
static void leave(struct as_summary *s, size_t opened, size_t entered, const struct as_sums *sums)
{
    while (s->entered.n > entered)
        s->standing[s->entered.at[--s->entered.n]]--;
    while (s->opened.n > opened) {
        struct as_sums *to = touch(s, s->opened.at[--s->opened.n]);

        to->inclusive_n += sums->inclusive_n;
        to->inclusive_ns += sums->inclusive_ns;
        to->blocked_inclusive_ns += sums->blocked_inclusive_ns;
    }
}

static void add_exclusive(struct as_summary *s, enum as_object_kind kind, uint32_t id,
                          const struct as_sums *sums)
{
    struct as_sums *to;

    if (!id)
        return;
    to = touch(s, index_of(s, kind, id));
    to->exclusive_n += sums->exclusive_n;
    to->exclusive_ns += sums->exclusive_ns;
    to->blocked_ns += sums->blocked_ns;
}

static void add_category(struct as_summary *s, enum as_object_kind kind, uint32_t id,
                         uint32_t category, int64_t time_ns)
{
    const uint32_t object = index_of(s, kind, id);
    const uint64_t key = (uint64_t)object << 32 | category;
    uint32_t at;

    if (!id || !category || !time_ns)
        return;
    at = as_map_u64_get(&s->category_of, key);
    if (at == AS_MAP_NONE) {
        at = (uint32_t)s->category.n;
        if (as_vec_push(&s->category, (struct as_by_category){object, category, 0}) < 0 ||
            as_map_u64_put(&s->category_of, key, at) < 0) {
            s->no_memory = true;
            return;
        }
    }
    s->category.at[at].time_ns += time_ns;
}

/* Returns the frame of a function, or 0 if nothing is inlined: function and frame are then the
 * same. */
static uint32_t frame_of(const struct as_summary *s, uint32_t function)
{
    return s->tables.has_frame[function] ? function : 0;
}

/* Returns the category of the time at a place in a frame of `category`. */
static uint32_t category_at(const struct as_summary *s, uint32_t category,
                            const struct as_summary_place *place)
{
    const uint32_t inlined =
        place->inlining ? as_map_u64_get(&s->tables.inlined_category,
                                         as_inlined_category_key(category, place->inlining))
                        : AS_MAP_NONE;

    return inlined == AS_MAP_NONE ? category : inlined;
}

/* Adds time to a category; a category has no children, so all its time is exclusive. */
static void add_of_category(struct as_summary *s, uint32_t function, uint32_t category,
                            const struct as_sums *sums)
{
    if (!category)
        return;
    as_sums_add(touch(s, index_of(s, AS_OBJECT_CATEGORY, category)), sums);
    add_category(s, AS_OBJECT_FUNCTION, function, category, sums->exclusive_ns);
}

/* Adds a sample in the top frame; `own` receives the sums in the frame's category. */
static void add_sample(struct as_summary *s, const struct as_path_node *node,
                       const struct as_summary_sample *it, struct as_sums *self,
                       struct as_sums *own)
{
    const struct as_summary_place *place = &s->tables.location[it->location];
    const uint32_t category = category_at(s, node->category, place);
    const uint32_t frame =
        place->inlining ? s->tables.inlining[place->inlining].inlined : frame_of(s, node->function);
    const size_t opened = s->opened.n, entered = s->entered.n;
    struct as_sums sums = {0};

    if (it->blocked) {
        sums.blocked_ns = sums.blocked_inclusive_ns = it->time_ns;
    } else {
        sums.exclusive_n = sums.inclusive_n = it->n;
        sums.exclusive_ns = sums.inclusive_ns = it->time_ns;
    }
    as_sums_add(self, &sums);
    add_exclusive(s, AS_OBJECT_BLOCK, place->block, &sums);
    add_exclusive(s, AS_OBJECT_LINE, place->line, &sums);
    add_exclusive(s, AS_OBJECT_LOOP, place->loop, &sums);
    add_exclusive(s, AS_OBJECT_FRAME, frame, &sums);
    add_category(s, AS_OBJECT_LOOP, place->loop, category, sums.exclusive_ns);
    add_category(s, AS_OBJECT_FRAME, frame, category, sums.exclusive_ns);
    if (category == node->category)
        as_sums_add(own, &sums);
    else
        add_of_category(s, node->function, category, &sums);
    enter_place(s, place);
    leave(s, opened, entered, &sums);
}

static void close_top(struct as_summary *s)
{
    assert(s->way.n > 0);
    const struct as_open_path top = s->way.at[--s->way.n];

    leave(s, top.opened, top.entered, &top.sums);
    if (s->way.n) {
        struct as_sums *to = &s->way.at[s->way.n - 1].sums;

        to->inclusive_n += top.sums.inclusive_n;
        to->inclusive_ns += top.sums.inclusive_ns;
        to->blocked_inclusive_ns += top.sums.blocked_inclusive_ns;
    }
}

static void add_path(struct as_summary *s, uint32_t number)
{
    const uint32_t path = s->tables.at[number];
    const struct as_path_node *node = &s->tables.path[path];
    const uint32_t module = s->tables.function_module[node->function];
    struct as_open_path top = {.last = node->last};
    struct as_sums self = {0}, own = {0};

    while (s->way.n && s->way.at[s->way.n - 1].last < number)
        close_top(s);
    top.opened = s->opened.n;
    top.entered = s->entered.n;
    if (node->call_location)
        enter_place(s, &s->tables.location[node->call_location]);
    enter_object(s, AS_OBJECT_FUNCTION, node->function);
    enter_object(s, AS_OBJECT_FRAME, frame_of(s, node->function));
    enter_object(s, AS_OBJECT_MODULE, module);
    enter_object(s, AS_OBJECT_CALLPATH, path);
    if (s->no_memory)
        return;
    for (size_t i = s->sample_at[number]; i < s->samples.n && s->samples.at[i].path == path; i++)
        add_sample(s, node, &s->samples.at[i], &self, &own);
    add_exclusive(s, AS_OBJECT_FUNCTION, node->function, &self);
    add_exclusive(s, AS_OBJECT_MODULE, module, &self);
    add_exclusive(s, AS_OBJECT_CALLPATH, path, &self);
    add_of_category(s, node->function, node->category, &own);
    top.sums = self;
    s->no_memory |= as_vec_push(&s->way, top) < 0;
}

/* Marks a path and its ancestors as paths of the thread. */
static void mark_path(struct as_summary *s, uint32_t path)
{
    for (; path; path = s->tables.path[path].parent) {
        const uint32_t number = s->tables.path[path].first;

        if (s->is_path[number])
            return;
        s->is_path[number] = true;
        s->sample_at[number] = SIZE_MAX;
        s->no_memory |= as_vec_push(&s->paths, (struct as_sort_key){number, 0}) < 0;
    }
}

/* Reads the samples of a thread, sorted by path. */
static int read_samples(struct as_summary *s, int64_t thread_id, struct as_error *err)
{
    struct as_experiment *experiment = s->experiment;
    int code;

    s->samples.n = 0;
    sqlite3_bind_int64(s->read, 1, thread_id);
    while ((code = sqlite3_step(s->read)) == SQLITE_ROW && !s->no_memory) {
        const struct as_summary_sample it = {
            .path = (uint32_t)sqlite3_column_int64(s->read, 0),
            .location = (uint32_t)sqlite3_column_int64(s->read, 1),
            .blocked = sqlite3_column_int64(s->read, 2) == AS_SAMPLE_BLOCKED,
            .n = sqlite3_column_int64(s->read, 3),
            .time_ns = sqlite3_column_int64(s->read, 4),
        };
        const uint32_t number = s->tables.path[it.path].first;

        mark_path(s, it.path);
        if (s->sample_at[number] == SIZE_MAX)
            s->sample_at[number] = s->samples.n;
        s->no_memory |= as_vec_push(&s->samples, it) < 0;
    }
    sqlite3_reset(s->read);
    if (s->no_memory)
        return as_error_nomem(err, experiment->db_path);
    if (code != SQLITE_DONE)
        return as_sql_failure(experiment->db_path, experiment->db, code, "reading samples", err);
    return 0;
}

int as_summary_walk(struct as_summary *s, int64_t thread_id, struct as_sums *own,
                    struct as_error *err)
{
    *own = (struct as_sums){0};
    AS_TRY(read_samples(s, thread_id, err));
    as_vec_foreach (&s->samples, it) {
        own->exclusive_n += it->blocked ? 0 : it->n;
        own->exclusive_ns += it->blocked ? 0 : it->time_ns;
        own->blocked_ns += it->blocked ? it->time_ns : 0;
    }
    own->inclusive_n = own->exclusive_n;
    own->inclusive_ns = own->exclusive_ns;
    own->blocked_inclusive_ns = own->blocked_ns;
    s->no_memory |= as_sort_keys(s->paths.at, s->paths.n) < 0;
    as_vec_foreach (&s->paths, it) {
        if (!s->no_memory)
            add_path(s, (uint32_t)it->key);
        s->is_path[it->key] = false;
    }
    s->paths.n = 0;
    while (s->way.n)
        close_top(s);
    if (s->no_memory)
        return as_error_nomem(err, s->experiment->db_path);
    return 0;
}
