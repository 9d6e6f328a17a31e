/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracer: a client of the agent that keeps a stream of events for each thread (trace/record.h).
 * What happens is told by wrappers of routines, which stand in libraries of their own, preloaded
 * beside the agent; they find it by `assay_tracer_hooks`.
 */
#ifndef AS_AGENT_TRACER_H
#define AS_AGENT_TRACER_H

#include <stdatomic.h>
#include <stdint.h>

#include "agent/core/client.h"
#include "agent/shared/trace_part.h"
#include "agent/tracer/event_counters.h"
#include "agent/tracer/rendezvous.h"
#include "trace/write.h"

#define AS_TRACER_NAMES_N 16384u /* numbers of names are below */

/* Bits of the number of a name: what the user's filter says of it. */
enum as_tracer_name_bits {
    AS_TRACER_LEFT_OUT = 1u << 30, /* not recorded, and nobody has defined the number */
    AS_TRACER_NO_POLLS = 1u << 29  /* calls that find nothing are not recorded */
};
#define AS_TRACER_NUMBER(name) ((uint64_t)(name) & (AS_TRACER_NO_POLLS - 1u))

enum as_tracer_quiet {
    AS_TRACER_LOUD,
    AS_TRACER_MUTED, /* it is switched off: messages are counted by who wraps MPI */
    AS_TRACER_SUMMED /* calls are told as sums */
};

struct as_tracer_function;

/* Of a thread. */
struct as_tracer_thread {
    struct as_trace_writer writer;
    unsigned inside;      /* routines that are being recorded: what they call is not */
    bool failed;          /* there is no stream */
    bool writes_switches; /* of switches */
    bool is_undecided;    /* in a call that may become a poll or a part of a sum: samples wait */
    uint8_t quiet;        /* as_tracer_quiet: what who wraps MPI does not write */
    uint32_t switches;    /* as_switches that its stream tells of */
    void *scratch;        /* as_tracer_scratch */
    size_t scratch_b;
    /* Of who wraps MPI: so many requests are noted in `scratch`, when so much had changed. */
    uint32_t noted_n;
    uint64_t noted_changes;
    uint64_t sent_b, received_b; /* of the call that is summed */
    struct as_event_counters events;
};

struct as_tracer_hooks {
    uint32_t version;
    /* This thread's; NULL: nothing is recorded now, or the call is within another that is. While
     * the trace is switched off MPI gets one that is muted. */
    struct as_tracer_thread *(*enter)(uint32_t group_bit);
    /* A new number for a name, from 1 on, with bits of as_tracer_name_bits; 0: there is none. */
    uint32_t (*name)(uint32_t group, const char *text);
    /* Definitions: as as_trace_emit_text and as_trace_emit_list; neither of them: numbers alone. */
    void (*define)(unsigned kind, const uint64_t *field, unsigned n, const char *text,
                   const uint64_t *list, size_t list_n);
    /* Memory of this thread, of at least so many bytes, until the next call. NULL: no memory. */
    void *(*scratch)(struct as_tracer_thread *thread, size_t size_b);
    uint32_t (*groups)(void); /* 0: the process is not traced */
    /* Behind an ENTER: where the wrapper was called from, as __builtin_return_address(0) and
     * __builtin_frame_address(0) say in it. As many as the user wants. */
    void (*callers)(struct as_tracer_thread *thread, const void *return_address, const void *frame);
    /* The same, handed out: how many there are, at most AS_TRACE_CALLERS_N. */
    unsigned (*find_callers)(const void *return_address, const void *frame, uint64_t *out);
    uint64_t (*memory_least)(void); /* bytes: smaller blocks are not recorded */
    /* How ranks of several machines meet to compare their clocks; false: they do not. */
    bool (*meeting)(struct as_rank_rendezvous *out);
    bool (*leaves_out)(const char *name); /* the user's filter; gives it no number */
    /* Functions of the program: tracer_functions.h. */
    void (*begins)(const struct as_tracer_function *function);
    void (*ends)(uintptr_t key, uintptr_t frame, bool is_gone);
};

extern const struct as_agent_client as_agent_tracer;

/* The number of a function that is met first, as of `name` above; where it lies is said, too.
 * `text` stays where it is. */
struct as_unwind_module;
uint32_t as_tracer_name_function(const char *text, uint64_t address,
                                 const struct as_unwind_module *module);
/* ---- tracer_sample.c ---- */

/* By the handler of the sampler's timers, which interrupted the thread there (a ucontext_t). */
void as_tracer_sample(const void *context, uint64_t period_ns);
/* tracer.c: the stream for a sample of this thread; NULL: nothing is recorded now, or there is none
 * and none may be made (`may_begin`: there is room on the stack), which is counted. */
struct as_tracer_thread *as_tracer_sampled(bool may_begin);
bool as_tracer_takes_samples(void);
/* The definitions are not being changed by this thread: a handler may add to them. */
bool as_tracer_may_define(void);
void as_tracer_define_module(uint64_t start, uint64_t size_b, uint64_t address, const char *path);

#endif
