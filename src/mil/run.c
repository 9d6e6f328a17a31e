/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a probe file. The first run is a profile: it finds the program and the hot code. The next
 * runs use clones with timers, clones with counters, and clones with points for times and values.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "mil/run.h"
#include "profile/collector.h"
#include "sample/timer_session.h"
#include "vprof/clones.h"

#define MIL_KIND "probe"

/* ---- Program --------------------------------------------------------------------------------- */

static const char program_sql[] =
    "SELECT m.path FROM object_time o JOIN module m ON m.module_id = o.object_id"
    " WHERE o.run_id = ?1 AND o.object_kind = 'module' AND m.kind = 'executable'"
    " ORDER BY o.exclusive_n DESC, m.module_id LIMIT 1";

/* Finds the executable with the most samples; without samples, the program of the command. */
static int find_program(struct as_probe_session *run, struct as_error *err)
{
    struct as_probe_result *result = run->result;
    struct as_rows *rows;
    AS_TRY(as_rows_open(run->experiment, program_sql, &rows, err));
    as_rows_bind_integer(rows, 1, result->profile.run_id);
    const int rc = as_rows_next(rows, err);
    if (rc > 0)
        snprintf(result->path, sizeof result->path, "%s", as_rows_text(rows, 0));
    as_rows_close(&rows);
    AS_TRY(rc);
    if (result->path[0])
        return 0;
    struct as_launch_plan *plan;
    AS_TRY(as_launch_plan(run->request->profile.command, &plan, err));
    snprintf(result->path, sizeof result->path, "%s", plan->real_path);
    as_launch_plan_free(&plan);
    return 0;
}

static int open_program(struct as_probe_session *run, struct as_error *err)
{
    const struct as_attribute_options *how = &run->request->profile.attribute;
    const struct as_program_options options = {
        .jobs = how->jobs, .path_limit = AS_PATH_LIMIT, .with_source = true};
    struct as_probe_result *result = run->result;
    AS_TRY(find_program(run, err));
    AS_TRY(as_object_open(result->path, how->open, &result->object, err));
    return as_program_new(result->object, &options, &result->program, err);
}

/* ---- Share of samples ------------------------------------------------------------------------ */

struct heat_row {
    uint64_t address;
    uint32_t depth; /* depth of a loop; 0 = function */
    double share;
};

struct heat_table {
    const struct as_program *program;
    AS_VEC(struct heat_row) row;
};

static const char heat_sql[] =
    "SELECT l.address, l.depth, o.exclusive_share FROM object_time o"
    " JOIN loop l ON l.loop_id = o.object_id JOIN function f USING (function_id)"
    " JOIN module m USING (module_id) WHERE o.run_id = ?1 AND o.object_kind = 'loop'"
    " AND m.kind = 'executable' UNION ALL"
    " SELECT f.address, 0, o.exclusive_share FROM object_time o"
    " JOIN function f ON f.function_id = o.object_id JOIN module m USING (module_id)"
    " WHERE o.run_id = ?1 AND o.object_kind = 'function' AND m.kind = 'executable'";

static int add_heat_row(void *context, struct as_rows *row, struct as_error *err)
{
    struct heat_table *table = context;
    const struct heat_row it = {(uint64_t)as_rows_integer(row, 0),
                                (uint32_t)as_rows_integer(row, 1), as_rows_real(row, 2)};
    return as_vec_push(&table->row, it) < 0 ? as_error_nomem(err, "hot code") : 0;
}

/* Returns the share of a loop or function; without a row it has no samples. */
static double share_of(void *context, uint32_t body, uint32_t loop)
{
    const struct heat_table *table = context;
    const struct as_program *p = table->program;
    const bool is_loop = loop != AS_NONE;
    const uint64_t address = is_loop ? p->block[p->loop[loop].header].start : p->body[body].entry;
    const uint32_t depth = is_loop ? p->loop[loop].depth : 0;
    as_vec_foreach (&table->row, row)
        if (row->address == address && row->depth == depth)
            return row->share;
    return 0;
}

static int resolve_sites(struct as_probe_session *run, struct as_error *err)
{
    struct as_probe_result *result = run->result;
    struct heat_table table = {.program = result->program};
    const struct as_probe_heat heat = {share_of, &table};
    int rc =
        as_rows_each(run->experiment, heat_sql, result->profile.run_id, add_heat_row, &table, err);
    if (rc == 0)
        rc = as_probes_resolve(run->request->probes, result->program, &heat, &result->sites, err);
    as_vec_fini(&table.row);
    AS_TRY(rc);
    result->value = as_calloc(result->sites.n + 1, sizeof *result->value);
    if (!result->value)
        return as_error_nomem(err, "what probes measured");
    for (size_t i = 0; i < result->sites.n; i++)
        result->value[i] = (struct as_probe_value){
            .count = NAN,
            .time_s = NAN,
            .cycles = NAN,
            .least_s = NAN,
            .largest_s = NAN,
            .calls = NAN,
            .entries = NAN,
            .rounds = NAN,
        };
    return as_probe_plan_make(run->request->probes, result->program, &result->sites, &run->plan,
                              err);
}

/* ---- Processes ------------------------------------------------------------------------------- */

/* Reads process counts and times from the first run, because no clone disturbs it. */
static int read_processes(struct as_probe_session *run, struct as_error *err)
{
    struct as_probe_result *result = run->result;
    struct as_rows *rows;
    AS_TRY(as_rows_open(run->experiment,
                        "SELECT count(*), count(end_ns), sum(end_ns - start_ns) / 1e9"
                        " FROM process WHERE run_id = ?1 AND exe = ?2",
                        &rows, err));
    as_rows_bind_integer(rows, 1, result->profile.run_id);
    as_rows_bind_text(rows, 2, result->path);
    const int rc = as_rows_next(rows, err);
    for (size_t i = 0; rc > 0 && i < result->sites.n; i++) {
        struct as_probe_facts facts;
        as_probes_get(run->request->probes, result->sites.at[i].probe, &facts);
        if (!as_probe_is_whole(facts.event) || result->sites.at[i].refusal)
            continue;
        const int column = facts.event == AS_PROBE_PROGRAM_EXIT ? 1 : 0;
        if (facts.actions & AS_PROBE_COUNT)
            result->value[i].count = (double)as_rows_integer(rows, column);
        if (facts.actions & AS_PROBE_TIME)
            result->value[i].time_s = as_rows_real(rows, 2);
    }
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static int run_plan(struct as_probe_session *run, const uint8_t *plan, size_t plan_n,
                    struct as_instances *all, int64_t *run_id, struct as_error *err)
{
    struct as_profile_result ran = {.exit_code = -1};
    const struct as_clones clones = {.plan = plan,
                                     .plan_n = plan_n,
                                     .program = run->result->path,
                                     .kind = MIL_KIND,
                                     .reference_id = run->result->profile.run_id,
                                     .out = all,
                                     .also = plan == run->plan.points ? as_probe_read_probed : NULL,
                                     .context = run};
    AS_TRY(as_clones_run(run->experiment, &run->input, &run->request->profile, &clones, &ran, err));
    *run_id = ran.run_id;
    run->result->interrupted |= ran.interrupted;
    return 0;
}

static int run_times(struct as_probe_session *run, struct as_error *err)
{
    const struct as_probe_plan *plan = &run->plan;
    struct as_instances all = {.plan = (const void *)plan->times};
    if (!plan->times || run->result->interrupted)
        return 0;
    run->tick = as_tick_calibrate();
    const int rc = run_plan(run, plan->times, plan->times_n, &all, &run->result->timed_run, err);
    as_tick_repeat(&run->tick);
    if (rc == 0)
        as_probe_read_times(run, &all);
    as_instances_fini(&all);
    return rc;
}

static int run_counts(struct as_probe_session *run, struct as_error *err)
{
    const struct as_probe_plan *plan = &run->plan;
    struct as_instances all = {.plan = (const void *)plan->counts};
    if (!plan->counts || run->result->interrupted)
        return 0;
    int rc = run_plan(run, plan->counts, plan->counts_n, &all, &run->result->counted_run, err);
    if (rc == 0)
        rc = as_probe_read_counts(run, &all, err);
    as_instances_fini(&all);
    return rc;
}

static int run_points(struct as_probe_session *run, struct as_error *err)
{
    const struct as_probe_plan *plan = &run->plan;
    struct as_instances all = {.plan = (const void *)plan->points};
    if (!plan->points || run->result->interrupted)
        return 0;
    if (run->tick.ns == 0)
        run->tick = as_tick_calibrate();
    int rc = run_plan(run, plan->points, plan->points_n, &all, &run->result->probed_run, err);
    if (rc == 0)
        rc = as_probe_read_values(run, &all, err);
    as_instances_fini(&all);
    return rc;
}

/* Checks before any run that the agent can be loaded into the program, or into the shell that
 * starts it. */
static int check_probed(const struct as_profile_request *request, struct as_error *err)
{
    struct as_launch_plan *plan;
    AS_TRY(as_launch_plan(request->command, &plan, err));
    const int rc = as_preload_check(plan->path, "probed from inside", "", err);
    as_launch_plan_free(&plan);
    return rc;
}

static int run_probes(struct as_probe_session *run, struct as_error *err)
{
    AS_TRY(open_program(run, err));
    AS_TRY(resolve_sites(run, err));
    AS_TRY(read_processes(run, err));
    AS_TRY(run_times(run, err));
    AS_TRY(run_counts(run, err));
    AS_TRY(run_points(run, err));
    return as_probe_write(run, err);
}

int as_probe_run(struct as_experiment *experiment, const struct as_probe_request *request,
                 struct as_probe_result *result, struct as_error *err)
{
    struct as_probe_session run = {.experiment = experiment, .request = request, .result = result};
    *result = (struct as_probe_result){.profile = {.exit_code = -1}};
    AS_TRY(check_probed(&request->profile, err));
    AS_TRY(as_probes_find_libraries(request->probes, err));
    as_input_note(&run.input);
    AS_TRY(as_clones_record(experiment, &run.input, as_collector_kinds, &request->profile,
                            &result->profile, err));
    result->interrupted = result->profile.interrupted;
    const int rc = result->interrupted ? 0 : run_probes(&run, err);
    as_probe_probed_fini(&run);
    as_probe_plan_fini(&run.plan);
    return rc;
}

void as_probe_result_fini(struct as_probe_result *result)
{
    for (size_t i = 0; result->value && i < result->sites.n; i++)
        as_free(result->value[i].recorded);
    as_free(result->value);
    as_probe_sites_fini(&result->sites);
    as_program_free(&result->program);
    as_object_close(&result->object);
    result->value = NULL;
}
