/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues, and the commands that they have not done. A command's event is kept until the command is
 * done; then its stamps are recorded by the thread that notices: after a wait, or as more commands
 * are enqueued. Nothing waits for a device. A spinlock guards all lists; no routine of OpenCL is
 * called under it.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/wrap/opencl/opencl.h"
#include "base/clock.h"

#define AS_OPENCL_TYPES
#include "opencl_made.h"
#undef AS_OPENCL_TYPES

#define QUEUES_N  1024u /* of more queues the rest are not recorded */
#define DEVICES_N 64u
#define OPEN_MOST (1u << 20)        /* commands that are not done; more are not recorded */
#define CHUNK_N   1024u             /* commands that are allocated together */
#define ASKED_N   32u               /* words of a list of properties */
#define LOOKS_N   2u                /* commands that an enqueue looks at */
#define CLOCK_NS  INT64_C(20000000) /* between two readings of a device's clock */

struct open_command {
    struct open_command *next;
    void *event;
    uint64_t number, name;
    int64_t begin_ns, end_ns; /* of the call that enqueued it */
    bool is_shared;           /* the program has the event, too */
};

struct as_opencl_queue {
    void *handle, *device;
    uint32_t number; /* of its name */
    bool is_in_order, is_changed, has_asked;
    uint64_t asked[ASKED_N];
    size_t asked_n;
    struct open_command *first, *last; /* in the order of enqueuing, if in order */
    uint32_t open_n;
    /* The latest reading of its device's clock, and how exact that was. */
    int64_t clock_ns, clock_width_ns;
    bool has_no_timer;
};

static struct as_opencl_queue queues[QUEUES_N];
static unsigned queues_n, queues_made_n;
static void *devices[DEVICES_N];
static unsigned devices_n;
static struct open_command *free_commands;
static _Atomic uint64_t commands_n;
static _Atomic uint32_t open_n;
static atomic_flag lists = ATOMIC_FLAG_INIT;
static _Atomic bool is_ended; /* the program ends, or is the child of a fork */

static void lock_lists(void)
{
    while (atomic_flag_test_and_set_explicit(&lists, memory_order_acquire))
        sched_yield();
}

static void unlock_lists(void)
{
    atomic_flag_clear_explicit(&lists, memory_order_release);
}

/* ---- Queues ------------------------------------------------------------------------------- */

static struct as_opencl_queue *find_queue(const void *handle)
{
    for (unsigned i = queues_n; i-- > 0;)
        if (queues[i].handle == handle)
            return &queues[i];
    return NULL;
}

struct as_opencl_queue *as_opencl_queue_of(void *handle)
{
    lock_lists();
    struct as_opencl_queue *queue = find_queue(handle);
    unlock_lists();
    return queue && queue->number ? queue : NULL;
}

uint32_t as_opencl_queue_number(const struct as_opencl_queue *queue)
{
    return queue->number;
}

bool as_opencl_is_changed(const struct as_opencl_queue *queue)
{
    return queue->is_changed;
}

const uint64_t *as_opencl_asked(const struct as_opencl_queue *queue, size_t *words_n)
{
    *words_n = queue->asked_n;
    return queue->has_asked ? queue->asked : NULL;
}

static unsigned number_of_device(void *device)
{
    unsigned i = 0;
    while (i < devices_n && devices[i] != device)
        i++;
    if (i == devices_n && devices_n < DEVICES_N)
        devices[devices_n++] = device;
    return i;
}

/* ---- Clocks ------------------------------------------------------------------------------- */

static void emit_clock(struct as_tracer_thread *thread, struct as_opencl_queue *queue,
                       uint64_t device_ns, int64_t from_ns, int64_t to_ns)
{
    struct as_trace_writer *w = &thread->writer;
    const uint64_t field[] = {AS_TRACE_DEVICE_CLOCK, queue->number, 0};
    const uint64_t list[] = {device_ns, (uint64_t)(from_ns + (to_ns - from_ns) / 2),
                             (uint64_t)((to_ns - from_ns + 1) / 2)};
    as_trace_emit_list(w, AS_TRACE_DEVICE, as_trace_now(w), field, 3, list, 3);
    queue->clock_ns = to_ns;
    queue->clock_width_ns = to_ns - from_ns;
}

/* OpenCL 2.1 reads the clock. */
static void read_device_clock(struct as_tracer_thread *thread, struct as_opencl_queue *queue,
                              int64_t now_ns)
{
    as_opencl_timer_type *read = AS_OPENCL_REAL(as_opencl_timer_type, clGetDeviceAndHostTimer);
    if (queue->has_no_timer || now_ns - queue->clock_ns < CLOCK_NS)
        return;
    uint64_t device_ns = 0, host_ns = 0;
    const int64_t from_ns = as_clock_ns(CLOCK_MONOTONIC_RAW);
    queue->has_no_timer = !read || read(queue->device, &device_ns, &host_ns) != 0;
    if (!queue->has_no_timer)
        emit_clock(thread, queue, device_ns, from_ns, as_clock_ns(CLOCK_MONOTONIC_RAW));
}

/* Without that, a command was queued within the call that enqueued it. */
static void bound_device_clock(struct as_tracer_thread *thread, struct as_opencl_queue *queue,
                               const struct open_command *command, uint64_t queued_ns)
{
    const int64_t width_ns = command->end_ns - command->begin_ns;
    if (queue->has_no_timer && (command->end_ns - queue->clock_ns > CLOCK_NS ||
                                width_ns < queue->clock_width_ns - queue->clock_width_ns / 4))
        emit_clock(thread, queue, queued_ns, command->begin_ns, command->end_ns);
}

/* ---- Commands that are done --------------------------------------------------------------- */

static struct open_command *take_first(struct as_opencl_queue *queue)
{
    lock_lists();
    struct open_command *command = queue->first;
    if (command) {
        queue->first = command->next;
        queue->last = queue->first ? queue->last : NULL;
        queue->open_n--;
    }
    unlock_lists();
    return command;
}

static void insert_command(struct as_opencl_queue *queue, struct open_command *command,
                           bool is_first)
{
    lock_lists();
    command->next = is_first ? queue->first : NULL;
    if (!queue->first)
        queue->first = queue->last = command;
    else if (is_first)
        queue->first = command;
    else
        queue->last = queue->last->next = command;
    queue->open_n++;
    unlock_lists();
}

static void free_command(struct open_command *command)
{
    AS_OPENCL_REAL(as_opencl_count_type, clReleaseEvent)(command->event);
    lock_lists();
    command->next = free_commands;
    free_commands = command;
    unlock_lists();
    atomic_fetch_sub(&open_n, 1);
}

/* Commands that failed have no stamps. */
static void emit_command(struct as_tracer_thread *thread, struct as_opencl_queue *queue,
                         const struct open_command *command)
{
    clGetEventProfilingInfo_type *profile =
        AS_OPENCL_REAL(clGetEventProfilingInfo_type, clGetEventProfilingInfo);
    const uint64_t field[] = {AS_TRACE_DEVICE_RAN, queue->number, command->number};
    uint64_t list[5] = {0};
    for (unsigned i = 0; i < 4; i++)
        if (profile(command->event, AS_CL_STAMP_QUEUED + i, sizeof list[i], &list[i], NULL) != 0)
            return;
    list[4] = command->name;
    struct as_trace_writer *w = &thread->writer;
    as_trace_emit_list(w, AS_TRACE_DEVICE, as_trace_now(w), field, 3, list, 5);
    bound_device_clock(thread, queue, command, list[0]);
}

static void collect_queue(struct as_tracer_thread *thread, struct as_opencl_queue *queue,
                          unsigned max_n)
{
    if (max_n > queue->open_n)
        max_n = queue->open_n;
    for (; max_n > 0; max_n--) {
        struct open_command *command = take_first(queue);
        int32_t status = AS_CL_COMPLETE;
        if (!command)
            return;
        AS_OPENCL_REAL(clGetEventInfo_type, clGetEventInfo)
        (command->event, AS_CL_EVENT_STATUS, sizeof status, &status, NULL);
        if (status > AS_CL_COMPLETE) {
            insert_command(queue, command, queue->is_in_order);
            if (queue->is_in_order)
                return;
            continue;
        }
        if (status == AS_CL_COMPLETE)
            emit_command(thread, queue, command);
        free_command(command);
    }
}

void as_opencl_collect(struct as_tracer_thread *thread, struct as_opencl_queue *queue,
                       unsigned max_n)
{
    if (is_ended)
        return;
    if (queue)
        collect_queue(thread, queue, max_n);
    for (unsigned i = 0; !queue && i < queues_n; i++)
        if (queues[i].number)
            collect_queue(thread, &queues[i], max_n);
}

bool as_opencl_keeps(void *event)
{
    bool keeps = false;
    lock_lists();
    for (unsigned i = 0; i < queues_n && !keeps; i++)
        for (const struct open_command *at = queues[i].first; at && !keeps; at = at->next)
            keeps = at->event == event && at->is_shared;
    unlock_lists();
    return keeps;
}

/* ---- Making and enqueuing ----------------------------------------------------------------- */

/* Records commands that are done when the program ends. Other events stay with the runtime. */
static void collect_last(void)
{
    struct as_tracer_thread *thread = as_wrapped_thread();
    if (thread) {
        thread->inside = 1;
        as_opencl_collect(thread, NULL, UINT32_MAX);
        thread->inside = 0;
    }
    is_ended = true;
}

static void end_child(void)
{
    is_ended = true;
}

/* A handle that comes again is that of a new queue. */
static struct as_opencl_queue *new_queue(void *handle)
{
    struct as_opencl_queue *queue = find_queue(handle);
    if (queue && queue->first)
        queue = NULL;
    if (!queue && queues_n < QUEUES_N)
        queue = &queues[queues_n++];
    return queue;
}

void as_opencl_queue_made(struct as_opencl_call *call, void *handle, void *device,
                          uint64_t properties, bool is_changed, const uint64_t *own)
{
    static _Atomic bool is_noticed;
    if (!atomic_exchange(&is_noticed, true)) {
        atexit(collect_last);
        pthread_atfork(NULL, NULL, end_child);
    }
    lock_lists();
    struct as_opencl_queue *queue = new_queue(handle);
    const unsigned device_number = number_of_device(device), number = ++queues_made_n;
    if (queue)
        *queue = (struct as_opencl_queue){.handle = handle,
                                          .device = device,
                                          .is_in_order = !(properties & AS_CL_IN_ORDER_OFF),
                                          .is_changed = is_changed,
                                          .has_asked = own,
                                          .clock_ns = INT64_MIN / 2};
    for (size_t i = 0; queue && own && i < ASKED_N; i++) {
        queue->asked[i] = own[i];
        queue->asked_n = i + 1;
        if (i % 2 == 0 && own[i] == 0)
            break;
    }
    unlock_lists();
    if (!queue || number > QUEUES_N)
        return;
    queue->number = (uint32_t)as_opencl_queue_name(device, device_number, number);
    if (!queue->number)
        return;
    call->queue = queue;
    as_opencl_emit_use(call, 0, queue->number, 0, 0);
}

/* NULL: no memory, or too many are not done. */
static struct open_command *new_command(void)
{
    lock_lists();
    struct open_command *command = free_commands;
    if (!command && open_n < OPEN_MOST) {
        struct open_command *chunk = mmap(NULL, CHUNK_N * sizeof *chunk, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (unsigned i = 0; chunk != MAP_FAILED && i + 1 < CHUNK_N; i++)
            chunk[i].next = &chunk[i + 1];
        command = chunk == MAP_FAILED ? NULL : chunk;
    }
    if (command)
        free_commands = command->next;
    unlock_lists();
    if (command)
        atomic_fetch_add(&open_n, 1);
    return command;
}

static bool keep_command(struct as_opencl_call *call, struct as_opencl_queue *queue, uint64_t name,
                         uint64_t number)
{
    struct open_command *command = is_ended ? NULL : new_command();
    if (!command)
        return false;
    const bool is_shared = call->event != &call->own;
    if (is_shared)
        AS_OPENCL_REAL(as_opencl_count_type, clRetainEvent)(*call->event);
    *command = (struct open_command){.event = *call->event,
                                     .number = number,
                                     .name = name,
                                     .begin_ns = call->begin_ns,
                                     .end_ns = call->end_ns,
                                     .is_shared = is_shared};
    call->own = NULL;
    insert_command(queue, command, false);
    return true;
}

void as_opencl_enqueued(struct as_opencl_call *call, void *handle,
                        const struct as_opencl_work *work)
{
    struct as_opencl_queue *queue = as_opencl_queue_of(handle);
    const unsigned bits = work->bits | (work->blocks ? AS_TRACE_BLOCKING : 0);
    const uint64_t name = !queue         ? 0
                          : work->kernel ? as_opencl_kernel_name(work->kernel)
                                         : as_opencl_command_name(call->routine);
    uint64_t number = 0;
    if (name && call->event && *call->event) {
        number = atomic_fetch_add(&commands_n, 1) + 1;
        if (!keep_command(call, queue, name, number))
            number = 0;
    }
    if (queue || work->bytes)
        as_opencl_emit_use(call, bits, queue ? queue->number : 0, number, work->bytes);
    if (call->own)
        AS_OPENCL_REAL(as_opencl_count_type, clReleaseEvent)(call->own);
    call->queue = queue;
    call->looks_n = work->blocks ? UINT32_MAX : LOOKS_N;
}

void as_opencl_look(const struct as_opencl_call *call)
{
    if (call->queue)
        read_device_clock(call->thread, call->queue, call->end_ns);
    if (call->looks_at_all)
        as_opencl_collect(call->thread, NULL, UINT32_MAX);
    else if (call->queue && call->looks_n)
        as_opencl_collect(call->thread, call->queue, call->looks_n);
}

/* ---- Calls that use queues ------------------------------------------------------------------- */

void as_opencl_leave(struct as_opencl_call *call)
{
    const int saved = errno;
    as_opencl_end(call);
    as_opencl_look(call);
    call->thread->inside = 0;
    errno = saved;
}

void as_opencl_used(struct as_opencl_call *call, void *handle, uint64_t bytes)
{
    const struct as_opencl_queue *queue = handle ? as_opencl_queue_of(handle) : NULL;
    if (queue || bytes)
        as_opencl_emit_use(call, 0, queue ? as_opencl_queue_number(queue) : 0, 0, bytes);
}

void as_opencl_waited(struct as_opencl_call *call, void *handle)
{
    struct as_opencl_queue *queue = as_opencl_queue_of(handle);
    if (!queue)
        return;
    call->queue = queue;
    call->looks_n = UINT32_MAX;
    as_opencl_emit_use(call, AS_TRACE_BLOCKING, as_opencl_queue_number(queue), 0, 0);
}

/* The last of several events names the queue. */
void as_opencl_waited_events(struct as_opencl_call *call, uint32_t n, const void *events)
{
    void *const *event = events, *handle = NULL;
    if (n && event)
        AS_OPENCL_REAL(clGetEventInfo_type, clGetEventInfo)
    (event[n - 1], AS_CL_EVENT_QUEUE, sizeof handle, &handle, NULL);
    const struct as_opencl_queue *queue = handle ? as_opencl_queue_of(handle) : NULL;
    call->looks_at_all = true;
    if (queue)
        as_opencl_emit_use(call, AS_TRACE_BLOCKING, as_opencl_queue_number(queue), 0, 0);
}
