/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels do the work of their figures: every byte of an array, the right sums, the whole cycle of
 * pointers. Tests every width that this CPU has. Also crews: every member works on its part.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"
#include "measure/crew.h"
#include "measure/kernels.h"

#define N       (4 * AS_STREAM_BLOCK_B)
#define DOUBLES (N / sizeof(double))

static double *array[3];

static int set_up(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        array[k] = aligned_alloc(64, N + 128);
        if (!array[k])
            return -1;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 3; k++)
        free(array[k]);
    return 0;
}

static void fill_arrays(void)
{
    for (size_t i = 0; i < DOUBLES + 16; i++)
        for (unsigned k = 0; k < 3; k++)
            array[k][i] = (double)((k + 1) * 1000 + i);
}

/* Returns the value of the destination after a stream. */
static double expected(enum as_stream_kernel stream, size_t i)
{
    const double a = 1000 + (double)i, b = 2000 + (double)i, c = 3000 + (double)i;

    switch (stream) {
    case AS_STREAM_READ:
        return a;
    case AS_STREAM_WRITE:
        return 3;
    case AS_STREAM_COPY:
        return b;
    default:
        return b + 3 * c;
    }
}

static void check_stream(const struct as_kernel_host *host, enum as_stream_kernel stream,
                         bool nontemporal)
{
    struct as_kernel kernel;
    struct as_error err;

    fill_arrays();
    assert_int_equal(as_kernel_stream(host, stream, nontemporal, &kernel, &err), 0);
    kernel.run(array[0], array[1], array[2], N, 2);
    for (size_t i = 0; i < DOUBLES; i++)
        if (array[0][i] != expected(stream, i))
            fail_msg("%s, width %d: [%zu] is %f", as_stream_name(stream), host->widest, i,
                     array[0][i]);
    assert_true(array[0][DOUBLES] == 1000 + (double)DOUBLES); /* not a byte behind it */
    as_kernel_close(&kernel);
}

static void streams_move_what_they_say(void **state)
{
    struct as_kernel_host host;

    (void)state;
    as_kernel_host_read(&host);
    for (enum as_width widest = host.widest; widest >= AS_WIDTH_128; widest--) {
        struct as_kernel_host narrower = host;
        narrower.widest = widest;
        for (unsigned stream = 0; stream < AS_STREAMS; stream++) {
            check_stream(&narrower, (enum as_stream_kernel)stream, false);
            check_stream(&narrower, (enum as_stream_kernel)stream, true);
        }
        narrower.fma = false;
        check_stream(&narrower, AS_STREAM_TRIAD, false);
    }
    /* The encodings for CPUs without AVX, which every other can run too. */
    struct as_kernel_host old = {.widest = AS_WIDTH_128};
    for (unsigned stream = 0; stream < AS_STREAMS; stream++)
        check_stream(&old, (enum as_stream_kernel)stream, stream == AS_STREAM_WRITE);
}

static void pointers_are_followed(void **state)
{
    struct as_kernel kernel;
    struct as_error err;
    void **cell = (void **)array[0], *cursor = &cell[0];

    (void)state;
    /* A cycle of 100: 64 steps a pass. */
    for (size_t i = 0; i < 100; i++)
        cell[i] = &cell[(i + 7) % 100];
    assert_int_equal(as_kernel_chase(&kernel, &err), 0);
    kernel.run(NULL, &cursor, NULL, 0, 3);
    assert_ptr_equal(cursor, &cell[3 * 64 * 7 % 100]);
    as_kernel_close(&kernel);
}

static void gathers_and_strides_stay_inside(void **state)
{
    struct as_kernel_host host;
    struct as_kernel kernel;
    struct as_error err;
    uint32_t index[64];

    (void)state;
    as_kernel_host_read(&host);
    for (uint32_t i = 0; i < 64; i++)
        index[i] = (uint32_t)(DOUBLES - 1 - i);
    for (int gathers = 0; gathers <= host.avx2; gathers++) {
        assert_int_equal(as_kernel_gather(&host, gathers, &kernel, &err), 0);
        kernel.run(array[0], index, NULL, 64, 2);
        as_kernel_close(&kernel);
    }
    assert_int_equal(as_kernel_stride(64, &kernel, &err), 0);
    kernel.run(array[0], NULL, NULL, N, 2);
    as_kernel_close(&kernel);
    host.avx2 = false;
    assert_int_equal(as_kernel_gather(&host, true, &kernel, &err), AS_ERR_UNSUPPORTED);
}

/* Multiplications of rax by itself up to the end of the function. */
static unsigned squares_in(const struct as_kernel *kernel)
{
    struct as_code code;
    struct as_error err;
    unsigned n = 0;

    assert_int_equal(as_decode((const uint8_t *)kernel->run, 4096, 0, &code, &err), 0);
    for (size_t i = 0; i < code.n; i++) {
        const struct as_form *form = as_form_get(code.insn[i].form);
        if (form->insn_class == AS_CLASS_RETURN)
            break;
        n += strcmp(form->mnemonic, "imul") == 0 && code.insn[i].reg[0] == code.insn[i].reg[1];
    }
    as_code_free(&code);
    return n;
}

static void arithmetic_runs(void **state)
{
    struct as_kernel_host host;
    struct as_kernel kernel;
    struct as_error err;
    double operations;
    unsigned n = 0;

    (void)state;
    as_kernel_host_read(&host);
    for (unsigned operation = 0; operation < AS_OPERATIONS; operation++)
        for (unsigned number = 0; number < AS_NUMBERS; number++)
            for (unsigned width = 0; width < AS_WIDTHS; width++) {
                const struct as_arithmetic what = {(enum as_operation)operation,
                                                   (enum as_number_type)number,
                                                   (enum as_width)width};
                if (!as_arithmetic_exists(&host, &what))
                    continue;
                const unsigned beside = as_arithmetic_is_general(&what) ? 0 : 37;
                if (as_kernel_arithmetic(&host, &what, beside, &operations, &kernel, &err) < 0)
                    fail_msg("%s", err.text);
                kernel.run(NULL, NULL, NULL, 0, 2);
                if (beside)
                    assert_int_equal(squares_in(&kernel), beside);
                as_kernel_close(&kernel);
                assert_true(operations >= 14);
                n++;
            }
    assert_true(n >= 12); /* scalar and SSE are there on every x86-64 */
    const struct as_arithmetic fma = {AS_OPERATION_FMA, AS_NUMBER_F64, AS_WIDTH_512};
    host.widest = AS_WIDTH_256;
    assert_false(as_arithmetic_exists(&host, &fma));
    const struct as_arithmetic none = {AS_OPERATION_FMA, AS_NUMBER_I32, AS_WIDTH_128};
    assert_false(as_arithmetic_exists(&host, &none));
}

static void operations_are_counted(void **state)
{
    const struct as_kernel_host host = {.widest = AS_WIDTH_128};
    const struct as_arithmetic add = {AS_OPERATION_ADD, AS_NUMBER_F32, AS_WIDTH_128};
    const struct as_arithmetic scalar = {AS_OPERATION_ADD, AS_NUMBER_I64, AS_WIDTH_SCALAR};
    struct as_kernel kernel;
    struct as_error err;
    double operations;

    (void)state;
    assert_int_equal(as_kernel_arithmetic(&host, &add, 0, &operations, &kernel, &err), 0);
    assert_true(operations == 4 * 14 * 4); /* four lanes, fourteen chains, four times unrolled */
    as_kernel_close(&kernel);
    assert_int_equal(as_kernel_arithmetic(&host, &scalar, 0, &operations, &kernel, &err), 0);
    assert_true(operations == 64);
    as_kernel_close(&kernel);
}

/* ---- Crews ----------------------------------------------------------------------------------- */

static void count_call(void *a, void *b, void *c, size_t n, size_t passes)
{
    (void)b;
    (void)c;
    *(size_t *)a += n * passes;
}

static void mark_part(struct as_crew_part *part)
{
    *(size_t *)part->a = 1000;
}

static void every_member_works(void **state)
{
    struct as_crew_part part[3];
    struct as_crew *crew;
    struct as_error err;
    size_t sum[3];
    cpu_set_t set;
    int first = 0;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    while (!CPU_ISSET((size_t)first, &set))
        first++;
    for (size_t i = 0; i < 3; i++)
        part[i] = (struct as_crew_part){.cpu = first, .a = &sum[i], .n = i + 1};
    assert_int_equal(as_crew_new(part, 3, &crew, &err), 0);
    assert_int_equal(as_crew_size(crew), 3);
    as_crew_fill(crew, mark_part);
    as_crew_passes(crew, 10);
    assert_true(as_crew_run(crew, count_call) > 0);
    assert_true(as_crew_run(crew, count_call) > 0);
    as_crew_free(&crew);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(sum[i], 1000 + 2 * 10 * (i + 1));
}

static void rooms_are_aligned(void **state)
{
    struct as_room room;

    (void)state;
    assert_true(as_room_open(&room, 3 << 20, AS_PAGES_SMALL));
    assert_int_equal((uintptr_t)room.at % (2 << 20), 0);
    assert_true(room.size_b >= 3 << 20);
    memset(room.at, 1, 3 << 20);
    as_room_look(&room);
    assert_false(room.huge);
    as_room_close(&room);
    assert_null(room.at);
    assert_false(as_room_open(&room, (size_t)1 << 60, AS_PAGES_ANY));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(streams_move_what_they_say, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pointers_are_followed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gathers_and_strides_stay_inside, set_up, tear_down),
        cmocka_unit_test(arithmetic_runs),
        cmocka_unit_test(operations_are_counted),
        cmocka_unit_test(every_member_works),
        cmocka_unit_test(rooms_are_aligned),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
