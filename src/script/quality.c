/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lua objects for the results of models on a loop: code quality analysis and predicted cycles. The
 * core table is opened at first use.
 */
#include <math.h>

#include "machine/machine.h"
#include "script/internal.h"

static void want_machine(lua_State *L, struct as_script *script)
{
    const struct as_script_request *request = script->request;
    struct as_error err;
    if (!script->uarch &&
        request->machine(request->context, &script->uarch, &script->figures, &err) < 0)
        as_script_fail(L, &err);
}

static struct as_cqa_engine *engine_of(lua_State *L)
{
    struct as_script *script = as_script_of(L);
    struct as_error err;
    want_machine(L, script);
    if (script->engine)
        return script->engine;
    if (as_cqa_engine_new(script->uarch, &script->engine, &err) < 0)
        as_script_fail(L, &err);
    as_cqa_engine_figures(script->engine, script->figures);
    return script->engine;
}

/* ---- Quality --------------------------------------------------------------------------------- */

static void push_metrics(lua_State *L, const struct as_cqa_path *path)
{
    lua_newtable(L);
    for (size_t i = 0; i < as_cqa_metric_count(); i++)
        as_script_set_number(L, as_cqa_metric(i)->name, path->value[i]);
}

static void push_what_if(lua_State *L, const struct as_cqa_what_if *it)
{
    lua_newtable(L);
    as_script_set_truth(L, "applies", it->applies);
    as_script_set_text(L, "why", it->why);
    if (!it->applies)
        return;
    as_script_set_truth(L, "is_sound", it->sound);
    as_script_set_number(L, "cycles", it->cycles);
    as_script_set_number(L, "speedup", it->speedup);
    as_script_set_text(L, "bound", as_bound_name(it->bound));
}

static void push_what_ifs(lua_State *L, const struct as_cqa_path *path)
{
    lua_newtable(L);
    for (unsigned v = 0; v < AS_CQA_VARIANTS; v++) {
        push_what_if(L, &path->what_if[v]);
        lua_setfield(L, -2, as_cqa_variant_name((enum as_cqa_variant)v));
    }
}

static void push_chain(lua_State *L, const struct as_cqa_path *path)
{
    lua_newtable(L);
    for (size_t i = 0; i < path->chain_n; i++) {
        as_script_push(L, AS_SCRIPT_INSTRUCTION, path->chain[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

static void push_quality(lua_State *L, const struct as_cqa *cqa, const struct as_cqa_path *path)
{
    const int cycles = as_cqa_metric_find("cycles");
    const int best = as_cqa_best(path);
    lua_newtable(L);
    as_script_set_number(L, "cycles", cycles < 0 ? (double)NAN : path->value[cycles]);
    as_script_set_text(L, "bound", as_bound_name(path->bound));
    as_script_set_text(L, "limit", path->limit);
    as_script_set_integer(L, "path_n", (lua_Integer)cqa->path_n);
    as_script_set_truth(L, "is_merged", cqa->merged);
    as_script_set_text(L, "best", best < 0 ? NULL : as_cqa_variant_name((enum as_cqa_variant)best));
    push_metrics(L, path);
    lua_setfield(L, -2, "metrics");
    push_what_ifs(L, path);
    lua_setfield(L, -2, "what_ifs");
    push_chain(L, path);
    lua_setfield(L, -2, "chain");
}

/* Returns the path for the argument at index 2. Without it, returns the only path, or the mean
 * of several. */
static const struct as_cqa_path *chosen_path(lua_State *L, const struct as_cqa *cqa)
{
    if (lua_isnoneornil(L, 2))
        return cqa->path_n == 1 ? &cqa->path[0] : &cqa->mean;
    const lua_Integer path = luaL_checkinteger(L, 2);
    if (path < 1 || (uint64_t)path > cqa->path_n)
        luaL_argerror(L, 2, "the loop has no path of this number");
    return &cqa->path[path - 1];
}

int as_script_loop_cqa(lua_State *L)
{
    const struct as_script_object *it = as_script_check(L, AS_SCRIPT_LOOP);
    const struct as_cqa_options options = {.experts = true};
    struct as_cqa_engine *engine = engine_of(L);
    struct as_cqa cqa;
    struct as_error err;
    lua_settop(L, 2);
    if (as_cqa_loop(engine, it->module->program, it->number, &options, &cqa, &err) < 0)
        return as_script_fail(L, &err);
    if (cqa.path_n == 0)
        return luaL_error(L, "loop %d has no way through an iteration that could be looked at",
                          (int)it->number);
    push_quality(L, &cqa, chosen_path(L, &cqa));
    return 1;
}

static const struct as_script_field quality_fields[] = {
    {"cycles", "number or nil", "of an iteration, data in the first level of the cache", NULL},
    {"bound", "text", "what limits: dispatch, decode, branch, ports, unit, latency or window",
     NULL},
    {"limit", "text", "which ports, which unit; else empty", NULL},
    {"path_n", "integer", "paths that are told apart", NULL},
    {"is_merged", "boolean", "too many: all are one", NULL},
    {"best", "text or nil", "the sound what-if that gives most", NULL},
    {"metrics", "table of number",
     "by name; those that do not apply are nil (doc/reference/metrics.md)", NULL},
    {"what_ifs", "table of what-if", "by the names of doc/internals/cqa.md", NULL},
    {"chain", "list of instruction",
     "the longest chain from iteration to iteration; of a mean of "
     "several paths empty",
     NULL},
    {0}};

const struct as_script_kind as_script_quality_kind = {
    "quality", "What code quality analysis says of a loop. A table.", quality_fields};

static const struct as_script_field what_if_fields[] = {
    {"applies", "boolean", "there is something to change; without it nothing below is there", NULL},
    {"is_sound", "boolean", "the program would still compute the same", NULL},
    {"cycles", "number", "of an iteration of the loop as it is", NULL},
    {"speedup", "number", "over the loop as it is", NULL},
    {"bound", "text", "what limits then", NULL},
    {"why", "text or nil", "why no faster, or why it does not apply", NULL},
    {0}};

const struct as_script_kind as_script_what_if_kind = {
    "what-if", "The loop, had its code been another. A table.", what_if_fields};

/* ---- Prediction ------------------------------------------------------------------------------ */

static void free_predicted_paths(void *box)
{
    as_paths_free(box);
}

static void free_code(void *box)
{
    as_code_free(box);
}

static struct as_predictor *predictor_of(lua_State *L)
{
    struct as_script *script = as_script_of(L);
    struct as_error err;
    want_machine(L, script);
    if (!script->predictor && as_predictor_new(script->uarch, &script->predictor, &err) < 0)
        as_script_fail(L, &err);
    return script->predictor;
}

static void push_prediction(lua_State *L, const struct as_prediction *it)
{
    lua_newtable(L);
    as_script_set_number(L, "cycles", it->cycles);
    as_script_set_text(L, "bound", as_bound_name(it->bound));
    as_script_set_text(L, "limit", it->limit);
    as_script_set_number(L, "simulated", it->simulated < 0 ? (double)NAN : it->simulated);
    as_script_set_integer(L, "estimated_n", it->estimated_n);
    lua_newtable(L);
    for (unsigned b = 0; b < AS_BOUNDS; b++)
        as_script_set_number(L, as_bound_name((enum as_bound)b), it->bounds[b]);
    lua_setfield(L, -2, "bounds");
}

int as_script_loop_predict(lua_State *L)
{
    const struct as_script_object *it = as_script_check(L, AS_SCRIPT_LOOP);
    const struct as_program *p = it->module->program;
    const struct as_predict_options options = {.mode = AS_PREDICT_LOOP};
    struct as_prediction out;
    struct as_error err;
    const lua_Integer path = luaL_optinteger(L, 2, 1);
    struct as_predictor *predictor = predictor_of(L);
    struct as_paths *paths = as_script_box(L, sizeof *paths, free_predicted_paths);
    struct as_code *code = as_script_box(L, sizeof *code, free_code);
    if (as_loop_paths(p, it->number, AS_PATH_LIMIT, paths, &err) < 0)
        return as_script_fail(L, &err);
    if (path < 1 || (uint64_t)path > paths->path_n)
        return luaL_argerror(L, 2, "the loop has no path of this number");
    if (as_path_code(p, paths, (size_t)path - 1, code, &err) < 0 ||
        as_predict(predictor, code, 0, code->n, &options, &out, &err) < 0)
        return as_script_fail(L, &err);
    push_prediction(L, &out);
    return 1;
}

static const struct as_script_field prediction_fields[] = {
    {"cycles", "number", "of an iteration, data in the first level of the cache", NULL},
    {"bound", "text", "what limits", NULL},
    {"limit", "text", "which ports, which unit; else empty", NULL},
    {"simulated", "number or nil", "by the simulation of the core, where bounds are near", NULL},
    {"estimated_n", "integer", "instructions that the table of the core has nothing like", NULL},
    {"bounds", "table of number", "cycles by what could limit", NULL},
    {0}};

const struct as_script_kind as_script_prediction_kind = {
    "prediction", "Predicted cycles of a path of a loop. A table.", prediction_fields};
