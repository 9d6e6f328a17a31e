/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of the sample stream: reads versions 1 to 3 from beginning to end, later ones by blocks
 * (stream_round.c). A stream may be truncated anywhere (its writer was killed, the disk was full)
 * or damaged. The reader reports both.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/io_full.h"
#include "base/untrusted_open.h"
#include "sample/stream_state.h"

static int check_head(struct as_stream *s, const char *path, struct as_error *err)
{
    uint8_t head[16];
    uint32_t version;
    size_t n = as_whole_read(s->fd, head, sizeof head);
    if (n != sizeof head || memcmp(head, AS_STREAM_MAGIC, 8) != 0)
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: not a sample stream: it does not begin with %s; use the file of "
                            "a run",
                            path, AS_STREAM_MAGIC);
    memcpy(&version, head + 8, sizeof version);
    if (version == 0 || version > AS_STREAM_VERSION)
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "%s: stream of version %u, supported up to %u; use the assay that "
                            "wrote it",
                            path, version, AS_STREAM_VERSION);
    s->version = version;
    int rc = 0;
    if (version >= AS_STREAM_BLOCKS)
        rc = as_container_open(&s->file, s->fd);
    else if (version >= AS_STREAM_PACKED)
        rc = !(s->packed = as_malloc(AS_PACKED_B)) ? AS_ERR_NOMEM : as_unpacker_new(&s->unpacker);
    return rc < 0 ? as_error_nomem(err, path) : 0;
}

int as_stream_open(const char *path, struct as_stream **out, struct as_error *err)
{
    struct as_stream_node none = {0};
    struct as_stream *s = as_calloc(1, sizeof *s);
    int rc = 0;
    *out = NULL;
    if (!s)
        return as_error_nomem(err, path);
    as_arena_init(&s->text);
    s->at = &s->own;
    s->to_ns = UINT64_MAX;
    s->block = as_malloc(AS_BLOCK_B);
    s->fd = as_foreign_open(AT_FDCWD, path, AS_FOREIGN_NO_LINK, NULL);
    if (s->fd < 0) {
        rc = as_foreign_fail(path, "the stream of a run", errno, err);
    } else if (!s->block || as_vec_push(&s->node, none) < 0 ||
               as_vec_push(&s->place, (struct as_frame){0}) < 0) {
        rc = as_error_nomem(err, path);
    } else {
        rc = check_head(s, path, err);
    }
    if (rc < 0)
        as_stream_close(&s);
    *out = s;
    return rc;
}

void as_stream_close(struct as_stream **stream)
{
    struct as_stream *s = *stream;
    if (!s)
        return;
    if (s->fd >= 0)
        close(s->fd);
    as_arena_fini(&s->text);
    as_vec_fini(&s->module);
    as_vec_fini(&s->thread);
    as_vec_fini(&s->sampled_ns);
    as_vec_fini(&s->node);
    as_vec_fini(&s->place);
    as_rounds_end(s);
    as_container_close(&s->file);
    as_vec_fini(&s->wanted);
    as_vec_fini(&s->is_wanted);
    as_unpacker_free(&s->unpacker);
    as_free(s->packed);
    as_free(s->block);
    as_free(s);
    *stream = NULL;
}

/* ---- Values ------------------------------------------------------------------------------- */

static int64_t read_zigzag(struct as_read *r)
{
    uint64_t v = as_read_uleb(r);
    return (int64_t)(v >> 1 ^ -(v & 1));
}

static void read_stream_text(struct as_read *r, char *to)
{
    uint64_t n = as_read_uleb(r);
    const uint8_t *p = as_read_bytes(r, n);
    to[0] = 0;
    if (!p || n > 4096) {
        as_read_fail(r);
        return;
    }
    memcpy(to, p, (size_t)n);
    to[n] = 0;
}

/* Reads an index below `n`. */
static uint32_t read_table_index(struct as_read *r, size_t n)
{
    uint64_t v = as_read_uleb(r);
    if (v >= n)
        as_read_fail(r);
    return r->bad ? 0 : (uint32_t)v;
}

static void read_time_delta(struct as_stream *s)
{
    s->at->last_ns += (uint64_t)read_zigzag(&s->at->r);
    if (s->at->last_ns > AS_TIME_MOST_NS)
        as_read_fail(&s->at->r);
}

/* ---- Definitions -------------------------------------------------------------------------- */

/* Reads the identity of a file. Version 1 has only the fields of the mapping. */
static void read_file_identity(struct as_stream *s, struct as_file_identity *file)
{
    file->known = file->inode ? AS_FILE_INODE : AS_FILE_UNSEEN;
    if (s->version == 1)
        return;
    file->known = as_read_u8(&s->at->r);
    file->size_b = as_read_uleb(&s->at->r);
    file->mtime_ns = read_zigzag(&s->at->r);
    if (file->known > AS_FILE_SEEN)
        as_read_fail(&s->at->r);
}

static int read_stream_module(struct as_stream *s)
{
    struct as_stream_module module = {0};
    struct as_file_identity *file = &module.file;
    module.kind = as_read_u8(&s->at->r);
    read_stream_text(&s->at->r, s->name);
    module.device = as_read_uleb(&s->at->r);
    file->inode = as_read_uleb(&s->at->r);
    file->build_id_b = as_read_u8(&s->at->r);
    const uint8_t *id = as_read_bytes(&s->at->r, file->build_id_b);
    read_stream_text(&s->at->r, s->value);
    read_file_identity(s, file);
    if (file->build_id_b > sizeof file->build_id || module.kind > AS_MODULE_PYTHON)
        as_read_fail(&s->at->r);
    if (s->at->r.bad)
        return 0;
    memcpy(file->build_id, id, file->build_id_b);
    module.path = as_arena_strndup(&s->text, s->name, strlen(s->name));
    if (s->value[0])
        module.kept = as_arena_strndup(&s->text, s->value, strlen(s->value));
    if (!module.path || (s->value[0] && !module.kept))
        return AS_ERR_NOMEM;
    return as_vec_push(&s->module, module);
}

static int read_kept_copy(struct as_stream *s)
{
    const uint32_t index = read_table_index(&s->at->r, s->module.n);
    read_stream_text(&s->at->r, s->value);
    if (s->at->r.bad)
        return 0;
    const char *kept = as_arena_strndup(&s->text, s->value, strlen(s->value));
    s->module.at[index].kept = kept;
    return kept ? 0 : AS_ERR_NOMEM;
}

static int read_stream_thread(struct as_stream *s)
{
    struct as_stream_thread thread;
    thread.pid = (uint32_t)as_read_uleb(&s->at->r);
    thread.tid = (uint32_t)as_read_uleb(&s->at->r);
    if (s->at->r.bad)
        return 0;
    AS_TRY(as_vec_push(&s->sampled_ns, s->at->last_ns));
    return as_vec_push(&s->thread, thread);
}

/* Reads the address of a node. Since version 3 a known address is given by its number. */
static int read_node_place(struct as_stream *s, struct as_frame *out)
{
    const uint32_t known =
        s->version < AS_STREAM_PACKED ? 0 : read_table_index(&s->at->r, s->place.n);
    *out = s->place.at[known];
    if (known)
        return 0;
    out->module = read_table_index(&s->at->r, s->module.n);
    s->last_address += (uint64_t)read_zigzag(&s->at->r);
    out->address = s->last_address;
    return s->at->r.bad || s->version < AS_STREAM_PACKED ? 0 : as_vec_push(&s->place, *out);
}

static int read_stream_node(struct as_stream *s)
{
    struct as_frame place;
    size_t index = s->node.n - s->node_base;
    uint64_t up = as_read_uleb(&s->at->r);
    AS_TRY(read_node_place(s, &place));
    struct as_stream_node node = {.module = place.module, .address = place.address};
    if (up == 0 || up > index)
        as_read_fail(&s->at->r);
    if (s->at->r.bad)
        return 0;
    node.parent = up == index ? 0 : (uint32_t)(s->node.n - up);
    return as_vec_push(&s->node, node);
}

/* Rejects counts that cannot be true. */
static void check_counts(struct as_stream *s)
{
    const uint64_t count[] = {s->counts.records,    s->counts.samples,   s->counts.lost,
                              s->counts.lost_other, s->counts.throttled, s->counts.damaged,
                              s->counts.late,       s->dropped};
    for (size_t i = 0; i < sizeof count / sizeof *count; i++)
        if (count[i] > AS_PERIOD_MOST)
            as_read_fail(&s->at->r);
    if (s->at->r.bad) {
        s->counts = (struct as_sample_counts){0};
        s->dropped = 0;
    }
}

/* Reads a definition or another record that is not delivered. Returns false for delivered
 * records. */
bool as_stream_definition(struct as_stream *s, uint8_t tag, int *rc)
{
    switch (tag) {
    case AS_TAG_MODULE:
        *rc = read_stream_module(s);
        return true;
    case AS_TAG_KEPT:
        *rc = read_kept_copy(s);
        return true;
    case AS_TAG_THREAD:
        *rc = read_stream_thread(s);
        return true;
    case AS_TAG_NODE:
        *rc = read_stream_node(s);
        return true;
    case AS_TAG_RESET:
        s->node_base = s->version < AS_STREAM_BLOCKS ? (uint32_t)s->node.n - 1 : 0;
        s->place.n = 1;
        s->at->last_node = 0;
        return true;
    case AS_TAG_END:
        s->counts.records = as_read_uleb(&s->at->r);
        s->counts.samples = as_read_uleb(&s->at->r);
        s->counts.lost = as_read_uleb(&s->at->r);
        s->counts.throttled = as_read_uleb(&s->at->r);
        s->counts.damaged = as_read_uleb(&s->at->r);
        s->counts.late = as_read_uleb(&s->at->r);
        s->dropped = as_read_uleb(&s->at->r);
        if (as_read_left(&s->at->r) > 0) /* missing in the first streams */
            s->counts.lost_other = as_read_uleb(&s->at->r);
        check_counts(s);
        s->ended = !s->at->r.bad;
        return true;
    default:
        return false;
    }
}

/* ---- Records ------------------------------------------------------------------------------ */

/* Reads the thread of a record that is not a sample. A chunk has records of one thread only. */
static uint32_t read_record_thread(struct as_stream *s)
{
    if (s->version < AS_STREAM_BLOCKS)
        return read_table_index(&s->at->r, s->thread.n);
    if (s->at->last_thread >= s->thread.n)
        as_read_fail(&s->at->r);
    return s->at->r.bad ? 0 : s->at->last_thread;
}

/* Reads the time of a sample behind its other fields. It is stored as the difference from one
 * period after the last sample. */
static void read_sample_time(struct as_stream *s, bool waits)
{
    uint64_t *before =
        s->version < AS_STREAM_BLOCKS ? &s->sampled_ns.at[s->at->last_thread] : &s->at->sampled_ns;
    if (waits) {
        read_time_delta(s);
        return;
    }
    s->at->last_ns = *before + s->at->last_period;
    read_time_delta(s);
    *before = s->at->last_ns;
}

static void read_stream_sample(struct as_stream *s, uint8_t tag, struct as_stream_record *out)
{
    if (s->version < AS_STREAM_PACKED)
        read_time_delta(s);
    if (!(tag & AS_SAME_THREAD) && s->version < AS_STREAM_BLOCKS)
        s->at->last_thread = read_table_index(&s->at->r, s->thread.n);
    if (!(tag & AS_SAME_CPU))
        s->at->last_cpu = (uint32_t)as_read_uleb(&s->at->r);
    if (!(tag & AS_SAME_PERIOD))
        s->at->last_period = as_read_uleb(&s->at->r);
    const uint64_t node =
        /* A negative value becomes too large. */
        s->at->last_node + (uint64_t)read_zigzag(&s->at->r);
    out->kind = AS_STREAM_SAMPLE;
    out->end = tag >> AS_STACK_END_SHIFT & 3;
    out->waits = tag & AS_WAITS;
    if (node >= s->node.n - s->node_base || s->at->last_thread >= s->thread.n ||
        s->at->last_period > AS_PERIOD_MOST)
        as_read_fail(&s->at->r);
    if (!s->at->r.bad && s->version >= AS_STREAM_PACKED)
        read_sample_time(s, out->waits);
    if (s->at->r.bad)
        return;
    s->at->last_node = (uint32_t)node;
    out->thread = s->at->last_thread;
    out->cpu = s->at->last_cpu;
    out->period = s->at->last_period;
    out->node = node ? s->node_base + (uint32_t)node : 0;
}

static void read_stream_map(struct as_stream *s, struct as_stream_record *out)
{
    read_time_delta(s);
    out->kind = AS_STREAM_MAP;
    out->thread = read_record_thread(s);
    out->address = as_read_uleb(&s->at->r);
    out->size_b = as_read_uleb(&s->at->r);
    out->offset = as_read_uleb(&s->at->r);
    out->module = read_table_index(&s->at->r, s->module.n);
}

static void read_stream_event(struct as_stream *s, uint8_t tag, struct as_stream_record *out)
{
    static const uint8_t kind[] = {
        [AS_TAG_COMM] = AS_STREAM_COMM,         [AS_TAG_EXEC] = AS_STREAM_COMM,
        [AS_TAG_FORK] = AS_STREAM_FORK,         [AS_TAG_EXIT] = AS_STREAM_EXIT,
        [AS_TAG_LOST] = AS_STREAM_LOST,         [AS_TAG_SWITCH_IN] = AS_STREAM_SWITCH,
        [AS_TAG_SWITCH_OUT] = AS_STREAM_SWITCH, [AS_TAG_PREEMPT] = AS_STREAM_SWITCH,
        [AS_TAG_THROTTLE] = AS_STREAM_THROTTLE, [AS_TAG_UNTHROTTLE] = AS_STREAM_THROTTLE,
    };
    out->kind = kind[tag];
    out->out = tag == AS_TAG_EXEC || tag == AS_TAG_SWITCH_OUT || tag == AS_TAG_PREEMPT ||
               tag == AS_TAG_THROTTLE;
    out->preempted = tag == AS_TAG_PREEMPT;
    read_time_delta(s);
    out->thread = read_record_thread(s);
    out->cpu = (uint32_t)as_read_uleb(&s->at->r);
    if (tag == AS_TAG_FORK)
        out->parent = read_table_index(&s->at->r, s->thread.n);
    else if (tag == AS_TAG_LOST) {
        out->lost = as_read_uleb(&s->at->r);
        if (out->lost > AS_PERIOD_MOST)
            as_read_fail(&s->at->r);
    } else if (tag == AS_TAG_COMM || tag == AS_TAG_EXEC) {
        read_stream_text(&s->at->r, s->name);
        out->text = s->name;
    }
}

bool as_stream_read_record(struct as_stream *s, uint8_t tag, struct as_stream_record *out)
{
    *out = (struct as_stream_record){0};
    if (tag & AS_TAG_SAMPLE) {
        read_stream_sample(s, tag, out);
    } else if (tag == AS_TAG_INFO) {
        out->kind = AS_STREAM_INFO;
        read_stream_text(&s->at->r, s->name);
        read_stream_text(&s->at->r, s->value);
        out->text = s->name;
        out->value = s->value;
    } else if (tag == AS_TAG_PROCESS) {
        out->kind = AS_STREAM_PROCESS;
        read_time_delta(s);
        out->thread = read_record_thread(s);
        read_stream_text(&s->at->r, s->name);
        read_stream_text(&s->at->r, s->value);
        out->text = s->name;
        out->value = s->value;
    } else if (tag == AS_TAG_MAP) {
        read_stream_map(s, out);
    } else if (tag >= AS_TAG_COMM && tag <= AS_TAG_UNTHROTTLE) {
        read_stream_event(s, tag, out);
    } else {
        as_read_fail(&s->at->r);
    }
    out->time_ns = s->at->last_ns;
    return !s->at->r.bad;
}

static bool next_block(struct as_stream *s)
{
    uint32_t head[2] = {0};
    size_t n = as_whole_read(s->fd, head, sizeof head);
    const bool packed = s->unpacker && !(head[0] & AS_BLOCK_PLAIN);
    uint8_t *to = packed ? s->packed : s->block;
    if (s->unpacker)
        head[0] &= ~AS_BLOCK_PLAIN;
    s->over = true;
    if (n != sizeof head || head[0] > (packed ? AS_PACKED_B : AS_BLOCK_B))
        return false;
    if (as_whole_read(s->fd, to, head[0]) != head[0] ||
        crc32(crc32(0, NULL, 0), to, head[0]) != head[1])
        return false;
    n = head[0];
    if (packed && !as_unpack(s->unpacker, to, n, s->block, &n)) {
        s->damaged = true;
        return false;
    }
    s->at->r = as_read_of(s->block, n);
    s->over = false;
    return true;
}

/* Reads the next record of versions 1 to 3. */
static int next_record(struct as_stream *s, struct as_stream_record *out)
{
    for (;;) {
        int rc = 0;
        if (s->over || (as_read_left(&s->at->r) == 0 && !next_block(s)))
            return 0;
        const uint8_t tag = as_read_u8(&s->at->r);
        const bool is_record =
            !as_stream_definition(s, tag, &rc) && as_stream_read_record(s, tag, out);
        if (rc < 0)
            return rc;
        if (s->at->r.bad) { /* the checksum is right: another version wrote it */
            s->over = s->damaged = true;
            return 0;
        }
        if (is_record)
            return 1;
    }
}

int as_stream_next(struct as_stream *stream, struct as_stream_record *out, struct as_error *err)
{
    for (;;) {
        const int rc = stream->version < AS_STREAM_BLOCKS ? next_record(stream, out)
                                                          : as_rounds_next(stream, out);
        if (rc < 0)
            return as_error_nomem(err, "a stream of samples");
        if (rc == 0 || !stream->is_chosen || as_stream_chosen(stream, out))
            return rc;
    }
}

bool as_stream_truncated(const struct as_stream *s)
{
    if (s->version < AS_STREAM_BLOCKS)
        return !s->ended || s->damaged;
    return !s->ended || !s->file.indexed;
}

struct as_stream_reading as_stream_reading(const struct as_stream *s)
{
    return (struct as_stream_reading){.blocks = s->file.block.n,
                                      .loaded = s->file.loaded_n,
                                      .loaded_b = s->file.loaded_b,
                                      .damaged = s->file.damaged_n,
                                      .indexed = s->file.indexed};
}

const struct as_stream_module *as_stream_modules(const struct as_stream *stream, size_t *n)
{
    *n = stream->module.n;
    return stream->module.at;
}

const struct as_stream_thread *as_stream_threads(const struct as_stream *stream, size_t *n)
{
    *n = stream->thread.n;
    return stream->thread.at;
}

const struct as_stream_node *as_stream_nodes(const struct as_stream *stream, size_t *n)
{
    *n = stream->node.n;
    return stream->node.at;
}

const struct as_sample_counts *as_stream_counts(const struct as_stream *stream, uint64_t *dropped)
{
    *dropped = stream->dropped;
    return &stream->counts;
}
