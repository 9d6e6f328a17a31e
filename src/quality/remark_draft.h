/* SPDX-License-Identifier: Apache-2.0 */
/* Shared parts of the readers of compiler remarks. */
#ifndef AS_QUALITY_REMARK_DRAFT_H
#define AS_QUALITY_REMARK_DRAFT_H

#include "base/arena.h"
#include "base/str.h"
#include "quality/remarks.h"

/* One remark while it is read. The reader owns the views and strings. */
struct as_remark_draft {
    struct as_view file, function, pass;
    struct as_str text;
    uint32_t line, column;
    enum as_remark_kind kind;
};

/* Keeps a copy and sets its vector fields from the text. Errors: NOMEM. */
int as_remark_keep(struct as_remarks *remarks, const struct as_remark_draft *draft);
/* Returns the number of 1 to 9 digits, or `none` for any other text. */
uint32_t as_remark_number(struct as_view digits, uint32_t none);

/* Read the three formats of remarks. Errors: CORRUPT, NOMEM. */
int as_remarks_gcc_text(struct as_remarks *remarks, struct as_view bytes, struct as_error *err);
int as_remarks_gcc_json(struct as_remarks *remarks, struct as_view bytes, const char *name,
                        struct as_error *err);
int as_remarks_clang(struct as_remarks *remarks, struct as_view bytes, struct as_error *err);

#endif
