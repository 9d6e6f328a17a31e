/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that all lines of a core table depend on: the instructions per cycle of each saturating
 * kernel (for nops the width), and parameters of the core.
 */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "machine/uarch.h"
#include "measure/internal.h"
#include "measure/mixture.h"
#include "measure/table.h"

enum { PROBE_ROUNDS = 24, PROBE_CALM_ROUNDS = 5, PROBE_MS = 3000, PROBE_PATIENT_MS = 10000 };
#define CANARY_ABOVE 0.5 /* increments per cycle by which a canary may look too fast */

/* Measures the cycles of a kernel for the nominal number of instructions; 0: no result. */
static int kernel_cycles_once(struct as_table_work *w, const struct as_mixture *alone, double *out,
                              struct as_error *err)
{
    uint8_t bytes[AS_MIXTURE_MOST_B];
    struct as_cycles cycles = {.cycles = 0};
    const bool is_nops = alone->probe == AS_PROBE_SLOTS;
    const size_t n = as_mixture_build(alone, bytes);

    *out = 0;
    if (!n)
        return 0;
    AS_TRY(as_table_cycles(w, bytes, n, &cycles, err));
    *out =
        is_nops ? cycles.cycles * as_probe_n(alone->probe) / as_mixture_nops(alone) : cycles.cycles;
    return 0;
}

/* Nops of some lengths are slower, depending on how full the op cache lines are. Emerald Rapids has
 * width six: 5.36 per cycle of three bytes and 5.81 of five. */
static int slots_once(struct as_table_work *w, bool *better, struct as_error *err)
{
    struct as_mixture alone = {.probe = AS_PROBE_SLOTS, .repeats = 1};
    const double before = w->rates.cycles[AS_PROBE_SLOTS];
    double cycles;

    for (alone.nop = 0; alone.nop < AS_MIXTURE_IDLE; alone.nop++) {
        AS_TRY(kernel_cycles_once(w, &alone, &cycles, err));
        as_probe_slots_note(&w->rates, alone.nop >= AS_MIXTURE_NOPS, cycles);
    }
    *better |= fabs(w->rates.cycles[AS_PROBE_SLOTS] - before) > 0.005 * before;
    return 0;
}

static int probe_once(struct as_table_work *w, enum as_saturated probe, bool *better,
                      struct as_error *err)
{
    const struct as_mixture alone = {.probe = probe, .repeats = 1};
    double *best = &w->rates.cycles[probe], cycles;

    if (probe == AS_PROBE_SLOTS)
        return slots_once(w, better, err);
    AS_TRY(kernel_cycles_once(w, &alone, &cycles, err));
    if (cycles <= 0 || (*best > 0 && cycles >= *best))
        return 0;
    *better |= *best == 0 || cycles < 0.995 * *best;
    *best = cycles;
    return 0;
}

/* Returns the min slots per cycle, from the built-in table of this core and the best canary. */
static double least_width(const struct as_table_work *w)
{
    struct as_meter_state state;

    as_meter_state_get(w->meter, &state);
    return fmax(w->known_width, state.canary_best - CANARY_ABOVE);
}

/* Measures the best rate of each kernel, to which every form is compared. External load of a second
 * would affect all rounds of that second. So rounds continue until the last few found nothing
 * better. */
static int measure_probes(struct as_table_work *w, struct as_error *err)
{
    const int64_t began_ns = as_monotonic_ns(), until_ns = began_ns + PROBE_MS * INT64_C(1000000),
                  patient_ns = began_ns + PROBE_PATIENT_MS * INT64_C(1000000);
    unsigned calm = 0;

    for (unsigned round = 0;; round++) {
        const bool is_seen = as_probe_width_is_seen(&w->rates, least_width(w));
        const int64_t now_ns = as_monotonic_ns();
        const bool is_enough =
            round >= PROBE_ROUNDS || calm >= PROBE_CALM_ROUNDS || now_ns > until_ns;
        if (round > 0 && ((is_seen && is_enough) || now_ns > patient_ns || as_table_is_to_stop(w)))
            break;
        bool better = false;
        for (unsigned p = 0; p < AS_PROBES; p++)
            AS_TRY(probe_once(w, (enum as_saturated)p, &better, err));
        calm = better ? 0 : calm + 1;
    }
    const unsigned width = as_probe_ports(&w->rates, AS_PROBE_SLOTS);
    w->slot_cycles = width ? 1. / width : 0;
    return 0;
}

/* Decides the width, on which all lines depend. If it was not measured, the width of the built-in
 * table replaces it and all lines are noisy. Returns false if there is none, so nothing can be
 * measured. */
static bool settle_width(struct as_table_work *w, struct as_instruction_result *result)
{
    double *cycles = &w->rates.cycles[AS_PROBE_SLOTS];
    const double seen = *cycles > 0 ? as_probe_n(AS_PROBE_SLOTS) / *cycles : 0;

    if (as_probe_width_is_seen(&w->rates, least_width(w)))
        return true;
    result->is_refused = w->known_width == 0;
    snprintf(result->doubt, sizeof result->doubt,
             "instructions: %s: external load disturbed this core for %d s (at best %.2f slots "
             "per cycle, not its width): repeat on a quiet machine",
             result->is_refused ? "not measured" : "of little trust, all of them",
             PROBE_PATIENT_MS / 1000, seen);
    w->is_doubted = true;
    if (w->known_width > 0)
        *cycles = as_probe_n(AS_PROBE_SLOTS) / w->known_width;
    w->slot_cycles = w->known_width > 0 ? 1 / w->known_width : 0;
    return !result->is_refused;
}

const char *as_table_base(const struct as_host *host)
{
    struct as_core core;

    as_core_of_host(host, &core);
    return core.table;
}

/* Returns a parameter of the built-in table of this core, or `otherwise`. */
static double known_parameter(const struct as_host *host, enum as_uarch_parameter which,
                              double otherwise)
{
    const char *name = as_table_base(host);
    struct as_uarch *uarch = NULL;
    struct as_error err;
    double value = otherwise;

    if (name && as_uarch_open(name, &uarch, &err) == 0)
        value = uarch->set[which];
    as_uarch_free(&uarch);
    return value;
}

static void compare_with_base(struct as_table_work *w)
{
    const char *name = as_table_base(w->host);
    struct as_uarch *uarch = NULL;
    struct as_error err;

    if (name && as_uarch_open(name, &uarch, &err) == 0)
        as_parameters_compare(&w->parameters, uarch);
    as_uarch_free(&uarch);
}

static int share_ports(struct as_table_work *w, struct as_error *err)
{
    const char *name = as_table_base(w->host);
    struct as_uarch *uarch = NULL;
    struct as_error unread;

    if (name && as_uarch_open(name, &uarch, &unread) < 0)
        uarch = NULL;
    const int rc = as_measure_sharing(w, uarch, err);
    as_uarch_free(&uarch);
    return rc;
}

/* Measures parameters of the core; windows and front end only for a complete table. */
static int measure_parameters(struct as_table_work *w, struct as_error *err)
{
    struct as_parameter_work work = {.meter = w->meter,
                                     .host = w->host,
                                     .stop = w->options->stop,
                                     .width = as_probe_ports(&w->rates, AS_PROBE_SLOTS),
                                     .nops_fuse = w->rates.nops_fuse,
                                     .list = &w->parameters};
    w->load_fp = known_parameter(w->host, AS_UARCH_load_fp, 6); /* of most cores */
    struct as_parameter *width = as_parameter_add(&w->parameters, "dispatch_width", "slots");

    width->value = work.width;
    width->spread = as_probe_spread(&w->rates, AS_PROBE_SLOTS);
    width->is_noisy = w->is_doubted;
    AS_TRY(as_measure_chains(&work, err));
    w->half_trip = work.half_trip;
    AS_TRY(as_measure_bypass(w, err));
    AS_TRY(share_ports(w, err));
    if (w->options->code_n)
        return 0;
    AS_TRY(as_measure_front_end(&work, err));
    AS_TRY(as_measure_windows(&work, err));
    compare_with_base(w);
    return 0;
}

int as_table_core(struct as_table_work *w, struct as_instruction_result *result,
                  struct as_error *err)
{
    struct as_core core;

    as_core_of_host(w->host, &core);
    w->known_width = core.is_nearest ? 0 : known_parameter(w->host, AS_UARCH_dispatch_width, 0);
    AS_TRY(measure_probes(w, err));
    if (!as_table_is_to_stop(w) && !settle_width(w, result))
        return 0;
    return measure_parameters(w, err);
}
