/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: a stream of samples. Bytes that begin with its magic are the file as it is. Any
 * others are blocks of at most 16 KiB, each behind its length in two bytes. Two bytes 0xff before
 * them select the current version. The entry adds the head, the checksums and the packing, which
 * mutations would not find. The records must keep the promises of sample/sample.h.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "container/pack.h"
#include "sample/recorder.h"
#include "sample/sample.h"
#include "scratch.h"

#define HEAD_B  16u
#define BLOCK_B (16u << 10)

#define PACKING_B 9u

/* A frame of zstd with one block of bytes as they are (RFC 8878): no checksum, window of 128 KiB.
 */
static size_t pack_plainly(uint8_t *to, const uint8_t *bytes, size_t n)
{
    const uint8_t head[PACKING_B] = {0x28,
                                     0xb5,
                                     0x2f,
                                     0xfd,
                                     0,
                                     7 << 3,
                                     (uint8_t)(n << 3 | 1),
                                     (uint8_t)(n >> 5),
                                     (uint8_t)(n >> 13)};
    memcpy(to, head, sizeof head);
    memcpy(to + sizeof head, bytes, n);
    return sizeof head + n;
}

static size_t put_block(uint8_t *to, const uint8_t *bytes, size_t n, uint32_t version)
{
    uint32_t head[2];
    if (version >= AS_STREAM_PACKED)
        n = pack_plainly(to + sizeof head, bytes, n);
    else
        memcpy(to + sizeof head, bytes, n);
    head[0] = (uint32_t)n;
    head[1] = (uint32_t)crc32(crc32(0, NULL, 0), to + sizeof head, (uInt)n);
    memcpy(to, head, sizeof head);
    return sizeof head + n;
}

/* From version 4 on: the first bytes are what the block is and its thread, the last ones 0 or 1. */
static size_t put_container_block(uint8_t *to, const uint8_t *bytes, size_t n, uint32_t number)
{
    struct as_container_block block = {
        .number = number, .records = 1, .first_ns = 1000, .last_ns = UINT64_C(1) << 40};
    if (n < 2)
        return 0;
    block.flags = AS_CONTAINER_PLAIN |
                  (bytes[0] & (AS_CONTAINER_DEFINES | AS_CONTAINER_FACTS | AS_CONTAINER_OPENS));
    block.thread = bytes[1] > 253 ? bytes[1] - 256u : bytes[1];
    block.stored_b = (uint32_t)n - 2;
    memcpy(to + AS_CONTAINER_HEAD_B, bytes + 2, n - 2);
    as_container_head_encode(to, &block, to + AS_CONTAINER_HEAD_B);
    return AS_CONTAINER_HEAD_B + n - 2;
}

/* At most 40 bytes for each block of 2 and more. */
static uint8_t *wrap(const uint8_t *bytes, size_t size_b, size_t *out_b)
{
    const bool is_new = size_b >= 2 && bytes[0] == 0xff && bytes[1] == 0xff;
    const uint32_t version = is_new ? AS_STREAM_VERSION : 1 + (uint32_t)(size_b % 3);
    uint8_t *out = calloc(1, HEAD_B + 24 * size_b + 8);
    size_t at = is_new ? 2 : 0, n = HEAD_B;
    FUZZ_CHECK(out);
    memcpy(out, AS_STREAM_MAGIC, 8);
    memcpy(out + 8, &version, sizeof version);
    for (uint32_t number = 0; size_b - at >= 2; number++) {
        size_t block_b = (size_t)bytes[at] | (size_t)bytes[at + 1] << 8;
        at += 2;
        block_b = block_b > BLOCK_B ? BLOCK_B : block_b;
        block_b = block_b > size_b - at ? size_b - at : block_b;
        n += version < AS_STREAM_BLOCKS ? put_block(out + n, bytes + at, block_b, version)
                                        : put_container_block(out + n, bytes + at, block_b, number);
        at += block_b;
    }
    *out_b = n;
    return out;
}

static void look(const struct as_stream *stream, const struct as_stream_record *record)
{
    size_t threads, modules, nodes;
    const struct as_stream_node *node = as_stream_nodes(stream, &nodes);
    as_stream_threads(stream, &threads);
    as_stream_modules(stream, &modules);
    FUZZ_CHECK(record->kind <= AS_STREAM_PROCESS);
    if (record->kind == AS_STREAM_INFO) {
        fuzz_touch_string(record->text);
        fuzz_touch_string(record->value);
        return;
    }
    FUZZ_CHECK(record->thread < threads);
    if (record->kind == AS_STREAM_FORK)
        FUZZ_CHECK(record->parent < threads);
    if (record->kind == AS_STREAM_MAP)
        FUZZ_CHECK(record->module < modules);
    if (record->kind == AS_STREAM_SAMPLE) {
        FUZZ_CHECK(record->node < nodes);
        for (uint32_t at = record->node, steps = 0; at; at = node[at].parent, steps++)
            FUZZ_CHECK(node[at].parent < at && steps < nodes);
    }
    fuzz_touch_string(record->text);
    fuzz_touch_string(record->value);
}

/* A part holds what was asked for. */
static void look_part(struct as_stream *stream)
{
    const struct as_stream_thread thread = {100, 101};
    const struct as_stream_choice part = {
        .from_ns = 1500, .to_ns = UINT64_C(1) << 39, .thread = &thread, .thread_n = 1};
    struct as_stream_record record;
    struct as_error err = {0};
    size_t n;
    int rc;
    FUZZ_CHECK(as_stream_choose(stream, &part, &err) == 0);
    while ((rc = as_stream_next(stream, &record, &err)) == 1) {
        look(stream, &record);
        if (record.kind == AS_STREAM_INFO)
            continue;
        FUZZ_CHECK(record.time_ns >= part.from_ns && record.time_ns < part.to_ns);
        FUZZ_CHECK(as_stream_threads(stream, &n)[record.thread].tid == thread.tid);
    }
    FUZZ_CHECK(rc == 0);
}

static void look_tables(const struct as_stream *stream)
{
    size_t n, modules;
    const struct as_stream_module *module = as_stream_modules(stream, &modules);
    for (size_t i = 0; i < modules; i++) {
        FUZZ_CHECK(module[i].kind <= AS_MODULE_UNKNOWN);
        FUZZ_CHECK(module[i].file.build_id_b <= sizeof module[i].file.build_id);
        FUZZ_CHECK(module[i].path);
        fuzz_touch_string(module[i].path);
        fuzz_touch_string(module[i].kept);
    }
    const struct as_stream_node *node = as_stream_nodes(stream, &n);
    for (size_t i = 1; i < n; i++)
        FUZZ_CHECK(node[i].module < modules && node[i].parent < i);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    const bool as_is = size_b >= 8 && memcmp(bytes, AS_STREAM_MAGIC, 8) == 0;
    struct as_stream *stream;
    struct as_stream_record record;
    struct as_error err = {0};
    uint8_t *file = as_is ? NULL : wrap(bytes, size_b, &size_b);
    int rc =
        as_stream_open(scratch_write("main.samples", as_is ? bytes : file, size_b), &stream, &err);
    free(file);
    if (rc < 0) {
        fuzz_check_error(rc, &err);
        return 0;
    }
    while ((rc = as_stream_next(stream, &record, &err)) == 1)
        look(stream, &record);
    FUZZ_CHECK(rc == 0);
    look_part(stream);
    FUZZ_CHECK(as_stream_next(stream, &record, &err) == 0); /* stays at its end */
    look_tables(stream);
    uint64_t dropped;
    fuzz_touch(as_stream_counts(stream, &dropped), sizeof(struct as_sample_counts));
    as_stream_close(&stream);
    return 0;
}
