/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbolic values of one iteration: sums of atoms with constant coefficients plus a constant.
 * Equal sums have the same number, so two addresses are provably a constant apart exactly when
 * their terms are the same. Values are taken as integers without limits: arithmetic on 32 bits does
 * not wrap, as in the loops that compilers make of well-defined programs.
 */
#ifndef AS_CODE_SYMBOL_H
#define AS_CODE_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

enum as_atom_kind {
    AS_ATOM_LIVE,   /* what a location holds at the start of an iteration */
    AS_ATOM_FIXED,  /* the same in all iterations: segment base */
    AS_ATOM_PURE,   /* computed from its inputs alone: fixed when they are */
    AS_ATOM_LOAD,   /* read from the address that is its input */
    AS_ATOM_BITS,   /* its input with low bits set or cleared */
    AS_ATOM_VARYING /* anything */
};

enum { AS_ATOM_INPUTS = 3, AS_TERM_PARTS = 4 };

/* A sum of atoms (its term; 0 = none) plus a constant. */
struct as_value {
    int64_t constant;
    uint32_t term;
};

struct as_atom {
    int64_t step; /* per iteration, when known */
    /* LIVE: the same value in other atoms, from the second iteration on. BITS: the input plus what
     * is set. Holds when `aliased`. */
    struct as_value alias;
    uint32_t input[AS_ATOM_INPUTS]; /* terms */
    uint8_t inputs;
    uint8_t kind;     /* as_atom_kind */
    uint8_t location; /* LIVE */
    uint8_t low_bits; /* BITS: how many may change */
    bool known;       /* step */
    bool steady;      /* the step is not known, but never changes */
    bool product;     /* PURE: of its two inputs */
    bool plain;       /* product: both inputs are their terms alone, no constants */
    bool aliased;
    bool sets; /* BITS: sets them, else clears */
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

/* Empties `s`: all zero, or of a use before, whose memory is used again. */
void as_symbols_start(struct as_symbols *s);
void as_symbols_fini(struct as_symbols *s);

/* A new atom as a value; inputs may be added with as_symbol_input. */
struct as_value as_symbol_atom(struct as_symbols *s, enum as_atom_kind kind);
/* Makes `value` an input of the newest atom; beyond AS_ATOM_INPUTS it becomes VARYING. */
void as_symbol_input(struct as_symbols *s, struct as_value value);

/* a * b, neither a constant. */
struct as_value as_symbol_product(struct as_symbols *s, struct as_value a, struct as_value b);

/*
 * `value` with bits set by an `or` of a small number: compilers write sums so when the low bits are
 * zero. With a step that leaves the low bits alone it is the sum; else anything. `set` 0: the low
 * bits are cleared.
 */
struct as_value as_symbol_bits(struct as_symbols *s, struct as_value value, int64_t set,
                               unsigned low_bits);

/* The term that is the atom alone. */
uint32_t as_symbol_term(struct as_symbols *s, uint32_t atom);

/* a + factor * b; with more than AS_TERM_PARTS atoms a new PURE atom. */
struct as_value as_symbol_add(struct as_symbols *s, struct as_value a, struct as_value b,
                              int64_t factor);

/* Returns a * b modulo 2^64. */
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

/* Change of the sum per iteration; false when not known (yet). */
bool as_symbol_step(const struct as_symbols *s, uint32_t term, int64_t *step);
/* True when all steps of the sum are known or never change. */
bool as_symbol_steady(const struct as_symbols *s, uint32_t term);
/* Finds steps of atoms that hang on those of others; `loads`: nothing in the loop writes memory. */
void as_symbol_settle(struct as_symbols *s, bool loads);
/* The same value with aliases replaced. */
struct as_value as_symbol_canonical(struct as_symbols *s, struct as_value value);

#endif
