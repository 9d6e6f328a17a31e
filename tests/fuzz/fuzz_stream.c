/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: a stream of samples. Bytes that begin with its magic are the file as it is; any other
 * are blocks of at most 16 KiB, each behind its length in two bytes, around which the entry puts
 * the head, the checksums and the packing that no mutation would find. What is handed out must keep
 * the promises of <assay/sample.h>.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <assay/sample.h>

#include "sample/recorder.h"
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

/* At most 17 bytes for each block of 2 and more. */
static uint8_t *wrap(const uint8_t *bytes, size_t size_b, size_t *out_b)
{
    const uint32_t version = 1 + (uint32_t)(size_b % AS_STREAM_VERSION); /* all are still read */
    uint8_t *out = calloc(1, HEAD_B + 10 * size_b + 8);
    size_t at = 0, n = HEAD_B;
    FUZZ_CHECK(out);
    memcpy(out, AS_STREAM_MAGIC, 8);
    memcpy(out + 8, &version, sizeof version);
    while (size_b - at >= 2) {
        size_t block_b = (size_t)bytes[at] | (size_t)bytes[at + 1] << 8;
        at += 2;
        block_b = block_b > BLOCK_B ? BLOCK_B : block_b;
        block_b = block_b > size_b - at ? size_b - at : block_b;
        n += put_block(out + n, bytes + at, block_b, version);
        at += block_b;
    }
    *out_b = n;
    return out;
}

static void look(const struct assay_stream *stream, const struct assay_stream_record *record)
{
    size_t threads, modules, nodes;
    const struct assay_stream_node *node = assay_stream_nodes(stream, &nodes);
    assay_stream_threads(stream, &threads);
    assay_stream_modules(stream, &modules);
    FUZZ_CHECK(record->kind <= ASSAY_STREAM_PROCESS);
    if (record->kind == ASSAY_STREAM_INFO) {
        fuzz_touch_string(record->text);
        fuzz_touch_string(record->value);
        return;
    }
    FUZZ_CHECK(record->thread < threads);
    if (record->kind == ASSAY_STREAM_FORK)
        FUZZ_CHECK(record->parent < threads);
    if (record->kind == ASSAY_STREAM_MAP)
        FUZZ_CHECK(record->module < modules);
    if (record->kind == ASSAY_STREAM_SAMPLE) {
        FUZZ_CHECK(record->node < nodes);
        for (uint32_t at = record->node, steps = 0; at; at = node[at].parent, steps++)
            FUZZ_CHECK(node[at].parent < at && steps < nodes);
    }
    fuzz_touch_string(record->text);
    fuzz_touch_string(record->value);
}

static void look_tables(const struct assay_stream *stream)
{
    size_t n, modules;
    const struct assay_stream_module *module = assay_stream_modules(stream, &modules);
    for (size_t i = 0; i < modules; i++) {
        FUZZ_CHECK(module[i].kind <= ASSAY_MODULE_UNKNOWN);
        FUZZ_CHECK(module[i].file.build_id_b <= sizeof module[i].file.build_id);
        FUZZ_CHECK(module[i].path);
        fuzz_touch_string(module[i].path);
        fuzz_touch_string(module[i].kept);
    }
    const struct assay_stream_node *node = assay_stream_nodes(stream, &n);
    for (size_t i = 1; i < n; i++)
        FUZZ_CHECK(node[i].module < modules && node[i].parent < i);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    const bool as_is = size_b >= 8 && memcmp(bytes, AS_STREAM_MAGIC, 8) == 0;
    struct assay_stream *stream;
    struct assay_stream_record record;
    struct assay_error err = {0};
    uint8_t *file = as_is ? NULL : wrap(bytes, size_b, &size_b);
    int rc = assay_stream_open(scratch_write("main.samples", as_is ? bytes : file, size_b), &stream,
                               &err);
    free(file);
    if (rc < 0) {
        fuzz_check_error(rc, &err);
        return 0;
    }
    while ((rc = assay_stream_next(stream, &record, &err)) == 1)
        look(stream, &record);
    FUZZ_CHECK(rc == 0);
    FUZZ_CHECK(assay_stream_next(stream, &record, &err) == 0); /* stays at its end */
    look_tables(stream);
    uint64_t dropped;
    fuzz_touch(assay_stream_counts(stream, &dropped), sizeof(struct assay_sample_counts));
    assay_stream_close(&stream);
    return 0;
}
