/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpacks blocks of streams of version 3: one zstd stream over all blocks, flushed behind each
 * block. So a block can refer to earlier blocks and can be unpacked as soon as it is complete.
 * Zstandard: RFC 8878.
 */
#include <zstd.h>

#include "base/alloc.h"
#include "sample/recorder.h"

/* Window of 1 MiB, which bounds the memory of a reader. */
#define WINDOW_LOG 20

struct as_unpacker {
    ZSTD_DCtx *context;
};

int as_unpacker_new(struct as_unpacker **out)
{
    struct as_unpacker *u = as_calloc(1, sizeof *u);
    *out = u;
    if (!u)
        return AS_ERR_NOMEM;
    u->context = ZSTD_createDCtx();
    if (!u->context ||
        ZSTD_isError(ZSTD_DCtx_setParameter(u->context, ZSTD_d_windowLogMax, WINDOW_LOG))) {
        as_unpacker_free(out);
        return AS_ERR_NOMEM;
    }
    return 0;
}

void as_unpacker_free(struct as_unpacker **unpacker)
{
    if (*unpacker)
        ZSTD_freeDCtx((*unpacker)->context);
    as_free(*unpacker);
    *unpacker = NULL;
}

bool as_unpack(struct as_unpacker *unpacker, const uint8_t *bytes, size_t n, uint8_t *to,
               size_t *to_n)
{
    ZSTD_inBuffer in = {bytes, n, 0};
    ZSTD_outBuffer out = {to, AS_BLOCK_B, 0};
    size_t before;
    do {
        before = in.pos + out.pos;
        if (ZSTD_isError(ZSTD_decompressStream(unpacker->context, &out, &in)))
            return false;
    } while (in.pos + out.pos > before);
    *to_n = out.pos;
    return in.pos == n;
}
