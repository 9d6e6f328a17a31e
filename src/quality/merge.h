/* SPDX-License-Identifier: Apache-2.0 */
/* Walks that go on from entry to entry, and merges of sorted data. */
#ifndef AS_QUALITY_MERGE_H
#define AS_QUALITY_MERGE_H

#include "code/code.h"

/*
 * Counts the loads of a loop with an address that goes on from entry to entry. The loop around it
 * adds constants to the register of the address at most. Loads of inner loops do not count.
 */
uint32_t as_merge_resumed(const struct as_program *program, uint32_t loop);

/*
 * Counts the branches that compare two loaded values, and then step the address of one of them.
 * Those of inner loops count. An exit of the loop counts if its walk goes on.
 */
uint32_t as_merge_branches(const struct as_program *program, uint32_t loop);

#endif
