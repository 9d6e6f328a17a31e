/* SPDX-License-Identifier: Apache-2.0 */
/* Lua objects for instructions: assembly, class, operands, memory and source line. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "script/internal.h"

static const struct as_script_object *insn_object(lua_State *L)
{
    return as_script_check(L, AS_SCRIPT_INSTRUCTION);
}

static const struct as_insn *insn_of(lua_State *L)
{
    const struct as_script_object *it = insn_object(L);
    return &it->module->program->code.insn[it->number];
}

static const struct as_form *form_of(lua_State *L)
{
    return as_form_get(insn_of(L)->form);
}

uint32_t as_script_line(const struct as_script_module *module, uint64_t address, const char **file)
{
    const struct as_debug *debug = &module->program->debug;
    const struct as_line *line = as_debug_line_at(debug, address);
    *file = line && line->file < debug->file_n ? debug->file[line->file] : NULL;
    return line ? line->line : 0;
}

static int insn_address(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)insn_of(L)->address);
    return 1;
}

static int insn_length(lua_State *L)
{
    lua_pushinteger(L, insn_of(L)->length);
    return 1;
}

static int insn_mnemonic(lua_State *L)
{
    return as_script_push_text(L, form_of(L)->mnemonic);
}

static int insn_text(lua_State *L)
{
    const struct as_script_object *it = insn_object(L);
    const struct as_insn *insn = &it->module->program->code.insn[it->number];
    char text[256] = "";
    uint64_t size_b;
    const uint8_t *bytes = as_object_bytes(it->module->object, insn->address, &size_b);
    if (bytes && size_b >= insn->length)
        as_insn_format(bytes, insn->length, insn->address, AS_SYNTAX_INTEL, text, sizeof text);
    return as_script_push_text(L, text);
}

static int insn_class(lua_State *L)
{
    return as_script_push_text(L, as_class_name(form_of(L)->insn_class));
}

static int insn_element(lua_State *L)
{
    static const char *const word[AS_ELEMENT_COUNT] = {NULL,  "int", "f16", "bf16",
                                                       "f32", "f64", "f80", "bcd"};
    const unsigned element = form_of(L)->element;
    return as_script_push_text(L, element < AS_ELEMENT_COUNT ? word[element] : NULL);
}

static int insn_lanes(lua_State *L)
{
    lua_pushinteger(L, form_of(L)->lanes);
    return 1;
}

static int insn_vector(lua_State *L)
{
    lua_pushinteger(L, form_of(L)->vector_b);
    return 1;
}

static int insn_flops(lua_State *L)
{
    lua_pushinteger(L, form_of(L)->flops);
    return 1;
}

static int insn_trait(lua_State *L, uint32_t trait)
{
    lua_pushboolean(L, (form_of(L)->traits & trait) != 0);
    return 1;
}

static int insn_is_packed(lua_State *L)
{
    return insn_trait(L, AS_TRAIT_PACKED);
}

static int insn_is_scalar(lua_State *L)
{
    return insn_trait(L, AS_TRAIT_SCALAR);
}

static int insn_is_fp(lua_State *L)
{
    return insn_trait(L, AS_TRAIT_FP);
}

static int insn_is_atomic(lua_State *L)
{
    return insn_trait(L, AS_TRAIT_LOCK);
}

static int insn_line(lua_State *L)
{
    const char *file;
    const uint32_t line = as_script_line(insn_object(L)->module, insn_of(L)->address, &file);
    if (line)
        lua_pushinteger(L, line);
    else
        lua_pushnil(L);
    return 1;
}

static int insn_file(lua_State *L)
{
    const char *file;
    (void)as_script_line(insn_object(L)->module, insn_of(L)->address, &file);
    return as_script_push_text(L, file);
}

static int insn_target(lua_State *L)
{
    uint64_t target;
    if (as_insn_target(insn_of(L), &target))
        lua_pushinteger(L, (lua_Integer)target);
    else
        lua_pushnil(L);
    return 1;
}

/* Returns the body with this entry address, or AS_NONE. */
static uint32_t body_at(const struct as_program *p, uint64_t address)
{
    for (uint32_t b = 0; b < p->body_n; b++)
        if (p->body[b].entry == address)
            return b;
    return AS_NONE;
}

static int insn_callee(lua_State *L)
{
    uint64_t target;
    const struct as_script_object *it = insn_object(L);
    const bool calls = form_of(L)->insn_class == AS_CLASS_CALL;
    const uint32_t body = calls && as_insn_target(insn_of(L), &target)
                              ? body_at(it->module->program, target)
                              : AS_NONE;
    return as_script_push(L, AS_SCRIPT_BODY, body);
}

/* ---- Block ----------------------------------------------------------------------------------- */

static const uint32_t *blocks_of_insns(lua_State *L, struct as_script_module *module)
{
    const struct as_program *p = module->program;
    if (module->block_of)
        return module->block_of;
    module->block_of = as_calloc(p->code.n + 1, sizeof *module->block_of);
    if (!module->block_of) {
        luaL_error(L, "not enough memory"); /* does not return */
        return NULL;
    }
    if (p->code.n)
        memset(module->block_of, 0xff, p->code.n * sizeof *module->block_of);
    for (uint32_t b = 0; b < p->block_n; b++)
        for (uint32_t i = 0; i < p->block[b].insns; i++)
            module->block_of[p->block[b].first_insn + i] = b;
    return module->block_of;
}

static int insn_block(lua_State *L)
{
    const struct as_script_object *it = insn_object(L);
    const uint32_t *block_of = blocks_of_insns(L, it->module);
    return as_script_push(L, AS_SCRIPT_BLOCK, block_of ? block_of[it->number] : AS_NONE);
}

/* ---- Operands -------------------------------------------------------------------------------- */

static const char *access_word(unsigned access)
{
    const bool reads = access & AS_ACCESS_READ, writes = access & AS_ACCESS_WRITE;
    return reads && writes ? "rw" : reads ? "r" : writes ? "w" : "";
}

static void push_operand(lua_State *L, const struct as_script_object *it, unsigned n)
{
    static const char *const kind[] = {"none",      "register", "memory",
                                       "immediate", "target",   "address"};
    const struct as_code *code = &it->module->program->code;
    const struct as_insn *insn = &code->insn[it->number];
    const struct as_operand *o = &as_form_get(insn->form)->operand[n];
    lua_newtable(L);
    as_script_set_text(L, "kind", o->kind <= AS_OPERAND_ADDRESS ? kind[o->kind] : NULL);
    as_script_set_text(L, "access", access_word(o->access));
    as_script_set_integer(L, "width_b", o->width_b);
    if (o->kind == AS_OPERAND_REG && o->slot < 4)
        as_script_set_text(L, "register", as_reg_name(insn->reg[o->slot], o->width_b));
    if (o->kind == AS_OPERAND_IMM)
        as_script_set_integer(L, "value", as_code_imm(code, it->number));
}

static int insn_operands(lua_State *L)
{
    const struct as_script_object *it = insn_object(L);
    const unsigned n = form_of(L)->operands;
    lua_newtable(L);
    for (unsigned i = 0; i < n && i < AS_OPERANDS_MAX; i++) {
        push_operand(L, it, i);
        lua_rawseti(L, 2, (lua_Integer)i + 1);
    }
    return 1;
}

static const char *address_register(unsigned reg)
{
    return reg == AS_REG_NONE ? NULL : as_reg_name(reg, 8);
}

static void push_access(lua_State *L, const struct as_memory *m)
{
    lua_newtable(L);
    as_script_set_text(L, "access", access_word(m->access));
    as_script_set_integer(L, "width_b", m->width_b);
    as_script_set_text(L, "base", address_register(m->base));
    as_script_set_text(L, "index", address_register(m->index));
    as_script_set_integer(L, "scale", m->scale);
    as_script_set_integer(L, "displacement", m->disp);
    as_script_set_truth(L, "is_stack", m->stack);
    as_script_set_truth(L, "is_relative", m->rip_relative);
}

static int insn_memory(lua_State *L)
{
    struct as_memory memory[2];
    const int n = as_insn_memory(&insn_object(L)->module->program->code, insn_of(L), memory);
    lua_newtable(L);
    for (int i = 0; i < n; i++) {
        push_access(L, &memory[i]);
        lua_rawseti(L, 2, (lua_Integer)i + 1);
    }
    return 1;
}

static const struct as_script_field insn_fields[] = {
    {"address", "integer", "in the file", insn_address},
    {"length_b", "integer", "its bytes", insn_length},
    {"mnemonic", "text", "lower case", insn_mnemonic},
    {"text", "text", "assembly, in Intel's syntax", insn_text},
    {"class", "text", "what it does, a word of doc/internals/isa.md: fma, jump, shuffle",
     insn_class},
    {"element", "text or nil", "what it computes on: int, f16, bf16, f32, f64, f80 or bcd",
     insn_element},
    {"lanes", "integer", "elements at once; 0: none", insn_lanes},
    {"vector_b", "integer", "width of its widest vector; 0: none", insn_vector},
    {"flops", "integer", "floating-point operations, all lanes on", insn_flops},
    {"is_packed", "boolean", "works on all lanes of a vector", insn_is_packed},
    {"is_scalar", "boolean", "works on one element of a vector register", insn_is_scalar},
    {"is_fp", "boolean", "floating point", insn_is_fp},
    {"is_atomic", "boolean", "locked", insn_is_atomic},
    {"operands", "list of operand", "explicit ones, the destination first", insn_operands},
    {"memory", "list of memory", "what it touches, the stack of push and call too", insn_memory},
    {"target", "integer or nil", "address that a direct jump or call leads to", insn_target},
    {"callee", "function or nil", "that a direct call calls", insn_callee},
    {"block", "block or nil", "around it", insn_block},
    {"file", "text or nil", "source file", insn_file},
    {"line", "integer or nil", "source line", insn_line},
    {0}};

const struct as_script_kind as_script_instruction_kind = {"instruction", "A machine instruction.",
                                                          insn_fields};

static const struct as_script_field operand_fields[] = {
    {"kind", "text", "register, memory, immediate, target or address", NULL},
    {"access", "text", "r, w or rw", NULL},
    {"width_b", "integer", "bytes", NULL},
    {"register", "text or nil", "its name", NULL},
    {"value", "integer or nil", "of an immediate", NULL},
    {0}};

const struct as_script_kind as_script_operand_kind = {
    "operand", "An operand of an instruction. A table.", operand_fields};

static const struct as_script_field memory_fields[] = {
    {"access", "text", "r, w or rw", NULL},
    {"width_b", "integer", "bytes; 0: depends on the state", NULL},
    {"base", "text or nil", "register", NULL},
    {"index", "text or nil", "register", NULL},
    {"scale", "integer", "of the index", NULL},
    {"displacement", "integer", "of a relative one the address itself", NULL},
    {"is_stack", "boolean", "by the stack pointer", NULL},
    {"is_relative", "boolean", "by the instruction pointer", NULL},
    {0}};

const struct as_script_kind as_script_memory_kind = {
    "memory", "Memory that an instruction touches. A table.", memory_fields};
