/* SPDX-License-Identifier: Apache-2.0 */
/* Doubts about the clock of the core, stored as a flag of the run. */
#include <stdio.h>

#include "base/error.h"
#include "vprof/clock.h"

#define SPREAD_MOST 0.02
#define STORED_MOST 0.05

/* Hertz that `assay machine` measured on this host; 0 if it measured none that it trusts. */
static int read_stored(struct as_experiment *experiment, int64_t run_id, double *hz,
                       struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_rows_open(experiment,
                        "SELECT max(f.value) FROM machine_figure f JOIN run r USING (host_id)"
                        " WHERE r.run_id = ?1 AND f.confidence <> 'low'"
                        " AND f.name = 'frequency.fma.f64.scalar.core'",
                        &rows, err));
    as_rows_bind_integer(rows, 1, run_id);
    const int rc = as_rows_next(rows, err);
    *hz = rc > 0 ? as_rows_real(rows, 0) : 0;
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* Hertz that cpufreq gives as the highest; 0 where it does not exist, and in virtual machines. */
static int read_highest(struct as_experiment *experiment, int64_t run_id, double *hz,
                        struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_rows_open(experiment,
                        "SELECT h.max_hz FROM host h JOIN run r USING (host_id)"
                        " WHERE r.run_id = ?1 AND h.hypervisor IS NULL AND h.max_hz > 0",
                        &rows, err));
    as_rows_bind_integer(rows, 1, run_id);
    const int rc = as_rows_next(rows, err);
    *hz = rc > 0 ? as_rows_real(rows, 0) : 0;
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* Writes the doubt about a clock of `hz` into `text`; false if there is none. */
static bool describe_doubt(const struct as_tick *it, double hz, double stored_hz, double highest_hz,
                           char *text, size_t text_b)
{
    if (it->is_guessed || !(hz > 0))
        snprintf(text, text_b,
                 "the core's clock could not be measured: calibrations differ; cycles are ticks "
                 "of the time stamp counter; use the times in ns");
    else if (it->spread > SPREAD_MOST)
        snprintf(text, text_b,
                 "the core's clock was between %.2f and %.2f GHz: numbers in cycles are uncertain "
                 "by %.0f %%; use the times in ns",
                 hz * (1 - it->spread) / 1e9, hz / 1e9, 100 * it->spread);
    else if (stored_hz > 0 &&
             (hz > stored_hz * (1 + STORED_MOST) || hz * (1 + STORED_MOST) < stored_hz))
        snprintf(text, text_b,
                 "the core's clock was %.2f GHz, but %.2f GHz when 'assay machine' measured it: "
                 "numbers in cycles may be wrong by as much; use the times in ns",
                 hz / 1e9, stored_hz / 1e9);
    else if (highest_hz > 0 && hz > highest_hz * (1 + STORED_MOST))
        snprintf(
            text, text_b,
            "the core's clock was %.2f GHz, but cpufreq allows %.2f GHz: numbers in cycles may "
            "be too high; use the times in ns",
            hz / 1e9, highest_hz / 1e9);
    else
        return false;
    return true;
}

int as_tick_flag(const struct as_tick *it, struct as_experiment *experiment, int64_t run_id,
                 const char *pass, struct as_error *err)
{
    const double hz = it->ns > 0 ? it->cycles / it->ns * 1e9 : 0;
    char text[256];
    double stored_hz, highest_hz;
    AS_TRY(read_stored(experiment, run_id, &stored_hz, err));
    AS_TRY(read_highest(experiment, run_id, &highest_hz, err));
    if (!describe_doubt(it, hz, stored_hz, highest_hz, text, sizeof text))
        return 0;
    const struct as_flag flag = {.run_id = run_id,
                                 .kind = AS_OBJECT_RUN,
                                 .object_id = run_id,
                                 .name = "clock_unsure",
                                 .text = text,
                                 .n = 1,
                                 .pass = pass};
    return as_experiment_flag(experiment, &flag, err);
}
