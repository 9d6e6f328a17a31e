/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code quality analysis of one loop: metrics and variants of each path, and their mean. This file
 * has the order of the steps; the other files cqa_*.c compute the parts.
 */
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "quality/cqa.h"
#include "quality/cqa_write.h"
#include "quality/weights.h"

#define TIMES_UNKNOWN 10 /* iterations of a loop with an unknown trip count */
#define DEPTH_COUNTED 3  /* max counted depth; deep nests are mostly drivers with few iterations */

/* ---- Metrics by name ----------------------------------------------------------------------- */

size_t as_cqa_metric_count(void)
{
    return AS_CQA_METRICS;
}

const struct as_metric *as_cqa_metric(size_t number)
{
    return number < AS_CQA_METRICS ? &as_cqa_metric_row[number].metric : NULL;
}

int as_cqa_metric_find(const char *name)
{
    for (int i = 0; i < AS_CQA_METRICS; i++)
        if (strcmp(as_cqa_metric_row[i].metric.name, name) == 0)
            return i;
    return -1;
}

/* ---- The engine ---------------------------------------------------------------------------- */

int as_cqa_engine_new(const struct as_uarch *uarch, struct as_cqa_engine **out,
                      struct as_error *err)
{
    struct as_cqa_engine *engine = *out = as_calloc(1, sizeof *engine);

    if (!engine)
        return as_error_nomem(err, "code quality analysis");
    engine->uarch = uarch;
    as_arena_init(&engine->arena);
    if (as_predictor_new(uarch, &engine->predictor, err) < 0) {
        as_cqa_engine_free(out);
        return AS_ERR_NOMEM;
    }
    as_cqa_find_peaks(engine);
    as_cqa_find_few(engine);
    return 0;
}

void as_cqa_engine_free(struct as_cqa_engine **engine)
{
    struct as_cqa_engine *e = *engine;

    *engine = NULL;
    if (!e)
        return;
    as_predictor_free(&e->predictor);
    as_cqa_list_fini(&e->list);
    as_arena_fini(&e->arena);
    as_vector_verdict_free(&e->verdict);
    as_free(e);
}

void as_cqa_engine_figures(struct as_cqa_engine *engine, const struct as_figures *figures)
{
    engine->figures = figures;
}

/* ---- One path ------------------------------------------------------------------------------ */

struct analysing {
    struct as_cqa_engine *engine;
    const struct as_cqa_options *options;
    const struct as_program *program;
    uint32_t loop;
    uint64_t path_n;
    const struct as_vector_verdict *verdict;
};

static int copy_chain(struct as_cqa_engine *engine, const struct as_cqa_body *body,
                      const struct as_prediction *found, struct as_cqa_as_is *as_is,
                      struct as_cqa_path *out)
{
    struct as_chain_step *step =
        as_arena_array(&engine->arena, struct as_chain_step, found->chain_n + 1);

    out->chain = as_arena_array(&engine->arena, uint32_t, found->chain_n + 1);
    if (!step || !out->chain)
        return AS_ERR_NOMEM;
    for (size_t i = 0; i < found->chain_n; i++) {
        step[i] = found->chain[i];
        if (step[i].insn < body->n)
            out->chain[out->chain_n++] = body->item[step[i].insn].insn;
    }
    as_is->chain = step;
    as_is->chain_n = found->chain_n;
    return 0;
}

/* Returns the number of loads on the chain with an address that an instruction of
 * the chain writes. */
static double count_chased(const struct as_cqa_body *body, const struct as_cqa_as_is *as_is)
{
    unsigned chased = 0;

    for (size_t i = 0; i < as_is->chain_n; i++) {
        struct as_memory memory[2];
        const size_t reader = as_is->chain[i].insn;
        const int n =
            reader < body->n ? as_insn_memory(&body->code, &body->code.insn[reader], memory) : 0;
        bool is_chased = false;

        for (size_t k = 0; n > 0 && k < as_is->chain_n; k++) {
            const size_t writer = as_is->chain[k].insn;

            if (writer < body->n && !memory[0].stack && memory[0].access & AS_ACCESS_READ)
                is_chased |= as_regset_has(body->effects[writer].written, memory[0].base) ||
                             as_regset_has(body->effects[writer].written, memory[0].index);
        }
        chased += is_chased;
    }
    return chased;
}

static int copy_path_insns(struct as_cqa_engine *engine, const struct as_cqa_body *body,
                           const struct as_prediction *found, struct as_cqa_path *out)
{
    out->insn = as_arena_array(&engine->arena, struct as_cqa_insn, found->insn_n + 1);
    if (!out->insn)
        return AS_ERR_NOMEM;
    out->insn_n = found->insn_n;
    for (size_t i = 0; i < found->insn_n; i++) {
        const struct as_insn_prediction *from = &found->insn[i];

        out->insn[i] = (struct as_cqa_insn){
            .insn = body->item[i].insn,
            .fused = from->fused,
            .eliminated = from->eliminated && !from->fused,
            .estimated = from->estimated,
            .chain = from->chain,
            .packed = body->item[i].packed,
            .packable = body->item[i].packable,
            .slots = from->slots,
            .latency = from->latency,
            .throughput = (float)as_cqa_own_throughput(engine->uarch, from->timing)};
    }
    return 0;
}

static int predict_worst(struct as_cqa_engine *engine, const struct as_cqa_body *body,
                         double *cycles, struct as_error *err)
{
    const struct as_predict_options worst = {.without = AS_WITHOUT_SIMULATION | AS_WITHOUT_SPREAD,
                                             .worst = true};
    struct as_prediction found;

    AS_TRY(as_predict(engine->predictor, &body->code, 0, body->n, &worst, &found, err));
    *cycles = fmax(*cycles, found.cycles);
    return 0;
}

static int predict_as_is(const struct analysing *a, const struct as_cqa_body *body,
                         struct as_cqa_as_is *as_is, struct as_cqa_path *out, struct as_error *err)
{
    const struct as_predict_options options = {
        .simulate = !a->options->bounds_only, /* as `assay predict` does, so that cycles agree */
        .without = a->options->bounds_only ? AS_WITHOUT_SIMULATION | AS_WITHOUT_SPREAD : 0};
    struct as_prediction found;

    AS_TRY(as_predict(a->engine->predictor, &body->code, 0, body->n, &options, &found, err));
    out->value[AS_CQA_CYCLES] = found.cycles;
    if (!a->options->promise_only) {
        as_cqa_set_prediction(a->engine, &found, out->value);
        out->value[AS_CQA_PEAK_FP_PER_CY] = as_cqa_peak_of_mix(a->engine, body, &found);
    }
    as_is->few = as_cqa_set_few(a->engine, body, &found, out->value);
    as_is->few_cy = as_is->few < AS_FEWS ? out->value[AS_CQA_FEW_PORTS_SHUFFLE_CY + as_is->few] : 0;
    as_is->load_cy = found.load_cy;
    out->port_use = as_arena_array(&a->engine->arena, double, found.port_n + 1);
    if (!out->port_use || copy_chain(a->engine, body, &found, as_is, out) < 0 ||
        (a->options->experts && copy_path_insns(a->engine, body, &found, out) < 0))
        return as_error_nomem(err, "code quality analysis");
    out->value[AS_CQA_CHAIN_CHASE_N] = count_chased(body, as_is);
    memcpy(out->port_use, found.port_use, found.port_n * sizeof *out->port_use);
    memcpy(as_is->bounds, found.bounds, sizeof as_is->bounds);
    memcpy(as_is->limit, found.limit, sizeof as_is->limit);
    memcpy(out->limit, found.limit, sizeof out->limit);
    as_is->bound = out->bound = found.bound;
    as_is->cycles = found.cycles;
    /* If buffers and issue order cost cycles here, they may also cost cycles in the variants. */
    as_is->simulate |= found.bound == AS_BOUND_WINDOW;
    out->value[AS_CQA_CYCLES_WORST] = found.cycles;
    return found.varies && !a->options->promise_only
               ? predict_worst(a->engine, body, &out->value[AS_CQA_CYCLES_WORST], err)
               : 0;
}

static void set_loop_identity(const struct analysing *a, double *m)
{
    const struct as_loop *loop = a->loop == AS_NONE ? NULL : &a->program->loop[a->loop];
    const bool known = loop && loop->unroll > 0;

    m[AS_CQA_DEPTH_N] = loop ? (double)loop->depth : NAN;
    m[AS_CQA_PATH_N] = fmin((double)a->path_n, UINT32_MAX); /* the limit of as_loop.paths */
    m[AS_CQA_UNROLL_N] = known ? loop->unroll : NAN;
    m[AS_CQA_UNROLL_TRUST_PCT] = known ? loop->unroll_confidence : NAN;
}

/* Sets the counted metrics and the metrics derived from them. */
static void set_path_metrics(const struct analysing *a, const struct as_cqa_body *body,
                             const struct as_streams *streams, double *m)
{
    as_cqa_count(body, m);
    as_cqa_set_machine(a->engine, body, m);
    as_cqa_set_levels(a->engine, streams, m);
    set_loop_identity(a, m);
    as_cqa_derive(m);
}

/* Returns the estimated iterations of the path's loop per call of its function, to rank loops. */
static double times_promised(const struct as_loop *loop, const struct as_cqa_path *path)
{
    const double trips = path->value[AS_CQA_TRIP_N];
    const bool left_over = loop->role != AS_ROLE_MAIN && loop->role != AS_ROLE_VERSION;
    double times = left_over ? 1 : isnan(trips) ? TIMES_UNKNOWN : trips;

    if (path->obstacles & AS_CQA_OBSTACLE_CALL) /* its time is in the callee */
        return 1;
    for (uint32_t depth = 1; depth < loop->depth && depth < DEPTH_COUNTED; depth++)
        times *= TIMES_UNKNOWN;
    return times;
}

/* Returns false if the only path has fewer cycles than `least`, so that no variant can save as
 * many. */
static bool may_promise(const struct analysing *a, const struct as_cqa_path *path)
{
    return a->path_n > 1 || a->loop == AS_NONE ||
           times_promised(&a->program->loop[a->loop], path) * path->value[AS_CQA_CYCLES] >=
               a->options->least;
}

static int analyse_path(const struct analysing *a, const uint32_t *block, size_t block_n,
                        const struct as_streams *streams, struct as_cqa_path *out,
                        struct as_error *err)
{
    struct as_cqa_body body;
    struct as_cqa_as_is as_is = {.body = &body, .simulate = a->options->simulate};

    out->value = as_arena_array(&a->engine->arena, double, AS_CQA_METRICS);
    if (!out->value || as_cqa_body_make(&a->engine->arena, a->program, a->loop, block, block_n,
                                        streams, &body) < 0)
        return as_error_nomem(err, "code quality analysis");
    if (!body.n)
        return 0;
    AS_TRY(predict_as_is(a, &body, &as_is, out, err));
    out->value[AS_CQA_TRIP_N] = as_cqa_trips(a->program, a->loop, streams);
    out->obstacles = as_is.obstacles = as_cqa_obstacles(&body, a->verdict, a->path_n > 1);
    if (a->options->promise_only)
        return may_promise(a, out) ? as_cqa_best_what_ifs(a->engine, &as_is, out->what_if, err) : 0;
    set_path_metrics(a, &body, streams, out->value);
    return a->options->without_what_ifs ? 0 : as_cqa_what_ifs(a->engine, &as_is, out->what_if, err);
}

/* ---- The mean ------------------------------------------------------------------------------ */

/* Sets the weights of the paths by the options, else by the code. Their sum is 1. */
static int set_weights(const struct analysing *a, const struct as_paths *paths, struct as_cqa *out,
                       struct as_error *err)
{
    const struct as_cqa_options *options = a->options;
    double *likely = NULL, sum = 0;

    out->weighed = options->weight && !out->merged;
    if (!out->weighed && out->path_n > 1)
        AS_TRY(
            as_quality_static_weights(&a->engine->arena, a->program, a->loop, paths, &likely, err));
    for (size_t i = 0; i < out->path_n; i++) {
        const bool known = out->weighed && i < options->weight_n;

        out->path[i].weight = likely ? likely[i] : known ? options->weight[i] : !out->weighed;
        sum += out->path[i].weight;
    }
    for (size_t i = 0; i < out->path_n; i++)
        out->path[i].weight = sum > 0 ? out->path[i].weight / sum : 1 / (double)out->path_n;
    return 0;
}

size_t as_cqa_heaviest(const struct as_cqa *out)
{
    size_t most = 0;

    for (size_t i = 1; i < out->path_n; i++)
        if (out->path[i].weight > out->path[most].weight)
            most = i;
    return most;
}

static const struct as_cqa_path *heaviest(const struct as_cqa *out)
{
    return &out->path[as_cqa_heaviest(out)];
}

static void mean_what_if(struct as_cqa *out, unsigned variant)
{
    struct as_cqa_what_if *mean = &out->mean.what_if[variant];

    *mean = heaviest(out)->what_if[variant];
    mean->applies = false;
    mean->sound = true;
    mean->cycles = 0;
    for (size_t i = 0; i < out->path_n; i++) {
        const struct as_cqa_path *path = &out->path[i];

        if (path->what_if[variant].applies && !mean->applies)
            mean->why = path->what_if[variant].why; /* of a path to which the variant applies */
        mean->applies |= path->what_if[variant].applies;
        mean->sound &= path->what_if[variant].sound || !path->what_if[variant].applies;
        mean->cycles += path->weight * path->what_if[variant].cycles;
    }
    mean->sound &= mean->applies;
    mean->speedup = mean->cycles > 0 ? out->mean.value[AS_CQA_CYCLES] / mean->cycles : 0;
}

/* Returns the possible operations of all paths over the cycles of all paths. A maximum that holds
 * for each path then also holds for the mean. */
static double mean_peak(const struct as_cqa *out)
{
    double operations = 0, cycles = 0;

    for (size_t i = 0; i < out->path_n; i++) {
        const struct as_cqa_path *path = &out->path[i];
        const double took = path->weight * path->value[AS_CQA_CYCLES];

        operations += took * path->value[AS_CQA_PEAK_FP_PER_CY];
        cycles += took;
    }
    return cycles > 0 ? operations / cycles : NAN;
}

static int find_mean(const struct analysing *a, const struct as_paths *paths, struct as_cqa *out,
                     struct as_error *err)
{
    struct as_cqa_engine *engine = a->engine;
    const struct as_cqa_options *options = a->options;
    const unsigned port_n = engine->uarch->port_n;
    struct as_cqa_path *mean = &out->mean;

    mean->value = as_arena_array(&engine->arena, double, AS_CQA_METRICS);
    mean->port_use = as_arena_array(&engine->arena, double, port_n + 1);
    if (!mean->value || !mean->port_use)
        return as_error_nomem(err, "code quality analysis");
    AS_TRY(set_weights(a, paths, out, err));
    mean->weight = 1;
    for (size_t i = 0; i < out->path_n; i++) {
        const struct as_cqa_path *path = &out->path[i];

        mean->obstacles |= path->obstacles;
        for (unsigned k = 0; k < AS_CQA_METRICS; k++)
            mean->value[k] += path->weight * path->value[k];
        for (unsigned k = 0; path->port_use && k < port_n; k++)
            mean->port_use[k] += path->weight * path->port_use[k];
    }
    mean->value[AS_CQA_PEAK_FP_PER_CY] = mean_peak(out);
    if (!options->promise_only)
        as_cqa_derive(mean->value);
    mean->bound = heaviest(out)->bound;
    memcpy(mean->limit, heaviest(out)->limit, sizeof mean->limit);
    mean->chain = heaviest(out)->chain;
    mean->chain_n = heaviest(out)->chain_n;
    for (unsigned v = 0; v < AS_CQA_VARIANTS && !options->without_what_ifs; v++)
        mean_what_if(out, v);
    return 0;
}

/* ---- The best of the variants -------------------------------------------------------------- */

int as_cqa_best(const struct as_cqa_path *path)
{
    const bool stays = path->obstacles & (AS_CQA_OBSTACLE_RECURRENCE | AS_CQA_OBSTACLE_MEMORY);
    int best = -1;

    for (int v = 0; v < AS_CQA_VARIANTS; v++) {
        const struct as_cqa_what_if *it = &path->what_if[v];
        const bool counts = v == AS_CQA_CLEAN || v == AS_CQA_FP_VECTOR || v == AS_CQA_VECTOR ||
                            v == AS_CQA_INDEPENDENT;

        if (counts && it->applies && it->speedup > 1.05 &&
            (v == AS_CQA_CLEAN || (v == AS_CQA_INDEPENDENT && !stays) || it->sound) &&
            (best < 0 || it->speedup > path->what_if[best].speedup))
            best = v;
    }
    return best;
}

double as_cqa_promise(const struct as_cqa *cqa)
{
    const int best = cqa->path_n ? as_cqa_best(&cqa->mean) : -1;

    if (best < 0 || cqa->loop == AS_NONE)
        return 0;
    return times_promised(&cqa->program->loop[cqa->loop], &cqa->mean) *
           (cqa->mean.value[AS_CQA_CYCLES] - cqa->mean.what_if[best].cycles);
}

/* ---- Loops and functions ------------------------------------------------------------------- */

/* Returns the extensions that a path needs and the core lacks, as bits. */
static uint64_t find_lacks(const struct analysing *a, const struct as_paths *paths)
{
    const struct as_program *program = a->program;
    uint64_t lacks = 0;

    for (size_t i = 0; i < paths->path_n; i++)
        for (uint32_t k = 0; k < paths->path[i].blocks; k++) {
            const struct as_block *block = &program->block[paths->block[paths->path[i].first + k]];

            for (uint32_t at = 0; at < block->insns; at++)
                lacks |=
                    as_uarch_lacks(a->engine->uarch, &program->code.insn[block->first_insn + at]);
        }
    return lacks;
}

static int analyse_paths(const struct analysing *a, const struct as_paths *paths,
                         const struct as_streams *streams, struct as_cqa *out, struct as_error *err)
{
    out->lacks = find_lacks(a, paths);
    if (out->lacks)
        return 0;
    out->path = as_arena_array(&a->engine->arena, struct as_cqa_path, paths->path_n + 1);
    if (!out->path)
        return as_error_nomem(err, "code quality analysis");
    out->path_n = paths->path_n;
    for (size_t i = 0; i < paths->path_n; i++) {
        const struct as_path *path = &paths->path[i];

        out->path[i].number = paths->merged ? 0 : (uint32_t)i + 1;
        AS_TRY(
            analyse_path(a, paths->block + path->first, path->blocks, streams, &out->path[i], err));
    }
    return paths->path_n ? find_mean(a, paths, out, err) : 0;
}

static const struct as_cqa_options defaults;

int as_cqa_loop(struct as_cqa_engine *engine, const struct as_program *program, uint32_t loop,
                const struct as_cqa_options *options, struct as_cqa *out, struct as_error *err)
{
    struct analysing a = {.engine = engine,
                          .options = options ? options : &defaults,
                          .program = program,
                          .loop = loop};
    const unsigned limit = a.options->path_limit ? a.options->path_limit : AS_PATH_LIMIT;
    struct as_paths paths;
    struct as_streams streams;

    *out = (struct as_cqa){.program = program, .loop = loop, .body = program->loop[loop].body};
    as_arena_reset(&engine->arena);
    if (program->loop[loop].bits & AS_LOOP_OUTSIZE) {
        out->outsize = true;
        return 0;
    }
    as_vector_verdict_free(&engine->verdict);
    AS_TRY(as_loop_vector_verdict(program, loop, &engine->verdict, err));
    out->verdict = a.verdict = &engine->verdict;
    AS_TRY(as_loop_paths(program, loop, limit == UINT_MAX ? 0 : limit, &paths, err));
    out->path_count = paths.count;
    out->merged = paths.merged;
    a.path_n = paths.count;
    int rc = as_loop_streams(program, loop, &streams, err);
    if (rc == 0) {
        rc = analyse_paths(&a, &paths, &streams, out, err);
        as_streams_free(&streams);
    }
    as_paths_free(&paths);
    return rc;
}

int as_cqa_function_body(struct as_cqa_engine *engine, const struct as_program *program,
                         uint32_t body, const struct as_cqa_options *options, struct as_cqa *out,
                         struct as_error *err)
{
    const struct as_body *from = &program->body[body];
    const struct analysing a = {.engine = engine,
                                .options = options ? options : &defaults,
                                .program = program,
                                .loop = AS_NONE,
                                .path_n = 1};
    struct as_path path = {0};
    struct as_paths paths = {.path = &path, .path_n = 1, .count = 1};

    *out = (struct as_cqa){.program = program, .loop = AS_NONE, .body = body, .path_count = 1};
    as_arena_reset(&engine->arena);
    paths.block = as_arena_array(&engine->arena, uint32_t, from->blocks + 1u);
    if (!paths.block)
        return as_error_nomem(err, "code quality analysis");
    for (uint32_t i = 0; i < from->blocks; i++)
        if (program->block[from->first_block + i].loop == AS_NONE &&
            program->block[from->first_block + i].insns)
            paths.block[path.blocks++] = from->first_block + i;
    paths.path_n = path.blocks > 0;
    return analyse_paths(&a, &paths, NULL, out, err);
}
