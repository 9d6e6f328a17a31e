/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a runtime with a tools interface tells of itself: LLVM's libomp, and others that follow
 * OpenMP 5.1, chapter 4 (OMPT). The few declarations that are needed stand here as the standard has
 * them; no header of a runtime is. A thread's part of a region ends where it comes to the barrier
 * behind the region: for workers the runtime tells the end of that barrier only when they are
 * wanted again.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "agent/wrap/openmp/omp.h"

/* ---- The interface ------------------------------------------------------------------------ */

union ompt_data {
    uint64_t value;
    void *ptr;
};

enum ompt_event {
    OMPT_PARALLEL_BEGIN = 3,
    OMPT_PARALLEL_END = 4,
    OMPT_TASK_CREATE = 5,
    OMPT_TASK_SCHEDULE = 6,
    OMPT_IMPLICIT_TASK = 7,
    OMPT_SYNC_WAIT = 16,
    OMPT_WORK = 20,
    OMPT_SYNC_REGION = 23
};
enum { OMPT_BEGIN = 1, OMPT_END = 2 };
enum ompt_sync {
    SYNC_BARRIER = 1,
    SYNC_IMPLICIT = 2,
    SYNC_EXPLICIT = 3,
    SYNC_IMPLEMENTATION = 4,
    SYNC_TASKWAIT = 5,
    SYNC_TASKGROUP = 6,
    SYNC_REDUCTION = 7,
    SYNC_WORKSHARE = 8,
    SYNC_PARALLEL = 9,
    SYNC_TEAMS = 10
};
enum ompt_work {
    OMPT_LOOP = 1,
    OMPT_SECTIONS = 2,
    OMPT_SINGLE = 3,
    OMPT_SINGLE_OF_OTHER = 4,
    OMPT_TASKLOOP = 7
};
enum { OMPT_INITIAL_TASK = 1, OMPT_EXPLICIT_TASK = 4 };
enum { TASK_COMPLETE = 1, TASK_SWITCHED = 7 };

typedef void ompt_any(void);
typedef ompt_any *ompt_lookup(const char *name);
typedef int ompt_set(int event, ompt_any *callback);

struct ompt_tool {
    int (*initialize)(ompt_lookup *lookup, int device, union ompt_data *own);
    void (*finalize)(union ompt_data *own);
    union ompt_data own;
};

/* ---- What it tells ------------------------------------------------------------------------ */

#define EXPLICIT_BIT (1ull << 63) /* of what we keep with a task: its number; else none */

/* Regions of one thread within another: what a thread is in is kept by depth. */
#define DEPTH_MOST 16u
static __thread struct {
    struct as_omp_self outer[DEPTH_MOST];
    unsigned n;
    bool has_ended;    /* its part of the innermost */
    const void *begun; /* behind the call that begins a region now */
} nest __attribute__((tls_model("initial-exec")));

static void on_parallel_begin(union ompt_data *by, const void *frame, union ompt_data *region,
                              unsigned asked, int flags, const void *behind)
{
    (void)by;
    (void)frame;
    (void)flags;
    region->value = as_omp_new_region();
    nest.begun = behind;
    as_wrapped_emit(AS_TRACE_PARALLEL, 3, region->value, asked,
                    as_wrapped_place(behind, __builtin_frame_address(0)));
}

static void on_parallel_end(union ompt_data *region, union ompt_data *by, int flags,
                            const void *behind)
{
    (void)by;
    (void)flags;
    (void)behind;
    if (region)
        as_wrapped_emit(AS_TRACE_PARALLEL_END, 1, region->value, 0, 0);
}

static void end_part(void)
{
    if (nest.has_ended || !as_omp_self.region)
        return;
    nest.has_ended = true;
    as_wrapped_emit(AS_TRACE_IMPLICIT_END, 2, as_omp_self.region, as_omp_self.index, 0);
}

static void begin_part(uint64_t region, uint64_t index, uint64_t threads)
{
    if (nest.n < DEPTH_MOST)
        nest.outer[nest.n] = as_omp_self;
    nest.n++;
    nest.has_ended = false;
    as_omp_self.region = region;
    as_omp_self.index = index;
    as_omp_self.task = 0;
    as_omp_self.behind = index == 0 ? nest.begun : NULL;
    as_wrapped_emit(AS_TRACE_IMPLICIT, 3, region, index, threads);
}

/* Workers are told of this end when the next region begins. */
static void leave_part(void)
{
    end_part();
    if (nest.n && --nest.n < DEPTH_MOST) {
        as_omp_self.region = nest.outer[nest.n].region;
        as_omp_self.index = nest.outer[nest.n].index;
        as_omp_self.task = nest.outer[nest.n].task;
        as_omp_self.behind = nest.outer[nest.n].behind;
    }
    nest.has_ended = false;
}

static void on_implicit_task(int endpoint, union ompt_data *region, union ompt_data *task,
                             unsigned threads, unsigned index, int flags)
{
    if (flags & OMPT_INITIAL_TASK)
        return;
    if (endpoint == OMPT_BEGIN) {
        task->value = 0;
        begin_part(region ? region->value : 0, index, threads);
    } else {
        leave_part();
    }
}

/* Before OpenMP 5.1 it is one of the implicit barriers: that of workers has no place, that of the
 * master the region's. */
static bool is_end_of_region(int kind, const void *behind)
{
    return kind == SYNC_PARALLEL || (kind == SYNC_IMPLICIT && behind == as_omp_self.behind);
}

static void pass_sync(int endpoint, unsigned as)
{
    if (endpoint == OMPT_BEGIN)
        as_omp_begin_sync(as);
    else
        as_omp_end_sync(as);
}

static void on_sync_region(int kind, int endpoint, union ompt_data *region, union ompt_data *task,
                           const void *behind)
{
    (void)region;
    (void)task;
    if (is_end_of_region(kind, behind)) {
        if (endpoint == OMPT_BEGIN)
            end_part();
        return;
    }
    const bool is_done = nest.has_ended && !as_omp_self.task;
    if (kind == SYNC_REDUCTION || kind == SYNC_TEAMS || kind == SYNC_TASKGROUP || is_done)
        return;
    pass_sync(endpoint, kind == SYNC_TASKWAIT   ? AS_TRACE_TASKWAIT
                        : kind == SYNC_EXPLICIT ? AS_TRACE_EXPLICIT
                                                : AS_TRACE_IMPLIED);
}

/* A group of tasks is told from its beginning; what counts is the waiting at its end. */
static void on_sync_region_wait(int kind, int endpoint, union ompt_data *region,
                                union ompt_data *task, const void *behind)
{
    (void)region;
    (void)task;
    (void)behind;
    if (kind == SYNC_TASKGROUP)
        pass_sync(endpoint, AS_TRACE_TASKGROUP);
}

static void on_work(int kind, int endpoint, union ompt_data *region, union ompt_data *task,
                    uint64_t n, const void *behind)
{
    static const uint8_t known[] = {[OMPT_LOOP] = AS_TRACE_LOOP + 1,
                                    [OMPT_SECTIONS] = AS_TRACE_SECTIONS + 1,
                                    [OMPT_SINGLE] = AS_TRACE_SINGLE + 1,
                                    [OMPT_TASKLOOP] = AS_TRACE_TASKLOOP + 1};
    (void)region;
    (void)task;
    (void)behind;
    if (kind < 0 || (size_t)kind >= sizeof known || !known[kind])
        return;
    if (endpoint == OMPT_BEGIN)
        as_omp_begin_work(known[kind] - 1u, n);
    else
        as_omp_end_work(known[kind] - 1u);
}

static void on_task_create(union ompt_data *by, const void *frame, union ompt_data *task, int flags,
                           int has_dependences, const void *behind)
{
    (void)by;
    (void)frame;
    (void)has_dependences;
    if (!(flags & OMPT_EXPLICIT_TASK))
        return;
    task->value = as_omp_new_task() | EXPLICIT_BIT;
    as_omp_emit(AS_OMP_TASK, AS_TRACE_TASK_CREATE, 3, task->value & ~EXPLICIT_BIT, as_omp_self.task,
                (uint64_t)(uintptr_t)behind);
}

/* Tasks lie within each other as those that wait for others do: one that is only interrupted by
 * another goes on when that one has ended. */
static __thread struct {
    uint64_t task[DEPTH_MOST * 4];
    unsigned n;
} tasks __attribute__((tls_model("initial-exec")));

static void end_explicit(uint64_t task, bool is_complete)
{
    as_omp_emit(AS_OMP_TASK, AS_TRACE_TASK_END, 2, task, is_complete, 0);
    if (tasks.n)
        tasks.n--;
    const unsigned top = tasks.n && tasks.n <= DEPTH_MOST * 4 ? tasks.n : 0;
    as_omp_self.task = top ? tasks.task[top - 1] : 0;
}

static void begin_explicit(uint64_t task)
{
    if (as_omp_self.task == task)
        return;
    if (tasks.n < DEPTH_MOST * 4)
        tasks.task[tasks.n] = task;
    tasks.n++;
    as_omp_self.task = task;
    as_omp_emit(AS_OMP_TASK, AS_TRACE_TASK_BEGIN, 1, task, 0, 0);
}

static void on_task_schedule(union ompt_data *prior, int status, union ompt_data *next)
{
    const uint64_t from = prior ? prior->value : 0, to = next ? next->value : 0;
    const bool goes_on = status == TASK_SWITCHED;
    if ((from & EXPLICIT_BIT) && !(goes_on && (to & EXPLICIT_BIT)))
        end_explicit(from & ~EXPLICIT_BIT, status == TASK_COMPLETE);
    if (to & EXPLICIT_BIT)
        begin_explicit(to & ~EXPLICIT_BIT);
}

/* ---- Beginning ---------------------------------------------------------------------------- */

static int begin_telling(ompt_lookup *lookup, int device, union ompt_data *own)
{
    static const struct {
        int event;
        ompt_any *callback;
    } wanted[] = {{OMPT_PARALLEL_BEGIN, (ompt_any *)on_parallel_begin},
                  {OMPT_PARALLEL_END, (ompt_any *)on_parallel_end},
                  {OMPT_TASK_CREATE, (ompt_any *)on_task_create},
                  {OMPT_TASK_SCHEDULE, (ompt_any *)on_task_schedule},
                  {OMPT_IMPLICIT_TASK, (ompt_any *)on_implicit_task},
                  {OMPT_SYNC_WAIT, (ompt_any *)on_sync_region_wait},
                  {OMPT_WORK, (ompt_any *)on_work},
                  {OMPT_SYNC_REGION, (ompt_any *)on_sync_region}};
    ompt_set *set = (ompt_set *)lookup("ompt_set_callback");
    (void)device;
    (void)own;
    if (!set)
        return 0;
    as_ompt_active = true;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        set(wanted[i].event, wanted[i].callback);
    return 1;
}

static void end_telling(union ompt_data *own)
{
    (void)own;
}

/* Another tool goes first, whether the program has it or its user names it. */
AS_WRAPPER struct ompt_tool *ompt_start_tool(unsigned version, const char *runtime);
AS_WRAPPER struct ompt_tool *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct ompt_tool tool = {begin_telling, end_telling, {0}};
    __typeof__(&ompt_start_tool) other = dlsym(RTLD_NEXT, "ompt_start_tool");
    struct ompt_tool *others = other ? other(version, runtime) : NULL;
    if (others)
        return others;
    const char *named = getenv("OMP_TOOL_LIBRARIES");
    return as_wrapped_hooks && !(named && *named) ? &tool : NULL;
}
