/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the store that wrote the bytes of each load. Registers and addresses get numbers of
 * symbolic values (value numbering after Cocke and Schwartz). Each has a base and an offset,
 * through several iterations. A load hits a store if both bases are one value and the bytes
 * overlap. Addresses with different bases are assumed not to overlap.
 */
#include <string.h>

#include "predict/internal.h"

enum { ITERATIONS_LEAST = 4, ITERATIONS_MOST = 48, STORES_SEEN = 64 };

/* base 0: a constant */
struct symbolic {
    uint32_t base;
    int64_t offset;
};

struct expression {
    uint32_t kind;
    uint64_t a, b, c;
};

enum expression_kind { OF_INPUT = 1, OF_TIMES, OF_SUM, OF_LOAD, OF_OPERATION, OF_NOTHING };

struct known_store {
    uint32_t base;
    int32_t before; /* previous store with the same base */
    int64_t offset;
    uint32_t width, op, iteration;
    bool vector, push;
    uint32_t version[2]; /* of the base and index registers at the store */
    uint8_t reg[2], scale;
    int64_t disp;
    struct symbolic value;
};

struct as_values {
    AS_VEC(struct expression) expression;
    struct as_index index;
    AS_VEC(struct known_store) store;
    AS_VEC(int32_t) newest; /* by base: its newest store; below 0 = none */
    struct symbolic reg[16];
    uint32_t version[AS_VALUE_PLACES];
    bool loaded[16]; /* the value of the register came from a load */
    uint32_t counter;
    const struct as_piece_of_code *block;
    struct as_memory_edge *out;
    bool failed;
};

static uint32_t number_of(struct as_values *v, uint32_t kind, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t hash = as_hash_mix(as_hash_mix(as_hash_mix(kind, a), b), c);
    struct as_probe probe = as_index_probe(&v->index, hash);
    for (uint32_t row; (row = as_index_next(&v->index, &probe)) != AS_INDEX_NONE;) {
        const struct expression *e = &v->expression.at[row];
        if (e->kind == kind && e->a == a && e->b == b && e->c == c)
            return row + 1;
    }
    const struct expression made = {kind, a, b, c};
    if (as_vec_push(&v->expression, made) < 0 || as_vec_push(&v->newest, -1) < 0 ||
        as_index_add(&v->index, hash, (uint32_t)v->expression.n - 1) < 0) {
        v->failed = true;
        return 0;
    }
    return (uint32_t)v->expression.n;
}

static struct symbolic fresh_value(struct as_values *v)
{
    return (struct symbolic){number_of(v, OF_NOTHING, ++v->counter, 0, 0), 0};
}

static uint64_t packed(struct symbolic s)
{
    return as_hash_mix(s.base, (uint64_t)s.offset);
}

/* Returns a + b * scale. */
static struct symbolic sum_of(struct as_values *v, struct symbolic a, struct symbolic b,
                              int64_t scale)
{
    const int64_t offset = (int64_t)((uint64_t)a.offset + (uint64_t)b.offset * (uint64_t)scale);
    if (!b.base)
        return (struct symbolic){a.base, offset};
    const uint32_t times = scale == 1 ? b.base : number_of(v, OF_TIMES, b.base, (uint64_t)scale, 0);
    if (!a.base)
        return (struct symbolic){times, offset};
    const uint32_t low = a.base < times ? a.base : times, high = a.base < times ? times : a.base;
    return (struct symbolic){number_of(v, OF_SUM, low, high, 0), offset};
}

static struct symbolic register_value(struct as_values *v, unsigned reg)
{
    if (reg < 16)
        return v->reg[reg];
    return (struct symbolic){number_of(v, OF_INPUT, reg, 0, 0), 0};
}

static struct symbolic address_of(struct as_values *v, const struct as_memory *m)
{
    struct symbolic at = {0, 0};
    if (m->base == AS_REG_IP)
        at = (struct symbolic){number_of(v, OF_INPUT, AS_REG_IP, 0, 0), 0};
    else if (m->base != AS_REG_NONE)
        at = register_value(v, m->base);
    if (v->block->without & AS_WITHOUT_SYMBOLS && m->base < 16 && m->index != AS_REG_NONE)
        at.base = number_of(v, OF_OPERATION, at.base, m->index, v->version[m->index]);
    else if (m->index != AS_REG_NONE)
        at = sum_of(v, at, register_value(v, m->index), m->scale ? m->scale : 1);
    if (m->segment == AS_REG_SEG + 4 || m->segment == AS_REG_SEG + 5)
        at.base = number_of(v, OF_OPERATION, at.base, m->segment, 0);
    at.offset += m->disp;
    return at;
}

/* ---- Loads --------------------------------------------------------------------------------- */

static const struct known_store *newest_overlap(const struct as_values *v, struct symbolic at,
                                                uint32_t width)
{
    int32_t i = at.base && at.base <= v->newest.n ? v->newest.at[at.base - 1] : -1;
    for (int seen = 0; i >= 0 && seen < STORES_SEEN; seen++, i = v->store.at[i].before) {
        const struct known_store *s = &v->store.at[i];
        if (s->offset < at.offset + width && at.offset < s->offset + s->width)
            return s;
    }
    return NULL;
}

static uint32_t version_of(const struct as_values *v, unsigned reg)
{
    return reg < AS_VALUE_PLACES ? v->version[reg] : 0;
}

/* Returns true if store and load have the same registers and displacement. The renamer compares
 * these, not values (AMD, memory renaming). */
static bool same_expression(const struct as_values *v, const struct known_store *s,
                            const struct as_memory *m)
{
    return s->reg[0] == m->base && s->reg[1] == m->index && s->disp == m->disp &&
           (m->index == AS_REG_NONE || s->scale == m->scale) &&
           s->version[0] == version_of(v, m->base) && s->version[1] == version_of(v, m->index);
}

static enum as_store_forward forwarding(const struct as_values *v, const struct known_store *s,
                                        const struct as_op *op, const struct as_memory *m,
                                        struct symbolic at)
{
    if (s->offset > at.offset || at.offset + m->width_b > s->offset + s->width)
        return AS_FORWARD_FAILED;
    const double *set = v->block->uarch->set;
    const bool late = set[AS_UARCH_rename_memory_late] > 0 && m->base < 16 && v->loaded[m->base];
    const bool general = !s->vector && !op->vector;
    const bool renames = (v->block->uarch->set[AS_UARCH_rename_memory] > 0 || late) &&
                         !(v->block->without & AS_WITHOUT_RENAMED_MEMORY);
    const bool alike =
        late || (v->block->mode == AS_PREDICT_LOOP && set[AS_UARCH_rename_memory_loop] > 0) ||
        (s->push ? op->stack : op->stack || same_expression(v, s, m));
    const bool refuses = op->updates && !(set[AS_UARCH_rename_memory_update] > 0);
    if (renames && general && !refuses && s->offset == at.offset && !op->extends && alike &&
        m->width_b >= set[AS_UARCH_rename_memory_b])
        return AS_FORWARD_RENAMED;
    return AS_FORWARD_WHOLE;
}

/* Returns the value that operand `k` of `op` loads. Stores the edge from the store
 * that wrote it. */
static struct symbolic load_value(struct as_values *v, const struct as_op *op, uint32_t iteration,
                                  unsigned k, struct symbolic at)
{
    const struct as_memory *m = &op->memory[k];
    const struct known_store *s = m->width_b && !(v->block->without & AS_WITHOUT_MEMORY)
                                      ? newest_overlap(v, at, m->width_b)
                                      : NULL;
    struct as_memory_edge *edge = &v->out[2 * (op - v->block->op) + k];
    *edge = (struct as_memory_edge){.from = -1};
    if (!s && v->block->equal_memory && m->width_b >= 4)
        return (struct symbolic){number_of(v, OF_LOAD, 0, 0, 0), 0};
    if (!s)
        return (struct symbolic){number_of(v, OF_LOAD, at.base, (uint64_t)at.offset, 0), 0};
    edge->from = (int32_t)s->op;
    edge->distance = (uint16_t)(iteration - s->iteration);
    edge->kind = (uint8_t)forwarding(v, s, op, m, at);
    if (s->offset == at.offset && s->width == m->width_b)
        return s->value;
    return (struct symbolic){
        number_of(v, OF_LOAD, at.base, (uint64_t)at.offset, (uint64_t)(s - v->store.at) + 1), 0};
}

static void add_known_store(struct as_values *v, const struct as_op *op, uint32_t iteration,
                            const struct as_memory *m, struct symbolic at, struct symbolic value)
{
    struct known_store s = {.base = at.base,
                            .offset = at.offset,
                            .width = m->width_b,
                            .op = (uint32_t)(op - v->block->op),
                            .iteration = iteration,
                            .vector = op->vector,
                            .push = op->stack,
                            .version = {version_of(v, m->base), version_of(v, m->index)},
                            .reg = {m->base, m->index},
                            .scale = m->scale,
                            .disp = m->disp,
                            .value = value};
    if (!at.base || at.base > v->newest.n)
        return;
    s.before = v->newest.at[at.base - 1];
    if (as_vec_push(&v->store, s) < 0)
        v->failed = true;
    else
        v->newest.at[at.base - 1] = (int32_t)v->store.n - 1;
}

/* ---- Results of an instruction -------------------------------------------------------------- */

struct computing {
    const struct as_op *op;
    const struct as_insn *insn;
    const struct as_form *form;
    bool has_load, wide, has_imm, stack;
    struct symbolic load;
    int64_t imm;
};

static unsigned general_operand(const struct computing *c, unsigned i)
{
    if (i >= c->form->operands || c->form->operand[i].kind != AS_OPERAND_REG)
        return AS_REG_NONE;
    const unsigned reg = c->insn->reg[c->form->operand[i].slot];
    return reg < 16 ? reg : AS_REG_NONE;
}

/* Returns the result as a function of all sources, or an unknown value if vectors are sources. */
static struct symbolic opaque_value(struct as_values *v, const struct computing *c)
{
    uint64_t hash = as_hash_mix(c->insn->form, (uint64_t)c->imm);
    for (unsigned i = 0; i < c->op->read_n; i++) {
        const struct as_op_read *r = &c->op->read[i];
        if (r->kind != AS_READ_DATA)
            continue;
        if (r->place >= 16)
            return fresh_value(v);
        hash = as_hash_mix(hash, packed(v->reg[r->place]));
    }
    if (c->op->loads && !c->has_load)
        return fresh_value(v);
    return (struct symbolic){number_of(v, OF_OPERATION, hash, c->has_load ? packed(c->load) : 0, 1),
                             0};
}

static bool is_named(const struct computing *c, const char *mnemonic)
{
    return strcmp(c->form->mnemonic, mnemonic) == 0;
}

/* Sets `out` to the second source of a form with two operands: register, immediate or loaded value.
 * Returns false if there is none. */
static bool second_value(const struct as_values *v, const struct computing *c, struct symbolic *out)
{
    const unsigned reg = general_operand(c, 1);
    if (c->has_imm)
        *out = (struct symbolic){0, c->imm};
    else if (reg != AS_REG_NONE)
        *out = v->reg[reg];
    else if (c->has_load)
        *out = c->load;
    else
        return false;
    return true;
}

static struct symbolic result_value(struct as_values *v, const struct computing *c)
{
    const unsigned to = general_operand(c, 0);
    struct symbolic second;
    if (c->insn->bits & AS_INSN_IDIOM)
        return (struct symbolic){0, c->form->traits & AS_TRAIT_ONES ? -1 : 0};
    if (c->form->insn_class == AS_CLASS_LEA) {
        struct as_memory m = {.base = c->insn->base,
                              .index = c->insn->index,
                              .scale = c->insn->scale,
                              .segment = AS_REG_NONE,
                              .disp = as_code_disp(v->block->code, c->op->at)};
        return address_of(v, &m);
    }
    if (!c->wide || to == AS_REG_NONE || c->form->operands > 2)
        return opaque_value(v, c);
    if (is_named(c, "inc") || is_named(c, "dec"))
        return (struct symbolic){v->reg[to].base,
                                 v->reg[to].offset + (is_named(c, "inc") ? 1 : -1)};
    if (!second_value(v, c, &second))
        return opaque_value(v, c);
    if (is_named(c, "mov") || is_named(c, "movabs") || is_named(c, "movsxd"))
        return second;
    if (is_named(c, "add"))
        return sum_of(v, v->reg[to], second, 1);
    if (is_named(c, "sub"))
        return sum_of(v, v->reg[to], second, -1);
    if (is_named(c, "shl") && c->has_imm && c->imm >= 0 && c->imm < 32)
        return sum_of(v, (struct symbolic){0, 0}, v->reg[to], (int64_t)1 << c->imm);
    return opaque_value(v, c);
}

/* Returns the value that a store writes: the register or immediate of a move, else an unknown
 * value. */
static struct symbolic stored_value(struct as_values *v, const struct computing *c)
{
    const unsigned source = c->stack ? general_operand(c, 0) : general_operand(c, 1);
    const bool moves = is_named(c, "mov") || is_named(c, "push");
    if (moves && c->has_imm)
        return (struct symbolic){0, c->imm};
    if (moves && source != AS_REG_NONE)
        return v->reg[source];
    return fresh_value(v);
}

/* Updates rsp for push and pop. A called function returns to the next instruction
 * with the old rsp. */
static void step_stack(struct as_values *v, const struct computing *c)
{
    const bool push = c->op->stores;
    if (c->stack && c->form->insn_class != AS_CLASS_CALL)
        v->reg[4].offset += push ? -8 : 8;
}

/* Writes the results. Further destinations (mul, xchg, unknown forms) get values of their own. */
static void write_results(struct as_values *v, const struct computing *c, struct symbolic result)
{
    const unsigned first = general_operand(c, 0);
    for (unsigned i = 0; i < c->op->write_n; i++) {
        const unsigned place = c->op->write[i].place;
        if (place < AS_VALUE_PLACES)
            v->version[place] = ++v->counter;
        if (place >= 16 || (place == 4 && c->stack))
            continue;
        v->loaded[place] = c->op->loads;
        if (place == first || c->op->write_n == 1)
            v->reg[place] = result;
        else
            v->reg[place] =
                (struct symbolic){number_of(v, OF_OPERATION, packed(result), place, 2), 0};
    }
}

static void compute_step_values(struct as_values *v, struct as_op *op, uint32_t iteration)
{
    static const struct as_form none = {.mnemonic = ""};
    struct computing c = {.op = op, .form = &none};
    struct symbolic at[2];
    if (op->at == UINT32_MAX)
        return;
    c.insn = &v->block->code->insn[op->at];
    c.form = as_form_get(c.insn->form);
    c.stack = c.form->traits & AS_TRAIT_STACK && (op->loads || op->stores);
    c.wide = c.form->operands && c.form->operand[0].width_b >= 4;
    for (unsigned i = 0; i < c.form->operands; i++)
        c.has_imm |= c.form->operand[i].kind == AS_OPERAND_IMM;
    c.imm = c.has_imm ? as_code_imm(v->block->code, op->at) : 0;
    for (unsigned k = 0; k < op->memory_n; k++) {
        at[k] = address_of(v, &op->memory[k]);
        op->address_base = at[k].base;
        op->address_offset = at[k].offset;
        if (op->memory[k].access & AS_ACCESS_READ && op->loads) {
            c.load = load_value(v, op, iteration, k, at[k]);
            c.has_load = true;
        }
    }
    const struct symbolic stored = op->stores ? stored_value(v, &c) : (struct symbolic){0, 0};
    for (unsigned k = 0; k < op->memory_n; k++)
        if (op->memory[k].access & AS_ACCESS_WRITE)
            add_known_store(v, op, iteration, &op->memory[k], at[k], stored);
    struct symbolic result = {0, 0};
    if (op->write_n)
        result = c.stack && op->loads ? c.load : result_value(v, &c);
    write_results(v, &c, result);
    step_stack(v, &c);
}

/* ---- Iterations ---------------------------------------------------------------------------- */

static struct as_values *cleared_values(struct as_predictor *p)
{
    if (!p->values)
        p->values = as_calloc(1, sizeof *p->values);
    struct as_values *v = p->values;
    if (!v)
        return NULL;
    v->expression.n = v->store.n = v->newest.n = 0;
    if (v->index.slot_n)
        memset(v->index.slot, 0xff, v->index.slot_n * sizeof *v->index.slot);
    v->index.n = 0;
    v->counter = 0;
    v->failed = false;
    memset(v->version, 0, sizeof v->version);
    memset(v->loaded, 0, sizeof v->loaded);
    v->block = &p->block;
    for (unsigned reg = 0; reg < 16; reg++)
        v->reg[reg] = (struct symbolic){number_of(v, OF_INPUT, reg, 0, 0), 0};
    return v;
}

/* Returns the number of iterations in flight together, plus some to reach the steady state. */
static uint32_t iterations_of(const struct as_piece_of_code *block)
{
    const uint32_t n = (uint32_t)(block->uarch->set[AS_UARCH_rob] / (block->op_n + 1)) + 3;
    return n < ITERATIONS_LEAST ? ITERATIONS_LEAST : n > ITERATIONS_MOST ? ITERATIONS_MOST : n;
}

int as_values_memory(struct as_predictor *p, struct as_memory_edge *out)
{
    bool loads = false, stores = false, vectors = false;
    for (uint32_t i = 0; i < p->block.op_n; i++) {
        out[2 * i].from = out[2 * i + 1].from = -1;
        loads |= p->block.op[i].loads;
        stores |= p->block.op[i].stores;
        vectors |= p->block.op[i].loads && p->block.op[i].vector; /* may cross lines */
    }
    if (!(loads && stores) && !vectors && !(stores && p->uarch->set[AS_UARCH_store_lines] > 0) &&
        !(loads && p->uarch->set[AS_UARCH_load_bank_b] > 0))
        return 0;
    struct as_values *v = cleared_values(p);
    if (!v)
        return AS_ERR_NOMEM;
    v->out = out;
    const uint32_t n = loads && stores ? iterations_of(&p->block) : 2;
    for (uint32_t iteration = 0; iteration < n; iteration++)
        for (uint32_t i = 0; i < p->block.op_n; i++)
            compute_step_values(v, &p->block.op[i], iteration);
    return v->failed ? AS_ERR_NOMEM : 0;
}

void as_values_free(struct as_values **values)
{
    if (!*values)
        return;
    as_vec_fini(&(*values)->expression);
    as_vec_fini(&(*values)->store);
    as_vec_fini(&(*values)->newest);
    as_index_fini(&(*values)->index);
    as_free(*values);
    *values = NULL;
}
