/* SPDX-License-Identifier: Apache-2.0 */
/* What writers of all formats need. */
#ifndef AS_EXCHANGE_COMMON_H
#define AS_EXCHANGE_COMMON_H

#include "base/out.h"
#include "trace/read.h"

/* When the first stream began, in nanoseconds of the trace: files count from there. 0: there are no
 * streams. */
int64_t as_exchange_begin_ns(const struct as_trace *trace);

/* The function at the i-th address of a sample, or else the file that it is in; "?": not known. */
const char *as_exchange_function(const struct as_trace *trace,
                                 const struct as_trace_process *process,
                                 const struct as_trace_event *sample, size_t i);

/* The line of the source that it is from; false: not known. `*file` lives as the trace's code. */
bool as_exchange_line(const struct as_trace *trace, const struct as_trace_process *process,
                      const struct as_trace_event *sample, size_t i, const char **file,
                      uint32_t *line);

typedef int as_exchange_put(void *context, struct as_out *out, struct assay_error *err);

struct as_exchange_file {
    const char *path;
    as_exchange_put *put; /* writes the content */
};

#define AS_EXCHANGE_FILES_MAX 3

/* Writes the files in this order. If one fails, none of them changes. Errors: IO, USAGE (a
 * directory), and those of `put`. */
int as_exchange_write_files(const struct as_exchange_file *it, size_t n, void *context,
                            struct assay_error *err);

#endif
