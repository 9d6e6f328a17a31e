/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table on the page of an object while it is filled, cell by cell and row by row. Texts are
 * copied. as_panel_write reports once if memory ran out.
 */
#ifndef AS_QUALITY_PANEL_H
#define AS_QUALITY_PANEL_H

#include "base/arena.h"
#include "base/vec.h"
#include "experiment/experiment.h"

struct as_panel {
    struct as_experiment *experiment;
    struct as_subject of;
    AS_VEC(struct as_sql_cell) cell;
    struct as_arena arena; /* owns the texts */
    bool failed;           /* out of memory */
};

/* Name, title and position of the table on the page, the text above it, and its columns. */
struct as_heading {
    const char *name, *title;
    int position;
    const char *text; /* or NULL */
    const char *const *column;
    size_t column_n;
};

void as_panel_init(struct as_panel *panel, struct as_experiment *experiment,
                   const struct as_subject *of);
void as_panel_fini(struct as_panel *panel);

void as_panel_cell(struct as_panel *panel, struct as_sql_cell cell);
void as_panel_integer(struct as_panel *panel, int64_t value);
void as_panel_real(struct as_panel *panel, double value);
void as_panel_text(struct as_panel *panel, const char *z); /* NULL gives an empty cell */
void as_panel_address(struct as_panel *panel, uint64_t value);

/* Writes the rows, if there are any, and starts the next table. Errors: NOMEM, those of the
 * experiment. */
int as_panel_write(struct as_panel *panel, const struct as_heading *heading, struct as_error *err);

#endif
