/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of a machine and the memory of their texts. */
#ifndef AS_MACHINE_FIGURES_H
#define AS_MACHINE_FIGURES_H

#include <stdio.h>

#include <assay/machine.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

struct as_figures {
    struct assay_figures figures; /* first: what users hold */
    struct as_arena arena;
    AS_VEC(struct assay_host_fact) fact;
    AS_VEC(struct assay_figure) figure;
    AS_VEC(struct assay_figure_point) point;
    AS_VEC(struct assay_figure_finding) finding;
    AS_VEC(struct assay_figure_group) group;
};

/* The text of a file of figures. */
void as_figures_append(struct as_str *to, const struct assay_figures *figures);
/* Figures of such a text, which is taken apart; `name` is for messages. */
int as_figures_parse(char *text, const char *name, struct assay_figures **out,
                     struct assay_error *err);

#endif
