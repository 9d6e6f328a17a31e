/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the program, as they are recorded, and what is behind the layer. */
#include <errno.h>

#include "agent/wrap/opencl/opencl.h"
#include "base/clock.h"

#define AS_OPENCL_TYPES
#include "opencl_made.h"
#undef AS_OPENCL_TYPES

#define AS_OPENCL_NAMES
#include "opencl_made.h"
#undef AS_OPENCL_NAMES

void *as_opencl_target[AS_OPENCL_TABLE_N];

static struct as_wrapped call_names[AS_OPENCL_ROUTINES_N];

const char *as_opencl_routine_name(unsigned routine)
{
    return routine_names[routine];
}

void as_opencl_calls_begin(void)
{
    for (unsigned i = 0; i < AS_OPENCL_ROUTINES_N; i++)
        call_names[i] = (struct as_wrapped){routine_names[i], AS_TRACE_OF_OPENCL, 0};
}

bool as_opencl_enter(struct as_opencl_call *call, unsigned routine, const void *behind,
                     const void *frame)
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

void as_opencl_end(struct as_opencl_call *call)
{
    as_wrapped_leave(call->thread, &call_names[call->routine], call->tick);
}
