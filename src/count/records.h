/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What executions of one instruction add to the counts. Pure: knows instructions, not programs.
 */
#ifndef AS_COUNT_RECORDS_H
#define AS_COUNT_RECORDS_H

#include <assay/count.h>
#include <assay/isa.h>

/*
 * Adds `runs` executions of `insn`. `amount`: what they did together, lanes or repetitions, where
 * as_amount_of says that it is counted, else not looked at; NULL: nobody counted it, and as much as
 * can be is taken (UNSURE).
 */
void as_count_add(const struct assay_insn *insn, uint64_t runs, const uint64_t *amount,
                  double count[ASSAY_COUNTS]);

#endif
