/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash index over a table of the caller. The index stores row numbers by hash; the caller
 * compares the rows. It suits tables of millions of small rows with more than one key.
 *
 *     for (struct as_probe probe = as_index_probe(&index, hash);
 *          (row = as_index_next(&index, &probe)) != AS_INDEX_NONE;)
 *         if (same(&table[row], key))
 *             return row;
 *     as_index_add(&index, hash, new_row);
 *
 * Linear probing; 8 bytes per slot, at most two thirds full. Lookups in several threads are safe
 * while no thread adds a row.
 */
#ifndef AS_BASE_INDEX_H
#define AS_BASE_INDEX_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define AS_INDEX_NONE UINT32_MAX /* no such row; as_index_add does not accept it */

struct as_index_slot {
    uint32_t hash, row; /* row is AS_INDEX_NONE in a free slot */
};

/* A zeroed index is empty. */
struct as_index {
    struct as_index_slot *slot;
    size_t slot_n; /* a power of two, or 0 */
    size_t n;
};

struct as_probe {
    size_t at;
    uint32_t hash;
};

void as_index_fini(struct as_index *index);
/* Adds `row`, which must not be in the index yet. Returns 0, or AS_ERR_NOMEM with the index
 * unchanged. */
int as_index_add(struct as_index *index, uint64_t hash, uint32_t row);

/* Mixes `word` into `hash` (multiply and fold, after wyhash). Start with any constant. */
static inline uint64_t as_hash_mix(uint64_t hash, uint64_t word)
{
    __uint128_t product = (__uint128_t)(hash ^ 0x9e3779b97f4a7c15u) * (word ^ 0xe7037ed1a0b428dbu);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t as_hash_text(uint64_t hash, const char *text)
{
    for (const char *c = text; *c; c++)
        hash = as_hash_mix(hash, (uint64_t)(unsigned char)*c);
    return hash;
}

static inline struct as_probe as_index_probe(const struct as_index *index, uint64_t hash)
{
    uint32_t folded = (uint32_t)(hash ^ hash >> 32);
    return (struct as_probe){.at = index->slot_n ? folded & (index->slot_n - 1) : 0,
                             .hash = folded};
}

/* Returns the next row with the same hash, or AS_INDEX_NONE. */
static inline uint32_t as_index_next(const struct as_index *index, struct as_probe *probe)
{
    while (index->slot_n) {
        const struct as_index_slot *slot = &index->slot[probe->at];
        if (slot->row == AS_INDEX_NONE)
            break;
        probe->at = (probe->at + 1) & (index->slot_n - 1);
        if (slot->hash == probe->hash)
            return slot->row;
    }
    return AS_INDEX_NONE;
}

/*
 * Finds a row by its 64-bit key, for rows that begin with the key and were added by
 * as_index_add_word. `row_b` is the row size in bytes, a constant. Returns AS_INDEX_NONE if there
 * is none.
 */
static inline uint32_t as_index_of_word(const struct as_index *index, const void *rows,
                                        size_t row_b, uint64_t word)
{
    struct as_probe probe = as_index_probe(index, as_hash_mix(7, word));
    uint32_t at;
    while ((at = as_index_next(index, &probe)) != AS_INDEX_NONE) {
        uint64_t first;
        memcpy(&first, (const char *)rows + at * row_b, sizeof first);
        if (first == word)
            break;
    }
    return at;
}

static inline int as_index_add_word(struct as_index *index, uint64_t word, uint32_t row)
{
    return as_index_add(index, as_hash_mix(7, word), row);
}

#endif
