/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures instances of a form inside kernels that saturate one resource each: which kernels slow
 * down, and by how much.
 */
#include <math.h>

#include "base/error.h"
#include "measure/internal.h"
#include "measure/mixture.h"
#include "measure/table.h"

#define LONGER      1.3 /* min length of a kernel relative to its instances */
#define MANY_SLOTS  4
#define FAST        0.85 /* port-cycles of an independent instance: less than a use */
#define SLOWED_DOWN 1.01 /* as_timing_append ignores smaller ratios */

static bool touches_general(const struct as_form *form)
{
    bool touches = form->flags_read || form->flags_written;

    for (unsigned i = 0; i < form->operands; i++)
        touches |=
            form->operand[i].kind == AS_OPERAND_MEM ||
            (form->operand[i].kind == AS_OPERAND_REG && form->operand[i].file <= AS_FILE_GPR64);
    return touches;
}

static bool touches_memory(const struct as_form *form)
{
    bool touches =
        form->memories || form->insn_class == AS_CLASS_PUSH || form->insn_class == AS_CLASS_POP;

    for (unsigned i = 0; i < form->operands; i++)
        touches |= form->operand[i].kind == AS_OPERAND_MEM;
    return touches;
}

/* Returns true if a form may use the resource. General-register forms do not use vector pipes and
 * vice versa, unless both are some of the same ports. */
static bool probe_matters(const struct as_form *form, const struct as_probe_rates *rates,
                          enum as_saturated probe)
{
    const bool is_vector = form->vector_b || form->isa == AS_ISA_X87 || form->isa == AS_ISA_MMX ||
                           as_form_has_masks(form);

    switch (probe) {
    case AS_PROBE_ALU:
        /* If ports are chosen at rename, loads keep additions from some of their ports. 42
         * additions take 8.4 cycles on Granite Rapids, and 10.9 with eight loads that use none of
         * their ports. */
        if (rates->alu_has_vectors && touches_memory(form))
            return false;
        if (rates->alu_has_vectors)
            return true;
        return !is_vector || touches_general(form);
    case AS_PROBE_SHIFT:
    case AS_PROBE_MUL:
        return !is_vector;
    case AS_PROBE_OUT:
        return is_vector;
    case AS_PROBE_AGU:
        return touches_memory(form);
    case AS_PROBE_STD:
        return !is_vector && touches_memory(form);
    case AS_PROBE_LDV:
    case AS_PROBE_LDVZ:
    case AS_PROBE_STV:
    case AS_PROBE_STVZ:
        if (!touches_memory(form))
            return false;
        break;
    default:
        break;
    }
    if (as_probe_is_vector(probe))
        return is_vector && (form->vector_b > 32) == as_probe_is_wide(probe);
    return true;
}

/* Returns true if an instance is faster than a use of these ports permits. It then uses other ports
 * too. */
static bool is_too_fast(const struct as_timing *t, const struct as_probe_rates *rates,
                        enum as_saturated probe)
{
    return probe != AS_PROBE_SLOTS && t->each * as_probe_ports(rates, probe) < FAST;
}

/* Returns true if instances seem to use the resource. The opposite is certain at once: nothing
 * makes a kernel faster. */
static bool is_slowed_down(const struct as_table_work *w, const struct as_mixture *m,
                           const struct as_cycles *cycles)
{
    return m->probe != AS_PROBE_SLOTS &&
           cycles->cycles > SLOWED_DOWN * w->rates.cycles[m->probe] * m->repeats;
}

/* Measures one kernel and keeps the lower value. */
static int try_mixture(struct as_table_work *w, const struct as_mixture *m, struct as_timing *t,
                       struct as_error *err)
{
    uint8_t bytes[AS_MIXTURE_MOST_B];
    struct as_cycles cycles;
    double *mixed = &t->mixed[m->probe];
    const size_t size_b = as_mixture_build(m, bytes);

    if (!size_b)
        return 0;
    AS_TRY(as_table_cycles(w, bytes, size_b, &cycles, err));
    if (is_slowed_down(w, m, &cycles))
        AS_TRY(as_table_settle(w, bytes, size_b, &cycles, err));
    t->is_noisy |= cycles.status == AS_METER_NOISY;
    if (cycles.cycles > 0 && m->probe == AS_PROBE_SLOTS)
        cycles.cycles -= as_mixture_nops(m) * w->slot_cycles;
    if (cycles.cycles > 0 && (*mixed == 0 || cycles.cycles < *mixed))
        *mixed = cycles.cycles;
    return 0;
}

/* Measures a kernel; for nops the best of all lengths. Microcode shares no op cache line with its
 * neighbours, so the rest of a line does not belong to it. */
static int measure_mixture(struct as_table_work *w, const struct as_mixture *m, struct as_timing *t,
                           struct as_error *err)
{
    struct as_mixture with = *m;
    unsigned first, end;

    if (m->probe != AS_PROBE_SLOTS)
        return try_mixture(w, m, t, err);
    as_mixture_kinds(&w->rates, &first, &end);
    for (with.nop = first; with.nop < end; with.nop++)
        AS_TRY(try_mixture(w, &with, t, err));
    with.fills_lines = as_timing_slots(t, &w->rates) > MANY_SLOTS;
    for (with.nop = first; with.fills_lines && with.nop < end; with.nop++)
        if (as_mixture_can_fill(&with))
            AS_TRY(try_mixture(w, &with, t, err));
    return 0;
}

/* Returns true if a load waits for the stores of the kernel, whatever it reads (13 cycles on Zen
 * 5). It is not a use of a port. */
static bool waits_for_stores(const struct as_form *form)
{
    for (unsigned i = 0; i < form->operands; i++)
        if (form->operand[i].kind == AS_OPERAND_MEM && form->operand[i].access & AS_ACCESS_READ)
            return true;
    return false;
}

static bool is_store_kernel(enum as_saturated probe)
{
    return probe == AS_PROBE_STD || probe == AS_PROBE_STV || probe == AS_PROBE_STVZ;
}

static unsigned breakers_of(const struct as_form_case *one)
{
    uint8_t bytes[4 * AS_ENCODE_B];
    struct as_code code;
    struct as_error err;
    const size_t n = as_form_breaker(one, bytes);

    if (n == 0 || as_decode(bytes, n, 0, &code, &err) < 0)
        return 0;
    const unsigned insns = (unsigned)code.n;
    as_code_free(&code);
    return insns;
}

/* Fits as many instances as possible into a kernel. The kernel is longer than they are, so that
 * they hide in it. For one instance the clock noise, and the choice of ports, are as large as a
 * slot. */
static bool fit_instances(const struct as_table_work *w, struct as_timing *t,
                          enum as_saturated probe)
{
    const bool is_slots = probe == AS_PROBE_SLOTS;
    /* Many slots would make the width of the core the limit of the kernel. */
    const bool is_wide = !is_slots && as_timing_slots(t, &w->rates) > MANY_SLOTS;

    for (unsigned n = is_wide || (is_slots && t->each > 0.6) ? 4 : 8; n; n /= 2) {
        const double own_cycles = n * t->each;
        t->mixed_n[probe] = n;
        t->repeats[probe] =
            1 + (unsigned)((is_wide ? 2 : LONGER) * own_cycles / w->rates.cycles[probe]);
        if (t->repeats[probe] * as_probe_n(probe) <= AS_MIXTURE_FULL_N)
            return true;
    }
    t->mixed_n[probe] = 1;
    return t->repeats[probe] * as_probe_n(probe) <= AS_MIXTURE_MOST_N;
}

int as_form_mixtures(struct as_table_work *w, const struct as_form_case *one, struct as_timing *t,
                     struct as_error *err)
{
    const struct as_form *form = as_form_get(one->insn.form);

    t->is_beside = w->rates.alu_has_vectors && touches_memory(form) && !form->vector_b;
    for (unsigned p = 0; p < AS_PROBES; p++) {
        const enum as_saturated probe = (enum as_saturated)p;
        if (w->rates.cycles[p] == 0 || !probe_matters(form, &w->rates, probe) ||
            is_too_fast(t, &w->rates, probe) || (is_store_kernel(probe) && waits_for_stores(form)))
            continue;
        t->breaker_n = breakers_of(one);
        if (!fit_instances(w, t, probe))
            continue;
        const struct as_mixture m = {
            .probe = probe, .repeats = t->repeats[p], .n = t->mixed_n[p], .one = one};
        AS_TRY(measure_mixture(w, &m, t, err));
    }
    return 0;
}
