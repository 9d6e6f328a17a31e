/* SPDX-License-Identifier: Apache-2.0 */
/* What may be tried, of data/try/, made by tools/gen-advice.py: what the texts mean is said there.
 */
#ifndef AS_TRIAL_TABLES_H
#define AS_TRIAL_TABLES_H

#include <assay/trial.h>

struct as_try_row {
    const char *name, *title, *group;
    unsigned what; /* ASSAY_TRIAL_* */
    /* NULL where it has none. */
    const char *env, *preload, *wrap, *launcher, *ranks, *flags, *train, *merge, *compiler, *when,
        *finding;
};

extern const struct as_try_row as_trial_try[];
extern const size_t as_trial_try_n;

#endif
