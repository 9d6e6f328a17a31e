/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of inlined functions against llvm-addr2line, for thousands of addresses; and that
 * split, packaged, dwz'd and link-time optimised programs tell the same as plain ones.
 */
#include "dwarf_fixture.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "FUNCTION\nFILE:LINE\n" for each instance from the inside out, as addr2line -i -f writes it.
 * The outermost function is "*": addr2line takes its name from the symbols. */
static void own_chain(const struct as_object *object, const struct as_debug *debug,
                      uint64_t address, FILE *out)
{
    const struct as_line *row = as_debug_line_at(debug, address);
    uint32_t file = row ? row->file : AS_NONE, line = row ? row->line : 0;
    uint32_t i = as_debug_inline_at(object, address);
    fprintf(out, "0x%lx\n", (unsigned long)address);
    for (; i != AS_NONE; i = debug->inlines[i].parent) {
        const struct as_inline *in = &debug->inlines[i];
        fprintf(out, "%s %s:%u\n", in->parent == AS_NONE ? "*" : in->name,
                file == AS_NONE ? "?" : base_name(debug->file[file]), line);
        file = in->call_file;
        line = in->call_line;
    }
}

/* The same lines made of llvm-addr2line's output. */
static void their_chains(const char *path, FILE *out)
{
    char *text = fixture_output("llvm-addr2line --no-demangle -a -i -f -e '%s' < addresses", path);
    char *line = strtok(text, "\n"), function[4096] = "", place[512] = "";
    bool held = false;
    for (; line; line = strtok(NULL, "\n")) {
        if (strncmp(line, "0x", 2) == 0) {
            if (held)
                fprintf(out, "* %s\n", place);
            held = false;
            fprintf(out, "%s\n", line);
            continue;
        }
        if (held)
            fprintf(out, "%s %s\n", function, place);
        snprintf(function, sizeof function, "%s", line);
        line = strtok(NULL, "\n");
        assert_non_null(line);
        snprintf(place, sizeof place, "%.500s", base_name(line));
        char *extra = strchr(place, ' '); /* " (discriminator 2)" */
        if (extra)
            *extra = 0;
        held = true;
    }
    if (held)
        fprintf(out, "* %s\n", place);
    free(text);
}

/* Compares the chains at about `want` addresses; their number. */
static size_t compare(const char *path, const char *debug_path, size_t want)
{
    struct as_debug debug;
    struct as_object *object = fixture_open(path, &debug);
    size_t step = debug.line_n / want + 1, n = 0;
    FILE *addresses = fopen("addresses", "w"), *own = fopen("own", "w");
    for (size_t i = 0; i < debug.line_n; i += step) {
        const struct as_line *row = &debug.line[i];
        if (row->line == 0 || as_debug_inline_at(object, row->address) == AS_NONE)
            continue;
        fprintf(addresses, "0x%lx\n", (unsigned long)row->address);
        own_chain(object, &debug, row->address, own);
        n++;
    }
    fclose(addresses);
    fclose(own);
    FILE *theirs = fopen("theirs", "w");
    their_chains(debug_path, theirs);
    fclose(theirs);
    as_object_close(&object);
    char *difference = fixture_output("diff own theirs | head -20");
    if (*difference)
        fail_msg("%s: chains differ from llvm-addr2line's:\n%s", path, difference);
    free(difference);
    return n;
}

static void test_programs(void **state)
{
    (void)state;
    if (!fixture_has("llvm-addr2line"))
        skip();
    static const char *const how[] = {
        "g++ -O2 -gdwarf-4",
        "g++ -O3 -gdwarf-5",
        "clang++ -O2 -gdwarf-4",
        "clang++ -O3 -gdwarf-5",
    };
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        fixture_run("%s a.cpp -o prog", how[i]);
        assert_true(compare("prog", "prog", 4000) > 150);
    }
}

static void test_libc(void **state)
{
    (void)state;
    const char *path = fixture_libc();
    if (!path || !fixture_has("llvm-addr2line"))
        skip();
    struct as_object *object = NULL;
    assert_int_equal(as_object_open(path, NULL, &object, NULL), 0);
    char *debug_path = strdup(as_object_info(object)->debug_path);
    as_object_close(&object);
    assert_true(compare(path, debug_path, 3000) >= 2000);
    free(debug_path);
}

/* All that the inline and unit tables of a program say, but for paths of its own making. */
static char *told(const char *path)
{
    struct as_debug debug;
    struct as_object *object = fixture_open(path, &debug);
    char *text;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    for (size_t i = 0; i < debug.inline_n; i++) {
        const struct as_inline *in = &debug.inlines[i];
        fprintf(out, "%s %d %s:%u %s:%u:%u", in->name, (int)in->parent,
                in->decl_file == AS_NONE ? "?" : debug.file[in->decl_file], in->decl_line,
                in->call_file == AS_NONE ? "?" : debug.file[in->call_file], in->call_line,
                in->call_column);
        for (uint32_t k = 0; k < in->ranges; k++) {
            const struct as_range *range = &debug.range[in->first_range + k];
            assert_int_equal(range->owner, i);
            fprintf(out, " [%lx,%lx)", (unsigned long)range->start, (unsigned long)range->end);
        }
        fputc('\n', out);
    }
    fclose(out);
    assert_true(n > 1000);
    as_object_close(&object);
    return text;
}

static void same(const char *plain, const char *path)
{
    char *text = told(path);
    if (strcmp(plain, text) != 0)
        fail_msg("%s tells other inlines than the plain program", path);
    free(text);
}

static void test_split(void **state)
{
    (void)state;
    for (int version = 4; version <= 5; version++) {
        for (int clang = 0; clang < 2; clang++) {
            const char *cc = clang ? "clang++" : "g++";
            fixture_run("rm -f *.dwo *.dwp; %s -O2 -gdwarf-%d -c a.cpp -o a.o && %s a.o -o prog",
                        cc, version, cc);
            char *plain = told("prog");
            fixture_run("%s -O2 -gdwarf-%d -gsplit-dwarf -c a.cpp -o a.o && %s a.o -o prog", cc,
                        version, cc);
            same(plain, "prog");
            fixture_run("llvm-dwp -e prog -o prog.dwp && mkdir -p away && mv *.dwo away");
            same(plain, "prog");
            /* Binutils' dwp knows version 4 only. */
            if (version == 4 && fixture_has("dwp")) {
                fixture_run(
                    "rm prog.dwp && mv away/*.dwo . && dwp -e prog -o prog.dwp && rm *.dwo");
                same(plain, "prog");
            }
            free(plain);
        }
    }
}

static void test_dwz(void **state)
{
    (void)state;
    if (!fixture_has("dwz"))
        skip();
    for (int version = 4; version <= 5; version++) {
        fixture_run("g++ -O2 -gdwarf-%d a.cpp -o prog && cp prog other", version);
        char *plain = told("prog");
        fixture_run("dwz -m common.dwz prog other");
        same(plain, "prog");
        struct as_debug debug;
        struct as_object *object = fixture_open("prog", &debug);
        assert_int_equal(debug.unit_n, 1); /* partial units are not the user's */
        assert_non_null(strstr(as_object_info(object)->dwz_path, "common.dwz"));
        assert_false(as_object_info(object)->dwz_missing);
        as_object_close(&object);
        fixture_run("mv common.dwz away.dwz");
        object = fixture_open("prog", &debug);
        assert_true(as_object_info(object)->dwz_missing);
        as_object_close(&object);
        free(plain);
    }
}

static void test_jobs(void **state)
{
    (void)state;
    const char *path = fixture_libc();
    if (!path)
        skip();
    struct as_debug one, four;
    struct as_object *a = NULL, *b = NULL;
    assert_int_equal(as_object_open(path, NULL, &a, NULL), 0);
    assert_int_equal(as_object_open(path, NULL, &b, NULL), 0);
    assert_int_equal(as_object_debug(a, AS_DEBUG_ALL, 1, &one, NULL, NULL), 0);
    assert_int_equal(as_object_debug(b, AS_DEBUG_ALL, 4, &four, NULL, NULL), 0);
    assert_int_equal(one.line_n, four.line_n);
    for (size_t i = 0; i < one.line_n; i++) {
        assert_int_equal(one.line[i].address, four.line[i].address);
        assert_int_equal(one.line[i].file, four.line[i].file);
        assert_int_equal(one.line[i].line, four.line[i].line);
    }
    assert_int_equal(one.inline_n, four.inline_n);
    for (size_t i = 0; i < one.inline_n; i++) {
        assert_string_equal(one.inlines[i].name, four.inlines[i].name);
        assert_int_equal(one.inlines[i].parent, four.inlines[i].parent);
    }
    assert_int_equal(one.range_n, four.range_n);
    for (size_t i = 0; i < one.range_n; i++) {
        assert_int_equal(one.range[i].start, four.range[i].start);
        assert_int_equal(one.range[i].end, four.range[i].end);
        assert_int_equal(one.range[i].owner, four.range[i].owner);
    }
    as_object_close(&a);
    as_object_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs), cmocka_unit_test(test_libc), cmocka_unit_test(test_split),
        cmocka_unit_test(test_dwz),      cmocka_unit_test(test_jobs),
    };
    return cmocka_run_group_tests_name("object/dwarf_inline", tests, fixture_setup,
                                       fixture_teardown);
}
