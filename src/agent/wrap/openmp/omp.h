/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the wrappers of OpenMP share. Two ways lead to the same records: routines of libgomp are
 * wrapped (GOMP_*, called by code of gcc), LLVM's libomp tells by its tools interface (OMPT,
 * OpenMP 5.1 chapter 4). Locks and critical sections are wrapped in both.
 */
#ifndef AS_AGENT_OMP_H
#define AS_AGENT_OMP_H

#include "agent/wrap/wrapped.h"

/* ---- The runtime's ------------------------------------------------------------------------ */

/* name, version of its symbol where there is an older one */
#define AS_OMP_REALS(X)                                                                            \
    X(GOMP_parallel, NULL)                                                                         \
    X(GOMP_parallel_reductions, NULL)                                                              \
    X(GOMP_parallel_sections, NULL)                                                                \
    X(GOMP_parallel_loop_static, NULL)                                                             \
    X(GOMP_parallel_loop_dynamic, NULL)                                                            \
    X(GOMP_parallel_loop_guided, NULL)                                                             \
    X(GOMP_parallel_loop_nonmonotonic_dynamic, NULL)                                               \
    X(GOMP_parallel_loop_nonmonotonic_guided, NULL)                                                \
    X(GOMP_parallel_loop_runtime, NULL)                                                            \
    X(GOMP_parallel_loop_nonmonotonic_runtime, NULL)                                               \
    X(GOMP_parallel_loop_maybe_nonmonotonic_runtime, NULL)                                         \
    X(GOMP_barrier, NULL)                                                                          \
    X(GOMP_barrier_cancel, NULL)                                                                   \
    X(GOMP_loop_end, NULL)                                                                         \
    X(GOMP_loop_end_cancel, NULL)                                                                  \
    X(GOMP_sections_end, NULL)                                                                     \
    X(GOMP_sections_end_cancel, NULL)                                                              \
    X(GOMP_workshare_task_reduction_unregister, NULL)                                              \
    X(GOMP_single_start, NULL)                                                                     \
    X(GOMP_single_copy_start, NULL)                                                                \
    X(GOMP_single_copy_end, NULL)                                                                  \
    X(GOMP_taskwait, NULL)                                                                         \
    X(GOMP_taskwait_depend, NULL)                                                                  \
    X(GOMP_taskgroup_end, NULL)                                                                    \
    X(GOMP_task, NULL)                                                                             \
    X(GOMP_taskloop, NULL)                                                                         \
    X(GOMP_taskloop_ull, NULL)                                                                     \
    X(GOMP_critical_start, NULL)                                                                   \
    X(GOMP_critical_end, NULL)                                                                     \
    X(GOMP_critical_name_start, NULL)                                                              \
    X(GOMP_critical_name_end, NULL)                                                                \
    X(GOMP_atomic_start, NULL)                                                                     \
    X(GOMP_atomic_end, NULL)                                                                       \
    X(GOMP_ordered_start, NULL)                                                                    \
    X(GOMP_ordered_end, NULL)                                                                      \
    X(__kmpc_critical, NULL)                                                                       \
    X(__kmpc_critical_with_hint, NULL)                                                             \
    X(__kmpc_end_critical, NULL)                                                                   \
    X(__kmpc_ordered, NULL)                                                                        \
    X(__kmpc_end_ordered, NULL)                                                                    \
    X(omp_get_thread_num, NULL)                                                                    \
    X(omp_get_num_threads, NULL)                                                                   \
    X(omp_set_lock, "OMP_3.0")                                                                     \
    X(omp_test_lock, "OMP_3.0")                                                                    \
    X(omp_unset_lock, "OMP_3.0")                                                                   \
    X(omp_set_nest_lock, "OMP_3.0")                                                                \
    X(omp_test_nest_lock, "OMP_3.0")                                                               \
    X(omp_unset_nest_lock, "OMP_3.0")                                                              \
    X(omp_set_lock_, "OMP_3.0")                                                                    \
    X(omp_test_lock_, "OMP_3.0")                                                                   \
    X(omp_unset_lock_, "OMP_3.0")                                                                  \
    X(omp_set_nest_lock_, "OMP_3.0")                                                               \
    X(omp_test_nest_lock_, "OMP_3.0")                                                              \
    X(omp_unset_nest_lock_, "OMP_3.0")
#define AS_OMP_INDEX(name, version) AS_OMP_AT_##name,
enum as_omp_index { AS_OMP_REALS(AS_OMP_INDEX) AS_OMP_REALS_N };
#undef AS_OMP_INDEX

/* Looked up when it is called first: the runtime may come late. A routine that nobody has ends the
 * program with a sentence, as the loader would. */
void *as_omp_real_at(enum as_omp_index index);
void *as_omp_find(const char *symbol, const char *version);
#define AS_OMP_REAL(name) ((__typeof__(&name))as_omp_real_at(AS_OMP_AT_##name))

/* ---- What a thread is in ------------------------------------------------------------------ */

struct as_omp_self {
    uint64_t region;       /* 0: none */
    uint64_t task;         /* explicit; 0: none */
    uint64_t index;        /* in the region's team */
    uint64_t tasks, until; /* numbers that it may give */
    const void *behind;    /* the call that began the region, in its master; told by OMPT alone */
    bool in_single;        /* whose end nobody tells */
};
extern __thread struct as_omp_self as_omp_self __attribute__((tls_model("initial-exec")));

extern bool as_ompt_active; /* by OMPT: wrappers of GOMP_* record nothing */

static inline bool as_omp_records(void)
{
    return as_wrapped_hooks && !as_ompt_active;
}

/* Of a loop from `start` up or down to before `end`. */
static inline uint64_t as_omp_iterations(int64_t start, int64_t end, int64_t step)
{
    const uint64_t way =
        step > 0 ? (uint64_t)end - (uint64_t)start : (uint64_t)start - (uint64_t)end;
    const uint64_t stride = step > 0 ? (uint64_t)step : -(uint64_t)step;
    const bool goes = step > 0 ? end > start : step < 0 && start > end;
    return goes ? way / stride + (way % stride != 0) : 0;
}

void as_omp_begin_regions(void); /* the library is loaded, and wanted */
uint64_t as_omp_new_region(void);
uint64_t as_omp_new_task(void);

/* What users may leave out of traces, by these names. */
#define AS_OMP_CONSTRUCTS(X)                                                                       \
    X(WORK, "omp work")                                                                            \
    X(BARRIER, "omp barrier")                                                                      \
    X(TASK, "omp task")
#define AS_OMP_ENUM(construct, name) AS_OMP_##construct,
enum as_omp_construct { AS_OMP_CONSTRUCTS(AS_OMP_ENUM) AS_OMP_CONSTRUCTS_N };
#undef AS_OMP_ENUM
bool as_omp_leaves_out(enum as_omp_construct construct);
/* As as_wrapped_emit, where the construct is not left out; those that begin one are counted then.
 */
void as_omp_emit(enum as_omp_construct construct, unsigned kind, unsigned n, uint64_t a, uint64_t b,
                 uint64_t c);

/* In a region. `kind` is an as_trace_sync, as_trace_work. */
void as_omp_begin_sync(unsigned kind);
void as_omp_end_sync(unsigned kind);
void as_omp_begin_work(unsigned kind, uint64_t n);
void as_omp_end_work(unsigned kind);
/* Of a single construct: it ended at the latest now. */
void as_omp_end_single(void);

#endif
