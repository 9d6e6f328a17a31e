/* SPDX-License-Identifier: Apache-2.0 */
/* Code of a function outside its loops. */
#ifndef AS_QUALITY_STRAIGHT_H
#define AS_QUALITY_STRAIGHT_H

#include "code/code.h"

struct as_straight_facts {
    uint32_t insn_n, fp_packed_n, fp_scalar_n; /* arithmetic as in as_loop_facts */
};

/* Counts the body with the entry address `entry`. Returns false if there is none. */
bool as_quality_straight(const struct as_program *program, uint64_t entry,
                         struct as_straight_facts *out);

#endif
