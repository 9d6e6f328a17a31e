/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of lines, in order: by time, at one time by class, then as in the file. Classes are ends
 * of states, receives, remote sides, sends, events, begins of states. Held is what lies ahead of
 * the latest line: one end for each open state, the receive of each message on its way.
 */
#ifndef AS_SEMANTIC_ORDER_H
#define AS_SEMANTIC_ORDER_H

#include "semantic/record.h"

/* 0, or an error that ends the reading. */
typedef int as_record_sink(void *context, const struct as_semantic_record *record);

struct as_record_place {
    int64_t ns;
    uint64_t order;
    uint32_t slot;
    uint8_t record_class;
};

struct as_record_order {
    as_record_sink *sink;
    void *context;
    unsigned kinds;  /* a bit for each that is wanted */
    int64_t now_ns;  /* of the latest line */
    bool has_single; /* one record of that time, which is not in a slot */
    uint8_t single_class, single_index;
    struct as_semantic_record single;
    AS_VEC(struct as_record_place) now;   /* records of that time */
    AS_VEC(struct as_record_place) ahead; /* a heap, the earliest first */
    AS_VEC(struct as_semantic_record) slot;
    AS_VEC(uint32_t) free_slot;
};

/* Adds a line that is not earlier than those before. Errors: NOMEM, those of the sink. */
int as_record_order_add(struct as_record_order *order, const struct as_semantic_line *line);
/* Hands out all records before `ns`: the next line is not earlier. Errors: as above. */
int as_record_order_advance(struct as_record_order *order, int64_t ns);
/* Hands out all that is left. */
int as_record_order_end(struct as_record_order *order);
void as_record_order_fini(struct as_record_order *order);

#endif
