/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of machines of the reference simulator (.cfg): nodes of one or several machines, their
 * networks, dedicated links of machines, speeds of CPUs and the mapping of tasks. Bandwidths are
 * MiB/s, times seconds. doc/internals/simulate.md has the records.
 */
#ifndef AS_SIMULATE_MACHINE_FILE_H
#define AS_SIMULATE_MACHINE_FILE_H

#include "base/out.h"
#include "base/str.h"
#include "simulate/machine.h"
#include "simulate/program.h"

struct as_machine_file {
    AS_VEC(uint32_t) task_node;     /* of each task; empty: by the model */
    uint32_t interleaved_n;         /* nodes that tasks go around; 0: not asked for */
    AS_VEC(struct as_speed) speeds; /* of nodes that are not as fast as the recorded ones */
    uint32_t modules_n;             /* speeds of modules, which are left out */
    uint32_t node_n;                /* of all machines */
    AS_VEC(uint32_t) machine_node;  /* first node of each machine; empty: one machine */
    /* Dedicated links; then the same without latency, and with infinite bandwidth. */
    AS_VEC(struct as_dedicated_link) links, links_no_latency, links_infinite;
    AS_VEC(int32_t) tags;
    uint32_t link_comms_n; /* communicators of links, which are left out */
};

/*
 * Sets networks and ranks on nodes of `model`; the rest of it stays. `path` names the text in
 * errors. `model` borrows machines and links of `out`. Release with as_machine_file_fini in any
 * case. Errors: CORRUPT (damaged records), UNSUPPORTED (traffic of the wide area network, nodes or
 * machines with different networks), NOMEM.
 */
int as_machine_file_parse(struct as_view text, const char *path, struct as_machine_model *model,
                          struct as_machine_file *out, struct as_error *err);
/* Puts the ranks on the nodes of the file. Errors: USAGE (another number of tasks), NOMEM. */
int as_machine_file_place(const struct as_machine_file *file, struct as_simulated_program *program,
                          struct as_error *err);
/* Writes a machine for the ranks of the program. Speeds of ranks and functions, the size of eager
 * messages and models of collectives have no place in the file. */
void as_machine_file_write(const struct as_machine_model *model,
                           const struct as_simulated_program *program, struct as_out *out);
void as_machine_file_fini(struct as_machine_file *file);

#endif
