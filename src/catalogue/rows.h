/* SPDX-License-Identifier: Apache-2.0 */
/* Functions shared by the files of the catalogue that write rows. */
#ifndef AS_CATALOGUE_ROWS_H
#define AS_CATALOGUE_ROWS_H

#include "catalogue/internal.h"

/* Sets `id` to the row id of a unit, or to 0 for AS_NONE. Call as_rows_ready first. */
int as_rows_unit(struct as_catalogue_entry *entry, uint32_t unit, int64_t *id,
                 struct as_error *err);

/* Fills the row of a block and adds the rows that it refers to. */
int as_rows_block(struct as_catalogue_entry *entry, uint32_t block, struct as_row_block *row,
                  struct as_error *err);

#endif
