/* SPDX-License-Identifier: Apache-2.0 */
/* Compression and base64 in one pass over blocks. A failure of the sink is returned when it is
 * flushed. */
#include "report/packed.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/error.h"

#define BLOCK_B 16384

static void *packed_memory(void *context, unsigned count, unsigned size_b)
{
    (void)context;
    return as_calloc(count, size_b);
}

static void free_packer_memory(void *context, void *p)
{
    (void)context;
    as_free(p);
}

int as_packed_init(struct as_packed *packed, struct as_out *to)
{
    *packed =
        (struct as_packed){.z = {.zalloc = packed_memory, .zfree = free_packer_memory}, .to = to};
    return deflateInit(&packed->z, Z_DEFAULT_COMPRESSION) == Z_OK ? 0 : AS_ERR_NOMEM;
}

void as_packed_fini(struct as_packed *packed)
{
    deflateEnd(&packed->z);
}

static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Encodes three bytes as four characters. */
static void encode_base64_group(char *to, const unsigned char from[3])
{
    to[0] = digit[from[0] >> 2];
    to[1] = digit[(from[0] & 3) << 4 | from[1] >> 4];
    to[2] = digit[(from[1] & 15) << 2 | from[2] >> 6];
    to[3] = digit[from[2] & 63];
}

/* Encodes complete groups of the remaining bytes and `p`. Other bytes remain for the next call. */
static void encode(struct as_packed *packed, const unsigned char *p, size_t n)
{
    char text[4 * 256];
    size_t at = 0;
    unsigned char group[3];

    for (size_t i = 0; i < n; i++) {
        if (packed->rest_n < 2) {
            packed->rest[packed->rest_n++] = p[i];
            continue;
        }
        group[0] = packed->rest[0];
        group[1] = packed->rest[1];
        group[2] = p[i];
        packed->rest_n = 0;
        encode_base64_group(text + at, group);
        at += 4;
        if (at == sizeof text) {
            as_out_write(packed->to, text, at);
            at = 0;
        }
    }
    as_out_write(packed->to, text, at);
}

static int deflate_some(struct as_packed *packed, int flush)
{
    unsigned char block[BLOCK_B];

    do {
        packed->z.next_out = block;
        packed->z.avail_out = sizeof block;
        if (deflate(&packed->z, flush) == Z_STREAM_ERROR)
            return EINVAL;
        encode(packed, block, sizeof block - packed->z.avail_out);
    } while (packed->z.avail_out == 0);
    return packed->to->failed;
}

int as_packed_write(void *context, const char *p, size_t n)
{
    struct as_packed *packed = context;

    packed->z.next_in = (Bytef *)p;
    packed->z.avail_in = (uInt)n;
    return n ? deflate_some(packed, Z_NO_FLUSH) : 0;
}

int as_packed_end(struct as_packed *packed)
{
    const int failed = deflate_some(packed, Z_FINISH);
    unsigned char group[3] = {0};
    char text[4];

    if (packed->rest_n) {
        group[0] = packed->rest[0];
        group[1] = packed->rest_n > 1 ? packed->rest[1] : 0;
        encode_base64_group(text, group);
        text[3] = '=';
        if (packed->rest_n == 1)
            text[2] = '=';
        as_out_write(packed->to, text, sizeof text);
    }
    return failed;
}
