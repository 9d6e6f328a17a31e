/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters of a core as they are measured: what is seen, what was looked for and not seen, and
 * the lines and figures that they become.
 */
#ifndef AS_MEASURE_PARAMETERS_H
#define AS_MEASURE_PARAMETERS_H

#include <assay/machine.h>
#include <assay/measure.h>
#include <assay/uarch.h>

#include "base/str.h"

#define AS_PARAMETERS_MOST 64

struct as_parameter {
    const char *name; /* as tables of cores have it; static */
    const char *unit; /* "cycles", "entries", "slots"; "": yes or no */
    double value;
    double spread; /* relative; below 0: not known */
    unsigned sample_n;
    bool is_noisy;
    char missing_why[160]; /* why it was not seen; "": it was */
    char doubt[160];       /* why it is noisy, beside what the gate says; "": nothing */
};

struct as_parameter_list {
    struct as_parameter at[AS_PARAMETERS_MOST];
    size_t n;
};

/* A parameter of the list, emptied where it is there; the last one again when the list is full. */
struct as_parameter *as_parameter_add(struct as_parameter_list *list, const char *name,
                                      const char *unit);
const struct as_parameter *as_parameter_find(const struct as_parameter_list *list,
                                             const char *name);

/* Doubts what has far fewer entries than the program's table of this core: who runs on the other
 * hardware thread all the time has his part of them. */
void as_parameters_compare(struct as_parameter_list *list, const struct assay_uarch *known);
/* Cycles as cores have them, whole or a whole number in a cycle, where a measurement of this spread
 * means that; else to two digits. */
double as_cycles_whole(double cycles, double spread);

/* Lines "set\tNAME\tVALUE\tm1 1.0%"; what was not seen has '-' for a value, what was noisy is a
 * comment where `has_base` says that another table knows better. */
void as_parameters_append(struct as_str *to, const struct as_parameter_list *list, bool has_base);
/* Figures "core.NAME", and a finding for each that was not seen. Errors: NOMEM. */
int as_parameters_keep(const struct as_parameter_list *list, struct assay_figures *figures,
                       struct assay_error *err);

/* ---- What is measured -------------------------------------------------------------------------
 */

struct as_parameter_work {
    struct assay_meter *meter;
    const struct assay_host *host;
    const volatile int *stop; /* may be NULL */
    unsigned width;           /* slots renamed a cycle; 0: not known */
    bool nops_fuse;           /* a nop has no slot of its own */
    double half_trip;         /* general register to vector register or back: half of both */
    struct as_parameter_list *list;
    /* Cycles of an iteration with `n` instructions behind each load, of a core that tests make up;
     * NULL: measured. */
    void (*made_up)(void *context, const char *name, unsigned n, struct assay_cycles *out);
    void *context;
};

/* Sizes of what holds instructions in flight (windows.c). Errors: NOMEM, IO, INTERNAL. */
int as_measure_windows(struct as_parameter_work *w, struct assay_error *err);
/* Branches, fusion with them, and the op cache (branches.c). */
int as_measure_front_end(struct as_parameter_work *w, struct assay_error *err);
/* Loads, forwarding, and what breaks chains (parameters.c). */
int as_measure_chains(struct as_parameter_work *w, struct assay_error *err);

/* Decides of the curve of one structure: `value` seen at its knee, or why not. `beyond` is the size
 * of what holds all of them and would fill first; 0: none. Sorts `x` and `y` by x. */
void as_window_judge(struct as_parameter *p, double *x, double *y, size_t n, double beyond,
                     double more);

/* What `n` measurements of one structure say together: the largest, as who runs on the other
 * hardware thread only takes entries away. True where another one agrees with it. */
bool as_window_agree(const struct as_parameter *pass, size_t n, struct as_parameter *out);

/* Whether a pair that takes `pair` cycles takes one slot or two, where one instruction takes `one`
 * and two that never share one take `two`. */
void as_fusion_judge(struct as_parameter *p, double one, double two, double pair);

#endif
