/* SPDX-License-Identifier: Apache-2.0 */
/* The parallel behaviour of a run as text. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analytics/state/interest.h"
#include "base/error.h"
#include "report/parallel.h"

#define ROWS_MOST 12u
#define NAME_MOST 64u
/* Index of the efficiency of threads. It adds no information if each rank has one thread and none
 * sleeps. */
#define THREADS_ROW 7u
#define SECONDS(ns) ((double)(ns)*1e-9)

struct parallel_text {
    const struct as_wait_sums *sums;
    struct as_page *page;
    as_parallel_place *place;
    void *context;
};

/*
 * Adds "rank 3", "rank 3, thread 2", "thread 2" or "rank 3, queue 1". Threads are counted in their
 * process from 0.
 */
static void add_thread_cell(const struct parallel_text *t, struct as_table *table, uint32_t at)
{
    const struct as_analysis *a = t->sums->analysis;
    if (at == AS_WAIT_UNKNOWN) {
        as_table_string(table, NULL);
        return;
    }
    const struct as_location *l = &a->location.at[at];
    char rank[NAME_MOST] = "", thread[NAME_MOST] = "";
    if (l->rank >= 0)
        snprintf(rank, sizeof rank, "rank %" PRId64, l->rank);
    if (l->queue)
        snprintf(thread, sizeof thread, "%s", l->queue);
    else if (l->rank < 0 || l->thread > 0)
        snprintf(thread, sizeof thread, "thread %u", l->thread);
    as_table_f(table, "%s%s%s", rank, *rank && *thread ? ", " : "", thread);
}

static void add_site_cell(const struct parallel_text *t, struct as_table *table, uint32_t at)
{
    if (at == AS_WAIT_UNKNOWN) {
        as_table_string(table, NULL);
        return;
    }
    const struct as_site *site = &t->sums->analysis->site.at[at];
    const char *place = site->address && t->place ? t->place(t->context, site) : NULL;
    as_table_f(table, "%s%s%s", site->routine, place ? " at " : "", place ? place : "");
}

static void begin_table(const struct parallel_text *t, struct as_table *table,
                        const struct as_column *columns, size_t n, const char *title)
{
    as_page_heading(t->page, title);
    as_page_table_begin(t->page, table, columns, n);
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static int write_efficiency(const struct parallel_text *t, struct assay_error *err)
{
    static const struct as_column columns[] = {
        {.title = "share", .align = AS_ALIGN_RIGHT},
        {.title = "of the time of all threads"},
    };
    static const struct as_column part[] = {
        {.title = "share", .align = AS_ALIGN_RIGHT},
        {.title = "of the time of all threads, from MPI_Init to MPI_Finalize"},
    };
    static const struct as_column ranged[] = {
        {.title = "share", .align = AS_ALIGN_RIGHT},
        {.title = "of the time of all threads, in the range"},
    };
    const bool is_ranged = as_interest_is_part(&t->sums->analysis->range);
    const bool is_part = as_interest_is_part(&t->sums->analysis->interest);
    const struct as_efficiency *e = &t->sums->analysis->efficiency;
    const struct {
        double share;
        const char *what;
    } rows[] = {
        {e->parallel, "parallel efficiency: computing, neither communicating nor waiting"},
        {e->mpi_parallel, "  MPI: ranks outside MPI"},
        {e->mpi_balance, "    load balance: mean over longest"},
        {e->mpi_communication, "    communication: longest over elapsed"},
        {e->mpi_startup, "      start and end: elapsed without MPI_Init, MPI_Finalize"},
        {e->mpi_serialisation, "      serialisation: longest over ideal network"},
        {e->mpi_transfer, "      transfer: ideal network over recorded"},
        {e->openmp_parallel, "  threads within ranks"},
    };
    struct as_table table;
    bool has_threads = false, has_sleep = false;
    if (isnan(e->parallel))
        return 0;
    as_vec_foreach (&t->sums->analysis->location, location) {
        has_threads |= location->thread > 0 && !location->queue &&
                       (location->rank >= 0 || isnan(e->mpi_parallel));
        has_sleep |= location->activity_ns[AS_ACTIVITY_SLEEPING] > 0;
    }
    begin_table(t, &table, is_ranged ? ranged : is_part ? part : columns, 2, "Efficiency");
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (isnan(rows[i].share) || (i == THREADS_ROW && !has_threads && !has_sleep))
            continue;
        as_table_f(&table, "%.1f %%", 100 * rows[i].share);
        as_table_string(&table, i == THREADS_ROW && has_sleep
                                    ? "  threads within ranks, and time asleep"
                                    : rows[i].what);
    }
    return as_page_table_end(t->page, &table, err);
}

static void append_phase_share(struct as_table *table, double share)
{
    if (isnan(share))
        as_table_string(table, NULL);
    else
        as_table_f(table, "%.1f", 100 * share);
}

static void append_phase(const struct parallel_text *t, struct as_table *table,
                         const struct as_phase *phase)
{
    const struct as_efficiency *e = &phase->efficiency;
    const bool has_mpi = !isnan(e->mpi_parallel);
    as_table_f(table, "%.3f", SECONDS(e->elapsed_ns));
    append_phase_share(table, e->parallel);
    append_phase_share(table, has_mpi ? e->mpi_balance : e->balance);
    append_phase_share(table, has_mpi ? e->mpi_communication : e->communication);
    add_thread_cell(t, table, phase->busiest);
}

/* Writes the regions of the program over all calls. */
static int write_phases(const struct parallel_text *t, struct assay_error *err)
{
    static const struct as_column columns[] = {
        {.title = "seconds", .align = AS_ALIGN_RIGHT},
        {.title = "parallel %", .align = AS_ALIGN_RIGHT},
        {.title = "balance %", .align = AS_ALIGN_RIGHT},
        {.title = "comm. %", .align = AS_ALIGN_RIGHT},
        {.title = "busiest", .shrink = AS_SHRINK_END, .least = 7},
        {.title = "calls", .align = AS_ALIGN_RIGHT},
        {.title = "region", .shrink = AS_SHRINK_MIDDLE, .least = 12},
    };
    const struct as_analysis *a = t->sums->analysis;
    struct as_table table;
    unsigned n = 0;
    if (!a->phase.n)
        return 0;
    begin_table(t, &table, columns, sizeof columns / sizeof *columns, "Phases");
    as_vec_foreach (&a->phase, phase) {
        if (phase->first || n++ >= ROWS_MOST)
            continue;
        append_phase(t, &table, phase);
        as_table_u64(&table, phase->calls_n);
        as_table_string(&table, phase->name);
    }
    return as_page_table_end(t->page, &table, err);
}

/* Returns the repeatedly called region with the most time, or NULL. */
static const struct as_phase *main_loop_of(const struct as_analysis *a)
{
    const struct as_phase *main = NULL;
    as_vec_foreach (&a->phase, phase)
        if (!phase->first && phase->calls_n > 1 &&
            (!main || phase->efficiency.elapsed_ns > main->efficiency.elapsed_ns))
            main = phase;
    return main;
}

static void append_iteration(struct as_table *table, const struct as_phase *phase)
{
    if (phase->calls_n == 1)
        as_table_u64(table, phase->first);
    else
        as_table_f(table, "%" PRIu64 " to %" PRIu64, phase->first,
                   phase->first + phase->calls_n - 1);
}

/* Writes the first iterations of the region with the most time. JSON and views have all of them. */
static int write_iterations(const struct parallel_text *t, struct assay_error *err)
{
    static const struct as_column columns[] = {
        {.title = "iteration", .align = AS_ALIGN_RIGHT},
        {.title = "seconds", .align = AS_ALIGN_RIGHT},
        {.title = "parallel %", .align = AS_ALIGN_RIGHT},
        {.title = "balance %", .align = AS_ALIGN_RIGHT},
        {.title = "comm. %", .align = AS_ALIGN_RIGHT},
        {.title = "busiest", .shrink = AS_SHRINK_END, .least = 7},
    };
    const struct as_analysis *a = t->sums->analysis;
    const struct as_phase *all = main_loop_of(a);
    struct as_table table;
    char text[NAME_MOST * 2];
    unsigned n = 0;
    if (!all)
        return 0;
    snprintf(text, sizeof text, "Iterations of %.*s", (int)NAME_MOST, all->name);
    begin_table(t, &table, columns, sizeof columns / sizeof *columns, text);
    for (const struct as_phase *it = all + 1; it < a->phase.at + a->phase.n && it->first; it++) {
        if (n++ >= ROWS_MOST)
            continue;
        append_iteration(&table, it);
        append_phase(t, &table, it);
    }
    AS_TRY(as_page_table_end(t->page, &table, err));
    if (n > ROWS_MOST) {
        snprintf(text, sizeof text, "%u more; --format json has all", n - ROWS_MOST);
        as_page_wrap(t->page, "  ", text, false);
    }
    return 0;
}

static int write_waits(const struct parallel_text *t, struct assay_error *err)
{
    static const struct as_column columns[] = {
        {.title = "wait s", .align = AS_ALIGN_RIGHT},
        {.title = "longest", .align = AS_ALIGN_RIGHT},
        {.title = "n", .align = AS_ALIGN_RIGHT},
        {.title = "what", .shrink = AS_SHRINK_END, .least = 16},
        {.title = "in", .shrink = AS_SHRINK_MIDDLE, .least = 12},
        {.title = "most of it", .shrink = AS_SHRINK_END, .least = 7},
    };
    struct as_table table;
    unsigned n = 0;
    if (!t->sums->of_call.n)
        return 0;
    begin_table(t, &table, columns, sizeof columns / sizeof *columns, "Waiting");
    as_vec_foreach (&t->sums->of_call, wait) {
        if (n++ == ROWS_MOST)
            break;
        as_table_f(&table, "%.3f", SECONDS(wait->time_ns));
        as_table_f(&table, "%.3f", SECONDS(wait->most_ns));
        as_table_u64(&table, wait->n);
        as_table_string(&table, as_wait_title((enum as_wait_kind)wait->kind));
        add_site_cell(t, &table, wait->site);
        add_thread_cell(t, &table, wait->location);
    }
    return as_page_table_end(t->page, &table, err);
}

static int write_blame(const struct parallel_text *t, struct assay_error *err)
{
    static const struct as_column columns[] = {
        {.title = "costs s", .align = AS_ALIGN_RIGHT},
        {.title = "directly", .align = AS_ALIGN_RIGHT},
        {.title = "waits", .align = AS_ALIGN_RIGHT},
        {.title = "late thread"},
        {.title = "to", .shrink = AS_SHRINK_MIDDLE, .least = 12},
    };
    const struct as_analysis *a = t->sums->analysis;
    struct as_table table;
    unsigned n = 0;
    if (!a->blame.blame.n)
        return 0;
    begin_table(t, &table, columns, sizeof columns / sizeof *columns, "Root causes of waiting");
    as_vec_foreach (&a->blame.blame, blame) {
        if (n++ == ROWS_MOST || blame->total_ns * 200 < t->sums->waited_ns)
            break;
        as_table_f(&table, "%.3f", SECONDS(blame->total_ns));
        as_table_f(&table, "%.3f", SECONDS(blame->direct_ns));
        as_table_u64(&table, blame->n);
        add_thread_cell(t, &table, blame->location);
        add_site_cell(t, &table, blame->site);
    }
    return as_page_table_end(t->page, &table, err);
}

static bool was_off(const struct as_analysis *a)
{
    bool was = false;
    as_vec_foreach (&a->location, location)
        was |= location->activity_ns[AS_ACTIVITY_OFF] > 0;
    return was;
}

static int emit_locations(const struct parallel_text *t, struct assay_error *err)
{
    static const struct as_column columns[] = {
        {.title = "who"},
        {.title = "computing", .align = AS_ALIGN_RIGHT},
        {.title = "MPI", .align = AS_ALIGN_RIGHT},
        {.title = "OpenMP", .align = AS_ALIGN_RIGHT},
        {.title = "threads", .align = AS_ALIGN_RIGHT},
        {.title = "i/o", .align = AS_ALIGN_RIGHT},
        {.title = "asleep", .align = AS_ALIGN_RIGHT},
        {.title = "OpenCL", .align = AS_ALIGN_RIGHT},
        {.title = "idle", .align = AS_ALIGN_RIGHT},
        {.title = "crit. path", .align = AS_ALIGN_RIGHT},
        {.title = "not recorded", .align = AS_ALIGN_RIGHT}, /* last column: usually left out */
    };
    const struct as_analysis *a = t->sums->analysis;
    const bool has_off = was_off(a);
    struct as_table table;
    char more[NAME_MOST];
    if (!a->location.n)
        return 0;
    begin_table(t, &table, columns, sizeof columns / sizeof *columns - !has_off, "Seconds of each");
    for (uint32_t at = 0; at < a->location.n && at < 2 * ROWS_MOST; at++) {
        add_thread_cell(t, &table, at);
        const int64_t *activity_ns = a->location.at[at].activity_ns;
        assert(activity_ns);
        for (unsigned i = 0; i < AS_ACTIVITY_OFF; i++)
            as_table_f(&table, "%.3f", SECONDS(activity_ns[i]));
        as_table_f(&table, "%.3f", SECONDS(t->sums->path_ns[at]));
        if (has_off)
            as_table_f(&table, "%.3f", SECONDS(activity_ns[AS_ACTIVITY_OFF]));
    }
    AS_TRY(as_page_table_end(t->page, &table, err));
    if (a->location.n > 2 * ROWS_MOST) {
        snprintf(more, sizeof more, "%zu more; --format json has all",
                 a->location.n - 2 * ROWS_MOST);
        as_page_wrap(t->page, "  ", more, false);
    }
    return 0;
}

/* Time of the MPI calls of a thread. */
struct mpi_time {
    int64_t time_ns, waiting_ns, transfer_ns;
};

static struct mpi_time mpi_time_of(const struct as_analysis *a, uint32_t location)
{
    struct mpi_time t = {0, 0, 0};
    as_vec_foreach (&a->sum, sum)
        if (sum->location == location &&
            as_activity_of_group(a->site.at[sum->site].group) == AS_ACTIVITY_MPI) {
            t.time_ns += sum->time_ns;
            t.waiting_ns += sum->waiting_ns;
            t.transfer_ns += sum->transfer_ns;
        }
    return t;
}

/* Writes the MPI times of threads. They are unknown if calls are sums. */
static int write_mpi(const struct parallel_text *t, struct assay_error *err)
{
    static const struct as_column columns[] = {
        {.title = "who"},
        {.title = "MPI", .align = AS_ALIGN_RIGHT},
        {.title = "waiting", .align = AS_ALIGN_RIGHT},
        {.title = "transfer", .align = AS_ALIGN_RIGHT},
        {.title = "overhead", .align = AS_ALIGN_RIGHT},
    };
    const struct as_analysis *a = t->sums->analysis;
    struct as_table table;
    bool has_begun = false;
    for (uint32_t at = 0; a->summed_n == 0 && at < a->location.n && at < 2 * ROWS_MOST; at++) {
        const struct mpi_time time = mpi_time_of(a, at);
        if (time.time_ns == 0)
            continue;
        if (!has_begun)
            begin_table(t, &table, columns, sizeof columns / sizeof *columns, "Seconds in MPI");
        has_begun = true;
        add_thread_cell(t, &table, at);
        as_table_f(&table, "%.3f", SECONDS(time.time_ns));
        as_table_f(&table, "%.3f", SECONDS(time.waiting_ns));
        as_table_f(&table, "%.3f", SECONDS(time.transfer_ns));
        as_table_f(&table, "%.3f", SECONDS(time.time_ns - time.waiting_ns - time.transfer_ns));
    }
    return has_begun ? as_page_table_end(t->page, &table, err) : 0;
}

int as_parallel_text(const struct as_wait_sums *sums, struct as_page *page,
                     as_parallel_place *place, void *context, struct assay_error *err)
{
    struct parallel_text t = {sums, page, place, context};
    int rc = write_efficiency(&t, err);
    if (rc == 0)
        rc = write_phases(&t, err);
    if (rc == 0)
        rc = write_iterations(&t, err);
    if (rc == 0)
        rc = emit_locations(&t, err);
    if (rc == 0)
        rc = write_mpi(&t, err);
    if (rc == 0)
        rc = write_waits(&t, err);
    if (rc == 0)
        rc = write_blame(&t, err);
    return rc;
}
