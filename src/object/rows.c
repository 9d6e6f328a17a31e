/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes the unwind rows of a function at its first lookup. The index has the FDEs of .eh_frame,
 * and those of .debug_frame for other code. Decoding runs under a lock. Decoded rows are published
 * with release order and are read without the lock.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"
#include "object/cfi.h"
#include "object/dwarf_side.h"
#include "object/order.h"

/* The decoded rows of one FDE. They are in the arena and do not change after publication. */
struct row_block {
    uint32_t n;
    struct as_unwind_row row[];
};

struct row_entry {
    uint64_t start, end;
    struct as_frame_place place;
    _Atomic(struct row_block *) block; /* NULL: not yet decoded */
};

struct as_unwind_rows {
    struct as_arena arena;      /* blocks; guarded by `lock` */
    struct as_cfi_rows scratch; /* guarded by `lock` */
    struct row_entry *entry;    /* by start; the entries' ranges never change */
    size_t n;
};

/* One lock for all objects, because it is locked only to decode a function for the first time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void as_unwind_rows_free(struct as_unwind_rows **rows)
{
    if (!*rows)
        return;
    as_arena_fini(&(*rows)->arena);
    as_vec_fini(&(*rows)->scratch.row);
    as_vec_fini(&(*rows)->scratch.rule);
    as_free((*rows)->entry);
    as_free(*rows);
    *rows = NULL;
}

/* ---- Index of FDEs ------------------------------------------------------------------------ */

static int scan_debug_frame(struct as_object *object, struct as_frame_list *list)
{
    struct as_frame_table table = {.object = object, .debug = true};
    table.at = as_dwarf_frames(object->dwarf, &table.size_b);
    if (!table.at)
        return 0;
    uint32_t index = object->frame_table_n; /* at most AS_FRAME_TABLES: one entry is free */
    object->frame_table[index] = table;
    return as_frame_scan(&table, index, false, list);
}

/* Returns true if an FDE of .eh_frame covers `start`. */
static bool covered(const struct as_object *object, uint64_t start)
{
    size_t low = as_first_not(i, object->unwind_n, object->unwind[i].start <= start);
    assert(low < 2 || object->unwind[low - 2].start <= object->unwind[low - 1].start); /* sorted */
    return low && start < object->unwind[low - 1].end;
}

static void append_row_entry(struct as_unwind_rows *rows, const struct as_unwind_range *range,
                             struct as_frame_place place)
{
    struct row_entry *entry = &rows->entry[rows->n++];
    entry->start = range->start;
    entry->end = range->end;
    entry->place = place;
    atomic_init(&entry->block, NULL);
}

static int by_start(struct as_unwind_rows *rows)
{
    size_t n = rows->n;
    struct as_keyed *keyed = as_malloc(2 * (n + 1) * sizeof *keyed);
    struct row_entry *sorted = as_malloc((n + 1) * sizeof *sorted);
    bool good = keyed && sorted;
    for (size_t i = 0; good && i < n; i++)
        keyed[i] = (struct as_keyed){rows->entry[i].start, (uint32_t)i};
    if (good)
        as_order_by_key(keyed, n);
    for (size_t i = 0; good && i < n; i++)
        memcpy(&sorted[i], &rows->entry[keyed[i].index], sizeof *sorted);
    as_free(keyed);
    as_free(good ? rows->entry : sorted);
    if (good)
        rows->entry = sorted;
    return good ? 0 : AS_ERR_NOMEM;
}

static int make_index(struct as_object *object, struct as_unwind_rows *rows)
{
    struct as_frame_list list = {0};
    int rc = scan_debug_frame(object, &list);
    if (rc == 0) {
        rows->entry = as_malloc((object->unwind_n + list.ranges.n + 1) * sizeof *rows->entry);
        rc = rows->entry ? 0 : AS_ERR_NOMEM;
    }
    for (size_t i = 0; rc == 0 && i < object->unwind_n; i++)
        append_row_entry(rows, &object->unwind[i], object->frame_place[i]);
    size_t before = rows->n;
    for (size_t i = 0; rc == 0 && i < list.ranges.n; i++)
        if (!covered(object, list.ranges.at[i].start))
            append_row_entry(rows, &list.ranges.at[i], list.places.at[i]);
    if (rc == 0 && rows->n > before)
        rc = by_start(rows);
    as_vec_fini(&list.ranges);
    as_vec_fini(&list.places);
    return rc;
}

/* Sets *out to the index of FDEs. The first call builds it. Errors: NOMEM. */
static int get_rows(struct as_object *object, struct as_unwind_rows **out)
{
    *out = __atomic_load_n(&object->rows, __ATOMIC_ACQUIRE);
    if (*out)
        return 0;
    pthread_mutex_lock(&lock);
    int rc = 0;
    if (!object->rows) {
        struct as_unwind_rows *rows = as_calloc(1, sizeof *rows);
        rc = rows ? 0 : AS_ERR_NOMEM;
        if (rows) {
            as_arena_init(&rows->arena);
            rc = make_index(object, rows);
        }
        if (rc == 0)
            __atomic_store_n(&object->rows, rows, __ATOMIC_RELEASE);
        else if (rows)
            as_unwind_rows_free(&rows);
    }
    *out = object->rows;
    pthread_mutex_unlock(&lock);
    return rc;
}

/* ---- Decoding ----------------------------------------------------------------------------- */

static uint32_t size_of_range(uint64_t start, uint64_t end)
{
    return end - start < UINT32_MAX ? (uint32_t)(end - start) : UINT32_MAX;
}

/* Copies the scratch rows to the arena. */
static struct row_block *store_row_block(struct as_unwind_rows *rows,
                                         const struct as_frame_cie *cie,
                                         struct as_frame_place place)
{
    const struct as_cfi_rows *from = &rows->scratch;
    size_t n = from->row.n;
    struct row_block *block = as_arena_alloc(&rows->arena, sizeof *block + n * sizeof block->row[0],
                                             _Alignof(struct row_block));
    struct as_unwind_rule *rule =
        as_arena_array(&rows->arena, struct as_unwind_rule, from->rule.n + 1);
    if (!block || !rule)
        return NULL;
    if (from->rule.n)
        memcpy(rule, from->rule.at, from->rule.n * sizeof *rule);
    block->n = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        const struct as_cfi_row *row = &from->row.at[i];
        block->row[i] = (struct as_unwind_row){
            .start = row->start,
            .rule = rule + row->first_rule,
            .size_b = size_of_range(row->start, row->end),
            .cfa_value = row->cfa_value,
            .cfa_kind = row->cfa_kind,
            .cfa_register = row->cfa_register,
            .rule_n = row->rule_n,
            .signal_frame = cie->signal_frame,
            .table = (uint8_t)(place.table & 0x7f),
        };
    }
    return block;
}

/* Decodes and publishes the rows of one FDE, under the lock. The scan has read the record before,
 * so it is valid. Returns NULL if memory is exhausted. */
static struct row_block *decode(const struct as_object *object, struct as_unwind_rows *rows,
                                const struct row_entry *entry)
{
    const struct as_frame_table *table = &object->frame_table[entry->place.table];
    struct as_read r = as_read_of(table->at, table->size_b), body;
    struct as_frame_cie cie = {0};
    struct as_frame_fde fde;
    uint64_t cie_at;
    as_read_seek(&r, entry->place.record);
    if (as_frame_next(table, &r, &body, &cie_at))
        cie = as_frame_cie_read(table, cie_at);
    rows->scratch.row.n = rows->scratch.rule.n = 0;
    if (as_frame_fde_read(table, &cie, &body, &fde) &&
        as_cfi_rows_of(table, &cie, &fde, &rows->scratch) < 0)
        return NULL;
    return store_row_block(rows, &cie, entry->place);
}

static int block_of(const struct as_object *object, struct as_unwind_rows *rows,
                    struct row_entry *entry, const struct row_block **out)
{
    struct row_block *block = atomic_load_explicit(&entry->block, memory_order_acquire);
    if (!block) {
        pthread_mutex_lock(&lock);
        block = atomic_load_explicit(&entry->block, memory_order_relaxed);
        if (!block) {
            block = decode(object, rows, entry);
            atomic_store_explicit(&entry->block, block, memory_order_release);
        }
        pthread_mutex_unlock(&lock);
    }
    *out = block;
    return block ? 0 : AS_ERR_NOMEM;
}

/* ---- Questions ---------------------------------------------------------------------------- */

static struct row_entry *entry_at(const struct as_unwind_rows *rows, uint64_t address)
{
    size_t low = as_first_not(i, rows->n, rows->entry[i].start <= address);
    assert(low < 2 || rows->entry[low - 2].start <= rows->entry[low - 1].start); /* sorted */
    return low && address < rows->entry[low - 1].end ? &rows->entry[low - 1] : NULL;
}

int as_object_unwind_row(struct as_object *object, uint64_t address,
                         const struct as_unwind_row **row, struct as_error *err)
{
    struct as_unwind_rows *rows;
    const struct row_block *block;
    *row = NULL;
    if (get_rows(object, &rows) < 0)
        return as_error_nomem(err, object->file.path);
    struct row_entry *entry = entry_at(rows, address);
    if (!entry)
        return 0;
    if (block_of(object, rows, entry, &block) < 0)
        return as_error_nomem(err, object->file.path);
    size_t low = as_first_not(i, block->n, block->row[i].start <= address);
    if (low && address - block->row[low - 1].start < block->row[low - 1].size_b)
        *row = &block->row[low - 1];
    return 0;
}

const uint8_t *as_object_unwind_expression(const struct as_object *object,
                                           const struct as_unwind_row *row, int32_t value,
                                           size_t *n)
{
    const struct as_frame_table *table = &object->frame_table[row->table];
    struct as_read r = as_read_of(table->at, table->size_b);
    as_read_seek(&r, (uint32_t)value);
    *n = as_read_uleb(&r);
    return as_read_bytes(&r, *n);
}
