/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wait states: time that a thread waits for another, with the call and the cause. Definitions
 * follow F. Wolf et al., "Automatic performance analysis of MPI applications based on event traces"
 * (Euro-Par 2000), and Scalasca's pattern documentation. For a nonblocking operation they hold for
 * the call that completes it.
 */
#ifndef AS_ANALYTICS_WAITS_H
#define AS_ANALYTICS_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "analytics/match/collectives.h"
#include "analytics/match/messages.h"
#include "base/vec.h"

/* Path of a send that may return before its receive is posted: to a process of the same machine, or
 * of another. */
enum as_eager_path { AS_EAGER_NEVER, AS_EAGER_NEAR, AS_EAGER_FAR, AS_EAGER_PATHS_N };
/* Bytes that every MPI sends eagerly. The smallest known limit is 1 KiB (Open MPI, within a
 * process). */
#define AS_EAGER_B 1024u

/* constant, word, title */
#define AS_WAITS(X)                                                                                \
    X(LATE_SENDER, "late_sender", "late sender")                                                   \
    X(WRONG_ORDER, "late_sender_wrong_order", "late sender, messages in wrong order")              \
    X(LATE_RECEIVER, "late_receiver", "late receiver")                                             \
    X(BARRIER, "wait_at_barrier", "wait at barrier")                                               \
    X(BARRIER_COMPLETION, "barrier_completion", "barrier completion")                              \
    X(ALL, "wait_at_nxn", "wait at N x N")                                                         \
    X(ALL_COMPLETION, "nxn_completion", "N x N completion")                                        \
    X(LATE_BROADCAST, "late_broadcast", "late broadcast")                                          \
    X(EARLY_REDUCE, "early_reduce", "early reduce")                                                \
    X(EARLY_SCAN, "early_scan", "early scan")                                                      \
    X(NEIGHBOURS, "wait_at_neighbours", "wait at neighbours")                                      \
    X(FENCE, "wait_at_fence", "wait at fence")                                                     \
    X(WINDOW, "wait_at_window", "wait for the others to make or free a window")                    \
    X(LATE_POST, "late_post", "late post")                                                         \
    X(EARLY_WAIT, "early_wait", "early wait")                                                      \
    X(LATE_COMPLETE, "late_complete", "late complete")                                             \
    X(WINDOW_LOCK, "window_lock_contention", "wait for the lock of a window")                      \
    X(OMP_BARRIER, "wait_at_omp_barrier", "wait at OpenMP barrier")                                \
    X(TASKS, "wait_for_tasks", "wait for tasks of other threads")                                  \
    X(LOCK, "lock_contention", "lock contention")                                                  \
    X(CRITICAL, "critical_contention", "wait at critical")                                         \
    X(JOIN, "wait_at_join", "wait for the end of a thread")                                        \
    X(CONDITION, "wait_for_condition", "wait for a condition or semaphore")                        \
    X(THREAD_BARRIER, "wait_at_thread_barrier", "wait at barrier of threads")                      \
    X(IDLE, "idle_worker", "idle until the next parallel region")                                  \
    X(DEVICE, "wait_for_device", "host waits for a queue of a device")                             \
    X(HOST, "idle_device", "queue of a device waits for the host")
#define AS_WAIT_ENUM(name, word, title) AS_WAIT_##name,
enum as_wait_kind { AS_WAITS(AS_WAIT_ENUM) AS_WAIT_KINDS_N };
#undef AS_WAIT_ENUM

#define AS_WAIT_UNKNOWN UINT32_MAX

struct as_wait {
    uint8_t kind;            /* as_wait_kind */
    uint8_t size_class;      /* as_size_class_of a message; 0: not a message */
    uint8_t eager;           /* as_eager_path of a late receiver; AS_EAGER_NEVER: all other kinds */
    bool moves_data;         /* the waiting call starts or completes a transfer */
    uint32_t location, site; /* the trace thread that waits, its call */
    uint32_t cause, cause_site; /* the cause, its call; AS_WAIT_UNKNOWN: several causes */
    uint32_t sent_b;            /* size of a send that may be eager, at most UINT32_MAX */
    int64_t begin_ns, end_ns;   /* the wait state; end > begin */
    int64_t cause_ns;           /* arrival of the cause */
};

struct as_wait_list {
    AS_VEC(struct as_wait) wait; /* in order of discovery */
};

const char *as_wait_word(enum as_wait_kind kind);
const char *as_wait_title(enum as_wait_kind kind);

/* The latest late senders and messages of one receiver. Wrong order needs both: an earlier message
 * may be found before or after the message that caused the wait. */
#define AS_WAIT_RECENT_N 16u
struct as_wait_recent {
    uint32_t wait[AS_WAIT_RECENT_N]; /* indices in the list */
    uint32_t n;                      /* all so far */
    struct {
        int64_t sent_ns, enter_ns; /* enter of the send; enter of the call that completes the
                                    * receive */
    } message[AS_WAIT_RECENT_N];
    uint32_t messages_n; /* all so far */
};

/* Returns the class of a size in bytes: 0 for 0 bytes, k for 2^(k-1) to 2^k - 1 bytes. */
unsigned as_size_class_of(int64_t size_b);

/* Adds the wait state of a message on `path`, if one side waited. Returns 0 or AS_ERR_NOMEM. */
int as_waits_of_message(const struct as_message *message, enum as_eager_path path,
                        struct as_wait_recent *receiver, struct as_wait_list *out);
/* Returns whether the message proves that sends of its size are eager: its send was complete before
 * its receive was posted. */
bool as_waits_prove_eager(const struct as_message *message);
/* Removes late receivers of sends of at most eager_b[path] bytes. */
void as_waits_drop_eager(struct as_wait_list *list, const uint32_t eager_b[AS_EAGER_PATHS_N]);
/* Trims wait states until none of one thread overlap. The wait state that ends last keeps the time;
 * ties go to the first by kind, cause and call. Empty wait states are removed. Returns 0 or
 * AS_ERR_NOMEM. */
int as_waits_once(struct as_wait_list *list);
/* Adds the wait states of the members of a collective. Returns 0 or AS_ERR_NOMEM. */
int as_waits_of_collective(const struct as_collective *collective, struct as_wait_list *out);
/* Adds wait states of this kind for threads that all wait for the last of them. Returns 0 or
 * AS_ERR_NOMEM. */
int as_waits_of_threads(const struct as_collective *collective, enum as_wait_kind kind,
                        struct as_wait_list *out);

#endif
