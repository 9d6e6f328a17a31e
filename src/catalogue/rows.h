/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files that write rows. */
#ifndef AS_CATALOGUE_ROWS_H
#define AS_CATALOGUE_ROWS_H

#include "catalogue/internal.h"

/* Id of a unit's row, 0 for ASSAY_NONE. The tables of ids are ready. */
int as_rows_unit(struct as_catalogue_entry *entry, uint32_t unit, int64_t *id,
                 struct assay_error *err);

/* What the row of a block is; what it refers to is added. */
int as_rows_block(struct as_catalogue_entry *entry, uint32_t block, struct assay_row_block *row,
                  struct assay_error *err);

#endif
