/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the streams of agents, which may be damaged. The events of a thread are sorted by time in
 * ns. An index of blocks finds a time, and only the current block is in memory. Damaged parts are
 * left out and counted. A stream must be used by one thread at a time.
 */
#ifndef AS_TRACE_READ_H
#define AS_TRACE_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "trace/record.h"

/* An event. `field` has the numbers of its kind as in AS_TRACE_KINDS; other members name the most
 * frequent ones. */
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
            int64_t period_ns; /* CPU time; `list` has the address and its callers */
        } sample;
    };
    struct as_view text, value; /* valid until the next call; `value` of a FACT */
    const uint64_t *list;       /* valid until the next call */
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
    bool is_ring;           /* events before its first block may be overwritten */
    uint64_t overwritten_n; /* overwritten blocks of a ring */
    uint64_t blocks_n;      /* readable blocks */
    uint64_t records_n;     /* records read so far */
    uint64_t lost_n;        /* records that were not written */
    uint64_t samples_lost_n;
    uint64_t filtered_n;  /* calls that the user's filter leaves out */
    uint64_t damaged_n;   /* partly or wholly damaged blocks found so far */
    uint64_t size_b;      /* of the file */
    int64_t begin_raw_ns; /* of the stream */
    int64_t end_raw_ns;   /* of its latest pair of clock readings; records may be later */
    int64_t monotonic_less_raw_ns, real_less_raw_ns; /* clock differences at its beginning */
    int64_t shift_ns;    /* added to times at its beginning, for the clock of another machine */
    int64_t residual_ns; /* max distance of clock readings of blocks from the straight line */
    char name[AS_TRACE_NAME_B];
};

struct as_trace_stream;

/* Opens the stream at `path`, relative to the directory `at`, or AT_FDCWD. The caller closes
 * `*out`. Errors: NOT_FOUND, IO, CORRUPT (not a stream), UNSUPPORTED (another version), NOMEM. */
int as_trace_stream_open(int at, const char *path, struct as_trace_stream **out,
                         struct as_error *err);
void as_trace_stream_close(struct as_trace_stream **stream); /* *stream may be NULL */
const struct as_trace_stream_facts *as_trace_stream_facts(const struct as_trace_stream *stream);

/* Reads the next event. Returns 1, or 0 at the end. Errors: IO, NOMEM. */
int as_trace_stream_next(struct as_trace_stream *stream, struct as_trace_event *out,
                         struct as_error *err);
/* The next event will be the first at `raw_ns` or later (the very first: INT64_MIN). Reads one
 * block. Errors: as above. */
int as_trace_stream_seek(struct as_trace_stream *stream, int64_t raw_ns, struct as_error *err);

/* Returns whether a stream is of a queue of a device, and of no thread (devices.h). */
static inline bool as_trace_is_queue(uint32_t tid)
{
    return tid & AS_TRACE_QUEUE_TID;
}

/* Since when all of it is there: its beginning, or that of the first block of a ring that is left.
 */
int64_t as_trace_stream_kept_ns(const struct as_trace_stream *stream);

/* Converts the times of events and facts to another clock. `shift_ns` is added at time `at_ns` of
 * the own clock, and `rate` ns for each ns after that (from -0.01 to 0.01). Seek before the next
 * event. */
void as_trace_stream_shift(struct as_trace_stream *stream, int64_t at_ns, int64_t shift_ns,
                           double rate);

/* Return the name of a kind ("enter", "send") and of a group ("mpi-point"); "?" for an unknown
 * number. */
const char *as_trace_kind_name(unsigned kind);
const char *as_trace_group_name(unsigned group);

/* Returns the stream that begins earlier, or with `at_end` has the later clock reading. Streams
 * without the TSC as their clock are ignored. Both may be NULL. */
const struct as_trace_stream *as_trace_stream_longer(const struct as_trace_stream *a,
                                                     const struct as_trace_stream *b, bool at_end);
/* Converts times by the straight line from the beginning of `first` to the end of `last`. All three
 * streams are of one machine, and its threads then agree. Does nothing if the line does not fit. */
void as_trace_stream_share_clock(struct as_trace_stream *stream,
                                 const struct as_trace_stream *first,
                                 const struct as_trace_stream *last);

/* ---- A run -------------------------------------------------------------------------------- */

struct as_trace_name {
    uint32_t group;   /* as_trace_group */
    const char *text; /* NULL: the number is not defined */
    uint64_t address; /* of a function of the program, in the process; 0: not a function */
};

struct as_trace_comm {
    uint64_t comm;   /* number in events of this process, from 1 */
    uint64_t global; /* number that is unique in the run, equal in all members; 0 = unknown */
    uint64_t size;
    int64_t rank; /* of this process in the communicator */
    uint64_t bits;
    const char *name;       /* NULL: it has no name */
    const uint64_t *member; /* world ranks; of the other group for an inter-communicator */
    size_t member_n;
    /* Ranks of a topology: in-neighbours of this process, then its out-neighbours. NULL: there is
     * no topology. */
    const uint64_t *neighbour;
    size_t in_n, out_n;
    /* Cartesian topology: sizes of its dimensions, then 1 for each periodic dimension, then the
     * coordinates of this process. NULL: there is none. */
    const uint64_t *grid;
    size_t grid_n; /* number of dimensions */
};

/* A function and line of an imported trace, which has no addresses. "" = unknown. */
struct as_trace_place {
    const char *function; /* readable name */
    const char *linkage;  /* name in the trace */
    const char *file;     /* source file */
    const char *code;     /* program or library */
    uint32_t line;        /* 0 = unknown */
};

/* A window for one-sided access. */
struct as_trace_window {
    uint64_t window; /* number in events of this process, from 1 */
    uint64_t comm;   /* communicator of its members: number in this process */
};

/* A mapped program or library. */
struct as_trace_module {
    uint64_t start, size_b;
    uint64_t address; /* link-time address of the start */
    const char *path;
};

/* Readings of the own clock and of the clock of rank 0's machine at one moment. */
struct as_trace_relation {
    int64_t own_ns, reference_ns, uncertain_ns;
};

/* Method that converted the times of a process to the reference clock. */
enum as_trace_related {
    AS_TRACE_ONE_CLOCK, /* it ran on the machine of rank 0, or its machine is unknown */
    AS_TRACE_MEASURED,  /* by messages, at least at one moment */
    AS_TRACE_BY_DAY     /* by the time of day of both machines, exact to milliseconds at best */
};

/* Correction of the clock of a process, equal for all processes of a machine. */
struct as_trace_correction {
    enum as_trace_related related;
    int64_t shift_ns;     /* added at its first measurement, or at its beginning */
    double drift;         /* ns added for each ns after that */
    int64_t uncertain_ns; /* max error of its times: half of the round trips, and the distance of
                             measurements from the line that these do not explain; -1 = unknown */
    int64_t residual_ns;  /* max distance of measurements from that line */
    uint32_t relation_n;
    bool has_drift; /* there are measurements at the beginning and at the end */
};

/* A process, from one exec to the next. */
struct as_trace_process {
    uint32_t pid;
    uint64_t begun_ns;                   /* TIME in the names of its files: CLOCK_MONOTONIC */
    int64_t rank, size;                  /* in MPI_COMM_WORLD; rank -1: not a rank */
    const char *machine;                 /* host name; "" = unknown */
    const char *machine_number;          /* distinguishes machines with equal names; "" = unknown */
    struct as_trace_stream *definitions; /* NULL: there is no such file */
    AS_VEC(struct as_trace_stream *) thread; /* sorted by begin */
    AS_VEC(struct as_trace_name) name;       /* by number */
    AS_VEC(struct as_trace_comm) comm;       /* in order of definition */
    bool comms_mixed; /* numbers in `comm` do not rise: a damaged or an imported trace */
    AS_VEC(struct as_trace_window) window; /* in order of definition */
    AS_VEC(struct as_trace_module) module; /* of caller addresses, in order of definition */
    AS_VEC(struct as_trace_place) place;   /* of an imported trace: place[k] has number k + 1 */
    AS_VEC(struct as_trace_relation) relation;
    struct as_trace_correction clock;
    bool has_libgomp; /* its OpenMP runtime is libgomp; code of gcc divides loops itself */
    AS_VEC(char *) owned;
};

/* Callbacks that find the function and the line of an address, for the export of a trace. They
 * return NULL or false if it is unknown. */
struct as_trace_code {
    void *context;
    const char *(*function)(void *context, const struct as_trace_module *module, uint64_t in_file);
    bool (*line)(void *context, const struct as_trace_module *module, uint64_t in_file,
                 const char **file, uint32_t *line);
};

struct as_trace {
    AS_VEC(struct as_trace_process) process; /* sorted by rank, then by begin */
    uint64_t damaged_n;                      /* damaged files and definitions */
    uint64_t left_out_n;              /* launchers: processes without a rank in a run with ranks */
    const struct as_trace_code *code; /* set by the caller; NULL: functions and lines are unknown */
};

/* Returns true if both processes ran on one machine, by its number, else by its name. */
bool as_trace_is_one_machine(const struct as_trace_process *a, const struct as_trace_process *b);
/* Returns true for the first process of each machine that has another clock than rank 0. */
bool as_trace_is_of_other_clock(const struct as_trace *trace, const struct as_trace_process *p);
/* clocks.c: converts the times of all processes to one clock. as_trace_open calls it. */
void as_trace_relate(struct as_trace *trace);

/* All streams of a directory, with definitions read, in times of one clock. Errors: NOT_FOUND,
 * NOMEM, IO. */
int as_trace_open(const char *directory, struct as_trace *out, struct as_error *err);
/* The same with launchers, and in times of each machine's own clock. */
int as_trace_open_unrelated(const char *directory, struct as_trace *out, struct as_error *err);
void as_trace_close(struct as_trace *trace);

/* Parses the file name of a stream, "stream.PID.TIME.TID". Returns false for other names. */
bool as_trace_name_parse(const char *name, uint32_t *pid, uint64_t *time_ns, uint32_t *tid);

/* Returns the name with a number, as in ENTER. Its text is "?" if the number is not defined. */
struct as_trace_name as_trace_name_of(const struct as_trace_process *process, int64_t number);
/* Returns the module of an address of CALLERS, and its link-time address in *in_file. NULL if the
 * module is unknown. */
const struct as_trace_module *as_trace_module_of(const struct as_trace_process *process,
                                                 uint64_t address, uint64_t *in_file);
/* Returns the place for the number that an imported trace has instead of an address. NULL if there
 * is none. */
const struct as_trace_place *as_trace_place_of(const struct as_trace_process *process,
                                               uint64_t address);
/* Returns the communicator with this number; NULL if it is not defined. */
const struct as_trace_comm *as_trace_comm_of(const struct as_trace_process *process, int64_t comm);

#endif
