/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_range.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "report/queries.h"
#include "units.h"

#define SECONDS_MOST 1e9

/* Returns whether the text is a number with a unit of time or none. */
static bool read_moment(const char *text, double *seconds)
{
    static const struct as_unit_factor units[] = {
        {"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
    return (isdigit((unsigned char)*text) || *text == '.') &&
           as_unit_parse(text, units, sizeof units / sizeof *units, seconds) && *seconds >= 0 &&
           *seconds <= SECONDS_MOST;
}

/* Splits "step:3"; a name without a number is a region too. */
static int read_region(const char *text, struct as_str *name, struct as_range_edge *out)
{
    const char *colon = strrchr(text, ':');
    char *end = NULL;
    size_t n = strlen(text);
    if (colon && isdigit((unsigned char)colon[1])) {
        const unsigned long long call = strtoull(colon + 1, &end, 10);
        if (*end || call == 0)
            return AS_ERR_USAGE;
        out->call = call;
        n = (size_t)(colon - text);
    }
    if (n == 0)
        return AS_ERR_USAGE;
    as_str_append(name, text, n);
    out->kind = AS_RANGE_REGION;
    out->region = as_str_z(name);
    return name->failed ? AS_ERR_NOMEM : 0;
}

static int parse_range_edge(const char *option, const char *text, struct as_str *name,
                            struct as_range_edge *out, struct as_error *err)
{
    double seconds;
    if (!text)
        return 0;
    if (read_moment(text, &seconds)) {
        *out = (struct as_range_edge){.kind = AS_RANGE_TIME, .ns = (int64_t)(seconds * 1e9 + 0.5)};
        return 0;
    }
    const bool is_number = isdigit((unsigned char)*text) || strchr("-+.", *text);
    const int rc = is_number ? AS_ERR_USAGE : read_region(text, name, out);
    if (rc == AS_ERR_NOMEM)
        return as_error_nomem(err, option);
    return rc < 0 ? as_error_set(err, AS_ERR_USAGE,
                                 "%s: invalid value '%s'; use a time such as 1.5 or 200ms, a "
                                 "region, or REGION:N",
                                 option, text)
                  : 0;
}

int as_trace_range_parse(const struct as_arguments *args, struct as_trace_range_texts *texts,
                         struct as_range_wanted *out, struct as_error *err)
{
    *texts = (struct as_trace_range_texts){0};
    *out = (struct as_range_wanted){0};
    AS_TRY(parse_range_edge("--from", args->value[AS_OPTION_TRACE_FROM], &texts->from, &out->from,
                            err));
    AS_TRY(parse_range_edge("--to", args->value[AS_OPTION_TRACE_TO], &texts->to, &out->to, err));
    if (out->from.kind == AS_RANGE_TIME && out->to.kind == AS_RANGE_TIME &&
        out->from.ns >= out->to.ns)
        return as_error_set(err, AS_ERR_USAGE,
                            "--from, --to: the time ends before it begins; use --from below --to");
    return 0;
}

void as_trace_range_fini(struct as_trace_range_texts *texts)
{
    as_str_fini(&texts->from);
    as_str_fini(&texts->to);
}

int as_analyse_asked(const struct as_cli *cli, bool *out, struct as_error *err)
{
    const struct as_arguments *args = &cli->args;
    const bool is_ranged = args->value[AS_OPTION_TRACE_FROM] || args->value[AS_OPTION_TRACE_TO];
    *out = as_given(args, AS_OPTION_TRACE_ANALYSE);
    if (is_ranged &&
        (as_given(args, AS_OPTION_TRACE_SCORE) || as_given(args, AS_OPTION_TRACE_DRY_RUN)))
        return as_error_set(err, AS_ERR_USAGE,
                            "--from, --to: a score is of the whole trace; remove --score and "
                            "--dry-run, or these options");
    if (*out && (args->positional_n || as_given(args, AS_OPTION_TRACE_SCORE) ||
                 as_given(args, AS_OPTION_TRACE_DRY_RUN)))
        return as_error_set(err, AS_ERR_USAGE,
                            "--analyse: reads an experiment and runs nothing; remove the command, "
                            "--score and --dry-run, or --analyse");
    return 0;
}

int as_analyse_find(struct as_experiment *experiment, int64_t *run_id, int64_t *traced_id,
                    struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_query_open(experiment, AS_QUERY_TRACED_RUN, &rows, err));
    const int rc = as_rows_next(rows, err);
    if (rc > 0) {
        *run_id = as_rows_integer(rows, 0);
        *traced_id = as_rows_integer(rows, 1);
    }
    as_rows_close(&rows);
    if (rc == 0)
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "%s: has no trace; record one with 'assay trace'",
                            as_experiment_path(experiment));
    return rc < 0 ? rc : 0;
}
