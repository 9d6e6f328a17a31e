/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes and threads of a stream that is being read: the time that each ran, waited, and was
 * ready without a CPU. Each is an incarnation, because the kernel reuses pids.
 */
#include "profile/tally_read.h"

#include <assert.h>

#define CPUS_MOST 65536 /* max CPU number; a damaged file may have larger ones */

/* ---- Incarnations ---------------------------------------------------------------- */

static int new_process(struct as_tally_reading *r, uint32_t pid, uint32_t parent,
                       uint32_t parent_pid, int64_t at, uint32_t *out)
{
    const struct as_tally_process process = {.stream = r->number,
                                             .parent = parent,
                                             .pid = pid,
                                             .parent_pid = parent_pid,
                                             .rank = -1,
                                             .exit_code = -1,
                                             .start_ns = at,
                                             .end_ns = -1};
    *out = (uint32_t)r->tally->process.n;
    AS_TRY(as_vec_push(&r->tally->process, process));
    return as_map_u64_put(&r->process, pid, *out);
}

int as_tally_process_of(struct as_tally_reading *r, uint32_t pid, int64_t at, uint32_t *out)
{
    *out = as_map_u64_get(&r->process, pid);
    return *out == AS_MAP_NONE ? new_process(r, pid, AS_NONE, 0, at, out) : 0;
}

static int new_thread(struct as_tally_reading *r, uint32_t index, uint32_t process, int64_t at)
{
    size_t n;
    const struct as_stream_thread *known = as_stream_threads(r->stream, &n);
    const bool is_first =
        r->early.pid && known[index].pid == r->early.pid && known[index].tid == r->early.pid;
    const struct as_tally_thread thread = {.process = process,
                                           .tid = known[index].tid,
                                           .start_ns = at,
                                           .end_ns = -1,
                                           .cpu_ns = -1,
                                           .last_cpu = AS_NONE,
                                           .on_ns = -1,
                                           .off_ns = -1,
                                           .queued_ns = -1,
                                           .delay_ns = -1,
                                           .ran_ns = -1,
                                           .early_delay_ns = is_first ? r->early.delay_ns : -1,
                                           .early_at_ns = is_first ? r->early.at_ns : -1};
    if (is_first)
        r->early.pid = 0; /* a later thread with this number is a different one */
    while (r->thread.n < n)
        AS_TRY(as_vec_push(&r->thread, AS_NONE));
    r->thread.at[index] = (uint32_t)r->tally->thread.n;
    return as_vec_push(&r->tally->thread, thread);
}

/* Finds the running incarnation of a thread of the stream, and adds it if it is new. */
int as_tally_thread_of(struct as_tally_reading *r, uint32_t index, int64_t at, uint32_t *out)
{
    if (index >= r->thread.n || r->thread.at[index] == AS_NONE) {
        size_t n;
        uint32_t process;
        const struct as_stream_thread *known = as_stream_threads(r->stream, &n);
        AS_TRY(as_tally_process_of(r, known[index].pid, at, &process));
        AS_TRY(new_thread(r, index, process, at));
    }
    *out = r->thread.at[index];
    return 0;
}

int as_tally_on_fork(struct as_tally_reading *r, const struct as_stream_record *record, int64_t at)
{
    size_t n;
    const struct as_stream_thread child = as_stream_threads(r->stream, &n)[record->thread];
    uint32_t parent, process;
    AS_TRY(as_tally_thread_of(r, record->parent, at, &parent));
    const struct as_tally_thread from = r->tally->thread.at[parent];
    const uint32_t parent_pid = r->tally->process.at[from.process].pid;
    if (child.pid == parent_pid)
        process = from.process;
    else
        AS_TRY(new_process(r, child.pid, from.process, parent_pid, at, &process));
    AS_TRY(new_thread(r, record->thread, process, at));
    struct as_tally_thread *thread = &r->tally->thread.at[r->thread.at[record->thread]];
    thread->name = from.name;
    thread->is_new = at > 0;
    if (process != from.process) {
        struct as_tally_process *made = &r->tally->process.at[process];
        const struct as_tally_process *of = &r->tally->process.at[from.process];
        made->exe = of->exe;
        made->command = of->command;
        made->root = of->root;
        made->rank = of->rank; /* a child of a rank belongs to the rank */
        made->launcher = of->launcher;
    }
    return 0;
}

/* ---- Running and waiting ------------------------------------------------------------------ */

static void show_state(struct as_tally *t, const struct as_tally_thread *thread,
                       enum as_level_state state, int64_t since_ns, int64_t at)
{
    as_levels_add(&t->levels, (uint32_t)(thread - t->thread.at), state, since_ns, at);
}

void as_tally_stop_queueing(struct as_tally *t, struct as_tally_thread *thread, int64_t at)
{
    if (thread->queued_ns >= 0) {
        if (at <= thread->early_at_ns)
            thread->early_runnable_ns += at - thread->queued_ns;
        thread->runnable_ns +=
            (int64_t)as_tally_add_within(&t->runnable_ns, at - thread->queued_ns);
        show_state(t, thread, AS_LEVEL_READY, thread->queued_ns, at);
    }
    thread->queued_ns = -1;
}

static void stop_running(struct as_tally *t, struct as_tally_thread *thread, int64_t at)
{
    if (thread->on_ns >= 0) {
        thread->cpu_ns += (int64_t)as_tally_add_within(&t->cpu_ns, at - thread->on_ns);
        show_state(t, thread, AS_LEVEL_RUNNING, thread->on_ns, at);
    }
    thread->on_ns = -1;
}

void as_tally_end_thread(struct as_tally *t, uint32_t index, int64_t at)
{
    assert(index < t->thread.n);
    struct as_tally_thread *thread = &t->thread.at[index];
    as_tally_stop_queueing(t, thread, at);
    stop_running(t, thread, at);
    thread->off_ns = -1;
    thread->end_ns = at;
}

int as_tally_stop_waiting(struct as_tally *t, uint32_t index, int64_t at)
{
    struct as_tally_thread *thread = &t->thread.at[index];
    int64_t waited = thread->off_ns >= 0 ? at - thread->off_ns : 0;
    thread->off_ns = -1;
    if (waited <= 0)
        return 0;
    show_state(t, thread, AS_LEVEL_WAITING, at - waited, at);
    waited = (int64_t)as_tally_add_within(&t->blocked_ns, waited);
    thread->blocked_ns += waited;
    return thread->waits_at
               ? as_tally_add_sum(t, index, thread->waits_at, true, 1, (uint64_t)waited)
               : 0;
}

void as_tally_seen_on(const struct as_tally_reading *r, struct as_tally_thread *thread,
                      uint32_t cpu)
{
    if (thread->last_cpu != AS_NONE && thread->last_cpu != cpu) {
        thread->migration_n++;
        thread->numa_migration_n +=
            as_numa_of(&r->numa, cpu) != as_numa_of(&r->numa, thread->last_cpu);
    }
    thread->last_cpu = cpu;
}

/* Sets the thread that runs on a CPU. Ends the run time of the thread before it, if its switch
 * record is missing. */
static int set_cpu_thread(struct as_tally_reading *r, uint32_t index, uint32_t cpu, int64_t at)
{
    if (cpu >= CPUS_MOST)
        return 0;
    while (r->on_cpu.n <= cpu)
        AS_TRY(as_vec_push(&r->on_cpu, AS_NONE));
    const uint32_t before = r->on_cpu.at[cpu];
    r->on_cpu.at[cpu] = index;
    if (before == AS_NONE || before == index || r->tally->thread.at[before].last_cpu != cpu)
        return 0;
    stop_running(r->tally, &r->tally->thread.at[before], at);
    return 0;
}

int as_tally_on_switch(struct as_tally_reading *r, const struct as_stream_record *record,
                       int64_t at)
{
    uint32_t index;
    AS_TRY(as_tally_thread_of(r, record->thread, at, &index));
    struct as_tally_thread *thread = &r->tally->thread.at[index];
    if (thread->cpu_ns < 0)
        thread->cpu_ns = 0;
    as_tally_seen_on(r, thread, record->cpu);
    if (!record->out) {
        AS_TRY(as_tally_stop_waiting(r->tally, index, at));
        /* The kernel counts the delay of a new thread from its creation. */
        if (thread->is_new)
            thread->queued_ns = thread->start_ns;
        thread->is_new = false;
        as_tally_stop_queueing(r->tally, thread, at);
        thread->on_ns = at;
        thread->waits_at = 0;
        return set_cpu_thread(r, index, record->cpu, at);
    }
    thread->is_new = false;
    stop_running(r->tally, thread, at);
    if (record->preempted) { /* preempted or yielded: the thread stays ready */
        thread->involuntary_n++;
        thread->queued_ns = at;
    } else {
        thread->voluntary_n++;
        thread->off_ns = at;
    }
    return 0;
}

int as_tally_count_cpu(const struct as_tally_reading *r, struct as_tally_thread *thread,
                       uint32_t cpu)
{
    as_vec_foreach (&thread->cpu, one) {
        if (one->cpu == cpu) {
            one->n++;
            return 0;
        }
    }
    return as_vec_push(&thread->cpu, (struct as_tally_cpu){cpu, 1, as_numa_of(&r->numa, cpu)});
}
