/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a trace of assay from another trace, as if the agent had written it (trace/record.h). It
 * has processes with definitions, and threads with records. Times are ns of the other trace, at
 * least 0. Only one thread may use a maker.
 */
#ifndef AS_EXCHANGE_MAKER_H
#define AS_EXCHANGE_MAKER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "trace/record.h"

/* Max streams of a trace: each needs two mappings, and a process may have 65530. */
#define AS_MAKER_THREADS_MOST 30000u

struct as_trace_maker;

/* Creates a maker for the existing directory `directory`, which stays empty until a process is
 * added. Returns 0 or NOMEM. */
int as_maker_new(const char *directory, struct as_trace_maker **out, struct as_error *err);
/* Ends unfinished streams at their last record. */
void as_maker_free(struct as_trace_maker **maker);

/* Adds a process. `*process` counts from 0. `machine` may be "". Errors: IO, NOMEM. */
int as_maker_add_process(struct as_trace_maker *maker, const char *machine, uint32_t *process,
                         struct as_error *err);
/* Adds a thread. `*thread` counts from 0 over all processes. `name` may be "". Errors: IO, NOMEM,
 * LIMIT. */
int as_maker_add_thread(struct as_trace_maker *maker, uint32_t process, const char *name,
                        int64_t begin_ns, uint32_t *thread, struct as_error *err);

/* ---- Definitions ---- */
void as_maker_world(struct as_trace_maker *maker, uint32_t process, uint64_t rank, uint64_t size);
/* Names a routine; `number` counts from 1. `group` is as_trace_group. */
void as_maker_name(struct as_trace_maker *maker, uint32_t process, uint64_t number, uint32_t group,
                   const char *text);
void as_maker_comm(struct as_trace_maker *maker, uint32_t process, uint64_t comm, uint64_t global,
                   uint64_t rank, const uint64_t *member, size_t member_n, const char *name);
/* Defines the Cartesian topology of a communicator. `list` has three values per dimension: size,
 * periodicity, own coordinate. */
void as_maker_grid(struct as_trace_maker *maker, uint32_t process, uint64_t comm,
                   const uint64_t *list, size_t dimensions_n);
/* Defines a window of one-sided access of the members of `comm`; `window` counts from 1. */
void as_maker_window(struct as_trace_maker *maker, uint32_t process, uint64_t window,
                     uint64_t comm);
/* A code position. `number` counts from 1 without gaps. It stands for an address in CALLERS, SAMPLE
 * and as_maker_function. `line` is 0 if unknown. */
struct as_made_place {
    struct as_view function, file, code; /* empty: unknown */
};
void as_maker_place(struct as_trace_maker *maker, uint32_t process, uint64_t number, uint32_t line,
                    const struct as_made_place *place);
/* Defines that routine `name` is a function of the program at this position. */
void as_maker_function(struct as_trace_maker *maker, uint32_t process, uint64_t name,
                       uint64_t place);
void as_maker_fact(struct as_trace_maker *maker, uint32_t process, const char *key,
                   const char *value);

/* ---- Records: times never decrease; signed fields are plain (not zigzag) ---- */
void as_maker_emit(struct as_trace_maker *maker, uint32_t thread, enum as_trace_kind kind,
                   int64_t ns, const int64_t *field);

/* Writes the call positions of the last call, innermost first; 0: unknown. */
void as_maker_callers(struct as_trace_maker *maker, uint32_t thread, const uint64_t *place,
                      size_t n);
/* Writes a sample. The thread was at the first position, called from the others. */
void as_maker_sample(struct as_trace_maker *maker, uint32_t thread, int64_t ns, int64_t period_ns,
                     const uint64_t *place, size_t n);

/* Completes the stream of a thread at `end_ns`, or at its last record if that is later. */
void as_maker_end_thread(struct as_trace_maker *maker, uint32_t thread, int64_t end_ns);
/* Closes all streams. Returns 0 if all records are in the files. Errors: IO. */
int as_maker_finish(struct as_trace_maker *maker, struct as_error *err);

#endif
