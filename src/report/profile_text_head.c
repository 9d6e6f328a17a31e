/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head of the summary: the run, its program and host, and how it was sampled, one line each.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/profile_text.h"

static void print_line(struct as_summary_text *s, const char *label)
{
    char first[16];

    snprintf(first, sizeof first, "  %-10s", label);
    as_page_wrap(&s->page, first, as_str_z(&s->text), false);
}

void as_summary_append_count(struct as_str *text, int64_t n, const char *one, const char *many)
{
    as_str_appendf(text, "%s%lld %s", text->n ? ", " : "", (long long)n, n == 1 ? one : many);
}

static void head_run(struct as_summary_text *s)
{
    const struct as_profile_run_facts *run = &s->profile->run;

    as_str_clear(&s->text);
    as_str_appendf(&s->text, "%lld", (long long)run->run_id);
    if (run->run_n > 1)
        as_str_appendf(&s->text, " of %lld", (long long)run->run_n);
    if (run->label)
        as_str_appendf(&s->text, " (%s)", run->label);
    as_str_appendf(&s->text, ", %s", run->state ? run->state : "state unknown");
    if (run->start_utc)
        as_str_appendf(&s->text, ", started %s", run->start_utc);
    if (!isnan(run->wall_s))
        as_str_appendf(&s->text, ", took %.*f s", s->decimals, run->wall_s);
    if (run->exit_signal > 0)
        as_str_appendf(&s->text, ", killed by SIG%s",
                       sigabbrev_np((int)run->exit_signal) ? sigabbrev_np((int)run->exit_signal)
                                                           : "?");
    else if (run->exit_code >= 0)
        as_str_appendf(&s->text, ", exit code %lld", (long long)run->exit_code);
    print_line(s, "Run");
}

static void head_program(struct as_summary_text *s)
{
    const struct as_profile_run_facts *run = &s->profile->run;

    as_str_clear(&s->text);
    if (run->is_unfinished)
        as_str_appendz(&s->text, "not known yet");
    if (run->rank_n)
        as_summary_append_count(&s->text, run->rank_n, "rank", "ranks");
    if (!run->is_unfinished) {
        as_summary_append_count(&s->text, run->process_n, "process", "processes");
        as_summary_append_count(&s->text, run->thread_n, "thread", "threads");
    }
    if (run->launcher)
        as_str_appendf(&s->text, "; launcher: %s", run->launcher);
    print_line(s, "Program");
    as_str_clear(&s->text);
    if (!run->host)
        return;
    as_str_appendz(&s->text, run->host);
    if (run->host_n > 1)
        as_str_appendf(&s->text, " and %lld more", (long long)run->host_n - 1);
    if (run->cpu_model)
        as_str_appendf(&s->text, ": %s", run->cpu_model);
    if (run->core_n)
        as_summary_append_count(&s->text, run->core_n, "core", "cores");
    if (run->cpu_n)
        as_summary_append_count(&s->text, run->cpu_n, "CPU", "CPUs");
    print_line(s, "Host");
}

static const char *stacks_word(const char *word)
{
    static const char *const words[][2] = {{"fp", "call stacks by frame pointers"},
                                           {"dwarf", "call stacks by unwind tables"},
                                           {"lbr", "call stacks by branch records"},
                                           {"off", "no call stacks"}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i][0]) == 0)
            return words[i][1];
    return word;
}

static void head_sampling(struct as_summary_text *s)
{
    const struct as_profile_run_facts *run = &s->profile->run;
    const int64_t all = run->sample_n + run->lost_n;

    as_str_clear(&s->text);
    as_str_appendz(&s->text, run->event ? run->event : "unknown event");
    if (run->rate_hz)
        as_str_appendf(&s->text, " at %lld Hz", (long long)run->rate_hz);
    if (run->scope)
        as_str_appendf(&s->text, ", %s", run->scope);
    if (run->call_stacks)
        as_str_appendf(&s->text, ", %s", stacks_word(run->call_stacks));
    /* The flag with this name repeats it among the caveats. */
    if (run->event_reason && !as_profile_flag_named(s->profile, "event_fallback"))
        as_str_appendf(&s->text, "; why this event: %s", run->event_reason);
    print_line(s, "Sampling");
    if (run->is_unfinished)
        return;
    as_str_clear(&s->text);
    as_str_appendf(&s->text, "%lld, for %.*f s of running threads", (long long)run->sample_n,
                   s->decimals, run->sampled_s);
    if (as_profile_is_partial(s->profile))
        as_str_appendf(&s->text, " of %.*f s", s->decimals, run->cpu_s);
    if (run->lost_n)
        as_str_appendf(&s->text, "; %lld lost (%.1f %%)", (long long)run->lost_n,
                       100.0 * (double)run->lost_n / (double)all);
    else
        as_str_appendz(&s->text, "; none lost");
    if (!isnan(run->overhead_pct))
        as_str_appendf(&s->text, "; overhead %.1f %%", run->overhead_pct);
    print_line(s, "Samples");
}

/* Warns of external load, as all verbs that measure time do first. */
static void warn_of_load(struct as_summary_text *s)
{
    const struct as_profile_flag *flag = as_profile_flag_named(s->profile, "busy_host");

    if (!flag)
        return;
    as_page_wrap(&s->page, "", flag->text, false);
    as_out_c(s->page.out, '\n');
}

void as_summary_head(struct as_summary_text *s)
{
    const struct as_profile_run_facts *run = &s->profile->run;

    warn_of_load(s);
    as_page_style(&s->page, AS_STYLE_BOLD);
    as_page_wrap(&s->page,
                 run->kind && strcmp(run->kind, "import") == 0 ? "Import of "
                 : as_profile_is_trace(s->profile)             ? "Trace of "
                                                               : "Profile of ",
                 run->command ? run->command : "an unknown command", false);
    as_page_style(&s->page, AS_STYLE_PLAIN);
    as_out_c(s->page.out, '\n');
    head_run(s);
    head_program(s);
    if (run->event || !as_profile_is_trace(s->profile)) /* an imported trace was not sampled */
        head_sampling(s);
}
