/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the pass share. */
#ifndef AS_ADVISE_RUN_H
#define AS_ADVISE_RUN_H

#include <assay/advise.h>

/* Whose findings, checks, what-ifs and metrics these are: assay_experiment_forget. */
#define AS_ADVISE_PASS "advise"

struct as_advice {
    struct assay_experiment *experiment;
    int64_t run_id;
    double time_s; /* wall time of the run; 0 = not known */
};

/* Computes and writes the what-ifs of data/advise/. */
int as_advise_what_ifs(const struct as_advice *advice, struct assay_error *err);

#endif
