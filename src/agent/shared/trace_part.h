/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the control file for traces: what the tracer inside the program and the process that
 * starts it share. Another layout is another AS_TRACER_VERSION.
 */
#ifndef AS_AGENT_TRACE_PART_H
#define AS_AGENT_TRACE_PART_H

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>

/* ---- Streams of events ----------------------------------------------------------------------- */

#define AS_TRACER_CLIENT    "tracer"
#define AS_TRACER_DIRECTORY "trace"   /* below the run's directory */
#define AS_TRACER_MEETING   "meeting" /* a link, as that: where ranks of several machines meet */
#define AS_TRACER_VERSION   6u

/* Groups of wrapped routines: bits. A group that is off costs nothing: its library is not
 * preloaded.
 */
enum as_tracer_groups {
    AS_TRACER_MPI = 1,
    AS_TRACER_OPENMP = 2,
    AS_TRACER_PTHREAD = 4,
    AS_TRACER_IO = 8, /* also of processes: fork, exec, wait */
    AS_TRACER_MEMORY = 16,
    AS_TRACER_FUNCTIONS = 32, /* as compilers tell of them (-finstrument-functions) */
    AS_TRACER_OPENCL = 64
};

/* Counters of the system: bits. */
enum as_os_counters {
    AS_OS_SWITCHES = 1,
    AS_OS_FAULTS = 2,
    AS_OS_MEMORY = 4,
    AS_OS_NETWORK = 8 /* of all interfaces but loopback, since the first reading */
};

/* Its part of the control file. */
struct as_tracer_part {
    uint32_t version;
    uint32_t groups;
    uint32_t clock; /* as_trace_clock */
    uint32_t ring_n;
    uint64_t tick_hz;
    _Atomic int64_t budget_b;        /* of all streams; when it is spent tracing ends */
    uint32_t limited;                /* whether that counts */
    uint32_t counters;               /* as_os_counters that are recorded */
    _Atomic uint64_t streams_missed; /* threads without a stream */
    _Atomic uint32_t missed_errno;
    uint32_t callers;       /* so many are recorded with a call of MPI */
    uint64_t memory_min_b;  /* smaller blocks of memory are not recorded */
    uint64_t counter_ticks; /* so seldom at least are `counters` read */
    uint64_t first_ns;      /* of each process so much is recorded; 0: all */
    uint64_t burst_ticks;   /* calls of MPI that are less far from each other are summed; 0: no */
    uint32_t meeting;       /* as_rendezvous_roles */
    uint32_t rank, size;    /* by the launcher, where there is a meeting */
    uint32_t samples;       /* those of the sampler's timers are in the streams */
    _Atomic uint32_t samples_missed;  /* that came where there was no stream for them */
    _Atomic uint32_t counters_shared; /* readings of counters that others used meanwhile */
};
_Static_assert(sizeof(struct as_tracer_part) == 112, "layout of the tracer's part");

/* ---- Ranks of several machines (tracer/rendezvous.h) ----------------------------------------- */

#define AS_RENDEZVOUS_RANKS_MOST 16384 /* of a job; clocks of a larger one are not compared */
#define AS_RENDEZVOUS_PATH_B     (PATH_MAX - 64)

/* The part of a process in the comparison of clocks. */
enum as_rendezvous_roles {
    AS_RENDEZVOUS_NONE,    /* all ranks are on one machine, or they cannot meet */
    AS_RENDEZVOUS_PRESENT, /* it is here, and that is all */
    AS_RENDEZVOUS_SPEAKS   /* it may speak for its machine; also rank 0 */
};

/* ---- Counters of perf at events -------------------------------------------------------------- */

#define AS_EVENT_COUNTERS_FILE "counters" /* of as_event_counter, in an agent's directory */
#define AS_EVENT_COUNTERS_N    8u
#define AS_EVENT_COUNTER_B     64u

/* An event as perf_event_open wants it. */
struct as_event_counter {
    uint32_t type;
    uint8_t exclude_user, exclude_kernel, exclude_hv, unused;
    uint64_t config, config1, config2;
    char name[AS_EVENT_COUNTER_B];
};

/* ---- Switching ------------------------------------------------------------------------------- */

#define AS_SWITCH_CLIENT  "switch" /* the key of its part of the control file */
#define AS_SWITCH_TICKS_N 4u

/* The part of the control file. Atomic members are written from outside while the program runs. */
struct as_switch_part {
    uint32_t signal;                          /* that switches; 0: none */
    uint32_t begins_off;                      /* until the program or the signal switches it on */
    _Atomic uint32_t changes;                 /* from outside; odd: off */
    _Atomic uint32_t limited;                 /* the latest is the end: the time is over */
    _Atomic uint64_t tick[AS_SWITCH_TICKS_N]; /* when, by change modulo their number */
};
_Static_assert(sizeof(struct as_switch_part) == 48, "layout of the part of switches");

#endif
