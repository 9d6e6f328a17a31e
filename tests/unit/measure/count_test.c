/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting instructions of code that is known to the byte, and measuring work in two lengths. How
 * long anything takes is never judged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "measure/measure.h"

/* mov eax,edi; again: dec eax (2 bytes); jnz again; ret */
static const uint8_t loop_code[] = {0x89, 0xf8, 0xff, 0xc8, 0x75, 0xfc, 0xc3};

struct counted_loop {
    uint8_t *code;
    int shorter, longer;
};

static void run_loop(void *context, bool longer, unsigned repeats)
{
    const struct counted_loop *loop = context;
    void (*function)(int);
    memcpy(&function, &loop->code, sizeof function);
    for (unsigned i = 0; i < repeats; i++)
        function(longer ? loop->longer : loop->shorter);
}

static void make_loop(struct counted_loop *loop, int shorter, int longer)
{
    *loop = (struct counted_loop){.shorter = shorter, .longer = longer};
    loop->code =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(loop->code != MAP_FAILED);
    memcpy(loop->code, loop_code, sizeof loop_code);
}

static void every_execution_is_counted(void **state)
{
    struct counted_loop loop;
    const struct as_meter_work work = {run_loop, &loop, 1};
    uint32_t count[sizeof loop_code];
    enum as_meter_status status;
    struct as_error err;
    (void)state;
    make_loop(&loop, 7, 1000);
    for (int longer = 0; longer < 2; longer++) {
        const uint32_t n = longer ? 1000 : 7;
        const uint32_t expected[sizeof loop_code] = {1, 0, n, 0, n, 0, 1};
        assert_int_equal(as_meter_count(&work, longer, (uint64_t)(uintptr_t)loop.code,
                                        sizeof loop_code, count, &status, &err),
                         0);
        assert_int_equal(status, AS_METER_OK);
        assert_memory_equal(count, expected, sizeof expected);
    }
    munmap(loop.code, 4096);
}

static void faults_are_said(void **state)
{
    struct counted_loop loop;
    const struct as_meter_work work = {run_loop, &loop, 1};
    const struct as_meter_options options = {.cpu = -1, .samples = 16, .patience_ms = 1500};
    struct as_meter *meter;
    struct as_cycles cycles;
    uint32_t count[sizeof loop_code];
    enum as_meter_status status;
    struct as_error err;
    (void)state;
    make_loop(&loop, 2, 3);
    memcpy(loop.code, "\x0f\x0b", 2); /* ud2 */
    assert_int_equal(as_meter_count(&work, false, (uint64_t)(uintptr_t)loop.code, sizeof loop_code,
                                    count, &status, &err),
                     0);
    assert_int_equal(status, AS_METER_FAULTING);
    assert_int_equal(as_meter_new(&options, &meter, &err), 0);
    assert_int_equal(as_meter_work(meter, &work, &cycles, &err), 0);
    assert_int_equal(cycles.status, AS_METER_UNSUPPORTED);
    memcpy(loop.code, "\x8b\x04\x25\x00\x00\x00\x00\xc3", 8); /* mov eax,[0] */
    assert_int_equal(as_meter_work(meter, &work, &cycles, &err), 0);
    assert_int_equal(cycles.status, AS_METER_FAULTING);
    as_meter_free(&meter);
    munmap(loop.code, 4096);
}

static void work_is_measured_by_its_span(void **state)
{
    struct counted_loop loop;
    struct as_meter_work work = {run_loop, &loop, 3000};
    const struct as_meter_options options = {.cpu = -1, .samples = 16, .patience_ms = 3000};
    struct as_meter *meter;
    struct as_cycles cycles, halves;
    struct as_error err;
    (void)state;
    make_loop(&loop, 1000, 4000);
    assert_int_equal(as_meter_new(&options, &meter, &err), 0);
    assert_int_equal(as_meter_work(meter, &work, &cycles, &err), 0);
    work.span *= 1000; /* so many more iterations: a thousandth of the cycles each */
    assert_int_equal(as_meter_work(meter, &work, &halves, &err), 0);
    as_meter_free(&meter);
    munmap(loop.code, 4096);
    if (cycles.status == AS_METER_TIMEOUT || halves.status == AS_METER_TIMEOUT) {
        print_message("# skipped: a machine so busy that nothing came to its end\n");
        skip();
    }
    assert_true(cycles.cycles > 0 && cycles.core_per_tick > 0 && cycles.low <= cycles.high);
    assert_true(halves.cycles < cycles.cycles / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_execution_is_counted),
        cmocka_unit_test(faults_are_said),
        cmocka_unit_test(work_is_measured_by_its_span),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
