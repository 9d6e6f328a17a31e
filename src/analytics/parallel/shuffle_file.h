/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What processes that analyse a trace together hand to each other: files of records in channels,
 * one for each who is to read it. A record is a kind and some numbers, written as differences to
 * the record before in its channel: some 15 bytes. Files are of this very run.
 */
#ifndef AS_ANALYTICS_SHUFFLE_FILE_H
#define AS_ANALYTICS_SHUFFLE_FILE_H

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AS_SHUFFLE_FIELDS_N 24u

struct as_shuffle_record {
    uint8_t kind;
    uint8_t n; /* fields that are used */
    int64_t field[AS_SHUFFLE_FIELDS_N];
};

struct as_shuffle_out;
/* Errors: IO, NOMEM. What fails meanwhile is said when it is closed. */
int as_shuffle_new(const char *path, uint32_t channel_n, struct as_shuffle_out **out,
                   struct assay_error *err);
void as_shuffle_write(struct as_shuffle_out *to, uint32_t channel,
                      const struct as_shuffle_record *record);
/* Writes what is left; NULL inside is fine. `err` may be NULL: it is given up. */
int as_shuffle_close(struct as_shuffle_out **to, struct assay_error *err);

/* One channel of a file. */
struct as_shuffle_in;
int as_shuffle_open(const char *path, uint32_t channel, struct as_shuffle_in **out,
                    struct assay_error *err);
/* 1 and the next, 0 at the end. Errors: IO, CORRUPT. */
int as_shuffle_next(struct as_shuffle_in *from, struct as_shuffle_record *out,
                    struct assay_error *err);
void as_shuffle_free(struct as_shuffle_in **from); /* NULL inside is fine */

/* A channel of the files NAME.0, NAME.1, ... of all parts; of several names. */
struct as_shuffle_files {
    const char *directory;
    uint32_t part_n, kind_n;
    struct {
        const char *name;
        uint32_t channel;
    } kind[2];
};

/* All their records, in order of the first three fields; each file has them so. */
#define AS_SHUFFLE_KEY_N 3u
typedef int as_shuffle_each(void *context, uint32_t part, const struct as_shuffle_record *record);
int as_shuffle_merge(const struct as_shuffle_files *files, as_shuffle_each *each, void *context,
                     struct assay_error *err);

#endif
