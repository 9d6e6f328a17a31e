/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What compilers recorded of their own work: clang's -fsave-optimization-record (.opt.yaml), gcc's
 * -fsave-optimization-record (.opt-record.json.gz), and the text of gcc's -fopt-info. Records of
 * several files and kinds become one table by source file and line. Part of the room quality/.
 */
#ifndef AS_QUALITY_REMARKS_H
#define AS_QUALITY_REMARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum assay_remark_kind {
    ASSAY_REMARK_DONE,   /* an optimisation was made */
    ASSAY_REMARK_MISSED, /* one was not, or why */
};

struct assay_remark {
    const char *file;      /* as the compiler was given it; "" = not said */
    const char *function;  /* linkage name; "" = not said */
    const char *pass;      /* "vect", "slp1", "loop-vectorize", ...; "" in gcc's text */
    const char *text;      /* one line, without controls */
    uint32_t line, column; /* 0 = not said */
    uint32_t width_b;      /* vectors of so many bytes (gcc), 0 = not said */
    uint32_t lanes;        /* values in a vector (clang), 0 = not said */
    uint8_t kind;          /* assay_remark_kind */
    bool vector;           /* it is about vectors, of loops or of statements side by side */
};

struct assay_remarks {
    struct assay_remark *at; /* by last part of the file's path, line, column; none twice */
    size_t n;
    size_t dropped_n; /* beyond ASSAY_REMARKS_MOST */
    struct assay_remarks_memory *memory;
};
#define ASSAY_REMARKS_MOST   1000000u
#define ASSAY_REMARKS_MOST_B ((size_t)512 << 20) /* of one file, unpacked */

/* Empty; released by assay_remarks_free. Errors: NOMEM. */
int assay_remarks_new(struct assay_remarks **out, struct assay_error *err);
void assay_remarks_free(struct assay_remarks **remarks);

/*
 * Adds the records of a file, whatever of the three kinds it is. Nothing is added on failure.
 * Errors: IO, UNSUPPORTED (no such record), CORRUPT, LIMIT (too large), NOMEM, those of opening.
 */
int assay_remarks_add(struct assay_remarks *remarks, const char *path, struct assay_error *err);
/* The same of bytes in memory; `name` is what errors call them. */
int assay_remarks_parse(struct assay_remarks *remarks, const void *bytes, size_t size_b,
                        const char *name, struct assay_error *err);

/*
 * The number of the first remark from number `from` on that stands on lines `first` to `last` of
 * `file`; remarks->n: there is none. Paths are the same when one ends in the other, by whole parts.
 */
size_t assay_remarks_find(const struct assay_remarks *remarks, const char *file, uint32_t first,
                          uint32_t last, size_t from);

#endif
