/* SPDX-License-Identifier: Apache-2.0 */
/* The compressor allocates all its memory at the start, so later calls cannot fail. */
#include "report/gzip.h"

#include "base/alloc.h"
#include "base/error.h"

static void *zlib_memory(void *context, unsigned count, unsigned size_b)
{
    (void)context;
    return as_calloc(count, size_b);
}

static void free_gzip_memory(void *context, void *p)
{
    (void)context;
    as_free(p);
}

int as_gzip_begin(struct as_gzip *gzip, struct as_out *out, struct as_error *err)
{
    const int gzip_frame = 16;

    gzip->z = (z_stream){.zalloc = zlib_memory, .zfree = free_gzip_memory};
    gzip->out = out;
    if (deflateInit2(&gzip->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + gzip_frame,
                     MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return as_error_nomem(err, "the compressor");
    return 0;
}

static void squeeze(struct as_gzip *gzip, int flush)
{
    do {
        gzip->z.next_out = gzip->block;
        gzip->z.avail_out = sizeof gzip->block;
        (void)deflate(&gzip->z, flush);
        as_out_write(gzip->out, (const char *)gzip->block, sizeof gzip->block - gzip->z.avail_out);
    } while (gzip->z.avail_out == 0);
}

void as_gzip_write(struct as_gzip *gzip, const void *p, size_t n)
{
    const unsigned char *at = p;

    while (n) {
        const unsigned part = n > 1u << 30 ? 1u << 30 : (unsigned)n;

        gzip->z.next_in = (unsigned char *)(uintptr_t)at;
        gzip->z.avail_in = part;
        squeeze(gzip, Z_NO_FLUSH);
        at += part;
        n -= part;
    }
}

void as_gzip_end(struct as_gzip *gzip)
{
    squeeze(gzip, Z_FINISH);
    deflateEnd(&gzip->z);
}
