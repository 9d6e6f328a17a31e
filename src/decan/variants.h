/* SPDX-License-Identifier: Apache-2.0 */
/* Variants by the names that users write. */
#ifndef AS_DECAN_VARIANTS_H
#define AS_DECAN_VARIANTS_H

#include <stdint.h>

#include <assay/error.h>

/* "dl1,fp" as a bit for each as_variant_kind, with those that are always there; NULL: all. Errors:
 * USAGE. */
int as_variants_parse(const char *list, uint32_t *kinds, struct assay_error *err);

#endif
