/* SPDX-License-Identifier: Apache-2.0 */
/* The code of a function that stands in no loop. */
#ifndef AS_QUALITY_STRAIGHT_H
#define AS_QUALITY_STRAIGHT_H

#include <assay/code.h>

struct as_straight_facts {
    uint32_t insn_n, fp_packed_n, fp_scalar_n; /* arithmetic as in assay_loop_facts */
};

/* Of the body that begins at `entry`; false: there is none. */
bool as_quality_straight(const struct assay_program *program, uint64_t entry,
                         struct as_straight_facts *out);

#endif
