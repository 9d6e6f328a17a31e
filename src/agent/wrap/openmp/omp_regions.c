/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libgomp's parallel regions. Each thread of the team is met where it runs its part: the function
 * that gcc made of the region is called through one of ours. The part's end is recorded when the
 * thread comes to the barrier behind the region; the region ends where its master goes on.
 */
#include "agent/wrap/openmp/omp.h"

#include <pthread.h>

/* What a part needs to know. Its first word is that of the region's data, which libgomp reads where
 * there are reductions of tasks. On the master's stack until the region has ended. */
struct omp_box {
    uintptr_t first;
    void (*function)(void *);
    void *data;
    uint64_t region;
    int work; /* as_trace_work that the region is; -1: none */
    uint64_t work_n;
};

int omp_get_thread_num(void);
int omp_get_num_threads(void);

static void run_part(void *argument)
{
    const struct omp_box box = *(struct omp_box *)argument;
    struct as_omp_self *self = &as_omp_self;
    const struct as_omp_self outer = *self;
    self->region = box.region;
    self->index = (uint64_t)AS_OMP_REAL(omp_get_thread_num)();
    self->task = 0;
    self->in_single = false;
    as_wrapped_emit(AS_TRACE_IMPLICIT, 3, box.region, self->index,
                    (uint64_t)AS_OMP_REAL(omp_get_num_threads)());
    if (box.work >= 0)
        as_omp_begin_work((unsigned)box.work, box.work_n);
    box.function(box.data);
    as_omp_end_single();
    as_wrapped_emit(AS_TRACE_IMPLICIT_END, 2, box.region, self->index, 0);
    self->region = outer.region;
    self->index = outer.index;
    self->task = outer.task;
    self->in_single = outer.in_single;
}

static _Atomic bool runtime_told; /* by this process */

/* Readers know by it that loops may be divided without a call. */
static void define_openmp_runtime(void)
{
    static const char fact[] = AS_TRACE_OPENMP_FACT "\0" AS_TRACE_LIBGOMP;
    if (!runtime_told && !atomic_exchange_explicit(&runtime_told, true, memory_order_relaxed))
        as_wrapped_hooks->define(AS_TRACE_FACT, NULL, 0, fact, NULL, 0);
}

/* The child of a fork says it again. Who it is, is not asked at each region: that would be a system
 * call, which takes longer than all else that is done there. */
static void forget_telling(void)
{
    runtime_told = false;
}

void as_omp_begin_regions(void)
{
    pthread_atfork(NULL, NULL, forget_telling);
}

static void begin_region(struct omp_box *box, void (*function)(void *), void *data, unsigned asked,
                         const void *behind, const void *frame)
{
    as_omp_end_single();
    define_openmp_runtime();
    *box = (struct omp_box){0, function, data, as_omp_new_region(), -1, 0};
    as_wrapped_emit(AS_TRACE_PARALLEL, 3, box->region, asked, as_wrapped_place(behind, frame));
}

static void end_region(const struct omp_box *box)
{
    as_wrapped_emit(AS_TRACE_PARALLEL_END, 1, box->region, 0, 0);
}

#define GOMP_FUNCTION void (*function)(void *), void *data

AS_WRAPPER void GOMP_parallel(GOMP_FUNCTION, unsigned threads, unsigned flags);
AS_WRAPPER void GOMP_parallel(GOMP_FUNCTION, unsigned threads, unsigned flags)
{
    struct omp_box box;
    if (!as_omp_records()) {
        AS_OMP_REAL(GOMP_parallel)(function, data, threads, flags);
        return;
    }
    begin_region(&box, function, data, threads, AS_CALLED);
    AS_OMP_REAL(GOMP_parallel)(run_part, &box, threads, flags);
    end_region(&box);
}

AS_WRAPPER unsigned GOMP_parallel_reductions(GOMP_FUNCTION, unsigned threads, unsigned flags);
AS_WRAPPER unsigned GOMP_parallel_reductions(GOMP_FUNCTION, unsigned threads, unsigned flags)
{
    struct omp_box box;
    if (!as_omp_records())
        return AS_OMP_REAL(GOMP_parallel_reductions)(function, data, threads, flags);
    begin_region(&box, function, data, threads, AS_CALLED);
    box.first = *(uintptr_t *)data;
    const unsigned n = AS_OMP_REAL(GOMP_parallel_reductions)(run_part, &box, threads, flags);
    end_region(&box);
    return n;
}

AS_WRAPPER void GOMP_parallel_sections(GOMP_FUNCTION, unsigned threads, unsigned n, unsigned flags);
AS_WRAPPER void GOMP_parallel_sections(GOMP_FUNCTION, unsigned threads, unsigned n, unsigned flags)
{
    struct omp_box box;
    if (!as_omp_records()) {
        AS_OMP_REAL(GOMP_parallel_sections)(function, data, threads, n, flags);
        return;
    }
    begin_region(&box, function, data, threads, AS_CALLED);
    box.work = AS_TRACE_SECTIONS;
    box.work_n = n;
    AS_OMP_REAL(GOMP_parallel_sections)(run_part, &box, threads, n, flags);
    end_region(&box);
}

/* The end of its loop is told by GOMP_loop_end_nowait (omp_work.c). */
#define PARALLEL_LOOP(name, more, ...)                                                             \
    AS_WRAPPER void name(GOMP_FUNCTION, unsigned threads, long start, long end, long step more,    \
                         unsigned flags);                                                          \
    AS_WRAPPER void name(GOMP_FUNCTION, unsigned threads, long start, long end, long step more,    \
                         unsigned flags)                                                           \
    {                                                                                              \
        struct omp_box box;                                                                        \
        if (!as_omp_records()) {                                                                   \
            AS_OMP_REAL(name)(function, data, threads, start, end, step, ##__VA_ARGS__, flags);    \
            return;                                                                                \
        }                                                                                          \
        begin_region(&box, function, data, threads, AS_CALLED);                                    \
        box.work = AS_TRACE_LOOP;                                                                  \
        box.work_n = as_omp_iterations(start, end, step);                                          \
        AS_OMP_REAL(name)(run_part, &box, threads, start, end, step, ##__VA_ARGS__, flags);        \
        end_region(&box);                                                                          \
    }
#define COMMA     ,
#define IN_CHUNKS COMMA long chunk

PARALLEL_LOOP(GOMP_parallel_loop_static, IN_CHUNKS, chunk)
PARALLEL_LOOP(GOMP_parallel_loop_dynamic, IN_CHUNKS, chunk)
PARALLEL_LOOP(GOMP_parallel_loop_guided, IN_CHUNKS, chunk)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic, IN_CHUNKS, chunk)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_guided, IN_CHUNKS, chunk)
PARALLEL_LOOP(GOMP_parallel_loop_runtime, )
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_runtime, )
PARALLEL_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime, )
