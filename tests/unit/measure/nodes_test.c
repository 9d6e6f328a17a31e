/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes of recorded machines: parts of the cores, nodes with and without cores, their pairs. */
#include <linux/mempolicy.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "measure/rig.h"

static struct as_rig rig;
static struct as_topology *topology;
static struct as_scope scope[2 * AS_NODES_MAX];

static void load_machine(const char *name)
{
    char path[4096];
    struct as_error err;

    snprintf(path, sizeof path, "%s/%s", MACHINES, name);
    assert_int_equal(as_topology_read(NULL, path, &topology, &err), 0);
    memset(&rig, 0, sizeof rig);
    rig.topology = topology;
}

static const struct as_scope *scope_named(const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(scope[i].name, name) == 0)
            return &scope[i];
    return NULL;
}

/* Nodes 0 and 2 are DRAM with four cores each, 1 and 3 MCDRAM beside them. */
static void test_fast_memory(void **state)
{
    (void)state;
    load_machine("flat-memory.xml");
    const size_t n = as_rig_node_scopes(&rig, scope, sizeof scope / sizeof *scope);
    /* Four nodes, and three others for each of two nodes with cores. */
    assert_int_equal(n, 4 + 2 * 3);
    const struct as_scope *slow = scope_named("numa0", n), *fast = scope_named("numa1", n);
    assert_non_null(slow);
    assert_non_null(fast);
    assert_false(slow->is_bound);
    assert_true(fast->is_bound);
    assert_int_equal(fast->node, 1);
    assert_int_equal(slow->n, 4);
    assert_int_equal(fast->n, 4);
    assert_memory_equal(slow->cpu, fast->cpu, 4 * sizeof(int));
    const struct as_scope *far = scope_named("numa2to1", n);
    assert_non_null(far);
    assert_true(far->is_bound);
    assert_int_equal(far->node, 1);
    assert_int_equal(far->cpu[0], scope_named("numa2", n)->cpu[0]);
    assert_int_not_equal(far->cpu[0], fast->cpu[0]);
    assert_null(scope_named("numa1to0", n)); /* it has no cores */
    assert_null(scope_named("numa0to0", n));
    assert_int_equal(as_rig_node_scopes(&rig, scope, 3), 3); /* no more than there is place for */
    as_topology_free(&topology);
}

static void test_one_node(void **state)
{
    (void)state;
    load_machine("hybrid.xml");
    assert_int_equal(as_rig_node_scopes(&rig, scope, sizeof scope / sizeof *scope), 0);
    as_topology_free(&topology);
}

static void test_parts(void **state)
{
    (void)state;
    memset(&rig, 0, sizeof rig);
    rig.core_n = 2;
    assert_int_equal(as_rig_part_scopes(&rig, scope, 16), 0);
    rig.core_n = 12;
    assert_int_equal(as_rig_part_scopes(&rig, scope, 16), 3);
    assert_string_equal(scope[2].name, "cores8");
    assert_int_equal(scope[2].n, 8);
    assert_int_equal(as_rig_part_scopes(&rig, scope, 2), 2);
}

/* Memory that is bound lies on its node, and is not kept for others. */
static void test_bound_memory(void **state)
{
    struct as_error err;
    struct as_bench *bench;
    int cpu = sched_getcpu(), node = -1;
    struct as_scope one = {.name = "numa0", .cpu = &cpu, .n = 1, .is_bound = true};
    (void)state;
    memset(&rig, 0, sizeof rig);
    rig.memory_most_b = (uint64_t)1 << 30;
    if (as_bench_open(&rig, &one, 1, (size_t)32 << 20, AS_PAGES_ANY, &bench, &err) < 0) {
        print_message("skipped: this kernel binds no memory\n");
        return;
    }
    const long rc = syscall(SYS_get_mempolicy, &node, NULL, 0ul, bench->part[0].a,
                            (unsigned long)(MPOL_F_NODE | MPOL_F_ADDR));
    if (rc == 0)
        assert_int_equal(node, 0);
    as_bench_close(&bench);
    for (size_t i = 0; i < AS_KEPT_ROOMS; i++)
        assert_null(rig.kept[i].room.at);
    /* There is no such node. */
    one.node = 1023;
    assert_int_equal(as_bench_open(&rig, &one, 1, (size_t)32 << 20, AS_PAGES_ANY, &bench, &err),
                     AS_ERR_LIMIT);
    assert_non_null(strstr(err.text, "on this NUMA node"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fast_memory), cmocka_unit_test(test_one_node),
        cmocka_unit_test(test_parts), cmocka_unit_test(test_bound_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
