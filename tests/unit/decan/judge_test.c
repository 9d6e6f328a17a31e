/* SPDX-License-Identifier: Apache-2.0 */
/* The input of a judgement from an experiment: limits of the machine, and shares of buckets. */
#include <math.h>

#include "decan/internal.h"
#include "place.h"

#define NEAR(got, want) assert_true(fabs((got) - (want)) < 1e-9)

struct judged {
    struct as_experiment *experiment;
    struct fixture f;
    struct as_decan decan;
};

/* Opens an experiment of a core with two cycles per nanosecond. */
static void open_judged(const struct place *place, struct judged *j)
{
    fine(as_experiment_create(place->exp, AS_EXPERIMENT_FORCE, &j->experiment, err));
    fine(fixture_fill(j->experiment, &j->f, err));
    j->decan = (struct as_decan){
        .timed = {.experiment = j->experiment, .run_id = j->f.run, .tick = {.cycles = 2, .ns = 1}}};
}

static void add_figure(struct judged *j, const char *name, double value, const char *confidence)
{
    const struct as_row_machine_figure figure = {.host_id = j->f.host,
                                                 .name = name,
                                                 .value = value,
                                                 .unit = "B/s",
                                                 .confidence = confidence};
    fine(as_experiment_add_machine_figure(j->experiment, &figure, err));
}

static void test_machine(void **state)
{
    struct judged j;
    open_judged(*state, &j);
    add_figure(&j, "bandwidth.read.L2.core", 64e9, "low");
    add_figure(&j, "bandwidth.write.L2.core", 20e9, "high");
    add_figure(&j, "bandwidth.read.L3.core", 48e9, "high");
    add_figure(&j, "bandwidth.triad.L3.core", 36e9, "high");
    add_figure(&j, "bandwidth.read.L3.all", 1e12, "high");
    add_figure(&j, "latency.memory.small", 90, "high");
    const struct as_row_machine_place cache = {.host_id = j.f.host,
                                               .place = 900,
                                               .parent = 0,
                                               .kind = "cache",
                                               .level = as_known(2),
                                               .cache = "both",
                                               .size_b = as_known(1 << 20)};
    fine(as_experiment_add_machine_place(j.experiment, &cache, err));
    fine(as_decan_machine_read(&j.decan, err));
    const struct as_decan_ceiling *level = j.decan.machine.level;
    assert_true(isnan(level[AS_PREDICT_L1].read_b) && isnan(level[AS_PREDICT_L1].write_b));
    NEAR(level[AS_PREDICT_L2].read_b, 32);
    assert_true(level[AS_PREDICT_L2].is_doubtful && !level[AS_PREDICT_L3].is_doubtful);
    NEAR(level[AS_PREDICT_L2].write_b, 10);
    NEAR(level[AS_PREDICT_L2].size_b, 1 << 20);
    /* A triad of 3 bytes takes 3/18 cycles, its 2 loads 2/24: the store takes 1/12. */
    NEAR(level[AS_PREDICT_L3].read_b, 24);
    NEAR(level[AS_PREDICT_L3].write_b, 12);
    NEAR(level[AS_PREDICT_RAM].latency, 180);
    assert_true(isinf(level[AS_PREDICT_RAM].size_b));
    fine(as_experiment_close(&j.experiment, err));
}

/* Adds instances that were timed, with a text that says nothing of their iterations. */
static void add_timed(struct judged *j, struct as_metric_set *set, const char *text,
                      double iterations, double share)
{
    struct as_subject of = {AS_OBJECT_LOOP, j->f.inner, j->f.run, 0};
    const struct as_row_context where = {.bucket = text};
    const struct as_bounded_value value[] = {
        as_value_measured(iterations, iterations, iterations, 9),
        as_value_measured(share, share, share, 9)};
    fine(as_experiment_add_context(j->experiment, &where, &of.context_id, err));
    fine(as_metric_set_add(set, &of, 9, value, err));
}

static void add_all_timed(struct judged *j)
{
    const struct as_set_metric metric[] = {{.metric = {.name = "instance_iterations",
                                                       .unit = "1",
                                                       .meaning = "made up",
                                                       .formula = "made up",
                                                       .pass = "vprof"},
                                            .origin = AS_ORIGIN_MEASURED,
                                            .digits = 2},
                                           {.metric = {.name = "instance_share",
                                                       .unit = "1",
                                                       .meaning = "made up",
                                                       .formula = "made up",
                                                       .pass = "vprof"},
                                            .origin = AS_ORIGIN_MEASURED,
                                            .digits = 4}};
    struct as_metric_set *set;
    fine(as_metric_set_open(j->experiment, "instances", AS_OBJECT_LOOP, "vprof", metric, 2, &set,
                            err));
    add_timed(j, set, "few", 100, 0.25);
    add_timed(j, set, "few, cheap", 127, 0.05);
    add_timed(j, set, "some", 128, 0.6);
    add_timed(j, set, "other", 5000, 0.1);
    as_metric_set_close(&set);
}

static struct as_decan_bucket bucket_of(double low, double high)
{
    struct as_decan_bucket bucket = {.low = low, .high = high, .share = (double)NAN};
    for (unsigned i = 0; i < AS_DECAN_COLUMNS_MOST; i++)
        bucket.column[i] = bucket.column_low[i] = bucket.column_high[i] = (double)NAN;
    bucket.take[0] = (struct as_decan_measured){.kind = AS_VARIANT_ORIG,
                                                .variant = "orig",
                                                .n = 20,
                                                .median = 10,
                                                .least = 9,
                                                .low = 9.5,
                                                .high = 10.5,
                                                .instance = 1000};
    bucket.take_n = 1;
    return bucket;
}

/* Shares follow iterations; the limits are those that were read before the loop. */
static void test_shares_of_buckets(void **state)
{
    static const uint32_t bits[AS_VARIANT_KINDS];
    struct as_decan_bucket bucket[] = {bucket_of(64, 128), bucket_of(128, 256),
                                       bucket_of(256, 512)};
    struct judged j;
    open_judged(*state, &j);
    struct as_decan_loop loop = {.loop_id = j.f.inner, .bucket = bucket, .bucket_n = 3};
    add_all_timed(&j);
    add_figure(&j, "bandwidth.read.L2.core", 64e9, "high");
    fine(as_decan_machine_read(&j.decan, err));
    j.decan.machine.level[AS_PREDICT_L2].read_b = 3.5;
    fine(as_decan_judge_loop(&j.decan, &loop, bits, err));
    NEAR(bucket[0].share, 0.3);
    NEAR(bucket[1].share, 0.6);
    NEAR(bucket[2].share, 0);
    assert_int_equal(loop.main, 1);
    NEAR(bucket[1].column[AS_DECAN_COLUMN_SHARE], 60);
    for (unsigned i = 0; i < 3; i++)
        NEAR(bucket[i].column[AS_DECAN_COLUMN_LEVELS + 6 * AS_PREDICT_L2], 3.5);
    fine(as_experiment_close(&j.experiment, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {place_test(test_machine),
                                       place_test(test_shares_of_buckets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
