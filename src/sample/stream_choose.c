/* SPDX-License-Identifier: Apache-2.0 */
/* Selects a part of a stream: a time interval and some threads. */
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sample/stream_state.h"

bool as_stream_wants(struct as_stream *s, uint32_t thread)
{
    if (s->wanted.n == 0 || thread >= s->thread.n)
        return s->wanted.n == 0;
    if (as_vec_reserve(&s->is_wanted, s->thread.n) < 0)
        return true; /* the reader of the stream finds the failure */
    for (; s->is_wanted.n < s->thread.n; s->is_wanted.n++) {
        const struct as_stream_thread *of = &s->thread.at[s->is_wanted.n];
        bool found = false;
        as_vec_foreach (&s->wanted, one)
            found |= one->pid == of->pid && one->tid == of->tid;
        s->is_wanted.at[s->is_wanted.n] = found;
    }
    return s->is_wanted.at[thread];
}

bool as_stream_chosen(struct as_stream *s, const struct as_stream_record *record)
{
    return record->kind == AS_STREAM_INFO ||
           (record->time_ns >= s->from_ns && record->time_ns < s->to_ns &&
            as_stream_wants(s, record->thread));
}

/* Restarts a stream of version 1 to 3. These have no index, so all records are read again and
 * filtered. */
static int rewind_old(struct as_stream *s)
{
    if (lseek(s->fd, AS_CONTAINER_START_B, SEEK_SET) < 0)
        s->over = s->damaged = true;
    else
        s->over = s->ended = s->damaged = false;
    s->own = (struct as_stream_state){0};
    s->last_address = 0;
    s->node_base = 0;
    s->module.n = s->thread.n = s->sampled_ns.n = s->is_wanted.n = 0;
    s->node.n = s->place.n = 1;
    if (s->version < AS_STREAM_PACKED)
        return 0;
    as_unpacker_free(&s->unpacker);
    return as_unpacker_new(&s->unpacker);
}

int as_stream_choose(struct as_stream *s, const struct as_stream_choice *choice,
                     struct as_error *err)
{
    s->is_chosen = choice != NULL;
    s->wanted.n = s->is_wanted.n = 0;
    s->from_ns = choice ? choice->from_ns : 0;
    s->to_ns = choice && choice->to_ns ? choice->to_ns : UINT64_MAX;
    int rc = 0;
    for (size_t i = 0; choice && i < choice->thread_n && rc == 0; i++)
        rc = as_vec_push(&s->wanted, choice->thread[i]);
    if (rc == 0)
        rc = s->version < AS_STREAM_BLOCKS ? rewind_old(s) : as_rounds_rewind(s);
    return rc < 0 ? as_error_nomem(err, "a stream of samples") : 0;
}
