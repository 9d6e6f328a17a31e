/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of loops that follow from their source or instructions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "built.h"
#include "quality/quality.h"

#define near(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static const char source[] =
    "struct v { double x, y, z; };\n"
    "double sum(const double *a, long n)\n"
    "{ double s = 0; for (long i = 0; i < n; i++) s += a[i]; return s; }\n"
    "double column(double (*a)[100], long n)\n"
    "{ double s = 0; for (long i = 0; i < n; i++) s += a[i][3]; return s; }\n"
    "double member(struct v *a, long n)\n"
    "{ double s = 0; for (long i = 0; i < n; i++) s += a[i].x; return s; }\n"
    "double across(const double *a, long lead, long n)\n"
    "{ double s = 0; for (long i = 0; i < n; i++) s += a[i * lead]; return s; }\n"
    "double gather(double *a, int *x, long n)\n"
    "{ double s = 0; for (long i = 0; i < n; i++) s += a[x[i]]; return s; }\n"
    "struct w { double x, y, z, t; };\n"
    "double three(const struct w *a, long n)\n"
    "{ double s = 0; for (long i = 0; i < n; i++) s += a[i].x * a[i].y + a[i].t; return s; }\n"
    "double corners(double (*a)[100], long n)\n"
    "{ double s = 0; for (long i = 0; i < n; i++) s += a[i][0] * a[i][12]; return s; }\n"
    "void divide(double *a, long n)\n"
    "{ for (long i = 0; i < n; i++) a[i] = 1 / a[i]; }\n"
    "double f(double);\n"
    "void calls(double *a, long n)\n"
    "{ for (long i = 0; i < n; i++) a[i] = f(a[i]); }\n"
    "long count(const int *a, long n)\n"
    "{ long s = 0; for (long i = 0; i < n; i++) { if (a[i] == 7) { s += 3; __asm__ volatile(\"\"); "
    "}\n"
    "  else __asm__ volatile(\"nop\"); } return s; }\n"
    "void copy(double *restrict a, const double *restrict b, long n)\n"
    "{ for (long i = 0; i < n; i++) a[i] = b[i] > 0 ? b[i] : 0; }\n"
    "void recurrence(double *a, double s, long n)\n"
    "{ for (long i = 0; i < n; i++) { s = s * a[i] + 1; a[i] = s; } }\n"
    "double sums(const double *a, const double *b, long n) { double s = 0, t = 0, u = 1;\n"
    "  for (long i = 0; i < n; i++) { s += a[i]; s += b[i]; t -= a[i] * b[i]; u *= a[i]; }\n"
    "  return s + t + u; }\n"
    "double mixed(const double *a, double s, long n) { double t = 0;\n"
    "  for (long i = 0; i < n; i++) { s = s * s + a[i] * s; t += a[i]; } return s + t; }\n"
    "void through(double *a, const double *b, long n)\n"
    "{ for (long i = 1; i < n; i++) a[i] = a[i - 1] * b[i] + 1; }\n"
    "unsigned hash(const unsigned char *a, unsigned s, long n)\n"
    "{ for (long i = 0; i < n; i++) s = (s ^ a[i]) * 16777619u; return s; }\n"
    "struct list { struct list *next; long value; };\n"
    "long list(const struct list *l, long n)\n"
    "{ long s = 0; for (long i = 0; i < n; i++) { s += l->value; l = l->next; } return s; }\n"
    "long find(const int *a, int x) { long i = 0; while (a[i] != x) i++; return i; }\n"
    "double until(double x) { do x = x * 0.5 + 1; while (x > 2); return x; }\n"
    "long most(const int *a, long n)\n"
    "{ long s = 0; for (long i = 0; i < n; i++) s = a[i] > s ? a[i] : s; return s; }\n"
    "void rows(double *y, const double *a, const double *x, const int *at, const int *row, long "
    "n)\n"
    "{ for (long i = 0; i < n; i++) { double s = y[i];\n"
    "  for (int k = row[i]; k < row[i + 1]; k++) s += a[k] * x[at[k]]; y[i] = s; } }\n"
    "double all_rows(const double *a, const int *row, long n)\n"
    "{ double s = 1; for (long i = 0; i < n; i++)\n"
    "  for (int k = row[i]; k < row[i + 1]; k++) s += a[k]; return s; }\n"
    "long common(const int *a, const int *b, long n) { long s = 0; for (long i = 0; i < n; i++) {\n"
    "  int x = a[i]; while (*b < x) b++; s += *b == x; } return s; }\n"
    "long each(const int *a, const int *b, long n) { long s = 0; for (long i = 0; i < n; i++) {\n"
    "  int x = a[i]; const int *c = b; while (*c < x) c++; s += *c == x; } return s; }\n"
    "void scan(const char *a, int *to, long n)\n"
    "{ for (long i = 0; i < n; i++) { while (*a > 32) a++; to[i] = *a; a += 2; } }\n"
    "void merge(const int *a, const int *e, const int *b, int *to)\n"
    "{ while (a < e) { if (*a <= *b) *to++ = *a++; else *to++ = *b++; } }\n"
    "void words(unsigned *h, const unsigned char *a, const int *from, long n)\n"
    "{ for (long i = 0; i < n; i++) { unsigned s = 0;\n"
    "  for (int k = from[i]; k < from[i + 1]; k++) s = (s ^ a[k]) * 16777619u; h[i] = s; } }\n"
    "#include <math.h>\n"
    "long near(const double *x, double most, long n)\n"
    "{ long s = 0; for (long i = 0; i < n; i++) s += sqrt(x[i]) < most; return s; }\n"
    "void roots(double *x, long n) { for (long i = 0; i < n; i++) x[i] = sqrt(x[i]); }\n"
    "void running(double *b, const double *a, double s, long n)\n"
    "{ for (long i = 0; i < n; i++) { s += a[i]; b[i] = s; } }\n"
    "void front(double *u, const double *v, long n)\n"
    "{ for (long i = 1; i < n; i++) u[i] = u[i - 1] + v[i] - v[i - 1]; }\n"
    "void kept(double *s, const double *a, long n)\n"
    "{ for (long i = 0; i < n; i++) { s[0] += a[i]; s[1] -= a[i]; } }\n"
    "void scaled(double *a, const double *f, long n)\n"
    "{ for (long i = 0; i < n; i++) a[i] = a[i] * f[0] + f[1]; }\n"
    "void daxpy(double *restrict y, const double *restrict x, double a, long n)\n"
    "{ for (long i = 0; i < n; i++) y[i] += a * x[i]; }\n";

static struct as_loop_facts facts_of(const char *flags, const char *function)
{
    struct built b = built_new(TEST_CC, flags, "c", source);
    struct as_loop_facts facts;

    assert_int_equal(as_quality_loop(b.program, built_hot(&b, function), &facts, NULL), 0);
    built_free(&b);
    return facts;
}

static void access_is(const char *function, double low, double high)
{
    const struct as_loop_facts it = facts_of("-O1", function);

    near(it.access_low, low);
    near(it.access_high, high);
}

static void test_access(void **state)
{
    (void)state;
    access_is("sum", 1, 1);
    access_is("column", 8 / 64.0, 8 / 64.0); /* 800 B apart: a line each */
    access_is("member", 8 / 24.0, 8 / 24.0);
    /* A fact that the code does not show has no value. */
    access_is("across", 8 / 64.0, 1);
    /* 4 bytes of indices without holes, and 8 bytes of a line by each. */
    access_is("gather", (4 + 8) / (4 + 64.0), 1);
    /* Three of four members: operand by operand a quarter each. */
    access_is("three", 24 / 32.0, 24 / 32.0);
    access_is("corners", 16 / 128.0, 16 / 128.0); /* of every 800 bytes twice 8, 96 apart */
    /* Four elements of a vector lie in four lines. */
    struct as_loop_facts it = facts_of("-O3 -march=haswell -mtune=skylake -ffast-math", "gather");
    assert_true(it.stream_n[AS_STRIDE_INDIRECT] > 0);
    near(it.access_low, (4 + 8) / (4 + 64.0));
    near(it.access_high, 1);
    it = facts_of("-O1", "across");
    assert_int_equal(it.steady_n, 1);
    it = facts_of("-O1", "gather");
    assert_int_equal(it.stream_n[AS_STRIDE_INDIRECT], 1);
}

/* Stores may reach what does not move: `kept` stores it anew, `scaled` only loads it. */
static void test_unmoved(void **state)
{
    (void)state;
    struct as_loop_facts it = facts_of("-O2 -fno-tree-vectorize", "kept");
    assert_int_equal(it.rewrite_n, 2);
    assert_int_equal(it.reload_n, 0);
    it = facts_of("-O2 -fno-tree-vectorize", "scaled");
    assert_int_equal(it.rewrite_n, 0);
    assert_int_equal(it.reload_n, 2);
    it = facts_of("-O2 -fno-tree-vectorize", "daxpy");
    assert_int_equal(it.rewrite_n, 0);
    assert_int_equal(it.reload_n, 0);
}

static void test_roots(void **state)
{
    (void)state;
    assert_int_equal(facts_of("-O1 -fno-math-errno", "near").compared_root_n, 1);
    assert_int_equal(facts_of("-O1", "near").compared_root_n, 1);
    assert_int_equal(facts_of("-O1 -fno-math-errno", "roots").compared_root_n, 0);
    assert_int_equal(facts_of("-O1", "roots").compared_root_n, 0); /* checked for errno */
}

static void test_arithmetic(void **state)
{
    (void)state;
    struct as_loop_facts it = facts_of("-O1", "daxpy");
    assert_int_equal(it.fp_packed_n, 0);
    assert_int_equal(it.fp_scalar_n, 2);
    it = facts_of("-O3 -fno-unroll-loops", "daxpy");
    assert_true(it.fp_packed_n >= 2);
    assert_int_equal(it.fp_scalar_n, 0);
    it = facts_of("-O1", "divide");
    assert_int_equal(it.fp_divide_n, 1);
    assert_int_equal(it.fp_scalar_n, 1);
}

/* Loop-carried dependences, and widths of accesses without arithmetic. */
static void test_reasons(void **state)
{
    (void)state;
    assert_int_equal(facts_of("-O1", "sum").fp_carried_n, 1);
    assert_int_equal(facts_of("-O1", "recurrence").fp_carried_n, 1);
    assert_int_equal(facts_of("-O1", "daxpy").fp_carried_n, 0);
    assert_int_equal(facts_of("-O1", "divide").fp_carried_n, 0);
    struct as_loop_facts it = facts_of("-O1", "copy");
    assert_int_equal(it.moving_n, 2);
    assert_int_equal(it.wide_n, 0);
    assert_int_equal(it.fp_scalar_n, 0);
    it = facts_of("-O3 -fno-unroll-loops", "copy");
    assert_int_equal(it.wide_n, it.moving_n);
    assert_true(it.wide_n >= 2);
}

static void chains_are(const char *function, uint32_t fp, uint32_t sums, uint32_t others,
                       uint32_t exits)
{
    static const char *const flags[] = {"-O1", "-O2 -fno-tree-vectorize",
                                        "-O1 -mfma -ffp-contract=fast"};

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        const struct as_loop_facts it = facts_of(flags[i], function);

        if (it.fp_carried_n != fp || it.fp_sum_n != sums || it.other_carried_n != others ||
            it.data_exit_n != exits)
            fail_msg("%s, %s: %u chains, %u sums, %u others, %u exits by data", function, flags[i],
                     it.fp_carried_n, it.fp_sum_n, it.other_carried_n, it.data_exit_n);
    }
}

/* However often a chain goes through arithmetic, moves and memory, it is one. */
static void test_chains(void **state)
{
    (void)state;
    chains_are("sum", 1, 1, 0, 0);
    chains_are("sums", 3, 3, 0, 0);
    chains_are("mixed", 2, 1, 0, 0);
    chains_are("recurrence", 1, 0, 0, 0);
    chains_are("through", 1, 0, 0, 0);
    chains_are("running", 1, 0, 0, 0); /* each sum is needed */
    chains_are("front", 1, 0, 0, 0);
    chains_are("kept", 2, 2, 0, 0); /* one address: the last counts */
    chains_are("daxpy", 0, 0, 0, 0);
    chains_are("hash", 0, 0, 1, 0);
    chains_are("list", 0, 0, 1, 0);
    chains_are("most", 0, 0, 0, 0);
    chains_are("find", 0, 0, 0, 1);
    chains_are("until", 1, 0, 0, 1);
}

/* A row has a sum of its own; one sum goes through all rows; a word has a hash of its own. */
static void test_begun(void **state)
{
    (void)state;
    struct as_loop_facts it = facts_of("-O1", "rows");
    assert_int_equal(it.fp_carried_n, 1);
    assert_int_equal(it.begun_n, 1);
    it = facts_of("-O1", "all_rows");
    assert_int_equal(it.fp_carried_n, 1);
    assert_int_equal(it.begun_n, 0);
    it = facts_of("-O1", "words");
    assert_int_equal(it.other_carried_n, 1);
    assert_int_equal(it.begun_n, 1);
    it = facts_of("-O1", "sum"); /* no loop around it */
    assert_int_equal(it.begun_n, 0);
}

static void walks_are(const char *function, bool is_resumed, bool is_merge)
{
    static const char *const flags[] = {"-O1", "-O2"};

    for (int i = 0; i < 2; i++) {
        const struct as_loop_facts it = facts_of(flags[i], function);

        if ((it.resumed_n > 0) != is_resumed || (it.merge_n > 0) != is_merge)
            fail_msg("%s, %s: %u loads go on, %u merges", function, flags[i], it.resumed_n,
                     it.merge_n);
    }
}

static void test_merges(void **state)
{
    (void)state;
    walks_are("common", true, true);
    walks_are("each", false, false);                         /* a search: it begins anew */
    const struct as_loop_facts it = facts_of("-O1", "scan"); /* compared with a constant */
    assert_int_equal(it.resumed_n, 1);
    assert_int_equal(it.merge_n, 0);
    walks_are("merge", false, true);
    walks_are("find", false, false); /* no loop around it */
}

static void test_flow(void **state)
{
    (void)state;
    struct as_loop_facts it = facts_of("-O1", "sum");
    assert_int_equal(it.path_n, 1);
    assert_int_equal(it.steer_n, 0); /* what ends the loop does not steer */
    assert_int_equal(it.call_n, 0);
    it = facts_of("-O1", "count");
    assert_int_equal(it.path_n, 2);
    assert_int_equal(it.steer_n, 2); /* a compare and a branch */
    assert_true(it.insn_n >= 6);
    assert_int_equal(facts_of("-O1", "calls").call_n, 1);
}

static void test_options(void **state)
{
    static const struct {
        const char *compiler, *version, *flags;
        double score;
    } want[] = {
        {"gcc", "12.2.0", "-mtune=generic -march=x86-64 -g -O2", 0.45},
        {"gcc", "9.1", "-march=x86-64 -O2", 0.3},
        {"gcc", "12.2.0", "-march=x86-64-v3 -O3", 0.95},
        {"gcc", "12.2.0", "-march=skylake-avx512 -Ofast", 1},
        {"gcc", "12.2.0", "-march=znver3", 0.5},
        {"gcc", "12.2.0", "-O3 -O0 -march=x86-64", 0}, /* the last one holds */
        {"clang", "14.0.6", "-O2", 0.5},
        {"gcc", "12.2.0", NULL, -1},
        {"clang", "14.0.6", "", -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct as_options_score it;

        as_score_options(want[i].compiler, want[i].version, want[i].flags, &it);
        near(it.score, want[i].score);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_access),  cmocka_unit_test(test_unmoved),
        cmocka_unit_test(test_roots),   cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_reasons), cmocka_unit_test(test_chains),
        cmocka_unit_test(test_begun),   cmocka_unit_test(test_flow),
        cmocka_unit_test(test_options), cmocka_unit_test(test_merges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
