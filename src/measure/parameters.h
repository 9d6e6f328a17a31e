/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measured parameters of a core: their values, the reasons for missing values, and the table lines
 * and figures made from them.
 */
#ifndef AS_MEASURE_PARAMETERS_H
#define AS_MEASURE_PARAMETERS_H

#include "base/str.h"
#include "machine/machine.h"
#include "machine/uarch.h"
#include "measure/measure.h"

#define AS_PARAMETERS_MOST 64

struct as_parameter {
    const char *name; /* as in core tables; static */
    const char *unit; /* "cycles", "entries", "slots"; "": yes or no */
    double value;
    double spread; /* relative; negative: unknown */
    unsigned sample_n;
    bool is_noisy;
    char missing_why[160]; /* why it was not measured; "": it was */
    char doubt[160];       /* why it is noisy, in addition to the gate; "": none */
};

struct as_parameter_list {
    struct as_parameter at[AS_PARAMETERS_MOST];
    size_t n;
};

/* Returns an empty parameter with this name: a new one, an existing one, or the last one of a full
 * list. */
struct as_parameter *as_parameter_add(struct as_parameter_list *list, const char *name,
                                      const char *unit);
const struct as_parameter *as_parameter_find(const struct as_parameter_list *list,
                                             const char *name);

/* Marks sizes far below those of the built-in table of this core as doubtful. A process that always
 * runs on the other hardware thread uses a part of them. */
void as_parameters_compare(struct as_parameter_list *list, const struct as_uarch *known);
/* Rounds cycles to a whole number, or to a whole number per cycle, if the spread permits it.
 * Otherwise rounds to two digits. */
double as_cycles_whole(double cycles, double spread);

/* Appends lines "set\tNAME\tVALUE\tm1 1.0%". A missing value is '-'. A noisy value becomes a
 * comment if `has_base`, because the other table is better. */
void as_parameters_append(struct as_str *to, const struct as_parameter_list *list, bool has_base);
/* Stores figures "core.NAME" and a finding for each missing value. Errors: NOMEM. */
int as_parameters_keep(const struct as_parameter_list *list, struct as_figures *figures,
                       struct as_error *err);

/* ---- Measurements -------------------------------------------------------------------------- */

struct as_parameter_work {
    struct as_meter *meter;
    const struct as_host *host;
    const volatile int *stop; /* may be NULL */
    unsigned width;           /* slots renamed per cycle; 0: unknown */
    bool nops_fuse;           /* a nop has no slot of its own */
    /* Half of the latency from a general register to a vector register and back. */
    double half_trip;
    struct as_parameter_list *list;
    /* Gives the cycles of an iteration with `n` instructions behind each load on a simulated core
     * of a test. NULL: measured. */
    void (*made_up)(void *context, const char *name, unsigned n, struct as_cycles *out);
    void *context;
};

/* Measures the sizes of structures that hold instructions in flight (windows.c). Errors: NOMEM, IO,
 * INTERNAL. */
int as_measure_windows(struct as_parameter_work *w, struct as_error *err);
/* Measures branches, their fusion, and the op cache (branches.c). */
int as_measure_front_end(struct as_parameter_work *w, struct as_error *err);
/* Measures loads, forwarding and dependency-breaking idioms (parameters.c). */
int as_measure_chains(struct as_parameter_work *w, struct as_error *err);

/* Judges the curve of one structure: sets `value` from its knee, or the reason why there is none.
 * `more` is added for the loads. `beyond` is the size of the structure that holds all instructions
 * and may fill first; 0: none. Sorts `x` and `y` by x. */
void as_window_judge(struct as_parameter *p, double *x, double *y, size_t n, double beyond,
                     double more);

/* Combines `n` measurements of one structure. Uses the largest, because the other hardware thread
 * only takes entries away. Returns true if another measurement agrees with it. */
bool as_window_agree(const struct as_parameter *pass, size_t n, struct as_parameter *out);

/* Decides whether a pair of instructions shares a slot, from its cycles `pair`. One instruction
 * takes `one` cycles, and two that never share a slot take `two`. */
void as_fusion_judge(struct as_parameter *p, double one, double two, double pair);

#endif
