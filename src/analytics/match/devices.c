/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues of devices and the host: a call waits for a queue; a queue is idle until the host enqueues
 * the next command. Each is the cause of the other's waiting, so the critical path goes by both.
 */
#include <string.h>

#include "analytics/state/walking.h"
#include "base/error.h"

const char *as_devices_label(const struct as_trace_stream_facts *facts)
{
    const char *colon = strrchr(facts->name, ':');
    if (!as_trace_is_queue(facts->tid))
        return NULL;
    return colon ? colon + 1 + (colon[1] == ' ') : facts->name;
}

int64_t as_devices_queue_of(const struct as_trace_process *process, uint32_t tid)
{
    uint32_t left = (tid - AS_TRACE_QUEUE_TID) / AS_TRACE_QUEUE_LANES;
    if (!as_trace_is_queue(tid))
        return 0;
    for (size_t i = 0; i < process->name.n; i++)
        if (process->name.at[i].text && process->name.at[i].group == AS_TRACE_OF_QUEUE &&
            left-- == 0)
            return (int64_t)i;
    return INT64_MAX; /* the definition is lost */
}

/* Bytes between host and device; a device's own copies are neither sent nor received. */
static void add_device_bytes(struct as_open_call *frame, const struct as_trace_event *event)
{
    if (event->list_n == 0)
        return;
    if (event->field[0] & AS_TRACE_TO_DEVICE)
        frame->sent_b += event->list[0];
    if (event->field[0] & AS_TRACE_TO_HOST)
        frame->received_b += event->list[0];
}

/* Threads and queues of a process follow each other. */
static const struct as_walker *first_of_process(const struct as_trace_walk *walk,
                                                const struct as_walker *of)
{
    while (of > walk->walker.at && of[-1].process == of->process)
        of--;
    return of;
}

static bool is_of_same(const struct as_trace_walk *walk, const struct as_walker *at,
                       const struct as_walker *of)
{
    return at < walk->walker.at + walk->walker.n && at->process == of->process;
}

/* The queue had nothing to do since its command before, until the host enqueued this one. */
static int add_idle_device(struct as_trace_walk *walk, struct as_walker *queue,
                           const struct as_trace_event *event)
{
    const struct as_open_call *frame = &queue->frame.at[queue->frame.n - 1];
    const uint64_t lag_ns = event->list_n > 1 ? event->list[1] : 0;
    const int64_t enqueued_ns =
        lag_ns > INT64_MAX / 4 ? INT64_MIN : frame->enter_ns - (int64_t)lag_ns;
    const struct as_walker *host = first_of_process(walk, queue);
    while (is_of_same(walk, host, queue) &&
           (host->queue || walk->out->location.at[host->location].tid != event->field[1]))
        host++;
    if (!is_of_same(walk, host, queue) || enqueued_ns <= queue->done_ns)
        return 0;
    struct as_wait wait = {.kind = AS_WAIT_HOST,
                           .location = queue->location,
                           .cause = host->location,
                           .cause_site = AS_WAIT_UNKNOWN,
                           .begin_ns = queue->done_ns,
                           .end_ns = frame->enter_ns,
                           .cause_ns = enqueued_ns};
    AS_TRY(as_walk_site(walk, queue, frame, &wait.site));
    return as_vec_push(&walk->out->waits.wait, wait);
}

int as_devices_event(struct as_trace_walk *walk, struct as_walker *walker,
                     const struct as_trace_event *event)
{
    if (walker->frame.n == 0)
        return 0;
    struct as_open_call *frame = &walker->frame.at[walker->frame.n - 1];
    switch ((unsigned)event->field[0] & AS_TRACE_DEVICE_KIND) {
    case AS_TRACE_DEVICE_ENQUEUED:
        add_device_bytes(frame, event);
        if (event->field[0] & AS_TRACE_BLOCKING)
            frame->awaits = event->field[1];
        return 0;
    case AS_TRACE_DEVICE_WORK:
        add_device_bytes(frame, event);
        return walker->queue ? add_idle_device(walk, walker, event) : 0;
    default:
        return 0;
    }
}

/* The stream of the queue in which the latest command ended, or one runs. */
static const struct as_walker *latest_lane(const struct as_trace_walk *walk,
                                           const struct as_walker *host, int64_t queue)
{
    const struct as_walker *latest = NULL;
    for (const struct as_walker *at = first_of_process(walk, host); is_of_same(walk, at, host);
         at++)
        if (at->queue == queue && at != host &&
            (!latest || at->frame.n > latest->frame.n ||
             (at->frame.n == latest->frame.n && at->done_ns > latest->done_ns)))
            latest = at;
    return latest;
}

static int add_wait_for_device(struct as_trace_walk *walk, const struct as_walker *host,
                               const struct as_open_call *frame, uint32_t site, int64_t ns)
{
    const struct as_walker *queue = latest_lane(walk, host, frame->awaits);
    const bool runs = queue && queue->frame.n;
    if (!queue || ns <= frame->enter_ns || (!runs && queue->done_ns <= frame->enter_ns))
        return 0;
    return as_vec_push(&walk->out->waits.wait,
                       (struct as_wait){.kind = AS_WAIT_DEVICE,
                                        .location = host->location,
                                        .site = site,
                                        .cause = queue->location,
                                        .cause_site = queue->done_site,
                                        .begin_ns = frame->enter_ns,
                                        .end_ns = ns,
                                        .cause_ns = runs ? ns : queue->done_ns});
}

int as_devices_left(struct as_trace_walk *walk, struct as_walker *walker,
                    const struct as_open_call *frame, uint32_t site, int64_t ns)
{
    if (!walker->queue)
        return add_wait_for_device(walk, walker, frame, site, ns);
    walker->done_ns = ns;
    walker->done_site = site;
    return 0;
}
