/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding into records that are reused: who decodes a binary piece by piece keeps one set a
 * thread and asks the heap once.
 */
#ifndef AS_ISA_DECODE_H
#define AS_ISA_DECODE_H

#include <assay/isa.h>

#include "base/vec.h"

/* Zero-initialised is empty; released by as_records_fini. */
struct as_records {
    AS_VEC(struct assay_insn) insn;
    AS_VEC(struct assay_wide) wide; /* indices into `insn` */
    size_t invalid_n;
    struct as_recent *recent; /* recipes of the instructions decoded last */
};

/* As assay_decode_ranges; what `out` held before is dropped, its memory used again. */
int as_records_decode(struct as_records *out, const struct assay_bytes *range, size_t n,
                      size_t *first, struct assay_error *err);
void as_records_fini(struct as_records *records);

#endif
