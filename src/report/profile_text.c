/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of a profile as text of a given width. profile.h has the content; this file only
 * formats it. Wide pages show more columns, narrow ones shorten names.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/short_name.h"
#include "report/profile_text.h"
#include "report/report.h"

#define WIDE 100 /* min columns for complete tables */
#define BAR  24

/* ---- Cells -------------------------------------------------------------------------------- */

static void seconds(const struct as_summary_text *s, struct as_table *table, double value)
{
    if (isnan(value))
        as_table_string(table, NULL);
    else
        as_table_f(table, "%.*f", s->decimals, value);
}

/* Adds per cent and half of the interval. A value from few samples gets a question mark. */
static void append_share(struct as_table *table, const struct as_share *it)
{
    as_table_f(table, "%.1f%s", it->pct, it->few_samples ? "?" : "");
    as_table_f(table, "%.1f", (it->high_pct - it->low_pct) / 2);
}

static void bar(struct as_summary_text *s, struct as_table *table, double part)
{
    as_str_clear(&s->text);
    as_page_bar(&s->page, &s->text, part, BAR);
    as_table_string(table, as_str_z(&s->text));
}

static void source(struct as_summary_text *s, struct as_table *table, const char *file,
                   int64_t first, int64_t last)
{
    as_str_clear(&s->text);
    if (file) {
        as_str_appendz(&s->text, as_path_last(file));
        if (first)
            as_str_appendf(&s->text, ":%lld", (long long)first);
        if (first && last && last != first)
            as_str_appendf(&s->text, "-%lld", (long long)last);
    }
    as_table_string(table, as_str_z(&s->text));
}

/* Adds a name. Template and parameter lists are shortened first. `into`: the functions it is
 * inlined into, outermost first, shown on wide pages; NULL: not inlined. */
static void name(struct as_summary_text *s, struct as_table *table, const char *z, const char *into)
{
    as_str_clear(&s->text);
    as_short_name(&s->text, z, s->page.width / 2);
    if (into && *into && s->page.width >= WIDE)
        as_str_appendf(&s->text, " (inlined into %.*s)", (int)strcspn(into, ";("), into);
    else if (into)
        as_str_appendz(&s->text, " (inlined)");
    as_table_string(table, as_str_z(&s->text));
}

static const char *plus_minus(const struct as_summary_text *s)
{
    return s->page.utf8 ? "\xc2\xb1" : "+-";
}

/* ---- Time --------------------------------------------------------------------------------- */

static int print_categories(struct as_summary_text *s, struct as_error *err)
{
    const struct as_column columns[] = {
        {.title = "category", .shrink = AS_SHRINK_END},
        {.title = "time %", .align = AS_ALIGN_RIGHT},
        {.title = plus_minus(s), .align = AS_ALIGN_RIGHT},
        {.title = "time s", .align = AS_ALIGN_RIGHT},
        {.title = "wait s", .align = AS_ALIGN_RIGHT},
        {.title = NULL, .style = AS_STYLE_CYAN},
    };
    struct as_table table;

    if (!s->profile->category.n)
        return 0;
    as_str_clear(&s->text);
    if (as_profile_is_partial(s->profile))
        as_str_appendf(&s->text, "Sampled time: %.0f %% of the total",
                       100 * (1 - s->profile->run.unseen_s / s->profile->run.cpu_s));
    as_page_heading(&s->page, s->text.n ? as_str_z(&s->text) : "Where the time went");
    as_page_table_begin(&s->page, &table, columns, sizeof columns / sizeof *columns);
    as_vec_foreach (&s->profile->category, it) {
        as_table_string(&table, it->title);
        append_share(&table, &it->share);
        seconds(s, &table, it->share.time_s);
        seconds(s, &table, it->blocked_s > 0 ? it->blocked_s : NAN);
        bar(s, &table, it->share.pct / 100);
    }
    return as_page_table_end(&s->page, &table, err);
}

static int print_waiting(struct as_summary_text *s, struct as_error *err)
{
    const struct as_column columns[] = {
        {.title = NULL},
        {.title = NULL, .align = AS_ALIGN_RIGHT},
        {.title = NULL, .align = AS_ALIGN_RIGHT},
        {.title = NULL, .style = AS_STYLE_CYAN},
    };
    struct as_profile *profile = s->profile;
    const double time_s[] = {profile->running_s, profile->blocked_s, profile->queued_s};
    static const char *const what[] = {"running", "waiting", "waiting for a CPU"};
    const double all = time_s[0] + time_s[1] + time_s[2];
    struct as_table table;

    if (all <= 0)
        return 0;
    as_page_heading(&s->page, "Running and waiting");
    if (profile->blocked_s + profile->queued_s + profile->idle_s <= 0) {
        as_page_wrap(&s->page, "  ",
                     "Waiting was not recorded, or there was none: all times are running time.",
                     false);
        return 0;
    }
    as_page_table_begin(&s->page, &table, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < 3; i++) {
        if (i && time_s[i] < 0.0005 * all)
            continue; /* it would be 0.0 %, or it was not recorded */
        as_table_string(&table, what[i]);
        as_table_f(&table, "%.*f s", s->decimals, time_s[i]);
        as_table_f(&table, "%.1f %%", 100 * time_s[i] / all);
        bar(s, &table, time_s[i] / all);
    }
    AS_TRY(as_page_table_end(&s->page, &table, err));
    if (profile->idle_s > 0) {
        as_str_clear(&s->text);
        as_str_appendf(&s->text, "%lld more thread%s (idle, or of launchers) waited %.*f s.",
                       (long long)profile->idle_n, profile->idle_n == 1 ? "" : "s", s->decimals,
                       profile->idle_s);
        as_page_wrap(&s->page, "  ", as_str_z(&s->text), false);
    }
    return 0;
}

static void amount(struct as_table *table, const struct as_profile_count *it, double value)
{
    if (isnan(value))
        as_table_string(table, "");
    else if (strcmp(it->unit, "ns") == 0)
        as_table_f(table, "%.3f s", value / 1e9);
    else
        as_table_f(table, "%.0f", value);
}

/* Prints the events that the user requested with --events. */
static int print_counts(struct as_summary_text *s, struct as_error *err)
{
    const struct as_column columns[] = {
        {.title = "event", .shrink = AS_SHRINK_END, .least = 20},
        {.title = "count", .align = AS_ALIGN_RIGHT},
        {.title = "a second", .align = AS_ALIGN_RIGHT},
        {.title = "most in a thread", .align = AS_ALIGN_RIGHT},
    };
    const double wall_s = s->profile->run.wall_s;
    struct as_table table;

    if (!s->profile->count.n)
        return 0;
    as_page_heading(&s->page, "Counted events");
    as_page_table_begin(&s->page, &table, columns, sizeof columns / sizeof *columns);
    as_vec_foreach (&s->profile->count, it) {
        as_table_f(&table, "%s%s", it->name, it->is_exact ? "" : " (estimated)");
        amount(&table, it, it->value);
        if (wall_s > 0)
            amount(&table, it, it->value / wall_s);
        else
            as_table_string(&table, "");
        amount(&table, it, it->most);
    }
    return as_page_table_end(&s->page, &table, err);
}

/* Removes a column on a narrow page. `*n` is the number of remaining columns. */
static bool only_wide(const struct as_summary_text *s, struct as_column *columns, size_t *n,
                      size_t at)
{
    if (s->page.width >= WIDE)
        return true;
    memmove(columns + at, columns + at + 1, (*n - at - 1) * sizeof *columns);
    --*n;
    return false;
}

static int print_balance(struct as_summary_text *s, struct as_error *err)
{
    struct as_column columns[] = {
        {.title = "of", .shrink = AS_SHRINK_END, .least = 18},
        {.title = "n", .align = AS_ALIGN_RIGHT},
        {.title = "min s", .align = AS_ALIGN_RIGHT},
        {.title = "mean s", .align = AS_ALIGN_RIGHT},
        {.title = "max s", .align = AS_ALIGN_RIGHT},
        {.title = "deviation s", .align = AS_ALIGN_RIGHT},
        {.title = "balance %", .align = AS_ALIGN_RIGHT},
        {.title = "longest", .shrink = AS_SHRINK_END},
    };
    size_t n = sizeof columns / sizeof *columns;
    const bool deviation = only_wide(s, columns, &n, 5);
    struct as_table table;

    if (!s->profile->spread.n)
        return 0;
    as_page_heading(&s->page, "Balance of load");
    as_page_table_begin(&s->page, &table, columns, n);
    as_vec_foreach (&s->profile->spread, it) {
        as_table_f(&table, "%s, %s", it->over, it->is_work ? "own work" : "all time");
        as_table_u64(&table, it->n);
        seconds(s, &table, it->min_s);
        seconds(s, &table, it->mean_s);
        seconds(s, &table, it->max_s);
        if (deviation)
            seconds(s, &table, it->deviation_s);
        if (isnan(it->balance_pct))
            as_table_string(&table, NULL);
        else
            as_table_f(&table, "%.1f", it->balance_pct);
        as_table_string(&table, it->slowest);
    }
    return as_page_table_end(&s->page, &table, err);
}

/* ---- Functions and loops ------------------------------------------------------------------ */

static void amounts(struct as_summary_text *s, struct as_table *table, const struct as_share *self,
                    const struct as_share *total)
{
    append_share(table, self);
    seconds(s, table, self->time_s);
    if (s->page.width >= WIDE)
        as_table_f(table, "%.1f", total->pct);
}

/* Prints the shares of functions of the binary with everything inlined into them. */
static void print_binary(struct as_summary_text *s)
{
    if (!s->profile->binary.n)
        return;
    as_str_clear(&s->text);
    as_str_appendz(&s->text, "Including inlined functions:");
    for (size_t i = 0; i < s->profile->binary.n; i++) {
        const struct as_profile_binary *it = &s->profile->binary.at[i];

        as_str_appendz(&s->text, i ? ", " : " ");
        as_short_name(&s->text, it->name, s->page.width / 2);
        as_str_appendf(&s->text, " %.1f %%", it->pct);
    }
    as_str_appendz(&s->text, ".");
    as_page_wrap(&s->page, "  ", as_str_z(&s->text), false);
}

static int print_functions(struct as_summary_text *s, struct as_error *err)
{
    struct as_column columns[] = {
        {.title = "self %", .align = AS_ALIGN_RIGHT},
        {.title = plus_minus(s), .align = AS_ALIGN_RIGHT},
        {.title = "self s", .align = AS_ALIGN_RIGHT},
        {.title = "total %", .align = AS_ALIGN_RIGHT},
        {.title = "function",
         .shrink = AS_SHRINK_MIDDLE,
         .least = 16,
         .style = AS_STYLE_BOLD,
         .shorten = as_short_name},
        {.title = "module", .shrink = AS_SHRINK_END},
        {.title = "source", .shrink = AS_SHRINK_START},
    };
    size_t n = sizeof columns / sizeof *columns;
    struct as_table table;

    only_wide(s, columns, &n, 3);
    if (!s->profile->function.n)
        return 0;
    as_page_heading(&s->page, "Hottest functions");
    as_page_table_begin(&s->page, &table, columns, n);
    as_vec_foreach (&s->profile->function, it) {
        amounts(s, &table, &it->self, &it->total);
        name(s, &table, it->name, it->is_inlined ? "" : NULL);
        as_table_string(&table, it->module);
        source(s, &table, it->file, it->line, 0);
    }
    AS_TRY(as_page_table_end(&s->page, &table, err));
    print_binary(s);
    return 0;
}

static int print_loops(struct as_summary_text *s, struct as_error *err)
{
    struct as_column columns[] = {
        {.title = "self %", .align = AS_ALIGN_RIGHT},
        {.title = plus_minus(s), .align = AS_ALIGN_RIGHT},
        {.title = "self s", .align = AS_ALIGN_RIGHT},
        {.title = "total %", .align = AS_ALIGN_RIGHT},
        {.title = "depth", .align = AS_ALIGN_RIGHT},
        {.title = "role"},
        {.title = "function",
         .shrink = AS_SHRINK_MIDDLE,
         .least = 16,
         .style = AS_STYLE_BOLD,
         .shorten = as_short_name},
        {.title = "source", .shrink = AS_SHRINK_START, .least = 12},
    };
    size_t n = sizeof columns / sizeof *columns;
    struct as_table table;

    only_wide(s, columns, &n, 3);
    if (!s->profile->loop.n)
        return 0;
    as_page_heading(&s->page, "Hottest loops");
    as_page_table_begin(&s->page, &table, columns, n);
    as_vec_foreach (&s->profile->loop, it) {
        amounts(s, &table, &it->self, &it->total);
        as_table_u64(&table, (uint64_t)it->depth);
        as_table_string(&table, it->role);
        name(s, &table, it->function, it->inlined_into);
        if (it->file)
            source(s, &table, it->file, it->first_line, it->last_line);
        else
            as_table_string(&table, it->address);
    }
    return as_page_table_end(&s->page, &table, err);
}

/* ---- Metrics ------------------------------------------------------------------------------ */

/* Prints a figure: one decimal for per cent, otherwise three digits in total. */
static void figure(struct as_table *table, const char *unit, double value)
{
    if (strcmp(unit, "%") == 0)
        as_table_f(table, "%.1f %%", value);
    else
        as_table_f(table, "%.3g%s%s", value, strcmp(unit, "1") == 0 ? "" : " ",
                   strcmp(unit, "1") == 0 ? "" : unit);
}

/* Prints an interval, unless both ends have the same text. */
static void interval(struct as_table *table, double low, double high)
{
    char from[32], to[32];

    snprintf(from, sizeof from, "%.3g", low);
    snprintf(to, sizeof to, "%.3g", high);
    if (strcmp(from, to) != 0)
        as_table_f(table, "%s-%s", from, to);
    else
        as_table_string(table, NULL);
}

static enum as_style style_of(const char *rating)
{
    return strcmp(rating, "good") == 0   ? AS_STYLE_GREEN
           : strcmp(rating, "fair") == 0 ? AS_STYLE_YELLOW
                                         : AS_STYLE_RED;
}

/* Prints the rated metrics that `wants` selects, under a title. */
static int print_chosen_metrics(struct as_summary_text *s, const char *title,
                                bool (*wants)(const struct as_profile_metric *),
                                struct as_error *err)
{
    static const struct as_column columns[] = {
        {.title = "metric", .shrink = AS_SHRINK_END, .least = 24},
        {.title = "value", .align = AS_ALIGN_RIGHT},
        {.title = "95 % interval", .align = AS_ALIGN_RIGHT},
        {.title = "rating"},
    };
    struct as_table table;
    size_t n = 0;

    as_vec_foreach (&s->profile->metric, it)
        n += wants(it);
    if (!n)
        return 0;
    as_page_heading(&s->page, title);
    as_page_table_begin(&s->page, &table, columns, sizeof columns / sizeof *columns);
    as_vec_foreach (&s->profile->metric, it) {
        if (!wants(it))
            continue;
        as_table_string(&table, it->title);
        figure(&table, it->unit, it->value);
        interval(&table, it->low, it->high);
        as_table_string(&table, it->rating);
        as_table_style(&table, style_of(it->rating));
    }
    return as_page_table_end(&s->page, &table, err);
}

static bool is_any_metric(const struct as_profile_metric *metric)
{
    (void)metric;
    return true;
}

static bool is_efficiency(const struct as_profile_metric *metric)
{
    return metric->is_efficiency;
}

static bool is_other_metric(const struct as_profile_metric *metric)
{
    return !metric->is_efficiency;
}

/* ---- All ----------------------------------------------------------------------------------- */

static int decimals_for(double seconds)
{
    return seconds >= 1000 ? 1 : seconds >= 10 ? 2 : 3;
}

static int print(struct as_summary_text *s, struct as_error *err)
{
    const bool is_trace = as_profile_is_trace(s->profile);

    as_summary_head(s);
    if (is_trace) {
        AS_TRY(print_chosen_metrics(s, "Efficiency", is_efficiency, err));
        AS_TRY(as_summary_trace(s, err));
    }
    AS_TRY(print_categories(s, err));
    AS_TRY(print_waiting(s, err));
    if (!is_trace || s->profile->run.sample_n) /* an imported trace has no samples */
        AS_TRY(print_balance(s, err));
    AS_TRY(print_counts(s, err));
    AS_TRY(print_functions(s, err));
    AS_TRY(print_loops(s, err));
    AS_TRY(
        print_chosen_metrics(s, "Global metrics", is_trace ? is_other_metric : is_any_metric, err));
    AS_TRY(as_summary_gains(s, err));
    as_summary_flags(s);
    as_summary_advice(s);
    return 0;
}

int as_report_profile(struct as_experiment *experiment, int64_t run_id,
                      const struct as_report_text_options *options, struct as_out *out,
                      struct as_error *err)
{
    const unsigned width = options->width ? options->width : 80;
    struct as_profile profile;
    struct as_summary_text s = {
        .page = {out, width < 40 ? 40 : width, options->colour, options->utf8},
        .profile = &profile,
    };
    int rc = as_profile_read(experiment, run_id, options->rows, options->no_inline, &profile, err);

    if (rc == 0) {
        s.decimals = decimals_for(profile.run.sampled_s);
        if (!options->brief)
            rc = print(&s, err);
        else {
            as_summary_brief(&s);
            rc = print_counts(&s, err);
        }
        if (rc == 0 && s.text.failed)
            rc = as_error_nomem(err, "the summary");
    }
    as_str_fini(&s.text);
    as_profile_release(&profile);
    return rc;
}
