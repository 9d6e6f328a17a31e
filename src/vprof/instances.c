/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads files of threads and outcomes of processes. Their bytes are not trusted, since the program
 * could change them. Records that the agent had not added up at the end are added by its rules.
 */
#include "vprof/instances.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/orphan_file.h"
#include "vprof/callers.h"

#define FILE_MOST_B (1ull << 32)

/* ---- A thread ------------------------------------------------------------------------------ */

/* Returns the number of executions of the header, or NAN if unknown. */
static double trips_of(const struct as_patch_plan *plan, const struct as_patch_record *record)
{
    const struct as_patch_loop *loop = as_patch_at(plan, &plan->loop);
    const struct as_patch_exit *exit = as_patch_at(plan, &plan->exit);
    loop += record->loop;
    const uint64_t trips =
        as_patch_trips(loop, exit[loop->first_exit + record->exit].add, record->iv0, record->iv1);
    return trips == UINT64_MAX ? (double)NAN : (double)trips;
}

/* Returns true if entry and exit belong to one instance. */
static bool is_whole(const struct as_patch_plan *plan, const struct as_patch_record *record)
{
    const struct as_patch_loop *loop = as_patch_at(plan, &plan->loop);
    return record->loop < plan->loop.n && record->exit < loop[record->loop].exits &&
           record->sp == 0 && !(record->flags & AS_PATCH_CUT) && record->t1 >= record->t0;
}

static int store_instance(struct as_instances *out, const struct as_patch_record *record)
{
    const struct as_instance it = {.begun = record->t0,
                                   .ticks = (double)(record->t1 - record->t0),
                                   .trips = trips_of(out->plan, record),
                                   .loop = record->loop,
                                   .thread = (uint32_t)out->thread.n - 1,
                                   .away_ns = (double)as_patch_away_ns(record),
                                   .switched = as_patch_is_switched(record),
                                   .faulted = as_patch_is_faulted(record)};
    return as_vec_push(&out->kept, it);
}

static int append_totals(struct as_instances *out, const struct as_patch_thread *thread)
{
    const struct as_patch_total *total =
        (const void *)((const uint8_t *)thread + as_patch_totals_at(thread->loops));
    for (uint32_t i = 0; i < thread->loops; i++)
        if (as_vec_push(&out->total, total[i]) < 0)
            return -1;
    return 0;
}

static int add_thread_counters(struct as_instances *out, const struct as_patch_thread *thread)
{
    const uint64_t *counter =
        (const void *)((const uint8_t *)thread + as_patch_counters_at(thread->loops));
    while (out->counter.n < thread->counters)
        if (as_vec_push(&out->counter, 0) < 0)
            return -1;
    for (uint64_t i = 0; i < thread->counters; i++)
        out->counter.at[i] += counter[i];
    return 0;
}

/* Adds the records of the last batch, which the agent did not add up. */
static int add_pending_batch(struct as_instances *out, const struct as_patch_thread *thread)
{
    const int64_t n = AS_PATCH_BATCH_N + thread->next / (int64_t)sizeof *thread->batch;
    struct as_patch_total *total = out->total.at + out->total.n - thread->loops;
    for (int64_t i = 0; i < n && i < AS_PATCH_BATCH_N; i++) {
        const struct as_patch_record *record = &thread->batch[i];
        if (record->loop >= thread->loops)
            continue;
        if (!is_whole(out->plan, record)) {
            total[record->loop].dropped++;
            continue;
        }
        const double trips = trips_of(out->plan, record);
        total[record->loop].instances++;
        total[record->loop].ticks += record->t1 - record->t0;
        if (!isnan(trips)) {
            total[record->loop].trips += (uint64_t)trips;
            total[record->loop].by_trips[as_patch_class((uint64_t)trips)]++;
        }
        total[record->loop].switched += as_patch_is_switched(record);
        total[record->loop].faulted += as_patch_is_faulted(record);
        if (store_instance(out, record) < 0)
            return -1;
    }
    return 0;
}

static int add_kept_records(struct as_instances *out, const struct as_patch_thread *thread)
{
    const struct as_patch_record *record =
        (const void *)((const uint8_t *)thread +
                       as_patch_kept_at(thread->loops, thread->counters, thread->paths_room_b));
    for (uint64_t i = 0; i < thread->kept; i++)
        if (is_whole(out->plan, &record[i]) && store_instance(out, &record[i]) < 0)
            return -1;
    return 0;
}

static int add_instance_path(struct as_instances *out, const struct as_patch_thread *thread,
                             const struct as_patch_path *path, const struct as_patch_total *total)
{
    struct as_instance_path it = {.trips = trips_of(out->plan, &path->record),
                                  .loop = path->record.loop};
    const uint64_t halved = total[it.loop].paths_halved;
    it.weight = ldexp(1, halved < 64 ? (int)halved : 64);
    if (as_callers_find(out->callers, out, thread, path, &it.path) < 0)
        return -1;
    return as_vec_push(&out->path, it);
}

static int add_thread_paths(struct as_instances *out, const struct as_patch_thread *thread)
{
    const uint8_t *table =
        (const uint8_t *)thread + as_patch_paths_at(thread->loops, thread->counters);
    const struct as_patch_total *total =
        (const void *)((const uint8_t *)thread + as_patch_totals_at(thread->loops));
    uint64_t at = 0;
    while (out->callers && thread->paths_b - at >= sizeof(struct as_patch_path)) {
        const struct as_patch_path *path = (const void *)(table + at);
        if (path->size_b % 8 || path->stack_b % 8 || path->size_b > thread->paths_b - at ||
            path->size_b != sizeof *path + path->stack_b) {
            out->damaged++;
            break;
        }
        if (is_whole(out->plan, &path->record) && add_instance_path(out, thread, path, total) < 0)
            return -1;
        at += path->size_b;
    }
    return 0;
}

static bool is_thread(const struct as_patch_plan *plan, const struct as_patch_thread *thread,
                      uint64_t size_b)
{
    return size_b >= sizeof *thread && thread->magic == AS_PATCH_THREAD &&
           thread->version == AS_PATCH_VERSION && thread->loops == plan->loop.n &&
           thread->counters == plan->counter.n && thread->kept_room == plan->kept &&
           thread->kept <= thread->kept_room && thread->paths_room_b == plan->paths_b &&
           thread->paths_b <= thread->paths_room_b && thread->next <= 0 &&
           thread->next >= -(int64_t)sizeof thread->batch && size_b >= as_patch_thread_b(plan);
}

static int read_thread_file(struct as_instances *out, const void *bytes, uint64_t size_b)
{
    const struct as_patch_thread *thread = bytes;
    if (!is_thread(out->plan, thread, size_b)) {
        out->damaged++;
        return 0;
    }
    const struct as_instance_thread it = {thread->pid, thread->tid, thread->begun_ns,
                                          thread->ended_ns};
    out->dropped += thread->dropped;
    if (as_vec_push(&out->thread, it) < 0 || append_totals(out, thread) < 0 ||
        add_thread_counters(out, thread) < 0 || add_thread_paths(out, thread) < 0)
        return -1;
    return add_pending_batch(out, thread) < 0 ? -1 : add_kept_records(out, thread);
}

/* ---- A process ----------------------------------------------------------------------------- */

/* Reads outcomes of a process. A region counts as patched if any process patched it. */
static int read_outcomes_file(struct as_instances *out, const void *bytes, uint64_t size_b)
{
    const struct as_patch_outcomes *head = bytes;
    const struct as_patch_outcome *outcome = (const void *)(head + 1);
    if (size_b < sizeof *head || head->magic != AS_PATCH_OUTCOME ||
        head->version != AS_PATCH_VERSION || head->regions != out->plan->region.n ||
        size_b < sizeof *head + head->regions * sizeof *outcome) {
        out->damaged++;
        return 0;
    }
    out->threads_missed += head->threads_missed;
    for (uint64_t i = 0; i < head->regions; i++) {
        if (out->outcome.n <= i && as_vec_push(&out->outcome, outcome[i]) < 0)
            return -1;
        if (outcome[i].kind == AS_PATCH_DONE || out->outcome.at[i].kind == AS_PATCH_WAITING)
            out->outcome.at[i] = outcome[i];
    }
    return 0;
}

/* ---- The directory ------------------------------------------------------------------------- */

static int read_left_file(int directory, const char *name, struct as_instances *out,
                          int (*take)(struct as_instances *, const void *, uint64_t))
{
    struct as_left left;
    as_left_open(directory, name, FILE_MOST_B, &left);
    const int rc = left.at ? take(out, left.at, left.size_b) : 0;
    out->damaged += !left.at;
    as_left_remove(&left);
    return rc;
}

int as_instances_read(const char *directory, const struct as_patch_plan *plan,
                      struct as_instances *out, struct as_error *err)
{
    int rc = 0;
    DIR *dir = opendir(directory);
    out->plan = plan;
    for (struct dirent *entry; rc == 0 && dir && (entry = readdir(dir));) {
        if (strncmp(entry->d_name, AS_PATCH_STATE ".", strlen(AS_PATCH_STATE ".")) == 0)
            rc = read_left_file(dirfd(dir), entry->d_name, out, read_outcomes_file);
        else if (strncmp(entry->d_name, AS_PATCH_PREFIX, strlen(AS_PATCH_PREFIX)) == 0)
            rc = read_left_file(dirfd(dir), entry->d_name, out, read_thread_file);
    }
    if (out->counter.n)
        as_patch_counters_complete(plan, out->counter.at);
    if (dir) {
        unlinkat(dirfd(dir), AS_PATCH_PLAN, 0);
        closedir(dir);
    }
    return rc < 0 ? as_error_nomem(err, "instances of loops") : 0;
}

static void add_entries(struct as_entries *sum, const struct as_patch_total *one, bool is_sampled)
{
    const double waits = (double)one->left * (one->settled ? 1 : 0.5);
    const double n =
        is_sampled ? (double)one->draws + (double)one->drawn - waits : (double)one->instances;
    if (n <= 0)
        return;
    sum->entries += n;
    sum->measured += is_sampled ? (double)one->draws : (double)one->instances;
    sum->threads++;
    sum->is_exact &= !is_sampled || one->settled || one->left == 0;
}

struct as_entries as_instances_entries(const struct as_instances *all, uint32_t loop)
{
    const size_t loops = (size_t)all->plan->loop.n;
    struct as_entries sum = {.is_exact = true};
    for (size_t at = loop; at < all->total.n; at += loops)
        add_entries(&sum, &all->total.at[at], all->plan->mode == AS_PATCH_SAMPLE);
    sum.measured = fmax(sum.measured, 1);
    sum.entries = fmax(sum.entries, sum.measured);
    return sum;
}

const char *as_instances_why_not(const struct as_instances *all, uint32_t region)
{
    static const char bare[] = "the program does not load glibc (it is statically linked, or uses "
                               "another C library); link it dynamically";
    static const char *const words[] = {
        [AS_PATCH_WAITING] = "its file was not loaded in the measured run",
        [AS_PATCH_DIFFERS] = "its code in memory differs from the file",
        [AS_PATCH_NO_ROOM] = "no memory within reach of its module",
        [AS_PATCH_DENIED] = "the kernel does not permit writing code",
        [AS_PATCH_THREADS] = "other threads could not be stopped",
        [AS_PATCH_BARE] = bare};
    _Static_assert(sizeof words / sizeof *words == AS_PATCH_BARE + 1,
                   "an entry for each of the enumeration");
    static const struct {
        unsigned kind, error;
        const char *word;
    } closer[] = {
        {AS_PATCH_DENIED, EBUSY, "the program uses the register gs, which the agent needs"},
        {AS_PATCH_THREADS, EBUSY, "other threads were inside the loop each time they were stopped"},
        {AS_PATCH_THREADS, EAGAIN, "a thread blocks the signal that stops it"},
        {AS_PATCH_THREADS, ETIMEDOUT, "a thread could not be stopped because it had no CPU"},
        {AS_PATCH_THREADS, EPERM, "a seccomp filter prevents stopping a thread"},
    };
    if (region >= all->outcome.n)
        return "the agent was not loaded into the program";
    const unsigned kind = all->outcome.at[region].kind;
    for (size_t i = 0; i < sizeof closer / sizeof *closer; i++)
        if (closer[i].kind == kind && closer[i].error == all->outcome.at[region].error)
            return closer[i].word;
    return kind == AS_PATCH_DONE                                ? NULL
           : kind < sizeof words / sizeof *words && words[kind] ? words[kind]
                                                                : "it was not patched";
}

void as_instances_fini(struct as_instances *instances)
{
    as_vec_foreach (&instances->path_text, text)
        as_free(*text);
    as_vec_fini(&instances->path_text);
    as_vec_fini(&instances->path);
    as_vec_fini(&instances->counter);
    as_vec_fini(&instances->kept);
    as_vec_fini(&instances->thread);
    as_vec_fini(&instances->total);
    as_vec_fini(&instances->outcome);
}
