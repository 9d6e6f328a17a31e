/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes sums of atoms and keeps each sum once. Arithmetic on constants and factors wraps at 64
 * bits.
 */
#include "code/symbol.h"

#include <string.h>

#include "base/error.h"

enum { BUCKETS_FIRST = 64, BUCKETS_KEPT = 256 }; /* a table that is kept must be cleared */

void as_symbols_start(struct as_symbols *s)
{
    s->atom.n = s->term.n = 0;
    if (s->buckets > BUCKETS_KEPT) {
        as_free(s->bucket);
        s->bucket = NULL;
        s->buckets = 0;
    }
    if (s->bucket)
        memset(s->bucket, 0, s->buckets * sizeof *s->bucket);
    s->failed = as_vec_push(&s->term, (struct as_term){.parts = 0}) < 0;
}

void as_symbols_fini(struct as_symbols *s)
{
    as_vec_fini(&s->atom);
    as_vec_fini(&s->term);
    as_free(s->bucket);
    s->bucket = NULL;
}

static int64_t plus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static uint32_t hash_of(const struct as_term *t)
{
    uint64_t h = t->parts;
    for (uint32_t i = 0; i < t->parts; i++)
        h = (h ^ t->atom[i] ^ (uint64_t)t->factor[i] << 32) * 0x9e3779b97f4a7c15u + (h >> 29);
    return (uint32_t)(h >> 32);
}

static bool same_term(const struct as_term *a, const struct as_term *b)
{
    if (a->parts != b->parts)
        return false;
    for (uint32_t i = 0; i < a->parts; i++) {
        if (a->atom[i] != b->atom[i] || a->factor[i] != b->factor[i])
            return false;
    }
    return true;
}

static int grow_buckets(struct as_symbols *s)
{
    uint32_t n = s->buckets ? s->buckets * 2 : BUCKETS_FIRST;
    uint32_t *bucket = as_calloc(n, sizeof *bucket);
    if (!bucket)
        return AS_ERR_NOMEM;
    for (uint32_t id = 1; id < s->term.n; id++) {
        uint32_t at = hash_of(&s->term.at[id]) & (n - 1);
        while (bucket[at])
            at = (at + 1) & (n - 1);
        bucket[at] = id;
    }
    as_free(s->bucket);
    s->bucket = bucket;
    s->buckets = n;
    return 0;
}

/* Returns the number of the sum `t` and adds the sum if it is new. Returns 0 and sets `failed` if
 * memory is short. */
static uint32_t intern(struct as_symbols *s, const struct as_term *t)
{
    if (!t->parts || s->failed)
        return 0;
    if (s->term.n * 2 >= s->buckets && grow_buckets(s) < 0) {
        s->failed = true;
        return 0;
    }
    uint32_t at = hash_of(t) & (s->buckets - 1);
    for (; s->bucket[at]; at = (at + 1) & (s->buckets - 1)) {
        if (same_term(&s->term.at[s->bucket[at]], t))
            return s->bucket[at];
    }
    if (as_vec_push(&s->term, *t) < 0) {
        s->failed = true;
        return 0;
    }
    s->bucket[at] = (uint32_t)s->term.n - 1;
    return s->bucket[at];
}

uint32_t as_symbol_term(struct as_symbols *s, uint32_t atom)
{
    struct as_term t = {.factor = {1}, .atom = {atom}, .parts = 1};
    return intern(s, &t);
}

struct as_value as_symbol_atom(struct as_symbols *s, enum as_atom_kind kind)
{
    struct as_atom atom = {.kind = (uint8_t)kind, .known = kind == AS_ATOM_FIXED};
    if (s->failed || as_vec_push(&s->atom, atom) < 0) {
        s->failed = true;
        return as_symbol_constant(0);
    }
    return (struct as_value){.term = as_symbol_term(s, (uint32_t)s->atom.n - 1)};
}

void as_symbol_input(struct as_symbols *s, struct as_value value)
{
    if (s->failed || !value.term)
        return;
    struct as_atom *atom = &s->atom.at[s->atom.n - 1];
    if (atom->inputs == AS_ATOM_INPUTS)
        atom->kind = AS_ATOM_VARYING;
    else
        atom->input[atom->inputs++] = value.term;
}

/* Adds both sums to `out`. Parts beyond AS_TERM_PARTS are counted but not stored. Returns the
 * number of parts. */
static uint32_t merge_sums(const struct as_term *a, const struct as_term *b, int64_t factor,
                           struct as_term *out)
{
    uint32_t n = 0, i = 0, k = 0;
    while (i < a->parts || k < b->parts) {
        uint32_t x = i < a->parts ? a->atom[i] : UINT32_MAX;
        uint32_t y = k < b->parts ? b->atom[k] : UINT32_MAX;
        int64_t f = 0;
        if (x <= y)
            f = a->factor[i++];
        if (y <= x)
            f = plus(f, as_symbol_times(b->factor[k++], factor));
        if (f && n < AS_TERM_PARTS) {
            out->atom[n] = x < y ? x : y;
            out->factor[n] = f;
        }
        n += f != 0;
    }
    return n;
}

struct as_value as_symbol_add(struct as_symbols *s, struct as_value a, struct as_value b,
                              int64_t factor)
{
    struct as_value sum = {.constant = plus(a.constant, as_symbol_times(b.constant, factor)),
                           .term = a.term};
    if (!b.term || !factor || s->failed)
        return sum;
    if (!a.term && factor == 1) {
        sum.term = b.term;
        return sum;
    }
    struct as_term t = {.parts = 0};
    t.parts = merge_sums(&s->term.at[a.term], &s->term.at[b.term], factor, &t);
    if (t.parts <= AS_TERM_PARTS) {
        sum.term = intern(s, &t);
        return sum;
    }
    sum = as_symbol_atom(s, AS_ATOM_PURE);
    as_symbol_input(s, a);
    as_symbol_input(s, b);
    return sum;
}

struct as_value as_symbol_product(struct as_symbols *s, struct as_value a, struct as_value b)
{
    struct as_value v = as_symbol_atom(s, AS_ATOM_PURE);
    as_symbol_input(s, a);
    as_symbol_input(s, b);
    if (!s->failed) {
        s->atom.at[s->atom.n - 1].product = true;
        s->atom.at[s->atom.n - 1].plain = !a.constant && !b.constant;
    }
    return v;
}

bool as_symbol_step(const struct as_symbols *s, uint32_t term, int64_t *step)
{
    const struct as_term *t = &s->term.at[term];
    *step = 0;
    for (uint32_t i = 0; i < t->parts; i++) {
        const struct as_atom *atom = &s->atom.at[t->atom[i]];
        if (!atom->known)
            return false;
        *step = plus(*step, as_symbol_times(atom->step, t->factor[i]));
    }
    return true;
}

bool as_symbol_steady(const struct as_symbols *s, uint32_t term)
{
    const struct as_term *t = &s->term.at[term];
    for (uint32_t i = 0; i < t->parts; i++) {
        const struct as_atom *atom = &s->atom.at[t->atom[i]];
        if (!atom->known && !atom->steady)
            return false;
    }
    return true;
}

struct as_value as_symbol_bits(struct as_symbols *s, struct as_value value, int64_t set,
                               unsigned low_bits)
{
    struct as_value v = as_symbol_atom(s, AS_ATOM_BITS);
    if (s->failed)
        return v;
    struct as_atom *atom = &s->atom.at[s->atom.n - 1];
    atom->alias = (struct as_value){.constant = plus(value.constant, set), .term = value.term};
    atom->input[atom->inputs++] = value.term;
    atom->low_bits = (uint8_t)low_bits;
    atom->sets = set != 0;
    return v;
}

static void settle_bits(struct as_symbols *s, size_t i)
{
    int64_t step;
    if (!as_symbol_step(s, s->atom.at[i].input[0], &step) ||
        (uint64_t)step & (((uint64_t)1 << s->atom.at[i].low_bits) - 1))
        return;
    struct as_value alias = as_symbol_canonical(s, s->atom.at[i].alias);
    struct as_atom *atom = &s->atom.at[i];
    atom->known = true;
    atom->step = step;
    /* A value that never changes does not prove that its low bits are zero. */
    atom->aliased = step && atom->sets && !s->failed;
    atom->alias = alias;
}

void as_symbol_settle(struct as_symbols *s, bool loads)
{
    for (size_t i = 0; i < s->atom.n && !s->failed; i++) {
        struct as_atom *atom = &s->atom.at[i];
        if (atom->known)
            continue;
        if (atom->kind == AS_ATOM_BITS) {
            settle_bits(s, i);
            continue;
        }
        if (atom->kind != AS_ATOM_PURE && (atom->kind != AS_ATOM_LOAD || !loads))
            continue;
        unsigned fixed = 0, steady = 0;
        for (uint32_t k = 0; k < atom->inputs; k++) {
            int64_t step;
            fixed += as_symbol_step(s, atom->input[k], &step) && step == 0;
            steady += as_symbol_steady(s, atom->input[k]);
        }
        atom->known = fixed == atom->inputs;
        atom->steady = atom->product && !atom->known && fixed == 1 && steady == 2;
    }
}

struct as_value as_symbol_canonical(struct as_symbols *s, struct as_value value)
{
    if (s->failed)
        return value;
    struct as_term t = s->term.at[value.term];
    bool any = false;
    for (uint32_t i = 0; i < t.parts; i++)
        any |= s->atom.at[t.atom[i]].aliased;
    if (!any)
        return value;
    struct as_value sum = as_symbol_constant(value.constant);
    for (uint32_t i = 0; i < t.parts && !s->failed; i++) {
        struct as_value part = {.term = as_symbol_term(s, t.atom[i])};
        if (s->atom.at[t.atom[i]].aliased)
            part = s->atom.at[t.atom[i]].alias;
        sum = as_symbol_add(s, sum, part, t.factor[i]);
    }
    return sum;
}
