/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay vprof -- CMD...`: profiles a command or a running process. A second run times the
 * instances of its hot loops. Prints the instances.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "compared.h"
#include "external_load.h"
#include "recording.h"
#include "runs.h"
#include "text.h"
#include "trust/trust.h"
#include "vprof/vprof.h"

struct shown {
    struct as_cli *cli;
    struct as_experiment *experiment;
    const struct as_vprof_result *result;
    struct as_str name; /* of the loop at hand */
};

static int name_loop(struct shown *it, const struct as_vprof_loop *loop, struct as_error *err)
{
    as_str_clear(&it->name);
    return as_recording_place(it->experiment, AS_OBJECT_LOOP, loop->loop_id, loop->address,
                              &it->name, err);
}

/* ---- Text ---------------------------------------------------------------------------------- */

static const struct as_column columns[] = {
    {.title = "time", .align = AS_ALIGN_RIGHT},
    {.title = "instances", .align = AS_ALIGN_RIGHT},
    {.title = "iterations", .align = AS_ALIGN_RIGHT},
    {.title = "cycles/it", .align = AS_ALIGN_RIGHT},
    {.title = "ns/it", .align = AS_ALIGN_RIGHT},
    {.title = "stability", .align = AS_ALIGN_RIGHT},
    {.title = "loop", .shrink = AS_SHRINK_MIDDLE, .least = 16}};

static void add_number_cell(struct as_table *table, bool is_known, double value)
{
    if (is_known)
        as_table_f(table, value < 1e6 ? "%.*f" : "%.*e",
                   value < 100   ? 2
                   : value < 1e6 ? 0
                                 : 2,
                   value);
    else
        as_table_string(table, NULL);
}

#define PATHS_SHOWN 4u
#define PATH_LEAST  0.01

/* Shares of the instances by call path. */
static void path_rows(struct as_table *table, const struct as_vprof_bucket *it)
{
    for (unsigned i = 0; i < it->path_n && i < PATHS_SHOWN; i++) {
        struct as_str text = {0};
        if (it->path[i].share < PATH_LEAST)
            break;
        as_str_appendz(&text, "    by ");
        for (const char *p = it->path[i].text; *p; p++)
            as_str_append(&text, *p == '\n' ? " > " : p, *p == '\n' ? 3 : 1);
        as_table_string(table, NULL);
        as_table_f(table, "%.0f %%", 100 * it->path[i].share);
        for (unsigned c = 0; c < 4; c++)
            as_table_string(table, NULL);
        as_table_string(table, as_str_z(&text));
        as_str_fini(&text);
    }
}

static void bucket_row(struct as_table *table, const struct as_vprof_bucket *it, bool is_exact,
                       double cycle_ns)
{
    as_table_f(table, "%.0f %%", 100 * it->share);
    as_table_f(table, "%s%.0f", is_exact ? "" : "~", it->instances);
    add_number_cell(table, true, it->iterations);
    add_number_cell(table, isfinite(it->median), it->median);
    add_number_cell(table, isfinite(it->median) && cycle_ns > 0, it->median * cycle_ns);
    add_number_cell(table, isfinite(it->stability), it->stability);
    const double most = it->high > 1 ? it->high - 1 : 0;
    if (it->is_split)
        as_table_f(table, "  of %.0f to %.0f, at %.3g to %.3g cycles", it->low, most,
                   it->cycles_low, it->cycles_high);
    else
        as_table_f(table, "  of %.0f to %.0f", it->low, most);
}

static void loop_row(struct as_table *table, const struct as_vprof_loop *loop, const char *name,
                     double cycle_ns)
{
    const bool any = !loop->reason && loop->all.n > 0;
    as_table_f(table, "%.1f %%", 100 * loop->share);
    if (!loop->reason && loop->timed > 0)
        as_table_f(table, "%s%.0f", loop->is_counted ? "" : "~", loop->instances);
    else
        as_table_string(table, NULL);
    add_number_cell(table, any && loop->has_iterations, loop->all.iterations);
    const bool timed = any && loop->has_iterations && isfinite(loop->all.median);
    add_number_cell(table, timed, loop->all.median);
    add_number_cell(table, timed && cycle_ns > 0, loop->all.median * cycle_ns);
    add_number_cell(table, any && isfinite(loop->all.stability), loop->all.stability);
    as_table_string(table, name);
    if (loop->bucket_n < 2)
        path_rows(table, &loop->all);
    for (size_t i = 0; loop->bucket_n > 1 && i < loop->bucket_n; i++) {
        bucket_row(table, &loop->bucket[i], loop->is_exact, cycle_ns);
        /* Several of as many iterations have the same paths. */
        if (i + 1 == loop->bucket_n || loop->bucket[i + 1].low > loop->bucket[i].low)
            path_rows(table, &loop->bucket[i]);
    }
}

/* How threads and ranks share it. */
static void note_shares(struct as_table *table, struct as_str *text,
                        const struct as_vprof_loop *loop)
{
    if (loop->reason || loop->timed == 0 || loop->threads < 2)
        return;
    as_str_clear(text);
    if (loop->processes == 1)
        as_str_appendf(text, "%u threads: the slowest has %.2f times the mean time", loop->threads,
                       loop->imbalance);
    else
        as_str_appendf(text, "%u processes: the slowest has %.2f times the mean time",
                       loop->processes, loop->imbalance_processes);
    if (loop->processes > 1 && loop->threads > loop->processes)
        as_str_appendf(text, "; a thread of its process up to %.2f times", loop->imbalance_within);
    as_table_note(table, as_str_z(text));
}

static int fill_loops(struct shown *it, struct as_table *table, struct as_error *err)
{
    for (size_t i = 0; i < it->result->loop_n; i++) {
        const struct as_vprof_loop *loop = &it->result->loop[i];
        AS_TRY(name_loop(it, loop, err));
        loop_row(table, loop, as_str_z(&it->name), it->result->cycle_ns);
        if (loop->reason) {
            as_str_clear(&it->name);
            as_str_appendf(&it->name, "not timed: %s", loop->reason);
            as_table_note(table, as_str_z(&it->name));
        } else if (loop->timed == 0)
            as_table_note(table, "no instance of it was timed");
        else if (loop->all.n == 0)
            as_table_note(table, "the thread hardly had a CPU in any instance");
        else if (isnan(loop->all.median))
            as_table_note(table, "most instances take no longer than it takes to read the clock");
        else if (loop->is_cpu_time)
            as_table_note(table, "the thread left the CPU in every instance: times are CPU time");
        note_shares(table, &it->name, loop);
    }
    return 0;
}

#define LONG_CYCLES 5000.0 /* from here on instances alike should take the same time */
#define LONG_LEAST  4u
#define STABLE      0.05

/* Long instances with as many iterations that vary tell of the host, or of data elsewhere. */
static void print_stability(const struct shown *it)
{
    unsigned all = 0, stable = 0;
    for (size_t l = 0; l < it->result->loop_n; l++) {
        const struct as_vprof_loop *loop = &it->result->loop[l];
        for (size_t i = 0; i < loop->bucket_n; i++) {
            if (!(loop->bucket[i].instance >= LONG_CYCLES) || loop->bucket[i].n < LONG_LEAST)
                continue;
            all++;
            stable += loop->bucket[i].stability <= STABLE;
        }
    }
    if (all)
        as_cli_wrapped(it->cli, "",
                       "Instances above %.0f cycles, by iterations: %u of %u groups have a "
                       "stability of %.2f or less.",
                       LONG_CYCLES, stable, all, STABLE);
}

/* Returns the share of time that was not timed for the same reason as loop `first`. It is relative
 * to the time of all chosen loops. */
static double share_like(const struct as_vprof_result *result, size_t first)
{
    double share = 0, all = 0;
    for (size_t i = 0; i < result->loop_n; i++) {
        const struct as_vprof_loop *loop = &result->loop[i];
        const bool same = loop->reason && strcmp(loop->reason, result->loop[first].reason) == 0;
        if (same && i < first)
            return 0; /* told with that one */
        all += loop->share;
        share += same ? loop->share : 0;
    }
    return all > 0 ? share / all : 0;
}

static void print_reasons(const struct shown *it)
{
    for (size_t i = 0; i < it->result->loop_n; i++) {
        const double share = it->result->loop[i].reason ? share_like(it->result, i) : 0;
        if (share > 0)
            as_cli_share(it->cli, share, it->result->loop[i].reason);
    }
}

static void print_how(const struct shown *it)
{
    const struct as_vprof_result *result = it->result;
    char what[64] = "Every instance was timed";
    unsigned long long disturbed = 0;
    for (size_t i = 0; i < result->loop_n; i++)
        disturbed += result->loop[i].disturbed;
    if (result->every > 1)
        snprintf(what, sizeof what, "One of %u instances, chosen at random, was timed",
                 result->every);
    as_cli_print(it->cli, "\n");
    as_cli_wrapped(it->cli, "",
                   "%s. Timing took about %.1f %% of the run, at a cost of %.1f ns per instance "
                   "and %.0f ns per timed instance on this host. Cycles are medians; %llu "
                   "disturbed instance%s left out. %.1f %% of the time of these loops could not "
                   "be timed.",
                   what, 100 * result->overhead, result->passed_ns, result->timed_ns, disturbed,
                   disturbed == 1 ? " is" : "s are", 100 * result->refused_share);
    print_reasons(it);
    if (result->overhead_seen >= 0)
        as_cli_print(it->cli, "The run took %.1f %% more CPU time than the first.\n",
                     100 * result->overhead_seen);
    print_stability(it);
}

static int show_text(struct shown *it, struct as_error *err)
{
    const struct as_vprof_result *result = it->result;
    struct as_table table;
    as_table_init(&table, columns, sizeof columns / sizeof *columns);
    int rc = fill_loops(it, &table, err);
    if (rc == 0 && result->loop_n)
        rc =
            as_table_print(&table, &it->cli->out, as_cli_table_width(it->cli), it->cli->color, err);
    as_table_fini(&table);
    if (result->interrupted)
        as_cli_print(it->cli, "interrupted before %s\n",
                     result->timed_run ? "all instances were timed" : "loops were timed");
    else if (result->loop_n == 0)
        as_cli_print(it->cli, "no loop of the program has samples\n");
    if (result->timed_run)
        print_how(it);
    else if (result->loop_n && !result->interrupted) {
        as_cli_print(it->cli, "\n"
                              "Loops that could not be timed, with their share of the time:\n");
        print_reasons(it);
    }
    return rc;
}

/* ---- Data ---------------------------------------------------------------------------------- */

static void write_bucket_paths(struct as_json *json, const struct as_vprof_bucket *it)
{
    as_json_key_u64(json, "paths_seen", it->path_seen);
    as_json_key(json, "paths");
    as_json_array_begin(json);
    for (unsigned i = 0; i < it->path_n; i++) {
        struct as_view rest = as_view_of(it->path[i].text), frame;
        as_json_object_begin(json);
        as_json_key_double(json, "share", it->path[i].share);
        as_json_key_u64(json, "seen", it->path[i].n);
        as_json_key(json, "frames");
        as_json_array_begin(json);
        while (as_view_split(&rest, '\n', &frame)) {
            struct as_str text = {0};
            as_str_append(&text, frame.p, frame.n);
            as_json_string(json, as_str_z(&text));
            as_str_fini(&text);
        }
        as_json_array_end(json);
        as_json_object_end(json);
    }
    as_json_array_end(json);
}

static void write_vprof_bucket(struct as_json *json, const struct as_vprof_bucket *it,
                               double cycle_ns)
{
    as_json_object_begin(json);
    as_json_key_double(json, "iterations_from", it->low);
    as_json_key_double(json, "iterations_below", it->high);
    as_json_key_bool(json, "split", it->is_split);
    as_json_key_double(json, "cycles_from", it->cycles_low);
    as_json_key_double(json, "cycles_to", it->cycles_high);
    as_json_key_double(json, "instances", it->instances);
    as_json_key_u64(json, "timed", it->n);
    as_json_key_double(json, "share", it->share);
    as_json_key_double(json, "iterations_mean", it->iterations);
    as_json_key_double(json, "iteration_cycles", it->median);
    if (cycle_ns > 0)
        as_json_key_double(json, "iteration_ns", it->median * cycle_ns);
    as_json_key_double(json, "iteration_cycles_mean", it->mean);
    as_json_key_double(json, "iteration_cycles_deviation", it->deviation);
    as_json_key_double(json, "iteration_cycles_least", it->least);
    as_json_key_double(json, "stability", it->stability);
    as_json_key_double(json, "instance_cycles", it->instance);
    write_bucket_paths(json, it);
    as_json_object_end(json);
}

static void write_vprof_loop(struct as_json *json, const struct as_vprof_loop *loop,
                             const char *name, double cycle_ns)
{
    as_json_object_begin(json);
    as_json_key_i64(json, "loop_id", loop->loop_id);
    as_json_key_string(json, "name", name);
    as_json_key_hex(json, "address", loop->address);
    as_json_key_double(json, "share", loop->share);
    as_json_key_string(json, "refused", loop->reason);
    as_json_key_bool(json, "exact", loop->is_exact);
    as_json_key_bool(json, "instances_exact", loop->is_counted);
    as_json_key_double(json, "instances", loop->instances);
    as_json_key(json, "iterations");
    if (loop->has_iterations)
        as_json_double(json, loop->iterations);
    else
        as_json_null(json);
    as_json_key_u64(json, "timed", loop->timed);
    as_json_key_u64(json, "disturbed", loop->disturbed);
    as_json_key_u64(json, "switched", loop->switched);
    as_json_key_bool(json, "cpu_time", loop->is_cpu_time);
    as_json_key_u64(json, "faulted", loop->faulted);
    as_json_key_u64(json, "cut", loop->cut);
    as_json_key_u64(json, "threads", loop->threads);
    as_json_key_double(json, "imbalance", loop->imbalance);
    as_json_key_u64(json, "processes", loop->processes);
    as_json_key_double(json, "imbalance_processes", loop->imbalance_processes);
    as_json_key_double(json, "imbalance_within", loop->imbalance_within);
    as_json_key(json, "all");
    write_vprof_bucket(json, &loop->all, cycle_ns);
    as_json_key(json, "buckets");
    as_json_array_begin(json);
    for (size_t i = 0; i < loop->bucket_n; i++)
        write_vprof_bucket(json, &loop->bucket[i], cycle_ns);
    as_json_array_end(json);
    as_json_object_end(json);
}

static int show_json(struct shown *it, struct as_error *err)
{
    struct as_json json;
    int rc = 0;
    as_compared_json_begin(&json, it->cli, it->experiment, "loops");
    as_json_array_begin(&json);
    for (size_t i = 0; rc == 0 && i < it->result->loop_n; i++) {
        rc = name_loop(it, &it->result->loop[i], err);
        write_vprof_loop(&json, &it->result->loop[i], as_str_z(&it->name), it->result->cycle_ns);
    }
    as_json_array_end(&json);
    as_json_key_i64(&json, "timed_run", it->result->timed_run);
    as_json_key_u64(&json, "every", it->result->every);
    as_json_key_double(&json, "overhead", it->result->overhead);
    as_json_key_double(&json, "overhead_seen",
                       it->result->overhead_seen < 0 ? (double)NAN : it->result->overhead_seen);
    as_json_key_double(&json, "passed_ns", it->result->passed_ns);
    as_json_key_double(&json, "timed_ns", it->result->timed_ns);
    as_json_key_double(&json, "refused_share", it->result->refused_share);
    as_json_key_bool(&json, "interrupted", it->result->interrupted);
    as_compared_json_end(&json);
    return rc;
}

/* ---- CSV ----------------------------------------------------------------------------------- */

/* A loop without a timed instance has one row, with these fields empty. */
static const char *const loop_fields[] = {"loop_id",         "name",      "address",
                                          "share",           "refused",   "exact",
                                          "timed",           "disturbed", "switched",
                                          "faulted",         "cut",       "threads",
                                          "imbalance",       "processes", "imbalance_processes",
                                          "imbalance_within"};
static const char *const bucket_fields[] = {"group",
                                            "iterations_from",
                                            "iterations_below",
                                            "cycles_from",
                                            "cycles_to",
                                            "instances",
                                            "group_timed",
                                            "group_share",
                                            "iterations_mean",
                                            "iteration_cycles",
                                            "iteration_ns",
                                            "iteration_cycles_mean",
                                            "iteration_cycles_deviation",
                                            "iteration_cycles_least",
                                            "stability",
                                            "instance_cycles"};

#define FIELDS_OF(names) (sizeof(names) / sizeof *(names))

static void csv_number(struct as_csv *csv, double value)
{
    if (isfinite(value))
        as_csv_double(csv, value);
    else
        as_csv_string(csv, "");
}

static void csv_loop(struct as_csv *csv, const struct as_vprof_loop *loop, const char *name)
{
    as_csv_i64(csv, loop->loop_id);
    as_csv_string(csv, name);
    as_csv_hex(csv, loop->address);
    as_csv_double(csv, loop->share);
    as_csv_string(csv, loop->reason ? loop->reason : "");
    as_csv_string(csv, loop->is_exact ? "true" : "false");
    as_csv_u64(csv, loop->timed);
    as_csv_u64(csv, loop->disturbed);
    as_csv_u64(csv, loop->switched);
    as_csv_u64(csv, loop->faulted);
    as_csv_u64(csv, loop->cut);
    as_csv_u64(csv, loop->threads);
    csv_number(csv, loop->imbalance);
    as_csv_u64(csv, loop->processes);
    csv_number(csv, loop->imbalance_processes);
    csv_number(csv, loop->imbalance_within);
}

/* The group is "all", or the number of a bucket from 1. */
static void csv_bucket(struct as_csv *csv, const struct as_vprof_bucket *it, size_t number,
                       double cycle_ns)
{
    if (number)
        as_csv_u64(csv, number);
    else
        as_csv_string(csv, "all");
    csv_number(csv, it->low);
    csv_number(csv, it->high);
    csv_number(csv, it->is_split ? it->cycles_low : (double)NAN);
    csv_number(csv, it->is_split ? it->cycles_high : (double)NAN);
    csv_number(csv, it->instances);
    as_csv_u64(csv, it->n);
    csv_number(csv, it->share);
    csv_number(csv, it->iterations);
    csv_number(csv, it->median);
    csv_number(csv, cycle_ns > 0 ? it->median * cycle_ns : (double)NAN);
    csv_number(csv, it->mean);
    csv_number(csv, it->deviation);
    csv_number(csv, it->least);
    csv_number(csv, it->stability);
    csv_number(csv, it->instance);
    as_csv_row_end(csv);
}

static int show_vprof_csv(struct shown *it, struct as_error *err)
{
    const struct as_vprof_result *result = it->result;
    struct as_csv csv;
    as_cli_csv(it->cli, &csv);
    for (size_t i = 0; i < FIELDS_OF(loop_fields); i++)
        as_csv_string(&csv, loop_fields[i]);
    for (size_t i = 0; i < FIELDS_OF(bucket_fields); i++)
        as_csv_string(&csv, bucket_fields[i]);
    as_csv_row_end(&csv);
    for (size_t i = 0; i < result->loop_n; i++) {
        const struct as_vprof_loop *loop = &result->loop[i];
        const bool any = !loop->reason && loop->all.n > 0;
        AS_TRY(name_loop(it, loop, err));
        csv_loop(&csv, loop, as_str_z(&it->name));
        if (any)
            csv_bucket(&csv, &loop->all, 0, result->cycle_ns);
        for (size_t k = 0; !any && k < FIELDS_OF(bucket_fields); k++)
            as_csv_string(&csv, "");
        if (!any)
            as_csv_row_end(&csv);
        for (size_t k = 0; any && k < loop->bucket_n; k++) {
            csv_loop(&csv, loop, as_str_z(&it->name));
            csv_bucket(&csv, &loop->bucket[k], k + 1, result->cycle_ns);
        }
    }
    return 0;
}

/* ---- The verb ------------------------------------------------------------------------------ */

static int parse_vprof_request(struct as_cli *cli, struct as_vprof_request *request,
                               struct as_error *err)
{
    const struct as_arguments *args = &cli->args;
    const char *most = args->value[AS_OPTION_MAX_OVERHEAD];
    char *end = NULL;
    *request = (struct as_vprof_request){.loops = args->value[AS_OPTION_HOT_LOOPS],
                                         .top = (unsigned)args->number[AS_OPTION_TOP],
                                         .every = (uint32_t)args->number[AS_OPTION_EVERY]};
    if (as_given(args, AS_OPTION_EVERY) && request->every == 0)
        return as_error_set(err, AS_ERR_USAGE,
                            "--every: 0 is out of range; use 1 or more, or remove it to stay "
                            "within --max-overhead");
    if (most)
        request->max_overhead = strtod(most, &end) / 100;
    if (most && (end == most || (*end && strcmp(end, "%") != 0) || !(request->max_overhead > 0)))
        return as_error_set(err, AS_ERR_USAGE,
                            "--max-overhead: invalid value '%s'; use per cent above 0", most);
    return as_recording_parse(cli, &request->profile, err);
}

static int vprof_into(struct as_cli *cli, struct as_experiment_name *name,
                      struct as_vprof_request *request, struct as_vprof_result *result,
                      struct as_error *err)
{
    struct shown it = {.cli = cli, .result = result};
    struct as_external_watch load;
    struct as_run_count count = {0};
    /* A first timed run finds the period out; runs above --max-overhead are repeated. */
    const struct as_run_part part[] = {{"profile", 1, 1}, {"vprof", 1, request->every ? 1 : 4}};
    AS_TRY(as_experiment_name_create(cli, name, &it.experiment, err));
    if (!name->is_rank)
        as_run_count_begin(&count, cli, part, sizeof part / sizeof *part, &request->profile);
    as_external_begin(&load);
    int rc = as_vprof_run(it.experiment, request, result, err);
    if (rc == 0 && result->rest[0])
        as_cli_note(cli, "%s", result->rest);
    if (rc == 0 && request->profile.command) /* else the runs are of different work */
        rc = as_trust_run(it.experiment, result->profile.run_id, err);
    if (rc == 0)
        as_external_load_print(cli, &load);
    if (rc == 0)
        rc = cli->format == AS_FORMAT_TEXT  ? show_text(&it, err)
             : cli->format == AS_FORMAT_CSV ? show_vprof_csv(&it, err)
                                            : show_json(&it, err);
    as_str_fini(&it.name);
    return as_recording_close(&it.experiment, result->profile.run_id, rc, err);
}

int as_verb_vprof(struct as_cli *cli, struct as_error *err)
{
    struct as_vprof_request request;
    struct as_vprof_result result = {.profile = {.exit_code = -1}};
    struct as_experiment_name name = {0};
    AS_TRY(parse_vprof_request(cli, &request, err));
    int rc = as_recording_name(cli, &request.profile, &name, err);
    if (rc == 0)
        rc = vprof_into(cli, &name, &request, &result, err);
    as_recording_end(cli, &name, &result.profile, result.interrupted, rc);
    as_vprof_result_fini(&result);
    return rc;
}
