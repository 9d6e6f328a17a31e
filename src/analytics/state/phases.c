/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of states by region, iteration and thread. Memory is bounded: if it is full, neighbouring
 * iterations of the region with most of them become one row.
 */
#include "analytics/state/phases.h"

#include <stdlib.h>
#include <string.h>

#include "analytics/state/walking.h"
#include "base/error.h"

#define PHASES_MOST     64u                 /* regions */
#define ITERATIONS_MOST 512u                /* rows of a region */
#define CELLS_MOST      (UINT64_C(1) << 20) /* rows times threads, of all regions */

typedef int64_t phase_cell[AS_ACTIVITIES_N];

struct phase_row {
    int64_t begin_ns, end_ns; /* the first rank enters, the last leaves */
};

struct phase_sum {
    uint32_t routine;
    unsigned shift;   /* a row has so many iterations: 1 << shift */
    uint64_t calls_n; /* of the process with most */
    struct phase_row all;
    phase_cell *all_ns; /* by thread */
    AS_VEC(struct phase_row) row;
    AS_VEC(phase_cell) ns; /* by row and thread */
};

/* A region that a process is in. */
struct open_phase {
    uint32_t sum, depth;
    uint64_t call; /* its number in the process, from 0 */
};

struct phase_process {
    AS_VEC(struct open_phase) open;
    uint64_t calls_n[PHASES_MOST];
};

struct as_phases {
    AS_VEC(struct phase_sum) sum;
    struct phase_process *process;
    int64_t *since_ns; /* by thread: what it did before was added */
    size_t process_n, location_n;
};

int as_phases_new(struct as_trace_walk *walk)
{
    struct as_phases *it = as_calloc(1, sizeof *it);
    if (!it)
        return AS_ERR_NOMEM;
    walk->phases = it;
    it->process_n = walk->trace->process.n;
    it->location_n = walk->out->location.n;
    it->process = as_calloc(it->process_n + 1, sizeof *it->process);
    it->since_ns = as_calloc(it->location_n + 1, sizeof *it->since_ns);
    if (!it->process || !it->since_ns)
        return AS_ERR_NOMEM;
    for (size_t i = 0; i < it->location_n; i++)
        it->since_ns[i] = INT64_MIN;
    return 0;
}

void as_phases_free(struct as_phases **phases)
{
    struct as_phases *it = *phases;
    *phases = NULL;
    if (!it)
        return;
    as_vec_foreach (&it->sum, sum) {
        as_free(sum->all_ns);
        as_vec_fini(&sum->row);
        as_vec_fini(&sum->ns);
    }
    as_vec_fini(&it->sum);
    for (size_t i = 0; it->process && i < it->process_n; i++)
        as_vec_fini(&it->process[i].open);
    as_free(it->process);
    as_free(it->since_ns);
    as_free(it);
}

bool as_phases_are_there(const struct as_trace_walk *walk)
{
    return walk->phases && walk->phases->sum.n > 0;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void add_cell(phase_cell to, const phase_cell from)
{
    for (unsigned a = 0; a < AS_ACTIVITIES_N; a++)
        to[a] += from[a];
}

static void widen_row(struct phase_row *row, int64_t begin_ns, int64_t end_ns)
{
    row->begin_ns = begin_ns < row->begin_ns ? begin_ns : row->begin_ns;
    row->end_ns = end_ns > row->end_ns ? end_ns : row->end_ns;
}

/* Two rows become one. */
static void join_iterations(struct phase_sum *sum, size_t location_n)
{
    const size_t n = sum->row.n;
    for (size_t i = 0; i < n; i++) {
        const bool is_first = i % 2 == 0;
        if (is_first) {
            sum->row.at[i / 2] = sum->row.at[i];
            memmove(sum->ns.at[i / 2 * location_n], sum->ns.at[i * location_n],
                    location_n * sizeof(phase_cell));
            continue;
        }
        widen_row(&sum->row.at[i / 2], sum->row.at[i].begin_ns, sum->row.at[i].end_ns);
        for (size_t l = 0; l < location_n; l++)
            add_cell(sum->ns.at[i / 2 * location_n + l], sum->ns.at[i * location_n + l]);
    }
    sum->row.n = (n + 1) / 2;
    sum->ns.n = sum->row.n * location_n;
    sum->shift++;
}

/* Keeps rows within their bounds before another one is added to `sum`. */
static void make_row_room(struct as_phases *phases, struct phase_sum *sum)
{
    if (sum->row.n >= ITERATIONS_MOST)
        join_iterations(sum, phases->location_n);
    for (;;) {
        struct phase_sum *most = phases->sum.at;
        uint64_t rows_n = 0;
        as_vec_foreach (&phases->sum, it) {
            rows_n += it->row.n;
            most = it->row.n > most->row.n ? it : most;
        }
        if (rows_n * phases->location_n < CELLS_MOST || most->row.n < 2)
            return;
        join_iterations(most, phases->location_n);
    }
}

static int add_iteration_rows(struct as_phases *phases, struct phase_sum *sum, uint64_t call)
{
    while (call >> sum->shift >= sum->row.n) {
        make_row_room(phases, sum);
        if (call >> sum->shift < sum->row.n)
            break;
        const size_t cells_n = sum->ns.n + phases->location_n;
        AS_TRY(as_vec_reserve(&sum->ns, cells_n));
        AS_TRY(as_vec_push(&sum->row, (struct phase_row){INT64_MAX, INT64_MIN}));
        memset(sum->ns.at[sum->ns.n], 0, phases->location_n * sizeof(phase_cell));
        sum->ns.n = cells_n;
    }
    return 0;
}

static int find_phase(struct as_phases *phases, uint32_t routine, uint32_t *out)
{
    for (*out = 0; *out < phases->sum.n; ++*out)
        if (phases->sum.at[*out].routine == routine)
            return 0;
    if (phases->sum.n == PHASES_MOST)
        return 0;
    struct phase_sum sum = {.routine = routine, .all = {INT64_MAX, INT64_MIN}};
    sum.all_ns = as_calloc(phases->location_n + 1, sizeof *sum.all_ns);
    const int rc = sum.all_ns ? as_vec_push(&phases->sum, sum) : AS_ERR_NOMEM;
    if (rc < 0)
        as_free(sum.all_ns);
    return rc;
}

/* ---- What passes by -------------------------------------------------------------------------- */

void as_phases_add(struct as_trace_walk *walk, struct as_walker *walker, unsigned activity,
                   int64_t begin_ns, int64_t end_ns)
{
    struct as_phases *phases = walk->phases;
    if (!phases)
        return;
    const uint32_t location = walker->location;
    const int64_t since_ns = phases->since_ns[location];
    const struct phase_process *process = &phases->process[walker->process];
    struct as_span did = {.begin_ns = begin_ns > since_ns ? begin_ns : since_ns, .end_ns = end_ns};
    as_span_clip(&did, &walk->out->range);
    const int64_t ns = did.end_ns - did.begin_ns;
    if (end_ns > since_ns)
        phases->since_ns[location] = end_ns;
    if (ns <= 0)
        return;
    as_vec_foreach (&process->open, open) {
        struct phase_sum *sum = &phases->sum.at[open->sum];
        const size_t row = (size_t)(open->call >> sum->shift);
        sum->all_ns[location][activity] += ns;
        sum->ns.at[row * phases->location_n + location][activity] += ns;
    }
}

/* Other threads of the process, which come after the first, are in another phase from here on. */
static void turn_process(struct as_trace_walk *walk, const struct as_walker *walker, int64_t ns)
{
    for (uint32_t i = walker->location + 1;
         i < walk->walker.n && walk->walker.at[i].process == walker->process; i++) {
        struct as_walker *other = &walk->walker.at[i];
        const int64_t end_ns = walk->out->location.at[i].span.end_ns;
        as_phases_add(walk, other, as_doing_now(other), other->since_ns,
                      other->is_over && end_ns < ns ? end_ns : ns);
    }
}

static bool is_phase(const struct as_trace_walk *walk, const struct as_walker *walker,
                     const struct as_open_call *frame)
{
    return walk->phases && frame->group == AS_TRACE_OF_USER &&
           walk->out->location.at[walker->location].thread == 0;
}

int as_phases_enter(struct as_trace_walk *walk, struct as_walker *walker,
                    const struct as_open_call *frame, int64_t ns)
{
    uint32_t at;
    if (!is_phase(walk, walker, frame))
        return 0;
    AS_TRY(find_phase(walk->phases, frame->routine, &at));
    if (at == walk->phases->sum.n)
        return 0;
    struct phase_process *process = &walk->phases->process[walker->process];
    struct open_phase *known = as_vec_find(&process->open, sum, at);
    if (known) {
        known->depth++;
        return 0;
    }
    turn_process(walk, walker, ns);
    struct phase_sum *sum = &walk->phases->sum.at[at];
    const struct open_phase open = {.sum = at, .depth = 1, .call = process->calls_n[at]++};
    sum->calls_n = process->calls_n[at] > sum->calls_n ? process->calls_n[at] : sum->calls_n;
    AS_TRY(add_iteration_rows(walk->phases, sum, open.call));
    widen_row(&sum->all, ns, ns);
    widen_row(&sum->row.at[open.call >> sum->shift], ns, ns);
    return as_vec_push(&process->open, open);
}

int as_phases_leave(struct as_trace_walk *walk, struct as_walker *walker,
                    const struct as_open_call *frame, int64_t ns)
{
    if (!is_phase(walk, walker, frame))
        return 0;
    struct phase_process *process = &walk->phases->process[walker->process];
    for (size_t i = process->open.n; i-- > 0;) {
        struct open_phase *open = &process->open.at[i];
        struct phase_sum *sum = &walk->phases->sum.at[open->sum];
        if (sum->routine != frame->routine)
            continue;
        if (--open->depth > 0)
            return 0;
        turn_process(walk, walker, ns);
        widen_row(&sum->all, ns, ns);
        widen_row(&sum->row.at[open->call >> sum->shift], ns, ns);
        memmove(open, open + 1, (process->open.n - i - 1) * sizeof *open);
        process->open.n--;
        return 0;
    }
    return 0;
}

static void cell_becomes_idle(phase_cell ns)
{
    ns[AS_ACTIVITY_IDLE] += ns[AS_ACTIVITY_COMPUTING];
    ns[AS_ACTIVITY_COMPUTING] = 0;
}

/* Across times without recording it is not known which part was computed before. */
void as_phases_become_idle(struct as_trace_walk *walk, const struct as_walker *walker)
{
    if (!walk->phases || walker->was_off)
        return;
    as_vec_foreach (&walk->phases->sum, sum) {
        cell_becomes_idle(sum->all_ns[walker->location]);
        for (size_t row = 0; row < sum->row.n; row++)
            cell_becomes_idle(sum->ns.at[row * walk->phases->location_n + walker->location]);
    }
}

/* ---- Result ---------------------------------------------------------------------------------- */

static int add_phase(struct as_trace_walk *walk, const struct phase_sum *sum,
                     const struct phase_row *row, const phase_cell *ns, struct as_phase phase)
{
    struct as_analysis *out = walk->out;
    struct as_span span = {.begin_ns = row->begin_ns, .end_ns = row->end_ns};
    as_span_clip(&span, &out->range);
    phase.name = walk->text.at[sum->routine];
    phase.begin_ns = span.begin_ns;
    phase.end_ns = span.end_ns;
    as_efficiency_of_phase(out, ns, &phase);
    return phase.thread_n ? as_vec_push(&out->phase, phase) : 0;
}

static int compare_phases(const void *a, const void *b)
{
    const struct phase_sum *x = a, *y = b;
    return x->all.begin_ns != y->all.begin_ns ? (x->all.begin_ns < y->all.begin_ns ? -1 : 1)
           : x->routine != y->routine         ? (x->routine < y->routine ? -1 : 1)
                                              : 0;
}

int as_phases_conclude(struct as_trace_walk *walk)
{
    struct as_phases *phases = walk->phases;
    if (!as_phases_are_there(walk))
        return 0;
    qsort(phases->sum.at, phases->sum.n, sizeof *phases->sum.at, compare_phases);
    as_vec_foreach (&phases->sum, sum) {
        const size_t at = walk->out->phase.n;
        uint64_t calls_n = 0;
        AS_TRY(add_phase(walk, sum, &sum->all, sum->all_ns,
                         (struct as_phase){.calls_n = sum->calls_n}));
        for (size_t i = 0; i < sum->row.n && sum->calls_n > 1; i++) {
            const uint64_t first = (uint64_t)i << sum->shift;
            const uint64_t n = sum->calls_n - first, most = UINT64_C(1) << sum->shift;
            const struct as_phase row = {.first = first + 1, .calls_n = n < most ? n : most};
            const size_t before_n = walk->out->phase.n;
            AS_TRY(add_phase(walk, sum, &sum->row.at[i], &sum->ns.at[i * phases->location_n], row));
            calls_n += walk->out->phase.n > before_n ? row.calls_n : 0;
        }
        if (calls_n) /* of the range */
            walk->out->phase.at[at].calls_n = calls_n;
    }
    return 0;
}
