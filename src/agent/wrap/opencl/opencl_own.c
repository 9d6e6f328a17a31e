/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routines that make queues, and those that would show the program that it is traced: queues have
 * stamps that it did not ask for, and events one reference more.
 */
#include <string.h>

#include "agent/wrap/opencl/opencl.h"

#define AS_OPENCL_TYPES
#include "opencl_made.h"
#undef AS_OPENCL_TYPES

#define PAIRS_MOST 31u /* words of a list of properties, without the zero at its end */

/* ---- Making queues ------------------------------------------------------------------------ */

static void set_code(int32_t *code, int32_t value)
{
    if (code)
        *code = value;
}

void *as_opencl_clCreateCommandQueue(void *context, void *device, uint64_t properties,
                                     int32_t *code)
{
    clCreateCommandQueue_type *create =
        AS_OPENCL_REAL(clCreateCommandQueue_type, clCreateCommandQueue);
    struct as_opencl_call call;
    if (!as_opencl_enter(&call, AS_OPENCL_OF_clCreateCommandQueue, AS_CALLED))
        return create(context, device, properties, code);
    int32_t rc = 0;
    void *queue = create(context, device, properties | AS_CL_PROFILING, &rc);
    const bool has_stamps = queue;
    if (!queue) /* the program's error, not one of ours */
        queue = create(context, device, properties, &rc);
    set_code(code, rc);
    as_opencl_stamp(&call);
    if (queue && has_stamps)
        as_opencl_queue_made(&call, queue, device, properties, !(properties & AS_CL_PROFILING),
                             NULL);
    as_opencl_leave(&call);
    return queue;
}

/* Returns the place of the value of a key, or the number of words before the end. */
static size_t find_property(const uint64_t *list, uint64_t key, bool *is_found)
{
    size_t i = 0;
    *is_found = false;
    for (; list && i < PAIRS_MOST && list[i]; i += 2)
        if (list[i] == key) {
            *is_found = true;
            return i + 1;
        }
    return i;
}

/* Returns false if the list is too long, or the queue is one of a device's own. */
static bool add_stamps(const uint64_t *asked, uint64_t *list, uint64_t *properties)
{
    bool is_found, is_end;
    const size_t n = find_property(asked, 0, &is_end);
    size_t at = find_property(asked, AS_CL_QUEUE_PROPERTIES, &is_found);
    if (n + 3 > PAIRS_MOST)
        return false;
    if (n)
        memcpy(list, asked, n * sizeof *list);
    list[n] = 0;
    if (!is_found) {
        list[n] = AS_CL_QUEUE_PROPERTIES;
        list[n + 1] = 0;
        list[n + 2] = 0;
        at = n + 1;
    }
    *properties = list[at];
    list[at] |= AS_CL_PROFILING;
    return !(*properties & AS_CL_ON_DEVICE);
}

void *as_opencl_clCreateCommandQueueWithProperties(void *context, void *device,
                                                   const uint64_t *properties, int32_t *code)
{
    clCreateCommandQueueWithProperties_type *create =
        AS_OPENCL_REAL(clCreateCommandQueueWithProperties_type, clCreateCommandQueueWithProperties);
    struct as_opencl_call call;
    uint64_t list[PAIRS_MOST + 1], bits = 0;
    if (!as_opencl_enter(&call, AS_OPENCL_OF_clCreateCommandQueueWithProperties, AS_CALLED))
        return create(context, device, properties, code);
    int32_t rc = 0;
    const bool may_add = add_stamps(properties, list, &bits);
    void *queue = may_add ? create(context, device, list, &rc) : NULL;
    const bool has_stamps = queue;
    if (!queue)
        queue = create(context, device, properties, &rc);
    set_code(code, rc);
    as_opencl_stamp(&call);
    if (queue && has_stamps)
        as_opencl_queue_made(&call, queue, device, bits, !(bits & AS_CL_PROFILING), properties);
    as_opencl_leave(&call);
    return queue;
}

int32_t as_opencl_clReleaseCommandQueue(void *queue)
{
    clReleaseCommandQueue_type *release =
        AS_OPENCL_REAL(clReleaseCommandQueue_type, clReleaseCommandQueue);
    struct as_opencl_call call;
    if (!as_opencl_enter(&call, AS_OPENCL_OF_clReleaseCommandQueue, AS_CALLED))
        return release(queue);
    struct as_opencl_queue *known = as_opencl_queue_of(queue);
    if (known)
        as_opencl_collect(call.thread, known, UINT32_MAX);
    const int32_t rc = release(queue);
    as_opencl_stamp(&call);
    as_opencl_used(&call, queue, 0);
    as_opencl_leave(&call);
    return rc;
}

int32_t as_opencl_clReleaseContext(void *context)
{
    clReleaseContext_type *release = AS_OPENCL_REAL(clReleaseContext_type, clReleaseContext);
    struct as_opencl_call call;
    if (!as_opencl_enter(&call, AS_OPENCL_OF_clReleaseContext, AS_CALLED))
        return release(context);
    as_opencl_collect(call.thread, NULL, UINT32_MAX);
    const int32_t rc = release(context);
    as_opencl_stamp(&call);
    as_opencl_leave(&call);
    return rc;
}

/* ---- What the program may see ------------------------------------------------------------- */

static void collect_all(void)
{
    struct as_tracer_thread *thread = as_wrapped_thread();
    if (!thread)
        return;
    thread->inside = 1;
    as_opencl_collect(thread, NULL, UINT32_MAX);
    thread->inside = 0;
}

/* The list that the program gave, in place of the one with stamps. */
static int32_t answer_asked(const struct as_opencl_queue *queue, size_t size_b, void *value,
                            size_t *value_b)
{
    size_t n;
    const uint64_t *asked = as_opencl_asked(queue, &n);
    const size_t n_b = asked ? n * sizeof *asked : 0;
    if (value && size_b < n_b)
        return AS_CL_INVALID_VALUE;
    if (value && n_b)
        memcpy(value, asked, n_b);
    if (value_b)
        *value_b = n_b;
    return 0;
}

int32_t as_opencl_clGetCommandQueueInfo(void *handle, uint32_t name, size_t size_b, void *value,
                                        size_t *value_b)
{
    clGetCommandQueueInfo_type *get =
        AS_OPENCL_REAL(clGetCommandQueueInfo_type, clGetCommandQueueInfo);
    if (name == AS_CL_QUEUE_REFERENCES)
        collect_all();
    const struct as_opencl_queue *queue = as_opencl_queue_of(handle);
    const bool is_changed = queue && as_opencl_is_changed(queue);
    if (is_changed && name == AS_CL_QUEUE_PROPERTIES_ARRAY) {
        const int32_t rc = get(handle, name, 0, NULL, NULL);
        return rc ? rc : answer_asked(queue, size_b, value, value_b);
    }
    const int32_t rc = get(handle, name, size_b, value, value_b);
    if (rc == 0 && is_changed && name == AS_CL_QUEUE_PROPERTIES && value) {
        uint64_t bits;
        memcpy(&bits, value, sizeof bits);
        bits &= ~(uint64_t)AS_CL_PROFILING;
        memcpy(value, &bits, sizeof bits);
    }
    return rc;
}

int32_t as_opencl_clGetEventInfo(void *event, uint32_t name, size_t size_b, void *value,
                                 size_t *value_b)
{
    clGetEventInfo_type *get = AS_OPENCL_REAL(clGetEventInfo_type, clGetEventInfo);
    const int32_t rc = get(event, name, size_b, value, value_b);
    if (rc == 0 && name == AS_CL_EVENT_REFERENCES && value && as_opencl_keeps(event)) {
        uint32_t n;
        memcpy(&n, value, sizeof n);
        n -= n > 0;
        memcpy(value, &n, sizeof n);
    }
    if (rc == 0 && name == AS_CL_EVENT_STATUS && value) { /* a program may wait so */
        int32_t status;
        memcpy(&status, value, sizeof status);
        if (status == AS_CL_COMPLETE)
            collect_all();
    }
    return rc;
}

/* Stamps that the program did not ask for are none. */
int32_t as_opencl_clGetEventProfilingInfo(void *event, uint32_t name, size_t size_b, void *value,
                                          size_t *value_b)
{
    clGetEventProfilingInfo_type *get =
        AS_OPENCL_REAL(clGetEventProfilingInfo_type, clGetEventProfilingInfo);
    void *handle = NULL;
    AS_OPENCL_REAL(clGetEventInfo_type, clGetEventInfo)
    (event, AS_CL_EVENT_QUEUE, sizeof handle, &handle, NULL);
    const struct as_opencl_queue *queue = handle ? as_opencl_queue_of(handle) : NULL;
    if (!queue || !as_opencl_is_changed(queue))
        return get(event, name, size_b, value, value_b);
    uint64_t stamp;
    const int32_t rc = get(event, name, sizeof stamp, &stamp, NULL);
    return rc ? rc : AS_CL_PROFILING_NOT_AVAILABLE;
}
