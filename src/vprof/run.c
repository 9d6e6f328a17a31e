/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The campaign: a profile, then where the budget is not given a pilot that times one instance of a
 * thousand, then the run that counts; and what its instances say.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "profile/collector.h"
#include "sample/timer_session.h"
#include "vprof/buckets.h"
#include "vprof/timed.h"

#define PILOT_EVERY    1000u
#define OVERHEAD_USUAL 0.05
#define TIMED_NS       45.0 /* a timed instance costs at most, another one */
#define PASSED_NS      1.5
#define KEPT_N         8192u
#define DISTURBED_NS   20000.0

/* ---- Sums ---------------------------------------------------------------------------------- */

/* Of all threads; `*most` of one. */
static struct as_patch_total sum_of(const struct as_instances *all, uint32_t loop,
                                    unsigned *threads, uint64_t *most)
{
    struct as_patch_total sum = {0};
    const size_t loops = (size_t)all->plan->loop.n;
    *threads = 0;
    *most = 0;
    for (size_t at = loop; at < all->total.n; at += loops) {
        const struct as_patch_total *one = &all->total.at[at];
        sum.instances += one->instances;
        sum.trips += one->trips;
        sum.ticks += one->ticks;
        sum.dropped += one->dropped;
        *threads += one->instances > 0;
        *most = one->ticks > *most ? one->ticks : *most;
    }
    return sum;
}

/* What timing each `every`-th instance takes of the run, by what a run with `seen` showed. */
static double overhead_of(const struct as_timed *timed, const struct as_instances *all,
                          uint32_t seen, uint32_t every)
{
    double ns = 0;
    unsigned threads;
    uint64_t most;
    as_vec_foreach (&timed->loop, loop) {
        if (loop->number == ASSAY_NONE)
            continue;
        const double n = (double)sum_of(all, loop->number, &threads, &most).instances * seen;
        ns += (n * PASSED_NS + n / every * TIMED_NS) / (threads ? threads : 1);
    }
    return timed->wall_ns > 0 ? ns / timed->wall_ns : 0;
}

/* ---- A loop -------------------------------------------------------------------------------- */

_Static_assert(AS_BUCKET_CHOSEN_N == ASSAY_VPROF_CHOSEN_N, "those that stand for a bucket");

static void put_chosen(struct assay_vprof_bucket *out, const struct as_bucket *it,
                       const struct as_instances *all, double cycles)
{
    for (size_t i = 0; i < it->chosen_n; i++) {
        const struct as_instance *one = &all->kept.at[it->chosen[i]];
        const struct as_instance_thread *thread = &all->thread.at[one->thread];
        out->chosen[out->chosen_n++] = (struct assay_vprof_instance){.pid = thread->pid,
                                                                     .tid = thread->tid,
                                                                     .begun = one->begun,
                                                                     .iterations = one->trips,
                                                                     .cycles = one->ticks * cycles};
    }
}

/* The loop's instances are the first of all. */
static struct assay_vprof_bucket in_cycles(const struct as_bucket *it, double cycles,
                                           const struct as_instances *all)
{
    struct assay_vprof_bucket out = {.low = it->low,
                                     .high = it->high,
                                     .n = it->n,
                                     .share = it->share,
                                     .iterations = it->iterations,
                                     .mean = it->iteration.mean * cycles,
                                     .median = it->iteration.median * cycles,
                                     .deviation = it->iteration.deviation * cycles,
                                     .least = it->iteration.least * cycles,
                                     .stability = it->iteration.stability,
                                     .instance = it->instance.median * cycles};
    put_chosen(&out, it, all, cycles);
    return out;
}

static int put_buckets(struct as_instances *all, size_t n, enum as_bucket_key key, double cycles,
                       struct assay_vprof_bucket **out, size_t *out_n, struct assay_error *err)
{
    as_bucket_list list = {0};
    int rc = as_buckets_make(all->kept.at, n, key, &list, err);
    *out = rc == 0 && list.n ? as_calloc(list.n, sizeof **out) : NULL;
    if (rc == 0 && list.n && !*out)
        rc = as_error_nomem(err, "buckets of instances");
    for (size_t i = 0; *out && i < list.n; i++) {
        struct assay_vprof_bucket *bucket = &(*out)[(*out_n)++];
        *bucket = in_cycles(&list.at[i], cycles, all);
        if (key == AS_BUCKET_COST) {
            bucket->low *= cycles;
            bucket->high *= cycles;
        }
    }
    as_vec_fini(&list);
    return rc;
}

static int put_all(struct assay_vprof_loop *out, struct as_instances *all, size_t n, double cycles,
                   struct assay_error *err)
{
    struct as_bucket whole;
    as_bucket_all(all->kept.at, n, &whole);
    out->all = in_cycles(&whole, cycles, all);
    AS_TRY(put_buckets(all, n, AS_BUCKET_COST, cycles, &out->cost, &out->cost_n, err));
    return put_buckets(all, n, AS_BUCKET_ITERATIONS, cycles, &out->bucket, &out->bucket_n, err);
}

/* Its instances, moved together. */
static size_t of_one_loop(struct as_instances *all, uint32_t loop, struct as_instance **first)
{
    size_t n = 0;
    for (size_t i = 0; i < all->kept.n; i++) {
        if (all->kept.at[i].loop != loop)
            continue;
        const struct as_instance swap = all->kept.at[n];
        all->kept.at[n++] = all->kept.at[i];
        all->kept.at[i] = swap;
    }
    *first = all->kept.at;
    return n;
}

static bool is_counted(const struct as_patch_plan *plan, uint32_t loop)
{
    const struct as_patch_loop *it = as_patch_at(plan, &plan->loop);
    return it[loop].tally != AS_PATCH_NONE || it[loop].induction != AS_PATCH_NONE;
}

static int describe_loop(struct as_timed_loop *loop, struct as_instances *all, uint32_t every,
                         const struct as_tick *tick, struct assay_error *err)
{
    struct assay_vprof_loop *out = &loop->it;
    struct as_instance *it;
    uint64_t most;
    const struct as_patch_total sum = sum_of(all, loop->number, &out->threads, &most);
    size_t n = of_one_loop(all, loop->number, &it);
    out->timed = n;
    n = as_instances_clean(it, n, tick->overhead, DISTURBED_NS / tick->ns);
    out->disturbed = out->timed - n;
    out->cut = sum.dropped;
    out->is_exact = every == 1;
    out->has_iterations = n ? !isnan(it[0].trips) : is_counted(all->plan, loop->number);
    out->instances = (double)sum.instances * every;
    out->iterations = (double)sum.trips * every;
    out->imbalance =
        out->threads && sum.ticks ? (double)most * out->threads / (double)sum.ticks : 1;
    return put_all(out, all, n, tick->cycles, err);
}

/* A library that is gone at the end waits again: what counts is whether there are instances. */
static const char *why_not(const struct as_instances *all, const struct as_timed_loop *loop)
{
    static const char *const words[] = {
        [AS_PATCH_WAITING] = "its file was not loaded in the run that was timed",
        [AS_PATCH_DIFFERS] = "its bytes in memory are not those of the file",
        [AS_PATCH_NO_ROOM] = "no memory within reach of its module",
        [AS_PATCH_DENIED] = "the kernel does not let code be written",
        [AS_PATCH_THREADS] = "other threads could not be stopped"};
    const struct as_patch_loop *planned = as_patch_at(all->plan, &all->plan->loop);
    const uint32_t region = planned[loop->number].region;
    unsigned threads;
    uint64_t most;
    if (sum_of(all, loop->number, &threads, &most).instances)
        return NULL;
    if (region >= all->outcome.n)
        return "the agent did not come into the program";
    const unsigned kind = all->outcome.at[region].kind;
    return kind == AS_PATCH_DONE                                ? NULL
           : kind < sizeof words / sizeof *words && words[kind] ? words[kind]
                                                                : "it was not patched";
}

static int describe_instances(struct as_timed *timed, struct as_instances *all, uint32_t every,
                              struct assay_error *err)
{
    const struct as_tick tick = as_tick_calibrate();
    as_vec_foreach (&timed->loop, loop) {
        if (loop->number == ASSAY_NONE)
            continue;
        loop->it.reason = why_not(all, loop);
        if (!loop->it.reason)
            AS_TRY(describe_loop(loop, all, every, &tick, err));
    }
    return 0;
}

/* ---- Runs ---------------------------------------------------------------------------------- */

static int run_once(struct as_timed *timed, uint32_t every, struct as_instances *all,
                    uint8_t **plan, struct assay_profile_result *result, struct assay_error *err)
{
    const struct as_patch_wish wish = {
        .mode = every == 1 ? AS_PATCH_TIME : AS_PATCH_SAMPLE, .period = every, .kept = KEPT_N};
    size_t n;
    *result = (struct assay_profile_result){.exit_code = -1};
    AS_TRY(as_timed_plan(timed, &wish, plan, &n, err));
    return *plan ? as_timed_run(timed, *plan, n, all, result, err) : 0;
}

/* The least period whose cost is within the budget. */
static uint32_t choose_period(const struct as_timed *timed, const struct as_instances *pilot)
{
    const double most =
        timed->request->max_overhead > 0 ? timed->request->max_overhead : OVERHEAD_USUAL;
    uint32_t every = 1;
    while (every < PILOT_EVERY && overhead_of(timed, pilot, PILOT_EVERY, every) > most)
        every = every < 10 ? every + 1 : every + every / 4;
    return every < PILOT_EVERY ? every : PILOT_EVERY;
}

struct attempt {
    struct as_instances all;
    uint8_t *plan;
    struct assay_profile_result result;
    uint32_t every;
};

static void end_attempt(struct attempt *it)
{
    as_instances_fini(&it->all);
    as_free(it->plan);
    *it = (struct attempt){0};
}

static int try_every(struct as_timed *timed, uint32_t every, struct attempt *it,
                     struct assay_error *err)
{
    end_attempt(it);
    it->every = every;
    return run_once(timed, every, &it->all, &it->plan, &it->result, err);
}

static int time_loops(struct as_timed *timed, struct attempt *it, struct assay_error *err)
{
    const uint32_t asked = timed->request->every;
    AS_TRY(try_every(timed, asked ? asked : PILOT_EVERY, it, err));
    if (asked || !it->plan || it->result.interrupted)
        return 0;
    const uint32_t every = choose_period(timed, &it->all);
    return every < PILOT_EVERY ? try_every(timed, every, it, err) : 0;
}

/* ---- The result ---------------------------------------------------------------------------- */

static int hand_over(struct as_timed *timed, struct assay_vprof_result *result,
                     struct assay_error *err)
{
    double all = 0, refused = 0;
    result->loop = as_calloc(timed->loop.n + 1, sizeof *result->loop);
    as_vec_foreach (&timed->loop, loop) {
        if (loop->number == ASSAY_NONE)
            loop->it.reason = loop->refusal ? as_patch_refusal_text(loop->refusal)
                                            : "its code could not be read again";
        all += loop->it.share;
        refused += loop->it.reason ? loop->it.share : 0;
        if (result->loop)
            result->loop[result->loop_n++] = loop->it;
    }
    result->refused_share = all > 0 ? refused / all : 0;
    return result->loop ? 0 : as_error_nomem(err, "timed loops");
}

static int time_chosen(struct as_timed *timed, struct assay_vprof_result *result,
                       struct assay_error *err)
{
    struct attempt attempt = {0};
    int rc = timed->loop.n ? time_loops(timed, &attempt, err) : 0;
    if (rc == 0 && attempt.plan) {
        result->timed_run = attempt.result.run_id;
        result->every = attempt.every;
        result->overhead = overhead_of(timed, &attempt.all, attempt.every, attempt.every);
        rc = describe_instances(timed, &attempt.all, attempt.every, err);
    }
    const int handed = rc == 0 ? hand_over(timed, result, err) : 0;
    if (rc == 0 && handed == 0)
        rc = as_timed_write(timed, attempt.every, err);
    end_attempt(&attempt);
    return rc < 0 ? rc : handed;
}

/* Before anything runs: the agent must be able to come into the program, or the shell before it. */
static int check_command(const struct assay_profile_request *request, struct assay_error *err)
{
    struct assay_launch_plan *plan;
    if (!request->command)
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "a process that runs already cannot be timed; let assay start it");
    AS_TRY(assay_launch_plan(request->command, &plan, err));
    const int rc = as_preload_check(plan->path, "timed from inside", "", err);
    assay_launch_plan_free(&plan);
    return rc;
}

int assay_vprof_run(struct assay_experiment *experiment, const struct assay_vprof_request *request,
                    struct assay_vprof_result *result, struct assay_error *err)
{
    struct as_timed timed = {.experiment = experiment, .request = request};
    *result = (struct assay_vprof_result){.profile = {.exit_code = -1}};
    AS_TRY(check_command(&request->profile, err));
    as_input_note(&timed.input);
    AS_TRY(as_timed_record(&timed, as_collector_kinds, &request->profile, &result->profile, err));
    timed.run_id = result->profile.run_id;
    int rc = result->profile.interrupted ? 0 : as_timed_choose(&timed, err);
    if (rc == 0 && !result->profile.interrupted)
        rc = time_chosen(&timed, result, err);
    as_vec_fini(&timed.loop);
    return rc;
}

void assay_vprof_result_fini(struct assay_vprof_result *result)
{
    for (size_t i = 0; i < result->loop_n; i++) {
        as_free(result->loop[i].bucket);
        as_free(result->loop[i].cost);
    }
    as_free(result->loop);
    result->loop = NULL;
    result->loop_n = 0;
}
