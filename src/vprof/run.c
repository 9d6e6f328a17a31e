/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs `assay vprof`: a profile, the run with timing, and the results of its instances. If the
 * budget is not given, a pilot that times one instance of a thousand runs before.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "profile/collector.h"
#include "vprof/buckets.h"
#include "vprof/clones.h"
#include "vprof/line.h"
#include "vprof/paths.h"
#include "vprof/period.h"
#include "vprof/shares.h"
#include "vprof/timed.h"

#define PILOT_EVERY    1000u
#define OVERHEAD_USUAL 0.05
#define KEPT_N         8192u
#define PATHS_B        (1u << 20)
#define DISTURBED_NS   20000.0
#define AGAIN_MOST     2u /* maximum number of repeated runs */

/* ---- Sums ---------------------------------------------------------------------------------- */

/* Returns the totals of a loop, summed over all threads. */
static struct as_patch_total sum_of(const struct as_instances *all, uint32_t loop,
                                    unsigned *threads)
{
    struct as_patch_total sum = {0};
    const size_t loops = (size_t)all->plan->loop.n;
    *threads = 0;
    for (size_t at = loop; at < all->total.n; at += loops) {
        const struct as_patch_total *one = &all->total.at[at];
        sum.instances += one->instances;
        sum.trips += one->trips;
        sum.ticks += one->ticks;
        sum.dropped += one->dropped;
        sum.switched += one->switched;
        sum.faulted += one->faulted;
        for (unsigned i = 0; i < AS_PATCH_CLASSES; i++)
            sum.by_trips[i] += one->by_trips[i];
        *threads += one->instances > 0;
    }
    return sum;
}

/* Returns the estimates of another run. The first entry of each thread is always timed. */
static struct as_period period_of(const struct as_timed *timed, const struct as_instances *all,
                                  struct as_period_loop *loop)
{
    const double most = timed->request->max_overhead;
    struct as_period out = {.loop = loop,
                            .passed_ns = timed->tick.passed_ns,
                            .timed_ns = timed->tick.timed_ns,
                            .run_ns = timed->wall_ns,
                            .pilot_every = PILOT_EVERY,
                            .pilot = timed->pilot,
                            .fences = timed->fences,
                            .most = most > 0 ? most : OVERHEAD_USUAL};
    unsigned threads;
    as_vec_foreach (&timed->loop, at) {
        if (at->number == AS_NONE)
            continue;
        const struct as_entries seen = as_instances_entries(all, at->number);
        const struct as_patch_total sum = sum_of(all, at->number, &threads);
        const double n = (double)sum.instances * seen.entries / seen.measured;
        loop[out.n++] =
            (struct as_period_loop){n / (threads ? threads : 1), seen.threads / seen.entries};
    }
    return out;
}

/* ---- A loop -------------------------------------------------------------------------------- */

_Static_assert(AS_BUCKET_CHOSEN_N == AS_VPROF_CHOSEN_N, "those that stand for a bucket");

static struct as_vprof_instance instance_in_cycles(const struct as_instance *one,
                                                   const struct as_instances *all, double cycles)
{
    const struct as_instance_thread *thread = &all->thread.at[one->thread];
    return (struct as_vprof_instance){.pid = thread->pid,
                                      .tid = thread->tid,
                                      .begun = one->begun,
                                      .iterations = one->trips,
                                      .cycles = one->ticks * cycles};
}

static void copy_chosen_instances(struct as_vprof_bucket *out, const struct as_bucket *it,
                                  const struct as_instances *all, double cycles)
{
    for (size_t i = 0; i < it->chosen_n; i++)
        out->chosen[out->chosen_n++] =
            instance_in_cycles(&all->kept.at[it->chosen[i]], all, cycles);
}

/* Converts a bucket from ticks to cycles. The instances of the loop are the first of all. */
static struct as_vprof_bucket in_cycles(const struct as_bucket *it, double cycles,
                                        const struct as_instances *all)
{
    struct as_vprof_bucket out = {.low = it->low,
                                  .high = it->high,
                                  .is_split = it->is_split,
                                  .cycles_low = it->cost_low * cycles,
                                  .cycles_high = it->cost_high * cycles,
                                  .n = it->n,
                                  .share = it->share,
                                  .iterations = it->iterations,
                                  .mean = it->iteration.mean * cycles,
                                  .median = it->iteration.median * cycles,
                                  .deviation = it->iteration.deviation * cycles,
                                  .least = it->iteration.least * cycles,
                                  .stability = it->iteration.stability,
                                  .instance = it->instance.median * cycles};
    if (it->iteration.median <= 0) /* no longer than an empty instance: the clock cannot tell */
        out.mean = out.median = out.deviation = out.least = out.stability = out.instance =
            (double)NAN;
    copy_chosen_instances(&out, it, all, cycles);
    return out;
}

/* Input of the buckets of a loop. */
struct bucketed {
    struct as_instances *all; /* those of the loop are the first */
    size_t n;
    double cycles; /* per tick */
    uint32_t loop;
    const struct as_patch_total *sum;
    double each; /* instances that a measured one stands for */
};

/*
 * Returns the number of instances of the run in a bucket by iterations, with disturbed ones. The
 * agent counts each. Buckets with the same iterations share it by their examined instances.
 */
static double instances_of(const struct bucketed *of, const as_bucket_list *list,
                           const struct as_bucket *it)
{
    size_t alike = 0;
    as_vec_foreach (list, other)
        alike += other->low == it->low ? other->n : 0;
    return (double)of->sum->by_trips[as_patch_class((uint64_t)it->low)] * of->each * (double)it->n /
           (double)alike;
}

static int make_vprof_buckets(const struct bucketed *of, enum as_bucket_key key,
                              struct as_vprof_bucket **out, size_t *out_n, struct as_error *err)
{
    struct as_instances *all = of->all;
    const size_t n = of->n;
    const double cycles = of->cycles;
    as_bucket_list list = {0};
    int rc = as_buckets_make(all->kept.at, n, key, &list, err);
    *out = rc == 0 && list.n ? as_calloc(list.n, sizeof **out) : NULL;
    if (rc == 0 && list.n && !*out)
        rc = as_error_nomem(err, "buckets of instances");
    for (size_t i = 0; rc == 0 && *out && i < list.n; i++) {
        struct as_vprof_bucket *bucket = &(*out)[(*out_n)++];
        *bucket = in_cycles(&list.at[i], cycles, all);
        bucket->instances = (double)of->sum->instances * of->each * (double)bucket->n / (double)n;
        if (key == AS_BUCKET_COST) {
            bucket->low *= cycles;
            bucket->high *= cycles;
        } else {
            bucket->instances = instances_of(of, &list, &list.at[i]);
            /* Several buckets with the same iterations have the same paths. */
            rc = as_paths_store(all, of->loop, bucket, err);
        }
    }
    as_vec_fini(&list);
    return rc;
}

/* Selects some of the first `n` instances in order of time. */
static int make_time_line(struct as_vprof_loop *out, const struct as_instances *all, size_t n,
                          double cycles, struct as_error *err)
{
    struct as_instance *line;
    size_t line_n;
    AS_TRY(as_line_make(all->kept.at, n, &line, &line_n, err));
    out->line = as_calloc(line_n + 1, sizeof *out->line);
    for (size_t i = 0; out->line && i < line_n; i++)
        out->line[out->line_n++] = instance_in_cycles(&line[i], all, cycles);
    as_free(line);
    return out->line ? 0 : as_error_nomem(err, "a time line");
}

static int fill_vprof_loop(struct as_vprof_loop *out, const struct bucketed *of,
                           struct as_error *err)
{
    struct as_bucket whole;
    as_bucket_all(of->all->kept.at, of->n, &whole);
    out->all = in_cycles(&whole, of->cycles, of->all);
    out->all.instances = out->instances;
    AS_TRY(as_paths_store(of->all, of->loop, &out->all, err));
    AS_TRY(make_time_line(out, of->all, of->n, of->cycles, err));
    AS_TRY(make_vprof_buckets(of, AS_BUCKET_COST, &out->cost, &out->cost_n, err));
    return make_vprof_buckets(of, AS_BUCKET_ITERATIONS, &out->bucket, &out->bucket_n, err);
}

/* Moves the instances of a loop to the front. Returns their number. */
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

/* Returns true if entries of the loop are counted, which holds for the header of a region. */
static bool is_entry(const struct as_instances *all, uint32_t loop)
{
    const struct as_patch_loop *it = as_patch_at(all->plan, &all->plan->loop);
    const struct as_patch_region *region = as_patch_at(all->plan, &all->plan->region);
    return region[it[loop].region].first_loop == loop;
}

static bool all_are_away(const struct as_instance *it, size_t n)
{
    size_t away = 0;
    for (size_t i = 0; i < n; i++)
        away += it[i].switched;
    return n && away == n;
}

static int describe_loop(struct as_timed_loop *loop, struct as_instances *all,
                         const struct as_tick *tick, struct as_error *err)
{
    struct as_vprof_loop *out = &loop->it;
    struct as_instance *it;
    struct as_shares shares;
    const struct as_patch_total sum = sum_of(all, loop->number, &out->threads);
    size_t n = of_one_loop(all, loop->number, &it);
    out->timed = n;
    out->switched = sum.switched;
    out->faulted = sum.faulted;
    n = as_instances_run(it, n, tick->ns);
    n = as_instances_clean(it, n, tick->overhead, DISTURBED_NS / tick->ns);
    out->is_cpu_time = all_are_away(it, n);
    out->disturbed = out->timed - n;
    out->cut = sum.dropped;
    const struct as_entries seen = as_instances_entries(all, loop->number);
    const double each = seen.entries / seen.measured; /* stands for so many */
    out->is_exact = seen.is_exact && seen.entries == seen.measured;
    out->is_counted = is_entry(all, loop->number) && seen.is_exact &&
                      (double)sum.instances == seen.measured; /* none was cut */
    out->is_counted |= out->is_exact;
    out->has_iterations = n ? !isnan(it[0].trips) : is_counted(all->plan, loop->number);
    out->instances =
        out->is_counted && !out->is_exact ? seen.entries : (double)sum.instances * each;
    out->iterations = (double)sum.trips * each;
    AS_TRY(as_shares_find(all, loop->number, &shares, err));
    out->processes = shares.processes;
    out->imbalance = shares.by_thread;
    out->imbalance_processes = shares.by_process;
    out->imbalance_within = shares.within;
    const struct bucketed of = {all, n, tick->cycles, loop->number, &sum, each};
    return fill_vprof_loop(out, &of, err);
}

/* Returns why a loop has no instances, or NULL if it has some. */
static const char *why_not(const struct as_instances *all, const struct as_timed_loop *loop)
{
    const struct as_patch_loop *planned = as_patch_at(all->plan, &all->plan->loop);
    unsigned threads;
    return sum_of(all, loop->number, &threads).instances
               ? NULL
               : as_instances_why_not(all, planned[loop->number].region);
}

static uint64_t first_ticks(const struct as_timed *timed, const struct as_instances *all)
{
    const struct as_tick *tick = &timed->tick;
    double first_ns = 0; /* ns after the comparison of the clocks */
    as_vec_foreach (&all->thread, thread) {
        const double ns = (double)((int64_t)thread->begun_ns - tick->at_ns);
        first_ns = thread == all->thread.at || ns < first_ns ? ns : first_ns;
    }
    return tick->at + (uint64_t)(first_ns > 0 ? first_ns / tick->ns : 0);
}

static int describe_instances(struct as_timed *timed, struct as_instances *all,
                              struct as_error *err)
{
    as_vec_foreach (&timed->loop, loop) {
        if (loop->number == AS_NONE)
            continue;
        loop->it.reason = why_not(all, loop);
        if (!loop->it.reason)
            AS_TRY(describe_loop(loop, all, &timed->tick, err));
    }
    return 0;
}

/* ---- Runs ---------------------------------------------------------------------------------- */

static int run_once(struct as_timed *timed, uint32_t every, struct as_instances *all,
                    uint8_t **plan, struct as_profile_result *result, struct as_error *err)
{
    const struct as_patch_wish wish = {.mode = every == 1 ? AS_PATCH_TIME : AS_PATCH_SAMPLE,
                                       .period = every,
                                       .kept = KEPT_N,
                                       .paths_b = PATHS_B};
    size_t n;
    *result = (struct as_profile_result){.exit_code = -1};
    AS_TRY(as_timed_plan(timed, &wish, plan, &n, err));
    const struct as_clones clones = {.plan = *plan,
                                     .plan_n = n,
                                     .program = timed->program,
                                     .kind = "vprof",
                                     .reference_id = timed->run_id,
                                     .out = all};
    return *plan ? as_clones_run(timed->experiment, &timed->input, &timed->request->profile,
                                 &clones, result, err)
                 : 0;
}

struct attempt {
    struct as_instances all;
    uint8_t *plan;
    struct as_profile_result result;
    uint32_t every;
};

static void end_attempt(struct attempt *it)
{
    as_instances_fini(&it->all);
    as_free(it->plan);
    *it = (struct attempt){0};
}

static int try_every(struct as_timed *timed, uint32_t every, struct attempt *it,
                     struct as_error *err)
{
    end_attempt(it);
    it->every = every;
    return run_once(timed, every, &it->all, &it->plan, &it->result, err);
}

/* Returns the additional CPU time of an attempt as a share of the first run; negative if unknown.
 */
static double took_more(const struct as_timed *timed, const struct attempt *it)
{
    const double before_ns = as_clones_cpu_ns(timed->experiment, timed->run_id);
    if (before_ns <= 0 || !timed->request->profile.command) /* attached: the work differs */
        return -1;
    return fmax(0, as_clones_cpu_ns(timed->experiment, it->result.run_id) / before_ns - 1);
}

/*
 * Repeats the run with a longer period if its overhead was above the allowed one. The real overhead
 * of a clock reading depends on the work that it delays.
 */
static int time_within(struct as_timed *timed, struct attempt *it, struct as_period_loop *loop,
                       uint32_t every, struct as_error *err)
{
    for (unsigned again = 0;; again++) {
        AS_TRY(try_every(timed, every, it, err));
        timed->took = it->plan ? took_more(timed, it) : -1;
        if (!it->plan || it->result.interrupted || again == AGAIN_MOST || every >= PILOT_EVERY)
            return 0;
        const struct as_period period = period_of(timed, &it->all, loop);
        if (timed->took <= period.most)
            return 0;
        timed->fences = as_period_fences(&period, every, timed->took);
        const struct as_period next = period_of(timed, &it->all, loop);
        const uint32_t longer = as_period_choose(&next);
        if (longer <= every)
            return 0;
        every = longer;
    }
}

/* Times the loops. `loop` is work space for all loops. */
static int time_loops(struct as_timed *timed, struct attempt *it, struct as_period_loop *loop,
                      struct as_error *err)
{
    const uint32_t asked = timed->request->every;
    timed->tick = as_tick_calibrate();
    AS_TRY(try_every(timed, asked ? asked : PILOT_EVERY, it, err));
    if (asked || !it->plan || it->result.interrupted)
        return 0;
    timed->pilot = timed->took = took_more(timed, it);
    const struct as_period period = period_of(timed, &it->all, loop);
    const uint32_t every = as_period_choose(&period);
    return every < PILOT_EVERY ? time_within(timed, it, loop, every, err) : 0;
}

/* ---- The result ---------------------------------------------------------------------------- */

static int hand_over(struct as_timed *timed, struct as_vprof_result *result, struct as_error *err)
{
    double all = 0, refused = 0;
    result->loop = as_calloc(timed->loop.n + 1, sizeof *result->loop);
    as_vec_foreach (&timed->loop, loop) {
        if (loop->number == AS_NONE)
            loop->it.reason =
                loop->refusal ? as_patch_refusal_text(loop->refusal) : "its code was not readable";
        all += loop->it.share;
        refused += loop->it.reason ? loop->it.share : 0;
        if (result->loop)
            result->loop[result->loop_n++] = loop->it;
    }
    result->refused_share = all > 0 ? refused / all : 0;
    return result->loop ? 0 : as_error_nomem(err, "timed loops");
}

static int time_chosen(struct as_timed *timed, struct as_vprof_result *result, struct as_error *err)
{
    struct attempt attempt = {0};
    struct as_period_loop *loop = as_calloc(timed->loop.n + 1, sizeof *loop);
    int rc = loop ? 0 : as_error_nomem(err, "loops to be timed");
    if (rc == 0 && timed->loop.n)
        rc = time_loops(timed, &attempt, loop, err);
    if (rc == 0 && attempt.plan) {
        result->interrupted = attempt.result.interrupted;
        result->timed_run = attempt.result.run_id;
        result->every = attempt.every;
        result->passed_ns = timed->tick.passed_ns;
        result->timed_ns = timed->tick.timed_ns;
        const struct as_period period = period_of(timed, &attempt.all, loop);
        result->overhead = as_period_cost(&period, attempt.every);
        result->overhead_seen = timed->took;
        result->threads_missed = attempt.all.threads_missed;
        snprintf(result->rest, sizeof result->rest, "%s", attempt.all.rest);
        timed->first = first_ticks(timed, &attempt.all);
        as_tick_repeat(&timed->tick);
        result->empty_cycles = timed->tick.overhead * timed->tick.cycles;
        result->cycle_ns = timed->tick.ns / timed->tick.cycles;
        rc = describe_instances(timed, &attempt.all, err);
    }
    as_paths_take(&attempt.all, result);
    const int handed = rc == 0 ? hand_over(timed, result, err) : 0;
    if (rc == 0 && handed == 0)
        rc = as_timed_write(timed, result, err);
    end_attempt(&attempt);
    as_free(loop);
    return rc < 0 ? rc : handed;
}

int as_vprof_run(struct as_experiment *experiment, const struct as_vprof_request *request,
                 struct as_vprof_result *result, struct as_error *err)
{
    struct as_timed timed = {.experiment = experiment, .request = request, .pilot = -1, .took = -1};
    *result = (struct as_vprof_result){.profile = {.exit_code = -1}};
    AS_TRY(as_clones_check(&request->profile, "timed from inside", err));
    as_input_note(&timed.input);
    AS_TRY(as_clones_record(experiment, &timed.input, as_collector_kinds, &request->profile,
                            &result->profile, err));
    timed.run_id = result->profile.run_id;
    result->interrupted = result->profile.interrupted;
    int rc = result->profile.interrupted ? 0 : as_timed_choose(&timed, err);
    if (rc == 0 && !result->profile.interrupted)
        rc = time_chosen(&timed, result, err);
    as_vec_fini(&timed.loop);
    return rc;
}

int as_vprof_again(struct as_experiment *experiment, int64_t run_id, struct as_campaign *campaign,
                   const struct as_vprof_request *request, struct as_vprof_result *result,
                   struct as_error *err)
{
    struct as_timed timed = {.experiment = experiment,
                             .request = request,
                             .took = -1,
                             .input = *as_campaign_input(campaign),
                             .run_id = run_id};
    *result = (struct as_vprof_result){.profile = {.run_id = run_id, .exit_code = -1}};
    AS_TRY(as_clones_check(&request->profile, "timed from inside", err));
    AS_TRY(as_campaign_check(campaign, 1, err));
    int rc = as_timed_choose(&timed, err);
    if (rc == 0 && !(request->joins && timed.loop.n == 0))
        rc = time_chosen(&timed, result, err);
    as_vec_fini(&timed.loop);
    return rc;
}

void as_vprof_result_fini(struct as_vprof_result *result)
{
    for (size_t i = 0; i < result->loop_n; i++) {
        as_free(result->loop[i].bucket);
        as_free(result->loop[i].cost);
        as_free(result->loop[i].line);
    }
    for (size_t i = 0; i < result->path_text_n; i++)
        as_free(result->path_text[i]);
    as_free(result->path_text);
    result->path_text = NULL;
    result->path_text_n = 0;
    as_free(result->loop);
    result->loop = NULL;
    result->loop_n = 0;
}
