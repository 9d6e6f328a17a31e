/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay simulate --cpu each=2x`: one simulation for each function of the trace, in which it alone
 * is faster. The time saved is the gain along the critical path that follows.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/pool.h"
#include "simulate.h"
#include "stops.h"

#define NAMES_MAX     256u /* of functions that are looked at */
#define FUNCTIONS_MAX 12u  /* that are simulated: with most computing */

struct each_run {
    struct as_simulate_view *view;
    AS_VEC(const char *) name; /* the trace's */
    const struct as_machine_model *machine;
};

/* Functions that the trace has names of. */
static int collect_names(struct each_run *each, const struct as_trace *trace)
{
    as_vec_foreach (&trace->process, process)
        as_vec_foreach (&process->name, name) {
            bool is_known = name->group != AS_TRACE_OF_USER || !name->text;
            for (size_t i = 0; !is_known && i < each->name.n; i++)
                is_known = strcmp(each->name.at[i], name->text) == 0;
            if (!is_known && each->name.n < NAMES_MAX)
                AS_TRY(as_vec_push(&each->name, name->text));
        }
    return 0;
}

/* The run with function `faster` changed; NAMES_MAX: none. `computing_ns` has room for all names,
 * or is NULL. */
static int simulate_faster(const struct each_run *each, size_t faster, int64_t *total_ns,
                           int64_t *computing_ns, struct as_error *err)
{
    struct as_trace trace = {0};
    struct as_simulated_program program = {0};
    struct as_recorded recorded = {0};
    struct as_simulated result = {0};
    struct as_machine_model model = *each->machine;
    struct as_speed speed[NAMES_MAX];
    for (size_t i = 0; i < each->name.n; i++)
        speed[i] = (struct as_speed){.name = each->name.at[i],
                                     .times = i == faster ? each->view->each : 1};
    model.speeds.at = speed;
    model.speeds.n = each->name.n;
    int rc = as_trace_open(each->view->streams, &trace, err);
    if (rc == 0)
        rc = as_recorded_open(&trace, each->name.at, each->name.n, &recorded, &program, err);
    program.is_stopped = as_stops_came;
    if (rc == 0)
        rc = as_simulate_program(&program, &model, &result, err);
    *total_ns = result.total_ns;
    for (size_t i = 0; rc == 0 && computing_ns && i < each->name.n; i++)
        computing_ns[i] = recorded.name_ns[i];
    as_program_fini(&program);
    as_simulated_fini(&result);
    as_recorded_fini(&recorded);
    as_trace_close(&trace);
    return rc;
}

static int more_computing(const void *a, const void *b)
{
    const struct as_simulate_function *x = a, *y = b;
    if (x->computing_ns != y->computing_ns)
        return x->computing_ns > y->computing_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int more_gain(const void *a, const void *b)
{
    const struct as_simulate_function *x = a, *y = b;
    return x->total_ns != y->total_ns ? (x->total_ns < y->total_ns ? -1 : 1) : more_computing(a, b);
}

/* Keeps those with most computing. */
static int choose_functions(struct each_run *each, const int64_t *computing_ns)
{
    for (size_t i = 0; i < each->name.n; i++) {
        struct as_simulate_function function = {.computing_ns = computing_ns[i]};
        if (computing_ns[i] == 0)
            continue;
        function.name = as_malloc(strlen(each->name.at[i]) + 1);
        if (!function.name || as_vec_push(&each->view->functions, function) < 0) {
            as_free(function.name);
            return AS_ERR_NOMEM;
        }
        memcpy(function.name, each->name.at[i], strlen(each->name.at[i]) + 1);
    }
    if (each->view->functions.n > 1)
        qsort(each->view->functions.at, each->view->functions.n, sizeof *each->view->functions.at,
              more_computing);
    while (each->view->functions.n > FUNCTIONS_MAX)
        as_free(each->view->functions.at[--each->view->functions.n].name);
    return 0;
}

static int simulate_functions(void *context, size_t from, size_t to, unsigned worker,
                              struct as_error *err)
{
    struct each_run *each = context;
    (void)worker;
    for (size_t i = from; i < to; i++) {
        struct as_simulate_function *function = &each->view->functions.at[i];
        size_t at = 0;
        while (strcmp(each->name.at[at], function->name) != 0)
            at++;
        AS_TRY(simulate_faster(each, at, &function->total_ns, NULL, err));
    }
    return 0;
}

static int run_each(struct each_run *each, struct as_error *err)
{
    struct as_simulate_view *view = each->view;
    struct as_trace trace = {0};
    struct as_pool *pool = NULL;
    int64_t computing_ns[NAMES_MAX];
    int rc = as_trace_open(view->streams, &trace, err);
    if (rc == 0 && collect_names(each, &trace) < 0)
        rc = as_error_nomem(err, "the functions");
    if (rc == 0)
        rc = simulate_faster(each, NAMES_MAX, &view->each_from_ns, computing_ns, err);
    if (rc == 0 && choose_functions(each, computing_ns) < 0)
        rc = as_error_nomem(err, "the functions");
    if (rc == 0 && view->functions.n == 0)
        rc = as_error_set(err, AS_ERR_NOT_FOUND,
                          "--cpu each: the trace has no functions; record with 'assay trace "
                          "--functions'");
    if (rc == 0)
        rc = as_pool_new(&pool, view->cli->jobs, err);
    if (rc == 0)
        rc = as_pool_for(pool, view->functions.n, 1, simulate_functions, each, err);
    as_pool_free(&pool);
    as_trace_close(&trace); /* has the names */
    if (rc == 0 && view->functions.n > 1)
        qsort(view->functions.at, view->functions.n, sizeof *view->functions.at, more_gain);
    return rc;
}

int as_simulate_each(struct as_simulate_view *view, struct as_error *err)
{
    struct each_run each = {.view = view};
    if (view->each == 0)
        return 0;
    if (!view->streams)
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "--cpu each: a .dim file has no names of functions; use rank:N=2x");
    const struct as_simulate_case *asked = as_vec_find(&view->cases, kind, AS_SIMULATE_ASKED);
    each.machine = asked ? &asked->machine.model : &view->cases.at[0].machine.model;
    const int rc = run_each(&each, err);
    as_vec_fini(&each.name);
    return rc;
}

void as_simulate_each_show(const struct as_simulate_view *view)
{
    if (view->functions.n == 0)
        return;
    as_cli_print(view->cli, "\nEach function alone %.3g times as fast:\n", view->each);
    as_cli_print(view->cli, "%9s %7s %14s  %s\n", "gain s", "gain", "computing s", "function");
    as_vec_foreach (&view->functions, it) {
        const double gain_s = (double)(view->each_from_ns - it->total_ns) / 1e9;
        as_cli_print(view->cli, "%9.4f %5.1f %% %14.4f  %s\n", gain_s,
                     100 * gain_s / ((double)view->each_from_ns / 1e9),
                     (double)it->computing_ns / 1e9, it->name);
    }
}
