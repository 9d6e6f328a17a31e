/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds forms with vector operands and forms with register operands alone. A candidate is written
 * as text, encoded and decoded, so the instruction set has every form found. Each process searches
 * a form once.
 */
#include "isa/packed.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "isa/encode.h"
#include "isa/form.h"
#include "isa/internal.h"
#include "isa/packed_table.h"

enum { TIMES = 7, TEXT_B = 128 }; /* factors 1, 2, 4 ... 64 */

/* Relation of the operands of the new form to those of the old form. */
enum shape {
    SHAPE_SAME,
    SHAPE_DOUBLED, /* the destination is also the first source */
    SHAPE_DROPPED, /* the first source is gone: it gave the elements that were not computed */
    SHAPES
};

/* Contents of an entry: 0 = not searched yet, NONE, or form << 8 | shape << 4 | FOUND. Entries need
 * no order: each is one word, and every thread finds the same. */
enum { NONE = 1, FOUND = 2 };
static _Atomic uint32_t packed_form[TIMES][AS_FORMS_MOST];
static _Atomic uint32_t register_form[AS_FORMS_MOST];

/* ---- Widths --------------------------------------------------------------------------------- */

static bool in_vector_file(const struct as_operand *o)
{
    return o->kind == AS_OPERAND_REG && o->file >= AS_FILE_XMM && o->file <= AS_FILE_ZMM;
}

bool as_form_is_vector(const struct as_form *form)
{
    for (unsigned i = 0; i < form->operands; i++)
        if (form->operand[i].kind == AS_OPERAND_REG &&
            ((form->operand[i].file >= AS_FILE_MMX && form->operand[i].file <= AS_FILE_ZMM) ||
             form->operand[i].file == AS_FILE_X87))
            return true;
    return form->traits & AS_TRAIT_X87;
}

static unsigned file_width(unsigned file)
{
    return file == AS_FILE_ZMM ? 64 : file == AS_FILE_YMM ? 32 : 16;
}

/* Returns the data bytes of operand `i`. Those of a scalar instruction are the bytes of its
 * element. */
static unsigned operand_width(const struct as_form *form, unsigned i)
{
    const struct as_operand *o = &form->operand[i];

    if (form->traits & AS_TRAIT_PACKED || !as_form_is_vector(form))
        return in_vector_file(o) ? file_width(o->file) : o->width_b;
    if (o->kind == AS_OPERAND_MEM || !in_vector_file(o))
        return o->width_b;
    if (i && form->insn_class == AS_CLASS_CONVERT && form->source_element_b)
        return form->source_element_b;
    return o->element_b ? o->element_b : form->element_b ? form->element_b : o->width_b;
}

unsigned as_insn_width(const struct as_form *form)
{
    unsigned width = 0;

    for (unsigned i = 0; i < form->operands; i++) {
        const struct as_operand *o = &form->operand[i];
        const bool data = o->kind == AS_OPERAND_REG || o->kind == AS_OPERAND_MEM;
        const unsigned own = data && o->file != AS_FILE_MASK ? operand_width(form, i) : 0;

        if (own > width && own <= 64)
            width = own;
    }
    return width;
}

int as_form_addend(const struct as_form *form)
{
    const char *digits = form->insn_class == AS_CLASS_FMA ? strpbrk(form->mnemonic, "123") : NULL;

    if (!digits || strlen(digits) < 3)
        return -1;
    return digits[2] - '1'; /* the third digit names the addend: 231 = the first operand */
}

/* ---- Text ----------------------------------------------------------------------------------- */

static const char *row_name(const struct as_packed_row *row, unsigned element_b, bool wide)
{
    const unsigned at = element_b ? (unsigned)__builtin_ctz(element_b) : 3;
    const char *name = at < 4 ? row->by_element[at] : NULL;

    return name && wide && row->wide ? row->wide : name;
}

/* Writes the mnemonic for vectors to `out`. Returns false if there is none. */
static bool packed_name(const struct as_form *form, bool wide, char *out, size_t out_b)
{
    const char *m = form->mnemonic;
    const size_t n = strlen(m);
    unsigned element_b = form->element_b;

    if (!as_form_is_vector(form) || element_b > 8)
        element_b = form->operand[0].width_b > 8 ? 8 : form->operand[0].width_b;
    for (size_t i = 0; i < as_packed_row_n; i++)
        if (strcmp(as_packed_row[i].mnemonic, m) == 0) {
            const char *name = row_name(&as_packed_row[i], element_b, wide);
            snprintf(out, out_b, "%s", name ? name : "");
            return name != NULL;
        }
    if (!as_form_is_vector(form) || n + 2 > out_b)
        return false;
    snprintf(out, out_b, "%s%s", m[0] == 'v' ? "" : "v", m);
    const size_t end = strlen(out);
    if (form->traits & AS_TRAIT_SCALAR && end > 2 && out[end - 2] == 's')
        out[end - 2] = 'p';
    return true;
}

struct asm_line {
    char text[TEXT_B];
    size_t n;
};

static void add_word(struct asm_line *line, const char *word)
{
    const int n = snprintf(line->text + line->n, TEXT_B - line->n, "%s", word);

    line->n += n > 0 && line->n + (size_t)n < TEXT_B ? (size_t)n : 0;
}

static bool add_vector(struct asm_line *line, unsigned width_b, unsigned number)
{
    char word[16];

    if (width_b > 64)
        return false;
    snprintf(word, sizeof word, "%cmm%u", width_b > 32 ? 'z' : width_b > 16 ? 'y' : 'x', number);
    add_word(line, word);
    return true;
}

static bool add_packed_operand(struct asm_line *line, const struct as_form *form, unsigned i,
                               unsigned times)
{
    const struct as_operand *o = &form->operand[i];
    const unsigned width_b = operand_width(form, i) * times;
    char word[24];

    switch (o->kind) {
    case AS_OPERAND_REG:
        if (!in_vector_file(o) && !(o->file >= AS_FILE_GPR8 && o->file <= AS_FILE_GPR64))
            return false;
        return add_vector(line, width_b, i + 1);
    case AS_OPERAND_MEM:
        snprintf(word, sizeof word, "m%u[rdi]", 8 * width_b);
        add_word(line, word);
        return width_b <= 64 && !(form->traits & AS_TRAIT_BROADCAST);
    case AS_OPERAND_IMM:
        if (!as_form_is_vector(form))
            return add_vector(line, operand_width(form, 0) * times, i + 1); /* a vector of it */
        add_word(line, "1");
        return true;
    default:
        return false;
    }
}

static bool packed_text(const struct as_form *form, unsigned times, enum shape shape,
                        struct asm_line *line)
{
    const bool wide = as_insn_width(form) * times > 32;
    char name[40];

    *line = (struct asm_line){.n = 0};
    if (!packed_name(form, wide, name, sizeof name))
        return false;
    add_word(line, name);
    for (unsigned i = 0; i < form->operands; i++) {
        if (shape == SHAPE_DROPPED && i == 1)
            continue;
        add_word(line, i ? "," : " ");
        if (!add_packed_operand(line, form, i, times))
            return false;
        if (i == 0 && shape == SHAPE_DOUBLED) {
            add_word(line, ",");
            add_packed_operand(line, form, 0, times);
        }
    }
    return true;
}

/* ---- Search --------------------------------------------------------------------------------- */

static bool record_of(const char *text, struct as_insn *out)
{
    uint8_t bytes[AS_ENCODE_B];
    const size_t length = as_encode_text(text, bytes);
    struct as_decoded decoded = {0};

    if (!length || as_reference_decode(bytes, length, 0, false, &decoded) < 0)
        return false;
    *out = decoded.insn;
    return out->form != AS_FORM_INVALID;
}

static uint32_t look_for_packed(const struct as_form *form, unsigned times)
{
    struct as_insn found;
    struct asm_line line;

    if (form->traits & (AS_TRAIT_MASKED | AS_TRAIT_X87 | AS_TRAIT_LOCK | AS_TRAIT_REP) ||
        !form->operands)
        return NONE;
    for (unsigned shape = 0; shape < SHAPES; shape++)
        if (packed_text(form, times, (enum shape)shape, &line) && record_of(line.text, &found))
            return (uint32_t)found.form << 8 | shape << 4 | FOUND;
    return NONE;
}

bool as_insn_packed(const struct as_insn *insn, unsigned times, struct as_insn *out)
{
    if (!times || times & (times - 1) || times > 64)
        return false;
    _Atomic uint32_t *known = &packed_form[__builtin_ctz(times)][insn->form];
    uint32_t entry = atomic_load_explicit(known, memory_order_relaxed);

    if (!entry) {
        entry = look_for_packed(as_form_get(insn->form), times);
        atomic_store_explicit(known, entry, memory_order_release);
    }
    if (entry == NONE)
        return false;
    const unsigned shape = entry >> 4 & 15;
    *out = *insn;
    out->form = (uint16_t)(entry >> 8);
    out->bits &= (uint8_t)~AS_INSN_IMM64;
    if (shape == SHAPE_DOUBLED) {
        memmove(out->reg + 1, insn->reg, 3);
    } else if (shape == SHAPE_DROPPED) {
        memmove(out->reg + 1, insn->reg + 2, 2);
        out->reg[3] = AS_REG_NONE;
    }
    return true;
}

/* Adds a register of the memory operand's width, in the file of the other operands. */
static bool add_register_operand(struct asm_line *line, const struct as_form *form, unsigned i)
{
    static const char *const general[] = {"bl", "bx", "ebx", "rbx"};
    const struct as_operand *o = &form->operand[i];
    const unsigned width_b = o->width_b;

    if (o->kind == AS_OPERAND_IMM) {
        add_word(line, "1");
        return true;
    }
    if (in_vector_file(o))
        return add_vector(line, file_width(o->file), i + 1);
    if (o->kind == AS_OPERAND_MEM && as_form_is_vector(form))
        return add_vector(line, width_b, i + 1);
    if (width_b > 8 || !width_b || width_b & (width_b - 1) ||
        (o->kind != AS_OPERAND_MEM && !(o->file >= AS_FILE_GPR8 && o->file <= AS_FILE_GPR64)))
        return false;
    add_word(line, general[__builtin_ctz(width_b)]);
    return true;
}

static uint32_t look_for_registers(const struct as_form *form)
{
    struct as_insn found;
    struct asm_line line = {.n = 0};

    if (form->traits & (AS_TRAIT_MASKED | AS_TRAIT_BROADCAST | AS_TRAIT_LOCK))
        return NONE;
    add_word(&line, form->mnemonic);
    for (unsigned i = 0; i < form->operands; i++) {
        add_word(&line, i ? "," : " ");
        if (!add_register_operand(&line, form, i))
            return NONE;
    }
    return record_of(line.text, &found) ? (uint32_t)found.form << 8 | FOUND : NONE;
}

bool as_insn_registers(const struct as_insn *insn, uint8_t reg, struct as_insn *out)
{
    const struct as_form *form = as_form_get(insn->form);
    uint32_t entry = atomic_load_explicit(&register_form[insn->form], memory_order_relaxed);

    if (!entry) {
        entry = look_for_registers(form);
        atomic_store_explicit(&register_form[insn->form], entry, memory_order_release);
    }
    if (entry == NONE)
        return false;
    const struct as_form *other = as_form_get((uint16_t)(entry >> 8));
    *out = *insn;
    out->form = (uint16_t)(entry >> 8);
    out->bits &= (uint8_t) ~(AS_INSN_MEM | AS_INSN_STACKMEM | AS_INSN_IDIOM);
    out->base = out->index = out->segment = AS_REG_NONE;
    for (unsigned i = 0; i < other->operands; i++)
        if (other->operand[i].kind == AS_OPERAND_REG)
            out->reg[other->operand[i].slot] =
                form->operand[i].kind == AS_OPERAND_REG ? insn->reg[form->operand[i].slot] : reg;
    return true;
}

/* ---- Parts ---------------------------------------------------------------------------------- */

bool as_insn_part(enum as_part part, unsigned element_b, unsigned width_b, struct as_insn *out)
{
    enum { ROWS_MOST = 64 };
    static struct as_insn record[ROWS_MOST];
    /* The element of `record` is written and never changes. */
    static _Atomic uint8_t is_there[ROWS_MOST];
    static atomic_flag writing = ATOMIC_FLAG_INIT;

    for (size_t i = 0; i < as_part_row_n && i < ROWS_MOST; i++) {
        const struct as_part_row *row = &as_part_row[i];

        if (row->part != part || row->element_b != element_b || row->width_b != width_b)
            continue;
        if (atomic_load_explicit(&is_there[i], memory_order_acquire)) {
            *out = record[i];
            return true;
        }
        if (!record_of(row->text, out))
            return false;
        if (!atomic_flag_test_and_set_explicit(&writing, memory_order_acquire)) {
            if (!atomic_load_explicit(&is_there[i], memory_order_relaxed))
                record[i] = *out;
            atomic_store_explicit(&is_there[i], 1, memory_order_release);
            atomic_flag_clear_explicit(&writing, memory_order_release);
        } /* another thread writes the same record */
        return true;
    }
    return false;
}
