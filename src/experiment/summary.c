/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds the samples of a run up, thread by thread. A thread's call paths are walked in preorder
 * with a count for each object of how often it stands on the way down: an object is opened where
 * the count leaves zero, so that recursion counts a sample once. Objects of all kinds share one
 * range of indices. Functions are added up twice: as those of the binary, and as frames, where
 * inlined code counts to the inlined function. Cost: the samples, plus the paths each thread took.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/stat.h"
#include "base/vec.h"
#include "experiment/roles.h"
#include "experiment/summary.h"

struct total {
    struct as_sums sums;
    struct as_moments spread; /* of the inclusive times of threads */
    int64_t min_ns, max_ns;
    uint32_t category; /* with most of the exclusive time */
    int64_t category_ns;
};

struct sample {
    uint32_t location, path;
    bool blocked;
    int64_t n, time_ns;
};

struct open_path {
    uint32_t last;
    size_t opened; /* length of `opened` before it */
    size_t entered;
    struct as_sums sums; /* of it and what was below it so far */
};

struct thread_sum {
    int64_t thread_id, process_id;
    struct as_sums sums;
};

struct by_category {
    uint32_t object, category;
    int64_t time_ns;
};

struct summary {
    struct assay_experiment *experiment;
    int64_t run_id;
    struct as_tables tables;
    size_t base[ASSAY_OBJECT_FRAME + 2]; /* first index of each kind; the last is the end */
    struct as_sums *thread;              /* by index, of the thread at hand */
    struct total *total;                 /* by index */
    uint32_t *standing;                  /* by index: how often on the way down */
    bool *is_touched;
    AS_VEC(uint32_t) touched;
    AS_VEC(uint32_t) opened;  /* objects whose count left zero, in order */
    AS_VEC(uint32_t) entered; /* objects counted, in order */
    AS_VEC(struct open_path) way;
    AS_VEC(struct sample) samples;
    AS_VEC(struct as_sort_key) paths;  /* the thread's, by preorder number */
    bool *is_path;                     /* by preorder number: among `paths` */
    size_t *sample_at;                 /* by preorder number: first in `samples` */
    AS_VEC(struct thread_sum) threads; /* of the run, those of a process side by side */
    AS_VEC(struct by_category) category;
    struct as_map_u64 category_of; /* object and category -> index in `category` */
    struct as_sum_rows rows;
    sqlite3_stmt *read, *write_thread, *write;
    bool no_memory;
};

static void sums_add(struct as_sums *to, const struct as_sums *it)
{
    to->exclusive_n += it->exclusive_n;
    to->exclusive_ns += it->exclusive_ns;
    to->inclusive_n += it->inclusive_n;
    to->inclusive_ns += it->inclusive_ns;
    to->blocked_ns += it->blocked_ns;
    to->blocked_inclusive_ns += it->blocked_inclusive_ns;
}

static uint32_t index_of(const struct summary *s, enum assay_object_kind kind, uint32_t id)
{
    return (uint32_t)(s->base[kind] + id);
}

/* ---- One thread -------------------------------------------------------------------------- */

static struct as_sums *touch(struct summary *s, uint32_t object)
{
    if (!s->is_touched[object]) {
        s->is_touched[object] = true;
        s->no_memory |= as_vec_push(&s->touched, object) < 0;
    }
    return &s->thread[object];
}

/* Puts an object on the way down; the first time it is opened. */
static void enter_object(struct summary *s, enum assay_object_kind kind, uint32_t id)
{
    const uint32_t object = index_of(s, kind, id);

    if (!id)
        return;
    if (s->standing[object]++ == 0)
        s->no_memory |= as_vec_push(&s->opened, object) < 0;
    s->no_memory |= as_vec_push(&s->entered, object) < 0;
}

static void enter_place(struct summary *s, const struct as_place *place)
{
    enter_object(s, ASSAY_OBJECT_BLOCK, place->block);
    enter_object(s, ASSAY_OBJECT_LINE, place->line);
    for (uint32_t loop = place->loop; loop; loop = s->tables.loop_parent[loop])
        enter_object(s, ASSAY_OBJECT_LOOP, loop);
    for (uint32_t at = place->inlining; at; at = s->tables.inlining[at].parent)
        enter_object(s, ASSAY_OBJECT_FRAME, s->tables.inlining[at].inlined);
}

/* Takes objects off the way down to the lengths given; those it closes get `sums` inclusively. */
static void leave(struct summary *s, size_t opened, size_t entered, const struct as_sums *sums)
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

static void add_exclusive(struct summary *s, enum assay_object_kind kind, uint32_t id,
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

static void add_category(struct summary *s, enum assay_object_kind kind, uint32_t id,
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
        if (as_vec_push(&s->category, (struct by_category){object, category, 0}) < 0 ||
            as_map_u64_put(&s->category_of, key, at) < 0) {
            s->no_memory = true;
            return;
        }
    }
    s->category.at[at].time_ns += time_ns;
}

/* The frame of a function of the binary; 0 where it is the function, for nothing is inlined. */
static uint32_t frame_of(const struct summary *s, uint32_t function)
{
    return s->tables.has_frame[function] ? function : 0;
}

/* Whose time a place in a frame of `category` is. */
static uint32_t category_at(const struct summary *s, uint32_t category,
                            const struct as_place *place)
{
    const uint32_t inlined =
        place->inlining ? as_map_u64_get(&s->tables.inlined_category,
                                         as_inlined_category_key(category, place->inlining))
                        : AS_MAP_NONE;

    return inlined == AS_MAP_NONE ? category : inlined;
}

/* What is of a category: it holds the time itself, there is nothing below it. */
static void add_of_category(struct summary *s, uint32_t function, uint32_t category,
                            const struct as_sums *sums)
{
    if (!category)
        return;
    sums_add(touch(s, index_of(s, ASSAY_OBJECT_CATEGORY, category)), sums);
    add_category(s, ASSAY_OBJECT_FUNCTION, function, category, sums->exclusive_ns);
}

/* A sample in the frame that is on top of the way down; `own` is what has the frame's category. */
static void add_sample(struct summary *s, const struct as_path_node *node, const struct sample *it,
                       struct as_sums *self, struct as_sums *own)
{
    const struct as_place *place = &s->tables.location[it->location];
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
    sums_add(self, &sums);
    add_exclusive(s, ASSAY_OBJECT_BLOCK, place->block, &sums);
    add_exclusive(s, ASSAY_OBJECT_LINE, place->line, &sums);
    add_exclusive(s, ASSAY_OBJECT_LOOP, place->loop, &sums);
    add_exclusive(s, ASSAY_OBJECT_FRAME, frame, &sums);
    add_category(s, ASSAY_OBJECT_LOOP, place->loop, category, sums.exclusive_ns);
    add_category(s, ASSAY_OBJECT_FRAME, frame, category, sums.exclusive_ns);
    if (category == node->category)
        sums_add(own, &sums);
    else
        add_of_category(s, node->function, category, &sums);
    enter_place(s, place);
    leave(s, opened, entered, &sums);
}

static void close_top(struct summary *s)
{
    const struct open_path top = s->way.at[--s->way.n];

    leave(s, top.opened, top.entered, &top.sums);
    if (s->way.n) {
        struct as_sums *to = &s->way.at[s->way.n - 1].sums;

        to->inclusive_n += top.sums.inclusive_n;
        to->inclusive_ns += top.sums.inclusive_ns;
        to->blocked_inclusive_ns += top.sums.blocked_inclusive_ns;
    }
}

static void add_path(struct summary *s, uint32_t number)
{
    const uint32_t path = s->tables.at[number];
    const struct as_path_node *node = &s->tables.path[path];
    const uint32_t module = s->tables.function_module[node->function];
    struct open_path top = {.last = node->last};
    struct as_sums self = {0}, own = {0};

    while (s->way.n && s->way.at[s->way.n - 1].last < number)
        close_top(s);
    top.opened = s->opened.n;
    top.entered = s->entered.n;
    if (node->call_location)
        enter_place(s, &s->tables.location[node->call_location]);
    enter_object(s, ASSAY_OBJECT_FUNCTION, node->function);
    enter_object(s, ASSAY_OBJECT_FRAME, frame_of(s, node->function));
    enter_object(s, ASSAY_OBJECT_MODULE, module);
    enter_object(s, ASSAY_OBJECT_CALLPATH, path);
    if (s->no_memory)
        return;
    for (size_t i = s->sample_at[number]; i < s->samples.n && s->samples.at[i].path == path; i++)
        add_sample(s, node, &s->samples.at[i], &self, &own);
    add_exclusive(s, ASSAY_OBJECT_FUNCTION, node->function, &self);
    add_exclusive(s, ASSAY_OBJECT_MODULE, module, &self);
    add_exclusive(s, ASSAY_OBJECT_CALLPATH, path, &self);
    add_of_category(s, node->function, node->category, &own);
    top.sums = self;
    s->no_memory |= as_vec_push(&s->way, top) < 0;
}

/* Marks a path and all above it as the thread's. */
static void mark_path(struct summary *s, uint32_t path)
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

/* Reads the samples of a thread, which come grouped by path. */
static int read_samples(struct summary *s, int64_t thread_id, struct assay_error *err)
{
    struct assay_experiment *experiment = s->experiment;
    int code;

    s->samples.n = 0;
    sqlite3_bind_int64(s->read, 1, thread_id);
    while ((code = sqlite3_step(s->read)) == SQLITE_ROW && !s->no_memory) {
        const struct sample it = {
            .path = (uint32_t)sqlite3_column_int64(s->read, 0),
            .location = (uint32_t)sqlite3_column_int64(s->read, 1),
            .blocked = sqlite3_column_int64(s->read, 2) == ASSAY_SAMPLE_BLOCKED,
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

/* ---- Totals ------------------------------------------------------------------------------ */

static void total_add(struct total *total, const struct as_sums *sums)
{
    const int64_t time_ns = sums->inclusive_ns;

    sums_add(&total->sums, sums);
    if (total->spread.n < 1 || time_ns < total->min_ns)
        total->min_ns = time_ns;
    if (total->spread.n < 1 || time_ns > total->max_ns)
        total->max_ns = time_ns;
    as_moments_add(&total->spread, (double)time_ns);
}

static enum assay_object_kind kind_of(const struct summary *s, size_t object)
{
    int kind = ASSAY_OBJECT_MODULE;

    while (object >= s->base[kind + 1])
        kind++;
    return (enum assay_object_kind)kind;
}

/* Times of each thread are kept for the kinds whose load distribution is shown. */
static bool keeps_threads(enum assay_object_kind kind)
{
    return kind == ASSAY_OBJECT_MODULE || kind == ASSAY_OBJECT_FUNCTION ||
           kind == ASSAY_OBJECT_LOOP || kind == ASSAY_OBJECT_CATEGORY || kind == ASSAY_OBJECT_FRAME;
}

static void bind_sums(sqlite3_stmt *statement, int at, const struct as_sums *it)
{
    const int64_t value[] = {it->exclusive_n,  it->exclusive_ns, it->inclusive_n,
                             it->inclusive_ns, it->blocked_ns,   it->blocked_inclusive_ns};

    for (int i = 0; i < 6; i++)
        sqlite3_bind_int64(statement, at + i, value[i]);
}

static void bind_kind(sqlite3_stmt *statement, int at, enum assay_object_kind kind)
{
    sqlite3_bind_text(statement, at, assay_object_word(kind), -1, SQLITE_STATIC);
}

static int end_thread(struct summary *s, int64_t thread_id, struct assay_error *err)
{
    as_vec_foreach (&s->touched, it) {
        const enum assay_object_kind kind = kind_of(s, *it);
        struct as_sums *sums = &s->thread[*it];

        total_add(&s->total[*it], sums);
        if (keeps_threads(kind)) {
            sqlite3_bind_int64(s->write_thread, 1, s->run_id);
            bind_kind(s->write_thread, 2, kind);
            sqlite3_bind_int64(s->write_thread, 3, (int64_t)(*it - s->base[kind]));
            sqlite3_bind_int64(s->write_thread, 4, thread_id);
            bind_sums(s->write_thread, 5, sums);
            AS_TRY(as_sql_insert(s->experiment, s->write_thread, "writing the times of threads",
                                 NULL, err));
        }
        s->is_touched[*it] = false;
        *sums = (struct as_sums){0};
    }
    s->touched.n = 0;
    return 0;
}

static int write_total(struct summary *s, enum assay_object_kind kind, int64_t id,
                       const struct total *it, const struct total *run, struct assay_error *err)
{
    const double whole_ns = (double)run->sums.exclusive_ns, n = (double)run->sums.exclusive_n;
    const double exclusive = whole_ns > 0 ? (double)it->sums.exclusive_ns / whole_ns : 0;
    const double inclusive = whole_ns > 0 ? (double)it->sums.inclusive_ns / whole_ns : 0;
    const struct as_interval ex = as_stat_wilson(exclusive, n, AS_STAT_LEVEL);
    const struct as_interval in = as_stat_wilson(inclusive, n, AS_STAT_LEVEL);
    const double real[] = {exclusive, ex.low, ex.high, inclusive, in.low, in.high};

    sqlite3_bind_int64(s->write, 1, s->run_id);
    bind_kind(s->write, 2, kind);
    sqlite3_bind_int64(s->write, 3, id);
    bind_sums(s->write, 4, &it->sums);
    for (int i = 0; i < 6; i++)
        sqlite3_bind_double(s->write, 10 + i, real[i]);
    sqlite3_bind_int64(s->write, 16, (int64_t)it->spread.n);
    sqlite3_bind_int64(s->write, 17, it->min_ns);
    sqlite3_bind_double(s->write, 18, it->spread.mean);
    sqlite3_bind_int64(s->write, 19, it->max_ns);
    sqlite3_bind_double(s->write, 20, as_moments_deviation(&it->spread));
    if (it->category)
        sqlite3_bind_int64(s->write, 21, it->category);
    else
        sqlite3_bind_null(s->write, 21);
    sqlite3_bind_int(s->write, 22, it->sums.inclusive_n < ASSAY_FEW_SAMPLES);
    return as_sql_insert(s->experiment, s->write, "writing summaries", NULL, err);
}

static int write_object(struct summary *s, enum assay_object_kind kind, int64_t id,
                        const struct total *it, const struct total *run, struct assay_error *err)
{
    if (kind != ASSAY_OBJECT_CALLPATH && kind != ASSAY_OBJECT_BLOCK)
        return write_total(s, kind, id, it, run, err);
    return as_sum_rows_add(&s->rows, kind, id, &it->sums, (int64_t)it->spread.n) < 0
               ? as_error_nomem(err, s->experiment->db_path)
               : 0;
}

/* The category with most time becomes the object's; among equals the lower number. */
static void choose_categories(struct summary *s)
{
    as_vec_foreach (&s->category, it) {
        struct total *total = &s->total[it->object];

        if (it->time_ns > total->category_ns ||
            (it->time_ns == total->category_ns && it->category < total->category)) {
            total->category = it->category;
            total->category_ns = it->time_ns;
        }
    }
}

static int write_totals(struct summary *s, const struct total *run, struct assay_error *err)
{
    choose_categories(s);
    for (int kind = ASSAY_OBJECT_MODULE; kind <= ASSAY_OBJECT_FRAME; kind++)
        for (size_t i = s->base[kind]; i < s->base[kind + 1]; i++)
            if (s->total[i].spread.n > 0) {
                const int64_t id = (int64_t)(i - s->base[kind]);

                AS_TRY(write_object(s, (enum assay_object_kind)kind, id, &s->total[i], run, err));
            }
    AS_TRY(as_sum_rows_write(&s->rows, s->experiment, &run->sums, err));
    return write_total(s, ASSAY_OBJECT_RUN, s->run_id, run, run, err);
}

/* ---- One run ----------------------------------------------------------------------------- */

static int set_up(struct summary *s, struct assay_error *err)
{
    const size_t path_end = s->tables.id_end[ASSAY_OBJECT_CALLPATH] + 1;
    struct as_arena *arena = &s->tables.arena;
    size_t n = 0;

    for (int kind = 0; kind <= ASSAY_OBJECT_FRAME; kind++) {
        s->base[kind] = n;
        n += s->tables.id_end[kind];
    }
    s->base[ASSAY_OBJECT_FRAME + 1] = n;
    if (n >= UINT32_MAX)
        return as_error_set(err, ASSAY_ERR_LIMIT, "%s: has more objects than can be added up",
                            s->experiment->db_path);
    s->thread = as_arena_array(arena, struct as_sums, n + 1);
    s->total = as_arena_array(arena, struct total, n + 1);
    s->standing = as_arena_array(arena, uint32_t, n + 1);
    s->is_touched = as_arena_array(arena, bool, n + 1);
    s->is_path = as_arena_array(arena, bool, path_end);
    s->sample_at = as_arena_array(arena, size_t, path_end);
    if (!s->thread || !s->total || !s->standing || !s->is_touched || !s->is_path || !s->sample_at)
        return as_error_nomem(err, s->experiment->db_path);
    AS_TRY(as_sql_prepare(s->experiment,
                          "SELECT callpath_id, location_id, state, n, time_ns FROM sample"
                          " WHERE thread_id = ?1 ORDER BY callpath_id, location_id, state",
                          &s->read, err));
    AS_TRY(as_sql_prepare(
        s->experiment, "INSERT INTO thread_time VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        &s->write_thread, err));
    return as_sql_prepare(
        s->experiment,
        "INSERT INTO object_time (run_id, object_kind, object_id, exclusive_n, exclusive_ns,"
        " inclusive_n, inclusive_ns, blocked_ns, blocked_inclusive_ns, exclusive_share,"
        " exclusive_low, exclusive_high, inclusive_share, inclusive_low, inclusive_high, thread_n,"
        " thread_min_ns, thread_mean_ns, thread_max_ns, thread_deviation_ns, category_id,"
        " few_samples) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,"
        " ?16, ?17, ?18, ?19, ?20, ?21, ?22)",
        &s->write, err);
}

/* Adds a thread up; `own` receives its sums. */
static int add_thread(struct summary *s, int64_t thread_id, struct as_sums *own,
                      struct assay_error *err)
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
    return end_thread(s, thread_id, err);
}

static int list_threads(struct summary *s, struct assay_error *err)
{
    struct assay_experiment *experiment = s->experiment;
    sqlite3_stmt *threads = NULL;
    int code, rc;

    AS_TRY(as_sql_prepare(experiment,
                          "SELECT thread_id, process_id FROM process JOIN thread USING (process_id)"
                          " WHERE run_id = ?1 ORDER BY process_id, thread_id",
                          &threads, err));
    sqlite3_bind_int64(threads, 1, s->run_id);
    while ((code = sqlite3_step(threads)) == SQLITE_ROW && !s->no_memory) {
        const struct thread_sum it = {.thread_id = sqlite3_column_int64(threads, 0),
                                      .process_id = sqlite3_column_int64(threads, 1)};

        s->no_memory |= as_vec_push(&s->threads, it) < 0;
    }
    rc = s->no_memory ? as_error_nomem(err, experiment->db_path)
         : code == SQLITE_DONE
             ? 0
             : as_sql_failure(experiment->db_path, experiment->db, code, "reading threads", err);
    sqlite3_finalize(threads);
    return rc;
}

/* Threads and processes are objects too, whose shares need the total of the run. */
static int write_threads(struct summary *s, const struct total *run, struct assay_error *err)
{
    struct total process = {0};

    for (size_t i = 0; i < s->threads.n; i++) {
        const struct thread_sum *it = &s->threads.at[i];
        struct total thread = {0};

        total_add(&thread, &it->sums);
        total_add(&process, &it->sums);
        AS_TRY(write_total(s, ASSAY_OBJECT_THREAD, it->thread_id, &thread, run, err));
        if (i + 1 < s->threads.n && s->threads.at[i + 1].process_id == it->process_id)
            continue;
        AS_TRY(write_total(s, ASSAY_OBJECT_PROCESS, it->process_id, &process, run, err));
        process = (struct total){0};
    }
    return 0;
}

static int add_run(struct summary *s, struct assay_error *err)
{
    struct total run = {0};

    AS_TRY(as_tables_load(s->experiment, &s->tables, err));
    AS_TRY(set_up(s, err));
    AS_TRY(list_threads(s, err));
    as_vec_foreach (&s->threads, it) {
        AS_TRY(add_thread(s, it->thread_id, &it->sums, err));
        total_add(&run, &it->sums);
    }
    AS_TRY(write_totals(s, &run, err));
    AS_TRY(write_threads(s, &run, err));
    return as_roles_set(s->experiment, s->run_id, err);
}

static int clear(struct summary *s, struct assay_error *err)
{
    char sql[320];

    sqlite3_snprintf(sizeof sql, sql,
                     "DELETE FROM thread_time WHERE run_id = %lld;"
                     "DELETE FROM object_time WHERE run_id = %lld;"
                     "DELETE FROM callpath_time WHERE run_id = %lld;"
                     "DELETE FROM block_time WHERE run_id = %lld;"
                     "DELETE FROM time_share WHERE run_id = %lld",
                     (long long)s->run_id, (long long)s->run_id, (long long)s->run_id,
                     (long long)s->run_id, (long long)s->run_id);
    return as_sql_run(s->experiment, sql, "clearing old summaries", err);
}

static void tear_down(struct summary *s)
{
    sqlite3_finalize(s->read);
    sqlite3_finalize(s->write_thread);
    sqlite3_finalize(s->write);
    as_vec_fini(&s->touched);
    as_vec_fini(&s->opened);
    as_vec_fini(&s->entered);
    as_vec_fini(&s->way);
    as_vec_fini(&s->samples);
    as_vec_fini(&s->paths);
    as_vec_fini(&s->threads);
    as_vec_fini(&s->category);
    as_map_u64_fini(&s->category_of);
    as_sum_rows_fini(&s->rows);
    as_tables_fini(&s->tables);
}

int assay_experiment_summarise(struct assay_experiment *experiment, int64_t run_id,
                               struct assay_error *err)
{
    struct summary s = {.experiment = experiment, .run_id = run_id};
    int rc;

    AS_TRY(assay_experiment_begin(experiment, err));
    as_map_u64_init(&s.category_of);
    as_sum_rows_init(&s.rows, run_id);
    rc = clear(&s, err);
    if (rc == 0)
        rc = add_run(&s, err);
    tear_down(&s);
    if (rc == 0)
        return assay_experiment_commit(experiment, err);
    assay_experiment_rollback(experiment);
    return rc;
}
