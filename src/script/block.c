/* SPDX-License-Identifier: Apache-2.0 */
/* Lua objects for basic blocks, their edges and their instructions. */
#include "base/alloc.h"
#include "script/internal.h"

/* ---- Blocks ---------------------------------------------------------------------------------- */

static const struct as_block *block_of(lua_State *L)
{
    const struct as_script_object *it = as_script_check(L, AS_SCRIPT_BLOCK);
    return &it->module->program->block[it->number];
}

static int block_address(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)block_of(L)->start);
    return 1;
}

static int block_size(lua_State *L)
{
    lua_pushinteger(L, block_of(L)->size_b);
    return 1;
}

static int block_function(lua_State *L)
{
    return as_script_push(L, AS_SCRIPT_BODY, block_of(L)->body);
}

static int block_loop(lua_State *L)
{
    return as_script_push(L, AS_SCRIPT_LOOP, block_of(L)->loop);
}

static int block_instructions(lua_State *L)
{
    const struct as_block *b = block_of(L);
    return as_script_push_range(L, AS_SCRIPT_INSTRUCTION, b->first_insn, b->insns);
}

static void push_edge(lua_State *L, uint32_t from, uint32_t to, const struct as_edge *edge)
{
    static const char *const kind[] = {"fall", "taken", "jump", "table", "landing"};
    lua_newtable(L);
    as_script_push(L, AS_SCRIPT_BLOCK, from);
    lua_setfield(L, -2, "from");
    as_script_push(L, AS_SCRIPT_BLOCK, to);
    lua_setfield(L, -2, "to");
    as_script_set_text(L, "kind", edge->kind <= AS_EDGE_LANDING ? kind[edge->kind] : NULL);
    as_script_set_truth(L, "is_back", edge->back);
}

static int block_successors(lua_State *L)
{
    const struct as_script_object *it = as_script_check(L, AS_SCRIPT_BLOCK);
    const struct as_program *p = it->module->program;
    const struct as_block *b = &p->block[it->number];
    lua_newtable(L);
    for (uint32_t i = 0; i < b->succs; i++) {
        const struct as_edge *edge = &p->succ[b->first_succ + i];
        push_edge(L, it->number, edge->block, edge);
        lua_rawseti(L, 2, (lua_Integer)i + 1);
    }
    return 1;
}

static int block_predecessors(lua_State *L)
{
    const struct as_script_object *it = as_script_check(L, AS_SCRIPT_BLOCK);
    const struct as_program *p = it->module->program;
    const struct as_block *b = &p->block[it->number];
    lua_newtable(L);
    for (uint32_t i = 0; i < b->preds; i++) {
        const struct as_edge *edge = &p->pred[b->first_pred + i];
        push_edge(L, edge->block, it->number, edge);
        lua_rawseti(L, 2, (lua_Integer)i + 1);
    }
    return 1;
}

static int block_dominator(lua_State *L)
{
    return as_script_push(L, AS_SCRIPT_BLOCK, block_of(L)->idom);
}

static int block_post_dominator(lua_State *L)
{
    return as_script_push(L, AS_SCRIPT_BLOCK, block_of(L)->ipdom);
}

static int block_bit(lua_State *L, unsigned bit)
{
    lua_pushboolean(L, (block_of(L)->bits & bit) != 0);
    return 1;
}

static int block_is_entry(lua_State *L)
{
    return block_bit(L, AS_BLOCK_ENTRY);
}

static int block_has_call(lua_State *L)
{
    return block_bit(L, AS_BLOCK_CALL);
}

static int block_returns(lua_State *L)
{
    return block_bit(L, AS_BLOCK_RETURN);
}

static int block_is_unreached(lua_State *L)
{
    return block_bit(L, AS_BLOCK_UNREACHED);
}

static int block_is_unresolved(lua_State *L)
{
    return block_bit(L, AS_BLOCK_UNRESOLVED);
}

static const struct as_script_field block_fields[] = {
    {"address", "integer", "where it begins", block_address},
    {"size_b", "integer", "its bytes", block_size},
    {"func", "function", "it is in", block_function},
    {"loop", "loop or nil", "the innermost around it", block_loop},
    {"instructions", "list of instruction", "in order", block_instructions},
    {"successors", "list of edge", "where it leads", block_successors},
    {"predecessors", "list of edge", "what leads to it", block_predecessors},
    {"dominator", "block or nil", "the immediate one", block_dominator},
    {"post_dominator", "block or nil", "the immediate one", block_post_dominator},
    {"is_entry", "boolean", "its function begins there", block_is_entry},
    {"has_call", "boolean", "it has a call", block_has_call},
    {"returns", "boolean", "it ends in a return", block_returns},
    {"is_unreached", "boolean", "no path to it was found", block_is_unreached},
    {"is_unresolved", "boolean", "it ends in a jump with unknown targets", block_is_unresolved},
    {0}};

const struct as_script_kind as_script_block_kind = {"block", "A basic block.", block_fields};

static const struct as_script_field edge_fields[] = {
    {"from", "block", "", NULL},
    {"to", "block", "", NULL},
    {"kind", "text", "fall, taken, jump, table or landing", NULL},
    {"is_back", "boolean", "it closes a loop (of successors)", NULL},
    {0}};

const struct as_script_kind as_script_edge_kind = {
    "edge", "A way from a block to another. A table.", edge_fields};
