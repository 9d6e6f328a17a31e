/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing the summary. Each part is one question to the views and the lines that answer it; a part
 * without rows is left out.
 */
#include "report/summary.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/table.h"
#include "base/utf8.h"

#define BAR_COLUMNS 20

struct summary {
    struct assay_experiment *experiment;
    int64_t run_id;
    struct as_summary_style style;
    struct as_out *out;
    struct assay_error *err;
    double time_s, wall_s; /* sampled time of all threads */
    int64_t sample_n;
};

/* ---- Words --------------------------------------------------------------------------------- */

static void say(struct summary *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct summary *s, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    as_out_z(s->out, text);
}

static void heading(struct summary *s, const char *text)
{
    say(s, "\n%s%s%s\n", s->style.colour ? "\033[1m" : "", text, s->style.colour ? "\033[0m" : "");
}

/* Wraps a sentence: the first line after `lead`, others below its text. */
static void wrap(struct summary *s, const char *lead, const char *text)
{
    const size_t indent = as_utf8_width(as_view_of(lead));
    size_t at = indent;
    struct as_view rest = as_view_of(text), word;
    as_out_z(s->out, lead);
    while (as_view_split(&rest, ' ', &word)) {
        const size_t n = as_utf8_width(word);
        if (n == 0)
            continue;
        if (at > indent && at + 1 + n > s->style.width) {
            say(s, "\n%*s", (int)indent, "");
            at = indent;
        } else if (at > indent) {
            as_out_c(s->out, ' ');
            at++;
        }
        as_out_write(s->out, word.p, word.n);
        at += n;
    }
    as_out_c(s->out, '\n');
}

static int ask(struct summary *s, const char *sql, struct assay_rows **rows)
{
    AS_TRY(assay_rows_open(s->experiment, sql, rows, s->err));
    assay_rows_bind_integer(*rows, 1, s->run_id);
    assay_rows_bind_integer(*rows, 2, (int64_t)s->style.rows);
    return 0;
}

/* "41.3 s", "12 ms": three digits that mean something. */
static void seconds(char *out, size_t out_b, double s)
{
    if (s >= 100)
        snprintf(out, out_b, "%.0f s", s);
    else if (s >= 10)
        snprintf(out, out_b, "%.1f s", s);
    else if (s >= 0.995)
        snprintf(out, out_b, "%.2f s", s);
    else
        snprintf(out, out_b, "%.0f ms", s * 1000);
}

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- Head ---------------------------------------------------------------------------------- */

static void say_counts(struct summary *s, struct assay_rows *row)
{
    char wall[32], time[32], line[1024];
    const int64_t ranks = assay_rows_integer(row, 1), processes = assay_rows_integer(row, 2);
    const int64_t threads = assay_rows_integer(row, 3);
    struct as_str text = {0};
    seconds(wall, sizeof wall, s->wall_s);
    seconds(time, sizeof time, s->time_s);
    if (ranks > 0)
        as_str_appendf(&text, "%lld rank%s, ", (long long)ranks, plural(ranks));
    snprintf(line, sizeof line,
             "%lld process%s, %lld thread%s on %s; %s wall, %s of processor time in %lld samples "
             "(%s, %lld Hz, %s)",
             (long long)processes, processes == 1 ? "" : "es", (long long)threads, plural(threads),
             assay_rows_text(row, 4) ? assay_rows_text(row, 4) : "?", wall, time,
             (long long)s->sample_n, assay_rows_text(row, 7) ? assay_rows_text(row, 7) : "?",
             (long long)assay_rows_integer(row, 8),
             assay_rows_text(row, 9) ? assay_rows_text(row, 9) : "?");
    as_str_appendz(&text, line);
    wrap(s, "  ", as_str_z(&text));
    as_str_fini(&text);
}

static void say_end(struct summary *s, struct assay_rows *row)
{
    const char *state = assay_rows_text(row, 10);
    if (assay_rows_kind(row, 12) == ASSAY_CELL_INTEGER)
        say(s, "  ended by signal %lld (%s)\n", (long long)assay_rows_integer(row, 12),
            strsignal((int)assay_rows_integer(row, 12)));
    else if (assay_rows_integer(row, 11) != 0)
        say(s, "  exit status %lld\n", (long long)assay_rows_integer(row, 11));
    if (state && strcmp(state, "complete") != 0)
        say(s, "  interrupted: this is what was recorded until then\n");
}

static int head(struct summary *s)
{
    struct assay_rows *row;
    AS_TRY(ask(s,
               "SELECT command, rank_n, process_n, (SELECT count(*) FROM v_threads AS t WHERE "
               "t.run_id = r.run_id), host, wall_s, sampled_time_s, event, rate_hz, scope, state, "
               "exit_code, exit_signal, sample_n FROM v_runs AS r WHERE run_id = ?1",
               &row));
    int rc = assay_rows_next(row, s->err);
    if (rc == 0)
        rc = as_error_set(s->err, ASSAY_ERR_NOT_FOUND, "%s: has no run %lld",
                          assay_experiment_path(s->experiment), (long long)s->run_id);
    if (rc > 0) {
        s->wall_s = assay_rows_real(row, 5);
        s->time_s = assay_rows_real(row, 6);
        s->sample_n = assay_rows_integer(row, 13);
        const char *command = assay_rows_text(row, 0);
        say(s, "%s", s->style.colour ? "\033[1m" : "");
        wrap(s, "", command ? command : "?");
        say(s, "%s", s->style.colour ? "\033[0m" : "");
        say_counts(s, row);
        say_end(s, row);
    }
    assay_rows_close(&row);
    return rc < 0 ? rc : 0;
}

/* ---- Where the time went ------------------------------------------------------------------- */

static void bar(char *out, double share)
{
    static const char part[][4] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int eighths = (int)lround(share * BAR_COLUMNS * 8);
    for (; eighths >= 8; eighths -= 8, out += 3)
        memcpy(out, "█", 3);
    memcpy(out, part[eighths > 0 ? eighths : 0], 4);
}

static int categories(struct summary *s)
{
    static const struct as_column column[] = {{.title = "  share", .align = AS_ALIGN_RIGHT},
                                              {.title = "±", .align = AS_ALIGN_RIGHT},
                                              {.title = "time", .align = AS_ALIGN_RIGHT},
                                              {.title = "waiting", .align = AS_ALIGN_RIGHT},
                                              {.title = "category", .shrink = AS_SHRINK_END},
                                              {.title = ""}};
    struct assay_rows *row;
    struct as_table table;
    char text[32], filled[BAR_COLUMNS * 3 + 8];
    int rc;
    AS_TRY(ask(s,
               "SELECT title, time_pct, (time_high_pct - time_low_pct) / 2, time_s, blocked_time_s "
               "FROM v_categories WHERE run_id = ?1 AND (sample_n > 0 OR blocked_time_s > 0) ORDER "
               "BY time_s DESC, blocked_time_s DESC",
               &row));
    as_table_init(&table, column, 6);
    while ((rc = assay_rows_next(row, s->err)) > 0) {
        const double percent = assay_rows_real(row, 1);
        as_table_f(&table, "%.1f %%", percent);
        as_table_f(&table, "%.1f", assay_rows_real(row, 2));
        seconds(text, sizeof text, assay_rows_real(row, 3));
        as_table_string(&table, text);
        seconds(text, sizeof text, assay_rows_real(row, 4));
        as_table_string(&table, assay_rows_real(row, 4) > 0 ? text : "");
        as_table_string(&table, assay_rows_text(row, 0));
        bar(filled, percent / 100);
        as_table_string(&table, filled);
    }
    assay_rows_close(&row);
    if (rc == 0 && table.cells.n) {
        heading(s, "Where the time went");
        rc = as_table_print(&table, s->out, s->style.width, s->style.colour, s->err);
    }
    as_table_fini(&table);
    return rc;
}

static int balance(struct summary *s)
{
    struct assay_rows *row;
    char least[32], mean[32], most[32];
    AS_TRY(ask(s,
               "SELECT count(*), min(time_s), avg(time_s), max(time_s) FROM v_threads WHERE run_id "
               "= ?1 AND sample_n > 0",
               &row));
    int rc = assay_rows_next(row, s->err);
    if (rc > 0 && assay_rows_integer(row, 0) > 1) {
        const double average = assay_rows_real(row, 2);
        seconds(least, sizeof least, assay_rows_real(row, 1));
        seconds(mean, sizeof mean, average);
        seconds(most, sizeof most, assay_rows_real(row, 3));
        heading(s, "Load");
        say(s, "  %lld threads ran: least %s, mean %s, most %s",
            (long long)assay_rows_integer(row, 0), least, mean, most);
        if (average > 0)
            say(s, " (%.0f %% over the mean)", 100 * (assay_rows_real(row, 3) / average - 1));
        as_out_c(s->out, '\n');
    }
    assay_rows_close(&row);
    return rc < 0 ? rc : 0;
}

/* ---- Hot code ------------------------------------------------------------------------------ */

#define BASENAME(file) "replace(" file ", rtrim(" file ", replace(" file ", '/', '')), '')"

static void share_cells(struct as_table *table, struct assay_rows *row)
{
    char text[32];
    as_table_f(table, "%.1f %%", assay_rows_real(row, 0));
    as_table_f(table, "%.1f%s", assay_rows_real(row, 1), assay_rows_integer(row, 4) ? "?" : "");
    seconds(text, sizeof text, assay_rows_real(row, 2));
    as_table_string(table, text);
    as_table_f(table, "%.1f %%", assay_rows_real(row, 3));
}

static int hot(struct summary *s, const char *title, const char *sql,
               const struct as_column *column, size_t column_n)
{
    struct assay_rows *row;
    struct as_table table;
    int rc;
    AS_TRY(ask(s, sql, &row));
    as_table_init(&table, column, column_n);
    while ((rc = assay_rows_next(row, s->err)) > 0) {
        share_cells(&table, row);
        for (size_t i = 4; i < column_n; i++)
            as_table_string(&table, assay_rows_text(row, (int)i + 1));
    }
    assay_rows_close(&row);
    if (rc == 0 && table.cells.n) {
        heading(s, title);
        rc = as_table_print(&table, s->out, s->style.width, s->style.colour, s->err);
    }
    as_table_fini(&table);
    return rc;
}

#define SHARES                                                                                     \
    {.title = "   self", .align = AS_ALIGN_RIGHT}, {.title = "±", .align = AS_ALIGN_RIGHT},        \
        {.title = "time", .align = AS_ALIGN_RIGHT},                                                \
    {                                                                                              \
        .title = "total", .align = AS_ALIGN_RIGHT                                                  \
    }

static int functions(struct summary *s)
{
    static const struct as_column column[] = {
        SHARES,
        {.title = "function", .shrink = AS_SHRINK_END, .least = 24},
        {.title = "where", .shrink = AS_SHRINK_START, .least = 12}};
    return hot(s, "Hot functions",
               "SELECT exclusive_pct, (exclusive_high_pct - exclusive_low_pct) / 2, "
               "exclusive_time_s, inclusive_pct, few_samples, name, ifnull(" BASENAME(
                   "source_file") " || ifnull(':' || line, ''), module) FROM v_functions WHERE "
                                  "run_id = ?1 AND exclusive_sample_n > 0 ORDER BY "
                                  "exclusive_time_s DESC, function_id LIMIT ?2",
               column, 6);
}

static int loops(struct summary *s)
{
    static const struct as_column column[] = {
        SHARES,
        {.title = "loop", .align = AS_ALIGN_RIGHT},
        {.title = "source", .shrink = AS_SHRINK_START, .least = 14},
        {.title = "function", .shrink = AS_SHRINK_END, .least = 16}};
    return hot(s, "Hot loops",
               "SELECT exclusive_pct, (exclusive_high_pct - exclusive_low_pct) / 2, "
               "exclusive_time_s, inclusive_pct, few_samples, loop_id, ifnull(" BASENAME(
                   "source_file") " || ':' || first_line || ifnull('-' || nullif(last_line, "
                                  "first_line), ''), module || ' ' || address), function FROM "
                                  "v_loops WHERE run_id = ?1 AND exclusive_sample_n > 0 ORDER BY "
                                  "exclusive_time_s DESC, loop_id LIMIT ?2",
               column, 7);
}

/* ---- Trust and what next ------------------------------------------------------------------- */

static int trust(struct summary *s)
{
    struct assay_rows *row;
    bool first = true;
    int rc;
    AS_TRY(ask(s, "SELECT text FROM v_flags WHERE run_id = ?1 ORDER BY n DESC, flag_id", &row));
    while ((rc = assay_rows_next(row, s->err)) > 0) {
        if (first)
            heading(s, "What lessens trust");
        first = false;
        wrap(s, "  - ", assay_rows_text(row, 0));
    }
    assay_rows_close(&row);
    return rc;
}

static double one_number(struct summary *s, const char *sql, int *rc)
{
    struct assay_rows *row;
    double value = 0;
    if (*rc < 0)
        return 0;
    *rc = ask(s, sql, &row);
    if (*rc < 0)
        return 0;
    *rc = assay_rows_next(row, s->err);
    if (*rc > 0)
        value = assay_rows_real(row, 0);
    assay_rows_close(&row);
    return value;
}

static int next_steps(struct summary *s)
{
    const char *path = assay_experiment_path(s->experiment);
    char text[1024];
    int rc = 0;
    const double loop = one_number(s,
                                   "SELECT loop_id FROM v_loops WHERE run_id = ?1 AND "
                                   "exclusive_pct >= 5 ORDER BY exclusive_time_s DESC LIMIT 1",
                                   &rc);
    const double parallel = one_number(s,
                                       "SELECT sum(time_pct) FROM v_categories WHERE run_id = ?1 "
                                       "AND name IN ('mpi', 'openmp', 'pthread')",
                                       &rc);
    const double unnamed = one_number(s,
                                      "SELECT sum(exclusive_pct) FROM v_functions WHERE run_id = "
                                      "?1 AND name = '[unknown]'",
                                      &rc);
    if (rc < 0)
        return rc;
    heading(s, "What to look at next");
    if (s->sample_n < 1000) {
        snprintf(text, sizeof text,
                 "%lld sample%s tell shares apart to about ±%.0f %%: let it run longer, or sample "
                 "with --rate high",
                 (long long)s->sample_n, plural(s->sample_n),
                 s->sample_n ? 98 / sqrt((double)s->sample_n) : 100.0);
        wrap(s, "  - ", text);
    }
    if (parallel >= 15) {
        snprintf(text, sizeof text,
                 "%.0f %% of the time is in the parallel runtimes, most of it waiting: compare the "
                 "threads: assay show %s --view threads",
                 parallel, path);
        wrap(s, "  - ", text);
    }
    if (unnamed >= 10) {
        snprintf(text, sizeof text,
                 "%.0f %% of the time is in code without a name: build with symbols (no -s, no "
                 "strip)",
                 unnamed);
        wrap(s, "  - ", text);
    }
    if (loop > 0) {
        snprintf(text, sizeof text,
                 "the hottest loops with their lines: assay show %s --view loops", path);
        wrap(s, "  - ", text);
    }
    snprintf(text, sizeof text, "who calls what is hot: assay show %s --view callpaths --limit 20",
             path);
    wrap(s, "  - ", text);
    return 0;
}

int as_report_summary(struct assay_experiment *experiment, int64_t run_id,
                      const struct as_summary_style *style, struct as_out *out,
                      struct assay_error *err)
{
    struct assay_error own = {0};
    struct summary s = {.experiment = experiment,
                        .run_id = run_id,
                        .style = *style,
                        .out = out,
                        .err = err ? err : &own};
    s.style.width = style->width ? style->width : 80;
    s.style.rows = style->rows ? style->rows : 10;
    AS_TRY(head(&s));
    if (s.sample_n == 0) {
        wrap(&s, "  ",
             "no samples: it ended before the first, or never used the processor; let it "
             "run longer, or sample with --rate high");
        return trust(&s);
    }
    AS_TRY(categories(&s));
    AS_TRY(balance(&s));
    AS_TRY(functions(&s));
    AS_TRY(loops(&s));
    AS_TRY(trust(&s));
    return next_steps(&s);
}
