/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making a trace of our own of another's: processes with their definitions, threads with their
 * records, as if our agent had written them (trace/record.h). Times are nanoseconds of the other's
 * trace, not negative. One thread uses a maker.
 */
#ifndef AS_EXCHANGE_MAKER_H
#define AS_EXCHANGE_MAKER_H

#include <assay/error.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "trace/record.h"

/* Streams of one trace: each holds two mappings, of which a process may have 65530. */
#define AS_MAKER_THREADS_MOST 30000u

struct as_trace_maker;

/* In `directory`, which is there and stays empty until a process is added. 0 or NOMEM. */
int as_maker_new(const char *directory, struct as_trace_maker **out, struct assay_error *err);
/* Streams that are not finished end where they are. */
void as_maker_free(struct as_trace_maker **maker);

/* Numbers from 0. `machine` may be "". Errors here and below: IO (the disk), NOMEM. */
int as_maker_add_process(struct as_trace_maker *maker, const char *machine, uint32_t *process,
                         struct assay_error *err);
/* Numbers from 0 over all processes. `name` may be "". Errors: also LIMIT. */
int as_maker_add_thread(struct as_trace_maker *maker, uint32_t process, const char *name,
                        int64_t begin_ns, uint32_t *thread, struct assay_error *err);

/* ---- Definitions ---- */
void as_maker_world(struct as_trace_maker *maker, uint32_t process, uint64_t rank, uint64_t size);
/* `number` from 1. `group`: as_trace_group. */
void as_maker_name(struct as_trace_maker *maker, uint32_t process, uint64_t number, uint32_t group,
                   const char *text);
void as_maker_comm(struct as_trace_maker *maker, uint32_t process, uint64_t comm, uint64_t global,
                   uint64_t rank, const uint64_t *member, size_t member_n, const char *name);
/* The Cartesian topology of a communicator: sizes of n dimensions, whether they are periodic, own
 * coordinates. */
void as_maker_grid(struct as_trace_maker *maker, uint32_t process, uint64_t comm,
                   const uint64_t *list, size_t dimensions_n);
/* A window of one-sided access, from 1, of the members of `comm`. */
void as_maker_window(struct as_trace_maker *maker, uint32_t process, uint64_t window,
                     uint64_t comm);
/* `number` from 1, one after the other, which stands for an address in CALLERS, SAMPLE and
 * as_maker_function. `line` 0: not known. */
struct as_made_place {
    struct as_view function, file, code; /* empty: not known */
};
void as_maker_place(struct as_trace_maker *maker, uint32_t process, uint64_t number, uint32_t line,
                    const struct as_made_place *place);
/* The routine of this number is a function of the program at that place. */
void as_maker_function(struct as_trace_maker *maker, uint32_t process, uint64_t name,
                       uint64_t place);
void as_maker_fact(struct as_trace_maker *maker, uint32_t process, const char *key,
                   const char *value);

/* ---- Records: times do not go back; signed fields as they are (not zigzag) ---- */
void as_maker_emit(struct as_trace_maker *maker, uint32_t thread, enum as_trace_kind kind,
                   int64_t ns, const int64_t *field);

/* Places that the call that was put last was made from, the innermost first; 0: not known. */
void as_maker_callers(struct as_trace_maker *maker, uint32_t thread, const uint64_t *place,
                      size_t n);
/* The thread was at the first place, and that was called from the others. */
void as_maker_sample(struct as_trace_maker *maker, uint32_t thread, int64_t ns, int64_t period_ns,
                     const uint64_t *place, size_t n);

/* The thread's stream is whole at `end_ns`, or at its last record where that is later. */
void as_maker_end_thread(struct as_trace_maker *maker, uint32_t thread, int64_t end_ns);
/* Whether all that was put is in the files. Errors: IO. */
int as_maker_finish(struct as_trace_maker *maker, struct assay_error *err);

#endif
