/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An experiment that is hard to show: names longer than a line, with blanks, ';' and control
 * characters, inlined functions. Also code without a known function, and an uneven load of threads.
 */
#ifndef AS_TESTS_CXX_H
#define AS_TESTS_CXX_H

#include "experiment/experiment.h"

struct cxx {
    int64_t run, process, thread[4];
    int64_t force, barrier;
};

int cxx_fill(struct as_experiment *experiment, struct cxx *c, struct as_error *err);

#endif
