/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From cycles to a line: a kernel saturates a resource, and `n` instances slow it down by d cycles.
 * Then one instance takes d / n cycles of the ports of this resource.
 */
#include "measure/timing.h"

#include <math.h>

/* Min port-cycles of a use. Smaller values come from different code lines and unevenly filled pipes
 * (0.25 and 0.4 of PERM for any vector on Zen 5). */
#define LEAST_USE 0.7
/* The best of many rounds of a kernel can be 1 % too good. A rate this near to whole ports is
 * rounded. */
#define WHOLE_PORTS 0.03
/* Bounds of the width relative to a whole number. Calm: 0.955 of six on Emerald Rapids, by nops
 * that fill op cache lines. Five and a third means six with external load. */
#define WIDTH_LEAST  0.94
#define WIDTH_MOST   1.025
#define RENAMED_MOST 0.4
/* Ratio of nops to zero idioms per cycle. It is 2 on Zen 4, where a nop shares the slot of another
 * instruction. It is 1 on Zen 5 and Golden Cove. It is 4 to 3 on Nehalem, where idioms use a
 * port. */
#define NOPS_FUSE      1.5
#define LONG_MICROCODE 12 /* in slots */

static const struct {
    const char *group;
    unsigned n;
} probes[] = {
#define PROBE_ROW(name, word, n) {word, n},
    AS_PROBE_LIST(PROBE_ROW)
#undef PROBE_ROW
};

const char *as_probe_group(enum as_saturated home)
{
    return probes[home].group;
}

bool as_probe_is_wide(enum as_saturated probe)
{
    return (probe >= AS_PROBE_FMULZ && probe <= AS_PROBE_PERMZ) || probe == AS_PROBE_LDVZ ||
           probe == AS_PROBE_STVZ;
}

bool as_probe_is_vector(enum as_saturated probe)
{
    return (probe >= AS_PROBE_FMUL && probe <= AS_PROBE_PERM) || probe == AS_PROBE_LDV ||
           probe == AS_PROBE_STV || as_probe_is_wide(probe);
}

unsigned as_probe_n(enum as_saturated probe)
{
    return probes[probe].n;
}

unsigned as_probe_ports(const struct as_probe_rates *rates, enum as_saturated probe)
{
    return rates->cycles[probe] > 0 ? (unsigned)(probes[probe].n / rates->cycles[probe] + 0.4) : 0;
}

void as_probe_slots_note(struct as_probe_rates *rates, bool is_idiom, double cycles)
{
    double *best = is_idiom ? &rates->idle_cycles : &rates->nop_cycles;

    if (cycles > 0 && (*best == 0 || cycles < *best))
        *best = cycles;
    rates->nops_fuse = rates->nop_cycles > 0 && rates->idle_cycles > NOPS_FUSE * rates->nop_cycles;
    rates->cycles[AS_PROBE_SLOTS] = rates->nops_fuse ? rates->idle_cycles : rates->nop_cycles;
}

/* All stores have the ports of stores of general registers. */
enum as_saturated as_probe_home(const struct as_probe_rates *rates, enum as_saturated probe)
{
    static const enum as_saturated shorter[AS_PROBES] = {[AS_PROBE_FMULZ] = AS_PROBE_FMUL,
                                                         [AS_PROBE_FADDZ] = AS_PROBE_FADD,
                                                         [AS_PROBE_FANYZ] = AS_PROBE_FANY,
                                                         [AS_PROBE_PERMZ] = AS_PROBE_PERM,
                                                         [AS_PROBE_LDVZ] = AS_PROBE_LDV};
    if (probe == AS_PROBE_STV || probe == AS_PROBE_STVZ)
        return AS_PROBE_STD;
    /* Loads are never closed: those of 64 bytes have fewer ports, or the same. */
    const bool is_own = probe == AS_PROBE_LDVZ ? as_probe_ports(rates, AS_PROBE_LDVZ) <
                                                     as_probe_ports(rates, AS_PROBE_LDV)
                                               : rates->wide_are_own;
    return as_probe_is_wide(probe) && !is_own ? shorter[probe] : probe;
}

/* Rounds to whole and half numbers within the noise of some per cent. */
static double tidy_number(double value)
{
    const double half = round(value * 2) / 2;

    return fabs(value - half) <= fmax(0.12, 0.04 * value) ? half : round(value * 100) / 100;
}

double as_probe_spread(const struct as_probe_rates *rates, enum as_saturated probe)
{
    const unsigned ports = as_probe_ports(rates, probe);
    return ports ? fabs(rates->cycles[probe] * ports / probes[probe].n - 1) : -1;
}

bool as_probe_width_is_seen(const struct as_probe_rates *rates, double least)
{
    const unsigned width = as_probe_ports(rates, AS_PROBE_SLOTS);
    const double rate = width ? probes[AS_PROBE_SLOTS].n / rates->cycles[AS_PROBE_SLOTS] : 0;
    return width && rate >= WIDTH_LEAST * width && rate <= WIDTH_MOST * width && width >= least;
}

/* Returns the cycles of a kernel alone. */
static double kernel_cycles(const struct as_probe_rates *rates, enum as_saturated probe)
{
    const unsigned ports = as_probe_ports(rates, probe);
    const double whole = ports ? (double)probes[probe].n / ports : 0;

    return fabs(rates->cycles[probe] - whole) <= WHOLE_PORTS * whole ? whole : rates->cycles[probe];
}

/* Rounds to whole port-cycles, else to halves. The random choice of ports adds more often than it
 * subtracts. Loads have no halves. */
static double tidy_use(double value, enum as_saturated probe)
{
    const double whole = floor(value), rest = value - whole;

    if (value > 8)
        return round(value);
    if (probe == AS_PROBE_AGU)
        return fmax(floor(value + 0.4), 1);
    return rest < 0.4 && whole > 0 ? whole : rest <= 0.62 ? whole + 0.5 : whole + 1;
}

/* Returns the cycles of one slot from the whole width: kernels reach it to 1 %. */
static double slot_cycles(const struct as_probe_rates *rates)
{
    const unsigned width = as_probe_ports(rates, AS_PROBE_SLOTS);
    return width ? 1. / width : 0;
}

double as_timing_slots(const struct as_timing *t, const struct as_probe_rates *rates)
{
    const double slot = slot_cycles(rates);

    if (!(t->mixed[AS_PROBE_SLOTS] > 0) || slot == 0)
        return 1;
    const double slots = t->mixed[AS_PROBE_SLOTS] / t->mixed_n[AS_PROBE_SLOTS] / slot;
    const double own = fmax(slots - t->breaker_n, 0);
    /* Slots are whole, except one that two instructions share. The rest comes from partly filled op
     * cache lines: two runs agree on it to a fifth. Long microcode has partly filled lines and is
     * not rounded. */
    if (own > LONG_MICROCODE)
        return round(own * 10) / 10;
    return own < 0.75 ? round(own * 2) / 2 : floor(own + 0.25);
}

/* Returns the port-cycles of a group; 0 if the width of the core alone explains the mixture. */
static double use_of(const struct as_timing *t, const struct as_probe_rates *rates,
                     enum as_saturated probe, double slots)
{
    const unsigned ports = as_probe_ports(rates, probe), n = t->mixed_n[probe];

    if (!(t->mixed[probe] > 0) || ports == 0 || n == 0)
        return 0;
    const double kernel = kernel_cycles(rates, probe) * t->repeats[probe];
    const double by_width =
        (probes[probe].n * t->repeats[probe] + n * (slots + t->breaker_n)) * slot_cycles(rates);
    if (t->mixed[probe] <= by_width * 1.02 || t->mixed[probe] <= kernel * 1.01)
        return 0;
    double use = (t->mixed[probe] - kernel) / n * ports;
    /* Loads beside others may conflict (64 bytes on Zen 5) or wait for a renamed store. No port can
     * be busy longer than the instance takes. So only one address is certain. */
    if (probe == AS_PROBE_AGU && use > 1.1 * t->each * ports)
        use = 1;
    /* Some cores merge stores to one line, and stores of a kernel are separated by others. */
    const bool stores = probe == AS_PROBE_STD || probe == AS_PROBE_STV || probe == AS_PROBE_STVZ;
    if (stores && use > 1.1 * t->each * ports)
        use = fmax(1, t->each * ports);
    return use < LEAST_USE ? 0 : tidy_use(use, probe);
}

static unsigned group_ports(const struct as_probe_rates *rates, enum as_saturated probe)
{
    return as_probe_ports(rates, as_probe_home(rates, probe));
}

static double use_in_group(const struct as_timing *t, const struct as_probe_rates *rates,
                           enum as_saturated probe, double slots)
{
    const double use = use_of(t, rates, probe, slots);
    return use == 0 ? 0 : use * group_ports(rates, probe) / as_probe_ports(rates, probe);
}

bool as_timing_adds(const struct as_timing *t, const struct as_probe_rates *rates)
{
    const double slots = as_timing_slots(t, rates);
    /* Separate pipes of 64 bytes are the same for all operations. */
    return use_of(t, rates, AS_PROBE_FADD, slots) > 0 ||
           (!rates->wide_are_own && use_of(t, rates, AS_PROBE_FADDZ, slots) > 0);
}

static void append_number(struct as_str *to, double value)
{
    as_str_appendf(to, "%.4g", value);
}

static double longest_latency(const struct as_timing *t)
{
    double longest = -1;

    for (unsigned i = 0; i < AS_OPERANDS_MAX; i++)
        longest = fmax(longest, t->latency[i]);
    return t->implied_latency > 0 ? fmax(longest, t->implied_latency) : longest;
}

/* Returns the cycles between instances that chains explain: through the written register, or
 * through flags and implied registers. */
static double chain_bound(const struct as_form *form, const struct as_timing *t)
{
    const double longest = longest_latency(t);
    bool reads_target = false;

    for (unsigned i = 0; i < form->operands; i++)
        reads_target |= form->operand[i].kind == AS_OPERAND_REG &&
                        (form->operand[i].access & AS_ACCESS_WRITE) &&
                        (form->operand[i].access & (AS_ACCESS_READ | AS_ACCESS_MERGE));
    if (form->flags_read & form->flags_written)
        return fmax(longest, 1);
    /* Without a measured chain (a fixed register) it is at least one cycle. */
    return reads_target && t->copies ? (longest < 0 ? 1 : longest) / t->copies : 0;
}

const char *as_divider_of(const struct as_form *form)
{
    if (form->insn_class != AS_CLASS_DIV && form->insn_class != AS_CLASS_SQRT)
        return "own";
    return form->vector_b ? "FDIV" : "IDIV";
}

/* Kernels with MMX do not come from the op cache of some cores (Zen 5) and would measure the
 * decoders. So the cycles among independent instances become a use of any pipe, beside the load or
 * store. */
static void append_mmx_uses(struct as_str *to, const struct as_form *form,
                            const struct as_timing *t, const struct as_probe_rates *rates)
{
    const unsigned pipes = as_probe_ports(rates, AS_PROBE_FANY);
    bool reads = false, writes = false;

    for (unsigned i = 0; i < form->operands; i++) {
        reads |=
            form->operand[i].kind == AS_OPERAND_MEM && form->operand[i].access & AS_ACCESS_READ;
        writes |=
            form->operand[i].kind == AS_OPERAND_MEM && form->operand[i].access & AS_ACCESS_WRITE;
    }
    as_str_appendz(to, reads ? "LDV:1" : writes ? "AGU:1 STD:1" : "");
    if (form->insn_class == AS_CLASS_MOVE && (reads || writes))
        return;
    as_str_appendf(to, "%sFANY:", reads || writes ? " " : "");
    append_number(to, reads || writes ? 1 : fmax(1, tidy_number(t->each * pipes)));
}

/* Returns true if `use` is that of vector loads. Their ports are some of those of all loads, so
 * they do not count as another use. */
static bool are_vector_loads(const struct as_timing *t, const struct as_probe_rates *rates,
                             double use, double slots)
{
    static const enum as_saturated loads[] = {AS_PROBE_LDV, AS_PROBE_LDVZ};

    for (size_t i = 0; i < 2; i++) {
        const double vector = use_in_group(t, rates, loads[i], slots);
        if (vector > 0 &&
            use / group_ports(rates, AS_PROBE_AGU) <= 1.1 * vector / group_ports(rates, loads[i]))
            return true;
    }
    return false;
}

/* Returns true if no kernel shows the store of a form that also reads memory. Such a form waits for
 * the stores of the kernel. */
static bool stores_unseen(const struct as_form *form, const struct as_timing *t)
{
    for (unsigned i = 0; i < form->operands; i++)
        if (form->operand[i].kind == AS_OPERAND_MEM && form->operand[i].access & AS_ACCESS_WRITE)
            return t->mixed[AS_PROBE_STD] == 0 && t->mixed[AS_PROBE_STV] == 0 &&
                   t->mixed[AS_PROBE_STVZ] == 0;
    return false;
}

/* Computes the uses by kernel. Returns the cycles that they take. */
static double find_uses(const struct as_timing *t, const struct as_probe_rates *rates, double slots,
                        double use[AS_PROBES])
{
    double cycles = slots * slot_cycles(rates);

    use[AS_PROBE_SLOTS] = 0;
    for (unsigned p = AS_PROBE_ALU; p < AS_PROBES; p++) {
        use[p] = use_in_group(t, rates, (enum as_saturated)p, slots);
        if (p == AS_PROBE_AGU && use[p] > 0 && are_vector_loads(t, rates, use[p], slots))
            use[p] = 0;
        if (use[p] > 0)
            cycles = fmax(cycles, use[p] / group_ports(rates, (enum as_saturated)p));
    }
    return cycles;
}

/* A kernel also shows uses of a part of its ports. They belong to the smaller group if ports are
 * known. */
static void leave_to_smaller(const struct as_probe_rates *rates, double use[AS_PROBES])
{
    for (int ports = 1; ports < AS_PORTS_MOST; ports++)
        for (unsigned p = 0; p < AS_PROBES; p++) {
            if (use[p] == 0 || __builtin_popcountll(rates->ports[p]) != ports)
                continue;
            for (unsigned wider = 0; wider < AS_PROBES; wider++) {
                const bool is_part = !(rates->ports[p] & ~rates->ports[wider]) &&
                                     (rates->ports[p] != rates->ports[wider] || wider > p);
                if (wider == p || use[wider] == 0 || !is_part)
                    continue;
                use[wider] -= use[p];
                use[wider] = use[wider] < LEAST_USE ? 0 : use[wider];
            }
        }
}

/* Appends the uses. Cycles beyond ports, slots and chains are a use of a separate unit. */
static void append_uses(struct as_str *to, const struct as_form *form, const struct as_timing *t,
                        const struct as_probe_rates *rates, double slots)
{
    double uses[AS_PROBES];
    bool any = false;

    if (form->isa == AS_ISA_MMX) {
        append_mmx_uses(to, form, t, rates);
        return;
    }
    double bound = find_uses(t, rates, slots, uses);
    leave_to_smaller(rates, uses);
    for (unsigned p = AS_PROBE_ALU; p < AS_PROBES; p++) {
        if (uses[p] == 0)
            continue;
        as_str_appendf(to, "%s%s:", any ? " " : "",
                       as_probe_group(as_probe_home(rates, (enum as_saturated)p)));
        append_number(to, uses[p]);
        any = true;
    }
    if (group_ports(rates, AS_PROBE_STD) && stores_unseen(form, t)) {
        as_str_appendf(to, "%sSTD:1", any ? " " : "");
        bound = fmax(bound, 1. / group_ports(rates, AS_PROBE_STD));
        any = true;
    }
    /* Instances that read their target depend on the instance before with the same target. */
    bound = fmax(bound, chain_bound(form, t));
    if (t->each > 1.15 * bound && t->each > bound + 0.25) {
        as_str_appendf(to, "%s%s:", any ? " " : "", as_divider_of(form));
        append_number(to, tidy_number(t->each));
        if (t->hard_each > t->each) {
            as_str_appendz(to, "-");
            append_number(to, tidy_number(t->hard_each));
        }
        any = true;
    }
    if (!any)
        as_str_appendz(to, "-");
}

static int written_operand(const struct as_form *form)
{
    for (unsigned i = 0; i < form->operands; i++)
        if (form->operand[i].kind == AS_OPERAND_REG && form->operand[i].access & AS_ACCESS_WRITE)
            return (int)i;
    return -1;
}

/* Returns true for moves from memory or constants. Loaded data are available at the load latency,
 * which comes before. Constants wait for nothing, but take their cycle. */
static bool only_moves(const struct as_form *form)
{
    bool reads_memory = form->memories > 0, reads_register = false;

    for (unsigned i = 0; i < form->operands; i++) {
        reads_memory |= form->operand[i].kind == AS_OPERAND_MEM;
        reads_register |=
            form->operand[i].kind == AS_OPERAND_REG && form->operand[i].access & AS_ACCESS_READ;
    }
    switch (form->insn_class) {
    case AS_CLASS_MOVE:
    case AS_CLASS_BROADCAST:
        return reads_memory || reads_register;
    case AS_CLASS_EXTEND:
        return reads_memory;
    default:
        return form->insn_class == AS_CLASS_PUSH || form->insn_class == AS_CLASS_POP;
    }
}

/* Appends the latency and its exceptions. Returns true if it was assumed, not measured. */
static bool append_latency(struct as_str *to, const struct as_form *form, const struct as_timing *t,
                           bool is_free)
{
    const double longest = longest_latency(t);
    const int written = written_operand(form);

    if (is_free || only_moves(form)) {
        const double behind = longest > 0.5 ? longest : t->behind_load;
        append_number(to, is_free || behind <= 0.5 ? 0 : tidy_number(behind));
        return false;
    }
    if (longest < 0 && t->flags_latency > 0) {
        append_number(to, tidy_number(t->flags_latency));
        return false;
    }
    if (longest < 0) {
        const bool has_result = written >= 0 || form->flags_written;
        as_str_appendz(to, has_result ? "1" : "-");
        return has_result;
    }
    /* An operation of the renamer takes no cycle of a chain, only its slot. */
    append_number(to, longest < RENAMED_MOST ? 0 : tidy_number(longest));
    if (t->hard_latency > longest) {
        as_str_appendz(to, "-");
        append_number(to, tidy_number(t->hard_latency));
    }
    for (unsigned i = 0; i < AS_OPERANDS_MAX && written >= 0; i++)
        if (t->latency[i] >= 0 && t->latency[i] < longest - 0.4) {
            as_str_appendf(to, " %u>%d:", i, written);
            append_number(to, tidy_number(t->latency[i]));
        }
    if (t->flags_latency > 0 && fabs(t->flags_latency - longest) > 0.4 && written >= 0) {
        as_str_appendf(to, " f>%d:", written);
        append_number(to, tidy_number(t->flags_latency));
    }
    return false;
}

/* Compares ports and slots with the cycles of an instance alone. Excess means external load. */
bool as_timing_contradicts(const struct as_timing *t, const struct as_probe_rates *rates)
{
    const double slots = as_timing_slots(t, rates);
    const double most = 1.15 * t->each + 0.1, chain = longest_latency(t);

    /* Independent instances are not slower than dependent ones. */
    if (chain > 0.5 && !t->is_split && t->each > 1.15 * chain + 0.25)
        return true;

    for (unsigned p = AS_PROBE_ALU; p < AS_PROBES; p++) {
        const double use = use_of(t, rates, (enum as_saturated)p, slots);
        if (use > 0 && use / as_probe_ports(rates, (enum as_saturated)p) > most)
            return true;
    }
    return slots * slot_cycles(rates) > most;
}

void as_timing_append(struct as_str *to, const struct as_form_case *one, const struct as_timing *t,
                      const struct as_probe_rates *rates)
{
    const struct as_form *form = as_form_get(one->insn.form);
    const double slots = as_timing_slots(t, rates), longest = longest_latency(t);
    const bool is_idiom = one->insn.bits & AS_INSN_IDIOM && longest >= 0 && longest < 0.5;
    const bool is_moved = form->traits & AS_TRAIT_REGMOVE && longest >= 0 && longest < 0.5;

    as_str_appendf(to, "form\t%s\t", one->key);
    append_number(to, slots);
    as_str_appendz(to, "\t");
    append_uses(to, form, t, rates, slots);
    as_str_appendz(to, "\t");
    const bool is_taken = append_latency(to, form, t, is_idiom || is_moved);
    as_str_appendf(to, "\t%s%s\t%s %.1f%%\n",
                   is_idiom     ? "zero"
                   : is_moved   ? "move"
                   : is_taken   ? "estimated"
                   : t->is_late ? "class=fadd"
                                : "-",
                   is_taken && t->is_late ? ",class=fadd" : "",
                   t->is_noisy || as_timing_contradicts(t, rates) ? "noisy"
                   : t->is_beside && !only_moves(form)            ? "beside"
                   : t->is_split                                  ? "half"
                                                                  : "m1",
                   100 * t->spread);
}
