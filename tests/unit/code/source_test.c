/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops and their source lines, in programs with marked lines. `LOOP x` marks the first line of a
 * loop, `END x` its last, `CALL x` the line of its inlining. gcc, clang and gfortran compile them
 * here. Roles are also tested on assembly with its own line table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "built.h"

#define O1  "-g -O1"
#define O2  "-g -O2"
#define V3  "-g -O3 -march=x86-64-v3"
#define V3U "-g -O3 -march=x86-64-v3 -funroll-loops"

/* ---- Marks ------------------------------------------------------------------------------- */

/* Line of `word name` in the text, 0 when it is not there. */
static uint32_t mark(const char *text, const char *word, const char *name)
{
    char whole[64];
    uint32_t line = 1;
    snprintf(whole, sizeof whole, " %s %s ", word, name);
    const char *at = strstr(text, whole);
    for (const char *p = text; at && p < at; p++)
        line += *p == '\n';
    return at ? line : 0;
}

static const struct as_source_range *own(const struct built *b, uint32_t loop)
{
    const struct as_loop *l = &b->program->loop[loop];
    if (l->sources == 0)
        fail_msg("loop %u has no source", loop);
    return &b->program->loop_source[l->source];
}

/* Returns whether the loop belongs to the marked source loop: both end on the same line. */
static bool is_of(const struct built *b, uint32_t loop, const char *text, const char *name)
{
    return own(b, loop)->last_line == mark(text, "END", name) &&
           own(b, loop)->first_line >= mark(text, "LOOP", name);
}

/*
 * Returns the main loops of a source loop, in order. Every binary loop that ends with the source
 * loop begins on its first line. If the compiler left no code of that line, it begins inside. `*n`
 * is at most 8.
 */
static void mains(const struct built *b, const char *text, const char *name, uint32_t *main,
                  unsigned *n)
{
    bool first = false;
    *n = 0;
    for (uint32_t l = 0; l < b->program->loop_n; l++) {
        const struct as_loop *loop = &b->program->loop[l];
        if (!is_of(b, l, text, name))
            continue;
        assert_true(is_of(b, loop->group, text, name));
        first |= own(b, l)->first_line == mark(text, "LOOP", name);
        if (loop->role == AS_ROLE_MAIN && *n < 8)
            main[(*n)++] = l;
    }
    if (*n == 0)
        fail_msg("no loop %s", name);
    if (!first)
        fail_msg("no loop %s from its first line on", name);
}

/* The only main loop of a marked one. */
static const struct as_loop *main_of(const struct built *b, const char *text, const char *name)
{
    uint32_t main[8];
    unsigned n;
    mains(b, text, name, main, &n);
    if (n != 1)
        fail_msg("%u main loops for %s", n, name);
    return &b->program->loop[main[0]];
}

/* Every loop of the program is one of the marked ones, and the groups are whole. */
static void all_marked(const struct built *b, const char *text, const char *const *name)
{
    for (uint32_t l = 0; l < b->program->loop_n; l++) {
        const struct as_loop *loop = &b->program->loop[l];
        bool any = false;
        for (unsigned i = 0; name[i] && !any; i++)
            any = is_of(b, l, text, name[i]);
        if (!any)
            fail_msg("loop %u (%s) at lines %u-%u is no source loop", l,
                     b->program->body[loop->body].name, own(b, l)->first_line,
                     own(b, l)->last_line);
        assert_int_equal(b->program->loop[loop->group].role, AS_ROLE_MAIN);
        assert_int_equal(loop->group == l, loop->role == AS_ROLE_MAIN);
    }
}

static unsigned members(const struct built *b, uint32_t group, uint8_t role)
{
    unsigned n = 0;
    for (uint32_t l = 0; l < b->program->loop_n; l++)
        n += b->program->loop[l].group == group && b->program->loop[l].role == role;
    return n;
}

static uint32_t number(const struct built *b, const struct as_loop *loop)
{
    return (uint32_t)(loop - b->program->loop);
}

/* ---- Lines ------------------------------------------------------------------------------- */

static const char lines_c[] =
    "void plain(double *restrict a, const double *b, long n)\n"
    "{\n"
    "    for (long i = 0; i < n; i++) /* LOOP plain */\n"
    "        a[i] = 2.0 * b[i];       /* END plain */\n"
    "}\n"
    "void nest(double *restrict c, const double *restrict a, const double *restrict b, int n)\n"
    "{\n"
    "    for (int i = 0; i < n; i++) {                 /* LOOP nest1 */\n"
    "        for (int j = 0; j < n; j++) {             /* LOOP nest2 */\n"
    "            double s = 0;\n"
    "            for (int k = 0; k < n; k++)           /* LOOP nest3 */\n"
    "                s += a[i * n + k] * b[k * n + j]; /* END nest3 */\n"
    "            c[i * n + j] = s;                     /* END nest2 */\n"
    "        }\n"
    "        c[i] *= 3;                                /* END nest1 */\n"
    "    }\n"
    "}\n"
    "void adjacent(double *restrict a, double *restrict b, long n)\n"
    "{\n"
    "    for (long i = 0; i < n; i++) a[i] += 1; /* LOOP one */ /* END one */\n"
    "    for (long i = 0; i < n; i++) b[i] *= 2; /* LOOP two */ /* END two */\n"
    "}\n"
    "#define FILL(p, v, n) for (long q = 0; q < (n); q++) (p)[q] = (v) * q\n"
    "void macro(double *a, int *b, long n)\n"
    "{\n"
    "    FILL(a, 1.5, n); /* LOOP macro1 */ /* END macro1 */\n"
    "    FILL(b, 3, n);   /* LOOP macro2 */ /* END macro2 */\n"
    "}\n"
    "void branches(double *a, const int *w, long n)\n"
    "{\n"
    "    for (long i = 0; i < n; i++) { /* LOOP branches */\n"
    "        if (w[i] < 0)\n"
    "            continue;\n"
    "        if (w[i] > 100)\n"
    "            a[i] = a[w[i]] / 3;\n"
    "        else\n"
    "            a[w[i]] += a[i]; /* END branches */\n"
    "    }\n"
    "}\n"
    "struct node { struct node *next; long v; };\n"
    "long list(const struct node *l)\n"
    "{\n"
    "    long s = 0;\n"
    "    while (l) {      /* LOOP list */\n"
    "        s += l->v;\n"
    "        l = l->next; /* END list */\n"
    "    }\n"
    "    return s;\n"
    "}\n"
    "void call(void (*f)(double *), double *a, int n)\n"
    "{\n"
    "    for (int i = 0; i < n; i++) /* LOOP call */\n"
    "        f(a + i);               /* END call */\n"
    "}\n"
    "void split(double *restrict a, const double *restrict b, const double *c, long n)\n"
    "{\n"
    "    for (long i = 0; i < n; i++) /* LOOP split */\n"
    "        a[i] = b[i]\n"
    "               * c[i]\n"
    "               + a[i]; /* END split */\n"
    "}\n";
static const char *const lines_c_loops[] = {"plain", "nest1",  "nest2",  "nest3",    "one",
                                            "two",   "macro1", "macro2", "branches", "list",
                                            "call",  "split",  NULL};

static void check_lines(const char *compiler, const char *flags)
{
    struct built b = built_new(compiler, flags, "c", lines_c);
    all_marked(&b, lines_c, lines_c_loops);
    for (unsigned i = 0; lines_c_loops[i]; i++) {
        const struct as_loop *main = main_of(&b, lines_c, lines_c_loops[i]);
        assert_int_equal(main->inlined, AS_NONE);
        assert_int_equal(main->sources, 1);
        const char *file = b.program->debug.file[own(&b, number(&b, main))->file];
        assert_non_null(strstr(file, "/p.c"));
    }
    for (unsigned depth = 1; depth <= 3; depth++) {
        char name[] = "nest1";
        name[4] = (char)('0' + depth);
        assert_int_equal(main_of(&b, lines_c, name)->depth, depth);
    }
    built_free(&b);
}

static void test_lines_gcc(void **state)
{
    (void)state;
    check_lines("gcc", O1);
    check_lines("gcc", O2);
    check_lines("gcc", V3);
    check_lines("gcc", V3U);
    check_lines("gcc", V3 " -gdwarf-4 -gno-column-info");
}

static void test_lines_clang(void **state)
{
    (void)state;
    if (!built_has("clang"))
        skip();
    check_lines("clang", O1);
    check_lines("clang", O2);
    check_lines("clang", V3);
}

static const char lines_f[] = "subroutine axpy(n, a, x, y)\n"
                              "  integer, intent(in) :: n\n"
                              "  real(8), intent(in) :: a, x(n)\n"
                              "  real(8), intent(inout) :: y(n)\n"
                              "  integer :: i\n"
                              "  do i = 1, n                 ! LOOP axpy \n"
                              "     y(i) = y(i) + a * x(i)   ! END axpy \n"
                              "  end do\n"
                              "end subroutine\n"
                              "subroutine arrays(n, a, b)\n"
                              "  integer, intent(in) :: n\n"
                              "  real(8), intent(inout) :: a(n), b(n)\n"
                              "  a = 2 * a + b * b           ! LOOP sum ! END sum \n"
                              "  b = sqrt(a)                 ! LOOP root ! END root \n"
                              "end subroutine\n";
static const char *const lines_f_loops[] = {"axpy", "sum", "root", NULL};

static void test_lines_fortran(void **state)
{
    (void)state;
    if (!built_has("gfortran"))
        skip();
    static const char *const flags[] = {O1, O2, "-g -O2 -funroll-loops"};
    static const unsigned unroll[] = {1, 1, 8};
    for (unsigned f = 0; f < 3; f++) {
        struct built b = built_new("gfortran", flags[f], "f90", lines_f);
        all_marked(&b, lines_f, lines_f_loops);
        for (unsigned i = 0; lines_f_loops[i]; i++)
            assert_int_equal(main_of(&b, lines_f, lines_f_loops[i])->unroll, unroll[f]);
        built_free(&b);
    }
}

/* ---- Inlining ---------------------------------------------------------------------------- */

static const char inlines_cc[] =
    "template <class T> static inline T square(T x) /* DECL square */\n"
    "{\n"
    "    return x * x; /* LOOP square */ /* END square */\n"
    "}\n"
    "template <class T> T norm(const T *a, long n)\n"
    "{\n"
    "    T s = 0;\n"
    "    for (long i = 0; i < n; ++i) /* LOOP norm */\n"
    "        s += square(a[i]);       /* END norm */\n"
    "    return s;\n"
    "}\n"
    "extern \"C\" double twice(const double *a, const double *b, const float *c, long n)\n"
    "{\n"
    "    double x = norm(a, n);           /* CALL first */\n"
    "    double y = norm(b, n);           /* CALL second */\n"
    "    return x + y + double(norm(c, n)); /* CALL third */\n"
    "}\n"
    "struct It {\n"
    "    int *p;\n"
    "    bool operator!=(const It &o) const { return p != o.p; }\n"
    "    It &operator++() { ++p; return *this; }\n"
    "    int &operator*() const { return *p; }\n"
    "};\n"
    "extern \"C\" long walk(It a, It b)\n"
    "{\n"
    "    long s = 0;\n"
    "    for (; a != b; ++a) /* LOOP walk */\n"
    "        s += *a % 7;    /* END walk */\n"
    "    return s;\n"
    "}\n"
    "static inline bool done(int x) { return x % 5 == 3; }\n"
    "extern \"C\" int search(const int *p)\n"
    "{\n"
    "    int n = 0;\n"
    "    while (!done(p[n])) /* LOOP search */\n"
    "        n++;            /* END search */\n"
    "    return n;\n"
    "}\n"
    "template <class F> static inline void each(double *x, long n, F f)\n"
    "{\n"
    "    for (long i = 0; i < n; i++) /* LOOP each */\n"
    "        f(x[i]);                 /* END each */\n"
    "}\n"
    "extern \"C\" void lambda(double *x, long n, double k)\n"
    "{\n"
    "    each(x, n, [=](double &y) { y *= k; }); /* CALL lambda */\n"
    "}\n";

/* The loop stands where `name` was inlined at the mark CALL `call`. */
static void is_inlined(const struct built *b, uint32_t loop, const char *name, const char *call)
{
    uint32_t at = b->program->loop[loop].inlined;
    assert_int_not_equal(at, AS_NONE);
    assert_non_null(strstr(b->program->debug.inlines[at].name, name));
    assert_int_equal(b->program->debug.inlines[at].call_line, mark(inlines_cc, "CALL", call));
}

static void check_inlines(const char *compiler, const char *flags)
{
    static const char *const call[] = {"first", "second", "third"};
    struct built b = built_new(compiler, flags, "cc", inlines_cc);
    uint32_t main[8];
    unsigned n;
    mains(&b, inlines_cc, "norm", main, &n);
    assert_int_equal(n, 3); /* one for each call, copies of it together */
    for (unsigned i = 0; i < 3; i++) {
        is_inlined(&b, main[i], "norm", call[i]);
        /* Code inlined into the loop is a further range; only lines of the function itself count
         * here. */
        const struct as_loop *loop = &b.program->loop[main[i]];
        assert_int_equal(loop->sources, 2);
        assert_int_equal(own(&b, main[i])[1].first_line, mark(inlines_cc, "LOOP", "square"));
        assert_int_equal(own(&b, main[i])[1].last_line, mark(inlines_cc, "END", "square"));
    }
    mains(&b, inlines_cc, "each", main, &n);
    assert_int_equal(n, 1);
    is_inlined(&b, main[0], "each", "lambda");
    /* Tests and steps that were inlined are not where the loop stands. */
    assert_int_equal(main_of(&b, inlines_cc, "walk")->inlined, AS_NONE);
    uint32_t search = built_loop(&b, "search", 0);
    assert_int_equal(b.program->loop[search].inlined, AS_NONE);
    assert_int_equal(own(&b, search)->first_line, mark(inlines_cc, "LOOP", "search"));
    assert_in_range(own(&b, search)->last_line, mark(inlines_cc, "LOOP", "search"),
                    mark(inlines_cc, "END", "search"));
    built_free(&b);
}

static void test_inlines(void **state)
{
    (void)state;
    check_inlines("g++", O1);
    check_inlines("g++", O2);
    check_inlines("g++", V3);
    if (!built_has("clang++"))
        return;
    check_inlines("clang++", O2);
    check_inlines("clang++", V3);
}

/* ---- Groups and roles -------------------------------------------------------------------- */

static const char roles_c[] =
    "void alias(double *a, double *b, long n)\n"
    "{\n"
    "    for (long i = 0; i < n; i++) { /* LOOP alias */\n"
    "        a[i] = b[i] + 1.0;\n"
    "        a[i] *= 3.0; /* END alias */\n"
    "    }\n"
    "}\n"
    "void scale(float *restrict a, const float *restrict b, long n)\n"
    "{\n"
    "    for (long i = 0; i < n; i++) /* LOOP scale */\n"
    "        a[i] = 3 * b[i];         /* END scale */\n"
    "}\n"
    "void near(double *restrict a, const double *restrict b, long n)\n"
    "{\n"
    "    for (long i = 0; i < n; i++) a[i] *= b[0]; /* LOOP near1 */ /* END near1 */\n"
    "    for (long i = 0; i < n; i++) a[i] += b[1]; /* LOOP near2 */ /* END near2 */\n"
    "}\n"
    "#define TWO(p, n) do { for (long q = 0; q < n; q++) p[q] += 1; \\\n"
    "                       for (long q = 0; q < n; q++) p[q] -= p[0]; } while (0)\n"
    "void macro(double *p, long n)\n"
    "{\n"
    "    TWO(p, n); /* LOOP macro */ /* END macro */\n"
    "}\n";

static void test_versions(void **state)
{
    (void)state;
    /* gcc: vectors if the arrays do not overlap, else scalar; scalar remainders have no loop. */
    struct built b = built_new("gcc", V3, "c", roles_c);
    uint32_t alias = number(&b, main_of(&b, roles_c, "alias"));
    assert_int_equal(b.program->loop[alias].unroll, 4);
    assert_int_equal(members(&b, alias, AS_ROLE_VERSION), 1);
    assert_int_equal(members(&b, alias, AS_ROLE_TAIL), 0);
    main_of(&b, roles_c, "near1");
    main_of(&b, roles_c, "near2");
    built_free(&b);
}

static void test_tails(void **state)
{
    (void)state;
    if (!built_has("clang"))
        skip();
    struct built b = built_new("clang", V3, "c", roles_c);
    uint32_t scale = number(&b, main_of(&b, roles_c, "scale"));
    assert_true(b.program->loop[scale].unroll >= 8);
    assert_int_equal(members(&b, scale, AS_ROLE_TAIL), 1);
    assert_int_equal(members(&b, scale, AS_ROLE_VERSION), 0);
    uint32_t main[8];
    unsigned n;
    mains(&b, roles_c, "macro", main, &n); /* two loops at one place, one with a tail */
    assert_int_equal(n, 2);
    assert_int_equal(members(&b, main[0], AS_ROLE_TAIL), 1);
    uint32_t near1 = number(&b, main_of(&b, roles_c, "near1"));
    uint32_t near2 = number(&b, main_of(&b, roles_c, "near2"));
    assert_int_equal(members(&b, near1, AS_ROLE_TAIL), 1);
    assert_int_equal(members(&b, near2, AS_ROLE_TAIL), 1);
    for (uint32_t l = 0; l < b.program->loop_n; l++) {
        if (b.program->loop[l].role == AS_ROLE_TAIL && b.program->loop[l].group >= scale)
            assert_int_equal(b.program->loop[l].unroll, 1);
    }
    built_free(&b);
}

/*
 * a[i] *= x by hand: scalar peel, pairs up to the alignment, then either four or two vectors at a
 * time, pairs, and single elements; at line 10, all of it.
 */
static const char roles_s[] =
    ".intel_syntax noprefix\n"
    ".file 1 \"/src/scale.c\"\n"
    ".text\n.globl scale\n.type scale,@function\nscale:\n"
    ".loc 1 8 1\n"
    "vbroadcastsd ymm0, xmm0\n"
    "test dil, 15\njz .Lpairs\n"
    "peel:\n.loc 1 10 14\n"
    "vmulsd xmm1, xmm0, [rdi]\nvmovsd [rdi], xmm1\n"
    ".loc 1 9 5\nadd rdi, 8\ndec rsi\ntest dil, 15\njnz peel\n"
    ".Lpairs:\n"
    "vpeel:\n.loc 1 10 14\n"
    "vmulpd xmm1, xmm0, [rdi]\nvmovupd [rdi], xmm1\n"
    ".loc 1 9 5\nadd rdi, 16\nsub rsi, 2\ntest dil, 31\njnz vpeel\n"
    "cmp rsi, 1000\njb version\n"
    "main:\n.loc 1 10 14\n"
    "vmulpd ymm1, ymm0, [rdi]\nvmovapd [rdi], ymm1\n"
    "vmulpd ymm1, ymm0, [rdi+32]\nvmovapd [rdi+32], ymm1\n"
    "vmulpd ymm1, ymm0, [rdi+64]\nvmovapd [rdi+64], ymm1\n"
    "vmulpd ymm1, ymm0, [rdi+96]\nvmovapd [rdi+96], ymm1\n"
    ".loc 1 9 5\nadd rdi, 128\nsub rsi, 16\ncmp rsi, 16\njae main\n"
    "jmp .Lrest\n"
    "version:\n.loc 1 10 14\n"
    "vmulpd ymm1, ymm0, [rdi]\nvmovapd [rdi], ymm1\n"
    "vmulpd ymm1, ymm0, [rdi+32]\nvmovapd [rdi+32], ymm1\n"
    ".loc 1 9 5\nadd rdi, 64\nsub rsi, 8\ncmp rsi, 8\njae version\n"
    ".Lrest:\n"
    "vtail:\n.loc 1 10 14\n"
    "vmulpd xmm1, xmm0, [rdi]\nvmovupd [rdi], xmm1\n"
    ".loc 1 9 5\nadd rdi, 16\nsub rsi, 2\ncmp rsi, 2\njae vtail\n"
    "tail:\n.loc 1 10 14\n"
    "vmulsd xmm1, xmm0, [rdi]\nvmovsd [rdi], xmm1\n"
    ".loc 1 9 5\nadd rdi, 8\ndec rsi\njnz tail\n"
    ".loc 1 11 1\nret\n"
    ".size scale,.-scale\n"
    ".section .debug_info,\"\",@progbits\n"
    ".long .Lend-.Lstart\n.Lstart: .short 4\n.long .Labbrev\n.byte 8\n"
    ".byte 1\n.quad scale\n.quad tail+1\n.long .Lline\n.asciz \"/src/scale.c\"\n"
    ".Lend:\n"
    ".section .debug_abbrev,\"\",@progbits\n.Labbrev:\n"
    ".byte 1, 0x11, 0, 0x11, 1, 0x12, 1, 0x10, 0x17, 3, 8, 0, 0, 0\n"
    ".section .debug_line,\"\",@progbits\n.Lline:\n";

/* p[i].x += d, and so y and z, of structures of three doubles: four of them at a time, then one by
 * one. Twelve additions of one place, and three of three places. */
static const char structures_s[] =
    ".intel_syntax noprefix\n"
    ".file 1 \"/src/structures.c\"\n"
    ".text\n.globl walk\n.type walk,@function\nwalk:\n"
    ".loc 1 2 1\n"
    "vbroadcastsd ymm0, xmm0\ncmp rsi, 4\njb .Lrest\n"
    "main:\n.loc 1 4 14\n"
    "vaddpd ymm1, ymm0, [rdi]\nvmovupd [rdi], ymm1\n"
    "vaddpd ymm1, ymm0, [rdi+32]\nvmovupd [rdi+32], ymm1\n"
    "vaddpd ymm1, ymm0, [rdi+64]\nvmovupd [rdi+64], ymm1\n"
    ".loc 1 3 5\nadd rdi, 96\nsub rsi, 4\ncmp rsi, 4\njae main\n"
    ".Lrest:\n"
    "tail:\n.loc 1 4 14\nvaddsd xmm1, xmm0, [rdi]\nvmovsd [rdi], xmm1\n"
    ".loc 1 4 24\nvaddsd xmm1, xmm0, [rdi+8]\nvmovsd [rdi+8], xmm1\n"
    ".loc 1 4 34\nvaddsd xmm1, xmm0, [rdi+16]\nvmovsd [rdi+16], xmm1\n"
    ".loc 1 3 5\nadd rdi, 24\ndec rsi\njnz tail\n"
    ".loc 1 5 1\nret\n"
    ".size walk,.-walk\n"
    ".section .debug_info,\"\",@progbits\n"
    ".long .Lend-.Lstart\n.Lstart: .short 4\n.long .Labbrev\n.byte 8\n"
    ".byte 1\n.quad walk\n.quad tail+1\n.long .Lline\n.asciz \"/src/structures.c\"\n"
    ".Lend:\n"
    ".section .debug_abbrev,\"\",@progbits\n.Labbrev:\n"
    ".byte 1, 0x11, 0, 0x11, 1, 0x12, 1, 0x10, 0x17, 3, 8, 0, 0, 0\n"
    ".section .debug_line,\"\",@progbits\n.Lline:\n";

/* Bytes are summed, 32 at a time; the rest four at a time, after single ones that stand in no loop:
 * the tail is unrolled, too. */
static const char unrolled_tail_s[] =
    ".intel_syntax noprefix\n"
    ".file 1 \"/src/bytes.c\"\n"
    ".text\n.globl bytes\n.type bytes,@function\nbytes:\n"
    ".loc 1 2 1\n"
    "pxor xmm0, xmm0\npxor xmm2, xmm2\ncmp rsi, 32\njb .Lsingle\n"
    "main:\n.loc 1 4 11\n"
    "movdqu xmm1, [rdi]\npsadbw xmm1, xmm2\npaddq xmm0, xmm1\n"
    "movdqu xmm1, [rdi+16]\npsadbw xmm1, xmm2\npaddq xmm0, xmm1\n"
    ".loc 1 3 5\nadd rdi, 32\nsub rsi, 32\ncmp rsi, 32\njae main\n"
    ".Lsingle:\n.loc 1 4 11\nmovzx ecx, byte ptr [rdi]\nadd rax, rcx\n"
    ".loc 1 3 5\ninc rdi\ndec rsi\ntest rsi, 3\njz tail\n"
    ".loc 1 4 11\nmovzx ecx, byte ptr [rdi]\nadd rax, rcx\n"
    ".loc 1 3 5\ninc rdi\ndec rsi\n"
    "tail:\n.loc 1 4 11\n"
    "movzx ecx, byte ptr [rdi]\nadd rax, rcx\nmovzx ecx, byte ptr [rdi+1]\nadd rax, rcx\n"
    "movzx ecx, byte ptr [rdi+2]\nadd rax, rcx\nmovzx ecx, byte ptr [rdi+3]\nadd rax, rcx\n"
    ".loc 1 3 5\nadd rdi, 4\nsub rsi, 4\njnz tail\n"
    ".loc 1 5 1\nret\n"
    ".size bytes,.-bytes\n"
    ".section .debug_info,\"\",@progbits\n"
    ".long .Lend-.Lstart\n.Lstart: .short 4\n.long .Labbrev\n.byte 8\n"
    ".byte 1\n.quad bytes\n.quad tail+1\n.long .Lline\n.asciz \"/src/bytes.c\"\n"
    ".Lend:\n"
    ".section .debug_abbrev,\"\",@progbits\n.Labbrev:\n"
    ".byte 1, 0x11, 0, 0x11, 1, 0x12, 1, 0x10, 0x17, 3, 8, 0, 0, 0\n"
    ".section .debug_line,\"\",@progbits\n.Lline:\n";

static void test_unrolled_tail(void **state)
{
    (void)state;
    struct built b = built_new(TEST_CC, "", "S", unrolled_tail_s);
    assert_int_equal(b.program->loop_n, 2);
    assert_int_equal(b.program->loop[1].role, AS_ROLE_TAIL);
    assert_int_equal(b.program->loop[1].unroll, 4);
    assert_int_equal(b.program->loop[0].unroll, 32);
    built_free(&b);
}

static void test_main_over_tail(void **state)
{
    (void)state;
    struct built b = built_new(TEST_CC, "", "S", structures_s);
    assert_int_equal(b.program->loop_n, 2);
    assert_int_equal(b.program->loop[0].unroll, 4);
    assert_int_equal(b.program->loop[1].unroll, 1);
    assert_int_equal(b.program->loop[1].role, AS_ROLE_TAIL);
    built_free(&b);
}

/* Statements side by side become a vector; nothing is left over: no number is proven. Products of
 * complex numbers: four multiplications each, and two in a vector of 32 bytes. */
static const char doubtful_c[] =
    "#include <complex.h>\n"
    "void hand(double *restrict a, const double *restrict b, long n)\n"
    "{\n"
    "    for (long i = 0; i + 3 < n; i += 4) { /* LOOP hand */\n"
    "        a[i] = b[i] * 2;\n"
    "        a[i + 1] = b[i + 1] * 2;\n"
    "        a[i + 2] = b[i + 2] * 2;\n"
    "        a[i + 3] = b[i + 3] * 2; /* END hand */\n"
    "    }\n"
    "}\n"
    "void product(double complex *restrict a, const double complex *restrict b, long n)\n"
    "{\n"
    "    for (long i = 0; i < n; i++) /* LOOP product */\n"
    "        a[i] *= b[i];            /* END product */\n"
    "}\n";

static const char partly_c[] =
    "void hand(long n, double *restrict a, const double *restrict b)\n"
    "{\n"
    "    for (long i = 0; i + 3 < n; i += 4) {\n"
    "        a[i] += b[i]; a[i + 1] += b[i + 1]; a[i + 2] += b[i + 2]; a[i + 3] += b[i + 3];\n"
    "    }\n"
    "}\n";

static void test_no_proof_no_number(void **state)
{
    static const char *const flags[] = {O1, O2, V3, V3 " -ffast-math"};
    (void)state;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        struct built b = built_new("gcc", flags[i], "c", doubtful_c);
        for (uint32_t l = 0; l < b.program->loop_n; l++) {
            const struct as_loop *loop = &b.program->loop[l];
            const bool hand = strcmp(b.program->body[loop->body].name, "hand") == 0;
            assert_true(loop->unroll <= (hand ? 1 : 2));
        }
        built_free(&b);
    }
    /* Two of four statements became a vector. */
    struct built b = built_new("clang", O2 " -ffast-math", "c", partly_c);
    assert_int_equal(b.program->loop_n, 1);
    assert_true(b.program->loop[0].unroll <= 1);
    built_free(&b);
}

static void test_all_roles(void **state)
{
    (void)state;
    static const uint8_t role[] = {AS_ROLE_PEEL,    AS_ROLE_VECTOR_PEEL, AS_ROLE_MAIN,
                                   AS_ROLE_VERSION, AS_ROLE_VECTOR_TAIL, AS_ROLE_TAIL};
    static const uint16_t unroll[] = {1, 2, 16, 8, 2, 1};
    struct built b = built_new(TEST_CC, "", "S", roles_s);
    assert_int_equal(b.program->loop_n, 6);
    for (uint32_t l = 0; l < 6; l++) {
        assert_int_equal(b.program->loop[l].group, 2);
        assert_int_equal(b.program->loop[l].role, role[l]);
        assert_int_equal(b.program->loop[l].unroll, unroll[l]);
        assert_int_equal(own(&b, l)->first_line, 9);
        assert_int_equal(own(&b, l)->last_line, 10);
    }
    built_free(&b);
}

/* ---- Unroll factors ---------------------------------------------------------------------- */

#define UNROLL_TEXT(pragma)                                                                        \
    "void stream(double *restrict a, const double *restrict b, long n)\n"                          \
    "{\n" pragma "\n"                                                                              \
    "    for (long i = 0; i < n; i++) /* LOOP stream */\n"                                         \
    "        a[i] = b[i] * 3 + a[i];  /* END stream */\n"                                          \
    "}\n"                                                                                          \
    "void strided(double *restrict a, const double *restrict b, long n)\n"                         \
    "{\n" pragma "\n"                                                                              \
    "    for (long i = 0; i < n; i++)    /* LOOP strided */\n"                                     \
    "        a[i * 3] = b[i] * a[i * 3]; /* END strided */\n"                                      \
    "}\n"                                                                                          \
    "float reduce(const float *a, long n)\n"                                                       \
    "{\n"                                                                                          \
    "    float s = 0;\n" pragma "\n"                                                               \
    "    for (long i = 0; i < n; i++) /* LOOP reduce */\n"                                         \
    "        s += a[i];               /* END reduce */\n"                                          \
    "    return s;\n"                                                                              \
    "}\n"                                                                                          \
    "void ints(int *restrict a, const int *restrict b, long n)\n"                                  \
    "{\n" pragma "\n"                                                                              \
    "    for (long i = 0; i < n; i++) /* LOOP ints */\n"                                           \
    "        a[i] = b[i] - 5;         /* END ints */\n"                                            \
    "}\n"                                                                                          \
    "void calls(void (*f)(long), long n)\n"                                                        \
    "{\n" pragma "\n"                                                                              \
    "    for (long i = 0; i < n; i++) /* LOOP calls */\n"                                          \
    "        f(i);                    /* END calls */\n"                                           \
    "}\n"                                                                                          \
    "void byhand(double *restrict a, const double *restrict b, long n)\n"                          \
    "{\n"                                                                                          \
    "    for (long i = 0; i < n; i += 4) { /* LOOP byhand */\n"                                    \
    "        a[i] = b[i] * 3;\n"                                                                   \
    "        a[i + 1] = b[i + 1] * 3;\n"                                                           \
    "        a[i + 2] = b[i + 2] * 3;\n"                                                           \
    "        a[i + 3] = b[i + 3] * 3; /* END byhand */\n"                                          \
    "    }\n"                                                                                      \
    "}\n"

static const char *const unroll_loops[] = {"stream", "strided", "reduce",
                                           "ints",   "calls",   "byhand"};

/* `want` per loop of unroll_loops; 0 = not asked (statements packed together lose their lines). */
static void check_unroll(const char *compiler, const char *flags, const char *text,
                         const uint16_t *want)
{
    struct built b = built_new(compiler, flags, "c", text);
    for (unsigned i = 0; i < 6; i++) {
        if (want[i] == 0)
            continue;
        const struct as_loop *main = main_of(&b, text, unroll_loops[i]);
        if (main->unroll != want[i])
            fail_msg("%s %s: %s is unrolled %u times, not %u", compiler, flags, unroll_loops[i],
                     main->unroll, want[i]);
        assert_int_equal(main->unroll == 0, main->unroll_confidence == 0);
        assert_in_range(main->unroll_confidence, 0, 100);
    }
    built_free(&b);
}

static void test_unroll_gcc(void **state)
{
    (void)state;
    static const char text[] = UNROLL_TEXT("#pragma GCC unroll 4");
    static const char eight[] = UNROLL_TEXT("#pragma GCC unroll 8");
    static const char none[] = UNROLL_TEXT("");
    static const uint16_t by_1[] = {1, 1, 1, 1, 1, 1}, by_4[] = {4, 4, 4, 4, 4, 1},
                          by_8[] = {8, 8, 8, 8, 8, 1}, vector[] = {4, 0, 8, 8, 1, 0};
    check_unroll("gcc", O1, none, by_1);
    check_unroll("gcc", O2 " -fno-tree-vectorize", none, by_1);
    check_unroll("gcc", O2 " -fno-tree-vectorize", text, by_4);
    check_unroll("gcc", O2 " -fno-tree-vectorize", eight, by_8);
    check_unroll("gcc", V3, none, vector);
}

static void test_unroll_clang(void **state)
{
    (void)state;
    if (!built_has("clang"))
        skip();
    static const char one[] = UNROLL_TEXT("#pragma clang loop unroll(disable)");
    static const char four[] = UNROLL_TEXT("#pragma clang loop unroll_count(4)");
    static const char wide[] =
        UNROLL_TEXT("#pragma clang loop unroll(disable) vectorize_width(4) interleave_count(2)");
    static const uint16_t by_1[] = {1, 1, 1, 1, 1, 1}, by_4[] = {4, 4, 4, 4, 4, 0},
                          vector[] = {8, 8, 8, 8, 1, 0};
    check_unroll("clang", O2 " -fno-vectorize -fno-slp-vectorize", one, by_1);
    check_unroll("clang", O2 " -fno-vectorize -fno-slp-vectorize", four, by_4);
    check_unroll("clang", V3 " -w", wide, vector);
}

/* Without debug information: what the addresses tell, with little confidence, or nothing. */
static void test_unroll_stripped(void **state)
{
    (void)state;
    static const char text[] = UNROLL_TEXT("#pragma GCC unroll 4");
    struct built b = built_new("gcc", "-O2 -fno-tree-vectorize", "c", text);
    for (uint32_t l = 0; l < b.program->loop_n; l++) {
        const struct as_loop *loop = &b.program->loop[l];
        assert_int_equal(loop->sources, 0);
        assert_int_equal(loop->group, l);
        assert_in_range(loop->unroll_confidence, 0, 70);
    }
    built_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_gcc),       cmocka_unit_test(test_lines_clang),
        cmocka_unit_test(test_lines_fortran),   cmocka_unit_test(test_inlines),
        cmocka_unit_test(test_versions),        cmocka_unit_test(test_tails),
        cmocka_unit_test(test_main_over_tail),  cmocka_unit_test(test_no_proof_no_number),
        cmocka_unit_test(test_all_roles),       cmocka_unit_test(test_unrolled_tail),
        cmocka_unit_test(test_unroll_gcc),      cmocka_unit_test(test_unroll_clang),
        cmocka_unit_test(test_unroll_stripped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
