/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/stream_digest.h"

#define BYTES_N 200u

static uint64_t digest_parts(const uint8_t *bytes, size_t n, size_t part)
{
    struct as_stream_digest d;
    as_stream_digest_init(&d);
    for (size_t at = 0; at < n; at += part)
        as_stream_digest_add(&d, bytes + at, n - at < part ? n - at : part);
    return as_stream_digest_value(&d);
}

static void digest_does_not_depend_on_the_parts(void **state)
{
    uint8_t bytes[BYTES_N];
    (void)state;
    for (unsigned i = 0; i < BYTES_N; i++)
        bytes[i] = (uint8_t)(i * i + 3 * i);
    for (size_t n = 0; n <= BYTES_N; n++)
        for (size_t part = 1; part <= n; part++)
            assert_true(digest_parts(bytes, n, part) == digest_parts(bytes, n, n));
}

/* Each byte, and the length, change the digest; zeros at the end, too. */
static void digest_depends_on_all_bytes(void **state)
{
    uint8_t bytes[BYTES_N] = {0};
    (void)state;
    for (size_t n = 1; n <= BYTES_N; n++) {
        const uint64_t plain = digest_parts(bytes, n, n);
        assert_true(digest_parts(bytes, n - 1, n) != plain);
        for (size_t at = 0; at < n; at++) {
            bytes[at] ^= (uint8_t)(1u << at % 8);
            assert_true(digest_parts(bytes, n, 7) != plain);
            bytes[at] = 0;
        }
    }
}

/* A value in the middle of adding changes nothing. */
static void digest_goes_on_after_a_value(void **state)
{
    const uint8_t bytes[50] = {1, 2, 3};
    struct as_stream_digest d;
    (void)state;
    as_stream_digest_init(&d);
    as_stream_digest_add(&d, bytes, 37);
    assert_true(as_stream_digest_value(&d) == digest_parts(bytes, 37, 5));
    as_stream_digest_add(&d, bytes + 37, 13);
    assert_true(as_stream_digest_value(&d) == digest_parts(bytes, 50, 50));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digest_does_not_depend_on_the_parts),
        cmocka_unit_test(digest_depends_on_all_bytes),
        cmocka_unit_test(digest_goes_on_after_a_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
