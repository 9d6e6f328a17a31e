/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/lane.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "exchange/scratch.h"

#define KEPT_B ((size_t)64 << 20)
#define PART_B ((size_t)256 << 10) /* bytes per read of the file, which fit the cache */

int as_lane_init(struct as_lane *p)
{
    *p = (struct as_lane){.fd = -1, .room = KEPT_B};
    p->bytes = as_malloc_large(KEPT_B, 1);
    return p->bytes ? 0 : AS_ERR_NOMEM;
}

void as_lane_fini(struct as_lane *p)
{
    if (p->bytes && p->fd >= 0)
        close(p->fd);
    as_free(p->bytes);
    as_free(p->other);
    *p = (struct as_lane){.fd = -1};
}

static void swap_bytes(struct as_lane *p)
{
    uint8_t *bytes = p->bytes;
    const size_t n = p->n;
    p->bytes = p->other;
    p->n = p->other_n;
    p->other = bytes;
    p->other_n = n;
}

/* Keeps the first full buffer in memory, and writes every later one to the file. */
int as_lane_spill(struct as_lane *p, struct as_error *err)
{
    if (!p->other) {
        p->other = as_malloc(PART_B + AS_LANE_MOST_B);
        if (!p->other)
            return as_error_nomem(err, "records to be written");
        swap_bytes(p);
        p->room = PART_B;
        return as_scratch_open(&p->fd, err);
    }
    AS_TRY(as_scratch_write(p->fd, p->bytes, p->n, &p->end, err));
    p->n = 0;
    return 0;
}

int as_lane_begin(struct as_lane *p, struct as_error *err)
{
    if (p->fd < 0)
        return 0;
    AS_TRY(as_lane_spill(p, err));
    swap_bytes(p);
    return 0;
}

/* Moves an incomplete record to the front and reads the rest behind it. */
int as_lane_fill(struct as_lane *p, struct as_error *err)
{
    const size_t left = p->n - p->at;
    const off_t rest = p->end - p->next;
    const size_t n = rest < (off_t)PART_B ? (size_t)rest : PART_B;
    memmove(p->other ? p->other : p->bytes, p->bytes + p->at, left);
    if (p->other) { /* all bytes in memory are read */
        swap_bytes(p);
        as_free(p->other);
        p->other = NULL;
    }
    AS_TRY(as_scratch_read(p->fd, p->bytes + left, n, p->next, err));
    p->next += (off_t)n;
    p->at = 0;
    p->n = left + n;
    return 0;
}
