/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libgomp's explicit tasks. A task runs whenever some thread has time, with a copy of its data:
 * what we need to know of it goes with the copy, before the data, and a function of ours runs it.
 */
#include <string.h>

#include "agent/wrap/openmp/omp.h"

/* libgomp writes the part of a taskloop that a task has into the first two words of its data, and
 * reads reductions from the third. */
#define SHARED_WORDS 3u

struct task_box {
    uintptr_t shared[SHARED_WORDS];
    void (*function)(void *);
    void (*copy)(void *, void *); /* of the program's data; NULL: bytes are copied */
    void *data;                   /* what is to be copied; the original's */
    uint64_t region;              /* it may run when the thread's part of that is done */
    uint64_t task;                /* 0: each gets its number when it begins (taskloop) */
    const void *behind;
    long data_b, offset_b; /* of the data within the copy */
    bool is_loop;
};

/* Larger data is passed on as it is: the box lies on the caller's stack. */
#define TASK_DATA_MOST_B (64l << 10)

static void run_task(void *argument)
{
    const struct task_box *box = argument;
    void *data = (char *)argument + box->offset_b;
    struct as_omp_self *self = &as_omp_self;
    const uint64_t outer = self->task, region = self->region;
    const bool in_single = self->in_single;
    const uint64_t task = box->task ? box->task : as_omp_new_task();
    self->region = box->region;
    if (box->is_loop) {
        memcpy(data, box->shared, 2 * sizeof *box->shared);
        as_omp_emit(AS_OMP_TASK, AS_TRACE_TASK_CREATE, 3, task, outer,
                    (uint64_t)(uintptr_t)box->behind);
    }
    self->task = task;
    self->in_single = false;
    as_omp_emit(AS_OMP_TASK, AS_TRACE_TASK_BEGIN, 1, task, 0, 0);
    box->function(data);
    as_omp_end_single();
    as_omp_emit(AS_OMP_TASK, AS_TRACE_TASK_END, 2, task, 1, 0);
    self->region = region;
    self->task = outer;
    self->in_single = in_single;
}

/* Where the program copies its data itself. */
static void copy_task(void *to, void *from)
{
    struct task_box *box = to;
    memcpy(box, from, sizeof *box);
    box->copy((char *)to + box->offset_b, box->data);
}

static long offset_of_data(long align_b)
{
    const long align = align_b > 16 ? align_b : 16;
    return ((long)sizeof(struct task_box) + align - 1) / align * align;
}

static bool is_wrappable(long data_b, long align_b)
{
    return as_omp_records() && as_omp_self.region && data_b >= 0 && data_b <= TASK_DATA_MOST_B &&
           align_b <= 4096 && (align_b & (align_b - 1)) == 0;
}

/* `room` has the box and the data behind it. */
static void fill_box(char *room, const struct task_box *box)
{
    memcpy(room, box, sizeof *box);
    if (!box->copy && box->data_b)
        memcpy(room + box->offset_b, box->data, (size_t)box->data_b);
}

static char *aligned_to(char *at, long align_b)
{
    const uintptr_t mask = (uintptr_t)(align_b > 16 ? align_b : 16) - 1;
    return (char *)(((uintptr_t)at + mask) & ~mask);
}

#define ROOM_B(box, align_b)                                                                       \
    ((size_t)((box).offset_b + (box).data_b + ((align_b) > 16 ? (align_b) : 16)))
#define ALIGN_OF(align_b) ((align_b) > 16 ? (align_b) : 16)

/* Flags of GOMP_task (gcc's gomp-constants.h). */
#define TASK_DETACH 0x2000u

/* The last argument is there since gcc 11; of an older program it is not looked at. */
AS_WRAPPER void GOMP_task(void (*function)(void *), void *data, void (*copy)(void *, void *),
                          long data_b, long align_b, bool deferred, unsigned flags, void **depend,
                          int priority, void *detach);
AS_WRAPPER void GOMP_task(void (*function)(void *), void *data, void (*copy)(void *, void *),
                          long data_b, long align_b, bool deferred, unsigned flags, void **depend,
                          int priority, void *detach)
{
    /* The handle of an event is written into the data of a task that can be detached. */
    if (!is_wrappable(data_b, align_b) || (flags & TASK_DETACH)) {
        AS_OMP_REAL(GOMP_task)
        (function, data, copy, data_b, align_b, deferred, flags, depend, priority, detach);
        return;
    }
    const struct task_box box = {.function = function,
                                 .copy = copy,
                                 .data = data,
                                 .region = as_omp_self.region,
                                 .task = as_omp_new_task(),
                                 .data_b = data_b,
                                 .offset_b = offset_of_data(align_b)};
    char *room = aligned_to(__builtin_alloca(ROOM_B(box, align_b)), align_b);
    fill_box(room, &box);
    as_omp_emit(AS_OMP_TASK, AS_TRACE_TASK_CREATE, 3, box.task, as_omp_self.task,
                (uint64_t)(uintptr_t)__builtin_return_address(0));
    AS_OMP_REAL(GOMP_task)
    (run_task, room, copy ? copy_task : NULL, box.offset_b + data_b, ALIGN_OF(align_b), deferred,
     flags, depend, priority, detach);
}

/* Its tasks are met when they begin; the group that it is within is waited for as it ends. */
#define TASKLOOP(name, number)                                                                     \
    AS_WRAPPER void name(void (*function)(void *), void *data, void (*copy)(void *, void *),       \
                         long data_b, long align_b, unsigned flags, unsigned long tasks,           \
                         int priority, number start, number end, number step);                     \
    AS_WRAPPER void name(void (*function)(void *), void *data, void (*copy)(void *, void *),       \
                         long data_b, long align_b, unsigned flags, unsigned long tasks,           \
                         int priority, number start, number end, number step)                      \
    {                                                                                              \
        struct task_box box = {.function = function,                                               \
                               .copy = copy,                                                       \
                               .data = data,                                                       \
                               .region = as_omp_self.region,                                       \
                               .behind = __builtin_return_address(0),                              \
                               .data_b = data_b,                                                   \
                               .offset_b = offset_of_data(align_b),                                \
                               .is_loop = true};                                                   \
        if (!is_wrappable(data_b, align_b) || data_b < (long)(2 * sizeof *box.shared)) {           \
            AS_OMP_REAL(name)                                                                      \
            (function, data, copy, data_b, align_b, flags, tasks, priority, start, end, step);     \
            return;                                                                                \
        }                                                                                          \
        memcpy(box.shared, data,                                                                   \
               data_b < (long)sizeof box.shared ? (size_t)data_b : sizeof box.shared);             \
        char *room = aligned_to(__builtin_alloca(ROOM_B(box, align_b)), align_b);                  \
        fill_box(room, &box);                                                                      \
        as_omp_begin_sync(AS_TRACE_TASKGROUP);                                                     \
        AS_OMP_REAL(name)                                                                          \
        (run_task, room, copy ? copy_task : NULL, box.offset_b + data_b, ALIGN_OF(align_b), flags, \
         tasks, priority, start, end, step);                                                       \
        as_omp_end_sync(AS_TRACE_TASKGROUP);                                                       \
    }

TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)
