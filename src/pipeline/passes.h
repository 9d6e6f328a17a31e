/* SPDX-License-Identifier: Apache-2.0 */
/* The passes of the house, see passes.c. */
#ifndef AS_PIPELINE_PASSES_H
#define AS_PIPELINE_PASSES_H

#include <assay/pipeline.h>

/* What a run that is in the experiment already has. */
#define AS_PASS_SAMPLES "samples"

extern const struct assay_pass as_passes[];
extern const size_t as_pass_n;

#endif
