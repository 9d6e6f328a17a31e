/* SPDX-License-Identifier: Apache-2.0 */
/* Names of variants on the command line. */
#ifndef AS_DECAN_VARIANTS_H
#define AS_DECAN_VARIANTS_H

#include <stdint.h>

#include "base/error.h"

/*
 * Parses a list such as "dl1,fp" into a bit for each as_variant_kind, and adds the kinds that
 * always run. NULL selects all. Errors: USAGE.
 */
int as_variants_parse(const char *list, uint32_t *kinds, struct as_error *err);

#endif
