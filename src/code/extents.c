/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strides in words of the source: "lda", "n*m", "n + 2". A stride in registers is followed back
 * from the loop through the instructions that computed it. DWARF says which register or word of
 * memory holds which variable. All ways must agree. A variable that the code changes gives no name.
 * The larger of a number and 0, as Fortran has extents, is the number: the stride is not 0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "code/base_values.h"
#include "isa/form.h"

enum { FACTORS_MOST = 2, AMOUNT_VISITS_MOST = 2000, AMOUNT_DEPTH_MOST = 48 };

enum amount_kind { AMOUNT_UNKNOWN, AMOUNT_KNOWN, AMOUNT_ANY /* a way that is looked at already */ };

/* constant + factor * text[0] * text[1] */
struct amount {
    enum amount_kind kind;
    unsigned n; /* texts */
    int64_t factor, constant;
    const char *text[FACTORS_MOST];
};

/* A register at the end of a block that is being looked at, and those before it. */
struct amount_trail {
    const struct amount_trail *before;
    uint32_t block;
    unsigned reg, depth;
};

struct amount_query {
    struct as_bases *b;
    uint64_t pc; /* of the operand */
    unsigned visits;
};

static const struct amount unknown_amount = {.kind = AMOUNT_UNKNOWN};

/* ---- Sums ------------------------------------------------------------------------------------ */

static struct amount amount_of_constant(int64_t constant)
{
    return (struct amount){.kind = AMOUNT_KNOWN, .constant = constant};
}

static struct amount amount_of_text(const char *text)
{
    return (struct amount){.kind = AMOUNT_KNOWN, .n = 1, .factor = 1, .text = {text}};
}

static bool same_texts(const struct amount *x, const struct amount *y)
{
    if (x->n != y->n)
        return false;
    for (unsigned i = 0; i < x->n; i++)
        if (strcmp(x->text[i], y->text[i]) != 0)
            return false;
    return true;
}

static bool same_amounts(const struct amount *x, const struct amount *y)
{
    return same_texts(x, y) && x->factor == y->factor && x->constant == y->constant;
}

static struct amount scale_amount(struct amount x, int64_t by)
{
    if (x.kind != AMOUNT_KNOWN)
        return x;
    if (__builtin_mul_overflow(x.factor, by, &x.factor) ||
        __builtin_mul_overflow(x.constant, by, &x.constant))
        return unknown_amount;
    return x.n && !x.factor ? amount_of_constant(x.constant) : x;
}

static struct amount divide_amount(struct amount x, int64_t by)
{
    if (x.kind != AMOUNT_KNOWN || x.factor % by || x.constant % by)
        return x.kind == AMOUNT_KNOWN ? unknown_amount : x;
    x.factor /= by;
    x.constant /= by;
    return x;
}

static struct amount add_amounts(struct amount x, struct amount y)
{
    if (x.kind != AMOUNT_KNOWN || y.kind != AMOUNT_KNOWN)
        return x.kind == AMOUNT_KNOWN ? y : x;
    if (!x.n || !y.n) {
        struct amount out = x.n ? x : y;
        return __builtin_add_overflow(x.constant, y.constant, &out.constant) ? unknown_amount : out;
    }
    if (!same_texts(&x, &y) || __builtin_add_overflow(x.factor, y.factor, &x.factor) ||
        __builtin_add_overflow(x.constant, y.constant, &x.constant))
        return unknown_amount;
    return x.factor ? x : amount_of_constant(x.constant);
}

/* Makes a sum the only factor: "(n + 2)". */
static bool close_sum(struct as_bases *b, struct amount *x)
{
    char buf[AS_BASE_TEXT_B];
    const int64_t by = x->factor ? x->constant / x->factor : 0;

    if (!x->constant)
        return true;
    if (!x->n || by * x->factor != x->constant ||
        snprintf(buf, sizeof buf, "(%s%s%s %c %lld)", x->text[0], x->n > 1 ? "*" : "",
                 x->n > 1 ? x->text[1] : "", by < 0 ? '-' : '+',
                 llabs((long long)by)) >= (int)sizeof buf)
        return false;
    x->n = 1;
    x->constant = 0;
    x->text[0] = as_arena_strndup(&b->arena, buf, strlen(buf));
    return x->text[0];
}

static struct amount multiply_amounts(struct as_bases *b, struct amount x, struct amount y)
{
    if (x.kind != AMOUNT_KNOWN || y.kind != AMOUNT_KNOWN)
        return x.kind == AMOUNT_KNOWN ? y : x;
    if (!y.n)
        return scale_amount(x, y.constant);
    if (!x.n)
        return scale_amount(y, x.constant);
    if (!close_sum(b, &x) || !close_sum(b, &y) || x.n + y.n > FACTORS_MOST ||
        __builtin_mul_overflow(x.factor, y.factor, &x.factor))
        return unknown_amount;
    for (unsigned i = 0; i < y.n; i++)
        x.text[x.n++] = y.text[i];
    return x;
}

/* The amount that two ways agree on. */
static struct amount meet_amounts(struct amount x, struct amount y)
{
    if (x.kind == AMOUNT_ANY)
        return y;
    if (y.kind == AMOUNT_ANY)
        return x;
    return x.kind == AMOUNT_KNOWN && y.kind == AMOUNT_KNOWN && same_amounts(&x, &y)
               ? x
               : unknown_amount;
}

/* The larger of an amount and 0: the amount itself. */
static struct amount select_amount(struct amount x, struct amount y)
{
    if (x.kind == AMOUNT_KNOWN && !x.n && !x.constant)
        return y;
    if (y.kind == AMOUNT_KNOWN && !y.n && !y.constant)
        return x;
    return meet_amounts(x, y);
}

/* ---- Loads ----------------------------------------------------------------------------------- */

/* The stride of a dimension in the descriptor of an array without gaps: the product of the extents
 * before it. NULL: it is none. */
static const char *text_of_stride(struct as_bases *b, const struct as_base_object *from,
                                  const struct as_type *type, int64_t offset_b)
{
    const char *text = as_base_plain_text(from->text);
    char buf[AS_BASE_TEXT_B] = "";
    unsigned of = 1;

    while (of < type->rank && (type->stride_at[of] != offset_b || !offset_b))
        of++;
    if (!type->is_allocated || from->through || of >= type->rank || !text)
        return NULL;
    for (unsigned i = 0; i < of; i++) {
        const size_t n = strlen(buf);
        if (snprintf(buf + n, sizeof buf - n, "%ssize(%s,%u)", i ? "*" : "", text, i + 1) >=
            (int)(sizeof buf - n))
            return NULL;
    }
    return as_arena_strndup(&b->arena, buf, strlen(buf));
}

/* The text of a number in the memory of an object; NULL: there is none. */
static const char *text_of_number(struct as_bases *b, const struct as_base_tag *tag)
{
    const struct as_base_object *from = &b->object.at[tag->object];
    const char *text = as_base_plain_text(from->text);
    char buf[AS_BASE_TEXT_B];
    struct as_member member;
    struct as_type type;

    as_type_get(from->type, &type);
    if (!tag->exact || tag->offset_b < 0 || from->loose)
        return NULL;
    if (type.kind == AS_TYPE_NUMBER && !from->through && tag->offset_b == 0)
        return text;
    if (type.kind == AS_TYPE_ARRAY && type.described)
        return text_of_stride(b, from, &type, tag->offset_b);
    if (type.kind != AS_TYPE_RECORD ||
        !as_type_member(from->type, (uint64_t)tag->offset_b, &member) || !*member.path ||
        (!text && strcmp(from->text, "this") != 0))
        return NULL;
    const char *join = !text ? "" : type.is_fortran ? "%" : from->through ? "->" : ".";
    if (snprintf(buf, sizeof buf, "%s%s%s", text ? text : "", join, member.path) >= (int)sizeof buf)
        return NULL;
    as_type_get(member.type, &type);
    if (type.kind == AS_TYPE_ARRAY && type.described)
        return text_of_stride(b, &(struct as_base_object){.text = buf}, &type,
                              (int64_t)member.offset_b);
    return type.kind == AS_TYPE_NUMBER && !member.offset_b
               ? as_arena_strndup(&b->arena, buf, strlen(buf))
               : NULL;
}

/* A number that the code loads: a variable of a function, of the file, or a member of a record. */
static struct amount load_amount(struct amount_query *q, uint32_t block, uint32_t insn)
{
    struct as_bases *b = q->b;
    const struct as_insn *at = &b->program->code.insn[insn];
    const char *text = NULL;
    struct as_memory memory[2];

    if (as_insn_memory(&b->program->code, at, memory) != 1 || memory[0].index != AS_REG_NONE ||
        memory[0].segment != AS_REG_NONE)
        return unknown_amount;
    const uint32_t variable = as_base_number_at(b, block, at->address, &memory[0], q->pc);
    if (variable != AS_NONE)
        return amount_of_text(b->variables.variable[variable].name);
    struct as_base_state state = b->in[block];
    as_base_run_block(b, block, insn, &state);
    struct as_base_step s = {b, &state, block, insn, at, as_form_of(at)};
    const struct as_base_value address = as_base_step_address(&s, &memory[0]);
    if (address.tags == 1)
        text = text_of_number(b, &address.tag[0]);
    return text ? amount_of_text(text) : unknown_amount;
}

/* ---- Instructions ---------------------------------------------------------------------------- */

static struct amount amount_before(struct amount_query *q, uint32_t block, uint32_t insn,
                                   unsigned reg, const struct amount_trail *trail);

static struct amount amount_of_source(struct amount_query *q, uint32_t block, uint32_t insn,
                                      unsigned operand, const struct amount_trail *trail)
{
    const struct as_code *code = &q->b->program->code;
    const struct as_insn *at = &code->insn[insn];
    const struct as_operand *o = &as_form_of(at)->operand[operand];

    switch (o->kind) {
    case AS_OPERAND_REG:
        return o->width_b < 4 ? unknown_amount
                              : amount_before(q, block, insn, at->reg[o->slot], trail);
    case AS_OPERAND_IMM:
        return amount_of_constant(o->fixed ? o->fixed - 1 : as_code_imm(code, insn));
    case AS_OPERAND_MEM:
        return o->width_b < 4 ? unknown_amount : load_amount(q, block, insn);
    default:
        return unknown_amount;
    }
}

static struct amount lea_amount(struct amount_query *q, uint32_t block, uint32_t insn,
                                const struct amount_trail *trail)
{
    const struct as_insn *at = &q->b->program->code.insn[insn];
    struct amount out = amount_of_constant(as_code_disp(&q->b->program->code, insn));

    if (at->base == AS_REG_IP)
        return unknown_amount;
    if (at->base != AS_REG_NONE)
        out = add_amounts(out, amount_before(q, block, insn, at->base, trail));
    if (at->index == AS_REG_NONE)
        return out;
    return add_amounts(out,
                       scale_amount(amount_before(q, block, insn, at->index, trail), at->scale));
}

/* The result of an instruction with the old value of the register as one source. */
static struct amount updated_amount(struct amount_query *q, uint32_t block, uint32_t insn,
                                    unsigned reg, const struct amount_trail *trail)
{
    const struct as_form *form = as_form_of(&q->b->program->code.insn[insn]);
    const char *name = form->mnemonic;
    const struct amount old = amount_before(q, block, insn, reg, trail);

    if (strcmp(name, "inc") == 0 || strcmp(name, "dec") == 0)
        return add_amounts(old, amount_of_constant(name[0] == 'i' ? 1 : -1));
    if (form->operands != 2)
        return unknown_amount;
    const struct amount by = amount_of_source(q, block, insn, 1, trail);
    if (strcmp(name, "add") == 0)
        return add_amounts(old, by);
    if (strcmp(name, "sub") == 0)
        return add_amounts(old, scale_amount(by, -1));
    if (strcmp(name, "imul") == 0)
        return multiply_amounts(q->b, old, by);
    if (form->insn_class == AS_CLASS_SELECT && strncmp(name, "cmov", 4) == 0)
        return select_amount(old, by);
    if (strcmp(name, "shl") == 0 && by.kind == AMOUNT_KNOWN && !by.n && by.constant >= 0 &&
        by.constant < 32)
        return scale_amount(old, (int64_t)1 << by.constant);
    if (strcmp(name, "shr") == 0 && by.kind == AMOUNT_KNOWN && !by.n && by.constant >= 0 &&
        by.constant < 32)
        return divide_amount(old, (int64_t)1 << by.constant);
    return unknown_amount;
}

/* The value of a register that the instruction writes. */
static struct amount result_amount(struct amount_query *q, uint32_t block, uint32_t insn,
                                   unsigned reg, const struct amount_trail *trail)
{
    const struct as_insn *at = &q->b->program->code.insn[insn];
    const struct as_form *form = as_form_of(at);
    const struct as_operand *o = &form->operand[0];
    const char *name = form->mnemonic;

    if (strcmp(name, "cdqe") == 0)
        return amount_before(q, block, insn, reg, trail);
    if (!form->operands || o->kind != AS_OPERAND_REG || at->reg[o->slot] != reg || o->width_b < 4)
        return unknown_amount;
    if (at->bits & AS_INSN_IDIOM)
        return form->insn_class == AS_CLASS_LOGIC ? amount_of_constant(0) : unknown_amount;
    if (form->insn_class == AS_CLASS_LEA)
        return lea_amount(q, block, insn, trail);
    if (form->operands == 2 && (strcmp(name, "mov") == 0 || strcmp(name, "movsxd") == 0))
        return amount_of_source(q, block, insn, 1, trail);
    if (form->operands == 3 && strcmp(name, "imul") == 0)
        return multiply_amounts(q->b, amount_of_source(q, block, insn, 1, trail),
                                amount_of_source(q, block, insn, 2, trail));
    return updated_amount(q, block, insn, reg, trail);
}

/* ---- Ways ------------------------------------------------------------------------------------ */

static bool writes_register(const struct as_insn *at, unsigned reg)
{
    struct as_effects effects;

    as_insn_effects(at, &effects);
    return as_regset_has(effects.written, reg) ||
           (as_form_of(at)->insn_class == AS_CLASS_CALL && AS_BASE_CALL_WRITES >> reg & 1);
}

/* The value of a register on all ways into a block. */
static struct amount amount_on_ways(struct amount_query *q, uint32_t block, unsigned reg,
                                    const struct amount_trail *trail)
{
    const struct as_program *p = q->b->program;
    const struct as_body *body = &p->body[q->b->body];
    const struct as_block *at = &p->block[body->first_block + block];
    const struct amount_trail here = {trail, block, reg, trail ? trail->depth + 1 : 0};
    struct amount out = {.kind = AMOUNT_ANY};

    for (const struct amount_trail *t = trail; t; t = t->before)
        if (t->block == block && t->reg == reg)
            return out;
    if (!at->preds || here.depth == AMOUNT_DEPTH_MOST ||
        at->bits & (AS_BLOCK_ENTRY | AS_BLOCK_SECOND | AS_BLOCK_LANDING))
        return unknown_amount;
    for (uint32_t i = 0; i < at->preds && out.kind != AMOUNT_UNKNOWN; i++) {
        const uint32_t from = p->pred[at->first_pred + i].block - body->first_block;
        if (from >= body->blocks)
            return unknown_amount;
        const struct as_block *before = &p->block[body->first_block + from];
        out = meet_amounts(out,
                           amount_before(q, from, before->first_insn + before->insns, reg, &here));
    }
    return out;
}

/* The amount in a register before an instruction of a block, or at its end. */
static struct amount amount_before(struct amount_query *q, uint32_t block, uint32_t insn,
                                   unsigned reg, const struct amount_trail *trail)
{
    const struct as_bases *b = q->b;
    const struct as_code *code = &b->program->code;
    const struct as_block *at = &b->program->block[b->program->body[b->body].first_block + block];
    int64_t constant;

    if (reg >= AS_BASE_REGISTERS || reg == AS_BASE_SP || q->visits++ == AMOUNT_VISITS_MOST)
        return unknown_amount;
    for (uint32_t i = insn;; i--) {
        const uint32_t variable =
            i < at->first_insn + at->insns
                ? as_base_number_of(b, block, code->insn[i].address, reg, q->pc, &constant)
                : AS_NONE;
        if (variable != AS_NONE)
            return add_amounts(amount_of_text(b->variables.variable[variable].name),
                               amount_of_constant(-constant));
        if (i == at->first_insn)
            break;
        if (writes_register(&code->insn[i - 1], reg))
            return result_amount(q, block, i - 1, reg, trail);
    }
    return amount_on_ways(q, block, reg, trail);
}

/* ---- Door ------------------------------------------------------------------------------------ */

static bool write_amount(const struct amount *amount, struct as_extent_name *out)
{
    const int64_t factor = amount->factor, constant = factor ? amount->constant / factor : 0;
    int n;

    if (!amount->n || !factor || constant * factor != amount->constant)
        return false;
    n = snprintf(out->text, sizeof out->text, "%s%s%s", amount->text[0], amount->n > 1 ? "*" : "",
                 amount->n > 1 ? amount->text[1] : "");
    if (n >= 0 && n < (int)sizeof out->text && constant)
        n += snprintf(out->text + n, sizeof out->text - (size_t)n, " %c %lld",
                      constant < 0 ? '-' : '+', llabs((long long)constant));
    out->factor_b = factor;
    return n >= 0 && n < (int)sizeof out->text;
}

bool as_bases_extent(const struct as_bases *bases, uint32_t insn,
                     const struct as_register_stride *stride, struct as_extent_name *out)
{
    const struct as_program *p = bases->program;
    struct amount_query q = {.b = (struct as_bases *)bases, /* no new objects: all were seen */
                             .pc = p->code.insn[insn].address};
    struct amount sum = amount_of_constant(stride->constant_b);
    const uint32_t block = as_base_block_of(bases, insn);

    if (!stride->n || block == AS_NONE || !bases->in[block].reached)
        return false;
    for (unsigned i = 0; i < stride->n; i++)
        sum = add_amounts(sum, scale_amount(amount_before(&q, block, insn, stride->reg[i], NULL),
                                            stride->factor[i]));
    return sum.kind == AMOUNT_KNOWN && write_amount(&sum, out);
}
