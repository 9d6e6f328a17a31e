/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the samples of timers inside the program (agent/): opens and closes the session, merges the
 * rings of all processes by time, and converts the records. It has the same structure as the
 * sampler of kernel events.
 */
#include "sample/timer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/task.h"
#include "sample/sampler.h"
#include "sample/timer_session.h"

/* ---- Delivery ------------------------------------------------------------------------------- */

struct sink {
    as_sample_sink *take;
    void *context;
    struct as_error *err;
};

static int deliver_record(struct as_timer_sampler *s, const struct as_sample_record *record,
                          const struct sink *sink)
{
    s->counts.records++;
    s->counts.samples += record->kind == AS_SAMPLE_SAMPLE;
    s->counts.late += record->time_ns < s->handed_ns;
    if (record->time_ns > s->handed_ns)
        s->handed_ns = record->time_ns;
    return sink->take(sink->context, record, sink->err);
}

static struct as_sample_record base_of(const struct as_timer_ring *ring,
                                       const struct as_agent_record *from, uint8_t kind)
{
    return (struct as_sample_record){.kind = kind,
                                     .pid = ring->pid,
                                     .tid = from->tid,
                                     .cpu = from->cpu,
                                     .parent_pid = ring->pid,
                                     .parent_tid = ring->pid,
                                     .time_ns = from->time_ns};
}

static int number_of(struct as_timer_sampler *s, const char *key, uint32_t *out)
{
    struct as_view view = as_view_of(key);
    *out = as_map_view_get(&s->files, view);
    if (*out != AS_MAP_NONE)
        return 0;
    view.p = as_arena_strndup(&s->arena, key, view.n);
    *out = s->file_n++;
    return view.p ? as_map_view_put(&s->files, view, *out) : AS_ERR_NOMEM;
}

/* Sets `*out` to a number for the file of a mapping. /proc tells less about a file than the agent.
 * So a file of /proc gets the number of the last matching file of the agent. */
static int file_of(struct as_timer_sampler *s, const struct as_sample_record *map, uint32_t *out)
{
    char key[4096 + 192];
    uint32_t last;
    size_t n = (size_t)snprintf(key, sizeof key, "%x:%x:%llx:%.4096s", map->device_major,
                                map->device_minor, (unsigned long long)map->inode, map->text);
    const size_t plain_n = n;
    AS_TRY(number_of(s, key, &last));
    *out = last;
    if (!map->build_id_b && !map->file_b && !map->mtime_ns)
        return 0;
    n += (size_t)snprintf(key + n, sizeof key - n, ":%llx:%llx:", (unsigned long long)map->file_b,
                          (unsigned long long)map->mtime_ns);
    as_hex_encode(key + n, map->build_id, map->build_id_b);
    AS_TRY(number_of(s, key, out));
    key[plain_n] = 0; /* known, so its text is not stored again */
    return *out == last ? 0 : as_map_view_put(&s->files, as_view_of(key), *out);
}

/* Delivers a line of maps unless it is known. */
static int emit_map(struct as_timer_sampler *s, const struct as_timer_ring *ring, char *line,
                    struct as_sample_record *record, const struct sink *sink)
{
    struct as_mapping mapping = {0};
    uint32_t space;
    if (!as_sample_map_line(line, record) || strcmp(record->text, "[vsyscall]") == 0)
        return 0;
    mapping.start = record->address;
    mapping.end = record->address + record->size_b;
    mapping.offset = record->offset;
    if (mapping.end <= mapping.start)
        return 0;
    int rc = file_of(s, record, &mapping.module);
    if (rc == 0)
        rc = as_space_of(&s->spaces, ring->serial, &space);
    if (rc == 0) {
        const struct as_mapping *old = as_space_at(&s->spaces.space.at[space], mapping.start);
        if (old && old->start == mapping.start && old->end == mapping.end &&
            old->offset == mapping.offset && old->module == mapping.module)
            return 0;
        rc = as_space_map(&s->spaces, ring->serial, mapping);
    }
    return rc < 0 ? as_error_nomem(sink->err, "maps") : deliver_record(s, record, sink);
}

static int emit_agent_map(struct as_timer_sampler *s, const struct as_timer_ring *ring,
                          struct as_agent_map_record *map, const struct sink *sink)
{
    struct as_sample_record record = base_of(ring, &map->head, AS_SAMPLE_MAP);
    record.file_b = map->file_b;
    record.mtime_ns = map->mtime_ns;
    record.build_id_b = map->build_id_b;
    memcpy(record.build_id, map->build_id, sizeof record.build_id);
    return emit_map(s, ring, map->line, &record, sink);
}

/* Reads /proc/PID/maps for code that the agent cannot report: generated code, files of
 * dlopen(3). */
static int look_at_maps(struct as_timer_sampler *s, struct as_timer_ring *ring,
                        const struct as_agent_record *from, const struct sink *sink)
{
    char path[64], line[4096 + 128];
    int rc = 0;
    if (ring->dead || ring->looked == s->pumps)
        return 0;
    ring->looked = s->pumps;
    snprintf(path, sizeof path, "/proc/%u/maps", ring->pid);
    FILE *f = fopen(path, "re");
    while (f && rc == 0 && fgets(line, sizeof line, f)) {
        struct as_sample_record record = base_of(ring, from, AS_SAMPLE_MAP);
        rc = emit_map(s, ring, line, &record, sink);
    }
    if (f)
        fclose(f);
    return rc;
}

static struct as_timer_thread *thread_of(struct as_timer_ring *ring, uint32_t tid)
{
    as_vec_foreach (&ring->thread, thread)
        if (thread->tid == tid)
            return thread;
    return NULL;
}

static int emit_sample(struct as_timer_sampler *s, struct as_timer_ring *ring,
                       const struct as_agent_record *from, const struct sink *sink)
{
    const struct as_agent_sample *sample = (const void *)from;
    struct as_sample_record record = base_of(ring, from, AS_SAMPLE_SAMPLE);
    const uint64_t *words = (const void *)(sample + 1);
    struct as_timer_thread *thread = thread_of(ring, from->tid);
    uint32_t space;
    if (thread)
        thread->sampled = true;
    if (as_space_of(&s->spaces, ring->serial, &space) < 0)
        return as_error_nomem(sink->err, "maps");
    if (!as_space_at(&s->spaces.space.at[space], sample->ip))
        AS_TRY(look_at_maps(s, ring, from, sink));
    record.ip = sample->ip;
    record.period = sample->period_ns;
    record.regs = sample->regs_n == AS_AGENT_REGS_N ? words : NULL;
    record.chain = words + sample->regs_n;
    record.chain_n = sample->chain_n;
    record.stack = (const uint8_t *)(words + sample->regs_n + sample->chain_n);
    record.stack_at = sample->stack_at;
    record.stack_b = sample->stack_b;
    const void *python = record.stack + sample->stack_b;
    if (as_python_frames(&s->python, python, sample->python_n, &record) < 0)
        return as_error_nomem(sink->err, "frames of Python");
    return deliver_record(s, &record, sink);
}

/* Removes a thread that ended after `cpu_ns`. Without a sample it is counted as a short thread. */
static void end_thread(struct as_timer_sampler *s, struct as_timer_ring *ring, uint32_t tid,
                       uint64_t cpu_ns)
{
    struct as_timer_thread *thread = thread_of(ring, tid);
    if (!thread)
        return;
    if (!thread->sampled && cpu_ns) {
        s->facts.short_threads++;
        s->facts.short_threads_ns += cpu_ns;
    }
    *thread = ring->thread.at[--ring->thread.n];
}

static int emit_thread(struct as_timer_sampler *s, struct as_timer_ring *ring,
                       const struct as_agent_record *from, const struct sink *sink)
{
    const struct as_agent_thread_record *thread = (const void *)from;
    struct as_sample_record record = base_of(ring, from, AS_SAMPLE_COMM);
    char name[AS_AGENT_NAME_B + 1] = "";
    memcpy(name, thread->name, AS_AGENT_NAME_B);
    record.text = name;
    if (from->kind == AS_AGENT_NAME)
        return deliver_record(s, &record, sink);
    record.text = NULL;
    if (from->kind == AS_AGENT_EXIT) {
        end_thread(s, ring, from->tid, thread->cpu_ns);
        record.kind = AS_SAMPLE_EXIT;
        return deliver_record(s, &record, sink);
    }
    if (as_vec_push(&ring->thread, (struct as_timer_thread){.tid = from->tid}) < 0)
        return as_error_nomem(sink->err, "threads");
    record.kind = AS_SAMPLE_FORK;
    record.parent_tid = thread->parent_tid ? thread->parent_tid : ring->pid;
    AS_TRY(deliver_record(s, &record, sink));
    record.kind = AS_SAMPLE_COMM;
    record.text = name;
    return deliver_record(s, &record, sink);
}

/* Returns true if the ring of this process is open. */
static bool is_known(const struct as_timer_sampler *s, uint32_t pid)
{
    for (size_t i = 0; i < s->ring.n; i++)
        if (s->ring.at[i].head && s->ring.at[i].pid == pid)
            return true;
    return false;
}

static int emit_process_begin(struct as_timer_sampler *s, struct as_timer_ring *ring,
                              const struct as_agent_record *from, const struct sink *sink)
{
    const struct as_agent_ring *head = ring->head;
    struct as_sample_record record = base_of(ring, from, AS_SAMPLE_FORK);
    char name[AS_AGENT_NAME_B + 1] = "";
    memcpy(name, head->name, AS_AGENT_NAME_B);
    if (as_vec_push(&ring->thread, (struct as_timer_thread){.tid = ring->pid}) < 0)
        return as_error_nomem(sink->err, "threads");
    record.parent_pid = head->parent_pid;
    record.parent_tid = head->parent_tid ? head->parent_tid : head->parent_pid;
    if (!ring->replaced && record.parent_pid != ring->pid && is_known(s, record.parent_pid))
        AS_TRY(deliver_record(s, &record, sink));
    record.kind = AS_SAMPLE_COMM;
    record.text = name;
    record.out = !head->forked;
    return deliver_record(s, &record, sink);
}

/* Delivers how a process ended, as reported by itself or by its parent. */
static int emit_process_end(struct as_timer_sampler *s, const struct as_timer_ring *ring,
                            const struct as_agent_record *from, uint32_t pid, int status,
                            const struct sink *sink)
{
    struct as_sample_record record = base_of(ring, from, AS_SAMPLE_END);
    record.pid = record.tid = pid;
    record.status = status;
    return deliver_record(s, &record, sink);
}

/* Delivers the end of a process. Its first thread lives on after an exec. */
static int emit_process_exit(struct as_timer_sampler *s, struct as_timer_ring *ring,
                             const struct as_agent_record *from, const struct sink *sink)
{
    const uint32_t code = ring->executed ? 0 : ring->head->exit_code;
    if (code)
        AS_TRY(emit_process_end(s, ring, from, ring->pid, (int)((code - 1) & 0xff) << 8, sink));
    for (size_t i = ring->thread.n; i-- > 0;) {
        struct as_sample_record record = base_of(ring, from, AS_SAMPLE_EXIT);
        record.tid = ring->thread.at[i].tid;
        if (!ring->executed || record.tid != ring->pid)
            AS_TRY(deliver_record(s, &record, sink));
    }
    const struct as_sample_record gone = {.pid = ring->serial};
    uint32_t space;
    if (as_space_of(&s->spaces, ring->serial, &space) == 0)
        as_space_exit(&s->spaces, &gone);
    as_timer_ring_close(ring);
    return 0;
}

static int hand_out(struct as_timer_sampler *s, const struct as_timer_item *item,
                    const struct sink *sink)
{
    struct as_agent_record *from = (void *)(s->bytes.at + item->at);
    struct as_timer_ring *ring = &s->ring.at[item->ring];
    if (!ring->head) /* a damaged time after its end */
        return 0;
    switch (from->kind) {
    case AS_AGENT_SAMPLE:
        return emit_sample(s, ring, from, sink);
    case AS_AGENT_MAP:
        return emit_agent_map(s, ring, (struct as_agent_map_record *)(void *)from, sink);
    case AS_AGENT_LOADED:
        return look_at_maps(s, ring, from, sink);
    case AS_AGENT_THREAD:
    case AS_AGENT_NAME:
    case AS_AGENT_EXIT:
        return emit_thread(s, ring, from, sink);
    case AS_AGENT_CHILD: {
        const struct as_agent_child_record *child = (const void *)from;
        return emit_process_end(s, ring, from, child->pid, child->status, sink);
    }
    case AS_TIMER_BEGIN:
        return emit_process_begin(s, ring, from, sink);
    case AS_TIMER_DEAD:
        return emit_process_exit(s, ring, from, sink);
    default:
        return 0;
    }
}

/* ---- The pump ----------------------------------------------------------------------------- */

/* Returns true if a process has ended, also if it is a zombie. */
static bool has_ended(uint32_t pid)
{
    struct as_task task;
    if (!as_task_read(pid, &task))
        return kill((pid_t)pid, 0) < 0 && errno == ESRCH;
    /* The first thread may end before the others. */
    return (task.state == 'Z' || task.state == 'X') && task.thread_n <= 1;
}

static int emit_timer_lost_record(struct as_timer_sampler *s, struct as_timer_ring *ring,
                                  const struct sink *sink)
{
    uint64_t lost = ring->head->lost, missed = ring->head->threads_missed;
    struct as_sample_record record = {.kind = AS_SAMPLE_LOST,
                                      .pid = ring->pid,
                                      .tid = ring->pid,
                                      .time_ns = s->handed_ns,
                                      .lost = lost - ring->lost};
    if (missed != ring->missed)
        s->facts.missed_errno = (int)ring->head->missed_errno;
    s->facts.threads_missed += missed - ring->missed;
    ring->missed = missed;
    if (lost == ring->lost)
        return 0;
    const uint64_t room = AS_PERIOD_MOST - s->counts.lost; /* the program may overwrite the ring */
    record.lost = record.lost < room ? record.lost : room;
    s->counts.lost += record.lost;
    ring->lost = lost;
    return deliver_record(s, &record, sink);
}

/* Checks for the end of a process before its ring is read, so no record is left in the ring. */
static int empty_rings(struct as_timer_sampler *s, bool last, const struct sink *sink)
{
    AS_TRY(as_timer_find(s, sink->err));
    uint64_t now = as_monotonic_ns();
    for (uint32_t i = 0; i < s->ring.n; i++) {
        struct as_timer_ring *ring = &s->ring.at[i];
        if (!ring->head || ring->is_reported)
            continue;
        if (!ring->dead && has_ended(ring->pid)) {
            ring->dead = true;
            ring->end_ns = now;
        }
        if (as_timer_drain(s, i, last) < 0)
            return as_error_nomem(sink->err, "records waiting for their turn");
        AS_TRY(emit_timer_lost_record(s, ring, sink));
        ring->is_reported = ring->dead;
        if (ring->dead && as_timer_add(s, i, AS_TIMER_DEAD, ring->end_ns) < 0)
            return as_error_nomem(sink->err, "records waiting for their turn");
    }
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct as_timer_item *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Keeps the items from `from` on, and their bytes. */
static int compact_items(struct as_timer_sampler *s, size_t from)
{
    s->spare.n = 0;
    for (size_t i = from; i < s->item.n; i++) {
        const struct as_agent_record *record = (const void *)(s->bytes.at + s->item.at[i].at);
        size_t words = record->size_b / 8;
        AS_TRY(as_vec_reserve(&s->spare, s->spare.n + words));
        memcpy(s->spare.at + s->spare.n, record, words * 8);
        s->item.at[i - from] = s->item.at[i];
        s->item.at[i - from].at = s->spare.n;
        s->item.at[i - from].order = (uint32_t)(i - from);
        s->spare.n += words;
    }
    s->item.n -= from;
    __typeof__(s->bytes) swap = s->bytes;
    memcpy(&s->bytes, &s->spare, sizeof s->bytes);
    memcpy(&s->spare, &swap, sizeof s->spare);
    return 0;
}

int as_timer_collect(struct as_timer_sampler *s, bool last, as_sample_sink *take, void *context,
                     struct as_error *err)
{
    const struct sink sink = {.take = take, .context = context, .err = err};
    if (compact_items(s, s->done) < 0)
        return as_error_nomem(err, "records waiting for their turn");
    s->done = 0;
    s->pumps++;
    AS_TRY(empty_rings(s, last, &sink));
    if (s->item.n)
        qsort(s->item.at, s->item.n, sizeof *s->item.at, by_time);
    uint64_t missed = s->session.control->processes_missed;
    if (missed != s->facts.processes_missed)
        s->facts.missed_errno = (int)s->session.control->missed_errno;
    s->facts.processes_missed = missed;
    return 0;
}

int as_timer_hand(struct as_timer_sampler *s, uint64_t before_ns, as_sample_sink *take,
                  void *context, struct as_error *err)
{
    const struct sink sink = {.take = take, .context = context, .err = err};
    while (s->done < s->item.n && s->item.at[s->done].time_ns < before_ns)
        AS_TRY(hand_out(s, &s->item.at[s->done++], &sink));
    return 0;
}

int as_timer_sampler_pump(struct as_timer_sampler *sampler, bool last, as_sample_sink *take,
                          void *context, struct as_error *err)
{
    const uint64_t begun_ns = as_monotonic_ns();
    const uint64_t limit_ns = last ? UINT64_MAX : sampler->barrier_ns;
    AS_TRY(as_timer_collect(sampler, last, take, context, err));
    AS_TRY(as_timer_hand(sampler, limit_ns, take, context, err));
    sampler->barrier_ns = begun_ns;
    return 0;
}

bool as_timer_reads_python(const struct as_timer_sampler *sampler, uint32_t pid, uint64_t time_ns)
{
    as_vec_foreach (&sampler->ring, ring)
        if (ring->head && ring->pid == pid && ring->python_ns && ring->python_ns <= time_ns &&
            (!ring->dead || time_ns <= ring->end_ns))
            return true;
    return false;
}

/* Interval of checks: agents wake by a word in memory, and poll(2) cannot wait for it. */
#define GLANCE_MS 10

bool as_timer_sampler_wait(struct as_timer_sampler *sampler, int other_fd, int timeout_ms)
{
    struct pollfd other = {.fd = other_fd, .events = POLLIN};
    if (sampler->hurry && (timeout_ms < 0 || timeout_ms > GLANCE_MS))
        timeout_ms = GLANCE_MS;
    sampler->hurry = false;
    for (;;) {
        const uint32_t count =
            atomic_load_explicit(&sampler->session.control->wake, memory_order_acquire);
        if (count != sampler->woken) {
            sampler->woken = count;
            return true;
        }
        const int step_ms = timeout_ms >= 0 && timeout_ms < GLANCE_MS ? timeout_ms : GLANCE_MS;
        if (poll(&other, 1, step_ms) > 0)
            return true;
        if (timeout_ms >= 0 && (timeout_ms -= step_ms) == 0)
            return false;
    }
}
