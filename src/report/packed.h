/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compresses bytes (zlib format, RFC 1950) and writes them as base64 (RFC 4648) in a stream: the
 * format of report data in a page.
 */
#ifndef AS_REPORT_PACKED_H
#define AS_REPORT_PACKED_H

#include <zlib.h>

#include "base/out.h"

struct as_packed {
    z_stream z;
    struct as_out *to;
    unsigned char rest[2]; /* bytes that do not fill a base64 group yet */
    size_t rest_n;
};

/* Begins to write to `to`, borrowed. Returns 0 or AS_ERR_NOMEM. Always call as_packed_fini. */
int as_packed_init(struct as_packed *packed, struct as_out *to);
/* Callback for as_out_init_call; `context` is the packer. Returns 0 or errno. */
int as_packed_write(void *context, const char *p, size_t n);
/* Writes the remaining bytes. Returns 0 or errno. */
int as_packed_end(struct as_packed *packed);
void as_packed_fini(struct as_packed *packed);

#endif
