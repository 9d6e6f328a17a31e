/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes values of one iteration symbolically, as sums of atoms with constant coefficients plus
 * a constant. Equal sums have the same number. So two addresses provably differ by a constant
 * exactly if their terms are equal. Values are unbounded integers: 32-bit arithmetic is assumed not
 * to wrap, as in compiled loops of well-defined programs.
 */
#ifndef AS_CODE_SYMBOL_H
#define AS_CODE_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

enum as_atom_kind {
    AS_ATOM_LIVE,   /* value of a location at the start of an iteration */
    AS_ATOM_FIXED,  /* the same in all iterations, as a segment base */
    AS_ATOM_PURE,   /* computed from its inputs alone; fixed if they are */
    AS_ATOM_LOAD,   /* loaded from the address that is its input */
    AS_ATOM_BITS,   /* its input with low bits set or cleared */
    AS_ATOM_VARYING /* any value */
};

enum { AS_ATOM_INPUTS = 3, AS_TERM_PARTS = 4 };

/* A sum of atoms (`term`; 0 = none) plus a constant. */
struct as_value {
    int64_t constant;
    uint32_t term;
};

struct as_atom {
    int64_t step; /* change per iteration; valid if `known` */
    /* Valid if `aliased`. LIVE: the same value in terms of other atoms, from the second iteration
     * on. BITS: the input plus the bits that are set. */
    struct as_value alias;
    uint32_t input[AS_ATOM_INPUTS]; /* terms of the inputs */
    uint8_t inputs;
    uint8_t kind;     /* as_atom_kind */
    uint8_t location; /* LIVE: the location */
    uint8_t low_bits; /* BITS: number of low bits that may change */
    bool known;       /* `step` is valid */
    bool steady;      /* the step is unknown but never changes */
    bool product;     /* PURE: product of its two inputs */
    bool plain;       /* product: both inputs have no constants */
    bool aliased;
    bool sets; /* BITS: the bits are set, not cleared */
};

struct as_term {
    int64_t factor[AS_TERM_PARTS];
    uint32_t atom[AS_TERM_PARTS]; /* ascending */
    uint32_t parts;
};

struct as_symbols {
    AS_VEC(struct as_atom) atom;
    AS_VEC(struct as_term) term; /* [0] is the empty sum */
    uint32_t *bucket;            /* hash of terms; 0 = free */
    uint32_t buckets;
    bool failed; /* out of memory: values are meaningless */
};

/* Removes all atoms and terms. `s` is all zero or was used before; its memory is used again. */
void as_symbols_start(struct as_symbols *s);
void as_symbols_fini(struct as_symbols *s);

/* Makes a new atom and returns it as a value. as_symbol_input adds inputs to it. */
struct as_value as_symbol_atom(struct as_symbols *s, enum as_atom_kind kind);
/* Makes `value` an input of the newest atom. An atom with more than AS_ATOM_INPUTS inputs becomes
 * VARYING. */
void as_symbol_input(struct as_symbols *s, struct as_value value);

/* Returns a * b for two values that are not constants. */
struct as_value as_symbol_product(struct as_symbols *s, struct as_value a, struct as_value b);

/*
 * Returns `value` with bits changed by an `or` of the small number `set`; `set` 0 clears the low
 * bits instead. Compilers write a sum as an `or` if the low bits are zero. The result is a sum only
 * if a known nonzero step leaves the low bits unchanged.
 */
struct as_value as_symbol_bits(struct as_symbols *s, struct as_value value, int64_t set,
                               unsigned low_bits);

/* Returns the term that consists of the atom alone. */
uint32_t as_symbol_term(struct as_symbols *s, uint32_t atom);

/* Returns a + factor * b. A sum of more than AS_TERM_PARTS atoms becomes a new PURE atom. */
struct as_value as_symbol_add(struct as_symbols *s, struct as_value a, struct as_value b,
                              int64_t factor);

static inline int64_t as_symbol_times(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static inline struct as_value as_symbol_constant(int64_t constant)
{
    return (struct as_value){.constant = constant};
}

static inline bool as_symbol_equal(struct as_value a, struct as_value b)
{
    return a.term == b.term && a.constant == b.constant;
}

/* Sets `step` to the change of the sum per iteration. Returns false if the change is not known
 * (yet). */
bool as_symbol_step(const struct as_symbols *s, uint32_t term, int64_t *step);
/* Returns true if each step of the sum is known or never changes. */
bool as_symbol_steady(const struct as_symbols *s, uint32_t term);
/* Finds the steps of atoms that depend on other atoms. `loads`: nothing in the loop writes memory,
 * so a load from a fixed address is fixed. */
void as_symbol_settle(struct as_symbols *s, bool loads);
/* Returns the same value with aliases replaced. */
struct as_value as_symbol_canonical(struct as_symbols *s, struct as_value value);

#endif
