/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of the streams of a run, before the attribution to names: processes, threads, modules and a
 * tree of frames. It counts how often each thread was at each node, running or blocked. A tally
 * has any number of streams, one for each rank. Frames of one file are the same in all streams.
 */
#ifndef AS_PROFILE_TALLY_H
#define AS_PROFILE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/index.h"
#include "base/map.h"
#include "base/vec.h"
#include "profile/levels.h"
#include "sample/sample.h"

struct as_tally_module {
    const char *path;
    const char *kept; /* copy in the directory of the run, or NULL */
    struct as_file_identity file;
    uint8_t kind;     /* as_module_kind */
    uint32_t process; /* kind ANON: process of its addresses */
    uint64_t n;       /* running samples in it or in its callees */
};

struct as_tally_process {
    const char *exe, *command, *root;
    uint32_t stream;
    uint32_t parent; /* AS_NONE: a process outside of this run */
    uint32_t pid, parent_pid, ns_pid;
    int64_t rank; /* -1: none */
    const char *launcher;
    int64_t start_ns, end_ns;   /* since the start of the run; end -1 = unknown */
    int exit_code, exit_signal; /* -1 and 0 = unknown */
    uint64_t n;
};

struct as_tally_cpu {
    uint32_t cpu, n;
    int node; /* NUMA node; -1 = unknown */
};

struct as_tally_thread {
    const char *name;
    uint32_t process, tid;
    int64_t start_ns, end_ns; /* since the start of the run; end -1 = unknown */
    int64_t cpu_ns;           /* by switch records; -1 = no records */
    int64_t blocked_ns;
    int64_t runnable_ns; /* run delay: ready, without a CPU; -1 = unknown */
    uint64_t voluntary_n, involuntary_n;
    uint64_t migration_n, numa_migration_n; /* between successive samples or switches */
    uint64_t lost_n;
    uint64_t n; /* running samples */
    AS_VEC(struct as_tally_cpu) cpu;
    /* State while the stream is read. */
    uint32_t last_cpu;
    bool is_new;       /* created within the run, and not yet on a CPU */
    uint32_t waits_at; /* node where it left the CPU; 0 = unknown */
    int64_t on_ns;     /* time since which it runs, or -1 */
    int64_t off_ns;    /* time since which it is off the CPU, or -1 */
    int64_t queued_ns; /* time since which it is ready to run, or -1 */
    int64_t delay_ns;  /* run delay by the kernel's account, or -1 */
    int64_t ran_ns;    /* CPU time by the kernel's account, or -1 */
    /* The kernel's account soon after its records began, or -1; the time of that; and the part of
     * runnable_ns from before that time. */
    int64_t early_delay_ns, early_at_ns, early_runnable_ns;
};

struct as_tally_node {
    uint32_t parent; /* number of its caller, lower than its own; 0: outermost */
    uint32_t module;
    uint64_t address; /* as in as_stream_node */
};

struct as_tally_sum {
    uint32_t thread, node;
    bool blocked;
    uint64_t n, time_ns;
};

struct as_tally_stream {
    const char *name, *host;
    const char *event, *reason, *stacks;
    bool kernel, truncated, has_numa;
    uint32_t rate_hz;
    struct as_sample_counts counts;
    uint64_t dropped;
    uint64_t damaged; /* parts that could not be read */
};

/* A fact of the recording without a member of its own. */
struct as_tally_fact {
    uint32_t stream;
    const char *name, *value;
};

/* An instruction with samples. First in what is known of it, so that all such are found alike. */
struct as_tally_place {
    uint32_t module;
    uint64_t address;
    int64_t location_id, loop_id; /* found when places have rows; 0: none */
};

/* What is known of the memory operand of an instruction, in one process. */
struct as_tally_operand {
    struct as_tally_place place;
    int later_b; /* the operand's instruction stands so far behind the address */
    uint64_t n;
    /* far: share of the addresses that range so far; forward: of the moves, below 0 = not known */
    double reach_b, far, pace_b_s, forward;
};
_Static_assert(offsetof(struct as_tally_operand, place) == 0, "sorted by its first member");

/* A value that a register held in many samples of an instruction. */
struct as_tally_value {
    uint8_t reg; /* by the numbers of DWARF */
    uint32_t n;  /* samples with it, at least */
    uint64_t value;
};

/* The registers of a sample. */
struct as_tally_draw {
    uint32_t tid;
    uint64_t time_ns; /* CLOCK_MONOTONIC of the recording; 0: not known */
    uint64_t reg[16]; /* by the numbers of DWARF */
};

/* Registers in the samples of an instruction, in one process. */
struct as_tally_registers {
    struct as_tally_place place;
    uint32_t process;
    uint32_t sample_n;
    uint32_t values, draws;
    const struct as_tally_value *value; /* by register */
    const struct as_tally_draw *draw;   /* of some samples */
};
_Static_assert(offsetof(struct as_tally_registers, place) == 0, "sorted by its first member");

/* A range of memory of a process (sample/data_maps.h). */
struct as_tally_data {
    uint32_t process;
    uint64_t start, end;
    uint64_t base, offset; /* of a file: offset in it of the address base */
    int8_t huge_pct;       /* of its memory in use, in huge pages; -1: not known */
    const char *kind;      /* as in the table data_object, or `zeroed` */
    const char *path;      /* "": none */
};

/* A recorded code address. */
struct as_tally_frame {
    uint32_t module;
    uint64_t address; /* of the call, not of the return */
};

/* A call stack that allocates memory blocks (sample/block_lives.h). */
struct as_tally_site {
    uint32_t stream, number;
    uint32_t frame_n;
    const struct as_tally_frame *frame; /* innermost first */
};

/* A block of memory of a process. */
struct as_tally_block {
    uint32_t process, stream;
    uint32_t site; /* its number in the stream; AS_NONE = unknown */
    bool mapped;   /* made by mmap(2) */
    uint64_t start, end;
    uint64_t born_ns, died_ns; /* life time [born_ns, died_ns), by the clock of the draws */
};

/* A Python function. Its module is its source file. */
struct as_tally_python {
    uint32_t module;
    uint64_t address; /* AS_PYTHON_FUNCTION */
    const char *name;
};

struct as_tally {
    AS_VEC(struct as_tally_stream) stream;
    AS_VEC(struct as_tally_module) module; /* 0: unknown */
    AS_VEC(struct as_tally_process) process;
    AS_VEC(struct as_tally_thread) thread;
    AS_VEC(struct as_tally_node) node; /* 0: no frame */
    AS_VEC(struct as_tally_sum) sum;
    AS_VEC(uint32_t) last_sum; /* by node: its sum that changed last */
    AS_VEC(struct as_tally_fact) fact;
    AS_VEC(struct as_tally_python) python;
    AS_VEC(struct as_tally_operand) operand;
    AS_VEC(struct as_tally_registers) registers;
    AS_VEC(struct as_tally_data) data;
    AS_VEC(struct as_tally_site) site;
    AS_VEC(struct as_tally_block) block;
    uint64_t running_n, cut_n, broken_n, switched_n;
    /* Totals, limited by as_tally_add_within. */
    uint64_t sum_ns, cpu_ns, blocked_ns, runnable_ns, lost_n;
    /* Blocked time: at sampled places; distributed over places of other samples; without any place.
     */
    double placed_ns, spread_ns, unplaced_ns;
    struct as_levels levels; /* threads over time */
    struct as_arena arena;   /* all texts */
    struct as_index node_index, sum_index, module_index;
    size_t indexed_n, indexed_sum_n; /* number of nodes and sums in their indices */
};

int as_tally_init(struct as_tally *tally);
void as_tally_fini(struct as_tally *tally);

/* Adds the stream at `path`. `run_start_ns` is the start of the run since 1970. Errors: those of
 * as_stream_open, NOMEM. */
int as_tally_add(struct as_tally *tally, const char *path, const char *name, int64_t run_start_ns,
                 struct as_error *err);

/* An operand as the recording has it, its module still the stream's; below 0: it is none. */
int as_operand_read(const char *text, struct as_tally_operand *out);
/* Values of registers in the same way (sample/values.h has the text), in the memory of `arena`. */
int as_registers_read(struct as_arena *arena, const char *text, struct as_tally_registers *out);
/* Registers of samples (sample/draws.h), so too. */
int as_drawn_read(struct as_arena *arena, const char *text, struct as_tally_registers *out);
/* A range (sample/operands.c), so too. */
int as_data_read(struct as_arena *arena, const char *text, struct as_tally_data *out);

/* A site and a block (sample/block_lives.c), so too. */
int as_site_read(struct as_arena *arena, const char *text, struct as_tally_site *out);
int as_block_read(const char *text, struct as_tally_block *out);

/* Completes the tally after the last stream. Ends open intervals, and counts the samples of
 * modules. Wait time without samples goes to the sampled places of its thread. Errors: NOMEM. */
int as_tally_end(struct as_tally *tally, struct as_error *err);

#endif
