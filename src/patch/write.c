/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the plan as the bytes of its file: the head, then the tables.
 */
#include "patch/internal.h"

#include <string.h>

#include "base/outfile.h"

struct lay {
    uint64_t size_b;
    uint8_t *bytes; /* NULL: only computes the size */
};

static struct as_patch_table lay_table(struct lay *lay, const void *at, size_t n, size_t each_b)
{
    const struct as_patch_table table = {lay->size_b, n};
    if (lay->bytes && n)
        memcpy(lay->bytes + lay->size_b, at, n * each_b);
    lay->size_b += (n * each_b + 7) & ~(uint64_t)7;
    return table;
}
#define LAY(lay, vec) lay_table((lay), (vec)->at, (vec)->n, sizeof *(vec)->at)

static void lay_plan(struct as_patch_maker *m, struct lay *lay, struct as_patch_plan *head)
{
    *head = (struct as_patch_plan){.magic = AS_PATCH_MAGIC,
                                   .version = AS_PATCH_VERSION,
                                   .mode = (uint32_t)m->wish.mode,
                                   .period = m->wish.period,
                                   .kept = m->wish.kept,
                                   .paths_b = m->wish.paths_b,
                                   .addresses_b = m->wish.addresses_b};
    lay->size_b = sizeof *head;
    head->module = LAY(lay, &m->module);
    head->region = LAY(lay, &m->region);
    head->loop = LAY(lay, &m->loop);
    head->exit = LAY(lay, &m->exit);
    head->edge = LAY(lay, &m->edge);
    head->event = LAY(lay, &m->event);
    head->site = LAY(lay, &m->site);
    head->reloc = LAY(lay, &m->reloc);
    head->span = LAY(lay, &m->span);
    head->counter = LAY(lay, &m->counter);
    head->term = LAY(lay, &m->term);
    head->variant = LAY(lay, &m->variant);
    head->stream = LAY(lay, &m->stream);
    if (m->wish.points) {
        const struct as_patch_points *points = m->wish.points;
        head->point = lay_table(lay, points->point, points->point_n, sizeof *points->point);
        head->act = lay_table(lay, points->act, points->act_n, sizeof *points->act);
        head->called = lay_table(lay, points->called, points->called_n, sizeof *points->called);
    }
    head->code = LAY(lay, &m->code);
    head->text = LAY(lay, &m->text);
    head->size_b = lay->size_b;
}

int as_patch_maker_bytes(struct as_patch_maker *maker, uint8_t **bytes, size_t *n,
                         struct as_error *err)
{
    struct lay lay = {0};
    struct as_patch_plan head;
    lay_plan(maker, &lay, &head);
    lay.bytes = as_calloc(1, lay.size_b);
    if (!lay.bytes)
        return as_error_nomem(err, "the plan");
    lay_plan(maker, &lay, &head);
    memcpy(lay.bytes, &head, sizeof head);
    *bytes = lay.bytes;
    *n = lay.size_b;
    return 0;
}

int as_patch_maker_write(struct as_patch_maker *maker, const char *path, struct as_error *err)
{
    uint8_t *bytes;
    size_t n;
    AS_TRY(as_patch_maker_bytes(maker, &bytes, &n, err));
    const int rc = as_outfile_write(path, AS_OUTFILE_REPLACE | AS_OUTFILE_PRIVATE, bytes, n, err);
    as_free(bytes);
    return rc;
}
