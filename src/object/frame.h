/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of .eh_frame and .debug_frame: common information entries (CIEs) and frame description
 * entries (FDEs). Decodes pointers and augmentations; cfi.c interprets the instructions.
 */
#ifndef AS_OBJECT_FRAME_H
#define AS_OBJECT_FRAME_H

#include "base/read.h"
#include "base/vec.h"
#include "object/internal.h"

/* A section, or a part of a segment, that contains records. */
struct as_frame_table {
    const struct as_object *object;
    const uint8_t *at;
    uint64_t size_b;
    uint64_t address;
    uint64_t text_base, data_base; /* base addresses of DW_EH_PE_textrel and DW_EH_PE_datarel */
    bool debug; /* .debug_frame: an FDE gives the offset of its CIE; pointers are not encoded */
};

struct as_frame_cie {
    uint64_t offset; /* of the record in its table */
    bool known, good, signal_frame, sized;
    uint8_t fde_encoding, lsda_encoding;
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_column;
    struct as_read program; /* initial instructions; as_read_offset counts from the table's start */
};

struct as_frame_fde {
    uint64_t start, end;
    uint64_t lsda; /* 0 = none */
    struct as_read program;
};

/* The position of an FDE: index of its table, and offset of its record in bytes. */
struct as_frame_place {
    uint64_t record : 56;
    uint64_t table : 8;
};

/* The FDEs that a scan has found: their ranges, and their places in the same order. */
struct as_frame_list {
    AS_VEC(struct as_unwind_range) ranges;
    AS_VEC(struct as_frame_place) places;
};

/* Reads a pointer in this encoding (DW_EH_PE_*) and returns the address. A stored 0 gives 0, for
 * every base. `function` is the base of DW_EH_PE_funcrel. */
uint64_t as_frame_pointer(const struct as_frame_table *table, struct as_read *r, uint8_t encoding,
                          uint64_t function);

/* Reads the CIE at `offset` of the table. `.good` is false if there is no readable CIE. */
struct as_frame_cie as_frame_cie_read(const struct as_frame_table *table, uint64_t offset);

/*
 * Reads the record at `r`, a cursor over the table, and moves `r` to the next record. Returns true
 * for an FDE: `*body` are its contents after the CIE pointer, `*cie` is the offset of its CIE.
 * Returns false for a CIE, a terminator or a damaged record. Sets `r->bad` if the rest of the table
 * cannot be read.
 */
bool as_frame_next(const struct as_frame_table *table, struct as_read *r, struct as_read *body,
                   uint64_t *cie);

/* Reads an FDE from its contents `body`. Returns false if it is damaged, if its range is empty, or
 * if the linker removed its function. */
bool as_frame_fde_read(const struct as_frame_table *table, const struct as_frame_cie *cie,
                       struct as_read *body, struct as_frame_fde *out);

/*
 * Appends every FDE of the table to `list`. A damaged record ends the scan. With `until_zero`, a
 * terminator ends it too, for a table of unknown size. Errors: NOMEM, without a message.
 */
int as_frame_scan(const struct as_frame_table *table, uint32_t index, bool until_zero,
                  struct as_frame_list *list);

#endif
