/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses of the memory operands of sampled instructions, computed from the registers of samples.
 * They give the reach and the pace of each operand, by process and instruction. Nothing is stored
 * that the addresses do not prove (doc/internals/sample.md).
 */
#ifndef AS_SAMPLE_OPERANDS_H
#define AS_SAMPLE_OPERANDS_H

#include "sample/recorder.h"

struct as_operands;

/* `imported`: the samples were recorded earlier, so /proc does not describe their processes.
 * Returns 0 or NOMEM. */
int as_operands_new(uint32_t rate_hz, bool imported, struct as_operands **out);
void as_operands_free(struct as_operands **operands);

/* Adds a time sample at `frame` of `object` (NULL: the file is unknown). Returns 0 or NOMEM. */
int as_operands_add(struct as_operands *operands, const struct as_object *object,
                    struct as_frame frame, const struct as_sample_record *sample);

/* Adds a record of a memory block: ALLOCATE, RELEASE or INHERIT. Returns 0 or NOMEM. */
int as_operands_block(struct as_operands *operands, const struct as_sample_record *record);

/* Notes that a process executes another program (COMM) or ends. `spaces` must still be those of
 * before. Returns 0 or NOMEM. */
int as_operands_exec(struct as_operands *operands, const struct as_sample_record *record,
                     const struct as_spaces *spaces);
void as_operands_exit(struct as_operands *operands, uint32_t pid, const struct as_spaces *spaces);

/* Writes the results as facts of the processes. Returns 0 or the error of the writer. */
int as_operands_write(struct as_operands *operands, const struct as_spaces *spaces,
                      struct as_writer *writer);

/* Result of the statistics. */
struct as_operand_reach {
    /* Lower bound of the memory that the scattered addresses range over; 0: unproven. */
    double reach_b;
    double far; /* share of the addresses that are scattered */
};
/* Computes the reach of `n` addresses, and sorts them. */
struct as_operand_reach as_operands_reach(uint64_t *address, size_t n);

#endif
