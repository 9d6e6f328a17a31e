/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics from the table of a core and from a prediction: the widest vectors, the peaks of
 * arithmetic, loads and stores, and the causes of a path's cycles.
 */
#include <math.h>
#include <string.h>

#include "isa/packed.h"
#include "quality/cqa.h"

/* ---- Peaks --------------------------------------------------------------------------------- */

static const struct as_core_timing *timing_of(const struct as_cqa_engine *engine, enum as_part part,
                                              unsigned width_b, enum as_timing_match worst)
{
    struct as_insn insn;
    enum as_timing_match match;

    if (!as_insn_part(part, width_b, width_b, &insn))
        return NULL;
    const struct as_core_timing *timing = as_uarch_timing(engine->uarch, &insn, &match);
    return timing && match <= worst ? timing : NULL;
}

static bool is_memory_group(const char *name)
{
    return strncmp(name, "LD", 2) == 0 || strncmp(name, "AGU", 3) == 0 ||
           strncmp(name, "STA", 3) == 0 || strncmp(name, "STD", 3) == 0;
}

/* Returns the ports that compute, those of the slowest use if there are several. Sets `*times` to
 * the operations that one port starts per cycle. */
static uint64_t ports_of(const struct as_cqa_engine *engine, const struct as_core_timing *timing,
                         double *times)
{
    uint64_t found = 0;

    *times = 0;
    for (unsigned i = 0; timing && i < timing->use_n; i++) {
        const struct as_uarch_group *group = &engine->uarch->group[timing->use[i].group];
        const double each = timing->use[i].n > 0 ? 1 / (double)timing->use[i].n : 1;

        if (is_memory_group(group->name))
            continue;
        if (found &&
            each * __builtin_popcountll(group->ports) >= *times * __builtin_popcountll(found))
            continue;
        found = group->ports;
        *times = each;
    }
    return found;
}

double as_cqa_own_throughput(const struct as_uarch *uarch, const struct as_core_timing *timing)
{
    double most = timing ? (double)timing->own : 0;

    for (unsigned i = 0; timing && i < timing->use_n; i++) {
        const uint64_t ports = uarch->group[timing->use[i].group].ports;
        most = fmax(most, (double)timing->use[i].n / __builtin_popcountll(ports));
    }
    return most;
}

/* Returns the bytes of the widest vectors, by the extensions of the core, else by its table. */
static unsigned widest(const struct as_cqa_engine *engine, enum as_part part, double set,
                       uint64_t wide, uint64_t half)
{
    const uint64_t has = engine->uarch->extensions;

    if (has)
        return has & (wide | AS_EXTENSION_BIT(KNC)) ? 64 : has & half ? 32 : 16;
    if (set > 0)
        return (unsigned)set;
    for (unsigned width_b = 64; width_b > 16; width_b /= 2)
        if (timing_of(engine, part, width_b, AS_TIMING_ALIKE))
            return width_b;
    return 16;
}

/* Returns the operations per lane and cycle: FMA alone, or additions beside multiplications. */
static double operations_a_lane(const struct as_cqa_engine *engine)
{
    double fused_times, add_times, mul_times;
    const struct as_core_timing *add =
        timing_of(engine, AS_PART_ADD, engine->native_b, AS_TIMING_WIDTH);
    const struct as_core_timing *mul =
        timing_of(engine, AS_PART_MUL, engine->native_b, AS_TIMING_WIDTH);
    const struct as_core_timing *fma =
        timing_of(engine, AS_PART_FMA, engine->native_b, AS_TIMING_WIDTH);
    const uint64_t fused = ports_of(engine, fma, &fused_times);
    const uint64_t adds = ports_of(engine, add, &add_times);
    const uint64_t muls = ports_of(engine, mul, &mul_times);
    const double alone = 2 * fused_times * __builtin_popcountll(fused);
    const double beside =
        add_times * __builtin_popcountll(adds) + mul_times * __builtin_popcountll(muls & ~adds);

    return alone > beside ? alone : beside;
}

/* Returns the bytes per cycle that the table sets, else those of the best width in the table; NAN
 * if there is none. */
static double bytes_a_cycle(const struct as_cqa_engine *engine, enum as_part part, double set)
{
    double best = set;

    for (unsigned width_b = 16; !(set > 0) && width_b <= engine->native_b; width_b *= 2) {
        const double cycles =
            as_cqa_own_throughput(engine->uarch, timing_of(engine, part, width_b, AS_TIMING_ALIKE));

        best = cycles > 0 ? fmax(best, width_b / cycles) : best;
    }
    return best > 0 ? best : NAN;
}

void as_cqa_find_peaks(struct as_cqa_engine *engine)
{
    const double *set = engine->uarch->set;

    engine->native_b = widest(engine, AS_PART_ADD, set[AS_UARCH_vector_b],
                              AS_EXTENSION_BIT(AVX512F), AS_EXTENSION_BIT(AVX));
    engine->native_int_b = widest(engine, AS_PART_ADD_INTEGERS, set[AS_UARCH_vector_int_b],
                                  AS_EXTENSION_BIT(AVX512F), AS_EXTENSION_BIT(AVX2));
    const double lane = operations_a_lane(engine);
    engine->peak_f64 = lane > 0 ? lane * engine->native_b / 8 : NAN;
    engine->peak_f32 = lane > 0 ? lane * engine->native_b / 4 : NAN;
    engine->peak_load = bytes_a_cycle(engine, AS_PART_LOAD, set[AS_UARCH_load_b]);
    engine->peak_store = bytes_a_cycle(engine, AS_PART_STORE, set[AS_UARCH_store_b]);
}

/* Returns the peak for the element type of most operations. */
static double peak_of(const struct as_cqa_engine *engine, const struct as_cqa_body *body)
{
    double f32 = 0, f64 = 0;

    for (size_t i = 0; i < body->n; i++) {
        const struct as_form *form = body->item[i].form;

        f32 += form->element == AS_ELEMENT_F32 ? form->flops : 0;
        f64 += form->element == AS_ELEMENT_F64 ? form->flops : 0;
    }
    return f32 > f64 ? engine->peak_f32 : engine->peak_f64;
}

/* ---- Peak of a mix ------------------------------------------------------------------------- */

/* Adds the port cycles of the operations of a path to `busy`, as if all used the widest vectors.
 * Returns the number of operations. */
static double add_operations(const struct as_cqa_engine *engine, const struct as_cqa_body *body,
                             const struct as_prediction *p, double *busy)
{
    double operations = 0;

    for (size_t i = 0; i < p->insn_n; i++) {
        const struct as_cqa_item *item = &body->item[i];
        const struct as_core_timing *timing = p->insn[i].timing;
        const double share = (double)as_insn_width(item->form) / engine->native_b;

        if (!item->form->flops)
            continue;
        operations += item->form->flops;
        for (unsigned k = 0; timing && k < timing->use_n; k++)
            if (!is_memory_group(engine->uarch->group[timing->use[k].group].name))
                busy[timing->use[k].group] += (double)timing->use[k].n * fmin(share, 1);
    }
    return operations;
}

double as_cqa_peak_of_mix(const struct as_cqa_engine *engine, const struct as_cqa_body *body,
                          const struct as_prediction *prediction)
{
    const struct as_uarch_group *group = engine->uarch->group;
    double busy[AS_UARCH_GROUPS] = {0}, cycles = 0;
    const double operations = add_operations(engine, body, prediction, busy);

    for (unsigned i = 0; i < engine->uarch->group_n; i++)
        for (unsigned k = 0; busy[i] > 0 && k <= i; k++) {
            const uint64_t ports = group[i].ports | group[k].ports;
            double within = 0;

            for (unsigned at = 0; at < engine->uarch->group_n; at++)
                within += group[at].ports & ~ports ? 0 : busy[at];
            cycles = fmax(cycles, within / __builtin_popcountll(ports));
        }
    return cycles > 0 ? operations / cycles : 0;
}

void as_cqa_set_machine(const struct as_cqa_engine *engine, const struct as_cqa_body *body,
                        double *m)
{
    const double cache = engine->uarch->set[AS_UARCH_opcache_slots];
    const bool has_cache = engine->uarch->set[AS_UARCH_opcache_width] > 0;

    m[AS_CQA_NATIVE_B] = engine->native_b;
    m[AS_CQA_PEAK_FP_PER_CY] = fmax(m[AS_CQA_PEAK_FP_PER_CY], peak_of(engine, body));
    m[AS_CQA_PEAK_LOAD_PER_CY] = engine->peak_load;
    m[AS_CQA_PEAK_STORE_PER_CY] = engine->peak_store;
    m[AS_CQA_OPCACHE_PCT] = has_cache && cache > 0 ? 100 * m[AS_CQA_SLOT_N] / cache : NAN;
    const double buffer = engine->uarch->set[AS_UARCH_loop_buffer];
    m[AS_CQA_LOOP_BUFFER_PCT] = buffer > 0 ? 100 * m[AS_CQA_SLOT_N] / buffer : NAN;
}

/* ---- A prediction -------------------------------------------------------------------------- */

static double greatest(double a, double b, double c)
{
    return fmax(a, fmax(b, c));
}

static double or_none(double value)
{
    return value < 0 ? NAN : value;
}

static void set_front_end_metrics(const struct as_prediction *p, double *m)
{
    m[AS_CQA_FETCH_CY] = or_none(p->fetch_cy);
    m[AS_CQA_PREDECODE_CY] = or_none(p->predecode_cy);
    m[AS_CQA_DECODER_CY] = or_none(p->decoder_cy);
    m[AS_CQA_CACHED_CY] = or_none(p->cached_cy);
    m[AS_CQA_REDECODED_N] = p->fetch_cy < 0 ? NAN : p->cached_cy < 0;
    for (size_t i = 0; i < p->insn_n; i++) {
        m[AS_CQA_FUSED_N] += p->insn[i].fused;
        m[AS_CQA_MICRO_FUSED_N] += p->insn[i].micro_fused;
        m[AS_CQA_ELIMINATED_N] += p->insn[i].eliminated && !p->insn[i].fused;
        m[AS_CQA_MOVED_N] += p->insn[i].moved;
        m[AS_CQA_IDIOM_N] += p->insn[i].idiom;
        m[AS_CQA_INSN_CLASS_COMPLEX_N] += p->insn[i].slots > 4;
    }
}

/* Adds the cycles on groups of one port to `busy`. Returns true if there are any. */
static bool count_single(const struct as_cqa_engine *engine, const struct as_core_timing *timing,
                         double *busy)
{
    bool any = false;

    for (unsigned i = 0; timing && i < timing->use_n; i++) {
        const uint64_t ports = engine->uarch->group[timing->use[i].group].ports;

        if (!ports || ports & (ports - 1))
            continue;
        busy[__builtin_ctzll(ports)] += (double)timing->use[i].n;
        any = true;
    }
    return any;
}

static void set_back_end_metrics(const struct as_cqa_engine *engine, const struct as_prediction *p,
                                 double *m)
{
    static const int full[AS_BUFFERS] = {[AS_BUFFER_REORDER] = AS_CQA_FULL_REORDER_CY,
                                         [AS_BUFFER_SCHEDULER] = AS_CQA_FULL_SCHEDULER_CY,
                                         [AS_BUFFER_LOADS] = AS_CQA_FULL_LOADS_CY,
                                         [AS_BUFFER_STORES] = AS_CQA_FULL_STORES_CY};
    double busy[AS_UARCH_PORTS] = {0};

    m[AS_CQA_STORE_ADDRESS_CY] = p->store_address_cy;
    for (unsigned i = 0; i < AS_BUFFERS; i++)
        m[full[i]] = or_none(p->full_cy[i]);
    for (size_t i = 0; i < p->insn_n; i++)
        m[AS_CQA_SINGLE_PORT_N] +=
            !p->insn[i].eliminated && count_single(engine, p->insn[i].timing, busy);
    for (unsigned i = 0; i < p->port_n; i++)
        m[AS_CQA_SINGLE_PORT_CY] = fmax(m[AS_CQA_SINGLE_PORT_CY], busy[i]);
}

void as_cqa_set_prediction(const struct as_cqa_engine *engine, const struct as_prediction *p,
                           double *m)
{
    const double *bound = p->bounds;

    m[AS_CQA_SLOT_N] = p->slots;
    m[AS_CQA_CYCLES] = p->cycles;
    m[AS_CQA_RENAME_CY] = bound[AS_BOUND_DISPATCH];
    m[AS_CQA_DECODE_CY] = bound[AS_BOUND_DECODE];
    m[AS_CQA_BRANCH_CY] = bound[AS_BOUND_BRANCH];
    m[AS_CQA_FRONT_END_CY] =
        greatest(bound[AS_BOUND_DISPATCH], bound[AS_BOUND_DECODE], bound[AS_BOUND_BRANCH]);
    m[AS_CQA_BACK_END_CY] =
        greatest(bound[AS_BOUND_PORTS], bound[AS_BOUND_UNIT], bound[AS_BOUND_LATENCY]);
    const double above = greatest(m[AS_CQA_FRONT_END_CY], m[AS_CQA_BACK_END_CY], 0);
    m[AS_CQA_WINDOW_CY] = p->simulated > above ? p->simulated - above : 0;
    m[AS_CQA_PORTS_CY] = bound[AS_BOUND_PORTS];
    m[AS_CQA_LOAD_CY] = p->load_cy;
    m[AS_CQA_STORE_CY] = p->store_cy;
    m[AS_CQA_DIVIDE_CY] = p->divide_cy;
    m[AS_CQA_DIVIDE_WORST_CY] = p->divide_worst_cy;
    m[AS_CQA_CHAIN_CY] = bound[AS_BOUND_LATENCY];
    m[AS_CQA_CHAIN_N] = (double)p->chain_n;
    m[AS_CQA_ESTIMATED_N] = p->estimated_n;
    m[AS_CQA_FORWARD_FAILED_N] = p->forward_failed_n;
    m[AS_CQA_PAGE_ALIAS_N] = p->page_alias_n;
    m[AS_CQA_BRANCH_AT_END_N] = p->branch_at_end_n;
    set_front_end_metrics(p, m);
    set_back_end_metrics(engine, p, m);
}
