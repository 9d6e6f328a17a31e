/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares counts, instances and the core model of the same loop: rates, and the differences
 * between them (doc/internals/vprof.md). Reads and writes facts of the experiment.
 */
#ifndef AS_TRUST_TRUST_H
#define AS_TRUST_TRUST_H

#include <stdint.h>

#include "base/error.h"
#include "experiment/experiment.h"

/* Compares the counts and times of a run; nothing without them. Replaces earlier results.
 * Errors: those of rows and values. */
int as_trust_run(struct as_experiment *experiment, int64_t run_id, struct as_error *err);

#endif
