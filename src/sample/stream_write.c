/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writer of the sample stream: varints in packed blocks with a checksum, call paths as a tree of
 * frames written once each, and so are the places that frames are at. The format stands in
 * doc/sample.md; what is flushed can be read whatever happens to the writer.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/index.h"
#include "base/whole.h"
#include "sample/recorder.h"

#define TEXT_MOST ((size_t)4096) /* of a name in the stream */

/* Nodes before the tree is started anew: 32 MiB of them, and 24 MiB of table; places are fewer. */
#define NODES_MOST (2u << 20)

struct writer_node {
    uint32_t parent, place;
};

/* Few threads switch at a time, each many times. */
#define NEAR_N 64

struct near_thread {
    uint64_t key; /* 0: none; no thread has this number */
    uint32_t thread;
};

struct as_writer {
    int fd;
    char *path;
    uint64_t written_b;
    uint8_t *block;     /* AS_BLOCK_B */
    size_t n, switch_b; /* bytes in it; of those, records of switches */
    uint64_t begun_ns;  /* time before its first record */
    uint8_t *packed;    /* AS_PACKED_B with the head of a block before it */
    struct as_packer *packer;
    int failed; /* errno of the first failure */
    struct as_map_u64 thread;
    AS_VEC(uint64_t) sampled_ns;     /* by thread: its last sample, or its first mention */
    struct near_thread near[NEAR_N]; /* those asked for last, by number */
    AS_VEC(struct writer_node) node; /* 0: no frame */
    AS_VEC(struct as_frame) place;   /* 0: none */
    struct as_index node_index, place_index;
    uint64_t last_ns, last_period, last_address;
    uint32_t last_thread, last_cpu, last_node;
};

#define HEAD_B 8

/* A block of records of switches that was full in less has 50,000 of them a second or more. To pack
 * them would cost a fifth of the time that it takes to read them, of processors that are busy. */
#define BUSY_NS 250000000u

/* ---- Bytes -------------------------------------------------------------------------------- */

static int write_all(struct as_writer *w, const uint8_t *p, size_t n)
{
    if (!w->failed)
        w->failed = as_whole_write(w->fd, p, n);
    if (w->failed)
        return ASSAY_ERR_IO;
    w->written_b += n;
    return 0;
}

static int end_block(struct as_writer *w)
{
    if (w->n == 0 || w->failed)
        return w->failed ? ASSAY_ERR_IO : 0;
    const bool plain = w->switch_b > w->n / 2 && w->last_ns - w->begun_ns < BUSY_NS;
    const size_t n = plain ? w->n : as_pack(w->packer, w->block, w->n, w->packed + HEAD_B);
    if (n == 0) {
        w->failed = ENOMEM;
        return ASSAY_ERR_IO;
    }
    if (plain)
        memcpy(w->packed + HEAD_B, w->block, n);
    const uint32_t head[2] = {(uint32_t)n | (plain ? AS_BLOCK_PLAIN : 0),
                              (uint32_t)crc32(crc32(0, NULL, 0), w->packed + HEAD_B, (uInt)n)};
    memcpy(w->packed, head, HEAD_B);
    w->n = w->switch_b = 0;
    w->begun_ns = w->last_ns;
    return write_all(w, w->packed, HEAD_B + n);
}

/* Room for a record of `n` bytes in this block. */
static void room(struct as_writer *w, size_t n)
{
    if (w->n + n > AS_BLOCK_B)
        end_block(w); /* a failure sticks */
}

static void put_u8(struct as_writer *w, unsigned v)
{
    w->block[w->n++] = (uint8_t)v;
}

static void put_u(struct as_writer *w, uint64_t v)
{
    while (v >= 0x80) {
        put_u8(w, (unsigned)(v & 0x7f) | 0x80);
        v >>= 7;
    }
    put_u8(w, (unsigned)v);
}

/* Small numbers of either sign are short. */
static void put_s(struct as_writer *w, int64_t v)
{
    put_u(w, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

static void put_text(struct as_writer *w, const char *text)
{
    const size_t whole = strlen(text), n = whole < TEXT_MOST ? whole : TEXT_MOST;
    put_u(w, n);
    memcpy(w->block + w->n, text, n);
    w->n += n;
}

static void put_time(struct as_writer *w, uint64_t time_ns)
{
    put_s(w, (int64_t)(time_ns - w->last_ns));
    w->last_ns = time_ns;
}

static int result(const struct as_writer *w)
{
    return w->failed ? ASSAY_ERR_IO : 0;
}

/* ---- Opening and closing ------------------------------------------------------------------ */

static int io_error(const struct as_writer *w, struct assay_error *err)
{
    return as_error_set(err, ASSAY_ERR_IO,
                        "%s: cannot be written: %s; free space or choose another place", w->path,
                        strerror(w->failed));
}

static int allocate_writer(struct as_writer *w, const char *path)
{
    w->path = as_malloc(strlen(path) + 1);
    w->block = as_malloc(AS_BLOCK_B);
    w->packed = as_malloc(HEAD_B + AS_PACKED_B);
    if (!w->path || !w->block || !w->packed)
        return ASSAY_ERR_NOMEM;
    memcpy(w->path, path, strlen(path) + 1);
    AS_TRY(as_vec_push(&w->node, (struct writer_node){0}));
    AS_TRY(as_vec_push(&w->place, (struct as_frame){0}));
    return as_packer_new(&w->packer);
}

int as_writer_new(const char *path, struct as_writer **out, struct assay_error *err)
{
    struct as_writer *w = as_calloc(1, sizeof *w);
    *out = NULL;
    if (!w)
        return as_error_nomem(err, path);
    w->fd = -1;
    as_map_u64_init(&w->thread);
    int rc = allocate_writer(w, path) < 0 ? as_error_nomem(err, path) : 0;
    if (rc == 0) {
        uint8_t head[16] = AS_STREAM_MAGIC;
        uint32_t version = AS_STREAM_VERSION;
        memcpy(head + 8, &version, sizeof version);
        w->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        w->failed = w->fd < 0 ? errno : 0;
        if (w->failed || write_all(w, head, sizeof head) < 0)
            rc = io_error(w, err);
    }
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
    if (w->fd >= 0)
        close(w->fd);
    as_map_u64_fini(&w->thread);
    as_vec_fini(&w->sampled_ns);
    as_vec_fini(&w->node);
    as_vec_fini(&w->place);
    as_index_fini(&w->node_index);
    as_index_fini(&w->place_index);
    as_packer_free(&w->packer);
    as_free(w->packed);
    as_free(w->block);
    as_free(w->path);
    as_free(w);
    *writer = NULL;
}

int as_writer_flush(struct as_writer *writer, struct assay_error *err)
{
    return end_block(writer) < 0 ? io_error(writer, err) : 0;
}

int as_writer_finish(struct as_writer **writer, struct assay_error *err)
{
    struct as_writer *w = *writer;
    int rc = as_writer_flush(w, err);
    if (rc == 0 && close(w->fd) < 0) {
        w->failed = errno;
        rc = io_error(w, err);
    }
    if (rc == 0)
        w->fd = -1;
    as_writer_free(writer);
    return rc;
}

uint64_t as_writer_bytes(const struct as_writer *writer)
{
    return writer->written_b + writer->n;
}

/* ---- Definitions -------------------------------------------------------------------------- */

int as_writer_info(struct as_writer *writer, const char *name, const char *value)
{
    room(writer, 16 + 2 * TEXT_MOST);
    put_u8(writer, AS_TAG_INFO);
    put_text(writer, name);
    put_text(writer, value);
    return result(writer);
}

int as_writer_module(struct as_writer *writer, const struct assay_stream_module *module)
{
    room(writer, 96 + 2 * TEXT_MOST);
    put_u8(writer, AS_TAG_MODULE);
    put_u8(writer, module->kind);
    put_text(writer, module->path);
    put_u(writer, module->device);
    put_u(writer, module->file.inode);
    put_u8(writer, module->file.build_id_b);
    memcpy(writer->block + writer->n, module->file.build_id, module->file.build_id_b);
    writer->n += module->file.build_id_b;
    put_text(writer, module->kept ? module->kept : "");
    put_u8(writer, module->file.known);
    put_u(writer, module->file.size_b);
    put_s(writer, module->file.mtime_ns);
    return result(writer);
}

int as_writer_kept(struct as_writer *writer, uint32_t module, const char *name)
{
    room(writer, 32 + TEXT_MOST);
    put_u8(writer, AS_TAG_KEPT);
    put_u(writer, module);
    put_text(writer, name);
    return result(writer);
}

/* Index of a thread, defined at its first mention. Numbers used again are the same thread here:
 * FORK and EXIT tell them apart. */
static int thread_of(struct as_writer *w, uint32_t pid, uint32_t tid, uint32_t *out)
{
    uint64_t key = (uint64_t)pid << 32 | tid;
    struct near_thread *near = &w->near[tid % NEAR_N];
    if (key && near->key == key) {
        *out = near->thread;
        return 0;
    }
    *out = as_map_u64_get(&w->thread, key);
    const bool known = *out != AS_MAP_NONE;
    if (!known)
        *out = (uint32_t)w->sampled_ns.n;
    *near = (struct near_thread){key, *out};
    if (known)
        return 0;
    room(w, 16);
    put_u8(w, AS_TAG_THREAD);
    put_u(w, pid);
    put_u(w, tid);
    AS_TRY(as_vec_push(&w->sampled_ns, w->last_ns));
    return as_map_u64_put(&w->thread, key, *out);
}

/* The number of a place; `*is_new`: it has none yet, and gets it now. */
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

static void write_node(struct as_writer *w, uint32_t up, uint32_t place, bool is_new)
{
    const struct as_frame *frame = &w->place.at[place];
    room(w, 32);
    put_u8(w, AS_TAG_NODE);
    put_u(w, up);
    put_u(w, is_new ? 0 : place);
    if (!is_new)
        return;
    put_u(w, frame->module);
    put_s(w, (int64_t)(frame->address - w->last_address));
    w->last_address = frame->address;
}

int as_writer_node(struct as_writer *writer, uint32_t parent, struct as_frame frame, uint32_t *out)
{
    struct as_writer *w = writer;
    uint32_t place;
    bool is_new;
    AS_TRY(place_of(w, frame, &place, &is_new));
    const uint64_t hash = as_hash_mix(parent, place);
    for (struct as_probe probe = as_index_probe(&w->node_index, hash);
         (*out = as_index_next(&w->node_index, &probe)) != AS_INDEX_NONE;) {
        const struct writer_node *there = &w->node.at[*out];
        if (there->parent == parent && there->place == place)
            return 0;
    }
    *out = (uint32_t)w->node.n;
    AS_TRY(as_vec_push(&w->node, (struct writer_node){parent, place}));
    AS_TRY(as_index_add(&w->node_index, hash, *out));
    write_node(w, *out - parent, place, is_new);
    return result(w);
}

int as_writer_trim(struct as_writer *writer)
{
    if (writer->node.n < NODES_MOST)
        return 0;
    writer->node.n = writer->place.n = 1;
    as_index_fini(&writer->node_index);
    as_index_fini(&writer->place_index);
    writer->last_node = 0;
    room(writer, 1);
    put_u8(writer, AS_TAG_RESET);
    return result(writer);
}

/* ---- Records ------------------------------------------------------------------------------ */

int as_writer_process(struct as_writer *writer, uint32_t pid, uint32_t tid, uint64_t time_ns,
                      const char *name, const char *value)
{
    uint32_t thread;
    AS_TRY(thread_of(writer, pid, tid, &thread));
    room(writer, 32 + 2 * TEXT_MOST);
    put_u8(writer, AS_TAG_PROCESS);
    put_time(writer, time_ns);
    put_u(writer, thread);
    put_text(writer, name);
    put_text(writer, value);
    return result(writer);
}

/* A thread that runs is sampled once a period: only what it is off by is written. */
static void put_sample_time(struct as_writer *w, const struct assay_sample_record *sample,
                            uint32_t thread)
{
    if (!sample->waits) {
        w->last_ns = w->sampled_ns.at[thread] + sample->period;
        w->sampled_ns.at[thread] = sample->time_ns;
    }
    put_time(w, sample->time_ns);
}

int as_writer_sample(struct as_writer *writer, const struct assay_sample_record *sample,
                     uint32_t node, uint8_t end)
{
    struct as_writer *w = writer;
    uint32_t thread;
    AS_TRY(thread_of(w, sample->pid, sample->tid, &thread));
    room(w, 64);
    unsigned flags = (unsigned)end << AS_STACK_END_SHIFT;
    flags |= thread == w->last_thread ? AS_SAME_THREAD : 0;
    flags |= sample->cpu == w->last_cpu ? AS_SAME_CPU : 0;
    flags |= sample->period == w->last_period ? AS_SAME_PERIOD : 0;
    flags |= sample->waits ? AS_WAITS : 0;
    put_u8(w, AS_TAG_SAMPLE | flags);
    if (!(flags & AS_SAME_THREAD))
        put_u(w, thread);
    if (!(flags & AS_SAME_CPU))
        put_u(w, sample->cpu);
    if (!(flags & AS_SAME_PERIOD))
        put_u(w, sample->period);
    put_s(w, (int64_t)node - (int64_t)w->last_node);
    put_sample_time(w, sample, thread);
    w->last_thread = thread;
    w->last_cpu = sample->cpu;
    w->last_period = sample->period;
    w->last_node = node;
    return result(w);
}

int as_writer_map(struct as_writer *writer, const struct assay_sample_record *map, uint32_t module)
{
    uint32_t thread;
    AS_TRY(thread_of(writer, map->pid, map->tid, &thread));
    room(writer, 64);
    put_u8(writer, AS_TAG_MAP);
    put_time(writer, map->time_ns);
    put_u(writer, thread);
    put_u(writer, map->address);
    put_u(writer, map->size_b);
    put_u(writer, map->offset);
    put_u(writer, module);
    return result(writer);
}

static unsigned tag_of(const struct assay_sample_record *record)
{
    switch (record->kind) {
    case ASSAY_SAMPLE_COMM:
        return record->out ? AS_TAG_EXEC : AS_TAG_COMM;
    case ASSAY_SAMPLE_FORK:
        return AS_TAG_FORK;
    case ASSAY_SAMPLE_EXIT:
        return AS_TAG_EXIT;
    case ASSAY_SAMPLE_LOST:
        return AS_TAG_LOST;
    case ASSAY_SAMPLE_SWITCH:
        return !record->out        ? AS_TAG_SWITCH_IN
               : record->preempted ? AS_TAG_PREEMPT
                                   : AS_TAG_SWITCH_OUT;
    default:
        return record->out ? AS_TAG_THROTTLE : AS_TAG_UNTHROTTLE;
    }
}

int as_writer_event(struct as_writer *writer, const struct assay_sample_record *record)
{
    uint32_t thread, parent = 0;
    unsigned tag = tag_of(record);
    AS_TRY(thread_of(writer, record->pid, record->tid, &thread));
    if (tag == AS_TAG_FORK)
        AS_TRY(thread_of(writer, record->parent_pid, record->parent_tid, &parent));
    room(writer, 64 + TEXT_MOST);
    const size_t before = writer->n;
    put_u8(writer, tag);
    put_time(writer, record->time_ns);
    put_u(writer, thread);
    put_u(writer, record->cpu);
    if (record->kind == ASSAY_SAMPLE_SWITCH)
        writer->switch_b += writer->n - before;
    else if (tag == AS_TAG_COMM || tag == AS_TAG_EXEC)
        put_text(writer, record->text);
    else if (tag == AS_TAG_FORK)
        put_u(writer, parent);
    else if (tag == AS_TAG_LOST)
        put_u(writer, record->lost);
    return result(writer);
}

int as_writer_end(struct as_writer *writer, const struct assay_sample_counts *counts,
                  uint64_t dropped)
{
    static const struct assay_sample_counts none;
    if (!counts)
        counts = &none;
    room(writer, 96);
    put_u8(writer, AS_TAG_END);
    put_u(writer, counts->records);
    put_u(writer, counts->samples);
    put_u(writer, counts->lost);
    put_u(writer, counts->throttled);
    put_u(writer, counts->damaged);
    put_u(writer, counts->late);
    put_u(writer, dropped);
    put_u(writer, counts->lost_other);
    return result(writer);
}
