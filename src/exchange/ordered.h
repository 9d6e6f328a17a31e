/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts any number of small records by time. Blocks of thousands are sorted and kept in memory.
 * Beyond about 64 MiB they go to a file without a name. Reading merges them.
 */
#ifndef AS_EXCHANGE_ORDERED_H
#define AS_EXCHANGE_ORDERED_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct as_ordered_store;

/* Creates a store of records of `size_b` bytes. Each begins with its time, an int64_t. Returns 0 or
 * AS_ERR_NOMEM. */
int as_ordered_new(struct as_ordered_store **out, size_t size_b);
void as_ordered_free(struct as_ordered_store **ordered);

/* Adds a copy of a record. Errors: NOMEM, IO (the disk of $TMPDIR or /tmp is full). */
int as_ordered_add(struct as_ordered_store *ordered, const void *record, struct as_error *err);

/* Read the records one by one, once. A record is valid until the next one is read; NULL at the end.
 * Records of equal times keep their order. Errors: NOMEM, IO. */
int as_ordered_begin(struct as_ordered_store *ordered, struct as_error *err);
int as_ordered_next(struct as_ordered_store *ordered, const void **record, struct as_error *err);

/* Calls `each` for all records, once. Records of equal times keep their order. `each` returns 0 or
 * an error. */
int as_ordered_read(struct as_ordered_store *ordered,
                    int (*each)(void *context, const void *record), void *context,
                    struct as_error *err);

#endif
