/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the content of the summary of a profile from the views of an experiment
 * (doc/reference/experiment.md).
 */
#include "report/profile.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "report/facts.h"

/* ---- Rows -------------------------------------------------------------------------------- */

struct row_reading {
    struct as_profile *profile;
    struct as_rows *rows;
    bool failed; /* no memory */
};

static const char *read_text(struct row_reading *in, int column)
{
    const char *z = as_rows_text(in->rows, column);
    const char *copy = z ? as_arena_strndup(&in->profile->arena, z, strlen(z)) : NULL;

    in->failed |= z && !copy;
    return copy;
}

static double real(struct row_reading *in, int column)
{
    return as_rows_kind(in->rows, column) == AS_SQL_CELL_NULL ? NAN
                                                              : as_rows_real(in->rows, column);
}

static int64_t read_integer(struct row_reading *in, int column, int64_t unknown)
{
    return as_rows_kind(in->rows, column) == AS_SQL_CELL_NULL ? unknown
                                                              : as_rows_integer(in->rows, column);
}

/* Returns a share from five columns from `column` on: time, per cent, low, high, few_samples. */
static struct as_share read_share(struct row_reading *in, int column)
{
    return (struct as_share){
        .time_s = as_rows_real(in->rows, column),
        .pct = as_rows_real(in->rows, column + 1),
        .low_pct = as_rows_real(in->rows, column + 2),
        .high_pct = as_rows_real(in->rows, column + 3),
        .few_samples = as_rows_integer(in->rows, column + 4) != 0,
    };
}

/* Passes each row to `take`; ?1 is the run, ?2 the limit. */
static int read_each_row(struct as_experiment *experiment, struct as_profile *profile,
                         const char *sql, size_t limit, void (*take)(struct row_reading *),
                         struct as_error *err)
{
    struct row_reading in = {.profile = profile};
    int rc = as_rows_open(experiment, sql, &in.rows, err);

    if (rc < 0)
        return rc;
    as_rows_bind_integer(in.rows, 1, profile->run.run_id);
    as_rows_bind_integer(in.rows, 2, (int64_t)limit);
    while (!in.failed && (rc = as_rows_next(in.rows, err)) > 0)
        take(&in);
    as_rows_close(&in.rows);
    return in.failed ? as_error_nomem(err, "the summary") : rc;
}

#define PUSH(in, list, ...) ((in)->failed |= as_vec_push(&(in)->profile->list, __VA_ARGS__) < 0)

/* ---- Rows of the summary ---------------------------------------------------------------- */

static void read_profile_run(struct row_reading *in)
{
    struct as_profile_run_facts *run = &in->profile->run;

    run->kind = read_text(in, 0);
    run->label = read_text(in, 1);
    run->command = read_text(in, 2);
    run->launcher = read_text(in, 3);
    run->host = read_text(in, 4);
    run->start_utc = read_text(in, 5);
    run->state = read_text(in, 6);
    run->event = read_text(in, 7);
    run->event_reason = read_text(in, 8);
    run->call_stacks = read_text(in, 9);
    run->scope = read_text(in, 10);
    run->wall_s = real(in, 11);
    run->sampled_s = real(in, 12);
    run->blocked_s = real(in, 13);
    run->overhead_pct = real(in, 14);
    run->exit_code = read_integer(in, 15, -1);
    run->exit_signal = read_integer(in, 16, -1);
    run->rate_hz = read_integer(in, 17, 0);
    run->process_n = read_integer(in, 18, 0);
    run->thread_n = read_integer(in, 19, 0);
    run->rank_n = read_integer(in, 20, 0);
    run->sample_n = read_integer(in, 21, 0);
    run->lost_n = read_integer(in, 22, 0);
    run->host_n = read_integer(in, 23, 0);
    run->cpu_model = read_text(in, 24);
    run->core_n = read_integer(in, 25, 0);
    run->cpu_n = read_integer(in, 26, 0);
    run->is_unfinished = read_integer(in, 27, 0) != 0;
}

static const char run_sql[] =
    "SELECT kind, label, command, launcher, host, nullif(start_utc, '1970-01-01T00:00:00Z'), "
    "state, event, event_reason,"
    " call_stacks, scope, wall_s, sampled_time_s, blocked_time_s, overhead_pct, exit_code,"
    " exit_signal, rate_hz, process_n, thread_n, rank_n, sample_n, lost_sample_n,"
    " (SELECT count(DISTINCT p.host_id) FROM process p WHERE p.run_id = v.run_id),"
    " h.cpu_model, h.core_n, h.cpu_n,"
    " (SELECT is_unfinished FROM v_run_states r WHERE r.run_id = v.run_id)"
    " FROM v_runs v"
    " LEFT JOIN (SELECT r.run_id, cpu_model, core_n, cpu_n FROM run r JOIN host USING (host_id)) h"
    " USING (run_id) WHERE v.run_id = ?1";

static void read_profile_category(struct row_reading *in)
{
    PUSH(in, category,
         (struct as_profile_category){.name = read_text(in, 0),
                                      .title = read_text(in, 1),
                                      .share = read_share(in, 2),
                                      .blocked_s = as_rows_real(in->rows, 7)});
}

static const char category_sql[] =
    "SELECT name, ifnull(title, name), time_s, time_pct, time_low_pct, time_high_pct, few_samples,"
    " blocked_time_s FROM v_categories WHERE run_id = ?1 AND (time_s > 0 OR blocked_time_s > 0)"
    " ORDER BY time_s DESC, blocked_time_s DESC, category_id";

static void read_profile_function(struct row_reading *in)
{
    PUSH(in, function,
         (struct as_profile_function){.name = read_text(in, 0),
                                      .module = read_text(in, 1),
                                      .category = read_text(in, 2),
                                      .file = read_text(in, 3),
                                      .line = read_integer(in, 4, 0),
                                      .self = read_share(in, 5),
                                      .total = read_share(in, 10),
                                      .blocked_s = as_rows_real(in->rows, 15),
                                      .is_inlined = read_integer(in, 16, 0) != 0,
                                      .binary_s = real(in, 17),
                                      .binary_pct = real(in, 18)});
}

#define BOTH_SHARES                                                                                \
    " v.exclusive_time_s, v.exclusive_pct, v.exclusive_low_pct, v.exclusive_high_pct,"             \
    " v.few_samples, v.inclusive_time_s, v.inclusive_pct, v.inclusive_low_pct,"                    \
    " v.inclusive_high_pct, v.few_samples"

#define FUNCTION_SQL(view)                                                                         \
    "SELECT v.name, v.module, v.category, v.source_file, v.line," BOTH_SHARES                      \
    ", v.blocked_time_s, v.is_inlined, v.binary_time_s, v.binary_pct FROM " view " v"              \
    " WHERE v.run_id = ?1 AND v.exclusive_sample_n > 0"                                            \
    " ORDER BY v.exclusive_time_s DESC, v.inclusive_time_s DESC, v.function_id LIMIT ?2"

static const char function_sql[] = FUNCTION_SQL("v_functions");
static const char binary_function_sql[] = FUNCTION_SQL("v_binary_functions");

static void read_profile_binary(struct row_reading *in)
{
    PUSH(in, binary, (struct as_profile_binary){.name = read_text(in, 0), .pct = real(in, 1)});
}

/* Functions with at least two points more in the binary than of their own; smaller differences are
 * not interesting. The view without inlining has no such difference. */
static const char binary_sql[] =
    "SELECT name, binary_pct FROM v_functions WHERE run_id = ?1 AND binary_pct > exclusive_pct + 2"
    " ORDER BY binary_pct DESC, function_id LIMIT 3";
static const char no_binary_sql[] = "SELECT name, 0 FROM function WHERE ?1 IS NULL";

static void read_profile_loop(struct row_reading *in)
{
    PUSH(in, loop,
         (struct as_profile_loop){.loop_id = read_integer(in, 0, 0),
                                  .function = read_text(in, 1),
                                  .module = read_text(in, 2),
                                  .file = read_text(in, 3),
                                  .first_line = read_integer(in, 4, 0),
                                  .last_line = read_integer(in, 5, 0),
                                  .self = read_share(in, 6),
                                  .total = read_share(in, 11),
                                  .depth = read_integer(in, 16, 0),
                                  .role = read_text(in, 17),
                                  .address = read_text(in, 18),
                                  .is_innermost = read_integer(in, 19, 0) != 0,
                                  .inlined_into = read_text(in, 20)});
}

#define LOOP_SQL(view)                                                                             \
    "SELECT v.loop_id, v.function, v.module, v.source_file, v.first_line,"                         \
    " v.last_line," BOTH_SHARES ", v.depth, v.role, v.address, v.is_innermost, v.inlined_into"     \
    " FROM " view " v WHERE v.run_id = ?1 AND v.exclusive_sample_n > 0"                            \
    " ORDER BY v.exclusive_time_s DESC, v.inclusive_time_s DESC, v.loop_id LIMIT ?2"

static const char loop_sql[] = LOOP_SQL("v_loops");
static const char binary_loop_sql[] = LOOP_SQL("v_binary_loops");

static void read_profile_flag(struct row_reading *in)
{
    PUSH(in, flag,
         (struct as_profile_flag){
             .name = read_text(in, 0), .text = read_text(in, 1), .n = read_integer(in, 2, 1)});
}

/* With max() the other columns come from the same row. */
static const char flag_sql[] =
    "SELECT name, text, count(*), max(n) FROM v_flags WHERE ifnull(run_id, 0) IN (0, ?1)"
    " GROUP BY name ORDER BY " AS_FACTS_GRAVEST ", max(n) DESC, name";

/* Reads the CPU time that the kernel counted and its part without samples, if the run has both. */
static void read_missing_time(struct row_reading *in)
{
    in->profile->run.cpu_s = real(in, 0);
    in->profile->run.unseen_s = real(in, 1);
}

static const char unseen_sql[] =
    "SELECT c.value, u.value FROM v_values c JOIN v_values u ON u.run_id = c.run_id"
    " AND u.object_kind = 'run' AND u.metric = 'unseen_time_s'"
    " WHERE c.run_id = ?1 AND c.object_kind = 'run' AND c.metric = 'processor_time_s'";

/* ---- All of it ---------------------------------------------------------------------------- */

int as_report_run(struct as_experiment *experiment, int64_t run_id, int64_t *found, int64_t *run_n,
                  struct as_error *err)
{
    const char *path = as_experiment_path(experiment);
    struct as_rows *rows = NULL;
    int64_t last = 0;
    int rc;

    AS_TRY(as_rows_open(
        experiment,
        /* The last run, preferably one that was not recorded for another run. */
        "SELECT CASE WHEN ?1 THEN max(CASE WHEN run_id = ?1 THEN run_id END) ELSE"
        " ifnull(max(CASE WHEN ifnull(role, 'main') = 'main' THEN run_id END), max(run_id)) END,"
        " count(*), max(run_id) FROM run",
        &rows, err));
    as_rows_bind_integer(rows, 1, run_id);
    rc = as_rows_next(rows, err);
    if (rc > 0) {
        *found = as_rows_integer(rows, 0);
        *run_n = as_rows_integer(rows, 1);
        last = as_rows_integer(rows, 2);
    }
    as_rows_close(&rows);
    if (rc < 0)
        return rc;
    if (!*run_n)
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "%s: has no run; record one with 'assay profile'", path);
    if (!*found)
        return as_error_set(err, AS_ERR_NOT_FOUND, "%s: has no run %lld; its last is %lld", path,
                            (long long)run_id, (long long)last);
    return 0;
}

static void read_profile_metric(struct row_reading *in)
{
    PUSH(in, metric,
         (struct as_profile_metric){.title = read_text(in, 0),
                                    .unit = read_text(in, 1),
                                    .value = real(in, 2),
                                    .low = real(in, 3),
                                    .high = real(in, 4),
                                    .rating = read_text(in, 5),
                                    .is_efficiency = read_integer(in, 6, 0) != 0});
}

static const char metric_sql[] =
    "SELECT ifnull(m.title, m.name), m.unit, v.value, v.low, v.high,"
    " CASE WHEN (m.good - v.value) * (m.good - m.fair) <= 0 THEN 'good'"
    "      WHEN (m.fair - v.value) * (m.good - m.fair) <= 0 THEN 'fair' ELSE 'poor' END,"
    " m.topic = 'efficiency' FROM v_values v JOIN v_metrics m ON m.name = v.metric"
    " WHERE v.run_id = ?1 AND v.object_kind = 'run' AND m.good IS NOT NULL"
    " ORDER BY m.position, m.name";

static void read_profile_count(struct row_reading *in)
{
    const struct as_profile_count it = {.name = read_text(in, 0),
                                        .unit = read_text(in, 1),
                                        .value = real(in, 2),
                                        .is_exact = read_integer(in, 3, 0) != 0,
                                        .most = real(in, 4)};
    PUSH(in, count, it);
}

static const char count_sql[] =
    "SELECT m.title, v.unit, v.value, v.origin = 'exact',"
    " (SELECT max(t.value) FROM v_values t WHERE t.metric = v.metric AND t.run_id = ?1"
    "  AND t.object_kind = 'thread')"
    " FROM v_values v JOIN v_metrics m ON m.name = v.metric"
    " WHERE v.run_id = ?1 AND v.object_kind = 'run' AND m.topic = 'counted'"
    " ORDER BY m.position, m.name";

static void read_profile_gain(struct row_reading *in)
{
    const struct as_profile_gain it = {.title = read_text(in, 0),
                                       .gain_s = real(in, 1),
                                       .speedup = real(in, 2),
                                       .is_bound = read_integer(in, 3, 0) != 0,
                                       .object_n = read_integer(in, 4, 0),
                                       .to_80_n = read_integer(in, 5, 0)};
    PUSH(in, gain, it);
}

static const char gain_sql[] =
    "SELECT title, iif(gain_low_s > 0, gain_s, gain_high_s),"
    " iif(gain_low_s > 0, speedup, speedup_high), gain_low_s <= 0, object_n, to_80_n"
    " FROM v_what_ifs WHERE run_id = ?1 AND gain_s >= 0.001 * time_s ORDER BY position, name";

/* ---- The trace ----------------------------------------------------------------------------- */

#define SITE_SQL                                                                                   \
    " routine || ifnull(' at ' || nullif(function, '[unknown]'), '') || ifnull(', ' ||"            \
    " replace(source_file, rtrim(source_file, replace(source_file, '/', '')), '') || ':' || line," \
    " '')"

/* Wait states of all threads at one code position, with the thread that waited longest. */
/* prose: off (SQL) */
static const char trace_wait_sql[] =
    "SELECT sum(time_s), max(longest_s), sum(n), title, max(site), max(most) FROM (SELECT "
    "w.*," SITE_SQL " AS site, first_value(location) OVER (PARTITION BY trace_site_id, kind"
    " ORDER BY time_s DESC, number) AS most FROM v_trace_waits w WHERE run_id = ?1)"
    " GROUP BY trace_site_id, kind ORDER BY sum(time_s) DESC, trace_site_id, kind LIMIT ?2";
/* prose: on */

static void read_wait_state(struct row_reading *in)
{
    PUSH(in, wait,
         (struct as_profile_wait){.time_s = as_rows_real(in->rows, 0),
                                  .longest_s = as_rows_real(in->rows, 1),
                                  .n = as_rows_integer(in->rows, 2),
                                  .title = read_text(in, 3),
                                  .site = read_text(in, 4),
                                  .location = read_text(in, 5)});
}

static const char trace_late_sql[] =
    "SELECT total_s, direct_s, n, location," SITE_SQL " FROM v_trace_late WHERE run_id = ?1"
    " AND total_s > 0.005 * (SELECT sum(w.time_s) FROM v_trace_waits w WHERE w.run_id = ?1)"
    " ORDER BY total_s DESC, number, trace_site_id LIMIT ?2";

static void read_delay_cost(struct row_reading *in)
{
    PUSH(in, late,
         (struct as_profile_late){.total_s = as_rows_real(in->rows, 0),
                                  .direct_s = as_rows_real(in->rows, 1),
                                  .n = as_rows_integer(in->rows, 2),
                                  .location = read_text(in, 3),
                                  .site = read_text(in, 4)});
}

static const char trace_phase_sql[] =
    "SELECT name, calls_n, time_s, parallel_pct, ifnull(mpi_balance_pct, balance_pct),"
    " ifnull(mpi_communication_pct, communication_pct), ifnull('rank ' || busiest_rank, '')"
    " FROM v_trace_phases WHERE run_id = ?1 AND iteration IS NULL"
    " ORDER BY time_s DESC, number LIMIT ?2";

static void take_trace_phase(struct row_reading *in)
{
    PUSH(in, phase,
         (struct as_profile_phase){.name = read_text(in, 0),
                                   .calls_n = as_rows_integer(in->rows, 1),
                                   .time_s = as_rows_real(in->rows, 2),
                                   .parallel_pct = real(in, 3),
                                   .balance_pct = real(in, 4),
                                   .communication_pct = real(in, 5),
                                   .busiest = read_text(in, 6)});
}

/* Reads wait states, delay costs and phases of the run of `profile`. */
static int read_trace(struct as_experiment *experiment, size_t rows, struct as_profile *profile,
                      struct as_error *err)
{
    AS_TRY(read_each_row(experiment, profile, trace_wait_sql, rows, read_wait_state, err));
    AS_TRY(read_each_row(experiment, profile, trace_late_sql, rows, read_delay_cost, err));
    return read_each_row(experiment, profile, trace_phase_sql, rows, take_trace_phase, err);
}

static void init_profile(struct as_experiment *experiment, struct as_profile *profile)
{
    *profile = (struct as_profile){.path = as_experiment_shown_path(experiment)};
    profile->run.cpu_s = profile->run.unseen_s = NAN;
    as_arena_init(&profile->arena);
}

int as_profile_read_trace(struct as_experiment *experiment, int64_t run_id, size_t rows,
                          struct as_profile *profile, struct as_error *err)
{
    init_profile(experiment, profile);
    profile->run.run_id = run_id;
    return read_trace(experiment, rows, profile, err);
}

int as_profile_read(struct as_experiment *experiment, int64_t run_id, size_t rows, bool no_inline,
                    struct as_profile *profile, struct as_error *err)
{
    const struct {
        const char *sql;
        void (*take)(struct row_reading *);
    } part[] = {
        {run_sql, read_profile_run},
        {category_sql, read_profile_category},
        {no_inline ? binary_function_sql : function_sql, read_profile_function},
        {no_inline ? no_binary_sql : binary_sql, read_profile_binary},
        {no_inline ? binary_loop_sql : loop_sql, read_profile_loop},
        {flag_sql, read_profile_flag},
        {unseen_sql, read_missing_time},
        {metric_sql, read_profile_metric},
        {gain_sql, read_profile_gain},
        {count_sql, read_profile_count},
    };

    init_profile(experiment, profile);
    AS_TRY(as_report_run(experiment, run_id, &profile->run.run_id, &profile->run.run_n, err));
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        AS_TRY(
            read_each_row(experiment, profile, part[i].sql, rows ? rows : 10, part[i].take, err));
    AS_TRY(read_trace(experiment, rows ? rows : 10, profile, err));
    AS_TRY(as_profile_spread(experiment, profile, err));
    return as_profile_findings(experiment, profile, err);
}

void as_profile_release(struct as_profile *profile)
{
    as_vec_fini(&profile->category);
    as_vec_fini(&profile->function);
    as_vec_fini(&profile->binary);
    as_vec_fini(&profile->loop);
    as_vec_fini(&profile->flag);
    as_vec_fini(&profile->spread);
    as_vec_fini(&profile->count);
    as_vec_fini(&profile->metric);
    as_vec_fini(&profile->gain);
    as_vec_fini(&profile->advice);
    as_vec_fini(&profile->wait);
    as_vec_fini(&profile->late);
    as_vec_fini(&profile->phase);
    as_vec_fini(&profile->command);
    as_arena_fini(&profile->arena);
}

bool as_profile_is_trace(const struct as_profile *profile)
{
    return profile->run.kind && strcmp(profile->run.kind, "trace") == 0;
}

const struct as_profile_flag *as_profile_flag_named(const struct as_profile *profile,
                                                    const char *name)
{
    as_vec_foreach (&profile->flag, it)
        if (it->name && strcmp(it->name, name) == 0)
            return it;
    return NULL;
}

bool as_profile_is_partial(const struct as_profile *profile)
{
    return as_profile_flag_named(profile, "unseen_time") != NULL;
}

double as_profile_category_pct(struct as_profile *profile, const char *name)
{
    as_vec_foreach (&profile->category, it)
        if (it->name && strcmp(it->name, name) == 0)
            return it->share.pct;
    return 0;
}

const char *as_profile_text(struct as_profile *profile, const char *fmt, ...)
{
    char small[1];
    va_list args, again;
    char *p = NULL;
    int n;

    va_start(args, fmt);
    va_copy(again, args);
    n = vsnprintf(small, sizeof small, fmt, args);
    va_end(args);
    if (n >= 0)
        p = as_arena_alloc(&profile->arena, (size_t)n + 1, 1);
    if (p)
        vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return p;
}
