/* SPDX-License-Identifier: Apache-2.0 */
/* CPUs and their NUMA nodes, from a machine's files to the text of a stream and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/numa.h"

static void test_there_and_back(void **state)
{
    char root[] = "/tmp/assay-numa-XXXXXX", command[1024], text[64], none[8];
    struct as_numa numa = {0};
    struct as_host *host;
    struct as_error err;

    (void)state;
    assert_non_null(mkdtemp(root));
    snprintf(
        command, sizeof command,
        "cd %s && mkdir -p sys/devices/system/node/node0 sys/devices/system/node/node1 && "
        "cd sys/devices/system/node && echo 0-1 > online && echo 33 > node0/cpumap && "
        "echo cc > node1/cpumap && mkdir ../cpu && cd ../cpu && echo 0-7 | tee online > possible "
        "&& for c in 0 1 2 3 4 5 6 7; do mkdir -p cpu$c/topology && "
        "echo $c > cpu$c/topology/core_id; printf %%x $((1 << c)) > cpu$c/topology/core_cpus; "
        "echo ff > cpu$c/topology/package_cpus; done",
        root);
    assert_int_equal(system(command), 0);
    assert_int_equal(as_host_read(root, &host, &err), 0);
    assert_true(as_numa_write(host, text, sizeof text));
    assert_string_equal(text, "0-1=0,2-3=1,4-5=0,6-7=1");
    assert_false(as_numa_write(host, none, sizeof none));
    assert_string_equal(none, "");
    as_host_free(&host);
    assert_int_equal(as_numa_read(&numa, text), 0);
    for (uint32_t cpu = 0; cpu < 8; cpu++)
        assert_int_equal(as_numa_of(&numa, cpu), cpu / 2 % 2);
    assert_int_equal(as_numa_of(&numa, 8), -1);
    as_vec_fini(&numa.node);
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

static void test_nonsense(void **state)
{
    static const char *const text[] = {"", "x", "3-1=0", "0-99999=1", "0-1=-2", "0-1=99999", "0-1"};

    (void)state;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        struct as_numa numa = {0};

        assert_int_equal(as_numa_read(&numa, text[i]), 0);
        assert_int_equal(as_numa_of(&numa, 0), -1);
        as_vec_fini(&numa.node);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_there_and_back),
                                       cmocka_unit_test(test_nonsense)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
