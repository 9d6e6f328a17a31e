/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which process of a run went wrong: the exit status of a launcher does not say. Of ranks every bad
 * end counts, of other processes only that by a fault. What a launcher then ends, with SIGTERM or
 * SIGKILL, is not to blame, and is counted only. Where ends come from: process_exits.h,
 * agent/core/process_exit.c.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "profile/attribute.h"

#define NAMED_MOST 4

struct crash {
    uint32_t process; /* of the tally */
    bool was_told;    /* it ended by SIGTERM or SIGKILL, which its launcher may have sent */
};
struct crashes {
    AS_VEC(struct crash) list;
    const struct as_tally *tally;
};

static bool is_fault(int number)
{
    static const int faults[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (number == faults[i])
            return true;
    return false;
}

/* Returns true for the process of a rank. A child of a rank inherits its number, but is not a rank.
 */
static bool is_rank(const struct as_tally *tally, const struct as_tally_process *process)
{
    return process->rank >= 0 &&
           (process->parent == AS_NONE || tally->process.at[process->parent].rank != process->rank);
}

static int find_crashes(struct crashes *crashes)
{
    const struct as_tally *tally = crashes->tally;
    for (uint32_t i = 0; i < tally->process.n; i++) {
        const struct as_tally_process *process = &tally->process.at[i];
        const bool rank = is_rank(tally, process);
        const bool bad = rank ? process->exit_signal > 0 || process->exit_code > 0
                              : process->parent != AS_NONE && is_fault(process->exit_signal);
        const struct crash crash = {i, process->exit_signal == SIGTERM ||
                                           process->exit_signal == SIGKILL};
        if (bad && as_vec_push(&crashes->list, crash) < 0)
            return AS_ERR_NOMEM;
    }
    return 0;
}

/* Sorts processes that failed on their own before the others, then by end time. */
static int by_blame(const void *a, const void *b, void *tally)
{
    const struct crash *x = a, *y = b;
    const struct as_tally *of = tally;
    if (x->was_told != y->was_told)
        return x->was_told ? 1 : -1;
    const int64_t first = of->process.at[x->process].end_ns;
    const int64_t second = of->process.at[y->process].end_ns;
    return first != second ? (first < second ? -1 : 1) : 0;
}

static void append_crash(struct as_str *text, const struct as_tally *tally, uint32_t index)
{
    const struct as_tally_process *process = &tally->process.at[index];
    const char *name = process->exe ? as_path_last(process->exe) : NULL;
    const char *signal = process->exit_signal > 0 ? sigabbrev_np(process->exit_signal) : NULL;
    as_str_appendz(text, text->n ? "; " : "");
    if (is_rank(tally, process))
        as_str_appendf(text, "rank %" PRId64 " (%s%sprocess %" PRIu32 ")", process->rank,
                       name ? name : "", name ? ", " : "", process->pid);
    else
        as_str_appendf(text, "%s (process %" PRIu32 ")", name ? name : "a child", process->pid);
    if (process->exit_signal > 0)
        as_str_appendf(text, " was ended by SIG%s", signal ? signal : "?");
    else
        as_str_appendf(text, " ended with exit code %d", process->exit_code);
    if (process->end_ns > 0)
        as_str_appendf(text, " after %.2f s", (double)process->end_ns / 1e9);
}

static int flag_crashes(struct as_attribution *all, const struct crashes *crashes,
                        struct as_error *err)
{
    struct as_str text = {0};
    size_t blamed = 0;
    while (blamed < crashes->list.n && !crashes->list.at[blamed].was_told)
        blamed++;
    const size_t named_n = blamed ? blamed : crashes->list.n;
    for (size_t i = 0; i < named_n && i < NAMED_MOST; i++)
        append_crash(&text, crashes->tally, crashes->list.at[i].process);
    if (named_n > NAMED_MOST)
        as_str_appendf(&text, "; and %zu more", named_n - NAMED_MOST);
    if (named_n < crashes->list.n)
        as_str_appendf(&text, "; %zu more were ended by SIGTERM or SIGKILL",
                       crashes->list.n - named_n);
    const int rc = text.failed ? as_error_nomem(err, "how processes ended")
                               : as_attribute_flag(all, AS_OBJECT_RUN, all->run_id, "crashed",
                                                   named_n, err, "%s", as_str_z(&text));
    as_str_fini(&text);
    return rc;
}

int as_attribute_crashes(struct as_attribution *all, struct as_error *err)
{
    struct crashes crashes = {.tally = &all->tally};
    int rc = find_crashes(&crashes) < 0 ? as_error_nomem(err, "how processes ended") : 0;
    if (crashes.list.n)
        qsort_r(crashes.list.at, crashes.list.n, sizeof *crashes.list.at, by_blame, &all->tally);
    if (rc == 0 && crashes.list.n)
        rc = flag_crashes(all, &crashes, err);
    as_vec_fini(&crashes.list);
    return rc;
}
