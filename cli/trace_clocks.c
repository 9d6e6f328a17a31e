/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_clocks.h"

#include <inttypes.h>

#include "base/error.h"
#include "report/queries.h"

#define MICROSECONDS 1e6

/* The least sure of those that were measured speaks for all; each is in v_trace_clocks. */
static void note_measured(struct as_cli *cli, struct as_rows *row)
{
    const int64_t n = as_rows_integer(row, 0);
    as_cli_note(cli,
                "trace: the clocks of %" PRId64
                " machine%s were measured against that of rank 0%s: times are off by %.1f us at "
                "most (on %s, whose drift by %.3f ppm is corrected; measurements lie up to %.1f "
                "us off the straight line)",
                n, n == 1 ? "" : "s", as_rows_integer(row, 5) ? ", but not at the end" : "",
                as_rows_real(row, 2) * MICROSECONDS, as_rows_text(row, 1),
                as_rows_real(row, 3) * 1e6, as_rows_real(row, 4) * MICROSECONDS);
}

int as_trace_clocks_note(struct as_cli *cli, struct as_experiment *experiment, int64_t run_id,
                         struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_query_open_of(experiment, AS_QUERY_TRACE_CLOCK, run_id, &rows, err));
    const int rc = as_rows_next(rows, err);
    if (rc > 0)
        note_measured(cli, rows);
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}
