/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of devices, by readings of a clock that the test makes up. */
#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "trace/devices.h"

#define READINGS_N 200

/* Each reading lies anywhere within its width. */
static void make_readings(struct as_device_reading *reading, int64_t offset_ns, double drift)
{
    for (int i = 0; i < READINGS_N; i++) {
        const int64_t device_ns = 1000000000 + i * INT64_C(50000000);
        const int64_t width_ns = 200 + 37 * (i % 11);
        const int64_t off_ns = rand() % (2 * width_ns + 1) - width_ns;
        const double drifted = drift * (double)(device_ns - 1000000000);
        reading[i] = (struct as_device_reading){
            device_ns, device_ns + offset_ns + (int64_t)drifted + off_ns, width_ns};
    }
}

static void test_offset(void **state)
{
    struct as_device_reading reading[READINGS_N];
    (void)state;
    make_readings(reading, -123456789, 0);
    const struct as_device_clock clock = as_device_clock_of(reading, READINGS_N);
    assert_true(clock.drift == 0);
    assert_true(clock.error_ns <= 200); /* the narrowest */
    for (int i = 0; i < READINGS_N; i++) {
        const int64_t truth_ns = reading[i].device_ns - 123456789;
        assert_true(llabs(as_device_clock_at(&clock, reading[i].device_ns) - truth_ns) <=
                    clock.error_ns);
    }
}

/* 50 us a second: no offset fits all readings of ten seconds. */
static void test_drift(void **state)
{
    struct as_device_reading reading[READINGS_N];
    (void)state;
    make_readings(reading, 5000, 5e-5);
    const struct as_device_clock clock = as_device_clock_of(reading, READINGS_N);
    assert_true(clock.drift > 4.9e-5 && clock.drift < 5.1e-5);
    for (int i = 0; i < READINGS_N; i++) {
        const double drifted = 5e-5 * (double)(reading[i].device_ns - 1000000000);
        const int64_t truth_ns = reading[i].device_ns + 5000 + (int64_t)drifted;
        assert_true(llabs(as_device_clock_at(&clock, reading[i].device_ns) - truth_ns) <=
                    clock.error_ns + 1);
    }
}

/* One reading, and readings that contradict each other wildly. */
static void test_poor(void **state)
{
    const struct as_device_reading one = {100, 700, 30};
    const struct as_device_reading wild[] = {{100, 700, 1}, {101, INT64_MAX / 8, 1}};
    (void)state;
    const struct as_device_clock clock = as_device_clock_of(&one, 1);
    assert_int_equal(as_device_clock_at(&clock, 100), 700);
    assert_int_equal(clock.error_ns, 30);
    const struct as_device_clock other = as_device_clock_of(wild, 2);
    assert_true(other.drift == 0);
    assert_true(other.error_ns > INT64_MAX / 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_offset), cmocka_unit_test(test_drift),
                                       cmocka_unit_test(test_poor)};
    return cmocka_run_group_tests_name("trace/devices", tests, NULL, NULL);
}
