/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes between one core and all: parts of the cores, and NUMA nodes. The memory of a node is read
 * by its own cores and by those of other nodes. Fast memory is a node without cores.
 */
#include <stdio.h>

#include "measure/rig.h"

#define MATRIX_NODES_MAX 8 /* more nodes would take minutes */

size_t as_rig_part_scopes(const struct as_rig *rig, struct as_scope *scope, size_t max)
{
    size_t n = 0;

    for (unsigned cores = 2; cores < rig->core_n && n < max; cores *= 2) {
        scope[n] = (struct as_scope){.cpu = rig->core, .n = cores};
        snprintf(scope[n++].name, sizeof scope->name, "cores%u", cores);
    }
    return n;
}

static bool stands_in(const struct as_topology *t, uint32_t place, uint32_t outer)
{
    while (place != outer && t->place[place].parent != place)
        place = t->place[place].parent;
    return place == outer;
}

/* Lists a usable CPU of each core below the place of node `place`. */
static size_t cores_beside(const struct as_topology *t, uint32_t place, int *cpu, size_t max)
{
    uint32_t last = UINT32_MAX;
    size_t n = 0;

    for (uint32_t i = 0; i < t->place_n && n < max; i++) {
        uint32_t core = i;
        if (t->place[i].kind != AS_PLACE_PU || !t->place[i].usable || t->place[i].number < 0 ||
            !stands_in(t, i, t->place[place].parent))
            continue;
        while (t->place[core].kind != AS_PLACE_CORE && t->place[core].parent != core)
            core = t->place[core].parent;
        core = t->place[core].kind == AS_PLACE_CORE ? core : i;
        if (core != last)
            cpu[n++] = t->place[i].number;
        last = core;
    }
    return n;
}

static bool is_node(const struct as_place *place)
{
    return place->kind == AS_PLACE_NUMA && place->number >= 0 && place->number <= INT16_MAX;
}

/* Makes a scope of the cores of node `from` and the memory of node `to`. */
static void add_pair(const struct as_scope *from, int from_number, int to_number,
                     struct as_scope *out)
{
    *out = (struct as_scope){.cpu = from->cpu, .n = from->n, .is_bound = true, .node = to_number};
    snprintf(out->name, sizeof out->name, "numa%dto%d", from_number, to_number);
}

static size_t add_matrix(const struct as_rig *rig, const bool *has_cores, struct as_scope *scope,
                         size_t own_n, size_t max)
{
    size_t n = own_n;

    if (rig->topology->numa_n > MATRIX_NODES_MAX)
        return n;
    for (size_t i = 0; i < own_n; i++)
        for (size_t k = 0; has_cores[i] && k < own_n && n < max; k++)
            if (k != i)
                add_pair(&scope[i], scope[i].node, scope[k].node, &scope[n++]);
    return n;
}

size_t as_rig_node_scopes(struct as_rig *rig, struct as_scope *scope, size_t max)
{
    const struct as_topology *t = rig->topology;
    bool has_cores[AS_NODES_MAX] = {false};
    size_t used = 0, n = 0;

    for (uint32_t i = 0; t->numa_n > 1 && i < t->place_n; i++) {
        if (!is_node(&t->place[i]) || n == max || n == AS_NODES_MAX)
            continue;
        const int number = t->place[i].number;
        struct as_scope *it = &scope[n];
        *it = (struct as_scope){.cpu = rig->node_core + used, .node = number};
        it->n = as_topology_cores(t, number, rig->node_core + used, AS_CORES_MOST - used);
        has_cores[n] = it->n > 0;
        if (it->n == 0) { /* fast memory or accelerator memory */
            it->n = cores_beside(t, i, rig->node_core + used, AS_CORES_MOST - used);
            it->is_bound = true;
        }
        if (it->n == 0 || it->n > AS_CORES_MOST - used)
            continue;
        used += it->n;
        snprintf(it->name, sizeof it->name, "numa%d", number);
        n++;
    }
    return add_matrix(rig, has_cores, scope, n, max);
}
