/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash table of rows by process and number, for objects with numbers that are never reused. Rows
 * have any size, begin with a struct as_numbered and lie in the table itself. The table has at
 * least twice as many slots as rows. The row size is a parameter of inlined functions, so pass a
 * constant: sizeof the row.
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

/* The head of each row. */
struct as_numbered {
    uint32_t process;
    uint8_t kind; /* chosen by the caller; 0: free slot */
    int64_t number;
};

/* A zeroed table is empty. */
struct as_numbered_table {
    void *at; /* `place_n` slots, a power of two; NULL if there is none */
    size_t place_n, n;
};

void as_numbered_fini(struct as_numbered_table *table);
/* Doubles the number of slots. Returns 0, or AS_ERR_NOMEM with the table unchanged. */
int as_numbered_grow(struct as_numbered_table *table, size_t row_b);

/* Returns the row in slot `place` < `place_n`; the slot may be free. */
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

/* Returns the slot of this row, or the free slot for it. The table must have a free slot. */
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

/* Returns the row, or NULL if there is none. The pointer is valid until the next insertion or
 * deletion. */
static inline void *as_numbered_find(const struct as_numbered_table *table, size_t row_b,
                                     uint32_t process, int64_t number)
{
    if (!table->n)
        return NULL;
    struct as_numbered *row = as_numbered_place(table, row_b, process, number);
    return row->kind ? row : NULL;
}

/* Inserts a row of kind `kind`, and replaces a row with the same process and number. The caller
 * fills the row behind its head. Returns NULL without memory. */
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

/* Inserts a copy of `row`, and replaces a row with the same process and number. Returns 0 or
 * AS_ERR_NOMEM. */
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

/* Removes a row that as_numbered_find returned. */
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
            continue; /* the row already lies between its first slot and the hole */
        memcpy(hole, next, row_b);
        hole = next;
        hole_at = at;
    }
    hole->kind = 0;
    table->n--;
}

#endif
