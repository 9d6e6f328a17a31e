/* SPDX-License-Identifier: Apache-2.0 */
/* The streams of a trace that a verb is given: of an experiment, or of a file of another tool. */
#ifndef AS_CLI_TRACE_INPUT_H
#define AS_CLI_TRACE_INPUT_H

#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "cli.h"
#include "exchange/import.h"

struct as_trace_input {
    struct as_str streams;          /* a directory */
    int64_t run_id;                 /* of the experiment; 0: a file of another tool */
    struct as_import_counts counts; /* of a file of another tool */
};

/*
 * `path` is an experiment (`run` is the number of a run, 0 the last), a .prv or an OTF2 archive; a
 * foreign one is imported to a temporary directory. Release with as_trace_input_close in any case.
 * Errors: NOT_FOUND (no file, no trace), CORRUPT (no trace), IO, NOMEM, those of the import.
 */
int as_trace_input_open(const char *path, int64_t run, struct as_trace_input *out,
                        struct as_error *err);
/* Makes a temporary directory for streams, by TMPDIR; signals are noted from now on. The caller
 * removes it. `path` is empty after an error. Errors: IO, NOMEM. */
int as_trace_input_place(struct as_str *path, struct as_error *err);
/* Notes lines of a foreign file that make no sense. */
void as_trace_input_note(const struct as_cli *cli, const char *path,
                         const struct as_trace_input *input);
void as_trace_input_close(struct as_trace_input *input);

#endif
