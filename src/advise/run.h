/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the pass share. */
#ifndef AS_ADVISE_RUN_H
#define AS_ADVISE_RUN_H

#include "advise/advise.h"
#include "base/str.h"

/* Owner of the findings, checks, what-ifs and metrics of this pass, for as_experiment_forget. */
#define AS_ADVISE_PASS "advise"

struct as_advice {
    struct as_experiment *experiment;
    int64_t run_id;
    double time_s;         /* wall time of the run; 0 = not known */
    struct as_str columns; /* of the set `cqa`, a blank around each */
};

/* What statements may ask of the experiment. Errors: NOMEM, those of reading. */
int as_advice_open(struct as_advice *advice, struct as_error *err);
void as_advice_close(struct as_advice *advice);

/* Opens a statement whose ?1 is the run. */
int as_advice_open_rows(const struct as_advice *advice, const char *sql, struct as_rows **rows,
                        struct as_error *err);

/* Seconds off the run as a factor of its speed. */
double as_advice_factor(const struct as_advice *advice, double gain_s);
/* The level that a statement names; 0: none. */
enum as_level as_advice_level(const char *word);
/* Whether rules of that topic about such objects are wanted. */
bool as_advice_chosen(const struct as_rule_choice *choice, const char *topic,
                      enum as_object_kind object);

/* What the chosen rules of data/advise/ find; what lessens trust. */
int as_advise_findings(const struct as_advice *advice, const struct as_rule_choice *choice,
                       struct as_error *err);
int as_advise_flags(const struct as_advice *advice, struct as_error *err);

/* Computes and writes the what-ifs of data/advise/. */
int as_advise_what_ifs(const struct as_advice *advice, struct as_error *err);
/* Seconds of the run per second of computing, where threads queued for CPUs. */
int as_advise_stretch(const struct as_advice *advice, struct as_saving_factor *out,
                      struct as_error *err);

#endif
