/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of a trace as functions of time see them, and the objects they belong to. A line is what
 * a trace has (a state, an event, a message); order.h makes records of lines, in the order that the
 * meaning of a time line depends on.
 */
#ifndef AS_SEMANTIC_RECORD_H
#define AS_SEMANTIC_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

/* ---- Objects: all of them count from 0 over the whole trace ---------------------------------- */

enum as_object_level {
    AS_OBJECT_LEVEL_WORKLOAD,
    AS_OBJECT_LEVEL_APPLICATION,
    AS_OBJECT_LEVEL_TASK,
    AS_OBJECT_LEVEL_THREAD,
    AS_OBJECT_LEVEL_SYSTEM,
    AS_OBJECT_LEVEL_NODE,
    AS_OBJECT_LEVEL_CPU,
    AS_OBJECT_LEVELS_N
};

struct as_object_row {
    uint32_t parent;             /* one level up */
    uint32_t first_child, end_n; /* one level down: from first_child on, up to end_n */
};

struct as_machine_objects {
    AS_VEC(struct as_object_row) row[AS_OBJECT_LEVELS_N];
    AS_VEC(uint32_t) node_of_task;
};

/* The word of a level in files: "thread", "appl" ... */
const char *as_object_level_word(enum as_object_level level);
/* false: no level has this word, in either case. */
bool as_object_level_read(struct as_view word, enum as_object_level *out);
static inline bool as_object_level_is_hardware(enum as_object_level level)
{
    return level >= AS_OBJECT_LEVEL_SYSTEM;
}

/* Adds an object below the latest one of the level above. 0 or NOMEM. */
int as_objects_add(struct as_machine_objects *objects, enum as_object_level level);
void as_objects_fini(struct as_machine_objects *objects);
/* The object of `level` that holds `object` of the finer level `from`. */
uint32_t as_objects_above(const struct as_machine_objects *objects, enum as_object_level from,
                          uint32_t object, enum as_object_level level);
/* The objects of the finer level `to` in `object`: from `*first` up to `*end`. */
void as_objects_below(const struct as_machine_objects *objects, enum as_object_level level,
                      uint32_t object, enum as_object_level to, uint32_t *first, uint32_t *end);
/* "THREAD 1.2.1". */
void as_objects_name(const struct as_machine_objects *objects, enum as_object_level level,
                     uint32_t object, struct as_str *out);

/* ---- Lines ----------------------------------------------------------------------------------- */

struct as_semantic_message {
    uint32_t sender, receiver;         /* threads */
    uint32_t sender_cpu, receiver_cpu; /* from 1; 0: not known */
    int64_t logical_send_ns, physical_send_ns, logical_receive_ns, physical_receive_ns;
    int64_t size_b, tag;
};

enum as_line_kind { AS_LINE_STATE, AS_LINE_EVENT, AS_LINE_MESSAGE };

struct as_semantic_line {
    int64_t ns;      /* its earliest time */
    uint64_t number; /* grows in the order of the file */
    enum as_line_kind kind;
    uint32_t thread, cpu; /* cpu from 1; 0: not known. Not of messages */
    union {
        struct {
            int64_t value, end_ns; /* end -1: no end */
        } state;
        struct {
            int64_t type, value;
        } event;
        struct as_semantic_message message;
    };
};
_Static_assert(offsetof(struct as_semantic_line, ns) == 0, "ordered by its first number");

/* ---- Records --------------------------------------------------------------------------------- */

/* Those of a thread at one time stand in this order, PHY_SEND and what is above it in
 * as_record_class[]. */
enum as_record_kind {
    AS_RECORD_STATE_END,
    AS_RECORD_PHYSICAL_RECEIVE,
    AS_RECORD_LOGICAL_REMOTE_RECEIVE,
    AS_RECORD_PHYSICAL_REMOTE_RECEIVE,
    AS_RECORD_LOGICAL_REMOTE_SEND,
    AS_RECORD_PHYSICAL_REMOTE_SEND,
    AS_RECORD_LOGICAL_SEND,
    AS_RECORD_PHYSICAL_SEND,
    AS_RECORD_EVENT,
    AS_RECORD_LOGICAL_RECEIVE,
    AS_RECORD_STATE_BEGIN,
    AS_RECORD_EMPTY /* with which each object begins, at 0 */
};

#define AS_KIND(kind)           (1u << AS_RECORD_##kind)
#define AS_KINDS_STATE          (AS_KIND(STATE_BEGIN) | AS_KIND(STATE_END))
#define AS_KINDS_EVENT          AS_KIND(EVENT)
#define AS_KINDS_SEND           (AS_KIND(LOGICAL_SEND) | AS_KIND(PHYSICAL_SEND))
#define AS_KINDS_RECEIVE        (AS_KIND(LOGICAL_RECEIVE) | AS_KIND(PHYSICAL_RECEIVE))
#define AS_KINDS_REMOTE_RECEIVE (AS_KIND(LOGICAL_REMOTE_RECEIVE) | AS_KIND(PHYSICAL_REMOTE_RECEIVE))
#define AS_KINDS_REMOTE_SEND    (AS_KIND(LOGICAL_REMOTE_SEND) | AS_KIND(PHYSICAL_REMOTE_SEND))
#define AS_KINDS_MESSAGE                                                                           \
    (AS_KINDS_SEND | AS_KINDS_RECEIVE | AS_KINDS_REMOTE_RECEIVE | AS_KINDS_REMOTE_SEND)

struct as_semantic_record {
    int64_t ns;
    uint64_t number;
    enum as_record_kind kind;
    uint32_t thread, cpu;
    union {
        struct {
            int64_t value, end_ns;
        } state;
        struct {
            int64_t type, value;
        } event;
        struct as_semantic_message message;
    };
};

#endif
