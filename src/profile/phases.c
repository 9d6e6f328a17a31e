/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the phases of a process: the threads that could share its work. A phase begins when an
 * important thread starts, or when only the first thread is left. A thread is not charged for
 * waits while others of its process run, because they do its work.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "profile/attribute.h"

#define PHASES_MAX   64
#define MATTERS      0.01 /* min run time of an important thread, as a share of the longest one */
#define BORDER_MERGE 0.01 /* min distance of two borders, as a share of the run */

struct process_threads {
    const struct as_attribution *all;
    AS_VEC(uint32_t) thread; /* of one process, sorted by start */
    int64_t *on_ns;          /* by bin: time that all of them run, or are ready to run */
    uint32_t length;
    AS_VEC(uint32_t) first; /* bin of each phase, ascending */
};

static int64_t ran_ns(const struct as_level_bin *bin, bool has_switches)
{
    return has_switches ? bin->ns[AS_LEVEL_RUNNING]
                        : bin->ns[AS_LEVEL_USER] + bin->ns[AS_LEVEL_KERNEL];
}

static int64_t works_ns(const struct as_level_bin *bin, bool has_switches)
{
    return ran_ns(bin, has_switches) + bin->ns[AS_LEVEL_READY];
}

static bool has_switches(const struct as_level_thread *thread)
{
    as_vec_foreach (&thread->bin, bin)
        if (bin->ns[AS_LEVEL_RUNNING] || bin->ns[AS_LEVEL_WAITING])
            return true;
    return false;
}

static const struct as_level_thread *level_of(const struct as_attribution *all, uint32_t thread)
{
    const struct as_levels *levels = &all->tally.levels;
    return thread < levels->thread.n ? &levels->thread.at[thread] : NULL;
}

static int64_t ran_in_all(const struct as_level_thread *thread)
{
    const bool switches = has_switches(thread);
    int64_t ns = 0;
    as_vec_foreach (&thread->bin, bin)
        ns += ran_ns(bin, switches);
    return ns;
}

/* ---- Borders --------------------------------------------------------------------------------- */

static uint32_t bin_at(const struct process_threads *of, int64_t ns)
{
    const int64_t bin = ns / of->all->tally.levels.bin_ns;
    return ns < 0 || bin > of->length ? of->length : (uint32_t)bin;
}

/* Returns true if only the first thread of `at` exists at the time `ns`. */
static bool is_alone(const struct process_threads *of, const uint32_t *at, size_t n, int64_t ns)
{
    for (size_t i = 1; i < n; i++) {
        const struct as_tally_thread *thread = &of->all->tally.thread.at[at[i]];
        if (thread->start_ns <= ns && (thread->end_ns < 0 || thread->end_ns > ns))
            return false;
    }
    return true;
}

static int compare_bins(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void merge_near(struct process_threads *of, uint32_t near)
{
    size_t n = 1;
    for (size_t i = 1; i < of->first.n; i++)
        if (of->first.at[i] - of->first.at[n - 1] > near)
            of->first.at[n++] = of->first.at[i];
    of->first.n = n;
}

/* Finds the phases of a process. `at` are its important threads, beginning with its first thread.
 */
static int find_phases(struct process_threads *of, const uint32_t *at, size_t n)
{
    uint32_t near = (uint32_t)(BORDER_MERGE * of->length) + 1;

    of->first.n = 0;
    AS_TRY(as_vec_push(&of->first, 0));
    for (size_t i = 1; i < n; i++) {
        const struct as_tally_thread *thread = &of->all->tally.thread.at[at[i]];
        AS_TRY(as_vec_push(&of->first, bin_at(of, thread->start_ns)));
        if (thread->end_ns >= 0 && is_alone(of, at, n, thread->end_ns))
            AS_TRY(as_vec_push(&of->first, bin_at(of, thread->end_ns)));
    }
    qsort(of->first.at, of->first.n, sizeof *of->first.at, compare_bins);
    do {
        merge_near(of, near);
        near *= 2;
    } while (of->first.n > PHASES_MAX);
    return 0;
}

static int divide_process(struct process_threads *of)
{
    uint32_t *at = as_calloc(of->thread.n + 1, sizeof *at);
    int64_t *ran = as_calloc(of->thread.n + 1, sizeof *ran), max_ns = 0;
    size_t n = 0;
    int rc = at && ran ? 0 : AS_ERR_NOMEM;

    for (size_t i = 0; i < of->thread.n && rc == 0; i++) {
        ran[i] = ran_in_all(level_of(of->all, of->thread.at[i]));
        max_ns = ran[i] > max_ns ? ran[i] : max_ns;
    }
    for (size_t i = 0; i < of->thread.n && rc == 0; i++)
        if (i == 0 || (double)ran[i] >= MATTERS * (double)max_ns)
            at[n++] = of->thread.at[i];
    if (rc == 0)
        rc = find_phases(of, at, n);
    as_free(ran);
    as_free(at);
    return rc;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Returns the time that the thread waits in the bin while others of its process run or are ready.
 * That is the smaller one of both times. */
static int64_t awaited_ns(const struct process_threads *of, const struct as_level_bin *bin,
                          bool switches)
{
    int64_t others_ns = of->on_ns[bin->number] - works_ns(bin, switches);
    const int64_t waiting_ns = bin->ns[AS_LEVEL_WAITING];

    others_ns = others_ns < 0 ? 0 : others_ns;
    return others_ns < waiting_ns ? others_ns : waiting_ns;
}

static int add_thread(const struct process_threads *of, uint32_t thread, struct as_error *err)
{
    const struct as_level_thread *level = level_of(of->all, thread);
    const int64_t bin_ns = of->all->tally.levels.bin_ns;
    const bool switches = has_switches(level);
    size_t i = 0;

    for (size_t phase = 0; phase < of->first.n; phase++) {
        const uint32_t end = phase + 1 < of->first.n ? of->first.at[phase + 1] : of->length;
        struct as_row_thread_phase row = {.thread_id = of->all->thread_id[thread],
                                          .phase = (int64_t)phase,
                                          .begin_ns = of->first.at[phase] * bin_ns,
                                          .end_ns = end * bin_ns};
        for (; i < level->bin.n && level->bin.at[i].number < end; i++) {
            const struct as_level_bin *bin = &level->bin.at[i];
            row.running_ns += ran_ns(bin, switches);
            row.waiting_ns += bin->ns[AS_LEVEL_WAITING];
            row.awaited_ns += awaited_ns(of, bin, switches);
        }
        if (row.running_ns || row.waiting_ns)
            AS_TRY(as_experiment_add_thread_phase(of->all->experiment, &row, err));
    }
    return 0;
}

static int add_process(struct process_threads *of, struct as_error *err)
{
    memset(of->on_ns, 0, (of->length + 1) * sizeof *of->on_ns);
    as_vec_foreach (&of->thread, it) {
        const struct as_level_thread *level = level_of(of->all, *it);
        const bool switches = has_switches(level);
        as_vec_foreach (&level->bin, bin)
            of->on_ns[bin->number] += works_ns(bin, switches);
    }
    if (divide_process(of) < 0)
        return as_error_nomem(err, "the phases of a process");
    as_vec_foreach (&of->thread, it)
        AS_TRY(add_thread(of, *it, err));
    return 0;
}

/* Compares threads by process, then by start. */
static int by_process(const void *a, const void *b, void *threads)
{
    const struct as_tally_thread *thread = threads;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (thread[x].process != thread[y].process)
        return thread[x].process < thread[y].process ? -1 : 1;
    if (thread[x].start_ns != thread[y].start_ns)
        return thread[x].start_ns < thread[y].start_ns ? -1 : 1;
    return (x > y) - (x < y);
}

/* Adds the phases of all processes. `at` are the threads of the run, sorted by process. */
static int add_processes(struct process_threads *of, const uint32_t *at, size_t n,
                         struct as_error *err)
{
    const struct as_tally_thread *thread = of->all->tally.thread.at;

    for (size_t i = 0, end; i < n; i = end) {
        of->thread.n = 0;
        for (end = i; end < n && thread[at[end]].process == thread[at[i]].process; end++)
            if (as_vec_push(&of->thread, at[end]) < 0)
                return as_error_nomem(err, "the phases of a process");
        if (of->thread.n > 1)
            AS_TRY(add_process(of, err));
    }
    return 0;
}

int as_attribute_phases(struct as_attribution *all, struct as_error *err)
{
    struct process_threads of = {.all = all, .length = as_levels_length(&all->tally.levels)};
    uint32_t *at = as_calloc(all->tally.thread.n + 1, sizeof *at);
    size_t n = 0;
    int rc;

    of.on_ns = as_calloc(of.length + 1, sizeof *of.on_ns);
    if (at && of.on_ns) {
        for (uint32_t i = 0; i < all->tally.thread.n; i++)
            if (level_of(all, i) && all->tally.thread.at[i].process < all->tally.process.n)
                at[n++] = i;
        qsort_r(at, n, sizeof *at, by_process, all->tally.thread.at);
        rc = add_processes(&of, at, n, err);
    } else {
        rc = as_error_nomem(err, "the phases of a process");
    }
    as_vec_fini(&of.thread);
    as_vec_fini(&of.first);
    as_free(of.on_ns);
    as_free(at);
    return rc;
}
