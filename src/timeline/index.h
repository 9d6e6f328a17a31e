/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of a time line: one window of a configuration, evaluated over a whole trace, as columns
 * in a file that is mapped. A series has the pieces of one object, or the events of one type of a
 * thread. Its blocks are in order of time. Each block has its sums and the time by code before it:
 * a picture reads two blocks for each pixel. With the records, a reading of the index gives all
 * lines of the trace (replay.h). Index files are foreign bytes. Opening checks all offsets, all
 * counts and the digest of the sections. Blocks have digests of their own.
 */
#ifndef AS_TIMELINE_INDEX_H
#define AS_TIMELINE_INDEX_H

#include "base/filemap.h"
#include "base/str.h"
#include "semantic/record.h"

#define AS_TIMELINE_BLOCK_N         128u /* items of a block */
#define AS_TIMELINE_MESSAGE_BLOCK_N 256u
#define AS_TIMELINE_CODES_MAX       254u /* later codes count as one */
#define AS_TIMELINE_CODE_NONE       255u /* no time: beyond the end */
#define AS_TIMELINE_MAGIC           "ASSAYTL"
#define AS_TIMELINE_VERSION         3u
#define AS_TIMELINE_RECORDS         "states" /* the window with the records in its index */

/* States are those of the lines, which may overlap. */
enum as_timeline_kind { AS_TIMELINE_PIECES, AS_TIMELINE_EVENTS, AS_TIMELINE_STATES };

/* A piece lasts to the next one of its series. */
struct as_timeline_item {
    int64_t ns;
    union {
        double real;   /* of a piece */
        uint64_t code; /* of a piece, in a window of codes: place in the codes */
        int64_t whole; /* of an event or a state */
    };
};
_Static_assert(sizeof(struct as_timeline_item) == 16, "part of the file format");

struct as_timeline_series {
    uint32_t kind, object;
    int64_t type; /* of events */
    uint64_t first_block, blocks_n, items_n;
    int64_t end_ns; /* of the last piece */
};
_Static_assert(sizeof(struct as_timeline_series) == 48, "part of the file format");

/* Behind the items stand the time by code before the block, and the columns of the kind. States
 * have columns alone. */
struct as_timeline_block {
    uint64_t offset; /* of its items */
    uint64_t first_item;
    int64_t first_ns;
    double integral, max, min;           /* of pieces; of numbers */
    uint32_t n, codes_n, series, widths; /* widths of the columns */
    uint64_t digest;                     /* of all its bytes */
};
_Static_assert(sizeof(struct as_timeline_block) == 72, "part of the file format");

struct as_timeline_message {
    int64_t ns; /* its earliest time: they are in this order */
    int64_t send_ns, receive_ns;
    uint32_t sender, receiver; /* threads */
    int64_t size_b, tag;
};
_Static_assert(sizeof(struct as_timeline_message) == 48, "part of the file format");

struct as_timeline_message_block {
    uint64_t offset, first;
    int64_t first_ns, end_ns; /* the latest time of all */
    uint32_t n, widths;
    uint64_t digest;
};
_Static_assert(sizeof(struct as_timeline_message_block) == 48, "part of the file format");

/* The trace and the window that an index is of. */
struct as_timeline_identity {
    uint64_t size_b;
    int64_t changed_ns;
    uint64_t digest;        /* of the first and last 64 KiB */
    uint64_t window_digest; /* of the configuration */
};
_Static_assert(sizeof(struct as_timeline_identity) == 32, "part of the file format");

struct as_timeline_head {
    char magic[8];
    uint32_t version, level; /* enum as_object_level of the objects */
    struct as_timeline_identity of;
    int64_t end_ns;
    uint64_t file_b;
    uint64_t series_at, series_n, block_at, blocks_n;
    uint64_t code_at, codes_n; /* doubles: the value of each code */
    uint64_t message_at, message_blocks_n, messages_n;
    uint64_t events_n, pieces_n, instants_n; /* instants: pieces without length, left out */
    uint64_t bad_lines_n;
    uint32_t is_code, has_records;
    uint64_t states_n;    /* lines */
    uint64_t text_digest; /* of all text of the trace, without compression */
    uint64_t digest;      /* of the sections, then of the head with 0 in this place */
};
_Static_assert(sizeof(struct as_timeline_head) == 200, "part of the file format");

/* An open index. Borrowed pointers into the file. */
struct as_timeline_index {
    struct as_filemap map;
    const struct as_timeline_head *head;
    const struct as_timeline_series *series; /* by kind, object, type */
    const struct as_timeline_block *block;
    const double *code;
    const struct as_timeline_message_block *message_block;
};

/* Reads size, time and digest of the trace. Errors: NOT_FOUND, PERMISSION, IO. */
int as_timeline_identify(const char *trace, struct as_view window, struct as_timeline_identity *out,
                         struct as_error *err);
/* Errors: NOT_FOUND, CORRUPT, UNSUPPORTED (of another version), IO, NOMEM. `of` NULL: any trace,
 * without a check of the digest; else an index of another one is NOT_FOUND. */
int as_timeline_index_open(const char *path, const struct as_timeline_identity *of,
                           struct as_timeline_index *out, struct as_error *err);
void as_timeline_index_close(struct as_timeline_index *index);

/* Compares the digest of the whole trace, and the digests of all blocks. Returns 0 if they are
 * those of the index. Errors: NOT_FOUND (of another state of the trace), CORRUPT. */
int as_timeline_index_verify(const struct as_timeline_index *index, const char *path,
                             uint64_t text_digest, struct as_error *err);

/* The digest of the sections and the head of an index. */
uint64_t as_timeline_digest(const struct as_timeline_index *index);
/* Returns whether the bytes of a block are those that were written. */
bool as_timeline_block_is_whole(const struct as_timeline_index *index,
                                const struct as_timeline_series *series,
                                const struct as_timeline_block *block);
bool as_timeline_messages_are_whole(const struct as_timeline_index *index,
                                    const struct as_timeline_message_block *block);

/* The series, or NULL. */
const struct as_timeline_series *as_timeline_find(const struct as_timeline_index *index,
                                                  enum as_timeline_kind kind, uint32_t object,
                                                  int64_t type);
/* The series of one kind and object: the first and the end. */
void as_timeline_range(const struct as_timeline_index *index, enum as_timeline_kind kind,
                       uint32_t object, size_t *first, size_t *end);
static inline const struct as_timeline_item *
as_timeline_items(const struct as_timeline_index *index, const struct as_timeline_block *block)
{
    return (const struct as_timeline_item *)(const void *)(index->map.at + block->offset);
}
static inline const struct as_timeline_message *
as_timeline_messages(const struct as_timeline_index *index,
                     const struct as_timeline_message_block *block)
{
    return (const struct as_timeline_message *)(const void *)(index->map.at + block->offset);
}
/*
 * Bounds the resident memory of a mapped file. A kernel maps up to 64 KiB around each access. A
 * walk over a large index makes all of it resident. `*touched_b` has the bytes since the last
 * check, begin with 0; `more_b` is added. Pages that are freed are read again when they are needed.
 */
void as_timeline_bound_memory(const struct as_timeline_index *index, uint64_t *touched_b,
                              uint64_t more_b);
#define AS_TIMELINE_ACCESS_B ((uint64_t)64 << 10) /* what an access makes resident, at most */

/* How many items begin before `ns`. */
uint64_t as_timeline_before(const struct as_timeline_index *index,
                            const struct as_timeline_series *series, int64_t ns);
/* The item with number `at`; NULL: there is none. `*end_ns`: where a piece ends. */
const struct as_timeline_item *as_timeline_item_at(const struct as_timeline_index *index,
                                                   const struct as_timeline_series *series,
                                                   uint64_t at, int64_t *end_ns);

#endif
