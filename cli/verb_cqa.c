/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay cqa BIN`: chooses loops, has them analysed a batch at a time by all threads, and shows
 * them in their order. Memory is that of a batch, however many loops there are.
 */
#include <inttypes.h>
#include <limits.h>
#include <unistd.h>

#include "base/error.h"
#include "base/pool.h"
#include "machine/machine.h"

#include "cqa.h"

/* Loops that are analysed together, for each thread: enough that waiting for the last one is
 * little. */
#define BATCH_EACH 32

struct quality_batch {
    const struct as_quality_view *view;
    struct as_cqa_options options;
    struct as_cqa_engine **engine; /* each holds the answer of one */
    struct as_cqa *answer;
    size_t engine_n;
    const uint32_t *object; /* loops or bodies of the batch */
};

/* ---- Choosing ------------------------------------------------------------------------------ */

static bool is_wanted(const struct as_quality_view *view, uint32_t at)
{
    const struct as_program *program = view->chosen.program;

    if (view->bodies)
        return view->chosen.body[at] && program->body[at].blocks > 0;
    const struct as_loop *loop = &program->loop[at];
    const uint64_t least = view->cli->args.number[AS_OPTION_MIN_INSTRUCTIONS];

    return (loop->level == AS_LEVEL_INNERMOST || loop->level == AS_LEVEL_SINGLE) &&
           view->chosen.body[loop->body] && loop->insns >= least;
}

typedef AS_VEC(uint32_t) chosen_list;

static int choose_loops(const struct as_quality_view *view, chosen_list *out, struct as_error *err)
{
    const struct as_program *program = view->chosen.program;
    const size_t n = view->bodies ? program->body_n : program->loop_n;
    uint32_t one;

    if (as_given(&view->cli->args, AS_OPTION_LOOP)) {
        AS_TRY(as_loop_of_option(view->cli, program, &one, err));
        return as_vec_push(out, one) < 0 ? as_error_nomem(err, "the chosen loops") : 0;
    }
    for (size_t i = 0; i < n; i++)
        if (is_wanted(view, (uint32_t)i) && as_vec_push(out, (uint32_t)i) < 0)
            return as_error_nomem(err, "the chosen loops");
    if (!out->n)
        return as_error_set(err, AS_ERR_NO_CODE,
                            "cqa: %s: the chosen code has no innermost loop; 'assay loops' lists "
                            "all loops",
                            as_object_info(view->chosen.object)->path);
    return 0;
}

/* ---- Analysing ----------------------------------------------------------------------------- */

/* With the weights of its paths, where --experiment tells them. */
static int analyse_loop_weighed(struct quality_batch *b, size_t i, struct as_error *err)
{
    const struct as_quality_view *view = b->view;
    struct as_cqa_options options = b->options;
    struct as_arena arena;
    const struct as_program *program = view->chosen.program;
    const bool tells = view->sampled.run_id && program->loop[b->object[i]].paths > 1;
    bool counted;
    const double *cycles = NULL;
    double *weight = NULL;
    int rc = 0;

    as_arena_init(&arena);
    if (tells)
        rc = as_quality_path_cycles(&arena, b->engine[i], program, b->object[i], &cycles, err);
    if (rc == 0 && tells)
        rc = as_quality_sampled_weights(&arena, &view->sampled, program, b->object[i], cycles,
                                        &weight, &options.weight_n, &counted, err);
    options.weight = weight;
    if (rc == 0)
        rc = as_cqa_loop(b->engine[i], program, b->object[i], &options, &b->answer[i], err);
    as_arena_fini(&arena);
    return rc;
}

static int analyse_piece(void *context, size_t from, size_t to, unsigned worker,
                         struct as_error *err)
{
    struct quality_batch *b = context;
    const struct as_program *program = b->view->chosen.program;

    (void)worker;
    for (size_t i = from; i < to; i++)
        if (b->view->bodies)
            AS_TRY(as_cqa_function_body(b->engine[i], program, b->object[i], &b->options,
                                        &b->answer[i], err));
        else
            AS_TRY(analyse_loop_weighed(b, i, err));
    return 0;
}

/* Keeps only path N of --path; returns false if there are fewer. */
static bool select_cqa_path(struct as_quality_view *view, struct as_cqa *cqa)
{
    if (!view->path)
        return true;
    if (cqa->merged || view->path > cqa->path_n)
        return false;
    cqa->path += view->path - 1;
    cqa->path_n = 1;
    cqa->mean = cqa->path[0];
    return true;
}

static void show_answer(struct as_quality_view *view, struct as_cqa *cqa)
{
    if (!select_cqa_path(view, cqa))
        return;
    view->shown++;
    if (view->cli->format == AS_FORMAT_JSON)
        as_cqa_json(view, cqa);
    else if (view->cli->format == AS_FORMAT_CSV)
        as_cqa_csv(view, cqa);
    else if (view->reports)
        as_cqa_text_report(view, cqa);
    else
        as_cqa_text_row(view, cqa);
}

static int show_batches(struct as_quality_view *view, struct quality_batch *b,
                        const chosen_list *list, struct as_pool *pool, struct as_error *err)
{
    for (size_t at = 0; at < list->n; at += b->engine_n) {
        const size_t n = list->n - at < b->engine_n ? list->n - at : b->engine_n;

        b->object = list->at + at;
        AS_TRY(as_pool_for(pool, n, 1, analyse_piece, b, err));
        AS_TRY(as_cqa_advice_batch(view, b->answer, n, err));
        for (view->at = 0; view->at < n; view->at++)
            show_answer(view, &b->answer[view->at]);
    }
    return 0;
}

static int make_engines(struct quality_batch *b, size_t n, struct as_error *err)
{
    b->engine = as_calloc(n, sizeof *b->engine);
    b->answer = as_calloc(n, sizeof *b->answer);
    if (!b->engine || !b->answer)
        return as_error_nomem(err, "code quality analysis");
    for (; b->engine_n < n; b->engine_n++) {
        AS_TRY(as_cqa_engine_new(b->view->uarch, &b->engine[b->engine_n], err));
        as_cqa_engine_figures(b->engine[b->engine_n], b->view->figures);
    }
    return 0;
}

/* --paths: 0 is any number. */
static unsigned path_limit(const struct as_arguments *args)
{
    const unsigned given = (unsigned)args->number[AS_OPTION_PATHS];

    return !as_given(args, AS_OPTION_PATHS) ? 0 : given ? given : UINT_MAX;
}

static struct as_cqa_options analysis_options(const struct as_quality_view *view)
{
    const struct as_arguments *args = &view->cli->args;

    return (struct as_cqa_options){
        .experts = (view->levels & AS_LEVEL_EXPERT) != 0,
        .simulate = view->reports, /* of the variants: the same in text and JSON */
        .path_limit = path_limit(args)};
}

static int show_chosen(struct as_quality_view *view, const chosen_list *list, struct as_error *err)
{
    struct quality_batch b = {.view = view, .options = analysis_options(view)};
    struct as_pool *pool = NULL;
    int rc = as_pool_new(&pool, view->cli->jobs, err);
    const size_t most = (size_t)BATCH_EACH * as_pool_jobs(pool);

    if (rc == 0)
        rc = make_engines(&b, list->n < most ? list->n : most, err);
    if (rc == 0)
        rc = show_batches(view, &b, list, pool, err);
    for (size_t i = 0; i < b.engine_n; i++)
        as_cqa_engine_free(&b.engine[i]);
    as_free(b.engine);
    as_free(b.answer);
    as_pool_free(&pool);
    return rc;
}

/* ---- The verb ------------------------------------------------------------------------------ */

static int read_options(struct as_quality_view *view, struct as_error *err)
{
    const struct as_arguments *args = &view->cli->args;
    const bool chosen = as_given(args, AS_OPTION_LOOP) || as_given(args, AS_OPTION_FUNCTION);

    view->levels = as_given(args, AS_OPTION_CQA_LEVEL)
                       ? (unsigned)args->number[AS_OPTION_CQA_LEVEL]
                       : (unsigned)(AS_LEVEL_GAIN | AS_LEVEL_POTENTIAL | AS_LEVEL_HINT);
    view->reports = chosen || as_given(args, AS_OPTION_CQA_LEVEL);
    view->path = (uint32_t)args->number[AS_OPTION_CQA_PATH];
    view->bodies = as_given(args, AS_OPTION_CQA_BODY);
    if (view->cli->format == AS_FORMAT_HTML && (view->bodies || view->path))
        return as_error_set(err, AS_ERR_USAGE,
                            "--format: html shows whole loops; remove --body and --path");
    if (view->cli->format == AS_FORMAT_HTML && isatty(view->cli->fd))
        return as_error_set(err, AS_ERR_USAGE,
                            "--format: html needs a file; add --output page.html");
    if (as_given(args, AS_OPTION_CQA_PATH) && !view->path)
        return as_error_set(err, AS_ERR_USAGE,
                            "--path: paths are numbered from 1; use 1 or "
                            "more");
    if (view->bodies && (as_given(args, AS_OPTION_LOOP) || !as_given(args, AS_OPTION_FUNCTION)))
        return as_error_set(err, AS_ERR_USAGE,
                            "--body: needs a function; use --function, and remove --loop");
    return 0;
}

static void begin_answer(struct as_quality_view *view)
{
    struct as_cli *cli = view->cli;

    if (cli->format == AS_FORMAT_JSON) {
        as_facts_begin(&view->facts, cli);
        as_facts_binary(&view->facts, view->chosen.object);
        as_facts_object(&view->facts, "machine");
        as_facts_cell(&view->facts, "name", as_cell_text(view->uarch->name));
        as_facts_cell(&view->facts, "words", as_cell_text(view->uarch->words));
        as_facts_cell(&view->facts, "table_source", as_cell_text(as_table_source(view->uarch)));
        as_facts_close(&view->facts);
        as_facts_array(&view->facts, "loops");
    } else if (cli->format == AS_FORMAT_CSV) {
        as_cqa_csv_head(view);
    } else if (!view->reports) {
        as_cqa_text_head(view);
    } else {
        as_cqa_text_table(view);
    }
}

static int show_all(struct as_quality_view *view, struct as_error *err)
{
    chosen_list list = {0};
    int rc = choose_loops(view, &list, err);

    if (rc == 0 && view->cli->format == AS_FORMAT_HTML) {
        const struct as_cqa_options options = analysis_options(view);

        rc = as_cqa_page(view, list.at, list.n, &options, err);
        as_vec_fini(&list);
        return rc;
    }
    if (rc == 0 && view->reports && !view->bodies && view->cli->format != AS_FORMAT_CSV)
        rc = as_cqa_advice_open(view, err);
    if (rc == 0) {
        begin_answer(view);
        rc = show_chosen(view, &list, err);
    }
    if (rc == 0 && view->cli->format == AS_FORMAT_JSON) {
        as_facts_close(&view->facts);
        as_facts_end(&view->facts);
    }
    if (rc == 0 && !view->shown)
        rc = as_error_set(err, AS_ERR_USAGE,
                          "--path: no chosen loop has %" PRIu32 " paths that are told apart",
                          view->path);
    as_vec_fini(&list);
    return rc;
}

int as_verb_cqa(struct as_cli *cli, struct as_error *err)
{
    struct as_quality_view view = {.cli = cli};

    AS_TRY(read_options(&view, err));
    struct as_uarch_choice choice;
    int rc = as_core_open(cli, &view.uarch, &choice, err);
    if (rc == 0 && choice.core.is_nearest && !*choice.file)
        as_cli_note(cli, "%s", choice.core.doubt);
    if (rc == 0 && !as_given(&cli->args, AS_OPTION_MACHINE))
        rc = as_figures_of_host(&view.figures, err);
    if (rc == 0)
        rc = as_cqa_remarks_open(&view, err);
    if (rc == 0)
        rc = as_chosen_load(cli, 0, &view.chosen, err);
    if (rc == 0 && view.chosen.object)
        rc = as_core_fits(view.uarch, view.chosen.object, err);
    if (rc == 0 && view.chosen.object)
        rc = as_sampled_open(cli, view.chosen.object, &view.sampled, err);
    if (rc == 0 && view.chosen.object)
        rc = show_all(&view, err);
    as_cqa_advice_close(&view);
    as_cqa_remarks_close(&view);
    as_quality_sampled_fini(&view.sampled);
    as_sources_fini(&view.sources);
    as_chosen_free(&view.chosen);
    as_uarch_free(&view.uarch);
    as_figures_free(&view.figures);
    return rc;
}
