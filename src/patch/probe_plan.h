/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PROBE: declares the layouts that the plan maker, the agent and the reader share for probes
 * (doc/manual/probe.md). These are points of the code, actions of a thread there, and the file with
 * its results. Layouts are fixed and little-endian.
 */
#ifndef AS_PATCH_PROBE_PLAN_H
#define AS_PATCH_PROBE_PLAN_H

#include <stdint.h>

#define AS_PROBED_PREFIX "probed."           /* probed.PID.TID.TIME: one file per thread */
#define AS_PROBED_MAGIC  0x424f525059415353u /* "SSAYPROB" */

/* A point of the code: before or after an instruction. */
struct as_patch_point {
    uint64_t address; /* address of the instruction */
    uint32_t behind;  /* 1: after the instruction, 0: before it */
    uint32_t first_act, acts;
    uint32_t unused;
};

/* Order of actions at a point: the time that ends is read first, the time that begins last. */
enum as_patch_act_kind {
    AS_PATCH_ACT_LEAVES, /* the timer `place` stops */
    AS_PATCH_ACT_KEEPS,  /* a value is recorded at `place` */
    AS_PATCH_ACT_CALLS,  /* a function of table `called` runs; `place` counts the calls */
    AS_PATCH_ACT_ENTERS, /* the timer `place` starts */
    AS_PATCH_ACT_KINDS
};

enum as_patch_value_source {
    AS_PATCH_FROM_GENERAL, /* general register `reg` */
    AS_PATCH_FROM_VECTOR,  /* the low bytes of vector register `reg` */
    AS_PATCH_FROM_MEMORY,  /* at base + index * scale + offset */
    AS_PATCH_SOURCES
};

enum as_patch_value_type {
    AS_PATCH_LONG, /* 8 bytes, signed */
    AS_PATCH_INT,  /* 4 bytes, signed */
    AS_PATCH_DOUBLE,
    AS_PATCH_FLOAT,
    AS_PATCH_TYPES
};

struct as_patch_act {
    uint32_t kind;
    uint32_t place;             /* timer, value or tally of the thread's file */
    uint32_t called;            /* CALLS: row of the table; else 0 */
    uint8_t source, type;       /* KEEPS */
    uint8_t reg;                /* general register: 0 to 15 by the CPU's numbers */
    uint8_t base, index, scale; /* of memory; AS_PATCH_NONE: none */
    uint8_t unused[2];
    int64_t offset;
};

/* A function of a user's library. */
struct as_patch_called {
    uint64_t library, function, probe; /* offsets into text: path, function name, probe name */
    uint64_t number;                   /* number of the probe in its file */
};

/* ---- Files of threads
 * ------------------------------------------------------------------------- */

/* Times of the outermost instances of a function in a thread, in ticks. */
struct as_probe_timer {
    uint64_t instances, ticks, least, largest;
    uint64_t nested; /* instances inside another one; the numbers before exclude them */
    uint64_t cut;    /* starts without an end, or ends without a start */
    uint64_t lost;   /* events of handlers in the middle of another event */
    uint64_t sp, t0; /* stack pointer and start of the running instance; sp 0: none runs */
};

enum { AS_PROBE_BUCKETS = 128, AS_PROBE_TOP = 8, AS_PROBE_ENDS = 8 };

/* One of the most frequent values: it occurred at least n - over times. */
struct as_probe_top {
    int64_t value;
    uint64_t n, over;
};

/* Values as 8 bytes: signed integers or doubles. */
struct as_probe_values {
    uint64_t n;
    uint64_t missed;    /* values in unreadable memory */
    uint64_t lost;      /* as in as_probe_timer */
    uint64_t unordered; /* NaNs: counted in n only */
    int64_t least, largest;
    uint64_t sum_low; /* of a 128-bit sum; for doubles the sum itself */
    int64_t sum_high;
    uint64_t bucket[AS_PROBE_BUCKETS]; /* see as_probe_bucket_* */
    struct as_probe_top top[AS_PROBE_TOP];
    /* `last` is a ring buffer: the next index is n modulo its size. */
    int64_t first[AS_PROBE_ENDS], last[AS_PROBE_ENDS];
};

struct as_probe_tally {
    uint64_t calls, lost;
    /* Sum of the times from the points until the called functions return, over `timed` calls, in
     * ticks. Times above AS_PROBE_INTERRUPTED times the shortest one are left out as
     * interrupted. */
    uint64_t ticks, timed, least;
};
enum { AS_PROBE_INTERRUPTED = 16 };

/* Buckets by powers of two. Bucket 64 is 0. For integers 65 + i is [2^i, 2^(i+1)), and 63 - i the
 * negative range. For doubles 65 + i begins at 2^(i-31); the first and last buckets also have all
 * beyond. */
enum { AS_PROBE_BUCKET_ZERO = 64, AS_PROBE_EXPONENT = 31 };

struct as_probed {
    uint64_t magic; /* written last */
    uint32_t version, pid, tid, unused;
    uint64_t timers, values, tallies;
    uint64_t empty_ticks; /* shortest of some empty measurements, in ticks */
    uint64_t no_library;  /* calls without a loaded library */
    /* Then follow as_probe_timer[timers], as_probe_values[values] and as_probe_tally[tallies]. */
};

static inline uint64_t as_probed_timers_at(void)
{
    return sizeof(struct as_probed);
}
static inline uint64_t as_probed_values_at(uint64_t timers)
{
    return as_probed_timers_at() + timers * sizeof(struct as_probe_timer);
}
static inline uint64_t as_probed_tallies_at(uint64_t timers, uint64_t values)
{
    return as_probed_values_at(timers) + values * sizeof(struct as_probe_values);
}
static inline uint64_t as_probed_b(uint64_t timers, uint64_t values, uint64_t tallies)
{
    return as_probed_tallies_at(timers, values) + tallies * sizeof(struct as_probe_tally);
}

_Static_assert(sizeof(struct as_patch_point) == 24, "layout of plans");
_Static_assert(sizeof(struct as_patch_act) == 32, "layout of plans");
_Static_assert(sizeof(struct as_patch_called) == 32, "layout of plans");
_Static_assert(sizeof(struct as_probe_timer) == 72, "layout of files of probes");
_Static_assert(sizeof(struct as_probe_values) == 64 + 1024 + 192 + 128, "layout of probes' files");
_Static_assert(sizeof(struct as_probe_tally) == 40, "layout of files of probes");
_Static_assert(sizeof(struct as_probed) == 64, "layout of files of probes");

#endif
