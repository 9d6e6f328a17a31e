/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table by several processes, on a made-up core: each form has one line, from any process.
 * Measurements are kept if a process dies or is asked to stop.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isa/encode.h"
#include "measure/workers.h"

#define FORMS 9
static const char *const form_text[FORMS] = {"add rax,rcx",  "and rax,rcx", "xor rax,rcx",
                                             "sub rax,rcx",  "or rax,rcx",  "cmp rax,rcx",
                                             "test rax,rcx", "adc rax,rcx", "imul rax,rcx"};
static const char *const form_key[FORMS] = {"add", "and",  "xor", "sub", "or",
                                            "cmp", "test", "adc", "imul"};

static const uint8_t last_form[] = {0x0f, 0xaf}; /* imul */
static volatile int stop;
static bool someone_dies, someone_stops;

static void a_cycle_each(const uint8_t *bytes, size_t n, struct as_cycles *out)
{
    *out = (struct as_cycles){.status = AS_METER_OK, .cycles = 8};
    if (someone_dies && memmem(bytes, n, last_form, sizeof last_form))
        raise(SIGKILL);
    if (someone_stops)
        stop = 1;
}

/* Measures the forms by so many processes; returns the lines. */
static char *lines_by(size_t workers, int *rc, struct as_table_work *w, struct as_error *err)
{
    static const struct as_instruction_options options = {
        .code_n = 1, .progress_fd = -1, .stop = &stop};
    static const int cpu[] = {0};
    static char text[8192];
    uint8_t bytes[256];
    size_t n = 0;
    FILE *lines = tmpfile();

    assert_non_null(lines);
    for (size_t i = 0; i < FORMS; i++)
        n += as_encode_text(form_text[i], bytes + n);
    *w = (struct as_table_work){.made_up = a_cycle_each, .options = &options, .lines = lines};
    assert_int_equal(as_forms_init(&w->forms), 0);
    assert_int_equal(as_forms_of_code(&w->forms, bytes, n), 0);
    *rc = as_table_forms_on(w, workers, cpu, 1, err);
    as_forms_fini(&w->forms);
    rewind(lines);
    text[fread(text, 1, sizeof text - 1, lines)] = 0;
    fclose(lines);
    return text;
}

static unsigned lines_of(const char *text, const char *key)
{
    char begin[32];
    unsigned n = 0;

    snprintf(begin, sizeof begin, "form\t%s ", key);
    for (const char *at = text; (at = strstr(at, begin)); at++)
        n++;
    return n;
}

static unsigned lines_in(const char *text)
{
    unsigned n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void each_form_has_one_line(void **state)
{
    struct as_table_work w;
    struct as_error err;
    int rc;

    (void)state;
    for (size_t workers = 1; workers <= 8; workers++) {
        const char *text = lines_by(workers, &rc, &w, &err);
        assert_int_equal(rc, 0);
        assert_int_equal(lines_in(text), FORMS);
        for (size_t i = 0; i < FORMS; i++)
            assert_int_equal(lines_of(text, form_key[i]), 1);
        assert_int_equal(w.measured_n, FORMS);
        assert_int_equal(w.refused_n + w.noisy_n, 0);
    }
}

static void who_dies_is_said_and_loses_one_form(void **state)
{
    struct as_table_work w;
    struct as_error err = {0};
    int rc;

    (void)state;
    someone_dies = true;
    const char *text = lines_by(2, &rc, &w, &err);
    someone_dies = false;
    assert_int_equal(rc, AS_ERR_IO);
    assert_non_null(strstr(err.text, "was ended"));
    assert_int_equal(lines_in(text), FORMS - 1);
    assert_true(text[strlen(text) - 1] == '\n'); /* whole lines alone */
}

static void a_wish_to_stop_is_no_error(void **state)
{
    struct as_table_work w;
    struct as_error err;
    int rc;

    (void)state;
    someone_stops = true;
    const char *text = lines_by(3, &rc, &w, &err);
    someone_stops = false;
    stop = 0;
    assert_int_equal(rc, 0);
    assert_int_equal(lines_in(text), 3); /* each ended its form */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_has_one_line),
        cmocka_unit_test(who_dies_is_said_and_loses_one_form),
        cmocka_unit_test(a_wish_to_stop_is_no_error),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
