/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of a core table measurement, for the files that measure its forms.
 */
#ifndef AS_MEASURE_TABLE_H
#define AS_MEASURE_TABLE_H

#include <stdatomic.h>
#include <stdio.h>

#include "machine/machine.h"
#include "measure/measure.h"
#include "measure/parameters.h"
#include "measure/timing.h"

struct as_table_work {
    struct as_meter *meter;
    struct as_form_list forms;
    struct as_probe_rates rates;
    const struct as_host *host;
    const struct as_instruction_options *options;
    FILE *lines;
    struct as_parameter_list parameters;
    double slot_cycles; /* cycles of one slot: 1 / width */
    /* Half of the latency from a general register to a vector register and back; 0: unknown. */
    double half_trip;
    double known_width; /* slots per cycle in the built-in table of this core; 0: none */
    double load_fp;     /* latency of a vector load in the built-in table */
    double multiply;    /* latency of a vector multiplication in a chain; 0: unknown */
    /* Extra latency from an addition to a multiplication; 0: none. */
    double late;
    /* Simulated core of a test instead of the meter; NULL: blocks are measured. */
    void (*made_up)(const uint8_t *bytes, size_t n, struct as_cycles *out);
    bool is_doubted; /* the width was not measured, so every line is noisy */
    bool puts_off;   /* forms with external load are left for a second pass */
    size_t measured_n, refused_n, noisy_n;
    struct as_meter_options meter_options; /* options of `meter`, for further meters */
    /* Max total time lost at the gate; beyond it, blocks wait only a short time. */
    double waited_most_s;
    double waited_s;        /* mean time lost by workers */
    _Atomic uint64_t *done; /* counts finished forms; NULL: not counted */
};

/* Removes forms that are not requested or cannot be measured. */
void as_table_want(struct as_table_work *w);
/* Measures the lines of all wanted forms. Forms with external load are measured last, once more.
 * Ends early if the options request it. */
int as_table_forms(struct as_table_work *w, struct as_error *err);
/* Returns the seconds lost at the gate, here and by workers. */
double as_table_waited_s(const struct as_table_work *w);

/* ---- What all lines rest on (core_probes.c) -------------------------------------------------- */

/* Measures the rates of all kernels, the width, shared ports and parameters into `w`. Doubts and
 * refusals because of external load go to `result`. */
int as_table_core(struct as_table_work *w, struct as_instruction_result *result,
                  struct as_error *err);
/* Returns the name of the built-in table of this core, or NULL. */
const char *as_table_base(const struct as_host *host);

static inline bool as_table_is_to_stop(const struct as_table_work *w)
{
    return w->options->stop && *w->options->stop;
}

/* Measures a block into `out`. Its cycles are 0 without a result. */
int as_table_cycles(struct as_table_work *w, const uint8_t *bytes, size_t n, struct as_cycles *out,
                    struct as_error *err);

/* Repeats the measurement in `out` until a repetition agrees with the lowest to 1 %, at most three
 * times. */
int as_table_settle(struct as_table_work *w, const uint8_t *bytes, size_t n, struct as_cycles *out,
                    struct as_error *err);
/* As as_table_cycles for a chain: its cycles are whole, or it is measured again. */
int as_table_chain(struct as_table_work *w, const uint8_t *bytes, size_t n, struct as_cycles *out,
                   struct as_error *err);

/* Finds the kernels that share ports and stores them in the rates. The kernels must be measured.
 * `base` may be NULL. */
int as_measure_sharing(struct as_table_work *w, const struct as_uarch *base, struct as_error *err);

/* ---- Inside kernels (form_mixtures.c) -------------------------------------------------------- */

/* Measures kernels with instances of a form. `each` of `t` must be measured. */
int as_form_mixtures(struct as_table_work *w, const struct as_form_case *one, struct as_timing *t,
                     struct as_error *err);

/* ---- Chains through a form (form_chains.c) --------------------------------------------------- */

/* Measures the extra latency of results of vector additions to a multiplication. */
int as_measure_bypass(struct as_table_work *w, struct as_error *err);
/* Measures the latencies of `t`: through each operand, flags and implied registers, and behind a
 * load. */
int as_form_latencies(struct as_table_work *w, const struct as_form_case *one, struct as_timing *t,
                      struct as_error *err);
/* Measures divisions with different values. Latencies and `each` must be measured. */
int as_form_divisions(struct as_table_work *w, const struct as_form_case *one, struct as_timing *t,
                      struct as_error *err);
/* Finds out whether results come late to a multiplication. The uses must be measured. */
int as_form_lateness(struct as_table_work *w, const struct as_form_case *one, struct as_timing *t,
                     struct as_error *err);

#endif
