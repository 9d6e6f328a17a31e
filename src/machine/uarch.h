/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Costs of instructions on one core: the tables of data/uarch/, with a line per instruction form
 * and some dozens of parameters of the core. doc/reference/uarch.md has the format. Each line has
 * its source: measured (core and date) or cited.
 */
#ifndef AS_MACHINE_UARCH_H
#define AS_MACHINE_UARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "isa/isa.h"

/* X(name, default): parameters of a core; cycles, entries, bytes or a count. */
#define AS_UARCH_PARAMETER_LIST(X)                                                                 \
    X(dispatch_width, 4) /* slots renamed a cycle */                                               \
    X(retire_width, 8)   /* slots retired a cycle */                                               \
    X(rob, 224)          /* slots in flight */                                                     \
    X(sched_int, 97)     /* waiting, integer side */                                               \
    X(sched_fp, 64)      /* waiting, vector side; 0: one scheduler with the integers */            \
    X(sched_mem, 0)      /* waiting, loads and stores; 0: with the integers */                     \
    X(load_queue, 72)                                                                              \
    X(store_queue, 56)                                                                             \
    X(regs_int, 180) /* physical registers beyond the architectural ones */                        \
    X(regs_fp, 168)                                                                                \
    X(load_int, 5) /* L1 hit: address to general register */                                       \
    X(load_int_indexed, 5)                                                                         \
    X(load_fp, 6) /* to vector register */                                                         \
    X(load_fp_indexed, 6)                                                                          \
    X(forward_int, 5) /* store to load of the same bytes: data to result */                        \
    X(forward_fp, 6)                                                                               \
    X(forward_mixed, 7)      /* between general and vector registers */                            \
    X(forward_failed, 15)    /* the load reads more than the store wrote */                        \
    X(rename_memory, 0)      /* 1: loads with the address expression of the store cost nothing */  \
    X(rename_memory_loop, 0) /* 1: in loops whatever the address expression */                     \
    X(rename_memory_late, 0) /* 1: where the load's address comes late, out of a load */           \
    X(rename_memory_update, 1) /* 0: not of `add [m],r` and its like */                            \
    X(rename_memory_b, 1)      /* least bytes that are renamed */                                  \
    X(andn_breaks, 0)          /* 1: and-not of a vector register with itself has no dependence */ \
    X(sbb_breaks, 0)           /* 1: sbb of equal registers waits for the flags alone */           \
    X(stack_engine, 1)         /* 1: push and pop change rsp at decode */                          \
    X(stack_sync, 1)           /* slots to make rsp whole after push and pop */                    \
    X(move_slots, 1)           /* 0: eliminated moves do not count at dispatch */                  \
    X(move_share, 1)           /* share of moves that are eliminated, 0 to 1 */                    \
    X(taken_branch, 1)         /* cycles per taken branch at least */                              \
    X(same_branch, 1)          /* cycles from one time a branch is taken to the next */            \
    X(mispredicted_branch, 20) /* cycles that a mispredicted branch adds to what is computed */    \
    X(microcode_groups, 0)     /* 1: a form with the flag microcode begins a group of slots */     \
    X(fuse_branch, 1)          /* 0 none; 1 cmp, test; 2 add, sub, inc, dec, and too; 3 any ALU */ \
    X(fuse_move, 0)            /* 1: a move and an operation on its destination share a slot */    \
    X(move_rsp, 1)             /* 0: moves out of rsp are not eliminated */                        \
    X(dispatch_fp, 0)          /* vector slots renamed a cycle; 0: as others */                    \
    X(alu_after_first, 0)      /* extra ALU cycles of an operation that waits for one that waits   \
                                  for none, */                                                     \
    X(alu_after_other, 0)      /* for any other, */                                                \
    X(alu_after_carried, 0)    /* for one of the iteration before */                               \
    X(decode_width, 4)         /* legacy decode: instructions a cycle */                           \
    X(decode_b, 16)            /* legacy decode: bytes a cycle */                                  \
    X(complex_slots, 4)        /* most slots that the first decoder makes itself */                \
    X(simple_slots, 1)         /* most slots of one instruction in any other decoder */            \
    X(lcp_stall, 3)            /* length-changing prefix */                                        \
    X(opcache_width, 6)        /* slots a cycle out of the op cache; 0: no op cache */             \
    X(opcache_slots, 1536)     /* capacity */                                                      \
    X(opcache_line_b, 32)      /* window of code a line stands for */                              \
    X(opcache_line_slots, 6)   /* slots in a line */                                               \
    X(opcache_window_lines, 3) /* most lines of one window; 0: any */                              \
    X(opcache_fetch, 0)        /* slots of a line read at once; 0: all */                          \
    X(opcache_again, 0)        /* cycles more for each further reading of a line, in a loop */     \
    X(opcache_by_start, 0) /* 1: an instruction stands in the line where it starts, not ends */    \
    X(opcache_cross, 0)    /* 1: one that crosses lines stands in both */                          \
    X(opcache_loop, 0)     /* 1: loops read lines of one window of code after the other */         \
    X(opcache_imm, 0)      /* 1: a displacement with an immediate takes one slot more */           \
    X(loop_buffer, 0)      /* slots that loop without the front end; 0: none */                    \
    X(jcc_erratum, 0)      /* 1: branches at the end of 32 bytes are not in the op cache */        \
    X(ports_at_rename, 0)  /* 1: ports are chosen when renamed, not when issued */                 \
    X(line_b, 64)          /* of the caches */                                                     \
    X(store_lines, 0)      /* lines written a cycle, stores to one line together; 0: any */        \
    X(load_b, 0)           /* bytes loaded a cycle at most; 0: as ports and widths tell */         \
    X(store_b, 0)          /* bytes stored a cycle at most; 0: as ports and widths tell */         \
    X(load_bank_b, 0)      /* bytes of a bank of the first level; 0: no banks */                   \
    X(load_bank, 0)        /* loads a cycle from one bank */                                       \
    X(split_load, 1)       /* extra port-cycles of a load that crosses lines */                    \
    X(memory_mixed, 0)     /* memory operations a cycle where loads are of both kinds; 0: any */   \
    X(store_run, 0)        /* vector loads' port-cycles of a store next to a store */              \
    X(in_order, 0) /* cycles from an issue of one thread to its next, in the order of the program; \
                      0: out of order */                                                           \
    X(address_wait, 0) /* in order: cycles from an operation to its result in an address */        \
    X(mvex, 0)         /* 1: vectors are those of Knights Corner (MVEX) */                         \
    X(vector_b, 0)     /* widest vectors, bytes; 0: the widest addition of the table */            \
    X(vector_int_b, 0) /* so of integers */                                                        \
    X(l1d_b, 32768)                                                                                \
    X(l2_b, 1048576)                                                                               \
    X(l3_b, 0)

enum as_uarch_parameter {
#define AS_UARCH_ENUM(name, value) AS_UARCH_##name,
    AS_UARCH_PARAMETER_LIST(AS_UARCH_ENUM)
#undef AS_UARCH_ENUM
        AS_UARCH_PARAMETERS
};

#define AS_UARCH_PORTS   64
#define AS_UARCH_GROUPS  48
#define AS_UARCH_CLASSES 16
#define AS_UARCH_USES    8
#define AS_UARCH_PAIRS   4
#define AS_UARCH_LINE    72

enum as_uarch_flag {
    AS_TIMING_MOVE = 1 << 0,       /* eliminated at rename */
    AS_TIMING_ZERO = 1 << 1,       /* waits for no source */
    AS_TIMING_COMPLEX = 1 << 2,    /* first decoder only */
    AS_TIMING_MICROCODE = 1 << 3,  /* from the microcode store */
    AS_TIMING_UNLAMINATE = 1 << 4, /* decoded as one slot less than it is renamed as */
    AS_TIMING_NOFUSE = 1 << 5,     /* does not fuse with a branch */
    AS_TIMING_ESTIMATED = 1 << 6   /* neither measured nor published */
};

/* Number of port-cycles on any port of a group; best and worst by the values computed with. */
struct as_uarch_use {
    uint8_t group;
    float n, worst;
};

/* Operands of a pair besides the numbers of explicit operands. */
enum as_uarch_place {
    AS_PLACE_MEMORY = 8,
    AS_PLACE_FLAGS = 9,
    AS_PLACE_IMPLICIT = 10,
    AS_PLACE_INDEX = 11 /* of an address, lea */
};

struct as_uarch_pair {
    uint8_t from, to; /* operand number or as_uarch_place */
    float latency;
};

/* Costs of one form. */
struct as_core_timing {
    const char *key; /* the line's, borrowed from the table */
    float slots;     /* of the dispatch */
    float latency;   /* source to result; below 0: no result */
    float worst;     /* latency by the values computed with; else as latency */
    float own;       /* cycles of a unit of this form alone */
    uint8_t flags;   /* as_uarch_flag */
    uint8_t bypass;  /* class */
    uint8_t use_n, pair_n;
    uint16_t source; /* index into the table's sources */
    float spread;    /* relative difference of two runs; below 0: not known */
    struct as_uarch_use use[AS_UARCH_USES];
    struct as_uarch_pair pair[AS_UARCH_PAIRS];
};

struct as_uarch_group {
    const char *name;
    uint64_t ports; /* bit i: port i */
};

struct as_uarch_source {
    const char *id, *words;
};

struct as_uarch_match {
    const char *vendor;
    unsigned family, model_first, model_last;
};

/* One core's table; immutable once loaded, thread-safe. */
struct as_uarch {
    const char *name, *words;
    double set[AS_UARCH_PARAMETERS];
    bool is_set[AS_UARCH_PARAMETERS];         /* the table has a line */
    uint16_t set_source[AS_UARCH_PARAMETERS]; /* where it is set: index into the sources */
    float set_spread[AS_UARCH_PARAMETERS];    /* relative; below 0: not known */
    bool is_unseen[AS_UARCH_PARAMETERS]; /* measuring looked for it and did not see it: the value
                                               is that of another table or the default */
    const char *port[AS_UARCH_PORTS];
    unsigned port_n;
    struct as_uarch_group group[AS_UARCH_GROUPS];
    unsigned group_n;
    const char *bypass_class[AS_UARCH_CLASSES]; /* [0] is the class of all others, "-" */
    unsigned bypass_class_n;
    float bypass[AS_UARCH_CLASSES][AS_UARCH_CLASSES]; /* extra cycles, from producer to user */
    /* Cycles that a line of the op cache with so many slots takes in straight code; 0: as many as
     * dispatch takes. */
    float line_cycles[AS_UARCH_LINE];
    const struct as_uarch_source *source;
    size_t source_n;
    size_t
        source_own; /* from here on sources are the table's own, not those of the one it is like */
    const struct as_uarch_match *match;
    size_t match_n;
    /* Extensions that the core supports, bits by as_extension; 0: unknown. */
    uint64_t extensions;
    const struct as_core_timing *timing; /* in the order of the lines */
    size_t timing_n;
};

/* Tables that the program carries: borrowed names, NULL behind the last. */
const char *const *as_uarch_names(void);
/*
 * A table by name, or by the path of a file (a name with a '/' or that ends in .tsv). Released by
 * as_uarch_free. Errors: NOT_FOUND, CORRUPT (the line and what is wrong with it), IO, NOMEM.
 */
int as_uarch_open(const char *name, struct as_uarch **out, struct as_error *err);
/* Text of a table; `name` is for messages. */
int as_uarch_parse(const char *text, size_t text_b, const char *name, struct as_uarch **out,
                   struct as_error *err);
void as_uarch_free(struct as_uarch **uarch);

/* This CPU, by cpuid. Returns false without the facts. */
struct as_processor {
    char vendor[13]; /* "AuthenticAMD" */
    unsigned family, model, stepping;
    uint64_t features;     /* bit i: line i of data/machine/features.txt; 0: not known */
    unsigned cache_kib[3]; /* of a core: L1 of instructions, of data, L2; 0: not known */
};
bool as_processor_read(struct as_processor *out);
/* A CPU recorded with `cpuid -r` (or -1 -r); the first of several. */
bool as_processor_parse(const char *text, struct as_processor *out);

/* The core of a CPU, by its model, unless its instructions contradict. */
struct as_core {
    const char *name, *words; /* as as_microarchitecture_of; NULL: not known */
    const char *table;        /* of the program for it; NULL: none */
    bool is_contradicted; /* the model is another core's; `name` is by instructions and caches */
    bool is_nearest;      /* there is no table of the core: this is that of the nearest one */
    char doubt[400];      /* one sentence of what is not certain in these; "": nothing */
};
void as_core_of(const struct as_processor *processor, struct as_core *out);
struct as_host;
void as_core_of_host(const struct as_host *host, struct as_core *out);

/* Returns the name of the built-in table for a CPU, by cpuid's words; NULL: none. */
const char *as_uarch_name_of(const char *vendor, unsigned family, unsigned model);

/* Returns the table of this CPU, or the nearest; NULL: none. */
const char *as_uarch_host(void);

/* The table that predictions for this CPU use. */
struct as_uarch_choice {
    struct as_core core;
    char file[4096];         /* the table that was measured on a core as this one; "": none */
    struct as_error damaged; /* .code below 0: there is such a file, but it cannot be read */
};
/* The table that was measured here, else the program's of this core, or the nearest. Errors:
 * NOT_FOUND (nothing is near), NOMEM. */
int as_uarch_open_host(struct as_uarch **out, struct as_uarch_choice *choice, struct as_error *err);

/* The key under which a table has the line of an instruction (doc/reference/uarch.md); returns its
 * length. */
#define AS_UARCH_KEY_B 192
int as_uarch_key(const struct as_insn *insn, char *buf, size_t buf_b);

/* How near the line found is to the instruction asked for. */
enum as_timing_match {
    AS_TIMING_EXACT,
    AS_TIMING_ALIKE,    /* the same but for an index, a mask, the encoding, a fixed register */
    AS_TIMING_WIDTH,    /* another width of the same mnemonic */
    AS_TIMING_REGISTER, /* the form with registers alone: the access to memory is not in it */
    AS_TIMING_NONE
};
/*
 * The line for an instruction, NULL when even its mnemonic is unknown (match NONE); borrowed.
 */
const struct as_core_timing *as_uarch_timing(const struct as_uarch *uarch,
                                             const struct as_insn *insn,
                                             enum as_timing_match *match);
/* Extensions that the instruction needs and the core lacks, bits by as_extension; 0: the core
 * can run the instruction, or the table does not tell. */
uint64_t as_uarch_lacks(const struct as_uarch *uarch, const struct as_insn *insn);
/* Index of a group or of nothing: below 0. */
int as_uarch_group_find(const struct as_uarch *uarch, const char *name);

#endif
