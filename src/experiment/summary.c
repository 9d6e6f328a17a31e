/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the sums of a run: adds up the sums of its threads (summary_thread.c), and writes them
 * with their spread over threads, shares and intervals.
 */
#include "experiment/summary.h"
#include "base/stat.h"
#include "experiment/roles.h"

/* ---- Totals ------------------------------------------------------------------------------ */

static void total_add(struct as_total *total, const struct as_sums *sums)
{
    const int64_t time_ns = sums->inclusive_ns;

    as_sums_add(&total->sums, sums);
    if (total->spread.n < 1 || time_ns < total->min_ns)
        total->min_ns = time_ns;
    if (total->spread.n < 1 || time_ns > total->max_ns)
        total->max_ns = time_ns;
    as_moments_add(&total->spread, (double)time_ns);
}

static enum as_object_kind kind_of(const struct as_summary *s, size_t object)
{
    int kind = AS_OBJECT_MODULE;

    while (object >= s->base[kind + 1])
        kind++;
    return (enum as_object_kind)kind;
}

/* Returns true for kinds with a time per thread: reports show their load distribution. */
static bool keeps_threads(enum as_object_kind kind)
{
    return kind == AS_OBJECT_MODULE || kind == AS_OBJECT_FUNCTION || kind == AS_OBJECT_LOOP ||
           kind == AS_OBJECT_CATEGORY || kind == AS_OBJECT_FRAME;
}

static void bind_sums(sqlite3_stmt *statement, int at, const struct as_sums *it)
{
    const int64_t value[] = {it->exclusive_n,  it->exclusive_ns, it->inclusive_n,
                             it->inclusive_ns, it->blocked_ns,   it->blocked_inclusive_ns};

    for (int i = 0; i < 6; i++)
        sqlite3_bind_int64(statement, at + i, value[i]);
}

static void bind_kind(sqlite3_stmt *statement, int at, enum as_object_kind kind)
{
    sqlite3_bind_text(statement, at, as_object_word(kind), -1, SQLITE_STATIC);
}

static int end_thread(struct as_summary *s, int64_t thread_id, struct as_error *err)
{
    as_vec_foreach (&s->touched, it) {
        const enum as_object_kind kind = kind_of(s, *it);
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

static int write_total(struct as_summary *s, enum as_object_kind kind, int64_t id,
                       const struct as_total *it, const struct as_total *run, struct as_error *err)
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
    sqlite3_bind_int(s->write, 22, it->sums.inclusive_n < AS_FEW_SAMPLES);
    return as_sql_insert(s->experiment, s->write, "writing summaries", NULL, err);
}

static int write_object(struct as_summary *s, enum as_object_kind kind, int64_t id,
                        const struct as_total *it, const struct as_total *run, struct as_error *err)
{
    if (kind != AS_OBJECT_CALLPATH && kind != AS_OBJECT_BLOCK)
        return write_total(s, kind, id, it, run, err);
    return as_sum_rows_add(&s->rows, kind, id, &it->sums, (int64_t)it->spread.n) < 0
               ? as_error_nomem(err, s->experiment->db_path)
               : 0;
}

/* Sets the category of each object: the one with the most time; of equal times, the one with the
 * lower id. */
static void choose_categories(struct as_summary *s)
{
    as_vec_foreach (&s->category, it) {
        struct as_total *total = &s->total[it->object];

        if (it->time_ns > total->category_ns ||
            (it->time_ns == total->category_ns && it->category < total->category)) {
            total->category = it->category;
            total->category_ns = it->time_ns;
        }
    }
}

static int write_totals(struct as_summary *s, const struct as_total *run, struct as_error *err)
{
    choose_categories(s);
    for (int kind = AS_OBJECT_MODULE; kind <= AS_OBJECT_FRAME; kind++)
        for (size_t i = s->base[kind]; i < s->base[kind + 1]; i++)
            if (s->total[i].spread.n > 0) {
                const int64_t id = (int64_t)(i - s->base[kind]);

                AS_TRY(write_object(s, (enum as_object_kind)kind, id, &s->total[i], run, err));
            }
    AS_TRY(as_sum_rows_write(&s->rows, s->experiment, &run->sums, err));
    return write_total(s, AS_OBJECT_RUN, s->run_id, run, run, err);
}

/* ---- One run ----------------------------------------------------------------------------- */

static int set_up(struct as_summary *s, struct as_error *err)
{
    const size_t path_end = s->tables.id_end[AS_OBJECT_CALLPATH] + 1;
    struct as_arena *arena = &s->tables.arena;
    size_t n = 0;

    for (int kind = 0; kind <= AS_OBJECT_FRAME; kind++) {
        s->base[kind] = n;
        n += s->tables.id_end[kind];
    }
    s->base[AS_OBJECT_FRAME + 1] = n;
    if (n >= UINT32_MAX)
        return as_error_set(err, AS_ERR_LIMIT, "%s: has too many objects for the summary",
                            s->experiment->db_path);
    s->thread = as_arena_array(arena, struct as_sums, n + 1);
    s->total = as_arena_array(arena, struct as_total, n + 1);
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

static int list_threads(struct as_summary *s, struct as_error *err)
{
    struct as_experiment *experiment = s->experiment;
    sqlite3_stmt *threads = NULL;
    int code, rc;

    AS_TRY(as_sql_prepare(experiment,
                          "SELECT thread_id, process_id FROM process JOIN thread USING (process_id)"
                          " WHERE run_id = ?1 ORDER BY process_id, thread_id",
                          &threads, err));
    sqlite3_bind_int64(threads, 1, s->run_id);
    while ((code = sqlite3_step(threads)) == SQLITE_ROW && !s->no_memory) {
        const struct as_thread_sum it = {.thread_id = sqlite3_column_int64(threads, 0),
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

/* Writes the totals of threads and processes, which are objects too. */
static int write_threads(struct as_summary *s, const struct as_total *run, struct as_error *err)
{
    struct as_total process = {0};

    for (size_t i = 0; i < s->threads.n; i++) {
        const struct as_thread_sum *it = &s->threads.at[i];
        struct as_total thread = {0};

        total_add(&thread, &it->sums);
        total_add(&process, &it->sums);
        AS_TRY(write_total(s, AS_OBJECT_THREAD, it->thread_id, &thread, run, err));
        if (i + 1 < s->threads.n && s->threads.at[i + 1].process_id == it->process_id)
            continue;
        AS_TRY(write_total(s, AS_OBJECT_PROCESS, it->process_id, &process, run, err));
        process = (struct as_total){0};
    }
    return 0;
}

static int add_run(struct as_summary *s, struct as_error *err)
{
    struct as_total run = {0};

    AS_TRY(as_tables_load(s->experiment, &s->tables, err));
    AS_TRY(set_up(s, err));
    AS_TRY(list_threads(s, err));
    as_vec_foreach (&s->threads, it) {
        AS_TRY(as_summary_walk(s, it->thread_id, &it->sums, err));
        AS_TRY(end_thread(s, it->thread_id, err));
        total_add(&run, &it->sums);
    }
    AS_TRY(write_totals(s, &run, err));
    AS_TRY(write_threads(s, &run, err));
    return as_roles_set(s->experiment, s->run_id, err);
}

static int clear(struct as_summary *s, struct as_error *err)
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

static void tear_down(struct as_summary *s)
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

int as_experiment_summarise(struct as_experiment *experiment, int64_t run_id, struct as_error *err)
{
    struct as_summary s = {.experiment = experiment, .run_id = run_id};
    int rc;

    AS_TRY(as_experiment_begin(experiment, err));
    as_map_u64_init(&s.category_of);
    as_sum_rows_init(&s.rows, run_id);
    rc = clear(&s, err);
    if (rc == 0)
        rc = add_run(&s, err);
    tear_down(&s);
    if (rc == 0)
        return as_experiment_commit(experiment, err);
    as_experiment_rollback(experiment);
    return rc;
}
