/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entry points of the layer for the ICD loader, and calls of the program. Calls within a recorded
 * call are not recorded: a runtime makes them for itself.
 */
#include <errno.h>
#include <string.h>

#include "agent/opencl.h"
#include "base/clock.h"

#define LAYER_API_VERSION 0x4240u
#define LAYER_NAME        0x4241u
#define LAYER_API         100u

void *as_opencl_target[AS_OPENCL_TABLE_N];

static void *layer_table[AS_OPENCL_TABLE_N];
static struct as_wrapped call_names[AS_OPENCL_ROUTINES_N];

/* ---- Calls -------------------------------------------------------------------------------- */

bool as_opencl_enter(struct as_opencl_call *call, enum as_opencl_routine routine,
                     const void *behind, const void *frame)
{
    const int saved = errno;
    struct as_wrapped *name = &call_names[routine];
    *call = (struct as_opencl_call){.thread = as_wrapped_thread_of(name), .routine = routine};
    if (call->thread) {
        struct as_trace_writer *w = &call->thread->writer;
        call->thread->inside = 1;
        as_wrapped_enter(call->thread, name, behind, frame, as_trace_now(w));
        call->begin_ns = as_clock_ns(CLOCK_MONOTONIC_RAW);
    }
    errno = saved;
    return call->thread;
}

void as_opencl_stamp(struct as_opencl_call *call)
{
    call->end_ns = as_clock_ns(CLOCK_MONOTONIC_RAW);
    call->tick = as_trace_now(&call->thread->writer);
}

void as_opencl_leave(struct as_opencl_call *call)
{
    const int saved = errno;
    as_wrapped_leave(call->thread, &call_names[call->routine], call->tick);
    as_opencl_look(call);
    call->thread->inside = 0;
    errno = saved;
}

void **as_opencl_event(struct as_opencl_call *call, void **event)
{
    call->event = event ? event : &call->own;
    return call->event;
}

void as_opencl_emit_use(struct as_opencl_call *call, unsigned bits, uint32_t queue,
                        uint64_t command, uint64_t bytes)
{
    const uint64_t field[] = {AS_TRACE_DEVICE_ENQUEUED | bits, queue, command};
    as_trace_emit_list(&call->thread->writer, AS_TRACE_DEVICE, call->tick, field, 3, &bytes, 1);
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

/* Returns the bytes of a box of rows and slices. */
static uint64_t bytes_of(const size_t *region)
{
    return region ? (uint64_t)region[0] * region[1] * region[2] : 0;
}

static uint64_t bytes_of_image(void *image, const size_t *region)
{
    size_t element_b = 0;
    AS_OPENCL_REAL(as_opencl_info_type, clGetImageInfo)
    (image, AS_CL_IMAGE_ELEMENT_SIZE, sizeof element_b, &element_b, NULL);
    return bytes_of(region) * element_b;
}

/* ---- The wrappers ------------------------------------------------------------------------- */

#define AS_OPENCL_WRAPPERS
#include "opencl_made.h"
#undef AS_OPENCL_WRAPPERS

/* ---- The loader --------------------------------------------------------------------------- */

__attribute__((visibility("default"))) int32_t clGetLayerInfo(uint32_t name, size_t size_b,
                                                              void *value, size_t *value_b);
__attribute__((visibility("default"))) int32_t
clInitLayer(uint32_t entries_n, void *const *target, uint32_t *layer_n, const void *const **layer);

static int32_t copy_info(const void *from, size_t n, size_t size_b, void *value, size_t *value_b)
{
    if (value && size_b < n)
        return AS_CL_INVALID_VALUE;
    if (value)
        memcpy(value, from, n);
    if (value_b)
        *value_b = n;
    return 0;
}

int32_t clGetLayerInfo(uint32_t name, size_t size_b, void *value, size_t *value_b)
{
    static const char text[] = "assay";
    const uint32_t api = LAYER_API;
    if (name == LAYER_API_VERSION)
        return copy_info(&api, sizeof api, size_b, value, value_b);
    return name == LAYER_NAME ? copy_info(text, sizeof text, size_b, value, value_b)
                              : AS_CL_INVALID_VALUE;
}

/* Entries that are not wrapped, or that the tracer does not want, are those behind the layer. */
int32_t clInitLayer(uint32_t entries_n, void *const *target, uint32_t *layer_n,
                    const void *const **layer)
{
    if (!target || !layer_n || !layer)
        return AS_CL_INVALID_VALUE;
    const uint32_t n = entries_n < AS_OPENCL_TABLE_N ? entries_n : AS_OPENCL_TABLE_N;
    memcpy(as_opencl_target, target, n * sizeof *target);
    for (unsigned i = 0; i < AS_OPENCL_ROUTINES_N; i++)
        call_names[i] = (struct as_wrapped){as_opencl_routine_name((enum as_opencl_routine)i),
                                            AS_TRACE_OF_OPENCL, 0};
    as_wrapped_begin(AS_TRACER_OPENCL);
    if (as_wrapped_hooks)
        fill_table(layer_table);
    for (uint32_t i = 0; i < AS_OPENCL_TABLE_N; i++)
        if (!layer_table[i] || !as_opencl_target[i])
            layer_table[i] = as_opencl_target[i];
    *layer_n = n;
    *layer = (const void *const *)layer_table;
    return 0;
}
