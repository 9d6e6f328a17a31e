/* SPDX-License-Identifier: Apache-2.0 */
/* How outer loops move the operands of loops, by gcc and clang at several levels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "built.h"

static const char source[] =
    /* c moves with i alone, b with k alone */
    "void product(double *restrict c, const double *restrict a, const double *restrict b)\n"
    "{ for (long i = 0; i < 100; i++) for (long k = 0; k < 100; k++)\n"
    "  for (long j = 0; j < 100; j++) c[i * 128 + j] += a[i * 128 + k] * b[k * 128 + j]; }\n"
    "void product_of(double *restrict c, const double *restrict a, const double *restrict b,\n"
    "                long n)\n"
    "{ for (long i = 0; i < n; i++) for (long k = 0; k < n; k++)\n"
    "  for (long j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j]; }\n"
    /* the stores go by columns, the loads by rows */
    "void transposed(double *restrict to, const double *restrict from)\n"
    "{ for (long i = 0; i < 100; i++) for (long j = 0; j < 100; j++)\n"
    "  to[j * 128 + i] = from[i * 128 + j]; }\n"
    /* all x and y for each q */
    "double pairs(const double *restrict x, const double *restrict q, long n, long m)\n"
    "{ double s = 0; for (long i = 0; i < m; i++) for (long j = 0; j < n; j++)\n"
    "  { double d = x[j] - q[i]; s += d * d; } return s; }\n"
    "double rows(double *const *row, long n)\n"
    "{ double s = 0; for (long i = 0; i < n; i++) for (long j = 0; j < n; j++) s += row[i][j];\n"
    "  return s; }\n";

static struct built built_at(const char *compiler, const char *level)
{
    char flags[128];

    snprintf(flags, sizeof flags, "%s -g -fPIC -shared -ffast-math", level);
    return built_new(compiler, flags, "c", source);
}

/* Steps of the operands of the hot loop: `write` of those that store. */
struct outer_walks {
    struct as_streams streams;
    struct as_outer_step *step;
};

static struct outer_walks walks_of(const struct built *b, const char *function)
{
    const uint32_t loop = built_hot(b, function);
    struct outer_walks out;

    assert_int_equal(as_loop_streams(b->program, loop, &out.streams, NULL), 0);
    out.step = as_calloc(out.streams.n * AS_OUTER_MOST + 1, sizeof *out.step);
    assert_non_null(out.step);
    assert_int_equal(as_loop_outer_steps(b->program, loop, &out.streams, out.step, NULL), 0);
    return out;
}

static void walks_free(struct outer_walks *walks)
{
    as_free(walks->step);
    as_streams_free(&walks->streams);
}

/* How the loops around move one operand. */
struct outer_want {
    uint8_t kind;
    int64_t step_b;
};

/* All operands off the stack that walk, of those that store (`access`) or load: the kinds of the
 * first and the second loop around are among the two given pairs. */
static void assert_steps(const struct built *b, const char *function, unsigned access,
                         const struct outer_want want[2][2])
{
    struct outer_walks w = walks_of(b, function);
    unsigned seen[2] = {0};

    for (size_t s = 0; s < w.streams.n; s++) {
        const struct as_memory_stream *at = &w.streams.at[s];
        const struct as_outer_step *step = &w.step[s * AS_OUTER_MOST];
        unsigned same = 2;
        if (at->stack || at->stride_b == 0 || !(at->access & access))
            continue;
        for (unsigned i = 2; i-- > 0;)
            if (step[0].kind == want[i][0].kind && step[0].step_b == want[i][0].step_b &&
                step[1].kind == want[i][1].kind && step[1].step_b == want[i][1].step_b)
                same = i;
        assert_in_range(same, 0, 1);
        seen[same]++;
    }
    assert_true(seen[0] > 0);
    walks_free(&w);
}

static const char *const level[] = {"-O1", "-O2", "-O2 -march=x86-64-v3"};

/* b moves with the second loop, and is the same for the third; c the other way round. */
static void check_nests(const char *compiler)
{
    static const struct outer_want matrix[2][2] = {{{AS_OUTER_STEP, 1024}, {AS_OUTER_SAME, 0}},
                                                   {{AS_OUTER_SAME, 0}, {AS_OUTER_STEP, 1024}}};
    static const struct outer_want of_n[2][2] = {{{AS_OUTER_STEADY, 0}, {AS_OUTER_SAME, 0}},
                                                 {{AS_OUTER_SAME, 0}, {AS_OUTER_STEADY, 0}}};
    static const struct outer_want again[2][2] = {{{AS_OUTER_SAME, 0}, {AS_OUTER_UNKNOWN, 0}},
                                                  {{AS_OUTER_SAME, 0}, {AS_OUTER_UNKNOWN, 0}}};
    static const struct outer_want by_column[2][2] = {{{AS_OUTER_STEP, 8}, {AS_OUTER_UNKNOWN, 0}},
                                                      {{AS_OUTER_STEP, 8}, {AS_OUTER_UNKNOWN, 0}}};
    static const struct outer_want by_row[2][2] = {{{AS_OUTER_STEP, 1024}, {AS_OUTER_UNKNOWN, 0}},
                                                   {{AS_OUTER_STEP, 1024}, {AS_OUTER_UNKNOWN, 0}}};
    static const struct outer_want unknown[2][2] = {{{AS_OUTER_UNKNOWN, 0}, {0, 0}},
                                                    {{AS_OUTER_UNKNOWN, 0}, {0, 0}}};

    for (size_t i = 0; i < sizeof level / sizeof *level; i++) {
        struct built b = built_at(compiler, level[i]);
        assert_steps(&b, "product", AS_ACCESS_READ, matrix);
        assert_steps(&b, "product_of", AS_ACCESS_READ, of_n);
        assert_steps(&b, "pairs", AS_ACCESS_READ, again);
        assert_steps(&b, "transposed", AS_ACCESS_WRITE, by_column);
        assert_steps(&b, "transposed", AS_ACCESS_READ, by_row);
        assert_steps(&b, "rows", AS_ACCESS_READ, unknown);
        built_free(&b);
    }
}

static void test_gcc(void **state)
{
    (void)state;
    check_nests("gcc");
}

static void test_clang(void **state)
{
    (void)state;
    if (!built_has("clang"))
        skip();
    check_nests("clang");
}

/* The compiler computes two iterations of k at once, and the rest in a loop with two entries. */
static void test_jammed(void **state)
{
    struct built b = built_at("gcc", "-O3");
    static const struct outer_want of_n[2][2] = {{{AS_OUTER_STEADY, 0}, {AS_OUTER_SAME, 0}},
                                                 {{AS_OUTER_SAME, 0}, {AS_OUTER_UNKNOWN, 0}}};

    (void)state;
    assert_steps(&b, "product_of", AS_ACCESS_READ, of_n);
    built_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gcc),
        cmocka_unit_test(test_clang),
        cmocka_unit_test(test_jammed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
