/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes loops that were analysed without a run as rows and values of an experiment. They have the
 * form of the loops of a run, so that the same rules and pages apply.
 */
#include "base/error.h"
#include "quality/callee.h"
#include "quality/quality.h"
#include "quality/run.h"

struct code_writing {
    struct as_quality_pass pass;
    const struct as_quality_code *code;
    struct as_core_asked core;
};

static int write_analysed_loop(struct code_writing *w, size_t number, int64_t *id,
                               struct as_error *err)
{
    struct as_catalogue_module *module = w->code->module;
    const struct as_cqa *cqa = &w->code->cqa[number];
    struct as_quality_hot_loop it = {.program = module->program,
                                     .object = module->object,
                                     .at = cqa->loop,
                                     .wants_values = true,
                                     .wants_cqa = true,
                                     .wants_page = number < w->code->page_n};

    *id = 0;
    if (cqa->loop == AS_NONE)
        return 0;
    AS_TRY(as_catalogue_row_loop(module, cqa->loop, &it.id, err));
    it.calls = as_quality_count_calls(module, it.at);
    AS_TRY(as_quality_loop(it.program, it.at, &it.facts, err));
    AS_TRY(as_cqa_keep(&w->pass.arena, cqa, &it.cqa, err));
    if (it.wants_page && !cqa->lacks) {
        w->core.loop = it.at;
        w->core.path = as_cqa_heaviest(cqa);
        w->core.port_use = cqa->mean.port_use;
        AS_TRY(as_core_keep(&w->pass.arena, &w->core, &it.core, err));
    }
    *id = it.id;
    return as_vec_push(&w->pass.loop, it) < 0 ? as_error_nomem(err, module->path) : 0;
}

/* Creates the tables of metrics without any row. */
static int make_sets(struct code_writing *w, struct as_error *err)
{
    struct as_cqa_writer writer;

    AS_TRY(as_cqa_writer_open(w->pass.experiment, 0, &writer, err));
    as_cqa_writer_close(&writer);
    return as_quality_pass_write(&w->pass, err);
}

static int write_code(struct code_writing *w, int64_t *id, struct as_error *err)
{
    const struct as_quality_code *code = w->code;

    if (!code->n)
        return make_sets(w, err);
    if (code->page_n)
        AS_TRY(as_predictor_new(code->uarch, &w->core.predictor, err));
    for (size_t i = 0; i < code->n; i++)
        AS_TRY(write_analysed_loop(w, i, &id[i], err));
    return as_quality_pass_write(&w->pass, err);
}

int as_quality_code(struct as_experiment *experiment, const struct as_quality_code *code,
                    int64_t *id, struct as_error *err)
{
    struct code_writing w = {.pass = {.experiment = experiment},
                             .code = code,
                             .core = {.uarch = code->uarch,
                                      .object = code->module->object,
                                      .program = code->module->program}};

    as_arena_init(&w.pass.arena);
    const int rc = write_code(&w, id, err);
    as_predictor_free(&w.core.predictor);
    as_vec_fini(&w.pass.loop);
    as_arena_fini(&w.pass.arena);
    return rc;
}
