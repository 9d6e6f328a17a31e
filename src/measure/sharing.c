/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the saturating kernels that share ports: two mixed kernels take as long as the union of
 * their ports permits. Port names are those of the built-in table of this core, unless it
 * contradicts the measurements.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "measure/internal.h"
#include "measure/mixture.h"
#include "measure/ports.h"
#include "measure/table.h"

/* Cycles of each kernel alone; repetitions of a pair, the best counts. */
enum { PAIR_CYCLES = 10, PAIR_ROUNDS = 4 };
#define APART      0.5 /* max shortfall of a union in ports */
#define WIDTH_LOST 0.4 /* slots per cycle that a kernel of two kinds does not reach */
#define CLOSED     1.1 /* longer than both kernels in sequence: some pipes are closed */

/* One kernel per kind of computation. Loads and stores have their own ports on all cores. */
static const enum as_saturated computing[] = {
    AS_PROBE_ALU,  AS_PROBE_SHIFT, AS_PROBE_MUL,   AS_PROBE_OUT,   AS_PROBE_FMUL,  AS_PROBE_FADD,
    AS_PROBE_FANY, AS_PROBE_PERM,  AS_PROBE_FMULZ, AS_PROBE_FADDZ, AS_PROBE_FANYZ, AS_PROBE_PERMZ};
#define COMPUTING (sizeof computing / sizeof *computing)

/* Measures the best cycles of PAIR_CYCLES cycles of both kernels; 0: not measured. */
static int pair_cycles(struct as_table_work *w, enum as_saturated a, enum as_saturated b,
                       double *cycles, struct as_error *err)
{
    uint8_t bytes[AS_MIXTURE_MOST_B];
    const unsigned a_n = PAIR_CYCLES * as_probe_ports(&w->rates, a),
                   b_n = PAIR_CYCLES * as_probe_ports(&w->rates, b);
    const size_t n = a_n && b_n ? as_mixture_pair(a, a_n, b, b_n, bytes) : 0;
    struct as_cycles out;

    *cycles = 0;
    for (unsigned round = 0; n && round < PAIR_ROUNDS; round++) {
        AS_TRY(as_table_cycles(w, bytes, n, &out, err));
        if (out.cycles > 0 && (*cycles == 0 || out.cycles < *cycles))
            *cycles = out.cycles;
    }
    return 0;
}

/* Measures the number of ports of both; 0: not measured. */
static int ports_together(struct as_table_work *w, enum as_saturated a, enum as_saturated b,
                          double *ports, struct as_error *err)
{
    double cycles;

    AS_TRY(pair_cycles(w, a, b, &cycles, err));
    *ports = cycles > 0
                 ? PAIR_CYCLES *
                       (double)(as_probe_ports(&w->rates, a) + as_probe_ports(&w->rates, b)) /
                       cycles
                 : 0;
    return 0;
}

/* ---- The built-in table --------------------------------------------------------------------- */

/* Returns the ports of the instruction of a kernel, if the table has one use of this many ports. */
static uint64_t known_ports(const struct as_uarch *base, enum as_saturated probe, unsigned ports)
{
    uint8_t bytes[AS_MIXTURE_MOST_B];
    struct as_code code;
    struct as_error err;
    enum as_timing_match match;
    uint64_t found = 0;
    const size_t n = as_mixture_pair(probe, 1, probe, 0, bytes);

    if (!n || as_decode(bytes, n, 0, &code, &err) < 0)
        return 0;
    const struct as_core_timing *t = as_uarch_timing(base, &code.insn[0], &match);
    if (t && match == AS_TIMING_EXACT && t->use_n == 1)
        found = base->group[t->use[0].group].ports;
    as_code_free(&code);
    return (unsigned)__builtin_popcountll(found) == ports ? found : 0;
}

static void name_ports(struct as_probe_rates *rates, const struct as_uarch *base, uint64_t used)
{
    for (unsigned i = 0; i < AS_PORTS_MOST; i++)
        if (base && i < base->port_n && used >> i & 1)
            snprintf(rates->port[i], sizeof rates->port[i], "%.7s", base->port[i]);
        else
            snprintf(rates->port[i], sizeof rates->port[i], "x%u", i % AS_PORTS_MOST);
}

static bool find_sets(struct as_table_work *w, struct as_port_sets *sets,
                      const enum as_saturated *probe, const struct as_uarch *base)
{
    uint64_t found[AS_SETS_MOST], known = 0;

    for (unsigned i = 0; i < sets->n; i++) {
        sets->set[i].known = base ? known_ports(base, probe[i], sets->set[i].ports) : 0;
        known |= sets->set[i].known;
    }
    if (known >> AS_PORTS_MOST || !as_port_sets_find(sets, found))
        return false;
    for (unsigned i = 0; i < sets->n; i++)
        w->rates.ports[probe[i]] = found[i];
    name_ports(&w->rates, base, known);
    return true;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

/* Pipes of 64 bytes are some of those of shorter registers. A pair would not show which shorter
 * ones stay open beside them. */
static int measure_pairs(struct as_table_work *w, struct as_port_sets *sets,
                         const enum as_saturated *probe, struct as_error *err)
{
    for (unsigned i = 0; i < sets->n; i++)
        for (unsigned j = i + 1; j < sets->n; j++) {
            const bool both_vectors = as_probe_is_vector(probe[i]) && as_probe_is_vector(probe[j]);
            double *ports = &sets->together[i][j];
            if (!both_vectors || as_probe_is_wide(probe[i]) == as_probe_is_wide(probe[j]))
                AS_TRY(ports_together(w, probe[i], probe[j], ports, err));
            else if (probe[i] == AS_PROBE_FANY)
                *ports = sets->set[i].ports;
        }
    return 0;
}

int as_measure_sharing(struct as_table_work *w, const struct as_uarch *base, struct as_error *err)
{
    enum as_saturated probe[COMPUTING];
    struct as_probe_rates *rates = &w->rates;
    const unsigned width = as_probe_ports(&w->rates, AS_PROBE_SLOTS);
    struct as_port_sets sets = {.most = width - WIDTH_LOST};
    double both, together;

    AS_TRY(pair_cycles(w, AS_PROBE_FANY, AS_PROBE_FANYZ, &both, err));
    rates->wide_are_own = both > CLOSED * 2 * PAIR_CYCLES;
    AS_TRY(ports_together(w, AS_PROBE_ALU, AS_PROBE_FANY, &together, err));
    const unsigned apart =
        as_probe_ports(rates, AS_PROBE_ALU) + as_probe_ports(rates, AS_PROBE_FANY);
    rates->alu_has_vectors = together > 0 && together < fmin(apart, width) - APART;
    if (!rates->alu_has_vectors)
        return 0; /* the groups have separate ports */
    for (size_t i = 0; i < COMPUTING; i++) {
        if (!as_probe_ports(rates, computing[i]) ||
            (as_probe_is_wide(computing[i]) && !rates->wide_are_own))
            continue;
        probe[sets.n] = computing[i];
        sets.set[sets.n++].ports = as_probe_ports(rates, computing[i]);
    }
    AS_TRY(measure_pairs(w, &sets, probe, err));
    if (!base || !find_sets(w, &sets, probe, base))
        find_sets(w, &sets, probe, NULL);
    return 0;
}
