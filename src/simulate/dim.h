/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of Dimemas (.dim): text, a line for each action of a task. doc/internals/simulate.md has
 * the records. Bytes of the file are foreign.
 */
#ifndef AS_SIMULATE_DIM_H
#define AS_SIMULATE_DIM_H

#include "base/out.h"
#include "base/str.h"
#include "simulate/program.h"

/* Returns true if a file begins as such a trace; false also if the file cannot be read. */
bool as_dim_is_one(const char *path);
/* Errors: NOT_FOUND and the like (of the file), CORRUPT (which line, what is wrong), UNSUPPORTED
 * (several threads in a task), NOMEM. */
int as_dim_open(const char *path, struct as_simulated_program *out, struct as_error *err);
/* The same of bytes in memory, which stay the caller's until the program is closed. */
int as_dim_parse(struct as_view text, const char *name, struct as_simulated_program *out,
                 struct as_error *err);

/* Writes the program; sends that do not block are not waited for there. Errors: those of the
 * source, NOMEM; of the disk those of `out`. */
int as_dim_write(struct as_simulated_program *program, const char *name, struct as_out *out,
                 struct as_error *err);

#endif
