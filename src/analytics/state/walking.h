/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk through a trace: its state at each event. Each concern has a file, which receives the
 * events that it needs: activities of threads (activity.c), MPI (mpi.c), waits between threads
 * (threads.c), teams of OpenMP (omp_teams.c).
 */
#ifndef AS_ANALYTICS_WALKING_H
#define AS_ANALYTICS_WALKING_H

#include <stddef.h>

#include "analytics/match/groups.h"
#include "analytics/match/neighbours.h"
#include "analytics/omp/omp_teams.h"
#include "analytics/state/analysis.h"
#include "analytics/state/interest.h"
#include "analytics/state/phases.h"
#include "base/id_table.h"
#include "base/index.h"

/* A call frame: a routine that a thread is in. */
struct as_open_call {
    int64_t name; /* number of the name in the process */
    uint32_t routine, group;
    uint64_t address; /* return address in the caller, or entry of a function; 0: unknown */
    bool is_function;
    int64_t enter_ns;
    uint64_t sent_b, received_b;
    uint64_t calls_n;              /* calls that the record stands for */
    int64_t inside_ns, longest_ns; /* total and longest time of these calls; 0: the record is one
                                    * call */
    bool moves_data;               /* set when it is left: the call starts or completes a
                                    * transfer */
    int64_t awaits;                /* number of the name of the device queue that it waits for; 0:
                                    * none */
};

/* A record of a call. It counts when the call is left, because its end is known then. The fields
 * are those of as_trace_event. */
struct as_call_record {
    int64_t ns;
    uint8_t kind;
    union {
        int64_t field[6];
        struct {
            int64_t partner, tag, size_b, comm, request, bits;
        } message;
        struct {
            int64_t comm, request, root, sent_b, received_b, bits;
        } collective;
        int64_t request;
        struct {
            int64_t target, size_b, window;
        } access;
        struct {
            int64_t window, kind, rank;
        } sync;
    };
};
#define AS_CALL_RECORD_IS_EVENT(member)                                                            \
    _Static_assert(sizeof(((struct as_call_record *)0)->member) ==                                 \
                       sizeof(((struct as_trace_event *)0)->member),                               \
                   "fields of " #member)
AS_CALL_RECORD_IS_EVENT(message);
AS_CALL_RECORD_IS_EVENT(collective);
AS_CALL_RECORD_IS_EVENT(access);
AS_CALL_RECORD_IS_EVENT(sync);

struct as_team {
    int64_t region, index, threads;
};

/* A recent call of the thread: the indices of its site and of its sum. */
struct as_call_known {
    uint64_t address;
    uint32_t routine, site;
    uint32_t sum;  /* UINT32_MAX: unknown */
    bool is_known; /* false: an empty slot */
};
#define AS_CALLS_KNOWN 16u

/* The state of a trace thread at the current event. */
struct as_walker {
    uint32_t location, process;
    AS_VEC(struct as_open_call) frame;
    size_t speaking_n;                    /* frames up to the outermost MPI call; 0: outside MPI */
    AS_VEC(struct as_call_record) record; /* records of that call */
    AS_VEC(struct as_team) team;          /* implicit tasks of the thread */
    uint32_t depth[AS_ACTIVITIES_N];
    int64_t since_ns;             /* begin of its current activity */
    AS_VEC(uint32_t) task;        /* explicit tasks: the OpenMP depth outside of each */
    bool awaits_team;             /* the region that it has left has not ended */
    uint32_t ended_n;             /* regions that it has left and other threads have not */
    int64_t kept_ns;              /* end of the overwritten part of its ring; INT64_MIN: complete */
    int64_t lock_ns;              /* begin of its wait for a lock; INT64_MIN: none */
    int64_t handle;               /* handle of the thread itself; 0: unknown */
    int64_t join_handle, join_ns; /* thread that it joins, since when; INT64_MIN: none */
    int64_t spare_ns;             /* begin of is_spare */
    bool has_worked, is_spare;    /* took part in a parallel region; is a worker between two
                                   * regions */
    bool is_over;                 /* without further events */
    int64_t queue;                /* device queue: number of its name; 0: a thread */
    int64_t done_ns;              /* of a queue: end of its latest command, or begin of the queue */
    uint32_t done_site;           /* site of that command; AS_WAIT_UNKNOWN: none */
    bool is_off, was_off;         /* tracing is off; was off before */
    int64_t on_ns, on_computing_ns; /* tracing is on since; time computed before */
    int64_t on_interest_ns;         /* time computed before in the region of interest */
    struct as_wait_recent recent;
    struct as_call_known known[AS_CALLS_KNOWN]; /* slots by bits of routine and address */
};

struct as_trace_part;
struct as_lock;
struct as_site_seen;

struct as_trace_walk {
    const struct as_trace *trace;
    const struct as_analysis_watch *watch; /* NULL: without callbacks */
    struct as_analysis *out;
    AS_VEC(struct as_walker) walker; /* by trace thread */
    AS_VEC(uint32_t *) routine;      /* by process and name number: index in `text` */
    AS_VEC(const char *) text;
    AS_VEC(uint8_t) collective; /* by routine: as_collective_kind; AS_COLLECTIVE_KINDS_N: none */
    AS_VEC(uint8_t) send_bits;  /* by routine: as_message_bits of its sends */
    AS_VEC(uint8_t) is_file;    /* by routine: an MPI call that reads or writes a file */
    struct as_index texts, sites, places, sums, traffics, lock_rows;
    struct as_messages *messages;
    struct as_collectives *collectives;
    struct as_neighbour_table *near;
    struct as_groups *groups;
    struct as_windows *windows;
    struct as_channels *channels;
    struct as_tasks *tasks;
    struct as_phases *phases;           /* NULL: not needed */
    struct as_trace_part *part;         /* NULL: this process walks through all traced processes */
    AS_VEC(struct as_open_teams) teams; /* by process */
    uint32_t parallel_routine, barrier_routine;
    AS_VEC(uint32_t) joining;          /* trace threads that join a thread, or did */
    struct as_numbered_table requests; /* rows are struct as_request */
    AS_VEC(struct as_site_seen) seen;  /* rows of `sites` */
    AS_VEC(uint8_t) is_doubted;        /* by process: its messages have no certain match */
    bool has_doubts;
    bool was_off;    /* tracing was off on some thread */
    bool is_watched; /* only the callbacks of `watch` need results */
    AS_VEC(struct as_lock) lock;
};

/* A site as one process names it. */
struct as_site_seen {
    uint32_t routine, process, site;
    uint64_t address;
};

/* An operation that outlives the call that began it. */
struct as_request {
    struct as_numbered id; /* its kind: AS_TRACE_SEND, AS_TRACE_POST, AS_TRACE_COLLECTIVE */
    bool is_persistent, is_active;
    uint32_t post;  /* number of a receive in `messages` */
    uint32_t send;  /* number of a send in `messages` that has begun */
    bool has_begun; /* `messages` has it */
    uint32_t site;
    int64_t begin_ns;
    int64_t partner, tag, size_b;
    uint64_t comm; /* global number; for messages the number in the process */
    uint64_t collective;
    uint64_t channel; /* channel of a partitioned message, in place of the global communicator; 0:
                       * none */
    int64_t ready_ns; /* time at which its last partition was ready */
    uint32_t rank;    /* rank in the communicator */
    uint32_t bits;    /* of a send: as_message_bits */
    bool is_empty;    /* of a collective: this rank contributes no byte */
    int64_t sent_b, received_b; /* of a collective: bytes of this rank */
    bool moves_data;            /* it is a message, or a collective with bytes of this rank */
};
_Static_assert(offsetof(struct as_request, id) == 0,
               "a row of a numbered table begins with its id");

/* A lock with its last release, or a barrier of threads with its arrivals. */
struct as_lock {
    uint32_t process, location, site;
    int64_t address, released_ns;
    struct as_team_barrier meeting;
};

/* Finds or adds the call site of a frame. Returns 0 or AS_ERR_NOMEM, as do all functions
 * below. */
int as_walk_site(struct as_trace_walk *walk, const struct as_walker *walker,
                 const struct as_open_call *frame, uint32_t *out);
/* Returns the frame of the outermost MPI call, or outside MPI the outermost frame. NULL: the thread
 * is in no routine. */
struct as_open_call *as_walk_outermost(struct as_walker *walker);

int as_doing_event(struct as_trace_walk *walk, struct as_walker *walker,
                   const struct as_trace_event *event);
int as_doing_end(struct as_trace_walk *walk, struct as_walker *walker, int64_t ns);
static inline enum as_activity as_doing_now(const struct as_walker *walker)
{
    if (walker->is_off)
        return AS_ACTIVITY_OFF;
    if (walker->queue && !walker->depth[AS_ACTIVITY_OPENCL])
        return walker->depth[AS_ACTIVITY_COMPUTING] ? AS_ACTIVITY_COMPUTING : AS_ACTIVITY_IDLE;
    for (unsigned a = AS_ACTIVITY_MPI; a < AS_ACTIVITY_IDLE; a++)
        if (walker->depth[a])
            return (enum as_activity)a;
    return walker->is_spare && walker->task.n == 0 ? AS_ACTIVITY_IDLE : AS_ACTIVITY_COMPUTING;
}

/* Evaluates the records of a call when it is left. `site` is valid if wait states are needed. */
int as_mpi_left(struct as_trace_walk *walk, struct as_walker *walker,
                const struct as_open_call *frame, uint32_t site, int64_t leave_ns);
int as_mpi_matched(struct as_trace_walk *walk, const struct as_message *message);
int as_mpi_new(struct as_trace_walk *walk);
int as_mpi_end(struct as_trace_walk *walk);
/* Adds a message, or a one-sided access, that began at `sent_ns`. */
int as_mpi_add_traffic(struct as_trace_walk *walk, int64_t from, int64_t to, int64_t size_b,
                       int64_t sent_ns);
enum as_collective_kind as_mpi_collective_of(const char *routine);
uint32_t as_mpi_send_bits(const char *routine); /* returns as_message_bits */
bool as_mpi_is_file(const char *routine);       /* Returns whether the routine reads or writes a
                                                 * file. */
/* Returns whether the call that is left starts or completes a transfer. */
bool as_mpi_moves_data(struct as_trace_walk *walk, struct as_walker *walker,
                       const struct as_open_call *frame);

/* match_dispatch.c: matches sides of messages and members of collectives in this process, or writes
 * them for the part that does. See as_messages_* and as_collectives_*. */
int as_match_send(struct as_trace_walk *walk, uint64_t comm, int64_t from, int64_t to, int64_t tag,
                  int64_t size_b, const struct as_message_side *side);
int as_match_begin_send(struct as_trace_walk *walk, uint64_t comm, int64_t from, int64_t to,
                        int64_t tag, uint32_t *send);
int as_match_sent(struct as_trace_walk *walk, uint32_t send, int64_t to, int64_t size_b,
                  const struct as_message_side *side);
int as_match_cancel_send(struct as_trace_walk *walk, uint32_t send, int64_t to);
int as_match_post(struct as_trace_walk *walk, uint64_t comm, int64_t to, int64_t source,
                  int64_t tag, uint32_t *post);
int as_match_receive(struct as_trace_walk *walk, uint32_t post, int64_t source, int64_t tag,
                     int64_t size_b, const struct as_message_side *side);
int as_match_cancel_post(struct as_trace_walk *walk, uint32_t post);
int as_match_begin(struct as_trace_walk *walk, uint64_t comm, uint32_t size, uint32_t rank,
                   enum as_collective_kind kind, int64_t root, uint64_t *number);
int as_match_leave(struct as_trace_walk *walk, uint64_t comm, uint64_t number, uint32_t rank,
                   const struct as_collective_member *member);

/* Device queues (devices.c): receive a record of a call or command; the leave of a call or
 * command. */
int as_devices_event(struct as_trace_walk *walk, struct as_walker *walker,
                     const struct as_trace_event *event);
int as_devices_left(struct as_trace_walk *walk, struct as_walker *walker,
                    const struct as_open_call *frame, uint32_t site, int64_t ns);
/* Returns the label of the device queue of a stream ("queue 1"); NULL: the stream is of a
 * thread. */
const char *as_devices_label(const struct as_trace_stream_facts *facts);
/* Returns the number of the name of the device queue of a stream; 0: the stream is of a thread. */
int64_t as_devices_queue_of(const struct as_trace_process *process, uint32_t tid);

int as_threads_event(struct as_trace_walk *walk, struct as_walker *walker,
                     const struct as_trace_event *event);

int as_teams_event(struct as_trace_walk *walk, struct as_walker *walker,
                   const struct as_trace_event *event);
int as_teams_new(struct as_trace_walk *walk);
void as_teams_free(struct as_trace_walk *walk);
/* Tracing goes off or on again (tracing_pause.c): calls, barriers and messages that were open are
 * forgotten. */
int as_off_event(struct as_trace_walk *walk, struct as_walker *walker,
                 const struct as_trace_event *event);
int as_doing_off(struct as_trace_walk *walk, struct as_walker *walker, int64_t ns);
int as_doing_on(struct as_trace_walk *walk, struct as_walker *walker, int64_t ns);
int as_mpi_off(struct as_trace_walk *walk, const struct as_walker *walker);
void as_teams_off(struct as_trace_walk *walk, const struct as_walker *walker);
void as_threads_off(struct as_trace_walk *walk, struct as_walker *walker);
/* Receives the counts of MPI operations that happened while tracing was off. */
int as_mpi_missed(struct as_trace_walk *walk, struct as_walker *walker,
                  const struct as_trace_event *event);
/* Finds the call site of waiting in a parallel region with this number. */
int as_teams_site(struct as_trace_walk *walk, const struct as_walker *walker, int64_t region,
                  uint32_t *out);
/* A parallel region that the thread has left has ended for all threads: its wait at the end of the
 * region is over, and its idle time begins. */
int as_doing_released(struct as_trace_walk *walk, struct as_walker *walker, int64_t ns);

/* A thread arrives; goes on, which proves that all have arrived; all have arrived. */
int as_team_barrier_enter(struct as_team_barrier *meeting, uint32_t location, uint32_t site,
                          int64_t ns);
int as_team_barrier_leave(struct as_team_barrier *meeting, uint32_t location,
                          enum as_wait_kind kind, struct as_wait_list *out);
int as_team_barrier_end(struct as_team_barrier *meeting, enum as_wait_kind kind,
                        struct as_wait_list *out);

void as_efficiency_of(struct as_analysis *analysis);
/* Computes efficiencies, means and counts of a phase from the times of each thread in it. */
void as_efficiency_of_phase(const struct as_analysis *analysis,
                            const int64_t (*ns)[AS_ACTIVITIES_N], struct as_phase *phase);
/* Splits the time of calls: adds up `waiting_ns`, and subtracts waiting from `transfer_ns`, which
 * has all time of calls that start or complete a transfer. Returns 0 or AS_ERR_NOMEM. */
int as_spent_of(struct as_analysis *analysis);

/* The steps of an analysis: preparation; the walk through all processes, or those of the part; the
 * results of the whole walk. */
int as_walk_prepare(struct as_trace_walk *walk, struct as_error *err);
int as_walk_all(struct as_trace_walk *walk, struct as_error *err);
int as_walk_conclude(struct as_analysis *out);
void as_walk_free(struct as_trace_walk *walk);

/* Calls `each` for all events of all threads in order of time. `is_left_out` has a flag for each
 * process to skip; NULL: none. Trace threads are numbered by process and thread, skipped ones too.
 * `each` returns 0 or an error; its event is NULL at the end of a thread. */
typedef int as_walk_event(void *context, uint32_t location, const struct as_trace_event *event);
int as_walk_in_order(const struct as_trace *trace, const bool *is_left_out, as_walk_event *each,
                     void *context, struct as_error *err);

#endif
