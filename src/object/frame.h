/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of call frame information as they stand in .eh_frame and .debug_frame: common
 * information entries (CIEs) and frame description entries (FDEs). Knows the encodings of pointers
 * and augmentations, not the meaning of the instructions (cfi.c).
 */
#ifndef AS_OBJECT_FRAME_H
#define AS_OBJECT_FRAME_H

#include "base/read.h"
#include "base/vec.h"
#include "object/internal.h"

/* One section (or segment part) of records. */
struct as_frame_table {
    const struct assay_object *object;
    const uint8_t *at;
    uint64_t size_b;
    uint64_t address;
    uint64_t text_base, data_base; /* what DW_EH_PE_textrel and _datarel are relative to */
    bool debug;                    /* .debug_frame: CIEs are named by offset, pointers are plain */
};

struct as_frame_cie {
    uint64_t offset; /* of the record in its table */
    bool known, good, signal_frame, sized;
    uint8_t fde_encoding, lsda_encoding;
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_column;
    struct as_read program; /* initial instructions; offsets are of the table */
};

struct as_frame_fde {
    uint64_t start, end;
    uint64_t lsda; /* 0 = none */
    struct as_read program;
};

/* Where an FDE stands: table, and the offset of its record. */
struct as_frame_place {
    uint64_t record : 56;
    uint64_t table : 8;
};

/* The list under construction of a scan: ranges and, beside each, its place. */
struct as_frame_list {
    AS_VEC(struct assay_unwind_range) ranges;
    AS_VEC(struct as_frame_place) places;
};

/* A pointer as encoded (DW_EH_PE_*); a stored 0 means "none" whatever its base. */
uint64_t as_frame_pointer(const struct as_frame_table *table, struct as_read *r, uint8_t encoding,
                          uint64_t function);

/* `.good` is false when the record is not a CIE that can be read. */
struct as_frame_cie as_frame_cie_read(const struct as_frame_table *table, uint64_t offset);

/*
 * Passes the record at `r` (a cursor over the table) and tells what it is: its contents behind the
 * CIE pointer are `*body`, its CIE's offset `*cie`. False for a CIE, a terminator and damage;
 * `r->bad` when nothing after it can be read either.
 */
bool as_frame_next(const struct as_frame_table *table, struct as_read *r, struct as_read *body,
                   uint64_t *cie);

/* Reads the FDE whose contents are `body`; false when damaged, empty, or dropped by the linker. */
bool as_frame_fde_read(const struct as_frame_table *table, const struct as_frame_cie *cie,
                       struct as_read *body, struct as_frame_fde *out);

/*
 * Appends every FDE of the table to `list`; a damaged record ends the table. `until_zero`: the end
 * is known only by the terminator. Errors: NOMEM, without a sentence.
 */
int as_frame_scan(const struct as_frame_table *table, uint32_t index, bool until_zero,
                  struct as_frame_list *list);

#endif
