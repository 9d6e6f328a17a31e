/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectors that read /proc: run delay (delays.c), CPU time of all processes (task_account.c) and
 * exit status of processes (process_exits.c).
 */

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "profile/collector.h"
#include "profile/delays.h"
#include "profile/process_exits.h"
#include "profile/task_account.h"

/* ---- Run delay ----------------------------------------------------------------------------- */

static int open_delays(struct as_collector *it, const struct as_collection *all,
                       struct as_error *err)
{
    (void)all;
    it->self = as_calloc(1, sizeof(struct as_delays));
    if (!it->self)
        return as_error_nomem(err, "threads");
    as_delays_init(it->self);
    return 0;
}

static int start_delays(struct as_collector *it, const struct as_collection *all,
                        struct as_error *err)
{
    const uint32_t pid = (uint32_t)as_launch_pid(all->launch);
    return as_delays_add(it->self, pid, pid, !all->plan) < 0 ? as_error_nomem(err, "threads") : 0;
}

/* Adds the run delay at the end of the command, because /proc may have lost its process by now. */
static void read_launch_delay(const struct as_collector *it, const struct as_collection *all)
{
    const uint32_t pid = (uint32_t)as_launch_pid(all->launch);
    as_delays_know(it->self, pid, pid, as_launch_outcome(all->launch)->ready_end_ns);
}

static int on_delay_record(struct as_collector *it, const struct as_collection *all,
                           const struct as_sample_record *record, struct as_error *err)
{
    const bool existed = !all->plan && record->time_ns < (uint64_t)all->begin_ns;
    if (record->kind == AS_SAMPLE_EXIT) {
        read_launch_delay(it, all);
        return as_delays_end(it->self, all->recorder, record->pid, record->tid, record->time_ns,
                             err);
    }
    if (record->kind != AS_SAMPLE_FORK && record->kind != AS_SAMPLE_COMM)
        return 0;
    return as_delays_add(it->self, record->pid, record->tid, existed) < 0
               ? as_error_nomem(err, "threads")
               : 0;
}

static int pump_delays(struct as_collector *it, struct as_collection *all, bool last,
                       struct as_error *err)
{
    (void)all;
    (void)err;
    if (!last)
        as_delays_look(it->self, as_monotonic_ns());
    return 0;
}

static int finish_delays(struct as_collector *it, const struct as_collection *all,
                         struct as_error *err)
{
    read_launch_delay(it, all);
    return as_delays_end_all(it->self, all->recorder, (uint64_t)all->end_ns, err);
}

static void close_delays(struct as_collector *it)
{
    if (it->self)
        as_delays_fini(it->self);
    as_free(it->self);
}

extern const struct as_collector_kind as_collector_delays;
const struct as_collector_kind as_collector_delays = {.name = "delays",
                                                      .open = open_delays,
                                                      .start = start_delays,
                                                      .pump = pump_delays,
                                                      .meet = on_delay_record,
                                                      .finish = finish_delays,
                                                      .close = close_delays};

/* ---- The account of all processes ---------------------------------------------------------- */

/* Returns true if assay starts the command and samples its children. */
static bool ledger_is_wanted(const struct as_collection *all)
{
    return all->plan && !all->request->sampling.no_children;
}

static int open_ledger(struct as_collector *it, const struct as_collection *all,
                       struct as_error *err)
{
    (void)all;
    it->self = as_calloc(1, sizeof(struct as_ledger));
    return it->self ? 0 : as_error_nomem(err, "processes");
}

static int start_ledger(struct as_collector *it, const struct as_collection *all,
                        struct as_error *err)
{
    const struct as_sample_choice *choice = as_collection_choice(all);
    (void)err;
    as_ledger_begin(it->self, as_launch_pid(all->launch), choice && choice->event == AS_EVENT_TIMER,
                    all->begin_ns);
    return 0;
}

static int pump_ledger(struct as_collector *it, struct as_collection *all, bool last,
                       struct as_error *err)
{
    (void)all;
    (void)err;
    if (!last)
        as_ledger_look(it->self, as_monotonic_ns());
    return 0;
}

static int finish_ledger(struct as_collector *it, const struct as_collection *all,
                         struct as_error *err)
{
    return as_ledger_write(it->self, as_launch_outcome(all->launch), all->recorder, err);
}

static void close_ledger(struct as_collector *it)
{
    if (it->self)
        as_ledger_end(it->self);
    as_free(it->self);
}

extern const struct as_collector_kind as_collector_ledger;
const struct as_collector_kind as_collector_ledger = {.name = "ledger",
                                                      .is_wanted = ledger_is_wanted,
                                                      .open = open_ledger,
                                                      .start = start_ledger,
                                                      .pump = pump_ledger,
                                                      .finish = finish_ledger,
                                                      .close = close_ledger};

/* ---- How processes end --------------------------------------------------------------------- */

static int open_ends(struct as_collector *it, const struct as_collection *all, struct as_error *err)
{
    (void)all;
    it->self = as_calloc(1, sizeof(struct as_ends));
    return it->self ? 0 : as_error_nomem(err, "processes");
}

static int follow_ends(struct as_collector *it, const struct as_collection *all,
                       const struct as_sample_record *record, struct as_error *err)
{
    return record->kind == AS_SAMPLE_END ? 0
                                         : as_ends_on_record(it->self, record, all->recorder, err);
}

static int pump_ends(struct as_collector *it, struct as_collection *all, bool last,
                     struct as_error *err)
{
    (void)last;
    return as_ends_look(it->self, all->recorder, err);
}

static void close_ends(struct as_collector *it)
{
    if (it->self)
        as_ends_end(it->self);
    as_free(it->self);
}

extern const struct as_collector_kind as_collector_ends;
const struct as_collector_kind as_collector_ends = {.name = "ends",
                                                    .open = open_ends,
                                                    .pump = pump_ends,
                                                    .follow = follow_ends,
                                                    .close = close_ends};
