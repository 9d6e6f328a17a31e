/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repeated measurements on a made-up core. A block is measured until two of its figures agree. A
 * disturbed form is measured again after all others. Also kernels of nops with full lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/internal.h"
#include "measure/mixture.h"
#include "measure/table.h"

/* ---- A block --------------------------------------------------------------------------------- */

static double series[8];
static unsigned asked;

static void next_of_series(const uint8_t *bytes, size_t n, struct as_cycles *out)
{
    (void)bytes, (void)n;
    assert_true(asked < sizeof series / sizeof *series);
    const double cycles = series[asked++];
    *out = (struct as_cycles){.status = cycles < 0 ? AS_METER_NOISY : AS_METER_OK,
                              .cycles = cycles < 0 ? -cycles : cycles};
}

static double settled(bool is_chain, double a, double b, double c, double d)
{
    struct as_table_work w = {.made_up = next_of_series};
    struct as_cycles out;
    struct as_error err;

    memcpy(series, (const double[]){a, b, c, d, 1e9}, 5 * sizeof *series);
    asked = 0;
    if (is_chain) {
        assert_int_equal(as_table_chain(&w, NULL, 0, &out, &err), 0);
    } else {
        assert_int_equal(as_table_cycles(&w, NULL, 0, &out, &err), 0);
        assert_int_equal(as_table_settle(&w, NULL, 0, &out, &err), 0);
    }
    return out.cycles;
}

static void two_that_agree_are_enough(void **state)
{
    (void)state;
    assert_true(settled(false, 8.1, 8.12, 0, 0) == 8.1);
    assert_int_equal(asked, 2);
    assert_true(settled(false, 46.7, 8.1, 8.12, 0) == 8.1); /* the gate missed a disturbance of the
                                                             * first */
    assert_int_equal(asked, 3);
    assert_true(settled(false, 8.1, 46.7, 8.09, 0) == 8.09);
    assert_int_equal(asked, 3);
    assert_true(settled(false, 9, 8, 7, 6) == 6); /* never: the lowest */
    assert_int_equal(asked, 4);
    assert_true(settled(false, -8, 9, 9.01, 0) == 9); /* a calm one before one that was not */
}

static void chains_are_whole_or_seen_again(void **state)
{
    (void)state;
    assert_true(settled(true, 4.02, 0, 0, 0) == 4.02);
    assert_int_equal(asked, 1);
    assert_true(settled(true, 3.26, 3, 3.01, 0) == 3);
    assert_true(settled(true, 1.5, 1.5, 0, 0) == 1.5);
    assert_int_equal(asked, 2);
}

/* ---- Forms ----------------------------------------------------------------------------------- */

static unsigned noisy_from, noisy_n, blocks_n;

/* A cycle each; some blocks in a row while others used the core. */
static void disturbed_for_a_while(const uint8_t *bytes, size_t n, struct as_cycles *out)
{
    const unsigned block = blocks_n++;

    (void)bytes, (void)n;
    *out = (struct as_cycles){.status = block - noisy_from < noisy_n ? AS_METER_NOISY : AS_METER_OK,
                              .cycles = 8};
}

/* Lines of the forms of some code, as they are written. */
static void measure_code(char *text, size_t text_b, struct as_table_work *w)
{
    static const struct as_instruction_options options = {.code_n = 1, .progress_fd = -1};
    uint8_t bytes[64];
    struct as_error err;
    size_t n = as_encode_text("add rax,rcx", bytes);

    n += as_encode_text("and rax,rcx", bytes + n);
    n += as_encode_text("xor rax,rcx", bytes + n);
    *w = (struct as_table_work){.made_up = disturbed_for_a_while, .options = &options};
    w->lines = fmemopen(text, text_b, "w");
    blocks_n = 0;
    assert_int_equal(as_forms_init(&w->forms), 0);
    assert_int_equal(as_forms_of_code(&w->forms, bytes, n), 0);
    assert_int_equal(as_table_forms(w, &err), 0);
    fclose(w->lines);
    as_forms_fini(&w->forms);
}

static void who_was_disturbed_comes_last(void **state)
{
    struct as_table_work w;
    char text[1024];

    (void)state;
    noisy_from = 0, noisy_n = 0;
    measure_code(text, sizeof text, &w);
    assert_true(strstr(text, "add") < strstr(text, "and") &&
                strstr(text, "and") < strstr(text, "xor"));
    const unsigned calm_n = blocks_n;
    noisy_n = 1; /* the first block of the first form */
    measure_code(text, sizeof text, &w);
    assert_true(strstr(text, "and") < strstr(text, "xor") &&
                strstr(text, "xor") < strstr(text, "add"));
    assert_null(strstr(text, "noisy"));
    assert_int_equal(blocks_n, calm_n + 1); /* nothing more was measured of it */
    assert_int_equal(w.measured_n, 3);
    assert_int_equal(w.noisy_n, 0);
}

static void who_is_never_calm_is_said(void **state)
{
    struct as_table_work w;
    char text[1024];

    (void)state;
    noisy_from = 0, noisy_n = 1000;
    measure_code(text, sizeof text, &w);
    assert_int_equal(w.measured_n, 3);
    assert_int_equal(w.noisy_n, 3);
    assert_non_null(strstr(text, "form\tadd r64,r64\t"));
    assert_non_null(strstr(text, "noisy"));
}

/* ---- Kernels and CPUs ------------------------------------------------------------------------ */

/* Lines of eight: microcode that begins a line of its own leaves none of them half empty. */
static void lines_of_nops_are_full(void **state)
{
    struct as_mixture m = {.probe = AS_PROBE_SLOTS, .repeats = 2, .n = 4};
    unsigned can_n = 0;

    (void)state;
    for (m.nop = 0; m.nop < AS_MIXTURE_IDLE; m.nop++) {
        m.fills_lines = false;
        const unsigned with_instances = as_mixture_nops(&m) + m.n;
        m.fills_lines = as_mixture_can_fill(&m);
        can_n += m.fills_lines;
        assert_int_equal(with_instances % 8, 0);
        if (m.fills_lines)
            assert_int_equal(as_mixture_nops(&m) / m.n % 8, 0);
    }
    assert_true(can_n >= 1);
}

/* Idioms count slots where nops take none: all idioms, with any prefixes. */
static void idioms_fill_slots_where_nops_do_not(void **state)
{
    struct as_mixture m = {.probe = AS_PROBE_SLOTS, .repeats = 1};
    const struct as_probe_rates fused = {.nops_fuse = true}, apart = {0};
    uint8_t bytes[AS_MIXTURE_MOST_B];
    unsigned first, end;

    (void)state;
    as_mixture_kinds(&apart, &first, &end);
    assert_int_equal(first, 0);
    assert_int_equal(end, AS_MIXTURE_NOPS);
    as_mixture_kinds(&fused, &first, &end);
    assert_int_equal(end - first, AS_MIXTURE_IDLE - AS_MIXTURE_NOPS);
    for (m.nop = first; m.nop < end; m.nop++) {
        struct as_code code;
        struct as_error err;
        const size_t size_b = as_mixture_build(&m, bytes);
        assert_int_equal(as_decode(bytes, size_b, 0, &code, &err), 0);
        assert_int_equal(code.n, as_mixture_nops(&m));
        for (size_t i = 0; i < code.n; i++)
            assert_true(code.insn[i].bits & AS_INSN_IDIOM);
        as_code_free(&code);
    }
}

static void more_refused_than_not_is_worth_a_look(void **state)
{
    static struct as_sample_series samples = {.n = 48};

    (void)state;
    for (size_t i = 0; i < 20; i++)
        samples.clean[i] = true;
    assert_false(as_series_is_disturbed(&samples, 20));
    assert_true(as_series_is_disturbed(&samples, 21));
    samples.n = 4;
    assert_false(as_series_is_disturbed(&samples, 6)); /* too few to say */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_that_agree_are_enough),
        cmocka_unit_test(chains_are_whole_or_seen_again),
        cmocka_unit_test(who_was_disturbed_comes_last),
        cmocka_unit_test(who_is_never_calm_is_said),
        cmocka_unit_test(lines_of_nops_are_full),
        cmocka_unit_test(idioms_fill_slots_where_nops_do_not),
        cmocka_unit_test(more_refused_than_not_is_worth_a_look),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
