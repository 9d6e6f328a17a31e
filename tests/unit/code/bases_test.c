/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of operands, in programs that gcc, clang and gfortran compile at several levels. A comment
 * at the end of a line, "=NAME" or "=NAME,NAME", says which arrays the line touches: any other name
 * is wrong. Only a proof gives a name, so a share of the operands must have one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "code/bases.h"

#include "base/alloc.h"
#include "built.h"

struct named {
    unsigned all_n, named_n;
};

/* The marks of a line of the source: "=a,b"; NULL: it has none. */
static const char *marks_of(const char *text, uint32_t line, char *buf, size_t buf_b)
{
    while (--line && (text = strchr(text, '\n')))
        text++;
    const size_t n = text ? strcspn(text, "\n") : 0;
    snprintf(buf, buf_b, "%.*s", (int)n, text ? text : "");
    char *mark = strrchr(buf, '=');
    if (!mark || (mark[-1] != '/' && mark[-1] != '!'))
        return NULL;
    return mark + 1;
}

static bool is_marked(const char *marks, const char *name)
{
    const size_t n = strlen(name);

    for (const char *at = marks; *at;) {
        const size_t part = strcspn(at, ",");
        if (part == n && strncmp(at, name, n) == 0)
            return true;
        at += part + (at[part] == ',');
    }
    return false;
}

static void look_at_loop(const struct built *b, const struct as_bases *bases, uint32_t loop,
                         const char *source, const char *how, struct named *sum)
{
    struct as_streams streams;

    assert_int_equal(as_loop_streams(b->program, loop, &streams, NULL), 0);
    for (size_t i = 0; i < streams.n; i++) {
        const struct as_memory_stream *at = &streams.at[i];
        const uint64_t address = b->program->code.insn[at->insn].address;
        const struct as_line *line = as_debug_line_at(&b->program->debug, address);
        struct as_base_name name;
        char buf[512];
        const char *marks = line ? marks_of(source, line->line, buf, sizeof buf) : NULL;
        if (!marks || at->stack)
            continue;
        sum->all_n++;
        if (!bases || !as_bases_name(bases, at->insn, at->operand, &name))
            continue;
        sum->named_n++;
        if (!is_marked(marks, name.text))
            fail_msg("%s: %s at line %u (0x%lx), which has %s", how, name.text, line->line,
                     (unsigned long)address, marks);
    }
    as_streams_free(&streams);
}

/* All innermost loops of a program. */
static struct named look_at(const struct built *b, const char *source, const char *how)
{
    struct named sum = {0};

    for (uint32_t i = 0; i < b->program->body_n; i++) {
        const struct as_body *body = &b->program->body[i];
        struct as_bases *bases;
        if (!body->loops)
            continue;
        assert_int_equal(as_bases_new(b->program, i, &bases, NULL), 0);
        for (uint32_t k = body->first_loop; k < body->first_loop + body->loops; k++)
            look_at_loop(b, bases, k, source, how, &sum);
        as_bases_free(&bases);
    }
    return sum;
}

/* Builds a source by a compiler with `more` flags at several levels; `least_pct` of all operands
 * have names. */
static void check_names_with(const char *compiler, const char *more, const char *suffix,
                             const char *source, unsigned least_pct)
{
    static const char *const level[] = {"-O1", "-O2", "-O3", "-O2 -gdwarf-4",
                                        "-O3 -march=x86-64-v3"};
    struct named all = {0};

    if (!built_has(compiler))
        skip();
    for (size_t i = 0; i < sizeof level / sizeof *level; i++) {
        char flags[256];
        snprintf(flags, sizeof flags, "-g %s %s", level[i], more);
        struct built b = built_new(compiler, flags, suffix, source);
        const struct named one = look_at(&b, source, level[i]);
        built_free(&b);
        assert_true(one.all_n > 0);
        all.all_n += one.all_n;
        all.named_n += one.named_n;
    }
    print_message("# %s %s: %u of %u operands\n", compiler, suffix, all.named_n, all.all_n);
    if (100 * all.named_n < least_pct * all.all_n)
        fail_msg("%s: %u of %u operands only", compiler, all.named_n, all.all_n);
}

static void check_names(const char *compiler, const char *suffix, const char *source,
                        unsigned least_pct)
{
    check_names_with(compiler, "", suffix, source, least_pct);
}

/* ---- C --------------------------------------------------------------------------------------- */

static const char c_source[] =
    "struct grid { int n; double *u; struct { float *m; } in; double own[64]; };\n"
    "__attribute__((visibility(\"hidden\"))) double fixed[300][400], other[300][400];\n"
    "double vla(int n, double (*m)[n], int c)\n"
    "{ double s = 0; for (int i = 0; i < n; i++)\n"
    "s += m[i][c]; //=m\n"
    "return s; }\n"
    "double two(const double *a, double *b, long n, long ld)\n"
    "{ double s = 0; for (long i = 0; i < n; i++) {\n"
    "s += a[i * ld]; //=a\n"
    "b[i * ld] = s; //=b\n"
    "} return s; }\n"
    "double member(struct grid *g, long ld)\n"
    "{ double s = 0; for (long i = 0; i < g->n; i++) { //=g\n"
    "s += g->u[i * ld]; //=g->u\n"
    "s += g->in.m[i]; //=g->in.m\n"
    "} return s; }\n"
    "double kept(int n)\n"
    "{ double s = 0; for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) {\n"
    "s += fixed[i][j]; //=fixed\n"
    "other[j][i] = s; //=other\n"
    "} return s; }\n"
    "double three(double **restrict rows, int n, int c)\n"
    "{ double s = 0; for (int i = 0; i < n; i++)\n"
    "s += rows[i][c]; //=rows,rows[]\n"
    "return s; }\n"
    "void swap(double *u, double *v, long n, int t)\n"
    "{ for (int k = 0; k < t; k++) { for (long i = 1; i < n - 1; i++) {\n"
    "double x = u[i - 1] + u[i + 1]; //=u\n"
    "v[i] = x; //=v\n"
    "} double *w = u; u = v; v = w; } }\n"
    "double chosen(double *a, double *b, long n, int which)\n"
    "{ double s = 0, *p = which ? a : b; for (long i = 0; i < n; i++)\n"
    "s += p[i]; //=p\n"
    "return s; }\n"
    "double apart(char *a, char *b, long n)\n"
    "{ double s = 0; long d = b - a; for (long i = 0; i < n; i++) {\n"
    "s += *(double *)(a + 8 * i); //=a\n"
    "s += *(double *)(a + 8 * i + d); //=b\n"
    "} return s; }\n"
    "double walked(const double *from, const double *to)\n"
    "{ double s = 0; while (from < to)\n"
    "s += *from++; //=from\n"
    "return s; }\n";

static void test_c_by_gcc(void **state)
{
    (void)state;
    check_names("gcc", "c", c_source, 95);
}

static void test_c_by_clang(void **state)
{
    (void)state;
    check_names("clang", "c", c_source, 95);
}

/* More pointers than registers: spilled words keep their names. */
static const char *many_source(void)
{
    static char text[8192];
    size_t n = 0;

    n += (size_t)snprintf(text + n, sizeof text - n, "void many(long n, double f");
    for (int i = 0; i < 20; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, ", double *a%d", i);
    n += (size_t)snprintf(text + n, sizeof text - n, ")\n{ for (long i = 0; i < n; i++) {\n");
    for (int i = 0; i < 20; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "a%d[i] = a%d[i] * f + %d; //=a%d\n", i, i,
                              i, i);
    snprintf(text + n, sizeof text - n, "} }\n");
    return text;
}

static void test_more_pointers_than_registers(void **state)
{
    (void)state;
    check_names("gcc", "c", many_source(), 80);
}

/* A frame that is aligned has no known distance from its canonical address. Arrays of it go to a
 * call, and pointers are spilled below them. */
static const char aligned_source[] =
    "struct set { double *a, *b, *c, *d, *e, *f, *g, *h; };\n"
    "__attribute__((noipa)) double use(const double *x) { return x[0] + x[7]; }\n"
    "double gather(const struct set *of, const int *k, long n)\n"
    "{ double s = 0; for (long i = 0; i < n; i++) {\n"
    "_Alignas(64) double x[8];\n"
    "const int at = k[i]; //=k\n"
    "x[0] = of->a[at]; //=of,of->a,k\n"
    "x[1] = of->b[at]; //=of,of->b,k\n"
    "x[2] = of->c[at]; //=of,of->c,k\n"
    "x[3] = of->d[at]; //=of,of->d,k\n"
    "x[4] = of->e[at]; //=of,of->e,k\n"
    "x[5] = of->f[at]; //=of,of->f,k\n"
    "x[6] = of->g[at]; //=of,of->g,k\n"
    "x[7] = of->h[at]; //=of,of->h,k\n"
    "s += use(x);\n"
    "} return s; }\n"
    "double local(double *restrict a, double *restrict b, double *restrict c, double *restrict d,\n"
    "double *restrict e, double *restrict f, double *restrict g, long n)\n"
    "{ double s = 0; for (long i = 0; i < n; i++) {\n"
    "_Alignas(64) double x[8] = {0};\n"
    "x[0] = a[i] + b[3 * i]; //=a,b\n"
    "x[1] = c[i] + d[5 * i]; //=c,d\n"
    "x[2] = e[i] + f[7 * i]; //=e,f\n"
    "x[7] = g[9 * i]; //=g\n"
    "s += use(x);\n"
    "} return s; }\n";

static void test_aligned_frames(void **state)
{
    (void)state;
    check_names("gcc", "c", aligned_source, 85);
}

/* Spills to vector registers, as gcc makes them with 32 of these. */
static const char vector_source[] =
    "double spilled(double *a, const double *b, const long *of, long n)\n"
    "{ double s = 0; for (long i = 0; i < n; i++) {\n"
    "double *kept; const double *other;\n"
    "__asm__(\"\" : \"=x\"(kept) : \"0\"(a));\n"
    "__asm__(\"\" : \"=x\"(other) : \"0\"(b));\n"
    "s += kept[of[i]]; //=a,kept,of\n"
    "s += other[3 * i]; //=b,other\n"
    "} return s; }\n"
    "double chosen(double *a, double *b, const long *of, long n, int which)\n"
    "{ double s = 0, *kept = a; for (long i = 0; i < n; i++) {\n"
    "if (of[i] == which) kept = b; //=of\n"
    "double *now; __asm__(\"\" : \"=x\"(now) : \"0\"(kept));\n"
    "s += now[i]; //=kept,now,a,b\n"
    "} return s; }\n";

static void test_spills_to_vectors(void **state)
{
    (void)state;
    check_names("gcc", "c", vector_source, 85);
}

/* ---- C++ ------------------------------------------------------------------------------------- */

static const char cpp_source[] =
    "#include <memory>\n"
    "#include <vector>\n"
    "struct Grid { int n; std::vector<double> u; std::unique_ptr<double[]> raw;\n"
    "double at(int i, int j) const { return u[i * n + j]; //=u\n"
    "}\n"
    "double sum(int c) const; double all(int c) const; };\n"
    "double Grid::sum(int c) const { double s = 0; for (int i = 0; i < n; i++) {\n"
    "s += u[i * n + c]; //=u\n"
    "s += raw[i]; //=raw\n"
    "} return s; }\n"
    "double Grid::all(int c) const { double s = 0; for (int i = 0; i < n; i++)\n"
    "s += at(i, c);\n"
    "return s; }\n"
    "double vec(const std::vector<double> &v, std::vector<float> *w, int ld, int n)\n"
    "{ double s = 0; for (int i = 0; i < n; i++) {\n"
    "s += v[i * ld]; //=v\n"
    "s += (*w)[i]; //=w\n"
    "} return s; }\n"
    "double ref(double (&a)[100], const double *const &b, int n)\n"
    "{ double s = 0; for (int i = 0; i < n; i++) {\n"
    "s += a[i]; //=a\n"
    "s += b[i]; //=b\n"
    "} return s; }\n";

static void test_cpp_by_gcc(void **state)
{
    (void)state;
    check_names("g++", "cpp", cpp_source, 90);
}

static void test_cpp_by_clang(void **state)
{
    (void)state;
    check_names("clang++", "cpp", cpp_source, 60);
}

/* Records that another unit defines: clang describes them there alone, if it is not told else. The
 * two records Two differ, so neither of them is the one of this unit. */
#define OWNERS                                                                                     \
    "namespace own { struct Plain { Plain(int n); int n; double *u;\n"                             \
    "struct Inner { Inner(); float *f; } in; }; }\n"                                               \
    "template <class T> struct Box { Box(int n); T *at; long n; };\n"                              \
    "struct Derived : own::Plain { Derived(); int *list; };\n"

static const char owner_source[] = OWNERS
    "double plain(const own::Plain &p) { double s = 0; for (int i = 0; i < p.n; i++) { //=p\n"
    "s += p.u[3 * i]; //=p.u,p\n"
    "s += p.in.f[i]; //=p.in.f,p\n"
    "} return s; }\n"
    "double inner(const own::Plain::Inner *q, long n) { double s = 0;\n"
    "for (long i = 0; i < n; i++)\n"
    "s += q->f[5 * i]; //=q->f\n"
    "return s; }\n"
    "double boxes(Box<double> *x, const Box<float> &y) { double s = 0;\n"
    "for (long i = 0; i < y.n; i++) { //=y\n"
    "s += x->at[i]; //=x->at,x\n"
    "s += y.at[i]; //=y.at,y\n"
    "} return s; }\n"
    "double base(Derived *d, long n) { double s = 0; for (long i = 0; i < n; i++)\n"
    "s += d->u[d->list[i]]; //=d->u,d->list\n"
    "return s; }\n";

static const char two_source[] =
    "double two(const Two *t, long n) { double s = 0; for (long i = 0; i < n; i++)\n"
    "s += t->a[i]; //=t\n"
    "return s; }\n";

static void write_text(const char *path, const char *text, const char *more)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fprintf(f, "%s%s", text, more);
    assert_int_equal(fclose(f), 0);
}

/* The constructors stand in units of their own. */
static void write_owners(void)
{
    write_text("bases-owners.cpp", OWNERS,
               "struct Two { Two() : a(0) {} double *a, *b; };\n"
               "own::Plain::Plain(int m) : n(m), u(0) {}\n"
               "own::Plain::Inner::Inner() : f(0) {}\n"
               "template <class T> Box<T>::Box(int m) : at(0), n(m) {}\n"
               "template struct Box<double>;\ntemplate struct Box<float>;\n"
               "Derived::Derived() : own::Plain(1), list(0) {}\n"
               "Two one_two() { return Two(); }\n");
    write_text("bases-other.cpp", "struct Two { Two() : a(0) {} double *a, *b; long n; };\n",
               "Two other_two() { return Two(); }\n");
}

static void check_owners(const char *compiler, const char *more, const char *source,
                         unsigned least_pct)
{
    char flags[128];

    snprintf(flags, sizeof flags, "%s bases-owners.cpp bases-other.cpp", more);
    write_owners();
    check_names_with(compiler, flags, "cpp", source, least_pct);
    unlink("bases-owners.cpp");
    unlink("bases-other.cpp");
}

static void test_records_of_other_units(void **state)
{
    (void)state;
    check_owners("clang++", "", owner_source, 90);
}

static void test_records_of_type_units(void **state)
{
    (void)state;
    check_owners("clang++", "-gdwarf-5 -fdebug-types-section", owner_source,
                 80); /* no nested ones */
}

static void test_records_of_type_units_by_gcc(void **state)
{
    (void)state;
    check_owners("g++", "-gdwarf-5 -fdebug-types-section", owner_source, 90);
}

static void test_records_that_differ(void **state)
{
    char source[4096];

    (void)state;
    snprintf(source, sizeof source, "struct Two { Two(); double *b, *a; };\n%s", two_source);
    check_owners("clang++", "", source, 0);
}

/* ---- Fortran --------------------------------------------------------------------------------- */

static const char fortran_source[] = "module grids\n"
                                     "implicit none\n"
                                     "type grid\n"
                                     "integer :: n\n"
                                     "real(8), allocatable :: u(:,:)\n"
                                     "end type\n"
                                     "contains\n"
                                     "subroutine explicit(a, n, m, s)\n"
                                     "integer, intent(in) :: n, m\n"
                                     "real(8), intent(in) :: a(n,m)\n"
                                     "real(8), intent(out) :: s\n"
                                     "integer :: i, j\n"
                                     "s = 0\n"
                                     "do i = 1, n\n"
                                     "do j = 1, m\n"
                                     "s = s + a(i,j) !=a\n"
                                     "end do\n"
                                     "end do\n"
                                     "end subroutine\n"
                                     "subroutine assumed(b, c)\n"
                                     "real(8), intent(in) :: b(:,:)\n"
                                     "real(8), intent(inout) :: c(:,:)\n"
                                     "integer :: i, j\n"
                                     "do i = 1, size(b,1)\n"
                                     "do j = 1, size(b,2)\n"
                                     "c(i,j) = b(i,j) + 1 !=b,c\n"
                                     "end do\n"
                                     "end do\n"
                                     "end subroutine\n"
                                     "subroutine automatic(n, s)\n"
                                     "integer, intent(in) :: n\n"
                                     "real(8), intent(out) :: s\n"
                                     "real(8) :: t(n,n)\n"
                                     "integer :: i, j\n"
                                     "do i = 1, n\n"
                                     "do j = 1, n\n"
                                     "t(i,j) = i !=t\n"
                                     "end do\n"
                                     "end do\n"
                                     "s = t(n,1)\n"
                                     "do i = 1, n\n"
                                     "do j = 1, n\n"
                                     "s = s + t(i,j) * s !=t\n"
                                     "end do\n"
                                     "end do\n"
                                     "end subroutine\n"
                                     "subroutine member(g, s)\n"
                                     "type(grid), intent(inout) :: g\n"
                                     "real(8), intent(out) :: s\n"
                                     "integer :: i, j\n"
                                     "s = 0\n"
                                     "do i = 1, g%n\n"
                                     "do j = 1, g%n\n"
                                     "s = s + g%u(i,j) !=g%u\n"
                                     "end do\n"
                                     "end do\n"
                                     "end subroutine\n"
                                     "subroutine outlined(a, b, n)\n"
                                     "integer, intent(in) :: n\n"
                                     "real(8), intent(in) :: a(n,n)\n"
                                     "real(8), intent(out) :: b(n,n)\n"
                                     "integer :: i, j\n"
                                     "!$omp parallel do private(j)\n"
                                     "do i = 2, n - 1\n"
                                     "do j = 2, n - 1\n"
                                     "b(i,j) = a(i-1,j) + a(i+1,j) + a(i,j-1) !=a,b\n"
                                     "end do\n"
                                     "end do\n"
                                     "end subroutine\n"
                                     "end module\n";

static void test_fortran(void **state)
{
    (void)state;
    check_names("gfortran -fopenmp", "f90", fortran_source, 95);
}

/* ---- Types ----------------------------------------------------------------------------------- */

static struct as_type type_of(const struct built *b, const char *function, const char *name)
{
    struct as_streams streams;
    struct as_bases *bases;
    struct as_type type = {0};
    const uint32_t loop = built_hot(b, function);

    assert_int_equal(as_bases_new(b->program, b->program->loop[loop].body, &bases, NULL), 0);
    assert_non_null(bases);
    assert_int_equal(as_loop_streams(b->program, loop, &streams, NULL), 0);
    for (size_t i = 0; i < streams.n; i++) {
        struct as_base_name it;
        if (as_bases_name(bases, streams.at[i].insn, streams.at[i].operand, &it) &&
            strcmp(it.text, name) == 0)
            as_type_get(it.type, &type);
    }
    as_streams_free(&streams);
    as_bases_free(&bases);
    return type;
}

static void test_extents_are_as_declared(void **state)
{
    (void)state;
    struct built b = built_new("gcc", "-g -O2", "c", c_source);
    const struct as_type fixed = type_of(&b, "kept", "fixed");
    assert_int_equal(fixed.kind, AS_TYPE_ARRAY);
    assert_int_equal(fixed.rank, 2);
    assert_int_equal(fixed.extent[0], 300);
    assert_int_equal(fixed.extent[1], 400);
    assert_int_equal(fixed.size_b, 300 * 400 * 8);
    const struct as_type vla = type_of(&b, "vla", "m");
    assert_int_equal(vla.rank, 1);
    assert_int_equal(vla.extent[0], 0);
    const struct as_type plain = type_of(&b, "two", "a");
    assert_int_equal(plain.kind, AS_TYPE_NUMBER);
    assert_int_equal(plain.size_b, 8);
    built_free(&b);
}

static void test_no_names_without_debug_information(void **state)
{
    struct as_bases *bases;

    (void)state;
    struct built b = built_new("gcc", "-O2", "c", c_source);
    const uint32_t loop = built_hot(&b, "two");
    assert_int_equal(as_bases_new(b.program, b.program->loop[loop].body, &bases, NULL), 0);
    assert_null(bases);
    built_free(&b);
}

/* Each allocation fails once; then the names are there. */
static void check_no_memory(struct built *b, const char *function)
{
    const uint32_t body = b->program->loop[built_hot(b, function)].body;

    for (int64_t after = 0; after < 1000; after++) {
        struct as_error err = {0};
        struct as_bases *bases;
        as_alloc_fail_after(after);
        const int rc = as_bases_new(b->program, body, &bases, &err);
        as_alloc_fail_after(-1);
        if (rc == 0) {
            assert_non_null(bases);
            assert_true(after > 5);
            as_bases_free(&bases);
            built_free(b);
            return;
        }
        assert_int_equal(rc, AS_ERR_NOMEM);
        assert_null(bases);
        assert_true(err.text[0] != 0);
    }
    fail_msg("never enough memory");
}

static void test_no_memory_is_an_error(void **state)
{
    (void)state;
    struct built b = built_new("gcc", "-g -O2", "c", c_source);
    check_no_memory(&b, "member");
}

static void test_no_memory_for_definitions(void **state)
{
    (void)state;
    if (!built_has("clang++"))
        skip();
    write_owners();
    struct built b = built_new("clang++", "-g -O2 -gdwarf-5 -fdebug-types-section bases-owners.cpp",
                               "cpp", owner_source);
    unlink("bases-owners.cpp");
    unlink("bases-other.cpp");
    check_no_memory(&b, "_Z4baseP7Derivedl");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c_by_gcc),
        cmocka_unit_test(test_c_by_clang),
        cmocka_unit_test(test_more_pointers_than_registers),
        cmocka_unit_test(test_aligned_frames),
        cmocka_unit_test(test_spills_to_vectors),
        cmocka_unit_test(test_cpp_by_gcc),
        cmocka_unit_test(test_cpp_by_clang),
        cmocka_unit_test(test_records_of_other_units),
        cmocka_unit_test(test_records_of_type_units),
        cmocka_unit_test(test_records_of_type_units_by_gcc),
        cmocka_unit_test(test_records_that_differ),
        cmocka_unit_test(test_fortran),
        cmocka_unit_test(test_extents_are_as_declared),
        cmocka_unit_test(test_no_names_without_debug_information),
        cmocka_unit_test(test_no_memory_is_an_error),
        cmocka_unit_test(test_no_memory_for_definitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
