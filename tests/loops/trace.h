/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program one instruction at a time (ptrace) and reports every address that it executes in
 * its own file. Code of other files runs at full speed. Meanwhile the program's own code is not
 * executable. So any way back (return, callback, exception, longjmp) is noticed. For programs of
 * one thread that start no others.
 */
#ifndef TESTS_LOOPS_TRACE_H
#define TESTS_LOOPS_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#define TRACE_OUTSIDE UINT64_MAX

struct trace_image {
    uint64_t entry;    /* link-time address of the entry point */
    uint64_t low, end; /* link-time addresses of its executable segment */
};

struct trace_result {
    uint64_t steps;
    bool limited; /* stopped after the most steps that were asked for */
    int status;   /* as of waitpid when it ended by itself */
};

/* `to` comes after `from`; TRACE_OUTSIDE for code of other files and after a signal's handler. */
typedef void trace_step(void *user, uint64_t from, uint64_t to);

/* 0, or -1 with a reason in `*why` (static text). */
int trace_run(char **argv, const struct trace_image *image, uint64_t most_steps, trace_step *step,
              void *user, struct trace_result *out, const char **why);

#endif
