/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code of one module as rows of the experiment: what is asked for is added once, with what it
 * refers to, and its id remembered.
 */
#ifndef AS_PROFILE_CODE_ROWS_H
#define AS_PROFILE_CODE_ROWS_H

#include "profile/attribute.h"

#include "base/map.h"
#include "profile/category.h"

struct as_code_rows {
    struct as_attribution *all;
    const struct as_place_code *code;
    struct as_category_module category; /* what the rules say of the module */
    int64_t module_id;
    uint32_t function_n;
    uint32_t *function; /* index in all->function + 1; the last is for code of no function */
    int64_t *loop, *block, *file, *unit; /* ids, 0 = not added */
    struct as_map_u64 line, inlining;    /* file and line; number in the debug tables -> id */
    struct as_map_u64 text;              /* lines whose text was looked for */
};

int as_code_rows_begin(struct as_code_rows *rows, struct as_attribution *all,
                       const struct as_place_code *code, int64_t module_id);
void as_code_rows_end(struct as_code_rows *rows);

/* Each gives an id, or 0 where there is nothing. Errors: NOMEM, those of the experiment. */
int as_code_rows_line(struct as_code_rows *rows, uint32_t file, uint32_t line, int64_t *id,
                      struct assay_error *err);
int as_code_rows_loop(struct as_code_rows *rows, uint32_t loop, int64_t *id,
                      struct assay_error *err);
int as_code_rows_block(struct as_code_rows *rows, uint32_t block, int64_t *id,
                       struct assay_error *err);
int as_code_rows_location(struct as_code_rows *rows, uint64_t address, const struct as_place *place,
                          int64_t *id, struct assay_error *err);
/* Index in all->function; ASSAY_NONE is asked for as well. */
int as_code_rows_function(struct as_code_rows *rows, uint32_t function, uint32_t *index,
                          struct assay_error *err);
/* All loops of a function. */
int as_code_rows_loops(struct as_code_rows *rows, uint32_t function, struct assay_error *err);

/* Source and assembly of a function, so that a report needs neither file. `room`: instructions
 * that may still be kept, lessened. */
int as_code_rows_excerpt(struct as_code_rows *rows, uint32_t function, size_t *room,
                         struct assay_error *err);

#endif
