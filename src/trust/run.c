/* SPDX-License-Identifier: Apache-2.0 */
/* The pass: reads the facts of counted or timed loops, and stores the results of agree.c. */
#include "trust/trust.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "experiment/metric_names.h"
#include "trust/agree.h"
#include "trust/metrics.h"

#define AS_TRUST_PASS "trust"

struct judged_loop {
    int64_t id;
    struct as_trust_loop it;
    int64_t samples; /* number of samples in the loop and its inner loops */
};

struct trusting {
    struct as_experiment *experiment;
    int64_t run_id;
    AS_VEC(struct judged_loop) loop;
    struct as_map_u64 of_id; /* id -> index in `loop` */
    double l1_b;
    struct as_trust_sums sums;
};

/* ---- Facts --------------------------------------------------------------------------------- */

/* Wait loops of parallel run times are left out. The number of their iterations depends on other
 * threads and differs in every run. No model knows the time of `pause` in a virtual machine. */
static const char loops_sql[] =
    "SELECT DISTINCT object_id FROM v_values WHERE object_kind = 'loop' AND run_id = ?1"
    " AND context_id = 0 AND metric IN ('" AS_METRIC_loop_instance_n
    "', '" AS_METRIC_executed_start_n "')"
    " AND object_id NOT IN (SELECT o.object_id FROM object_time o"
    "  JOIN parallel_category USING (category_id)"
    "  WHERE o.run_id = ?1 AND o.object_kind = 'loop')";

#define FACT_WORD(name, metric) ", '" metric "'"
static const char facts_sql[] =
    "SELECT object_id, metric, value, origin FROM v_values WHERE object_kind = 'loop'"
    " AND run_id IN (0, ?1) AND context_id = 0 AND metric IN (''" AS_TRUST_FACTS(
        FACT_WORD) ")"
                   " ORDER BY run_id";
#undef FACT_WORD

/* A loop includes the time of its inner loops. */
static const char times_sql[] =
    "WITH RECURSIVE up (loop_id, own_ns, ns, n) AS ("
    " SELECT object_id, exclusive_ns, exclusive_ns, exclusive_n FROM object_time"
    "  WHERE run_id = ?1 AND object_kind = 'loop' AND exclusive_n > 0"
    " UNION ALL SELECT l.parent_id, 0, up.ns, up.n FROM up JOIN loop l USING (loop_id)"
    "  WHERE l.parent_id IS NOT NULL)"
    "SELECT loop_id, sum(own_ns), sum(ns), sum(n) FROM up GROUP BY loop_id";

static const char l1_sql[] =
    "SELECT min(size_b) FROM machine_place WHERE kind = 'cache' AND level = 1"
    " AND cache IN ('data', 'both') AND size_b > 0 AND ?1";

static int fact_of(const char *metric)
{
    static const char *const word[] = {
#define FACT_WORD(name, metric) metric,
        AS_TRUST_FACTS(FACT_WORD)
#undef FACT_WORD
    };
    for (int i = 0; i < AS_TRUST_FACTS_N; i++)
        if (strcmp(word[i], metric) == 0)
            return i;
    return -1;
}

static int list_judged(void *context, struct as_rows *row, struct as_error *err)
{
    struct trusting *t = context;
    struct judged_loop loop = {.id = as_rows_integer(row, 0)};
    for (int i = 0; i < AS_TRUST_FACTS_N; i++)
        loop.it.fact[i] = (double)NAN;
    if (as_map_u64_put(&t->of_id, (uint64_t)loop.id, (uint32_t)t->loop.n) < 0 ||
        as_vec_push(&t->loop, loop) < 0)
        return as_error_nomem(err, "loops to judge");
    return 0;
}

static struct judged_loop *loop_of(struct trusting *t, int64_t id)
{
    const uint32_t at = as_map_u64_get(&t->of_id, (uint64_t)id);
    return at == AS_MAP_NONE ? NULL : &t->loop.at[at];
}

static int set_loop_fact(void *context, struct as_rows *row, struct as_error *err)
{
    struct judged_loop *loop = loop_of(context, as_rows_integer(row, 0));
    const int fact = fact_of(as_rows_text(row, 1));
    const char *origin = as_rows_text(row, 3);
    (void)err;
    if (!loop || fact < 0)
        return 0;
    loop->it.fact[fact] = as_rows_real(row, 2);
    if (fact == AS_TRUST_ITERATIONS)
        loop->it.is_exact = origin && strcmp(origin, as_origin_word(AS_ORIGIN_EXACT)) == 0;
    return 0;
}

static int set_loop_time(void *context, struct as_rows *row, struct as_error *err)
{
    struct judged_loop *loop = loop_of(context, as_rows_integer(row, 0));
    (void)err;
    if (!loop)
        return 0;
    loop->it.own_ns = as_rows_real(row, 1);
    loop->it.time_ns = as_rows_real(row, 2);
    loop->samples = as_rows_integer(row, 3);
    return 0;
}

static int set_l1_size(void *context, struct as_rows *row, struct as_error *err)
{
    (void)err;
    ((struct trusting *)context)->l1_b = as_rows_real(row, 0);
    return 0;
}

/* ---- Values -------------------------------------------------------------------------------- */

static int write_value(struct trusting *t, unsigned number, const struct as_subject *of,
                       struct as_bounded_value value, struct as_error *err)
{
    struct as_metric metric = as_trust_metric[number].metric;
    int64_t id;
    metric.pass = AS_TRUST_PASS;
    AS_TRY(as_experiment_metric(t->experiment, &metric, &id, err));
    return as_experiment_value(t->experiment, id, of, value, err);
}

/* Returns a rate with the uncertainty of its sampled time: 95 % of a Poisson count. */
static struct as_bounded_value rate_of(double value, int64_t samples)
{
    const double part = samples > 0 ? 1.96 / sqrt((double)samples) : INFINITY;
    return as_value_derived(value, value / (1 + part), part < 1 ? value / (1 - part) : INFINITY,
                            samples);
}

static int flag_below_chain(const struct trusting *t, const struct judged_loop *loop,
                            struct as_error *err)
{
    char text[256];
    const struct as_flag flag = {.run_id = t->run_id,
                                 .kind = AS_OBJECT_LOOP,
                                 .object_id = loop->id,
                                 .name = "below_recurrence",
                                 .text = text,
                                 .n = 1,
                                 .pass = AS_TRUST_PASS};
    snprintf(
        text, sizeof text,
        "%.2f cycles per iteration were measured, but its recurrence takes %.2f by the model: the "
        "clock of the core, the latency table or the iteration count is wrong",
        loop->it.fact[AS_TRUST_MEDIAN], loop->it.fact[AS_TRUST_CHAIN]);
    return as_experiment_flag(t->experiment, &flag, err);
}

static int flag_times(const struct trusting *t, const struct judged_loop *loop, double sampled_ns,
                      double timed_ns, struct as_error *err)
{
    char text[256];
    const struct as_flag flag = {.run_id = t->run_id,
                                 .kind = AS_OBJECT_LOOP,
                                 .object_id = loop->id,
                                 .name = "times_differ",
                                 .text = text,
                                 .n = 1,
                                 .pass = AS_TRUST_PASS};
    snprintf(text, sizeof text,
             "an iteration takes %.3g ns by samples and %.3g ns by the clock: loop_gflops and "
             "loop_bytes_per_cycle contradict each other; repeat on a quiet machine",
             sampled_ns, timed_ns);
    return as_experiment_flag(t->experiment, &flag, err);
}

static int flag_doubts(const struct trusting *t, const struct judged_loop *loop,
                       struct as_error *err)
{
    double sampled_ns, timed_ns;
    if (as_trust_is_below_chain(&loop->it))
        AS_TRY(flag_below_chain(t, loop, err));
    if (as_trust_times_differ(&loop->it, (double)loop->samples, &sampled_ns, &timed_ns))
        AS_TRY(flag_times(t, loop, sampled_ns, timed_ns, err));
    return 0;
}

static int judge_loop(struct trusting *t, const struct judged_loop *loop, struct as_error *err)
{
    const struct as_subject of = {AS_OBJECT_LOOP, loop->id, t->run_id, 0};
    double value[AS_TRUST_LOOP_VALUES_N];
    as_trust_values(&loop->it, t->l1_b, value);
    for (unsigned i = 0; i < AS_TRUST_LOOP_VALUES_N; i++)
        if (isfinite(value[i]))
            AS_TRY(write_value(t, i, &of,
                               i == AS_TRUST_GFLOPS
                                   ? rate_of(value[i], loop->samples)
                                   : as_value_derived(value[i], value[i], value[i], 1),
                               err));
    as_trust_add(&t->sums, &loop->it, value);
    return flag_doubts(t, loop, err);
}

static int judge_run(struct trusting *t, struct as_error *err)
{
    const struct as_subject run = {AS_OBJECT_RUN, t->run_id, t->run_id, 0};
    const struct as_trust_sums *sums = &t->sums;
    if (sums->model_n) {
        const double model = 100 * sums->model / sums->weight;
        const double bias = 100 * sums->bias / sums->weight;
        AS_TRY(write_value(t, AS_TRUST_MODEL_PCT, &run,
                           as_value_derived(model, model, model, sums->model_n), err));
        AS_TRY(write_value(t, AS_TRUST_MODEL_BIAS_PCT, &run,
                           as_value_derived(bias, bias, bias, sums->model_n), err));
    }
    if (sums->trips_n) {
        const double trips = sums->trips / sums->trips_n;
        AS_TRY(write_value(t, AS_TRUST_TRIPS_PCT, &run,
                           as_value_derived(trips, trips, trips, sums->trips_n), err));
    }
    return 0;
}

static int store_trust(void *context, struct as_error *err)
{
    struct trusting *t = context;
    as_vec_foreach (&t->loop, loop)
        AS_TRY(judge_loop(t, loop, err));
    return judge_run(t, err);
}

static int read_facts(struct trusting *t, struct as_error *err)
{
    AS_TRY(as_rows_each(t->experiment, loops_sql, t->run_id, list_judged, t, err));
    if (t->loop.n == 0)
        return 0;
    AS_TRY(as_rows_each(t->experiment, facts_sql, t->run_id, set_loop_fact, t, err));
    AS_TRY(as_rows_each(t->experiment, times_sql, t->run_id, set_loop_time, t, err));
    return as_rows_each(t->experiment, l1_sql, t->run_id, set_l1_size, t, err);
}

int as_trust_run(struct as_experiment *experiment, int64_t run_id, struct as_error *err)
{
    struct trusting t = {.experiment = experiment, .run_id = run_id};
    as_map_u64_init(&t.of_id);
    int rc = read_facts(&t, err);
    if (rc == 0 && t.loop.n)
        rc = as_experiment_write_pass(experiment, run_id, AS_TRUST_PASS, store_trust, &t, err);
    as_map_u64_fini(&t.of_id);
    as_vec_fini(&t.loop);
    return rc;
}
