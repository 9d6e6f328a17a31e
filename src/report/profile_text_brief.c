/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The short summary: the run, its time, the first three findings, and recommended commands. It has
 * at most 30 lines of 80 columns. The `as_summary_*` functions write the complete summary.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/profile_text.h"

#define NOTES_MAX      3
#define FINDINGS_MAX   3
#define FACT_LINES     3
#define ACTION_LINES   2
#define CATEGORIES_MAX 4
#define PART_MIN_PCT   1.0 /* min share of a named category */
#define SAMPLES_HIGH   1000
#define SAMPLES_MEDIUM 100

/* ---- The run ------------------------------------------------------------------------------- */

/* Prints flags that change the meaning of the rest, the most severe first. */
static void emit_warnings(struct as_summary_text *s)
{
    static const char *const names[] = {
        "recording",  "not_attributed", "crashed",   "killed",       "failed",
        "no_samples", "busy_host",      "outlived",  "unseen_time",  "truncated",
        "size_limit", "missed_threads", "throttled", "lost_samples", "missed_processes"};
    unsigned shown = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names && shown < NOTES_MAX; i++) {
        const struct as_profile_flag *flag = as_profile_flag_named(s->profile, names[i]);
        if (!flag)
            continue;
        as_page_style(&s->page, AS_STYLE_YELLOW);
        as_page_wrap(&s->page, "Note: ", flag->text, false);
        as_page_style(&s->page, AS_STYLE_PLAIN);
        shown++;
    }
}

/* Returns the confidence in the shares and gains of the run. */
static const char *confidence_of(const struct as_profile *profile)
{
    static const char *const doubts[] = {"busy_host",   "lost_samples", "overhead",
                                         "unseen_time", "unknown_code", "crashed"};
    const int64_t n = profile->run.sample_n;
    bool is_doubtful = n < SAMPLES_HIGH;

    if (n < SAMPLES_MEDIUM || as_profile_flag_named(profile, "killed") ||
        as_profile_flag_named(profile, "failed"))
        return "low";
    for (size_t i = 0; i < sizeof doubts / sizeof *doubts; i++)
        is_doubtful |= as_profile_flag_named(profile, doubts[i]) != NULL;
    return is_doubtful ? "medium" : "high";
}

static void emit_run(struct as_summary_text *s)
{
    const struct as_profile_run_facts *run = &s->profile->run;
    struct as_str *text = &s->text;

    as_str_clear(text);
    as_str_appendz(text, run->command ? run->command : "an unknown command");
    as_page_style(&s->page, AS_STYLE_BOLD);
    as_page_wrap(&s->page, "", as_str_z(text), false);
    as_page_style(&s->page, AS_STYLE_PLAIN);
    if (run->is_unfinished)
        return;
    as_str_clear(text);
    if (isfinite(run->wall_s))
        as_str_appendf(text, "%.*f s", s->decimals, run->wall_s);
    else
        as_str_appendz(text, "unknown time");
    if (run->state && strcmp(run->state, "complete") != 0)
        as_str_appendf(text, ", %s", run->state);
    if (run->rank_n > 1)
        as_summary_append_count(text, run->rank_n, "rank", "ranks");
    else if (run->process_n > 1)
        as_summary_append_count(text, run->process_n, "process", "processes");
    as_summary_append_count(text, run->thread_n, "thread", "threads");
    as_summary_append_count(text, run->sample_n, "sample", "samples");
    as_str_appendf(text, ", confidence %s", confidence_of(s->profile));
    as_page_wrap(&s->page, "  ", as_str_z(text), false);
}

/* ---- Time --------------------------------------------------------------------------------- */

static void emit_states(struct as_summary_text *s)
{
    const struct as_profile *profile = s->profile;
    const double time_s[] = {profile->running_s, profile->blocked_s, profile->queued_s};
    static const char *const what[] = {"running", "waiting", "ready without a CPU"};
    const double all_s = time_s[0] + time_s[1] + time_s[2];

    if (all_s <= 0 || profile->blocked_s + profile->queued_s <= 0)
        return;
    as_str_clear(&s->text);
    for (int i = 0; i < 3; i++)
        if (time_s[i] >= 0.005 * all_s)
            as_str_appendf(&s->text, "%s%.0f %% %s", s->text.n ? ", " : "", 100 * time_s[i] / all_s,
                           what[i]);
    as_page_wrap(&s->page, "  ", as_str_z(&s->text), false);
}

static const char *shade(const struct as_summary_text *s, size_t i)
{
    static const char *const utf8[] = {"\xe2\x96\x88", "\xe2\x96\x93", "\xe2\x96\x92",
                                       "\xe2\x96\x91", "\xc2\xb7"};
    static const char *const ascii[] = {"#", "=", "+", "-", "."};

    return s->page.utf8 ? utf8[i] : ascii[i];
}

/* Shares of the named categories, the largest first, then the rest. */
struct parts {
    const char *title[CATEGORIES_MAX + 1];
    double pct[CATEGORIES_MAX + 1];
    size_t n;
};

static struct parts parts_of(const struct as_profile *profile)
{
    struct parts out = {.n = 0};
    double rest_pct = 100;

    as_vec_foreach (&profile->category, it)
        if (out.n < CATEGORIES_MAX && it->share.pct >= PART_MIN_PCT) {
            out.title[out.n] = it->title;
            out.pct[out.n++] = it->share.pct;
            rest_pct -= it->share.pct;
        }
    if (rest_pct >= PART_MIN_PCT) {
        out.title[out.n] = "other";
        out.pct[out.n++] = rest_pct;
    }
    return out;
}

static void emit_bar(struct as_summary_text *s)
{
    const struct parts parts = parts_of(s->profile);
    const size_t columns = s->page.width > 64 ? 60 : s->page.width - 4;
    double done_pct = 0;
    size_t column = 0;

    if (!parts.n || s->profile->run.is_unfinished)
        return;
    as_out_z(s->page.out, "  ");
    as_page_style(&s->page, AS_STYLE_CYAN);
    for (size_t i = 0; i < parts.n; i++) {
        done_pct += parts.pct[i];
        for (; column < columns && (double)column + 0.5 < done_pct * (double)columns / 100;
             column++)
            as_out_z(s->page.out, shade(s, i));
    }
    as_page_style(&s->page, AS_STYLE_PLAIN);
    as_out_c(s->page.out, '\n');
    as_str_clear(&s->text);
    for (size_t i = 0; i < parts.n; i++)
        as_str_appendf(&s->text, "%s%s %s %.0f %%", i ? ", " : "", shade(s, i), parts.title[i],
                       parts.pct[i]);
    as_page_wrap(&s->page, "  ", as_str_z(&s->text), false);
}

/* ---- Findings -------------------------------------------------------------------------------- */

/* Returns the length of the first sentence of `text`, plus those that fit `max_b` bytes with it. A
 * sentence ends at a full stop, a blank and a capital letter. */
static size_t sentences(const char *text, size_t max_b)
{
    size_t end = 0;

    for (size_t i = 0; text[i]; i++) {
        const bool is_end =
            text[i] == '.' &&
            (!text[i + 1] || (text[i + 1] == ' ' && isupper((unsigned char)text[i + 2])));
        if (is_end && (!end || i + 1 <= max_b))
            end = i + 1;
        if (end && i > max_b)
            break;
    }
    return end ? end : strlen(text);
}

static void emit_finding(struct as_summary_text *s, int number, const struct as_profile_advice *it)
{
    const size_t line_b = s->page.width - 7;
    const size_t gain_n = strlen(it->gain);
    char first[16];

    as_str_clear(&s->text);
    as_str_appendz(&s->text, it->gain);
    as_str_append(
        &s->text, it->fact,
        sentences(it->fact, gain_n < FACT_LINES * line_b ? FACT_LINES * line_b - gain_n : 0));
    snprintf(first, sizeof first, "  %d. ", number);
    as_page_wrap(&s->page, first, as_str_z(&s->text), false);
    if (!it->action)
        return;
    as_str_clear(&s->text);
    as_str_append(&s->text, it->action, sentences(it->action, ACTION_LINES * line_b));
    as_page_wrap(&s->page, s->page.utf8 ? "     \xe2\x86\x92 " : "     > ", as_str_z(&s->text),
                 false);
}

static size_t emit_findings(struct as_summary_text *s)
{
    const int64_t sample_n = s->profile->run.sample_n;
    size_t shown = 0;

    if (sample_n < SAMPLES_MEDIUM && !s->profile->run.is_unfinished) {
        as_str_clear(&s->text);
        as_str_appendf(&s->text,
                       "Too few samples for advice (%lld): run it longer, or use --rate high.",
                       (long long)sample_n);
        as_out_c(s->page.out, '\n');
        as_page_wrap(&s->page, "  ", as_str_z(&s->text), false);
        return 0;
    }
    as_vec_foreach (&s->profile->advice, it) {
        if (it->is_small || shown == FINDINGS_MAX)
            continue;
        if (!shown)
            as_page_heading(&s->page, "Recommendations");
        emit_finding(s, (int)++shown, it);
    }
    return shown;
}

static void emit_next(struct as_summary_text *s, size_t shown)
{
    const struct as_profile *profile = s->profile;
    const size_t more = profile->finding_n - shown;
    struct as_str *text = &s->text;

    as_out_c(s->page.out, '\n');
    as_str_clear(text);
    if (profile->all)
        as_str_appendf(text, "%s", profile->all);
    if (more)
        as_str_appendf(text, "   # %zu more finding%s, functions, loops, metrics", more,
                       more == 1 ? "" : "s");
    else
        as_str_appendz(text, "   # functions, loops, metrics");
    as_page_wrap(&s->page, "  ", as_str_z(text), true);
    for (size_t i = 0; i < profile->advice.n && shown; i++)
        if (profile->advice.at[i].command && !profile->advice.at[i].is_small) {
            as_page_wrap(&s->page, "  ", profile->advice.at[i].command, true);
            break;
        }
    if (profile->run.is_unfinished && profile->command.n)
        as_page_wrap(&s->page, "  ", profile->command.at[0], true);
}

void as_summary_brief(struct as_summary_text *s)
{
    emit_warnings(s);
    emit_run(s);
    emit_states(s);
    emit_bar(s);
    emit_next(s, emit_findings(s));
}
