/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the loops of a run to time, and makes their plan. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "experiment/metric_names.h"
#include "vprof/hot.h"
#include "vprof/timed.h"

#include "catalogue/catalogue.h"

#define TOP_USUAL 16u

/* ---- Choosing ------------------------------------------------------------------------------ */

static const char hot_sql[] =
    "SELECT l.loop_id, f.module_id, l.address, o.exclusive_share, f.name, f.linkage_name, m.kind,"
    " m.path FROM object_time o JOIN loop l ON l.loop_id = o.object_id"
    " JOIN function f USING (function_id) JOIN module m USING (module_id)"
    " WHERE o.run_id = ?1 AND o.object_kind = 'loop' AND o.exclusive_n > 0"
    " AND m.kind IN ('executable', 'shared') ORDER BY o.exclusive_ns DESC, l.loop_id";

static bool is_digits(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text);
}

/* Returns true if the list has the number, the address or a function name of the loop. */
static bool is_listed(const char *list, const struct as_vprof_loop *loop, const char *name,
                      const char *linkage)
{
    struct as_view rest = as_view_of(list), word;
    while (as_view_split(&rest, ',', &word)) {
        char text[512];
        snprintf(text, sizeof text, "%.*s", (int)word.n, word.p);
        if (strncmp(text, "0x", 2) == 0 ? strtoull(text, NULL, 16) == loop->address
            : is_digits(text)
                ? strtoll(text, NULL, 10) == loop->loop_id
                : strcmp(text, name ? name : "") == 0 || strcmp(text, linkage ? linkage : "") == 0)
            return true;
    }
    return false;
}

static int add_timed_loop(void *context, struct as_rows *row, struct as_error *err)
{
    struct as_timed *timed = context;
    const struct as_vprof_request *request = timed->request;
    const uint64_t address = (uint64_t)as_rows_integer(row, 2);
    const struct as_timed_loop loop = {.it = {.loop_id = as_rows_integer(row, 0),
                                              .module_id = as_rows_integer(row, 1),
                                              .address = address,
                                              .share = as_rows_real(row, 3)},
                                       .number = AS_NONE};
    if (!timed->program[0] && strcmp(as_rows_text(row, 6), "executable") == 0)
        snprintf(timed->program, sizeof timed->program, "%s", as_rows_text(row, 7));
    if (request->loops
            ? !is_listed(request->loops, &loop.it, as_rows_text(row, 4), as_rows_text(row, 5))
            : timed->loop.n >= (request->top ? request->top : TOP_USUAL))
        return 0;
    return as_vec_push(&timed->loop, loop) < 0 ? as_error_nomem(err, "hot loops") : 0;
}

/* Sets `was` if an earlier run timed the loop or has a reason why not. */
static int was_timed(const struct as_timed *timed, int64_t loop_id, bool *was, struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_rows_open(
        timed->experiment,
        "SELECT EXISTS (SELECT 1 FROM v_values WHERE run_id = ?1 AND"
        " object_kind = 'loop' AND object_id = ?2 AND metric = '" AS_METRIC_instance_n "')"
        " OR EXISTS (SELECT 1 FROM flag WHERE run_id = ?1 AND"
        " object_kind = 'loop' AND object_id = ?2 AND name = 'loop_not_timed')",
        &rows, err));
    as_rows_bind_integer(rows, 1, timed->run_id);
    as_rows_bind_integer(rows, 2, loop_id);
    const int rc = as_rows_next(rows, err);
    *was = rc > 0 && as_rows_integer(rows, 0) != 0;
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

static int leave_timed(struct as_timed *timed, struct as_error *err)
{
    size_t left = 0;
    for (size_t i = 0; i < timed->loop.n; i++) {
        bool was;
        AS_TRY(was_timed(timed, timed->loop.at[i].it.loop_id, &was, err));
        if (!was)
            timed->loop.at[left++] = timed->loop.at[i];
    }
    timed->loop.n = left;
    return 0;
}

int as_timed_choose(struct as_timed *timed, struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_rows_each(timed->experiment, hot_sql, timed->run_id, add_timed_loop, timed, err));
    if (timed->request->loops && timed->loop.n == 0) {
        const struct as_hot_question missed = {AS_OBJECT_LOOP, "--loops", timed->request->loops,
                                               "no hot loop is in"};
        return as_hot_missed(timed->experiment, timed->run_id, &missed, err);
    }
    if (timed->request->joins)
        AS_TRY(leave_timed(timed, err));
    AS_TRY(
        as_rows_open(timed->experiment, "SELECT wall_ns FROM run WHERE run_id = ?1", &rows, err));
    as_rows_bind_integer(rows, 1, timed->run_id);
    const int rc = as_rows_next(rows, err);
    timed->wall_ns = rc > 0 ? as_rows_real(rows, 0) : 0;
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* ---- Planning ------------------------------------------------------------------------------ */

/* Returns the loop with its header at `address`, or AS_NONE. */
static uint32_t find_loop(const struct as_program *program, uint64_t address)
{
    for (uint32_t l = 0; l < program->loop_n; l++)
        if (program->block[program->loop[l].header].start == address)
            return l;
    return AS_NONE;
}

static int plan_program(struct as_timed *timed, struct as_patch_maker *maker, int64_t module_id,
                        const struct as_program *program, struct as_error *err)
{
    bool *wanted = as_calloc(program->loop_n + 1, sizeof *wanted);
    struct as_patch_verdict *verdict = as_calloc(program->loop_n + 1, sizeof *verdict);
    int rc = wanted && verdict ? 0 : as_error_nomem(err, "a plan");
    as_vec_foreach (&timed->loop, loop) {
        const uint32_t l = rc == 0 && loop->it.module_id == module_id
                               ? find_loop(program, loop->it.address)
                               : AS_NONE;
        if (l != AS_NONE)
            wanted[l] = !loop->left_out;
    }
    if (rc == 0)
        rc = as_patch_maker_add(maker, program, wanted, verdict, err);
    as_vec_foreach (&timed->loop, loop) {
        const uint32_t l = rc == 0 && loop->it.module_id == module_id
                               ? find_loop(program, loop->it.address)
                               : AS_NONE;
        if (l == AS_NONE || loop->left_out)
            continue;
        loop->number = verdict[l].loop;
        loop->refusal = verdict[l].refusal;
        memcpy(loop->unvaried, verdict[l].unvaried, sizeof loop->unvaried);
    }
    as_free(wanted);
    as_free(verdict);
    return rc;
}

static int plan_module(struct as_timed *timed, struct as_catalogue *catalogue,
                       struct as_patch_maker *maker, int64_t module_id, struct as_error *err)
{
    struct as_catalogue_module *module;
    AS_TRY(as_catalogue_open_row(catalogue, module_id, 1, AS_CATALOGUE_ANALYSED, &module, err));
    const int rc =
        module->program ? plan_program(timed, maker, module_id, module->program, err) : 0;
    as_catalogue_close(catalogue, &module);
    return rc;
}

/* Each module once, in the order of its hottest loop. */
static int plan_modules(struct as_timed *timed, struct as_catalogue *catalogue,
                        struct as_patch_maker *maker, struct as_error *err)
{
    for (size_t i = 0; i < timed->loop.n; i++) {
        const int64_t module_id = timed->loop.at[i].it.module_id;
        size_t first = 0;
        while (timed->loop.at[first].it.module_id != module_id)
            first++;
        if (first == i)
            AS_TRY(plan_module(timed, catalogue, maker, module_id, err));
    }
    return 0;
}

int as_timed_plan(struct as_timed *timed, const struct as_patch_wish *wish, uint8_t **bytes,
                  size_t *n, struct as_error *err)
{
    struct as_patch_maker *maker = NULL;
    struct as_catalogue *catalogue = NULL;
    bool any = false;
    *bytes = NULL;
    int rc = as_catalogue_new(timed->experiment, NULL, &catalogue, err);
    if (rc == 0)
        rc = as_patch_maker_new(wish, &maker, err);
    if (rc == 0)
        rc = plan_modules(timed, catalogue, maker, err);
    as_vec_foreach (&timed->loop, loop)
        any |= loop->number != AS_NONE;
    if (rc == 0 && any)
        rc = as_patch_maker_bytes(maker, bytes, n, err);
    as_patch_maker_free(&maker);
    as_catalogue_free(&catalogue);
    return rc;
}
