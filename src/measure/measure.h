/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures this CPU without performance counters: core cycles of a block of instructions in a
 * steady state. A calibrated chain of dependent multiplications beside every sample converts time
 * stamp counter ticks to core cycles. A canary of independent increments shows whether another
 * tenant shares the core. doc/internals/machine.md explains the method.
 */
#ifndef AS_MEASURE_MEASURE_H
#define AS_MEASURE_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct as_meter; /* one thread at a time */

/* Pages that a loop may touch, so that all of its data stay in L1 (32 KiB, 8 ways). The loop is
 * shortened down to 400 iterations for it. */
enum { AS_METER_NEAR_PAGES = 6 };

struct as_meter_options {
    int cpu;              /* CPU to measure on, -1: the least loaded usable one */
    unsigned samples;     /* clean samples of a block, 0: 120 */
    unsigned page_n;      /* physical pages behind all that blocks touch, 0: 8 */
    unsigned patience_ms; /* longest time for one block on a busy machine, 0: 3000 */
    unsigned enough;      /* clean samples that do when they agree to 1 %; 0: all of `samples` */
};

enum as_meter_mode {
    AS_METER_UNROLLED, /* copies of the block, one behind the other: cycles of a copy */
    AS_METER_LOOP      /* the block, then dec and jnz of a register that it leaves alone: cycles
                             of an iteration, dec and jnz included */
};

/* Results of a block; the word is for tables, the sentence for people. */
#define AS_METER_STATUS_LIST(X)                                                                    \
    X(OK, "ok", "measured")                                                                        \
    X(NOISY, "noisy", "measured, but the machine was never calm: the figure is of little trust")   \
    X(UNDECODED, "undecoded", "its bytes are no instructions")                                     \
    X(EXCLUDED, "excluded", "it transfers control, repeats, or changes what measuring needs")      \
    X(UNSUPPORTED, "unsupported", "this processor has not all of its instructions")                \
    X(FAULTING, "faulting", "it faults")                                                           \
    X(PAGES, "pages", "it touches more than 1024 pages")                                           \
    X(REGISTERS, "registers", "no register is left to count the loop with")                        \
    X(TIMEOUT, "timeout", "no sample came to its end undisturbed in the time there was")

enum as_meter_status {
#define AS_METER_ENUM(name, word, sentence) AS_METER_##name,
    AS_METER_STATUS_LIST(AS_METER_ENUM)
#undef AS_METER_ENUM
        AS_METER_STATUS_COUNT
};

const char *as_meter_status_word(enum as_meter_status status);
const char *as_meter_status_text(enum as_meter_status status);

/* Figures are there with OK and NOISY only. */
struct as_cycles {
    enum as_meter_status status;
    double cycles;        /* the robust estimate: 10th percentiles of two lengths, difference */
    double median;        /* the same of medians */
    double low, high;     /* quartiles of the differences of single samples: the spread */
    double core_per_tick; /* core cycles in a tick of the time stamp counter */
    unsigned sample_n, noisy_n; /* clean samples, and those that were discarded */
    unsigned insn_n, page_n;    /* instructions of the block, pages that it touches */
    int signal;                 /* FAULTING, UNSUPPORTED: which */
    uint64_t address;           /* FAULTING: where */
};

/* Calibrates itself in about 0.2 s. `options` NULL: the defaults above. Errors: NOMEM, IO (no
 * usable CPU, no memory can be mapped). */
int as_meter_new(const struct as_meter_options *options, struct as_meter **out,
                 struct as_error *err);
void as_meter_free(struct as_meter **meter); /* NULL inside is fine */

/*
 * Measures the block of `size_b` bytes in a child process. Accessed memory is mapped there, and
 * denormals are flushed. Every register has a different value (address-like in general registers,
 * near 1 in vectors). A block that cannot be measured has a status, not an error. Errors: NOMEM; IO
 * (no child can be started).
 */
int as_meter_block(struct as_meter *meter, const uint8_t *bytes, size_t size_b,
                   enum as_meter_mode mode, struct as_cycles *out, struct as_error *err);

/* A function of this program in two lengths, which differ by `span` iterations of its loop. */
struct as_meter_work {
    void (*run)(void *context, bool longer, unsigned repeats);
    void *context;
    double span;
};

/*
 * Measures like a block, in a child process with denormals flushed: cycles per iteration. The
 * common cost of both lengths cancels out. Errors: NOMEM, IO.
 */
int as_meter_work(struct as_meter *meter, const struct as_meter_work *work, struct as_cycles *out,
                  struct as_error *err);

/*
 * Single-steps `work` once, in one length, in a child process. Counts the executions of the
 * instruction at each of the `size_b` bytes from `base`. FAULTING and TIMEOUT (20 seconds) leave
 * the counts undefined. Errors: NOMEM, IO.
 */
int as_meter_count(const struct as_meter_work *work, bool longer, uint64_t base, size_t size_b,
                   uint32_t *count, enum as_meter_status *status, struct as_error *err);

/* How the machine looked so far. */
struct as_meter_state {
    int cpu;               /* where it measures now */
    const char *clock;     /* "chain", or "pmu" where the kernel counts cycles */
    const char *uncounted; /* why it does not, in words; borrowed */
    double core_per_tick;  /* the last */
    double chain_cycles;   /* cycles of a dependent 64-bit multiplication */
    double canary_best;    /* independent increments a cycle when calm */
    double clean_share;    /* share of samples that passed the gate, 1 before the first */
    double refused_s;      /* spent on samples that did not pass */
    unsigned switch_n;     /* changes of the CPU */
};
void as_meter_state_get(const struct as_meter *meter, struct as_meter_state *out);

/* ---- Ceilings -------------------------------------------------------------------------------- */

struct as_host;
struct as_figures;

enum as_ceiling_choice {
    AS_CEILINGS_MEMORY = 1 << 0, /* latency, bandwidth, strides, gathers */
    AS_CEILINGS_PEAKS = 1 << 1,  /* arithmetic of every width, and the frequency meanwhile */
    AS_CEILINGS_NEEDED = 1 << 2  /* what numbers of a run need, in `budget_ms` at most */
};

struct as_ceilings_options {
    unsigned what;            /* enum as_ceiling_choice */
    unsigned budget_ms;       /* NEEDED: 0: 10000 */
    const char *path;         /* saved there after each figure; NULL: not saved */
    int progress_fd;          /* -1: shows nothing */
    const volatile int *stop; /* becomes other than 0: ends after the trial at hand; may be NULL */
};

/*
 * Measures the ceilings of this machine into `figures`. An interrupted measurement continues with
 * the missing figures; `*stopped` says that some are missing. Findings (no huge pages, a quota, one
 * CPU, external load) are stored beside the figures. Errors: UNSUPPORTED, IO, NOMEM.
 */
int as_measure_ceilings(const struct as_host *host, const struct as_ceilings_options *options,
                        struct as_figures *figures, bool *stopped, struct as_error *err);

/* ---- Instructions ---------------------------------------------------------------------------- */

struct as_bytes;

struct as_instruction_options {
    const char *path; /* of the table; what is measured so far lies in PATH.part */
    const struct as_bytes
        *code; /* only forms that occur in these; none: all that the decoder knows */
    size_t code_n;
    struct as_figures *figures; /* gets the parameters too, as "core.NAME"; may be NULL */
    int progress_fd;            /* -1: shows nothing */
    const volatile int *stop;   /* becomes other than 0: ends after the form at hand; may be NULL */
};

struct as_instruction_result {
    size_t measured_n, refused_n, noisy_n; /* forms; refused: faulting, not on this CPU, ... */
    bool is_stopped;                       /* there is more to do: the next call goes on */
    bool is_refused;                       /* there is no table: `doubt` says why */
    char doubt[192]; /* why nothing of it is to be trusted: others used the core all the time; "" */
};

/*
 * Measures the table of this core: slots, resources and latencies of each form, and parameters of
 * the core, in the format of data/uarch/. Forms that PATH.part has are not measured again. Errors:
 * IO, NOMEM.
 */
int as_measure_instructions(const struct as_host *host,
                            const struct as_instruction_options *options,
                            struct as_instruction_result *result, struct as_error *err);

#endif
