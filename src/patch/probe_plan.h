/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PROBE: what the plan maker, the agent and the reader share of probes (doc/manual/probe.md):
 * points of the code, what a thread does there, and the file in which it keeps that. Fixed layouts,
 * little-endian.
 */
#ifndef AS_PATCH_PROBE_PLAN_H
#define AS_PATCH_PROBE_PLAN_H

#include <stdint.h>

#define AS_PROBED_PREFIX "probed."           /* probed.PID.TID.TIME: one file a thread */
#define AS_PROBED_MAGIC  0x424f525059415353u /* "SSAYPROB" */

/* A place of the code: before its instruction, or behind it. */
struct as_patch_point {
    uint64_t address; /* of the instruction */
    uint32_t behind;  /* 0 or 1 */
    uint32_t first_act, acts;
    uint32_t unused;
};

/* In this order at a point: time that ends is stamped first, time that begins last. */
enum as_patch_act_kind {
    AS_PATCH_ACT_LEAVES, /* time that `place` names ends */
    AS_PATCH_ACT_KEEPS,  /* a value is kept at `place` */
    AS_PATCH_ACT_CALLS,  /* a function of the table `called` is called; `place` counts that */
    AS_PATCH_ACT_ENTERS, /* time begins */
    AS_PATCH_ACT_KINDS
};

enum as_patch_value_source {
    AS_PATCH_FROM_GENERAL, /* general register `reg` */
    AS_PATCH_FROM_VECTOR,  /* the low bytes of vector register `reg` */
    AS_PATCH_FROM_MEMORY,  /* at base + index * scale + offset */
    AS_PATCH_SOURCES
};

enum as_patch_value_type {
    AS_PATCH_LONG, /* 8 bytes, with a sign */
    AS_PATCH_INT,  /* 4 */
    AS_PATCH_DOUBLE,
    AS_PATCH_FLOAT,
    AS_PATCH_TYPES
};

struct as_patch_act {
    uint32_t kind;
    uint32_t place;             /* timer, value or tally of the thread's file */
    uint32_t called;            /* CALLS: row of the table; else 0 */
    uint8_t source, type;       /* KEEPS */
    uint8_t reg;                /* general: 0 to 15 by the processor's numbers */
    uint8_t base, index, scale; /* of memory; AS_PATCH_NONE: without */
    uint8_t unused[2];
    int64_t offset;
};

/* A function of a library of the user's. */
struct as_patch_called {
    uint64_t library, function, probe; /* offsets into text: path, name, name of the probe */
    uint64_t number;                   /* of the probe in its file */
};

/* ---- What a thread leaves -------------------------------------------------------------------- */

/* The outermost instances of a function in a thread. */
struct as_probe_timer {
    uint64_t instances, ticks, least, largest;
    uint64_t nested; /* begun inside another: in none of the numbers before */
    uint64_t cut;    /* begun and not ended, or the other way round */
    uint64_t lost;   /* events in the middle of another event: of handlers */
    uint64_t sp, t0; /* of the one that runs; sp 0: none does */
};

enum { AS_PROBE_BUCKETS = 128, AS_PROBE_TOP = 8, AS_PROBE_ENDS = 8 };

/* One of those that came most often: at least n - over times. */
struct as_probe_top {
    int64_t value;
    uint64_t n, over;
};

/* Values as 8 bytes: numbers with a sign, or of type double. */
struct as_probe_values {
    uint64_t n;
    uint64_t missed;    /* memory that could not be read */
    uint64_t lost;      /* as of a timer */
    uint64_t unordered; /* no numbers (NaN): counted in n, in nothing else */
    int64_t least, largest;
    uint64_t sum_low; /* of 128 bits; or a sum of type double */
    int64_t sum_high;
    uint64_t bucket[AS_PROBE_BUCKETS]; /* as_probe_bucket_* */
    struct as_probe_top top[AS_PROBE_TOP];
    int64_t first[AS_PROBE_ENDS], last[AS_PROBE_ENDS]; /* the latter in a ring: n modulo its size */
};

struct as_probe_tally {
    uint64_t calls, lost;
    /* From the points until the functions that they call have returned, of `timed` of the calls:
     * what took this many times the shortest so far was interrupted. */
    uint64_t ticks, timed, least;
};
enum { AS_PROBE_INTERRUPTED = 16 };

/* Buckets by powers of two: 64 is 0, 65 + i of whole numbers [2^i, 2^(i+1)), 63 - i their
 * negatives; of doubles 65 + i begins at 2^(i-31), the first and the last have what lies beyond. */
enum { AS_PROBE_BUCKET_ZERO = 64, AS_PROBE_EXPONENT = 31 };

struct as_probed {
    uint64_t magic; /* written last */
    uint32_t version, pid, tid, unused;
    uint64_t timers, values, tallies;
    uint64_t empty_ticks; /* of time that has nothing in it, the least of some */
    uint64_t no_library;  /* calls whose library could not be loaded in the process */
    /* then: as_probe_timer[timers], as_probe_values[values], as_probe_tally[tallies] */
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
