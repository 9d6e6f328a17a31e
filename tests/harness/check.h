/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares what one instruction does on this CPU with what as_insn_effects and as_insn_memory
 * claim it does.
 *
 * An instruction writes a register when the register changed in some state. It reads one when
 * another value of that register changes any other outcome. Both must have been claimed. A claim
 * without an observation is an over-claim: a weaker finding, which an allow-list may explain.
 */
#ifndef HX_CHECK_H
#define HX_CHECK_H

#include "corpus.h"

enum hx_verdict {
    HX_CHECKED,
    HX_CHECKED_WRITES, /* two runs from one state differ: only what is written was checked */
    HX_NOT_HERE,       /* SIGILL: this CPU has no such instruction */
    HX_FAULTS,         /* faulted in every state */
    HX_VERDICTS
};

enum hx_severity { HX_WRONG, HX_OVER };

/* `what` is the finding without the instruction ("writes rdx, not claimed"). */
typedef void hx_finding_fn(void *context, const struct hx_case *c, enum hx_severity severity,
                           const char *what);

enum hx_verdict hx_check(const struct hx_case *c, uint64_t seed, hx_finding_fn *finding,
                         void *context);

#endif
