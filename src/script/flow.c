/* SPDX-License-Identifier: Apache-2.0 */
/* Lua objects for memory streams of a loop, and for dependences between its instructions. */
#include "script/internal.h"

static void free_streams(void *box)
{
    as_streams_free(box);
}

static void free_dependences(void *box)
{
    as_dependences_free(box);
}

static void free_paths(void *box)
{
    as_paths_free(box);
}

/* ---- Streams --------------------------------------------------------------------------------- */

static void push_stream(lua_State *L, const struct as_memory_stream *it)
{
    static const char *const stride[] = {"zero", "unit", "constant", "indirect", "unknown"};
    const bool reads = it->access & AS_ACCESS_READ, writes = it->access & AS_ACCESS_WRITE;
    lua_newtable(L);
    as_script_push(L, AS_SCRIPT_INSTRUCTION, it->insn);
    lua_setfield(L, -2, "instruction");
    as_script_set_integer(L, "array", it->array);
    as_script_set_text(L, "stride", it->stride <= AS_STRIDE_UNKNOWN ? stride[it->stride] : NULL);
    if (it->stride <= AS_STRIDE_CONSTANT)
        as_script_set_integer(L, "stride_b", it->stride_b);
    as_script_set_integer(L, "offset_b", it->offset_b);
    as_script_set_integer(L, "width_b", it->width_b);
    as_script_set_text(L, "access", reads && writes ? "rw" : reads ? "r" : writes ? "w" : "");
    as_script_set_truth(L, "is_stack", it->stack);
}

int as_script_loop_streams(lua_State *L)
{
    const struct as_script_object *it = as_script_check(L, AS_SCRIPT_LOOP);
    struct as_error err;
    lua_settop(L, 1);
    struct as_streams *streams = as_script_box(L, sizeof *streams, free_streams);
    if (as_loop_streams(it->module->program, it->number, streams, &err) < 0)
        return as_script_fail(L, &err);
    lua_newtable(L);
    for (size_t i = 0; i < streams->n; i++) {
        push_stream(L, &streams->at[i]);
        lua_rawseti(L, 3, (lua_Integer)i + 1);
    }
    return 1;
}

/* ---- Dependences ----------------------------------------------------------------------------- */

static void push_dependence(lua_State *L, const struct as_dependences *all,
                            const struct as_dependence *it)
{
    static const char *const kind[] = {"register", "flags", "memory"};
    lua_newtable(L);
    as_script_push(L, AS_SCRIPT_INSTRUCTION, all->insn[it->from]);
    lua_setfield(L, -2, "from");
    as_script_push(L, AS_SCRIPT_INSTRUCTION, all->insn[it->to]);
    lua_setfield(L, -2, "to");
    as_script_set_integer(L, "distance", it->distance);
    as_script_set_text(L, "kind", it->kind <= AS_DEPENDENCE_MEMORY ? kind[it->kind] : NULL);
    if (it->kind == AS_DEPENDENCE_REGISTER)
        as_script_set_text(L, "register", as_reg_name(it->what, 8));
    as_script_set_truth(L, "is_address", it->bits & AS_DEPENDENCE_ADDRESS);
    as_script_set_truth(L, "is_maybe", it->bits & AS_DEPENDENCE_MAYBE);
}

/* Returns the path index for the argument at index 2, which counts from 1; the default is 1. */
static size_t path_argument(lua_State *L, const struct as_paths *paths)
{
    const lua_Integer path = luaL_optinteger(L, 2, 1);
    if (path < 1 || (uint64_t)path > paths->path_n)
        luaL_argerror(L, 2, "the loop has no path of this number");
    return (size_t)path - 1;
}

int as_script_loop_dependences(lua_State *L)
{
    const struct as_script_object *it = as_script_check(L, AS_SCRIPT_LOOP);
    struct as_error err;
    lua_settop(L, 2);
    struct as_paths *paths = as_script_box(L, sizeof *paths, free_paths);
    struct as_dependences *all = as_script_box(L, sizeof *all, free_dependences);
    if (as_loop_paths(it->module->program, it->number, AS_PATH_LIMIT, paths, &err) < 0)
        return as_script_fail(L, &err);
    const size_t path = path_argument(L, paths);
    if (as_loop_dependences(it->module->program, it->number, paths, path, all, &err) < 0)
        return as_script_fail(L, &err);
    lua_newtable(L);
    for (size_t i = 0; i < all->n; i++) {
        push_dependence(L, all, &all->at[i]);
        lua_rawseti(L, 5, (lua_Integer)i + 1);
    }
    return 1;
}

static const struct as_script_field stream_fields[] = {
    {"instruction", "instruction", "whose operand it is", NULL},
    {"array", "integer", "operands of one array have the same number", NULL},
    {"stride", "text", "zero, unit, constant, indirect or unknown", NULL},
    {"stride_b", "integer or nil", "bytes an iteration", NULL},
    {"offset_b", "integer", "from the first byte of its array in the same iteration", NULL},
    {"width_b", "integer", "bytes of one access", NULL},
    {"access", "text", "r, w or rw", NULL},
    {"is_stack", "boolean", "the function's own frame", NULL},
    {0}};

const struct as_script_kind as_script_stream_kind = {
    "stream", "A memory operand of a loop's instruction. A table.", stream_fields};

static const struct as_script_field dependence_fields[] = {
    {"from", "instruction", "that writes", NULL},
    {"to", "instruction", "that reads what it wrote", NULL},
    {"distance", "integer", "iterations between them; 0: the same", NULL},
    {"kind", "text", "register, flags or memory", NULL},
    {"register", "text or nil", "its name", NULL},
    {"is_address", "boolean", "it forms an address and nothing else", NULL},
    {"is_maybe", "boolean", "it need not happen", NULL},
    {0}};

const struct as_script_kind as_script_dependence_kind = {
    "dependence", "Of an instruction on what another wrote. A table.", dependence_fields};
