/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes how often each path of a loop was taken from the executions of its blocks. A branch
 * target without other predecessors gives the count of its edge; the rest goes to the other edge.
 * The result is exact if branches are independent, or if there is only one.
 */
#include "validate/internal.h"

/* Returns the executions of the edge to successor number `which`, or a negative number if
 * unknown. */
static double edge_by_target(const struct as_program *program, const struct as_block *from,
                             uint32_t which, const double *executed)
{
    const struct as_block *to = &program->block[program->succ[from->first_succ + which].block];
    return to->preds == 1 ? executed[program->succ[from->first_succ + which].block] : -1;
}

/* Returns the share of a block's executions that continue to `next`. */
static double edge_share(const struct as_program *program, uint32_t block, uint32_t next,
                         const double *executed)
{
    const struct as_block *from = &program->block[block];
    double known = 0, wanted = -1;
    uint32_t unknown = 0;
    if (!(executed[block] > 0))
        return 0;
    for (uint32_t i = 0; i < from->succs; i++) {
        const double n = edge_by_target(program, from, i, executed);
        known += n > 0 ? n : 0;
        unknown += n < 0;
        if (program->succ[from->first_succ + i].block == next)
            wanted = n;
    }
    const double rest = executed[block] > known ? executed[block] - known : 0;
    return (wanted >= 0 ? wanted : rest / (unknown ? unknown : 1)) / executed[block];
}

void as_path_weights(const struct as_program *program, const struct as_paths *paths,
                     const double *executed, double *out)
{
    double sum = 0;
    for (size_t i = 0; i < paths->path_n; i++) {
        const uint32_t *block = paths->block + paths->path[i].first;
        out[i] = 1;
        for (uint32_t k = 0; k + 1 < paths->path[i].blocks; k++)
            out[i] *= edge_share(program, block[k], block[k + 1], executed);
        /* back edge: other paths may leave the loop here */
        out[i] *= edge_share(program, block[paths->path[i].blocks - 1], block[0], executed);
        sum += out[i];
    }
    for (size_t i = 0; i < paths->path_n; i++)
        out[i] = sum > 0 ? out[i] / sum : 1. / (double)paths->path_n;
}

const uint8_t *as_path_bytes(const struct as_program *program, const struct as_code *path,
                             size_t *size_b)
{
    const uint64_t first = path->insn[0].address;
    uint64_t size = 0;
    for (size_t i = 0; i < path->n; i++) {
        if (path->insn[i].address != first + size)
            return NULL;
        size += path->insn[i].length;
    }
    *size_b = (size_t)size;
    const uint8_t *bytes = as_object_bytes(program->object, first, &size);
    return bytes && size >= *size_b ? bytes : NULL;
}
