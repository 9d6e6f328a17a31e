/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of runs, also as files of other tools: several files or a directory, so no standard
 * output. */
#ifndef AS_CLI_EXPORT_TRACE_H
#define AS_CLI_EXPORT_TRACE_H

#include "cli.h"
#include "experiment/experiment.h"
#include "trace/read.h"

/* Says what the trace of a run says (verb_trace.c). Errors: those of reading. */
int as_trace_show(struct as_cli *cli, struct as_experiment *experiment, int64_t run_id,
                  struct as_error *err);

/* Whether --as, or of 'simulate' the ending of --output, names a format of traces: then --output is
 * a name that is not opened before. */
bool as_exports_trace(const struct as_arguments *args);

/* Errors: NOT_FOUND (the run has no trace), USAGE, those of reading and writing. */
int as_export_trace(struct as_cli *cli, struct as_experiment *experiment, struct as_error *err);

/* Checks the files that as_export_streams writes. Errors: USAGE, IO. */
int as_export_streams_check(const struct as_cli *cli, struct as_error *err);
/* Writes a trace that is open to --output, by its ending. Errors: those of reading and writing. */
int as_export_streams(const struct as_cli *cli, const struct as_trace *trace, struct as_error *err);

#endif
