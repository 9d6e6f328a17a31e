/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delivers the records of perf.data files in time order. The file has the order in which perf
 * emptied the kernel buffers. A mark ends each round over all buffers. No record behind a mark is
 * earlier than the records before the preceding mark. So two rounds wait in memory, with 32 bytes
 * per record. Source: as perf_header.c, "Ordering".
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sample/perf_data.h"
#include "sample/sampler.h"

/* Max number of waiting records, for damaged files without marks. Later ones are counted as
 * late. */
#define WAITING_MOST (1u << 21)
/* Max bytes of decompressed blocks with waiting records. */
#define BLOCKS_MOST_B (512u << 20)

/* ---- Single records ------------------------------------------------------------------------ */

const uint8_t *as_perf_record_at(struct as_perf_data *data, uint64_t at,
                                 struct perf_event_header *header)
{
    uint64_t left = at < data->data_to ? data->data_to - at : 0;
    if (left == 0)
        return NULL;
    if (left >= sizeof *header)
        memcpy(header, data->bytes + at, sizeof *header);
    if (left >= sizeof *header && header->size >= sizeof *header && header->size <= left)
        return data->bytes + at;
    if (left < sizeof *header || header->size > left)
        as_perf_damaged(data, "%s: the last record is truncated", data->path);
    else
        as_perf_damaged(data,
                        "%s: the record at offset %" PRIu64 " has a size of %u: what follows "
                        "cannot be read",
                        data->path, at, header->size);
    return NULL;
}

uint64_t as_perf_extra_b(const struct perf_event_header *header, const uint8_t *bytes)
{
    struct as_read r = as_read_of(bytes + sizeof *header, header->size - sizeof *header);
    if (header->type == AS_PERF_AUXTRACE)
        return as_read_u64(&r);
    if (header->type == AS_PERF_TRACING_DATA)
        return ((uint64_t)as_read_u32(&r) + 7) & ~(uint64_t)7;
    return 0;
}

/* Returns the event id of a record, or 0 if it has none. */
static uint64_t id_of(const struct perf_event_attr *attr, const struct perf_event_header *header,
                      const uint8_t *bytes)
{
    uint64_t id = 0, type = attr->sample_type;
    size_t at;
    if (header->type == PERF_RECORD_SAMPLE) {
        /* The id is the first word, or is behind those of four fields that are present. */
        const uint64_t before =
            PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
        at = sizeof *header;
        if (!(type & PERF_SAMPLE_IDENTIFIER))
            at += 8u * (size_t)__builtin_popcountll(type & before);
    } else {
        /* The fields counted from the end: identifier, CPU, stream, id. */
        const uint64_t behind = PERF_SAMPLE_CPU | PERF_SAMPLE_STREAM_ID;
        size_t back = 8;
        if (!(type & PERF_SAMPLE_IDENTIFIER))
            back += 8u * (size_t)__builtin_popcountll(type & behind);
        if (!attr->sample_id_all || header->size < sizeof *header + back)
            return 0;
        at = header->size - back;
    }
    if ((type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)) && at + sizeof id <= header->size)
        memcpy(&id, bytes + at, sizeof id);
    return id;
}

uint32_t as_perf_event_of(const struct as_perf_data *data, const struct perf_event_header *header,
                          const uint8_t *bytes)
{
    if (data->attr.n == 1)
        return 0;
    uint64_t id = id_of(&data->attr.at[0], header, bytes);
    uint32_t event = as_map_u64_get(&data->by_id, id);
    /* Records made by perf have no id and the format of the first event. */
    return event == AS_MAP_NONE && (id == 0 || header->type != PERF_RECORD_SAMPLE) ? 0 : event;
}

/* ---- Handing out --------------------------------------------------------------------------- */

static void add_build_id(const struct as_perf_data *data, struct as_sample_record *map)
{
    if (map->build_id_b || data->build_id.n == 0)
        return;
    uint32_t i = as_map_view_get(&data->by_path, as_view_of(map->text));
    if (i == AS_MAP_NONE)
        return;
    memcpy(map->build_id, data->build_id.at[i].id, sizeof map->build_id);
    map->build_id_b = data->build_id.at[i].size_b;
    map->build_id_by_path = true;
}

/* Counts a sample. Returns true if its event measures time. */
static bool count_perf_sample(struct as_perf_data *data, uint32_t event,
                              const struct as_sample_record *record)
{
    data->event.at[event].samples++;
    if (!data->event.at[event].is_time)
        return false;
    if (record->pid == 0 && record->tid == 0) {
        data->facts.idle++;
        return false;
    }
    if (!data->facts.first_ns)
        data->facts.first_ns = record->time_ns;
    if (record->time_ns > data->facts.last_ns)
        data->facts.last_ns = record->time_ns;
    return true;
}

/* Returns true if the values could have been measured. */
static bool is_plausible(const struct as_sample_record *record)
{
    return record->time_ns <= AS_TIME_MOST_NS && record->period <= AS_PERIOD_MOST &&
           record->lost <= AS_PERIOD_MOST;
}

static int hand_out(struct as_perf_data *data, const uint8_t *bytes, struct as_error *err)
{
    struct perf_event_header header;
    struct as_sample_record record;
    uint64_t regs[AS_SAMPLE_REGS_N];
    uint64_t aligned[UINT16_MAX / 8 + 1];
    bool damaged = true;
    memcpy(&header, bytes, sizeof header);
    if ((uintptr_t)bytes % 8) { /* unaligned behind compressed records */
        memcpy(aligned, bytes, header.size);
        bytes = (const uint8_t *)aligned;
    }
    data->counts.records++;
    uint32_t event = as_perf_event_of(data, &header, bytes);
    bool good = event != AS_MAP_NONE &&
                as_record_parse(&data->attr.at[event], bytes, &record, regs, &damaged);
    if (good && !is_plausible(&record)) {
        good = false;
        damaged = true;
    }
    if (!good) {
        data->counts.damaged += damaged;
        if (damaged)
            as_perf_damaged(data, "%s: records of kind %u are damaged", data->path, header.type);
        return 0;
    }
    bool timed = record.time_ns != 0;
    if (!timed)
        record.time_ns = data->handed_ns ? data->handed_ns : data->facts.first_ns;
    if (record.kind == AS_SAMPLE_MAP)
        add_build_id(data, &record);
    if (record.kind == AS_SAMPLE_SAMPLE && !count_perf_sample(data, event, &record))
        return 0;
    if (record.kind == AS_SAMPLE_THROTTLE && !data->event.at[event].is_time)
        return 0;
    data->counts.samples += record.kind == AS_SAMPLE_SAMPLE;
    /* Limited like the counts of the stream. */
    const uint64_t room = AS_PERIOD_MOST - data->counts.lost;
    data->counts.lost += record.lost < room ? record.lost : room;
    data->counts.throttled += record.kind == AS_SAMPLE_THROTTLE && record.out;
    data->counts.late += timed && record.time_ns < data->handed_ns;
    if (timed && record.time_ns > data->handed_ns)
        data->handed_ns = record.time_ns;
    return data->sink(data->context, &record, err);
}

/* ---- Order --------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct as_perf_waiting *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static void release_data(struct as_perf_data *data, uint32_t block)
{
    if (block == AS_MAP_NONE || --data->block.at[block].waiting)
        return;
    as_free(data->block.at[block].bytes);
    data->blocks_b -= data->block.at[block].size_b;
    data->block.at[block] = (struct as_perf_block){0};
}

/* Delivers records up to `until_ns`, at most `most` of them. */
static int flush(struct as_perf_data *data, uint64_t until_ns, size_t most, struct as_error *err)
{
    size_t n = 0;
    int rc = 0;
    if (data->waiting.n == 0)
        return 0;
    qsort(data->waiting.at, data->waiting.n, sizeof *data->waiting.at, by_time);
    for (; rc == 0 && n < most && n < data->waiting.n; n++) {
        struct as_perf_waiting next = data->waiting.at[n];
        if (next.time_ns > until_ns)
            break;
        rc = hand_out(data, next.bytes, err);
        release_data(data, next.block);
    }
    data->waiting.n -= n;
    if (data->waiting.n)
        memmove(data->waiting.at, data->waiting.at + n, data->waiting.n * sizeof *data->waiting.at);
    return rc;
}

static int queue_kernel_record(struct as_perf_data *data, const struct perf_event_header *header,
                               const uint8_t *bytes, uint32_t block, struct as_error *err)
{
    uint32_t event = as_perf_event_of(data, header, bytes);
    uint64_t time_ns = event == AS_MAP_NONE ? 0 : as_record_time(&data->attr.at[event], bytes);
    /* perf made these records at the beginning. Invalid times must not order other records. */
    if (time_ns == 0 || time_ns > AS_TIME_MOST_NS)
        return hand_out(data, bytes, err);
    const struct as_perf_waiting one = {time_ns, data->number++, bytes, block};
    if (as_vec_push(&data->waiting, one) < 0)
        return as_error_nomem(err, data->path);
    if (block != AS_MAP_NONE)
        data->block.at[block].waiting++;
    if (time_ns > data->round_most_ns)
        data->round_most_ns = time_ns;
    if (data->waiting.n >= WAITING_MOST || data->blocks_b > BLOCKS_MOST_B)
        return flush(data, UINT64_MAX, data->waiting.n / 2, err);
    return 0;
}

static int end_round(struct as_perf_data *data, struct as_error *err)
{
    int rc = flush(data, data->round_ns, SIZE_MAX, err);
    data->round_ns = data->round_most_ns;
    return rc;
}

/* ---- Reading ------------------------------------------------------------------------------- */

static int dispatch_perf_record(struct as_perf_data *data, const struct perf_event_header *header,
                                const uint8_t *bytes, uint32_t block, struct as_error *err)
{
    if (header->type < AS_PERF_HEADER_ATTR)
        return queue_kernel_record(data, header, bytes, block, err);
    if (header->type == AS_PERF_FINISHED_ROUND)
        return end_round(data, err);
    return as_perf_own_record(data, header, bytes) < 0 ? as_error_nomem(err, data->path) : 0;
}

/* Reads the records in a compressed record. Sets `*more` to false if nothing after it can be
 * read. */
static int read_compressed_records(struct as_perf_data *data,
                                   const struct perf_event_header *header, const uint8_t *bytes,
                                   bool *more, struct as_error *err)
{
    struct as_read r = as_read_of(bytes + sizeof *header, header->size - sizeof *header);
    uint64_t n = as_read_left(&r);
    uint32_t block;
    if (header->type == AS_PERF_COMPRESSED2)
        n = as_read_u64(&r);
    const uint8_t *packed = as_read_bytes(&r, n);
    data->facts.compressed = true;
    int rc = packed ? as_perf_decompress(data, packed, (size_t)n, &block) : AS_ERR_CORRUPT;
    if (rc == AS_ERR_NOMEM)
        return as_error_nomem(err, data->path);
    if (rc < 0) {
        as_perf_damaged(data,
                        "%s: the compressed data at offset %" PRIu64 " are damaged: what "
                        "follows cannot be read",
                        data->path, data->at);
        *more = false;
        return 0;
    }
    /* Keeps the block during this loop. */
    data->block.at[block].waiting++;
    size_t at = 0, size_b = data->block.at[block].size_b;
    rc = 0;
    while (rc == 0 && size_b - at >= sizeof *header) {
        struct perf_event_header inner;
        const uint8_t *inner_bytes = data->block.at[block].bytes + at;
        memcpy(&inner, inner_bytes, sizeof inner);
        if (inner.size < sizeof inner) {
            as_perf_damaged(data,
                            "%s: a compressed record has a size of %u: what follows cannot "
                            "be read",
                            data->path, inner.size);
            *more = false;
            break;
        }
        if (inner.size > size_b - at)
            break;
        rc = dispatch_perf_record(data, &inner, inner_bytes, block, err);
        at += inner.size;
    }
    if (rc == 0 && *more && as_perf_left_over(data, block, at) < 0)
        rc = as_error_nomem(err, data->path);
    release_data(data, block);
    return rc;
}

int as_perf_data_read(struct as_perf_data *data, as_sample_sink *sink, void *context,
                      struct as_error *err)
{
    struct perf_event_header header;
    const uint8_t *bytes;
    bool more = true;
    int rc = 0;
    data->sink = sink;
    data->context = context;
    data->at = data->data_from;
    while (rc == 0 && more && (bytes = as_perf_record_at(data, data->at, &header)) != NULL) {
        uint64_t extra_b = as_perf_extra_b(&header, bytes);
        if (header.type == AS_PERF_COMPRESSED || header.type == AS_PERF_COMPRESSED2)
            rc = read_compressed_records(data, &header, bytes, &more, err);
        else
            rc = dispatch_perf_record(data, &header, bytes, AS_MAP_NONE, err);
        data->at += header.size;
        if (extra_b > data->data_to - data->at) {
            as_perf_damaged(data, "%s: truncated at its end", data->path);
            break;
        }
        data->at += extra_b;
    }
    return rc < 0 ? rc : flush(data, UINT64_MAX, SIZE_MAX, err);
}

void as_perf_reset(struct as_perf_data *data)
{
    as_vec_foreach (&data->block, block)
        as_free(block->bytes);
    data->block.n = 0;
    data->waiting.n = 0;
    as_perf_zstd_free(&data->zstd);
    data->at = data->number = data->blocks_b = 0;
    data->round_ns = data->round_most_ns = data->handed_ns = 0;
    data->counts = (struct as_sample_counts){0};
    data->facts.idle = 0;
    as_vec_foreach (&data->event, event)
        event->samples = 0;
}
