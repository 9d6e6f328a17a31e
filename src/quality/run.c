/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pass: which modules and loops of a run matter, reading their code, for which nobody has to
 * wait, and writing what it says as values. Loops of the experiment and of the catalogue meet by
 * address and depth.
 */
#include <math.h>
#include <string.h>

#include <assay/quality.h>

#include "base/error.h"
#include "base/vec.h"
#include "quality/callee.h"
#include "quality/core_detail.h"
#include "quality/cqa_write.h"
#include "quality/detail.h"
#include "quality/metrics.h"
#include "quality/straight.h"
#include "quality/unit_run.h"
#include "quality/weights.h"

#define LEAST_SHARE 0.01
/* Of the run's time that a loop must have for the tables behind its figures to be kept. */
#define PAGE_SHARE "0.005"

enum metric { /* those that loops have, in the order of their names below */
              PATHS,
              STEERING,
              ACCESS,
              ACCESS_LEAST,
              ACCESS_MOST,
              INDIRECT,
              STRIDED,
              UNIT,
              UNKNOWN,
              STEADY,
              PACKED,
              DIVIDES,
              CARRIED,
              SUMS,
              OTHER_CARRIED,
              DATA_EXITS,
              WIDE,
              CALLS,
              ROOT_CALLS,
              COMPLEX_CALLS,
              OPTIONS, /* of functions, from here on */
              STRAIGHT_N,
              STRAIGHT_PACKED,
              METRIC_COUNT
};

static const char *const names[METRIC_COUNT] = {"flow_paths",
                                                "flow_steering_pct",
                                                "array_access_efficiency_pct",
                                                "array_access_least_pct",
                                                "array_access_most_pct",
                                                "access_indirect_n",
                                                "access_strided_n",
                                                "access_unit_n",
                                                "access_unknown_n",
                                                "access_steady_n",
                                                "fp_packed_pct",
                                                "fp_divide_n",
                                                "fp_carried_n",
                                                "fp_sum_n",
                                                "other_carried_n",
                                                "data_exit_n",
                                                "wide_access_pct",
                                                "call_n",
                                                "root_call_n",
                                                "complex_call_n",
                                                "compilation_options_pct",
                                                "straight_instruction_n",
                                                "straight_packed_pct"};

struct module {
    int64_t id;
    double share;
    struct assay_catalogue_module *code; /* NULL: has no loops to read */
};

struct loop {
    int64_t id;
    uint64_t address;
    uint32_t depth;
    bool wants_values, wants_page;  /* page: hot enough for tables behind its figures */
    bool wants_cqa;                 /* hot, and no loop inside: of this run */
    struct as_block_samples *block; /* where its samples fell, for ways through it */
    size_t block_n;
    struct as_cqa_kept cqa;
    struct as_core_kept core;
    const struct assay_program *program;
    const struct assay_object *object;
    uint32_t at;                          /* in `program` */
    struct assay_loop_facts facts;        /* where it wants values */
    uint32_t root_call_n, complex_call_n; /* so, too */
};

/* A function that takes its time outside loops, and whose code can be read. */
struct straight {
    int64_t id;
    struct as_straight_facts facts;
};

struct pass {
    struct assay_experiment *experiment;
    int64_t run_id;
    const struct assay_quality_options *options;
    struct assay_catalogue *catalogue;
    int64_t metric[METRIC_COUNT];
    AS_VEC(struct module) module;
    AS_VEC(struct loop) loop; /* whose code can be read */
    AS_VEC(struct straight) straight;
    struct as_arena arena; /* of what is kept of code quality analysis */
};

/* ---- What there is ------------------------------------------------------------------------- */

static int define_metrics(struct pass *p, struct assay_error *err)
{
    for (size_t i = 0; i < as_quality_metric_n; i++) {
        int64_t id;

        AS_TRY(assay_experiment_metric(p->experiment, &as_quality_metric[i].metric, &id, err));
        for (int k = 0; k < METRIC_COUNT; k++)
            if (strcmp(names[k], as_quality_metric[i].metric.name) == 0)
                p->metric[k] = id;
    }
    for (int k = 0; k < METRIC_COUNT; k++)
        if (!p->metric[k])
            return as_error_set(err, ASSAY_ERR_INTERNAL, "metric %s: is not in data/quality",
                                names[k]);
    return 0;
}

static const char modules_sql[] =
    "SELECT m.module_id, t.exclusive_share FROM object_time t JOIN module m"
    " ON m.module_id = t.object_id WHERE t.run_id = ?1 AND t.object_kind = 'module'"
    " AND m.kind IN ('executable', 'shared') ORDER BY t.exclusive_ns DESC, m.module_id";

static int list_module(void *pass, struct assay_rows *row, struct assay_error *err)
{
    struct pass *p = pass;
    const double least = p->options->share > 0 ? p->options->share : LEAST_SHARE;
    const struct module it = {.id = assay_rows_integer(row, 0), .share = assay_rows_real(row, 1)};

    return it.share >= least && as_vec_push(&p->module, it) < 0
               ? as_error_nomem(err, "the modules of a run")
               : 0;
}

static struct module *find_module(struct pass *p, int64_t id)
{
    as_vec_foreach (&p->module, it)
        if (it->id == id)
            return it;
    return NULL;
}

static int open_code(struct pass *p, struct module *module, struct assay_error *err)
{
    if (module->code)
        return 0;
    return assay_catalogue_open_row(p->catalogue, module->id, module->share,
                                    ASSAY_CATALOGUE_ANALYSED, &module->code, err);
}

/* Loops that have samples, and no values yet, or no tables yet and are hot: perhaps for
 * the first time, in a run that joined others. */
static const char loops_sql[] =
    "SELECT * FROM (SELECT l.loop_id, l.address, l.depth,"
    " NOT EXISTS (SELECT 1 FROM value v JOIN metric m USING (metric_id)"
    "             WHERE m.name = 'flow_paths' AND v.object_kind = 'loop'"
    "             AND v.object_id = l.loop_id AND v.run_id = 0) AS wants_values,"
    " t.exclusive_share >= " PAGE_SHARE
    " AND NOT EXISTS (SELECT 1 FROM detail d WHERE d.object_kind = 'loop'"
    "             AND d.object_id = l.loop_id AND d.name = 'mix') AS wants_page, f.module_id,"
    " l.is_innermost AND t.exclusive_share >= " PAGE_SHARE " AS wants_cqa"
    " FROM object_time t JOIN loop l ON l.loop_id = t.object_id JOIN function f USING (function_id)"
    " WHERE t.run_id = ?1 AND t.object_kind = 'loop' AND t.exclusive_n > 0)"
    " WHERE wants_values OR wants_page OR wants_cqa";

static int list_loop(void *pass, struct assay_rows *row, struct assay_error *err)
{
    struct pass *p = pass;
    struct loop it = {.id = assay_rows_integer(row, 0),
                      .address = (uint64_t)assay_rows_integer(row, 1),
                      .depth = (uint32_t)assay_rows_integer(row, 2),
                      .wants_values = assay_rows_integer(row, 3) != 0,
                      .wants_page = assay_rows_integer(row, 4) != 0,
                      .wants_cqa = assay_rows_integer(row, 6) != 0};
    struct module *module = find_module(p, assay_rows_integer(row, 5));

    if (!module)
        return 0;
    AS_TRY(open_code(p, module, err));
    it.program = module->code->program;
    it.object = module->code->object;
    if (it.program)
        it.at = assay_catalogue_find_loop(module->code, it.address, it.depth);
    if (it.program && it.at != ASSAY_NONE && it.wants_values) {
        it.root_call_n = as_quality_root_calls(module->code, it.at);
        it.complex_call_n = as_quality_complex_calls(module->code, it.at);
    }
    return it.program && it.at != ASSAY_NONE && as_vec_push(&p->loop, it) < 0
               ? as_error_nomem(err, "the loops of a run")
               : 0;
}

static const char blocks_sql[] =
    "SELECT b.loop_id, b.address, t.exclusive_n FROM object_time o JOIN loop l"
    " ON l.loop_id = o.object_id JOIN block b USING (loop_id) JOIN block_time t"
    " ON t.run_id = ?1 AND t.block_id = b.block_id WHERE o.run_id = ?1 AND o.object_kind = 'loop'"
    " AND o.exclusive_share >= " PAGE_SHARE " AND l.is_innermost AND t.exclusive_n > 0";

static struct loop *find_read_loop(struct pass *p, int64_t id)
{
    as_vec_foreach (&p->loop, it)
        if (it->id == id)
            return it;
    return NULL;
}

/* Of loops with several ways alone: there are few such. */
static int list_block(void *pass, struct assay_rows *row, struct assay_error *err)
{
    struct pass *p = pass;
    const struct as_block_samples it = {(uint64_t)assay_rows_integer(row, 1),
                                        assay_rows_integer(row, 2)};
    struct loop *loop = find_read_loop(p, assay_rows_integer(row, 0));

    if (!loop || !loop->wants_cqa || loop->program->loop[loop->at].paths < 2)
        return 0;
    if (!loop->block)
        loop->block = as_arena_fresh(&p->arena, struct as_block_samples,
                                     loop->program->loop[loop->at].blocks);
    if (!loop->block)
        return as_error_nomem(err, "the ways of a loop");
    if (loop->block_n < loop->program->loop[loop->at].blocks)
        loop->block[loop->block_n++] = it;
    return 0;
}

/* Functions with a share of the run outside their loops, and no values yet. */
static const char straight_sql[] =
    "SELECT f.function_id, f.address, f.module_id FROM object_time t"
    " JOIN function f ON f.function_id = t.object_id"
    " WHERE t.run_id = ?1 AND t.object_kind = 'function' AND t.exclusive_share >= 0.03"
    " AND f.address IS NOT NULL"
    " AND NOT EXISTS (SELECT 1 FROM value v JOIN metric m USING (metric_id)"
    "  WHERE m.name = 'straight_instruction_n' AND v.object_kind = 'function'"
    "  AND v.object_id = f.function_id AND v.run_id = 0)"
    " AND t.exclusive_n >= 2 * (SELECT ifnull(sum(o.exclusive_n), 0) FROM loop l"
    "  JOIN object_time o ON o.run_id = ?1 AND o.object_kind = 'loop'"
    "  AND o.object_id = l.loop_id WHERE l.function_id = f.function_id)";

static int list_straight(void *pass, struct assay_rows *row, struct assay_error *err)
{
    struct pass *p = pass;
    struct straight it = {.id = assay_rows_integer(row, 0)};
    struct module *module = find_module(p, assay_rows_integer(row, 2));

    if (!module)
        return 0;
    AS_TRY(open_code(p, module, err));
    return module->code->program &&
                   as_quality_straight(module->code->program, (uint64_t)assay_rows_integer(row, 1),
                                       &it.facts) &&
                   as_vec_push(&p->straight, it) < 0
               ? as_error_nomem(err, "the functions of a run")
               : 0;
}

/* ---- Reading ------------------------------------------------------------------------------- */

static int read_loops(void *pass, struct assay_error *err)
{
    struct pass *p = pass;

    as_vec_foreach (&p->loop, it)
        if (it->wants_values)
            AS_TRY(assay_quality_loop(it->program, it->at, &it->facts, err));
    return 0;
}

/* Means are over what the run went through, where its samples tell. */
static int analyse_loop(struct pass *p, struct assay_cqa_engine *engine, struct as_core_asked *core,
                        struct loop *it, struct assay_error *err)
{
    struct assay_cqa_options options = {0};
    struct assay_cqa found;
    double *weight;

    AS_TRY(as_quality_weights(&p->arena, it->program, it->at, it->block, it->block_n, &weight,
                              &options.weight_n, err));
    options.weight = weight;
    AS_TRY(assay_cqa_loop(engine, it->program, it->at, &options, &found, err));
    AS_TRY(as_cqa_keep(&p->arena, &found, &it->cqa, err));
    core->object = it->object;
    core->program = it->program;
    core->loop = it->at;
    core->weight = weight;
    core->weight_n = options.weight_n;
    return as_core_keep(&p->arena, core, &it->core, err);
}

/* Code quality analysis of hot loops, where there is a table of the core. */
static int analyse_loops(struct pass *p, struct assay_error *err)
{
    const char *core = assay_uarch_host();
    struct assay_uarch *uarch = NULL;
    struct assay_cqa_engine *engine = NULL;
    int rc = core ? assay_uarch_open(core, &uarch, err) : 0;

    struct as_core_asked asked = {.uarch = uarch};

    if (rc == 0 && uarch)
        rc = assay_cqa_engine_new(uarch, &engine, err);
    if (rc == 0 && uarch)
        rc = assay_predictor_new(uarch, &asked.predictor, err);
    as_vec_foreach (&p->loop, it)
        if (rc == 0 && engine && it->wants_cqa)
            rc = analyse_loop(p, engine, &asked, it, err);
    assay_predictor_free(&asked.predictor);
    assay_cqa_engine_free(&engine);
    assay_uarch_free(&uarch);
    return rc;
}

static int read_code(void *pass, struct assay_error *err)
{
    AS_TRY(read_loops(pass, err));
    return analyse_loops(pass, err);
}

static bool is_analysed(const struct pass *p)
{
    as_vec_foreach (&p->loop, it)
        if (it->cqa.is_there)
            return true;
    return false;
}

static int write_analysed(const struct pass *p, struct assay_error *err)
{
    struct as_cqa_writer writer;

    if (!is_analysed(p))
        return 0;
    AS_TRY(as_cqa_writer_open(p->experiment, p->run_id, &writer, err));
    int rc = 0;
    as_vec_foreach (&p->loop, it) {
        if (rc == 0 && it->cqa.is_there)
            rc = as_cqa_write(&writer, it->id, &it->cqa, err);
        if (rc == 0 && it->core.insn_n)
            rc = as_core_write(p->experiment, it->id, &it->core, err);
    }
    as_cqa_writer_close(&writer);
    return rc;
}

/* ---- Values of loops ----------------------------------------------------------------------- */

static int set_value(const struct pass *p, enum metric metric, int64_t loop_id,
                     struct assay_quantity quantity, struct assay_error *err)
{
    const struct assay_subject loop = {.kind = ASSAY_OBJECT_LOOP, .object_id = loop_id};

    return assay_experiment_value(p->experiment, p->metric[metric], &loop, quantity, err);
}

static int set_count(const struct pass *p, enum metric metric, int64_t loop_id, double n,
                     struct assay_error *err)
{
    return set_value(p, metric, loop_id, assay_exact(n, 1), err);
}

/* The bounds always; a value where they are one. */
static int write_access(const struct pass *p, int64_t id, double low, double high,
                        struct assay_error *err)
{
    if (high - low < 1e-9)
        AS_TRY(set_value(p, ACCESS, id, assay_derived(low, low, low, 1), err));
    AS_TRY(set_value(p, ACCESS_LEAST, id, assay_derived(low, low, low, 1), err));
    return set_value(p, ACCESS_MOST, id, assay_derived(high, high, high, 1), err);
}

static int write_loop(const struct pass *p, int64_t id, const struct assay_loop_facts *facts,
                      struct assay_error *err)
{
    const uint32_t fp_n = facts->fp_packed_n + facts->fp_scalar_n;
    const uint32_t *stream = facts->stream_n;

    AS_TRY(set_count(p, PATHS, id, (double)facts->path_n, err));
    if (facts->insn_n)
        AS_TRY(set_count(p, STEERING, id, 100.0 * facts->steer_n / facts->insn_n, err));
    if (facts->access_low >= 0)
        AS_TRY(write_access(p, id, 100 * facts->access_low, 100 * facts->access_high, err));
    AS_TRY(set_count(p, INDIRECT, id, stream[ASSAY_STRIDE_INDIRECT], err));
    AS_TRY(set_count(p, STRIDED, id, stream[ASSAY_STRIDE_CONSTANT], err));
    AS_TRY(set_count(p, UNIT, id, stream[ASSAY_STRIDE_ZERO] + stream[ASSAY_STRIDE_UNIT], err));
    AS_TRY(set_count(p, UNKNOWN, id, stream[ASSAY_STRIDE_UNKNOWN] - facts->steady_n, err));
    AS_TRY(set_count(p, STEADY, id, facts->steady_n, err));
    if (fp_n)
        AS_TRY(set_count(p, PACKED, id, 100.0 * facts->fp_packed_n / fp_n, err));
    AS_TRY(set_count(p, DIVIDES, id, facts->fp_divide_n, err));
    AS_TRY(set_count(p, CARRIED, id, facts->fp_carried_n, err));
    AS_TRY(set_count(p, SUMS, id, facts->fp_sum_n, err));
    AS_TRY(set_count(p, OTHER_CARRIED, id, facts->other_carried_n, err));
    AS_TRY(set_count(p, DATA_EXITS, id, facts->data_exit_n, err));
    if (facts->moving_n)
        AS_TRY(set_count(p, WIDE, id, 100.0 * facts->wide_n / facts->moving_n, err));
    return set_count(p, CALLS, id, facts->call_n, err);
}

static int write_loops(const struct pass *p, struct assay_error *err)
{
    as_vec_foreach (&p->loop, it) {
        if (it->wants_values)
            AS_TRY(write_loop(p, it->id, &it->facts, err));
        if (it->wants_values)
            AS_TRY(set_count(p, ROOT_CALLS, it->id, it->root_call_n, err));
        if (it->wants_values)
            AS_TRY(set_count(p, COMPLEX_CALLS, it->id, it->complex_call_n, err));
        if (it->wants_page)
            AS_TRY(as_quality_details(p->experiment, it->id, it->program, it->at, err));
    }
    return 0;
}

static int write_straight(const struct pass *p, struct assay_error *err)
{
    as_vec_foreach (&p->straight, it) {
        const struct assay_subject function = {.kind = ASSAY_OBJECT_FUNCTION, .object_id = it->id};
        const uint32_t fp_n = it->facts.fp_packed_n + it->facts.fp_scalar_n;

        AS_TRY(assay_experiment_value(p->experiment, p->metric[STRAIGHT_N], &function,
                                      assay_exact(it->facts.insn_n, 1), err));
        if (fp_n)
            AS_TRY(assay_experiment_value(p->experiment, p->metric[STRAIGHT_PACKED], &function,
                                          assay_exact(100.0 * it->facts.fp_packed_n / fp_n, 1),
                                          err));
    }
    return 0;
}

/* Modules whose loops cannot be read. */
static int write_unread(const struct pass *p, struct assay_error *err)
{
    as_vec_foreach (&p->module, it) {
        const struct assay_flag flag = {.run_id = p->run_id,
                                        .kind = ASSAY_OBJECT_MODULE,
                                        .object_id = it->id,
                                        .name = "code_not_read",
                                        .text = it->code ? it->code->trouble.text : "",
                                        .n = 1};

        if (it->code && !it->code->program)
            AS_TRY(assay_experiment_flag(p->experiment, &flag, err));
    }
    return 0;
}

/* ---- All ----------------------------------------------------------------------------------- */

static int find_loops(struct pass *p, struct assay_error *err)
{
    AS_TRY(assay_rows_each(p->experiment, modules_sql, p->run_id, list_module, p, err));
    AS_TRY(assay_rows_each(p->experiment, loops_sql, p->run_id, list_loop, p, err));
    AS_TRY(assay_rows_each(p->experiment, blocks_sql, p->run_id, list_block, p, err));
    return assay_rows_each(p->experiment, straight_sql, p->run_id, list_straight, p, err);
}

static int write_all(void *pass, struct assay_error *err)
{
    struct pass *p = pass;

    AS_TRY(define_metrics(p, err));
    AS_TRY(write_unread(p, err));
    AS_TRY(write_loops(p, err));
    AS_TRY(write_straight(p, err));
    AS_TRY(write_analysed(p, err));
    return as_quality_units(p->experiment, p->run_id, p->metric[OPTIONS], err);
}

static int look(struct pass *p, struct assay_error *err)
{
    const struct assay_quality_options *options = p->options;

    if (options->progress)
        options->progress(options->context, "reading hot code", 0, 1);
    AS_TRY(find_loops(p, err));
    AS_TRY(options->aside ? options->aside(options->aside_context, read_code, p, err)
                          : read_code(p, err));
    return assay_experiment_batch(p->experiment, write_all, p, err);
}

int assay_quality_run(struct assay_experiment *experiment, int64_t run_id,
                      const struct assay_quality_options *options, struct assay_error *err)
{
    static const struct assay_quality_options defaults;
    struct pass p = {
        .experiment = experiment, .run_id = run_id, .options = options ? options : &defaults};
    const struct assay_catalogue_options how = {.jobs = p.options->jobs, .open = p.options->open};
    struct assay_catalogue *own = NULL;
    int rc = p.options->catalogue ? 0 : assay_catalogue_new(experiment, &how, &own, err);

    as_arena_init(&p.arena);
    p.catalogue = own ? own : p.options->catalogue;
    if (rc == 0)
        rc = look(&p, err);
    as_vec_foreach (&p.module, it)
        assay_catalogue_close(p.catalogue, &it->code);
    assay_catalogue_free(&own);
    as_vec_fini(&p.module);
    as_vec_fini(&p.loop);
    as_vec_fini(&p.straight);
    as_arena_fini(&p.arena);
    return rc;
}
