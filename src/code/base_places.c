/* SPDX-License-Identifier: Apache-2.0 */
/* Applies the DWARF storage of variables to the instructions of a body; see base_values.h. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"
#include "code/base_values.h"
#include "isa/form.h"

enum { DWARF_BP = AS_UNWIND_RBP, DWARF_SP = AS_UNWIND_RSP };

/* ---- Lists ----------------------------------------------------------------------------------- */

static bool is_of_use(const struct as_bases *b, const struct as_storage *place)
{
    const uint32_t scope = b->variables.variable[place->variable].scope;

    return scope != AS_NONE && place->kind != AS_STORAGE_STATIC && !b->is_system[scope];
}

static bool is_in_block(const struct as_block *block, const struct as_storage *place)
{
    return place->start < block->start + block->size_b && place->end > block->start;
}

static int list_block(struct as_bases *b, const struct as_block *block, struct as_base_block *out)
{
    const struct as_data_variables *v = &b->variables;

    for (int fill = 0; fill < 2; fill++) {
        uint32_t n = 0;
        for (size_t i = 0; i < v->place_n && v->place[i].start < block->start + block->size_b;
             i++) {
            if (!is_of_use(b, &v->place[i]) || !is_in_block(block, &v->place[i]))
                continue;
            if (fill)
                out->place[n] = &v->place[i];
            n++;
        }
        if (fill)
            break;
        out->places = n;
        out->place = as_arena_array(&b->arena, const struct as_storage *, n + 1);
        if (!out->place)
            return AS_ERR_NOMEM;
    }
    return 0;
}

static int by_address(const void *a, const void *b)
{
    const struct as_storage *x = *(const struct as_storage *const *)a;
    const struct as_storage *y = *(const struct as_storage *const *)b;

    if (x->offset_b != y->offset_b)
        return x->offset_b < y->offset_b ? -1 : 1;
    return (x->variable > y->variable) - (x->variable < y->variable);
}

static int list_fixed(struct as_bases *b)
{
    const struct as_data_variables *v = &b->variables;

    b->fixed = as_arena_array(&b->arena, const struct as_storage *, v->place_n + 1);
    if (!b->fixed)
        return AS_ERR_NOMEM;
    for (size_t i = 0; i < v->place_n; i++)
        if (v->place[i].kind == AS_STORAGE_STATIC && !v->place[i].part_b)
            b->fixed[b->fixed_n++] = &v->place[i];
    qsort(b->fixed, b->fixed_n, sizeof(const struct as_storage *), by_address);
    return 0;
}

int as_base_places_list(struct as_bases *b)
{
    const struct as_body *body = &b->program->body[b->body];

    b->block = as_arena_array(&b->arena, struct as_base_block, body->blocks);
    if (!b->block)
        return AS_ERR_NOMEM;
    for (uint32_t i = 0; i < body->blocks; i++)
        AS_TRY(list_block(b, &b->program->block[body->first_block + i], &b->block[i]));
    return list_fixed(b);
}

/* ---- Frame ----------------------------------------------------------------------------------- */

/* Offsets from the frame pointer of a function that aligns its stack are far below all others. */
#define ALIGNED_B (INT64_MIN / 4)

bool as_base_frame_offset(const struct as_bases *b, uint64_t pc, unsigned reg, int64_t disp,
                          int64_t *offset_b)
{
    const struct as_unwind_row *row;

    if ((reg != AS_BASE_SP && reg != AS_BASE_BP) ||
        as_object_unwind_row(b->program->object, pc, &row, NULL) < 0 || !row)
        return false;
    if (as_frame_is_aligned(b->program->object, row, as_reg_dwarf(reg))) {
        *offset_b = disp + ALIGNED_B;
        return true;
    }
    if (row->cfa_kind != AS_CFA_REGISTER || row->cfa_register != as_reg_dwarf(reg))
        return false;
    *offset_b = disp - row->cfa_value;
    return true;
}

static bool holds_at(const struct as_bases *b, const struct as_storage *place, uint64_t pc)
{
    return pc >= place->start && pc < place->end &&
           as_scope_holds(&b->variables, b->variables.variable[place->variable].scope, pc);
}

/* Sets `out` to a tag for a variable that begins `before_b` bytes before the address. Returns false
 * if memory or the object table is exhausted. */
static bool tag_variable(struct as_bases *b, uint32_t variable, int64_t before_b,
                         struct as_base_tag *out)
{
    const struct as_data_variable *v = &b->variables.variable[variable];
    const struct as_base_object object = {.text = v->name, .type = v->type, .scope = v->scope};

    *out = (struct as_base_tag){as_base_object_of(b, object), true, before_b};
    return out->object != AS_NONE;
}

static bool covers_byte(const struct as_bases *b, const struct as_storage *place, int64_t before_b)
{
    struct as_type type;

    if (before_b < 0)
        return false;
    as_type_get(b->variables.variable[place->variable].type, &type);
    return type.size_b ? (uint64_t)before_b < type.size_b : type.described && before_b < 24;
}

bool as_base_frame_variable(struct as_bases *b, uint32_t block, uint64_t pc, unsigned reg,
                            int64_t disp, int64_t offset_b, struct as_base_tag *out)
{
    const struct as_base_block *in = &b->block[block];

    for (uint32_t i = 0; i < in->places; i++) {
        const struct as_storage *place = in->place[i];
        const bool in_frame = place->kind == AS_STORAGE_FRAME;
        const int64_t before_b = (in_frame ? offset_b : disp) - place->offset_b;
        if ((!in_frame && (place->kind != AS_STORAGE_MEMORY || place->reg != as_reg_dwarf(reg))) ||
            place->behind || !holds_at(b, place, pc) || !covers_byte(b, place, before_b))
            continue;
        return tag_variable(b, place->variable, before_b + place->part_b, out);
    }
    return false;
}

bool as_base_behind(struct as_bases *b, uint32_t block, uint64_t pc, unsigned reg, int64_t disp,
                    struct as_base_tag *out)
{
    const struct as_base_block *in = &b->block[block];
    int64_t offset_b = 0;
    const bool frame = as_base_frame_offset(b, pc, reg, disp, &offset_b);

    for (uint32_t i = 0; i < in->places; i++) {
        const struct as_storage *place = in->place[i];
        const bool here = place->kind == AS_STORAGE_FRAME
                              ? frame && place->offset_b == offset_b
                              : place->kind == AS_STORAGE_MEMORY &&
                                    place->reg == as_reg_dwarf(reg) && place->offset_b == disp;
        if (here && place->behind && holds_at(b, place, pc))
            return tag_variable(b, place->variable, place->part_b, out);
    }
    return false;
}

/* ---- Variables of the file ------------------------------------------------------------------- */

/* Finds a variable that another compilation unit defines, by its symbol. */
static bool declared_variable(struct as_bases *b, uint64_t address, struct as_base_tag *out,
                              uint32_t *root)
{
    const struct as_data_variables *v = &b->variables;
    const struct as_symbol *symbol;
    const uint32_t number = as_object_data_symbol(b->program->object, address);

    if (number == AS_NONE)
        return false;
    as_object_symbols(b->program->object, &symbol);
    symbol += number;
    for (uint32_t i = 0; i < v->variable_n; i++) {
        if (!v->variable[i].linked || strcmp(v->variable[i].linked, symbol->name) != 0)
            continue;
        *root = as_base_root_variable(b, i);
        return tag_variable(b, i, (int64_t)(address - symbol->address), out);
    }
    return false;
}

bool as_base_static_variable(struct as_bases *b, uint64_t address, struct as_base_tag *out,
                             uint32_t *root)
{
    size_t at = as_first_not(i, b->fixed_n, (uint64_t)b->fixed[i]->offset_b <= address);
    assert(at < 2 || (uint64_t)b->fixed[at - 2]->offset_b <= (uint64_t)b->fixed[at - 1]->offset_b);

    while (at > 0) {
        const struct as_storage *place = b->fixed[--at];
        const int64_t before_b = (int64_t)(address - (uint64_t)place->offset_b);
        if (covers_byte(b, place, before_b)) {
            *root = as_base_root_variable(b, place->variable);
            return tag_variable(b, place->variable, before_b, out);
        }
        if (at > 0 && b->fixed[at - 1]->offset_b != place->offset_b)
            break;
    }
    return declared_variable(b, address, out, root);
}

/*
 * Sets `out` to the object in memory that a register points to. Fortran passes arguments this way.
 * For other languages, compilers also describe a value this way that was loaded from memory or will
 * be stored there: the memory is a copy (`loose`).
 */
static bool tag_memory(struct as_bases *b, const struct as_storage *place, struct as_base_tag *out)
{
    const struct as_data_variable *v = &b->variables.variable[place->variable];
    struct as_base_object object = {.text = v->name, .type = v->type, .scope = v->scope};
    struct as_type type;

    as_type_get(v->type, &type);
    object.loose = type.kind != AS_TYPE_ARRAY && !(type.is_fortran && type.kind == AS_TYPE_RECORD);
    *out =
        (struct as_base_tag){as_base_object_of(b, object), true, place->part_b - place->offset_b};
    return out->object != AS_NONE;
}

/* ---- Registers ------------------------------------------------------------------------------- */

/* Sets `out` to the object that the value in a register points into. */
static bool tag_value(struct as_bases *b, const struct as_storage *place, struct as_base_tag *out)
{
    struct as_base_tag variable;

    return place->offset_b ==
               0 && /* otherwise the register holds another pointer, at an offset from this one */
           tag_variable(b, place->variable, place->part_b, &variable) &&
           as_base_loaded(b, &variable, out);
}

static bool is_number_type(const struct as_bases *b, const struct as_storage *place)
{
    struct as_type type;

    as_type_get(b->variables.variable[place->variable].type, &type);
    return type.kind == AS_TYPE_NUMBER;
}

/* Makes the value a number, unless it is a distance of two pointers. */
static void set_number(struct as_base_value *value)
{
    int64_t sum = 0;

    for (unsigned i = 0; i < value->parts; i++)
        sum += value->part[i].factor;
    if (value->unknown || sum != 0 || value->parts < 2)
        *value = (struct as_base_value){0};
}

/* Returns the register with a DWARF number, or AS_BASE_REGISTERS if there is none. */
static unsigned register_of(unsigned dwarf)
{
    unsigned reg = 0;

    while (reg < AS_BASE_REGISTERS && as_reg_dwarf(reg) != dwarf)
        reg++;
    return reg;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* True if the instruction before `pc` computes a value into the register, or sets it to a constant.
 */
static bool is_computed(const struct as_bases *b, uint64_t pc, unsigned reg)
{
    const struct as_insn *insn = &b->program->code.insn[b->first_insn];
    const size_t i = as_first_not(k, b->insns, insn[k].address + insn[k].length < pc);
    assert(i + 1 >= b->insns ||
           insn[i].address <= insn[i + 1].address); /* code of a body ascends */
    struct as_effects effects;

    if (i == b->insns || insn[i].address + insn[i].length != pc)
        return false;
    const struct as_form *form = as_form_of(&insn[i]);
    as_insn_effects(&insn[i], &effects);
    return as_regset_has(effects.written, reg) && form->insn_class != AS_CLASS_EXTEND &&
           (form->insn_class != AS_CLASS_MOVE || form->operand[1].kind == AS_OPERAND_IMM);
}

/* True for a variable that the code computes twice, or computes after it has a value. */
static bool is_changed(const struct as_bases *b, uint32_t variable)
{
    const struct as_data_variables *v = &b->variables;
    uint64_t first = UINT64_MAX, computed = 0;
    unsigned n = 0;

    for (size_t i = 0; i < v->place_n; i++) {
        const struct as_storage *place = &v->place[i];
        if (place->variable != variable)
            continue;
        first = place->start < first ? place->start : first;
        if (place->kind != AS_STORAGE_VALUE || place->offset_b || place->start == computed ||
            !is_computed(b, place->start, register_of(place->reg)))
            continue;
        computed = place->start;
        n++;
    }
    return n > 1 || (n == 1 && first < computed);
}

/* The innermost of two variables; AS_NONE: they are of one scope. `best` may be NONE. */
static uint32_t inner_variable(const struct as_bases *b, uint32_t best, uint32_t other)
{
    const struct as_data_variable *v = b->variables.variable;

    if (best == AS_NONE || best == other)
        return other;
    const uint32_t x = v[best].scope, y = v[other].scope;
    if (x == y || b->variables.scope[x].depth == b->variables.scope[y].depth)
        return AS_NONE;
    return b->variables.scope[x].depth > b->variables.scope[y].depth ? best : other;
}

static bool may_name(const struct as_bases *b, const struct as_storage *place, uint64_t pc,
                     uint64_t use)
{
    const struct as_data_variable *v = &b->variables.variable[place->variable];

    return !place->behind && !place->part_b && holds_at(b, place, pc) &&
           as_scope_holds(&b->variables, v->scope, use) && is_number_type(b, place) &&
           strncmp(v->name, "__", 2) != 0;
}

uint32_t as_base_number_of(const struct as_bases *b, uint32_t block, uint64_t pc, unsigned reg,
                           uint64_t use, int64_t *constant)
{
    const struct as_base_block *in = &b->block[block];
    uint32_t best = AS_NONE;
    bool found = false;

    for (uint32_t i = 0; i < in->places; i++) {
        const struct as_storage *place = in->place[i];
        if (place->kind != AS_STORAGE_VALUE || register_of(place->reg) != reg ||
            !may_name(b, place, pc, use) || (found && best == AS_NONE))
            continue;
        best = inner_variable(b, best, place->variable);
        *constant = place->offset_b;
        found = true;
    }
    return best != AS_NONE && !is_changed(b, best) ? best : AS_NONE;
}

uint32_t as_base_number_at(const struct as_bases *b, uint32_t block, uint64_t pc,
                           const struct as_memory *memory, uint64_t use)
{
    const struct as_base_block *in = &b->block[block];
    int64_t offset_b = 0;
    const bool frame = as_base_frame_offset(b, pc, memory->base, memory->disp, &offset_b);
    uint32_t best = AS_NONE;
    bool found = false;

    for (uint32_t i = 0; i < in->places; i++) {
        const struct as_storage *place = in->place[i];
        const bool here = place->kind == AS_STORAGE_FRAME
                              ? frame && place->offset_b == offset_b
                              : place->kind == AS_STORAGE_MEMORY &&
                                    register_of(place->reg) == memory->base &&
                                    place->offset_b == memory->disp;
        if (!here || !may_name(b, place, pc, use) || (found && best == AS_NONE))
            continue;
        best = inner_variable(b, best, place->variable);
        found = true;
    }
    return best != AS_NONE && !is_changed(b, best) ? best : AS_NONE;
}

void as_base_places_apply(struct as_bases *b, uint32_t block, uint64_t pc,
                          struct as_base_state *state)
{
    const struct as_base_block *in = &b->block[block];
    unsigned fresh = 0; /* registers that have got tags at this address */
    int64_t ignored;
    const bool has_frame = as_base_frame_offset(b, pc, AS_BASE_BP, 0, &ignored);

    for (uint32_t i = 0; i < in->places; i++) {
        const struct as_storage *place = in->place[i];
        const unsigned reg = register_of(place->reg);
        struct as_base_tag tag;
        if (place->kind == AS_STORAGE_FRAME || place->behind || place->reg == DWARF_SP ||
            (place->reg == DWARF_BP && has_frame) || reg >= AS_BASE_REGISTERS ||
            !holds_at(b, place, pc))
            continue;
        struct as_base_value *value = &state->at[reg];
        if (place->kind == AS_STORAGE_VALUE && is_number_type(b, place)) {
            if (!(fresh >> reg & 1))
                set_number(value);
            continue;
        }
        const bool known = place->kind == AS_STORAGE_VALUE ? tag_value(b, place, &tag)
                                                           : tag_memory(b, place, &tag);
        if (!known)
            continue;
        const bool is_loose = b->object.at[tag.object].loose;
        if (!is_loose && !(fresh >> reg & 1))
            value->tags = 0;
        fresh |= is_loose ? 0 : 1u << reg;
        as_base_tag_add(b, value, tag, as_base_root_variable(b, place->variable));
    }
}
