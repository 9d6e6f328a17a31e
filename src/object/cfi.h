/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interprets call frame instructions and yields unwind rows. frame.h finds the records, rows.c
 * stores the rows.
 */
#ifndef AS_OBJECT_CFI_H
#define AS_OBJECT_CFI_H

#include "object/frame.h"

/* A row of the FDE being decoded. Its rules are as_cfi_rows.rule[first_rule, first_rule + rule_n).
 */
struct as_cfi_row {
    uint64_t start, end;
    uint32_t first_rule;
    int32_t cfa_value;
    uint8_t cfa_kind, cfa_register, rule_n;
};

struct as_cfi_rows {
    AS_VEC(struct as_cfi_row) row;
    AS_VEC(struct as_unwind_rule) rule;
};

/*
 * Runs the instructions of `cie` and `fde` and replaces the contents of `out`. The rows cover the
 * FDE's range without gaps. The code after a damaged instruction gets a row with AS_CFA_NONE.
 * Errors: NOMEM, without a message.
 */
int as_cfi_rows_of(const struct as_frame_table *table, const struct as_frame_cie *cie,
                   const struct as_frame_fde *fde, struct as_cfi_rows *out);

#endif
