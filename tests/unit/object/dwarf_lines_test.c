/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line table against `readelf --debug-dump=decodedline`: the same set of (address, line,
 * statement, file name). Covers every DWARF version, compiler and storage, and libc.
 */
#include "dwarf_fixture.h"

struct row {
    uint64_t address;
    uint64_t line; /* 0: end of a sequence */
    bool is_stmt;
    char file[64];
};

struct rows {
    struct row *at;
    size_t n, cap;
};

static void push(struct rows *rows, struct row row)
{
    if (rows->n == rows->cap) {
        rows->cap = rows->cap ? rows->cap * 2 : 1024;
        rows->at = realloc(rows->at, rows->cap * sizeof *rows->at);
        assert_non_null(rows->at);
    }
    rows->at[rows->n++] = row;
}

static int by_all(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->is_stmt != y->is_stmt)
        return x->is_stmt ? 1 : -1;
    return strcmp(x->file, y->file);
}

static void sort_unique(struct rows *rows)
{
    size_t kept = 0;
    qsort(rows->at, rows->n, sizeof *rows->at, by_all);
    for (size_t i = 0; i < rows->n; i++) {
        if (kept == 0 || by_all(&rows->at[kept - 1], &rows->at[i]) != 0)
            rows->at[kept++] = rows->at[i];
    }
    rows->n = kept;
}

static void set_name(struct row *row, const char *path)
{
    const char *slash = strrchr(path, '/');
    snprintf(row->file, sizeof row->file, "%.63s", slash ? slash + 1 : path);
}

/* Lines "NAME LINE 0xADDRESS [VIEW] [x]"; the ends of sequences ("-") are left out. */
static struct rows readelf_rows(const char *path)
{
    struct rows rows = {0};
    char *text = fixture_output("readelf -W --debug-dump=decodedline '%s' 2>/dev/null", path);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char name[256], number[32], address[32], rest[2][16] = {"", ""};
        int got =
            sscanf(line, "%255s %31s %31s %15s %15s", name, number, address, rest[0], rest[1]);
        if (got < 3 || strncmp(address, "0x", 2) != 0 || number[0] < '0' || number[0] > '9')
            continue;
        struct row row = {.address = strtoull(address, NULL, 16),
                          .line = strtoull(number, NULL, 10),
                          .is_stmt = strcmp(rest[0], "x") == 0 || strcmp(rest[1], "x") == 0};
        set_name(&row, name);
        push(&rows, row);
    }
    free(text);
    sort_unique(&rows);
    return rows;
}

static struct rows own_rows(const struct as_debug *debug)
{
    struct rows rows = {0};
    uint64_t last = 0;
    for (size_t i = 0; i < debug->line_n; i++) {
        const struct as_line *line = &debug->line[i];
        assert_true(line->address >= last);
        last = line->address;
        if (line->file == AS_NONE)
            continue;
        assert_true(line->file < debug->file_n);
        struct row row = {.address = line->address, .line = line->line, .is_stmt = line->is_stmt};
        set_name(&row, debug->file[line->file]);
        push(&rows, row);
    }
    sort_unique(&rows);
    return rows;
}

static void check(const char *path, const char *debug_path)
{
    struct as_debug debug;
    struct as_object *object = fixture_open(path, &debug);
    struct rows own = own_rows(&debug), truth = readelf_rows(debug_path);
    assert_true(truth.n > 2);
    for (size_t i = 0; i < own.n && i < truth.n; i++) {
        if (by_all(&own.at[i], &truth.at[i]) != 0)
            fail_msg("%s: row %zu: %s:%lu at 0x%lx, readelf has %s:%lu at 0x%lx", path, i,
                     own.at[i].file, (unsigned long)own.at[i].line,
                     (unsigned long)own.at[i].address, truth.at[i].file,
                     (unsigned long)truth.at[i].line, (unsigned long)truth.at[i].address);
    }
    assert_int_equal(own.n, truth.n);
    free(own.at);
    free(truth.at);
    as_object_close(&object);
}

static void test_versions(void **state)
{
    (void)state;
    static const char *const how[] = {
        "g++ -O0 -gdwarf-2",     "g++ -O2 -gdwarf-3",     "g++ -O2 -gdwarf-4",
        "g++ -O3 -gdwarf-5",     "g++ -O2 -g -gdwarf64",  "clang++ -O0 -gdwarf-2",
        "clang++ -O2 -gdwarf-4", "clang++ -O3 -gdwarf-5", "clang++ -O2 -gdwarf-5 -gdwarf64",
    };
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        fixture_run("%s a.cpp -o prog", how[i]);
        check("prog", "prog");
    }
}

static void test_storage(void **state)
{
    (void)state;
    static const char *const how[] = {
        "g++ -O2 -g -gz=zlib",        "g++ -O2 -g -gz=zlib-gnu",
        "g++ -O2 -g -gsplit-dwarf",   "clang++ -O2 -gdwarf-5 -gsplit-dwarf",
        "g++ -O2 -g -flto",           "g++ -O2 -g -no-pie",
        "g++ -O2 -gline-tables-only",
    };
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        if (!fixture_try("%s a.cpp -o prog", how[i]))
            continue; /* -gline-tables-only is clang's */
        check("prog", "prog");
    }
    fixture_run("gfortran -O2 -g m.f90 -o prog");
    check("prog", "prog");
}

static void test_libc(void **state)
{
    (void)state;
    const char *path = fixture_libc();
    if (!path)
        skip();
    struct as_object *object = NULL;
    assert_int_equal(as_object_open(path, NULL, &object, NULL), 0);
    char *debug_path = strdup(as_object_info(object)->debug_path);
    as_object_close(&object);
    check(path, debug_path);
    free(debug_path);
}

/* Unused functions the linker dropped leave no rows and no functions. */
static void test_dead_code(void **state)
{
    (void)state;
    fixture_run("g++ -O1 -g -ffunction-sections -Wl,--gc-sections a.cpp -o prog");
    struct as_debug debug;
    struct as_object *object = fixture_open("prog", &debug);
    assert_int_equal(fixture_count(&debug, "_Z6unusedi"), 0);
    assert_int_equal(fixture_count(&debug, "_Z4workRSt6vectorIiSaIiEERK1S"), 1);
    for (size_t i = 0; i < debug.line_n; i++)
        assert_true(debug.line[i].line != 13);
    as_object_close(&object);
}

static void test_line_at(void **state)
{
    (void)state;
    fixture_run("gcc -O0 -g two.c -o prog");
    struct as_debug debug;
    struct as_object *object = fixture_open("prog", &debug);
    char *text = fixture_output("nm prog | awk '$3 == \"outer\" {print $1}'");
    uint64_t outer = strtoull(text, NULL, 16);
    free(text);
    const struct as_line *line = as_debug_line_at(&debug, outer + 1);
    assert_non_null(line);
    assert_int_equal(line->line, 6);
    const char *file = debug.file[line->file];
    assert_int_equal(file[0], '/');
    assert_non_null(strstr(file, "/two.c"));
    assert_null(as_debug_line_at(&debug, debug.line[0].address - 1));
    assert_null(as_debug_line_at(&debug, debug.line[debug.line_n - 1].address));
    as_object_close(&object);
}

/* A .o has all its code in sections of their own, laid out one after the other. */
static void test_relocatable(void **state)
{
    (void)state;
    static const char *const how[] = {"gcc -gdwarf-4", "gcc -gdwarf-5 -gz", "clang -gdwarf-5"};
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        fixture_run("%s -O0 -ffunction-sections -c two.c -o two.o", how[i]);
        struct as_debug debug;
        struct as_object *object = fixture_open("two.o", &debug);
        const struct as_function *function;
        size_t n;
        assert_int_equal(as_object_functions(object, true, &function, &n, NULL), 0);
        static const struct {
            const char *name;
            uint32_t line;
        } want[] = {{"twice", 1}, {"outer", 5}, {"main", 9}};
        for (size_t k = 0; k < 3; k++) {
            const struct as_line *line = NULL;
            for (size_t f = 0; f < n; f++) {
                if (strcmp(function[f].name, want[k].name) == 0)
                    line = as_debug_line_at(&debug, function[f].start);
            }
            assert_non_null(line);
            assert_in_range(line->line, want[k].line, want[k].line + 1);
        }
        as_object_close(&object);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions), cmocka_unit_test(test_storage),
        cmocka_unit_test(test_libc),     cmocka_unit_test(test_dead_code),
        cmocka_unit_test(test_line_at),  cmocka_unit_test(test_relocatable),
    };
    return cmocka_run_group_tests_name("object/dwarf_lines", tests, fixture_setup,
                                       fixture_teardown);
}
