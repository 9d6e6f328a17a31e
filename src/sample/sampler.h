/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the sampler: the events of a session, one ring a processor, records copied out of it and
 * waiting for their turn.
 */
#ifndef AS_SAMPLE_SAMPLER_H
#define AS_SAMPLE_SAMPLER_H

#include <linux/perf_event.h>

#include <assay/sample.h>

#include "base/error.h"
#include "base/vec.h"

/* The registers asked for: all general ones and the pc. In the order of their bits. */
#define AS_SAMPLE_REGS_N 17
extern const uint64_t as_sample_regs_mask;

/* What a ring holds. */
enum as_channel {
    AS_CHANNEL_SAMPLES,
    AS_CHANNEL_TASKS,    /* maps, names, begins and ends of threads */
    AS_CHANNEL_SWITCHES, /* of threads; not there: they are with the tasks */
    AS_CHANNEL_DEEP,     /* samples with larger copies, in the ring of the others */
    AS_CHANNEL_WAITS     /* of places where threads leave the processor: lossy, see choose.c */
};

struct as_ring {
    int fd; /* leader: the event whose buffer it is */
    uint32_t cpu;
    uint8_t channel;                    /* as_channel */
    const struct perf_event_attr *attr; /* by which its records are read */
    struct perf_event_mmap_page *page;  /* NULL: not mapped */
    size_t map_b, data_b;
    /* Whole records not yet handed out, in order of time but for stragglers; [from, n) is left. */
    AS_VEC(uint8_t) wait;
    size_t from;
    uint64_t next_ns; /* time of the record at `from` */
    /* Of a ring of waits: its events, for how many looks they are off yet, and how often one after
     * the other they were too many; the ring that has the switches of its processor, and how far
     * that was at the last look. */
    AS_VEC(int) member;
    unsigned rest, often;
    size_t switches;
    uint64_t switches_head;
};

struct as_event {
    int fd;
    uint8_t channel; /* as_channel */
};

struct assay_sampler {
    pid_t pid;
    struct assay_sample_options options;
    struct assay_sample_choice choice;
    struct assay_sample_counts counts;
    /* Of all that is wanted but waits; as_channel_attr has that of an event. */
    struct perf_event_attr attr;
    struct perf_event_attr waits; /* of the samples of places of waiting */
    uint32_t waits_ring_b, switches_ring_b;
    AS_VEC(struct as_ring) ring;
    AS_VEC(struct as_event) event; /* of all but waits; leaders too */
    size_t cpus;
    bool mapped;
    bool has_few;     /* records of tasks and switches share an event and ring */
    bool has_stack_b; /* the size of copies was asked for */
    bool is_deep;     /* larger copies are taken now */
    bool has_no_room; /* memory for rings may not be locked: smaller ones might do */
    uint32_t *heap;   /* rings that have something waiting, earliest first */
    uint32_t heap_n;
    uint64_t barrier_ns; /* what is earlier can no longer be overtaken */
    uint64_t handed_ns;
    uint64_t opened_ns;
    uint64_t woken_ns;  /* when a wait last ended because of tasks */
    uint64_t looked_ns; /* when waits were last looked at */
    bool told_existing;
    bool soon; /* what was read of tasks is not handed out yet */
};

/* What sample_id_all puts at the end of every record but samples, in this order. */
#define AS_SAMPLE_ID_FIELDS                                                                        \
    (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |                 \
     PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

int as_sample_perf_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu);

/*
 * Fills attr and choice: the best event that can be opened for `pid` on `cpu`. Errors as
 * assay_sampler_open.
 */
int as_sample_choose(struct assay_sampler *sampler, pid_t pid, int cpu, struct assay_error *err);
/* Then `waits`, when the options ask for it and it is permitted; else the choice says why not. */
void as_sample_choose_waits(struct assay_sampler *sampler, pid_t pid, int cpu);
/* As as_sample_perf_event_open, for events of `waits`. */
int as_sample_open_waits(const struct perf_event_attr *attr, pid_t pid, int cpu);
void as_sample_no_waits(struct assay_sampler *sampler, const char *why);
/* The sentence for `error` of perf_event_open; `pid` 0: for a child of ours. */
int as_sample_refused(struct assay_error *err, pid_t pid, int error);
long as_sample_paranoid(void); /* kernel.perf_event_paranoid, or -99 */
/* Why an event is not to be had, as a part of a sentence. Returns `text`. */
const char *as_sample_why_not(int error, char *text, size_t n);
/* Appends to the reason of a choice, behind "; " where there is one already; cut where it is full.
 */
void as_sample_add_reason(struct assay_sample_choice *choice, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- Threads ---- */

typedef int as_sample_open(void *context, pid_t tid, struct assay_error *err);
/* Calls `open_one` once for each thread of a process that runs, until there is no new one. */
int as_sample_each_thread(pid_t pid, as_sample_open *open_one, void *context,
                          struct assay_error *err);
/* As many descriptors as this user may have: events need one a thread and processor. */
void as_sample_raise_file_limit(void);

/* ---- Rings ---- */

/* Rings of all processors, of the size that the options ask for or that is good; then those of
 * waits. 0 or NOMEM. */
int as_rings_init(struct assay_sampler *sampler);
int as_rings_add_waits(struct assay_sampler *sampler);
void as_rings_fini(struct assay_sampler *sampler);
/* The event of a channel, made of that of all. */
struct perf_event_attr as_channel_attr(const struct assay_sampler *sampler, unsigned channel);
/* The larger copy that rings of this size hold enough of, or 0. */
uint32_t as_rings_deep_b(const struct assay_sampler *sampler);
/* Maps what is not mapped yet of rings with a leader; waits are done without when there is no room
 * for theirs. */
int as_rings_map(struct assay_sampler *sampler, struct assay_error *err);
/* After that has failed: whether smaller rings might do, for which all events are to be opened
 * anew (when they wake the reader is fixed then). The rings have no leaders any more. */
bool as_rings_shrink(struct assay_sampler *sampler);
/* Closes the events of waits: `why` is said with the choice. */
void as_rings_no_waits(struct assay_sampler *sampler, const char *why);
/* Records that the kernel has dropped by now: samples, or all others. 0 before Linux 6.0. */
uint64_t as_rings_lost(const struct assay_sampler *sampler, bool samples);
/* Turns the events of a ring of waits. */
void as_waits_turn(const struct as_ring *ring, bool on);
/* Lets those rest that cost too much; before rings are emptied. `look`: ten times a second. */
void as_waits_look(struct assay_sampler *sampler, bool look);
/* A ring of so many bytes that holds so many is filled: the reader wakes. */
static inline uint32_t as_waits_filled_b(uint32_t ring_b)
{
    return ring_b / 4 * 3;
}
/* Copies what the kernel has written to `ring->wait` and frees the kernel's room. */
int as_ring_drain(struct assay_sampler *sampler, struct as_ring *ring);

/* ---- Records ---- */

/* Time of a whole record; 0 when it has none. */
uint64_t as_record_time(const struct perf_event_attr *attr, const uint8_t *record);
/* False for kinds without interest and damage (then *damaged). `regs`: room for 17. */
bool as_record_parse(const struct perf_event_attr *attr, const uint8_t *bytes,
                     struct assay_sample_record *out, uint64_t *regs, bool *damaged);

/* Gives maps, names and threads of a process that runs already, as of `time_ns`. */
int as_sample_existing(pid_t pid, uint64_t time_ns, assay_sample_sink *sink, void *context,
                       struct assay_error *err);
/* Fills a MAP record from a line of /proc/PID/maps, which it keeps pointing to; false when the line
 * is not of code. */
bool as_sample_map_line(char *line, struct assay_sample_record *out);

#endif
