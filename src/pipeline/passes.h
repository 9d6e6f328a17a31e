/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in passes; see passes.c. */
#ifndef AS_PIPELINE_PASSES_H
#define AS_PIPELINE_PASSES_H

#include "pipeline/pipeline.h"

/* Fact that every recorded run has. */
#define AS_PASS_SAMPLES "samples"

extern const struct as_pass as_passes[];
extern const size_t as_pass_n;

#endif
