/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows by process and number, for open objects with numbers that are never reused. Rows of any size
 * begin with a struct as_numbered and lie in the table itself. The table has twice the largest
 * number of open rows. The size of a row is a parameter of inlined functions: use a constant,
 * sizeof the row.
 *
 * Linear probing; a deletion moves displaced rows up (D. Knuth, The Art of Computer Programming,
 * volume 3, 6.4, algorithm R). Not thread-safe.
 */
#ifndef AS_BASE_ID_TABLE_H
#define AS_BASE_ID_TABLE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/index.h"

/* The beginning of a row. */
struct as_numbered {
    uint32_t process;
    uint8_t kind; /* the caller's; 0: a free place */
    int64_t number;
};

/* All zero is empty. */
struct as_numbered_table {
    void *at; /* a power of two of places, or none */
    size_t place_n, n;
};

void as_numbered_fini(struct as_numbered_table *table);
/* Twice as many places. 0 or ASSAY_ERR_NOMEM (table unchanged). */
int as_numbered_grow(struct as_numbered_table *table, size_t row_b);

/* By place, of `place_n`; it may be free. */
static inline void *as_numbered_at(const struct as_numbered_table *table, size_t row_b,
                                   size_t place)
{
    return (char *)table->at + place * row_b;
}

static inline size_t as_numbered_home(const struct as_numbered_table *table, uint32_t process,
                                      int64_t number)
{
    return as_hash_mix(process, (uint64_t)number) & (table->place_n - 1);
}

/* Its place, or the free one where it would be: there is one. */
static inline struct as_numbered *as_numbered_place(const struct as_numbered_table *table,
                                                    size_t row_b, uint32_t process, int64_t number)
{
    size_t at = as_numbered_home(table, process, number);
    for (;; at = (at + 1) & (table->place_n - 1)) {
        struct as_numbered *row = as_numbered_at(table, row_b, at);
        if (!row->kind || (row->number == number && row->process == process))
            return row;
    }
}

/* NULL: there is none. Valid until the next one is put or dropped. */
static inline void *as_numbered_find(const struct as_numbered_table *table, size_t row_b,
                                     uint32_t process, int64_t number)
{
    if (!table->n)
        return NULL;
    struct as_numbered *row = as_numbered_place(table, row_b, process, number);
    return row->kind ? row : NULL;
}

/* A row of a kind, in place of one of its number if there is one. The caller fills it behind its
 * head. NULL: no memory. */
static inline void *as_numbered_new(struct as_numbered_table *table, size_t row_b, uint32_t process,
                                    uint8_t kind, int64_t number)
{
    assert(kind);
    if (2 * (table->n + 1) > table->place_n && as_numbered_grow(table, row_b) < 0)
        return NULL;
    struct as_numbered *place = as_numbered_place(table, row_b, process, number);
    table->n += !place->kind;
    place->process = process;
    place->kind = kind;
    place->number = number;
    return place;
}

/* A copy of `row`, in place of one of its number if there is one. 0 or ASSAY_ERR_NOMEM. */
static inline int as_numbered_put(struct as_numbered_table *table, size_t row_b, const void *row)
{
    const struct as_numbered *id = row;
    assert(id->kind);
    if (2 * (table->n + 1) > table->place_n) {
        const int rc = as_numbered_grow(table, row_b);
        if (rc < 0)
            return rc;
    }
    struct as_numbered *place = as_numbered_place(table, row_b, id->process, id->number);
    table->n += !place->kind;
    memcpy(place, row, row_b);
    return 0;
}

/* One that was found. */
static inline void as_numbered_drop(struct as_numbered_table *table, size_t row_b, void *row)
{
    const size_t mask = table->place_n - 1;
    struct as_numbered *hole = row;
    size_t hole_at = (size_t)((char *)row - (char *)table->at) / row_b;
    assert(hole->kind && hole_at <= mask);
    for (size_t at = (hole_at + 1) & mask;; at = (at + 1) & mask) {
        struct as_numbered *next = as_numbered_at(table, row_b, at);
        if (!next->kind)
            break;
        const size_t home = as_numbered_home(table, next->process, next->number);
        if (((at - home) & mask) < ((at - hole_at) & mask))
            continue; /* its home lies behind the hole */
        memcpy(hole, next, row_b);
        hole = next;
        hole_at = at;
    }
    hole->kind = 0;
    table->n--;
}

#endif
