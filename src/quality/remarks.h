/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of compilers' records share. */
#ifndef AS_QUALITY_REMARKS_H
#define AS_QUALITY_REMARKS_H

#include <assay/remarks.h>

#include "base/arena.h"
#include "base/str.h"

/* One remark as it is read; views and strings are the reader's own. */
struct as_remark_draft {
    struct as_view file, function, pass;
    struct as_str text;
    uint32_t line, column;
    enum assay_remark_kind kind;
};

/* Keeps a copy, told what its words say of vectors. Errors: NOMEM. */
int as_remark_keep(struct assay_remarks *remarks, const struct as_remark_draft *draft);
/* A number of digits alone; `none` for anything else. */
uint32_t as_remark_number(struct as_view digits, uint32_t none);

/* The three kinds. Errors: CORRUPT, NOMEM. */
int as_remarks_gcc_text(struct assay_remarks *remarks, struct as_view bytes,
                        struct assay_error *err);
int as_remarks_gcc_json(struct assay_remarks *remarks, struct as_view bytes, const char *name,
                        struct assay_error *err);
int as_remarks_clang(struct assay_remarks *remarks, struct as_view bytes, struct assay_error *err);

#endif
