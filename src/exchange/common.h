/* SPDX-License-Identifier: Apache-2.0 */
/* What writers of all formats need. */
#ifndef AS_EXCHANGE_COMMON_H
#define AS_EXCHANGE_COMMON_H

#include "base/out.h"
#include "trace/read.h"

/* When the first stream began, in nanoseconds of the trace: files count from there. 0: there are no
 * streams. */
int64_t as_exchange_begin_ns(const struct as_trace *trace);

/* Returns the name of a queue of a device, which is the n-th thread of the trace; NULL: it is a
 * thread. */
const char *as_exchange_queue_name(const struct as_trace *trace, size_t n);

/* The code at an address of a process; texts live as the trace and its code. */
struct as_exchange_place {
    const char *function; /* or else the file of code; NULL: not known */
    const char *file;     /* of source, if there is a line */
    const char *code;     /* file of code, "": not known */
    uint32_t line;        /* 0: not known */
};

/* `is_return`: the address is that to which a call returns, which stands before. */
void as_exchange_place_of(const struct as_trace *trace, const struct as_trace_process *process,
                          uint64_t address, bool is_return, struct as_exchange_place *out);

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
