/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads schedstat of running threads, and writes their CPU time and run delay to the recorder.
 */
#include "profile/delays.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/task.h"

/* Min time between two readings in ns; and in multiples of the time of a reading. */
#define LOOK_NS   100000000
#define LOOK_COST 100

/* Returns the times of a thread in ns; -1 if it has ended, or the kernel does not count. */
static struct as_task_times read_times(uint32_t pid, uint32_t tid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/task/%" PRIu32 "/schedstat", pid, tid);
    return as_task_times_read(path);
}

static uint64_t key_of(uint32_t pid, uint32_t tid)
{
    return (uint64_t)pid << 32 | tid;
}

static struct as_delay *find_delay(struct as_delays *delays, uint32_t pid, uint32_t tid)
{
    const uint32_t at = as_map_u64_get(&delays->at, key_of(pid, tid));
    struct as_delay *it = at == AS_MAP_NONE ? NULL : &delays->thread.at[at];
    return it && it->pid == pid && it->tid == tid ? it : NULL;
}

void as_delays_init(struct as_delays *delays)
{
    *delays = (struct as_delays){0};
    as_map_u64_init(&delays->at);
}

void as_delays_fini(struct as_delays *delays)
{
    as_vec_fini(&delays->thread);
    as_vec_fini(&delays->unused);
    as_map_u64_fini(&delays->at);
}

int as_delays_add(struct as_delays *delays, uint32_t pid, uint32_t tid, bool existed)
{
    struct as_delay it = {.pid = pid, .tid = tid, .now_ns = -1, .ran_ns = -1};
    uint32_t at = (uint32_t)delays->thread.n;
    if (!pid || !tid || find_delay(delays, pid, tid))
        return 0;
    if (existed) {
        const struct as_task_times before = read_times(pid, tid);
        it.before_ns = before.ready_ns;
        it.ran_before_ns = before.ran_ns;
    }
    if (delays->unused.n)
        at = delays->unused.at[--delays->unused.n];
    else
        AS_TRY(as_vec_push(&delays->thread, it));
    delays->thread.at[at] = it;
    return as_map_u64_put(&delays->at, key_of(pid, tid), at);
}

void as_delays_know(struct as_delays *delays, uint32_t pid, uint32_t tid, int64_t now_ns)
{
    struct as_delay *it = find_delay(delays, pid, tid);
    if (it)
        it->now_ns = now_ns > it->now_ns ? now_ns : it->now_ns;
}

static void read_one(struct as_delay *it)
{
    const struct as_task_times now = read_times(it->pid, it->tid);
    it->now_ns = now.ready_ns > it->now_ns ? now.ready_ns : it->now_ns;
    it->ran_ns = now.ran_ns > it->ran_ns ? now.ran_ns : it->ran_ns;
}

void as_delays_look(struct as_delays *delays, int64_t now_ns)
{
    if (now_ns < delays->next_ns)
        return;
    as_vec_foreach (&delays->thread, it) {
        if (it->tid)
            read_one(it);
    }
    const int64_t end_ns = as_monotonic_ns(), pause_ns = LOOK_COST * (end_ns - now_ns);
    delays->next_ns = end_ns + (pause_ns > LOOK_NS ? pause_ns : LOOK_NS);
}

/* Writes what a time has grown by since `before_ns`. */
static int record_growth(const struct as_delay *it, const char *name, int64_t before_ns,
                         int64_t now_ns, struct as_recorder *recorder, uint64_t time_ns,
                         struct as_error *err)
{
    char text[32];
    if (now_ns < 0)
        return 0;
    snprintf(text, sizeof text, "%" PRId64, now_ns - (before_ns > 0 ? before_ns : 0));
    return as_recorder_thread(recorder, it->pid, it->tid, time_ns, name, text, err);
}

static int record_run_delay(const struct as_delay *it, struct as_recorder *recorder,
                            uint64_t time_ns, struct as_error *err)
{
    AS_TRY(record_growth(it, "ran_ns", it->ran_before_ns, it->ran_ns, recorder, time_ns, err));
    return record_growth(it, "run_delay_ns", it->before_ns, it->now_ns, recorder, time_ns, err);
}

int as_delays_end(struct as_delays *delays, struct as_recorder *recorder, uint32_t pid,
                  uint32_t tid, uint64_t time_ns, struct as_error *err)
{
    struct as_delay *it = find_delay(delays, pid, tid);
    if (!it)
        return 0;
    read_one(it); /* a zombie still has its file */
    AS_TRY(record_run_delay(it, recorder, time_ns, err));
    *it = (struct as_delay){0};
    const uint32_t at = (uint32_t)(it - delays->thread.at);
    return as_vec_push(&delays->unused, at) < 0 ? as_error_nomem(err, "threads") : 0;
}

int as_delays_end_all(struct as_delays *delays, struct as_recorder *recorder, uint64_t time_ns,
                      struct as_error *err)
{
    as_vec_foreach (&delays->thread, it) {
        if (!it->tid)
            continue;
        read_one(it);
        AS_TRY(record_run_delay(it, recorder, time_ns, err));
    }
    return 0;
}
