/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code of loops side by side, on experiments made by hand: selected values of code quality
 * analysis, equal or not. Also the limit of each side, and the text under a row.
 */
#include "synthetic.h"

#include "base/str.h"

static const int64_t samples[] = {1000, 2000, 3000};

/* Values of code quality analysis of loop 1; the other loops have none. */
struct code {
    double cycles, source, insn_n, ratio, width, front_end, ports, chain, window, added_n;
};

static const char *const metric_name[] = {
    "cqa_cycles",          "cqa_cycles_source", "cqa_insn_n",   "cqa_vec_ratio_all_pct",
    "cqa_vec_eff_all_pct", "cqa_front_end_cy",  "cqa_ports_cy", "cqa_chain_cy",
    "cqa_window_cy",       "cqa_fp_add_n"};
enum { METRICS = sizeof metric_name / sizeof *metric_name };

static void open_side(const struct place *place, struct synthetic *s, const char *name,
                      const struct code *code)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s.assay", place->dir, name);
    synthetic_open(s, path, 3, &(struct synthetic_code){.changed = -1});
    const struct as_subject of = {.kind = AS_OBJECT_LOOP, .object_id = s->loop[1]};
    const double *const number = (const double *)code;
    struct as_set_metric column[METRICS];
    struct as_bounded_value value[METRICS];
    struct as_metric_set *set;
    if (code) {
        for (size_t i = 0; i < METRICS; i++) {
            column[i] =
                (struct as_set_metric){.metric = {metric_name[i], "cy", "x", "counted",
                                                  .title = metric_name[i] + 4, .topic = "cqa"},
                                       .origin = AS_ORIGIN_MODELLED,
                                       .digits = 3};
            value[i] = as_value_modelled(number[i], number[i], number[i]);
        }
        fine(as_experiment_begin(s->experiment, err));
        fine(as_metric_set_open(s->experiment, "cqa", of.kind, "test", column, METRICS, &set, err));
        fine(as_metric_set_add(set, &of, 1, value, err));
        as_metric_set_close(&set);
        fine(as_experiment_commit(s->experiment, err));
    }
    synthetic_add(s, &(struct synthetic_run){
                         .kind = "profile", .wall_s = 12, .thread_n = 1, .sample_n = samples});
}

/* Checks the facts on the code of loop 1 as lines "name A | B". Then comes the text under the
 * row. */
static void expect(const struct place *place, const struct code *one, const struct code *two,
                   const char *want)
{
    struct synthetic s[2];
    struct as_str text = {0};
    struct as_comparison *it = NULL;
    open_side(place, &s[0], "a", one);
    open_side(place, &s[1], "b", two);
    const struct as_compare_request side[] = {{.experiment = s[0].experiment, .name = "a"},
                                              {.experiment = s[1].experiment, .name = "b"}};
    fine(as_compare_experiments(side, 2, &it, err));
    for (size_t i = 0; i < it->row_n; i++) {
        const struct as_compare_row *row = &it->row[i];
        for (size_t k = 0; k < row->cqa_n; k++)
            as_str_appendf(&text, "%s %s | %s\n", row->cqa[k].name,
                           row->cqa[k].text[0] ? row->cqa[k].text[0] : "-",
                           row->cqa[k].text[1] ? row->cqa[k].text[1] : "-");
        for (size_t k = 0; k < row->cell[1].differs_n; k++)
            as_str_appendf(&text, "%s\n", row->cell[1].differs[k]);
        if (row->cqa_n) {
            assert_int_equal(row->object.kind, AS_OBJECT_LOOP);
            assert_string_equal(row->object.name, "kernel_1");
        }
    }
    assert_string_equal(as_str_z(&text), want);
    as_str_fini(&text);
    as_comparison_free(&it);
    fine(as_experiment_close(&s[0].experiment, err));
    fine(as_experiment_close(&s[1].experiment, err));
}

static const struct code scalar = {2, 2, 4, 0, 12.5, 1, 0.5, 2, 0, 1};

/* Equal values are shown too. Values outside of the selection have no text under the row. */
static void test_alike(void **state)
{
    struct code two = scalar;
    two.added_n = 7;
    expect(*state, &scalar, &two,
           "cqa_cycles 2 | 2\ncqa_cycles_source 2 | 2\ncqa_insn_n 4 | 4\n"
           "cqa_vec_ratio_all_pct 0 | 0\ncqa_vec_eff_all_pct 12.5 | 12.5\n"
           "cqa_limit chain | chain\n");
}

static void test_differs(void **state)
{
    const struct code two = {1.5, 0.1875, 9, 100, 50, 1.5, 1.5, 0.25, 0, 1};
    expect(*state, &scalar, &two,
           "cqa_cycles 2 | 1.50\ncqa_cycles_source 2 | 0.188\ncqa_insn_n 4 | 9\n"
           "cqa_vec_ratio_all_pct 0 | 100\ncqa_vec_eff_all_pct 12.5 | 50\n"
           "cqa_limit chain | front end, ports\n"
           "vec_ratio_all_pct 0 -> 100 cy\ncycles_source 2 -> 0.188 cy\n"
           "vec_eff_all_pct 12.5 -> 50 cy\ncycles 2 -> 1.50 cy\n");
}

/* The result of a simulation is a limit if it adds more than a trifle. */
static void test_window(void **state)
{
    struct code one = scalar, two = scalar;
    one.window = 0.09;
    two.window = 0.11;
    expect(*state, &one, &two,
           "cqa_cycles 2 | 2\ncqa_cycles_source 2 | 2\ncqa_insn_n 4 | 4\n"
           "cqa_vec_ratio_all_pct 0 | 0\ncqa_vec_eff_all_pct 12.5 | 12.5\n"
           "cqa_limit chain | buffers\n");
}

static void test_one_side(void **state)
{
    expect(*state, NULL, NULL, "");
    expect(*state, NULL, &scalar,
           "cqa_cycles - | 2\ncqa_cycles_source - | 2\ncqa_insn_n - | 4\n"
           "cqa_vec_ratio_all_pct - | 0\ncqa_vec_eff_all_pct - | 12.5\ncqa_limit - | chain\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {place_test(test_alike), place_test(test_differs),
                                       place_test(test_window), place_test(test_one_side)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
