/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machine code of records of addresses in a counting clone (patch/address_plan.h). A record stands
 * in a block or at the entry of a walk. The cursor of an innermost loop stands in a register.
 */
#include "patch/address_code.h"

#include <assert.h>

enum { ATOMS_B = 2560, ATOMS_MOST = 256, TESTS_MOST = 8 };

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
static void emit_lea_of(struct address_text *t, unsigned reg, const struct as_address_word *w,
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

/* Cuts the text into parts. 0 or AS_ERR_NOMEM. */
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
                return AS_ERR_NOMEM;
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

uint32_t as_address_named_registers(const struct as_address_block *b)
{
    uint32_t named = 0;
    for (uint32_t w = 0; w < b->words; w++) {
        named |= b->word[w].base < 16 ? 1u << b->word[w].base : 0;
        named |= b->word[w].index < 16 ? 1u << b->word[w].index : 0;
    }
    return named;
}

/* Registers for the code of a record: not those of its words; such as nothing needs come first. */
bool as_address_choose_scratch(const struct as_address_block *b, const struct as_address_place *at,
                               unsigned wanted, unsigned scratch[2])
{
    const uint32_t taken = as_address_named_registers(b) | at->kept | 1u << AS_ADDRESS_REG_SP |
                           1u << AS_ADDRESS_REG_12;
    unsigned n = 0;
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned r = 0; r < 16 && n < wanted; r++)
            if (!(taken >> r & 1) && (at->live >> r & 1) == pass)
                scratch[n++] = r;
    return n == wanted;
}

static bool is_plain_word(const struct as_address_word *word)
{
    return !word->is_anchor && word->index == AS_PATCH_NONE && word->base != AS_ADDRESS_REG_SP;
}

/* ---- Samples of lines ----------------------------------------------------------------------- */

/* A test of the line at word + offset. It also stands for other operands before `end`, which is at
 * most a line later. */
struct sample_test {
    uint16_t word;
    bool is_span; /* accesses more than 8 bytes */
    int64_t offset, end;
};

static bool does_word_vary(const struct as_address_word *word, uint32_t varies)
{
    return !word->is_anchor && ((word->base < 16 && varies >> word->base & 1) ||
                                (word->index < 16 && varies >> word->index & 1));
}

/* Adds the test of an operand, or extends a test of the same line. Returns false without space. */
static bool add_sample_test(struct sample_test *test, unsigned *n,
                            const struct as_address_operand *o)
{
    const int64_t end = o->offset + o->width_b;
    if (o->width_b > AS_CLONE_LINE_B || o->offset != (int32_t)o->offset)
        return false;
    for (unsigned i = 0; i < *n; i++) {
        const int64_t low = test[i].offset < o->offset ? test[i].offset : o->offset;
        const int64_t high = test[i].end > end ? test[i].end : end;
        if (test[i].word != o->word || high - low > AS_CLONE_LINE_B)
            continue;
        test[i].offset = low;
        test[i].end = high;
        test[i].is_span = high - low > 8;
        return true;
    }
    if (*n == TESTS_MOST)
        return false;
    test[*n] = (struct sample_test){o->word, o->width_b > 8, o->offset, end};
    return ++*n;
}

/*
 * Lists the tests of a record, at most TESTS_MOST. Addresses that do not change are left out: they
 * are in the caches. Returns their number; 0 if the record cannot be sampled.
 */
static unsigned list_sample_tests(const struct as_address_block *b, uint32_t varies,
                                  struct sample_test *test)
{
    unsigned n = 0;
    for (unsigned pass = 0; pass < 2 && n == 0; pass++)
        for (uint32_t i = 0; i < b->operands; i++) {
            const struct as_address_operand *o = &b->operand[i];
            if (o->times != AS_ADDRESS_NONE)
                return 0;
            if (o->word != AS_ADDRESS_NONE &&
                (pass == 1 || does_word_vary(&b->word[o->word], varies)) &&
                !add_sample_test(test, &n, o))
                return 0;
        }
    return n;
}

bool as_address_can_sample(const struct as_address_block *b, const struct as_address_place *at)
{
    struct sample_test test[TESTS_MOST];
    unsigned scratch[2];
    return list_sample_tests(b, at->varies, test) > 0 &&
           as_address_choose_scratch(b, at, 2, scratch);
}

/* lea reg,[line of the test] */
static void emit_test_address(struct address_text *t, const struct as_address_block *b,
                              const struct sample_test *test, unsigned reg, uint32_t lowered_b)
{
    const struct as_address_word *word = &b->word[test->word];
    if (!word->is_anchor) {
        const int64_t lowered = word->base == AS_ADDRESS_REG_SP ? lowered_b : 0;
        emit_lea_of(t, reg, word, (uint32_t)(test->offset + lowered));
        return;
    }
    PUT_ATOM(t, (uint8_t)(0x48 | (reg >> 3) << 2), 0x8d, (uint8_t)(5 | (reg & 7) << 3), 0, 0, 0, 0);
    set_fix(t, AS_PATCH_TO_MODULE, word->anchor + (uint64_t)test->offset, 3);
}

/* Emits the tests of a sampled record. Returns the jump that passes over it if no line is in the
 * sample. */
static uint32_t emit_sample_tests(struct address_text *t, const struct as_address_block *b,
                                  const struct as_address_place *at, const unsigned scratch[2],
                                  uint32_t lowered_b)
{
    const unsigned reg = scratch[0], mask = scratch[1];
    struct sample_test test[TESTS_MOST];
    uint32_t found[TESTS_MOST];
    const unsigned n = list_sample_tests(b, at->varies, test);
    unsigned done = 0;
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0, loaded = 0; i < n; i++) {
            if (test[i].is_span != (pass == 1))
                continue;
            if (!loaded++)
                emit_gs_field(t, 0x8b, mask,
                              pass ? offsetof(struct as_patch_thread, span_sample)
                                   : offsetof(struct as_patch_thread, line_sample));
            emit_test_address(t, b, &test[i], reg, lowered_b);
            PUT_ATOM(t, (uint8_t)(0x48 | reg >> 3), 0xc1, (uint8_t)(0xe8 | (reg & 7)),
                     6); /* shr reg,6 */
            PUT_ATOM(t, (uint8_t)(0x48 | (reg >> 3) << 2 | mask >> 3), 0x0f, 0xa3,
                     (uint8_t)(0xc0 | (reg & 7) << 3 | (mask & 7))); /* bt mask,reg */
            found[done++] = emit_jump_ahead(t, 2);                   /* jc */
        }
    const uint32_t none = emit_jump_ahead(t, AS_CLONE_ALWAYS);
    while (done--)
        land_jump(t, found[done], t->n);
    return none;
}

/* inc qword gs:[counter of dropped records] */
static void emit_dropped(struct address_text *t, const struct as_address_place *at)
{
    if (!at->is_sampled)
        return;
    PUT_ATOM(t, 0x65, 0x48, 0xff, 0x04, 0x25, 0, 0, 0, 0);
    set_fix(t, AS_PATCH_TO_COUNTER, at->dropped, 5);
}

/* ---- The body of a record ------------------------------------------------------------------- */

/* The words, from `at` on in the record that `to` leads to. */
static void emit_words_of(struct address_text *t, const struct as_address_block *b, unsigned to,
                          unsigned other, uint32_t at, uint32_t lowered_b)
{
    for (uint32_t w = 0; w < b->words; w++, at += 8) {
        const struct as_address_word *word = &b->word[w];
        const bool is_plain = is_plain_word(word);
        if (word->is_anchor) {
            PUT_ATOM(t, (uint8_t)(0x48 | (other >> 3) << 2), 0x8d, (uint8_t)(5 | (other & 7) << 3),
                     0, 0, 0, 0);
            set_fix(t, AS_PATCH_TO_MODULE, word->anchor, 3);
        } else if (!is_plain)
            emit_lea_of(t, other, word, word->base == AS_ADDRESS_REG_SP ? lowered_b : 0);
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

static void emit_record_body(struct address_text *t, const struct as_address_block *b,
                             const struct as_address_place *at, const unsigned scratch[2],
                             uint32_t number, bool walks, uint32_t lowered_b)
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
        emit_lea_of(t, other,
                    &(struct as_address_word){.base = (uint8_t)to, .index = AS_PATCH_NONE}, 8);
        emit_gs_field(t, 0x89, other, FIELD(open));
    }
    emit_lea_of(t, to, &(struct as_address_word){.base = (uint8_t)to, .index = AS_PATCH_NONE},
                size_b);
    emit_gs_field(t, 0x89, to, FIELD(cursor));
    const uint32_t done = emit_jump_ahead(t, AS_CLONE_ALWAYS);
    land_jump(t, full, t->n);
    emit_full_buffer(t, again, &over);
    land_jump(t, over, t->n);
    emit_dropped(t, at);
    if (walks) { /* its iterations go where nothing reads them */
        emit_gs_field(t, 0x8b, to, FIELD(nowhere));
        emit_gs_field(t, 0x89, to, FIELD(open));
    }
    land_jump(t, done, t->n);
}

/* The code of a record of `b`. 0 or AS_ERR_NOMEM. */
int as_address_emit_record(struct as_clone_assembly *a, const struct as_address_block *b,
                           const struct as_address_place *at, uint32_t number, bool walks)
{
    struct address_text t = {.depth_b = a->depth_b};
    unsigned scratch[2], pushed = 0;
    const bool keep_flags = at->live & AS_LIVE_STATUS;
    if (!as_address_choose_scratch(b, at, 2, scratch)) {
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
    const uint32_t lowered_b = (uint32_t)(t.depth_b - a->depth_b);
    const uint32_t none =
        at->is_sampled ? emit_sample_tests(&t, b, at, scratch, lowered_b) : UINT32_MAX;
    emit_record_body(&t, b, at, scratch, number, walks, lowered_b);
    if (none != UINT32_MAX)
        land_jump(&t, none, t.n);
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
static void emit_cursor_words(struct address_text *t, const struct as_address_block *b,
                              const struct as_address_place *at, unsigned reg, unsigned other,
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
    emit_lea_of(t, reg, &(struct as_address_word){.base = (uint8_t)reg, .index = AS_PATCH_NONE},
                8 + 8 * b->words);
}

/* Emits what follows the tests of a record: it is written if there is space. */
static void emit_cursor_body(struct address_text *t, const struct as_address_block *b,
                             const struct as_address_place *at, unsigned reg, unsigned other,
                             uint32_t number, unsigned depth_b)
{
    const uint32_t start = t->n;
    emit_gs_field(t, 0x3b, reg, FIELD(limit));                                  /* cmp reg,limit */
    const uint32_t records = emit_jump_ahead(t, 2);                             /* jb */
    PUT_ATOM(t, (uint8_t)(0x48 | reg >> 3), 0xff, (uint8_t)(0xc0 | (reg & 7))); /* inc reg */
    const uint32_t full = emit_jump_ahead(t, 9);                                /* jns */
    const uint32_t lost = t->n;
    emit_dropped(t, at);
    const uint32_t off = emit_jump_ahead(t, AS_CLONE_ALWAYS);
    land_jump(t, full, t->n);                    /* or off for long: then it is 0 now */
    const uint32_t look = emit_jump_ahead(t, 4); /* jz */
    PUT_ATOM(t, (uint8_t)(0x48 | reg >> 3), 0xff, (uint8_t)(0xc8 | (reg & 7))); /* dec reg */
    emit_gs_field(t, 0x89, reg, FIELD(cursor));
    land_jump(t, look, t->n);
    const uint32_t loaded = emit_cursor_load(t, reg);
    land_jump(t, loaded, start);
    land_jump(t, emit_jump_ahead(t, AS_CLONE_ALWAYS), lost);
    land_jump(t, records, t->n);
    emit_cursor_words(t, b, at, reg, other, number, depth_b);
    land_jump(t, off, t->n);
}

/* Pushes the live ones of two scratch registers, after the flags. */
static void emit_push_scratch(struct address_text *t, const unsigned scratch[2], uint32_t live)
{
    for (unsigned i = 0; i < 2; i++)
        if (live >> scratch[i] & 1)
            emit_push_of(t, scratch[i]);
}

static void emit_pop_scratch(struct address_text *t, const unsigned scratch[2], uint32_t live)
{
    for (unsigned i = 2; i-- > 0;)
        if (live >> scratch[i] & 1)
            emit_pop_of(t, scratch[i]);
}

/* Emits a sampled record: tests of its lines, with two registers that hold for its body too. */
static void emit_sampled_record(struct address_text *t, const struct as_address_block *b,
                                const struct as_address_place *at, unsigned reg, uint32_t number,
                                unsigned depth_b)
{
    struct as_address_place inner = *at;
    unsigned scratch[2];
    const bool chosen = as_address_choose_scratch(b, at, 2, scratch);
    const bool pushes = chosen && (at->live >> scratch[0] & 1 || at->live >> scratch[1] & 1);
    const bool lowers = pushes && !at->is_lowered && t->depth_b == depth_b;
    assert(chosen);
    emit_lower_stack(t, lowers);
    emit_push_scratch(t, scratch, at->live);
    inner.live &= ~(1u << scratch[0] | 1u << scratch[1]);
    const uint32_t none = emit_sample_tests(t, b, at, scratch, t->depth_b - depth_b);
    emit_cursor_body(t, b, &inner, reg, scratch[0], number, depth_b);
    land_jump(t, none, t->n);
    emit_pop_scratch(t, scratch, at->live);
    emit_raise_stack(t, lowers);
}

/* The code of a record of `b`, with its cursor in `reg`. 0 or AS_ERR_NOMEM. */
int as_address_emit_cursor_record(struct as_clone_assembly *a, const struct as_address_block *b,
                                  const struct as_address_place *at, unsigned reg, uint32_t number)
{
    struct address_text t = {.depth_b = a->depth_b};
    const bool keep_flags = at->live & AS_LIVE_STATUS, lowers = keep_flags && !at->is_lowered;
    unsigned other[2] = {AS_PATCH_NONE};
    bool all_plain = true;
    for (uint32_t w = 0; w < b->words; w++)
        all_plain &= is_plain_word(&b->word[w]);
    if (!at->is_sampled && !all_plain && !as_address_choose_scratch(b, at, 1, other)) {
        a->refusal = AS_PATCH_REFUSED_OPERAND;
        return 0;
    }
    emit_lower_stack(&t, lowers);
    emit_push_flags(&t, keep_flags);
    if (at->is_sampled)
        emit_sampled_record(&t, b, at, reg, number, a->depth_b);
    else
        emit_cursor_body(&t, b, at, reg, other[0], number, a->depth_b);
    emit_pop_flags(&t, keep_flags);
    emit_raise_stack(&t, lowers);
    return emit_atoms(a, at->address, &t);
}

/* ---- Walks ---------------------------------------------------------------------------------- */

/* rax is none of the registers that count. */
int as_clone_walk_leave(struct as_clone_assembly *a, const struct as_clone_tally *t,
                        uint64_t address)
{
    struct address_text text = {.depth_b = a->depth_b};
    if (t->walk == AS_NONE)
        return 0;
    if (!t->pushed) {
        PUT_ATOM(&text, 0x48, 0x8d, 0x64, 0x24, 0x80); /* lea rsp,[rsp-128] */
        text.depth_b = (uint8_t)(text.depth_b + AS_CLONE_RED_ZONE_B);
    }
    emit_push_of(&text, AS_ADDRESS_REG_A);
    emit_gs_field(&text, 0x8b, AS_ADDRESS_REG_A, FIELD(open));
    emit_gs_store(&text, AS_ADDRESS_REG_A, 0, t->walk_reg);
    emit_pop_of(&text, AS_ADDRESS_REG_A);
    if (!t->pushed)
        PUT_ATOM(&text, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0); /* lea rsp,[rsp+128] */
    return emit_atoms(a, address, &text);
}
