/* SPDX-License-Identifier: Apache-2.0 */
/* Compresses bytes with gzip (RFC 1952) into a sink. The output has no name and no time, so equal
 * input gives equal output. */
#ifndef AS_REPORT_GZIP_H
#define AS_REPORT_GZIP_H

#include <stddef.h>

#include <zlib.h>

#include "base/error.h"
#include "base/out.h"

struct as_gzip {
    z_stream z;
    struct as_out *out; /* borrowed */
    unsigned char block[16384];
};

/* Begins a stream. Errors: NOMEM. After success always call as_gzip_end. */
int as_gzip_begin(struct as_gzip *gzip, struct as_out *out, struct as_error *err);
void as_gzip_write(struct as_gzip *gzip, const void *p, size_t n);
void as_gzip_end(struct as_gzip *gzip);

#endif
