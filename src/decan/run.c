/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs `assay decan`. It chooses the hot loops of a profiled run. It runs the program with variants
 * in place of some instances, again if instances are lacking, and judges the loops.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "decan/internal.h"
#include "decan/variants.h"
#include "vprof/clones.h"

#define INSTANCES_USUAL 31u
#define RUNS_USUAL      2u
#define OVERHEAD_USUAL  1.0
/* Used share of the allowed overhead: with all of it, a program of 0.5 s took 1.16 of its time. */
#define COUNTED      0.75
#define KEPT_N       16u /* records of instances that are timed in place; variants have their own */
#define DISTURBED_NS 20000.0

/* ---- One run -------------------------------------------------------------------------------- */

struct reading {
    struct as_decan *decan;
    const struct as_patch_plan *plan;
};

/* Maps loop numbers in new records from this plan to the loops of the first run. */
static void number_records(struct as_decan *decan, size_t from)
{
    for (size_t i = from; i < decan->all.record.n; i++) {
        struct as_varied *it = &decan->all.record.at[i];
        const uint32_t planned = it->loop;
        it->loop = AS_NONE;
        as_vec_foreach (&decan->timed.loop, loop)
            if (loop->number == planned)
                it->loop = (uint32_t)(loop - decan->timed.loop.at);
    }
}

static int read_variants(void *context, const char *directory, struct as_error *err)
{
    struct reading *reading = context;
    struct as_decan *decan = reading->decan;
    const size_t before = decan->all.record.n;
    AS_TRY(as_varied_read(directory, reading->plan, decan->timed.tick.overhead, &decan->all, err));
    number_records(decan, before);
    return 0;
}

/*
 * Converts an allowed overhead to the maximum share of variants in the time of threads, in per
 * cent. After-effects of variants (cold caches, frequency) count as time of the program.
 */
static uint32_t share_of(double overhead)
{
    const double most = (overhead > 0 ? overhead : OVERHEAD_USUAL) * COUNTED;
    return (uint32_t)fmax(1, round(100 * most / (1 + most)));
}

static int note_patch_outcomes(struct as_decan *decan, const struct as_instances *all)
{
    struct as_decan_result *result = decan->result;
    result->threads_missed += all->threads_missed;
    result->damaged += all->damaged;
    as_vec_foreach (&decan->timed.loop, loop) {
        const struct as_patch_loop *planned = as_patch_at(all->plan, &all->plan->loop);
        if (loop->number != AS_NONE)
            loop->it.reason = as_instances_why_not(all, planned[loop->number].region);
    }
    return 0;
}

static void note_variants(const struct as_patch_plan *plan, const struct as_timed_loop *loop,
                          struct as_varied_loop *out)
{
    const struct as_patch_loop *planned = as_patch_at(plan, &plan->loop);
    const struct as_patch_region *region = as_patch_at(plan, &plan->region);
    const struct as_patch_variant *variant = as_patch_at(plan, &plan->variant);
    region += planned[loop->number].region;
    for (uint32_t i = 0; i < region->variants; i++) {
        const struct as_patch_variant *it = &variant[region->first_variant + i];
        if (it->kind < AS_VARIANT_KINDS)
            out->bits[it->kind] |= it->bits;
    }
}

/* Returns true if inner loops have variants in place of this loop. */
static bool was_nested(const struct as_varied_loop *varied)
{
    return as_variant_is_nested(varied->unvaried[AS_VARIANT_REC]);
}

static void note_plan(struct as_decan *decan, const struct as_patch_plan *plan)
{
    as_vec_foreach (&decan->timed.loop, loop) {
        struct as_varied_loop *out = &decan->varied[loop - decan->timed.loop.at];
        out->is_planned |= loop->number != AS_NONE;
        if (decan->result->runs == 0 || (was_nested(out) && loop->number != AS_NONE))
            memcpy(out->unvaried, loop->unvaried, sizeof out->unvaried);
        if (plan && loop->number != AS_NONE)
            note_variants(plan, loop, out);
    }
}

/* Runs the program with the variants of `kinds`. */
static int run_once(struct as_decan *decan, uint32_t kinds, bool *ran, struct as_error *err)
{
    struct as_timed *timed = &decan->timed;
    struct as_decan_result *result = decan->result;
    const unsigned wanted = result->wanted;
    const struct as_patch_wish wish = {.mode = AS_PATCH_VARY,
                                       .period = wanted,
                                       .kept = KEPT_N,
                                       .variants = kinds,
                                       .slices = result->runs > 0,
                                       .nests = result->runs > 0};
    uint8_t *plan = NULL;
    size_t n = 0;
    *ran = false;
    AS_TRY(as_timed_plan(timed, &wish, &plan, &n, err));
    note_plan(decan, (const void *)plan);
    if (!plan)
        return 0;
    struct as_instances all = {.plan = (const void *)plan};
    struct reading reading = {decan, (const void *)plan};
    const struct as_clones clones = {.plan = plan,
                                     .plan_n = n,
                                     .program = timed->program,
                                     .kind = "decan",
                                     .reference_id = timed->run_id,
                                     .out = &all,
                                     .share = share_of(decan->request->max_overhead),
                                     .together = decan->request->together,
                                     .also = read_variants,
                                     .context = &reading};
    result->varied = (struct as_profile_result){.exit_code = -1};
    int rc = as_clones_run(timed->experiment, &timed->input, &decan->request->profile, &clones,
                           &result->varied, err);
    if (rc == 0)
        rc = note_patch_outcomes(decan, &all);
    as_instances_fini(&all);
    as_free(plan);
    *ran = rc == 0;
    result->runs += *ran;
    result->interrupted |= result->varied.interrupted;
    return rc;
}

/* ---- Enough --------------------------------------------------------------------------------- */

static uint32_t count_takes(const struct as_decan *decan, uint32_t loop, unsigned kind)
{
    uint32_t n = 0;
    as_vec_foreach (&decan->all.record, it)
        n += it->loop == loop && it->kind == kind && !(it->flags & ~AS_VARIANT_SWITCHED);
    return n;
}

/* Returns the kinds of variants with too few instances, one bit each. */
static uint32_t lacking_of(const struct as_decan *decan, uint32_t number)
{
    uint32_t lacks = 0;
    for (unsigned kind = 0; decan->varied[number].is_planned && kind < AS_VARIANT_KINDS; kind++) {
        if (kind == AS_VARIANT_REC ||
            (kind != AS_VARIANT_ORIG && decan->varied[number].unvaried[kind]) ||
            !(decan->asked >> kind & 1))
            continue;
        lacks |= count_takes(decan, number, kind) < decan->result->wanted ? 1u << kind : 0;
    }
    return lacks;
}

/* Returns true if the loop has records. Another run does not help a loop that is never entered. */
static bool has_records(const struct as_decan *decan, uint32_t loop)
{
    as_vec_foreach (&decan->all.record, it)
        if (it->loop == loop)
            return true;
    return false;
}

/*
 * Returns the missing kinds of a sliced loop, at most as many as a run has instances of it. Kinds
 * with the largest weight in the verdict come first. Each run starts with ORIG.
 */
static uint32_t starved_of(const struct as_decan *decan, uint32_t number, uint32_t lacks)
{
    static const enum as_variant_kind order[] = {
        AS_VARIANT_DL1,   AS_VARIANT_LS,    AS_VARIANT_FP,    AS_VARIANT_FES,
        AS_VARIANT_NODIV, AS_VARIANT_NORED, AS_VARIANT_AGAIN, AS_VARIANT_REF};
    uint32_t all = 0, kinds = 0;
    for (unsigned kind = 0; kind < AS_VARIANT_KINDS; kind++)
        all += kind == AS_VARIANT_REC ? 0 : count_takes(decan, number, kind);
    uint32_t left = all / decan->result->runs > 2 ? all / decan->result->runs - 1 : 1;
    for (unsigned i = 0; left && i < sizeof order / sizeof *order; i++)
        if (lacks >> order[i] & 1 && count_takes(decan, number, order[i]) == 0) {
            kinds |= 1u << order[i];
            left--;
        }
    return kinds;
}

/*
 * Returns the kinds for another run with slices of iterations, and drops loops with enough
 * instances. If a run with slices left kinds without instances, the next run has only these kinds.
 */
static uint32_t lacking_kinds(struct as_decan *decan)
{
    uint32_t kinds = 0, starved = 0;
    as_vec_foreach (&decan->timed.loop, loop) {
        const uint32_t number = (uint32_t)(loop - decan->timed.loop.at);
        const uint32_t lacks = has_records(decan, number)           ? lacking_of(decan, number)
                               : was_nested(&decan->varied[number]) ? decan->asked
                                                                    : 0;
        loop->left_out = lacks == 0;
        loop->number = AS_NONE;
        kinds |= lacks;
        starved |= lacks && decan->result->runs > 1 && has_records(decan, number)
                       ? starved_of(decan, number, lacks)
                       : 0;
    }
    return starved ? starved : kinds;
}

/* Compares the end of the program with that of the run without variants. */
static int compare_ends(struct as_decan *decan, struct as_error *err)
{
    struct as_decan_result *result = decan->result;
    struct as_rows *rows;
    AS_TRY(as_rows_open(decan->timed.experiment,
                        "SELECT ifnull(exit_code, -1), ifnull(exit_signal, 0) FROM run"
                        " WHERE run_id = ?1",
                        &rows, err));
    as_rows_bind_integer(rows, 1, decan->timed.run_id);
    const int rc = as_rows_next(rows, err);
    if (rc > 0 && !result->varied.stopped && !result->varied.interrupted)
        result->differs |= as_rows_integer(rows, 0) != result->varied.exit_code ||
                           as_rows_integer(rows, 1) != result->varied.exit_signal;
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

static int run_variants(struct as_decan *decan, struct as_error *err)
{
    static const uint32_t always = 1u << AS_VARIANT_REC;
    struct as_decan_result *result = decan->result;
    const unsigned most = decan->request->runs ? decan->request->runs : RUNS_USUAL;
    uint32_t kinds = decan->asked;
    bool ran = true;
    while (kinds && ran && result->runs < most && !result->interrupted && !result->differs) {
        AS_TRY(run_once(decan, kinds | always, &ran, err));
        if (ran && result->runs == 1 && !result->interrupted) {
            const double before = as_clones_cpu_ns(decan->timed.experiment, decan->timed.run_id);
            const double with = as_clones_cpu_ns(decan->timed.experiment, result->varied.run_id);
            result->slowdown = before > 0 ? with / before : 0;
        }
        if (ran)
            AS_TRY(compare_ends(decan, err));
        kinds = lacking_kinds(decan);
    }
    return 0;
}

/* Counts slices as instances with the iterations of the longest complete one. */
static void join_slices(struct as_decan *decan)
{
    as_vec_foreach (&decan->all.record, it) {
        if (it->loop == AS_NONE || it->flags & AS_VARIANT_SLICED)
            continue;
        double *longest = &decan->varied[it->loop].longest;
        *longest = fmax(*longest, it->whole);
    }
    as_vec_foreach (&decan->all.record, it)
        if (it->loop != AS_NONE && it->flags & AS_VARIANT_SLICED)
            it->whole = fmax(it->trips, decan->varied[it->loop].longest);
}

/* ---- The result ----------------------------------------------------------------------------- */

/* Moves the records of a loop to the front. Returns their number. */
static size_t group_loop_records(struct as_decan *decan, uint32_t loop)
{
    size_t n = 0;
    for (size_t i = 0; i < decan->all.record.n; i++) {
        if (decan->all.record.at[i].loop != loop)
            continue;
        const struct as_varied swap = decan->all.record.at[n];
        decan->all.record.at[n++] = decan->all.record.at[i];
        decan->all.record.at[i] = swap;
    }
    return n;
}

static void count_flags(const struct as_varied *it, size_t n, struct as_decan_loop *out)
{
    for (size_t i = 0; i < n; i++) {
        out->held += (it[i].flags & AS_VARIANT_HELD) != 0;
        out->wide += (it[i].flags & AS_VARIANT_WIDE) != 0;
        out->faulted += (it[i].flags & AS_VARIANT_FAULTED) != 0;
        out->endless += (it[i].flags & AS_VARIANT_ENDLESS) != 0;
    }
}

static int count_threads(const struct as_decan *decan, size_t n, struct as_decan_loop *out)
{
    bool *seen = as_calloc(decan->all.threads + 1, sizeof *seen);
    for (size_t i = 0; seen && i < n; i++) {
        bool *it = &seen[decan->all.record.at[i].thread];
        out->threads += !*it;
        *it = true;
    }
    as_free(seen);
    return seen ? 0 : AS_ERR_NOMEM;
}

static const char *missing_variant_reason(const struct as_varied_loop *varied, unsigned kind)
{
    return kind != AS_VARIANT_ORIG && varied->unvaried[kind]
               ? as_variant_refusal_text(varied->unvaried[kind])
               : "it was not entered";
}

/* Adds requested variants that are missing, with the reason. */
static void add_missing(const struct as_decan *decan, const struct as_varied_loop *varied,
                        struct as_decan_bucket *bucket)
{
    struct as_decan_measured all[AS_DECAN_TAKES_MOST];
    size_t n = 0;
    for (unsigned kind = 0; kind < AS_VARIANT_KINDS; kind++) {
        size_t at = 0;
        while (at < bucket->take_n && bucket->take[at].kind != kind)
            at++;
        if (kind == AS_VARIANT_REC || (at == bucket->take_n && !(decan->asked >> kind & 1)))
            continue;
        all[n] = at < bucket->take_n
                     ? bucket->take[at]
                     : (struct as_decan_measured){.kind = kind,
                                                  .variant = as_variant_name(kind),
                                                  .reason = missing_variant_reason(varied, kind),
                                                  .speedup = (double)NAN};
        all[n].decides = varied->bits[kind] & AS_VARIANT_DECIDES;
        all[n++].chains = varied->bits[kind] & AS_VARIANT_CHAINS;
    }
    memcpy(bucket->take, all, n * sizeof *all);
    bucket->take_n = n;
}

static const char *why_nothing(const struct as_decan_loop *loop)
{
    return loop->held   ? "it may store values that its addresses or branches depend on"
           : loop->wide ? "it stores more than the undo log can hold"
           : loop->endless || loop->faulted
               ? "it does not end with its branches and addresses alone"
               : "it was entered too rarely to run a variant";
}

static const char *why_refused(const struct as_timed_loop *loop,
                               const struct as_varied_loop *varied)
{
    const unsigned of_all = varied->unvaried[AS_VARIANT_REC];
    if (loop->refusal == AS_PATCH_REFUSED_VARIANTS && of_all)
        return as_variant_refusal_text(of_all);
    return loop->refusal ? as_patch_refusal_text(loop->refusal) : "its code was not readable";
}

static int describe_loop(struct as_decan *decan, const struct as_timed_loop *from,
                         struct as_decan_loop *out, struct as_error *err)
{
    const size_t number = (size_t)(from - decan->timed.loop.at);
    const struct as_varied_loop *varied = &decan->varied[number];
    const struct as_tick *tick = &decan->timed.tick;
    const struct as_decan_scale scale = {tick->cycles, DISTURBED_NS / tick->ns};
    *out = (struct as_decan_loop){.loop_id = from->it.loop_id,
                                  .module_id = from->it.module_id,
                                  .address = from->it.address,
                                  .share = from->it.share,
                                  .gained = (double)NAN};
    if (!varied->is_planned) {
        out->reason = why_refused(from, varied);
        return 0;
    }
    const size_t n = group_loop_records(decan, (uint32_t)number);
    count_flags(decan->all.record.at, n, out);
    if (count_threads(decan, n, out) < 0)
        return as_error_nomem(err, "threads of a loop");
    AS_TRY(
        as_measurements_make(decan->all.record.at, n, &scale, &out->bucket, &out->bucket_n, err));
    if (out->bucket_n == 0) {
        out->reason = from->it.reason && n == 0 ? from->it.reason : why_nothing(out);
        return 0;
    }
    for (size_t i = 0; i < out->bucket_n; i++)
        add_missing(decan, varied, &out->bucket[i]);
    return as_decan_judge_loop(decan, out, varied->bits, err);
}

static int describe_loops(struct as_decan *decan, struct as_error *err)
{
    struct as_decan_result *result = decan->result;
    double all = 0, refused = 0;
    result->loop = as_calloc(decan->timed.loop.n + 1, sizeof *result->loop);
    if (!result->loop)
        return as_error_nomem(err, "variants of loops");
    AS_TRY(as_decan_machine_read(decan, err));
    as_vec_foreach (&decan->timed.loop, loop) {
        struct as_decan_loop *out = &result->loop[result->loop_n++];
        AS_TRY(describe_loop(decan, loop, out, err));
        all += out->share;
        refused += out->reason ? out->share : 0;
    }
    result->refused_share = all > 0 ? refused / all : 0;
    result->together = decan->request->together;
    result->met =
        decan->all.record.n ? (double)decan->all.overlap_n / (double)decan->all.record.n : 0;
    result->team =
        decan->all.overlap_n ? (double)decan->all.team / (double)decan->all.overlap_n : 0;
    result->lost = decan->all.lost;
    result->damaged += decan->all.damaged;
    return 0;
}

static void set_spent(struct as_decan *decan)
{
    struct as_decan_result *result = decan->result;
    const double cpu_ns = result->varied.run_id
                              ? as_clones_cpu_ns(decan->timed.experiment, result->varied.run_id)
                              : 0;
    result->spent = cpu_ns > 0 && result->runs ? decan->all.spent_ns / result->runs / cpu_ns : 0;
}

static int vary_chosen(struct as_decan *decan, struct as_error *err)
{
    decan->varied = as_calloc(decan->timed.loop.n + 1, sizeof *decan->varied);
    if (!decan->varied)
        return as_error_nomem(err, "variants of loops");
    decan->timed.tick = as_tick_calibrate();
    int rc = decan->timed.loop.n ? run_variants(decan, err) : 0;
    join_slices(decan);
    as_tick_repeat(&decan->timed.tick);
    decan->result->cycle_ns = decan->timed.tick.ns / decan->timed.tick.cycles;
    if (rc == 0)
        rc = describe_loops(decan, err);
    if (rc == 0) {
        set_spent(decan);
        rc = as_decan_write(decan, err);
    }
    as_free(decan->varied);
    return rc;
}

int as_decan_again(struct as_experiment *experiment, int64_t run_id, struct as_campaign *campaign,
                   const struct as_decan_request *request, struct as_decan_result *result,
                   struct as_error *err)
{
    const struct as_vprof_request hot = {
        .profile = request->profile, .top = request->top, .loops = request->loops};
    struct as_decan decan = {.timed = {.experiment = experiment,
                                       .request = &hot,
                                       .input = *as_campaign_input(campaign),
                                       .run_id = run_id},
                             .request = request,
                             .result = result};
    *result = (struct as_decan_result){.profile = {.run_id = run_id, .exit_code = -1},
                                       .varied = {.exit_code = -1},
                                       .wanted = request->instances ? request->instances
                                                                    : INSTANCES_USUAL};
    AS_TRY(as_variants_parse(request->variants, &decan.asked, err));
    if (!request->profile.command)
        return as_error_set(err, AS_ERR_USAGE,
                            "loops of a running process cannot be varied; use assay decan -- CMD");
    AS_TRY(as_clones_check(&request->profile, "varied from inside", err));
    AS_TRY(as_campaign_check(campaign, 1, err));
    int rc = as_timed_choose(&decan.timed, err);
    if (rc == 0)
        rc = vary_chosen(&decan, err);
    as_varied_fini(&decan.all);
    as_vec_fini(&decan.timed.loop);
    return rc;
}

void as_decan_result_fini(struct as_decan_result *result)
{
    for (size_t i = 0; i < result->loop_n; i++)
        as_free(result->loop[i].bucket);
    as_free(result->loop);
    result->loop = NULL;
    result->loop_n = 0;
}
