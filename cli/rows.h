/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that an experiment gives, as a text table, a JSON array of objects or CSV. They stream: no
 * format holds more than a screenful of them.
 */
#ifndef AS_CLI_ROWS_H
#define AS_CLI_ROWS_H

#include "cli.h"
#include "experiment/experiment.h"
#include "sheet.h"

/* How a column looks as text; those of a query look as their cells are. */
struct as_rows_look {
    bool right;     /* aligned right */
    bool elastic;   /* shortened when the line is too long */
    bool optional;  /* left out where the line is too long */
    bool keeps_end; /* shortened at its beginning */
    bool wrapped;   /* sentences: in lines of their own under the row; behind all other columns */
};

struct as_rows_style {
    const struct as_rows_look *look; /* one a column, or NULL */
    bool truths; /* columns named is_*, has_* and few_samples hold truth values */
};

/* A cell of the current row, its text lent until the next one; of bytes none. */
struct as_cell as_cell_of_row(struct as_rows *rows, int column);

/* Shows all rows that are left in the format asked for. Errors: those of reading; NOMEM. */
int as_rows_show(struct as_cli *cli, struct as_rows *rows, const struct as_rows_style *style,
                 struct as_error *err);

#endif
