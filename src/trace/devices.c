/* SPDX-License-Identifier: Apache-2.0 */
/* DEVICE records of threads become streams of queues. */
#include "trace/devices.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "trace/read.h"
#include "trace/write.h"

#define LANES_MOST  AS_TRACE_QUEUE_LANES
#define QUEUES_MOST (AS_TRACE_QUEUE_TID / LANES_MOST)
#define RECORD_B    4u   /* of an ENQUEUED record, at least */
#define DRIFT_MOST  0.01 /* ns per ns */

struct device_enqueued {
    uint32_t tid; /* 0: unknown */
    uint32_t bits;
    int64_t ns;
    uint64_t bytes;
};

struct device_ran {
    uint64_t command, name;
    int64_t begin_ns, end_ns; /* of the device, then of the host */
};

struct device_queue {
    uint64_t number;
    const char *text;           /* the trace's */
    size_t device_b;            /* the part of the text that names the device */
    int64_t used_ns, unused_ns; /* the host's first and last use; used > unused: none */
    AS_VEC(struct device_ran) ran;
    AS_VEC(struct as_device_reading) reading;
};

struct device_making {
    const char *directory;
    const struct as_trace_process *process;
    struct as_trace_devices *out;
    uint64_t commands_max;                   /* numbers above are damage */
    AS_VEC(struct device_enqueued) enqueued; /* by command */
    AS_VEC(struct device_queue) queue;
    struct as_error *err;
};

/* ---- Clocks ------------------------------------------------------------------------------- */

int64_t as_device_clock_at(const struct as_device_clock *clock, int64_t device_ns)
{
    const double more = (double)(device_ns - clock->begin_ns) * clock->drift;
    return device_ns + clock->offset_ns + (int64_t)more;
}

/* Returns the most exact reading among some. */
static const struct as_device_reading *narrowest(const struct as_device_reading *reading, size_t n)
{
    const struct as_device_reading *best = reading;
    for (size_t i = 1; i < n; i++)
        if (reading[i].width_ns < best->width_ns)
            best = &reading[i];
    return best;
}

static struct as_device_clock drifting(const struct as_device_reading *reading, size_t n)
{
    const size_t quarter = n / 4 ? n / 4 : 1;
    const struct as_device_reading *a = narrowest(reading, quarter);
    const struct as_device_reading *b = narrowest(reading + n - quarter, quarter);
    struct as_device_clock clock = {.begin_ns = a->device_ns,
                                    .offset_ns = a->host_ns - a->device_ns,
                                    .error_ns = a->width_ns + b->width_ns};
    if (b->device_ns > a->device_ns)
        clock.drift = (double)((b->host_ns - b->device_ns) - clock.offset_ns) /
                      (double)(b->device_ns - a->device_ns);
    if (!(clock.drift > -DRIFT_MOST && clock.drift < DRIFT_MOST)) /* no clock drifts so much */
        clock.drift = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t off_ns =
            llabs(as_device_clock_at(&clock, reading[i].device_ns) - reading[i].host_ns);
        if (off_ns - reading[i].width_ns > clock.error_ns)
            clock.error_ns = off_ns - reading[i].width_ns;
    }
    return clock;
}

struct as_device_clock as_device_clock_of(const struct as_device_reading *reading, size_t n)
{
    int64_t min_ns = INT64_MIN, max_ns = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        const int64_t offset_ns = reading[i].host_ns - reading[i].device_ns;
        if (offset_ns - reading[i].width_ns > min_ns)
            min_ns = offset_ns - reading[i].width_ns;
        if (offset_ns + reading[i].width_ns < max_ns)
            max_ns = offset_ns + reading[i].width_ns;
    }
    if (min_ns > max_ns)
        return drifting(reading, n);
    return (struct as_device_clock){.begin_ns = reading[0].device_ns,
                                    .offset_ns = min_ns + (max_ns - min_ns) / 2,
                                    .error_ns = (max_ns - min_ns + 1) / 2};
}

/* ---- What threads recorded ---------------------------------------------------------------- */

static struct device_queue *find_device_queue(struct device_making *m, int64_t number)
{
    as_vec_foreach (&m->queue, queue)
        if (queue->number == (uint64_t)number)
            return queue;
    return NULL;
}

static bool is_device_time(int64_t ns)
{
    return ns >= 0 && ns < INT64_MAX / 4;
}

static int on_enqueued(struct device_making *m, uint32_t tid, const struct as_trace_event *e)
{
    const uint64_t command = (uint64_t)e->field[2];
    struct device_queue *queue = find_device_queue(m, e->field[1]);
    if (queue && e->raw_ns < queue->used_ns)
        queue->used_ns = e->raw_ns;
    if (queue && e->raw_ns > queue->unused_ns)
        queue->unused_ns = e->raw_ns;
    if (command == 0 || command > m->commands_max)
        return 0;
    while (m->enqueued.n < command)
        AS_TRY(as_vec_push(&m->enqueued, (struct device_enqueued){0}));
    m->enqueued.at[command - 1] =
        (struct device_enqueued){.tid = tid,
                                 .bits = (uint32_t)e->field[0] & ~AS_TRACE_DEVICE_KIND,
                                 .ns = e->raw_ns,
                                 .bytes = e->list_n ? e->list[0] : 0};
    m->out->commands_n++;
    return 0;
}

static int on_ran(struct device_making *m, const struct as_trace_event *e)
{
    struct device_queue *queue = find_device_queue(m, e->field[1]);
    const struct device_ran ran = {.command = (uint64_t)e->field[2],
                                   .name = e->list_n == 5 ? e->list[4] : 0,
                                   .begin_ns = e->list_n == 5 ? (int64_t)e->list[2] : -1,
                                   .end_ns = e->list_n == 5 ? (int64_t)e->list[3] : -1};
    if (!queue || !is_device_time(ran.begin_ns) || !is_device_time(ran.end_ns) ||
        ran.end_ns < ran.begin_ns)
        return 0;
    return as_vec_push(&queue->ran, ran);
}

static int on_clock(struct device_making *m, const struct as_trace_event *e)
{
    struct device_queue *queue = find_device_queue(m, e->field[1]);
    if (!queue || e->list_n != 3)
        return 0;
    const struct as_device_reading reading = {(int64_t)e->list[0], (int64_t)e->list[1],
                                              (int64_t)e->list[2]};
    if (!is_device_time(reading.device_ns) || !is_device_time(reading.host_ns) ||
        !is_device_time(reading.width_ns))
        return 0;
    return as_vec_push(&queue->reading, reading);
}

static int on_device(struct device_making *m, uint32_t tid, const struct as_trace_event *e)
{
    switch ((unsigned)e->field[0] & AS_TRACE_DEVICE_KIND) {
    case AS_TRACE_DEVICE_ENQUEUED:
        return on_enqueued(m, tid, e);
    case AS_TRACE_DEVICE_RAN:
        return on_ran(m, e);
    case AS_TRACE_DEVICE_CLOCK:
        return on_clock(m, e);
    default:
        return 0;
    }
}

static int read_thread(struct device_making *m, struct as_trace_stream *stream)
{
    const uint32_t tid = as_trace_stream_facts(stream)->tid;
    struct as_trace_event e;
    int rc;
    while ((rc = as_trace_stream_next(stream, &e, m->err)) > 0)
        if (e.kind == AS_TRACE_DEVICE && on_device(m, tid, &e) < 0)
            return as_error_nomem(m->err, "queues of a trace");
    return rc;
}

static int list_queues(struct device_making *m)
{
    for (size_t i = 0; i < m->process->name.n && m->queue.n < QUEUES_MOST; i++) {
        const struct as_trace_name *name = &m->process->name.at[i];
        if (!name->text || name->group != AS_TRACE_OF_QUEUE)
            continue;
        const char *colon = strrchr(name->text, ':');
        const struct device_queue queue = {.number = i,
                                           .text = name->text,
                                           .device_b = colon ? (size_t)(colon - name->text)
                                                             : strlen(name->text),
                                           .used_ns = INT64_MAX,
                                           .unused_ns = INT64_MIN};
        AS_TRY(as_vec_push(&m->queue, queue));
    }
    return 0;
}

/* ---- Times of the host -------------------------------------------------------------------- */

static bool is_of_device(const struct device_queue *a, const struct device_queue *b)
{
    return a->device_b == b->device_b && memcmp(a->text, b->text, a->device_b) == 0;
}

static int by_device_time(const void *a, const void *b)
{
    const struct as_device_reading *x = a, *y = b;
    return x->device_ns < y->device_ns ? -1 : x->device_ns > y->device_ns;
}

static int by_begin(const void *a, const void *b)
{
    const struct device_ran *x = a, *y = b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return x->command < y->command ? -1 : x->command > y->command;
}

static void apply_clock(struct device_making *m, struct device_queue *queue,
                        const struct as_device_clock *clock)
{
    as_vec_foreach (&queue->ran, ran) {
        const int64_t begin_ns = as_device_clock_at(clock, ran->begin_ns);
        const int64_t end_ns = as_device_clock_at(clock, ran->end_ns);
        ran->begin_ns = begin_ns > 0 ? begin_ns : 0;
        ran->end_ns = end_ns > ran->begin_ns ? end_ns : ran->begin_ns;
    }
    if (queue->ran.n > 1)
        qsort(queue->ran.at, queue->ran.n, sizeof *queue->ran.at, by_begin);
    if (queue->ran.n && clock->error_ns > m->out->error_ns)
        m->out->error_ns = clock->error_ns;
}

/* Readings of all queues of a device are of one clock. Without a reading nothing can be placed. */
static int place_device(struct device_making *m, size_t first)
{
    AS_VEC(struct as_device_reading) reading = {0};
    const struct device_queue *one = &m->queue.at[first];
    int rc = 0;
    for (size_t i = first; i < m->queue.n && rc == 0; i++)
        if (is_of_device(&m->queue.at[i], one))
            as_vec_foreach (&m->queue.at[i].reading, at)
                rc = rc ? rc : as_vec_push(&reading, *at);
    struct as_device_clock clock = {0};
    if (rc == 0 && reading.n) {
        qsort(reading.at, reading.n, sizeof *reading.at, by_device_time);
        clock = as_device_clock_of(reading.at, reading.n);
    }
    for (size_t i = first; i < m->queue.n && rc == 0; i++)
        if (is_of_device(&m->queue.at[i], one)) {
            if (!reading.n)
                m->queue.at[i].ran.n = 0;
            apply_clock(m, &m->queue.at[i], &clock);
        }
    as_vec_fini(&reading);
    return rc;
}

static int place_queues(struct device_making *m)
{
    for (size_t i = 0; i < m->queue.n; i++) {
        bool is_first = true;
        for (size_t before = 0; before < i && is_first; before++)
            is_first = !is_of_device(&m->queue.at[i], &m->queue.at[before]);
        if (is_first)
            AS_TRY(place_device(m, i));
    }
    return 0;
}

/* ---- Streams of queues -------------------------------------------------------------------- */

struct device_lane {
    struct as_trace_writer writer;
    int64_t end_ns;
};

static int open_lane(struct device_making *m, const struct device_queue *queue, uint32_t lane,
                     struct device_lane **out)
{
    char path[PATH_MAX], name[AS_TRACE_NAME_B];
    const uint32_t at = (uint32_t)(queue - m->queue.at);
    const uint32_t tid = AS_TRACE_QUEUE_TID + at * LANES_MOST + lane;
    const uint32_t parent =
        m->process->thread.n ? as_trace_stream_facts(m->process->thread.at[0])->tid : 0;
    const int64_t begin_ns = queue->ran.n && queue->ran.at[0].begin_ns < queue->used_ns
                                 ? queue->ran.at[0].begin_ns
                                 : queue->used_ns;
    const struct as_trace_writing how = {.path = path,
                                         .pid = m->process->pid,
                                         .tid = tid,
                                         .parent_tid = parent,
                                         .clock = AS_TRACE_GIVEN,
                                         .begin_tick = (uint64_t)begin_ns,
                                         .name = name};
    snprintf(path, sizeof path, "%s/" AS_TRACE_PREFIX ".%" PRIu32 ".%" PRIu64 ".%" PRIu32,
             m->directory, m->process->pid, m->process->begun_ns, tid);
    const char *number = queue->text + queue->device_b;
    const size_t max_b = sizeof name - strlen(number) - 1;
    snprintf(name, sizeof name, "%.*s%s", (int)(queue->device_b < max_b ? queue->device_b : max_b),
             queue->text, strlen(number) < sizeof name / 2 ? number : "");
    struct device_lane *opened = *out = as_calloc(1, sizeof *opened);
    if (!opened)
        return as_error_nomem(m->err, "queues of a trace");
    const int rc = as_trace_writer_open(&opened->writer, &how);
    m->out->streams_n += rc == 0;
    return rc == 0
               ? 0
               : as_error_set(m->err, AS_ERR_IO,
                              "%s: the queue of a device cannot be written: %s; free some space",
                              path, strerror(-rc));
}

static void write_ran(struct device_making *m, struct device_lane *lane,
                      const struct device_ran *ran)
{
    struct as_trace_writer *w = &lane->writer;
    const struct device_enqueued none = {0};
    const struct device_enqueued *e =
        ran->command - 1 < m->enqueued.n ? &m->enqueued.at[ran->command - 1] : &none;
    const int64_t lag_ns = e->tid && e->ns < ran->begin_ns ? ran->begin_ns - e->ns : 0;
    const uint64_t field[] = {AS_TRACE_DEVICE_WORK | (e->bits & ~(uint32_t)AS_TRACE_BLOCKING),
                              e->tid, ran->command};
    const uint64_t list[] = {e->bytes, (uint64_t)lag_ns};
    as_trace_emit(w, AS_TRACE_ENTER, (uint64_t)ran->begin_ns, &ran->name, 1);
    as_trace_emit_list(w, AS_TRACE_DEVICE, 0, field, 3, list, 2);
    as_trace_emit(w, AS_TRACE_LEAVE, (uint64_t)ran->end_ns, &ran->name, 1);
    lane->end_ns = ran->end_ns;
}

/* Each row of a queue lasts as long as the host uses the queue. */
static int close_lanes(struct device_making *m, const struct device_queue *queue,
                       struct device_lane *const *lane, size_t n)
{
    int failed = 0;
    for (size_t i = 0; i < n; i++) {
        struct as_trace_writer *w = &lane[i]->writer;
        if (w->head && !w->block && !failed)
            failed = w->head->end_errno ? w->head->end_errno : EIO;
        if (queue->unused_ns > 0 && (uint64_t)queue->unused_ns > w->tick)
            w->tick = (uint64_t)queue->unused_ns;
        as_trace_writer_close(w, AS_TRACE_CLOSED);
        as_free(lane[i]);
    }
    return failed ? as_error_set(m->err, AS_ERR_IO,
                                 "%s: the queue of a device cannot be written: %s; free some space",
                                 m->directory, strerror(failed))
                  : 0;
}

static int write_queue(struct device_making *m, const struct device_queue *queue)
{
    struct device_lane *lane[LANES_MOST];
    size_t n = 0;
    int rc = 0;
    if (queue->used_ns > queue->unused_ns)
        return 0;
    m->out->queues_n++;
    for (size_t i = 0; i < queue->ran.n && rc == 0; i++) {
        const struct device_ran *ran = &queue->ran.at[i];
        size_t at = 0;
        while (at < n && lane[at]->end_ns > ran->begin_ns)
            at++;
        if (at == LANES_MOST) {
            m->out->lost_n++;
            continue;
        }
        if (at == n) {
            rc = open_lane(m, queue, (uint32_t)n, &lane[n]);
            if (!lane[n])
                break;
            n++;
        }
        if (rc == 0)
            write_ran(m, lane[at], ran);
    }
    if (rc == 0 && n == 0) { /* nothing ran: it was idle */
        rc = open_lane(m, queue, 0, &lane[0]);
        n += lane[0] != NULL;
    }
    const int closed = close_lanes(m, queue, lane, n);
    return rc < 0 ? rc : closed;
}

static bool has_queue_streams(const struct as_trace_process *process)
{
    as_vec_foreach (&process->thread, thread)
        if (as_trace_is_queue(as_trace_stream_facts(*thread)->tid))
            return true;
    return false;
}

static int make_queues(struct device_making *m)
{
    if (list_queues(m) < 0)
        return as_error_nomem(m->err, "queues of a trace");
    if (m->queue.n == 0 || has_queue_streams(m->process))
        return 0;
    as_vec_foreach (&m->process->thread, thread)
        m->commands_max += as_trace_stream_facts(*thread)->size_b / RECORD_B;
    as_vec_foreach (&m->process->thread, thread)
        AS_TRY(read_thread(m, *thread));
    if (place_queues(m) < 0)
        return as_error_nomem(m->err, "queues of a trace");
    uint64_t ran_n = 0;
    as_vec_foreach (&m->queue, queue) {
        ran_n += queue->ran.n;
        AS_TRY(write_queue(m, queue));
    }
    uint64_t enqueued_n = 0;
    as_vec_foreach (&m->enqueued, enqueued)
        enqueued_n += enqueued->tid != 0;
    m->out->lost_n += enqueued_n > ran_n ? enqueued_n - ran_n : 0;
    return 0;
}

int as_trace_devices_make(const char *directory, struct as_trace_devices *out, struct as_error *err)
{
    struct as_trace trace;
    *out = (struct as_trace_devices){0};
    int rc = as_trace_open_unrelated(directory, &trace, err);
    if (rc == AS_ERR_NOT_FOUND)
        return 0;
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < trace.process.n && rc == 0; i++) {
        struct device_making m = {
            .directory = directory, .process = &trace.process.at[i], .out = out, .err = err};
        rc = make_queues(&m);
        as_vec_foreach (&m.queue, queue) {
            as_vec_fini(&queue->ran);
            as_vec_fini(&queue->reading);
        }
        as_vec_fini(&m.queue);
        as_vec_fini(&m.enqueued);
    }
    as_trace_close(&trace);
    return rc;
}
