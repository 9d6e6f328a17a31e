/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds forms by decoding every opcode of every map in the legacy, VEX and EVEX encodings. Operands
 * are registers, memory and indexed memory. New forms are kept.
 */
#include "measure/forms.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum { FORMS_MOST = 1 << 16 };

/* ---- Variants -------------------------------------------------------------------------------- */

static unsigned lea_parts(const struct as_insn *insn)
{
    return (insn->base != AS_REG_NONE ? 1u : 0) | (insn->index != AS_REG_NONE ? 2u : 0) |
           (insn->scale > 1 ? 4u : 0) | (insn->disp || insn->wrap ? 8u : 0);
}

/* Returns the variant, 0 to 31: 0 plain, 1 indexed, 2 idiom of equal registers, 16 and above for
 * parts of lea. */
static unsigned variant_of(const struct as_insn *insn, const struct as_form *form)
{
    if (form->insn_class == AS_CLASS_LEA)
        return 16 + (insn->base == AS_REG_IP ? 8 : lea_parts(insn));
    if (insn->bits & AS_INSN_MEM && insn->index != AS_REG_NONE)
        return 1;
    return insn->bits & AS_INSN_IDIOM ? 2 : 0;
}

/* ---- Collection ---------------------------------------------------------------------------- */

int as_forms_init(struct as_form_list *list)
{
    *list = (struct as_form_list){0};
    list->seen = as_calloc(FORMS_MOST, sizeof *list->seen);
    return list->seen ? 0 : AS_ERR_NOMEM;
}

void as_forms_fini(struct as_form_list *list)
{
    as_vec_fini(&list->cases);
    as_free(list->seen);
    list->seen = NULL;
}

static int add_form_case(struct as_form_list *list, const struct as_insn *insn,
                         const uint8_t *bytes)
{
    const struct as_form *form = as_form_get(insn->form);
    const uint32_t bit = 1u << variant_of(insn, form);
    struct as_form_case one = {.n = insn->length, .insn = *insn};

    if (insn->bits & AS_INSN_INVALID || list->seen[insn->form] & bit)
        return 0;
    list->seen[insn->form] |= bit;
    one.insn.address = 0;
    memcpy(one.bytes, bytes, insn->length);
    as_uarch_key(insn, one.key, sizeof one.key);
    /* Forms that differ in something without a key (a RIP-relative operand) are one line. */
    as_vec_foreach (&list->cases, there)
        if (strcmp(there->key, one.key) == 0)
            return 0;
    return as_vec_push(&list->cases, one);
}

int as_forms_of_code(struct as_form_list *list, const uint8_t *bytes, size_t size_b)
{
    struct as_code code;
    struct as_error err;
    int rc = as_decode(bytes, size_b, 0, &code, &err);

    for (size_t i = 0; i < code.n && rc == 0; i++)
        rc = add_form_case(list, &code.insn[i], bytes + code.insn[i].address);
    as_code_free(&code);
    return rc;
}

/* ---- Every opcode ---------------------------------------------------------------------------- */

/* A buffer of instructions, so that thousands are decoded at once. */
struct opcode_row {
    struct as_form_list *list;
    uint8_t bytes[1 << 16];
    size_t n;
    int rc;
};

/* Decodes the buffer. Each instruction is followed by a possible immediate and by nops. */
static void decode_row(struct opcode_row *row)
{
    struct as_code code;
    struct as_error err;

    for (size_t at = 0; at + 15 <= row->n && row->rc == 0; at += 32) {
        row->rc = as_decode(row->bytes + at, 15, 0, &code, &err);
        if (row->rc == 0 && code.n)
            row->rc = add_form_case(row->list, &code.insn[0], row->bytes + at);
        if (row->rc == 0)
            as_code_free(&code);
    }
    row->n = 0;
}

static void add_opcode(struct opcode_row *row, const uint8_t *bytes, size_t n)
{
    uint8_t *to = row->bytes + row->n;

    memset(to, 3, 32); /* immediates: 3 is valid as shift, rotation and selection */
    memcpy(to, bytes, n);
    row->n += 32;
    if (row->n + 32 > sizeof row->bytes)
        decode_row(row);
}

/* Encodes ModRM and SIB: two registers, one register twice, [rbx], [rbx + r10 * 8]. */
static size_t encode_modrm(uint8_t *to, unsigned reg, unsigned way)
{
    switch (way) {
    case 0:
        to[0] = (uint8_t)(0xc0 | reg << 3 | ((reg + 1) & 7));
        return 1;
    case 1:
        to[0] = (uint8_t)(0xc0 | reg << 3 | reg);
        return 1;
    case 2:
        to[0] = (uint8_t)(reg << 3 | 3);
        return 1;
    default:
        to[0] = (uint8_t)(reg << 3 | 4);
        to[1] = 0xd3; /* index 2 with bit 10 of the prefix; base rbx; scale 8 */
        return 2;
    }
}

static void legacy_opcodes(struct opcode_row *row, unsigned map, uint8_t prefix, unsigned wide)
{
    static const uint8_t escape[4][2] = {{0}, {0x0f}, {0x0f, 0x38}, {0x0f, 0x3a}};
    static const uint8_t escape_n[] = {0, 1, 2, 2};

    for (unsigned opcode = 0; opcode < 256; opcode++)
        for (unsigned reg = 0; reg < 8; reg++)
            for (unsigned way = 0; way < 4; way++) {
                uint8_t b[16];
                size_t n = 0;
                if (prefix)
                    b[n++] = prefix;
                if (wide || way == 3)
                    b[n++] = (uint8_t)(0x40 | wide << 3 | (way == 3 ? 2 : 0));
                memcpy(b + n, escape[map], escape_n[map]);
                n += escape_n[map];
                b[n++] = (uint8_t)opcode;
                n += encode_modrm(b + n, reg, way);
                add_opcode(row, b, n);
            }
}

/* `behind` is the register in vvvv, inverted; 15: none. */
static void vex_opcodes(struct opcode_row *row, unsigned map, unsigned pp, unsigned wide,
                        unsigned length)
{
    for (unsigned opcode = 0; opcode < 256; opcode++)
        for (unsigned reg = 0; reg < 8; reg++)
            for (unsigned way = 0; way < 4; way++)
                for (unsigned behind = 13; behind <= 15; behind += 2) {
                    uint8_t b[16] = {0xc4, (uint8_t)((way == 3 ? 0xa0 : 0xe0) | map),
                                     (uint8_t)(wide << 7 | behind << 3 | length << 2 | pp),
                                     (uint8_t)opcode};
                    add_opcode(row, b, 4 + encode_modrm(b + 4, reg, way));
                }
}

static void evex_opcodes(struct opcode_row *row, unsigned map, unsigned pp, unsigned wide,
                         unsigned length)
{
    for (unsigned opcode = 0; opcode < 256; opcode++)
        for (unsigned reg = 0; reg < 8; reg++)
            for (unsigned way = 0; way < 4; way++)
                for (unsigned behind = 13; behind <= 15; behind += 2) {
                    uint8_t b[16] = {0x62, (uint8_t)((way == 3 ? 0xb0 : 0xf0) | map),
                                     (uint8_t)(wide << 7 | behind << 3 | 4 | pp),
                                     (uint8_t)(length << 5 | 8), (uint8_t)opcode};
                    add_opcode(row, b, 5 + encode_modrm(b + 5, reg, way));
                }
}

/* EVEX gathers and scatters need a mask other than k0. */
static void add_gather_opcodes(struct opcode_row *row)
{
    static const uint8_t opcodes[] = {0x90, 0x91, 0x92, 0x93, 0xa0, 0xa1, 0xa2, 0xa3};

    for (size_t i = 0; i < sizeof opcodes; i++)
        for (unsigned wide = 0; wide < 2; wide++)
            for (unsigned length = 0; length < 3; length++) {
                uint8_t b[16] = {0x62, 0xb2, (uint8_t)(wide << 7 | 0x7d),
                                 (uint8_t)(length << 5 | 9), opcodes[i]};
                add_opcode(row, b, 5 + encode_modrm(b + 5, 0, 3));
            }
}

/* Adds address forms that encode_modrm does not make. */
static int add_addresses(struct as_form_list *list)
{
    static const char *const text[] = {
        "lea rax,m64[rbx]",       "lea rax,m64[rbx+8]",       "lea rax,m64[rbx+r10]",
        "lea rax,m64[rbx+r10+8]", "lea rax,m64[rbx+r10*8]",   "lea rax,m64[rbx+r10*8+8]",
        "lea rax,m64[r10*8]",     "lea rax,m64[r10*8+8]",     "lea rax,m64[rip+8]",
        "lea eax,m32[rbx+8]",     "lea eax,m32[rbx+r10]",     "lea eax,m32[rbx+r10+8]",
        "lea eax,m32[rbx+r10*8]", "lea eax,m32[rbx+r10*8+8]", "lea eax,m32[r10*8+8]"};
    int rc = 0;

    for (size_t i = 0; i < sizeof text / sizeof *text && rc == 0; i++) {
        uint8_t bytes[AS_ENCODE_B];
        const size_t n = as_encode_text(text[i], bytes);
        rc = n ? as_forms_of_code(list, bytes, n) : 0;
    }
    return rc;
}

int as_forms_of_decoder(struct as_form_list *list)
{
    static const uint8_t prefix[] = {0, 0x66, 0xf2, 0xf3};
    struct opcode_row *row = as_calloc(1, sizeof *row);

    if (!row)
        return AS_ERR_NOMEM;
    row->list = list;
    for (unsigned map = 0; map < 4; map++)
        for (unsigned i = 0; i < 4; i++)
            for (unsigned wide = 0; wide < 2; wide++)
                legacy_opcodes(row, map, prefix[i], wide);
    for (unsigned map = 1; map < 7; map++)
        for (unsigned i = 0; i < 24; i++) {
            const unsigned pp = i & 3, wide = i >> 2 & 1, length = i >> 3;
            if (map < 4 && length < 2)
                vex_opcodes(row, map, pp, wide, length);
            if (map != 4)
                evex_opcodes(row, map, pp, wide, length);
        }
    add_gather_opcodes(row);
    decode_row(row);
    const int rc = row->rc;
    as_free(row);
    return rc < 0 ? rc : add_addresses(list);
}

/* ---- Instances ------------------------------------------------------------------------------- */

static bool is_vector_file(unsigned file)
{
    return file == AS_FILE_XMM || file == AS_FILE_YMM || file == AS_FILE_ZMM;
}

static bool is_general_file(unsigned file)
{
    return file >= AS_FILE_GPR8 && file <= AS_FILE_GPR64;
}

/* Returns the registers that an instruction uses implicitly. */
static uint32_t implied(const struct as_form *form)
{
    const uint64_t used = form->implicit_read.word[0] | form->implicit_write.word[0];
    uint32_t mask = (uint32_t)(used & 0xffff);

    for (unsigned i = 0; i < form->operands; i++)
        if (form->operand[i].kind == AS_OPERAND_REG && form->operand[i].fixed &&
            form->operand[i].fixed <= 16)
            mask |= 1u << (form->operand[i].fixed - 1);
    return mask;
}

/* Lists the general registers that may be written. rbx and r10 are addresses, rsp is the stack, and
 * rbp and r11 to r15 are sources. */
static unsigned general_targets(uint32_t taken, uint8_t left[7])
{
    static const uint8_t pool[] = {0, 1, 2, 6, 7, 8, 9};
    unsigned n = 0;

    for (unsigned i = 0; i < 7; i++)
        if (!(taken >> pool[i] & 1))
            left[n++] = pool[i];
    return n;
}

static uint8_t general_target(uint32_t taken, unsigned number)
{
    uint8_t left[7];
    const unsigned n = general_targets(taken, left);

    return n ? left[number % n] : 0;
}

unsigned as_form_copies(const struct as_form_case *one)
{
    const struct as_form *form = as_form_get(one->insn.form);
    uint8_t left[7];

    for (unsigned i = 0; i < form->operands; i++) {
        const struct as_operand *o = &form->operand[i];
        if (o->kind != AS_OPERAND_REG || o->fixed || !(o->access & AS_ACCESS_WRITE))
            continue;
        if (is_general_file(o->file))
            return general_targets(implied(form), left);
        if (o->file == AS_FILE_MASK || o->file == AS_FILE_MMX)
            return 4;
    }
    return 8;
}

bool as_form_gathers(const struct as_form *form)
{
    return form->insn_class == AS_CLASS_GATHER || form->insn_class == AS_CLASS_SCATTER;
}

bool as_form_has_masks(const struct as_form *form)
{
    for (unsigned i = 0; i < form->operands; i++)
        if (form->operand[i].kind == AS_OPERAND_REG && form->operand[i].file == AS_FILE_MASK)
            return true;
    return false;
}

/* Encodes zero indices and a full mask, because gathers and scatters clear their mask. */
static size_t set_lanes(const struct as_form_case *one, uint8_t *out)
{
    const bool masked = strstr(one->key, "{k}") != NULL;
    const size_t n = as_encode_text("vpxor xmm10,xmm10,xmm10", out);
    const size_t more =
        as_encode_text(masked ? "kxnorw k1,k1,k1" : "vpcmpeqd ymm11,ymm11,ymm11", out + n);

    return n && more ? n + more : 0;
}

size_t as_form_breaker(const struct as_form_case *one, uint8_t out[4 * AS_ENCODE_B])
{
    static const char *const name[] = {"rax", "rcx", "rdx"}; /* registers that forms imply */
    const struct as_form *form = as_form_get(one->insn.form);
    const uint64_t both = form->implicit_read.word[0] & form->implicit_write.word[0];
    size_t at = 0;

    if (as_form_gathers(form))
        return set_lanes(one, out);
    for (unsigned reg = 0; reg < 3; reg++) {
        char text[32];
        if (!(both >> reg & 1) && !(reg == 2 && form->insn_class == AS_CLASS_DIV))
            continue;
        /* The upper half of the dividend is zero, so that the quotient fits. */
        if (reg == 2)
            snprintf(text, sizeof text, "xor edx,edx");
        else
            snprintf(text, sizeof text, "mov %s,rbp", name[reg]);
        at += as_encode_text(text, out + at);
    }
    return at;
}

static uint8_t target_of(const struct as_form *form, unsigned file, unsigned number)
{
    if (is_general_file(file))
        return general_target(implied(form), number);
    return (uint8_t)(file == AS_FILE_MASK  ? 1 + number % 4
                     : file == AS_FILE_MMX ? number % 4
                                           : number % 8);
}

static uint8_t source_of(unsigned file, unsigned nth)
{
    static const uint8_t general[] = {5, 11, 12, 13, 14};

    if (is_general_file(file))
        return general[nth % 5];
    return (uint8_t)(is_vector_file(file) ? 8 + nth : 5 + nth % 3);
}

/* Returns the bytes from the memory of one instance to that of the next. */
static int32_t memory_step(const struct as_form *form)
{
    int32_t step = 8;

    for (unsigned i = 0; i < form->operands; i++)
        while (form->operand[i].kind == AS_OPERAND_MEM && step < form->operand[i].width_b &&
               step < 64)
            step *= 2;
    return step;
}

/* Returns true for forms that change the x87 register stack. Copies leave it full or empty, and
 * each then takes an assist of more than 100 cycles. The assist is not a cost of the form. */
static bool needs_stack(const struct as_form *form)
{
    return form->traits & AS_TRAIT_X87 && form->insn_class != AS_CLASS_STATE;
}

size_t as_form_instance(const struct as_form_case *one, unsigned number, int chained,
                        uint8_t out[AS_ENCODE_B])
{
    const struct as_form *form = as_form_get(one->insn.form);
    const bool is_idiom = one->insn.bits & AS_INSN_IDIOM;
    struct as_encode_choice choice = {.base = 3, .index = 10};
    unsigned sources = 0;

    if (needs_stack(form))
        return 0;
    if (one->insn.base == AS_REG_IP)
        choice.base = AS_ENCODE_KEEP;
    choice.sets_disp = form->insn_class != AS_CLASS_LEA && one->insn.bits & AS_INSN_MEM;
    /* Kernels load below and store above, and overlapping accesses wait. Instances are consecutive
     * as in arrays: Golden Cove does two loads of one bank per cycle, but only one store of two
     * lines. */
    choice.disp = 1024 + memory_step(form) * (int32_t)(number & 15);
    for (unsigned i = 0; i < AS_OPERANDS_MAX; i++) {
        const struct as_operand *o = &form->operand[i];
        choice.reg[i] = AS_ENCODE_KEEP;
        if ((int)i == chained && o->kind == AS_OPERAND_ADDRESS) {
            uint8_t *to = one->insn.base != AS_REG_NONE ? &choice.base : &choice.index;
            *to = general_target(implied(form), 0);
        }
        if (i >= form->operands || o->kind != AS_OPERAND_REG || o->fixed)
            continue;
        if (!is_general_file(o->file) && !is_vector_file(o->file) && o->file != AS_FILE_MASK &&
            o->file != AS_FILE_MMX)
            continue;
        if (as_form_gathers(form) && i > 1 && o->access & AS_ACCESS_WRITE)
            choice.reg[i] = 11; /* a mask in a vector register */
        else if (o->access & AS_ACCESS_WRITE || is_idiom || (int)i == chained)
            choice.reg[i] = target_of(form, o->file, chained >= 0 ? 0 : number);
        else
            choice.reg[i] = source_of(o->file, sources++);
    }
    const size_t n = as_encode_again(one->bytes, one->n, &choice, out);
    if (!n && form->isa == AS_ISA_X87) { /* its operands are on a stack */
        memcpy(out, one->bytes, one->n);
        return one->n;
    }
    return n;
}
