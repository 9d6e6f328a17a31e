/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layer before OpenCL: a library that the ICD loader loads (OPENCL_LAYERS), with a table of
 * wrappers. Each call of the program is recorded in the stream of its thread. Commands of queues
 * have events, which the layer keeps until the command is done; then it records their stamps.
 * Nothing here is recorded if the tracer does not want the group. Neither headers nor libraries of
 * OpenCL are needed: handles are pointers, constants are those of the specification.
 */
#ifndef AS_AGENT_OPENCL_H
#define AS_AGENT_OPENCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/wrap/wrapped.h"

/* Numbers of the specification. */
enum as_opencl_constant {
    AS_CL_PROFILING_NOT_AVAILABLE = -7,
    AS_CL_INVALID_VALUE = -30,
    AS_CL_COMPLETE = 0,
    AS_CL_IN_ORDER_OFF = 1, /* bits of properties of a queue */
    AS_CL_PROFILING = 2,
    AS_CL_ON_DEVICE = 4,
    AS_CL_DEVICE_NAME = 0x102B,
    AS_CL_QUEUE_REFERENCES = 0x1092,
    AS_CL_QUEUE_PROPERTIES = 0x1093,
    AS_CL_QUEUE_PROPERTIES_ARRAY = 0x1098,
    AS_CL_IMAGE_ELEMENT_SIZE = 0x1111,
    AS_CL_KERNEL_NAME = 0x1190,
    AS_CL_EVENT_QUEUE = 0x11D0,
    AS_CL_EVENT_REFERENCES = 0x11D2,
    AS_CL_EVENT_STATUS = 0x11D3,
    AS_CL_STAMP_QUEUED = 0x1280 /* then submitted, begun, done */
};

/* Places in the dispatch table of routines that are called and not wrapped. */
enum as_opencl_called {
    AS_OPENCL_clGetDeviceInfo = 3,
    AS_OPENCL_clGetImageInfo = 21,
    AS_OPENCL_clGetKernelInfo = 39,
    AS_OPENCL_clRetainEvent = 43,
    AS_OPENCL_clReleaseEvent = 44,
    AS_OPENCL_clGetDeviceAndHostTimer = 140
};
typedef int32_t as_opencl_info_type(void *of, uint32_t name, size_t size_b, void *value,
                                    size_t *value_b);
typedef int32_t as_opencl_count_type(void *of);
typedef int32_t as_opencl_timer_type(void *device, uint64_t *device_ns, uint64_t *host_ns);

#define AS_OPENCL_TABLE_N 512u                    /* entries of a dispatch table, at most */
extern void *as_opencl_target[AS_OPENCL_TABLE_N]; /* what is behind the layer */
#define AS_OPENCL_REAL(type, name) ((type *)as_opencl_target[AS_OPENCL_##name])

struct as_opencl_queue;

/* A call that is recorded. */
struct as_opencl_call {
    struct as_tracer_thread *thread;
    unsigned routine;         /* enum as_opencl_routine of opencl_made.h */
    uint64_t tick;            /* when it came back; 0: it did not yet */
    int64_t begin_ns, end_ns; /* CLOCK_MONOTONIC_RAW around it */
    void *own;                /* the event where the program wants none */
    void **event;             /* the event's place; NULL: the call has none */
    /* Looked at behind the call: a queue's first commands, or all of all queues. */
    struct as_opencl_queue *queue;
    unsigned looks_n;
    bool looks_at_all;
};

/* A command. */
struct as_opencl_work {
    void *kernel; /* NULL: another command */
    uint64_t bytes;
    unsigned bits; /* as_trace_device_bits: its way */
    bool blocks;
};

/* ---- opencl_calls.c: calls ---- */

void as_opencl_calls_begin(void);
const char *as_opencl_routine_name(unsigned routine);
/* Returns false if the call is not recorded. Two last arguments: AS_CALLED. */
bool as_opencl_enter(struct as_opencl_call *call, unsigned routine, const void *behind,
                     const void *frame);
/* The call came back. */
void as_opencl_stamp(struct as_opencl_call *call);
/* Returns the place of an event to pass on: the program's, or one of the call's own. */
void **as_opencl_event(struct as_opencl_call *call, void **event);
/* Writes an ENQUEUED record of the call. */
void as_opencl_emit_use(struct as_opencl_call *call, unsigned bits, uint32_t queue,
                        uint64_t command, uint64_t bytes);
/* Writes the end of the call alone. */
void as_opencl_end(struct as_opencl_call *call);

/* ---- opencl_names.c: names that come up while the program runs ---- */

/* Returns the number of the name of a kernel, or of another command; 0: it has none. */
uint64_t as_opencl_kernel_name(void *kernel);
uint64_t as_opencl_command_name(unsigned routine);
/* Returns a new number for a queue of a device; 0: there is none. */
uint64_t as_opencl_queue_name(void *device, unsigned device_number, unsigned queue_number);

/* ---- opencl_queues.c: queues, and commands that are not done ---- */

/* The queue with this handle; NULL: it is not recorded. */
struct as_opencl_queue *as_opencl_queue_of(void *handle);
uint32_t as_opencl_queue_number(const struct as_opencl_queue *queue); /* of its name */
/* A queue was made; `own` is what the program asked for if the layer asked for stamps besides:
 * pairs that end with 0, or NULL. */
void as_opencl_queue_made(struct as_opencl_call *call, void *handle, void *device,
                          uint64_t properties, bool is_changed, const uint64_t *own);
/* A command was enqueued: keeps its event. */
void as_opencl_enqueued(struct as_opencl_call *call, void *queue,
                        const struct as_opencl_work *work);
/* Records commands of a queue that are done, at most so many; NULL: of all queues. */
void as_opencl_collect(struct as_tracer_thread *thread, struct as_opencl_queue *queue,
                       unsigned max_n);
/* Behind a call: reads clocks and records commands that are done, as the call says. */
void as_opencl_look(const struct as_opencl_call *call);
/* Returns whether the layer keeps this event and the program has it, too. */
bool as_opencl_keeps(void *event);
/* Returns whether the layer asked for stamps that the program did not ask for. */
bool as_opencl_is_changed(const struct as_opencl_queue *queue);
/* Returns the properties that the program asked for; NULL: none. */
const uint64_t *as_opencl_asked(const struct as_opencl_queue *queue, size_t *words_n);

/* Ends a call, then looks at queues. */
void as_opencl_leave(struct as_opencl_call *call);
/* The call used the queue (NULL: none), or made memory of so many bytes. */
void as_opencl_used(struct as_opencl_call *call, void *queue, uint64_t bytes);
void as_opencl_waited(struct as_opencl_call *call, void *queue);
void as_opencl_waited_events(struct as_opencl_call *call, uint32_t n, const void *events);

/* opencl_made.h declares the routines of the role `own`, which are in opencl_own.c. */

#endif
