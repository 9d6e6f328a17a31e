/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/omp/tasks.h"

#include "base/error.h"

#define GAP_MOST (1u << 20) /* numbers are assigned in bundles: a larger gap is damage */

/* A creator of tasks: a task, or the code of a thread outside of tasks. */
struct task_end {
    int64_t ns;        /* INT64_MIN: none */
    uint32_t location; /* trace thread that ran it */
};
struct task_maker {
    uint64_t key, parent;    /* parent: creator of this task; 0: not a task, or unknown */
    struct task_end own;     /* the last end of its tasks */
    struct task_end of_them; /* the last end of these and of all their descendants: a task group */
};
#define DEPTH_MOST 10000 /* depth of nested creation; more is damage */

struct task_thread {
    AS_VEC(uint64_t) running; /* innermost last */
    AS_VEC(int64_t)
    wait; /* of each open wait: its begin, or the end of the last task run in
           * it */
};

struct as_tasks {
    AS_VEC(struct task_thread) thread; /* by trace thread */
    struct task_process {
        AS_VEC(uint64_t) maker; /* by number of the task: key of its creator; 0: unknown */
    } * process;
    AS_VEC(struct task_maker) maker;
    struct as_index makers;
};

int as_tasks_new(struct as_trace_walk *walk)
{
    struct as_tasks *t = walk->tasks = as_calloc(1, sizeof *walk->tasks);
    if (!t)
        return AS_ERR_NOMEM;
    t->process = as_calloc(walk->trace->process.n + 1, sizeof *t->process);
    if (!t->process)
        return AS_ERR_NOMEM;
    for (size_t i = 0; i < walk->out->location.n; i++)
        AS_TRY(as_vec_push(&t->thread, (struct task_thread){0}));
    return 0;
}

void as_tasks_free(struct as_trace_walk *walk)
{
    struct as_tasks *t = walk->tasks;
    if (!t)
        return;
    as_vec_foreach (&t->thread, thread) {
        as_vec_fini(&thread->running);
        as_vec_fini(&thread->wait);
    }
    for (size_t p = 0; t->process && p < walk->trace->process.n; p++)
        as_vec_fini(&t->process[p].maker);
    as_free(t->process);
    as_vec_fini(&t->thread);
    as_vec_fini(&t->maker);
    as_index_fini(&t->makers);
    as_free(t);
    walk->tasks = NULL;
}

/* Returns the key of the creator of the task that the thread runs; 0: unknown. */
static uint64_t key_of_maker(const struct as_tasks *t, const struct task_thread *thread,
                             const struct as_walker *walker)
{
    const struct task_process *process = &t->process[walker->process];
    const uint64_t task = thread->running.n ? thread->running.at[thread->running.n - 1] : 0;
    return task < process->maker.n ? process->maker.at[task] : 0;
}

/* Returns the key of the running task, or of the thread outside of tasks, as a creator. */
static uint64_t key_of_now(const struct task_thread *thread, const struct as_walker *walker)
{
    if (thread->running.n)
        return as_hash_mix(walker->process + 1u, thread->running.at[thread->running.n - 1]) | 1;
    return as_hash_mix(UINT32_MAX, walker->location) | 1;
}

static struct task_maker *find_maker(struct as_tasks *t, uint64_t key)
{
    uint32_t at;
    for (struct as_probe probe = as_index_probe(&t->makers, key);
         (at = as_index_next(&t->makers, &probe)) != AS_INDEX_NONE;)
        if (t->maker.at[at].key == key)
            return &t->maker.at[at];
    return NULL;
}

static int make_task(struct as_tasks *t, const struct as_walker *walker, uint64_t task)
{
    struct task_process *process = &t->process[walker->process];
    const struct task_thread *thread = &t->thread.at[walker->location];
    const uint64_t key = key_of_now(thread, walker);
    if (task > process->maker.n + GAP_MOST)
        return 0;
    while (process->maker.n <= task)
        AS_TRY(as_vec_push(&process->maker, 0));
    process->maker.at[task] = key;
    if (find_maker(t, key))
        return 0;
    const struct task_end none = {.ns = INT64_MIN};
    AS_TRY(as_vec_push(&t->maker, (struct task_maker){.key = key,
                                                      .parent = key_of_maker(t, thread, walker),
                                                      .own = none,
                                                      .of_them = none}));
    return as_index_add(&t->makers, key, (uint32_t)(t->maker.n - 1));
}

static void end_of_task(struct as_tasks *t, const struct as_walker *walker, uint64_t task,
                        bool is_complete, int64_t ns)
{
    struct task_process *process = &t->process[walker->process];
    struct task_thread *thread = &t->thread.at[walker->location];
    if (thread->running.n)
        thread->running.n--;
    if (thread->wait.n)
        thread->wait.at[thread->wait.n - 1] = ns;
    if (!is_complete || task >= process->maker.n || process->maker.at[task] == 0)
        return;
    const struct task_end end = {ns, walker->location};
    struct task_maker *maker = find_maker(t, process->maker.at[task]);
    if (maker && ns > maker->own.ns)
        maker->own = end;
    for (int i = 0; maker && ns > maker->of_them.ns && i < DEPTH_MOST; i++) {
        maker->of_them = end;
        maker = maker->parent ? find_maker(t, maker->parent) : NULL;
    }
}

/* Returns the end that a wait depends on. A group also counts earlier tasks of the creator. Such a
 * task ends before the last task of the group, or the group would not be complete. */
static const struct task_end *awaited_end(const struct task_maker *maker, int64_t kind)
{
    return kind == AS_TRACE_TASKGROUP ? &maker->of_them : &maker->own;
}

static int end_of_wait(struct as_trace_walk *walk, const struct as_walker *walker,
                       const struct as_trace_event *event)
{
    struct as_tasks *t = walk->tasks;
    struct task_thread *thread = &t->thread.at[walker->location];
    uint32_t site;
    if (thread->wait.n == 0)
        return 0;
    const int64_t since_ns = thread->wait.at[--thread->wait.n];
    const struct task_maker *maker = find_maker(t, key_of_now(thread, walker));
    const struct task_end *end = maker ? awaited_end(maker, event->lock.kind) : NULL;
    if (!end || end->location == walker->location || end->ns <= since_ns)
        return 0;
    AS_TRY(as_teams_site(walk, walker, event->lock.address, &site));
    return as_vec_push(&walk->out->waits.wait, (struct as_wait){.kind = AS_WAIT_TASKS,
                                                                .location = walker->location,
                                                                .site = site,
                                                                .cause = end->location,
                                                                .cause_site = site,
                                                                .begin_ns = since_ns,
                                                                .end_ns = end->ns,
                                                                .cause_ns = end->ns});
}

int as_tasks_event(struct as_trace_walk *walk, struct as_walker *walker,
                   const struct as_trace_event *event)
{
    struct task_thread *thread = &walk->tasks->thread.at[walker->location];
    const bool is_wait =
        event->lock.kind == AS_TRACE_TASKWAIT || event->lock.kind == AS_TRACE_TASKGROUP;
    switch (event->kind) {
    case AS_TRACE_TASK_CREATE:
        return make_task(walk->tasks, walker, (uint64_t)event->field[0]);
    case AS_TRACE_TASK_BEGIN:
        return as_vec_push(&thread->running, (uint64_t)event->field[0]);
    case AS_TRACE_TASK_END:
        end_of_task(walk->tasks, walker, (uint64_t)event->field[0], event->field[1] != 0,
                    event->raw_ns);
        return 0;
    case AS_TRACE_BARRIER:
        return is_wait ? as_vec_push(&thread->wait, event->raw_ns) : 0;
    case AS_TRACE_BARRIER_END:
        return is_wait ? end_of_wait(walk, walker, event) : 0;
    default:
        return 0;
    }
}
