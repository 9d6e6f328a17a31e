/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records one run. It starts or attaches to a process, and samples it. The end of the process, the
 * user, or a limit ends the recording. Then it writes the stream, completes the row of the run, and
 * attributes. If this process is killed, only data of the last second is lost.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/active_timer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "profile/category.h"
#include "profile/collector.h"
#include "profile/limit.h"
#include "profile/record.h"

/* Time between two readings of the kernel's buffers, and between two flushes of the stream. */
#define LOOK_MS  100
#define FLUSH_NS 1000000000
/* Priority of the thread that reads the buffers, if permitted. Otherwise a hundred running threads
 * leave it too little time, and samples are lost. */
#define RECORDING_NICE (-15)
/* Number of Ctrl-C that kill a program that ignores them. */
#define KILL_AFTER 3

/* Max readings of a process without a command line. The last one records it without. */
#define LOOKS_MOST 500

/* A process that had no command line yet at its first reading. */
struct early {
    uint32_t pid;
    uint64_t time_ns;
    unsigned look_n;
};

struct recording {
    struct as_experiment *experiment;
    const struct as_profile_request *request;
    struct as_profile_result *result;
    struct as_launch_plan *plan;
    struct as_collection sources;
    struct as_sample_choice choice; /* a copy, valid after its collector is closed */
    struct as_recorder *recorder;
    struct as_host_load load; /* at the beginning */
    struct as_row_run row;
    int64_t run_id;
    int64_t begin_ns;      /* CLOCK_MONOTONIC */
    struct as_looks looks; /* time that counts for time limits */
    char directory[4096], digest[17], label[64], numa[4096];
    struct rusage before;
    AS_VEC(struct early) early;
    struct as_map_u64 user; /* from a pid to its user id */
    bool begun;             /* the program has started, or assay is attached: the run is kept */
    bool ended;             /* the user or a time limit ended the recording */
};

/* ---- The row ------------------------------------------------------------------------------- */

static const char *stacks_word(unsigned stacks)
{
    static const char *const words[] = {"off", "fp", "dwarf", "lbr"};
    assert((unsigned)stacks < sizeof words / sizeof *words);
    return words[stacks];
}

/* Adds the settings of the run at its beginning, so that a failed run has them too. */
static int add_settings(const struct recording *r, struct as_error *err)
{
    for (size_t i = 0; i < r->request->setting_n; i++) {
        const struct as_row_run_setting row = {.run_id = r->run_id,
                                               .name = r->request->setting[i].name,
                                               .value = r->request->setting[i].value};
        AS_TRY(as_experiment_add_run_setting(r->experiment, &row, err));
    }
    return 0;
}

static int add_run(struct recording *r, struct as_error *err)
{
    int64_t host_id;
    AS_TRY(as_run_host(r->experiment, &host_id, r->numa, sizeof r->numa, err));
    as_launch_environment_digest(NULL, r->digest);
    r->begin_ns = as_monotonic_ns();
    r->row = (struct as_row_run){
        .kind = r->request->kind ? r->request->kind : "profile",
        .label = r->request->label,
        .environment_digest = r->digest,
        .launcher = as_launch_kind_name(r->plan ? r->plan->kind : (unsigned)AS_LAUNCH_ATTACHED),
        .host_id = host_id,
        .start_ns = r->begin_ns + as_clock_offset_ns(),
        .state = "recording",
        .role = r->request->role,
        .reference_id = r->request->reference_id,
        .call_stacks = stacks_word(r->request->sampling.stacks)};
    if (r->plan) {
        r->row.command = r->plan->command;
        r->row.argv = r->plan->argv_json;
        r->row.cwd = r->plan->cwd;
    } else {
        snprintf(r->label, sizeof r->label, "process %d", (int)r->request->pid);
        r->row.command = r->label;
    }
    AS_TRY(as_experiment_add_run(r->experiment, &r->row, &r->run_id, err));
    r->result->run_id = r->run_id;
    AS_TRY(as_run_environment(r->experiment, r->run_id, err));
    AS_TRY(add_settings(r, err));
    return as_experiment_run_directory(r->experiment, r->run_id, r->directory, sizeof r->directory,
                                       err);
}

static int set_choice(struct recording *r, struct as_error *err)
{
    r->choice = *as_collection_choice(&r->sources);
    r->row.event = as_sample_event_name(r->choice.event);
    r->row.event_reason = r->choice.reason[0] ? r->choice.reason : NULL;
    r->row.rate_hz = as_known(r->choice.rate_hz);
    r->row.scope = r->choice.kernel ? "user+kernel" : "user";
    return as_experiment_set_run(r->experiment, r->run_id, &r->row, err);
}

static uint64_t cpu_ns(const struct rusage *usage)
{
    return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000000u +
           (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000u;
}

static int complete_run(struct recording *r, struct as_error *err)
{
    const struct as_launch_outcome *outcome = as_launch_outcome(r->sources.launch);
    struct rusage now;
    getrusage(RUSAGE_SELF, &now);
    struct as_host_load load;
    as_host_load_read(NULL, r->plan ? 0 : (long)r->request->pid, &load);
    const int64_t cost = (int64_t)(cpu_ns(&now) - cpu_ns(&r->before));
    const int64_t end = outcome->end_ns ? (int64_t)outcome->end_ns : as_monotonic_ns();
    r->row.wall_ns = as_known(end - r->begin_ns);
    as_run_load(&r->load, &load, &r->row);
    r->row.overhead_ns = as_known(cost);
    r->row.state = r->ended || outcome->interrupted ? "interrupted" : "complete";
    if (outcome->exited)
        r->row.exit_code = as_known(outcome->exit_code);
    if (outcome->signalled)
        r->row.exit_signal = as_known(outcome->exit_signal);
    as_run_usage(outcome, &r->row);
    const struct as_row_overhead overhead = {
        .run_id = r->run_id, .part = "sampling", .cpu_ns = as_known(cost), .origin = "measured"};
    AS_TRY(as_experiment_add_overhead(r->experiment, &overhead, NULL, err));
    return as_experiment_set_run(r->experiment, r->run_id, &r->row, err);
}

/* ---- Records ------------------------------------------------------------------------------- */

static int look_at(struct recording *r, struct early it, struct as_error *err)
{
    const int rc = as_record_process(r->recorder, it.pid, it.time_ns, it.look_n == LOOKS_MOST, err);
    it.look_n++;
    if (rc == 1 && as_vec_push(&r->early, it) < 0)
        return as_error_nomem(err, "processes that begin");
    return rc < 0 ? rc : 0;
}

static int look_again(struct recording *r, struct as_error *err)
{
    const size_t n = r->early.n;
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = look_at(r, r->early.at[i], err);
    memmove(r->early.at, r->early.at + n, (r->early.n - n) * sizeof *r->early.at);
    r->early.n -= n;
    return rc;
}

static uid_t user_of(const struct recording *r, uint32_t pid)
{
    const uint32_t user = as_map_u64_get(&r->user, pid);
    return user == AS_MAP_NONE ? as_record_user(pid) : user;
}

/* Writes a record to the recorder. Reads the facts of a new program while it exists. */
static int on_sample_record(void *context, const struct as_sample_record *record,
                            struct as_error *err)
{
    struct recording *r = context;
    if (record->kind == AS_SAMPLE_END)
        return as_record_end(r->recorder, record->pid, record->time_ns, record->status, err);
    AS_TRY(as_recorder_add(r->recorder, record, err));
    if (record->kind == AS_SAMPLE_COMM && record->out &&
        as_map_u64_put(&r->user, record->pid, as_record_user(record->pid)) < 0)
        return as_error_nomem(err, "processes that begin");
    if (record->kind == AS_SAMPLE_COMM && record->out)
        return look_at(r, (struct early){record->pid, record->time_ns, 0}, err);
    if (record->kind == AS_SAMPLE_EXIT && record->pid == record->tid)
        as_record_generated(r->directory, record->pid, user_of(r, record->pid));
    return 0;
}

static int open_stream(struct recording *r, struct as_error *err)
{
    char path[4096 + 32], text[256];
    snprintf(path, sizeof path, "%s/main.samples", r->directory);
    AS_TRY(as_recorder_new(path, &r->choice, r->request->max_b, &r->recorder, err));
    AS_TRY(as_recorder_keep(r->recorder, r->directory, err));
    if (gethostname(text, sizeof text) < 0)
        snprintf(text, sizeof text, "?");
    AS_TRY(as_recorder_info(r->recorder, "host", text, err));
    AS_TRY(as_recorder_info(r->recorder, "stacks", r->row.call_stacks, err));
    if (r->numa[0])
        AS_TRY(as_recorder_info(r->recorder, "numa", r->numa, err));
    snprintf(text, sizeof text, "%" PRId64, as_clock_offset_ns());
    return as_recorder_info(r->recorder, "clock_offset_ns", text, err);
}

static bool time_is_over(const struct recording *r)
{
    return r->request->duration_s > 0 && (double)r->looks.all_ns >= r->request->duration_s * 1e9;
}

static int kill_deaf(struct recording *r, struct as_error *err)
{
    if (!r->plan || as_launch_outcome(r->sources.launch)->interrupts < KILL_AFTER)
        return 0;
    return as_launch_signal(r->sources.launch, SIGKILL, err);
}

/* Kills the command and its descendants after the time limit. Repeated until they have ended. */
static void enforce_time_limit(struct recording *r)
{
    if (!r->plan || r->request->limit_s <= 0 || (double)r->looks.all_ns < r->request->limit_s * 1e9)
        return;
    r->result->too_long = true;
    as_limit_kill(as_launch_pid(r->sources.launch));
}

static int record_until_end(struct recording *r, struct as_error *err)
{
    int64_t flushed = as_monotonic_ns();
    as_looks_begin(&r->looks);
    for (;;) {
        as_collection_wait(&r->sources, LOOK_MS);
        as_looks_count(&r->looks);
        const int going = as_launch_step(r->sources.launch, err);
        AS_TRY(going);
        if (r->early.n)
            AS_TRY(look_again(r, err));
        AS_TRY(as_collection_pump(&r->sources, false, err));
        if (going == 0) {
            r->ended = as_launch_outcome(r->sources.launch)->left;
            return 0;
        }
        AS_TRY(kill_deaf(r, err));
        enforce_time_limit(r);
        if (time_is_over(r)) {
            r->ended = true;
            return 0;
        }
        if (as_monotonic_ns() - flushed >= FLUSH_NS) {
            AS_TRY(as_recorder_flush(r->recorder, err));
            flushed = as_monotonic_ns();
        }
    }
}

static int finish_stream(struct recording *r, struct as_error *err)
{
    char text[32];
    const struct as_launch_outcome *outcome = as_launch_outcome(r->sources.launch);
    const uint32_t pid = (uint32_t)as_launch_pid(r->sources.launch);
    const uint64_t end = outcome->end_ns ? outcome->end_ns : (uint64_t)as_monotonic_ns();
    if (!outcome->over)
        AS_TRY(as_collection_stop(&r->sources, err));
    AS_TRY(as_collection_pump(&r->sources, true, err));
    r->sources.end_ns = (int64_t)end;
    AS_TRY(as_collection_finish(&r->sources, err));
    if (!outcome->over || r->plan == NULL)
        as_record_generated(r->directory, pid, user_of(r, pid));
    snprintf(text, sizeof text, "%d", outcome->exited ? outcome->exit_code : outcome->exit_signal);
    if (outcome->exited || outcome->signalled)
        AS_TRY(as_recorder_process(r->recorder, pid, end,
                                   outcome->exited ? "exit_code" : "exit_signal", text, err));
    return 0;
}

/* ---- Steps --------------------------------------------------------------------------------- */

/* Checks the user's rules before a long recording begins. */
static int check_rules(const struct as_profile_request *request, struct as_error *err)
{
    struct as_categories *categories;
    AS_TRY(as_categories_read(request->attribute.categories, &categories, err));
    as_categories_free(&categories);
    return 0;
}

static int find_target(struct recording *r, struct as_error *err)
{
    return r->request->command ? as_launch_plan(r->request->command, &r->plan, err) : 0;
}

/* Raises the priority of this process, and returns the old one. The program exists already, so its
 * priority does not change. */
static int hurry(void)
{
    const int nice_was = getpriority(PRIO_PROCESS, 0);
    if (nice_was > RECORDING_NICE)
        (void)setpriority(PRIO_PROCESS, 0, RECORDING_NICE);
    return nice_was;
}

/* Records our own rank for the program. A launcher gave it to us, and the program may end before it
 * can be read. */
static int record_own_rank(struct recording *r, struct as_error *err)
{
    const uint32_t pid = (uint32_t)as_launch_pid(r->sources.launch);
    struct as_job_rank own;
    char text[32];
    if (!as_launch_rank_of_self(&own))
        return 0;
    snprintf(text, sizeof text, "%" PRId64, own.rank);
    AS_TRY(as_recorder_process(r->recorder, pid, (uint64_t)r->begin_ns, "rank", text, err));
    return as_recorder_process(r->recorder, pid, (uint64_t)r->begin_ns, "launcher", own.launcher,
                               err);
}

/* Records the run delay of the program at its exec. The kernel counts the delay from the creation
 * of the process, but switches are recorded from the exec on. */
static int record_start_delay(struct recording *r, struct as_error *err)
{
    const struct as_launch_outcome *outcome = as_launch_outcome(r->sources.launch);
    char text[32];
    if (outcome->ready_begin_ns < 0)
        return 0;
    snprintf(text, sizeof text, "%" PRId64, outcome->ready_begin_ns);
    return as_recorder_process(r->recorder, (uint32_t)as_launch_pid(r->sources.launch),
                               outcome->executed_ns, "start_delay_ns", text, err);
}

static int record(struct recording *r, struct as_error *err)
{
    struct as_error late = {0};
    AS_TRY(open_stream(r, err));
    getrusage(RUSAGE_SELF, &r->before);
    const uint32_t pid = (uint32_t)as_launch_pid(r->sources.launch);
    as_host_load_read(NULL, r->plan ? 0 : (long)pid, &r->load);
    r->sources.recorder = r->recorder;
    r->sources.directory = r->directory;
    r->sources.begin_ns = r->begin_ns;
    AS_TRY(as_collection_start(&r->sources, err));
    if (r->plan) {
        AS_TRY(as_launch_go(r->sources.launch, err));
        r->begun = true;
        /* The time of our preparation does not count as time of the program. */
        r->begin_ns = (int64_t)as_launch_outcome(r->sources.launch)->start_ns;
        r->row.start_ns = r->begin_ns + as_clock_offset_ns();
        r->sources.begin_ns = r->begin_ns;
        AS_TRY(record_own_rank(r, err));
        AS_TRY(record_start_delay(r, err));
    } else {
        r->begun = true;
        AS_TRY(as_record_process(r->recorder, (uint32_t)r->request->pid,
                                 (uint64_t)as_monotonic_ns(), true, err));
    }
    int rc = record_until_end(r, err);
    /* After an error, the recorded data is written too. */
    if (rc == 0)
        rc = finish_stream(r, err);
    const int end = as_recorder_finish(&r->recorder, as_collection_counts(&r->sources), &late);
    if (rc == 0 && end < 0) {
        *err = late;
        rc = end;
    }
    return rc;
}

/* Waits for the end of the program, even if the recording has failed. */
static void wait_for_end(struct recording *r)
{
    struct as_error ignored;
    while (r->sources.launch && r->plan && as_launch_pid(r->sources.launch) > 0 &&
           as_launch_outcome(r->sources.launch)->start_ns &&
           !as_launch_outcome(r->sources.launch)->over) {
        (void)kill_deaf(r, &ignored);
        if (as_launch_step(r->sources.launch, &ignored) != 0)
            usleep(1000 * LOOK_MS / 10);
    }
}

/* Handles signals that arrived while the stream was completed; they belong to the run. */
static void handle_last_signals(struct recording *r)
{
    struct as_error ignored;
    if (r->sources.launch)
        (void)as_launch_step(r->sources.launch, &ignored);
}

static void set_recording_result(struct recording *r)
{
    const struct as_launch_outcome *outcome = as_launch_outcome(r->sources.launch);
    r->result->exit_code = outcome->exited ? outcome->exit_code : -1;
    r->result->exit_signal = outcome->exit_signal;
    r->result->stopped = r->ended;
    r->result->interrupted = outcome->interrupted;
}

/* Removes the run of a program that never started. */
static void forget_run(struct recording *r)
{
    struct as_error ignored;
    if (r->recorder)
        (void)as_recorder_finish(&r->recorder, NULL, &ignored);
    if (r->run_id && as_experiment_remove_run(r->experiment, r->run_id, &ignored) == 0)
        r->result->run_id = r->run_id = 0;
}

/* Does all work before the attribution. Other observations become facts after it. */
static int observe(struct recording *r, const struct as_collector_kind *const *kinds,
                   struct as_error *err)
{
    AS_TRY(check_rules(r->request, err));
    AS_TRY(find_target(r, err));
    AS_TRY(as_collection_open(&r->sources, kinds, r->request, r->plan, err));
    AS_TRY(add_run(r, err));
    AS_TRY(set_choice(r, err));
    const int nice_was = hurry();
    const int rc = record(r, err);
    (void)setpriority(PRIO_PROCESS, 0, nice_was);
    as_collection_release(&r->sources);
    wait_for_end(r);
    handle_last_signals(r);
    set_recording_result(r);
    return rc < 0 ? rc : complete_run(r, err);
}

int as_profile_run_with(const struct as_collector_kind *const *kinds,
                        struct as_experiment *experiment, const struct as_profile_request *request,
                        struct as_profile_result *result, struct as_error *err)
{
    struct recording r = {.experiment = experiment, .request = request, .result = result};
    *result = (struct as_profile_result){.exit_code = -1};
    r.sources.sink = on_sample_record;
    r.sources.context = &r;
    as_map_u64_init(&r.user);
    int rc = observe(&r, kinds, err);
    if (rc < 0 && !r.begun)
        forget_run(&r);
    as_collection_release(&r.sources);
    as_launch_close(&r.sources.launch); /* from here on, signals end this process */
    as_vec_fini(&r.early);
    as_map_u64_fini(&r.user);
    if (rc == 0)
        rc = as_profile_attribute(experiment, r.run_id, &request->attribute, err);
    if (rc == 0)
        rc = as_collection_facts(&r.sources, experiment, r.run_id, err);
    as_collection_close(&r.sources);
    as_launch_plan_free(&r.plan);
    return rc;
}

int as_profile_run(struct as_experiment *experiment, const struct as_profile_request *request,
                   struct as_profile_result *result, struct as_error *err)
{
    return as_profile_run_with(as_collector_kinds, experiment, request, result, err);
}
