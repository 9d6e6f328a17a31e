/* SPDX-License-Identifier: Apache-2.0 */
/* A fully associative level: its lines in the order of use, found by a hash table. */
#ifndef AS_CACHE_FULL_H
#define AS_CACHE_FULL_H

#include <stdbool.h>
#include <stdint.h>

/* A way is (line number + 1) << 1, plus 1 if the line was changed; 0: none. */
struct as_cache_full;

/* Makes a level of `lines` lines, fewer than 2^31. The caller frees it with as_cache_full_free.
 * Returns NULL if memory is short. */
struct as_cache_full *as_cache_full_new(uint32_t lines);
void as_cache_full_free(struct as_cache_full **full);

/* Adds the bit `changed` to a line; with `use` it becomes the latest. Returns false if it is not
 * there. */
bool as_cache_full_touch(struct as_cache_full *full, uint64_t line, uint64_t changed, bool use);
/* Removes a line. Returns its way, or 0. */
uint64_t as_cache_full_drop(struct as_cache_full *full, uint64_t line);
/* Adds a missing line as the latest. Returns the way that it replaces, or 0. */
uint64_t as_cache_full_insert(struct as_cache_full *full, uint64_t way);

#endif
