/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations by name, made of data/semantic. */
#ifndef AS_SEMANTIC_READY_H
#define AS_SEMANTIC_READY_H

#include <stddef.h>

struct as_ready {
    const char *name, *description;
    const char *text; /* of its .cfg */
};

extern const struct as_ready as_ready_configurations[];
extern const size_t as_ready_n;

#endif
