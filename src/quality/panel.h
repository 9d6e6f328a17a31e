/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of the page of an object while it is filled: cell by cell, row after row, each text
 * copied. Running out of memory is said once, when the table is written.
 */
#ifndef AS_QUALITY_PANEL_H
#define AS_QUALITY_PANEL_H

#include <assay/experiment.h>

#include "base/arena.h"
#include "base/vec.h"

struct as_panel {
    struct assay_experiment *experiment;
    struct assay_subject of;
    AS_VEC(struct assay_cell) cell;
    struct as_arena arena; /* of the texts */
    bool failed;           /* out of memory */
};

/* Name, title, place on the page, the text above it, and the columns. */
struct as_heading {
    const char *name, *title;
    int position;
    const char *text; /* or NULL */
    const char *const *column;
    size_t column_n;
};

void as_panel_init(struct as_panel *panel, struct assay_experiment *experiment,
                   const struct assay_subject *of);
void as_panel_fini(struct as_panel *panel);

void as_panel_cell(struct as_panel *panel, struct assay_cell cell);
void as_panel_integer(struct as_panel *panel, int64_t value);
void as_panel_real(struct as_panel *panel, double value);
void as_panel_text(struct as_panel *panel, const char *z); /* NULL: empty */
void as_panel_address(struct as_panel *panel, uint64_t value);

/* Writes the rows that were added, if there are any, and begins the next table. */
int as_panel_write(struct as_panel *panel, const struct as_heading *heading,
                   struct assay_error *err);

#endif
