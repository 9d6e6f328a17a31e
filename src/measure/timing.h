/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measurements of one form, and the table line made from them. The line depends only on the
 * numbers.
 */
#ifndef AS_MEASURE_TIMING_H
#define AS_MEASURE_TIMING_H

#include "base/str.h"
#include "measure/forms.h"

/* Resources that a kernel can saturate. The words are groups of a core table. Names that end in Z
 * use 64-byte registers. */
#define AS_PROBE_LIST(X)                                                                           \
    X(SLOTS, "-", 56) /* dispatch: nops */                                                         \
    X(ALU, "ALU", 42)                                                                              \
    X(SHIFT, "SHIFT", 28)                                                                          \
    X(MUL, "MUL", 21)                                                                              \
    X(OUT, "OUT", 14) /* vector to general registers */                                            \
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
    X(STV, "STD", 14) /* stores of vectors, same ports */                                          \
    X(STVZ, "STD", 14)

enum as_saturated {
#define AS_PROBE_ENUM(name, word, n) AS_PROBE_##name,
    AS_PROBE_LIST(AS_PROBE_ENUM)
#undef AS_PROBE_ENUM
        AS_PROBES
};

/* Return true if the kernel uses AVX or 64-byte registers. */
bool as_probe_is_vector(enum as_saturated probe);
bool as_probe_is_wide(enum as_saturated probe);
unsigned as_probe_n(enum as_saturated probe); /* returns the number of instructions in its kernel */

#define AS_PORTS_MOST 24

/* Rates of the saturating kernels of a core, and the ports that they share (sharing.c). */
struct as_probe_rates {
    double cycles[AS_PROBES]; /* of the kernel alone; 0: this CPU lacks its instructions */
    /* Cycles of the SLOTS kernel with nops and with zero idioms; 0: unknown. */
    double nop_cycles, idle_cycles;
    bool nops_fuse;       /* a nop shares the slot of the instruction before it */
    bool alu_has_vectors; /* vector operations use ports of general registers */
    /* 64-byte operations have other ports than shorter ones, or close some of them. If false they
     * take the same ports for longer. */
    bool wide_are_own;
    uint64_t ports[AS_PROBES]; /* bit sets; all 0: unknown */
    char port[AS_PORTS_MOST][8];
};
/* Returns the number of ports of a group: the rounded rate. For SLOTS it is the width. */
unsigned as_probe_ports(const struct as_probe_rates *rates, enum as_saturated probe);
/* Stores a better time of SLOTS. Decides whether nops or zero idioms count its slots. */
void as_probe_slots_note(struct as_probe_rates *rates, bool is_idiom, double cycles);
/* Returns the probe that gives the group of its uses: itself, or that of shorter registers, or of
 * stores. */
enum as_saturated as_probe_home(const struct as_probe_rates *rates, enum as_saturated probe);
const char *as_probe_group(enum as_saturated home);

/* Returns true if the rate of SLOTS comes from a core without external load: it is whole, and at
 * least `least` slots per cycle (0: unknown). External load only takes slots away. */
bool as_probe_width_is_seen(const struct as_probe_rates *rates, double least);
/* Returns the relative distance of the rate from the whole number; negative: unknown. */
double as_probe_spread(const struct as_probe_rates *rates, enum as_saturated probe);

struct as_timing {
    double each;   /* cycles of one of many independent instances */
    double spread; /* relative spread of `each` */
    /* For divisions by the slowest values, if they are slower; 0: otherwise. */
    double hard_each, hard_latency;
    bool is_noisy;
    /* Cycles of a kernel with `mixed_n` instances; for SLOTS without the cycles of its nops. 0: not
     * measured. */
    double mixed[AS_PROBES];
    unsigned mixed_n[AS_PROBES];
    /* Repetitions of the kernel, so that it is longer than the instances. */
    unsigned repeats[AS_PROBES];
    unsigned breaker_n; /* instructions before each instance that break its chains */
    unsigned copies;    /* registers that independent instances write in turn */
    /* From an explicit operand to the written register; negative: unknown. */
    double latency[AS_OPERANDS_MAX];
    /* From flags and from implied registers; <= 0: unknown. */
    double flags_latency, implied_latency;
    double behind_load; /* latency behind the loaded value; negative: unknown */
    bool is_split;      /* a latency is half of a round trip */
    bool is_beside;     /* no kernel shows the operation beside its load or store */
    bool is_late;       /* results come late to all operations except additions */
};

/* Returns the slots of one instance, a multiple of a half; 1 if they were not measured. */
double as_timing_slots(const struct as_timing *timing, const struct as_probe_rates *rates);
/* Returns true if the form uses the pipes of vector additions. */
bool as_timing_adds(const struct as_timing *timing, const struct as_probe_rates *rates);

/* Returns the unit of the cycles that nothing else explains. All vector divisions and roots share
 * one, all integer divisions share another; other forms have their own. */
const char *as_divider_of(const struct as_form *form);
/* Returns true if the figures contradict each other, because of external load during one of
 * them. */
bool as_timing_contradicts(const struct as_timing *timing, const struct as_probe_rates *rates);

/* Appends the line "form\tKEY\t..." with its newline. */
void as_timing_append(struct as_str *to, const struct as_form_case *one,
                      const struct as_timing *timing, const struct as_probe_rates *rates);

#endif
