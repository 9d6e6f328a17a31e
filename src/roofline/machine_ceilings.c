/* SPDX-License-Identifier: Apache-2.0 */
/* Reads ceilings from the machine of a run or from a file of figures. */
#include <stdlib.h>

#include "base/error.h"
#include "roofline/ceilings.h"

static const char run_cores_sql[] =
    "SELECT (SELECT count(DISTINCT parent) FROM machine_place p WHERE p.host_id = r.host_id"
    "  AND p.kind = 'processor' AND p.is_usable), h.core_n"
    " FROM run r LEFT JOIN host h USING (host_id) WHERE r.run_id = ?1";

static const char run_figures_sql[] =
    "SELECT f.name, f.value FROM machine_figure f JOIN run r USING (host_id) WHERE r.run_id = ?1";

static int on_run_cores(void *context, struct as_rows *row, struct as_error *err)
{
    const int64_t usable = as_rows_integer(row, 0), all = as_rows_integer(row, 1);
    (void)err;
    ((struct as_ceilings *)context)->core_n = (unsigned)(usable > 0 ? usable : all > 0 ? all : 0);
    return 0;
}

static int on_run_figure(void *context, struct as_rows *row, struct as_error *err)
{
    (void)err;
    as_ceilings_add(context, as_rows_text(row, 0), as_rows_real(row, 1));
    return 0;
}

int as_ceilings_of_run(struct as_experiment *experiment, int64_t run_id,
                       struct as_ceilings *ceilings, struct as_error *err)
{
    AS_TRY(as_rows_each(experiment, run_cores_sql, run_id, on_run_cores, ceilings, err));
    return as_rows_each(experiment, run_figures_sql, run_id, on_run_figure, ceilings, err);
}

void as_ceilings_of_figures(const struct as_figures *figures, struct as_ceilings *ceilings)
{
    const char *cores = as_figures_fact(figures, "cores");
    const long n = cores ? strtol(cores, NULL, 10) : 0;
    ceilings->core_n = n > 0 && n < 1 << 20 ? (unsigned)n : 0;
    for (size_t i = 0; i < figures->figure_n; i++)
        as_ceilings_add(ceilings, figures->figure[i].name, figures->figure[i].value);
}
