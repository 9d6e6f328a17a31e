/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes compressed with gzip (RFC 1952) into a sink. No name and no time: equal in, equal out. */
#ifndef AS_REPORT_GZIP_H
#define AS_REPORT_GZIP_H

#include <stddef.h>

#include <zlib.h>

#include <assay/error.h>

#include "base/out.h"

struct as_gzip {
    z_stream z;
    struct as_out *out; /* borrowed */
    unsigned char block[16384];
};

/* Errors: NOMEM. After success end it with as_gzip_end, also to give up. */
int as_gzip_begin(struct as_gzip *gzip, struct as_out *out, struct assay_error *err);
void as_gzip_write(struct as_gzip *gzip, const void *p, size_t n);
void as_gzip_end(struct as_gzip *gzip);

#endif
