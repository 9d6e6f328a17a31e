/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judgements of measured and predicted cycles, and frequencies of paths, with numbers that can be
 * computed by hand.
 */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "validate/internal.h"

static void expect_near(double got, double want)
{
    if (!(fabs(got - want) < 1e-9))
        fail_msg("%g instead of %g", got, want);
}

static struct as_judged piece_of(double measured, double predicted, uint32_t kinds)
{
    return (struct as_judged){
        .id = "x", .measured = measured, .predicted = predicted, .kinds = kinds};
}

static void errors_are_of_what_was_measured(void **state)
{
    const uint32_t all = 1u << AS_JUDGED_ALL, divide = all | 1u << AS_JUDGED_DIVIDE;
    const struct as_judged piece[] = {piece_of(4, 5, all),    /* 25 % */
                                      piece_of(10, 10, all),  /* 0 */
                                      piece_of(20, 19, all),  /* 5 % */
                                      piece_of(8, 2, divide), /* 75 %, and out of order */
                                      piece_of(1, 1.08, divide)};
    struct as_judgement of;
    struct as_error err;
    (void)state;
    assert_int_equal(as_judge(piece, 5, AS_JUDGED_ALL, &of, &err), 0);
    assert_int_equal(of.n, 5);
    expect_near(of.mape, (25 + 0 + 5 + 75 + 8) / 5.);
    expect_near(of.median, 8);
    expect_near(of.within5, 40);
    expect_near(of.within10, 60);
    /* One of ten pairs is reversed: 8 against (4, 5); the others agree. */
    expect_near(of.tau, (9 - 1) / 10.);
    assert_int_equal(as_judge(piece, 5, AS_JUDGED_DIVIDE, &of, &err), 0);
    assert_int_equal(of.n, 2);
    expect_near(of.mape, (75 + 8) / 2.);
    assert_int_equal(as_judge(piece, 5, AS_JUDGED_CHAIN, &of, &err), 0);
    assert_int_equal(of.n, 0);
    assert_true(isnan(of.tau));
}

static void what_is_left_out_is_counted_by_its_reason(void **state)
{
    const struct as_predict_options options = {0};
    struct as_validation *v;
    struct as_error err;
    const struct as_left_out *left_out;
    char why[] = "it calls";
    (void)state;
    assert_int_equal(as_validation_new(NULL, &options, &v, &err), 0);
    assert_int_equal(as_validation_leave_out(v, "it calls", &err), 0);
    assert_int_equal(as_validation_leave_out(v, "noisy", &err), 0);
    assert_int_equal(as_validation_leave_out(v, why, &err), 0);
    assert_int_equal(as_validation_left_out(v, &left_out), 2);
    assert_int_equal(left_out[0].n, 2);
    assert_string_equal(left_out[1].why, "noisy");
    as_validation_free(&v);
    assert_null(v);
}

/* ---- Paths ----------------------------------------------------------------------------------- */

/* A loop by its edges, at most two of a block; block 9 is outside. */
struct graph {
    struct as_block block[10];
    struct as_edge succ[20];
    struct as_program program;
};

static void make_graph(struct graph *g, const uint32_t edge[][2], size_t n)
{
    *g = (struct graph){.program = {.block = g->block, .block_n = 10, .succ = g->succ}};
    for (uint32_t b = 0, at = 0; b < 10; b++) {
        g->block[b].first_succ = at;
        for (size_t i = 0; i < n; i++)
            if (edge[i][0] == b) {
                g->succ[at++].block = edge[i][1];
                g->block[b].succs++;
                g->block[edge[i][1]].preds++;
            }
    }
    g->block[0].preds++; /* the loop is entered */
}

static void a_condition_is_counted_by_what_it_guards(void **state)
{
    /* 0: condition, 1: guarded, 2: end of the body */
    const uint32_t edge[][2] = {{0, 1}, {0, 2}, {1, 2}, {2, 0}, {2, 9}};
    uint32_t block[] = {0, 1, 2, 0, 2};
    struct as_path path[] = {{0, 3}, {3, 2}};
    const struct as_paths paths = {.block = block, .path = path, .path_n = 2};
    const double executed[10] = {400, 100, 400, 0, 0, 0, 0, 0, 0, 1};
    double weight[2];
    struct graph g;
    (void)state;
    make_graph(&g, edge, 5);
    as_path_weights(&g.program, &paths, executed, weight);
    expect_near(weight[0], 0.25);
    expect_near(weight[1], 0.75);
}

static void two_conditions_multiply(void **state)
{
    /* 0 ? 1 : 2, 3 ? 4 : straight on, 5 */
    const uint32_t edge[][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {3, 5}, {4, 5}, {5, 0}};
    uint32_t block[] = {0, 1, 3, 4, 5, 0, 1, 3, 5, 0, 2, 3, 4, 5, 0, 2, 3, 5};
    struct as_path path[] = {{0, 5}, {5, 4}, {9, 5}, {14, 4}};
    const struct as_paths paths = {.block = block, .path = path, .path_n = 4};
    const double executed[10] = {100, 20, 80, 100, 50, 100};
    double weight[4];
    struct graph g;
    (void)state;
    make_graph(&g, edge, 8);
    as_path_weights(&g.program, &paths, executed, weight);
    expect_near(weight[0], 0.1);
    expect_near(weight[1], 0.1);
    expect_near(weight[2], 0.4);
    expect_near(weight[3], 0.4);
}

static void paths_never_executed_weigh_the_same(void **state)
{
    const uint32_t edge[][2] = {{0, 1}, {0, 2}, {1, 2}, {2, 0}};
    uint32_t block[] = {0, 1, 2, 0, 2};
    struct as_path path[] = {{0, 3}, {3, 2}};
    const struct as_paths paths = {.block = block, .path = path, .path_n = 2};
    const double executed[10] = {0};
    double weight[2];
    struct graph g;
    (void)state;
    make_graph(&g, edge, 4);
    as_path_weights(&g.program, &paths, executed, weight);
    expect_near(weight[0], 0.5);
    expect_near(weight[1], 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_of_what_was_measured),
        cmocka_unit_test(what_is_left_out_is_counted_by_its_reason),
        cmocka_unit_test(a_condition_is_counted_by_what_it_guards),
        cmocka_unit_test(two_conditions_multiply),
        cmocka_unit_test(paths_never_executed_weigh_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
