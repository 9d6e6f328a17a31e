/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the files that make an index. Lines and pieces become items of series (make_records.c).
 * Full blocks of a series are written at once (make_blocks.c), so memory is bounded. Series and
 * the head come last (make.c).
 */
#ifndef AS_TIMELINE_MAKE_WRITER_H
#define AS_TIMELINE_MAKE_WRITER_H

#include "base/map.h"
#include "base/out.h"
#include "base/outfile.h"
#include "timeline/make.h"

#define AS_KNOWN_EVENTS 4096u /* a power of two */

/* The series of events of a thread, found again without the maps. */
struct as_known_events {
    int64_t type;
    uint32_t thread, number; /* of the series, + 1; 0: none */
};

/* The rest of an event or state, which becomes columns. */
struct as_item_rest {
    uint64_t number;
    uint32_t cpu;
};

/* A series while it is made. */
struct as_making_series {
    struct as_timeline_series known;
    AS_VEC(struct as_timeline_item) item; /* not written yet */
    AS_VEC(struct as_item_rest) rest;     /* of the same, but not of pieces */
    AS_VEC(int64_t) length_ns;            /* of the same, of states alone */
    AS_VEC(uint64_t) code_ns;             /* time by code before the first of them */
    int64_t reached_ns;                   /* of pieces: the end of the latest */
};

struct as_timeline_writer {
    const struct as_timeline_making *making;
    struct as_outfile file;
    struct as_out out;
    uint64_t offset;
    struct as_timeline_head head;
    AS_VEC(struct as_making_series) series;
    AS_VEC(struct as_timeline_block) block; /* in the order of the file */
    AS_VEC(struct as_timeline_message_block) message_block;
    AS_VEC(struct as_timeline_message) message;   /* not written yet */
    AS_VEC(struct as_semantic_line) message_line; /* of the same */
    AS_VEC(double) code;
    struct as_map_u64 of_code, of_type, of_events;
    AS_VEC(uint32_t) of_object; /* the series of pieces of an object, + 1 */
    AS_VEC(uint32_t) of_thread; /* the series of states of a thread, + 1 */
    struct as_known_events known_events[AS_KNOWN_EVENTS]; /* by type and thread */
    uint32_t types_n;
    size_t waiting_n;
    uint64_t lines_n;
    uint64_t digest;                             /* of what is written, while it is taken */
    int64_t column[AS_TIMELINE_MESSAGE_BLOCK_N]; /* one that is written */
};

/* ---- make_blocks.c ---- */
/* Write bytes, a multiple of 8, and add them to the digest. */
void as_timeline_write_words(struct as_timeline_writer *w, const void *p, size_t n_b);
/* Adds an item to a series; writes a block that is full. 0, NOMEM. */
int as_timeline_add_item(struct as_timeline_writer *w, uint32_t at,
                         const struct as_timeline_item *item);
/* Writes all items that wait. 0, NOMEM. */
int as_timeline_write_rest(struct as_timeline_writer *w);
/* Writes the messages that wait as a block. 0, NOMEM. */
int as_timeline_write_messages(struct as_timeline_writer *w);

/* ---- make_records.c ---- */
/* The sinks of pieces and lines; `context` is the writer. */
int as_timeline_on_piece(void *context, uint32_t time_line, uint32_t object, int64_t begin_ns,
                         int64_t end_ns, struct as_quantity value);
int as_timeline_on_line(void *context, const struct as_semantic_line *line);

#endif
