/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Lua libraries of a script, and the table `assay`. An untrusted script may look at a binary
 * and print, and nothing more. Files, commands, the environment and bytecode (which can break the
 * interpreter) are for trusted scripts only.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/infile.h"
#include "base/str.h"
#include "base/untrusted_open.h"
#include "base/version.h"
#include "script/internal.h"

#define PART_MOST_B ((size_t)16 << 20)
#define PART        "a part of the script"

/* ---- Output ---------------------------------------------------------------------------------- */

static void hand_on(lua_State *L, const char *text, size_t n)
{
    const struct as_script_request *request = as_script_of(L)->request;
    request->write(request->context, text, n);
}

static int print_values(lua_State *L)
{
    const int n = lua_gettop(L);
    for (int i = 1; i <= n; i++) {
        size_t text_n;
        const char *text = luaL_tolstring(L, i, &text_n);
        if (i > 1)
            hand_on(L, "\t", 1);
        hand_on(L, text, text_n);
        lua_pop(L, 1);
    }
    hand_on(L, "\n", 1);
    return 0;
}

static int write_values(lua_State *L)
{
    const int n = lua_gettop(L);
    for (int i = 1; i <= n; i++) {
        size_t text_n;
        const char *text = luaL_checklstring(L, i, &text_n);
        hand_on(L, text, text_n);
    }
    return 0;
}

static int printf_values(lua_State *L)
{
    lua_getglobal(L, "string");
    lua_getfield(L, -1, "format");
    lua_insert(L, 1);
    lua_pop(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return write_values(L);
}

/* ---- The table `assay` ----------------------------------------------------------------------- */

static int open_any(lua_State *L)
{
    return as_script_open_any(L, luaL_checkstring(L, 1));
}

static int push_kinds(lua_State *L)
{
    return as_script_push_api(L);
}

static int push_version(lua_State *L)
{
    return as_script_push_text(L, AS_VERSION);
}

static int push_arguments(lua_State *L)
{
    const struct as_script_request *request = as_script_of(L)->request;
    lua_newtable(L);
    for (size_t i = 0; i < request->argument_n; i++) {
        lua_pushstring(L, request->argument[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static int push_subject(lua_State *L)
{
    const char *path = as_script_of(L)->request->subject;
    if (path)
        return as_script_open_any(L, path);
    lua_pushnil(L);
    return 1;
}

static int push_kind(lua_State *L)
{
    lua_settop(L, 1);
    if (lua_getmetatable(L, 1) && lua_getfield(L, -1, "__name") == LUA_TSTRING)
        return 1;
    lua_pushnil(L);
    return 1;
}

static const struct as_script_field library_fields[] = {
    {"subject", "module, experiment or nil", "what the command line names behind the script",
     push_subject},
    {"arguments", "list of text", "what it names further", push_arguments},
    {"version", "text", "of assay", push_version},
    {"api", "list of table", "what this page lists: name, text and fields of each kind",
     push_kinds},
    {"open", "(path) module or experiment", "of another binary or experiment", open_any},
    {"kind", "(value) text or nil", "\"loop\" of a loop", push_kind},
    {"write", "(...)", "writes texts and numbers as they are", write_values},
    {"printf", "(format, ...)", "writes what string.format gives", printf_values},
    {0}};

const struct as_script_kind as_script_library_kind = {
    "assay", "The global table; nothing of it is an object. Call its functions with a dot.",
    library_fields};

static void open_table(lua_State *L)
{
    lua_newtable(L);
    for (const struct as_script_field *f = library_fields; f->name; f++) {
        if (as_script_is_method(f))
            lua_pushcfunction(L, f->get);
        else
            f->get(L);
        lua_setfield(L, -2, f->name);
    }
    lua_setglobal(L, "assay");
}

/* ---- Parts of a script ----------------------------------------------------------------------- */

/* Pushes the path of a part: "lib.parts" is lib/parts.lua beside the script. A name cannot leave
 * the directory of the script. */
static void push_part_path(lua_State *L, const char *name)
{
    const char *script = as_script_of(L)->request->path;
    const char *last = as_path_last(script);
    for (const char *c = name; *c; c++)
        if (*c == '/' || *c == '\\' || (c[0] == '.' && (c == name || c[1] == '.' || !c[1])))
            luaL_error(L,
                       "require: '%s' is no name of a part; it is a file beside the script, "
                       "without .lua",
                       name);
    luaL_gsub(L, name, ".", "/");
    lua_pushlstring(L, script, (size_t)(last - script));
    lua_insert(L, -2);
    lua_pushliteral(L, ".lua");
    lua_concat(L, 3);
}

struct part_text {
    char *text;
    size_t n;
};

static void free_part(void *box)
{
    as_free(((struct part_text *)box)->text);
}

/* Reads the file named at index 2; symbolic links must stay in the script's directory. */
static int read_part(lua_State *L, struct part_text *part, struct as_error *err)
{
    const char *script = as_script_of(L)->request->path, *path = lua_tostring(L, 2);
    const size_t root_n = (size_t)(as_path_last(script) - script);
    const char *root = lua_pushlstring(L, script, root_n);
    const int fd = as_foreign_open_below(root, path + root_n, NULL);
    int rc;
    if (fd < 0) {
        rc = as_foreign_fail(path, PART, errno, err);
    } else {
        rc = as_infile_read_fd(fd, path, PART, PART_MOST_B, &part->text, &part->n, err);
        close(fd);
    }
    lua_pop(L, 1);
    return rc;
}

static int require_part(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    struct as_error err;
    lua_settop(L, 1);
    lua_pushvalue(L, 1);
    if (lua_gettable(L, lua_upvalueindex(1)) != LUA_TNIL)
        return 1;
    lua_pop(L, 1);
    push_part_path(L, name);
    struct part_text *part = as_script_box(L, sizeof *part, free_part);
    if (read_part(L, part, &err) < 0)
        return as_script_fail(L, &err);
    lua_pushfstring(L, "@%s", lua_tostring(L, 2));
    if (luaL_loadbufferx(L, part->text, part->n, lua_tostring(L, -1), "t") != LUA_OK)
        return lua_error(L);
    lua_call(L, 0, 1);
    if (lua_isnil(L, -1)) {
        lua_pushboolean(L, 1);
        lua_replace(L, -2);
    }
    lua_pushvalue(L, 1);
    lua_pushvalue(L, -2);
    lua_settable(L, lua_upvalueindex(1));
    return 1;
}

/* ---- Lua's libraries ------------------------------------------------------------------------- */

/* load() for text only, with a name and globals. */
static int load_text(lua_State *L)
{
    size_t n;
    const char *text = luaL_checklstring(L, 1, &n);
    const char *name = luaL_optstring(L, 2, text);
    const bool has_globals = lua_gettop(L) >= 4;
    if (luaL_loadbufferx(L, text, n, name, "t") != LUA_OK) {
        lua_pushnil(L);
        lua_insert(L, -2);
        return 2;
    }
    if (has_globals) {
        lua_pushvalue(L, 4);
        if (!lua_setupvalue(L, -2, 1))
            lua_pop(L, 1);
    }
    return 1;
}

static void restrict_library(lua_State *L, const char *table, const char *const *kept)
{
    lua_getglobal(L, table);
    lua_newtable(L);
    for (; *kept; kept++) {
        lua_getfield(L, -2, *kept);
        lua_setfield(L, -2, *kept);
    }
    lua_setglobal(L, table);
    lua_pushnil(L);
    lua_setfield(L, LUA_REGISTRYINDEX, table);
    lua_pop(L, 1);
}

/* Opens base, coroutine, table, string, math, utf8 and the clock functions of os. Removes
 * functions that load files or bytecode. */
static void open_limited(lua_State *L)
{
    static const luaL_Reg libraries[] = {
        {LUA_GNAME, luaopen_base},       {LUA_COLIBNAME, luaopen_coroutine},
        {LUA_TABLIBNAME, luaopen_table}, {LUA_STRLIBNAME, luaopen_string},
        {LUA_MATHLIBNAME, luaopen_math}, {LUA_UTF8LIBNAME, luaopen_utf8},
        {LUA_OSLIBNAME, luaopen_os}};
    static const char *const of_os[] = {"clock", "date", "difftime", "time", NULL};
    static const char *const gone[] = {"dofile", "loadfile", "collectgarbage"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        luaL_requiref(L, libraries[i].name, libraries[i].func, 1);
        lua_pop(L, 1);
    }
    restrict_library(L, LUA_OSLIBNAME, of_os);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        lua_pushnil(L);
        lua_setglobal(L, gone[i]);
    }
    lua_pushcfunction(L, load_text);
    lua_setglobal(L, "load");
    lua_getglobal(L, "string");
    lua_pushnil(L);
    lua_setfield(L, -2, "dump");
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushcclosure(L, require_part, 1);
    lua_setglobal(L, "require");
    lua_newtable(L);
    lua_pushcfunction(L, write_values);
    lua_setfield(L, -2, "write");
    lua_setglobal(L, "io");
}

void as_script_library_open(lua_State *L)
{
    if (as_script_of(L)->request->trusted)
        luaL_openlibs(L);
    else
        open_limited(L);
    lua_pushcfunction(L, print_values);
    lua_setglobal(L, "print");
    open_table(L);
}
