/* SPDX-License-Identifier: Apache-2.0 */
/* Runs `assay count`: a profile, the plan, the run with counters, and the sums. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "count/traffic.h"
#include "profile/collector.h"
#include "vprof/clones.h"

const char *as_count_word(unsigned count)
{
    static const char *const words[] = {
#define COUNT_WORD(name, word) word,
        AS_COUNT_LIST(COUNT_WORD)
#undef COUNT_WORD
    };
    return count < AS_COUNTS ? words[count] : "";
}

double as_count_intensity(const struct as_count_object *object)
{
    const double bytes = object->count[AS_COUNT_LOAD_B] + object->count[AS_COUNT_STORE_B];
    return bytes > 0 ? object->count[AS_COUNT_FLOP] / bytes : (double)NAN;
}

/* ---- The result ---------------------------------------------------------------------------- */

/* A function and its loops are ordered by the share of the function. */
static void set_groups(struct as_block_counting *counting)
{
    const struct as_counted_object *function = NULL;
    as_vec_foreach (&counting->object, object) {
        const uint32_t number = (uint32_t)(object - counting->object.at);
        const struct as_counted_module *module = &counting->module.at[object->module];
        if (object->it.kind == AS_OBJECT_FUNCTION)
            function = object;
        const bool in_function =
            object->it.kind == AS_OBJECT_FUNCTION ||
            (function && function->module == object->module &&
             module->code->program->loop[object->number].body == function->number);
        object->group_share = in_function ? function->it.share : object->it.share;
        object->group = in_function ? (uint32_t)(function - counting->object.at) : number;
        object->position = number;
    }
}

static int by_group(const void *a, const void *b)
{
    const struct as_counted_object *x = a, *y = b;
    if (x->group_share < y->group_share || x->group_share > y->group_share)
        return x->group_share < y->group_share ? 1 : -1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

/*
 * Returns the refused share of time. Also sets the uncounted share of each object with a reason.
 * That of a refused function does not include its loops, which have their own.
 */
double as_counting_refused(struct as_block_counting *counting)
{
    double all = 0, uncounted = 0;
    set_groups(counting);
    as_vec_foreach (&counting->object, object) {
        struct as_count_object *group = &counting->object.at[object->group].it;
        const bool is_own = object->group == object->position;
        all += is_own ? object->it.share : 0;
        object->it.uncounted += object->it.reason ? object->it.share : 0;
        if (!is_own && group->reason)
            group->uncounted -= object->it.share;
    }
    as_vec_foreach (&counting->object, object) {
        object->it.uncounted = object->it.uncounted > 0 ? object->it.uncounted : 0;
        uncounted += object->it.uncounted;
    }
    return all > 0 ? uncounted / all : 0;
}

static int hand_over(struct as_block_counting *counting, struct as_count_result *result,
                     struct as_error *err)
{
    if (counting->object.n)
        qsort(counting->object.at, counting->object.n, sizeof *counting->object.at, by_group);
    result->object = as_calloc(counting->object.n + 1, sizeof *result->object);
    if (!result->object)
        return as_error_nomem(err, "what was counted");
    as_vec_foreach (&counting->object, object)
        result->object[result->object_n++] = object->it;
    return 0;
}

/* ---- The run ------------------------------------------------------------------------------- */

static int count_planned(struct as_block_counting *counting, const struct as_input *input,
                         const uint8_t *plan, size_t plan_n, struct as_count_result *result,
                         struct as_error *err)
{
    struct as_instances all = {.plan = (const void *)plan};
    struct as_profile_result run = {.exit_code = -1};
    const struct as_clones clones = {.plan = plan,
                                     .plan_n = plan_n,
                                     .program = counting->program,
                                     .kind = "count",
                                     .reference_id = counting->run_id,
                                     .out = &all,
                                     .begin = counting->traffic ? as_level_traffic_begin : NULL,
                                     .also = counting->traffic ? as_level_traffic_end : NULL,
                                     .context = counting->traffic};
    int rc =
        as_clones_run(counting->experiment, input, &counting->request->profile, &clones, &run, err);
    const bool is_attached = !counting->request->profile.command;
    const bool counts = !run.interrupted || is_attached;
    result->interrupted = run.interrupted;
    if (rc == 0 && counts)
        rc = as_counting_sum(counting, &all, err);
    if (rc == 0 && counts && counting->traffic)
        rc = as_level_traffic_sum(counting->traffic, &all, err);
    if (rc == 0 && counts) {
        const double before_ns =
            is_attached ? 0 : as_clones_cpu_ns(counting->experiment, counting->run_id);
        memcpy(result->rest, all.rest, sizeof result->rest);
        result->counted_run = run.run_id;
        result->threads_missed = all.threads_missed;
        result->damaged = all.damaged;
        result->slowdown =
            before_ns > 0 ? as_clones_cpu_ns(counting->experiment, run.run_id) / before_ns : 0;
    }
    as_instances_fini(&all);
    return rc;
}

static int count_chosen(struct as_block_counting *counting, const struct as_input *input,
                        struct as_count_result *result, struct as_error *err)
{
    uint8_t *plan = NULL;
    size_t plan_n = 0;
    AS_TRY(as_counting_choose(counting, err));
    int rc = as_counting_plan(counting, &plan, &plan_n, err);
    if (rc == 0 && plan && counting->traffic) {
        counting->traffic->clones = (const void *)plan;
        rc = as_level_traffic_prepare(counting->traffic, err);
    }
    if (rc == 0 && plan)
        rc = count_planned(counting, input, plan, plan_n, result, err);
    as_free(plan);
    if (result->interrupted && !result->counted_run) /* counts of half a run are none */
        return rc;
    if (rc == 0)
        rc = as_counting_write(counting, result, err);
    return rc == 0 ? hand_over(counting, result, err) : rc;
}

static void end_counting(struct as_block_counting *counting)
{
    as_vec_foreach (&counting->module, module) {
        as_catalogue_close(counting->catalogue, &module->code);
        as_free(module->body);
        as_free(module->loop);
        as_free(module->refusal);
        as_free(module->verdict);
        as_free(module->body_object);
        as_free(module->loop_object);
        as_vec_fini(&module->ran);
    }
    as_vec_fini(&counting->module);
    as_vec_fini(&counting->object);
}

static int count_run(struct as_experiment *experiment, int64_t run_id, const struct as_input *input,
                     const struct as_count_request *request, struct as_count_result *result,
                     struct as_error *err)
{
    const struct as_attribute_options *attribute = &request->profile.attribute;
    const struct as_catalogue_options how = {.jobs = attribute->jobs, .open = attribute->open};
    struct as_block_counting counting = {.experiment = experiment,
                                         .catalogue = attribute->catalogue,
                                         .request = request,
                                         .run_id = run_id};
    struct as_level_traffic traffic = {.counting = &counting};
    struct as_catalogue *own = NULL;
    counting.traffic = request->levels ? &traffic : NULL;
    if (!counting.catalogue)
        AS_TRY(as_catalogue_new(experiment, &how, &own, err));
    counting.catalogue = own ? own : counting.catalogue;
    const int rc = count_chosen(&counting, input, result, err);
    if (traffic.is_ready)
        result->replayed_share = as_level_replay_share(&traffic.replay);
    as_level_traffic_fini(&traffic);
    end_counting(&counting);
    as_catalogue_free(&own);
    return rc;
}

/* Checks the requested caches before any run. */
static int check_levels(const struct as_count_request *request, struct as_error *err)
{
    struct as_cache_level level[AS_COUNT_LEVELS];
    unsigned n;
    if (request->levels && !request->profile.command)
        return as_error_set(err, AS_ERR_USAGE,
                            "--levels: a running process cannot be replayed; run the command "
                            "without --pid");
    return request->caches ? as_level_traffic_parse(request->caches, level, &n, err) : 0;
}

int as_count_again(struct as_experiment *experiment, int64_t run_id, struct as_campaign *campaign,
                   const struct as_count_request *request, struct as_count_result *result,
                   struct as_error *err)
{
    *result = (struct as_count_result){.profile = {.run_id = run_id, .exit_code = -1}};
    AS_TRY(as_clones_check(&request->profile, "counted from inside", err));
    AS_TRY(as_campaign_check(campaign, 1, err));
    return count_run(experiment, run_id, as_campaign_input(campaign), request, result, err);
}

int as_count_run(struct as_experiment *experiment, const struct as_count_request *request,
                 struct as_count_result *result, struct as_error *err)
{
    struct as_input input;
    *result = (struct as_count_result){.profile = {.exit_code = -1}};
    AS_TRY(check_levels(request, err));
    AS_TRY(as_clones_check(&request->profile, "counted from inside", err));
    as_input_note(&input);
    AS_TRY(as_clones_record(experiment, &input, as_collector_kinds, &request->profile,
                            &result->profile, err));
    result->interrupted = result->profile.interrupted;
    return result->interrupted
               ? 0
               : count_run(experiment, result->profile.run_id, &input, request, result, err);
}

void as_count_result_fini(struct as_count_result *result)
{
    as_free(result->object);
    result->object = NULL;
    result->object_n = 0;
}
