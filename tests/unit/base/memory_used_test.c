/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of this process against memory that it maps and touches. */
#include <sys/mman.h>

#include "base/memory_used.h"
#include "unit.h"

/* A mapping counts at once as address space, and as resident memory only after it is written. */
static void test_mapping(void **state)
{
    const size_t n = (size_t)64 << 20, slack = (size_t)16 << 20;
    struct as_memory_used before, mapped, touched;
    (void)state;
    assert_true(as_memory_used(&before));
    assert_true(before.resident_b > 0 && before.resident_b <= before.mapped_b);
    char *bytes = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(bytes != MAP_FAILED);
    assert_true(as_memory_used(&mapped));
    assert_true(mapped.mapped_b >= before.mapped_b + n);
    memset(bytes, 1, n);
    assert_true(as_memory_used(&touched));
    munmap(bytes, n);
    assert_true(touched.resident_b + slack >= mapped.resident_b + n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mapping)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
