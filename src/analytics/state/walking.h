/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk through a trace: what is known at the moment of an event. Each concern has a file and
 * receives the events it needs: activities of threads (activity.c), MPI (mpi.c), waits between
 * threads (threads.c), teams of OpenMP (omp_teams.c).
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

/* A routine that a thread is in. */
struct as_open_call {
    int64_t name; /* of the process */
    uint32_t routine, group;
    uint64_t address; /* of the caller, or of a function itself; 0: not known */
    bool is_function;
    int64_t enter_ns;
    uint64_t sent_b, received_b;
    uint64_t calls_n;              /* it stands for so many */
    int64_t inside_ns, longest_ns; /* of them; 0: it is one */
    bool moves_data;               /* when it is left: it starts or completes a transfer */
    int64_t awaits;                /* number of the name of the queue that it waits for; 0: none */
};

/* A record of a call; it counts when the call is left, for then its end is known. The fields are
 * those of as_trace_event. */
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

/* A call that the thread made lately: where its site and the thread's sum of it stand. */
struct as_call_known {
    uint64_t address;
    uint32_t routine, site;
    uint32_t sum;  /* UINT32_MAX: not known yet */
    bool is_known; /* false: a free place */
};
#define AS_CALLS_KNOWN 16u

/* A thread while its events come. */
struct as_walker {
    uint32_t location, process;
    AS_VEC(struct as_open_call) frame;
    size_t speaking_n;                    /* frames up to the outermost call of MPI; 0: in none */
    AS_VEC(struct as_call_record) record; /* of that call */
    AS_VEC(struct as_team) team;          /* implicit tasks that it is in */
    uint32_t depth[AS_ACTIVITIES_N];
    int64_t since_ns;             /* what it does now it does since then */
    AS_VEC(uint32_t) task;        /* explicit ones that it is in: OpenMP's depth outside of them */
    bool awaits_team;             /* the region that it is done with goes on */
    uint32_t ended_n;             /* regions that it is done with, and others are not */
    int64_t kept_ns;              /* its ring lost all before; INT64_MIN: nothing is lost */
    int64_t lock_ns;              /* it waits for a lock since; INT64_MIN: no */
    int64_t handle;               /* of the thread; 0: not known */
    int64_t join_handle, join_ns; /* whose end it waits for, since; INT64_MIN: nobody's */
    int64_t spare_ns;             /* of is_spare: since */
    bool has_worked, is_spare;    /* had a part of a parallel region; is between two, as a worker */
    bool is_over;                 /* it has no more events */
    int64_t queue;                /* it is a queue of a device: number of its name; 0: a thread */
    int64_t done_ns;              /* of a queue: its latest command ended, or the queue began */
    uint32_t done_site;           /* of that command; AS_WAIT_UNKNOWN: none */
    bool is_off, was_off;         /* nothing is recorded; was not, once */
    int64_t on_ns, on_computing_ns; /* since when it is, and what it had computed before */
    int64_t on_interest_ns;         /* of that, in the region of interest */
    struct as_wait_recent recent;
    struct as_call_known known[AS_CALLS_KNOWN]; /* by some bits of routine and address */
};

struct as_trace_part;
struct as_lock;
struct as_site_seen;

struct as_trace_walk {
    const struct as_trace *trace;
    const struct as_analysis_watch *watch; /* NULL: nobody */
    struct as_analysis *out;
    AS_VEC(struct as_walker) walker; /* by location */
    AS_VEC(uint32_t *) routine;      /* by process: by name number the routine, in `text` */
    AS_VEC(const char *) text;
    AS_VEC(uint8_t) collective; /* by routine: as_collective_kind; AS_COLLECTIVE_KINDS_N: none */
    AS_VEC(uint8_t) send_bits;  /* by routine: as_message_bits of its sends */
    AS_VEC(uint8_t) is_file;    /* by routine: MPI reads or writes a file */
    struct as_index texts, sites, places, sums, traffics, lock_rows;
    struct as_messages *messages;
    struct as_collectives *collectives;
    struct as_neighbour_table *near;
    struct as_groups *groups;
    struct as_windows *windows;
    struct as_channels *channels;
    struct as_tasks *tasks;
    struct as_phases *phases;           /* NULL: not wanted */
    struct as_trace_part *part;         /* NULL: all processes are walked through here */
    AS_VEC(struct as_open_teams) teams; /* by process */
    uint32_t parallel_routine, barrier_routine;
    AS_VEC(uint32_t) joining;          /* locations that wait for a thread's end, or did */
    struct as_numbered_table requests; /* rows are struct as_request */
    AS_VEC(struct as_site_seen) seen;  /* rows of `sites` */
    AS_VEC(uint8_t) is_doubted;        /* by process: too much was missed to find partners */
    bool has_doubts;
    bool was_off;    /* some thread was */
    bool is_watched; /* nothing is asked for but what the watch is told */
    AS_VEC(struct as_lock) lock;
};

/* A site as a process sees it. */
struct as_site_seen {
    uint32_t routine, process, site;
    uint64_t address;
};

/* An operation that goes on after the call that began it. */
struct as_request {
    struct as_numbered id; /* its kind: AS_TRACE_SEND, AS_TRACE_POST, AS_TRACE_COLLECTIVE */
    bool is_persistent, is_active;
    uint32_t post;  /* of a receive */
    uint32_t send;  /* of a send that has begun */
    bool has_begun; /* it is known among messages */
    uint32_t site;
    int64_t begin_ns;
    int64_t partner, tag, size_b;
    uint64_t comm; /* global; of messages the process's */
    uint64_t collective;
    uint64_t channel; /* of a partitioned message, in place of the global communicator; 0: none */
    int64_t ready_ns; /* of its last partition */
    uint32_t rank;    /* in the communicator */
    uint32_t bits;    /* of a send: as_message_bits */
    bool is_empty;    /* of a collective: this rank contributes no byte */
    int64_t sent_b, received_b; /* of a collective, by this rank */
    bool moves_data;            /* it is a message, or a collective in which this rank has bytes */
};
_Static_assert(offsetof(struct as_request, id) == 0,
               "a row of a numbered table begins with its id");

/* Who let go of a lock last; who stands at a barrier of threads. */
struct as_lock {
    uint32_t process, location, site;
    int64_t address, released_ns;
    struct as_team_barrier meeting;
};

/* 0 or ASSAY_ERR_NOMEM, as all below. */
int as_walk_site(struct as_trace_walk *walk, const struct as_walker *walker,
                 const struct as_open_call *frame, uint32_t *out);
/* The outermost call of MPI, whatever regions of the program it is in; in none the outermost of
 * all. NULL: in no routine. */
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

/* A call is left that had something to say; of this site, if waits are asked for. */
int as_mpi_left(struct as_trace_walk *walk, struct as_walker *walker,
                const struct as_open_call *frame, uint32_t site, int64_t leave_ns);
int as_mpi_matched(struct as_trace_walk *walk, const struct as_message *message);
int as_mpi_new(struct as_trace_walk *walk);
int as_mpi_end(struct as_trace_walk *walk);
/* A message or access that begins at `sent_ns`. */
int as_mpi_add_traffic(struct as_trace_walk *walk, int64_t from, int64_t to, int64_t size_b,
                       int64_t sent_ns);
enum as_collective_kind as_mpi_collective_of(const char *routine);
uint32_t as_mpi_send_bits(const char *routine); /* as_message_bits */
bool as_mpi_is_file(const char *routine);       /* it reads or writes */
/* Returns whether the call that is left starts or completes a transfer. */
bool as_mpi_moves_data(struct as_trace_walk *walk, struct as_walker *walker,
                       const struct as_open_call *frame);

/* match_dispatch.c: what of several processes meets: here, or in the process of ours that has the
 * other. As as_messages_* and as_collectives_*. */
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

/* Queues of devices (devices.c): what a call or command says of them; a call or command is left. */
int as_devices_event(struct as_trace_walk *walk, struct as_walker *walker,
                     const struct as_trace_event *event);
int as_devices_left(struct as_trace_walk *walk, struct as_walker *walker,
                    const struct as_open_call *frame, uint32_t site, int64_t ns);
/* Returns "queue 1" of the name of a queue's stream; NULL: it is a thread's. */
const char *as_devices_label(const struct as_trace_stream_facts *facts);
/* Returns the number of the name of the queue that a stream is of; 0: it is a thread's. */
int64_t as_devices_queue_of(const struct as_trace_process *process, uint32_t tid);

int as_threads_event(struct as_trace_walk *walk, struct as_walker *walker,
                     const struct as_trace_event *event);

int as_teams_event(struct as_trace_walk *walk, struct as_walker *walker,
                   const struct as_trace_event *event);
int as_teams_new(struct as_trace_walk *walk);
void as_teams_free(struct as_trace_walk *walk);
/* Nothing is recorded from here on, or again (tracing_pause.c): what was open is not known any
 * more. */
int as_off_event(struct as_trace_walk *walk, struct as_walker *walker,
                 const struct as_trace_event *event);
int as_doing_off(struct as_trace_walk *walk, struct as_walker *walker, int64_t ns);
int as_doing_on(struct as_trace_walk *walk, struct as_walker *walker, int64_t ns);
int as_mpi_off(struct as_trace_walk *walk, const struct as_walker *walker);
void as_teams_off(struct as_trace_walk *walk, const struct as_walker *walker);
void as_threads_off(struct as_trace_walk *walk, struct as_walker *walker);
/* What MPI did meanwhile, in numbers. */
int as_mpi_missed(struct as_trace_walk *walk, struct as_walker *walker,
                  const struct as_trace_event *event);
/* Of waiting in a region, by its number. */
int as_teams_site(struct as_trace_walk *walk, const struct as_walker *walker, int64_t region,
                  uint32_t *out);
/* The region that it is done with ended for all. */
int as_doing_released(struct as_trace_walk *walk, struct as_walker *walker, int64_t ns);

/* A thread comes to where others come; goes on, so that all have come; all have come. */
int as_team_barrier_enter(struct as_team_barrier *meeting, uint32_t location, uint32_t site,
                          int64_t ns);
int as_team_barrier_leave(struct as_team_barrier *meeting, uint32_t location,
                          enum as_wait_kind kind, struct as_wait_list *out);
int as_team_barrier_end(struct as_team_barrier *meeting, enum as_wait_kind kind,
                        struct as_wait_list *out);

void as_efficiency_of(struct as_analysis *analysis);
/* Fills shares, means and counts of a phase from the times of each thread in it. */
void as_efficiency_of_phase(const struct as_analysis *analysis,
                            const int64_t (*ns)[AS_ACTIVITIES_N], struct as_phase *phase);
/* Splits the time of calls: `waiting_ns`, and of `transfer_ns`, which is all time of calls that
 * start or complete a transfer, what is not waiting. 0 or ASSAY_ERR_NOMEM. */
int as_spent_of(struct as_analysis *analysis);

/* The steps of an analysis: before the walk; the walk itself, of all processes or of those of the
 * part; what follows when all is known. */
int as_walk_prepare(struct as_trace_walk *walk, struct assay_error *err);
int as_walk_all(struct as_trace_walk *walk, struct assay_error *err);
int as_walk_conclude(struct as_analysis *out);
void as_walk_free(struct as_trace_walk *walk);

/* All events of all threads of those processes whose number `is_left_out` (NULL: of none) does not
 * say, in order of time. Locations are numbered by process and thread, all of them. `each` answers
 * 0 or an error; its event is NULL when the location has no more. */
typedef int as_walk_event(void *context, uint32_t location, const struct as_trace_event *event);
int as_walk_in_order(const struct as_trace *trace, const bool *is_left_out, as_walk_event *each,
                     void *context, struct assay_error *err);

#endif
