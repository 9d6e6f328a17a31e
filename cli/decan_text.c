/* SPDX-License-Identifier: Apache-2.0 */
/* `assay decan` for people: of each hot loop the verdict in a sentence and what its variants took,
 * in 80 columns. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/table.h"
#include "decan_view.h"

static const struct as_column columns[] = {{.title = "variant"},
                                           {.title = "instances", .align = AS_ALIGN_RIGHT},
                                           {.title = "cycles/it", .align = AS_ALIGN_RIGHT},
                                           {.title = "95 %", .align = AS_ALIGN_RIGHT},
                                           {.title = "stability", .align = AS_ALIGN_RIGHT},
                                           {.title = "cycles/inst", .align = AS_ALIGN_RIGHT},
                                           {.title = "as fast", .align = AS_ALIGN_RIGHT}};

/* Three digits that say something. */
static void write_cycles(struct as_table *table, double cycles)
{
    if (isnan(cycles))
        as_table_string(table, NULL);
    else
        as_table_f(table, "%.*f", cycles < 10 ? 2 : cycles < 100 ? 1 : 0, cycles);
}

/* Too few instances have no interval. */
static void write_interval(struct as_table *table, const struct as_decan_measured *take)
{
    const int digits = take->median < 10 ? 2 : take->median < 100 ? 1 : 0;
    if (isnan(take->low) || isnan(take->high))
        as_table_string(table, "?");
    else
        as_table_f(table, "%.*f-%.*f", digits, take->low, digits, take->high);
}

static const char *mark_of(const struct as_decan_measured *take)
{
    return !take->n                                   ? ""
           : take->reliability == AS_DECAN_UNRELIABLE ? "!"
           : take->reliability == AS_DECAN_WEAK       ? "~"
                                                      : "";
}

/* One instance has none. */
static void emit_stability(struct as_table *table, double value)
{
    if (isnan(value))
        as_table_string(table, NULL);
    else
        as_table_f(table, "%.2f", value);
}

static void add_variant_cells(struct as_table *table, const struct as_decan_measured *take)
{
    as_table_string(table, take->variant);
    as_table_f(table, "%u", take->n);
    if (take->n) {
        write_cycles(table, take->median);
        write_interval(table, take);
        emit_stability(table, take->stability);
        as_table_f(table, take->instance < 1e7 ? "%s%.0f" : "%s%.3g", mark_of(take),
                   take->instance);
    } else
        for (unsigned i = 0; i < 4; i++)
            as_table_string(table, NULL);
    if (take->n && !isnan(take->speedup))
        as_table_f(table, "%.2f x", take->speedup);
    else
        as_table_string(table, NULL);
}

/* Appends a sentence for missing variants, those with one reason together. */
static void append_missing(const struct as_decan_bucket *bucket, struct as_str *text)
{
    bool told[AS_DECAN_TAKES_MOST] = {false};
    for (size_t i = 0; i < bucket->take_n; i++) {
        const char *reason = bucket->take[i].reason;
        if (!reason || told[i])
            continue;
        as_str_appendz(text, text->n ? "; " : "Not there: ");
        for (size_t k = i; k < bucket->take_n; k++) {
            const char *other = bucket->take[k].reason;
            if (!other || strcmp(other, reason) != 0)
                continue;
            as_str_appendf(text, "%s%s", k > i ? ", " : "", bucket->take[k].variant);
            told[k] = true;
        }
        as_str_appendf(text, " (%s)", reason);
    }
    if (text->n)
        as_str_appendz(text, ".");
}

static void append_bits(const struct as_decan_bucket *bucket, struct as_str *text)
{
    bool decides = false;
    const char *blank = text->n ? " " : "";
    for (size_t i = 0; i < bucket->take_n; i++)
        decides |= bucket->take[i].decides;
    if (decides)
        as_str_appendf(text, "%sIts branches depend on memory, so all variants keep these loads.",
                       blank);
    for (size_t i = 0; i < bucket->take_n; i++)
        if (bucket->take[i].n && bucket->take[i].chains)
            as_str_appendf(text, "%s%s leaves out loads that addresses depend on.",
                           text->n ? " " : "", bucket->take[i].variant);
}

static int print_takes(struct as_decan_view *view, const struct as_decan_bucket *bucket,
                       struct as_error *err)
{
    struct as_table table;
    struct as_str rest = {0};
    as_table_init(&table, columns, sizeof columns / sizeof *columns);
    table.indent = 2;
    for (size_t i = 0; i < bucket->take_n; i++)
        if (bucket->take[i].n)
            add_variant_cells(&table, &bucket->take[i]);
    const int rc = as_table_print(&table, &view->cli->out, as_cli_table_width(view->cli),
                                  view->cli->color, err);
    as_table_fini(&table);
    append_missing(bucket, &rest);
    append_bits(bucket, &rest);
    if (rest.n)
        as_cli_wrapped(view->cli, "  ", "%s", as_str_z(&rest));
    as_str_fini(&rest);
    return rc;
}

static void append_range(const struct as_decan_bucket *it, struct as_str *out)
{
    if (it->high - it->low > 1)
        as_str_appendf(out, "%.0f to %.0f iterations", it->low, it->high - 1);
    else
        as_str_appendf(out, "%.0f iterations", it->low);
}

/* The other buckets, a line each. */
static void print_others(struct as_decan_view *view, const struct as_decan_loop *loop)
{
    for (size_t i = 0; i < loop->bucket_n; i++) {
        const struct as_decan_bucket *it = &loop->bucket[i];
        struct as_str line = {0};
        if (i == loop->main)
            continue;
        as_str_appendz(&line, "With ");
        append_range(it, &line);
        if (!isnan(it->share))
            as_str_appendf(&line, " (%.0f %% of its time)", 100 * it->share);
        as_str_appendf(&line, ": %s, confidence %s.", it->title, it->confidence);
        as_cli_wrapped(view->cli, "  ", "%s", as_str_z(&line));
        as_str_fini(&line);
    }
}

static int print_loop(struct as_decan_view *view, const struct as_decan_loop *loop,
                      struct as_error *err)
{
    const struct as_decan_bucket *main = &loop->bucket[loop->main];
    struct as_str head = {0};
    AS_TRY(as_decan_view_name(view, loop, err));
    as_str_appendf(&head, "%.1f %%  %s", 100 * loop->share, as_str_z(&view->name));
    if (!loop->reason)
        as_str_appendf(&head, ": %s", main->title);
    as_cli_print(view->cli, "\n");
    as_cli_styled(view->cli, AS_STYLE_BOLD, as_str_z(&head));
    as_cli_print(view->cli, "\n");
    as_str_fini(&head);
    if (loop->reason) {
        as_str_appendf(&head, "Not varied: %s.", loop->reason);
        as_cli_wrapped(view->cli, "  ", "%s", as_str_z(&head));
        as_str_fini(&head);
        return 0;
    }
    as_str_appendf(&head, "%s Confidence %s. Instances of ", main->text, main->confidence);
    append_range(main, &head);
    if (!isnan(main->share))
        as_str_appendf(&head, ", %.0f %% of its time", 100 * main->share);
    as_str_appendz(&head, ".");
    as_cli_wrapped(view->cli, "  ", "%s", as_str_z(&head));
    as_str_fini(&head);
    AS_TRY(print_takes(view, main, err));
    print_others(view, loop);
    return 0;
}

static void print_end(struct as_decan_view *view)
{
    const struct as_decan_result *it = view->result;
    struct as_str text = {0};
    as_str_appendf(&text,
                   "%u run%s with variants, %u instances of each wanted; variants used %.0f %% of "
                   "the CPU time",
                   it->runs, it->runs == 1 ? "" : "s", it->wanted, 100 * it->spent);
    if (it->slowdown > 0)
        as_str_appendf(&text, ", and the program took %.2f times as long as before", it->slowdown);
    as_str_appendf(
        &text,
        ". Cycles are medians with their 95 %% interval (?: too few instances); a cycle took %.3f "
        "ns; as fast: relative to ref. Instances below 250 cycles (!) and 500 cycles (~) are "
        "unreliable. %.1f %% of the time of these loops could not be varied.",
        it->cycle_ns, 100 * it->refused_share);
    if (it->together && it->met > 0)
        as_str_appendf(&text,
                       " %.0f %% of the instances ran while other threads ran the same variant, "
                       "%.1f threads on average.",
                       100 * it->met, it->team);
    else if (it->together)
        as_str_appendz(&text, " No two threads reached a loop at the same time.");
    if (it->lost)
        as_str_appendf(&text, " %llu instances were lost: the buffer was full.",
                       (unsigned long long)it->lost);
    if (it->threads_missed)
        as_str_appendf(&text, " %llu threads were not measured.",
                       (unsigned long long)it->threads_missed);
    as_cli_print(view->cli, "\n");
    as_cli_wrapped(view->cli, "", "%s", as_str_z(&text));
    as_str_fini(&text);
}

int as_decan_text(struct as_decan_view *view, struct as_error *err)
{
    const struct as_decan_result *it = view->result;
    for (size_t i = 0; i < it->loop_n; i++)
        AS_TRY(print_loop(view, &it->loop[i], err));
    if (it->interrupted)
        as_cli_print(view->cli, "interrupted before %s\n",
                     it->runs ? "all instances were measured" : "loops were varied");
    else if (it->loop_n == 0)
        as_cli_print(view->cli, "no loop of the program has samples\n");
    if (it->runs)
        print_end(view);
    return 0;
}
