/* SPDX-License-Identifier: Apache-2.0 */
/* Writing .cfg: one machine, its nodes by speed, and the mapping. */
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

static uint32_t node_of_rank(const struct as_machine_model *model, const struct as_program *program,
                             uint32_t rank)
{
    if (model->ranks_per_node)
        return rank / model->ranks_per_node;
    return program->node.n ? program->node.at[rank] : rank;
}

/* CPUs of a node: enough for its ranks. */
static uint32_t node_cpus(const struct as_machine_model *model, const struct as_program *program)
{
    return model->ranks_per_node ? model->ranks_per_node : program->node.n ? program->rank_n : 1;
}

static void write_nodes(const struct as_machine_model *model, uint32_t node_n, uint32_t cpu_n,
                        double times, struct as_out *out)
{
    const struct as_network *inside = &model->network[AS_NETWORK_INSIDE];
    const struct as_network *between = &model->network[AS_NETWORK_BETWEEN];
    as_out_f(out,
             "\"multi node information\" {0, %" PRIu32 ", \"\", %" PRIu32
             ", %.9g, %.9f, %.9f, %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %.9f, %" PRIu32
             ", %" PRIu32 ", 0.0};;\n",
             node_n, cpu_n, times, (double)inside->latency_ns / 1e9,
             (double)inside->bandwidth_bps / MEBIBYTE_B, inside->buses, inside->in_links,
             inside->out_links, (double)between->latency_ns / 1e9, between->in_links,
             between->out_links);
}

static void write_mapping(const struct as_machine_model *model, const struct as_program *program,
                          struct as_out *out)
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

void as_machine_file_write(const struct as_machine_model *model, const struct as_program *program,
                           struct as_out *out)
{
    const struct as_network *between = &model->network[AS_NETWORK_BETWEEN];
    const uint32_t cpu_n = node_cpus(model, program);
    uint32_t node_n = 0, from = 0;
    for (uint32_t rank = 0; rank < program->rank_n; rank++) {
        const uint32_t node = node_of_rank(model, program, rank);
        node_n = node >= node_n ? node + 1 : node_n;
    }
    as_out_z(out, "#DIMEMAS_CONFIGURATION\n\n"
                  "\"wide area network information\" {\"\", 1, 0, 4, 0.0, 0.0, 1};;\n");
    as_out_f(out,
             "\"environment information\" {\"\", 0, \"\", %" PRIu32 ", %.9f, %" PRIu32 ", 3};;\n",
             node_n, (double)between->bandwidth_bps / MEBIBYTE_B, between->buses);
    for (uint32_t node = 1; node <= node_n; node++)
        if (node == node_n || node_speed(model, node) != node_speed(model, from)) {
            write_nodes(model, node - from, cpu_n, node_speed(model, from), out);
            from = node;
        }
    write_mapping(model, program, out);
    as_out_z(out, "\"configuration files\" {\"\", \"\", \"\", \"\"};;\n"
                  "\"file system parameters\" {0.0, 0.0, 8.0, 0, 1.0};;\n");
}
