/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes into records that are used again. A caller that decodes a binary in pieces keeps one set
 * per thread and seldom allocates.
 */
#ifndef AS_ISA_DECODE_H
#define AS_ISA_DECODE_H

#include "base/vec.h"
#include "isa/isa.h"

/* Zero bytes are a valid empty set; as_records_fini releases the memory. */
struct as_records {
    AS_VEC(struct as_insn) insn;
    AS_VEC(struct as_wide) wide; /* indices into `insn` */
    size_t invalid_n;
    struct as_recent *recent; /* recipes of the last instructions */
};

/* Does the same as as_decode_ranges. `out` loses its contents and keeps its memory. */
int as_records_decode(struct as_records *out, const struct as_bytes *range, size_t n, size_t *first,
                      struct as_error *err);
void as_records_fini(struct as_records *records);

#endif
