/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the limits of the machine that all loops of a run are judged by (verdict.h): bandwidths and
 * latencies of a core, sizes of caches, and the largest resident size of a process. They are the
 * same for each loop and bucket, so they are read once. Numbers missing in the experiment are
 * unknown.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "decan/internal.h"

/* Figures of a core that are read, for each level. */
enum core_figure { FIGURE_READ, FIGURE_WRITE, FIGURE_TRIAD, FIGURE_LATENCY };

#define LEVEL_FIGURES(level, word)                                                                 \
    {"bandwidth.read." word ".core", level, FIGURE_READ},                                          \
        {"bandwidth.write." word ".core", level, FIGURE_WRITE},                                    \
        {"bandwidth.triad." word ".core", level, FIGURE_TRIAD},                                    \
    {                                                                                              \
        "latency." word ".small", level, FIGURE_LATENCY                                            \
    }
static const struct {
    const char *name; /* of the table machine_figure */
    enum as_predict_level level;
    enum core_figure what;
} known_figure[] = {LEVEL_FIGURES(AS_PREDICT_L1, "L1"), LEVEL_FIGURES(AS_PREDICT_L2, "L2"),
                    LEVEL_FIGURES(AS_PREDICT_L3, "L3"), LEVEL_FIGURES(AS_PREDICT_RAM, "memory")};
_Static_assert(sizeof known_figure / sizeof *known_figure ==
                   AS_PREDICT_LEVELS * (FIGURE_LATENCY + 1u),
               "each figure of each level");

/* Stores a figure at its place. Figures are per second, ceilings per cycle of a core. */
static void store_figure(struct as_rows *row, double hz, struct as_decan_ceiling *level,
                         double *triad_b)
{
    const char *name = as_rows_text(row, 0);
    const double value = as_rows_real(row, 1);
    size_t at = 0;
    while (at < sizeof known_figure / sizeof *known_figure &&
           strcmp(name, known_figure[at].name) != 0)
        at++;
    if (at == sizeof known_figure / sizeof *known_figure)
        return;
    struct as_decan_ceiling *to = &level[known_figure[at].level];
    switch (known_figure[at].what) {
    case FIGURE_READ:
        to->read_b = value / hz;
        to->is_doubtful = as_rows_integer(row, 2) != 0;
        break;
    case FIGURE_WRITE:
        to->write_b = value / hz;
        break;
    case FIGURE_TRIAD:
        triad_b[known_figure[at].level] = value / hz;
        break;
    case FIGURE_LATENCY:
        to->latency = value * hz / 1e9;
        break;
    }
}

/*
 * Returns the bytes per cycle of stores. A third of a triad is stores, so its time minus the time
 * of its loads is theirs. Without a triad a store counts as two loads: its line is read and
 * written.
 */
static double stores_by_triad(double read_b, double triad_b)
{
    const double cycles = 3 / triad_b - 2 / read_b;
    return cycles > 0 && 1 / cycles < read_b ? 1 / cycles : isnan(cycles) ? read_b / 2 : read_b;
}

static int read_figures(const struct as_decan *decan, struct as_decan_ceiling *level,
                        struct as_error *err)
{
    const double hz = decan->timed.tick.cycles / decan->timed.tick.ns * 1e9;
    double triad_b[AS_PREDICT_LEVELS]; /* bytes per cycle of two loads and a store */
    struct as_rows *rows;
    int rc;
    for (unsigned i = 0; i < AS_PREDICT_LEVELS; i++)
        triad_b[i] = (double)NAN;
    AS_TRY(as_rows_open(decan->timed.experiment,
                        "SELECT f.name, f.value, f.confidence = 'low' FROM machine_figure f"
                        " JOIN run r"
                        " USING (host_id) WHERE r.run_id = ?1 AND f.value > 0",
                        &rows, err));
    as_rows_bind_integer(rows, 1, decan->timed.run_id);
    while ((rc = as_rows_next(rows, err)) > 0)
        store_figure(rows, hz, level, triad_b);
    as_rows_close(&rows);
    for (unsigned i = 0; i < AS_PREDICT_LEVELS; i++)
        if (isnan(level[i].write_b))
            level[i].write_b = stores_by_triad(level[i].read_b, triad_b[i]);
    return rc;
}

static int read_caches(const struct as_decan *decan, struct as_decan_ceiling *level,
                       struct as_error *err)
{
    struct as_rows *rows;
    int rc;
    AS_TRY(as_rows_open(decan->timed.experiment,
                        "SELECT p.level, min(p.size_b) FROM machine_place p JOIN run r"
                        " USING (host_id) WHERE r.run_id = ?1 AND p.kind = 'cache'"
                        " AND p.cache <> 'instructions' AND p.level BETWEEN 1 AND 3"
                        " GROUP BY p.level",
                        &rows, err));
    as_rows_bind_integer(rows, 1, decan->timed.run_id);
    while ((rc = as_rows_next(rows, err)) > 0)
        level[as_rows_integer(rows, 0) - 1].size_b = as_rows_real(rows, 1);
    as_rows_close(&rows);
    level[AS_PREDICT_RAM].size_b = INFINITY;
    return rc;
}

/* Marks the size of L3 as claimed in a virtual machine, where hidden neighbours may share it. */
static int read_claims(const struct as_decan *decan, struct as_decan_ceiling *level,
                       struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_rows_open(decan->timed.experiment,
                        "SELECT h.hypervisor IS NOT NULL FROM host h JOIN run r"
                        " USING (host_id) WHERE r.run_id = ?1",
                        &rows, err));
    as_rows_bind_integer(rows, 1, decan->timed.run_id);
    const int rc = as_rows_next(rows, err);
    level[AS_PREDICT_L3].is_claimed = rc > 0 && as_rows_integer(rows, 0) != 0;
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* Reads the maximum bytes that all instances touch: the largest resident size of a process. */
static int read_reach(const struct as_decan *decan, double *reach_b, struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_rows_open(decan->timed.experiment,
                        "SELECT resident_max_b FROM run WHERE run_id = ?1"
                        " AND resident_max_b > 0",
                        &rows, err));
    as_rows_bind_integer(rows, 1, decan->timed.run_id);
    const int rc = as_rows_next(rows, err);
    if (rc > 0)
        *reach_b = as_rows_real(rows, 0);
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

int as_decan_machine_read(struct as_decan *decan, struct as_error *err)
{
    struct as_decan_machine *machine = &decan->machine;
    struct as_decan_measure unknown;
    as_decan_measure_init(&unknown);
    memcpy(machine->level, unknown.level, sizeof machine->level);
    machine->reach_b = unknown.reach_b;
    AS_TRY(read_figures(decan, machine->level, err));
    AS_TRY(read_caches(decan, machine->level, err));
    AS_TRY(read_claims(decan, machine->level, err));
    return read_reach(decan, &machine->reach_b, err);
}
