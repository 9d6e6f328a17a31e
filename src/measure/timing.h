/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is measured of one form, and the line of a table that it becomes. The line is made of
 * numbers alone: nothing here measures.
 */
#ifndef AS_MEASURE_TIMING_H
#define AS_MEASURE_TIMING_H

#include "base/str.h"
#include "measure/forms.h"

/* Resources that a kernel can saturate; the words are groups of a table of a core. Those that end
 * in Z are of registers of 64 bytes. */
#define AS_PROBE_LIST(X)                                                                           \
    X(SLOTS, "-", 56) /* dispatch: nops */                                                         \
    X(ALU, "ALU", 42)                                                                              \
    X(SHIFT, "SHIFT", 28)                                                                          \
    X(MUL, "MUL", 21)                                                                              \
    X(OUT, "OUT", 14) /* from vectors to general registers */                                      \
    X(FMUL, "FMUL", 14)                                                                            \
    X(FADD, "FADD", 14)                                                                            \
    X(FANY, "FANY", 28)                                                                            \
    X(PERM, "PERM", 14)                                                                            \
    X(FMULZ, "FMUL512", 14)                                                                        \
    X(FADDZ, "FADD512", 14)                                                                        \
    X(FANYZ, "FANY512", 28)                                                                        \
    X(PERMZ, "PERM512", 14)                                                                        \
    X(AGU, "AGU", 28)                                                                              \
    X(LDV, "LDV", 14)                                                                              \
    X(LDVZ, "LDV512", 14)                                                                          \
    X(STD, "STD", 14) /* stores of general registers */                                            \
    X(STV, "STD", 14) /* of vectors, through the same ports */                                     \
    X(STVZ, "STD", 14)

enum as_saturated {
#define AS_PROBE_ENUM(name, word, n) AS_PROBE_##name,
    AS_PROBE_LIST(AS_PROBE_ENUM)
#undef AS_PROBE_ENUM
        AS_PROBES
};

/* Its kernel is one of AVX, or of registers of 64 bytes. */
bool as_probe_is_vector(enum as_saturated probe);
bool as_probe_is_wide(enum as_saturated probe);
unsigned as_probe_n(enum as_saturated probe); /* instructions in its kernel */

#define AS_PORTS_MOST 24

/* A core by its saturating kernels: how many of each go through in a cycle, and which share ports
 * (sharing.c). */
struct as_probe_rates {
    double cycles[AS_PROBES]; /* of the kernel alone; 0: this processor has not its instructions */
    double nop_cycles, idle_cycles; /* that of SLOTS, of nops and of zero idioms; 0: not known */
    bool nops_fuse;                 /* a nop shares the slot of what stands before it */
    bool alu_has_vectors; /* operations of vectors go through ports of general registers */
    bool wide_are_own;    /* those of 64 bytes have other ports than shorter ones, or close some
                             of these; else they take the same for longer */
    uint64_t ports[AS_PROBES]; /* which; all 0: not known */
    char port[AS_PORTS_MOST][8];
};
/* Ports of a group: the rate as a whole number; of SLOTS the width. */
unsigned as_probe_ports(const struct as_probe_rates *rates, enum as_saturated probe);
/* Takes a better time of SLOTS; decides what its slots are counted by. */
void as_probe_slots_note(struct as_probe_rates *rates, bool is_idiom, double cycles);
/* Whose group its uses are of: itself, or the kernel of shorter registers, or of stores. */
enum as_saturated as_probe_home(const struct as_probe_rates *rates, enum as_saturated probe);
const char *as_probe_group(enum as_saturated home);

/* Whether the rate of SLOTS is one of a core that was left alone: whole, and not below `least`
 * slots a cycle, which is known from elsewhere (0: nothing is). Others only take slots away. */
bool as_probe_width_is_seen(const struct as_probe_rates *rates, double least);
/* How far the rate is from that whole number; below 0: not known. */
double as_probe_spread(const struct as_probe_rates *rates, enum as_saturated probe);

struct as_timing {
    double each;                    /* cycles of one among independent ones */
    double spread;                  /* of that, relative */
    double hard_each, hard_latency; /* of a division by values that take longest, where they take
                                       longer; 0: they do not, or it is none */
    bool is_noisy;
    /* Cycles of a kernel with `mixed_n` in it; of SLOTS without those of its nops; 0: not measured.
     */
    double mixed[AS_PROBES];
    unsigned mixed_n[AS_PROBES];
    unsigned repeats[AS_PROBES]; /* of the kernel, so that it is long against the instances */
    unsigned breaker_n;          /* instructions before each instance that break its chains */
    unsigned copies;             /* registers that independent instances wrote in turn */
    double latency[ASSAY_OPERANDS_MAX]; /* from an explicit operand to the register written; below
                                           0: not known */
    double flags_latency, implied_latency; /* from flags, from registers that are implied; up to 0:
                                              not known */
    double behind_load; /* of what a load is made into when it is there; below 0: not known */
    bool is_split;      /* a latency is half of there and back */
    bool is_beside;     /* what it computes beside a load or a store no kernel shows */
    bool is_late;       /* results come late to all but additions */
};

/* Slots of one instance, whole or a half; 1 where they were not measured. */
double as_timing_slots(const struct as_timing *timing, const struct as_probe_rates *rates);
/* Whether it uses the pipes of additions of vectors. */
bool as_timing_adds(const struct as_timing *timing, const struct as_probe_rates *rates);

/* The unit behind what nothing else explains: all divisions and square roots share one, of vectors
 * another than of integers; others have one of their own. */
const char *as_divider_of(const struct assay_form *form);
/* Figures that cannot all be true: somebody else ran beside one of them. */
bool as_timing_contradicts(const struct as_timing *timing, const struct as_probe_rates *rates);

/* Appends the line "form\tKEY\t..." with its end. */
void as_timing_append(struct as_str *to, const struct as_form_case *one,
                      const struct as_timing *timing, const struct as_probe_rates *rates);

#endif
