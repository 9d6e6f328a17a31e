/* SPDX-License-Identifier: Apache-2.0 */
/* The table printer, and the questions to the terminal it depends on. */
#include "unit.h"

#include <fcntl.h>
#include <sys/ioctl.h>

#include "base/table.h"
#include "base/term.h"
#include "base/utf8.h"

static const struct as_column columns[] = {
    {.title = "Function", .shrink = AS_SHRINK_END, .style = AS_STYLE_CYAN},
    {.title = "Size", .align = AS_ALIGN_RIGHT},
    {.title = "File", .shrink = AS_SHRINK_START},
};

static struct as_str print(const struct as_table *table, size_t width, bool color)
{
    struct as_str str = {0};
    struct as_out out;
    as_out_init_str(&out, &str);
    assert_int_equal(as_table_print(table, &out, width, color, NULL), 0);
    assert_int_equal(as_out_flush(&out, NULL), 0);
    as_out_fini(&out);
    return str;
}

static void expect_print(const struct as_table *table, size_t width, bool color, const char *want)
{
    struct as_str got = print(table, width, color);
    assert_string_equal(as_str_z(&got), want);
    as_str_fini(&got);
}

static void test_alignment(void **state)
{
    (void)state;
    struct as_table t;
    as_table_init(&t, columns, 3);
    expect_print(&t, 80, false, "Function  Size  File\n");
    as_table_string(&t, "main");
    as_table_u64(&t, 12345);
    as_table_string(&t, "a.c");
    as_table_string(&t, "\xc3\xa9t\xc3\xa9_\xe4\xb8\xad"); /* 6 columns in 9 bytes */
    as_table_f(&t, "0x%x", 0x1f);
    as_table_string(&t, NULL);
    as_table_string(&t, "last");
    as_table_f(&t, "%d.%d", 1, 5);
    as_table_string(&t, "b.c");
    expect_print(&t, 80, false,
                 "Function   Size  File\n"
                 "main      12345  a.c\n"
                 "\xc3\xa9t\xc3\xa9_\xe4\xb8\xad     0x1f\n"
                 "last        1.5  b.c\n");
    as_table_fini(&t);
}

static void without_vowels(struct as_str *to, const char *text, size_t most)
{
    (void)most;
    for (; *text; text++)
        if (!strchr("aeiou", *text))
            as_str_append(to, text, 1);
}

/* A column's own way comes before the cut, and only where a cell does not fit. */
static void test_shorten(void **state)
{
    static const struct as_column own[] = {
        {.title = "Name", .shrink = AS_SHRINK_END, .least = 4, .shorten = without_vowels},
        {.title = "File"},
    };
    (void)state;
    struct as_table t;
    as_table_init(&t, own, 2);
    as_table_string(&t, "audio");
    as_table_string(&t, "a.c");
    as_table_string(&t, "iteration");
    as_table_string(&t, "b.c");
    as_table_string(&t, "rhythmically");
    as_table_string(&t, "c.c");
    expect_print(&t, 13, false,
                 "Name     File\n"
                 "audio    a.c\n"
                 "trtn     b.c\n"
                 "rhythm\xe2\x80\xa6  c.c\n");
    as_table_fini(&t);
}

/* Optional columns go from the last on, and only as many as must. */
static void test_hide(void **state)
{
    struct as_column own[] = {
        {.title = "Name", .shrink = AS_SHRINK_END, .least = 6},
        {.title = "First", .optional = true},
        {.title = "Kept"},
        {.title = "Last", .optional = true},
    };
    static const char *const cells[] = {"iteration", "1", "2", "3"};
    (void)state;
    struct as_table t;
    as_table_init(&t, own, 4);
    for (size_t i = 0; i < 4; i++)
        as_table_string(&t, cells[i]);
    as_table_hide(&t, own, 25); /* with the name shortened */
    expect_print(&t, 25, false,
                 "Name    First  Kept  Last\n"
                 "itera\xe2\x80\xa6  1      2     3\n");
    as_table_hide(&t, own, 24);
    expect_print(&t, 24, false,
                 "Name       First  Kept\n"
                 "iteration  1      2\n");
    as_table_hide(&t, own, 5); /* more than all of them */
    expect_print(&t, 12, false,
                 "Name    Kept\n"
                 "itera\xe2\x80\xa6  2\n");
    as_table_fini(&t);
}

static void add_long_row(struct as_table *t)
{
    as_table_string(t, "a_function_with_a_rather_long_name_that_no_terminal_shows_whole");
    as_table_u64(t, 1234567890);
    as_table_string(t, "/data/someone/src/project/solver/kernels/stencil/jacobi.c");
}

/* Widest line in terminal columns. */
static size_t widest(const struct as_str *s)
{
    size_t most = 0;
    struct as_view rest = {.p = s->p, .n = s->n}, line;
    while (as_view_split(&rest, '\n', &line)) {
        size_t width = as_utf8_width(line);
        most = width > most ? width : most;
    }
    return most;
}

static void test_80_columns(void **state)
{
    (void)state;
    struct as_table t;
    as_table_init(&t, columns, 3);
    add_long_row(&t);
    as_table_string(&t, "short");
    as_table_u64(&t, 1);
    as_table_string(&t, "x.c");
    expect_print(&t, 80, false,
                 "Function                                 Size  File\n"
                 "a_function_with_a_rather_long_na\xe2\x80\xa6  1234567890  "
                 "\xe2\x80\xa6/solver/kernels/stencil/jacobi.c\n"
                 "short                                       1  x.c\n");
    as_table_fini(&t);
}

static void test_every_width(void **state)
{
    (void)state;
    struct as_table t;
    as_table_init(&t, columns, 3);
    add_long_row(&t);
    struct as_str whole = print(&t, 0, false);
    size_t natural = widest(&whole);
    assert_int_equal(natural, 63 + 2 + 10 + 2 + 57);
    as_str_fini(&whole);
    for (size_t width = 1; width < natural + 5; width++) {
        struct as_str got = print(&t, width, false);
        size_t least = 8 + 2 + 10 + 2 + 8; /* what no column gives */
        size_t want = width < least ? least : width > natural ? natural : width;
        assert_int_equal(widest(&got), want);
        assert_true(has(as_str_z(&got), "1234567890"));
        assert_int_equal(has(as_str_z(&got), "\xe2\x80\xa6"), width < natural);
        as_str_fini(&got);
    }
    as_table_fini(&t);
}

static void test_middle_indent_and_ascii(void **state)
{
    (void)state;
    static const struct as_column one[] = {
        {.title = NULL, .align = AS_ALIGN_RIGHT},
        {.title = NULL, .shrink = AS_SHRINK_MIDDLE},
    };
    struct as_table t;
    as_table_init(&t, one, 2);
    t.indent = 3;
    as_table_string(&t, "1");
    as_table_string(&t, "std::vector<int>::push_back");
    expect_print(&t, 0, false, "   1  std::vector<int>::push_back\n");
    expect_print(&t, 18, false, "   1  std::v\xe2\x80\xa6_back\n");
    t.ascii = true;
    expect_print(&t, 17, false, "   1  std::~_back\n");
    as_table_fini(&t);
}

static void test_wide_characters_are_not_cut_in_half(void **state)
{
    (void)state;
    static const struct as_column one[] = {
        {.title = "N", .shrink = AS_SHRINK_END, .least = 2},
        {.title = "P", .shrink = AS_SHRINK_START, .least = 2},
    };
    struct as_table t;
    as_table_init(&t, one, 2);
    const char *text = "\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87"; /* 8 columns */
    as_table_string(&t, text);
    as_table_string(&t, text);
    for (size_t width = 6; width <= 18; width++) {
        struct as_str got = print(&t, width, false);
        assert_true(widest(&got) <= width);
        assert_false(has(as_str_z(&got), AS_UTF8_REPLACEMENT_Z));
        as_str_fini(&got);
    }
    as_table_fini(&t);
}

static void test_foreign_bytes(void **state)
{
    (void)state;
    static const struct as_column one[] = {{.title = NULL}};
    struct as_table t;
    as_table_init(&t, one, 1);
    as_table_string(&t, "a\033[31mb\x7f\xff\xc2\x9b"
                        "c\td");
    expect_print(&t, 80, true, "a\\x1b[31mb\\x7f\\xff\\u009bc d\n");
    as_table_fini(&t);
}

static void test_color(void **state)
{
    (void)state;
    struct as_table t;
    as_table_init(&t, columns, 3);
    as_table_string(&t, "main");
    as_table_u64(&t, 5);
    as_table_string(&t, "a.c");
    expect_print(&t, 80, true,
                 "\033[1mFunction\033[0m  \033[1mSize\033[0m  \033[1mFile\033[0m\n"
                 "\033[36mmain\033[0m         5  a.c\n");
    as_table_fini(&t);
}

static void test_color_choice(void **state)
{
    (void)state;
    int pipe_ends[2];
    assert_int_equal(pipe(pipe_ends), 0);
    int tty = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(tty >= 0);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    assert_true(as_color_use(AS_COLOR_AUTO, tty));
    assert_false(as_color_use(AS_COLOR_AUTO, pipe_ends[1]));
    assert_true(as_color_use(AS_COLOR_ALWAYS, pipe_ends[1]));
    assert_false(as_color_use(AS_COLOR_NEVER, tty));
    setenv("NO_COLOR", "", 1); /* empty does not count, says no-color.org */
    assert_true(as_color_use(AS_COLOR_AUTO, tty));
    setenv("NO_COLOR", "1", 1);
    assert_false(as_color_use(AS_COLOR_AUTO, tty));
    assert_true(as_color_use(AS_COLOR_ALWAYS, tty));
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    assert_false(as_color_use(AS_COLOR_AUTO, tty));
    unsetenv("TERM");
    assert_false(as_color_use(AS_COLOR_AUTO, tty));

    struct winsize size = {.ws_row = 24, .ws_col = 133};
    assert_int_equal(ioctl(tty, TIOCSWINSZ, &size), 0);
    assert_int_equal(as_term_width(tty), 133);
    assert_int_equal(as_term_layout_width(tty), 133);
    assert_int_equal(as_term_width(pipe_ends[1]), 80);
    assert_int_equal(as_term_layout_width(pipe_ends[1]), 0);
    close(tty);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

/* Lines under rows are as they are, however narrow the columns must be. */
static void test_notes(void **state)
{
    (void)state;
    struct as_str str = {0};
    struct as_out out;
    struct as_error err = {0};
    const struct as_column two[] = {{.title = "a", .shrink = AS_SHRINK_END, .least = 2},
                                    {.title = "b", .align = AS_ALIGN_RIGHT}};
    struct as_table t;
    as_out_init_str(&out, &str);
    as_table_init(&t, two, 2);
    t.ascii = true;
    for (int i = 0; i < 3; i++) {
        as_table_string(&t, "abcdefgh");
        as_table_u64(&t, (uint64_t)i);
        if (i != 1)
            as_table_note(&t, "longer than the columns");
        if (i == 2)
            as_table_note(&t, "a second\x1b one");
    }
    assert_int_equal(as_table_print(&t, &out, 8, false, &err), 0);
    assert_int_equal(as_out_flush(&out, &err), 0);
    assert_string_equal(as_str_z(&str), "a      b\nabcd~  0\n  longer than the columns\n"
                                        "abcd~  1\nabcd~  2\n  longer than the columns\n"
                                        "  a second\\x1b one\n");
    as_table_fini(&t);
    as_out_fini(&out);
    as_str_fini(&str);
}

static void test_no_memory(void **state)
{
    (void)state;
    int refused = 0;
    for (int after = 0; after < 40; after++) {
        struct as_str str = {0};
        struct as_out out;
        as_out_init_str(&out, &str);
        struct as_table t;
        struct as_error err = {0};
        as_alloc_fail_after(after);
        as_table_init(&t, columns, 3);
        for (int i = 0; i < 40; i++) {
            add_long_row(&t);
            as_table_note(&t, "under it");
        }
        int rc = as_table_print(&t, &out, 80, false, &err);
        as_alloc_fail_after(-1);
        assert_true(rc == 0 || rc == AS_ERR_NOMEM);
        assert_int_equal(err.code, rc);
        refused += rc != 0;
        as_table_fini(&t);
        as_out_fini(&out);
        as_str_fini(&str);
    }
    assert_in_range(refused, 5, 39);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_shorten),
        cmocka_unit_test(test_hide),
        cmocka_unit_test(test_80_columns),
        cmocka_unit_test(test_every_width),
        cmocka_unit_test(test_middle_indent_and_ascii),
        cmocka_unit_test(test_wide_characters_are_not_cut_in_half),
        cmocka_unit_test(test_foreign_bytes),
        cmocka_unit_test(test_color),
        cmocka_unit_test(test_color_choice),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
