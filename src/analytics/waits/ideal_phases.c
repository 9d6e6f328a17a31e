/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/waits/ideal_phases.h"

#include <math.h>

#include "base/error.h"

#define CELLS_MAX (UINT64_C(1) << 22) /* rows times ranks */

/* ---- Begin and end --------------------------------------------------------------------------- */

static size_t count_ranks(const struct as_analysis *analysis)
{
    int64_t last = -1;
    as_vec_foreach (&analysis->location, location)
        last = location->rank > last ? location->rank : last;
    return (size_t)(last + 1);
}

/* Phases of all calls begin a region. */
static int add_regions(struct as_ideal_phases *phases)
{
    const struct as_analysis *a = phases->analysis;
    for (size_t i = 0; i < a->phase.n; i++)
        if (a->phase.at[i].first == 0) {
            AS_TRY(as_vec_push(&phases->region, (struct as_ideal_region){.row = i}));
            AS_TRY(as_vec_push(&phases->name, a->phase.at[i].name));
        } else if (phases->region.n) {
            phases->region.at[phases->region.n - 1].iteration_n++;
        }
    return 0;
}

int as_ideal_phases_init(struct as_ideal_phases *phases, struct as_analysis *analysis)
{
    *phases = (struct as_ideal_phases){.analysis = analysis, .rank_n = count_ranks(analysis)};
    const uint64_t cells_n = (uint64_t)analysis->phase.n * phases->rank_n;
    if (cells_n == 0 || cells_n > CELLS_MAX)
        return 0;
    AS_TRY(add_regions(phases));
    phases->visit = as_calloc(phases->region.n * phases->rank_n + 1, sizeof *phases->visit);
    phases->ns = as_calloc(cells_n, sizeof *phases->ns);
    return phases->visit && phases->ns ? 0 : AS_ERR_NOMEM;
}

void as_ideal_phases_fini(struct as_ideal_phases *phases)
{
    as_vec_fini(&phases->region);
    as_vec_fini(&phases->name);
    as_free(phases->visit);
    as_free(phases->ns);
}

/* ---- On the ideal network -------------------------------------------------------------------- */

/* Adds to the row of the iteration that has the call, if a row has it. */
static void add_to_iteration(struct as_ideal_phases *phases, const struct as_ideal_region *region,
                             uint32_t rank, uint64_t call, int64_t ns)
{
    size_t low = region->row + 1, high = low + region->iteration_n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct as_phase *phase = &phases->analysis->phase.at[middle];
        if (call + 1 < phase->first) {
            high = middle;
        } else if (call + 1 - phase->first >= phase->calls_n) {
            low = middle + 1;
        } else {
            phases->ns[middle * phases->rank_n + rank] += ns;
            return;
        }
    }
}

static void leave_region(struct as_ideal_phases *phases, struct as_ideal_region *region,
                         struct as_ideal_visit *visit, uint32_t rank, int64_t now_ns)
{
    if (visit->depth == 0) {
        region->is_cut = true;
        return;
    }
    if (--visit->depth)
        return;
    const int64_t ns = now_ns - visit->since_ns;
    phases->ns[region->row * phases->rank_n + rank] += ns;
    add_to_iteration(phases, region, rank, visit->call++, ns);
}

int as_ideal_phases_mark(void *context, uint32_t rank, const struct as_action *mark, int64_t now_ns,
                         struct as_error *err)
{
    struct as_ideal_phases *phases = context;
    const size_t at = mark->name - 1;
    (void)err;
    if (!mark->tag || at >= phases->region.n || rank >= phases->rank_n)
        return 0;
    struct as_ideal_visit *visit = &phases->visit[at * phases->rank_n + rank];
    if (mark->tag < 0)
        leave_region(phases, &phases->region.at[at], visit, rank, now_ns);
    else if (visit->depth++ == 0)
        visit->since_ns = now_ns;
    return 0;
}

/* ---- Efficiencies ---------------------------------------------------------------------------- */

/* The ideal time lies between the longest time outside MPI and the recorded time. */
static void set_shares(const struct as_ideal_phases *phases, size_t row)
{
    struct as_efficiency *e = &phases->analysis->phase.at[row].efficiency;
    const int64_t *ns = &phases->ns[row * phases->rank_n];
    const double longest_ns = e->mpi_communication * e->elapsed_ns;
    int64_t max_ns = 0;
    for (size_t rank = 0; rank < phases->rank_n; rank++)
        max_ns = ns[rank] > max_ns ? ns[rank] : max_ns;
    const double ideal_ns = fmin(e->elapsed_ns, fmax(longest_ns, (double)max_ns));
    if (!(longest_ns > 0) || max_ns == 0)
        return;
    e->mpi_transfer = ideal_ns / e->elapsed_ns;
    e->mpi_serialisation = longest_ns / ideal_ns;
}

void as_ideal_phases_conclude(struct as_ideal_phases *phases)
{
    for (size_t i = 0; i < phases->region.n; i++) {
        struct as_ideal_region *region = &phases->region.at[i];
        for (size_t rank = 0; rank < phases->rank_n; rank++)
            region->is_cut |= phases->visit[i * phases->rank_n + rank].depth > 0;
        for (size_t k = 0; !region->is_cut && k <= region->iteration_n; k++)
            set_shares(phases, region->row + k);
    }
}
