/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What wrappers of MPI's routines say of a call, for the ABI of the mpi.h that this is compiled
 * with. The wrappers (mpi_wrap.c) follow from the table of routines (tools/gen-wrappers.py). No
 * function of MPI is linked: all are found in the MPI that the program has loaded, by the names
 * that tools may call (PMPI_*).
 */
#ifndef AS_AGENT_MPI_WRAP_H
#define AS_AGENT_MPI_WRAP_H

#include <mpi.h>

#include "agent/wrap/mpi/mpi_keys.h"
#include "agent/wrap/mpi/mpi_parts.h"

struct as_mpi_call {
    struct as_tracer_thread *thread;
    uint64_t enter;                     /* of one that may find nothing: when it was called */
    uint64_t tick;                      /* when it came back; 0: it did not yet */
    const void *return_address, *frame; /* of the wrapper */
};

extern const struct as_tracer_hooks *as_mpi_hooks;

/* ---- mpi_missed.c: what is told in numbers alone ---- */

extern _Atomic uint32_t as_mpi_missed; /* some are counted that no stream tells of */
/* A record with these fields is not written: it is switched off, or calls are summed. */
void as_mpi_count(struct as_tracer_thread *thread, unsigned kind, const uint64_t *field);
/* Recording goes on. */
void as_mpi_emit_missed(struct as_tracer_thread *thread);

static inline void as_mpi_emit_numbers(const struct as_mpi_call *call, unsigned kind,
                                       const uint64_t *field, unsigned n)
{
    if (__builtin_expect(call->thread->quiet, 0))
        as_mpi_count(call->thread, kind, field);
    else
        as_trace_emit(&call->thread->writer, kind, call->tick, field, n);
}

/* ---- mpi_own.c: MPI's own ---- */

#define AS_MPI_OWN(X)                                                                              \
    X(Type_size)                                                                                   \
    X(Comm_size)                                                                                   \
    X(Comm_rank)                                                                                   \
    X(Comm_test_inter)                                                                             \
    X(Comm_group)                                                                                  \
    X(Comm_remote_group)                                                                           \
    X(Comm_remote_size)                                                                            \
    X(Topo_test)                                                                                   \
    X(Cartdim_get)                                                                                 \
    X(Cart_shift)                                                                                  \
    X(Cart_get)                                                                                    \
    X(Graph_neighbors_count)                                                                       \
    X(Graph_neighbors)                                                                             \
    X(Dist_graph_neighbors_count)                                                                  \
    X(Dist_graph_neighbors)                                                                        \
    X(Group_size)                                                                                  \
    X(Group_translate_ranks)                                                                       \
    X(Group_free)                                                                                  \
    X(Win_get_group)                                                                               \
    X(Get_count)                                                                                   \
    X(Test_cancelled)                                                                              \
    X(Initialized)                                                                                 \
    X(Get_library_version)                                                                         \
    X(Query_thread)                                                                                \
    X(Comm_get_name)
#define AS_MPI_DECLARED(name) __typeof__(&MPI_##name) name;
struct as_mpi_own {
    AS_MPI_OWN(AS_MPI_DECLARED)
    MPI_Comm world, self, null;
    MPI_Datatype byte;
};
#undef AS_MPI_DECLARED
extern struct as_mpi_own as_mpi_own;

bool as_mpi_find_own(const struct as_mpi_front *front); /* false: this is no such MPI */
bool as_mpi_is_in_place(const void *buffer);
int64_t as_mpi_bytes_of(long long count, MPI_Datatype type);
int as_mpi_comm_size(MPI_Comm comm);
int as_mpi_comm_rank(MPI_Comm comm);
/* What this process has to do with an operation that has a root: bits. Of what it has not, the
 * arguments mean nothing, and types may be none. */
enum as_mpi_shares {
    AS_MPI_ROOT_SHARE = 1,
    AS_MPI_MEMBER_SHARE = 2 /* also the root of a communicator of one group */
};
unsigned as_mpi_share_of(int root, MPI_Comm comm);
int as_mpi_root_of(int root); /* as records have it */

#define AS_MPI_KEY(handle) ((uint64_t)(uintptr_t)(handle))

#define as_mpi_sum_of(counts, n)                                                                   \
    ({                                                                                             \
        long long sum_all = 0;                                                                     \
        for (int sum_i = 0; sum_i < (n); sum_i++)                                                  \
            sum_all += (counts)[sum_i];                                                            \
        sum_all;                                                                                   \
    })

/* ---- mpi_comms.c: communicators ---- */

void as_mpi_begin_world(const struct as_mpi_call *call);
/* Of one that was made in a way that is not wrapped, too: it is told where it is first used. */
uint64_t as_mpi_comm_number(const struct as_mpi_call *call, MPI_Comm comm);
void as_mpi_define_comm(const struct as_mpi_call *call, MPI_Comm comm);
void as_mpi_forget_comm(const struct as_mpi_call *call, MPI_Comm comm);
void as_mpi_name_comm(const struct as_mpi_call *call, MPI_Comm comm, const char *name);

/* ---- mpi_clocks.c: how far clocks of machines are from each other ---- */

void as_mpi_find_clocks(const struct as_mpi_front *front);
void as_mpi_relate_begin(void); /* MPI is ready */
void as_mpi_relate_end(void);   /* it is about to end */

/* ---- mpi_windows.c: one-sided communication ---- */

#define AS_MPI_NO_RANK MPI_ANY_SOURCE /* as of a record without one */

void as_mpi_define_window(const struct as_mpi_call *call, MPI_Win win, MPI_Comm comm);
void as_mpi_emit_access(const struct as_mpi_call *call, int target, int64_t size_b, MPI_Win win);
void as_mpi_forget_window(const struct as_mpi_call *call, MPI_Win win);
void as_mpi_emit_sync(const struct as_mpi_call *call, unsigned kind, int rank, MPI_Win win);
void as_mpi_emit_sync_group(const struct as_mpi_call *call, unsigned kind, MPI_Group group,
                            MPI_Win win);
void as_mpi_emit_lock(const struct as_mpi_call *call, int type, int rank, int assertion,
                      MPI_Win win);

/* ---- mpi_topology.c: neighbours, and sizes of operations whose parts differ ---- */

struct as_mpi_near {
    int n;           /* places of buffers */
    uint64_t nobody; /* bits: at that place is none (of the first 64) */
};

static inline bool as_mpi_is_near(const struct as_mpi_near *near, int i)
{
    return i >= 64 || !(near->nobody >> i & 1);
}

void as_mpi_define_near(const struct as_mpi_call *call, uint64_t number, MPI_Comm comm);
void as_mpi_forget_near(MPI_Comm comm);
struct as_mpi_near as_mpi_near_of(const struct as_mpi_call *call, MPI_Comm comm, bool is_out);
int as_mpi_near_n(const struct as_mpi_call *call, MPI_Comm comm, bool is_out);
int as_mpi_peers_n(MPI_Comm comm); /* members of the other group where there are two */

/* Bytes of all parts; `type` may look at the place `each_i`. */
#define as_mpi_bytes_each(n, counts, type)                                                         \
    ({                                                                                             \
        const int each_n = (n);                                                                    \
        int64_t each_b = 0;                                                                        \
        for (int each_i = 0; each_i < each_n; each_i++)                                            \
            each_b += as_mpi_bytes_of((counts)[each_i], type);                                     \
        each_b;                                                                                    \
    })
#define as_mpi_bytes_near(call, comm, is_out, counts, type)                                        \
    ({                                                                                             \
        const struct as_mpi_near near = as_mpi_near_of(call, comm, is_out);                        \
        int64_t each_b = 0;                                                                        \
        for (int each_i = 0; each_i < near.n; each_i++)                                            \
            if (as_mpi_is_near(&near, each_i))                                                     \
                each_b += as_mpi_bytes_of((counts)[each_i], type);                                 \
        each_b;                                                                                    \
    })

/* ---- mpi_messages.c ---- */

void as_mpi_emit_message(const struct as_mpi_call *call, unsigned kind, int partner, int tag,
                         int64_t size_b, MPI_Comm comm, uint64_t request, unsigned bits);
void as_mpi_emit_status(const struct as_mpi_call *call, const MPI_Status *status, uint64_t comm,
                        uint64_t request);
void as_mpi_emit_received(const struct as_mpi_call *call, const MPI_Status *status, uint64_t comm,
                          uint64_t request, int rc);
void as_mpi_emit_probed(const struct as_mpi_call *call, const MPI_Status *status, MPI_Comm comm,
                        int rc);
/* A probe that found nothing: what it looked for. */
void as_mpi_poll_probe(const struct as_mpi_call *call, unsigned number, int partner, int tag,
                       MPI_Comm comm);
void as_mpi_store_message(const struct as_mpi_call *call, MPI_Message message, MPI_Comm comm,
                          int rc);
uint64_t as_mpi_remove_message(MPI_Message message); /* the communicator of one that was probed */
void as_mpi_emit_matched(const struct as_mpi_call *call, int64_t size_b, uint64_t comm,
                         uint64_t request);
void as_mpi_emit_collective(const struct as_mpi_call *call, MPI_Comm comm, uint64_t request,
                            int root, int64_t sent_b, int64_t received_b, unsigned bits);
uint64_t as_mpi_partner_of(int partner);

/* ---- mpi_requests.c ---- */

enum {
    REQUEST_SEND = 1,
    REQUEST_RECEIVE,
    REQUEST_OTHER,
    REQUEST_PERSISTENT = 8,
    REQUEST_CANCELLED = 16 /* the program asked for that; its status says whether it was */
};

uint64_t as_mpi_new_request(void);
void as_mpi_store_request(const struct as_mpi_call *call, MPI_Request handle, uint64_t number,
                          unsigned kind, uint64_t comm, bool persistent, int rc);
/* The program asks MPI to cancel the operation; its completion says whether that was done. */
void as_mpi_cancel_request(MPI_Request handle);
void as_mpi_emit_request(const struct as_mpi_call *call, unsigned kind, MPI_Request handle,
                         bool gone);
/* So many partitions of what is sent may go. */
void as_mpi_emit_parts(const struct as_mpi_call *call, MPI_Request handle, int n);
void as_mpi_emit_started(const struct as_mpi_call *call, int n, const MPI_Request *handle);

/* What was known of a handle before the call, which may take it away. */
struct as_mpi_note {
    uint64_t handle;
    struct as_key of;
    bool known;
};

/* Memory for a call of n requests, of one of these each. */
enum as_mpi_rooms { AS_MPI_NOTES, AS_MPI_STATUSES, AS_MPI_HANDLES, AS_MPI_FORTRAN_STATUSES };
void *as_mpi_room_of(const struct as_mpi_call *call, int n, enum as_mpi_rooms which);
struct as_mpi_note *as_mpi_note_requests(const struct as_mpi_call *call, int n,
                                         const MPI_Request *handle);
MPI_Status *as_mpi_statuses_of(const struct as_mpi_call *call, int n, MPI_Status *given);
void as_mpi_complete_one(const struct as_mpi_call *call, const struct as_mpi_note *note, int n,
                         int index, const MPI_Status *status);
void as_mpi_complete_some(const struct as_mpi_call *call, const struct as_mpi_note *note, int n,
                          int count, const int *index, int base, const MPI_Status *status);
void as_mpi_complete_all(const struct as_mpi_call *call, struct as_mpi_note *note, int n,
                         const MPI_Status *status);

/* ---- mpi_wrap.c ---- */

/* The call found nothing. The first of several says what it was, NULL for the others. */
struct as_trace_polls *as_mpi_poll(const struct as_mpi_call *call, unsigned number);

#endif
