/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that analysis processes exchange: records in channels, one channel per reading process. A
 * record has a kind and numbers, written as differences to the record before in its channel: about
 * 15 bytes. The files are valid for the running analysis only.
 */
#ifndef AS_ANALYTICS_SHUFFLE_FILE_H
#define AS_ANALYTICS_SHUFFLE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define AS_SHUFFLE_FIELDS_N 24u

struct as_shuffle_record {
    uint8_t kind;
    uint8_t n; /* number of used fields */
    int64_t field[AS_SHUFFLE_FIELDS_N];
};

struct as_shuffle_out;
/* Creates a file. Errors: IO, NOMEM. as_shuffle_close reports an error of a write. */
int as_shuffle_new(const char *path, uint32_t channel_n, struct as_shuffle_out **out,
                   struct as_error *err);
void as_shuffle_write(struct as_shuffle_out *to, uint32_t channel,
                      const struct as_shuffle_record *record);
/* Writes the rest and frees `*to`, which may be NULL. `err` is NULL if the caller discards the
 * file. */
int as_shuffle_close(struct as_shuffle_out **to, struct as_error *err);

/* One channel of a file. */
struct as_shuffle_in;
int as_shuffle_open(const char *path, uint32_t channel, struct as_shuffle_in **out,
                    struct as_error *err);
/* Reads the next record. Returns 1, or 0 at the end. Errors: IO, CORRUPT. */
int as_shuffle_next(struct as_shuffle_in *from, struct as_shuffle_record *out,
                    struct as_error *err);
void as_shuffle_free(struct as_shuffle_in **from); /* `*from` may be NULL */

/* One channel of the files NAME.0, NAME.1, ... of all parts, for several names. */
struct as_shuffle_files {
    const char *directory;
    uint32_t part_n, kind_n;
    struct {
        const char *name;
        uint32_t channel;
    } kind[2];
};

/* Reads all their records in the order of the first three fields. Each file is sorted by these
 * fields. */
#define AS_SHUFFLE_KEY_N 3u
typedef int as_shuffle_each(void *context, uint32_t part, const struct as_shuffle_record *record);
int as_shuffle_merge(const struct as_shuffle_files *files, as_shuffle_each *each, void *context,
                     struct as_error *err);

#endif
