/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small records in the order of a time, however many: sorted by the thousand, kept in memory,
 * and beyond some 64 MiB in a file without a name, and merged.
 */
#ifndef AS_EXCHANGE_ORDERED_H
#define AS_EXCHANGE_ORDERED_H

#include <assay/error.h>
#include <stddef.h>
#include <stdint.h>

struct as_ordered_store;

/* Records of `size_b` bytes that begin with an int64_t, their time. 0 or ASSAY_ERR_NOMEM. */
int as_ordered_new(struct as_ordered_store **out, size_t size_b);
void as_ordered_free(struct as_ordered_store **ordered);

/* Errors: NOMEM, IO (the disk of temporary files, $TMPDIR or /tmp, is full). */
int as_ordered_add(struct as_ordered_store *ordered, const void *record, struct assay_error *err);

/* They are taken one by one: each until the next is, NULL behind the last. Those of one time as
 * they were added. Once. */
int as_ordered_begin(struct as_ordered_store *ordered, struct assay_error *err);
int as_ordered_next(struct as_ordered_store *ordered, const void **record, struct assay_error *err);

/* All of them, those of one time as they were added. Once. `each` answers 0 or an error. */
int as_ordered_read(struct as_ordered_store *ordered,
                    int (*each)(void *context, const void *record), void *context,
                    struct assay_error *err);

#endif
