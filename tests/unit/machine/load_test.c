/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Usable CPUs and their load, and NUMA nodes, of recorded machines: trees of files as the kernel
 * shows them.
 */
#include "recorded.h"

#include <unistd.h>

#include "machine/machine.h"

static const char stat_text[] = "cpu  1 2 3 4\n"
                                "cpu0 100 10 20 1000 5 3 2 7 50 0\n"
                                "cpu1 1000000 0 0 0 0 0 0 1000000\n"
                                "cpu2 1 1 1 1 1 1 1 1\n"
                                "cpu3 200 0 0 9\n"
                                "intr 1\n";

/* CPUs 0, 2 and 3 of four. Busy are user, nice, system, irq and softirq; guest is part of user. */
static void test_affinity_and_load(void **state)
{
    const int64_t tick_ns = 1000000000 / sysconf(_SC_CLK_TCK);
    struct as_host_load load;

    (void)state;
    put("/proc/self/status", "Name:\tx\nCpus_allowed:\td\nCpus_allowed_list:\t0,2-3\n");
    put("/proc/stat", stat_text);
    put("/proc/pressure/cpu", "some avg10=1.00 avg60=2.00 avg300=3.00 total=1500\n"
                              "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n");
    as_host_load_read(root, 0, &load);
    assert_true(load.usable_cpu_n == 3);
    assert_true(load.quota_cpu_n == -1); /* an affinity does not count as a quota */
    assert_int_equal(load.busy_ns, (135 + 5 + 200) * tick_ns);
    assert_int_equal(load.steal_ns, (7 + 1) * tick_ns);
    assert_int_equal(load.pressure_ns, 1500000);
    as_host_load_read(root, 77, &load); /* no such process: its CPUs are unknown */
    assert_true(load.usable_cpu_n == -1 && load.busy_ns == -1 && load.steal_ns == -1);
}

/* The least quota of a group and those above it. */
static void test_quotas(void **state)
{
    struct as_host_load load;

    (void)state;
    put("/proc/77/status", "Cpus_allowed_list:\t0-7\n");
    put("/proc/77/cgroup", "0::/batch/job 12\n");
    put("/sys/fs/cgroup/batch/job 12/cpu.max", "max 100000\n");
    as_host_load_read(root, 77, &load);
    assert_true(load.usable_cpu_n == 8);
    put("/sys/fs/cgroup/batch/cpu.max", "150000 100000\n");
    as_host_load_read(root, 77, &load);
    assert_true(load.usable_cpu_n == 1.5 && load.quota_cpu_n == 1.5);
    put("/proc/77/status", "Cpus_allowed_list:\t3\n");
    as_host_load_read(root, 77, &load);
    assert_true(load.usable_cpu_n == 1 && load.quota_cpu_n == 1.5);
    put("/proc/77/status", "Cpus_allowed_list:\t0-7\n");
    put("/sys/fs/cgroup/cpu.max", "50000 100000\n");
    as_host_load_read(root, 77, &load);
    assert_true(load.usable_cpu_n == 0.5);
    put("/proc/78/status", "Cpus_allowed_list:\t0-7\n");
    put("/proc/78/cgroup", "5:cpuset:/a\n4:cpu,cpuacct:/b\n1:name=systemd:/c\n");
    put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "1\n"); /* another hierarchy's */
    put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "1\n");
    put("/sys/fs/cgroup/cpu/b/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/b/cpu.cfs_period_us", "100000\n");
    as_host_load_read(root, 78, &load);
    assert_true(load.usable_cpu_n == 8);
    put("/sys/fs/cgroup/cpu/b/cpu.cfs_quota_us", "200000\n");
    as_host_load_read(root, 78, &load);
    assert_true(load.usable_cpu_n == 2);
}

static void test_numa(void **state)
{
    struct as_host *host;
    struct as_error err;

    (void)state;
    put_processors(8);
    put("/sys/devices/system/node/online", "0-1\n");
    put("/sys/devices/system/node/node0/cpumap", "0f\n");
    put("/sys/devices/system/node/node1/cpumap", "f0\n");
    assert_int_equal(as_host_read(root, &host, &err), 0);
    assert_int_equal(host->numa_n, 2);
    assert_int_equal(host->cpu_n, 8);
    assert_int_equal(host->core_n, 4);
    assert_int_equal(host->socket_n, 2);
    assert_int_equal(as_host_numa_of(host, 1), 0);
    assert_int_equal(as_host_numa_of(host, 4), 1);
    assert_int_equal(as_host_numa_of(host, 7), 1);
    assert_int_equal(as_host_numa_of(host, 8), -1);
    as_host_free(&host);
}

static uint64_t memory_of_nodes(void)
{
    struct as_host *host;
    struct as_error err;
    uint64_t all_b = 0;

    assert_int_equal(as_host_read(root, &host, &err), 0);
    for (size_t i = 0; i < host->topology->place_n; i++)
        if (host->topology->place[i].kind == AS_PLACE_NUMA)
            all_b += host->topology->place[i].size_b;
    as_host_free(&host);
    return all_b;
}

/* Memory that was added to a running machine: its only node may not know. */
static void test_memory_of_nodes(void **state)
{
    (void)state;
    put_processors(8);
    put("/proc/meminfo", "MemTotal: 4194304 kB\n");
    put("/sys/devices/system/node/online", "0\n");
    put("/sys/devices/system/node/node0/cpumap", "ff\n");
    put("/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: 1048576 kB\n");
    assert_int_equal(memory_of_nodes(), UINT64_C(4) << 30);
    put("/sys/devices/system/node/online", "0-1\n");
    put("/sys/devices/system/node/node0/cpumap", "0f\n");
    put("/sys/devices/system/node/node1/cpumap", "f0\n");
    put("/sys/devices/system/node/node1/meminfo", "Node 1 MemTotal: 1048576 kB\n");
    assert_int_equal(memory_of_nodes(), UINT64_C(2) << 30); /* the owner is unknown */
}

static void test_external_load(void **state)
{
    (void)state;
    const struct as_host_load before = {.usable_cpu_n = 2, .busy_ns = 1000, .steal_ns = 500};
    struct as_host_load after = {.usable_cpu_n = 2, .busy_ns = 2380001000, .steal_ns = 200000500};
    /* In a second 2.38 s on two CPUs, of which 1.2 were the caller's, and 0.2 stolen. */
    struct as_external_load load = as_external_load_of(&before, &after, 1000000000, 1200000000);
    assert_true(load.is_high && load.able_cpu_n == 2);
    assert_true(load.used_cpu_n > 1.3799 && load.used_cpu_n < 1.3801);
    /* All of it was the caller's. */
    after.steal_ns = before.steal_ns;
    load = as_external_load_of(&before, &after, 1000000000, 2380000000);
    assert_true(!load.is_high && load.used_cpu_n == 0);
    load = as_external_load_of(&before, &after, 1000000000, 1981000000);
    assert_false(load.is_high); /* 0.399 of 2 */
    load = as_external_load_of(&before, &after, 1000000000, 1979000000);
    assert_true(load.is_high);
    /* Ticks that were counted before and after: not more than there are CPUs. */
    load = as_external_load_of(&before, &after, 150000000, 0);
    assert_true(load.is_high && load.used_cpu_n == 2);
    /* Too short to tell, and not known. */
    load = as_external_load_of(&before, &after, 1000000, 0);
    assert_true(!load.is_high && load.used_cpu_n == -1);
    after.busy_ns = -1;
    load = as_external_load_of(&before, &after, 1000000000, 0);
    assert_true(!load.is_high && load.used_cpu_n == -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_affinity_and_load, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_quotas, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_numa, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory_of_nodes, set_up, tear_down),
        cmocka_unit_test(test_external_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
