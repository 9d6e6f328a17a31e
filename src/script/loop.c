/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lua objects for loops: nest, code and source. quality.c has the results of models, flow.c memory
 * and dependences.
 */
#include "script/internal.h"

static const struct as_script_object *object_of(lua_State *L)
{
    return as_script_check(L, AS_SCRIPT_LOOP);
}

static const struct as_loop *loop_of(lua_State *L)
{
    const struct as_script_object *it = object_of(L);
    return &it->module->program->loop[it->number];
}

static int push_integer(lua_State *L, uint64_t value)
{
    lua_pushinteger(L, (lua_Integer)value);
    return 1;
}

static int push_boolean(lua_State *L, bool value)
{
    lua_pushboolean(L, value);
    return 1;
}

static int loop_id(lua_State *L)
{
    return push_integer(L, object_of(L)->number);
}

static int loop_address(lua_State *L)
{
    const struct as_program *p = object_of(L)->module->program;
    return push_integer(L, p->block[loop_of(L)->header].start);
}

static int loop_function(lua_State *L)
{
    return as_script_push(L, AS_SCRIPT_BODY, loop_of(L)->body);
}

static int loop_header(lua_State *L)
{
    return as_script_push(L, AS_SCRIPT_BLOCK, loop_of(L)->header);
}

static int loop_parent(lua_State *L)
{
    return as_script_push(L, AS_SCRIPT_LOOP, loop_of(L)->parent);
}

static int loop_inner(lua_State *L)
{
    const struct as_script_object *it = object_of(L);
    const struct as_program *p = it->module->program;
    const struct as_body *body = &p->body[p->loop[it->number].body];
    lua_Integer n = 0;
    lua_newtable(L);
    for (uint32_t l = body->first_loop; l < body->first_loop + body->loops; l++)
        if (p->loop[l].parent == it->number) {
            as_script_push(L, AS_SCRIPT_LOOP, l);
            lua_rawseti(L, 2, ++n);
        }
    return 1;
}

static int loop_depth(lua_State *L)
{
    return push_integer(L, loop_of(L)->depth);
}

static int loop_level(lua_State *L)
{
    static const char *const word[] = {"single", "outermost", "between", "innermost"};
    return as_script_push_text(L, word[loop_of(L)->level & 3]);
}

static int loop_role(lua_State *L)
{
    static const char *const word[] = {"main",        "peel",        "tail",
                                       "vector peel", "vector tail", "version"};
    const unsigned role = loop_of(L)->role;
    return as_script_push_text(L, role < sizeof word / sizeof *word ? word[role] : NULL);
}

static int loop_group(lua_State *L)
{
    return as_script_push(L, AS_SCRIPT_LOOP, loop_of(L)->group);
}

static int loop_unroll(lua_State *L)
{
    const unsigned unroll = loop_of(L)->unroll;
    if (unroll)
        return push_integer(L, unroll);
    lua_pushnil(L);
    return 1;
}

static int loop_blocks(lua_State *L)
{
    const struct as_script_object *it = object_of(L);
    const struct as_program *p = it->module->program;
    const struct as_loop *loop = &p->loop[it->number];
    lua_createtable(L, (int)loop->blocks, 0);
    for (uint32_t i = 0; i < loop->blocks; i++) {
        as_script_push(L, AS_SCRIPT_BLOCK, p->loop_block[loop->first_block + i]);
        lua_rawseti(L, 2, (lua_Integer)i + 1);
    }
    return 1;
}

static int loop_instructions(lua_State *L)
{
    const struct as_script_object *it = object_of(L);
    const struct as_program *p = it->module->program;
    const struct as_loop *loop = &p->loop[it->number];
    lua_Integer n = 0;
    lua_createtable(L, (int)loop->insns, 0);
    for (uint32_t i = 0; i < loop->blocks; i++) {
        const struct as_block *b = &p->block[p->loop_block[loop->first_block + i]];
        for (uint32_t k = 0; k < b->insns; k++) {
            as_script_push(L, AS_SCRIPT_INSTRUCTION, b->first_insn + k);
            lua_rawseti(L, 2, ++n);
        }
    }
    return 1;
}

static int loop_instruction_n(lua_State *L)
{
    return push_integer(L, loop_of(L)->insns);
}

static int loop_entries(lua_State *L)
{
    return push_integer(L, loop_of(L)->entries);
}

static int loop_exits(lua_State *L)
{
    return push_integer(L, loop_of(L)->exits);
}

static int loop_back_edges(lua_State *L)
{
    return push_integer(L, loop_of(L)->back_edges);
}

static int loop_paths(lua_State *L)
{
    return push_integer(L, loop_of(L)->paths);
}

static int loop_calls(lua_State *L)
{
    return push_boolean(L, (loop_of(L)->bits & AS_LOOP_CALLS) != 0);
}

static int loop_irreducible(lua_State *L)
{
    return push_boolean(L, (loop_of(L)->bits & AS_LOOP_IRREDUCIBLE) != 0);
}

static int loop_unresolved(lua_State *L)
{
    return push_boolean(L, (loop_of(L)->bits & AS_LOOP_UNRESOLVED) != 0);
}

static int loop_outsize(lua_State *L)
{
    return push_boolean(L, (loop_of(L)->bits & AS_LOOP_OUTSIZE) != 0);
}

/* Returns the loop's own source lines, or NULL if unknown. */
static const struct as_source_range *own_lines(lua_State *L)
{
    const struct as_script_object *it = object_of(L);
    const struct as_loop *loop = &it->module->program->loop[it->number];
    return loop->sources ? &it->module->program->loop_source[loop->source] : NULL;
}

static int loop_file(lua_State *L)
{
    const struct as_debug *debug = &object_of(L)->module->program->debug;
    const struct as_source_range *own = own_lines(L);
    return as_script_push_text(L, own && own->file < debug->file_n ? debug->file[own->file] : NULL);
}

static int loop_first_line(lua_State *L)
{
    const struct as_source_range *own = own_lines(L);
    if (own)
        return push_integer(L, own->first_line);
    lua_pushnil(L);
    return 1;
}

static int loop_last_line(lua_State *L)
{
    const struct as_source_range *own = own_lines(L);
    if (own)
        return push_integer(L, own->last_line);
    lua_pushnil(L);
    return 1;
}

static const struct as_script_field loop_fields[] = {
    {"id", "integer", "its number, as 'assay loops' gives it", loop_id},
    {"address", "integer", "of its header", loop_address},
    {"func", "function", "it is in", loop_function},
    {"header", "block", "through which it is entered", loop_header},
    {"parent", "loop or nil", "around it", loop_parent},
    {"inner", "list of loop", "directly in it", loop_inner},
    {"depth", "integer", "1: in no other loop", loop_depth},
    {"level", "text", "single, outermost, between or innermost", loop_level},
    {"role", "text", "main, peel, tail, vector peel, vector tail or version", loop_role},
    {"main", "loop", "the main one of those of its source loop", loop_group},
    {"unroll", "integer or nil", "iterations of the source that one of it does", loop_unroll},
    {"file", "text or nil", "source file", loop_file},
    {"first_line", "integer or nil", "of the source", loop_first_line},
    {"last_line", "integer or nil", "of the source", loop_last_line},
    {"blocks", "list of block", "those of inner loops too", loop_blocks},
    {"instructions", "list of instruction", "those of inner loops too", loop_instructions},
    {"instruction_n", "integer", "how many these are", loop_instruction_n},
    {"entry_n", "integer", "edges into it", loop_entries},
    {"exit_n", "integer", "edges out of it", loop_exits},
    {"back_edge_n", "integer", "edges to its header from within", loop_back_edges},
    {"path_n", "integer", "ways through an iteration; 0: not counted", loop_paths},
    {"has_calls", "boolean", "something in it is called", loop_calls},
    {"is_irreducible", "boolean", "it has more than one entry block", loop_irreducible},
    {"is_unresolved", "boolean", "it has a jump whose targets are not known", loop_unresolved},
    {"is_outsize", "boolean", "in too large a nest to be looked into", loop_outsize},
    {"streams", "() list of stream", "memory operands outside inner loops", as_script_loop_streams},
    {"dependences", "([path]) list of dependence",
     "between instructions of a path (1: the first), repeated for ever",
     as_script_loop_dependences},
    {"quality", "([path]) quality",
     "metrics of code quality analysis, as 'assay cqa' has them; of a path, or the mean of all",
     as_script_loop_cqa},
    {"predict", "([path]) prediction", "cycles of an iteration of a path (1: the first)",
     as_script_loop_predict},
    {0}};

const struct as_script_kind as_script_loop_kind = {"loop", "A loop of the binary.", loop_fields};
