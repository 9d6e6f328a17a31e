/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What meets in this part, in the order that it has in the whole trace: the same calls as those of
 * a walk through everything. Waits get the place of the step that made them known.
 */
#include <assert.h>

#include "analytics/part.h"
#include "base/error.h"

struct replay {
    struct as_trace_part *part;
    struct as_trace_walk *walk;
    AS_VEC(uint32_t) post;               /* by slot: number of the receive */
    AS_VEC(uint32_t) * send;             /* by part that sends, and slot: number of the send */
    uint64_t behind_n;                   /* messages that were held for sends to the end */
    AS_VEC(struct as_part_key) post_key; /* by that number: when it was asked for */
    AS_VEC(struct as_part_key) wait_key; /* by wait */
};

static struct as_message_side side_from(const struct as_handed *record, unsigned at)
{
    return (struct as_message_side){.location = (uint32_t)record->field[1],
                                    .site = (uint32_t)record->field[at],
                                    .arrival_site = (uint32_t)record->field[at + 1],
                                    .bits = (uint32_t)record->field[at + 2],
                                    .begin_ns = record->field[at + 3],
                                    .enter_ns = record->field[at + 4],
                                    .leave_ns = record->field[at + 5]};
}

static struct as_part_key key_of_record(const struct as_handed *record)
{
    return (struct as_part_key){record->field[0], (uint32_t)record->field[1],
                                (uint64_t)record->field[2]};
}

static int replay_post(struct replay *r, const struct as_handed *record)
{
    const int64_t *f = record->field + AS_HANDED_KEY_N;
    const size_t slot = (size_t)f[4];
    uint32_t at;
    AS_TRY(as_messages_post(r->walk->messages, (uint64_t)f[0], f[1], f[2], f[3], &at));
    while (r->post.n <= slot)
        AS_TRY(as_vec_push(&r->post, 0));
    r->post.at[slot] = at;
    while (r->post_key.n <= at)
        AS_TRY(as_vec_push(&r->post_key, (struct as_part_key){0}));
    r->post_key.at[at] = key_of_record(record);
    return 0;
}

static int replay_begin_send(struct replay *r, uint32_t part, const int64_t *f)
{
    const size_t slot = (size_t)f[4];
    while (r->send[part].n <= slot)
        AS_TRY(as_vec_push(&r->send[part], 0));
    return as_messages_begin(r->walk->messages, (uint64_t)f[0], f[1], f[2], f[3],
                             &r->send[part].at[slot]);
}

/* A rank that its communicator has not, by another's word: its operation is left out. */
static int replay_begin(struct replay *r, const int64_t *f)
{
    uint64_t number;
    const int rc =
        as_collectives_begin(r->walk->collectives, (uint64_t)f[0], (uint32_t)f[1], (uint32_t)f[2],
                             (enum as_collective_kind)f[3], f[4], &number);
    r->walk->out->broken_n += rc == ASSAY_ERR_CORRUPT;
    return rc == ASSAY_ERR_CORRUPT ? 0 : rc;
}

static int replay_leave(struct replay *r, const struct as_handed *record)
{
    const int64_t *f = record->field + AS_HANDED_KEY_N;
    const struct as_collective_member member = {.location = (uint32_t)record->field[1],
                                                .site = (uint32_t)f[3],
                                                .arrival_site = (uint32_t)f[4],
                                                .is_empty = f[5] & 1,
                                                .moves_data = f[5] & 2,
                                                .begin_ns = f[6],
                                                .enter_ns = f[7],
                                                .leave_ns = f[8]};
    const int rc = as_collectives_leave(r->walk->collectives, (uint64_t)f[0], (uint64_t)f[1],
                                        (uint32_t)f[2], &member);
    return rc == ASSAY_ERR_CORRUPT ? 0 : rc;
}

static int replay_one(struct replay *r, uint32_t part, const struct as_handed *record)
{
    const int64_t *f = record->field + AS_HANDED_KEY_N;
    struct as_messages *messages = r->walk->messages;
    struct as_message_side side;
    switch (record->kind) {
    case AS_PART_SEND:
        side = side_from(record, AS_HANDED_KEY_N + 5);
        return as_messages_send(messages, (uint64_t)f[0], f[1], f[2], f[3], f[4], &side);
    case AS_PART_SEND_BEGIN:
        return replay_begin_send(r, part, f);
    case AS_PART_SENT:
        side = side_from(record, AS_HANDED_KEY_N + 2);
        assert((size_t)f[0] < r->send[part].n);
        return as_messages_sent(messages, r->send[part].at[f[0]], f[1], &side);
    case AS_PART_UNSEND:
        assert((size_t)f[0] < r->send[part].n);
        return as_messages_unsend(messages, r->send[part].at[f[0]]);
    case AS_PART_POST:
        return replay_post(r, record);
    case AS_PART_RECEIVE:
        side = side_from(record, AS_HANDED_KEY_N + 4);
        assert((size_t)f[0] < r->post.n);
        return as_messages_receive(messages, r->post.at[f[0]], f[1], f[2], f[3], &side);
    case AS_PART_GIVE_UP:
        assert((size_t)f[0] < r->post.n);
        return as_messages_cancel_post(messages, r->post.at[f[0]]);
    case AS_PART_BEGIN:
        return replay_begin(r, f);
    default:
        return replay_leave(r, record);
    }
}

static int replay_record(void *context, uint32_t part, const struct as_handed *record)
{
    struct replay *r = context;
    AS_TRY(replay_one(r, part, record));
    while (r->wait_key.n < r->walk->out->waits.wait.n)
        AS_TRY(as_vec_push(&r->wait_key, key_of_record(record)));
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

static int write_match_results(const struct replay *r, size_t late, const struct as_traced *traced,
                               struct assay_error *err)
{
    const struct as_analysis *a = r->walk->out;
    struct as_handed_out *to;
    char path[4200];
    as_part_path(r->part, AS_PART_MET, r->part->number, path);
    AS_TRY(as_handed_new(path, AS_MET_CHANNELS_N, &to, err));
    for (size_t i = 0; i < a->waits.wait.n; i++)
        as_part_write_wait(to, i < late ? AS_MET_WAITS : AS_MET_LATE_WAITS, &r->wait_key.at[i],
                           &a->waits.wait.at[i]);
    const struct as_handed count = {
        .kind = AS_PART_COUNT,
        .n = 6 + AS_EAGER_PATHS_N,
        .field = {(int64_t)a->violated_n, (int64_t)a->messages.matched_n,
                  (int64_t)a->messages.sends_n, (int64_t)a->messages.receives_n,
                  (int64_t)a->unmet_n, (int64_t)a->broken_n, a->eager_b[AS_EAGER_NEVER],
                  a->eager_b[AS_EAGER_NEAR], a->eager_b[AS_EAGER_FAR]}};
    as_handed_write(to, AS_MET_COUNTS, &count);
    for (unsigned i = 0; i < AS_SIZE_CLASSES_N; i++) {
        const struct as_size_class *size = &traced->size[i];
        const struct as_handed record = {
            .kind = AS_PART_SIZE, .n = 3, .field = {i, (int64_t)size->n, (int64_t)size->size_b}};
        if (size->n)
            as_handed_write(to, AS_MET_COUNTS, &record);
    }
    return as_handed_close(&to, err);
}

int as_part_replay(struct as_trace_part *part, struct as_trace_walk *walk, struct as_traced *traced,
                   struct assay_error *err)
{
    struct replay r = {.part = part, .walk = walk};
    const struct as_handed_files files = {.directory = as_party_directory(part->party),
                                          .part_n = part->part_n,
                                          .kind_n = 1,
                                          .kind = {{AS_PART_CROSSING, part->number}}};
    r.send = as_calloc(part->part_n, sizeof *r.send);
    int rc = r.send ? as_handed_merge(&files, replay_record, &r, err) : ASSAY_ERR_NOMEM;
    const size_t late = walk->out->waits.wait.n;
    if (rc == 0) {
        walk->out->unmet_n = as_collectives_unmatched(walk->collectives);
        as_messages_listen(walk->messages, finish_match, &r);
        rc = as_messages_finish(walk->messages, &walk->out->messages);
    }
    if (rc == 0)
        rc = write_match_results(&r, late, traced, err);
    if (rc == ASSAY_ERR_NOMEM)
        as_error_nomem(err, "what a trace says");
    for (uint32_t i = 0; r.send && i < part->part_n; i++)
        as_vec_fini(&r.send[i]);
    as_free(r.send);
    as_vec_fini(&r.post);
    as_vec_fini(&r.post_key);
    as_vec_fini(&r.wait_key);
    return rc;
}
