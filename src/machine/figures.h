/* SPDX-License-Identifier: Apache-2.0 */
/* Machine figures and the memory of their strings. */
#ifndef AS_MACHINE_FIGURES_H
#define AS_MACHINE_FIGURES_H

#include <stdio.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "machine/machine.h"

struct as_figures_memory {
    struct as_figures figures; /* must be first: callers get a pointer to this member */
    struct as_arena arena;
    AS_VEC(struct as_host_fact) fact;
    AS_VEC(struct as_figure) figure;
    AS_VEC(struct as_figure_point) point;
    AS_VEC(struct as_figure_finding) finding;
    AS_VEC(struct as_figure_group) group;
};

/* Appends the figures in the text format of a figures file. */
void as_figures_append(struct as_str *to, const struct as_figures *figures);
/* Parses the text of a figures file and changes it on the way. `name` names the text in
 * messages. The caller frees `out` with as_figures_free. Errors: NOMEM, CORRUPT. */
int as_figures_parse(char *text, const char *name, struct as_figures **out, struct as_error *err);

#endif
