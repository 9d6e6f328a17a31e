/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strides in words of the source, in programs that gcc, clang and gfortran compile at several
 * levels. A comment at the end of a line has the texts that are right: "=TEXT" or "=TEXT|TEXT",
 * "=-" for none. Any other text is wrong. Only a proof gives a name, so a share of the strides must
 * have one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code/bases.h"

#include "base/alloc.h"
#include "built.h"

struct counted {
    unsigned all_n, named_n;
};

/* The text that a line of the source is marked with; NULL: none. */
static const char *mark_of(const char *text, uint32_t line, char *buf, size_t buf_b)
{
    while (--line && (text = strchr(text, '\n')))
        text++;
    const size_t n = text ? strcspn(text, "\n") : 0;
    snprintf(buf, buf_b, "%.*s", (int)n, text ? text : "");
    char *mark = strstr(buf, "/=") ? strstr(buf, "/=") : strstr(buf, "!=");
    return mark ? mark + 2 : NULL;
}

static bool is_marked(const char *mark, const char *text)
{
    const size_t n = strlen(text);

    for (const char *at = mark; at; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, text, n) == 0 && (at[n] == 0 || at[n] == '|'))
            return true;
    }
    return false;
}

static void look_at_stream(const struct built *b, const struct as_bases *bases,
                           const struct as_memory_stream *at, const char *source, const char *how,
                           struct counted *sum)
{
    const uint64_t address = b->program->code.insn[at->insn].address;
    const struct as_line *line = as_debug_line_at(&b->program->debug, address);
    struct as_extent_name extent;
    char buf[512];
    const char *mark = line && line->line ? mark_of(source, line->line, buf, sizeof buf) : NULL;

    if (!mark || at->stack || !at->register_stride.n)
        return;
    sum->all_n += strcmp(mark, "-") != 0;
    if (!as_bases_extent(bases, at->insn, &at->register_stride, &extent))
        return;
    sum->named_n++;
    if (!is_marked(mark, extent.text))
        fail_msg("%s: \"%s\" at line %u (0x%lx), which has \"%s\"", how, extent.text, line->line,
                 (unsigned long)address, mark);
    if (extent.factor_b % 8)
        fail_msg("%s: %lld bytes at line %u", how, (long long)extent.factor_b, line->line);
}

static struct counted look_at(const struct built *b, const char *source, const char *how)
{
    struct counted sum = {0};

    for (uint32_t i = 0; i < b->program->body_n; i++) {
        const struct as_body *body = &b->program->body[i];
        struct as_bases *bases = NULL;
        if (body->loops)
            assert_int_equal(as_bases_new(b->program, i, &bases, NULL), 0);
        for (uint32_t k = body->first_loop; bases && k < body->first_loop + body->loops; k++) {
            struct as_streams streams;
            assert_int_equal(as_loop_streams(b->program, k, &streams, NULL), 0);
            for (size_t s = 0; s < streams.n; s++)
                look_at_stream(b, bases, &streams.at[s], source, how, &sum);
            as_streams_free(&streams);
        }
        as_bases_free(&bases);
    }
    return sum;
}

static void check_extents(const char *compiler, const char *suffix, const char *source,
                          unsigned least_pct)
{
    static const char *const level[] = {"-O1", "-O2", "-O3", "-O2 -gdwarf-4",
                                        "-O3 -march=x86-64-v3"};
    struct counted all = {0};

    if (!built_has(compiler))
        skip();
    for (size_t i = 0; i < sizeof level / sizeof *level; i++) {
        char flags[128];
        snprintf(flags, sizeof flags, "-g %s", level[i]);
        struct built b = built_new(compiler, flags, suffix, source);
        const struct counted one = look_at(&b, source, level[i]);
        built_free(&b);
        all.all_n += one.all_n;
        all.named_n += one.named_n;
    }
    print_message("# %s %s: %u of %u strides\n", compiler, suffix, all.named_n, all.all_n);
    assert_true(all.all_n > 0);
    if (100 * all.named_n < least_pct * all.all_n)
        fail_msg("%s: %u of %u strides only", compiler, all.named_n, all.all_n);
}

/* ---- C --------------------------------------------------------------------------------------- */

static const char c_source[] =
    "double vla(long rows, int lda, double m[rows][lda], int c)\n"
    "{ double s = 0; for (long i = 0; i < rows; i++)\n"
    "s += m[i][c]; //=lda\n"
    "return s; }\n"
    "double deep(int n, int p, int q, double (*m)[p][q], int c)\n"
    "{ double s = 0; for (long i = 0; i < n; i++) for (long j = 0; j < p; j++)\n"
    "s += m[i][j][c]; //=q\n"
    "return s; }\n"
    "double padded(int n, double m[n][n + 2], int c)\n"
    "{ double s = 0; for (long i = 0; i < n; i++)\n"
    "s += m[i][c]; //=n + 2\n"
    "return s; }\n"
    "double local(double *p, int n, int ld, int c)\n"
    "{ double (*m)[ld] = (void *)p; double s = 0; for (long i = 0; i < n; i++)\n"
    "s += m[i][c]; //=ld\n"
    "return s; }\n"
    "double automatic(int n, int ld, int c)\n"
    "{ double m[n][ld], s = 0; for (int i = 0; i < n; i++)\n"
    "m[i][c] = i; //=ld\n"
    "__asm__ volatile(\"\" ::\"r\"(m) : \"memory\"); for (long i = 0; i < n; i++)\n"
    "s += m[i][c] * s; //=ld\n"
    "return s; }\n"
    "double flat(const double *a, double *b, long n, long ld)\n"
    "{ double s = 0; for (long i = 0; i < n; i++) {\n"
    "s += a[i * ld]; //=ld\n"
    "b[i * ld] = s; //=ld\n"
    "} return s; }\n"
    "struct grid { int n, ld; double *u; };\n"
    "double member(const struct grid *g, long n)\n"
    "{ double s = 0; for (long i = 0; i < n; i++)\n"
    "s += g->u[i * g->ld]; //=g->ld\n"
    "return s; }\n"
    /* Other values than those at the entry: the name must not be said. */
    "double changed(const double *a, long n, long ld)\n"
    "{ double s = 0; for (long k = 0; k < 3; k++) { for (long i = 0; i < n; i++)\n"
    "s += a[i * ld]; //=-\n"
    "ld = ld * 3 + 1; } return s; }\n"
    "double chosen(const double *a, long n, long ld, long other, int which)\n"
    "{ double s = 0; long by = which ? ld : other; for (long i = 0; i < n; i++)\n"
    "s += a[i * by]; //=by\n"
    "return s; }\n"
    "double loaded(const double *a, long n, const long *ld)\n"
    "{ double s = 0; const long k = ld[3]; for (long i = 0; i < n; i++)\n"
    "s += a[i * k]; //=k\n"
    "return s; }\n";

static void test_c_by_gcc(void **state)
{
    (void)state;
    check_extents("gcc", "c", c_source, 85);
}

static void test_c_by_clang(void **state)
{
    (void)state;
    check_extents("clang", "c", c_source, 85);
}

/* ---- C++ ------------------------------------------------------------------------------------- */

static const char cpp_source[] =
    "struct Grid { int n, ld; double *u; Grid(int m); double sum(int c) const; };\n"
    "Grid::Grid(int m) : n(m), ld(m), u(0) {}\n"
    "double Grid::sum(int c) const { double s = 0; const int by = ld;\n"
    "for (long i = 0; i < n; i++)\n"
    "s += u[i * by + c]; //=by|ld\n"
    "return s; }\n"
    "static inline double column(const double *a, long n, long ld, long c) { double s = 0;\n"
    "for (long i = 0; i < n; i++)\n"
    "s += a[i * ld + c]; //=ld|width\n"
    "return s; }\n"
    "double twice(const double *a, long rows, long width, long c)\n"
    "{ return column(a, rows, width, c); }\n";

static void test_cpp(void **state)
{
    (void)state;
    check_extents("g++", "cpp", cpp_source, 50);
    check_extents("clang++", "cpp", cpp_source, 50);
}

/* ---- Fortran --------------------------------------------------------------------------------- */

static const char fortran_source[] = "module grids\n"
                                     "implicit none\n"
                                     "type grid\n"
                                     "integer :: n, ld\n"
                                     "real(8), allocatable :: u(:,:)\n"
                                     "real(8), pointer :: p(:,:)\n"
                                     "end type\n"
                                     "contains\n"
                                     "subroutine explicit(a, lda, m, s)\n"
                                     "integer, intent(in) :: lda, m\n"
                                     "real(8), intent(in) :: a(lda,m)\n"
                                     "real(8), intent(out) :: s\n"
                                     "integer :: i, j\n"
                                     "s = 0\n"
                                     "do i = 1, lda\n"
                                     "do j = 1, m\n"
                                     "s = s + a(i,j) !=lda\n"
                                     "end do\n"
                                     "end do\n"
                                     "end subroutine\n"
                                     "subroutine lower(a, n, m, s)\n"
                                     "integer, intent(in) :: n, m\n"
                                     "real(8), intent(in) :: a(0:n+1,m)\n"
                                     "real(8), intent(out) :: s\n"
                                     "integer :: i, j\n"
                                     "s = 0\n"
                                     "do i = 1, n\n"
                                     "do j = 1, m\n"
                                     "s = s + a(i,j) !=n + 2\n"
                                     "end do\n"
                                     "end do\n"
                                     "end subroutine\n"
                                     "subroutine cube(a, n, m, k, s)\n"
                                     "integer, intent(in) :: n, m, k\n"
                                     "real(8), intent(in) :: a(n,m,k)\n"
                                     "real(8), intent(out) :: s\n"
                                     "integer :: i, j, l\n"
                                     "s = 0\n"
                                     "do i = 1, n\n"
                                     "do j = 1, m\n"
                                     "do l = 1, k\n"
                                     "s = s + a(i,j,l) !=m*n\n"
                                     "end do\n"
                                     "end do\n"
                                     "end do\n"
                                     "end subroutine\n"
                                     "subroutine automatic(n, s)\n"
                                     "integer, intent(in) :: n\n"
                                     "real(8), intent(out) :: s\n"
                                     "real(8) :: t(n,n)\n"
                                     "integer :: i, j\n"
                                     "call fill(t, n)\n"
                                     "s = t(n,1)\n"
                                     "do i = 1, n\n"
                                     "do j = 1, n\n"
                                     "s = s + t(i,j) * s !=n\n"
                                     "end do\n"
                                     "end do\n"
                                     "end subroutine\n"
                                     "subroutine dummy(a, s)\n"
                                     "real(8), allocatable, intent(inout) :: a(:,:)\n"
                                     "real(8), intent(out) :: s\n"
                                     "integer :: i, j\n"
                                     "s = 0\n"
                                     "do i = 1, size(a,1)\n"
                                     "do j = 1, size(a,2)\n"
                                     "s = s + a(i,j) !=size(a,1)\n"
                                     "end do\n"
                                     "end do\n"
                                     "end subroutine\n"
                                     "subroutine member(g, a, s)\n"
                                     "type(grid), intent(inout) :: g\n"
                                     "real(8), intent(in) :: a(g%ld,*)\n"
                                     "real(8), intent(out) :: s\n"
                                     "integer :: i, j\n"
                                     "s = 0\n"
                                     "do i = 1, g%n\n"
                                     "do j = 1, g%n\n"
                                     "s = s + g%u(i,j) !=size(g%u,1)\n"
                                     "end do\n"
                                     "end do\n"
                                     "do i = 1, g%n\n"
                                     "do j = 1, g%n\n"
                                     "s = s + a(i,j) !=g%ld\n"
                                     "end do\n"
                                     "end do\n"
                                     "do i = 1, g%n\n"
                                     "do j = 1, g%n\n"
                                     "s = s + s*g%p(i,j) !=-\n"
                                     "end do\n"
                                     "end do\n"
                                     "end subroutine\n"
                                     "end module\n";

static void test_fortran(void **state)
{
    (void)state;
    check_extents("gfortran", "f90", fortran_source, 90);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Without memory for a text the stride has no name. */
static void test_no_memory_is_no_name(void **state)
{
    (void)state;
    struct built b = built_new("gcc", "-g -O2", "c", c_source);
    const uint32_t loop = built_hot(&b, "member");
    struct as_streams streams;
    struct as_extent_name extent;
    struct as_bases *bases;

    assert_int_equal(as_bases_new(b.program, b.program->loop[loop].body, &bases, NULL), 0);
    assert_int_equal(as_loop_streams(b.program, loop, &streams, NULL), 0);
    for (size_t s = 0; s < streams.n; s++) {
        if (!streams.at[s].register_stride.n)
            continue;
        as_alloc_fail_after(0);
        as_bases_extent(bases, streams.at[s].insn, &streams.at[s].register_stride, &extent);
        as_alloc_fail_after(-1);
        assert_true(
            as_bases_extent(bases, streams.at[s].insn, &streams.at[s].register_stride, &extent));
        assert_string_equal(extent.text, "g->ld");
        assert_int_equal(extent.factor_b, 8);
    }
    as_streams_free(&streams);
    as_bases_free(&bases);
    built_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c_by_gcc),
        cmocka_unit_test(test_c_by_clang),
        cmocka_unit_test(test_cpp),
        cmocka_unit_test(test_fortran),
        cmocka_unit_test(test_no_memory_is_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
