/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses of the memory operands of sampled instructions, from the registers of the sample: how
 * far they reach, and how fast they move, by process and instruction. What the addresses do not
 * prove is not said (doc/internals/sample.md).
 */
#ifndef AS_SAMPLE_OPERANDS_H
#define AS_SAMPLE_OPERANDS_H

#include "sample/recorder.h"

struct as_operands;

/* `imported`: processes are not those of now. */
int as_operands_new(uint32_t rate_hz, bool imported, struct as_operands **out);
void as_operands_free(struct as_operands **operands);

/* Takes in a sample of time at `frame` of `object` (NULL: no file is known). 0 or NOMEM. */
int as_operands_add(struct as_operands *operands, const struct assay_object *object,
                    struct as_frame frame, const struct assay_sample_record *sample);

/* A record of a block of memory: ALLOCATE, RELEASE, INHERIT. 0 or NOMEM. */
int as_operands_block(struct as_operands *operands, const struct assay_sample_record *record);

/* The process executes another program (COMM), or ends; `spaces` are still as before. 0 or NOMEM.
 */
int as_operands_exec(struct as_operands *operands, const struct assay_sample_record *record,
                     const struct as_spaces *spaces);
void as_operands_exit(struct as_operands *operands, uint32_t pid, const struct as_spaces *spaces);

/* What is known at the end, as facts on the processes. 0 or the writer's error. */
int as_operands_write(struct as_operands *operands, const struct as_spaces *spaces,
                      struct as_writer *writer);

/* The statistics alone. */
struct as_operand_reach {
    double reach_b; /* those far apart range over at least so much; 0: nothing is proven */
    double far;     /* share of the addresses that are */
};
/* Of `n` addresses, which are sorted. */
struct as_operand_reach as_operands_reach(uint64_t *address, size_t n);

#endif
