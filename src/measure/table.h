/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What measuring a table of a core works on, for the files that measure its forms.
 */
#ifndef AS_MEASURE_TABLE_H
#define AS_MEASURE_TABLE_H

#include <stdatomic.h>
#include <stdio.h>

#include <assay/machine.h>
#include <assay/measure.h>

#include "measure/parameters.h"
#include "measure/timing.h"

struct as_table_work {
    struct assay_meter *meter;
    struct as_form_list forms;
    struct as_probe_rates rates;
    const struct assay_host *host;
    const struct assay_instruction_options *options;
    FILE *lines;
    struct as_parameter_list parameters;
    double slot_cycles; /* of one slot: 1 / width */
    double half_trip;   /* general register to vector register or back: half of both; 0 unknown */
    double known_width; /* slots a cycle by the program's table of this core; 0: it has none */
    double load_fp;     /* of a load to a vector register, by the program's table of this core */
    double multiply;    /* of a multiplication of vectors in a chain; 0: not known */
    double late;        /* more that results of additions take to a multiplication; 0: none */
    /* A core that tests make up, in the meter's place; NULL: blocks are measured. */
    void (*made_up)(const uint8_t *bytes, size_t n, struct assay_cycles *out);
    bool is_doubted; /* the width was not seen: every line is of little trust */
    bool puts_off;   /* what others disturb is left for a second pass */
    size_t measured_n, refused_n, noisy_n;
    struct assay_meter_options meter_options; /* that `meter` was made with, and others may be */
    double waited_most_s;   /* at the gate, in all; then nobody is patient any more */
    double waited_s;        /* by workers, in the mean */
    _Atomic uint64_t *done; /* counts forms that have their line; NULL: nobody asks */
};

/* Leaves out forms that are not asked for, or cannot be measured. */
void as_table_want(struct as_table_work *w);
/* Lines of all forms that are wanted: those that others disturbed last, and once more. Ends early
 * where the options say so. */
int as_table_forms(struct as_table_work *w, struct assay_error *err);
/* Seconds that were lost at the gate, here and by workers. */
double as_table_waited_s(const struct as_table_work *w);

/* Cycles of a block, 0 where there are none; what came of it in `out`. */
int as_table_cycles(struct as_table_work *w, const uint8_t *bytes, size_t n,
                    struct assay_cycles *out, struct assay_error *err);

/* Measures again what is `out`, until the two lowest agree to a part in hundred, at most four
 * times. */
int as_table_settle(struct as_table_work *w, const uint8_t *bytes, size_t n,
                    struct assay_cycles *out, struct assay_error *err);
/* As as_table_cycles, of a chain: its cycles are whole, or measured again. */
int as_table_chain(struct as_table_work *w, const uint8_t *bytes, size_t n,
                   struct assay_cycles *out, struct assay_error *err);

/* Which kernels share ports, into the rates; theirs are measured by then. `base` may be NULL. */
int as_measure_sharing(struct as_table_work *w, const struct assay_uarch *base,
                       struct assay_error *err);

/* ---- Inside kernels (form_mixtures.c) ----------------------------------------------------------
 */

/* Cycles of kernels with instances in them; `each` of `t` is measured by then. */
int as_form_mixtures(struct as_table_work *w, const struct as_form_case *one, struct as_timing *t,
                     struct assay_error *err);

/* ---- Chains through a form (form_chains.c) ----------------------------------------------------
 */

/* What results of additions of vectors take more to a multiplication than to an addition. */
int as_measure_bypass(struct as_table_work *w, struct assay_error *err);
/* Latencies of `t`: through each operand, flags, registers that are implied, behind a load. */
int as_form_latencies(struct as_table_work *w, const struct as_form_case *one, struct as_timing *t,
                      struct assay_error *err);
/* What divisions take by their values; latencies and what one takes alone are measured by then. */
int as_form_divisions(struct as_table_work *w, const struct as_form_case *one, struct as_timing *t,
                      struct assay_error *err);
/* Whether its results are late for a multiplication; its uses are measured by then. */
int as_form_lateness(struct as_table_work *w, const struct as_form_case *one, struct as_timing *t,
                     struct assay_error *err);

#endif
