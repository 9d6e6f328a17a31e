/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluations that read the index beside a trace in place of the trace: its lines come from the
 * series that the evaluation needs. Results are equal to those of the trace. The index of the
 * states has the records; "run.prv.index/states.index" is that of "run.prv".
 */
#ifndef AS_TIMELINE_REPLAY_H
#define AS_TIMELINE_REPLAY_H

#include "exchange/evaluated.h"
#include "timeline/index.h"

#define AS_TIMELINE_PART_BLOCKS 256u /* blocks of a part of the time */

struct as_timeline_evaluation {
    uint32_t part_blocks; /* of tests; 0: AS_TIMELINE_PART_BLOCKS */
    bool by_time;         /* of tests: lines of all threads in the order of time */
    /* Tests use another index than that beside the trace, without checks of digests. Borrowed. */
    const struct as_timeline_index *index;
    bool verifies; /* digests the whole trace before its index is used */
    /* set at the end: */
    bool from_index;        /* passes came from the index */
    struct as_error damage; /* why an index is left out; text "": none is */
};

/*
 * Runs all passes of an evaluation as as_evaluated_run does. Reads the index where there is one of
 * this state of the trace, and no line is bad. Else it reads the trace. Errors: those of
 * as_evaluated_run.
 */
int as_timeline_evaluate(struct as_evaluated *trace, struct as_evaluator *evaluation,
                         struct as_timeline_evaluation *how, struct as_error *err);

#endif
