/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pass over a run: finds the modules and loops that matter and reads their code. The caller may
 * let other passes use the experiment meanwhile. Loops of the experiment and of the catalogue match
 * by address and depth. run_write.c writes the results.
 */
#include "quality/run.h"
#include "base/error.h"
#include "base/vec.h"
#include "experiment/metric_names.h"
#include "machine/machine.h"
#include "quality/callee.h"
#include "quality/quality.h"
#include "quality/straight.h"
#include "quality/weights.h"

#define LEAST_SHARE 0.01
/* Min share of the run's time for a loop to get tables on its page. */
#define PAGE_SHARE "0.005"

/* ---- Lists of the experiment --------------------------------------------------------------- */

static const char modules_sql[] =
    "SELECT m.module_id, t.exclusive_share FROM object_time t JOIN module m"
    " ON m.module_id = t.object_id WHERE t.run_id = ?1 AND t.object_kind = 'module'"
    " AND m.kind IN ('executable', 'shared') ORDER BY t.exclusive_ns DESC, m.module_id";

static int list_module(void *pass, struct as_rows *row, struct as_error *err)
{
    struct as_quality_pass *p = pass;
    const double least = p->options->share > 0 ? p->options->share : LEAST_SHARE;
    const struct as_quality_module it = {.id = as_rows_integer(row, 0),
                                         .share = as_rows_real(row, 1)};

    return it.share >= least && as_vec_push(&p->module, it) < 0
               ? as_error_nomem(err, "the modules of a run")
               : 0;
}

static int open_code(struct as_quality_pass *p, struct as_quality_module *module,
                     struct as_error *err)
{
    if (module->code)
        return 0;
    return as_catalogue_open_row(p->catalogue, module->id, module->share, AS_CATALOGUE_ANALYSED,
                                 &module->code, err);
}

/* Loops with samples that have no values yet, and hot loops. A hot loop without tables gets them: a
 * later run of the experiment may make a loop hot. */
static const char loops_sql[] =
    "SELECT * FROM (SELECT l.loop_id, l.address, l.depth,"
    " NOT EXISTS (SELECT 1 FROM value v JOIN metric m USING (metric_id)"
    "             WHERE m.name = '" AS_METRIC_flow_paths "' AND v.object_kind = 'loop'"
    "             AND v.object_id = l.loop_id AND v.run_id = 0) AS wants_values,"
    " t.exclusive_share >= " PAGE_SHARE
    " AND NOT EXISTS (SELECT 1 FROM detail d WHERE d.object_kind = 'loop'"
    "             AND d.object_id = l.loop_id AND d.name = 'mix') AS wants_page, f.module_id,"
    " l.is_innermost AND t.exclusive_share >= " PAGE_SHARE " AS wants_cqa,"
    " t.exclusive_share >= " PAGE_SHARE " AS wants_branches"
    " FROM object_time t JOIN loop l ON l.loop_id = t.object_id JOIN function f USING (function_id)"
    " WHERE t.run_id = ?1 AND t.object_kind = 'loop' AND t.exclusive_n > 0)"
    " WHERE wants_values OR wants_branches";

static int list_loop(void *pass, struct as_rows *row, struct as_error *err)
{
    struct as_quality_pass *p = pass;
    struct as_quality_hot_loop it = {.id = as_rows_integer(row, 0),
                                     .address = (uint64_t)as_rows_integer(row, 1),
                                     .depth = (uint32_t)as_rows_integer(row, 2),
                                     .wants_values = as_rows_integer(row, 3) != 0,
                                     .wants_page = as_rows_integer(row, 4) != 0,
                                     .wants_cqa = as_rows_integer(row, 6) != 0,
                                     .wants_branches = as_rows_integer(row, 7) != 0};
    struct as_quality_module *module = as_vec_find(&p->module, id, as_rows_integer(row, 5));

    if (!module)
        return 0;
    AS_TRY(open_code(p, module, err));
    it.program = module->code->program;
    it.object = module->code->object;
    if (it.program)
        it.at = as_catalogue_find_loop(module->code, it.address, it.depth);
    if (it.program && it.at != AS_NONE && it.wants_values)
        it.calls = as_quality_count_calls(module->code, it.at);
    return it.program && it.at != AS_NONE && as_vec_push(&p->loop, it) < 0
               ? as_error_nomem(err, "the loops of a run")
               : 0;
}

static const char blocks_sql[] =
    "SELECT b.loop_id, b.address, t.exclusive_n FROM object_time o JOIN loop l"
    " ON l.loop_id = o.object_id JOIN block b USING (loop_id) JOIN block_time t"
    " ON t.run_id = ?1 AND t.block_id = b.block_id WHERE o.run_id = ?1 AND o.object_kind = 'loop'"
    " AND o.exclusive_share >= " PAGE_SHARE " AND l.is_innermost AND t.exclusive_n > 0";

/* Exact counts (`assay count`) come first and replace samples. */
static const char counts_sql[] =
    "SELECT b.loop_id, b.address, c.executed_n FROM block_count c JOIN block b USING (block_id)"
    " JOIN loop l USING (loop_id) WHERE c.run_id = ?1 AND l.is_innermost";

/* Adds the count of a block to its loop, if the loop has several paths. Few loops have several. */
static int list_ran(struct as_quality_pass *p, struct as_rows *row, bool counted,
                    struct as_error *err)
{
    const struct as_block_samples it = {(uint64_t)as_rows_integer(row, 1), as_rows_integer(row, 2)};
    struct as_quality_hot_loop *loop = as_vec_find(&p->loop, id, as_rows_integer(row, 0));

    if (!loop || !loop->wants_cqa || loop->program->loop[loop->at].paths < 2 ||
        (loop->counted && !counted))
        return 0;
    loop->counted = counted;
    if (!loop->block)
        loop->block = as_arena_fresh(&p->arena, struct as_block_samples,
                                     loop->program->loop[loop->at].blocks);
    if (!loop->block)
        return as_error_nomem(err, "the ways of a loop");
    if (loop->block_n < loop->program->loop[loop->at].blocks)
        loop->block[loop->block_n++] = it;
    return 0;
}

static int list_counted_block(void *pass, struct as_rows *row, struct as_error *err)
{
    return list_ran(pass, row, true, err);
}

static int list_block(void *pass, struct as_rows *row, struct as_error *err)
{
    return list_ran(pass, row, false, err);
}

/* Functions with a share of the run outside their loops and without values yet. */
static const char straight_sql[] =
    "SELECT f.function_id, f.address, f.module_id FROM object_time t"
    " JOIN function f ON f.function_id = t.object_id"
    " WHERE t.run_id = ?1 AND t.object_kind = 'function' AND t.exclusive_share >= 0.03"
    " AND f.address IS NOT NULL"
    " AND NOT EXISTS (SELECT 1 FROM value v JOIN metric m USING (metric_id)"
    "  WHERE m.name = '" AS_METRIC_straight_instruction_n "' AND v.object_kind = 'function'"
    "  AND v.object_id = f.function_id AND v.run_id = 0)"
    " AND t.exclusive_n >= 2 * (SELECT ifnull(sum(o.exclusive_n), 0) FROM loop l"
    "  JOIN object_time o ON o.run_id = ?1 AND o.object_kind = 'loop'"
    "  AND o.object_id = l.loop_id WHERE l.function_id = f.function_id)";

static int list_straight(void *pass, struct as_rows *row, struct as_error *err)
{
    struct as_quality_pass *p = pass;
    struct as_quality_straight_part it = {.id = as_rows_integer(row, 0)};
    struct as_quality_module *module = as_vec_find(&p->module, id, as_rows_integer(row, 2));

    if (!module)
        return 0;
    AS_TRY(open_code(p, module, err));
    return module->code->program &&
                   as_quality_straight(module->code->program, (uint64_t)as_rows_integer(row, 1),
                                       &it.facts) &&
                   as_vec_push(&p->straight, it) < 0
               ? as_error_nomem(err, "the functions of a run")
               : 0;
}

/* Instructions with samples, in functions with at least 1 % of the run. */
static const char spots_sql[] =
    "SELECT f.module_id, a.function_id, ifnull(a.loop_id, 0), a.address, sum(s.n), t.exclusive_n"
    " FROM process p JOIN thread x USING (process_id) JOIN sample s USING (thread_id)"
    " CROSS JOIN location a USING (location_id) JOIN function f USING (function_id)"
    " JOIN object_time t ON t.run_id = ?1 AND t.object_kind = 'function'"
    " AND t.object_id = a.function_id WHERE p.run_id = ?1 AND s.state = 0"
    " AND t.exclusive_share >= 0.01 GROUP BY a.location_id"
    " ORDER BY a.function_id, a.address";

static int add_copying(struct as_quality_pass *p, const struct as_quality_copying *it)
{
    struct as_quality_copying *last = p->copying.n ? &p->copying.at[p->copying.n - 1] : NULL;

    if (!last || last->function_id != it->function_id)
        return as_vec_push(&p->copying, *it);
    last->n += it->n;
    return 0;
}

static int list_spot(void *pass, struct as_rows *row, struct as_error *err)
{
    struct as_quality_pass *p = pass;
    struct as_quality_module *module = as_vec_find(&p->module, id, as_rows_integer(row, 0));
    struct as_spot it = {.function_id = as_rows_integer(row, 1),
                         .loop_id = as_rows_integer(row, 2),
                         .n = as_rows_integer(row, 4)};
    int rc = 0;

    if (!module)
        return 0;
    AS_TRY(open_code(p, module, err));
    if (!module->code->program)
        return 0;
    const struct as_code *code = &module->code->program->code;
    const size_t at = as_code_find(code, (uint64_t)as_rows_integer(row, 3));
    if (at == SIZE_MAX)
        return 0;
    it.insn = (uint32_t)at;
    if (as_spot_copies(&code->insn[at]))
        rc = add_copying(p, &(struct as_quality_copying){as_rows_integer(row, 1), it.n,
                                                         as_rows_integer(row, 5)});
    if (rc == 0 && it.loop_id)
        rc = as_vec_push(&p->spot, it);
    return rc < 0 ? as_error_nomem(err, "the samples of instructions") : 0;
}

/* ---- Reading ------------------------------------------------------------------------------- */

static int read_loops(void *pass, struct as_error *err)
{
    struct as_quality_pass *p = pass;

    as_vec_foreach (&p->loop, it)
        if (it->wants_values)
            AS_TRY(as_quality_loop(it->program, it->at, &it->facts, err));
    return 0;
}

/* Analyses one loop. The weights of its paths follow the samples or counts of the run, if there are
 * enough. */
static int analyse_loop(struct as_quality_pass *p, struct as_cqa_engine *engine,
                        struct as_core_asked *core, struct as_quality_hot_loop *it,
                        struct as_error *err)
{
    struct as_cqa_options options = {0};
    struct as_cqa found;
    const double *cycles = NULL;
    double *weight;

    if (it->block_n)
        AS_TRY(as_quality_path_cycles(&p->arena, engine, it->program, it->at, &cycles, err));
    AS_TRY(as_quality_weights(&p->arena, it->program, it->at, it->block, it->block_n, it->counted,
                              cycles, &weight, &options.weight_n, err));
    options.weight = weight;
    AS_TRY(as_cqa_loop(engine, it->program, it->at, &options, &found, err));
    AS_TRY(as_cqa_keep(&p->arena, &found, &it->cqa, err));
    if (found.lacks)
        return 0;
    core->object = it->object;
    core->program = it->program;
    core->loop = it->at;
    core->path = as_cqa_heaviest(&found);
    core->port_use = found.mean.port_use;
    return as_core_keep(&p->arena, core, &it->core, err);
}

/* Analyses the code quality of hot loops, if there is a table of the core or of a similar one. */
static int analyse_loops(struct as_quality_pass *p, struct as_error *err)
{
    struct as_uarch *uarch = NULL;
    struct as_uarch_choice choice;
    struct as_cqa_engine *engine = NULL;
    struct as_figures *figures = NULL;
    struct as_error unread;
    int rc = as_uarch_open_host(&uarch, &choice, err);
    p->unread = choice.damaged;

    if (rc == AS_ERR_NOT_FOUND)
        rc = 0;
    struct as_core_asked asked = {.uarch = uarch};
    p->mispredicted_cy = uarch ? uarch->set[AS_UARCH_mispredicted_branch] : 0;

    if (rc == 0 && uarch)
        rc = as_cqa_engine_new(uarch, &engine, err);
    /* Commands that show the figures report a damaged file; here it counts as missing. */
    if (engine && as_figures_of_host(&figures, &unread) == 0)
        as_cqa_engine_figures(engine, figures);
    if (rc == 0 && uarch)
        rc = as_predictor_new(uarch, &asked.predictor, err);
    as_vec_foreach (&p->loop, it)
        if (rc == 0 && engine && it->wants_cqa)
            rc = analyse_loop(p, engine, &asked, it, err);
    as_predictor_free(&asked.predictor);
    as_cqa_engine_free(&engine);
    as_figures_free(&figures);
    as_uarch_free(&uarch);
    return rc;
}

static int read_code(void *pass, struct as_error *err)
{
    AS_TRY(read_loops(pass, err));
    return analyse_loops(pass, err);
}

/* ---- All ----------------------------------------------------------------------------------- */

static int find_loops(struct as_quality_pass *p, struct as_error *err)
{
    AS_TRY(as_rows_each(p->experiment, modules_sql, p->run_id, list_module, p, err));
    AS_TRY(as_rows_each(p->experiment, loops_sql, p->run_id, list_loop, p, err));
    AS_TRY(as_rows_each(p->experiment, counts_sql, p->run_id, list_counted_block, p, err));
    AS_TRY(as_rows_each(p->experiment, blocks_sql, p->run_id, list_block, p, err));
    AS_TRY(as_rows_each(p->experiment, straight_sql, p->run_id, list_straight, p, err));
    return as_rows_each(p->experiment, spots_sql, p->run_id, list_spot, p, err);
}

static int write_values(void *pass, struct as_error *err)
{
    return as_quality_pass_write(pass, err);
}

static int look(struct as_quality_pass *p, struct as_error *err)
{
    const struct as_quality_options *options = p->options;

    if (options->progress)
        options->progress(options->context, "reading hot code", 0, 1);
    AS_TRY(find_loops(p, err));
    AS_TRY(options->aside ? options->aside(options->aside_context, read_code, p, err)
                          : read_code(p, err));
    return as_experiment_write_pass(p->experiment, p->run_id, AS_QUALITY_PASS, write_values, p,
                                    err);
}

int as_quality_run(struct as_experiment *experiment, int64_t run_id,
                   const struct as_quality_options *options, struct as_error *err)
{
    static const struct as_quality_options defaults;
    struct as_quality_pass p = {
        .experiment = experiment, .run_id = run_id, .options = options ? options : &defaults};
    const struct as_catalogue_options how = {.jobs = p.options->jobs, .open = p.options->open};
    struct as_catalogue *own = NULL;
    int rc = p.options->catalogue ? 0 : as_catalogue_new(experiment, &how, &own, err);

    as_arena_init(&p.arena);
    p.catalogue = own ? own : p.options->catalogue;
    if (rc == 0)
        rc = look(&p, err);
    as_vec_foreach (&p.module, it)
        as_catalogue_close(p.catalogue, &it->code);
    as_catalogue_free(&own);
    as_vec_fini(&p.module);
    as_vec_fini(&p.loop);
    as_vec_fini(&p.straight);
    as_vec_fini(&p.spot);
    as_vec_fini(&p.copying);
    as_arena_fini(&p.arena);
    return rc;
}
