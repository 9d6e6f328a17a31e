/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completes the tally after all streams: assigns wait time to places, and counts the samples of
 * modules.
 */
#include <assert.h>

#include "base/alloc.h"
#include "profile/tally_read.h"

/* Min number of sampled waits that represent the waits of a thread. */
#define WAITS_ENOUGH 30
/* Max time of a switch of threads. */
#define SWITCH_NS 10000.0

struct places {
    uint64_t n;
    double ns;
};

/* Distributes the wait time of each thread over its sampled waits. Only a part of frequent waits is
 * sampled (sample/choose.c), but the time of all waits is known. */
static void spread_waits(struct as_tally *tally, struct places *seen)
{
    as_vec_foreach (&tally->sum, sum) {
        seen[sum->thread].n += sum->blocked ? sum->n : 0;
        seen[sum->thread].ns += sum->blocked ? (double)sum->time_ns : 0;
    }
    for (size_t i = 0; i < tally->thread.n; i++) {
        const double all_ns = (double)tally->thread.at[i].blocked_ns;
        /* If less than the sampled time, the rest of the sampled time was run delay. */
        const bool less = all_ns < seen[i].ns;
        const bool enough = seen[i].n >= WAITS_ENOUGH && seen[i].ns > 0;
        tally->placed_ns += less ? all_ns : seen[i].ns;
        if (!less)
            *(enough ? &tally->spread_ns : &tally->unplaced_ns) += all_ns - seen[i].ns;
        seen[i].ns = enough || less ? all_ns / seen[i].ns : 1;
    }
    as_vec_foreach (&tally->sum, sum)
        if (sum->blocked)
            sum->time_ns = (uint64_t)((double)sum->time_ns * seen[sum->thread].ns + 0.5);
}

/*
 * Adds the time of switches to the CPU time of a thread. The kernel counts a switch as CPU time of
 * the next thread. The record of its arrival comes after the switch, so this time looks like
 * waiting. A program that yields a million times loses a third of its CPU time without this.
 */
static void settle_running(struct as_tally *tally, struct as_tally_thread *thread)
{
    const double switches = (double)(thread->voluntary_n + thread->involuntary_n);
    const int64_t hidden_ns = thread->ran_ns - thread->cpu_ns;
    if (thread->cpu_ns < 0 || hidden_ns <= 0)
        return;
    /* More is CPU time from before the records, or between lost ones. */
    if ((double)hidden_ns > SWITCH_NS * switches)
        return;
    const int64_t ready_ns =
        (int64_t)((double)hidden_ns * (double)thread->involuntary_n / switches);
    const int64_t blocked_ns = hidden_ns - ready_ns;
    thread->cpu_ns += (int64_t)as_tally_add_within(&tally->cpu_ns, hidden_ns);
    thread->runnable_ns -= ready_ns < thread->runnable_ns ? ready_ns : thread->runnable_ns;
    thread->blocked_ns -= blocked_ns < thread->blocked_ns ? blocked_ns : thread->blocked_ns;
}

/*
 * Moves run delay out of the blocked time. Switch records show the run delay after a preemption.
 * The kernel's account also has the delay after a wake-up, which the records show as blocked.
 */
static void settle_queueing(struct as_tally_thread *thread)
{
    /* Delay that the account had before the records began. */
    const int64_t before_ns = thread->early_delay_ns - thread->early_runnable_ns;
    if (thread->delay_ns >= 0 && before_ns > 0)
        thread->delay_ns -= before_ns < thread->delay_ns ? before_ns : thread->delay_ns;
    const int64_t woken_ns = thread->delay_ns - thread->runnable_ns;
    if (thread->cpu_ns < 0 && thread->delay_ns < 0)
        thread->runnable_ns = -1;
    else if (thread->delay_ns >= 0 && woken_ns > 0) {
        thread->runnable_ns = thread->delay_ns;
        thread->blocked_ns -= woken_ns < thread->blocked_ns ? woken_ns : thread->blocked_ns;
    }
}

int as_tally_end(struct as_tally *tally, struct as_error *err)
{
    if (tally->levels.failed)
        return as_error_nomem(err, "what threads did over time");
    as_vec_foreach (&tally->thread, thread) {
        settle_running(tally, thread);
        settle_queueing(thread);
    }
    struct places *seen = as_calloc(tally->thread.n + 1, sizeof *seen);
    if (!seen)
        return as_error_nomem(err, "the waits of a run");
    spread_waits(tally, seen);
    as_free(seen);
    uint64_t *below = as_calloc(tally->node.n, sizeof *below);
    if (!below)
        return as_error_nomem(err, "the frames of a run");
    as_vec_foreach (&tally->sum, sum) {
        assert(sum->node < tally->node.n && sum->thread < tally->thread.n);
        if (!sum->blocked)
            below[sum->node] += sum->n;
    }
    /* Children come after their parents. A module counts where a path enters it. */
    for (size_t i = tally->node.n; i-- > 1;) {
        const struct as_tally_node *node = &tally->node.at[i];
        assert(node->parent < i && node->module < tally->module.n);
        if (!node->parent || tally->node.at[node->parent].module != node->module)
            tally->module.at[node->module].n += below[i];
        below[node->parent] += below[i];
    }
    as_free(below);
    as_vec_foreach (&tally->thread, thread) {
        struct as_tally_process *process = &tally->process.at[thread->process];
        if (thread->end_ns > process->end_ns)
            process->end_ns = thread->end_ns;
    }
    return 0;
}
