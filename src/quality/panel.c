/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the cells of a table and writes it to a page. */
#include "quality/panel.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

void as_panel_init(struct as_panel *panel, struct as_experiment *experiment,
                   const struct as_subject *of)
{
    *panel = (struct as_panel){.experiment = experiment, .of = *of};
    as_arena_init(&panel->arena);
}

void as_panel_fini(struct as_panel *panel)
{
    as_vec_fini(&panel->cell);
    as_arena_fini(&panel->arena);
}

void as_panel_cell(struct as_panel *panel, struct as_sql_cell cell)
{
    panel->failed |= as_vec_push(&panel->cell, cell) < 0;
}

void as_panel_integer(struct as_panel *panel, int64_t value)
{
    as_panel_cell(panel, as_sql_cell_integer(value));
}

void as_panel_real(struct as_panel *panel, double value)
{
    as_panel_cell(panel, as_sql_cell_real(value));
}

void as_panel_text(struct as_panel *panel, const char *z)
{
    const char *copy = as_arena_strndup(&panel->arena, z ? z : "", z ? strlen(z) : 0);

    panel->failed |= !copy;
    as_panel_cell(panel, as_sql_cell_text(copy ? copy : ""));
}

void as_panel_address(struct as_panel *panel, uint64_t value)
{
    char hex[24];

    snprintf(hex, sizeof hex, "0x%llx", (unsigned long long)value);
    as_panel_text(panel, hex);
}

int as_panel_write(struct as_panel *panel, const struct as_heading *heading, struct as_error *err)
{
    const struct as_detail detail = {.of = panel->of,
                                     .name = heading->name,
                                     .title = heading->title,
                                     .position = heading->position,
                                     .text = heading->text,
                                     .column = heading->column,
                                     .column_n = heading->column_n,
                                     .cell = panel->cell.at,
                                     .row_n = panel->cell.n / heading->column_n};

    const int rc = panel->failed  ? as_error_nomem(err, "a table of a page")
                   : detail.row_n ? as_experiment_detail(panel->experiment, &detail, err)
                                  : 0;

    panel->cell.n = 0;
    as_arena_reset(&panel->arena);
    return rc;
}
