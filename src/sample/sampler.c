/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sampling session: one event per thread and CPU, one ring buffer per CPU, and the records of all
 * rings merged by time. Inherited events can only be mapped per CPU. So each thread has one event
 * per CPU.
 */
#include "sample/sampler.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"

/* A copy of this size holds the stacks of nearly all numeric programs (doc/internals/sample.md). */
#define STACK_B 16384u
/* Min time between two reads of tasks, though each record of theirs wakes the reader. */
#define SOON_NS 3000000
/* Time between two reads if task records do not wake the reader. */
#define SHARED_MS 10
/* Min time between two checks of WAITS. Tasks cause more frequent reads, which do not count. */
#define WAITS_LOOK_NS 90000000

/* ---- Opening ------------------------------------------------------------------------------ */

static int set_sampler_options(struct as_sampler *s, const struct as_sample_options *options,
                               struct as_error *err)
{
    static const struct as_sample_options none;
    struct as_sample_options *o = &s->options;
    *o = options ? *options : none;
    if (o->rate_hz == 0)
        o->rate_hz = AS_RATE_MEDIUM;
    s->has_stack_b = o->stack_b != 0;
    if (o->stack_b == 0)
        o->stack_b = STACK_B;
    o->stack_b = o->stack_b > 65528 ? 65528 : (o->stack_b + 7) & ~7u;
    if (o->event > AS_EVENT_CPU_CLOCK || o->stacks > AS_STACKS_LBR || o->rate_hz > 1000000)
        return as_error_set(err, AS_ERR_USAGE,
                            "sampling: invalid event %u, stacks %u or rate %u; use a rate of at "
                            "most 1000000 per second",
                            o->event, o->stacks, o->rate_hz);
    return 0;
}

/* Keeps the descriptor of an event. Closes it if that fails. */
static int store_event_fd(struct as_sampler *s, struct as_ring *ring, uint8_t channel, int fd)
{
    const int rc = channel == AS_CHANNEL_WAITS
                       ? as_vec_push(&ring->member, fd)
                       : as_vec_push(&s->event, (struct as_event){fd, channel});
    if (rc < 0)
        close(fd);
    return rc;
}

/* Opens the event of one thread and channel for `ring`. Returns 1 if the thread has ended. */
static int open_channel(struct as_sampler *s, struct as_ring *ring, uint8_t channel, pid_t tid,
                        struct as_error *err)
{
    const struct perf_event_attr attr = as_channel_attr(s, channel);
    int fd = channel == AS_CHANNEL_WAITS ? as_sample_open_waits(&attr, tid, (int)ring->cpu)
                                         : as_sample_perf_event_open(&attr, tid, (int)ring->cpu);
    if (fd < 0 && errno == ENODEV) /* the CPU was switched off */
        return 0;
    if (fd < 0)
        return errno == ESRCH && tid != s->pid ? 1 : as_sample_refused(err, tid, errno);
    if (store_event_fd(s, ring, channel, fd) < 0)
        return as_error_nomem(err, "perf events");
    if (ring->fd < 0) {
        ring->fd = fd;
        return 0;
    }
    if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) < 0)
        return as_error_set(err, AS_ERR_IO,
                            "perf events: thread %d cannot share a buffer: %s; sample with "
                            "fewer threads",
                            (int)tid, strerror(errno));
    return 0;
}

/* Opens the events of a thread. WAITS is dropped if it fails. */
static int open_event(struct as_sampler *s, struct as_ring *ring, pid_t tid, struct as_error *err)
{
    struct as_error why;
    if (ring->channel != AS_CHANNEL_WAITS)
        return open_channel(s, ring, ring->channel, tid, err);
    if (!s->choice.waits)
        return 0;
    int rc = open_channel(s, ring, AS_CHANNEL_WAITS, tid, &why);
    if (rc >= 0)
        return rc;
    as_rings_no_waits(s, why.text);
    return 0;
}

static int open_thread(void *sampler, pid_t tid, struct as_error *err)
{
    struct as_sampler *s = sampler;
    int rc = 0;
    for (size_t i = 0; i < s->ring.n && rc == 0; i++)
        rc = open_event(s, &s->ring.at[i], tid, err);
    if (rc == 0)
        rc = as_rings_map(s, err);
    /* These events write to rings that must exist. */
    for (size_t i = 0; i < s->ring.n && rc == 0 && s->choice.deep_b; i++)
        if (s->ring.at[i].channel == AS_CHANNEL_SAMPLES && s->ring.at[i].fd >= 0)
            rc = open_channel(s, &s->ring.at[i], AS_CHANNEL_DEEP, tid, err);
    return rc < 0 ? rc : 0;
}

static void close_events(struct as_sampler *s)
{
    as_vec_foreach (&s->event, event)
        close(event->fd);
    s->event.n = 0;
}

/* Opens and maps all events. If the limit of locked memory is exceeded, retries with smaller rings,
 * which lose more. No event is enabled yet. */
static int open_all(struct as_sampler *s, struct as_error *err)
{
    int rc;
    do {
        s->choice.deep_b = as_rings_deep_b(s);
        s->is_deep = s->choice.deep_b > 0;
        rc = s->options.on_exec ? open_thread(s, s->pid, err)
                                : as_sample_each_thread(s->pid, open_thread, s, err);
    } while (rc < 0 && as_rings_shrink(s) && (close_events(s), true));
    return rc;
}

int as_sampler_open(pid_t pid, const struct as_sample_options *options, struct as_sampler **out,
                    struct as_error *err)
{
    struct as_sampler *s = as_calloc(1, sizeof *s);
    *out = NULL;
    if (!s)
        return as_error_nomem(err, "a sampling session");
    s->pid = pid;
    s->opened_ns = as_monotonic_ns();
    int rc = set_sampler_options(s, options, err);
    s->told_existing = s->options.on_exec;
    as_sample_raise_file_limit();
    if (rc == 0 && as_rings_init(s) < 0)
        rc = as_error_nomem(err, "a sampling session");
    if (rc == 0)
        rc = as_sample_choose(s, pid, (int)s->ring.at[0].cpu, err);
    if (rc == 0)
        as_sample_choose_waits(s, pid, (int)s->ring.at[0].cpu);
    if (rc == 0 && s->choice.waits && as_rings_add_waits(s) < 0)
        rc = as_error_nomem(err, "a sampling session");
    if (rc == 0)
        rc = open_all(s, err);
    if (rc == 0 && !s->options.on_exec)
        rc = as_sampler_enable(s, true, err);
    if (rc < 0)
        as_sampler_close(&s);
    *out = s;
    return rc;
}

void as_sampler_close(struct as_sampler **sampler)
{
    struct as_sampler *s = *sampler;
    if (!s)
        return;
    as_rings_fini(s);
    close_events(s);
    as_vec_fini(&s->event);
    as_free(s);
    *sampler = NULL;
}

const struct as_sample_choice *as_sampler_choice(const struct as_sampler *sampler)
{
    return &sampler->choice;
}

const struct as_sample_counts *as_sampler_counts(const struct as_sampler *sampler)
{
    return &sampler->counts;
}

/* Returns true for the inactive event of the two with stack copies. */
static bool is_unused(const struct as_sampler *s, const struct as_event *event)
{
    return event->channel == (s->is_deep ? AS_CHANNEL_SAMPLES : AS_CHANNEL_DEEP);
}

/* All threads and processes have inherited both events, so the kernel switches the inherited ones
 * too. */
void as_sampler_deepen(struct as_sampler *s, bool deep)
{
    if (!s->choice.deep_b || s->is_deep == deep)
        return;
    s->is_deep = deep;
    for (unsigned on = 0; on < 2; on++) {
        as_vec_foreach (&s->event, event) {
            if ((event->channel == AS_CHANNEL_DEEP || event->channel == AS_CHANNEL_SAMPLES) &&
                is_unused(s, event) != on)
                (void)ioctl(event->fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
        }
    }
}

int as_sampler_enable(struct as_sampler *sampler, bool on, struct as_error *err)
{
    unsigned long request = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;
    as_vec_foreach (&sampler->event, event) {
        if (on && is_unused(sampler, event))
            continue;
        if (ioctl(event->fd, request, 0) < 0)
            return as_error_set(err, AS_ERR_IO, "process %d: sampling cannot be %s: %s; retry",
                                (int)sampler->pid, on ? "resumed" : "stopped", strerror(errno));
    }
    as_vec_foreach (&sampler->ring, ring)
        as_waits_turn(ring, on);
    return 0;
}

/* Returns true if task records share a ring with switches. They do not wake the reader then. */
static bool is_shared(const struct as_sampler *s)
{
    return s->options.switches && s->has_few;
}

/* Waits a moment, because task records come in bursts. They are delivered a moment later. */
static void rest(struct as_sampler *s, int *timeout_ms)
{
    const uint64_t since_ns = as_monotonic_ns() - s->woken_ns;
    if (since_ns < SOON_NS)
        usleep((useconds_t)((SOON_NS - since_ns) / 1000));
    if (is_shared(s) && (*timeout_ms < 0 || *timeout_ms > SHARED_MS))
        *timeout_ms = SHARED_MS;
    if (s->soon && (*timeout_ms < 0 || *timeout_ms > SOON_NS / 1000000))
        *timeout_ms = SOON_NS / 1000000;
}

bool as_sampler_wait(struct as_sampler *sampler, int other_fd, int timeout_ms)
{
    size_t n = sampler->ring.n + 1;
    struct pollfd *polls = as_calloc(n, sizeof *polls);
    rest(sampler, &timeout_ms);
    if (polls)
        polls[0] = (struct pollfd){.fd = other_fd, .events = POLLIN};
    for (size_t i = 1; polls && i < n; i++)
        polls[i] = (struct pollfd){.fd = sampler->ring.at[i - 1].fd, .events = POLLIN};
    int ready = poll(polls, polls ? (nfds_t)n : 0, timeout_ms);
    bool any = false;
    for (size_t i = 0; polls && ready > 0 && i < n; i++) {
        any = any || (polls[i].revents & POLLIN);
        if (i && polls[i].revents & POLLIN && sampler->ring.at[i - 1].channel == AS_CHANNEL_TASKS)
            sampler->woken_ns = as_monotonic_ns();
    }
    /* When all threads have ended, each descriptor reports a hangup at once. A sleep avoids a busy
     * loop. */
    if (ready > 0 && !any)
        poll(NULL, 0, timeout_ms < 10 ? timeout_ms : 10);
    as_free(polls);
    return any;
}

/* ---- Merging ------------------------------------------------------------------------------ */

static bool earlier(const struct as_sampler *s, uint32_t a, uint32_t b)
{
    return s->ring.at[a].next_ns < s->ring.at[b].next_ns;
}

static void sift_down(struct as_sampler *s, uint32_t i)
{
    for (;;) {
        uint32_t least = i, left = 2 * i + 1;
        for (uint32_t child = left; child < left + 2 && child < s->heap_n; child++)
            if (earlier(s, s->heap[child], s->heap[least]))
                least = child;
        if (least == i)
            return;
        uint32_t swap = s->heap[i];
        s->heap[i] = s->heap[least];
        s->heap[least] = swap;
        i = least;
    }
}

static void look_at_next(struct as_ring *ring)
{
    if (ring->from < ring->wait.n)
        ring->next_ns = as_record_time(ring->attr, ring->wait.at + ring->from);
}

static void make_heap(struct as_sampler *s)
{
    s->heap_n = 0;
    for (uint32_t i = 0; i < s->ring.n; i++) {
        look_at_next(&s->ring.at[i]);
        if (s->ring.at[i].from < s->ring.at[i].wait.n)
            s->heap[s->heap_n++] = i;
    }
    for (uint32_t i = s->heap_n; i-- > 0;)
        sift_down(s, i);
}

/* Marks a sample of WAITS and sets its user position. Other records mean that samples were
 * dropped. */
static bool mark_wait_record(struct as_sample_record *record)
{
    record->waits = true;
    if (record->regs) {
        record->ip = record->regs[16];
        record->in_kernel = false;
    }
    return record->kind == AS_SAMPLE_SAMPLE;
}

static int hand_out(struct as_sampler *s, const struct as_ring *ring, const uint8_t *bytes,
                    as_sample_sink *sink, void *context, struct as_error *err)
{
    struct as_sample_record record;
    uint64_t regs[AS_SAMPLE_REGS_N];
    bool damaged;
    s->counts.records++;
    if (!as_record_parse(ring->attr, bytes, &record, regs, &damaged)) {
        s->counts.damaged += damaged;
        return 0;
    }
    record.cpu = ring->cpu;
    if (ring->channel == AS_CHANNEL_WAITS && !mark_wait_record(&record))
        return 0;
    if (record.kind == AS_SAMPLE_LOST && ring->channel != AS_CHANNEL_SAMPLES) {
        s->counts.lost_other += record.lost;
        return 0;
    }
    s->counts.samples += record.kind == AS_SAMPLE_SAMPLE && !record.waits;
    s->counts.lost += record.lost;
    s->counts.throttled += record.kind == AS_SAMPLE_THROTTLE && record.out;
    s->counts.late += record.time_ns < s->handed_ns;
    if (record.time_ns > s->handed_ns)
        s->handed_ns = record.time_ns;
    return sink(context, &record, err);
}

static bool has_tasks(const struct as_sampler *s)
{
    for (size_t i = 0; i < s->ring.n; i++)
        if (s->ring.at[i].channel == AS_CHANNEL_TASKS && s->ring.at[i].from < s->ring.at[i].wait.n)
            return true;
    return false;
}

/* Reports lost records at the end. The kernel reports them only when the ring has space again. */
static int emit_lost_record(struct as_sampler *s, as_sample_sink *sink, void *context,
                            struct as_error *err)
{
    const uint64_t lost = as_rings_lost(s, true), other = as_rings_lost(s, false);
    struct as_sample_record record = {.kind = AS_SAMPLE_LOST,
                                      .pid = (uint32_t)s->pid,
                                      .tid = (uint32_t)s->pid,
                                      .time_ns = s->handed_ns};
    if (other > s->counts.lost_other)
        s->counts.lost_other = other;
    if (lost <= s->counts.lost)
        return 0;
    record.lost = lost - s->counts.lost;
    s->counts.lost = lost;
    return sink(context, &record, err);
}

int as_sampler_pump(struct as_sampler *sampler, bool last, as_sample_sink *sink, void *context,
                    struct as_error *err)
{
    uint64_t begun_ns = as_monotonic_ns();
    if (!sampler->told_existing) {
        sampler->told_existing = true;
        AS_TRY(as_sample_existing(sampler->pid, sampler->opened_ns, sink, context, err));
    }
    const bool look = begun_ns - sampler->looked_ns >= WAITS_LOOK_NS;
    if (look)
        sampler->looked_ns = begun_ns;
    if (!last)
        as_waits_look(sampler, look);
    as_vec_foreach (&sampler->ring, ring) {
        if (as_ring_drain(sampler, ring) < 0)
            return as_error_nomem(err, "records waiting for their turn");
    }
    /* Any record from before the start of the last pump is in its ring by now. */
    uint64_t limit_ns = last ? UINT64_MAX : sampler->barrier_ns;
    make_heap(sampler);
    while (sampler->heap_n && sampler->ring.at[sampler->heap[0]].next_ns < limit_ns) {
        struct as_ring *ring = &sampler->ring.at[sampler->heap[0]];
        struct perf_event_header header;
        const uint8_t *bytes = ring->wait.at + ring->from;
        memcpy(&header, bytes, sizeof header);
        ring->from += header.size;
        AS_TRY(hand_out(sampler, ring, bytes, sink, context, err));
        if (ring->from == ring->wait.n)
            sampler->heap[0] = sampler->heap[--sampler->heap_n];
        else
            look_at_next(ring);
        sift_down(sampler, 0);
    }
    sampler->barrier_ns = begun_ns;
    sampler->soon = !is_shared(sampler) && has_tasks(sampler);
    return last ? emit_lost_record(sampler, sink, context, err) : 0;
}
