/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a script: its memory and time limits, Ctrl-C, and its errors. A hook checks the clock every
 * HOOK_EACH instructions. When the script must stop, the hook raises an error at every instruction.
 * A script that catches errors thus stops too.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/infile.h"
#include "base/str.h"
#include "script/internal.h"

#include "machine/machine.h"

#define HOOK_EACH     1000
#define SCRIPT_MOST_B ((size_t)16 << 20)

struct as_script *as_script_of(lua_State *L)
{
    return *(struct as_script **)lua_getextraspace(L);
}

void as_script_place(lua_State *L, char *out, size_t out_b)
{
    lua_Debug at;
    out[0] = 0;
    for (int level = 0; lua_getstack(L, level, &at); level++) {
        if (!lua_getinfo(L, "Sl", &at) || at.currentline <= 0)
            continue;
        snprintf(out, out_b, "%s:%d", at.short_src, at.currentline);
        return;
    }
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static void *allocate_script_memory(void *context, void *block, size_t had_b, size_t want_b)
{
    struct as_script *script = context;
    const uint64_t held_b = script->held_b - (block ? had_b : 0) + want_b;
    const uint64_t limit_b = script->request->memory_limit_b;
    const uint64_t all_b = held_b + as_sql_memory();
    if (want_b == 0) {
        script->held_b = held_b;
        as_free(block);
        return NULL;
    }
    if (limit_b && all_b > limit_b && want_b > (block ? had_b : 0)) {
        if (script->main && script->stop == AS_SCRIPT_GOES_ON)
            as_script_place(script->main, script->place, sizeof script->place);
        return NULL;
    }
    void *got = as_realloc(block, want_b, 1);
    if (got)
        script->held_b = held_b;
    return got;
}

/* Returns true if the script must stop, and notes the reason and the position. */
static bool must_stop(lua_State *L, bool is_large)
{
    struct as_script *script = as_script_of(L);
    if (script->stop != AS_SCRIPT_GOES_ON)
        return true;
    if (script->request->interrupted && *script->request->interrupted)
        script->stop = AS_SCRIPT_INTERRUPTED;
    else if (script->deadline && as_monotonic_ns() > script->deadline)
        script->stop = AS_SCRIPT_LATE;
    else if (is_large)
        script->stop = AS_SCRIPT_LARGE;
    else
        return false;
    as_script_place(L, script->place, sizeof script->place);
    return true;
}

static void look_at_clock(lua_State *L, lua_Debug *event)
{
    (void)event;
    if (!must_stop(L, false))
        return;
    lua_sethook(L, look_at_clock, LUA_MASKCOUNT, 1);
    luaL_error(L, "stopped");
}

int as_script_fail(lua_State *L, const struct as_error *err)
{
    if (must_stop(L, err->code == AS_ERR_NOMEM))
        lua_sethook(L, look_at_clock, LUA_MASKCOUNT, 1);
    return luaL_error(L, "%s", err->text);
}

/* ---- Errors ---------------------------------------------------------------------------------- */

static const char *place_or_file(const struct as_script *script)
{
    return script->place[0] ? script->place : script->request->path;
}

static int report_memory_limit(const struct as_script *script, struct as_error *err)
{
    if (!script->request->memory_limit_b || !script->place[0])
        return as_error_nomem(err, "the values of the script");
    return as_error_set(err, AS_ERR_LIMIT,
                        "%s: stopped: its values take more than %" PRIu64
                        " MiB; --memory-limit allows more",
                        place_or_file(script), script->request->memory_limit_b >> 20);
}

static int report_script_stop(const struct as_script *script, struct as_error *err)
{
    if (script->stop == AS_SCRIPT_LARGE)
        return report_memory_limit(script, err);
    if (script->stop == AS_SCRIPT_INTERRUPTED)
        return as_error_set(err, AS_ERR_LIMIT, "%s: interrupted", place_or_file(script));
    return as_error_set(err, AS_ERR_LIMIT,
                        "%s: stopped: it ran for %.3g s; --time-limit allows more",
                        place_or_file(script), (double)script->request->time_limit_ns / 1e9);
}

/* Sets the error from the message on top of the stack, on one line. */
static int write_mistake(lua_State *L, const struct as_script *script, struct as_error *err)
{
    const char *text = lua_tostring(L, -1);
    char line[AS_ERROR_TEXT_B];
    if (!text)
        return as_error_set(err, AS_ERR_USAGE, "%s: failed with an error that is a %s, no text",
                            script->request->path, luaL_typename(L, -1));
    snprintf(line, sizeof line, "%s", text);
    for (char *c = line; *c; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
    return as_error_set(err, AS_ERR_USAGE, "%s", line);
}

static int report_script_status(lua_State *L, const struct as_script *script, int status,
                                struct as_error *err)
{
    if (script->stop != AS_SCRIPT_GOES_ON)
        return report_script_stop(script, err);
    return status == LUA_ERRMEM ? report_memory_limit(script, err) : write_mistake(L, script, err);
}

/* Message handler: converts error values with __tostring to text. */
static int word_error(lua_State *L)
{
    if (lua_type(L, 1) != LUA_TSTRING && luaL_callmeta(L, 1, "__tostring"))
        return 1;
    lua_settop(L, 1);
    return 1;
}

/* ---- Run ------------------------------------------------------------------------------------- */

/* Runs the script. Its text is a light userdata at index 1. Returns the script's result. */
static int run_protected(lua_State *L)
{
    struct as_script *script = as_script_of(L);
    const struct as_view *text = lua_touserdata(L, 1);
    const struct as_script_request *request = script->request;
    luaL_checkversion(L);
    as_script_kinds_open(L);
    as_script_library_open(L);
    lua_pushfstring(L, "@%s", request->path);
    if (luaL_loadbufferx(L, text->p, text->n, lua_tostring(L, -1), "t") != LUA_OK)
        return lua_error(L);
    lua_call(L, 0, 1);
    return 1;
}

static int run_state(struct as_script *script, const struct as_view *text,
                     struct as_script_result *result, struct as_error *err)
{
    lua_State *L = lua_newstate(allocate_script_memory, script);
    if (!L)
        return as_error_nomem(err, "a script");
    *(struct as_script **)lua_getextraspace(L) = script;
    script->main = L;
    lua_sethook(L, look_at_clock, LUA_MASKCOUNT, HOOK_EACH);
    lua_pushcfunction(L, word_error);
    lua_pushcfunction(L, run_protected);
    lua_pushlightuserdata(L, (void *)(uintptr_t)text);
    const int status = lua_pcall(L, 1, 1, 1);
    const int rc = status == LUA_OK ? 0 : report_script_status(L, script, status, err);
    result->is_false = status == LUA_OK && lua_isboolean(L, -1) && !lua_toboolean(L, -1);
    result->interrupted = script->stop == AS_SCRIPT_INTERRUPTED;
    script->main = NULL;
    lua_sethook(L, NULL, 0, 0);
    lua_close(L);
    return rc;
}

/* Removes a first line "#!...". Its line end stays, so that line numbers are right. */
static struct as_view without_shell_line(struct as_view text)
{
    const char *end = text.n && text.p[0] == '#' ? memchr(text.p, '\n', text.n) : NULL;
    if (end)
        text = (struct as_view){end, text.n - (size_t)(end - text.p)};
    else if (text.n && text.p[0] == '#')
        text.n = 0;
    return text;
}

int as_script_run(const struct as_script_request *request, struct as_script_result *result,
                  struct as_error *err)
{
    struct as_script script = {.request = request};
    char *file = NULL;
    size_t file_n = 0;
    *result = (struct as_script_result){0};
    AS_TRY(as_infile_read(request->path, "the script", SCRIPT_MOST_B, 0, &file, &file_n, err));
    if (request->time_limit_ns)
        script.deadline = as_monotonic_ns() + (int64_t)request->time_limit_ns;
    const struct as_view text = without_shell_line((struct as_view){file, file_n});
    const int rc = run_state(&script, &text, result, err);
    as_predictor_free(&script.predictor);
    as_cqa_engine_free(&script.engine);
    as_uarch_free(&script.uarch);
    as_figures_free(&script.figures);
    as_free(file);
    return rc;
}
