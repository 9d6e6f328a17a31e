/* SPDX-License-Identifier: Apache-2.0 */
/* The what-ifs of a run as a table of its summary. */
#include "report/profile_text.h"

static void gain_row(struct as_summary_text *s, struct as_table *table,
                     const struct as_profile_gain *it)
{
    const char *most = !it->is_bound ? "" : s->page.utf8 ? "\u2264 " : "<= ";

    as_table_string(table, it->title);
    as_table_f(table, "%s%.*f", most, s->decimals, it->gain_s);
    as_table_f(table, "%s%.2f", most, it->speedup);
    if (it->object_n)
        as_table_f(table, "%lld", (long long)it->to_80_n);
    else
        as_table_string(table, NULL);
}

/* Shorter queueing, as a share of the running time, changes no bound that is shown. */
#define LEAST_QUEUED 0.02

/* Explains how bounds count the time in which threads queued for CPUs. */
static void explain_queueing(struct as_summary_text *s)
{
    const struct as_profile *profile = s->profile;

    if (profile->unqueued_n) {
        as_page_wrap(&s->page, "  ",
                     "The time that threads waited for a CPU is unknown. The bounds assume that "
                     "all waiting shrinks with the work.",
                     false);
    } else if (profile->queued_s > LEAST_QUEUED * profile->running_s) {
        as_str_clear(&s->text);
        as_str_appendf(&s->text,
                       "Threads waited %.*f s for a CPU. The gains of loops assume that this "
                       "waiting shrinks in proportion to the work.",
                       s->decimals, profile->queued_s);
        as_page_wrap(&s->page, "  ", as_str_z(&s->text), false);
    }
}

int as_summary_gains(struct as_summary_text *s, struct as_error *err)
{
    static const struct as_column columns[] = {
        {.title = "if it had", .shrink = AS_SHRINK_END, .least = 24},
        {.title = "gain s", .align = AS_ALIGN_RIGHT},
        {.title = "times as fast", .align = AS_ALIGN_RIGHT},
        {.title = "loops for 80 %", .align = AS_ALIGN_RIGHT},
    };
    struct as_table table;
    bool any_bound = false;

    if (!s->profile->gain.n)
        return 0;
    as_page_heading(&s->page, "Upper bounds of gains");
    as_table_init(&table, columns, sizeof columns / sizeof *columns);
    table.indent = 2;
    table.ascii = !s->page.utf8;
    as_vec_foreach (&s->profile->gain, it) {
        gain_row(s, &table, it);
        any_bound |= it->is_bound;
    }
    const int rc = as_table_print(&table, s->page.out, s->page.width, s->page.colour, err);
    as_table_fini(&table);
    if (rc == 0 && any_bound)
        as_page_wrap(&s->page, "  ",
                     s->page.utf8 ? "\u2264: no lower bound is known, because the memory level of "
                                    "the data is unknown."
                                  : "<=: no lower bound is known, because the memory level of the "
                                    "data is unknown.",
                     false);
    if (rc == 0 && any_bound)
        explain_queueing(s);
    return rc;
}
