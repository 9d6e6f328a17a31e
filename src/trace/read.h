/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading streams that agents wrote: foreign bytes. A thread's events come in the order of time, in
 * nanoseconds; a time is found by the index of blocks, and only the block that is read is in
 * memory. What is damaged is left out and counted. One thread uses a stream at a time.
 */
#ifndef AS_TRACE_READ_H
#define AS_TRACE_READ_H

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "base/vec.h"
#include "trace/record.h"

/* Fields of numbers, by kind as in AS_TRACE_KINDS; a shorter name for those that are used most. */
struct as_trace_event {
    int64_t raw_ns;  /* CLOCK_MONOTONIC_RAW of its machine */
    uint8_t kind;    /* as_trace_kind */
    uint32_t size_b; /* of the record in the stream */
    union {
        int64_t field[8];
        int64_t name; /* ENTER, LEAVE, EVENT, COUNTER: as_trace_name */
        struct {
            int64_t partner, tag, size_b, comm, request, bits;
        } message; /* SEND, POST; RECEIVE (no bits); PROBE (request: found) */
        struct {
            int64_t comm, request, root, sent_b, received_b, bits;
        } collective;
        struct {
            int64_t comm, global, size, rank, bits;
        } comm;
        struct {
            int64_t address, kind;
        } lock;
        struct {
            int64_t region, index, threads;
        } parallel; /* PARALLEL: index is the threads asked for, threads the function */
        struct {
            int64_t fd, size_b, offset, way; /* as_trace_io */
        } io;
        struct {
            int64_t calls, inside_ns, longest_ns;
        } repeated;
        struct {
            int64_t address, size_b;
        } memory;
        struct {
            int64_t what, partner, tag, comm, n; /* as_trace_missed */
        } missed;
        int64_t request; /* START, DONE, CANCELLED, FREED, PARTS */
        struct {
            int64_t target, size_b, window;
        } access; /* RMA */
        struct {
            int64_t window, kind, rank; /* as_trace_rma_sync */
        } sync;
        struct {
            int64_t name, value;
        } counter;
        struct {
            int64_t sent_b, received_b;
        } traffic;
        struct {
            int64_t period_ns; /* of CPU time; `list`: where it is, and its callers */
        } sample;
    };
    struct as_view text, value; /* until the next call; `value` of a FACT */
    const uint64_t *list;       /* until the next call */
    size_t list_n;
};

/* Names and fields of a kind in AS_TRACE_KINDS: as many, but for a list or a text behind them. */
#define AS_TRACE_ENUM(kind, name, fields) AS_TRACE_##kind##_FIELDS_N = sizeof(fields) - 1,
enum as_trace_field_counts { AS_TRACE_KINDS(AS_TRACE_ENUM) };
#undef AS_TRACE_ENUM
#define AS_TRACE_HAS_FIELDS(KIND, member)                                                          \
    _Static_assert(sizeof(((struct as_trace_event *)0)->member) ==                                 \
                       AS_TRACE_##KIND##_FIELDS_N * sizeof(int64_t),                               \
                   "fields of " #KIND)
AS_TRACE_HAS_FIELDS(SEND, message);
AS_TRACE_HAS_FIELDS(POST, message);
AS_TRACE_HAS_FIELDS(COLLECTIVE, collective);
AS_TRACE_HAS_FIELDS(LOCK_WAIT, lock);
AS_TRACE_HAS_FIELDS(IMPLICIT, parallel);
AS_TRACE_HAS_FIELDS(IO, io);
AS_TRACE_HAS_FIELDS(REPEATED, repeated);
AS_TRACE_HAS_FIELDS(ALLOCATE, memory);
AS_TRACE_HAS_FIELDS(MISSED, missed);
AS_TRACE_HAS_FIELDS(TRAFFIC, traffic);
AS_TRACE_HAS_FIELDS(DONE, request);
AS_TRACE_HAS_FIELDS(RMA, access);
AS_TRACE_HAS_FIELDS(SYNC, sync);
AS_TRACE_HAS_FIELDS(COUNTER, counter);

struct as_trace_stream_facts {
    uint32_t pid, tid, parent_tid;
    uint32_t clock, end; /* as_trace_clock, as_trace_end */
    int end_errno;
    bool is_ring;           /* what was before its first block may be gone */
    uint64_t overwritten_n; /* blocks of a ring that are gone */
    uint64_t blocks_n;      /* that can be read */
    uint64_t records_n;     /* read until now */
    uint64_t lost_n;        /* records that were not written */
    uint64_t samples_lost_n;
    uint64_t filtered_n;  /* calls that the user's filter leaves out */
    uint64_t damaged_n;   /* blocks of which some or all could not be read, until now */
    uint64_t size_b;      /* of the file */
    int64_t begin_raw_ns; /* of the stream */
    int64_t end_raw_ns;   /* its latest pair of clocks: it is not shorter than that */
    int64_t monotonic_less_raw_ns, real_less_raw_ns; /* at its beginning */
    int64_t shift_ns; /* that was added to its times at its beginning (another machine's clock) */
    int64_t residual_ns; /* how far blocks' pairs of clocks lie from the straight line, at most */
    char name[AS_TRACE_NAME_B];
};

struct as_trace_stream;

/* `path` relative to the directory `at`, or AT_FDCWD. Errors: NOT_FOUND and IO (of the file),
 * CORRUPT (no stream), UNSUPPORTED (of another version), NOMEM. */
int as_trace_stream_open(int at, const char *path, struct as_trace_stream **out,
                         struct assay_error *err);
void as_trace_stream_close(struct as_trace_stream **stream); /* NULL inside is fine */
const struct as_trace_stream_facts *as_trace_stream_facts(const struct as_trace_stream *stream);

/* 1 and the next event, 0 at the end. Errors: IO, NOMEM. */
int as_trace_stream_next(struct as_trace_stream *stream, struct as_trace_event *out,
                         struct assay_error *err);
/* The next event will be the first at `raw_ns` or later (the very first: INT64_MIN). Reads one
 * block. Errors: as above. */
int as_trace_stream_seek(struct as_trace_stream *stream, int64_t raw_ns, struct assay_error *err);

/* Since when all of it is there: its beginning, or that of the first block of a ring that is left.
 */
int64_t as_trace_stream_kept_ns(const struct as_trace_stream *stream);

/* From now on times are those of another clock: `shift_ns` more at `at_ns` (of its own), and so
 * much more for each nanosecond after (less than 0.01 either way). Facts too. Seek before the next
 * event.
 */
void as_trace_stream_shift(struct as_trace_stream *stream, int64_t at_ns, int64_t shift_ns,
                           double rate);

/* "enter", "send", ...; "?" for a number that is no kind. And "mpi-point", ... */
const char *as_trace_kind_name(unsigned kind);
const char *as_trace_group_name(unsigned group);

/* Which of two begins earlier, or has later readings of its clocks; a counter's alone. NULL is
 * none. */
const struct as_trace_stream *as_trace_stream_longer(const struct as_trace_stream *a,
                                                     const struct as_trace_stream *b, bool at_end);
/* From now on its time is that of the straight line from the beginning of one to the end of another
 * of the same machine, so that threads agree. Left as it is where it does not fit. */
void as_trace_stream_share_clock(struct as_trace_stream *stream,
                                 const struct as_trace_stream *first,
                                 const struct as_trace_stream *last);

/* ---- A run -------------------------------------------------------------------------------- */

struct as_trace_name {
    uint32_t group;   /* as_trace_group */
    const char *text; /* NULL: nobody defined this number */
    uint64_t address; /* of a function of the program, in the process; 0: it is none */
};

struct as_trace_comm {
    uint64_t comm;   /* in events of this process, from 1 */
    uint64_t global; /* the same in all its processes, and of no other; 0: not known */
    uint64_t size;
    int64_t rank; /* of this process in it */
    uint64_t bits;
    const char *name;       /* NULL: it has none */
    const uint64_t *member; /* world ranks (of an inter-communicator those of the other group) */
    size_t member_n;
    /* Of a topology, by rank in it: this process's in-neighbours, then its out-neighbours. NULL:
     * it has none. */
    const uint64_t *neighbour;
    size_t in_n, out_n;
    /* The Cartesian topology: sizes of its dimensions, then whether each is periodic, then this
     * process's own coordinates. NULL: it has none. */
    const uint64_t *grid;
    size_t grid_n; /* dimensions */
};

/* A function and line of an imported trace, which has no addresses. "": not known. */
struct as_trace_place {
    const char *function; /* for people */
    const char *linkage;  /* as the trace names the function */
    const char *file;     /* of source */
    const char *code;     /* file of code */
    uint32_t line;        /* 0: not known */
};

/* For one-sided access. */
struct as_trace_window {
    uint64_t window; /* in events of this process, from 1 */
    uint64_t comm;   /* whose members have a part of it: number in this process */
};

/* A file of code, mapped. */
struct as_trace_module {
    uint64_t start, size_b;
    uint64_t address; /* that the start has in the file */
    const char *path;
};

/* A clock and that of rank 0's machine at one moment. */
struct as_trace_relation {
    int64_t own_ns, reference_ns, uncertain_ns;
};

/* How times of a process became those of the reference. */
enum as_trace_related {
    AS_TRACE_ONE_CLOCK, /* it ran on the machine of rank 0, or nobody knows where */
    AS_TRACE_MEASURED,  /* by messages, at least at one moment */
    AS_TRACE_BY_DAY     /* by the time of day of both machines: milliseconds at best */
};

/* How a process's clock was corrected: the same for all of a machine. */
struct as_trace_correction {
    enum as_trace_related related;
    int64_t shift_ns;     /* what was added at its first measurement, or at its beginning */
    double drift;         /* and so much more for each nanosecond after that */
    int64_t uncertain_ns; /* of its times, at most: half of the round trips, and as far as relations
                             lie off the straight line more than theirs explain; -1: not known */
    int64_t residual_ns;  /* how far relations lie from that line, at most */
    uint32_t relation_n;
    bool has_drift; /* it was measured at the beginning and at the end */
};

/* From one execution of a program to the next. */
struct as_trace_process {
    uint32_t pid;
    uint64_t begun_ns;                   /* of its name: CLOCK_MONOTONIC */
    int64_t rank, size;                  /* in MPI_COMM_WORLD; -1: no rank */
    const char *machine;                 /* "": not known */
    const char *machine_number;          /* of names alike tells machines apart; "": not known */
    struct as_trace_stream *definitions; /* NULL: there are none */
    AS_VEC(struct as_trace_stream *) thread; /* by when they began */
    AS_VEC(struct as_trace_name) name;       /* by number */
    AS_VEC(struct as_trace_comm) comm;       /* in order of definition */
    bool comms_mixed; /* their numbers do not rise, as they do but for damage and imports */
    AS_VEC(struct as_trace_window) window; /* in order of definition */
    AS_VEC(struct as_trace_module) module; /* that callers are in, in order of definition */
    AS_VEC(struct as_trace_place) place;   /* of an imported trace: number k is k + 1 */
    AS_VEC(struct as_trace_relation) relation;
    struct as_trace_correction clock;
    bool has_libgomp; /* its regions of OpenMP are gcc's, which divides loops itself */
    AS_VEC(char *) owned;
};

/* What functions and lines stand where in files of code, for who exports a trace. NULL, or false:
 * not known. */
struct as_trace_code {
    void *context;
    const char *(*function)(void *context, const struct as_trace_module *module, uint64_t in_file);
    bool (*line)(void *context, const struct as_trace_module *module, uint64_t in_file,
                 const char **file, uint32_t *line);
};

struct as_trace {
    AS_VEC(struct as_trace_process) process; /* by rank, then by when they began */
    uint64_t damaged_n;                      /* files and definitions that make no sense */
    uint64_t left_out_n;              /* processes that are no ranks, where others are: launchers */
    const struct as_trace_code *code; /* of who opened it; NULL: nobody knows */
};

/* Whether two have one clock, as far as they said where they run. */
bool as_trace_is_one_machine(const struct as_trace_process *a, const struct as_trace_process *b);
/* Whether it is the first of a machine whose clock is not that of rank 0's: one for each. */
bool as_trace_is_of_other_clock(const struct as_trace *trace, const struct as_trace_process *p);
/* clocks.c: makes times of all processes those of one clock; as_trace_open does. */
void as_trace_relate(struct as_trace *trace);

/* All streams of a directory, with definitions read, in times of one clock. Errors: NOT_FOUND,
 * NOMEM, IO. */
int as_trace_open(const char *directory, struct as_trace *out, struct assay_error *err);
void as_trace_close(struct as_trace *trace);

/* Parts of the name of a stream's file, "stream.PID.TIME.TID"; false: it is none. */
bool as_trace_name_parse(const char *name, uint32_t *pid, uint64_t *time_ns, uint32_t *tid);

/* What ENTER and the like name; text "?" where nobody said. */
struct as_trace_name as_trace_name_of(const struct as_trace_process *process, int64_t number);
/* Where an address of CALLERS lies, and what it is in that file. NULL: nobody said. */
const struct as_trace_module *as_trace_module_of(const struct as_trace_process *process,
                                                 uint64_t address, uint64_t *in_file);
/* The place that stands for an address in an imported trace. NULL: there is none. */
const struct as_trace_place *as_trace_place_of(const struct as_trace_process *process,
                                               uint64_t address);
/* NULL: not defined. */
const struct as_trace_comm *as_trace_comm_of(const struct as_trace_process *process, int64_t comm);

#endif
