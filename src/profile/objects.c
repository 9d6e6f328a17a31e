/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that the memory operands of loops touch: symbols, stacks, blocks of the heap, mapped
 * files. The registers of a sample give the address of each operand near it. The ranges of its
 * process give the object.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/search.h"
#include "profile/accesses.h"
#include "profile/block_sites.h"

#define TOUCHED_MOST   4096 /* objects of a loop by operand */
#define BLOCK_HEADER_B 16   /* of glibc's malloc, before the data */

/* A file that has data. */
struct data_file {
    const char *path;
    uint32_t module; /* of the tally, or NONE */
    struct as_catalogue_module *open;
};

struct as_objects {
    struct as_attribution *all;
    AS_VEC(struct data_file) file;
    struct as_block_sites *blocks; /* NULL: none was recorded */
};

static int by_process_and_start(const void *a, const void *b)
{
    const struct as_tally_data *x = a, *y = b;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

int as_objects_new(struct as_attribution *all, struct as_objects **out, struct as_error *err)
{
    *out = as_calloc(1, sizeof **out);
    if (!*out)
        return as_error_nomem(err, "the objects of a run");
    (*out)->all = all;
    if (all->tally.data.n)
        qsort(all->tally.data.at, all->tally.data.n, sizeof *all->tally.data.at,
              by_process_and_start);
    return as_block_sites_new(all, &(*out)->blocks, err);
}

void as_objects_free(struct as_objects **objects)
{
    if (!*objects)
        return;
    as_vec_foreach (&(*objects)->file, file)
        as_catalogue_close((*objects)->all->catalogue, &file->open);
    as_vec_fini(&(*objects)->file);
    as_block_sites_free(&(*objects)->blocks);
    as_free(*objects);
    *objects = NULL;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static uint32_t module_of_path(const struct as_attribution *all, const char *path)
{
    for (uint32_t m = 0; m < all->tally.module.n; m++)
        if (all->module[m].id && strcmp(all->tally.module.at[m].path, path) == 0)
            return m;
    return AS_NONE;
}

static int file_of(struct as_objects *o, const char *path, struct data_file *out,
                   struct as_error *err)
{
    as_vec_foreach (&o->file, file) {
        if (strcmp(file->path, path) == 0) {
            *out = *file;
            return 0;
        }
    }
    *out = (struct data_file){.path = path, .module = module_of_path(o->all, path)};
    if (out->module != AS_NONE)
        AS_TRY(as_catalogue_open_row(o->all->catalogue, o->all->module[out->module].id, 1,
                                     AS_CATALOGUE_LISTED, &out->open, err));
    if (as_vec_push(&o->file, *out) == 0)
        return 0;
    as_catalogue_close(o->all->catalogue, &out->open);
    return as_error_nomem(err, path);
}

/* ---- Objects --------------------------------------------------------------------------------- */

static const struct as_tally_data *range_at(const struct as_attribution *all, uint32_t process,
                                            uint64_t address)
{
    const struct as_tally_data *at = all->tally.data.at;
    const size_t n = all->tally.data.n;
    const size_t first = as_first_not(
        i, n, at[i].process < process || (at[i].process == process && at[i].end <= address));
    assert(first + 1 >= n || at[first].process < at[first + 1].process ||
           (at[first].process == at[first + 1].process && at[first].start <= at[first + 1].start));

    return first < n && at[first].process == process && at[first].start <= address ? &at[first]
                                                                                   : NULL;
}

/* A symbol of the file of the range; false: none is known there. */
static int symbol_in(struct as_objects *o, const struct as_tally_data *range, uint64_t address,
                     struct as_row_data_object *row, struct as_object_hit *out,
                     struct as_error *err)
{
    struct data_file file;
    uint64_t linked;

    AS_TRY(file_of(o, range->path, &file, err));
    if (!file.open || !file.open->object ||
        !as_object_address_of(file.open->object, range->offset, &linked))
        return 0;
    linked += address - range->base;
    const uint32_t number = as_object_data_symbol(file.open->object, linked);
    row->module_id = o->all->module[file.module].id;
    if (number == AS_NONE)
        return 0;
    const struct as_symbol *symbol;
    as_object_symbols(file.open->object, &symbol);
    symbol += number;
    row->kind = "symbol";
    row->name = symbol->name;
    row->size_b = as_known((int64_t)symbol->size_b);
    out->start = address - (linked - symbol->address);
    out->end = out->start + symbol->size_b;
    out->data = out->start;
    return 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int object_of_block(struct as_objects *o, const struct as_tally_block *block,
                           struct as_object_hit *out, struct as_error *err)
{
    struct as_row_data_object row;

    *out = (struct as_object_hit){
        .start = block->start, .end = block->end, .data = block->start, .block = block};
    as_block_row(o->blocks, block, &row);
    return as_experiment_add_data_object(o->all->experiment, &row, &out->object_id, err);
}

static int object_at(struct as_objects *o, uint32_t process, uint64_t address,
                     struct as_object_hit *out, struct as_error *err)
{
    const struct as_tally_data *range = range_at(o->all, process, address);
    char name[512];

    *out = (struct as_object_hit){0};
    if (!range)
        return 0;
    out->start = *range->path ? range->base : range->start;
    out->end = range->end;
    if (strcmp(range->kind, "block") == 0)
        out->data = range->start + BLOCK_HEADER_B;
    struct as_row_data_object row = {.kind = range->kind};
    if (strcmp(range->kind, "block") == 0 || strcmp(range->kind, "mapping") == 0)
        row.size_b = as_known((int64_t)(range->end - range->start));
    if (*range->path) {
        row.kind = "file";
        row.name = base_name(range->path);
        AS_TRY(symbol_in(o, range, address, &row, out, err));
    }
    if (row.name && as_demangle(row.name, name, sizeof name) > 0)
        row.name = name;
    return as_experiment_add_data_object(o->all->experiment, &row, &out->object_id, err);
}

/* ---- Loops ----------------------------------------------------------------------------------- */

/* Blocks of different times may have the same addresses. */
static struct as_touched *find_touched(as_touched_list *list, const struct as_sampled_address *one,
                                       const struct as_tally_block *block)
{
    as_vec_foreach (list, it)
        if (it->process == one->process && it->stream == one->stream && it->object.block == block &&
            one->low >= it->object.start && one->low < it->object.end)
            return it;
    return NULL;
}

static int add_address(struct as_objects *o, const struct as_sampled_address *one,
                       as_touched_list *out, struct as_error *err)
{
    const struct as_tally_block *block =
        as_block_at(o->blocks, one->process, one->low, one->time_ns);
    struct as_touched *at = find_touched(out, one, block);

    if (!at) {
        struct as_touched it = {.process = one->process,
                                .stream = one->stream,
                                .low = one->low,
                                .high = one->high,
                                .n = 1,
                                .weight = one->weight};
        if (out->n == TOUCHED_MOST)
            return 0;
        AS_TRY(block ? object_of_block(o, block, &it.object, err)
                     : object_at(o, one->process, one->low, &it.object, err));
        const struct as_tally_data *range = range_at(o->all, one->process, one->low);
        it.object.huge_pct = range ? range->huge_pct : -1;
        if (!it.object.object_id)
            return 0;
        return as_vec_push(out, it) < 0 ? as_error_nomem(err, "the objects of a loop") : 0;
    }
    at->low = one->low < at->low ? one->low : at->low;
    at->high = one->high > at->high ? one->high : at->high;
    at->n++;
    at->weight += one->weight;
    return 0;
}

static int by_object(const void *a, const void *b)
{
    const struct as_touched *x = a, *y = b;

    if (x->object.object_id != y->object.object_id)
        return x->object.object_id < y->object.object_id ? -1 : 1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->object.start > y->object.start) - (x->object.start < y->object.start);
}

/* The object of most addresses of each operand, and the place of one in it. */
static void name_objects(const struct as_operand_loop *loop, const as_touched_list *list)
{
    for (size_t s = 0; s < loop->streams.n; s++) {
        double max_weight = 0;
        loop->offset_b[s] = -1;
        for (size_t i = 0; i < list->n; i++) {
            const struct as_touched *at = &list->at[i];
            if (at->stream != s || at->weight <= max_weight)
                continue;
            max_weight = at->weight;
            loop->object_id[s] = at->object.object_id;
            loop->offset_b[s] = at->object.data && at->low >= at->object.data
                                    ? (int64_t)(at->low - at->object.data)
                                    : -1;
        }
    }
}

int as_objects_touched(struct as_objects *objects, struct as_operand_loop *loop,
                       const as_address_list *address, as_touched_list *out, struct as_error *err)
{
    for (size_t i = 0; i < address->n; i++)
        AS_TRY(add_address(objects, &address->at[i], out, err));
    if (out->n)
        qsort(out->at, out->n, sizeof *out->at, by_object);
    name_objects(loop, out);
    return 0;
}

const struct as_touched *as_touched_sum(const struct as_touched *at, const struct as_touched *end,
                                        struct as_touched_sum *out)
{
    const uint32_t process = at->process;
    const struct as_object_hit *object = NULL;
    uint64_t low = 0, high = 0;

    *out = (struct as_touched_sum){0};
    for (; at < end && at->process == process; at++) {
        if (object && object->start == at->object.start) {
            low = at->low < low ? at->low : low;
            high = at->high > high ? at->high : high;
            continue;
        }
        out->touched_b += (int64_t)(high - low);
        out->object_n++;
        object = &at->object;
        low = at->low;
        high = at->high;
    }
    out->touched_b += (int64_t)(high - low);
    return at;
}
