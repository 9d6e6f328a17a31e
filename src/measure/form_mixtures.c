/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instances of a form inside kernels that saturate one resource each: which of them slow down, and
 * by how much.
 */
#include <math.h>

#include "base/error.h"
#include "measure/internal.h"
#include "measure/mixture.h"
#include "measure/table.h"

#define LONGER      1.3 /* a kernel than the instances in it */
#define MANY_SLOTS  4
#define FAST        0.85 /* port-cycles of one among independent ones: less than a use */
#define SLOWED_DOWN 1.01 /* as_timing_append takes less for nothing */

static bool touches_general(const struct assay_form *form)
{
    bool touches = form->flags_read || form->flags_written;

    for (unsigned i = 0; i < form->operands; i++)
        touches |= form->operand[i].kind == ASSAY_OPERAND_MEM ||
                   (form->operand[i].kind == ASSAY_OPERAND_REG &&
                    form->operand[i].file <= ASSAY_FILE_GPR64);
    return touches;
}

static bool touches_memory(const struct assay_form *form)
{
    bool touches = form->memories || form->insn_class == ASSAY_CLASS_PUSH ||
                   form->insn_class == ASSAY_CLASS_POP;

    for (unsigned i = 0; i < form->operands; i++)
        touches |= form->operand[i].kind == ASSAY_OPERAND_MEM;
    return touches;
}

/* A form of general registers does not use the pipes of vectors, and the other way round but where
 * both are some of the same ports. */
static bool probe_matters(const struct assay_form *form, const struct as_probe_rates *rates,
                          enum as_saturated probe)
{
    const bool is_vector = form->vector_b || form->isa == ASSAY_ISA_X87 ||
                           form->isa == ASSAY_ISA_MMX || as_form_has_masks(form);

    switch (probe) {
    case AS_PROBE_ALU:
        /* Where ports are chosen at rename, any load beside additions keeps these from some of
         * theirs: 42 of them take 8.4 cycles on Granite Rapids, 10.9 with eight loads, which use
         * none. */
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

/* What one takes of so many ports it takes of its own time too: where it is faster than that, it
 * goes through others as well. */
static bool is_too_fast(const struct as_timing *t, const struct as_probe_rates *rates,
                        enum as_saturated probe)
{
    return probe != AS_PROBE_SLOTS && t->each * as_probe_ports(rates, probe) < FAST;
}

/* Instances that seem to use what the kernel saturates. That they do not is certain at once:
 * nothing makes a kernel faster than it is. */
static bool is_slowed_down(const struct as_table_work *w, const struct as_mixture *m,
                           const struct assay_cycles *cycles)
{
    return m->probe != AS_PROBE_SLOTS &&
           cycles->cycles > SLOWED_DOWN * w->rates.cycles[m->probe] * m->repeats;
}

/* One kernel; the lower one stays. */
static int try_mixture(struct as_table_work *w, const struct as_mixture *m, struct as_timing *t,
                       struct assay_error *err)
{
    uint8_t bytes[AS_MIXTURE_MOST_B];
    struct assay_cycles cycles;
    double *mixed = &t->mixed[m->probe];
    const size_t size_b = as_mixture_build(m, bytes);

    if (!size_b)
        return 0;
    AS_TRY(as_table_cycles(w, bytes, size_b, &cycles, err));
    if (is_slowed_down(w, m, &cycles))
        AS_TRY(as_table_settle(w, bytes, size_b, &cycles, err));
    t->is_noisy |= cycles.status == ASSAY_METER_NOISY;
    if (cycles.cycles > 0 && m->probe == AS_PROBE_SLOTS)
        cycles.cycles -= as_mixture_nops(m) * w->slot_cycles;
    if (cycles.cycles > 0 && (*mixed == 0 || cycles.cycles < *mixed))
        *mixed = cycles.cycles;
    return 0;
}

/* Of kernels of nops the best of all lengths. Microcode shares no line with what is before and
 * behind it: then what is left of a line is not its own. */
static int measure_mixture(struct as_table_work *w, const struct as_mixture *m, struct as_timing *t,
                           struct assay_error *err)
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

/* A load beside the stores of a kernel waits for them on some cores, whatever it reads (13 cycles
 * on Zen 5): that is no use of a port. */
static bool waits_for_stores(const struct assay_form *form)
{
    for (unsigned i = 0; i < form->operands; i++)
        if (form->operand[i].kind == ASSAY_OPERAND_MEM &&
            form->operand[i].access & ASSAY_ACCESS_READ)
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
    struct assay_code code;
    struct assay_error err;
    const size_t n = as_form_breaker(one, bytes);

    if (n == 0 || assay_decode(bytes, n, 0, &code, &err) < 0)
        return 0;
    const unsigned insns = (unsigned)code.n;
    assay_code_free(&code);
    return insns;
}

/* As many instances as a kernel has room for that is longer than they take by themselves, so that
 * they hide in it: of one alone the clock's noise is as large as a slot, and so is chance by which
 * ports are taken. */
static bool fit_instances(const struct as_table_work *w, struct as_timing *t,
                          enum as_saturated probe)
{
    const bool is_slots = probe == AS_PROBE_SLOTS;
    /* Of many slots the width of the core would be what limits the kernel. */
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
                     struct assay_error *err)
{
    const struct assay_form *form = assay_form_get(one->insn.form);

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
