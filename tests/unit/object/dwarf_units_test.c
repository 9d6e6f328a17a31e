/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Units: what compilers say of themselves, where debug information is found, and source paths;
 * values known by construction.
 */
#include "dwarf_fixture.h"

#include "base/arena.h"
#include "object/dwarf_internal.h"

static void test_compilers(void **state)
{
    (void)state;
    struct as_debug debug;
    fixture_run("gcc -std=c11 -O3 -g -funroll-loops two.c -o prog");
    struct as_object *object = fixture_open("prog", &debug);
    assert_int_equal(debug.unit_n, 1);
    assert_string_equal(debug.unit[0].name, "two.c");
    assert_int_equal(debug.unit[0].compiler, AS_COMPILER_GCC);
    assert_string_equal(debug.unit[0].language, "C");
    assert_string_equal(debug.unit[0].standard, "C11");
    assert_non_null(strstr(debug.unit[0].flags, "-O3"));
    assert_non_null(strstr(debug.unit[0].flags, "-funroll-loops"));
    char *version = fixture_output("gcc -dumpfullversion");
    version[strcspn(version, "\n")] = 0;
    assert_string_equal(debug.unit[0].compiler_version, version);
    free(version);
    as_object_close(&object);

    fixture_run("clang++ -std=c++17 -O2 -g -grecord-command-line a.cpp -o prog");
    object = fixture_open("prog", &debug);
    assert_int_equal(debug.unit[0].compiler, AS_COMPILER_CLANG);
    assert_string_equal(debug.unit[0].language, "C++");
    assert_string_equal(debug.unit[0].standard, "C++17");
    assert_non_null(strstr(debug.unit[0].flags, "-O2"));
    as_object_close(&object);

    fixture_run("gfortran -g m.f90 -o prog");
    object = fixture_open("prog", &debug);
    assert_string_equal(debug.unit[0].language, "Fortran");
    assert_string_equal(debug.unit[0].standard, "Fortran 2008");
    assert_int_equal(fixture_count(&debug, "__grid_MOD_smooth"), 1);
    as_object_close(&object);
}

static void test_producers(void **state)
{
    (void)state;
    static const struct {
        const char *producer;
        uint16_t language;
        uint8_t compiler;
        const char *version, *flags, *name, *standard;
    } rows[] = {
        {"GNU AS 2.40", 0x8001, AS_COMPILER_GAS, "2.40", NULL, "Assembly", NULL},
        {"GNU C++14 9.4.0 -mavx2 -O3", 0x21, AS_COMPILER_GCC, "9.4.0", "-mavx2 -O3", "C++",
         "C++14"},
        {"GNU GIMPLE 12.2.0 -O2 -fltrans", 0x0c, AS_COMPILER_GCC, "12.2.0", "-O2 -fltrans", "C",
         "C99"},
        {"GNU Fortran2008 12.2.0 -O1", 0x0e, AS_COMPILER_GCC, "12.2.0", "-O1", "Fortran",
         "Fortran 2008"},
        {"clang LLVM (rustc version 1.63.0 (4b91a6ea7 2022-08-08))", 0x1c, AS_COMPILER_RUSTC,
         "1.63.0", NULL, "Rust", NULL},
        {"Ubuntu clang version 15.0.7", 0x1d, AS_COMPILER_CLANG, "15.0.7", NULL, "C", "C11"},
        {"AMD clang version 14.0.6 (CLANG: AOCC_4.0.0-Build#434 2022_10_28) -O3", 0x0c,
         AS_COMPILER_AOCC, "4.0.0-Build", "-O3", "C", "C99"},
        {"Intel(R) oneAPI DPC++/C++ Compiler 2023.1.0 (2023.1.0.20230320)", 0x21, AS_COMPILER_INTEL,
         "2023.1.0", NULL, "C++", "C++14"},
        {"Intel(R) Fortran 23.0-1769", 0x0e, AS_COMPILER_INTEL, "23.0-1769", NULL, "Fortran",
         "Fortran 95"},
        {" nvc++ 22.3-0", 0x04, AS_COMPILER_NVHPC, "22.3-0", NULL, "C++", NULL},
        {"flang-new version 16.0.6", 0x22, AS_COMPILER_FLANG, "16.0.6", NULL, "Fortran",
         "Fortran 2003"},
        {"Go cmd/compile go1.19.8; regabi", 0x16, AS_COMPILER_GO, "1.19.8", NULL, "Go", NULL},
        {"Free Pascal 3.2.2 2021", 0x09, AS_COMPILER_OTHER, "3.2.2", NULL, "Pascal", NULL},
        {NULL, 0x0c, AS_COMPILER_UNKNOWN, NULL, NULL, "C", "C99"},
        {"", 0, AS_COMPILER_UNKNOWN, NULL, NULL, NULL, NULL},
    };
    struct as_arena arena;
    as_arena_init(&arena);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct as_unit unit = {.producer = rows[i].producer, .dw_language = rows[i].language};
        assert_int_equal(as_producer_parse(&arena, &unit), 0);
        assert_int_equal(unit.compiler, rows[i].compiler);
        const char *const got[] = {unit.compiler_version, unit.flags, unit.language, unit.standard};
        const char *const want[] = {rows[i].version, rows[i].flags, rows[i].name, rows[i].standard};
        for (size_t k = 0; k < 4; k++) {
            if (want[k] && got[k])
                assert_string_equal(got[k], want[k]);
            else if (want[k] || got[k])
                fail_msg("%s: field %zu is %s", rows[i].producer, k, got[k] ? got[k] : "missing");
        }
    }
    as_arena_fini(&arena);
}

static void test_lto(void **state)
{
    (void)state;
    fixture_run("gcc -O2 -g -flto two.c -o prog");
    struct as_debug debug;
    struct as_object *object = fixture_open("prog", &debug);
    bool found = false;
    for (size_t i = 0; i < debug.inline_n; i++) {
        if (strcmp(debug.inlines[i].name, "main") != 0)
            continue;
        found = true;
        assert_true(debug.inlines[i].unit < debug.unit_n);
        const char *name = debug.unit[debug.inlines[i].unit].name;
        assert_string_equal(strrchr(name, '/') ? strrchr(name, '/') + 1 : name, "two.c");
        assert_int_equal(debug.inlines[i].decl_line, 9);
    }
    assert_true(found);
    as_object_close(&object);
}

static const struct as_object_info *opened(const char *path, struct as_object **object)
{
    struct as_debug debug;
    *object = fixture_open(path, &debug);
    return as_object_info(*object);
}

static void test_separate(void **state)
{
    (void)state;
    struct as_object *object;
    struct as_debug debug;
    fixture_run("gcc -O2 -g two.c -o prog && objcopy --only-keep-debug prog prog.debug && "
                "strip prog && objcopy --add-gnu-debuglink=prog.debug prog");
    const struct as_object_info *info = opened("prog", &object);
    assert_int_equal(info->debug, AS_DEBUG_SEPARATE);
    assert_non_null(strstr(info->debug_path, "/prog.debug"));
    assert_true(info->has_symtab);
    assert_true(info->is_stripped);
    assert_int_equal(as_object_debug(object, AS_DEBUG_ALL, 1, &debug, NULL, NULL), 0);
    assert_int_equal(fixture_count(&debug, "outer"), 2); /* itself and within main */
    as_object_close(&object);

    fixture_run("mkdir -p .debug && mv prog.debug .debug");
    info = opened("prog", &object);
    assert_int_equal(info->debug, AS_DEBUG_SEPARATE);
    as_object_close(&object);

    /* Another file of that name does not have the checksum. */
    fixture_run("printf x >> .debug/prog.debug");
    info = opened("prog", &object);
    assert_int_equal(info->debug, AS_DEBUG_MISSING);
    assert_string_equal(info->debug_path, "prog.debug");
    as_object_close(&object);
    fixture_run("rm -r .debug");

    /* By build-id, below a root of one's own. */
    fixture_run("gcc -O2 -g -Wl,--build-id=0xabcdef0123456789 two.c -o prog && "
                "mkdir -p root/.build-id/ab && objcopy --only-keep-debug prog "
                "root/.build-id/ab/cdef0123456789.debug && strip prog");
    struct as_object_options options = {.debug_dirs = "/nowhere:root"};
    assert_int_equal(as_object_open("prog", &options, &object, NULL), 0);
    assert_int_equal(as_object_info(object)->debug, AS_DEBUG_SEPARATE);
    as_object_close(&object);
    info = opened("prog", &object);
    assert_int_equal(info->debug, AS_DEBUG_NONE);
    as_object_close(&object);
}

static void test_info(void **state)
{
    (void)state;
    struct as_object *object;
    fixture_run("gcc -g -gdwarf-4 -gz -c two.c -o two.o && gcc -gz two.o -o prog");
    const struct as_object_info *info = opened("prog", &object);
    assert_int_equal(info->debug, AS_DEBUG_EMBEDDED);
    assert_true(info->debug_compressed);
    assert_int_equal(info->dwarf_version_min, 4);
    assert_int_equal(info->dwarf_version_max, 4);
    assert_false(info->debug_split);
    as_object_close(&object);

    fixture_run("gcc -g -gsplit-dwarf -c two.c -o two.o && gcc two.o -o prog");
    info = opened("prog", &object);
    assert_true(info->debug_split);
    assert_int_equal(info->debug_split_missing, 0);
    as_object_close(&object);
    fixture_run("rm two.dwo");
    info = opened("prog", &object);
    assert_int_equal(info->debug_split_missing, 1);
    as_object_close(&object);
    /* A .dwo of another compilation is not taken for it. */
    fixture_run("gcc -O3 -g -gsplit-dwarf -c two.c -o two.o");
    info = opened("prog", &object);
    assert_int_equal(info->debug_split_missing, 1);
    as_object_close(&object);
}

static void test_source_map(void **state)
{
    (void)state;
    static const struct as_source_map map[] = {{"/src/", "/new"}, {"/srcs", "/other/"}};
    const struct as_object_options options = {.source_map = map, .source_map_n = 2};
    char buf[64];
    static const char *const pairs[][2] = {
        {"/src/a.c", "/new/a.c"}, {"/src", "/new"},          {"/srcs/a.c", "/other/a.c"},
        {"/srcx/a", "/srcx/a"},   {"/src//d/a", "/new/d/a"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_string_equal(as_source_map_apply(&options, pairs[i][0], buf, sizeof buf),
                            pairs[i][1]);
    assert_null(as_source_map_apply(&options, "/src/long", buf, 4));

    struct as_arena arena;
    as_arena_init(&arena);
    struct as_dw_files files = {.arena = &arena, .options = &options};
    static const char *const paths[][4] = {
        {"/w", "src", "a.c", "/w/src/a.c"},   {"/w", "../src", "./a.c", "/new/a.c"},
        {"/w", "/x//y/..", "a.c", "/x/a.c"},  {"/w", "", "/src/b.c", "/new/b.c"},
        {"/w", "../../..", "a.c", "/a.c"},    {NULL, "d", "a.c", "d/a.c"},
        {"/w/src", ".", "a.c", "/w/src/a.c"},
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        uint32_t id = as_dw_file_intern(&files, paths[i][0], paths[i][1], paths[i][2]);
        assert_true(id < files.path.n);
        assert_string_equal(files.path.at[id], paths[i][3]);
    }
    assert_int_equal(files.path.n, 6); /* the first and the last are one */
    as_dw_files_release(&files);
    as_arena_fini(&arena);
}

static void test_demangle(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"_Z4workRSt6vectorIiSaIiEERK1S",
         "work(std::vector<int, std::allocator<int> >&, S const&)"},
        {"_ZN3foo3barEv.cold", "foo::bar() [clone .cold]"},
        {"_ZN3foo3barEv.isra.0.cold", "foo::bar() [clone .isra.0] [clone .cold]"},
        {"solve._omp_fn.0", "solve [clone ._omp_fn.0]"},
        {"_ZN3foo3barEv@plt", "foo::bar()@plt"},
        {"malloc@plt", "malloc@plt"},
        {"__grid_MOD_smooth", "grid::smooth"},
        {"__a_b_MOD_c_d._omp_fn.1", "a_b::c_d [clone ._omp_fn.1]"},
        {"solver.step", "solver.step"},
        {"main.main.func1.2", "main.main.func1.2"},
        {"main.(*Grid).sweep", "main.(*Grid).sweep"},
        {"camlStdlib__List.map_487", "camlStdlib__List.map_487"},
        {"double K.hot(int)", "double K.hot(int)"},
        {"work.part.0", "work [clone .part.0]"},
        {"kernel.cold.0", "kernel [clone .cold.0]"},
        {"work.specialized.1.llvm.77", "work [clone .specialized.1] [clone .llvm.77]"},
        {"_ZN3foo3barEv.actor", "foo::bar() [clone .actor]"},
        {"dgemm_", "dgemm_"},
        {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
        {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE.llvm.12",
         "core::fmt::Write::write_fmt [clone .llvm.12]"},
        {"_ZN42_$LT$s..geo..P$u20$as$u20$s..geo..Norm$GT$4norm17h0123456789abcdefE",
         "<s::geo::P as s::geo::Norm>::norm"},
        {"_ZN42_$LT$s..geo..P$u20$as$u20$s..geo..Norm$GT$4norm17h0123456789abcdefE.llvm.7",
         "<s::geo::P as s::geo::Norm>::norm [clone .llvm.7]"},
        {"_RNvC6_123foo3bar", "123foo::bar"},
        {"_RNvC6_123foo3bar.llvm.5", "123foo::bar [clone .llvm.5]"},
        {"_Z", "_Z"},
        {"", ""},
        {"_ZN3foo", "_ZN3foo"},
        {"_start", "_start"},
    };
    char buf[512];
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        int n = as_demangle(pairs[i][0], buf, sizeof buf);
        assert_string_equal(buf, pairs[i][1]);
        assert_int_equal((size_t)n, strlen(buf));
    }
    assert_int_equal(as_demangle("_ZN3foo3barEv", buf, 6), 5);
    assert_string_equal(buf, "foo::");
    assert_int_equal(as_demangle("x", buf, 0), 0);
}

/* Names made to blow up: deep, long, and doubling with every substitution. */
static void test_demangle_hostile(void **state)
{
    (void)state;
    static char name[1 << 16], buf[1 << 16];
    strcpy(name, "_Z1f");
    memset(name + 4, 'P', 4000);
    strcpy(name + 4004, "i");
    assert_true(as_demangle(name, buf, sizeof buf) > 0);
    memset(name + 4, 'P', 60000);
    strcpy(name + 60004, "i");
    assert_true(as_demangle(name, buf, sizeof buf) > 0);
    char *at = name + sprintf(name, "_Z1f1AIiiE");
    for (int i = 0; i < 30; i++)
        at += sprintf(at, "1AIS%c_S%c_E", i < 10 ? '0' + i : 'A' + i - 10,
                      i < 10 ? '0' + i : 'A' + i - 10);
    assert_true(as_demangle(name, buf, sizeof buf) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compilers), cmocka_unit_test(test_producers),
        cmocka_unit_test(test_lto),       cmocka_unit_test(test_separate),
        cmocka_unit_test(test_info),      cmocka_unit_test(test_source_map),
        cmocka_unit_test(test_demangle),  cmocka_unit_test(test_demangle_hostile),
    };
    return cmocka_run_group_tests_name("object/dwarf_units", tests, fixture_setup,
                                       fixture_teardown);
}
