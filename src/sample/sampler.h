/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the sampler: the events of a session, one ring per CPU and channel, and the records that
 * wait for their turn.
 */
#ifndef AS_SAMPLE_SAMPLER_H
#define AS_SAMPLE_SAMPLER_H

#include <linux/perf_event.h>

#include "base/error.h"
#include "base/vec.h"
#include "sample/sample.h"

/* Requested registers: all general registers and the pc, in the order of their bits. */
#define AS_SAMPLE_REGS_N 17
extern const uint64_t as_sample_regs_mask;

/* Content of a ring. */
enum as_channel {
    AS_CHANNEL_SAMPLES,
    AS_CHANNEL_TASKS,    /* mappings, names, starts and ends of threads */
    AS_CHANNEL_SWITCHES, /* thread switches; if the channel is missing, they are in TASKS */
    AS_CHANNEL_DEEP,     /* samples with larger stack copies, in the ring of SAMPLES */
    /* Samples at positions where threads leave the CPU; lossy, see choose.c. */
    AS_CHANNEL_WAITS
};

struct as_ring {
    int fd; /* the event that owns the buffer */
    uint32_t cpu;
    uint8_t channel;                    /* as_channel */
    const struct perf_event_attr *attr; /* format of its records */
    struct perf_event_mmap_page *page;  /* NULL: not mapped */
    size_t map_b, data_b;
    /* Complete records not yet delivered, nearly in time order; [from, n) is left. */
    AS_VEC(uint8_t) wait;
    size_t from;
    uint64_t next_ns; /* time of the record at `from` */
    /* For the ring of WAITS. `member` has its events. `rest` is the number of checks for which they
     * stay off. `often` counts consecutive checks with too many samples. `switches` is the index of
     * the ring with the thread switches of this CPU. `switches_head` is the position of that ring
     * at the last check. */
    AS_VEC(int) member;
    unsigned rest, often;
    size_t switches;
    uint64_t switches_head;
};

struct as_event {
    int fd;
    uint8_t channel; /* as_channel */
};

struct as_sampler {
    pid_t pid;
    struct as_sample_options options;
    struct as_sample_choice choice;
    struct as_sample_counts counts;
    /* Event of all channels except WAITS; see as_channel_attr. */
    struct perf_event_attr attr;
    struct perf_event_attr waits; /* event of the samples of waiting positions */
    uint32_t waits_ring_b, switches_ring_b;
    AS_VEC(struct as_ring) ring;
    AS_VEC(struct as_event) event; /* all events except those of WAITS; includes leaders */
    size_t cpus;
    bool mapped;
    bool has_few;     /* tasks and switches share one event and ring */
    bool has_stack_b; /* the user set the size of stack copies */
    bool is_deep;     /* the larger stack copies are active */
    bool has_no_room; /* not enough lockable memory for rings; smaller rings may fit */
    uint32_t *heap;   /* rings with waiting records, earliest record first */
    uint32_t heap_n;
    uint64_t barrier_ns; /* no new record can be earlier */
    uint64_t handed_ns;
    uint64_t opened_ns;
    uint64_t woken_ns;  /* time of the last wakeup for tasks */
    uint64_t looked_ns; /* time of the last check of WAITS */
    bool told_existing;
    bool soon; /* task records were read but not delivered yet */
};

/* Fields that sample_id_all adds to the end of each record except samples, in this order. */
#define AS_SAMPLE_ID_FIELDS                                                                        \
    (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |                 \
     PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* Calls perf_event_open(2) without a group leader. Returns a descriptor, or -1 with errno. */
int as_sample_perf_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu);

/*
 * Chooses the best event that opens for `pid` on `cpu`; sets `attr` and `choice`. Errors as of
 * as_sampler_open.
 */
int as_sample_choose(struct as_sampler *sampler, pid_t pid, int cpu, struct as_error *err);
/* Sets `waits` if the options request it and the kernel permits it. Otherwise adds the reason to
 * the choice. */
void as_sample_choose_waits(struct as_sampler *sampler, pid_t pid, int cpu);
/* As as_sample_perf_event_open, for events of WAITS. */
int as_sample_open_waits(const struct perf_event_attr *attr, pid_t pid, int cpu);
/* Notes in the choice that WAITS is not recorded, and `why`. */
void as_sample_no_waits(struct as_sampler *sampler, const char *why);
/* Fills `err` for errno `error` of perf_event_open and returns its code. `pid` is 0 for a child of
 * this process. */
int as_sample_refused(struct as_error *err, pid_t pid, int error);
long as_sample_paranoid(void); /* kernel.perf_event_paranoid; -99 if unknown */
/* Writes the reason why an event is not available, as a part of a sentence. Returns `text`. */
const char *as_sample_why_not(int error, char *text, size_t n);
/* Appends to the reason of a choice, behind "; " unless it is empty. A full reason is cut. */
void as_sample_add_reason(struct as_sample_choice *choice, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- Threads ---- */

typedef int as_sample_open(void *context, pid_t tid, struct as_error *err);
/* Calls `open_one` once for each thread of a running process, until no new thread appears. Returns
 * 0 or an error of `open_one`. */
int as_sample_each_thread(pid_t pid, as_sample_open *open_one, void *context, struct as_error *err);
/* Raises the limit of open files as far as permitted: each thread needs one event per CPU. */
void as_sample_raise_file_limit(void);

/* ---- Rings ---- */

/* Creates the rings of all CPUs with the requested or a suitable size. as_rings_add_waits adds the
 * rings of WAITS. Both return 0 or NOMEM. */
int as_rings_init(struct as_sampler *sampler);
int as_rings_add_waits(struct as_sampler *sampler);
void as_rings_fini(struct as_sampler *sampler);
/* Returns the event of a channel, derived from the common event. */
struct perf_event_attr as_channel_attr(const struct as_sampler *sampler, unsigned channel);
/* Returns the size of the larger stack copy in bytes, or 0 if the rings are too small for it. */
uint32_t as_rings_deep_b(const struct as_sampler *sampler);
/* Maps all rings with a leader that are not mapped yet. WAITS is dropped if memory for its
 * rings is missing. */
int as_rings_map(struct as_sampler *sampler, struct as_error *err);
/* Reduces the ring size after as_rings_map failed, and unmaps all rings. Returns false if smaller
 * rings cannot help. All events must then be opened again, because opening fixes the wakeup size.
 * The rings have no leaders any more. */
bool as_rings_shrink(struct as_sampler *sampler);
/* Closes the events of WAITS and adds `why` to the choice. */
void as_rings_no_waits(struct as_sampler *sampler, const char *why);
/* Returns the number of samples, or of other records, that the kernel has dropped so far. Returns 0
 * before Linux 6.0. */
uint64_t as_rings_lost(const struct as_sampler *sampler, bool samples);
/* Switches the events of a ring of WAITS on or off. */
void as_waits_turn(const struct as_ring *ring, bool on);
/* Switches WAITS off where it costs too much. Call it before the rings are drained. `look` is set
 * ten times a second. */
void as_waits_look(struct as_sampler *sampler, bool look);
/* Returns the fill level in bytes at which a ring of WAITS wakes the reader. */
static inline uint32_t as_waits_filled_b(uint32_t ring_b)
{
    return ring_b / 4 * 3;
}
/* Copies the new kernel records to `ring->wait` and frees their space in the ring. Returns 0 or
 * NOMEM. */
int as_ring_drain(struct as_sampler *sampler, struct as_ring *ring);

/* ---- Records ---- */

/* Returns the time of a complete record, or 0 if it has none. */
uint64_t as_record_time(const struct perf_event_attr *attr, const uint8_t *record);
/* Parses a record. Returns false for irrelevant kinds and for damage (sets `*damaged`). `regs` has
 * space for 17 registers. */
bool as_record_parse(const struct perf_event_attr *attr, const uint8_t *bytes,
                     struct as_sample_record *out, uint64_t *regs, bool *damaged);

/* Delivers the mappings, names and threads of a running process as records of time `time_ns`. */
int as_sample_existing(pid_t pid, uint64_t time_ns, as_sample_sink *sink, void *context,
                       struct as_error *err);
/* Fills a MAP record from a line of /proc/PID/maps, which must outlive it. Returns false if the
 * line is not a mapping of code. */
bool as_sample_map_line(char *line, struct as_sample_record *out);

#endif
