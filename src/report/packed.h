/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes compressed (zlib format, RFC 1950) and written as base64 (RFC 4648), streamed: how the data
 * of a report stands in its page.
 */
#ifndef AS_REPORT_PACKED_H
#define AS_REPORT_PACKED_H

#include <zlib.h>

#include "base/out.h"

struct as_packed {
    z_stream z;
    struct as_out *to;
    unsigned char rest[2]; /* bytes that do not fill a group of base64 yet */
    size_t rest_n;
};

/* Begins to pack into `to`, borrowed. 0 or ASSAY_ERR_NOMEM; ends with as_packed_fini in any case.
 */
int as_packed_init(struct as_packed *packed, struct as_out *to);
/* For as_out_init_call; `context` is the packer. 0 or an errno. */
int as_packed_write(void *context, const char *p, size_t n);
/* Writes what is left. 0 or an errno. */
int as_packed_end(struct as_packed *packed);
void as_packed_fini(struct as_packed *packed);

#endif
