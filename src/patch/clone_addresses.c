/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that records addresses in a counting clone (patch/address_plan.h). An innermost loop is a
 * walk if all its addresses move by constants. A walk has one record at its entry, and its exit
 * adds the iterations. All other code has records in its blocks, each before the first access of a
 * part. A part ends at an access that needs a register which changed in the part. If the buffer is
 * full, a thread waits while it has patience, and then goes on without records. In innermost loops
 * the cursor stands in a register. Each record of them stands where it covers most accesses.
 */
#include "patch/clone.h"

#include <assert.h>

enum { ATOMS_B = 2048, ATOMS_MOST = 192, REG_SP = 4, REG_12 = 12, REG_A = 0 };
enum { PLACES_MOST = 48 }; /* instructions that a record may come later */
enum { NAMED_MOST = 6 };   /* registers, and those of one more instruction: two are left */

/* A value of a record: base + index * scale; or the address `anchor` of the module. */
struct address_word {
    uint8_t base, index, scale;
    bool is_anchor;
    uint64_t anchor;
};

struct address_block {
    struct address_word word[AS_ADDRESS_WORDS_MOST];
    struct as_address_operand operand[AS_ADDRESS_WORDS_MOST];
    uint32_t words, operands;
};

/* Instructions of ours, before they are cut into parts. */
struct address_text {
    uint8_t code[ATOMS_B];
    struct {
        uint16_t at;
        uint8_t depth_b;
        bool has_fix;
        struct as_patch_reloc fix; /* `at`: in the instruction */
    } atom[ATOMS_MOST];
    uint32_t n, atoms;
    uint8_t depth_b;
};

/* ---- Operands ------------------------------------------------------------------------------- */

static bool is_narrow_address(const struct as_clone_assembly *a, const struct assay_insn *insn)
{
    uint64_t have_b;
    const uint8_t *bytes = assay_object_bytes(a->p->object, insn->address, &have_b);
    for (unsigned i = 0; bytes && i < insn->length && i < have_b; i++) {
        if (bytes[i] == 0x67)
            return true;
        if (!memchr("\x66\xf2\xf3\x2e\x36\x3e\x26\x64\x65", bytes[i], 9))
            break;
    }
    return !bytes;
}

/* Accesses of an instruction that are recorded: explicit ones, and those of string instructions.
 * The stack that push, pop and call use is in the first level nearly always. */
static int recorded_memory(const struct as_clone_assembly *a, const struct assay_insn *insn,
                           struct assay_memory out[2])
{
    const unsigned class = as_form_of(insn)->insn_class;
    if (class == ASSAY_CLASS_NOP || class == ASSAY_CLASS_CACHE)
        return 0;
    const int n = assay_insn_memory(&a->p->code, insn, out);
    int kept = 0;
    for (int i = 0; i < n; i++) {
        const bool is_string = class == ASSAY_CLASS_STRING;
        const bool is_explicit = insn->bits & ASSAY_INSN_MEM && i == 0;
        if ((is_string || is_explicit) && out[i].access & (ASSAY_ACCESS_READ | ASSAY_ACCESS_WRITE))
            out[kept++] = out[i];
    }
    return kept;
}

static bool is_recordable(const struct as_clone_assembly *a, const struct assay_insn *insn,
                          const struct assay_memory *m)
{
    const bool known = m->base < 16 || m->base == ASSAY_REG_NONE || m->rip_relative;
    return known && (m->index < 16 || m->index == ASSAY_REG_NONE) && m->segment == ASSAY_REG_NONE &&
           m->width_b > 0 && !is_narrow_address(a, insn);
}

static bool is_repeated(const struct assay_insn *insn)
{
    return as_form_of(insn)->insn_class == ASSAY_CLASS_STRING &&
           as_form_of(insn)->traits & ASSAY_TRAIT_REP;
}

/* The word of the block with that value, added if need be; AS_ADDRESS_NONE: no space. */
static uint16_t word_of(struct address_block *b, const struct address_word *word)
{
    for (uint32_t w = 0; w < b->words; w++) {
        const struct address_word *it = &b->word[w];
        if (it->is_anchor == word->is_anchor &&
            (word->is_anchor || (it->base == word->base && it->index == word->index &&
                                 (it->index == AS_PATCH_NONE || it->scale == word->scale))))
            return (uint16_t)w;
    }
    if (b->words == AS_ADDRESS_WORDS_MOST)
        return AS_ADDRESS_NONE;
    b->word[b->words] = *word;
    return (uint16_t)b->words++;
}

/* Adds an operand; `offset`, `step`: of its registers. False: no space. */
static bool add_operand(struct address_block *b, const struct assay_insn *insn,
                        const struct assay_memory *m, int64_t offset, int64_t step)
{
    struct as_address_operand it = {.insn = insn->address,
                                    .offset = m->disp + offset,
                                    .step = step,
                                    .width_b = m->width_b,
                                    .word = AS_ADDRESS_NONE,
                                    .times = AS_ADDRESS_NONE,
                                    .access = m->access,
                                    .streams = as_form_of(insn)->traits & ASSAY_TRAIT_NONTEMPORAL &&
                                               m->access & ASSAY_ACCESS_WRITE};
    const struct address_word word = {.base = m->base < 16 ? m->base : AS_PATCH_NONE,
                                      .index = m->index < 16 ? m->index : AS_PATCH_NONE,
                                      .scale = m->scale ? m->scale : 1,
                                      .is_anchor = m->rip_relative,
                                      .anchor = m->rip_relative ? (uint64_t)m->disp : 0};
    const struct address_word count = {.base = 1, .index = AS_PATCH_NONE, .scale = 1};
    if (b->operands == AS_ADDRESS_WORDS_MOST)
        return false;
    if (word.is_anchor || word.base != AS_PATCH_NONE || word.index != AS_PATCH_NONE) {
        it.word = word_of(b, &word);
        if (it.word == AS_ADDRESS_NONE)
            return false;
        it.offset -= (int64_t)b->word[it.word].anchor;
    }
    if (is_repeated(insn)) {
        it.times = word_of(b, &count);
        if (it.times == AS_ADDRESS_NONE)
            return false;
    }
    b->operand[b->operands++] = it;
    return true;
}

static int note_missed(const struct as_clone_assembly *a, uint32_t block,
                       const struct assay_insn *insn)
{
    struct as_patch_maker *m = a->clone->maker;
    return as_vec_push(&m->addresses.missed, (struct as_address_missed){
                                                 insn->address, (uint32_t)m->module.n - 1,
                                                 a->p->block[block].body, a->p->block[block].loop});
}

/* ---- Instructions of ours ------------------------------------------------------------------- */

static void emit_atom(struct address_text *t, size_t n, const uint8_t *bytes)
{
    assert(t->n + n <= ATOMS_B && t->atoms < ATOMS_MOST);
    t->atom[t->atoms].at = (uint16_t)t->n;
    t->atom[t->atoms].depth_b = t->depth_b;
    t->atom[t->atoms].has_fix = false;
    t->atoms++;
    memcpy(t->code + t->n, bytes, n);
    t->n += (uint32_t)n;
}
#define PUT_ATOM(t, ...)                                                                           \
    emit_atom((t), sizeof((const uint8_t[]){__VA_ARGS__}), (const uint8_t[]){__VA_ARGS__})

static void set_fix(struct address_text *t, unsigned kind, uint64_t value, uint32_t at)
{
    t->atom[t->atoms - 1].has_fix = true;
    t->atom[t->atoms - 1].fix = as_clone_fix(kind, value, at, kind == AS_PATCH_TO_MODULE ? 4 : 0);
}

#define FIELD(name) offsetof(struct as_patch_thread, addresses.name)

/* `opcode` with register `reg` and gs:[field of the thread's file] */
static void emit_gs_field(struct address_text *t, uint8_t opcode, unsigned reg, uint64_t field)
{
    PUT_ATOM(t, 0x65, (uint8_t)(0x48 | (reg >> 3) << 2), opcode, (uint8_t)(4 | (reg & 7) << 3),
             0x25, 0, 0, 0, 0);
    set_fix(t, AS_PATCH_TO_ADDRESSES, field, 5);
}

/* mov gs:[to + at], reg */
static void emit_gs_store(struct address_text *t, unsigned to, uint32_t at, unsigned reg)
{
    PUT_ATOM(t, 0x65, (uint8_t)(0x48 | (reg >> 3) << 2 | to >> 3), 0x89,
             (uint8_t)(0x80 | (reg & 7) << 3 | (to & 7)), (uint8_t)at, (uint8_t)(at >> 8), 0, 0);
}

/* mov qword gs:[to + at], value */
static void emit_gs_number(struct address_text *t, unsigned to, uint32_t at, uint32_t value)
{
    PUT_ATOM(t, 0x65, (uint8_t)(0x48 | to >> 3), 0xc7, (uint8_t)(0x80 | (to & 7)), (uint8_t)at,
             (uint8_t)(at >> 8), 0, 0, (uint8_t)value, (uint8_t)(value >> 8),
             (uint8_t)(value >> 16), (uint8_t)(value >> 24));
}

/* lea reg,[base + index * scale + disp] */
static void emit_lea_of(struct address_text *t, unsigned reg, const struct address_word *w,
                        uint32_t disp)
{
    const unsigned base = w->base == AS_PATCH_NONE ? 5 : w->base;
    const unsigned index = w->index == AS_PATCH_NONE ? 4 : w->index;
    const unsigned scale = w->scale == 8 ? 3 : w->scale == 4 ? 2 : w->scale == 2 ? 1 : 0;
    const unsigned mode = w->base == AS_PATCH_NONE ? 0x04 : 0x84;
    PUT_ATOM(t, (uint8_t)(0x48 | (reg >> 3) << 2 | (index >> 3) << 1 | base >> 3), 0x8d,
             (uint8_t)(mode | (reg & 7) << 3),
             (uint8_t)(scale << 6 | (index & 7) << 3 | (base & 7)), (uint8_t)disp,
             (uint8_t)(disp >> 8), (uint8_t)(disp >> 16), (uint8_t)(disp >> 24));
}

static void emit_push_of(struct address_text *t, unsigned reg)
{
    if (reg > 7)
        PUT_ATOM(t, 0x41, (uint8_t)(0x50 | (reg & 7)));
    else
        PUT_ATOM(t, (uint8_t)(0x50 | reg));
    t->depth_b = (uint8_t)(t->depth_b + 8);
}

static void emit_pop_of(struct address_text *t, unsigned reg)
{
    if (reg > 7)
        PUT_ATOM(t, 0x41, (uint8_t)(0x58 | (reg & 7)));
    else
        PUT_ATOM(t, (uint8_t)(0x58 | reg));
    t->depth_b = (uint8_t)(t->depth_b - 8);
}

/* A jump with a distance that land_jump sets; returns the place of the distance. */
static uint32_t emit_jump_ahead(struct address_text *t, unsigned condition)
{
    if (condition == AS_CLONE_ALWAYS)
        PUT_ATOM(t, 0xe9, 0, 0, 0, 0);
    else
        PUT_ATOM(t, 0x0f, (uint8_t)(0x80 | condition), 0, 0, 0, 0);
    return t->n - 4;
}

static void land_jump(struct address_text *t, uint32_t jump, uint32_t to)
{
    const uint32_t distance = to - (jump + 4);
    memcpy(t->code + jump, &distance, sizeof distance);
}

/* Cuts the text into parts. 0 or ASSAY_ERR_NOMEM. */
static int emit_atoms(struct as_clone_assembly *a, uint64_t address, const struct address_text *t)
{
    const uint8_t before_b = a->depth_b;
    struct as_clone_part *part = NULL;
    for (uint32_t i = 0; i < t->atoms; i++) {
        const uint32_t from = t->atom[i].at;
        const uint32_t n = (i + 1 < t->atoms ? t->atom[i + 1].at : t->n) - from;
        if (!part || part->depth_b != t->atom[i].depth_b ||
            part->length + n > AS_CLONE_CODE_MOST_B ||
            (t->atom[i].has_fix && part->fixes == AS_CLONE_FIXES_MOST)) {
            a->depth_b = t->atom[i].depth_b;
            part = as_clone_part_new(a, AS_CLONE_CODE, address);
            a->depth_b = before_b;
            if (!part)
                return ASSAY_ERR_NOMEM;
        }
        if (t->atom[i].has_fix) {
            struct as_patch_reloc fix = t->atom[i].fix;
            fix.at += part->length;
            part->fix[part->fixes++] = fix;
        }
        as_clone_add_bytes(part, n, t->code + from);
    }
    return 0;
}

/* ---- A record ------------------------------------------------------------------------------- */

/* The place of a record: live registers, and registers that it must keep though nothing reads
 * them. */
struct address_place {
    uint64_t address;
    uint32_t live, kept;
    bool is_lowered; /* the stack pointer is below the red zone, and no operand names it */
};

static uint32_t named_registers(const struct address_block *b)
{
    uint32_t named = 0;
    for (uint32_t w = 0; w < b->words; w++) {
        named |= b->word[w].base < 16 ? 1u << b->word[w].base : 0;
        named |= b->word[w].index < 16 ? 1u << b->word[w].index : 0;
    }
    return named;
}

/* Registers for the code of a record: not those of its words; such as nothing needs come first. */
static bool choose_scratch(const struct address_block *b, const struct address_place *at,
                           unsigned wanted, unsigned scratch[2])
{
    const uint32_t taken = named_registers(b) | at->kept | 1u << REG_SP | 1u << REG_12;
    unsigned n = 0;
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned r = 0; r < 16 && n < wanted; r++)
            if (!(taken >> r & 1) && (at->live >> r & 1) == pass)
                scratch[n++] = r;
    return n == wanted;
}

static bool is_plain_word(const struct address_word *word)
{
    return !word->is_anchor && word->index == AS_PATCH_NONE && word->base != REG_SP;
}

/* The words, from `at` on in the record that `to` leads to. */
static void emit_words_of(struct address_text *t, const struct address_block *b, unsigned to,
                          unsigned other, uint32_t at, uint32_t lowered_b)
{
    for (uint32_t w = 0; w < b->words; w++, at += 8) {
        const struct address_word *word = &b->word[w];
        const bool is_plain = is_plain_word(word);
        if (word->is_anchor) {
            PUT_ATOM(t, (uint8_t)(0x48 | (other >> 3) << 2), 0x8d, (uint8_t)(5 | (other & 7) << 3),
                     0, 0, 0, 0);
            set_fix(t, AS_PATCH_TO_MODULE, word->anchor, 3);
        } else if (!is_plain)
            emit_lea_of(t, other, word, word->base == REG_SP ? lowered_b : 0);
        emit_gs_store(t, to, at, is_plain ? word->base : other);
    }
}

/* The buffer is full: waits while there is patience, else goes on with nothing recorded. */
static void emit_full_buffer(struct address_text *t, uint32_t again, uint32_t *over)
{
    PUT_ATOM(t, 0x65, 0x48, 0x83, 0x3c, 0x25, 0, 0, 0, 0, 0); /* cmp qword gs:[patience],0 */
    set_fix(t, AS_PATCH_TO_ADDRESSES, FIELD(patience), 5);
    *over = emit_jump_ahead(t, 14);                        /* jle */
    PUT_ATOM(t, 0x65, 0x48, 0xff, 0x0c, 0x25, 0, 0, 0, 0); /* dec qword gs:[patience] */
    set_fix(t, AS_PATCH_TO_ADDRESSES, FIELD(patience), 5);
    PUT_ATOM(t, 0xf3, 0x90); /* pause */
    land_jump(t, emit_jump_ahead(t, AS_CLONE_ALWAYS), again);
}

static void emit_record_body(struct address_text *t, const struct address_block *b,
                             const unsigned scratch[2], uint32_t number, bool walks,
                             uint32_t lowered_b)
{
    const unsigned to = scratch[0], other = scratch[1];
    const uint32_t first = walks ? 16 : 8, size_b = first + 8 * b->words, again = t->n;
    uint32_t over;
    /* In this order: the reader sets the cursor, and then the limit. */
    emit_gs_field(t, 0x8b, other, FIELD(limit)); /* mov other,gs:[limit] */
    emit_gs_field(t, 0x8b, to, FIELD(cursor));   /* mov to,gs:[cursor] */
    PUT_ATOM(t, (uint8_t)(0x48 | (to >> 3) << 2 | other >> 3), 0x3b,
             (uint8_t)(0xc0 | (to & 7) << 3 | (other & 7))); /* cmp to,other */
    const uint32_t full = emit_jump_ahead(t, 3);             /* jae */
    emit_gs_number(t, to, 0, number);
    emit_words_of(t, b, to, other, first, lowered_b);
    if (walks) {
        emit_gs_number(t, to, 8, UINT32_MAX); /* AS_ADDRESS_RUNS */
        emit_lea_of(t, other, &(struct address_word){.base = (uint8_t)to, .index = AS_PATCH_NONE},
                    8);
        emit_gs_field(t, 0x89, other, FIELD(open));
    }
    emit_lea_of(t, to, &(struct address_word){.base = (uint8_t)to, .index = AS_PATCH_NONE}, size_b);
    emit_gs_field(t, 0x89, to, FIELD(cursor));
    const uint32_t done = emit_jump_ahead(t, AS_CLONE_ALWAYS);
    land_jump(t, full, t->n);
    emit_full_buffer(t, again, &over);
    land_jump(t, over, t->n);
    if (walks) { /* its iterations go where nothing reads them */
        emit_gs_field(t, 0x8b, to, FIELD(nowhere));
        emit_gs_field(t, 0x89, to, FIELD(open));
    }
    land_jump(t, done, t->n);
}

/* The code of a record of `b`. 0 or ASSAY_ERR_NOMEM. */
static int emit_address_record(struct as_clone_assembly *a, const struct address_block *b,
                               const struct address_place *at, uint32_t number, bool walks)
{
    struct address_text t = {.depth_b = a->depth_b};
    unsigned scratch[2], pushed = 0;
    const bool keep_flags = at->live & AS_LIVE_STATUS;
    if (!choose_scratch(b, at, 2, scratch)) {
        a->refusal = AS_PATCH_REFUSED_OPERAND;
        return 0;
    }
    for (unsigned i = 0; i < 2; i++)
        pushed += at->live >> scratch[i] & 1;
    const bool lowers = (pushed || keep_flags) && !at->is_lowered;
    if (lowers) {
        PUT_ATOM(&t, 0x48, 0x8d, 0x64, 0x24, 0x80); /* lea rsp,[rsp-128] */
        t.depth_b = (uint8_t)(t.depth_b + AS_CLONE_RED_ZONE_B);
    }
    for (unsigned i = 0; i < 2; i++)
        if (at->live >> scratch[i] & 1)
            emit_push_of(&t, scratch[i]);
    if (keep_flags) {
        PUT_ATOM(&t, 0x9c); /* pushfq */
        t.depth_b = (uint8_t)(t.depth_b + 8);
    }
    emit_record_body(&t, b, scratch, number, walks, (uint32_t)(t.depth_b - a->depth_b));
    if (keep_flags) {
        PUT_ATOM(&t, 0x9d); /* popfq */
        t.depth_b = (uint8_t)(t.depth_b - 8);
    }
    for (unsigned i = 2; i-- > 0;)
        if (at->live >> scratch[i] & 1)
            emit_pop_of(&t, scratch[i]);
    if (lowers)
        PUT_ATOM(&t, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0); /* lea rsp,[rsp+128] */
    return emit_atoms(a, at->address, &t);
}

/* ---- The cursor in a register --------------------------------------------------------------- */

/* Below zero: nothing is recorded. So many records later the buffer is looked at again. */
#define CURSOR_OFF (-(1 << 16))

/* Sets the register to the cursor and goes to the return value, which jumps there; or lets the
 * thread wait, and then leaves the register off. */
static uint32_t emit_cursor_load(struct address_text *t, unsigned reg)
{
    const uint32_t again = t->n;
    uint32_t over;
    /* In this order: the reader sets the cursor, and then the limit. */
    emit_gs_field(t, 0x8b, reg, FIELD(limit));   /* mov reg,gs:[limit] */
    emit_gs_field(t, 0x39, reg, FIELD(cursor));  /* cmp gs:[cursor],reg */
    const uint32_t full = emit_jump_ahead(t, 3); /* jae */
    emit_gs_field(t, 0x8b, reg, FIELD(cursor));
    const uint32_t loaded = emit_jump_ahead(t, AS_CLONE_ALWAYS);
    land_jump(t, full, t->n);
    emit_full_buffer(t, again, &over);
    land_jump(t, over, t->n);
    PUT_ATOM(t, (uint8_t)(0x48 | reg >> 3), 0xc7, (uint8_t)(0xc0 | (reg & 7)), (uint8_t)CURSOR_OFF,
             (uint8_t)(CURSOR_OFF >> 8), (uint8_t)(CURSOR_OFF >> 16),
             0xff); /* mov reg,CURSOR_OFF */
    return loaded;
}

static void emit_test_of(struct address_text *t, unsigned reg)
{
    PUT_ATOM(t, (uint8_t)(0x48 | (reg >> 3) * 5), 0x85,
             (uint8_t)(0xc0 | (reg & 7) << 3 | (reg & 7))); /* test reg,reg */
}

static void emit_push_flags(struct address_text *t, bool keep_flags)
{
    if (!keep_flags)
        return;
    PUT_ATOM(t, 0x9c);
    t->depth_b = (uint8_t)(t->depth_b + 8);
}

static void emit_pop_flags(struct address_text *t, bool keep_flags)
{
    if (!keep_flags)
        return;
    PUT_ATOM(t, 0x9d);
    t->depth_b = (uint8_t)(t->depth_b - 8);
}

/* Moves the stack pointer beyond the red zone, and back. */
static void emit_lower_stack(struct address_text *t, bool lowers)
{
    if (!lowers)
        return;
    PUT_ATOM(t, 0x48, 0x8d, 0x64, 0x24, 0x80); /* lea rsp,[rsp-128] */
    t->depth_b = (uint8_t)(t->depth_b + AS_CLONE_RED_ZONE_B);
}

static void emit_raise_stack(struct address_text *t, bool lowers)
{
    if (!lowers)
        return;
    PUT_ATOM(t, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0); /* lea rsp,[rsp+128] */
    t->depth_b = (uint8_t)(t->depth_b - AS_CLONE_RED_ZONE_B);
}

int as_clone_cursor_enter(struct as_clone_assembly *a, const struct as_clone_tally *t,
                          uint64_t address)
{
    struct address_text text = {.depth_b = a->depth_b};
    const bool keep_flags =
        as_live_at(a->clone->area->code, a->p->loop[t->loop].header) & AS_LIVE_STATUS;
    const bool lowers = keep_flags && as_clone_tally_pushes(t) == 0;
    if (t->cursor == AS_PATCH_NONE)
        return 0;
    emit_lower_stack(&text, lowers);
    emit_push_flags(&text, keep_flags);
    const uint32_t loaded = emit_cursor_load(&text, t->cursor);
    land_jump(&text, loaded, text.n);
    emit_pop_flags(&text, keep_flags);
    emit_raise_stack(&text, lowers);
    return emit_atoms(a, address, &text);
}

int as_clone_cursor_leave(struct as_clone_assembly *a, const struct as_clone_tally *t,
                          bool keep_flags, uint64_t address)
{
    struct address_text text = {.depth_b = a->depth_b};
    const bool lowers = keep_flags && as_clone_tally_pushes(t) == 0;
    if (t->cursor == AS_PATCH_NONE)
        return 0;
    emit_lower_stack(&text, lowers);
    emit_push_flags(&text, keep_flags);
    emit_test_of(&text, t->cursor);
    const uint32_t off = emit_jump_ahead(&text, 8); /* js */
    emit_gs_field(&text, 0x89, t->cursor, FIELD(cursor));
    land_jump(&text, off, text.n);
    emit_pop_flags(&text, keep_flags);
    emit_raise_stack(&text, lowers);
    return emit_atoms(a, address, &text);
}

/* Writes the record; one more register is pushed if it is needed and live. */
static void emit_cursor_words(struct address_text *t, const struct address_block *b,
                              const struct address_place *at, unsigned reg, unsigned other,
                              uint32_t number, unsigned depth_b)
{
    const bool pushes = other != AS_PATCH_NONE && at->live >> other & 1;
    const bool lowers = pushes && !at->is_lowered && t->depth_b == depth_b;
    emit_lower_stack(t, lowers);
    if (pushes)
        emit_push_of(t, other);
    emit_gs_number(t, reg, 0, number);
    emit_words_of(t, b, reg, other, 8, t->depth_b - depth_b);
    if (pushes)
        emit_pop_of(t, other);
    emit_raise_stack(t, lowers);
    emit_lea_of(t, reg, &(struct address_word){.base = (uint8_t)reg, .index = AS_PATCH_NONE},
                8 + 8 * b->words);
}

/* The code of a record of `b`, with its cursor in `reg`. 0 or ASSAY_ERR_NOMEM. */
static int emit_cursor_record(struct as_clone_assembly *a, const struct address_block *b,
                              const struct address_place *at, unsigned reg, uint32_t number)
{
    struct address_text t = {.depth_b = a->depth_b};
    const bool keep_flags = at->live & AS_LIVE_STATUS, lowers = keep_flags && !at->is_lowered;
    unsigned other[2] = {AS_PATCH_NONE};
    bool all_plain = true;
    for (uint32_t w = 0; w < b->words; w++)
        all_plain &= is_plain_word(&b->word[w]);
    if (!all_plain && !choose_scratch(b, at, 1, other)) {
        a->refusal = AS_PATCH_REFUSED_OPERAND;
        return 0;
    }
    emit_lower_stack(&t, lowers);
    emit_push_flags(&t, keep_flags);
    const uint32_t start = t.n;
    emit_gs_field(&t, 0x3b, reg, FIELD(limit));                                  /* cmp reg,limit */
    const uint32_t records = emit_jump_ahead(&t, 2);                             /* jb */
    PUT_ATOM(&t, (uint8_t)(0x48 | reg >> 3), 0xff, (uint8_t)(0xc0 | (reg & 7))); /* inc reg */
    const uint32_t full = emit_jump_ahead(&t, 9);                                /* jns */
    const uint32_t off = emit_jump_ahead(&t, AS_CLONE_ALWAYS);
    land_jump(&t, full, t.n);                     /* or off for long: then it is 0 now */
    const uint32_t look = emit_jump_ahead(&t, 4); /* jz */
    PUT_ATOM(&t, (uint8_t)(0x48 | reg >> 3), 0xff, (uint8_t)(0xc8 | (reg & 7))); /* dec reg */
    emit_gs_field(&t, 0x89, reg, FIELD(cursor));
    land_jump(&t, look, t.n);
    const uint32_t loaded = emit_cursor_load(&t, reg);
    land_jump(&t, loaded, start);
    const uint32_t gave_up = emit_jump_ahead(&t, AS_CLONE_ALWAYS);
    land_jump(&t, records, t.n);
    emit_cursor_words(&t, b, at, reg, other[0], number, a->depth_b);
    land_jump(&t, off, t.n);
    land_jump(&t, gave_up, t.n);
    emit_pop_flags(&t, keep_flags);
    emit_raise_stack(&t, lowers);
    return emit_atoms(a, at->address, &t);
}

static int add_record(struct as_clone_assembly *a, uint32_t block, const struct address_block *b,
                      bool walks, uint32_t *number)
{
    struct as_patch_maker *m = a->clone->maker;
    const struct as_address_record record = {.module = (uint32_t)m->module.n - 1,
                                             .body = a->p->block[block].body,
                                             .loop = a->p->block[block].loop,
                                             .words = b->words,
                                             .first_operand = (uint32_t)m->addresses.operand.n,
                                             .operands = b->operands,
                                             .walks = walks};
    *number = (uint32_t)m->addresses.record.n;
    for (uint32_t i = 0; i < b->operands; i++)
        AS_TRY(as_vec_push(&m->addresses.operand, b->operand[i]));
    return as_vec_push(&m->addresses.record, record);
}

bool as_clone_records(const struct as_clone_assembly *a)
{
    return a->counter && a->clone->maker->wish.addresses_b;
}

/* ---- Walks ---------------------------------------------------------------------------------- */

/* A walk as it is found. */
struct address_walk {
    const struct as_clone_assembly *a;
    uint32_t loop;
    struct as_patch_step step[16];
    struct address_block block;
};

/* Returns true if instruction `step` is done before `insn` of `block`, in one iteration. */
static bool is_done_before(const struct address_walk *w, uint32_t step, uint32_t block,
                           uint32_t insn)
{
    const struct assay_block *b = &w->a->p->block[block];
    if (step - b->first_insn < b->insns)
        return step < insn;
    const uint32_t from =
        as_patch_block_at(w->a->clone->area->code, w->a->p->code.insn[step].address);
    return as_patch_dominates(w->a->p, from, block);
}

/* Adds the step of a register in an iteration; `before`: that of instructions before `i`. */
static bool add_step(const struct address_walk *w, unsigned reg, uint32_t block, uint32_t i,
                     int64_t times, int64_t *before, int64_t *sum)
{
    if (reg >= 16)
        return true;
    const struct as_patch_step *step = &w->step[reg];
    if (!step->is_known)
        return false;
    *sum += times * step->by;
    if (step->insn != ASSAY_NONE && is_done_before(w, step->insn, block, i))
        *before += times * step->by;
    return true;
}

/* Adds the accesses of a block; false: some are not of a walk. */
static bool add_walked_block(struct address_walk *w, uint32_t block)
{
    const struct as_clone_assembly *a = w->a;
    const struct assay_block *b = &a->p->block[block];
    for (uint32_t i = b->first_insn; i < b->first_insn + b->insns; i++) {
        const struct assay_insn *insn = &a->p->code.insn[i];
        struct assay_memory memory[2];
        const int n = recorded_memory(a, insn, memory);
        for (int k = 0; k < n; k++) {
            int64_t before = 0, sum = 0;
            if (!is_recordable(a, insn, &memory[k]) ||
                !as_patch_in_every_iteration(a->p, w->loop, NULL, block) ||
                as_form_of(insn)->insn_class == ASSAY_CLASS_STRING ||
                !add_step(w, memory[k].base, block, i, 1, &before, &sum) ||
                !add_step(w, memory[k].index, block, i, memory[k].scale, &before, &sum) ||
                !add_operand(&w->block, insn, &memory[k], before, sum))
                return false;
        }
    }
    return true;
}

/* The accesses of the loop as a walk; false: it is none. */
static bool fill_walk(struct address_walk *w)
{
    const struct assay_program *p = w->a->p;
    const struct assay_loop *loop = &p->loop[w->loop];
    as_patch_steps_of(w->a->clone->area->code, NULL, w->loop, p->loop_block + loop->first_block,
                      loop->blocks, w->step);
    if (!add_walked_block(w, loop->header))
        return false;
    for (uint32_t k = 0; k < loop->blocks; k++) {
        const uint32_t block = p->loop_block[loop->first_block + k];
        if (block != loop->header && !add_walked_block(w, block))
            return false;
    }
    return w->block.operands > 0;
}

/* The block that all ways out of the loop begin in; ASSAY_NONE: there are several. */
static uint32_t only_exit(const struct assay_program *p, uint32_t loop)
{
    const struct assay_loop *l = &p->loop[loop];
    uint32_t exit = ASSAY_NONE;
    for (uint32_t k = 0; k < l->blocks; k++) {
        const uint32_t block = p->loop_block[l->first_block + k];
        const struct assay_block *b = &p->block[block];
        for (uint32_t e = b->first_succ; e < b->first_succ + b->succs; e++) {
            if (as_patch_holds(p, loop, p->succ[e].block) || exit == block)
                continue;
            if (exit != ASSAY_NONE)
                return ASSAY_NONE;
            exit = block;
        }
    }
    return exit;
}

/* The register that counts iterations, and how many it misses. False: there is none. */
static bool find_walk_count(const struct as_clone_assembly *a, struct as_clone_tally *t,
                            uint32_t *more)
{
    const struct assay_program *p = a->p;
    const uint32_t exit = only_exit(p, t->loop);
    for (unsigned i = 0; i < t->n; i++) {
        const uint32_t block = a->clone->area->block[t->block[i]];
        const bool is_header = block == p->loop[t->loop].header;
        t->walk_reg = t->reg[i];
        *more = !is_header && exit != ASSAY_NONE && !as_patch_dominates(p, block, exit);
        if (is_header ||
            (exit != ASSAY_NONE && as_patch_in_every_iteration(p, t->loop, NULL, exit) &&
             as_patch_in_every_iteration(p, t->loop, NULL, block)))
            return true;
    }
    return false;
}

int as_clone_walk_find(struct as_clone_assembly *a, struct as_clone_tally *t)
{
    struct address_walk w = {.a = a, .loop = t->loop};
    const struct address_place at = {.live = 0};
    unsigned scratch[2];
    uint32_t more;
    t->walk = ASSAY_NONE;
    if (!as_clone_records(a) || !find_walk_count(a, t, &more) || !fill_walk(&w) ||
        !choose_scratch(&w.block, &at, 2, scratch))
        return 0;
    AS_TRY(add_record(a, a->p->loop[t->loop].header, &w.block, true, &t->walk));
    a->clone->maker->addresses.record.at[t->walk].more = more;
    return 0;
}

int as_clone_walk_enter(struct as_clone_assembly *a, const struct as_clone_tally *t,
                        uint64_t address)
{
    struct address_walk w = {.a = a, .loop = t->loop};
    const struct address_place at = {
        .address = address, .live = as_live_at(a->clone->area->code, a->p->loop[t->loop].header)};
    if (t->walk == ASSAY_NONE)
        return 0;
    fill_walk(&w);
    return emit_address_record(a, &w.block, &at, t->walk, true);
}

/* rax is none of the registers that count. */
int as_clone_walk_leave(struct as_clone_assembly *a, const struct as_clone_tally *t,
                        uint64_t address)
{
    struct address_text text = {.depth_b = a->depth_b};
    if (t->walk == ASSAY_NONE)
        return 0;
    if (!t->pushed) {
        PUT_ATOM(&text, 0x48, 0x8d, 0x64, 0x24, 0x80); /* lea rsp,[rsp-128] */
        text.depth_b = (uint8_t)(text.depth_b + AS_CLONE_RED_ZONE_B);
    }
    emit_push_of(&text, REG_A);
    emit_gs_field(&text, 0x8b, REG_A, FIELD(open));
    emit_gs_store(&text, REG_A, 0, t->walk_reg);
    emit_pop_of(&text, REG_A);
    if (!t->pushed)
        PUT_ATOM(&text, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0); /* lea rsp,[rsp+128] */
    return emit_atoms(a, address, &text);
}

/* ---- Parts of blocks ------------------------------------------------------------------------ */

/* Changes of registers from an instruction on: by constants, and how often by something else. */
struct address_registers {
    int64_t by[16];
    uint32_t unknown[16];
};

static void note_changes(const struct assay_insn *insn, struct address_registers *r)
{
    struct assay_effects effects;
    assay_insn_effects(insn, &effects);
    for (unsigned reg = 0; reg < 16; reg++) {
        uint8_t width_b = 0;
        if (!(effects.written.word[0] >> reg & 1))
            continue;
        const int64_t by = as_patch_step_of(insn, reg, &width_b);
        if (by && width_b == 8)
            r->by[reg] += by;
        else
            r->unknown[reg]++;
    }
}

static bool ends_part(const struct assay_insn *insn)
{
    const unsigned class = as_form_of(insn)->insn_class;
    return class == ASSAY_CLASS_CALL || class == ASSAY_CLASS_SYSCALL;
}

/* Adds `times` the change of a register between the record and an access; false: not known. */
static bool add_change(const struct address_registers *at_access,
                       const struct address_registers *at_record, unsigned reg, int64_t times,
                       int64_t *offset)
{
    if (reg >= 16)
        return true;
    *offset += times * (at_access->by[reg] - at_record->by[reg]);
    return at_access->unknown[reg] == at_record->unknown[reg];
}

static bool is_count_known(const struct address_registers *at_access,
                           const struct address_registers *at_record)
{
    return at_access->unknown[1] == at_record->unknown[1] && at_access->by[1] == at_record->by[1];
}

/*
 * Fills `out` with the accesses from instruction `from` on, as a record before instruction `place`
 * sees their registers. Returns the instruction that the next part begins with, or the end of the
 * block. With `notes` accesses that no record can have are noted.
 */
static uint32_t fill_part(struct as_clone_assembly *a, uint32_t block, uint32_t from,
                          uint32_t place, bool notes, struct address_block *out, int *rc)
{
    const struct assay_block *b = &a->p->block[block];
    struct address_registers r = {.by = {0}}, at_record = {.by = {0}};
    out->words = out->operands = 0;
    for (uint32_t i = from; i < place; i++)
        note_changes(&a->p->code.insn[i], &at_record);
    for (uint32_t i = from; i < b->first_insn + b->insns; i++) {
        const struct assay_insn *insn = &a->p->code.insn[i];
        struct assay_memory memory[2];
        const int n = recorded_memory(a, insn, memory);
        for (int k = 0; k < n; k++) {
            int64_t offset = 0;
            if (!is_recordable(a, insn, &memory[k])) {
                *rc = notes ? note_missed(a, block, insn) : 0;
                continue;
            }
            if (!add_change(&r, &at_record, memory[k].base, 1, &offset) ||
                !add_change(&r, &at_record, memory[k].index, memory[k].scale, &offset) ||
                (is_repeated(insn) && !is_count_known(&r, &at_record)) ||
                out->operands + 2 > AS_ADDRESS_WORDS_MOST ||
                __builtin_popcount(named_registers(out)) > NAMED_MOST)
                return k == 0 ? i : i + 1;
            add_operand(out, insn, &memory[k], offset, 0);
        }
        if (ends_part(insn))
            return i + 1;
        note_changes(insn, &r);
    }
    return b->first_insn + b->insns;
}

/* Returns the place with most accesses in one record; of equal ones where flags are dead. */
static uint32_t best_place(struct as_clone_assembly *a, uint32_t block, uint32_t from)
{
    const struct assay_block *b = &a->p->block[block];
    const uint32_t end = b->first_insn + b->insns;
    uint32_t best = from, most = 0;
    bool best_keeps = true;
    for (uint32_t place = from; place < end && place - from < PLACES_MOST; place++) {
        struct address_block part;
        int rc = 0;
        const uint32_t next = fill_part(a, block, from, place, false, &part, &rc);
        const bool keeps = as_live_before(a->clone->area->code, block, place) & AS_LIVE_STATUS;
        if (next > place &&
            (part.operands > most || (part.operands == most && best_keeps && !keeps))) {
            best = place;
            most = part.operands;
            best_keeps = keeps;
        }
        if (ends_part(&a->p->code.insn[place]))
            break;
    }
    return best;
}

int as_clone_addresses_at(struct as_clone_assembly *a, uint32_t block, uint32_t i)
{
    const struct as_clone_tally *t = as_clone_tally_around(a, block);
    const bool has_cursor = t && t->cursor != AS_PATCH_NONE;
    struct address_block part;
    uint32_t number;
    int rc = 0;
    if (!as_clone_records(a) || (t && t->walk != ASSAY_NONE))
        return 0;
    if (i == a->next_record) {
        a->part_from = i;
        a->part_place = has_cursor ? best_place(a, block, i) : i;
    }
    if (i != a->part_place)
        return 0;
    a->next_record = fill_part(a, block, a->part_from, i, true, &part, &rc);
    a->part_place = ASSAY_NONE;
    if (rc < 0 || part.operands == 0)
        return rc;
    struct address_place at = {.address = a->p->code.insn[i].address,
                               .live = as_live_before(a->clone->area->code, block, i),
                               .is_lowered = t && as_clone_tally_pushes(t)};
    for (unsigned k = 0; t && k < t->n; k++)
        at.kept |= 1u << t->reg[k];
    at.kept |= has_cursor ? 1u << t->cursor : 0;
    AS_TRY(add_record(a, block, &part, false, &number));
    return has_cursor ? emit_cursor_record(a, &part, &at, t->cursor, number)
                      : emit_address_record(a, &part, &at, number, false);
}

void as_address_plan_fini(struct as_address_plan *plan)
{
    as_vec_fini(&plan->record);
    as_vec_fini(&plan->operand);
    as_vec_fini(&plan->missed);
}
