/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds jump tables: the targets of an indirect jump, read from the binary.
 *
 * Two shapes cover gcc and clang. A relative table has 4-byte distances: `lea table(%rip),%b;
 * movslq (%b,%i,4),%t; add %b,%t; jmp *%t`. Unoptimised code uses a scaled index and `cltq`. An
 * absolute table has addresses: `jmp *table(,%i,8)` or `mov table(,%i,8),%t; jmp *%t`. The address
 * of the table may also be in a register.
 *
 * The compare that guards the index gives the number of entries, or else a mask on the index.
 * Without both, entries are read while they lead to an instruction of the same body. They end at
 * the next address that code uses. If an entry of a bounded table is invalid, the jump remains
 * unresolved.
 */
#include <string.h>

#include "code/constants.h"

#define LOOK_BACK    64         /* instructions searched backwards for a definition */
#define ENTRIES_MOST (1u << 20) /* entries of one table */

struct table {
    uint64_t address; /* address of the first entry */
    uint64_t base;    /* added to relative entries */
    unsigned entry_b; /* bytes of an entry, 4: relative, 8: absolute */
    uint8_t index;    /* register of the index */
    size_t at;        /* instruction that uses the index */
};

struct table_search {
    const struct as_builder *b;
    const struct as_body_parts *body;
    struct as_jump_targets *out;
    const struct as_insn *insn; /* all instructions of the program */
    size_t first, end;          /* instructions of the region that has the jump */
};

static const struct as_form *form_of(const struct table_search *s, size_t i)
{
    return as_form_of(&s->insn[i]);
}

static bool writes(const struct table_search *s, size_t i, uint8_t reg)
{
    struct as_effects effects;
    as_insn_effects(&s->insn[i], &effects);
    return as_regset_has(effects.written, reg);
}

/* Returns the last instruction before `i` in address order that writes `reg`. Returns SIZE_MAX if a
 * call, a return or a jump comes first. The search also ends at the start of the region and after
 * LOOK_BACK instructions. */
static size_t definition(const struct table_search *s, size_t i, uint8_t reg)
{
    for (size_t steps = 0; i-- > s->first && steps < LOOK_BACK; steps++) {
        unsigned insn_class = form_of(s, i)->insn_class;
        if (writes(s, i, reg))
            return insn_class == AS_CLASS_CALL ? SIZE_MAX : i;
        if (insn_class == AS_CLASS_RETURN || insn_class == AS_CLASS_JUMP)
            return SIZE_MAX;
    }
    return SIZE_MAX;
}

static bool is_lea_constant(const struct table_search *s, size_t i, uint64_t *address)
{
    return form_of(s, i)->insn_class == AS_CLASS_LEA &&
           as_insn_memory_address(&s->insn[i], address);
}

static bool is_immediate_move(const struct table_search *s, size_t i)
{
    const struct as_form *form = form_of(s, i);
    return form->insn_class == AS_CLASS_MOVE && form->operands == 2 &&
           form->operand[0].kind == AS_OPERAND_REG && form->operand[1].kind == AS_OPERAND_IMM;
}

/* Sets `address` to the constant that `reg` holds before `i`. Returns false if there is none. */
static bool constant(const struct table_search *s, size_t i, uint8_t reg, uint64_t *address)
{
    if (s->out->constants && as_constant_at(s->out->constants, i, reg, address))
        return true;
    size_t at = definition(s, i, reg);
    for (int copies = 0; at != SIZE_MAX && copies < 4; copies++) {
        if (is_lea_constant(s, at, address))
            return true;
        if (is_immediate_move(s, at)) {
            *address = (uint64_t)(uint32_t)s->insn[at].imm;
            return true;
        }
        const struct as_form *form = form_of(s, at);
        if (!(form->traits & AS_TRAIT_REGMOVE) || form->operands < 2)
            break;
        at = definition(s, at, s->insn[at].reg[form->operand[1].slot]);
    }
    return false;
}

/* Reads the memory operand of `i` as an absolute table: disp(,index,8) or (base,index,8). Returns
 * false if it is not one. */
static bool absolute_table(const struct table_search *s, size_t i, struct table *t)
{
    const struct as_insn *insn = &s->insn[i];
    if (!(insn->bits & AS_INSN_MEM) || insn->index == AS_REG_NONE || insn->scale != 8 ||
        insn->segment != AS_REG_NONE)
        return false;
    uint64_t base = 0;
    if (insn->base != AS_REG_NONE && !constant(s, i, insn->base, &base))
        return false;
    *t = (struct table){.address = base + (uint64_t)(int64_t)insn->disp,
                        .entry_b = 8,
                        .index = insn->index,
                        .at = i};
    return true;
}

/* Returns true if `reg` holds four times another register before `i`: lea 0(,%index,4),%reg. */
static bool is_scaled(const struct table_search *s, size_t i, uint8_t reg, struct table *t)
{
    size_t at = definition(s, i, reg);
    if (at == SIZE_MAX || form_of(s, at)->insn_class != AS_CLASS_LEA)
        return false;
    const struct as_insn *insn = &s->insn[at];
    t->index = insn->index;
    t->at = at;
    return insn->base == AS_REG_NONE && insn->index != AS_REG_NONE && insn->scale == 4 &&
           insn->disp == 0;
}

/* Reads the operand of `i` as a relative table: (base,index,4), or in unoptimised code (scaled
 * index,base). Returns false if it is not one. */
static bool relative_operand(const struct table_search *s, size_t i, struct table *t)
{
    const struct as_insn *insn = &s->insn[i];
    uint8_t base = insn->base;
    *t = (struct table){.entry_b = 4, .index = insn->index, .at = i};
    if (insn->index == AS_REG_NONE || base == AS_REG_NONE)
        return false;
    if (insn->scale == 1) {
        bool first = is_scaled(s, i, insn->base, t);
        base = first ? insn->index : insn->base;
        if (!first && !is_scaled(s, i, insn->index, t))
            return false;
    } else if (insn->scale != 4) {
        return false;
    }
    if (!constant(s, i, base, &t->address))
        return false;
    t->address += (uint64_t)(int64_t)insn->disp;
    return true;
}

/* Reads the load of a 4-byte entry at `i`: movslq (base,index,4), or a plain load before cltq.
 * Returns false if it is not one. */
static bool relative_table(const struct table_search *s, size_t i, struct table *t)
{
    const struct as_form *form = form_of(s, i);
    if (form->insn_class != AS_CLASS_EXTEND)
        return false;
    if (s->insn[i].bits & AS_INSN_MEM)
        return relative_operand(s, i, t);
    if (strcmp(form->mnemonic, "cdqe") != 0)
        return false;
    size_t load = definition(s, i, AS_REG_GPR + 0);
    return load != SIZE_MAX && form_of(s, load)->insn_class == AS_CLASS_MOVE &&
           form_of(s, load)->operand[1].width_b == 4 && (s->insn[load].bits & AS_INSN_MEM) &&
           relative_operand(s, load, t);
}

/* Sets `part` to the two registers that `i` adds: `add %b,%t`, or `lea (%b,%t),%x` in assembler
 * macros. Returns false for other instructions. */
static bool sum_of(const struct table_search *s, size_t i, uint8_t part[2])
{
    const struct as_form *form = form_of(s, i);
    const struct as_insn *insn = &s->insn[i];
    if (form->insn_class == AS_CLASS_LEA) {
        part[0] = insn->base;
        part[1] = insn->index;
        return insn->base != AS_REG_NONE && insn->index != AS_REG_NONE && insn->scale == 1 &&
               insn->disp == 0;
    }
    if (strcmp(form->mnemonic, "add") != 0 || form->operands != 2 ||
        form->operand[1].kind != AS_OPERAND_REG || form->operand[0].kind != AS_OPERAND_REG)
        return false;
    part[0] = insn->reg[form->operand[0].slot];
    part[1] = insn->reg[form->operand[1].slot];
    return true;
}

/* Reads the sum at `i` of a table entry and the table's base. Returns false if it
 * is another sum. */
static bool sum_table(const struct table_search *s, size_t i, struct table *t)
{
    uint8_t part[2];
    if (!sum_of(s, i, part))
        return false;
    for (int side = 0; side < 2; side++) {
        size_t load = definition(s, i, part[side]);
        if (load == SIZE_MAX || !relative_table(s, load, t))
            continue;
        if (constant(s, i, part[1 - side], &t->base))
            return true;
    }
    return false;
}

static bool has_index(const struct table_search *s, size_t i)
{
    return (s->insn[i].bits & AS_INSN_MEM) && s->insn[i].index != AS_REG_NONE;
}

static bool find_table(const struct table_search *s, size_t jump, struct table *t)
{
    const struct as_form *form = form_of(s, jump);
    s->out->indexed = has_index(s, jump);
    if (s->insn[jump].bits & AS_INSN_MEM)
        return absolute_table(s, jump, t);
    uint8_t reg = s->insn[jump].reg[form->operand[0].slot];
    size_t at = definition(s, jump, reg);
    if (at == SIZE_MAX)
        return false;
    unsigned insn_class = form_of(s, at)->insn_class;
    uint8_t part[2];
    s->out->is_sum = sum_of(s, at, part);
    s->out->indexed = has_index(s, at) || s->out->is_sum;
    if (insn_class == AS_CLASS_MOVE && absolute_table(s, at, t))
        return true;
    return sum_table(s, at, t);
}

/* ---- How many entries -------------------------------------------------------------------- */

/* Returns the number of entries that the branch at `i` and the compare before it allow; 0 if they
 * do not guard the index. */
static uint64_t guarded(const struct table_search *s, size_t i, const uint8_t *alias,
                        unsigned aliases)
{
    const char *mnemonic = form_of(s, i)->mnemonic;
    bool above = strcmp(mnemonic, "jnbe") == 0 || strcmp(mnemonic, "ja") == 0;
    bool above_equal = strcmp(mnemonic, "jnb") == 0 || strcmp(mnemonic, "jae") == 0;
    if ((!above && !above_equal) || i == s->first)
        return 0;
    for (size_t c = i; c-- > s->first && i - c < 6;) {
        const struct as_form *form = form_of(s, c);
        if (!form->flags_written)
            continue;
        if (strcmp(form->mnemonic, "cmp") != 0 || form->operand[0].kind != AS_OPERAND_REG ||
            form->operand[1].kind != AS_OPERAND_IMM || s->insn[c].imm < 0)
            return 0;
        for (unsigned a = 0; a < aliases; a++) {
            if (s->insn[c].reg[form->operand[0].slot] == alias[a])
                return (uint64_t)s->insn[c].imm + (above ? 1 : 0);
        }
        return 0;
    }
    return 0;
}

/* Returns true if `i` copies or zero-extends `from` to `reg`: `from` holds the index before. */
static bool is_copy(const struct table_search *s, size_t i, uint8_t reg, uint8_t *from)
{
    const struct as_form *form = form_of(s, i);
    if ((form->insn_class != AS_CLASS_MOVE && form->insn_class != AS_CLASS_EXTEND) ||
        form->operands != 2 || form->operand[0].kind != AS_OPERAND_REG ||
        form->operand[1].kind != AS_OPERAND_REG || s->insn[i].reg[form->operand[0].slot] != reg)
        return false;
    *from = s->insn[i].reg[form->operand[1].slot];
    return true;
}

/*
 * Returns an upper bound for the number of entries from code before the table's use, or 0 if there
 * is none. A compare sets `*exact`. After a mask the table may be shorter, because the compiler may
 * know the values that occur.
 */
static uint64_t entries_bound(const struct table_search *s, const struct table *t, bool *exact)
{
    *exact = false;
    uint8_t alias[8] = {t->index};
    unsigned aliases = 1;
    size_t i = t->at;
    for (size_t steps = 0; i-- > s->first && steps < LOOK_BACK; steps++) {
        const struct as_form *form = form_of(s, i);
        if (form->insn_class == AS_CLASS_BRANCH) {
            uint64_t n = guarded(s, i, alias, aliases);
            if (n) {
                *exact = true;
                return n;
            }
            continue;
        }
        for (unsigned a = 0; a < aliases; a++) {
            uint8_t from;
            if (is_copy(s, i, alias[a], &from)) {
                if (aliases < sizeof alias && from != alias[a])
                    alias[aliases++] = from;
                continue;
            }
            if (!writes(s, i, alias[a]))
                continue;
            if (strcmp(form->mnemonic, "and") == 0 && form->operand[1].kind == AS_OPERAND_IMM &&
                s->insn[i].imm >= 0)
                return (uint64_t)s->insn[i].imm + 1;
            alias[a] = alias[--aliases]; /* the register has another value before here */
            if (aliases == 0)
                return 0;
            a--;
        }
        if (form->insn_class == AS_CLASS_CALL || form->insn_class == AS_CLASS_RETURN ||
            form->insn_class == AS_CLASS_JUMP)
            return 0;
    }
    return 0;
}

/* Returns the next address above `address` that code uses: another table or datum begins there. */
static uint64_t next_used(const struct as_builder *b, uint64_t address)
{
    size_t i = as_lower_bound(b->data_address.at, b->data_address.n, address + 1);
    return i < b->data_address.n ? b->data_address.at[i] : UINT64_MAX;
}

static bool entry_at(const struct as_builder *b, const struct table *t, uint64_t i,
                     uint64_t *target)
{
    uint64_t at = t->address + i * t->entry_b;
    if (t->entry_b == 8)
        return as_pointer_at(b, at, target);
    uint64_t have_b = 0;
    const uint8_t *bytes = as_object_bytes(b->object, at, &have_b);
    int32_t distance;
    if (!bytes || have_b < sizeof distance)
        return false;
    memcpy(&distance, bytes, sizeof distance);
    *target = t->base + (uint64_t)(int64_t)distance;
    return true;
}

/* Returns the body with an instruction that begins at `target`, or AS_NONE. */
static uint32_t body_at(const struct table_search *s, uint64_t target)
{
    uint32_t region = as_region_at(s->b, target);
    if (region == AS_NONE)
        return AS_NONE;
    size_t insn = as_region_insn(s->b, region, target);
    return insn != SIZE_MAX && s->insn[insn].address == target ? s->b->region.at[region].body
                                                               : AS_NONE;
}

/* Returns true for a region that only pointers reach: it may be a cold part that only this table
 * reaches. */
static bool may_be_cold(const struct table_search *s, uint64_t target)
{
    const struct as_region *r = &s->b->region.at[as_region_at(s->b, target)];
    return (r->is_part || r->origin == AS_FUNCTION_UNWIND) && !r->is_called;
}

/* Returns true if the target is the end of a region of the body: clang uses it for values that
 * cannot occur. */
static bool is_nowhere(const struct table_search *s, uint64_t target)
{
    for (uint32_t p = 0; p < s->body->regions; p++) {
        if (s->b->region.at[s->b->part.at[s->body->first + p]].end == target)
            return true;
    }
    return false;
}

/* Returns true if the first entry is the start of a body: a table of functions. */
static bool holds_functions(const struct as_builder *b, const struct table *t)
{
    uint64_t target;
    uint32_t region = entry_at(b, t, 0, &target) ? as_region_at(b, target) : AS_NONE;
    return t->entry_b == 8 && region != AS_NONE && b->region.at[region].start == target &&
           b->region.at[region].owner == region;
}

int as_jump_resolve(const struct as_builder *b, const struct as_body_parts *body, size_t insn,
                    struct as_jump_targets *out)
{
    out->at.n = 0;
    out->resolved = out->is_call = out->indexed = out->is_sum = false;
    uint32_t region = as_region_at(b, b->program->code.insn[insn].address);
    const struct as_region *r = &b->region.at[region];
    struct table_search s = {.b = b,
                             .body = body,
                             .out = out,
                             .insn = b->program->code.insn,
                             .first = r->first_insn,
                             .end = r->first_insn + r->insns};
    struct table t;
    if (!find_table(&s, insn, &t))
        return 0;
    bool exact;
    uint64_t n = entries_bound(&s, &t, &exact);
    bool bounded = exact && n <= ENTRIES_MOST;
    if (!bounded) {
        uint64_t room = (next_used(b, t.address) - t.address) / t.entry_b;
        if (n == 0 || n > room)
            n = room;
        if (n > ENTRIES_MOST)
            n = ENTRIES_MOST;
    }
    uint32_t own = (uint32_t)(body - b->body.at);
    size_t inside = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t target;
        bool readable = entry_at(b, &t, i, &target);
        uint32_t to = readable ? body_at(&s, target) : AS_NONE;
        if (readable && to != own && is_nowhere(&s, target))
            continue;
        if (to == AS_NONE && bounded)
            return 0; /* a bounded table with a wrong entry was misread */
        if (to == AS_NONE || (to != own && !bounded && !may_be_cold(&s, target)))
            break;
        inside += to == own; /* else a cold part of the body, or a tail call */
        AS_TRY(as_vec_push(&out->at, target));
    }
    /* A single entry without a bound does not prove a table. */
    out->resolved = inside > (bounded ? 0 : 1);
    out->is_call = !out->resolved && holds_functions(b, &t);
    return 0;
}
