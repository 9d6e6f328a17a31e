/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See check.h. Every state comes as a pair (a, b) of valid states. The base run starts from a. All
 * registers and flags not claimed as read are then taken from b at once: no other outcome may
 * change. If one does, they are tried one by one, to name the culprit. Registers claimed as read
 * are taken from b one at a time, until each was seen to matter.
 *
 * x87 registers are compared by their st() number. So an instruction that moves the top of the
 * stack writes and reads all of them. Legacy SSE keeps the bits above 128: that is checked and
 * needs no claim, for no CPU in use treats them as an input.
 */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "run.h"
#include "state.h"

enum { STATES_MIN = 18, STATES_MAX = 120, FLAG_N = 7 };

static const uint16_t flag_bit[FLAG_N] = {1, 4, 16, 64, 128, 1024, 2048};
static const char flag_name[FLAG_N + 1] = "CPAZSDO";

struct range {
    size_t start, end; /* in the scratch memory */
    bool known;
    uint8_t access;
};

struct check {
    const struct hx_case *c;
    const struct as_form *form;
    struct as_effects claim, claim_raw;
    struct as_memory memory[2];
    int memory_n;
    hx_finding_fn *finding;
    void *context;
    bool writes_only, ranges_known;
    struct hx_state a, b, out, run_in, run_out;
    uint8_t mem_a[HX_MEM_B], mem_b[HX_MEM_B], mem_out[HX_MEM_B], mem_in[HX_MEM_B];
    struct range range[2];
    /* Seen so far. */
    struct as_regset written, read, survived, reported;
    struct as_regset top_seen, top_not_zero;
    uint8_t flags_written, flags_read, flags_reported;
    bool mem_read[2], mem_written[2], mem_edge[2], mem_reported;
};

static void set_add(struct as_regset *s, unsigned reg)
{
    s->word[reg >> 6] |= UINT64_C(1) << (reg & 63);
}

__attribute__((format(printf, 3, 4))) static void report(struct check *k, enum hx_severity severity,
                                                         const char *fmt, ...)
{
    char text[160];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    k->finding(k->context, k->c, severity, text);
}

static const char *reg_text(unsigned reg)
{
    return as_reg_name(reg, reg < 16 ? 8 : reg < 48 ? 64 : 0);
}

/* ---- Views ---- */

/* The bytes of a register within a state; 0 when it is not in view. */
static size_t view(const struct hx_state *s, unsigned reg, const uint8_t **at)
{
    if (reg < AS_REG_VEC) {
        *at = (const uint8_t *)&s->gpr[reg];
        return 8;
    }
    if (reg < AS_REG_MASK) {
        *at = s->vec[reg - AS_REG_VEC];
        return reg - AS_REG_VEC < hx_vector_n() ? hx_vector_b() : 0;
    }
    if (reg < AS_REG_X87) {
        *at = (const uint8_t *)&s->mask[reg - AS_REG_MASK];
        return hx_vector_level() == HX_LEVEL_AVX512 ? 8 : 0;
    }
    if (reg < AS_REG_TILE) {
        *at = s->fx + HX_FX_ST + 16 * (reg - AS_REG_X87);
        return 10;
    }
    *at = s->fx + (reg == AS_REG_MXCSR ? HX_FX_MXCSR : reg == AS_REG_X87CW ? HX_FX_CW : HX_FX_SW);
    return reg == AS_REG_MXCSR ? 4 : reg == AS_REG_X87CW ? 2 : reg == AS_REG_X87SW ? 3 : 0;
}

static void take(struct hx_state *to, const struct hx_state *from, unsigned reg)
{
    const uint8_t *p, *q;
    const size_t n = view(from, reg, &p);
    if (n && reg != AS_REG_X87SW && view(to, reg, &q))
        memcpy((uint8_t *)to + (q - (const uint8_t *)to), p, n);
}

static bool is_legacy(const struct check *k)
{
    return !(k->form->traits & AS_TRAIT_VEX);
}

/* ---- Runs ---- */

static enum hx_outcome run(const struct hx_state *in, const uint8_t *memory, struct hx_state *out)
{
    memcpy(hx_memory(), memory, HX_MEM_B);
    return hx_run(in, out);
}

static void once(struct check *k, struct as_regset *done, unsigned reg, const char *fmt)
{
    if (as_regset_has(*done, reg))
        return;
    set_add(done, reg);
    char text[128];
    snprintf(text, sizeof text, fmt, reg_text(reg));
    k->finding(k->context, k->c, HX_WRONG, text);
}

/*
 * Returns whether the run from (run_in, mem_in) ended differently from the base run. Registers and
 * bytes that both only pass through do not count. Records the registers that survive in part.
 */
static bool differs_reg(struct check *k, unsigned reg)
{
    const uint8_t *ia, *oa, *ib, *ob;
    const size_t n = view(&k->a, reg, &ia);
    if (!n)
        return false;
    view(&k->out, reg, &oa);
    view(&k->run_in, reg, &ib);
    view(&k->run_out, reg, &ob);
    if (!memcmp(oa, ob, n))
        return false;
    const bool vector = reg >= AS_REG_VEC && reg < AS_REG_MASK;
    bool differs = false;
    for (size_t i = 0; i < n; i++) {
        if (oa[i] == ob[i] || (reg == AS_REG_MXCSR && !i && !((oa[0] ^ ob[0]) & 0xc0)))
            continue; /* sticky flags: see check_written */
        if (oa[i] == ia[i] && ob[i] == ib[i]) {
            if (!(vector && i >= 16 && is_legacy(k)) && reg < AS_REG_X87)
                set_add(&k->survived, reg);
        } else if (reg != AS_REG_X87SW || i < 2) {
            differs = true;
        }
    }
    return differs;
}

static bool differs(struct check *k)
{
    bool any = k->out.taken != k->run_out.taken;
    for (unsigned reg = 0; reg < AS_REG_TILE; reg++)
        any |= differs_reg(k, reg);
    for (unsigned reg = AS_REG_MXCSR; reg <= AS_REG_X87SW; reg++)
        any |= differs_reg(k, reg);
    for (unsigned f = 0; f < FLAG_N; f++) {
        const uint64_t bit = flag_bit[f], oa = k->out.flags & bit, ob = k->run_out.flags & bit;
        if (oa == ob || k->claim.flags_undefined >> f & 1)
            continue;
        if (oa != (k->a.flags & bit) || ob != (k->run_in.flags & bit))
            any = true;
        else if ((k->claim.flags_written & ~k->claim.flags_maybe & ~k->claim.flags_read) >> f & 1 &&
                 !(k->flags_reported >> f & 1)) {
            k->flags_reported |= (uint8_t)(1u << f);
            report(k, HX_WRONG, "leaves flag %cF as it was, claimed always written", flag_name[f]);
        }
    }
    const uint8_t *memory = hx_memory();
    if (memcmp(memory, k->mem_out, HX_MEM_B) != 0)
        for (size_t i = 0; i < HX_MEM_B; i++)
            any |= memory[i] != k->mem_out[i] &&
                   !(memory[i] == k->mem_in[i] && k->mem_out[i] == k->mem_a[i]);
    return any;
}

/* Runs from run_in and mem_in: true when the outcome is another than that of the base run. */
static bool matters(struct check *k)
{
    if (run(&k->run_in, k->mem_in, &k->run_out) != HX_DONE)
        return true;
    return differs(k);
}

/* ---- What is written ---- */

static unsigned written_width(const struct check *k, unsigned reg)
{
    unsigned widest = 0;
    for (unsigned i = 0; i < k->form->operands; i++) {
        const struct as_operand *o = &k->form->operand[i];
        if (o->kind != AS_OPERAND_REG || o->slot > 3)
            continue;
        if (k->c->insn.reg[o->slot] == reg && o->access & AS_ACCESS_WRITE)
            return o->width_b;
        if (o->width_b > widest)
            widest = o->width_b;
    }
    return widest;
}

/* Bits above the operand: notes whether they were seen to become zero. */
static void note_top(struct check *k, unsigned reg, const uint8_t *in, const uint8_t *out, size_t n)
{
    size_t width = written_width(k, reg);
    const bool general = reg < 16;
    if (reg >= AS_REG_MASK || (general && width != 4))
        width = general && as_regset_has(k->claim.cleared, reg) ? 4 : n;
    if (!general && width < 16)
        width = 16;
    bool was = false, is = false;
    for (size_t i = width; i < n; i++) {
        was |= in[i] != 0;
        is |= out[i] != 0;
    }
    if (was)
        set_add(&k->top_seen, reg);
    if (is)
        set_add(&k->top_not_zero, reg);
}

static void check_written(struct check *k)
{
    for (unsigned reg = 0; reg < AS_REG_COUNT; reg++) {
        const uint8_t *in, *out;
        const size_t n = view(&k->a, reg, &in);
        if (!n)
            continue;
        view(&k->out, reg, &out);
        if (as_regset_has(k->claim.written, reg))
            note_top(k, reg, in, out, n);
        if (!memcmp(in, out, n) || (reg == AS_REG_MXCSR && !((in[0] ^ out[0]) & 0xc0) &&
                                    in[1] == out[1])) /* all but the sticky flags the same */
            continue;
        set_add(&k->written, reg);
        if (!as_regset_has(k->claim.written, reg))
            once(k, &k->reported, reg, "writes %s, not claimed");
        if (reg >= AS_REG_VEC && reg < AS_REG_MASK && is_legacy(k) && n > 16 &&
            memcmp(in + 16, out + 16, n - 16) != 0)
            once(k, &k->reported, reg, "legacy encoding touches %s above bit 127");
    }
    for (unsigned f = 0; f < FLAG_N; f++) {
        if (!((k->a.flags ^ k->out.flags) & flag_bit[f]))
            continue;
        k->flags_written |= (uint8_t)(1u << f);
        if (!((k->claim.flags_written | k->flags_reported) >> f & 1)) {
            k->flags_reported |= (uint8_t)(1u << f);
            report(k, HX_WRONG, "writes flag %cF, not claimed", flag_name[f]);
        }
    }
}

/* ---- Memory ---- */

/* bt [rbx], rbx: the bit offset cannot be kept within the operand. */
static bool is_far_bit(const struct check *k)
{
    const struct as_insn *insn = &k->c->insn;
    return k->form->insn_class == AS_CLASS_BIT && k->form->mnemonic[1] == 't' &&
           insn->bits & AS_INSN_MEM && (insn->reg[0] == insn->base || insn->reg[0] == insn->index);
}

static void locate(struct check *k)
{
    k->ranges_known = true;
    for (int i = 0; i < k->memory_n; i++) {
        const struct as_memory *m = &k->memory[i];
        struct range *r = &k->range[i];
        *r = (struct range){.access = m->access};
        uint64_t at = (uint64_t)m->disp;
        if (!m->rip_relative && m->base < 16)
            at += k->a.gpr[m->base];
        if (m->index < 16)
            at += k->a.gpr[m->index] * m->scale;
        at -= (uintptr_t)hx_memory();
        r->known = m->width_b && !(k->form->traits & AS_TRAIT_REP) && !is_far_bit(k) &&
                   (m->index >= 16) <= (m->index == AS_REG_NONE) && at < HX_MEM_B &&
                   at + m->width_b <= HX_MEM_B;
        r->start = (size_t)at;
        r->end = r->start + m->width_b;
        k->ranges_known &= r->known;
    }
}

static bool in_ranges(const struct check *k, size_t at, unsigned access)
{
    for (int i = 0; i < k->memory_n; i++)
        if (k->range[i].access & access && at >= k->range[i].start && at < k->range[i].end)
            return true;
    return false;
}

static void check_memory_written(struct check *k)
{
    bool any = false;
    for (int i = 0; i < k->memory_n; i++)
        any |= (k->memory[i].access & AS_ACCESS_WRITE) != 0;
    for (size_t at = 0; at < HX_MEM_B; at++) {
        if (k->mem_a[at] == k->mem_out[at])
            continue;
        for (int i = 0; i < k->memory_n; i++) {
            const struct range *r = &k->range[i];
            k->mem_written[i] |= !r->known || (at >= r->start && at < r->end);
        }
        if (k->mem_reported || (any && !k->ranges_known) || in_ranges(k, at, AS_ACCESS_WRITE))
            continue;
        k->mem_reported = true;
        report(k, HX_WRONG, "writes memory at offset %ld from its first operand, not claimed",
               k->memory_n ? (long)at - (long)k->range[0].start : (long)at);
    }
}

static bool flip_memory(struct check *k, size_t start, size_t end)
{
    memcpy(&k->run_in, &k->a, sizeof k->a);
    memcpy(k->mem_in, k->mem_a, HX_MEM_B);
    for (size_t i = start; i < end; i++)
        k->mem_in[i] = k->mem_b[i] == k->mem_a[i] ? k->mem_b[i] ^ 0x55 : k->mem_b[i];
    return matters(k);
}

static bool is_image(const struct check *k)
{
    return strstr(k->form->mnemonic, "ldmxcsr") || strstr(k->form->mnemonic, "popf") ||
           strstr(k->form->mnemonic, "fldcw");
}

static void check_memory_read(struct check *k)
{
    for (int i = 0; i < k->memory_n; i++) {
        const struct range *r = &k->range[i];
        if (!(r->access & AS_ACCESS_READ))
            continue;
        if (!r->known || is_image(k)) {
            if (!k->mem_read[i]) {
                memcpy(&k->run_in, &k->a, sizeof k->a);
                memcpy(k->mem_in, k->mem_b, HX_MEM_B);
                k->mem_read[i] = matters(k);
            }
            continue;
        }
        if (!k->mem_read[i])
            k->mem_read[i] = flip_memory(k, r->start, r->end);
    }
    if (k->mem_reported || (k->memory_n && !k->ranges_known))
        return;
    memcpy(&k->run_in, &k->a, sizeof k->a);
    memcpy(k->mem_in, k->mem_b, HX_MEM_B);
    for (int i = 0; i < k->memory_n; i++)
        if (k->range[i].access & AS_ACCESS_READ)
            memcpy(k->mem_in + k->range[i].start, k->mem_a + k->range[i].start,
                   k->range[i].end - k->range[i].start);
    if (!matters(k))
        return;
    k->mem_reported = true;
    report(k, HX_WRONG, "reads memory, not claimed");
}

static void restart(struct check *k)
{
    memcpy(&k->run_in, &k->a, sizeof k->a);
    memcpy(k->mem_in, k->mem_a, HX_MEM_B);
}

/*
 * Checks the width of the access itself, used or not. With the operand's last byte at the end of
 * the scratch memory nothing faults. One byte further on, the guard page is hit.
 */
static bool edge_applies(const struct check *k, int i)
{
    const struct as_memory *m = &k->memory[i];
    const bool shared = k->memory_n == 2 && k->memory[0].base == k->memory[1].base;
    return k->range[i].known && m->base < 16 && m->base != m->index && !shared &&
           m->access & (AS_ACCESS_READ | AS_ACCESS_WRITE) && !k->writes_only;
}

static void check_edges(struct check *k)
{
    for (int i = 0; i < k->memory_n; i++) {
        if (!edge_applies(k, i) || k->mem_edge[i])
            continue;
        restart(k);
        k->run_in.gpr[k->memory[i].base] += HX_MEM_B - k->range[i].end;
        const enum hx_outcome inside = run(&k->run_in, k->mem_in, &k->run_out);
        if (inside == HX_SEGV && !k->mem_reported) {
            k->mem_reported = true;
            report(k, HX_WRONG, "accesses more than %u bytes of memory", k->memory[i].width_b);
        }
        k->run_in.gpr[k->memory[i].base]++;
        k->mem_edge[i] = inside == HX_DONE && run(&k->run_in, k->mem_in, &k->run_out) == HX_SEGV;
    }
}

/* ---- What is read ---- */

static void name_culprits(struct check *k)
{
    bool named = false;
    for (unsigned reg = 0; reg < AS_REG_X87SW; reg++) {
        const uint8_t *p;
        if (as_regset_has(k->claim.read, reg) || !view(&k->a, reg, &p))
            continue;
        restart(k);
        take(&k->run_in, &k->b, reg);
        if (!matters(k))
            continue;
        named = true;
        once(k, &k->reported, reg, "reads %s, not claimed");
    }
    for (unsigned f = 0; f < FLAG_N; f++) {
        restart(k);
        k->run_in.flags ^= flag_bit[f];
        if (k->claim.flags_read >> f & 1 || !matters(k))
            continue;
        named = true;
        if (!(k->flags_reported >> f & 1))
            report(k, HX_WRONG, "reads flag %cF, not claimed", flag_name[f]);
        k->flags_reported |= (uint8_t)(1u << f);
    }
    if (!named && !k->mem_reported) {
        k->mem_reported = true;
        report(k, HX_WRONG, "depends on several registers together, not claimed as read");
    }
}

static void check_unclaimed_reads(struct check *k)
{
    restart(k);
    for (unsigned reg = 0; reg < AS_REG_X87SW; reg++)
        if (!as_regset_has(k->claim.read, reg))
            take(&k->run_in, &k->b, reg);
    for (unsigned f = 0; f < FLAG_N; f++)
        if (!(k->claim.flags_read >> f & 1))
            k->run_in.flags ^= flag_bit[f];
    if (matters(k))
        name_culprits(k);
    for (unsigned reg = 0; reg < AS_REG_X87; reg++)
        if (as_regset_has(k->survived, reg) && as_regset_has(k->claim.written, reg) &&
            !as_regset_has(k->claim.read, reg))
            once(k, &k->reported, reg, "keeps part of %s, not claimed as read");
}

static void check_claimed_reads(struct check *k)
{
    for (unsigned reg = 0; reg < AS_REG_X87SW; reg++) {
        const bool want_read = as_regset_has(k->claim.read, reg) && !as_regset_has(k->read, reg);
        const bool want_merge =
            as_regset_has(k->claim.merged, reg) && !as_regset_has(k->survived, reg);
        if (!want_read && !want_merge)
            continue;
        restart(k);
        take(&k->run_in, &k->b, reg);
        if (matters(k) || (as_regset_has(k->survived, reg) && as_regset_has(k->written, reg)))
            set_add(&k->read, reg);
    }
    for (unsigned f = 0; f < FLAG_N; f++) {
        if (!(k->claim.flags_read >> f & 1) || k->flags_read >> f & 1)
            continue;
        restart(k);
        k->run_in.flags ^= flag_bit[f];
        if (matters(k))
            k->flags_read |= (uint8_t)(1u << f);
    }
}

/* ---- Verdicts ---- */

static bool in_view(const struct check *k, unsigned reg)
{
    const uint8_t *p;
    return view(&k->a, reg, &p) > 0;
}

static bool same_set(struct as_regset claim, struct as_regset seen, const struct check *k)
{
    for (unsigned reg = 0; reg < AS_REG_X87SW; reg++)
        if (as_regset_has(claim, reg) && !as_regset_has(seen, reg) && in_view(k, reg))
            return false;
    return true;
}

/* Has all that was claimed been seen? */
static bool is_complete(const struct check *k)
{
    for (int i = 0; i < k->memory_n; i++) {
        const unsigned access = k->memory[i].access;
        if (access & AS_ACCESS_READ && !k->mem_read[i])
            return false;
        if (access & AS_ACCESS_WRITE && !k->mem_written[i])
            return false;
        if (edge_applies(k, i) && !k->mem_edge[i])
            return false;
    }
    return same_set(k->claim.read, k->read, k) && same_set(k->claim.written, k->written, k) &&
           same_set(k->claim.merged, k->survived, k) && !(k->claim.flags_read & ~k->flags_read) &&
           !(k->claim.flags_written & ~k->claim.flags_undefined & ~k->flags_written & 0x7f);
}

static void report_tops(struct check *k)
{
    for (unsigned reg = 0; reg < AS_REG_MASK; reg++) {
        if (!as_regset_has(k->claim.written, reg) || !as_regset_has(k->top_seen, reg))
            continue;
        const bool zero = !as_regset_has(k->top_not_zero, reg);
        const bool claimed = as_regset_has(k->claim.cleared, reg);
        if (claimed && !zero && !as_regset_has(k->claim.merged, reg)) /* a write that may not be */
            report(k, HX_WRONG, "does not clear the top of %s, claimed", reg_text(reg));
        if (!claimed && zero)
            report(k, HX_WRONG, "clears the top of %s, not claimed", reg_text(reg));
    }
}

static void report_over_claims(struct check *k)
{
    for (unsigned reg = 0; reg < AS_REG_X87SW; reg++) {
        if (!in_view(k, reg))
            continue;
        if (as_regset_has(k->claim.written, reg) && !as_regset_has(k->written, reg))
            report(k, HX_OVER, "never writes %s", reg_text(reg));
        if (k->writes_only)
            continue;
        if (as_regset_has(k->claim.read, reg) && !as_regset_has(k->read, reg))
            report(k, HX_OVER, "never reads %s", reg_text(reg));
        else if (as_regset_has(k->claim.merged, reg) && !as_regset_has(k->survived, reg))
            report(k, HX_OVER, "never keeps part of %s", reg_text(reg));
    }
    for (unsigned f = 0; f < FLAG_N; f++) {
        if ((k->claim.flags_read & ~k->flags_read) >> f & 1 && !k->writes_only)
            report(k, HX_OVER, "never reads flag %cF", flag_name[f]);
        if ((k->claim.flags_written & ~k->claim.flags_undefined & ~k->flags_written) >> f & 1)
            report(k, HX_OVER, "never writes flag %cF", flag_name[f]);
    }
    for (int i = 0; i < k->memory_n; i++) {
        const unsigned access = k->memory[i].access;
        if (access & AS_ACCESS_READ && !k->writes_only && !k->mem_read[i])
            report(k, HX_OVER, "never reads its memory");
        if (access & AS_ACCESS_WRITE && !k->mem_written[i])
            report(k, HX_OVER, "never writes its memory");
        if (edge_applies(k, i) && !k->mem_edge[i])
            report(k, HX_OVER, "accesses fewer than %u bytes", k->memory[i].width_b);
    }
}

/*
 * Uses another immediate of one byte for every other state. The immediate is last in the encoding,
 * and no claim depends on it. A single value would hide some operands.
 */
static void vary_immediate(struct check *k, unsigned number)
{
    const unsigned last = k->form->operands ? k->form->operands - 1u : 0;
    if (!number || !k->form->operands || k->form->operand[last].kind != AS_OPERAND_IMM ||
        !strcmp(k->form->mnemonic, "enter"))
        return;
    uint8_t bytes[15];
    memcpy(bytes, k->c->bytes, sizeof bytes);
    const uint8_t value = (uint8_t)(number * 37 + 1);
    struct as_code code;
    struct as_effects claim;
    bytes[k->c->insn.length - 1] = value & 31 ? value : 9;
    if (as_decode(bytes, k->c->insn.length, k->c->insn.address, &code, NULL) < 0)
        return;
    struct as_insn insn = code.insn[0];
    as_code_free(&code);
    as_insn_effects(&insn, &claim);
    const bool other = insn.imm != k->c->insn.imm;
    insn.imm = k->c->insn.imm;
    if (other && !memcmp(&insn, &k->c->insn, sizeof insn) &&
        !memcmp(&claim, &k->claim_raw, sizeof claim))
        hx_load(bytes, insn.length);
}

/* One pair of states; the outcome of the base run. */
static enum hx_outcome check_state(struct check *k, unsigned number, uint64_t *random)
{
    const enum hx_fill fill =
        number & 1 ? HX_FILL_MIXED : (enum hx_fill)(number / 2 % HX_FILL_MIXED);
    const bool same = fill == HX_FILL_EQUAL || fill == HX_FILL_ZERO || fill == HX_FILL_ONES;
    hx_state_draw(k->c, fill, 0, random, &k->a, k->mem_a);
    hx_state_draw(k->c, same ? HX_FILL_RANDOM : fill, 64, random, &k->b, k->mem_b);
    k->b.fx[HX_FX_TAG] = k->a.fx[HX_FX_TAG];
    locate(k);
    const enum hx_outcome outcome = run(&k->a, k->mem_a, &k->out);
    if (outcome != HX_DONE)
        return outcome;
    memcpy(k->mem_out, hx_memory(), HX_MEM_B);
    check_written(k);
    check_memory_written(k);
    /* A generator without random bits (rdseed, soon) returns 0 each time, and later other
     * values. */
    k->writes_only |= k->form->insn_class == AS_CLASS_RANDOM;
    if (number < 3 && !k->writes_only) {
        restart(k);
        k->writes_only = matters(k);
    }
    if (k->writes_only)
        return outcome;
    check_unclaimed_reads(k);
    check_claimed_reads(k);
    check_memory_read(k);
    check_edges(k);
    return outcome;
}

enum hx_verdict hx_check(const struct hx_case *c, uint64_t seed, hx_finding_fn *finding,
                         void *context)
{
    static struct check check; /* large; the runner is single-threaded anyway */
    struct check *k = &check;
    memset(k, 0, sizeof *k);
    k->c = c;
    k->form = as_form_get(c->insn.form);
    k->finding = finding;
    k->context = context;
    as_insn_effects(&c->insn, &k->claim);
    k->claim_raw = k->claim;
    if (is_legacy(k)) /* bits above 128: see the head of this file */
        k->claim.merged.word[0] &= ~(UINT64_C(0xffffffff) << AS_REG_VEC);
    k->memory_n = as_insn_memory(NULL, &c->insn, k->memory);
    if (k->memory_n > 0 && c->disp != (int32_t)c->disp && c->insn.bits & AS_INSN_MEM)
        k->memory[0].disp = c->disp;
    hx_load(c->bytes, c->insn.length);
    uint64_t random = seed * 2 + 1;
    unsigned done = 0;
    for (unsigned i = 0; i < STATES_MAX && (done < STATES_MIN || !is_complete(k)); i++) {
        vary_immediate(k, i);
        const enum hx_outcome outcome = check_state(k, i, &random);
        if (outcome == HX_ILL)
            return HX_NOT_HERE;
        done += outcome == HX_DONE;
    }
    if (!done)
        return HX_FAULTS;
    report_tops(k);
    if (c->draw != HX_DRAW_ANY)
        report_over_claims(k);
    return k->writes_only ? HX_CHECKED_WRITES : HX_CHECKED;
}
