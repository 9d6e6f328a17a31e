// SPDX-License-Identifier: Apache-2.0
// Tables of lines and records of functions of Python: a table that CPython 3.11 made, with what its
// own co_lines() says of it, and damaged ones.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sample/python_code.h"

// A generator with a decorator, a lambda, try, finally and 300 empty lines.
static const uint8_t table[] = {
    232, 0,   232, 0,   128, 0,   240, 8,   13,  5,   22,  224, 12,  13,  216, 12,  13,  240, 5,
    3,   18,  10,  240, 0,   7,   9,   27,  240, 0,   7,   9,   27,  136, 65,  240, 10,  0,   23,
    24,  240, 3,   3,   20,  26,  144, 49,  144, 49,  240, 4,   1,   20,  26,  240, 0,   1,   20,
    26,  157, 117, 160, 81,  153, 120, 156, 120, 240, 0,   1,   20,  26,  241, 0,   1,   20,  26,
    244, 0,   1,   20,  26,  240, 5,   3,   13,  27,  240, 0,   3,   13,  27,  240, 0,   3,   13,
    27,  240, 0,   3,   13,  27,  240, 9,   7,   9,   27,  248, 245, 16,  0,   12,  22,  240, 0,
    2,   5,   25,  240, 0,   2,   5,   25,  240, 0,   2,   5,   25,  221, 14,  22,  216, 12,  13,
    241, 3,   1,   15,  15,  244, 0,   1,   15,  15,  216, 20,  24,  240, 3,   1,   9,   25,  248,
    248, 248, 248, 240, 3,   2,   5,   25,  248, 248, 248, 240, 17,  7,   9,   27,  245, 24,  0,
    9,   14,  136, 102, 137, 13,  140, 13,  136, 13,  136, 13,  248, 141, 5,   136, 102, 137, 13,
    140, 13,  136, 13,  136, 13,  248, 248, 248, 240, 92,  9,   0,   12,  13,  136, 49};
// By the byte behind; line 0: none.
static const struct {
    uint32_t end, line;
} lines[] = {{6, 2},    {8, 6},    {10, 8},   {12, 9},  {20, 7},   {22, 12},  {28, 11},
             {76, 13},  {84, 11},  {86, 7},   {88, 0},  {106, 15}, {118, 16}, {120, 17},
             {134, 16}, {136, 17}, {138, 16}, {146, 0}, {148, 15}, {154, 0},  {156, 7},
             {188, 19}, {190, 0},  {222, 19}, {228, 0}, {232, 321}};

static void lines_are_those_of_cpython(void **state)
{
    (void)state;
    uint32_t byte = 0;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (; byte < lines[i].end; byte += 2)
            assert_int_equal(as_python_line(2, table, sizeof table, byte), lines[i].line);
    assert_int_equal(byte, 232);
    assert_int_equal(as_python_line(2, table, sizeof table, 232), 0);
    assert_int_equal(as_python_line(2, NULL, 0, 0), 0);
}

// A line of a cut table is missing or the same.
static void cut_tables_have_no_other_lines(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof table; n++) {
        uint8_t *cut = test_malloc(n + 1); // its end is watched
        memcpy(cut, table, n);
        for (uint32_t byte = 0; byte < 240; byte += 2) {
            const uint32_t line = as_python_line(2, cut, n, byte);
            assert_true(line == 0 || line == as_python_line(2, table, sizeof table, byte));
        }
        test_free(cut);
    }
}

static void damaged_tables_end(void **state)
{
    (void)state;
    uint8_t bytes[64];
    uint64_t seed = 1;
    for (int turn = 0; turn < 20000; turn++) {
        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = (uint8_t)(seed >> 56);
        }
        assert_true(as_python_line((uint32_t)(seed >> 40), bytes, sizeof bytes,
                                   (uint32_t)(seed >> 32 & 255)) < AS_PYTHON_LINES);
    }
}

static struct as_agent_code_record *record_of(const void *file, uint32_t file_b, uint8_t width,
                                              const char *name, uint32_t *size_b)
{
    const uint32_t name_b = (uint32_t)strlen(name);
    const size_t head_b = offsetof(struct as_agent_code_record, bytes);
    *size_b = (uint32_t)((head_b + file_b + name_b + sizeof table + 7) & ~7ul);
    struct as_agent_code_record *record = test_calloc(1, *size_b);
    record->code = 7;
    record->first_line = 2;
    record->file_b = file_b;
    record->file_width = width;
    record->name_b = name_b;
    record->name_width = 1;
    record->table_b = sizeof table;
    memcpy(record->bytes, file, file_b);
    memcpy(record->bytes + file_b, name, name_b);
    memcpy(record->bytes + file_b + name_b, table, sizeof table);
    return record;
}

static void functions_have_names_and_lines(void **state)
{
    (void)state;
    static const uint16_t file[] = {'a', 0x20ac, '\n', 0xdc80, 'b'};
    const struct as_agent_python_frame frame[] = {
        {0, 4096}, {7, 20 | AS_AGENT_PYTHON_CALLS}, {7, AS_AGENT_PYTHON_BYTES}, {8, 0}};
    struct as_python_codes codes;
    struct as_sample_record sample = {0};
    uint32_t size_b;
    struct as_agent_code_record *record = record_of(file, sizeof file, 2, "C.f", &size_b);
    as_python_codes_init(&codes);
    assert_true(as_python_code_is_whole(record, size_b));
    assert_int_equal(as_python_code_add(&codes, record), 0);
    assert_int_equal(as_python_frames(&codes, frame, 4, &sample), 0);
    assert_int_equal(sample.python_n, 4);
    assert_null(sample.python[0].name);
    assert_int_equal(sample.python[0].at, 4096);
    // Controls and halves of surrogates are replaced.
    assert_string_equal(sample.python[1].file, "a\xe2\x82\xac\xef\xbf\xbd\xef\xbf\xbd"
                                               "b");
    assert_string_equal(sample.python[1].name, "C.f");
    assert_int_equal(sample.python[1].line, 12);
    assert_true(sample.python[1].calls);
    assert_int_equal(sample.python[2].line, 2);
    assert_false(sample.python[2].calls);
    assert_string_equal(sample.python[3].name, "[unknown]");
    as_python_codes_fini(&codes);
    test_free(record);
}

static void records_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    uint32_t size_b;
    struct as_agent_code_record *record = record_of("f.py", 4, 1, "f", &size_b), was = *record;
    assert_true(as_python_code_is_whole(record, size_b));
    assert_false(as_python_code_is_whole(record, size_b - 8));
    assert_false(as_python_code_is_whole(record, 40));
    record->table_b += 8;
    assert_false(as_python_code_is_whole(record, size_b));
    record->table_b = was.table_b;
    record->file_width = 3;
    assert_false(as_python_code_is_whole(record, size_b));
    record->file_width = 8;
    assert_false(as_python_code_is_whole(record, size_b));
    record->file_width = 1;
    record->name_b = UINT32_MAX;
    assert_false(as_python_code_is_whole(record, size_b));
    record->name_b = 0;
    assert_false(as_python_code_is_whole(record, size_b));
    record->name_b = was.name_b;
    record->code = 0;
    assert_false(as_python_code_is_whole(record, size_b));
    test_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_those_of_cpython),
        cmocka_unit_test(cut_tables_have_no_other_lines),
        cmocka_unit_test(damaged_tables_end),
        cmocka_unit_test(functions_have_names_and_lines),
        cmocka_unit_test(records_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests_name("python_code", tests, NULL, NULL);
}
