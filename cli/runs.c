/* SPDX-License-Identifier: Apache-2.0 */
/* Notes on the runs of a program; see runs.h. */
#include "runs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

static const char *words_of_kind(const char *kind)
{
    static const struct {
        const char *kind, *words;
    } known[] = {{"vprof", "timed loops"},
                 {"decan", "variants of loops"},
                 {"count", "counts"},
                 {"probe", "probes"}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].kind, kind) == 0)
            return known[i].words;
    return kind;
}

void as_run_time_left(char *text, size_t text_b, double past_s, size_t begun, size_t left)
{
    const double left_s = begun ? past_s / (double)begun * (double)left : 0;

    if (!begun)
        text[0] = '\0';
    else if (left_s >= 120)
        snprintf(text, text_b, ", about %.0f minutes left", ceil(left_s / 60));
    else
        snprintf(text, text_b, ", about %.0f s left", ceil(left_s));
}

static void report_run(void *context, const char *kind)
{
    struct as_run_count *count = context;
    const double past_s = (double)((uint64_t)as_monotonic_ns() - count->start_ns) / 1e9;
    const bool is_known = count->min == count->max;
    char left[64];

    if (count->begun >= count->max) /* more than was planned */
        count->max = count->begun + 1;
    as_run_time_left(left, sizeof left, past_s, count->begun, count->max - count->begun);
    if (count->stage)
        as_stage_pause(count->stage);
    as_cli_note(count->cli, "%s %u of %s%u: %s%s", count->is_attached ? "measurement" : "run",
                count->begun + 1, is_known ? "" : "at most ", count->max, words_of_kind(kind),
                left);
    count->begun++;
}

static void append_range(struct as_str *out, unsigned min, unsigned max)
{
    if (min == max)
        as_str_appendf(out, "%u", max);
    else
        as_str_appendf(out, "%u to %u", min, max);
}

void as_run_count_begin(struct as_run_count *count, const struct as_cli *cli,
                        const struct as_run_part *part, size_t part_n,
                        struct as_profile_request *request)
{
    struct as_str all = {0}, parts = {0};
    const char *const *command = request->command; /* NULL: a process that runs */

    *count = (struct as_run_count){.cli = cli,
                                   .stage = count->stage,
                                   .is_attached = !command,
                                   .start_ns = (uint64_t)as_monotonic_ns()};
    for (size_t i = 0; i < part_n; i++) {
        count->min += part[i].min;
        count->max += part[i].max;
        as_str_appendf(&parts, "%s%s", i ? ", " : "", words_of_kind(part[i].kind));
        if (part[i].max > 1) {
            as_str_appendz(&parts, " (");
            append_range(&parts, part[i].min, part[i].max);
            as_str_appendz(&parts, ")");
        }
    }
    append_range(&all, count->min, count->max);
    if (!command)
        as_cli_note(cli, "%s measurements of process %d, %g s each: %s", as_str_z(&all),
                    (int)request->pid, request->duration_s, as_str_z(&parts));
    else
        as_cli_note(cli, "%s run%s of %s: %s", as_str_z(&all), count->max == 1 ? "" : "s",
                    command[0], as_str_z(&parts));
    as_str_fini(&all);
    as_str_fini(&parts);
    if (count->max == 1)
        return;
    request->begins = report_run;
    request->begins_context = count;
}
