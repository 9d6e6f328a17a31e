/* SPDX-License-Identifier: Apache-2.0 */
#include "export_trace.h"
#include "export_code.h"

#include <stdio.h>
#include <string.h>

#include "analytics/store/trace_result.h"
#include "base/error.h"
#include "base/str.h"
#include "destination.h"
#include "exchange/otf2.h"
#include "exchange/perfetto.h"
#include "exchange/prv.h"
#include "report/profile.h"
#include "report/report.h"

enum { TRACE_AS_PRV = AS_EXPORT_PPROF + 1, TRACE_AS_OTF2, TRACE_AS_PERFETTO };

/* By the ending of --output; 0: none. */
static int format_of_ending(const struct as_arguments *args)
{
    const char *output = args->value[AS_OPTION_OUTPUT];
    const struct as_view name = as_view_of(output ? output : "");
    return as_view_ends(name, ".prv")       ? TRACE_AS_PRV
           : as_view_ends(name, ".otf2")    ? TRACE_AS_OTF2
           : as_view_ends(name, ".pftrace") ? TRACE_AS_PERFETTO
                                            : 0;
}

static int trace_format(const struct as_arguments *args)
{
    return args->verb == AS_VERB_EXPORT     ? (int)args->number[AS_OPTION_AS]
           : args->verb == AS_VERB_SIMULATE ? format_of_ending(args)
                                            : 0;
}

bool as_exports_trace(const struct as_arguments *args)
{
    return trace_format(args) >= TRACE_AS_PRV;
}

/* What --output says, else a name beside us: "run.assay" gives run.prv. */
static int name_output(const struct as_cli *cli, const char *ending, struct as_str *out,
                       struct as_error *err)
{
    const char *given = cli->args.value[AS_OPTION_OUTPUT];
    struct as_view stem = as_view_of(given ? given : as_path_last(cli->args.positional[0]));
    if (given && strcmp(given, "-") == 0)
        return as_error_set(err, AS_ERR_USAGE,
                            "--output: a trace cannot go to standard output; use a file name");
    while (stem.n > 1 && stem.p[stem.n - 1] == '/')
        stem.n--;
    if (!given && as_view_ends(stem, ".assay"))
        stem.n -= strlen(".assay");
    if (as_view_ends(stem, ending))
        stem.n -= strlen(ending);
    as_str_append(out, stem.p, stem.n);
    as_str_appendz(out, ending);
    return out->failed ? as_error_nomem(err, "the name of a trace") : 0;
}

/* The names that are written instead of --output's, all of which may have to be replaced. */
static int check_names(const struct as_cli *cli, struct as_error *err)
{
    static const char *const ending[] = {".prv", ".pcf", ".row"};
    const bool is_prv = trace_format(&cli->args) == TRACE_AS_PRV;
    struct as_str name = {0};
    int rc = name_output(cli, is_prv ? ending[0] : ".pftrace", &name, err);
    for (size_t i = 0; rc == 0 && name.p && i < (is_prv ? 3 : 1); i++) {
        if (is_prv)
            memcpy(name.p + name.n - strlen(ending[i]), ending[i], strlen(ending[i]));
        rc = as_destination_check(&cli->args, AS_OPTION_OUTPUT, as_str_z(&name), err);
    }
    as_str_fini(&name);
    return rc;
}

static int write_prv(const struct as_cli *cli, const struct as_trace *trace, struct as_error *err)
{
    struct as_prv_counts counts;
    struct as_str name = {0};
    int rc = name_output(cli, ".prv", &name, err);
    if (rc == 0)
        rc = as_prv_write(trace, as_str_z(&name), &counts, err);
    if (rc == 0)
        as_cli_note(cli,
                    "the trace is %s: %llu states, %llu events, %llu communications; %llu messages "
                    "have one known side and are left out",
                    as_str_z(&name), (unsigned long long)counts.states_n,
                    (unsigned long long)counts.events_n,
                    (unsigned long long)counts.communications_n,
                    (unsigned long long)counts.unmatched_n);
    as_str_fini(&name);
    return rc;
}

static int write_otf2(const struct as_cli *cli, const struct as_trace *trace, struct as_error *err)
{
    struct as_otf2_counts counts;
    struct as_str name = {0};
    int rc = name_output(cli, ".otf2", &name, err);
    if (rc == 0)
        rc = as_otf2_write(trace, as_str_z(&name), &counts, err);
    if (rc == 0)
        as_cli_note(cli,
                    "the trace is %s/traces.otf2: %llu events; %llu of other kinds are left out",
                    as_str_z(&name), (unsigned long long)counts.events_n,
                    (unsigned long long)counts.left_out_n);
    as_str_fini(&name);
    return rc;
}

static int write_perfetto(const struct as_cli *cli, const struct as_trace *trace,
                          struct as_error *err)
{
    struct as_perfetto_counts counts;
    struct as_str name = {0};
    int rc = name_output(cli, ".pftrace", &name, err);
    if (rc == 0)
        rc = as_perfetto_write(trace, as_str_z(&name), &counts, err);
    if (rc == 0)
        as_cli_note(cli,
                    "the trace is %s, for ui.perfetto.dev: %llu slices, %llu messages, %llu values "
                    "of counters; %llu messages have one known side and are left out",
                    as_str_z(&name), (unsigned long long)counts.slices_n,
                    (unsigned long long)counts.messages_n, (unsigned long long)counts.values_n,
                    (unsigned long long)counts.unmatched_n);
    as_str_fini(&name);
    return rc;
}

int as_export_streams_check(const struct as_cli *cli, struct as_error *err)
{
    return trace_format(&cli->args) == TRACE_AS_OTF2 ? 0 : check_names(cli, err);
}

int as_export_streams(const struct as_cli *cli, const struct as_trace *trace, struct as_error *err)
{
    switch (trace_format(&cli->args)) {
    case TRACE_AS_PRV:
        return write_prv(cli, trace, err);
    case TRACE_AS_OTF2:
        return write_otf2(cli, trace, err);
    default:
        return write_perfetto(cli, trace, err);
    }
}

int as_export_trace(struct as_cli *cli, struct as_experiment *experiment, struct as_error *err)
{
    struct as_trace trace;
    struct as_export_code code;
    int64_t run_id, run_n;
    if (as_given(&cli->args, AS_OPTION_BY) || as_given(&cli->args, AS_OPTION_BLOCKED))
        return as_error_set(err, AS_ERR_USAGE,
                            "--by, --blocked: only for call stacks; remove them with --as %s",
                            cli->args.value[AS_OPTION_AS]);
    AS_TRY(as_export_streams_check(cli, err));
    AS_TRY(
        as_report_run(experiment, (int64_t)cli->args.number[AS_OPTION_RUN], &run_id, &run_n, err));
    int rc = as_run_trace_open(experiment, run_id, &trace, err);
    if (rc == AS_ERR_NOT_FOUND)
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "%s: run %lld has no trace; record one with 'assay trace'",
                            cli->args.positional[0], (long long)run_id);
    AS_TRY(rc);
    rc = as_export_code_read(experiment, &trace, &code, err);
    trace.code = &code.code;
    if (rc == 0)
        rc = as_export_streams(cli, &trace, err);
    as_export_code_fini(&code);
    as_trace_close(&trace);
    return rc;
}
