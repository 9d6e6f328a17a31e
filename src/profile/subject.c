/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes processes with their ranks, and threads with their CPUs. Finds the threads of an OpenMP
 * runtime.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "profile/attribute.h"

static int add_process(struct as_attribution *all, uint32_t index, struct as_error *err)
{
    const struct as_tally_process *from = &all->tally.process.at[index];
    struct as_row_process row = {.run_id = all->run_id,
                                 .pid = from->pid,
                                 .exe = from->exe,
                                 .command = from->command,
                                 .host_id = all->host_id,
                                 .start_ns = from->start_ns};
    if (from->parent != AS_NONE)
        row.parent_id = all->process_id[from->parent];
    if (from->parent_pid)
        row.parent_pid = as_known(from->parent_pid);
    if (from->rank >= 0)
        row.rank = as_known(from->rank);
    if (from->end_ns >= 0)
        row.end_ns = as_known(from->end_ns);
    if (from->exit_code >= 0)
        row.exit_code = as_known(from->exit_code);
    if (from->exit_signal > 0)
        row.exit_signal = as_known(from->exit_signal);
    return as_experiment_add_process(all->experiment, &row, &all->process_id[index], err);
}

static int add_thread(struct as_attribution *all, uint32_t index, int64_t omp, struct as_error *err)
{
    const struct as_tally_thread *from = &all->tally.thread.at[index];
    struct as_row_thread row = {.process_id = all->process_id[from->process],
                                .tid = from->tid,
                                .name = from->name,
                                .start_ns = from->start_ns,
                                .lost_n = (int64_t)from->lost_n,
                                .cpu_migration_n = as_known((int64_t)from->migration_n)};
    if (omp >= 0)
        row.omp_thread = as_known(omp);
    if (from->end_ns >= 0)
        row.end_ns = as_known(from->end_ns);
    if (all->tally.stream.at[all->tally.process.at[from->process].stream].has_numa)
        row.numa_migration_n = as_known((int64_t)from->numa_migration_n);
    if (from->runnable_ns >= 0)
        row.runnable_ns = as_known(from->runnable_ns);
    if (from->cpu_ns >= 0) {
        row.cpu_ns = as_known(from->cpu_ns);
        row.blocked_ns = as_known(from->blocked_ns);
        row.switch_voluntary_n = as_known((int64_t)from->voluntary_n);
        row.switch_involuntary_n = as_known((int64_t)from->involuntary_n);
    }
    AS_TRY(as_experiment_add_thread(all->experiment, &row, &all->thread_id[index], err));
    as_vec_foreach (&from->cpu, cpu) {
        struct as_row_thread_cpu where = {
            .thread_id = all->thread_id[index], .cpu = cpu->cpu, .sample_n = cpu->n};
        if (cpu->node >= 0)
            where.numa_node = as_known(cpu->node);
        AS_TRY(as_experiment_add_thread_cpu(all->experiment, &where, err));
    }
    return 0;
}

/* ---- Threads of OpenMP --------------------------------------------------------------------- */

struct subject_member {
    uint32_t process, tid, thread;
    bool worker;
};

static int compare_members(const void *a, const void *b)
{
    const struct subject_member *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* Marks the threads of an OpenMP runtime by their stacks. Their outermost frame is in the runtime,
 * or the thread library calls the runtime, which may be stripped. */
static int find_workers(const struct as_attribution *all, struct subject_member *member)
{
    const struct as_tally *tally = &all->tally;
    const uint32_t openmp = (uint32_t)as_category_find(all->categories, "openmp");
    const uint32_t threads = (uint32_t)as_category_find(all->categories, "pthread");
    bool *below = as_calloc(tally->node.n, sizeof *below);
    if (!below)
        return AS_ERR_NOMEM;
    for (size_t i = 1; i < tally->node.n; i++) {
        const uint32_t parent = tally->node.at[i].parent;
        const uint32_t own = all->function.at[all->node[i].function].category;
        const bool starts =
            parent == 0 || all->function.at[all->node[parent].function].category == threads;
        below[i] = below[parent] || (starts && own == openmp);
    }
    as_vec_foreach (&tally->sum, sum)
        member[sum->thread].worker |= below[sum->node];
    as_free(below);
    return 0;
}

/* Assigns OpenMP thread numbers: 0 to the first thread of the process, then to workers by start. */
static int number_workers(const struct as_attribution *all, int64_t *omp)
{
    const size_t n = all->tally.thread.n;
    struct subject_member *member = as_calloc(n + 1, sizeof *member);
    if (!member)
        return AS_ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        const struct as_tally_thread *thread = &all->tally.thread.at[i];
        member[i] =
            (struct subject_member){.process = thread->process, .tid = thread->tid, .thread = i};
        omp[i] = -1;
    }
    const int rc = find_workers(all, member);
    qsort(member, n, sizeof *member, compare_members);
    for (size_t i = 0, first = 0, next = 1; i < n; i++) {
        if (member[i].process != member[first].process) {
            first = i;
            next = 1;
        }
        const struct as_tally_process *process = &all->tally.process.at[member[i].process];
        /* A cut stack of the first thread may begin in the runtime too. */
        if (!member[i].worker || member[i].tid == process->pid)
            continue;
        omp[member[i].thread] = (int64_t)next++;
        if (member[first].tid == process->pid)
            omp[member[first].thread] = 0;
    }
    as_free(member);
    return rc;
}

int as_attribute_subjects(struct as_attribution *all, struct as_error *err)
{
    const size_t process_n = all->tally.process.n, thread_n = all->tally.thread.n;
    int64_t *omp = as_calloc(thread_n + 1, sizeof *omp);
    all->process_id = as_calloc(process_n + 1, sizeof *all->process_id);
    all->thread_id = as_calloc(thread_n + 1, sizeof *all->thread_id);
    int rc = 0;
    if (!omp || !all->process_id || !all->thread_id || number_workers(all, omp) < 0)
        rc = as_error_nomem(err, "the threads of a run");
    for (uint32_t i = 0; i < process_n && rc == 0; i++)
        rc = add_process(all, i, err);
    for (uint32_t i = 0; i < thread_n && rc == 0; i++)
        rc = add_thread(all, i, omp[i], err);
    as_free(omp);
    return rc;
}
