/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Format of the streams of a trace (doc/internals/trace.md). Each thread has a file, and each
 * process has a file of definitions. A file has one page of facts, and blocks of one size. The
 * agent writes it (write.h) and read.h reads it. Both check all numbers of a file.
 */
#ifndef AS_TRACE_RECORD_H
#define AS_TRACE_RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define AS_TRACE_PREFIX  "stream"            /* stream.PID.TIME.TID; definitions have TID 0 */
#define AS_TRACE_MAGIC   0x4543415254415353u /* "SSATRACE" */
#define AS_TRACE_VERSION 3u
#define AS_TRACE_PAGE_B  4096u
#define AS_TRACE_BLOCK_B (256u << 10)
#define AS_TRACE_NAME_B  64u
#define AS_TRACE_STACK_N 64u /* max addresses of a sample */

/* The clock of time stamps. */
enum as_trace_clock {
    AS_TRACE_TSC,    /* time-stamp counter of the CPU, with a constant rate */
    AS_TRACE_KERNEL, /* CLOCK_MONOTONIC_RAW in ns */
    AS_TRACE_GIVEN   /* times of an imported trace in ns */
};

/* Reason for the end of a stream. */
enum as_trace_end {
    AS_TRACE_OPEN,   /* no end was written: the program was killed, or still runs */
    AS_TRACE_CLOSED, /* the thread or the process ended */
    AS_TRACE_LIMIT,  /* the size limit of the run was reached */
    AS_TRACE_REFUSED /* a write failed, for example on a full disk: end_errno */
};

/* A time stamp and CLOCK_MONOTONIC_RAW at one moment. */
struct as_trace_pair {
    uint64_t tick;
    int64_t raw_ns;
};

/* The first page of a file. */
struct as_trace_head {
    _Atomic uint64_t magic; /* written last */
    uint32_t version, block_b;
    uint32_t pid, tid;   /* tid 0: the definitions of the process */
    uint32_t parent_tid; /* thread that created this one; 0 = unknown */
    uint32_t clock;      /* as_trace_clock */
    uint32_t ring_n;     /* number of latest blocks that are kept; 0 = all */
    _Atomic uint32_t end;
    int32_t end_errno;
    _Atomic uint32_t samples_lost; /* samples that could neither be written nor deferred */
    uint64_t tick_hz;              /* measured before the program began; 0 = unknown */
    struct as_trace_pair begin, latest;
    int64_t monotonic_ns, real_ns; /* CLOCK_MONOTONIC, CLOCK_REALTIME at `begin` */
    _Atomic uint64_t blocks_n;     /* blocks begun; block k has position k, or k modulo ring_n */
    _Atomic uint64_t lost;         /* lost records: of interrupting handlers, or too long */
    char name[AS_TRACE_NAME_B];    /* of the thread; in definitions, of the machine */
    uint64_t filtered;             /* calls of the thread that the user's filter leaves out */
};

struct as_trace_block {
    uint64_t number;         /* from 0 */
    _Atomic uint32_t used_b; /* bytes of this head and of complete records */
    _Atomic uint32_t magic;  /* AS_TRACE_BLOCK_MAGIC, written last */
    uint64_t tick;           /* of its first record; base of the times in the block */
    struct as_trace_pair at; /* clock readings shortly after `tick` */
    uint64_t before_n;       /* records of the stream before this block */
};
#define AS_TRACE_BLOCK_MAGIC 0x4b4c4254u /* "TBLK" */

_Static_assert(sizeof(struct as_trace_head) == 192 && sizeof(struct as_trace_block) == 48,
               "layout of traces");

/*
 * A record begins with a byte: 6 bits are the kind, and 2 bits the size of the time (0, 2, 4 or 8
 * bytes). The time is the ticks since the previous record. Then follow the fields of its kind. u
 * and s are unsigned and signed numbers (LEB128, signed ones zigzag: 0, -1, 1, -2 ...). t is a text
 * (length, bytes), l is a list (length, zigzag differences). Records of a call without a time of
 * their own have the time of its enter or leave.
 */
#define AS_TRACE_KINDS(X)                                                                          \
    X(ENTER, "enter", "u")    /* name */                                                           \
    X(LEAVE, "leave", "u")    /* name */                                                           \
    X(NAME, "name", "uut")    /* number, group, text */                                            \
    X(FACT, "fact", "tt")     /* of the process: key, value */                                     \
    X(WORLD, "world", "uuu")  /* rank, size, thread level */                                       \
    X(COMM, "comm", "uuuuul") /* comm, global, size, own rank, bits, members' world ranks */       \
    X(COMM_NAME, "comm name", "ut")                                                                \
    X(COMM_FREE, "comm free", "u")                                                                 \
    X(SEND, "send", "ssuuuu")      /* partner, tag, bytes, comm, request, bits */                  \
    X(POST, "post", "ssuuuu")      /* a receive is posted: as send; partner, tag may be any */     \
    X(RECEIVE, "receive", "ssuuu") /* completed: partner, tag, bytes, comm, request */             \
    X(START, "start", "u")         /* request of a persistent operation */                         \
    X(DONE, "done", "u")           /* request of a send or collective operation */                 \
    X(CANCELLED, "cancelled", "u")                                                                 \
    X(FREED, "freed", "u")                                                                         \
    X(COLLECTIVE, "collective", "uusuuu")   /* comm, request, root, bytes sent, received, bits */  \
    X(PROBE, "probe", "ssuuu")              /* partner, tag, bytes, comm, found */                 \
    X(RMA, "rma", "suu")                    /* target, bytes, window */                            \
    X(WINDOW, "window", "uu")               /* window, comm */                                     \
    X(THREAD_CREATE, "thread create", "uu") /* 0, function */                                      \
    X(THREAD_BEGIN, "thread begin", "uu")   /* handle, parent's tid */                             \
    X(THREAD_END, "thread end", "")                                                                \
    X(THREAD_JOIN, "thread join", "u")      /* handle */                                           \
    X(LOCK_WAIT, "lock wait", "uu")         /* lock, as_trace_lock */                              \
    X(LOCK_HELD, "lock held", "uu")         /* lock, as_trace_lock */                              \
    X(LOCK_RELEASED, "lock released", "uu") /* lock, as_trace_lock */                              \
    X(PARALLEL, "parallel", "uuu")          /* region, threads asked for, place */                 \
    X(PARALLEL_END, "parallel end", "u")                                                           \
    X(IMPLICIT, "implicit task", "uuu")        /* region, index, threads */                        \
    X(IMPLICIT_END, "implicit task end", "uu") /* region, index */                                 \
    X(BARRIER, "barrier", "uu")                /* region or address, as_trace_sync */              \
    X(BARRIER_END, "barrier end", "uu")                                                            \
    X(WORK, "work", "uuu") /* region, as_trace_work, iterations or 0 */                            \
    X(WORK_END, "work end", "uu")                                                                  \
    X(TASK_CREATE, "task create", "uuu") /* task, by task, function */                             \
    X(TASK_BEGIN, "task begin", "u")     /* begins or resumes */                                   \
    X(TASK_END, "task end", "uu")        /* task, whether complete */                              \
    X(IO, "io", "ussu") /* descriptor, bytes (-1: failed), offset or -1, as_trace_io */            \
    X(FILE_OPEN, "file open", "st") /* descriptor (-1: failed), path */                            \
    X(FILE_CLOSE, "file close", "u")                                                               \
    X(ALLOCATE, "allocate", "uu") /* address, bytes */                                             \
    X(RELEASE, "release", "u")    /* address */                                                    \
    X(SAMPLE, "sample", "uul")    /* ns of CPU time that it is for; so many of the outermost       \
                                     callers are those of the SAMPLE before in the block; address  \
                                     and the other callers, the first as difference to that of the \
                                     SAMPLE before */                                              \
    X(CALLERS, "callers", "l")    /* of the enter before; the first as difference to that of the   \
                                     latest CALLERS of the block */                                \
    X(EVENT, "event", "uu")       /* name, bits of a double */                                     \
    X(COUNTER, "counter", "us")   /* name, value */                                                \
    X(LOST, "lost", "u")          /* so many records are missing here */                           \
    X(OFF, "off", "u")            /* as_trace_off: nothing is recorded from here */                \
    X(ON, "on", "")                                                                                \
    X(MODULE, "module", "uuut")    /* in definitions: start, bytes, address of the start in the    \
                                      file, path */                                                \
    X(FORK, "fork", "u")           /* child's pid */                                               \
    X(EXEC, "exec", "t")           /* path */                                                      \
    X(REPEATED, "repeated", "uuu") /* of the call that is open: it stands for so many that found   \
                                      nothing; ticks within all, and within the longest */         \
    X(RELATED, "clock related", "ssu") /* own raw_ns, rank 0's then, uncertainty in ns */          \
    X(MISSED, "missed", "ussuu")       /* while off: as_trace_missed, partner, tag, comm (START:   \
                                          request), so many */                                     \
    X(TRAFFIC, "traffic", "uu")        /* of the call that is open: bytes sent and received */     \
    X(NEIGHBOURS, "neighbours", "uul") /* comm, how many of the list are in-neighbours; then out-  \
                                          neighbours, by rank in it: of a topology, definitions */ \
    X(SYNC, "synchronise", "uus")      /* window, as_trace_rma_sync, rank in its communicator */   \
    X(PARTS, "parts", "uu")       /* request of a partitioned send; partitions that are ready */   \
    X(FUNCTION, "function", "uu") /* in definitions: name, address: it is a function of the        \
                                     program that begins there */                                  \
    X(PLACE, "place", "uut")      /* in definitions of an imported trace, in place of modules:     \
                                     number, which stands where an address would; line; function,  \
                                     source file and file of code, a line each */                  \
    X(GRID, "grid", "ul")         /* in definitions: comm; sizes of a Cartesian topology, whether  \
                                     each dimension is periodic, the process's own coordinates */  \
    X(DEVICE, "device", "uuul")   /* as_trace_device with bits; queue or thread, command, the rest \
                                   */

/* Facts. */
#define AS_TRACE_OPENMP_FACT "openmp" /* the OpenMP runtime: */
#define AS_TRACE_LIBGOMP     "libgomp"

#define AS_TRACE_ENUM(kind, name, fields) AS_TRACE_##kind,
enum as_trace_kind { AS_TRACE_NONE, AS_TRACE_KINDS(AS_TRACE_ENUM) AS_TRACE_KINDS_N };
#undef AS_TRACE_ENUM
_Static_assert(AS_TRACE_KINDS_N <= 64, "6 bits are the kind");

/* Keys of facts. */
#define AS_TRACE_FACT_MACHINE "machine" /* a number of it, where names may be alike */

/* Groups of names. */
#define AS_TRACE_GROUPS(X)                                                                         \
    X(MPI_POINT, "mpi-point")                                                                      \
    X(MPI_COLLECTIVE, "mpi-collective")                                                            \
    X(MPI_COMPLETION, "mpi-completion")                                                            \
    X(MPI_RMA, "mpi-rma")                                                                          \
    X(MPI_IO, "mpi-io")                                                                            \
    X(MPI_OTHER, "mpi-other")                                                                      \
    X(OPENMP, "openmp")                                                                            \
    X(THREAD, "thread")                                                                            \
    X(LOCK, "lock")                                                                                \
    X(FILES, "io")                                                                                 \
    X(MEMORY, "memory")                                                                            \
    X(PROCESS, "process")                                                                          \
    X(USER, "user")                                                                                \
    X(COUNTED, "counter")                                                                          \
    X(SLEEP, "sleep")                                                                              \
    X(OPENCL, "opencl") /* calls */                                                                \
    X(KERNEL, "kernel") /* on a queue */                                                           \
    X(COPY, "copy")     /* on a queue, and other commands */                                       \
    X(QUEUE, "queue")   /* names of queues, which are numbers in DEVICE records */
#define AS_TRACE_ENUM(group, name) AS_TRACE_OF_##group,
enum as_trace_group { AS_TRACE_GROUPS(AS_TRACE_ENUM) AS_TRACE_GROUPS_N };
#undef AS_TRACE_ENUM

/* Returns true for a group of MPI routines; these groups come first. */
static inline bool as_trace_is_mpi(uint32_t group)
{
    return group <= AS_TRACE_OF_MPI_OTHER;
}

enum as_trace_lock {
    AS_TRACE_MUTEX,
    AS_TRACE_READ,
    AS_TRACE_WRITE,
    AS_TRACE_CONDITION,
    AS_TRACE_CRITICAL,
    AS_TRACE_OMP_LOCK,
    AS_TRACE_ORDERED,
    AS_TRACE_SPIN,
    AS_TRACE_SEMAPHORE
};
enum as_trace_sync {
    AS_TRACE_EXPLICIT,
    AS_TRACE_IMPLIED,
    AS_TRACE_TASKWAIT,
    AS_TRACE_TASKGROUP,
    AS_TRACE_POSIX
};
/* Synchronisation at windows. A call with a group has one record for each of its ranks. A call
 * without a rank has rank -1. */
enum as_trace_rma_sync {
    AS_TRACE_WINDOW_MADE,
    AS_TRACE_WINDOW_FREED,
    AS_TRACE_FENCE,
    AS_TRACE_POSTED,
    AS_TRACE_STARTED,
    AS_TRACE_COMPLETED,
    AS_TRACE_AWAITED, /* the processes that it was posted for have completed */
    AS_TRACE_LOCK_SHARED,
    AS_TRACE_LOCK_EXCLUSIVE,
    AS_TRACE_UNLOCKED,
    AS_TRACE_FLUSHED
};
enum as_trace_work { AS_TRACE_LOOP, AS_TRACE_SECTIONS, AS_TRACE_SINGLE, AS_TRACE_TASKLOOP };
enum as_trace_io { AS_TRACE_IS_READ, AS_TRACE_IS_WRITTEN };
enum as_trace_off { AS_TRACE_BY_USER, AS_TRACE_BY_LIMIT, AS_TRACE_BY_REQUEST };

/*
 * The first field of a DEVICE record is one of these with as_trace_device_bits. `queue` and `name`
 * are numbers of names; `command` counts the commands of the process from 1. Stamps of a device are
 * its own nanoseconds.
 *   ENQUEUED  queue, command (0: none); bytes: of the host's call that is open
 *   RAN       queue, command; stamps when it was queued, submitted, begun and done; name
 *   CLOCK     queue, 0; stamp, CLOCK_MONOTONIC_RAW then, and how far that is off at most
 *   WORK      thread that enqueued it (0: unknown), command; bytes, ns from that until it began: of
 *             the call that is open, in the stream of a queue
 */
enum as_trace_device {
    AS_TRACE_DEVICE_ENQUEUED,
    AS_TRACE_DEVICE_RAN,
    AS_TRACE_DEVICE_CLOCK,
    AS_TRACE_DEVICE_WORK
};
#define AS_TRACE_DEVICE_KIND 3u
enum as_trace_device_bits {
    AS_TRACE_TO_DEVICE = 4, /* bytes go from the host to the device */
    AS_TRACE_TO_HOST = 8,
    AS_TRACE_BLOCKING = 16 /* the host's call waits for the queue */
};
/* Streams of queues have numbers of threads that the system gives to none. */
#define AS_TRACE_QUEUE_TID (1u << 30)
#define AS_TRACE_QUEUE_LANES                                                                       \
    256u /* streams of a queue, at most: the k-th has k of these before                            \
          */

enum as_trace_missed {
    AS_TRACE_MISSED_SENDS,
    AS_TRACE_MISSED_RECEIVES,
    AS_TRACE_MISSED_COLLECTIVES,
    AS_TRACE_MISSED_STARTS,
    AS_TRACE_MISSED_ANY /* of any sort; there were too many sorts to count each */
};

/* Bits of a send or post. */
#define AS_TRACE_PERSISTENT  1u /* each START begins a transfer */
#define AS_TRACE_SYNCHRONOUS 2u
#define AS_TRACE_BUFFERED    4u
#define AS_TRACE_READY       8u
#define AS_TRACE_MATCHED     16u /* the receive of a message that a probe has matched */
#define AS_TRACE_PARTITIONED                                                                       \
    32u /* the n-th matches the n-th of the other side; DONE has no status */
/* Bits of a communicator. */
#define AS_TRACE_INTER 1u /* partners are ranks of the other group */
#define AS_TRACE_CUT   2u /* the list of members is incomplete */
#define AS_TRACE_SECOND                                                                            \
    4u /* this process is in the second of the two groups; all members use the same order */
/* Partners without a rank. */
#define AS_TRACE_ANY     (-1)
#define AS_TRACE_NO_RANK (-2) /* MPI_PROC_NULL */
#define AS_TRACE_NO_ROOT (-1)
/* Root of a collective on an inter-communicator: this process. AS_TRACE_NO_RANK is another process
 * of its group, and other values are ranks of the other group. */
#define AS_TRACE_IS_ROOT (-3)

#endif
