/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code quality analysis as a page. First the possible gain of each loop is computed. Then the loops
 * with the largest gains are analysed into an experiment in memory. The report makes the page from
 * it, as for a run.
 */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/pool.h"
#include "base/shell.h"
#include "cqa.h"
#include "report/report.h"

/* Loops of a page; those of them with tables of their own; instructions that are kept. */
#define LOOPS_MOST  5000
#define RANKED_MOST (LOOPS_MOST + LOOPS_MOST / 5) /* those that may be of them, by bounds */
#define PAGES_MOST  400
#define INSNS_MOST  100000
#define BATCH_EACH  32
#define LEAST_EACH  1000

struct ranked_loop {
    uint32_t loop;
    double gain; /* as_cqa_promise */
};

struct page_work {
    struct as_quality_view *view;
    const struct as_cqa_options *options;
    struct as_pool *pool;
    struct as_cqa_engine **engine;
    struct as_cqa *answer;
    size_t engine_n;
    struct ranked_loop *at; /* all, then in order */
    double *gain;           /* of those ranked so far, and room to order them */
    double least;           /* that a loop must gain to stand on the page */
    size_t n, from;         /* from: the batch at hand */
    bool ranks, roughly;    /* for their order only, and that by bounds */
    size_t paged;           /* that have tables */
};

/* ---- Analysing ----------------------------------------------------------------------------- */

static int analyse_some(void *context, size_t from, size_t to, unsigned worker,
                        struct as_error *err)
{
    struct page_work *w = context;
    struct as_cqa_options options = *w->options;

    (void)worker;
    options.promise_only = w->ranks;
    options.bounds_only = w->roughly;
    options.least = w->least;
    for (size_t i = from; i < to; i++)
        AS_TRY(as_cqa_loop(w->engine[i], w->view->chosen.program, w->at[w->from + i].loop, &options,
                           &w->answer[i], err));
    return 0;
}

/* Batch by batch, hands the answers to `take`. */
static int analyse_ranked(struct page_work *w,
                          int (*take)(struct page_work *, size_t n, struct as_error *),
                          struct as_error *err)
{
    for (w->from = 0; w->from < w->n; w->from += w->engine_n) {
        const size_t n = w->n - w->from < w->engine_n ? w->n - w->from : w->engine_n;

        AS_TRY(as_pool_for(w->pool, n, 1, analyse_some, w, err));
        AS_TRY(take(w, n, err));
    }
    return 0;
}

static int falling(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x < y) - (x > y);
}

/* Those that cannot come among the first any more need not be known: looked up now and then. */
static void raise_least(struct page_work *w, size_t ranked)
{
    if (ranked < RANKED_MOST || ranked / LEAST_EACH == w->from / LEAST_EACH)
        return;
    for (size_t i = 0; i < ranked; i++)
        w->gain[i] = w->at[i].gain;
    qsort(w->gain, ranked, sizeof *w->gain, falling);
    w->least = w->gain[RANKED_MOST - 1];
}

static int note_gains(struct page_work *w, size_t n, struct as_error *err)
{
    (void)err;
    for (size_t i = 0; i < n; i++)
        w->at[w->from + i].gain = as_cqa_promise(&w->answer[i]);
    raise_least(w, w->from + n);
    return 0;
}

static int by_gain(const void *a, const void *b)
{
    const struct ranked_loop *x = a, *y = b;

    if (x->gain > y->gain || x->gain < y->gain)
        return x->gain > y->gain ? -1 : 1;
    return (x->loop > y->loop) - (x->loop < y->loop);
}

/* ---- Writing ------------------------------------------------------------------------------- */

struct code_batch {
    struct page_work *work;
    size_t n;
};

static int write_batch(void *context, struct as_error *err)
{
    const struct code_batch *b = context;
    struct page_work *w = b->work;
    struct as_cqa_advice *a = &w->view->advice;
    const size_t left = w->paged < PAGES_MOST ? PAGES_MOST - w->paged : 0;
    const struct as_quality_code code = {.module = a->module,
                                         .cqa = w->answer,
                                         .n = b->n,
                                         .page_n = left < b->n ? left : b->n,
                                         .uarch = w->view->uarch};

    as_arena_reset(&a->arena);
    a->row = as_arena_array(&a->arena, int64_t, b->n + 1);
    if (!a->row)
        return as_error_nomem(err, "the page");
    w->paged += code.page_n;
    return as_quality_code(a->experiment, &code, a->row, err);
}

static int write_answers(struct page_work *w, size_t n, struct as_error *err)
{
    struct code_batch b = {w, n};

    return as_experiment_batch(w->view->advice.experiment, write_batch, &b, err);
}

/* Code of the functions of the first loops, as much as there is room for. */
static int store_page_code(struct page_work *w, struct as_error *err)
{
    const struct as_program *program = w->view->chosen.program;
    bool *kept = as_calloc(program->body_n + 1, sizeof *kept);
    size_t room = INSNS_MOST;
    int rc = kept ? 0 : as_error_nomem(err, "the page");

    for (size_t i = 0; rc == 0 && i < w->n && room; i++) {
        const uint32_t body = program->loop[w->at[i].loop].body;

        if (!kept[body])
            rc = as_catalogue_rows_excerpt(w->view->advice.module, body, &room, err);
        kept[body] = true;
    }
    as_free(kept);
    return rc;
}

static int write_run(void *context, struct as_error *err)
{
    struct page_work *w = context;
    const struct as_cli *cli = w->view->cli;
    struct timespec now;
    struct as_str command = {0};
    int64_t run_id;

    clock_gettime(CLOCK_REALTIME, &now);
    as_str_appendz(&command, "assay cqa ");
    as_shell_word(&command, cli->args.positional[0]);
    const struct as_row_run run = {.kind = "code",
                                   .command = as_str_z(&command),
                                   .start_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec,
                                   .state = "complete"};
    int rc = command.failed ? as_error_nomem(err, "the page")
                            : as_experiment_add_run(w->view->advice.experiment, &run, &run_id, err);
    as_str_fini(&command);
    if (rc == 0)
        rc = store_page_code(w, err);
    return rc == 0 ? as_experiment_list_code(w->view->advice.experiment, run_id, err) : rc;
}

/* ---- The page ------------------------------------------------------------------------------ */

static int begin_page(struct page_work *w, const uint32_t *loop, size_t n, struct as_error *err)
{
    AS_TRY(as_pool_new(&w->pool, w->view->cli->jobs, err));
    const size_t most = (size_t)BATCH_EACH * as_pool_jobs(w->pool), engine_n = n < most ? n : most;

    w->at = as_calloc(n, sizeof *w->at);
    w->gain = as_calloc(n, sizeof *w->gain);
    w->engine = as_calloc(engine_n, sizeof *w->engine);
    w->answer = as_calloc(engine_n, sizeof *w->answer);
    if (!w->at || !w->gain || !w->engine || !w->answer)
        return as_error_nomem(err, "the page");
    for (w->n = 0; w->n < n; w->n++)
        w->at[w->n].loop = loop[w->n];
    for (; w->engine_n < engine_n; w->engine_n++) {
        AS_TRY(as_cqa_engine_new(w->view->uarch, &w->engine[w->engine_n], err));
        as_cqa_engine_figures(w->engine[w->engine_n], w->view->figures);
    }
    return 0;
}

static void end_page(struct page_work *w)
{
    for (size_t i = 0; i < w->engine_n; i++)
        as_cqa_engine_free(&w->engine[i]);
    as_free(w->engine);
    as_free(w->answer);
    as_free(w->at);
    as_free(w->gain);
    as_pool_free(&w->pool);
}

static int rank_by(struct page_work *w, bool roughly, size_t most, struct as_error *err)
{
    w->roughly = roughly;
    w->least = 0;
    AS_TRY(analyse_ranked(w, note_gains, err));
    qsort(w->at, w->n, sizeof *w->at, by_gain);
    w->n = w->n < most ? w->n : most;
    return 0;
}

/* Large and deep ones first: what they may gain tells soon which of the others need no look. Bounds
 * tell of many loops which are worth more. */
static int rank_loops(struct page_work *w, struct as_error *err)
{
    for (size_t i = 0; i < w->n; i++) {
        const struct as_loop *loop = &w->view->chosen.program->loop[w->at[i].loop];

        w->at[i].gain = loop->insns * pow(10, loop->depth);
    }
    qsort(w->at, w->n, sizeof *w->at, by_gain);
    w->ranks = true;
    if (w->n > RANKED_MOST)
        AS_TRY(rank_by(w, true, RANKED_MOST, err));
    AS_TRY(rank_by(w, false, LOOPS_MOST, err));
    w->ranks = w->roughly = false;
    return 0;
}

static int make_page(struct page_work *w, struct as_error *err)
{
    static const enum as_object_kind loops[] = {AS_OBJECT_LOOP};
    static const struct as_rule_choice of_loops = {.object = loops, .object_n = 1};
    struct as_quality_view *view = w->view;

    AS_TRY(rank_loops(w, err));
    AS_TRY(as_cqa_advice_open(view, err));
    AS_TRY(analyse_ranked(w, write_answers, err));
    AS_TRY(as_experiment_batch(view->advice.experiment, write_run, w, err));
    AS_TRY(as_advise_code(view->advice.experiment, &of_loops, err));
    return as_report_stream(view->advice.experiment, 0, AS_REPORT_HTML, NULL, &view->cli->out, err);
}

int as_cqa_page(struct as_quality_view *view, const uint32_t *loop, size_t n,
                const struct as_cqa_options *options, struct as_error *err)
{
    struct page_work w = {.view = view, .options = options};
    int rc = begin_page(&w, loop, n, err);

    if (rc == 0)
        rc = make_page(&w, err);
    if (rc == 0) {
        view->shown = w.n;
        if (n > w.n)
            as_cli_note(view->cli,
                        "the page has the %zu of %zu loops with the largest possible "
                        "gains",
                        w.n, n);
    }
    end_page(&w);
    return rc;
}
