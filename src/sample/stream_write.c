/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writer of the sample stream: varints, call paths as a tree of frames in which each frame and each
 * address is written once. doc/internals/sample.md describes the format. Flushed data stays
 * readable if the writer is killed.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/index.h"
#include "sample/recorder.h"
#include "sample/stream_chunk.h"

#define TEXT_MOST ((size_t)4096) /* max bytes of a text in the stream */

/* Max number of nodes before the tree restarts: 32 MiB of nodes and 24 MiB of table. There are
 * fewer addresses. */
#define NODES_MOST (2u << 20)

struct writer_node {
    uint32_t parent, place; /* index of the parent in this writer */
};

/* Few threads switch at a time, each many times. */
#define NEAR_N 64

struct near_thread {
    uint64_t key; /* 0: free slot; no thread has this key */
    uint32_t thread;
};

struct as_writer {
    struct as_stream_rounds rounds;
    struct as_map_u64 thread;
    struct near_thread near[NEAR_N]; /* threads used last, by tid */
    AS_VEC(struct writer_node) node; /* 0: no frame */
    AS_VEC(struct as_frame) place;   /* 0: none */
    struct as_index node_index, place_index;
    uint32_t node_base; /* node number in the file = index + node_base */
};

/* Returns the error code of a failed file, or NOMEM. */
static int failure(const struct as_writer *w)
{
    return as_container_has_failed(w->rounds.file) ? AS_ERR_IO : AS_ERR_NOMEM;
}

/* ---- Opening and closing ------------------------------------------------------------------ */

int as_writer_new(const char *path, struct as_writer **out, struct as_error *err)
{
    struct as_writer *w = as_calloc(1, sizeof *w);
    struct as_container_writer *file;
    *out = NULL;
    if (!w)
        return as_error_nomem(err, path);
    as_map_u64_init(&w->thread);
    int rc = as_container_create(path, AS_STREAM_MAGIC, AS_STREAM_VERSION, &file, err);
    if (rc == 0 && (as_rounds_init(&w->rounds, file) < 0 ||
                    as_vec_push(&w->node, (struct writer_node){0}) < 0 ||
                    as_vec_push(&w->place, (struct as_frame){0}) < 0))
        rc = as_error_nomem(err, path);
    if (rc < 0)
        as_writer_free(&w);
    *out = w;
    return rc;
}

void as_writer_free(struct as_writer **writer)
{
    struct as_writer *w = *writer;
    if (!w)
        return;
    as_rounds_fini(&w->rounds);
    as_map_u64_fini(&w->thread);
    as_vec_fini(&w->node);
    as_vec_fini(&w->place);
    as_index_fini(&w->node_index);
    as_index_fini(&w->place_index);
    as_free(w);
    *writer = NULL;
}

int as_writer_flush(struct as_writer *writer, struct as_error *err)
{
    return as_rounds_close(&writer->rounds) < 0 ? as_container_failure(writer->rounds.file, err)
                                                : 0;
}

int as_writer_finish(struct as_writer **writer, struct as_error *err)
{
    int rc = as_writer_flush(*writer, err);
    if (rc == 0)
        rc = as_container_finish(&(*writer)->rounds.file, err);
    as_writer_free(writer);
    return rc;
}

uint64_t as_writer_bytes(const struct as_writer *writer)
{
    const struct as_stream_rounds *rounds = &writer->rounds;
    return as_container_bytes(rounds->file) + rounds->pending_b + rounds->definition_b;
}

/* ---- Definitions -------------------------------------------------------------------------- */

static uint8_t *encode_text(uint8_t *to, const char *text)
{
    const size_t whole = strlen(text), n = whole < TEXT_MOST ? whole : TEXT_MOST;
    to = as_encode_u(to, n);
    memcpy(to, text, n);
    return to + n;
}

int as_writer_module(struct as_writer *writer, const struct as_stream_module *module)
{
    uint8_t *to = as_rounds_define(&writer->rounds, 96 + 2 * TEXT_MOST);
    if (!to)
        return failure(writer);
    *to++ = AS_TAG_MODULE;
    *to++ = module->kind;
    to = encode_text(to, module->path);
    to = as_encode_u(to, module->device);
    to = as_encode_u(to, module->file.inode);
    *to++ = module->file.build_id_b;
    memcpy(to, module->file.build_id, module->file.build_id_b);
    to += module->file.build_id_b;
    to = encode_text(to, module->kept ? module->kept : "");
    *to++ = module->file.known;
    to = as_encode_u(to, module->file.size_b);
    to = as_encode_s(to, module->file.mtime_ns);
    writer->rounds.module_n++;
    as_rounds_defined(&writer->rounds, to);
    return 0;
}

int as_writer_kept(struct as_writer *writer, uint32_t module, const char *name)
{
    uint8_t *to = as_rounds_define(&writer->rounds, 32 + TEXT_MOST);
    if (!to)
        return failure(writer);
    *to++ = AS_TAG_KEPT;
    to = as_encode_u(to, module);
    to = encode_text(to, name);
    as_rounds_defined(&writer->rounds, to);
    return 0;
}

static int define_thread(struct as_writer *w, uint32_t pid, uint32_t tid)
{
    uint8_t *to = as_rounds_define(&w->rounds, 16);
    if (!to)
        return failure(w);
    *to++ = AS_TAG_THREAD;
    to = as_encode_u(to, pid);
    to = as_encode_u(to, tid);
    w->rounds.thread_n++;
    as_rounds_defined(&w->rounds, to);
    return 0;
}

/* Finds or defines a thread. A reused number stays the same thread; FORK and EXIT separate the
 * uses. */
static int thread_of(struct as_writer *w, uint32_t pid, uint32_t tid, uint32_t *out)
{
    uint64_t key = (uint64_t)pid << 32 | tid;
    struct near_thread *near = &w->near[tid % NEAR_N];
    if (key && near->key == key) {
        *out = near->thread;
        return 0;
    }
    *out = as_map_u64_get(&w->thread, key);
    if (*out == AS_MAP_NONE) {
        *out = w->rounds.thread_n;
        AS_TRY(define_thread(w, pid, tid));
        AS_TRY(as_map_u64_put(&w->thread, key, *out));
    }
    *near = (struct near_thread){key, *out};
    return 0;
}

/* Finds or adds an address. Sets `*is_new` if it is not written yet. */
static int place_of(struct as_writer *w, struct as_frame frame, uint32_t *out, bool *is_new)
{
    const uint64_t hash = as_hash_mix(frame.module, frame.address);
    *is_new = false;
    for (struct as_probe probe = as_index_probe(&w->place_index, hash);
         (*out = as_index_next(&w->place_index, &probe)) != AS_INDEX_NONE;) {
        const struct as_frame *there = &w->place.at[*out];
        if (there->address == frame.address && there->module == frame.module)
            return 0;
    }
    *is_new = true;
    *out = (uint32_t)w->place.n;
    AS_TRY(as_vec_push(&w->place, frame));
    return as_index_add(&w->place_index, hash, *out);
}

static int write_node(struct as_writer *w, uint32_t up, uint32_t place, bool is_new)
{
    const struct as_frame *frame = &w->place.at[place];
    struct as_stream_rounds *rounds = &w->rounds;
    uint8_t *to = as_rounds_define(rounds, 32);
    if (!to)
        return failure(w);
    *to++ = AS_TAG_NODE;
    to = as_encode_u(to, up);
    to = as_encode_u(to, is_new ? 0 : place);
    if (is_new) {
        to = as_encode_u(to, frame->module);
        to = as_encode_s(to, (int64_t)(frame->address - rounds->last_address));
        rounds->last_address = frame->address;
        rounds->place_n++;
    }
    rounds->node_n++;
    as_rounds_defined(rounds, to);
    return 0;
}

int as_writer_node(struct as_writer *writer, uint32_t parent, struct as_frame frame, uint32_t *out)
{
    struct as_writer *w = writer;
    uint32_t place, own;
    bool is_new;
    const uint32_t above = parent ? parent - w->node_base : 0;
    AS_TRY(place_of(w, frame, &place, &is_new));
    const uint64_t hash = as_hash_mix(above, place);
    for (struct as_probe probe = as_index_probe(&w->node_index, hash);
         (own = as_index_next(&w->node_index, &probe)) != AS_INDEX_NONE;) {
        const struct writer_node *there = &w->node.at[own];
        if (there->parent == above && there->place == place) {
            *out = own + w->node_base;
            return 0;
        }
    }
    own = (uint32_t)w->node.n;
    *out = own + w->node_base;
    AS_TRY(as_vec_push(&w->node, (struct writer_node){above, place}));
    AS_TRY(as_index_add(&w->node_index, hash, own));
    return write_node(w, *out - parent, place, is_new);
}

int as_writer_trim(struct as_writer *writer)
{
    if (writer->node.n < NODES_MOST)
        return 0;
    writer->node_base += (uint32_t)writer->node.n - 1;
    writer->node.n = writer->place.n = 1;
    as_index_fini(&writer->node_index);
    as_index_fini(&writer->place_index);
    uint8_t *to = as_rounds_define(&writer->rounds, 1);
    if (!to)
        return failure(writer);
    *to++ = AS_TAG_RESET;
    writer->rounds.place_n = 1;
    as_rounds_defined(&writer->rounds, to);
    return 0;
}

/* ---- Records ------------------------------------------------------------------------------ */

/* Writes the tag of a record that is not a sample. Also writes the number of records of other
 * threads before it. */
static uint8_t *begin_record(struct as_writer *w, uint32_t thread, unsigned tag, size_t most_b,
                             struct as_chunk **out)
{
    uint32_t gap;
    *out = as_rounds_record(&w->rounds, thread, most_b + 16, &gap);
    if (!*out)
        return NULL;
    uint8_t *to = (*out)->at + (*out)->n;
    *to++ = (uint8_t)tag;
    return as_encode_u(to, gap);
}

static uint8_t *encode_time_delta(struct as_chunk *chunk, uint8_t *to, uint64_t time_ns)
{
    to = as_encode_s(to, (int64_t)(time_ns - chunk->last_ns));
    chunk->last_ns = time_ns;
    return to;
}

int as_writer_info(struct as_writer *writer, const char *name, const char *value)
{
    struct as_chunk *chunk;
    uint8_t *to = begin_record(writer, AS_CONTAINER_NONE, AS_TAG_INFO, 2 * TEXT_MOST + 8, &chunk);
    if (!to)
        return failure(writer);
    to = encode_text(to, name);
    to = encode_text(to, value);
    chunk->last_ns = writer->rounds.now.last_ns;
    as_rounds_recorded(&writer->rounds, chunk, to);
    return 0;
}

int as_writer_process(struct as_writer *writer, uint32_t pid, uint32_t tid, uint64_t time_ns,
                      const char *name, const char *value)
{
    uint32_t thread;
    struct as_chunk *chunk;
    AS_TRY(thread_of(writer, pid, tid, &thread));
    uint8_t *to = begin_record(writer, thread, AS_TAG_PROCESS, 2 * TEXT_MOST + 32, &chunk);
    if (!to)
        return failure(writer);
    to = encode_time_delta(chunk, to, time_ns);
    to = encode_text(to, name);
    to = encode_text(to, value);
    as_rounds_recorded(&writer->rounds, chunk, to);
    return 0;
}

int as_writer_sample(struct as_writer *writer, const struct as_sample_record *sample, uint32_t node,
                     uint8_t end)
{
    struct as_stream_rounds *rounds = &writer->rounds;
    uint32_t thread, gap;
    AS_TRY(thread_of(writer, sample->pid, sample->tid, &thread));
    struct as_chunk *c = as_rounds_record(rounds, thread, 64, &gap);
    if (!c)
        return failure(writer);
    unsigned flags = (unsigned)end << AS_STACK_END_SHIFT;
    flags |= gap == 0 ? AS_SAME_THREAD : 0;
    flags |= sample->cpu == c->cpu ? AS_SAME_CPU : 0;
    flags |= sample->period == c->period ? AS_SAME_PERIOD : 0;
    flags |= sample->waits ? AS_WAITS : 0;
    uint8_t *to = c->at + c->n;
    *to++ = (uint8_t)(AS_TAG_SAMPLE | flags);
    if (!(flags & AS_SAME_THREAD))
        to = as_encode_u(to, gap);
    if (!(flags & AS_SAME_CPU))
        to = as_encode_u(to, sample->cpu);
    if (!(flags & AS_SAME_PERIOD))
        to = as_encode_u(to, sample->period);
    to = as_encode_s(to, (int64_t)node - (int64_t)c->node);
    if (!sample->waits) { /* a running thread is sampled once a period: store the difference */
        c->last_ns = c->sampled_ns + sample->period;
        c->sampled_ns = sample->time_ns;
    }
    to = encode_time_delta(c, to, sample->time_ns);
    c->cpu = sample->cpu;
    c->period = rounds->now.period = sample->period;
    c->node = rounds->now.node = node;
    as_rounds_recorded(rounds, c, to);
    return 0;
}

int as_writer_map(struct as_writer *writer, const struct as_sample_record *map, uint32_t module)
{
    uint32_t thread;
    struct as_chunk *chunk;
    AS_TRY(thread_of(writer, map->pid, map->tid, &thread));
    uint8_t *to = begin_record(writer, thread, AS_TAG_MAP, 64, &chunk);
    if (!to)
        return failure(writer);
    to = encode_time_delta(chunk, to, map->time_ns);
    to = as_encode_u(to, map->address);
    to = as_encode_u(to, map->size_b);
    to = as_encode_u(to, map->offset);
    to = as_encode_u(to, module);
    as_rounds_recorded(&writer->rounds, chunk, to);
    return 0;
}

static unsigned tag_of(const struct as_sample_record *record)
{
    switch (record->kind) {
    case AS_SAMPLE_COMM:
        return record->out ? AS_TAG_EXEC : AS_TAG_COMM;
    case AS_SAMPLE_FORK:
        return AS_TAG_FORK;
    case AS_SAMPLE_EXIT:
        return AS_TAG_EXIT;
    case AS_SAMPLE_LOST:
        return AS_TAG_LOST;
    case AS_SAMPLE_SWITCH:
        return !record->out        ? AS_TAG_SWITCH_IN
               : record->preempted ? AS_TAG_PREEMPT
                                   : AS_TAG_SWITCH_OUT;
    default:
        return record->out ? AS_TAG_THROTTLE : AS_TAG_UNTHROTTLE;
    }
}

int as_writer_event(struct as_writer *writer, const struct as_sample_record *record)
{
    const unsigned tag = tag_of(record);
    const bool is_named = tag == AS_TAG_COMM || tag == AS_TAG_EXEC;
    uint32_t thread, parent = 0;
    struct as_chunk *chunk;
    AS_TRY(thread_of(writer, record->pid, record->tid, &thread));
    if (tag == AS_TAG_FORK)
        AS_TRY(thread_of(writer, record->parent_pid, record->parent_tid, &parent));
    uint8_t *to = begin_record(writer, thread, tag, is_named ? 64 + TEXT_MOST : 64, &chunk);
    if (!to)
        return failure(writer);
    to = encode_time_delta(chunk, to, record->time_ns);
    to = as_encode_u(to, record->cpu);
    if (is_named)
        to = encode_text(to, record->text);
    else if (tag == AS_TAG_FORK)
        to = as_encode_u(to, parent);
    else if (tag == AS_TAG_LOST)
        to = as_encode_u(to, record->lost);
    if (record->kind == AS_SAMPLE_SWITCH)
        writer->rounds.switch_b += (size_t)(to - chunk->at) - chunk->n;
    as_rounds_recorded(&writer->rounds, chunk, to);
    return 0;
}

int as_writer_end(struct as_writer *writer, const struct as_sample_counts *counts, uint64_t dropped)
{
    static const struct as_sample_counts none;
    if (!counts)
        counts = &none;
    uint8_t *to = as_rounds_define(&writer->rounds, 96);
    if (!to)
        return failure(writer);
    *to++ = AS_TAG_END;
    to = as_encode_u(to, counts->records);
    to = as_encode_u(to, counts->samples);
    to = as_encode_u(to, counts->lost);
    to = as_encode_u(to, counts->throttled);
    to = as_encode_u(to, counts->damaged);
    to = as_encode_u(to, counts->late);
    to = as_encode_u(to, dropped);
    to = as_encode_u(to, counts->lost_other);
    as_rounds_defined(&writer->rounds, to);
    return 0;
}
