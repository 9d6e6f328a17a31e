/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Topologies: this machine against other sources of the system, recorded machines against their
 * construction. Also invalid descriptions, and names of micro-architectures.
 */
#include "recorded.h"

#include <sched.h>

#include "machine/machine.h"
#include "machine/pmu.h"
#include "machine/topology_wire.h"

static struct as_topology *topology;

static void load_machine(const char *name)
{
    char path[512];
    struct as_error err;

    snprintf(path, sizeof path, "%s/%s", MACHINES_DIR, name);
    if (as_topology_read(NULL, path, &topology, &err) < 0)
        fail_msg("%s", err.text);
}

static size_t count_kind(enum as_place_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < topology->place_n; i++)
        n += topology->place[i].kind == kind;
    return n;
}

/* A place stands behind the one it is in, and only the machine in itself. */
static void check_tree(void)
{
    assert_true(topology->place_n > 1);
    assert_int_equal(topology->place[0].kind, AS_PLACE_MACHINE);
    assert_int_equal(topology->place[0].parent, 0);
    for (size_t i = 1; i < topology->place_n; i++)
        assert_true(topology->place[i].parent < i);
    assert_int_equal((int64_t)count_kind(AS_PLACE_PU), topology->cpu_n);
}

static void this_machine(void **state)
{
    struct as_error err;
    cpu_set_t set;

    (void)state;
    assert_int_equal(as_topology_read(NULL, NULL, &topology, &err), 0);
    check_tree();
    assert_int_equal(topology->cpu_n, sysconf(_SC_NPROCESSORS_ONLN));
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    assert_int_equal(topology->usable_cpu_n, CPU_COUNT(&set));
    assert_true(topology->core_n >= 1 && topology->core_n <= topology->cpu_n);
    as_topology_free(&topology);
    assert_null(topology);
}

/* An affinity of one CPU leaves one usable CPU and one core to measure on. */
static void affinity_of_one(void **state)
{
    struct as_error err;
    cpu_set_t before, one;
    int first = 0, cpu[4];

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    while (!CPU_ISSET((size_t)first, &before))
        first++;
    CPU_ZERO(&one);
    CPU_SET((size_t)first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(as_topology_read(NULL, NULL, &topology, &err), 0);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(topology->usable_cpu_n, 1);
    assert_int_equal(topology->cpu_n,
                     sysconf(_SC_NPROCESSORS_ONLN)); /* the others are still there */
    assert_int_equal(as_topology_cores(topology, -1, cpu, 4), 1);
    assert_int_equal(cpu[0], first);
    as_topology_free(&topology);
}

static void the_environment_stays(void **state)
{
    struct as_error err;

    (void)state;
    setenv("HWLOC_PLUGINS_PATH", "/mine", 1);
    unsetenv("HWLOC_FSROOT");
    put_processors(4);
    assert_int_equal(as_topology_read(root, NULL, &topology, &err), 0);
    as_topology_free(&topology);
    assert_string_equal(getenv("HWLOC_PLUGINS_PATH"), "/mine");
    assert_null(getenv("HWLOC_FSROOT"));
    unsetenv("HWLOC_PLUGINS_PATH");
}

static void recorded_files(void **state)
{
    struct as_error err;
    unsigned sharers;

    (void)state;
    put_processors(8);
    put("/sys/devices/system/node/online", "0-1\n");
    put("/sys/devices/system/node/node0/cpumap", "0f\n");
    put("/sys/devices/system/node/node1/cpumap", "f0\n");
    put("/sys/devices/system/node/node1/meminfo", "Node 1 MemTotal:  1024 kB\n");
    for (unsigned cpu = 0; cpu < 8; cpu++) {
        put_cpu(cpu, "cache/index0/level", "1\n");
        put_cpu(cpu, "cache/index0/type", "Data\n");
        put_cpu(cpu, "cache/index0/size", "48K\n");
        put_cpu(cpu, "cache/index0/coherency_line_size", "64\n");
        put_cpu(cpu, "cache/index0/number_of_sets", "64\n");
        put_cpu(cpu, "cache/index0/physical_line_partition", "1\n");
        put_cpu(cpu, "cache/index0/shared_cpu_map", "%x\n", 3u << (cpu & ~1u));
    }
    assert_int_equal(as_topology_read(root, NULL, &topology, &err), 0);
    check_tree();
    assert_int_equal(topology->package_n, 2);
    assert_int_equal(topology->core_n, 4);
    assert_int_equal(topology->usable_cpu_n, -1);
    assert_int_equal(as_topology_cache_b(topology, 5, 1, &sharers), 48 << 10);
    assert_int_equal(sharers, 2);
    assert_int_equal(as_topology_cache_b(topology, 5, 2, &sharers), 0);
    assert_int_equal(sharers, 0);
    as_topology_free(&topology);
}

/* Two packages, of which the second may not be used. */
static void two_packages(void **state)
{
    int cpu[16];
    unsigned sharers;

    (void)state;
    load_machine("two-packages.xml");
    check_tree();
    assert_int_equal(topology->package_n, 2);
    assert_int_equal(topology->numa_n, 2);
    assert_int_equal(topology->core_n, 8);
    assert_int_equal(topology->cpu_n, 16);
    assert_int_equal(topology->core_kind_n, 1);
    assert_int_equal(as_topology_numa_of(topology, 7), 0);
    assert_int_equal(as_topology_numa_of(topology, 8), 1);
    assert_int_equal(as_topology_numa_of(topology, 16), -1);
    assert_int_equal(as_topology_cache_b(topology, 9, 3, &sharers), 25952256);
    assert_int_equal(sharers, 8);
    assert_int_equal(as_topology_cache_b(topology, 9, 2, &sharers), 1 << 20);
    assert_int_equal(sharers, 2);
    assert_int_equal(as_topology_cores(topology, -1, cpu, 16), 4);
    assert_int_equal(cpu[0], 0);
    assert_int_equal(cpu[3], 6);
    assert_int_equal(as_topology_cores(topology, 1, cpu, 16), 0);
    as_topology_free(&topology);
}

/* Two kinds of memory at each half, as Knights Landing has them; four threads a core. */
static void kinds_of_memory(void **state)
{
    size_t fast = 0;
    int cpu[8];

    (void)state;
    load_machine("flat-memory.xml");
    check_tree();
    assert_int_equal(topology->numa_n, 4);
    for (size_t i = 0; i < topology->place_n; i++) {
        const struct as_place *p = &topology->place[i];
        if (p->kind != AS_PLACE_NUMA)
            continue;
        assert_string_equal(p->memory, p->size_b == (uint64_t)8 << 30 ? "MCDRAM" : "DRAM");
        fast += p->size_b == (uint64_t)8 << 30;
    }
    assert_int_equal(fast, 2);
    assert_string_equal(topology->memory_most, "DRAM");
    assert_string_equal(topology->cpu_model, "Intel(R) Xeon Phi(TM) CPU 7250");
    /* The node where the kernel allocates, not that of the fast memory. */
    assert_int_equal(as_topology_numa_of(topology, 0), 0);
    assert_int_equal(as_topology_numa_of(topology, 31), 2);
    assert_int_equal(as_topology_cores(topology, 0, cpu, 8), 4);
    assert_int_equal(cpu[1], 4);
    as_topology_free(&topology);
}

static void kinds_of_cores(void **state)
{
    int fast = 0, slow = 0;

    (void)state;
    load_machine("hybrid.xml");
    check_tree();
    assert_int_equal(topology->core_kind_n, 2);
    for (size_t i = 0; i < topology->place_n; i++)
        if (topology->place[i].kind == AS_PLACE_CORE) {
            fast += topology->place[i].efficiency == 1;
            slow += topology->place[i].efficiency == 0;
        }
    assert_int_equal(fast, 2);
    assert_int_equal(slow, 2);
    as_topology_free(&topology);
}

static void what_is_no_machine(void **state)
{
    char path[256];
    struct as_error err;

    (void)state;
    assert_int_equal(as_topology_read(NULL, "/nonexistent.xml", &topology, &err), AS_ERR_NOT_FOUND);
    assert_null(topology);
    assert_int_equal(as_topology_read("/nonexistent", NULL, &topology, &err), AS_ERR_NOT_FOUND);
    put("/bad.xml", "<topology version=\"2.0\"><object type=\"Machine\"");
    snprintf(path, sizeof path, "%s/bad.xml", root);
    assert_int_equal(as_topology_read(NULL, path, &topology, &err), AS_ERR_CORRUPT);
    assert_true(has(err.text, path));
    put("/bad.xml", "");
    assert_int_equal(as_topology_read(NULL, path, &topology, &err), AS_ERR_CORRUPT);
}

/* A file on which hwloc 2.9 crashes; a later one may read it. */
static void library_crashes(void **state)
{
    struct as_error err;

    (void)state;
    if (as_topology_read(NULL, MACHINES_DIR "/crashes-hwloc.xml", &topology, &err) < 0)
        assert_int_equal(err.code, AS_ERR_CORRUPT);
    as_topology_free(&topology);
}

/* Every byte of an answer changed, and every length: refused, or a tree. */
static void answers_of_the_child(void **state)
{
    struct as_arena arena;
    struct as_str bytes = {0};
    struct as_topology read;

    (void)state;
    load_machine("hybrid.xml");
    as_topology_encode(&bytes, topology);
    for (size_t n = 0; n < bytes.n; n++) {
        as_arena_init(&arena);
        assert_false(as_topology_get(bytes.p, n, &arena, &read));
        as_arena_fini(&arena);
    }
    for (size_t at = 0; at < bytes.n; at++) {
        const char was = bytes.p[at];
        bytes.p[at] = (char)~was;
        as_arena_init(&arena);
        if (as_topology_get(bytes.p, bytes.n, &arena, &read))
            for (size_t i = 1; i < read.place_n; i++)
                assert_true(read.place[i].parent < i && read.place[i].kind < AS_PLACE_KINDS);
        as_arena_fini(&arena);
        bytes.p[at] = was;
    }
    as_arena_init(&arena);
    assert_true(as_topology_get(bytes.p, bytes.n, &arena, &read));
    assert_int_equal(read.place_n, topology->place_n);
    assert_int_equal(read.core_kind_n, 2);
    as_arena_fini(&arena);
    as_str_fini(&bytes);
    as_topology_free(&topology);
}

static void memory_runs_out(void **state)
{
    struct as_error err;

    (void)state;
    put_processors(4);
    for (int64_t after = 0; after < 3; after++) {
        as_alloc_fail_after(after);
        const int rc = as_topology_read(root, NULL, &topology, &err);
        as_alloc_fail_after(-1);
        if (rc == 0)
            as_topology_free(&topology);
        else
            assert_int_equal(rc, AS_ERR_NOMEM);
        assert_null(topology);
        assert_true(after > 0 || rc < 0);
    }
}

static void expect_name(const char *vendor, int family, int model, int stepping, const char *name)
{
    const char *words, *got = as_microarchitecture_of(vendor, family, model, stepping, &words);

    if ((got == NULL) != (name == NULL) || (got && strcmp(got, name) != 0))
        fail_msg("%s %d %d %d: %s, expected %s", vendor, family, model, stepping,
                 got ? got : "none", name ? name : "none");
    assert_true((got == NULL) == (words == NULL));
}

static void names_of_processors(void **state)
{
    (void)state;
    expect_name("GenuineIntel", 6, 15, 11, "merom");
    expect_name("GenuineIntel", 6, 0x1a, 5, "nehalem");
    expect_name("GenuineIntel", 6, 0x2d, 7, "sandybridge");
    expect_name("GenuineIntel", 6, 0x3e, 4, "ivybridge");
    expect_name("GenuineIntel", 6, 0x3f, 2, "haswell");
    expect_name("GenuineIntel", 6, 0x55, 4, "skylake-sp");
    expect_name("GenuineIntel", 6, 0x55, 7, "cascadelake");
    expect_name("GenuineIntel", 6, 0x55, 11, "cooperlake");
    expect_name("GenuineIntel", 6, 0x6a, 6, "icelake-sp");
    expect_name("GenuineIntel", 6, 0x8f, 8, "sapphirerapids");
    expect_name("GenuineIntel", 6, 0xcf, 2, "emeraldrapids");
    expect_name("GenuineIntel", 6, 0xad, 1, "graniterapids");
    expect_name("GenuineIntel", 6, 0x57, 1, "knightslanding");
    expect_name("AuthenticAMD", 0x17, 0x01, 2, "zen1");
    expect_name("AuthenticAMD", 0x17, 0x08, 2, "zen1plus");
    expect_name("AuthenticAMD", 0x17, 0x31, 0, "zen2");
    expect_name("AuthenticAMD", 0x19, 0x01, 1, "zen3");
    expect_name("AuthenticAMD", 0x19, 0x11, 1, "zen4");
    expect_name("AuthenticAMD", 0x19, 0x61, 2, "zen4");
    expect_name("AuthenticAMD", 0x1a, 0x02, 1, "zen5");
    expect_name("AuthenticAMD", 0x1a, 0x11, 0, "zen5");
    expect_name("GenuineIntel", 6, 1, 0, NULL);
    expect_name("GenuineIntel", 15, 4, 0, NULL); /* the Pentium 4 */
    expect_name("CentaurHauls", 6, 15, 0, NULL);
    expect_name(NULL, 6, 15, 0, NULL);
    expect_name("AuthenticAMD", -1, -1, -1, NULL);
}

/* ---- Counters -------------------------------------------------------------------------------- */

static void expect_words(int answer, int paranoid, const char *hypervisor, const char *part)
{
    char text[128];

    as_pmu_words(answer, paranoid, hypervisor, 6, text, sizeof text);
    if (!has(text, part))
        fail_msg("%s, expected %s", text, part);
}

static void reasons_for_no_counters(void **state)
{
    char text[128];

    (void)state;
    expect_words(0, 2, NULL, "available, 6 general counters");
    expect_words(ENOENT, 2, "KVM", "the hypervisor (KVM) does not provide counters");
    expect_words(ENOENT, 2, NULL, "the kernel does not support the counters of this CPU");
    expect_words(EACCES, 4, "KVM", "kernel.perf_event_paranoid is 4");
    expect_words(EPERM, 1, NULL, "a container or a security module");
    expect_words(ENOSYS, -99, NULL, "no perf events");
    expect_words(EBUSY, 2, NULL, "another program");
    as_pmu_words(as_pmu_try(), 2, NULL, as_pmu_counters(), text, sizeof text);
    assert_true(text[0] != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_machine),
        cmocka_unit_test(affinity_of_one),
        cmocka_unit_test_setup_teardown(the_environment_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(recorded_files, set_up, tear_down),
        cmocka_unit_test(two_packages),
        cmocka_unit_test(kinds_of_memory),
        cmocka_unit_test(kinds_of_cores),
        cmocka_unit_test_setup_teardown(what_is_no_machine, set_up, tear_down),
        cmocka_unit_test(library_crashes),
        cmocka_unit_test(answers_of_the_child),
        cmocka_unit_test_setup_teardown(memory_runs_out, set_up, tear_down),
        cmocka_unit_test(names_of_processors),
        cmocka_unit_test(reasons_for_no_counters),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
