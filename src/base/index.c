/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growth and insertion of the hash index; the lookup is inline in the header.
 */
#include "base/index.h"

#include "base/alloc.h"

#include "base/error.h"

void as_index_fini(struct as_index *index)
{
    as_free(index->slot);
    *index = (struct as_index){0};
}

static void insert_index_slot(struct as_index *index, size_t at, struct as_index_slot slot)
{
    while (index->slot[at].row != AS_INDEX_NONE)
        at = (at + 1) & (index->slot_n - 1);
    index->slot[at] = slot;
}

static int grow_index(struct as_index *index)
{
    struct as_index grown = {.slot_n = index->slot_n ? 2 * index->slot_n : 64, .n = index->n};
    grown.slot = as_malloc_large(grown.slot_n, sizeof *grown.slot);
    if (!grown.slot)
        return AS_ERR_NOMEM;
    for (size_t i = 0; i < grown.slot_n; i++)
        grown.slot[i] = (struct as_index_slot){.row = AS_INDEX_NONE};
    for (size_t i = 0; i < index->slot_n; i++)
        if (index->slot[i].row != AS_INDEX_NONE)
            insert_index_slot(&grown, index->slot[i].hash & (grown.slot_n - 1), index->slot[i]);
    as_free(index->slot);
    *index = grown;
    return 0;
}

int as_index_add(struct as_index *index, uint64_t hash, uint32_t row)
{
    if (3 * (index->n + 1) > 2 * index->slot_n && grow_index(index) < 0)
        return AS_ERR_NOMEM;
    struct as_probe probe = as_index_probe(index, hash);
    insert_index_slot(index, probe.at, (struct as_index_slot){.hash = probe.hash, .row = row});
    index->n++;
    return 0;
}
