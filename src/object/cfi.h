/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame instructions to rows. Knows the instructions, not where records are found (frame.h)
 * nor how rows are kept (rows.c).
 */
#ifndef AS_OBJECT_CFI_H
#define AS_OBJECT_CFI_H

#include "object/frame.h"

/* Rows of one FDE under construction; `rule` of a row holds an index into `rules` until moved. */
struct as_cfi_row {
    uint64_t start, end;
    uint32_t first_rule;
    int32_t cfa_value;
    uint8_t cfa_kind, cfa_register, rule_n;
};

struct as_cfi_rows {
    AS_VEC(struct as_cfi_row) row;
    AS_VEC(struct assay_unwind_rule) rule;
};

/*
 * Runs the instructions of `cie` and `fde` and fills `out` (emptied first): rows without gaps over
 * the FDE's range. From the first instruction that cannot be run on, the row has ASSAY_CFA_NONE.
 * Errors: NOMEM, without a sentence.
 */
int as_cfi_rows_of(const struct as_frame_table *table, const struct as_frame_cie *cie,
                   const struct as_frame_fde *fde, struct as_cfi_rows *out);

#endif
