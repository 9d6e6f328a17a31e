/* SPDX-License-Identifier: Apache-2.0 */
/* Regions that the program names (<assay/assay.h>), as calls in its trace. */
#ifndef AS_AGENT_TRACER_REGIONS_H
#define AS_AGENT_TRACER_REGIONS_H

#include <stdbool.h>

/* This thread enters, or leaves, what `name` stands for; nothing where it is not traced. */
void as_tracer_region(const char *name, bool enters);
/* In the child of a fork: who was just naming one is not there. */
void as_tracer_regions_forked(void);

#endif
