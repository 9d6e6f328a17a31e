/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enqueues commands of OpenCL and logs what it enqueued, as lines of "log": with stamps that it
 * reads itself (queues `stamped`), and what it sees of queues and events. Handles are those of the
 * library that it is linked with, or of libOpenCL.so.1 by dlopen (-DBY_DLOPEN).
 * usage: opencl LOG [count N]
 *   command QUEUE NAME BYTES QUEUED SUBMITTED BEGIN END    in the order of enqueuing; 0: no stamps
 *   call NAME BEGIN END                                    CLOCK_MONOTONIC_RAW around it
 *   seen WORD NUMBER                                       is the same without a tracer
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef BY_DLOPEN
#include <dlfcn.h>
static void *library;
#define CL(name) ((__typeof__(&name))dlsym(library, #name))
#else
#define CL(name) name
#endif

#define N      4096
#define ROUNDS 20

static const char source[] =
    "kernel void scale(global float *a, float by) { a[get_global_id(0)] *= by; }\n"
    "kernel void work(global float *a, int n) {\n"
    "  float x = a[get_global_id(0)];\n"
    "  for (int i = 0; i < n; i++) x = x * 1.0001f + 0.5f;\n"
    "  a[get_global_id(0)] = x;\n"
    "}\n";

static FILE *out;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* CPU time of the thread: what a call costs, on a busy host as well. */
static int64_t own_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* When the next call begins. */
static int64_t began_ns;
static void begin(void)
{
    began_ns = now_ns();
}

static void end(const char *name)
{
    const int64_t ended_ns = now_ns();
    fprintf(out, "call %s %" PRId64 " %" PRId64 "\n", name, began_ns, ended_ns);
}

static void must(cl_int rc, const char *what)
{
    if (rc == CL_SUCCESS)
        return;
    fprintf(stderr, "%s: %d\n", what, rc);
    exit(1);
}

static void seen(const char *word, int64_t value)
{
    fprintf(out, "seen %s %" PRId64 "\n", word, value);
}

struct command {
    int queue;
    const char *name;
    size_t bytes;
    cl_event event; /* NULL: without stamps */
};
static struct command command[16384];
static int command_n;

static cl_event *enqueued(int queue, const char *name, size_t bytes, int is_stamped)
{
    struct command *c = &command[command_n++];
    *c = (struct command){queue, name, bytes, NULL};
    return is_stamped ? &c->event : NULL;
}

static void log_commands(void)
{
    for (struct command *c = command; c < command + command_n; c++) {
        cl_ulong stamp[4] = {0};
        for (int i = 0; i < 4 && c->event; i++)
            must(CL(clGetEventProfilingInfo)(c->event, CL_PROFILING_COMMAND_QUEUED + (cl_uint)i,
                                             sizeof *stamp, &stamp[i], NULL),
                 "profiling");
        fprintf(out, "command %d %s %zu %lu %lu %lu %lu\n", c->queue, c->name, c->bytes,
                (unsigned long)stamp[0], (unsigned long)stamp[1], (unsigned long)stamp[2],
                (unsigned long)stamp[3]);
        if (c->event)
            CL(clReleaseEvent)(c->event);
    }
}

static void CL_CALLBACK on_done(cl_event event, cl_int status, void *count)
{
    (void)event;
    (void)status;
    __atomic_fetch_add((int *)count, 1, __ATOMIC_SEQ_CST);
}

static cl_context context;
static cl_device_id device;
static cl_kernel scale, work;
static cl_mem a, b;
static float host[N];

/* Logs all that a program can see of queues and events. */
static void look(void)
{
    cl_int rc;
    cl_command_queue_properties bits = 99;
    cl_uint references = 99;
    cl_ulong stamp = 0;
    cl_event event, user;
    int called = 0;
    cl_command_queue plain = CL(clCreateCommandQueue)(context, device, 0, &rc);
    must(rc, "plain queue");
    must(CL(clGetCommandQueueInfo)(plain, CL_QUEUE_PROPERTIES, sizeof bits, &bits, NULL), "bits");
    seen("bits", (int64_t)bits);
    const cl_queue_properties asked[] = {CL_QUEUE_PROPERTIES,
                                         CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    cl_command_queue mixed = CL(clCreateCommandQueueWithProperties)(context, device, asked, &rc);
    must(rc, "mixed queue");
    cl_queue_properties got[8] = {0};
    size_t got_b = 99;
    rc = CL(clGetCommandQueueInfo)(mixed, CL_QUEUE_PROPERTIES_ARRAY, sizeof got, got, &got_b);
    seen("array", rc);
    seen("array bytes", (int64_t)got_b);
    seen("array value", (int64_t)got[1]);
    seen("array short", CL(clGetCommandQueueInfo)(mixed, CL_QUEUE_PROPERTIES_ARRAY, 8, got, NULL));
    must(CL(clGetCommandQueueInfo)(mixed, CL_QUEUE_PROPERTIES, sizeof bits, &bits, NULL), "bits");
    seen("mixed bits", (int64_t)bits);

    user = CL(clCreateUserEvent)(context, &rc);
    must(rc, "user event");
    const float by = 2;
    must(CL(clEnqueueWriteBuffer)(plain, a, CL_FALSE, 0, sizeof host, host, 1, &user,
                                  enqueued(0, "clEnqueueWriteBuffer", sizeof host, 0) ? NULL
                                                                                      : &event),
         "write");
    must(CL(clGetEventInfo)(event, CL_EVENT_REFERENCE_COUNT, sizeof references, &references, NULL),
         "references");
    seen("references", references);
    must(CL(clRetainEvent)(event), "retain");
    must(CL(clGetEventInfo)(event, CL_EVENT_REFERENCE_COUNT, sizeof references, &references, NULL),
         "references");
    seen("references retained", references);
    must(CL(clReleaseEvent)(event), "release");
    must(CL(clSetEventCallback)(event, CL_COMPLETE, on_done, &called), "callback");
    must(CL(clSetUserEventStatus)(user, CL_COMPLETE), "user event");
    must(CL(clWaitForEvents)(1, &event), "wait");
    must(CL(clFinish)(plain), "finish");
    for (int i = 0; i < 2000 && !__atomic_load_n(&called, __ATOMIC_SEQ_CST); i++)
        usleep(1000);
    seen("callbacks", called);
    seen("stamp", CL(clGetEventProfilingInfo)(event, CL_PROFILING_COMMAND_START, sizeof stamp,
                                              &stamp, NULL));
    seen("stamp short",
         CL(clGetEventProfilingInfo)(event, CL_PROFILING_COMMAND_START, 4, &stamp, NULL));
    must(CL(clReleaseEvent)(event), "release");
    must(CL(clReleaseEvent)(user), "release");
    must(CL(clGetCommandQueueInfo)(plain, CL_QUEUE_REFERENCE_COUNT, sizeof references, &references,
                                   NULL),
         "queue references");
    seen("queue references", references);

    /* Errors are the program's own. */
    seen("no queue", CL(clFinish)(NULL));
    seen("wrong dimension",
         CL(clEnqueueNDRangeKernel)(plain, scale, 9, NULL, (size_t[]){N}, NULL, 0, NULL, NULL));
    seen("out of range",
         CL(clEnqueueReadBuffer)(plain, a, CL_TRUE, sizeof host, sizeof host, host, 0, NULL, NULL));
    seen("no events", CL(clWaitForEvents)(0, NULL));
    CL(clCreateCommandQueue)(context, device, 1u << 30, &rc);
    seen("wrong bits", rc);
    CL(clCreateCommandQueueWithProperties)(context, device, (cl_queue_properties[]){77, 1, 0}, &rc);
    seen("wrong property", rc);

    /* Out of order, behind a user's event. */
    user = CL(clCreateUserEvent)(context, &rc);
    must(CL(clSetKernelArg)(scale, 0, sizeof b, &b), "argument");
    must(CL(clSetKernelArg)(scale, 1, sizeof by, &by), "argument");
    enqueued(1, "scale", 0, 0);
    must(CL(clEnqueueNDRangeKernel)(mixed, scale, 1, NULL, (size_t[]){N}, NULL, 1, &user, NULL),
         "kernel");
    enqueued(1, "scale", 0, 0);
    must(CL(clEnqueueNDRangeKernel)(mixed, scale, 1, NULL, (size_t[]){N}, NULL, 0, NULL, &event),
         "kernel");
    must(CL(clWaitForEvents)(1, &event), "wait");
    must(CL(clSetUserEventStatus)(user, CL_COMPLETE), "user event");
    must(CL(clFinish)(mixed), "finish");
    CL(clReleaseEvent)(event);
    CL(clReleaseEvent)(user);
    must(CL(clReleaseCommandQueue)(mixed), "release");
    must(CL(clReleaseCommandQueue)(plain), "release");
}

/* Enqueues commands with stamps, which the program reads. */
static void run_stamped(void)
{
    cl_int rc;
    const cl_queue_properties asked[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    cl_command_queue queue = CL(clCreateCommandQueueWithProperties)(context, device, asked, &rc);
    must(rc, "queue");
    const int times = 2000;
    must(CL(clSetKernelArg)(work, 0, sizeof a, &a), "argument");
    must(CL(clSetKernelArg)(work, 1, sizeof times, &times), "argument");
    for (int i = 0; i < ROUNDS; i++) {
        must(CL(clEnqueueWriteBuffer)(queue, a, CL_FALSE, 0, sizeof host, host, 0, NULL,
                                      enqueued(2, "clEnqueueWriteBuffer", sizeof host, 1)),
             "write");
        must(CL(clEnqueueNDRangeKernel)(queue, work, 1, NULL, (size_t[]){N}, NULL, 0, NULL,
                                        enqueued(2, "work", 0, 1)),
             "kernel");
        const size_t part = sizeof host / (size_t)(1 + i % 4);
        must(CL(clEnqueueCopyBuffer)(queue, a, b, 0, 0, part, 0, NULL,
                                     enqueued(2, "clEnqueueCopyBuffer", part, 1)),
             "copy");
        cl_event *event = enqueued(2, "clEnqueueReadBuffer", part, 1);
        begin();
        must(CL(clEnqueueReadBuffer)(queue, b, CL_TRUE, 0, part, host, 0, NULL, event), "read");
        end("clEnqueueReadBuffer");
        usleep(2000); /* the queue is idle */
    }
    const float zero = 0;
    must(CL(clEnqueueFillBuffer)(queue, b, &zero, sizeof zero, 0, sizeof host, 0, NULL,
                                 enqueued(2, "clEnqueueFillBuffer", sizeof host, 1)),
         "fill");
    begin();
    must(CL(clFinish)(queue), "finish");
    end("clFinish");
    must(CL(clReleaseCommandQueue)(queue), "release");
}

int main(int argc, char **argv)
{
    cl_platform_id platform[8];
    cl_uint platforms_n = 0;
    cl_int rc;
    out = fopen(argv[1], "w");
#ifdef BY_DLOPEN
    library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return 77;
#endif
    if (argc < 2 || !out)
        return 2;
    if (CL(clGetPlatformIDs)(8, platform, &platforms_n) != CL_SUCCESS || platforms_n == 0)
        return 77;
    seen("platforms", platforms_n);
    if (CL(clGetDeviceIDs)(platform[platforms_n - 1], CL_DEVICE_TYPE_ALL, 1, &device, NULL) !=
        CL_SUCCESS)
        return 77;
    context = CL(clCreateContext)(NULL, 1, &device, NULL, NULL, &rc);
    must(rc, "context");
    const char *text = source;
    cl_program program = CL(clCreateProgramWithSource)(context, 1, &text, NULL, &rc);
    must(rc, "program");
    begin();
    must(CL(clBuildProgram)(program, 1, &device, "", NULL, NULL), "build");
    end("clBuildProgram");
    scale = CL(clCreateKernel)(program, "scale", &rc);
    must(rc, "kernel");
    work = CL(clCreateKernel)(program, "work", &rc);
    must(rc, "kernel");
    a = CL(clCreateBuffer)(context, CL_MEM_READ_WRITE, sizeof host, NULL, &rc);
    must(rc, "buffer");
    b = CL(clCreateBuffer)(context, CL_MEM_READ_WRITE, sizeof host, NULL, &rc);
    must(rc, "buffer");
    if (argc == 4 && strcmp(argv[2], "count") == 0) { /* the cost of a call */
        cl_command_queue queue = CL(clCreateCommandQueue)(context, device, 0, &rc);
        const int n = atoi(argv[3]);
        const float by = 1;
        must(CL(clSetKernelArg)(scale, 0, sizeof b, &b), "argument");
        const int64_t from_ns = own_ns();
        for (int i = 0; i < n; i++)
            must(CL(clSetKernelArg)(scale, 1, sizeof by, &by), "argument");
        const int64_t middle_ns = own_ns();
        for (int i = 0; i < n; i++) {
            must(CL(clEnqueueNDRangeKernel)(queue, scale, 1, NULL, (size_t[]){64}, NULL, 0, NULL,
                                            NULL),
                 "kernel");
            if (i % 100 == 99)
                must(CL(clFinish)(queue), "finish");
        }
        printf("%.1f %.1f\n", (double)(middle_ns - from_ns) / n,
               (double)(own_ns() - middle_ns) / n);
        return 0;
    }
    look();
    run_stamped();
    log_commands();
    CL(clReleaseMemObject)(a);
    CL(clReleaseMemObject)(b);
    CL(clReleaseKernel)(scale);
    CL(clReleaseKernel)(work);
    CL(clReleaseProgram)(program);
    CL(clReleaseContext)(context);
    fclose(out);
    return 0;
}
