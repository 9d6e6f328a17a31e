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

enum as_remark_kind {
    AS_REMARK_DONE,   /* an optimisation was made */
    AS_REMARK_MISSED, /* one was not, or why */
};

struct as_remark {
    const char *file;      /* as the compiler was given it; "" = not said */
    const char *function;  /* linkage name; "" = not said */
    const char *pass;      /* "vect", "slp1", "loop-vectorize", ...; "" in gcc's text */
    const char *text;      /* one line, without controls */
    uint32_t line, column; /* 0 = not said */
    uint32_t width_b;      /* vectors of so many bytes (gcc), 0 = not said */
    uint32_t lanes;        /* values in a vector (clang), 0 = not said */
    uint8_t kind;          /* as_remark_kind */
    bool vector;           /* it is about vectors, of loops or of statements side by side */
};

struct as_remarks {
    struct as_remark *at; /* by last part of the file's path, line, column; none twice */
    size_t n;
    size_t dropped_n; /* beyond AS_REMARKS_MOST */
    struct as_remarks_memory *memory;
};
#define AS_REMARKS_MOST   1000000u
#define AS_REMARKS_MOST_B ((size_t)512 << 20) /* of one file, unpacked */

/* Empty; released by as_remarks_free. Errors: NOMEM. */
int as_remarks_new(struct as_remarks **out, struct as_error *err);
void as_remarks_free(struct as_remarks **remarks);

/*
 * Adds the records of a file, whatever of the three kinds it is. Nothing is added on failure.
 * Errors: IO, UNSUPPORTED (no such record), CORRUPT, LIMIT (too large), NOMEM, those of opening.
 */
int as_remarks_add(struct as_remarks *remarks, const char *path, struct as_error *err);
/* The same of bytes in memory; `name` is what errors call them. */
int as_remarks_parse(struct as_remarks *remarks, const void *bytes, size_t size_b, const char *name,
                     struct as_error *err);

/*
 * The number of the first remark from number `from` on that stands on lines `first` to `last` of
 * `file`; remarks->n: there is none. Paths are the same when one ends in the other, by whole parts.
 */
size_t as_remarks_find(const struct as_remarks *remarks, const char *file, uint32_t first,
                       uint32_t last, size_t from);

#endif
