/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay show EXP`: the summary of a run; with --view a documented view of the experiment, of which
 * JSON and CSV carry all columns as they are, text a choice of them that fits a screen.
 */
#include <string.h>

#include <assay/report.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/str.h"
#include "rows.h"
#include "unfinished.h"

/* ---- The views --------------------------------------------------------------------------- */

struct field {
    const char *expression; /* over the columns of the view */
    const char *title;
    struct as_rows_look look;
};

#define RIGHT                                                                                      \
    {                                                                                              \
        .right = true                                                                              \
    }
#define ELASTIC                                                                                    \
    {                                                                                              \
        .elastic = true                                                                            \
    }
#define LEFT                                                                                       \
    {                                                                                              \
        .right = false                                                                             \
    }

/* A share; few samples make it a guess, which is said. */
#define SHARE(column)    "printf('%.1f%s', " column "_pct, substr('?', 1, few_samples))"
#define INTERVAL(column) "printf('%.1f-%.1f', " column "_low_pct, " column "_high_pct)"
/* Unknown stays empty: printf would make it zero. */
#define REAL(format, x) "CASE WHEN " x " IS NOT NULL THEN printf('" format "', " x ") END"
#define SECONDS(column) REAL("%.2f", column "_s")
#define SOURCE(file, line)                                                                         \
    "replace(" file ", rtrim(" file ", replace(" file ", '/', '')), '') || ':' || " line

static const struct field runs[] = {
    {"run_id", "run", RIGHT},
    {"kind", "kind", LEFT},
    {"state", "state", LEFT},
    {"start_utc", "start", LEFT},
    {SECONDS("wall"), "wall s", RIGHT},
    {"ifnull('signal ' || exit_signal, exit_code)", "exit", RIGHT},
    {"process_n", "processes", RIGHT},
    {"thread_n", "threads", RIGHT},
    {"sample_n", "samples", RIGHT},
    {"lost_sample_n", "lost", RIGHT},
    {"event", "event", LEFT},
    {"host", "host", LEFT},
    {"command", "command", ELASTIC},
};
static const struct field hosts[] = {
    {"host_id", "host", RIGHT},
    {"name", "name", LEFT},
    {"cpu_n", "cpus", RIGHT},
    {"core_n", "cores", RIGHT},
    {"numa_n", "numa", RIGHT},
    {REAL("%.1f", "memory_b / 1073741824.0"), "memory GiB", RIGHT},
    {"os", "os", ELASTIC},
    {"kernel", "kernel", ELASTIC},
    {"cpu_model", "processor", ELASTIC},
};
static const struct field processes[] = {
    {"run_id", "run", RIGHT},
    {"pid", "pid", RIGHT},
    {"rank", "rank", RIGHT},
    {"host", "host", LEFT},
    {"thread_n", "threads", RIGHT},
    {REAL("%.1f", "time_pct"), "time %", RIGHT},
    {SECONDS("time"), "time s", RIGHT},
    {SECONDS("blocked_time"), "wait s", RIGHT},
    {"ifnull('signal ' || exit_signal, exit_code)", "exit", RIGHT},
    {"exe", "program", ELASTIC},
};
static const struct field threads[] = {
    {"pid", "pid", RIGHT},
    {"rank", "rank", RIGHT},
    {"tid", "tid", RIGHT},
    {"omp_thread", "omp", RIGHT},
    {REAL("%.1f", "time_pct"), "time %", RIGHT},
    {SECONDS("time"), "time s", RIGHT},
    {SECONDS("blocked_time"), "wait s", RIGHT},
    {"sample_n", "samples", RIGHT},
    {"lost_sample_n", "lost", RIGHT},
    {"cpus", "cpus", ELASTIC},
    {"name", "name", LEFT},
};
#define TIMES                                                                                      \
    {SHARE("exclusive"), "self %", RIGHT}, {INTERVAL("exclusive"), "95 % interval", RIGHT},        \
        {SECONDS("exclusive_time"), "self s", RIGHT},                                              \
    {                                                                                              \
        SHARE("inclusive"), "total %", RIGHT                                                       \
    }
static const struct field modules[] = {
    TIMES,
    {"thread_n", "threads", RIGHT},
    {"kind", "kind", LEFT},
    {"name", "module", ELASTIC},
};
static const struct field functions[] = {
    {SHARE("exclusive"), "self %", RIGHT},
    {INTERVAL("exclusive"), "95 % interval", RIGHT},
    {SECONDS("exclusive_time"), "self s", RIGHT},
    {SHARE("inclusive"), "total %", RIGHT},
    {"category", "category", LEFT},
    {"ifnull(" SOURCE("source_file", "line") ", module)", "where", ELASTIC},
    {"name", "function", ELASTIC},
};
static const struct field loops[] = {
    {"loop_id", "loop", RIGHT},
    TIMES,
    {"role", "role", LEFT},
    {SOURCE("source_file", "first_line || ifnull('-' || last_line, '')"), "source", ELASTIC},
    {"function", "function", ELASTIC},
};
static const struct field blocks[] = {
    TIMES,
    {"address", "address", RIGHT},
    {"loop_id", "loop", RIGHT},
    {"instruction_n", "instructions", RIGHT},
    {"function", "function", ELASTIC},
};
static const struct field lines[] = {
    TIMES,
    {SOURCE("source_file", "line"), "source", ELASTIC},
    {"text", "text", ELASTIC},
};
static const struct field categories[] = {
    {SHARE("time"), "time %", RIGHT},
    {INTERVAL("time"), "95 % interval", RIGHT},
    {SECONDS("time"), "time s", RIGHT},
    {SECONDS("blocked_time"), "wait s", RIGHT},
    {"sample_n", "samples", RIGHT},
    {"thread_n", "threads", RIGHT},
    {"ifnull(title, name)", "category", LEFT},
};
static const struct field callpaths[] = {
    {SHARE("inclusive"), "total %", RIGHT},
    {INTERVAL("inclusive"), "95 % interval", RIGHT},
    {SECONDS("inclusive_time"), "total s", RIGHT},
    {SHARE("exclusive"), "self %", RIGHT},
    {"depth", "depth", RIGHT},
    {"category", "category", LEFT},
    {"path", "path", ELASTIC},
};
static const struct field metrics[] = {
    {"name", "metric", LEFT},     {"unit", "unit", LEFT},          {"better", "better", LEFT},
    {"value_n", "values", RIGHT}, {"meaning", "meaning", ELASTIC},
};
static const struct field values[] = {
    {"metric", "metric", LEFT},
    {"object_kind || ' ' || object_id", "object", LEFT},
    {"printf('%.6g', value)", "value", RIGHT},
    {"unit", "unit", LEFT},
    {"printf('%.4g', low) || ' to ' || printf('%.4g', high)", "95 % interval", RIGHT},
    {"origin", "origin", LEFT},
    {"n", "n", RIGHT},
};
static const struct field findings[] = {
    {"level", "level", LEFT},
    {"topic", "topic", LEFT},
    {"object_kind || ' ' || object_id", "object", LEFT},
    {REAL("%.2f", "gain"), "gain", RIGHT},
    {"gain_origin", "origin", LEFT},
    {"text", "finding", ELASTIC},
    {"workaround", "what to do", ELASTIC},
};
static const struct field flags[] = {
    {"name", "flag", LEFT},
    {"object_kind || ' ' || object_id", "object", LEFT},
    {"n", "n", RIGHT},
    {"text", "text", ELASTIC},
};

static const struct view {
    const char *name;  /* as in the choices of --view */
    const char *order; /* when --sort does not say */
    bool of_run;       /* rows belong to a run */
    const struct field *field;
    size_t field_n;
} views[] = {
#define VIEW(name, order, of_run)                                                                  \
    {                                                                                              \
#name, order, of_run, name, sizeof name / sizeof *name                                     \
    }
    VIEW(functions, "exclusive_time_s DESC, inclusive_time_s DESC, function_id", true),
    VIEW(loops, "exclusive_time_s DESC, inclusive_time_s DESC, loop_id", true),
    VIEW(modules, "exclusive_time_s DESC, inclusive_time_s DESC, module_id", true),
    VIEW(threads, "process_id, thread_id", true),
    VIEW(categories, "time_s DESC, blocked_time_s DESC, category_id", true),
    VIEW(callpaths, "inclusive_time_s DESC, depth, callpath_id", true),
    VIEW(runs, "run_id", true),
    VIEW(processes, "rank IS NULL, rank, process_id", true),
    VIEW(hosts, "host_id", false),
    VIEW(blocks, "exclusive_time_s DESC, inclusive_time_s DESC, block_id", true),
    VIEW(lines, "exclusive_time_s DESC, inclusive_time_s DESC, line_id", true),
    VIEW(metrics, "name", false),
    VIEW(values, "metric, object_kind, object_id, run_id", true),
    VIEW(findings, "gain DESC, finding_id", true),
    VIEW(flags, "n DESC, flag_id", true),
#undef VIEW
};

#define FIELDS_MAX 16

/* ---- The statement ----------------------------------------------------------------------- */

/* Amounts are of interest from the largest, names and numbers of things from the first. */
static bool is_amount(const char *column)
{
    static const char *const ending[] = {"_s", "_n", "_b", "_pct", "_hz"};
    const struct as_view name = as_view_of(column);

    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (as_view_ends(name, ending[i]))
            return strcmp(column, "start_s") != 0 && strcmp(column, "end_s") != 0;
    return strcmp(column, "value") == 0 || strcmp(column, "gain") == 0 || strcmp(column, "n") == 0;
}

/* --sort must be a column of the view. */
static int check_sort(struct assay_experiment *experiment, const struct view *view,
                      const char *column, struct assay_error *err)
{
    struct as_nearest nearest;
    struct assay_rows *rows = NULL;
    struct as_str sql = {0};
    bool found = false;
    int rc;

    as_str_appendf(&sql, "SELECT * FROM v_%s LIMIT 0", view->name);
    rc = sql.failed ? as_error_nomem(err, "the statement")
                    : assay_rows_open(experiment, as_str_z(&sql), &rows, err);
    as_str_fini(&sql);
    AS_TRY(rc);
    as_nearest_init(&nearest, column, strlen(column));
    for (int i = 0; i < assay_rows_column_n(rows); i++) {
        found |= strcmp(column, assay_rows_column(rows, i)) == 0;
        as_nearest_offer(&nearest, assay_rows_column(rows, i));
    }
    if (!found && nearest.best)
        rc = as_error_set(err, ASSAY_ERR_USAGE,
                          "--sort: '%s' is no column of the view %s; did you mean %s?", column,
                          view->name, nearest.best);
    else if (!found)
        rc = as_error_set(err, ASSAY_ERR_USAGE,
                          "--sort: '%s' is no column of the view %s; its CSV names them", column,
                          view->name);
    assay_rows_close(&rows);
    return rc;
}

static void append_columns(struct as_str *sql, const struct as_cli *cli, const struct view *view,
                           bool of_several)
{
    if (cli->format != AS_FORMAT_TEXT) {
        as_str_appendz(sql, "*");
        return;
    }
    if (of_several)
        as_str_appendz(sql, "run_id AS run, ");
    for (size_t i = 0; i < view->field_n; i++)
        as_str_appendf(sql, "%s%s AS \"%s\"", i ? ", " : "", view->field[i].expression,
                       view->field[i].title);
}

static int make_statement(struct as_cli *cli, const struct view *view,
                          struct assay_experiment *experiment, bool of_several, struct as_str *sql,
                          struct assay_error *err)
{
    const char *sort = cli->args.value[AS_OPTION_SORT_VIEW];
    const uint64_t limit = cli->args.number[AS_OPTION_LIMIT];

    if (sort)
        AS_TRY(check_sort(experiment, view, sort, err));
    as_str_appendz(sql, "SELECT ");
    append_columns(sql, cli, view, of_several);
    as_str_appendf(sql, " FROM v_%s", view->name);
    /* What holds of every run has none (NULL), or 0. */
    if (view->of_run && as_given(&cli->args, AS_OPTION_RUN))
        as_str_appendz(sql, " WHERE ifnull(run_id, 0) IN (0, ?1)");
    as_str_appendz(sql, " ORDER BY ");
    if (sort)
        as_str_appendf(sql, "%s IS NULL, %s%s, ", sort, sort, is_amount(sort) ? " DESC" : "");
    as_str_appendz(sql, view->order);
    if (limit)
        as_str_appendf(sql, " LIMIT %llu", (unsigned long long)limit);
    return sql->failed ? as_error_nomem(err, "the statement") : 0;
}

/* ---- Showing ----------------------------------------------------------------------------- */

/* How many runs there are; --run must be one of them. */
static int count_runs(struct as_cli *cli, struct assay_experiment *experiment, int64_t *run_n,
                      struct assay_error *err)
{
    const bool is_given = as_given(&cli->args, AS_OPTION_RUN);
    const int64_t run_id = (int64_t)cli->args.number[AS_OPTION_RUN];
    struct assay_rows *rows = NULL;
    int rc;

    AS_TRY(assay_rows_open(experiment, "SELECT count(*), max(run_id), sum(run_id = ?1) FROM run",
                           &rows, err));
    assay_rows_bind_integer(rows, 1, run_id);
    rc = assay_rows_next(rows, err);
    *run_n = rc > 0 ? assay_rows_integer(rows, 0) : 0;
    if (rc > 0 && is_given && !assay_rows_integer(rows, 2))
        rc = as_error_set(err, ASSAY_ERR_USAGE, "--run: %s has no run %lld; its last is %lld",
                          assay_experiment_path(experiment), (long long)run_id,
                          (long long)assay_rows_integer(rows, 1));
    assay_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

static int show(struct as_cli *cli, const struct view *view, struct assay_experiment *experiment,
                struct assay_error *err)
{
    struct as_rows_look look[FIELDS_MAX] = {0};
    struct as_rows_style style = {.look = look, .truths = true};
    struct assay_rows *rows = NULL;
    struct as_str sql = {0};
    int64_t run_n = 0;
    int rc = count_runs(cli, experiment, &run_n, err);
    const bool of_several = run_n > 1 && view->of_run && !as_given(&cli->args, AS_OPTION_RUN) &&
                            strcmp(view->field[0].expression, "run_id") != 0;

    look[0].right = of_several;
    for (size_t i = 0; i < view->field_n && i + of_several < FIELDS_MAX; i++)
        look[i + of_several] = view->field[i].look;
    if (rc == 0)
        rc = make_statement(cli, view, experiment, of_several, &sql, err);
    if (rc == 0)
        rc = assay_rows_open(experiment, as_str_z(&sql), &rows, err);
    if (rc == 0) {
        assay_rows_bind_integer(rows, 1, (int64_t)cli->args.number[AS_OPTION_RUN]);
        rc = as_rows_show(cli, rows, &style, err);
    }
    assay_rows_close(&rows);
    as_str_fini(&sql);
    return rc;
}

/* The view of a name; NULL for the summary, which is none. */
static const struct view *view_of(const char *name)
{
    for (size_t i = 0; name && i < sizeof views / sizeof *views; i++)
        if (strcmp(views[i].name, name) == 0)
            return &views[i];
    return NULL;
}

static int summarise(struct as_cli *cli, struct assay_experiment *experiment,
                     struct assay_error *err)
{
    const int64_t run_id = (int64_t)cli->args.number[AS_OPTION_RUN];
    const struct assay_report_text_options options = {
        .width = as_cli_width(cli),
        .colour = cli->color,
        .utf8 = assay_report_locale_is_utf8(),
        .rows = cli->args.number[AS_OPTION_LIMIT],
    };

    if (as_given(&cli->args, AS_OPTION_RUN)) {
        int64_t run_n;

        AS_TRY(count_runs(cli, experiment, &run_n, err));
    }
    if (cli->format == AS_FORMAT_JSON)
        return assay_report_profile_json(experiment, run_id, options.rows, &cli->out, err);
    return assay_report_profile(experiment, run_id, &options, &cli->out, err);
}

/* The summary is not a table. */
static int check_summary(struct as_cli *cli, struct assay_error *err)
{
    if (cli->format == AS_FORMAT_CSV)
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "--format: the summary is no table and has no CSV; give a --view, or "
                            "--format json");
    if (as_given(&cli->args, AS_OPTION_SORT_VIEW))
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "--sort: the summary has an order of its own; give a --view");
    return 0;
}

int as_verb_show(struct as_cli *cli, struct assay_error *err)
{
    const struct view *view = view_of(cli->args.value[AS_OPTION_VIEW]);
    struct assay_experiment *experiment = NULL;
    int rc;

    if (!view)
        AS_TRY(check_summary(cli, err));
    AS_TRY(assay_experiment_read(cli->args.positional[0], &experiment, err));
    rc = view ? show(cli, view, experiment, err) : summarise(cli, experiment, err);
    if (rc == 0 && view)
        rc = as_unfinished_note(cli, experiment, (int64_t)cli->args.number[AS_OPTION_RUN], NULL,
                                err);
    assay_experiment_close(&experiment, rc == 0 ? err : NULL);
    return rc;
}
