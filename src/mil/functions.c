/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces functions of a program or library that was not compiled for tracing. Two probes per
 * function, at its entry and its exits, call the tracer (agent/wrap/functions/functions_wrap.c). A
 * function with an exit that cannot be probed is refused, because it would seem to last too long.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/inject/inject.h"
#include "agent/inject/session.h"
#include "base/alloc.h"
#include "base/error.h"
#include "mil/probe.h"
#include "mil/run.h"
#include "profile/trace_program.h"
#include "vprof/clones.h"

#define FUNCTIONS_MOST 4000u
#define TOLD_MOST      8u /* max refusals that are reported one by one */
#define COST_TOLD_PCT  1  /* min share of the CPU time that is reported */
/* With fewer calls one interruption dominates the cost, and no function is called often. */
#define COST_TOLD_N 1000

struct function_trace {
    struct as_probe_session run;
    struct as_probe_result result; /* only its program and sites are used */
    struct as_probe_request request;
    struct as_probes probes;
    AS_VEC(uint32_t) body; /* body i has the probes 2 i (entry) and 2 i + 1 (exit) */
    bool is_program;       /* false: a library, traced in every process that loads it */
    char library[PATH_MAX];
    struct as_error *err;
};

/* ---- Functions ------------------------------------------------------------------------------- */

/* Splits patterns at commas: "a, b<c, d>(e, f)" has two, since commas in brackets belong to a
 * name. Returns false at the end. */
static bool next_pattern(struct as_view *rest, struct as_view *out)
{
    int depth = 0;
    size_t n = 0;
    if (!rest->n)
        return false;
    for (; n < rest->n && (depth > 0 || rest->p[n] != ','); n++)
        depth += rest->p[n] == '(' || rest->p[n] == '<'   ? 1
                 : rest->p[n] == ')' || rest->p[n] == '>' ? -1
                                                          : 0;
    *out = as_view_trim((struct as_view){rest->p, n});
    rest->p += n + (n < rest->n);
    rest->n -= n + (n < rest->n);
    return true;
}

/* Returns true if the filter matches the function, or the function that it is a copy of.
 * Compilers make such copies for other parameters (.constprop, .isra). */
static bool fits_function(const struct as_probe_filter *filter, const char *linkage)
{
    static const char *const copies[] = {".constprop.", ".isra."};
    char plain[1024];
    if (as_probe_fits_name(filter, linkage))
        return true;
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        const char *end = strstr(linkage, copies[i]);
        if (!end || (size_t)(end - linkage) >= sizeof plain)
            continue;
        snprintf(plain, sizeof plain, "%.*s", (int)(end - linkage), linkage);
        if (as_probe_fits_name(filter, plain))
            return true;
    }
    return false;
}

static int add_body(struct function_trace *it, uint32_t body)
{
    as_vec_foreach (&it->body, known)
        if (*known == body)
            return 0;
    if (it->body.n == FUNCTIONS_MOST)
        return as_error_set(it->err, AS_ERR_LIMIT,
                            "--functions: more than %u functions match; use fewer", FUNCTIONS_MOST);
    return as_vec_push(&it->body, body) < 0 ? as_error_nomem(it->err, "functions to trace") : 0;
}

static int choose_functions(struct function_trace *it, struct as_view pattern)
{
    const struct as_program *p = it->result.program;
    struct as_probe_filter filter = {.subject = AS_PROBE_OF_FUNCTION, .is_pattern = true};
    bool any = false;
    if (as_vec_push(&filter.text, pattern) < 0)
        return as_error_nomem(it->err, "functions to trace");
    int rc = 0;
    for (uint32_t b = 0; rc == 0 && b < p->body_n; b++) {
        const struct as_body *body = &p->body[b];
        if (body->bits & AS_BODY_STUB || !body->blocks || !body->name ||
            !fits_function(&filter, body->name))
            continue;
        any = true;
        rc = add_body(it, b);
    }
    as_vec_fini(&filter.text);
    if (rc == 0 && !any)
        rc = as_error_set(it->err, AS_ERR_USAGE,
                          "--functions: '%.*s' matches no function of %s; 'assay functions %s' "
                          "lists its functions%s",
                          (int)pattern.n, pattern.p, it->result.path, it->result.path,
                          it->is_program ? ", and --functions-of FILE selects those of a library"
                                         : "");
    return rc;
}

/* ---- Probes ---------------------------------------------------------------------------------- */

static int add_probe(struct function_trace *it, const char *name, enum as_probe_event event,
                     const char *function)
{
    struct as_mil_probe probe = {
        .name = name, .has_event = true, .event = event, .actions = AS_PROBE_CALL};
    const struct as_probe_call call = {.library = it->library, .function = function};
    if (as_vec_push(&probe.call, call) < 0 || as_vec_push(&it->probes.probe, probe) < 0) {
        as_vec_fini(&probe.call);
        return as_error_nomem(it->err, "functions to trace");
    }
    return 0;
}

static int make_probes(struct function_trace *it)
{
    const struct as_program *p = it->result.program;
    char readable[4096];
    it->result.sites.at = as_calloc(2 * it->body.n + 1, sizeof *it->result.sites.at);
    if (!it->result.sites.at)
        return as_error_nomem(it->err, "functions to trace");
    for (uint32_t i = 0; i < it->body.n; i++) {
        const struct as_body *body = &p->body[it->body.at[i]];
        const bool is_readable =
            body->name[0] == '_' && as_demangle(body->name, readable, sizeof readable) > 0;
        const char *name = is_readable ? readable : body->name;
        name = as_arena_strndup(&it->probes.arena, name, strlen(name));
        if (!name)
            return as_error_nomem(it->err, "functions to trace");
        AS_TRY(add_probe(it, name, AS_PROBE_FUNCTION_ENTRY, "assay_function_begins"));
        AS_TRY(add_probe(it, name, AS_PROBE_FUNCTION_EXIT, "assay_function_ends"));
        for (uint32_t k = 0; k < 2; k++)
            it->result.sites.at[it->result.sites.n++] =
                (struct as_probe_site){.probe = 2 * i + k,
                                       .body = it->body.at[i],
                                       .loop = AS_NONE,
                                       .block = body->entry_block,
                                       .address = p->block[body->entry_block].start};
    }
    return 0;
}

/* Refuses both probes of a function if one of them is refused. */
static void refuse_halves(struct function_trace *it)
{
    for (size_t i = 0; i + 1 < it->result.sites.n; i += 2) {
        struct as_probe_site *site = &it->result.sites.at[i];
        const char *why = site[0].refusal ? site[0].refusal : site[1].refusal;
        site[0].refusal = site[1].refusal = why;
    }
}

static int plan_functions(struct function_trace *it)
{
    AS_TRY(as_probes_check(&it->probes, it->result.program, &it->result.sites, it->err));
    refuse_halves(it);
    return as_probe_plan_make(&it->probes, it->result.program, &it->result.sites, &it->run.plan,
                              it->err);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

/* Sets the agent's reason for functions without calls, such as code that differs from the file. */
static void note_outcomes(struct function_trace *it, const struct as_instances *all)
{
    for (size_t i = 0; i < it->result.sites.n; i++) {
        struct as_probe_site *site = &it->result.sites.at[i];
        const struct as_probe_place *place = it->run.plan.place ? &it->run.plan.place[i] : NULL;
        if (site->refusal || !place || !all->plan || !it->run.probed.tally ||
            it->run.probed.tally[place->first_tally].calls)
            continue;
        const uint32_t region = as_probe_region_of(&it->run, all->plan, site);
        site->refusal = region < all->plan->region.n ? as_instances_why_not(all, region) : NULL;
    }
    refuse_halves(it);
}

struct function_writing {
    const struct function_trace *it;
    struct as_experiment *experiment;
    int64_t run_id;
};

static int add_function_flag(const struct function_writing *to, const char *name, const char *text,
                             int64_t n, struct as_error *err)
{
    const struct as_flag flag = {.run_id = to->run_id,
                                 .kind = AS_OBJECT_RUN,
                                 .object_id = to->run_id,
                                 .name = name,
                                 .text = text,
                                 .n = n};
    return as_experiment_flag(to->experiment, &flag, err);
}

/* Stores the cost of the probes. The trace itself stores the cost of writing its records. */
static int store_points_cost(const struct function_writing *to, struct as_error *err)
{
    const struct function_trace *it = to->it;
    const double cpu_ns = as_clones_cpu_ns(to->experiment, to->run_id);
    uint64_t calls = 0;
    double ns = 0;
    char text[512];
    for (uint64_t i = 0; it->run.probed.tally && i < it->run.plan.tallies; i++) {
        const struct as_probe_tally *tally = &it->run.probed.tally[i];
        calls += tally->calls;
        /* Interrupted calls are not timed; each counts with the mean of the timed ones. */
        if (tally->timed)
            ns += (double)tally->ticks / (double)tally->timed * (double)tally->calls *
                  it->run.tick.ns;
    }
    const struct as_row_overhead row = {.run_id = to->run_id,
                                        .part = "points of functions",
                                        .cpu_ns = as_known((int64_t)ns),
                                        .origin = "measured"};
    if (calls)
        AS_TRY(as_experiment_add_overhead(to->experiment, &row, NULL, err));
    if (calls < COST_TOLD_N || !(cpu_ns > 0) || 100 * ns < COST_TOLD_PCT * cpu_ns)
        return 0;
    snprintf(text, sizeof text,
             "probes of functions took %.3g s over all threads, %.3g %% of their CPU time (%.0f "
             "ns each): times of frequent calls are too long; use functions that are called less "
             "often",
             ns / 1e9, 100 * ns / cpu_ns, ns / (double)calls);
    return add_function_flag(to, "functions_cost", text, (int64_t)calls, err);
}

static int store_refusals(void *context, struct as_error *err)
{
    const struct function_writing *to = context;
    const struct function_trace *it = to->it;
    uint64_t lost = it->run.probed.no_library;
    int64_t more = 0, told = 0;
    char text[1024];
    for (size_t i = 0; i < it->result.sites.n; i++) {
        const struct as_probe_site *site = &it->result.sites.at[i];
        if (it->run.probed.tally && it->run.plan.place)
            lost += it->run.probed.tally[it->run.plan.place[i].first_tally].lost;
        if (!site->refusal || i % 2)
            continue;
        if (told++ >= TOLD_MOST) {
            more++;
            continue;
        }
        snprintf(text, sizeof text, "the function %.500s is not in the trace: %s",
                 it->probes.probe.at[site->probe].name, site->refusal);
        AS_TRY(add_function_flag(to, "function_untraced", text, 1, err));
    }
    if (more)
        AS_TRY(add_function_flag(to, "functions_untraced",
                                 "more functions of --functions are not in the trace; run 'assay "
                                 "patch' for the reasons",
                                 more, err));
    AS_TRY(store_points_cost(to, err));
    return lost ? add_function_flag(to, "functions_lost",
                                    "entries and exits of functions in signal handlers are not in "
                                    "the trace: they interrupted another record",
                                    (int64_t)lost, err)
                : 0;
}

/* ---- Run ------------------------------------------------------------------------------------- */

static int find_traced(struct function_trace *it, const char *file)
{
    struct as_launch_plan *plan;
    it->is_program = !file;
    if (file && !realpath(file, it->result.path))
        return as_error_set(it->err, AS_ERR_USAGE,
                            "--functions-of: cannot open %s: %s; use the path of a library or "
                            "program, as ldd shows it",
                            file, strerror(errno));
    if (file)
        return 0;
    AS_TRY(as_launch_plan(it->request.profile.command, &plan, it->err));
    as_trace_program(plan, it->result.path);
    as_launch_plan_free(&plan);
    return 0;
}

static int open_traced(struct function_trace *it, const struct as_traced_functions *functions)
{
    const struct as_attribute_options *how = &it->request.profile.attribute;
    const struct as_program_options options = {.jobs = how->jobs, .path_limit = AS_PATH_LIMIT};
    AS_TRY(find_traced(it, functions->file));
    AS_TRY(as_agent_library_beside("libassay-functions.so", it->library, it->err));
    AS_TRY(as_object_open(it->result.path, how->open, &it->result.object, it->err));
    AS_TRY(as_program_new(it->result.object, &options, &it->result.program, it->err));
    struct as_view rest = as_view_of(functions->names), pattern;
    while (next_pattern(&rest, &pattern))
        if (pattern.n)
            AS_TRY(choose_functions(it, pattern));
    return it->body.n ? 0
                      : as_error_set(it->err, AS_ERR_USAGE,
                                     "--functions: empty list; use names or patterns");
}

static int run_traced(struct function_trace *it, struct as_experiment *experiment,
                      struct as_profile_result *result)
{
    struct as_instances all = {.plan = (const void *)it->run.plan.points};
    const struct as_clones clones = {.plan = it->run.plan.points,
                                     .plan_n = it->run.plan.points_n,
                                     .program = it->is_program ? it->result.path : "",
                                     .out = &all,
                                     .also = as_probe_read_probed,
                                     .context = &it->run};
    int rc = it->run.plan.points
                 ? as_clones_join(experiment, &it->request.profile, &clones, result, it->err)
                 : as_profile_run(experiment, &it->request.profile, result, it->err);
    if (rc == 0 && it->run.plan.points)
        note_outcomes(it, &all);
    as_instances_fini(&all);
    struct function_writing to = {it, experiment, result->run_id};
    return rc < 0 ? rc : as_experiment_batch(experiment, store_refusals, &to, it->err);
}

static void close_traced(struct function_trace *it)
{
    as_probe_probed_fini(&it->run);
    as_probe_plan_fini(&it->run.plan);
    as_probe_result_fini(&it->result);
    as_vec_foreach (&it->probes.probe, probe)
        as_vec_fini(&probe->call);
    as_vec_fini(&it->probes.probe);
    as_arena_fini(&it->probes.arena);
    as_vec_fini(&it->body);
}

int as_trace_functions_run(struct as_experiment *experiment,
                           const struct as_profile_request *request,
                           const struct as_traced_functions *functions,
                           struct as_profile_result *result, struct as_error *err)
{
    struct function_trace it = {.err = err};
    it.request = (struct as_probe_request){.profile = *request, .probes = &it.probes};
    it.run = (struct as_probe_session){
        .experiment = experiment, .request = &it.request, .result = &it.result};
    as_arena_init(&it.probes.arena);
    int rc = open_traced(&it, functions);
    if (rc == 0)
        rc = make_probes(&it);
    if (rc == 0)
        rc = plan_functions(&it);
    it.run.tick = as_tick_calibrate();
    if (rc == 0)
        rc = run_traced(&it, experiment, result);
    close_traced(&it);
    return rc;
}
