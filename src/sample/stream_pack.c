/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packing of the blocks of a stream: one zstd stream over all of them, flushed behind each, so that
 * a block is found again in those before it, and each can be unpacked as soon as it is whole.
 * Zstandard: RFC 8878.
 */
#include <assert.h>
#include <zstd.h>

#include "base/alloc.h"
#include "sample/recorder.h"

/* Ranks that wait for each other switch 100,000 times a second. Level 3 takes twice the time for
 * their records, four times for stacks, and gains 3 to 10 %. */
#define LEVEL 1
/* What was said a megabyte ago is forgotten: so much memory takes a reader. */
#define WINDOW_LOG 20

_Static_assert(AS_PACKED_B >= ZSTD_COMPRESSBOUND(AS_BLOCK_B) + 64,
               "any block fits when it is packed");

/* ---- Packing ------------------------------------------------------------------------------ */

struct as_packer {
    ZSTD_CCtx *context;
};

int as_packer_new(struct as_packer **out)
{
    struct as_packer *p = as_calloc(1, sizeof *p);
    *out = p;
    if (!p)
        return ASSAY_ERR_NOMEM;
    p->context = ZSTD_createCCtx();
    if (!p->context ||
        ZSTD_isError(ZSTD_CCtx_setParameter(p->context, ZSTD_c_compressionLevel, LEVEL)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(p->context, ZSTD_c_windowLog, WINDOW_LOG))) {
        as_packer_free(out);
        return ASSAY_ERR_NOMEM;
    }
    return 0;
}

void as_packer_free(struct as_packer **packer)
{
    if (*packer)
        ZSTD_freeCCtx((*packer)->context);
    as_free(*packer);
    *packer = NULL;
}

size_t as_pack(struct as_packer *packer, const uint8_t *bytes, size_t n, uint8_t *to)
{
    ZSTD_inBuffer in = {bytes, n, 0};
    ZSTD_outBuffer out = {to, AS_PACKED_B, 0};
    assert(n <= AS_BLOCK_B);
    /* 0: nothing is left inside. It can fail for want of memory only, at the first block. */
    return ZSTD_compressStream2(packer->context, &out, &in, ZSTD_e_flush) == 0 ? out.pos : 0;
}

/* ---- Unpacking ---------------------------------------------------------------------------- */

struct as_unpacker {
    ZSTD_DCtx *context;
};

int as_unpacker_new(struct as_unpacker **out)
{
    struct as_unpacker *u = as_calloc(1, sizeof *u);
    *out = u;
    if (!u)
        return ASSAY_ERR_NOMEM;
    u->context = ZSTD_createDCtx();
    if (!u->context ||
        ZSTD_isError(ZSTD_DCtx_setParameter(u->context, ZSTD_d_windowLogMax, WINDOW_LOG))) {
        as_unpacker_free(out);
        return ASSAY_ERR_NOMEM;
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
