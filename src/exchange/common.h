/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the writers of all formats. */
#ifndef AS_EXCHANGE_COMMON_H
#define AS_EXCHANGE_COMMON_H

#include "base/out.h"
#include "trace/read.h"

/* Returns the start of the first stream in ns of the trace; written files count from it. Returns 0
 * for a trace without streams. */
int64_t as_exchange_begin_ns(const struct as_trace *trace);

/* Returns the name of the queue that is the n-th thread of the trace, or NULL for a thread. */
const char *as_exchange_queue_name(const struct as_trace *trace, size_t n);

/* The code at an address of a process. The texts live as long as the trace and its code. */
struct as_exchange_place {
    const char *function; /* or the name of the code file; NULL: unknown */
    const char *file;     /* source file if `line` is known */
    const char *code;     /* code file; "": unknown */
    uint32_t line;        /* 0: unknown */
};

/* Finds the code at an address. `is_return`: the address is a return address, so the call before it
 * counts. */
void as_exchange_place_of(const struct as_trace *trace, const struct as_trace_process *process,
                          uint64_t address, bool is_return, struct as_exchange_place *out);

typedef int as_exchange_put(void *context, struct as_out *out, struct as_error *err);

struct as_exchange_file {
    const char *path;
    as_exchange_put *put; /* writes the content */
};

#define AS_EXCHANGE_FILES_MAX 3

/* Writes the files in this order. If one fails, no file changes. Errors: IO, USAGE (a directory),
 * and those of `put`. */
int as_exchange_write_files(const struct as_exchange_file *it, size_t n, void *context,
                            struct as_error *err);

#endif
