/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds of Lua objects. Each kind has a metatable made from its field list, so that code and
 * documentation share one list. An object of a module is made once and reused while it is alive. It
 * can therefore be the key of a table.
 */
#include <math.h>
#include <string.h>

#include "base/nearest.h"
#include "script/internal.h"

static const struct as_script_kind *const kinds[AS_SCRIPT_KINDS] = {
    [AS_SCRIPT_LIBRARY] = &as_script_library_kind,
    [AS_SCRIPT_MODULE] = &as_script_module_kind,
    [AS_SCRIPT_BODY] = &as_script_body_kind,
    [AS_SCRIPT_LOOP] = &as_script_loop_kind,
    [AS_SCRIPT_BLOCK] = &as_script_block_kind,
    [AS_SCRIPT_INSTRUCTION] = &as_script_instruction_kind,
    [AS_SCRIPT_EDGE] = &as_script_edge_kind,
    [AS_SCRIPT_OPERAND] = &as_script_operand_kind,
    [AS_SCRIPT_MEMORY] = &as_script_memory_kind,
    [AS_SCRIPT_STREAM] = &as_script_stream_kind,
    [AS_SCRIPT_DEPENDENCE] = &as_script_dependence_kind,
    [AS_SCRIPT_QUALITY] = &as_script_quality_kind,
    [AS_SCRIPT_WHAT_IF] = &as_script_what_if_kind,
    [AS_SCRIPT_PREDICTION] = &as_script_prediction_kind,
    [AS_SCRIPT_EXPERIMENT] = &as_script_experiment_kind,
};

/* ---- Fields ---------------------------------------------------------------------------------- */

static int refuse_name(lua_State *L, const struct as_script_kind *kind, const char *name)
{
    struct as_nearest nearest;
    as_nearest_init(&nearest, name, strlen(name));
    for (const struct as_script_field *f = kind->field; f->name; f++)
        as_nearest_offer(&nearest, f->name);
    if (nearest.best)
        return luaL_error(L, "a %s has no field '%s'; did you mean '%s'?", kind->name, name,
                          nearest.best);
    return luaL_error(L, "a %s has no field '%s'; doc/manual/script.md lists them", kind->name,
                      name);
}

/* Upvalues: the kind, and a table from names to its fields. */
static int index_object(lua_State *L)
{
    const struct as_script_kind *kind = lua_touserdata(L, lua_upvalueindex(1));
    const char *name = luaL_checkstring(L, 2);
    lua_getfield(L, lua_upvalueindex(2), name);
    const struct as_script_field *field = lua_touserdata(L, -1);
    if (!field)
        return refuse_name(L, kind, name);
    lua_settop(L, 1);
    if (!as_script_is_method(field))
        return field->get(L);
    lua_pushcfunction(L, field->get);
    return 1;
}

static int refuse_change(lua_State *L)
{
    const struct as_script_kind *kind = lua_touserdata(L, lua_upvalueindex(1));
    return luaL_error(L, "a %s cannot be changed", kind->name);
}

static int name_object(lua_State *L)
{
    const struct as_script_kind *kind = lua_touserdata(L, lua_upvalueindex(1));
    const struct as_script_object *it = lua_touserdata(L, 1);
    if (kind == kinds[AS_SCRIPT_MODULE] || kind == kinds[AS_SCRIPT_EXPERIMENT] || !it)
        lua_pushstring(L, kind->name);
    else
        lua_pushfstring(L, "%s %d", kind->name, (int)it->number);
    return 1;
}

static void push_fields(lua_State *L, const struct as_script_kind *kind)
{
    lua_newtable(L);
    for (const struct as_script_field *f = kind->field; f->name; f++) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)f);
        lua_setfield(L, -2, f->name);
    }
}

static void open_kind(lua_State *L, const struct as_script_kind *kind)
{
    luaL_newmetatable(L, kind->name);
    lua_pushlightuserdata(L, (void *)(uintptr_t)kind);
    push_fields(L, kind);
    lua_pushcclosure(L, index_object, 2);
    lua_setfield(L, -2, "__index");
    lua_pushlightuserdata(L, (void *)(uintptr_t)kind);
    lua_pushcclosure(L, refuse_change, 1);
    lua_setfield(L, -2, "__newindex");
    lua_pushlightuserdata(L, (void *)(uintptr_t)kind);
    lua_pushcclosure(L, name_object, 1);
    lua_setfield(L, -2, "__tostring");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}

void as_script_become(lua_State *L, enum as_script_kind_id kind)
{
    luaL_setmetatable(L, kinds[kind]->name);
}

void *as_script_check(lua_State *L, enum as_script_kind_id kind)
{
    return luaL_checkudata(L, 1, kinds[kind]->name);
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

struct boxed {
    void (*release)(void *box);
    uint64_t bytes[]; /* aligned for any type */
};

static int empty_box(lua_State *L)
{
    struct boxed *box = lua_touserdata(L, 1);
    if (box->release)
        box->release(box->bytes);
    box->release = NULL;
    return 0;
}

void *as_script_box(lua_State *L, size_t size_b, void (*release)(void *box))
{
    struct boxed *box = lua_newuserdatauv(L, sizeof *box + size_b, 0);
    memset(box, 0, sizeof *box + size_b);
    luaL_setmetatable(L, "box");
    box->release = release;
    return box->bytes;
}

void *as_script_unbox(lua_State *L, int index)
{
    return ((struct boxed *)lua_touserdata(L, index))->bytes;
}

void as_script_kinds_open(lua_State *L)
{
    for (unsigned k = 0; k < AS_SCRIPT_KINDS; k++)
        open_kind(L, kinds[k]);
    luaL_newmetatable(L, "box");
    lua_pushcfunction(L, empty_box);
    lua_setfield(L, -2, "__gc");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}

/* ---- Objects of a module --------------------------------------------------------------------- */

/* Pushes the module of the object at index 1, and the module's table of objects. */
static struct as_script_module *push_module(lua_State *L)
{
    struct as_script_module *module = luaL_testudata(L, 1, kinds[AS_SCRIPT_MODULE]->name);
    if (module)
        lua_pushvalue(L, 1);
    else {
        module = ((struct as_script_object *)lua_touserdata(L, 1))->module;
        lua_getiuservalue(L, 1, 1);
    }
    lua_getiuservalue(L, -1, 1);
    return module;
}

/* Pushes an object. The module and its table of objects must be on top, and stay there. */
static void push_object(lua_State *L, struct as_script_module *module, enum as_script_kind_id kind,
                        uint32_t number)
{
    const lua_Integer key = ((lua_Integer)kind << 32) | number;
    if (lua_rawgeti(L, -1, key) != LUA_TNIL)
        return;
    lua_pop(L, 1);
    struct as_script_object *it = lua_newuserdatauv(L, sizeof *it, 1);
    *it = (struct as_script_object){number, module};
    lua_pushvalue(L, -3);
    lua_setiuservalue(L, -2, 1);
    as_script_become(L, kind);
    lua_pushvalue(L, -1);
    lua_rawseti(L, -3, key);
}

int as_script_push(lua_State *L, enum as_script_kind_id kind, uint32_t number)
{
    if (number == AS_NONE) {
        lua_pushnil(L);
        return 1;
    }
    push_object(L, push_module(L), kind, number);
    lua_replace(L, -3);
    lua_pop(L, 1);
    return 1;
}

int as_script_push_range(lua_State *L, enum as_script_kind_id kind, uint32_t first, size_t n)
{
    lua_createtable(L, (int)n, 0);
    const int list = lua_gettop(L);
    struct as_script_module *module = push_module(L);
    for (size_t i = 0; i < n; i++) {
        push_object(L, module, kind, first + (uint32_t)i);
        lua_rawseti(L, list, (lua_Integer)i + 1);
    }
    lua_settop(L, list);
    return 1;
}

/* ---- Values ---------------------------------------------------------------------------------- */

void as_script_set_integer(lua_State *L, const char *name, int64_t value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, name);
}

void as_script_set_number(lua_State *L, const char *name, double value)
{
    if (isnan(value))
        return;
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

void as_script_set_text(lua_State *L, const char *name, const char *text)
{
    if (!text)
        return;
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

void as_script_set_truth(lua_State *L, const char *name, bool value)
{
    lua_pushboolean(L, value);
    lua_setfield(L, -2, name);
}

int as_script_push_text(lua_State *L, const char *text)
{
    if (text)
        lua_pushstring(L, text);
    else
        lua_pushnil(L);
    return 1;
}

/* ---- Description ----------------------------------------------------------------------------- */

static void push_described(lua_State *L, const struct as_script_kind *kind)
{
    lua_newtable(L);
    as_script_set_text(L, "name", kind->name);
    as_script_set_text(L, "text", kind->text);
    lua_newtable(L);
    for (const struct as_script_field *f = kind->field; f->name; f++) {
        lua_newtable(L);
        as_script_set_text(L, "name", f->name);
        as_script_set_text(L, "gives", f->gives);
        as_script_set_text(L, "text", f->text);
        as_script_set_truth(L, "method", as_script_is_method(f));
        lua_rawseti(L, -2, f - kind->field + 1);
    }
    lua_setfield(L, -2, "fields");
}

int as_script_push_api(lua_State *L)
{
    lua_newtable(L);
    for (unsigned k = 0; k < AS_SCRIPT_KINDS; k++) {
        push_described(L, kinds[k]);
        lua_rawseti(L, -2, k + 1);
    }
    return 1;
}
