/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What counts, instances and the model of the core say of the same loop, held to each other: rates,
 * and how far each is from the other (doc/internals/vprof.md). Reads and writes facts of the
 * experiment.
 */
#ifndef ASSAY_TRUST_H
#define ASSAY_TRUST_H

#include <stdint.h>

#include <assay/error.h>
#include <assay/experiment.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of a run, as far as it was counted or timed; nothing where it was neither. Replaces what was said
 * before. Errors: those of rows and values. */
int assay_trust_run(struct assay_experiment *experiment, int64_t run_id, struct assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
