/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compressed records of perf.data files (`perf record -z`): one zstd stream over the whole file,
 * divided into records at any byte. Each record gives a block of complete records. An incomplete
 * record at the end of a block is moved to the next block.
 */
#include <assert.h>
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "sample/perf_data.h"

/* Max block size; 64 KiB of input never give more. */
#define BLOCK_MOST_B (64u << 20)

struct as_perf_zstd {
    ZSTD_DCtx *context;
    AS_VEC(uint8_t) left;
};

void as_perf_zstd_free(struct as_perf_zstd **zstd)
{
    if (!*zstd)
        return;
    ZSTD_freeDCtx((*zstd)->context);
    as_vec_fini(&(*zstd)->left);
    as_free(*zstd);
    *zstd = NULL;
}

static int begin(struct as_perf_data *data)
{
    if (data->zstd)
        return 0;
    data->zstd = as_calloc(1, sizeof *data->zstd);
    if (!data->zstd)
        return AS_ERR_NOMEM;
    data->zstd->context = ZSTD_createDCtx();
    if (data->zstd->context)
        return 0;
    as_perf_zstd_free(&data->zstd);
    return AS_ERR_NOMEM;
}

/* Stores a block in a free or new slot and sets `*out`. Returns 0 or NOMEM. */
static int store_perf_block(struct as_perf_data *data, struct as_perf_block block, uint32_t *out)
{
    for (uint32_t i = 0; i < data->block.n; i++) {
        if (!data->block.at[i].bytes) {
            data->block.at[i] = block;
            *out = i;
            return 0;
        }
    }
    *out = (uint32_t)data->block.n;
    return as_vec_push(&data->block, block);
}

static int unpack(struct as_perf_zstd *zstd, const uint8_t *bytes, size_t n,
                  struct as_perf_block *block)
{
    AS_VEC(uint8_t) to = {0};
    ZSTD_inBuffer in = {bytes, n, 0};
    size_t step_b = ZSTD_DStreamOutSize();
    int rc = as_vec_reserve(&to, zstd->left.n + step_b);
    if (to.at && zstd->left.n)
        memcpy(to.at, zstd->left.at, zstd->left.n);
    to.n = zstd->left.n;
    zstd->left.n = 0;
    for (bool full = true; rc == 0 && (in.pos < in.size || full);) {
        rc = as_vec_reserve(&to, to.n + step_b);
        if (rc < 0)
            break;
        ZSTD_outBuffer out = {to.at + to.n, to.cap - to.n, 0};
        if (ZSTD_isError(ZSTD_decompressStream(zstd->context, &out, &in)) ||
            to.n + out.pos > BLOCK_MOST_B)
            rc = AS_ERR_CORRUPT;
        full = out.pos == out.size;
        to.n += out.pos;
    }
    if (rc < 0) {
        as_vec_fini(&to);
        return rc;
    }
    *block = (struct as_perf_block){.bytes = to.at, .size_b = to.n};
    return 0;
}

int as_perf_decompress(struct as_perf_data *data, const uint8_t *bytes, size_t n, uint32_t *out)
{
    struct as_perf_block block;
    AS_TRY(begin(data));
    AS_TRY(unpack(data->zstd, bytes, n, &block));
    data->blocks_b += block.size_b;
    int rc = store_perf_block(data, block, out);
    if (rc < 0)
        as_free(block.bytes);
    return rc;
}

int as_perf_left_over(struct as_perf_data *data, uint32_t block, size_t from)
{
    const struct as_perf_block *b = &data->block.at[block];
    size_t n = b->size_b - from;
    if (n == 0)
        return 0;
    AS_TRY(as_vec_reserve(&data->zstd->left, n));
    assert(data->zstd->left.at);
    memcpy(data->zstd->left.at, b->bytes + from, n);
    data->zstd->left.n = n;
    return 0;
}
