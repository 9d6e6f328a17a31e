/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds CPU time without samples. The kernel counts the CPU time of every process. If the samples
 * add up to less, their shares refer to a part of the time. A flag names the missing time and its
 * processes, and the reason if it is known (task_account.c).
 *
 * Samples always miss some time: the start of a program before its first sample, and the last
 * period of each thread. slack_ns therefore allows these and 10 %. That is twice the loss that was
 * measured on a virtual machine with a busy host.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "profile/attribute.h"

#define SLACK_SHARE 0.1
#define SLACK_NS    5e7
/* Time from the exec of a program to the first possible sample. */
#define START_NS 3e6
/* Max period of the scheduler's clock tick, at which timers expire. */
#define TICK_NS 1e7
/* Min missing share of a process that the flag names, unless the reason is known. */
#define NAMED_SHARE 0.5
#define NAMED_MOST  8

/* CPU time of one process: by the kernel, and by samples. */
struct account {
    uint32_t pid;
    double cpu_ns, seen_ns;
    const char *name, *why;
};

struct unseen_sums {
    double cpu_ns, user_ns, stolen_ns; /* by the kernel; 0 = unknown */
    double seen_ns, missed_ns;         /* by samples; by samples that were lost */
    double switched_ns;                /* by switch records */
    uint64_t short_n;                  /* threads without a sample */
    double short_ns;
    AS_VEC(struct account) account;
};

static double info_number(const struct as_attribution *all, uint32_t stream, const char *name)
{
    const char *value = as_attribute_fact(all, stream, name);
    return value ? strtod(value, NULL) : 0;
}

/* Parses "PID NS NAME\tWHY". */
static int parse_cpu_account(struct unseen_sums *sums, const struct as_tally_fact *fact)
{
    char *at;
    struct account account = {.pid = (uint32_t)strtoul(fact->value, &at, 10)};
    account.cpu_ns = strtod(at, &at);
    account.name = at + (*at == ' ');
    account.why = strchr(account.name, '\t');
    return account.why ? as_vec_push(&sums->account, account) : 0;
}

static int sum_stream_facts(const struct as_attribution *all, struct unseen_sums *sums)
{
    const struct as_tally *tally = &all->tally;
    for (uint32_t i = 0; i < tally->stream.n; i++) {
        const struct as_tally_stream *stream = &tally->stream.at[i];
        const double period_ns = stream->rate_hz ? 1e9 / stream->rate_hz : 0;
        sums->cpu_ns += info_number(all, i, "cpu_ns");
        sums->user_ns += info_number(all, i, "cpu_user_ns");
        sums->stolen_ns += info_number(all, i, "stolen_ns");
        sums->short_n += (uint64_t)info_number(all, i, "short_threads");
        sums->short_ns += info_number(all, i, "short_threads_ns");
        sums->missed_ns += (double)(stream->counts.lost + stream->dropped) * period_ns;
    }
    as_vec_foreach (&tally->fact, fact)
        if (strcmp(fact->name, "process_cpu") == 0)
            AS_TRY(parse_cpu_account(sums, fact));
    return 0;
}

/* Sums the times of threads. Each thread counts with the larger of two times: by samples, which are
 * estimates for a counter, and by switch records, which may be lost. */
static int sum_thread_times(const struct as_attribution *all, struct unseen_sums *sums)
{
    const struct as_tally *tally = &all->tally;
    double *sampled = as_calloc(tally->thread.n + 1, sizeof *sampled);
    if (!sampled)
        return AS_ERR_NOMEM;
    as_vec_foreach (&tally->sum, sum)
        sampled[sum->thread] += sum->blocked ? 0 : (double)sum->time_ns;
    for (size_t i = 0; i < tally->thread.n; i++) {
        const struct as_tally_thread *thread = &tally->thread.at[i];
        const double ran_ns = fmax(0, (double)thread->cpu_ns);
        const uint32_t pid = tally->process.at[thread->process].pid;
        sums->seen_ns += sampled[i];
        sums->switched_ns += ran_ns;
        if (thread->cpu_ns > 0 && thread->n == 0) {
            sums->short_n++;
            sums->short_ns += ran_ns;
        }
        as_vec_foreach (&sums->account, account)
            if (account->pid == pid)
                account->seen_ns += fmax(sampled[i], ran_ns);
    }
    as_free(sampled);
    return 0;
}

static bool is_time(const struct as_tally_stream *stream)
{
    return stream->event && (strcmp(stream->event, as_sample_event_name(AS_EVENT_TIMER)) == 0 ||
                             strcmp(stream->event, as_sample_event_name(AS_EVENT_CPU_CLOCK)) == 0);
}

/* Returns the time without samples that is expected in a correct run. */
static double slack_ns(const struct as_attribution *all, const struct unseen_sums *sums)
{
    const struct as_tally *tally = &all->tally;
    const double period_ns =
        tally->stream.n && tally->stream.at[0].rate_hz ? 1e9 / tally->stream.at[0].rate_hz : 0;
    double begun = 0, sampled_n = 0; /* events, each with a full period; threads */
    as_vec_foreach (&tally->thread, thread) {
        begun += (double)thread->cpu.n;
        sampled_n += thread->n > 0;
    }
    return SLACK_NS + SLACK_SHARE * sums->cpu_ns + START_NS * (double)tally->process.n +
           period_ns / 2 * begun + 3 * (period_ns + TICK_NS) * sqrt(sampled_n) + sums->stolen_ns;
}

/* ---- Words ---------------------------------------------------------------------------------- */

static bool is_to_be_named(const struct account *account, const struct unseen_sums *sums)
{
    const double missing_ns = account->cpu_ns - account->seen_ns;
    return missing_ns > SLACK_NS &&
           (account->why[1] ? missing_ns > SLACK_SHARE * account->cpu_ns
                            : missing_ns > NAMED_SHARE * account->cpu_ns && !sums->short_n);
}

static bool is_alike(const struct account *a, const struct account *b)
{
    return strcmp(a->why, b->why) == 0 && a->why - a->name == b->why - b->name &&
           strncmp(a->name, b->name, (size_t)(a->why - a->name)) == 0;
}

/* Appends a sentence about all processes with one name. Returns their missing time in ns. */
static double append_alike_processes(struct as_str *text, struct unseen_sums *sums, size_t first,
                                     uint64_t *n)
{
    const struct account one = sums->account.at[first];
    double missing_ns = 0;
    *n = 0;
    as_vec_foreach (&sums->account, account) {
        if (!is_alike(account, &one) || !is_to_be_named(account, sums))
            continue;
        missing_ns += account->cpu_ns - account->seen_ns;
        ++*n;
    }
    as_str_appendf(text, " %.*s (", (int)(one.why - one.name), one.name);
    if (*n == 1)
        as_str_appendf(text, "process %" PRIu32, one.pid);
    else
        as_str_appendf(text, "%" PRIu64 " processes", *n);
    as_str_appendf(text, ", at least %.2f s)%s%s.", missing_ns / 1e9, one.why[1] ? " " : "",
                   one.why[1] ? one.why + 1 : " was hardly sampled");
    return missing_ns;
}

static bool is_first_of_its_kind(const struct unseen_sums *sums, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (is_alike(&sums->account.at[i], &sums->account.at[index]) &&
            is_to_be_named(&sums->account.at[i], sums))
            return false;
    return true;
}

/* Appends the processes with missing time. Returns their number, and their time in `*named_ns`. */
static uint64_t append_missed_processes(struct as_str *text, struct unseen_sums *sums,
                                        double *named_ns)
{
    uint64_t all = 0;
    unsigned said = 0;
    for (size_t i = 0; i < sums->account.n && said < NAMED_MOST; i++) {
        uint64_t n;
        if (!is_to_be_named(&sums->account.at[i], sums) || !is_first_of_its_kind(sums, i))
            continue;
        *named_ns += append_alike_processes(text, sums, i, &n);
        all += n;
        said++;
    }
    return all;
}

static void append_missing_rest(struct as_str *text, double rest_ns, bool is_timed)
{
    as_str_appendf(text,
                   " %.2f s are of processes or threads that were not observed: ", rest_ns / 1e9);
    as_str_appendz(text, is_timed ? "they ended too soon, or started without the agent library "
                                    "(statically linked, own environment or root directory, raw "
                                    "clone); permit perf events to observe them."
                                  : "they ended too soon, or have other privileges than their user "
                                    "(set-user-ID).");
}

static int flag_time(struct as_attribution *all, struct unseen_sums *sums, double unseen_ns,
                     struct as_error *err)
{
    const bool is_timed =
        all->tally.stream.at[0].event &&
        strcmp(all->tally.stream.at[0].event, as_sample_event_name(AS_EVENT_TIMER)) == 0;
    struct as_str text = {0};
    double named_ns = 0;
    as_str_appendf(&text,
                   "%.2f s of %.2f s of CPU time (%.0f %%) were not sampled: all shares refer to "
                   "the rest.",
                   unseen_ns / 1e9, sums->cpu_ns / 1e9, 100 * unseen_ns / sums->cpu_ns);
    uint64_t n = append_missed_processes(&text, sums, &named_ns);
    if (sums->short_n && sums->short_ns > SLACK_SHARE * unseen_ns) {
        as_str_appendf(&text,
                       " %" PRIu64
                       " threads (%.2f s) ended before their first sample: use a higher --rate.",
                       sums->short_n, sums->short_ns / 1e9);
        named_ns += sums->short_ns;
    }
    if (unseen_ns - named_ns > SLACK_NS && unseen_ns - named_ns > 2 * SLACK_SHARE * unseen_ns)
        append_missing_rest(&text, unseen_ns - named_ns, is_timed);
    const int rc = text.failed ? as_error_nomem(err, "the time that was not sampled")
                               : as_attribute_flag(all, AS_OBJECT_RUN, all->run_id, "unseen_time",
                                                   n, err, "%s", as_str_z(&text));
    as_str_fini(&text);
    return rc;
}

/* ---- All ------------------------------------------------------------------------------------ */

static int add_value(struct as_attribution *all, const struct as_metric *metric, double value,
                     struct as_error *err)
{
    int64_t id;
    AS_TRY(as_experiment_metric(all->experiment, metric, &id, err));
    const struct as_subject run = {
        .kind = AS_OBJECT_RUN, .object_id = all->run_id, .run_id = all->run_id};
    return as_experiment_value(all->experiment, id, &run, as_value_exact(value, 1), err);
}

/* Flags threads that are too short for a sample. An event begins with a full period in each new
 * thread, so a thread that ends before has no sample. Switch records give the time of such threads.
 */
static int flag_short(struct as_attribution *all, const struct unseen_sums *sums,
                      struct as_error *err)
{
    if (sums->short_n < 2 || sums->switched_ns < 1e8 || sums->seen_ns > 0.9 * sums->switched_ns)
        return 0;
    return as_attribute_flag(all, AS_OBJECT_RUN, all->run_id, "short_threads", sums->short_n, err,
                             "%.1f s of %.1f s of CPU time were not sampled: %" PRIu64
                             " threads ended before their first sample; use a higher --rate",
                             (sums->switched_ns - sums->seen_ns) / 1e9, sums->switched_ns / 1e9,
                             sums->short_n);
}

static int judge_unseen(struct as_attribution *all, struct unseen_sums *sums, struct as_error *err)
{
    const struct as_tally_stream *stream = &all->tally.stream.at[0];
    static const struct as_metric cpu = {
        .name = "processor_time_s",
        .unit = "s",
        .title = "Processor time",
        .topic = "trust",
        .formula = "user and system time of all processes, from the kernel",
        .meaning = "CPU time that the kernel counted for the program and all its processes."};
    static const struct as_metric unseen = {
        .name = "unseen_time_s",
        .unit = "s",
        .title = "Time not sampled",
        .topic = "trust",
        .formula = "processor_time_s - time of samples",
        .meaning = "CPU time without samples. Shares refer to the rest."};
    AS_TRY(flag_short(all, sums, err));
    if (is_time(stream) && !stream->kernel) /* the samples cover user code only */
        sums->cpu_ns = sums->user_ns;
    const double seen_ns = is_time(stream) ? sums->seen_ns : fmax(sums->seen_ns, sums->switched_ns);
    const double unseen_ns = fmax(0, sums->cpu_ns - seen_ns - sums->missed_ns);
    if (!(sums->cpu_ns > 0))
        return 0;
    AS_TRY(add_value(all, &cpu, sums->cpu_ns / 1e9, err));
    AS_TRY(add_value(all, &unseen, unseen_ns / 1e9, err));
    return unseen_ns > slack_ns(all, sums) ? flag_time(all, sums, unseen_ns, err) : 0;
}

/* Adds the share of memory in huge pages, which affects the memory bandwidth. */
static int add_pages(struct as_attribution *all, struct as_error *err)
{
    static const struct as_metric huge = {
        .name = "huge_pages_pct",
        .unit = "%",
        .title = "Memory in huge pages",
        .topic = "memory",
        .formula = "huge pages / anonymous memory of all processes, at their largest",
        .meaning = "Part of the memory of the program that the kernel keeps in huge pages."};
    double memory_b = 0, huge_b = 0;
    for (uint32_t i = 0; i < all->tally.stream.n; i++) {
        const char *text = as_attribute_fact(all, i, "memory_pages");
        char *end;
        if (!text)
            continue;
        memory_b += strtod(text, &end);
        huge_b += strtod(end, NULL);
    }
    return memory_b > 0 && huge_b <= memory_b ? add_value(all, &huge, 100 * huge_b / memory_b, err)
                                              : 0;
}

int as_attribute_unseen(struct as_attribution *all, struct as_error *err)
{
    struct unseen_sums sums = {0};
    int rc = all->tally.stream.n &&
                     (sum_stream_facts(all, &sums) < 0 || sum_thread_times(all, &sums) < 0)
                 ? as_error_nomem(err, "the time that was not sampled")
                 : 0;
    if (rc == 0 && all->tally.stream.n)
        rc = judge_unseen(all, &sums, err);
    if (rc == 0)
        rc = add_pages(all, err);
    as_vec_fini(&sums.account);
    return rc;
}
