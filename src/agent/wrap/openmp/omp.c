/* SPDX-License-Identifier: Apache-2.0 */
/* Where the runtime's own routines are, and what a thread of OpenMP is in; see omp.h. */
#include "agent/wrap/openmp/omp.h"

#include <dlfcn.h>
#include <unistd.h>

#include "agent/wrap/module_events.h"

__thread struct as_omp_self as_omp_self __attribute__((tls_model("initial-exec")));
bool as_ompt_active;

/* ---- The runtime's ------------------------------------------------------------------------ */

#define NAMED(name, version) {#name, version},
static const struct {
    const char *name, *version;
} names[AS_OMP_REALS_N] = {AS_OMP_REALS(NAMED)};
static void *_Atomic found[AS_OMP_REALS_N];

static void absent_routine(void)
{
    static const char text[] = "assay: an OpenMP routine was called that the loaded runtime does "
                               "not have\n";
    (void)!write(2, text, sizeof text - 1);
    _exit(127);
}

/* What the program would have found comes first; of a runtime that others do not see, any. */
void *as_omp_find(const char *symbol, const char *version)
{
    static const char *const prefixes[] = {"libgomp", "libomp.", "libomp5", "libiomp", NULL};
    struct as_loaded loaded = {.prefix = prefixes};
    void *at = as_loaded_find(&loaded, symbol, version);
    if (at)
        return at;
    as_loaded_collect(&loaded);
    return as_loaded_find(&loaded, symbol, version);
}

__attribute__((noinline, cold)) static void *find_routine(enum as_omp_index index)
{
    void *at = as_omp_find(names[index].name, names[index].version);
    if (!at)
        at = (void *)absent_routine;
    found[index] = at;
    return at;
}

void *as_omp_real_at(enum as_omp_index index)
{
    void *at = atomic_load_explicit(&found[index], memory_order_relaxed);
    return __builtin_expect(at != NULL, 1) ? at : find_routine(index);
}

__attribute__((constructor)) static void begin_openmp(void)
{
    as_wrapped_begin(AS_TRACER_OPENMP);
    if (as_wrapped_hooks)
        as_omp_begin_regions();
}

/* ---- Records ------------------------------------------------------------------------------ */

uint64_t as_omp_new_region(void)
{
    static _Atomic uint64_t regions;
    return atomic_fetch_add_explicit(&regions, 1, memory_order_relaxed) + 1;
}

/* A thread takes many numbers at once: others need not see each. */
uint64_t as_omp_new_task(void)
{
    static _Atomic uint64_t tasks;
    struct as_omp_self *self = &as_omp_self;
    if (self->tasks == self->until) {
        self->tasks = atomic_fetch_add_explicit(&tasks, 1024, memory_order_relaxed);
        self->until = self->tasks + 1024;
    }
    return ++self->tasks;
}

bool as_omp_leaves_out(enum as_omp_construct construct)
{
#define NAMED_CONSTRUCT(construct, name) name,
    static const char *const name[AS_OMP_CONSTRUCTS_N] = {AS_OMP_CONSTRUCTS(NAMED_CONSTRUCT)};
#undef NAMED_CONSTRUCT
    static _Atomic uint8_t answer[AS_OMP_CONSTRUCTS_N]; /* 0: not asked yet; 1: in, 2: out */
    uint8_t is = atomic_load_explicit(&answer[construct], memory_order_relaxed);
    if (!is) {
        is = as_wrapped_hooks && as_wrapped_hooks->leaves_out(name[construct]) ? 2 : 1;
        atomic_store_explicit(&answer[construct], is, memory_order_relaxed);
    }
    return is == 2;
}

void as_omp_emit(enum as_omp_construct construct, unsigned kind, unsigned n, uint64_t a, uint64_t b,
                 uint64_t c)
{
    const bool begins =
        kind == AS_TRACE_WORK || kind == AS_TRACE_BARRIER || kind == AS_TRACE_TASK_CREATE;
    if (!as_omp_leaves_out(construct)) {
        as_wrapped_emit(kind, n, a, b, c);
        return;
    }
    struct as_tracer_thread *t = begins ? as_wrapped_thread() : NULL;
    if (t)
        as_trace_leave_out(&t->writer);
}

void as_omp_begin_work(unsigned kind, uint64_t n)
{
    if (as_omp_self.region)
        as_omp_emit(AS_OMP_WORK, AS_TRACE_WORK, 3, as_omp_self.region, kind, n);
}

void as_omp_end_work(unsigned kind)
{
    if (as_omp_self.region)
        as_omp_emit(AS_OMP_WORK, AS_TRACE_WORK_END, 2, as_omp_self.region, kind, 0);
}

void as_omp_end_single(void)
{
    if (!as_omp_self.in_single)
        return;
    as_omp_self.in_single = false;
    as_omp_end_work(AS_TRACE_SINGLE);
}

void as_omp_begin_sync(unsigned kind)
{
    as_omp_end_single();
    if (as_omp_self.region)
        as_omp_emit(AS_OMP_BARRIER, AS_TRACE_BARRIER, 2, as_omp_self.region, kind, 0);
}

void as_omp_end_sync(unsigned kind)
{
    if (as_omp_self.region)
        as_omp_emit(AS_OMP_BARRIER, AS_TRACE_BARRIER_END, 2, as_omp_self.region, kind, 0);
}
