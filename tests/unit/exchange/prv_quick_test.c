/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies of .prv files made at random, with ordinary lines that are read quickly and all others:
 * each line must give the numbers that it was written from, each faulty line must be counted.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/str.h"
#include "exchange/prv_lines.h"
#include "exchange/prv_quick.h"

#define TASKS_N   70
#define THREADS_N 3 /* of each task */
#define PAIRS_MAX 120

static uint64_t seed;
static uint64_t any(uint64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % n;
}

/* The numbers that a line was written from. */
struct line_made {
    bool is_bad;
    enum as_prv_line kind;
    uint32_t thread, cpu, receiver, receiver_cpu;
    int64_t time[4]; /* in units of the file */
    int64_t value[2 * PAIRS_MAX];
    unsigned values_n;
};

static int64_t number_of_digits(unsigned digits)
{
    int64_t value = 0;
    for (unsigned i = 0; i < digits; i++)
        value = value * 10 + (int64_t)any(10);
    return value;
}

/* Zeros in front are rare, and change nothing. */
static void write_number(struct as_str *text, int64_t value)
{
    as_str_appendf(text, ":%s%" PRId64, value >= 0 && any(40) == 0 ? "00" : "", value);
}

static void write_object(struct as_str *text, uint32_t *thread, uint32_t *cpu, bool is_bad)
{
    const uint32_t task = (uint32_t)any(TASKS_N), of_task = (uint32_t)any(THREADS_N);
    *cpu = (uint32_t)(any(5) ? task + 1 : any(100000));
    *thread = task * THREADS_N + of_task;
    as_str_appendf(text, ":%u:1:%u:%u", *cpu, is_bad ? task + 1 + TASKS_N : task + 1, of_task + 1);
}

/* Times that grow, of up to 17 digits. */
static int64_t next_time(uint64_t line, unsigned digits)
{
    return (int64_t)line * 37 + number_of_digits(1 + (unsigned)any(digits));
}

static void write_times(struct as_str *text, struct line_made *made, unsigned from, unsigned n)
{
    for (unsigned i = from; i < from + n; i++)
        write_number(text, made->time[i]);
}

static void write_pairs(struct as_str *text, struct line_made *made)
{
    made->values_n = 2 * (1 + (unsigned)any(any(50) ? 4 : PAIRS_MAX));
    for (unsigned i = 0; i < made->values_n; i++) {
        made->value[i] = number_of_digits(1 + (unsigned)any(18));
        if (i % 2 && any(60) == 0)
            made->value[i] = -made->value[i];
        write_number(text, made->value[i]);
    }
}

/* Spoils the text of a line from its second field on. */
static void spoil_line(struct as_str *text, size_t begin)
{
    static const char *const endings[] = {":", "x", ":-", " ", "::1"};
    const char *ending = endings[any(sizeof endings / sizeof *endings)];
    if (any(2))
        as_str_appendz(text, ending);
    else
        text->p[begin + 1] = ';';
}

static void make_line(struct as_str *text, uint64_t number, unsigned digits, struct line_made *made)
{
    const size_t begin = text->n;
    const bool has_bad_object = any(60) == 0, is_spoiled = any(60) == 0;
    *made = (struct line_made){.kind = (enum as_prv_line)(1 + any(3)),
                               .is_bad = has_bad_object || is_spoiled};
    for (unsigned i = 0; i < 4; i++)
        made->time[i] = next_time(number, digits);
    as_str_appendf(text, "%d", made->kind);
    write_object(text, &made->thread, &made->cpu, has_bad_object);
    if (made->kind == AS_PRV_LINE_STATE) {
        if (any(20) == 0)
            made->time[1] = -1;
        made->is_bad |= made->time[1] >= 0 && made->time[1] < made->time[0];
        made->value[0] = number_of_digits(1 + (unsigned)any(17));
        write_times(text, made, 0, 2);
        write_number(text, made->value[0]);
    } else if (made->kind == AS_PRV_LINE_EVENTS) {
        write_times(text, made, 0, 1);
        write_pairs(text, made);
    } else {
        made->value[0] = number_of_digits(1 + (unsigned)any(17));
        made->value[1] = (int64_t)any(90) - 5;
        write_times(text, made, 0, 2);
        write_object(text, &made->receiver, &made->receiver_cpu, false);
        write_times(text, made, 2, 2);
        write_number(text, made->value[0]);
        write_number(text, made->value[1]);
    }
    if (is_spoiled)
        spoil_line(text, begin);
    as_str_appendz(text, any(30) ? "\n" : "\r\n");
}

static void check_line(const struct line_made *made, const struct as_prv_line_read *line,
                       int64_t unit_ns)
{
    assert_int_equal(line->kind, made->kind);
    assert_int_equal(line->thread, made->thread);
    assert_int_equal(line->cpu, made->cpu);
    assert_int_equal(line->ns, made->time[0] * unit_ns);
    if (made->kind == AS_PRV_LINE_STATE) {
        assert_int_equal(line->end_ns, made->time[1] < 0 ? -1 : made->time[1] * unit_ns);
        assert_int_equal(line->state, made->value[0]);
    } else if (made->kind == AS_PRV_LINE_EVENTS) {
        assert_int_equal(line->value.n, made->values_n);
        assert_memory_equal(line->value.at, made->value, made->values_n * sizeof *made->value);
    } else {
        assert_int_equal(line->physical_send_ns, made->time[1] * unit_ns);
        assert_int_equal(line->receiver, made->receiver);
        assert_int_equal(line->receiver_cpu, made->receiver_cpu);
        assert_int_equal(line->logical_receive_ns, made->time[2] * unit_ns);
        assert_int_equal(line->physical_receive_ns, made->time[3] * unit_ns);
        assert_int_equal(line->size_b, made->value[0]);
        assert_int_equal(line->tag, made->value[1]);
    }
}

static void write_header(struct as_str *text, const char *unit)
{
    as_str_appendf(text, "#Paraver (01/01/2026 at 00:00):1000%s:1(%d):1:%d(", unit, TASKS_N,
                   TASKS_N);
    for (int i = 0; i < TASKS_N; i++)
        as_str_appendf(text, "%s%d:1", i ? "," : "", THREADS_N);
    as_str_appendz(text, ")\n");
}

static void check_file(const char *unit, int64_t unit_ns, unsigned digits, uint64_t lines_n)
{
    const char *path = "prv-quick-test.prv";
    struct as_str text = {0};
    struct line_made *made = calloc(lines_n, sizeof *made);
    struct as_prv_file *file = NULL;
    const struct as_prv_line_read *line;
    struct as_error err;
    uint64_t bad_n = 0;
    assert_non_null(made);
    seed = digits;
    write_header(&text, unit);
    for (uint64_t i = 0; i < lines_n; i++)
        make_line(&text, i, digits, &made[i]);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(text.p, 1, text.n, out), text.n);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(as_prv_file_open(path, &file, &err), 0);
    for (uint64_t i = 0; i < lines_n; i++) {
        bad_n += made[i].is_bad;
        if (made[i].is_bad)
            continue;
        assert_int_equal(as_prv_file_next(file, &line, &err), 1);
        check_line(&made[i], line, unit_ns);
    }
    assert_int_equal(as_prv_file_next(file, &line, &err), 0);
    assert_true(bad_n > lines_n / 100);
    assert_int_equal(as_prv_file_bad(file).lines_n, bad_n);
    as_prv_file_close(&file);
    as_str_fini(&text);
    free(made);
    remove(path);
}

/* More than the reader holds at once. */
static void test_nanoseconds(void **state)
{
    (void)state;
    check_file("_ns", 1, 17, 40000);
}

static void test_other_units(void **state)
{
    (void)state;
    check_file("_us", 1000, 14, 5000);
    check_file("", 1000, 13, 5000);
    check_file("_ms", 1000000, 11, 5000);
}

/* The bytes around a line say nothing; a line without its end is not read. */
static void test_one_line(void **state)
{
    static const struct {
        const char *text;
        size_t read_b;
    } lines[] = {
        {"1:7:1:2:1:10:20:3\n", 18},
        {"1:7:1:2:1:10:20:3", 0},
        {"1:7:1:2:1:10:9:3\n", 0},
        {"1:7:1:2:1:10:20\n", 0},
        {"1:7:1:2:1:10:20:3:4\n", 0},
        {"1:7:1:3:1:10:20:3\n", 0},
        {"2:7:1:2:1:10:50000001:3\n", 24},
        {"2:7:1:2:1:10:50000001\n", 0},
        {"2:7:1:2:1:10:50000001:3:4\n", 0},
        {"2:7:1:2:1:10:50000001:\n", 0},
        {"2::1:2:1:10:50000001:3\n", 0},
        {":7:1:2:1:10:50000001:3:2\n", 0},
        {"22:7:1:2:1:10:50000001:3\n", 0},
        {"2:7:1:2:1:10:5000/001:3\n", 0},
        {"2:7:1:2:1:10:5000000l:3\n", 0},
        {"3:7:1:2:1:10:11:7:1:2:1:12:13:8:9\n", 34},
        {"3:7:1:2:1:10:11:7:1:2:2:12:13:8:9\n", 0},
        {"4:7:1:2:1:10:11:7:1:2:1:12:13:8:9\n", 0},
    };
    struct as_prv_quick *quick = calloc(1, sizeof *quick);
    struct as_prv_line_read line = {0};
    char room[256];
    (void)state;
    assert_non_null(quick);
    as_prv_quick_init(quick, 1);
    as_prv_quick_note(quick, as_view_of("7:1:2:1"), 1, 7);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const struct as_view text = {room + AS_LINES_MARGIN_B, strlen(lines[i].text)};
        memset(room, i % 2 ? '9' : '\n', sizeof room);
        memcpy(room + AS_LINES_MARGIN_B, lines[i].text, text.n);
        assert_int_equal(as_prv_quick_line(quick, text, &line), lines[i].read_b);
    }
    as_vec_fini(&line.value);
    free(quick);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_line),
        cmocka_unit_test(test_nanoseconds),
        cmocka_unit_test(test_other_units),
    };
    return cmocka_run_group_tests_name("exchange/prv-quick", tests, NULL, NULL);
}
