/* SPDX-License-Identifier: Apache-2.0 */
/* Adds executions of one instruction to the counts. Pure: knows instructions, not programs. */
#ifndef AS_COUNT_RECORDS_H
#define AS_COUNT_RECORDS_H

#include "count/count.h"
#include "isa/isa.h"

/*
 * Adds `runs` executions of `insn`. `amount` is their total number of lanes or repetitions. It is
 * read only if as_amount_of says that it is counted. NULL means that it was not counted: the
 * maximum is added, and marked UNSURE.
 */
void as_count_add(const struct as_insn *insn, uint64_t runs, const uint64_t *amount,
                  double count[AS_COUNTS]);

#endif
