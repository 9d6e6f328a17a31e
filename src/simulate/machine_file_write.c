/* SPDX-License-Identifier: Apache-2.0 */
/* Writing .cfg: machines, their nodes by speed, dedicated links, and the mapping. */
#include <inttypes.h>

#include "simulate/machine_file.h"

#define MEBIBYTE_B 1048576.0

static double node_speed(const struct as_machine_model *model, uint32_t node)
{
    double times = model->speed;
    as_vec_foreach (&model->speeds, speed)
        if (!speed->name && speed->is_node && speed->number == node)
            times *= speed->times;
    return times;
}

static uint32_t node_of_rank(const struct as_machine_model *model,
                             const struct as_simulated_program *program, uint32_t rank)
{
    if (model->ranks_per_node)
        return rank / model->ranks_per_node;
    return program->node.n ? program->node.at[rank] : rank;
}

/* CPUs of a node: enough for its ranks. */
static uint32_t node_cpus(const struct as_machine_model *model,
                          const struct as_simulated_program *program)
{
    return model->ranks_per_node ? model->ranks_per_node : program->node.n ? program->rank_n : 1;
}

static void write_nodes(const struct as_machine_model *model, uint32_t machine, uint32_t node_n,
                        uint32_t cpu_n, double times, struct as_out *out)
{
    const struct as_network *inside = &model->network[AS_NETWORK_INSIDE];
    const struct as_network *between = &model->network[AS_NETWORK_BETWEEN];
    as_out_f(out,
             "\"multi node information\" {%" PRIu32 ", %" PRIu32 ", \"\", %" PRIu32
             ", %.9g, %.9f, %.9f, %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %.9f, %" PRIu32
             ", %" PRIu32 ", %.9f};;\n",
             machine, node_n, cpu_n, times, (double)inside->latency_ns / 1e9,
             (double)inside->bandwidth_bps / MEBIBYTE_B, inside->buses, inside->in_links,
             inside->out_links, (double)between->latency_ns / 1e9, between->in_links,
             between->out_links, (double)model->network[AS_NETWORK_WIDE].latency_ns / 1e9);
}

/* Its nodes from one to before the other, those of one speed in one record. */
static void write_machine(const struct as_machine_model *model, uint32_t machine, uint32_t from,
                          uint32_t to, uint32_t cpu_n, struct as_out *out)
{
    const struct as_network *between = &model->network[AS_NETWORK_BETWEEN];
    as_out_f(out,
             "\"environment information\" {\"\", %" PRIu32 ", \"\", %" PRIu32 ", %.9f, %" PRIu32
             ", 3};;\n",
             machine, to - from, (double)between->bandwidth_bps / MEBIBYTE_B, between->buses);
    for (uint32_t node = from + 1; node <= to; node++)
        if (node == to || node_speed(model, node) != node_speed(model, from)) {
            write_nodes(model, machine, node - from, cpu_n, node_speed(model, from), out);
            from = node;
        }
}

/* First node behind a machine. */
static uint32_t end_of_machine(const struct as_machine_model *model, uint32_t machine,
                               uint32_t node_n)
{
    if (model->nodes_per_machine && (machine + 1) * model->nodes_per_machine < node_n)
        return (machine + 1) * model->nodes_per_machine;
    return machine + 1 < model->machine_n ? model->machine_node[machine + 1] : node_n;
}

static uint32_t machine_of(const struct as_machine_model *model, uint32_t node)
{
    uint32_t machine = 0;
    while (machine + 1 < model->machine_n && model->machine_node[machine + 1] <= node)
        machine++;
    return machine;
}

static void write_link(const struct as_machine_model *model, uint32_t number, struct as_out *out)
{
    const struct as_dedicated_link *link = &model->link[number];
    as_out_f(out,
             "\"dedicated connection information\" {%" PRIu32 ", %" PRIu32 ", %" PRIu32
             ", %.9f, [%" PRIu32 "] {",
             number, machine_of(model, link->node[0]), machine_of(model, link->node[1]),
             (double)link->network.bandwidth_bps / MEBIBYTE_B, link->tags_n);
    for (uint32_t i = 0; i < link->tags_n; i++)
        as_out_f(out, "%s%" PRId32, i ? ", " : "", model->link_tag[link->tags_at + i]);
    as_out_f(out, "}, %" PRId64 ", %c, %c, %" PRId64 ", %c, [0] {}, %.9f, %.9f};;\n",
             link->size[0].size_b, link->size[0].is, link->is_either ? '|' : '&',
             link->size[1].size_b, link->size[1].is, (double)link->network.latency_ns / 1e9,
             (double)link->network.flight_ns / 1e9);
}

static void write_mapping(const struct as_machine_model *model,
                          const struct as_simulated_program *program, struct as_out *out)
{
    if (model->ranks_per_node || program->node.n == 0) {
        as_out_f(out, "\"predefined mapping information\" {\"%" PRIu32 " TASKS_PER_NODE\"};;\n",
                 model->ranks_per_node ? model->ranks_per_node : 1);
        return;
    }
    as_out_f(out, "\"mapping information\" {\"\", %" PRIu32 ", [%" PRIu32 "] {", program->rank_n,
             program->rank_n);
    for (uint32_t rank = 0; rank < program->rank_n; rank++)
        as_out_f(out, "%s%" PRIu32, rank ? ", " : "", program->node.at[rank]);
    as_out_z(out, "}};;\n");
}

void as_machine_file_write(const struct as_machine_model *model,
                           const struct as_simulated_program *program, struct as_out *out)
{
    const uint32_t cpu_n = node_cpus(model, program);
    uint32_t node_n = model->machine_n ? model->machine_node[model->machine_n - 1] + 1 : 0;
    for (uint32_t rank = 0; rank < program->rank_n; rank++) {
        const uint32_t node = node_of_rank(model, program, rank);
        node_n = node >= node_n ? node + 1 : node_n;
    }
    uint32_t machine_n = 1;
    while (end_of_machine(model, machine_n - 1, node_n) < node_n)
        machine_n++;
    as_out_f(out,
             "#DIMEMAS_CONFIGURATION\n\n"
             "\"wide area network information\" {\"\", %" PRIu32 ", %" PRIu32
             ", 4, 0.0, %.9f, 1};;\n",
             machine_n, model->link_n,
             (double)model->network[AS_NETWORK_WIDE].bandwidth_bps / MEBIBYTE_B);
    for (uint32_t i = 0, from = 0; i < machine_n; i++) {
        const uint32_t to = end_of_machine(model, i, node_n);
        write_machine(model, i, from, to, cpu_n, out);
        from = to;
    }
    for (uint32_t i = 0; i < model->link_n; i++)
        write_link(model, i, out);
    write_mapping(model, program, out);
    as_out_z(out, "\"configuration files\" {\"\", \"\", \"\", \"\"};;\n"
                  "\"file system parameters\" {0.0, 0.0, 8.0, 0, 1.0};;\n");
}
