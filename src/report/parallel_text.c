/* SPDX-License-Identifier: Apache-2.0 */
/* The parallel behaviour of a run as text. Tables that the summary has too are those of the summary
 * (profile_text_trace.c). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analytics/state/analysis.h"
#include "base/error.h"
#include "experiment/metric_names.h"
#include "report/parallel.h"
#include "report/profile_text.h"

#define ROWS_MOST     12u
#define ROWS_MOST_SQL "12"
#define THREADS_MOST  24
#define THREADS_SQL   "24"
#define NAME_MOST     64u

struct parallel_text {
    struct as_experiment *experiment;
    int64_t run_id;
    struct as_page *page;
};

/* A table of the rows of a statement; ?1 is the run. Without rows there is no table. */
struct text_section {
    const char *title;
    const struct as_column *columns;
    size_t n;
    const char *sql;
    void (*row)(struct as_table *table, struct as_rows *row);
};

static int write_section(const struct parallel_text *t, const struct text_section *section,
                         struct as_error *err)
{
    struct as_table table;
    struct as_rows *rows;
    bool has_begun = false;
    int rc;
    AS_TRY(as_rows_open(t->experiment, section->sql, &rows, err));
    as_rows_bind_integer(rows, 1, t->run_id);
    while ((rc = as_rows_next(rows, err)) > 0) {
        if (!has_begun) {
            as_page_heading(t->page, section->title);
            as_page_table_begin(t->page, &table, section->columns, section->n);
        }
        has_begun = true;
        section->row(&table, rows);
    }
    as_rows_close(&rows);
    const int ended = has_begun ? as_page_table_end(t->page, &table, rc < 0 ? NULL : err) : 0;
    return rc < 0 ? rc : ended;
}

/* Reads the integer that a statement gives for the run; 0 without a row. */
static int read_number(const struct parallel_text *t, const char *sql, int64_t *out,
                       struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_rows_open(t->experiment, sql, &rows, err));
    as_rows_bind_integer(rows, 1, t->run_id);
    const int rc = as_rows_next(rows, err);
    *out = rc > 0 ? as_rows_integer(rows, 0) : 0;
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* ---- Efficiency ------------------------------------------------------------------------------ */

enum { OF_ALL, OF_PART, OF_RANGE };

static const char part_sql[] = "SELECT CASE WHEN from_s IS NOT NULL THEN 2"
                               " WHEN efficient_from_s IS NOT NULL THEN 1 ELSE 0 END"
                               " FROM v_traces WHERE run_id = ?1";
static const char sleeps_sql[] =
    "SELECT EXISTS (SELECT 1 FROM v_trace_states WHERE run_id = ?1 AND name = 'sleeping')";

/* The efficiency of threads is stored if a rank has several threads, or a thread sleeps. Without
 * them it adds no information. */
static const struct {
    const char *metric, *what, *with_sleep;
} efficiency[] = {
    {AS_METRIC_trace_parallel_efficiency_pct,
     "parallel efficiency: computing, neither communicating nor waiting", NULL},
    {AS_METRIC_trace_mpi_parallel_efficiency_pct, "  MPI: ranks outside MPI", NULL},
    {AS_METRIC_trace_mpi_load_balance_pct, "    load balance: mean over longest", NULL},
    {AS_METRIC_trace_mpi_communication_efficiency_pct, "    communication: longest over elapsed",
     NULL},
    {AS_METRIC_trace_mpi_startup_efficiency_pct,
     "      start and end: elapsed without MPI_Init, MPI_Finalize", NULL},
    {AS_METRIC_trace_mpi_serialisation_efficiency_pct,
     "      serialisation: longest over ideal network", NULL},
    {AS_METRIC_trace_mpi_transfer_efficiency_pct, "      transfer: ideal network over recorded",
     NULL},
    {AS_METRIC_trace_openmp_parallel_efficiency_pct, "  threads within ranks",
     "  threads within ranks, and time asleep"},
};

static int fill_efficiency(const struct parallel_text *t, struct as_table *table, bool has_sleep,
                           struct as_error *err)
{
    for (size_t i = 0; i < sizeof efficiency / sizeof *efficiency; i++) {
        double share;
        AS_TRY(as_parallel_share(t->experiment, t->run_id, efficiency[i].metric, &share, err));
        if (isnan(share))
            continue;
        as_table_f(table, "%.1f %%", 100 * share);
        as_table_string(table, has_sleep && efficiency[i].with_sleep ? efficiency[i].with_sleep
                                                                     : efficiency[i].what);
    }
    return 0;
}

static int write_efficiency(const struct parallel_text *t, struct as_error *err)
{
    static const char *const of[] = {
        [OF_ALL] = "of the time of all threads",
        [OF_PART] = "of the time of all threads, from MPI_Init to MPI_Finalize",
        [OF_RANGE] = "of the time of all threads, in the range"};
    struct as_table table;
    int64_t part, has_sleep;
    double parallel;
    AS_TRY(as_parallel_share(t->experiment, t->run_id, efficiency[0].metric, &parallel, err));
    if (isnan(parallel))
        return 0;
    AS_TRY(read_number(t, part_sql, &part, err));
    AS_TRY(read_number(t, sleeps_sql, &has_sleep, err));
    const struct as_column columns[] = {{.title = "share", .align = AS_ALIGN_RIGHT},
                                        {.title = of[part]}};
    as_page_heading(t->page, "Efficiency");
    as_page_table_begin(t->page, &table, columns, 2);
    const int rc = fill_efficiency(t, &table, has_sleep != 0, err);
    const int ended = as_page_table_end(t->page, &table, rc < 0 ? NULL : err);
    return rc < 0 ? rc : ended;
}

/* ---- Iterations ------------------------------------------------------------------------------ */

/* The repeatedly called region with the most time. Its iterations follow it in number, up to the
 * next region. */
#define MAIN_SQL                                                                                   \
    "(SELECT number, name FROM v_trace_phases WHERE run_id = ?1 AND iteration IS NULL"             \
    " AND calls_n > 1 ORDER BY time_s DESC, number LIMIT 1)"
#define OF_MAIN_SQL                                                                                \
    " FROM v_trace_phases p, " MAIN_SQL " m WHERE p.run_id = ?1 AND p.number > m.number"           \
    " AND p.number < ifnull((SELECT min(o.number) FROM v_trace_phases o WHERE o.run_id = ?1"       \
    " AND o.number > m.number AND o.iteration IS NULL), 1 << 62)"

static void add_iteration(struct as_table *table, struct as_rows *row)
{
    const int64_t first = as_rows_integer(row, 0), calls_n = as_rows_integer(row, 1);
    if (calls_n == 1)
        as_table_u64(table, (uint64_t)first);
    else
        as_table_f(table, "%" PRId64 " to %" PRId64, first, first + calls_n - 1);
    as_table_f(table, "%.3f", as_rows_real(row, 2));
    for (int i = 3; i < 6; i++)
        if (as_rows_kind(row, i) == AS_SQL_CELL_NULL)
            as_table_string(table, NULL);
        else
            as_table_f(table, "%.1f", as_rows_real(row, i));
    as_table_string(table, as_rows_text(row, 6));
}

static int read_main_title(const struct parallel_text *t, char *out, size_t out_b,
                           struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_rows_open(t->experiment, "SELECT name FROM " MAIN_SQL, &rows, err));
    as_rows_bind_integer(rows, 1, t->run_id);
    const int rc = as_rows_next(rows, err);
    snprintf(out, out_b, "Iterations of %.*s", (int)NAME_MOST, rc > 0 ? as_rows_text(rows, 0) : "");
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

static void write_more(const struct parallel_text *t, int64_t n)
{
    char text[NAME_MOST];
    snprintf(text, sizeof text, "%" PRId64 " more; --format json has all", n);
    if (n > 0)
        as_page_wrap(t->page, "  ", text, false);
}

/* Writes the first iterations of the region with the most time. JSON and views have all of them. */
static int write_iterations(const struct parallel_text *t, struct as_error *err)
{
    static const struct as_column columns[] = {
        {.title = "iteration", .align = AS_ALIGN_RIGHT},
        {.title = "seconds", .align = AS_ALIGN_RIGHT},
        {.title = "parallel %", .align = AS_ALIGN_RIGHT},
        {.title = "balance %", .align = AS_ALIGN_RIGHT},
        {.title = "comm. %", .align = AS_ALIGN_RIGHT},
        {.title = "busiest", .shrink = AS_SHRINK_END, .least = 7},
    };
    char title[NAME_MOST * 2];
    const struct text_section section = {
        title, columns, sizeof columns / sizeof *columns,
        "SELECT iteration, calls_n, time_s, parallel_pct,"
        " iif(mpi_parallel_pct IS NULL, balance_pct, mpi_balance_pct),"
        " iif(mpi_parallel_pct IS NULL, communication_pct, mpi_communication_pct),"
        " 'rank ' || busiest_rank" OF_MAIN_SQL " ORDER BY p.number LIMIT " ROWS_MOST_SQL,
        add_iteration};
    int64_t n;
    AS_TRY(read_main_title(t, title, sizeof title, err));
    AS_TRY(write_section(t, &section, err));
    AS_TRY(read_number(t, "SELECT count(*)" OF_MAIN_SQL, &n, err));
    write_more(t, n - ROWS_MOST);
    return 0;
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void add_seconds(struct as_table *table, struct as_rows *row, int from, int to)
{
    as_table_string(table, as_rows_text(row, 0));
    for (int i = from; i < to; i++)
        as_table_f(table, "%.3f", as_rows_real(row, i));
}

static void add_all_states(struct as_table *table, struct as_rows *row)
{
    add_seconds(table, row, 1, as_rows_column_n(row));
}

static void add_recorded_states(struct as_table *table, struct as_rows *row)
{
    add_seconds(table, row, 1, as_rows_column_n(row) - 1);
}

static int write_states(const struct parallel_text *t, struct as_error *err)
{
    static const struct as_column columns[] = {
        {.title = "who"},
        {.title = "computing", .align = AS_ALIGN_RIGHT},
        {.title = "MPI", .align = AS_ALIGN_RIGHT},
        {.title = "OpenMP", .align = AS_ALIGN_RIGHT},
        {.title = "threads", .align = AS_ALIGN_RIGHT},
        {.title = "i/o", .align = AS_ALIGN_RIGHT},
        {.title = "asleep", .align = AS_ALIGN_RIGHT},
        {.title = "OpenCL", .align = AS_ALIGN_RIGHT},
        {.title = "idle", .align = AS_ALIGN_RIGHT},
        {.title = "crit. path", .align = AS_ALIGN_RIGHT},
        {.title = "not recorded", .align = AS_ALIGN_RIGHT}, /* last column: usually left out */
    };
    enum { STATES_COLUMNS = sizeof columns / sizeof *columns };
    _Static_assert(STATES_COLUMNS == AS_ACTIVITIES_N + 2, "the name, each state, the path");
    _Static_assert(AS_ACTIVITY_OFF == AS_ACTIVITIES_N - 1, "the last column is the last state");
    int64_t has_off, n;
    AS_TRY(read_number(t,
                       "SELECT EXISTS (SELECT 1 FROM v_trace_states WHERE run_id = ?1"
                       " AND name = 'off')",
                       &has_off, err));
    const struct text_section section = {
        "Seconds of each", columns, STATES_COLUMNS - !has_off,
        "SELECT location, computing_s, mpi_s, openmp_s, threads_s, files_s, sleeping_s, opencl_s,"
        " idle_s, path_s, off_s FROM (SELECT l.location, l.number," AS_PARALLEL_STATES_SQL
        " l.path_s FROM v_trace_locations l LEFT JOIN v_trace_states s USING (run_id, number)"
        " WHERE run_id = ?1 AND number < " THREADS_SQL " GROUP BY number) ORDER BY number",
        has_off ? add_all_states : add_recorded_states};
    AS_TRY(write_section(t, &section, err));
    AS_TRY(read_number(t, "SELECT location_n FROM v_traces WHERE run_id = ?1", &n, err));
    write_more(t, n - THREADS_MOST);
    return 0;
}

static void add_mpi_times(struct as_table *table, struct as_rows *row)
{
    add_seconds(table, row, 1, 5);
}

/* Writes the MPI times of threads. They are unknown if calls are sums. */
static int write_mpi(const struct parallel_text *t, struct as_error *err)
{
    static const struct as_column columns[] = {
        {.title = "who"},
        {.title = "MPI", .align = AS_ALIGN_RIGHT},
        {.title = "waiting", .align = AS_ALIGN_RIGHT},
        {.title = "transfer", .align = AS_ALIGN_RIGHT},
        {.title = "overhead", .align = AS_ALIGN_RIGHT},
    };
    static const struct text_section section = {
        "Seconds in MPI", columns, sizeof columns / sizeof *columns,
        "SELECT location, w + t + o, w, t, o FROM (SELECT location, number, mpi_waiting_s AS w,"
        " mpi_transfer_s AS t, mpi_overhead_s AS o FROM v_trace_locations WHERE run_id = ?1"
        " AND number < " THREADS_SQL ") WHERE w + t + o > 0 ORDER BY number",
        add_mpi_times};
    return write_section(t, &section, err);
}

/* ---- All ------------------------------------------------------------------------------------- */

int as_parallel_text(struct as_experiment *experiment, int64_t run_id, struct as_page *page,
                     struct as_error *err)
{
    const struct parallel_text t = {experiment, run_id, page};
    struct as_profile profile;
    int rc = as_profile_read_trace(experiment, run_id, ROWS_MOST, &profile, err);
    if (rc == 0)
        rc = write_efficiency(&t, err);
    if (rc == 0)
        rc = as_text_trace_phases(page, &profile, err);
    if (rc == 0)
        rc = write_iterations(&t, err);
    if (rc == 0)
        rc = write_states(&t, err);
    if (rc == 0)
        rc = write_mpi(&t, err);
    if (rc == 0)
        rc = as_text_trace_waits(page, &profile, err);
    if (rc == 0)
        rc = as_text_trace_causes(page, &profile, err);
    as_profile_release(&profile);
    return rc;
}
