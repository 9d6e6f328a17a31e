/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records that the parts of a trace hand to each other (partition.h). Fields have names here; the
 * file (shuffle_file.h) sees numbers of 64 bits. A keyed record has its place in the order of the
 * whole trace before its fields. Readers check kind and number of fields; ranges are for each
 * reader.
 */
#ifndef AS_ANALYTICS_PART_RECORDS_H
#define AS_ANALYTICS_PART_RECORDS_H

#include "analytics/parallel/shuffle_file.h"
#include "analytics/state/analysis.h"
#include "analytics/waits/waits.h"

struct as_part_key {
    int64_t ns;
    uint32_t location;
    uint64_t step;
};

struct as_part_side {
    int64_t site, arrival_site, bits, begin_ns, enter_ns, leave_ns;
};

struct as_part_send {
    int64_t comm, from, to, tag, size_b;
    struct as_part_side side;
};

struct as_part_begin_send {
    int64_t comm, from, to, tag, slot; /* of the sending part */
};

struct as_part_sent {
    int64_t slot, size_b;
    struct as_part_side side;
};

struct as_part_cancel_send {
    int64_t slot;
};

struct as_part_post {
    int64_t comm, to, source, tag, slot;
};

struct as_part_receive {
    int64_t slot, source, tag, size_b;
    struct as_part_side side;
};

struct as_part_cancel_post {
    int64_t slot;
};

struct as_part_begin {
    int64_t comm, size, rank, kind, root;
};

struct as_part_leave {
    int64_t comm, number, rank, site, arrival_site, is_empty, moves_data, begin_ns, enter_ns,
        leave_ns;
};

struct as_part_wait {
    int64_t location, kind, size_class, eager, moves_data, site, cause, cause_site, begin_ns,
        end_ns, cause_ns, sent_b;
};

struct as_part_site {
    int64_t routine, group, process, address, is_function;
};

struct as_part_sum {
    int64_t location, site, calls_n, open_n, time_ns, most_ns, sent_b, received_b, transfer_ns;
};

struct as_part_traffic {
    int64_t from, to, messages_n, size_b;
};

struct as_part_sampled {
    int64_t location, activity, routine; /* -1: none */
    int64_t address_n, address[2], n, time_ns;
};

struct as_part_thread {
    int64_t location, end_ns, events_n, damaged_n;
    int64_t activity_ns[AS_ACTIVITIES_N], interest_ns[AS_ACTIVITIES_N];
};

struct as_part_bin {
    int64_t location, plane, bin, time_ns;
};

struct as_part_size {
    int64_t size_class, n, size_b;
};

struct as_part_exchange {
    int64_t location, site, from, to, n, size_b, transfer_ns, wait_ns;
};

/* Totals of the walk of a part, and of its matches. */
struct as_part_found_totals {
    int64_t events_n, broken_n, bin_ns, partition, unshared_n;
};

struct as_part_match_totals {
    int64_t violated_n, matched_n, sends_n, receives_n, unmet_n, broken_n;
    int64_t eager_b[AS_EAGER_PATHS_N];
};

/* X(kind, struct as_part_..., numbers of the key before its fields) */
#define AS_PART_RECORDS(X)                                                                         \
    X(SEND, send, AS_SHUFFLE_KEY_N)                                                                \
    X(BEGIN_SEND, begin_send, AS_SHUFFLE_KEY_N)                                                    \
    X(SENT, sent, AS_SHUFFLE_KEY_N)                                                                \
    X(CANCEL_SEND, cancel_send, AS_SHUFFLE_KEY_N)                                                  \
    X(POST, post, AS_SHUFFLE_KEY_N)                                                                \
    X(RECEIVE, receive, AS_SHUFFLE_KEY_N)                                                          \
    X(CANCEL_POST, cancel_post, AS_SHUFFLE_KEY_N)                                                  \
    X(BEGIN, begin, AS_SHUFFLE_KEY_N)                                                              \
    X(LEAVE, leave, AS_SHUFFLE_KEY_N)                                                              \
    X(WAIT, wait, AS_SHUFFLE_KEY_N)                                                                \
    X(SITE, site, AS_SHUFFLE_KEY_N)                                                                \
    X(SUM, sum, AS_SHUFFLE_KEY_N)                                                                  \
    X(TRAFFIC, traffic, AS_SHUFFLE_KEY_N)                                                          \
    X(SAMPLED, sampled, AS_SHUFFLE_KEY_N)                                                          \
    X(THREAD, thread, 0u)                                                                          \
    X(BIN, bin, 0u)                                                                                \
    X(SIZE, size, 0u)                                                                              \
    X(EXCHANGE, exchange, 0u)                                                                      \
    X(FOUND_TOTALS, found_totals, 0u)                                                              \
    X(MATCH_TOTALS, match_totals, 0u)

#define AS_PART_KIND(KIND, name, key_n) AS_PART_##KIND,
enum as_part_kind { AS_PART_RECORDS(AS_PART_KIND) AS_PART_KINDS_N };
#undef AS_PART_KIND

/* Every record is an array of numbers that fits a record of the file. */
#define AS_PART_ASSERT(KIND, name, key_n)                                                          \
    _Static_assert(sizeof(struct as_part_##name) % sizeof(int64_t) == 0 &&                         \
                       sizeof(struct as_part_##name) / sizeof(int64_t) + (key_n) <=                \
                           AS_SHUFFLE_FIELDS_N,                                                    \
                   "fields of a record of " #name);
AS_PART_RECORDS(AS_PART_ASSERT)
#undef AS_PART_ASSERT

/* Returns the key of a record that has one. */
struct as_part_key as_part_key_of(const struct as_shuffle_record *record);

/* Packs the numbers of `fields`, a struct of `kind`; `key` is NULL for a record without one. */
struct as_shuffle_record as_part_pack(const struct as_part_key *key, enum as_part_kind kind,
                                      const void *fields);
/* Unpacks a record into `fields`, a struct of `kind`. 0, or CORRUPT for another kind or number of
 * fields. */
int as_part_unpack(const struct as_shuffle_record *record, enum as_part_kind kind, void *fields);

/* The same for each kind, with its type. */
#define AS_PART_CALLS(KIND, name, key_n)                                                           \
    static inline struct as_shuffle_record as_part_pack_##name(                                    \
        const struct as_part_key *key, const struct as_part_##name *fields)                        \
    {                                                                                              \
        return as_part_pack(key, AS_PART_##KIND, fields);                                          \
    }                                                                                              \
    static inline int as_part_unpack_##name(const struct as_shuffle_record *record,                \
                                            struct as_part_##name *fields)                         \
    {                                                                                              \
        return as_part_unpack(record, AS_PART_##KIND, fields);                                     \
    }
AS_PART_RECORDS(AS_PART_CALLS)
#undef AS_PART_CALLS

#endif
