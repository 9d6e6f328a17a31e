/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches the records for this part in the order of the whole trace, with the calls of a single
 * walk. A wait state gets the key of the step that found it.
 */
#include "analytics/parallel/partition.h"
#include "base/error.h"

/* Sends and receives that are open at once: a greater slot is of a damaged file. */
#define SLOTS_MAX (INT64_C(1) << 28)

struct replay {
    struct as_trace_part *part;
    struct as_trace_walk *walk;
    AS_VEC(uint32_t) post;               /* by slot: number of the receive */
    AS_VEC(uint32_t) * send;             /* by part that sends, and slot: number of the send */
    uint64_t behind_n;                   /* messages that were held for sends to the end */
    AS_VEC(struct as_part_key) post_key; /* by that number: when it was asked for */
    AS_VEC(struct as_part_key) wait_key; /* by wait */
};

static struct as_message_side side_from(const struct as_part_key *key,
                                        const struct as_part_side *side)
{
    return (struct as_message_side){.location = key->location,
                                    .site = (uint32_t)side->site,
                                    .arrival_site = (uint32_t)side->arrival_site,
                                    .bits = (uint32_t)side->bits,
                                    .begin_ns = side->begin_ns,
                                    .enter_ns = side->enter_ns,
                                    .leave_ns = side->leave_ns};
}

/* ---- One record ------------------------------------------------------------------------------ */

static int replay_send(struct replay *r, const struct as_part_key *key,
                       const struct as_shuffle_record *record)
{
    struct as_part_send f;
    AS_TRY(as_part_unpack_send(record, &f));
    const struct as_message_side side = side_from(key, &f.side);
    return as_messages_send(r->walk->messages, (uint64_t)f.comm, f.from, f.to, f.tag, f.size_b,
                            &side);
}

/* Slots are handed out in order, so the next new one is the number of those before. */
static int replay_begin_send(struct replay *r, uint32_t part,
                             const struct as_shuffle_record *record)
{
    struct as_part_begin_send f;
    AS_TRY(as_part_unpack_begin_send(record, &f));
    if (f.slot < 0 || f.slot >= SLOTS_MAX)
        return AS_ERR_CORRUPT;
    while (r->send[part].n <= (size_t)f.slot)
        AS_TRY(as_vec_push(&r->send[part], 0));
    return as_messages_begin(r->walk->messages, (uint64_t)f.comm, f.from, f.to, f.tag,
                             &r->send[part].at[f.slot]);
}

static int replay_sent(struct replay *r, uint32_t part, const struct as_part_key *key,
                       const struct as_shuffle_record *record)
{
    struct as_part_sent f;
    AS_TRY(as_part_unpack_sent(record, &f));
    if ((uint64_t)f.slot >= r->send[part].n)
        return AS_ERR_CORRUPT;
    const struct as_message_side side = side_from(key, &f.side);
    return as_messages_sent(r->walk->messages, r->send[part].at[f.slot], f.size_b, &side);
}

static int replay_cancel_send(struct replay *r, uint32_t part,
                              const struct as_shuffle_record *record)
{
    struct as_part_cancel_send f;
    AS_TRY(as_part_unpack_cancel_send(record, &f));
    if ((uint64_t)f.slot >= r->send[part].n)
        return AS_ERR_CORRUPT;
    return as_messages_unsend(r->walk->messages, r->send[part].at[f.slot]);
}

static int replay_post(struct replay *r, const struct as_part_key *key,
                       const struct as_shuffle_record *record)
{
    struct as_part_post f;
    uint32_t at;
    AS_TRY(as_part_unpack_post(record, &f));
    if (f.slot < 0 || f.slot >= SLOTS_MAX)
        return AS_ERR_CORRUPT;
    AS_TRY(as_messages_post(r->walk->messages, (uint64_t)f.comm, f.to, f.source, f.tag, &at));
    while (r->post.n <= (size_t)f.slot)
        AS_TRY(as_vec_push(&r->post, 0));
    r->post.at[f.slot] = at;
    while (r->post_key.n <= at)
        AS_TRY(as_vec_push(&r->post_key, (struct as_part_key){0}));
    r->post_key.at[at] = *key;
    return 0;
}

static int replay_receive(struct replay *r, const struct as_part_key *key,
                          const struct as_shuffle_record *record)
{
    struct as_part_receive f;
    AS_TRY(as_part_unpack_receive(record, &f));
    if ((uint64_t)f.slot >= r->post.n)
        return AS_ERR_CORRUPT;
    const struct as_message_side side = side_from(key, &f.side);
    return as_messages_receive(r->walk->messages, r->post.at[f.slot], f.source, f.tag, f.size_b,
                               &side);
}

static int replay_cancel_post(struct replay *r, const struct as_shuffle_record *record)
{
    struct as_part_cancel_post f;
    AS_TRY(as_part_unpack_cancel_post(record, &f));
    if ((uint64_t)f.slot >= r->post.n)
        return AS_ERR_CORRUPT;
    return as_messages_cancel_post(r->walk->messages, r->post.at[f.slot]);
}

/* A rank that its communicator has not, by another's word: its operation is left out. */
static int replay_begin(struct replay *r, const struct as_shuffle_record *record)
{
    struct as_part_begin f;
    uint64_t number;
    AS_TRY(as_part_unpack_begin(record, &f));
    if ((uint64_t)f.kind >= AS_COLLECTIVE_KINDS_N)
        return AS_ERR_CORRUPT;
    const int rc =
        as_collectives_begin(r->walk->collectives, (uint64_t)f.comm, (uint32_t)f.size,
                             (uint32_t)f.rank, (enum as_collective_kind)f.kind, f.root, &number);
    r->walk->out->broken_n += rc == AS_ERR_CORRUPT;
    return rc == AS_ERR_CORRUPT ? 0 : rc;
}

static int replay_leave(struct replay *r, const struct as_part_key *key,
                        const struct as_shuffle_record *record)
{
    struct as_part_leave f;
    AS_TRY(as_part_unpack_leave(record, &f));
    const struct as_collective_member member = {.location = key->location,
                                                .site = (uint32_t)f.site,
                                                .arrival_site = (uint32_t)f.arrival_site,
                                                .is_empty = f.is_empty != 0,
                                                .moves_data = f.moves_data != 0,
                                                .begin_ns = f.begin_ns,
                                                .enter_ns = f.enter_ns,
                                                .leave_ns = f.leave_ns};
    const int rc = as_collectives_leave(r->walk->collectives, (uint64_t)f.comm, (uint64_t)f.number,
                                        (uint32_t)f.rank, &member);
    return rc == AS_ERR_CORRUPT ? 0 : rc;
}

static int replay_one(struct replay *r, uint32_t part, const struct as_part_key *key,
                      const struct as_shuffle_record *record)
{
    switch (record->kind) {
    case AS_PART_SEND:
        return replay_send(r, key, record);
    case AS_PART_BEGIN_SEND:
        return replay_begin_send(r, part, record);
    case AS_PART_SENT:
        return replay_sent(r, part, key, record);
    case AS_PART_CANCEL_SEND:
        return replay_cancel_send(r, part, record);
    case AS_PART_POST:
        return replay_post(r, key, record);
    case AS_PART_RECEIVE:
        return replay_receive(r, key, record);
    case AS_PART_CANCEL_POST:
        return replay_cancel_post(r, record);
    case AS_PART_BEGIN:
        return replay_begin(r, record);
    case AS_PART_LEAVE:
        return replay_leave(r, key, record);
    default:
        return AS_ERR_CORRUPT;
    }
}

static int replay_record(void *context, uint32_t part, const struct as_shuffle_record *record)
{
    struct replay *r = context;
    const struct as_part_key key = as_part_key_of(record);
    if (record->n < AS_SHUFFLE_KEY_N || key.location >= r->walk->walker.n)
        return AS_ERR_CORRUPT;
    AS_TRY(replay_one(r, part, &key, record));
    while (r->wait_key.n < r->walk->out->waits.wait.n)
        AS_TRY(as_vec_push(&r->wait_key, key));
    return 0;
}

/* ---- What is matched at the end -------------------------------------------------------------- */

/* In the order in which receives were asked for: that of as_messages_finish in this part. */
static int finish_match(void *context, const struct as_message *message)
{
    struct replay *r = context;
    AS_TRY(as_mpi_matched(r->walk, message));
    const uint32_t at = as_messages_finishing(r->walk->messages);
    const struct as_part_key behind = {AS_PART_AFTER_NS, message->receive.location, r->behind_n};
    r->behind_n += at == AS_MESSAGES_BEHIND;
    while (r->wait_key.n < r->walk->out->waits.wait.n)
        AS_TRY(as_vec_push(&r->wait_key, at == AS_MESSAGES_BEHIND ? behind : r->post_key.at[at]));
    return 0;
}

static void write_exchanges(const struct as_exchanges *exchanges, struct as_shuffle_out *to)
{
    as_vec_foreach (&exchanges->row, row) {
        const struct as_part_exchange fields = {.location = row->location,
                                                .site = row->site,
                                                .from = row->from,
                                                .to = row->to,
                                                .n = (int64_t)row->n,
                                                .size_b = (int64_t)row->size_b,
                                                .transfer_ns = row->transfer_ns,
                                                .wait_ns = row->wait_ns};
        const struct as_shuffle_record record = as_part_pack_exchange(NULL, &fields);
        as_shuffle_write(to, AS_MATCHED_COUNTS, &record);
    }
}

static int write_match_results(const struct replay *r, size_t late, const struct as_traced *traced,
                               struct as_error *err)
{
    const struct as_analysis *a = r->walk->out;
    struct as_shuffle_out *to;
    char path[4200];
    as_part_path(r->part, AS_PART_MATCHED, r->part->number, path);
    AS_TRY(as_shuffle_new(path, AS_MATCHED_CHANNELS_N, &to, err));
    for (size_t i = 0; i < a->waits.wait.n; i++)
        as_part_write_wait(to, i < late ? AS_MATCHED_WAITS : AS_MATCHED_LATE_WAITS,
                           &r->wait_key.at[i], &a->waits.wait.at[i]);
    struct as_part_match_totals totals = {.violated_n = (int64_t)a->violated_n,
                                          .matched_n = (int64_t)a->messages.matched_n,
                                          .sends_n = (int64_t)a->messages.sends_n,
                                          .receives_n = (int64_t)a->messages.receives_n,
                                          .unmet_n = (int64_t)a->unmet_n,
                                          .broken_n = (int64_t)a->broken_n};
    for (unsigned i = 0; i < AS_EAGER_PATHS_N; i++)
        totals.eager_b[i] = a->eager_b[i];
    const struct as_shuffle_record count = as_part_pack_match_totals(NULL, &totals);
    as_shuffle_write(to, AS_MATCHED_COUNTS, &count);
    for (unsigned i = 0; i < AS_SIZE_CLASSES_N; i++) {
        const struct as_size_class *size = &traced->size[i];
        const struct as_part_size fields = {i, (int64_t)size->n, (int64_t)size->size_b};
        const struct as_shuffle_record record = as_part_pack_size(NULL, &fields);
        if (size->n)
            as_shuffle_write(to, AS_MATCHED_COUNTS, &record);
    }
    write_exchanges(&traced->exchanges, to);
    return as_shuffle_close(&to, err);
}

int as_part_replay(struct as_trace_part *part, struct as_trace_walk *walk, struct as_traced *traced,
                   struct as_error *err)
{
    struct replay r = {.part = part, .walk = walk};
    const struct as_shuffle_files files = {.directory = as_party_directory(part->party),
                                           .part_n = part->part_n,
                                           .kind_n = 1,
                                           .kind = {{AS_PART_CROSSING, part->number}}};
    r.send = as_calloc(part->part_n, sizeof *r.send);
    int rc = r.send ? as_shuffle_merge(&files, replay_record, &r, err) : AS_ERR_NOMEM;
    const size_t late = walk->out->waits.wait.n;
    if (rc == 0) {
        walk->out->unmet_n = as_collectives_unmatched(walk->collectives);
        as_messages_listen(walk->messages, finish_match, &r);
        rc = as_messages_finish(walk->messages, &walk->out->messages);
    }
    if (rc == 0)
        rc = write_match_results(&r, late, traced, err);
    if (rc == AS_ERR_NOMEM)
        as_error_nomem(err, "what a trace says");
    for (uint32_t i = 0; r.send && i < part->part_n; i++)
        as_vec_fini(&r.send[i]);
    as_free(r.send);
    as_vec_fini(&r.post);
    as_vec_fini(&r.post_key);
    as_vec_fini(&r.wait_key);
    return rc;
}
