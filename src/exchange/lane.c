/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/lane.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "exchange/scratch.h"

#define READ_B ((size_t)256 << 10) /* at once: what is used next is in the cache */

int as_lane_init(struct as_lane *p)
{
    *p = (struct as_lane){.fd = -1};
    p->bytes = as_malloc_large(AS_LANE_ROOM_B, 1);
    return p->bytes ? 0 : ASSAY_ERR_NOMEM;
}

void as_lane_fini(struct as_lane *p)
{
    if (p->bytes && p->fd >= 0)
        close(p->fd);
    as_free(p->bytes);
    *p = (struct as_lane){.fd = -1};
}

int as_lane_spill(struct as_lane *p, struct assay_error *err)
{
    if (p->fd < 0)
        AS_TRY(as_scratch_open(&p->fd, err));
    AS_TRY(as_scratch_write(p->fd, p->bytes, p->n, &p->end, err));
    p->n = 0;
    return 0;
}

int as_lane_begin(struct as_lane *p, struct assay_error *err)
{
    return p->fd < 0 ? 0 : as_lane_spill(p, err);
}

/* What is left of a record goes to the front, and the rest of it comes behind. */
int as_lane_fill(struct as_lane *p, struct assay_error *err)
{
    const size_t left = p->n - p->at;
    const off_t rest = p->end - p->next;
    const size_t n = rest < (off_t)READ_B ? (size_t)rest : READ_B;
    memmove(p->bytes, p->bytes + p->at, left);
    AS_TRY(as_scratch_read(p->fd, p->bytes + left, n, p->next, err));
    p->next += (off_t)n;
    p->at = 0;
    p->n = left + n;
    return 0;
}
