/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparisons over seeded draws with the noise of sampling and of runs. Planted regressions must be
 * found, and false alarms must be rare. Tests the engine on arrays, and whole experiments. Also
 * aligns versions with different names, lines and code.
 */
#include "synthetic.h"

#include <math.h>

#include "base/alloc.h"
#include "compare/align.h"
#include "compare/statistics.h"

#define LOOPS 200
#define RUNS  10

static void near(double got, double want, double within)
{
    if (!(fabs(got - want) <= within))
        fail_msg("%.9g instead of %.9g", got, want);
}

/* ---- Draws --------------------------------------------------------------------------------- */

/*
 * A program of which loop i has a share that falls as 1 / (i + 1), `samples` samples in all a run.
 * Runs differ as a whole by 1 %, loops from run to run by 0.5 %, and counts by sampling (Poisson).
 */
static double expected(size_t loop, double samples)
{
    double sum = 0;
    for (size_t i = 0; i < LOOPS; i++)
        sum += 1.0 / (double)(i + 1);
    return samples / sum / (double)(loop + 1);
}

static void draw_run(struct noise *noise, double samples, int slower, double factor, int64_t *n)
{
    const double run = 1 + 0.01 * noise_normal(noise);
    for (int i = 0; i < LOOPS; i++) {
        const double mean = expected((size_t)i, samples) * (i == slower ? factor : 1);
        n[i] = noise_poisson(noise, mean * run * (1 + 0.005 * noise_normal(noise)));
    }
}

struct drawn {
    double a[LOOPS][RUNS], b[LOOPS][RUNS];
};

static void draw(struct noise *noise, double samples, int slower, double factor,
                 struct drawn *drawn)
{
    int64_t n[LOOPS];
    for (int run = 0; run < 2 * RUNS; run++) {
        draw_run(noise, samples, run < RUNS ? -1 : slower, factor, n);
        for (int i = 0; i < LOOPS; i++) {
            if (run < RUNS)
                drawn->a[i][run] = (double)n[i] * 0.002;
            else
                drawn->b[i][run - RUNS] = (double)n[i] * 0.002;
        }
    }
}

/* As the comparison does it: how many are significant, and whether `wanted` is. */
static size_t find(const struct drawn *drawn, int wanted, bool *found)
{
    double p[LOOPS], adjusted[LOOPS];
    size_t order[LOOPS], n = 0;
    for (int i = 0; i < LOOPS; i++) {
        const struct as_estimate a = as_estimate_runs(drawn->a[i], RUNS, 0.002);
        const struct as_estimate b = as_estimate_runs(drawn->b[i], RUNS, 0.002);
        const double samples = (a.mean + b.mean) * RUNS / 0.002;
        p[i] = samples >= 2 * AS_FEW_SAMPLES ? as_difference_of(&a, &b).p : NAN;
    }
    as_benjamini_hochberg(p, LOOPS, order, adjusted);
    for (int i = 0; i < LOOPS; i++) {
        n += adjusted[i] <= 0.05;
        if (i == wanted)
            *found = adjusted[i] <= 0.05;
    }
    return n;
}

/*
 * 5 % in one of 200 loops, ten repetitions: found in how many of 200 draws, by samples in it; and
 * of what was found, how much is not there.
 */
static void test_power(void **state)
{
    static const double samples_in_loop[] = {2000, 4000, 10000};
    const unsigned draws = 200;
    struct drawn drawn;
    struct noise noise;
    (void)state;
    noise_seed(&noise, 10);
    for (size_t k = 0; k < sizeof samples_in_loop / sizeof *samples_in_loop; k++) {
        const double all = samples_in_loop[k] / expected(2, 1);
        unsigned found_n = 0;
        double false_share = 0;
        for (unsigned d = 0; d < draws; d++) {
            bool found = false;
            draw(&noise, all, 2, 1.05, &drawn);
            const double n = (double)find(&drawn, 2, &found);
            false_share += n > 0 ? (n - found) / n : 0;
            found_n += found;
        }
        printf("# 5 %% in a loop of %5.0f samples a run: found in %5.1f %% of %u draws; %.1f %% of "
               "findings false\n",
               samples_in_loop[k], 100.0 * found_n / draws, draws, 100 * false_share / draws);
        if (samples_in_loop[k] >= 10000)
            assert_true(found_n >= 0.95 * draws);
        assert_true(false_share <= 0.08 * draws); /* 5 % and what 200 draws may be off */
    }
}

/* Twice the same program: experiments with any significant difference. */
static void test_silence(void **state)
{
    static const double samples[] = {2000, 50000};
    const unsigned draws = 1000;
    struct drawn drawn;
    struct noise noise;
    (void)state;
    noise_seed(&noise, 21);
    for (size_t k = 0; k < 2; k++) {
        unsigned alarms = 0;
        for (unsigned d = 0; d < draws; d++) {
            draw(&noise, samples[k], -1, 1, &drawn);
            alarms += find(&drawn, -1, NULL) > 0;
        }
        printf("# identical builds of %.0f samples a run: %.1f %% of %u comparisons find any\n",
               samples[k], 100.0 * alarms / draws, draws);
        assert_true(alarms <= 0.05 * draws);
    }
}

/* ---- Whole experiments --------------------------------------------------------------------- */

static void fill(struct synthetic *s, const char *path, struct noise *noise, double samples,
                 int slower, const struct synthetic_code *code)
{
    int64_t n[LOOPS];
    synthetic_open(s, path, LOOPS, code);
    for (int run = 0; run < RUNS; run++) {
        draw_run(noise, samples, slower, 1.05, n);
        synthetic_add(s, &(struct synthetic_run){.kind = "repeat",
                                                 .wall_s = 20 + 0.1 * noise_normal(noise) +
                                                           (slower >= 0 ? 1 : 0),
                                                 .thread_n = 1,
                                                 .sample_n = n});
    }
}

static struct as_comparison *compare(struct synthetic *a, struct synthetic *b)
{
    struct as_comparison *it;
    const struct as_compare_request side[] = {{.experiment = a->experiment, .name = "a"},
                                              {.experiment = b->experiment, .name = "b"}};
    fine(as_compare_experiments(side, 2, &it, err));
    return it;
}

static const struct as_compare_row *row_of(const struct as_comparison *it, enum as_object_kind kind,
                                           const char *name)
{
    for (size_t i = 0; i < it->row_n; i++)
        if (it->row[i].object.kind == kind && strcmp(it->row[i].object.name, name) == 0)
            return &it->row[i];
    fail_msg("no row of %s", name);
    return NULL;
}

static void path_of(const struct place *place, const char *name, char *path, size_t size_b)
{
    snprintf(path, size_b, "%s/%s.assay", place->dir, name);
}

static void test_end_to_end(void **state)
{
    const struct synthetic_code code = {.changed = -1}, changed = {.build_id = "2", .changed = 2};
    struct synthetic a, b, c;
    struct noise noise;
    char path[200];
    noise_seed(&noise, 30);
    const double samples = 8000 / expected(2, 1);
    path_of(*state, "a", path, sizeof path);
    fill(&a, path, &noise, samples, -1, &code);
    path_of(*state, "b", path, sizeof path);
    fill(&b, path, &noise, samples, 2, &changed);
    path_of(*state, "c", path, sizeof path);
    fill(&c, path, &noise, samples, -1, &code);
    /* The planted one, in loop and function, and nothing else. */
    struct as_comparison *it = compare(&a, &b);
    assert_int_equal(it->significant_n, 2);
    const struct as_compare_row *row = row_of(it, AS_OBJECT_LOOP, "kernel_2");
    assert_true(row->cell[1].significant);
    near(row->cell[1].difference_pct.value, 5, 2);
    assert_true(row->cell[1].difference_pct.low > 0);
    assert_int_equal(row->aligned_by, AS_ALIGNED_SOURCE);
    assert_int_equal(row->cell[1].code, AS_CODE_DIFFERS);
    assert_int_equal(row->cell[1].instruction_n, 10);
    assert_true(row_of(it, AS_OBJECT_FUNCTION, "kernel_2")->cell[1].significant);
    assert_int_equal(row_of(it, AS_OBJECT_FUNCTION, "kernel_2")->aligned_by, AS_ALIGNED_LINKAGE);
    assert_int_equal(row_of(it, AS_OBJECT_LOOP, "kernel_1")->cell[1].code, AS_CODE_SAME);
    assert_true(it->side[1].is_slower);
    near(it->side[1].difference_pct.value, 5, 1);
    assert_int_equal(it->side[0].repeat_n, RUNS);
    as_comparison_free(&it);
    it = compare(&a, &c);
    assert_int_equal(it->significant_n, 0);
    assert_int_equal(it->note_n, 0);
    as_comparison_free(&it);
    fine(as_experiment_close(&a.experiment, err));
    fine(as_experiment_close(&b.experiment, err));
    fine(as_experiment_close(&c.experiment, err));
}

/* ---- Alignment ----------------------------------------------------------------------------- */

static void add_plain(struct synthetic *s, const char *kind, double wall_s, const char *host,
                      const char *event)
{
    const int64_t n[] = {1000, 2000, 3000};
    synthetic_add(s, &(struct synthetic_run){.kind = kind,
                                             .label = "plain",
                                             .wall_s = wall_s,
                                             .host = host,
                                             .event = event,
                                             .thread_n = 1,
                                             .sample_n = n});
}

/* By what the loop and the function 1 of a program and its version are found to be the same. */
static void expect_aligned(const struct place *place, const struct synthetic_code *code,
                           enum as_aligned function, enum as_aligned loop)
{
    struct synthetic a, b;
    char path[200];
    path_of(place, "a", path, sizeof path);
    synthetic_open(&a, path, 3, &(struct synthetic_code){.changed = -1});
    path_of(place, "b", path, sizeof path);
    synthetic_open(&b, path, 3, code);
    add_plain(&a, "profile", 12, NULL, NULL);
    add_plain(&b, "profile", 12, NULL, NULL);
    struct as_comparison *it = compare(&a, &b);
    const struct as_compare_row *row = row_of(it, AS_OBJECT_FUNCTION, "kernel_1");
    assert_int_equal(row->aligned_by, function);
    row = row_of(it, AS_OBJECT_LOOP, "kernel_1");
    assert_int_equal(row->aligned_by, loop);
    if (function != AS_ALIGNED_ALONE) {
        assert_int_equal(it->row_n, 6);
        near(row->cell[1].time_s.value, 4, 1e-9);
        near(row->cell[1].difference_pct.value, 0, 1e-9);
    } else {
        assert_int_equal(it->row_n, 12);
        assert_int_equal(row->cell[1].time_s.origin, 0);
        assert_true(isnan(row->cell[1].p));
    }
    as_comparison_free(&it);
    fine(as_experiment_close(&a.experiment, err));
    fine(as_experiment_close(&b.experiment, err));
}

static void test_alignment(void **state)
{
    /* The same; built elsewhere with other addresses. */
    expect_aligned(*state, &(struct synthetic_code){.changed = -1}, AS_ALIGNED_LINKAGE,
                   AS_ALIGNED_SOURCE);
    expect_aligned(
        *state, &(struct synthetic_code){.build_id = "2", .address_shift = 0x3333, .changed = -1},
        AS_ALIGNED_LINKAGE, AS_ALIGNED_SOURCE);
    /* Lines moved by an edit above. */
    expect_aligned(*state, &(struct synthetic_code){.line_shift = 117, .changed = -1},
                   AS_ALIGNED_LINKAGE, AS_ALIGNED_OFFSET);
    /* The compiler made a clone of it. */
    expect_aligned(*state, &(struct synthetic_code){.suffix = ".constprop.0", .changed = -1},
                   AS_ALIGNED_NAME, AS_ALIGNED_SOURCE);
    expect_aligned(*state, &(struct synthetic_code){.suffix = " [clone .isra.0]", .changed = -1},
                   AS_ALIGNED_NAME, AS_ALIGNED_SOURCE);
    /* Renamed, at the same place and moved a little. */
    expect_aligned(*state, &(struct synthetic_code){.prefix = "core_", .changed = -1},
                   AS_ALIGNED_SOURCE, AS_ALIGNED_SOURCE);
    expect_aligned(*state,
                   &(struct synthetic_code){.prefix = "core_", .line_shift = 3, .changed = -1},
                   AS_ALIGNED_NEAR, AS_ALIGNED_OFFSET);
    /* Without lines, in order. */
    expect_aligned(*state, &(struct synthetic_code){.file = "", .changed = -1}, AS_ALIGNED_LINKAGE,
                   AS_ALIGNED_ORDER);
    /* Another program. */
    expect_aligned(
        *state, &(struct synthetic_code){.prefix = "other_", .file = "/src/other.c", .changed = -1},
        AS_ALIGNED_ALONE, AS_ALIGNED_ALONE);
}

/* The second version of a loop, `role`, in the function of loop 1: the fourth of the program. */
static void add_version(struct synthetic *s, const char *role, int64_t first, int64_t last)
{
    const struct as_row_line line[] = {{.source_file_id = 1, .number = first},
                                       {.source_file_id = 1, .number = last}};
    struct as_row_loop loop = {.function_id = s->function[1],
                               .address = 0x9000,
                               .depth = 1,
                               .is_innermost = true,
                               .role = role,
                               .instruction_n = as_known(5)};
    fine(as_experiment_add_line(s->experiment, &line[0], &loop.first_line_id, err));
    fine(as_experiment_add_line(s->experiment, &line[1], &loop.last_line_id, err));
    fine(as_experiment_add_loop(s->experiment, &loop, &s->loop[3], err));
    const struct as_row_location location = {
        .module_id = 1, .address = 0x9004, .function_id = s->function[1], .loop_id = s->loop[3]};
    fine(as_experiment_add_location(s->experiment, &location, &s->location[3], err));
    s->path[3] = s->path[1];
    s->loop_n = 4;
}

static void add_four(struct synthetic *s, int64_t main_n, int64_t version_n)
{
    const int64_t n[] = {1000, main_n, 3000, version_n};
    synthetic_add(
        s, &(struct synthetic_run){.kind = "profile", .wall_s = 12, .thread_n = 1, .sample_n = n});
}

/* One side has the loop whole, the other as vector body and tail, or moved by a line: the time of
 * both versions is compared with that of the one. */
static void test_versions(void **state)
{
    static const struct {
        const char *role;
        int64_t first, last;
    } version[] = {{"tail", 12, 15}, {"main", 13, 13}};
    for (size_t k = 0; k < 2; k++) {
        struct synthetic a, b;
        char path[200];
        path_of(*state, "a", path, sizeof path);
        synthetic_open(&a, path, 3, &(struct synthetic_code){.changed = -1});
        add_plain(&a, "profile", 12, NULL, NULL);
        path_of(*state, "b", path, sizeof path);
        synthetic_open(&b, path, 3, &(struct synthetic_code){.changed = -1});
        add_version(&b, version[k].role, version[k].first, version[k].last);
        add_four(&b, 500, 1500);
        for (int turn = 0; turn < 2; turn++) {
            struct as_comparison *it = turn ? compare(&b, &a) : compare(&a, &b);
            const struct as_compare_row *row = row_of(it, AS_OBJECT_LOOP, "kernel_1");
            assert_int_equal(it->row_n, 6); /* no further one is alone */
            near(row->cell[0].time_s.value, 4, 1e-9);
            near(row->cell[1].time_s.value, 4, 1e-9);
            assert_int_equal(row->aligned_by, AS_ALIGNED_SOURCE);
            assert_int_equal(row->cell[turn ? 0 : 1].instruction_n, 9 + 5);
            as_comparison_free(&it);
        }
        fine(as_experiment_close(&a.experiment, err));
        fine(as_experiment_close(&b.experiment, err));
    }
}

/* The function of loop 1, inlined into the loop of kernel_2 with its loop: a fourth loop. */
static void add_inlined(struct synthetic *s)
{
    struct as_row_function function = {
        .module_id = 1, .name = "kernel_1", .linkage_name = "kernel_1", .known_from = "inlined"};
    struct as_row_inlining inlining = {.function_id = s->function[2]};
    struct as_row_loop loop = {.function_id = s->function[2],
                               .parent_id = s->loop[2],
                               .address = 0x9000,
                               .depth = 2,
                               .is_innermost = true,
                               .role = "main",
                               .instruction_n = as_known(5)};
    const struct as_row_line line[] = {{.source_file_id = 1, .number = 11},
                                       {.source_file_id = 1, .number = 12},
                                       {.source_file_id = 1, .number = 15}};
    fine(as_experiment_add_line(s->experiment, &line[0], &function.line_id, err));
    fine(as_experiment_add_line(s->experiment, &line[1], &loop.first_line_id, err));
    fine(as_experiment_add_line(s->experiment, &line[2], &loop.last_line_id, err));
    fine(as_experiment_add_function(s->experiment, &function, &inlining.inlined_id, err));
    fine(as_experiment_add_inlining(s->experiment, &inlining, &loop.inlining_id, err));
    fine(as_experiment_add_loop(s->experiment, &loop, &s->loop[3], err));
    const struct as_row_location location = {.module_id = 1,
                                             .address = 0x9004,
                                             .function_id = s->function[2],
                                             .loop_id = s->loop[3],
                                             .inlining_id = loop.inlining_id};
    fine(as_experiment_add_location(s->experiment, &location, &s->location[3], err));
    s->path[3] = s->path[2];
    s->loop_n = 4;
}

/* A function that one side calls and the other has partly inlined is one function with one loop. */
static void test_inlined(void **state)
{
    struct synthetic a, b;
    char path[200];
    path_of(*state, "a", path, sizeof path);
    synthetic_open(&a, path, 3, &(struct synthetic_code){.changed = -1});
    add_plain(&a, "profile", 12, NULL, NULL);
    path_of(*state, "b", path, sizeof path);
    synthetic_open(&b, path, 3, &(struct synthetic_code){.changed = -1});
    add_inlined(&b);
    add_four(&b, 500, 1500);
    for (int turn = 0; turn < 2; turn++) {
        static const struct {
            const char *name;
            double time_s;
        } want[] = {{"kernel_0", 2}, {"kernel_1", 4}, {"kernel_2", 6}};
        struct as_comparison *it = turn ? compare(&b, &a) : compare(&a, &b);
        assert_int_equal(it->row_n, 6);
        for (int k = 0; k < 6; k++) {
            const enum as_object_kind kind = k < 3 ? AS_OBJECT_FUNCTION : AS_OBJECT_LOOP;
            const struct as_compare_row *row = row_of(it, kind, want[k % 3].name);
            near(row->cell[0].time_s.value, want[k % 3].time_s, 1e-9);
            near(row->cell[1].time_s.value, want[k % 3].time_s, 1e-9);
        }
        as_comparison_free(&it);
    }
    fine(as_experiment_close(&a.experiment, err));
    fine(as_experiment_close(&b.experiment, err));
}

static void test_names(void **state)
{
    (void)state;
    assert_int_equal(as_align_name_n("f.constprop.0"), 1);
    assert_int_equal(as_align_name_n("f.part.0.cold"), 1);
    assert_int_equal(as_align_name_n("f._omp_fn.0"), 11);
    assert_int_equal(as_align_name_n("f(int) [clone .isra.3]"), 6);
    assert_int_equal(as_align_name_n("f(int) [clone ._omp_fn.0]"), 25);
    assert_int_equal(as_align_name_n(""), 0);
    assert_int_equal(as_align_name_n(".cold"), 5); /* all of it would be nothing */
}

/* ---- Sides --------------------------------------------------------------------------------- */

static void test_sides(void **state)
{
    struct as_comparison *it;
    struct synthetic a, b;
    char path[200];
    path_of(*state, "a", path, sizeof path);
    synthetic_open(&a, path, 3, &(struct synthetic_code){.changed = -1});
    path_of(*state, "b", path, sizeof path);
    synthetic_open(&b, path, 3, &(struct synthetic_code){.no_disassembly = true, .changed = -1});
    struct as_compare_request side[3] = {{.experiment = a.experiment, .name = "a"},
                                         {.experiment = b.experiment, .name = "b"},
                                         {.experiment = a.experiment, .name = "a:9"}};
    refused(as_compare_experiments(side, 2, &it, err), NOT_FOUND, "a: has no successful run");
    assert_null(it);
    add_plain(&a, "profile", 10, NULL, NULL);
    add_plain(&a, "profile", 11, NULL, NULL);
    add_plain(&a, "profile", 13, NULL, NULL);
    add_plain(&b, "profile", 10, "there", "cycles");
    refused(as_compare_experiments(side, 1, &it, err), USAGE, "only one experiment");
    side[2].runs = "9";
    refused(as_compare_experiments(side, 3, &it, err), USAGE, "a:9: has no run '9'");
    side[2].runs = "1-2";
    fine(as_compare_experiments(side, 3, &it, err));
    assert_int_equal(it->side[0].repeat_n, 1); /* the last */
    near(it->side[0].wall_s.value, 13, 1e-9);
    assert_true(isinf(it->side[0].wall_s.high));
    assert_int_equal(it->side[2].repeat_n, 2);
    near(it->side[2].wall_s.value, 10.5, 1e-9);
    assert_false(it->side[1].is_faster); /* 10 to 13, but of one run each */
    /* One run each: intervals of the samples. */
    const struct as_compare_row *row = row_of(it, AS_OBJECT_LOOP, "kernel_0");
    const double half = 1.96 * sqrt(2 * (5.0 / 6) / 1000);
    near(row->cell[1].difference_pct.high, 100 * (exp(half) - 1), 1e-2);
    assert_int_equal(row->cell[1].code, AS_CODE_UNKNOWN);
    assert_int_equal(row->cell[2].code, AS_CODE_SAME);
    /* Another host, another event, one run. */
    assert_int_equal(it->note_n, 3);
    assert_true(has(it->note[0], "a ran on here, b on there"));
    assert_true(has(it->note[1], "sampled by cpu-clock, b by cycles"));
    as_comparison_free(&it);
    side[2].runs = "plain";
    fine(as_compare_experiments(side, 3, &it, err));
    assert_int_equal(it->side[2].repeat_n, 3);
    assert_true(has(it->note[2], "Wall times of a:9 vary by 13 %"));
    as_comparison_free(&it);
    add_plain(&a, "repeat", 10, NULL, NULL);
    fine(as_compare_experiments(side, 2, &it, err));
    near(it->side[0].wall_s.value, 10, 1e-9);
    as_comparison_free(&it);
    fine(as_experiment_close(&a.experiment, err));
    fine(as_experiment_close(&b.experiment, err));
}

/* ---- Memory -------------------------------------------------------------------------------- */

/* Every allocation fails once: all is an error or the whole result, and nothing is left behind. */
static void test_no_memory(void **state)
{
    const int64_t n[] = {100, 200, 300};
    const struct as_scale_setting setting = {.nodes = 1, .processes = 1, .threads = 1};
    const struct place *place = *state;
    struct synthetic s;
    synthetic_open(&s, place->exp, 3, &(struct synthetic_code){.changed = -1});
    for (int i = 0; i < 6; i++)
        synthetic_add(&s, &(struct synthetic_run){.kind = i % 2 ? "scale" : "repeat",
                                                  .label = "1x1",
                                                  .wall_s = 1 + i,
                                                  .thread_n = 1,
                                                  .sample_n = n,
                                                  .setting = i % 2 ? &setting : NULL});
    const struct as_compare_request side[] = {{.experiment = s.experiment, .name = "a"},
                                              {.experiment = s.experiment, .name = "b"}};
    for (int what = 0; what < 3; what++) {
        int rc = AS_ERR_NOMEM;
        for (int64_t after = 0; rc == AS_ERR_NOMEM; after++) {
            struct as_error err = {0};
            struct as_scalability *scalability = NULL;
            struct as_stability *stability = NULL;
            struct as_comparison *comparison = NULL;
            assert_true(after < 10000);
            as_alloc_fail_after(after);
            rc = what == 0   ? as_compare_scalability(s.experiment, NULL, &scalability, &err)
                 : what == 1 ? as_compare_stability(s.experiment, &stability, &err)
                             : as_compare_experiments(side, 2, &comparison, &err);
            as_alloc_fail_after(-1);
            assert_int_equal(rc < 0, !scalability && !stability && !comparison);
            if (rc < 0)
                assert_true(err.text[0]);
            as_scalability_free(&scalability);
            as_stability_free(&stability);
            as_comparison_free(&comparison);
        }
        assert_int_equal(rc, 0);
    }
    fine(as_experiment_close(&s.experiment, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_power), cmocka_unit_test(test_silence), cmocka_unit_test(test_names),
        place_test(test_end_to_end),  place_test(test_alignment),     place_test(test_versions),
        place_test(test_inlined),     place_test(test_sides),         place_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
