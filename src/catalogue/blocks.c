/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds rows of many blocks at once. Most sampled blocks of a run become rows together. If none of
 * them can exist yet, no lookup of existing rows and no index of their keys is needed.
 */
#include "base/alloc.h"
#include "catalogue/rows.h"

static int last_block(struct as_experiment *experiment, int64_t *id, struct as_error *err)
{
    struct as_rows *rows;
    *id = 0;
    AS_TRY(as_rows_open(experiment, "SELECT max(block_id) FROM block", &rows, err));
    const int rc = as_rows_next(rows, err);
    if (rc == 1)
        *id = as_rows_integer(rows, 0);
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

static bool is_among(const struct as_new_blocks *known, int64_t module_id)
{
    as_vec_foreach (&known->module, it)
        if (*it == module_id)
            return true;
    return false;
}

/*
 * Sets `is_new` to true if no block of the module without an id here can be in the experiment. This
 * file must have written all rows of the block table. The catalogue must know all ids of the
 * module. Two entries can share one module of the experiment. A reloaded entry has lost its ids.
 */
static int is_all_new(struct as_catalogue_entry *entry, bool *is_new, struct as_error *err)
{
    struct as_new_blocks *known = &entry->catalogue->new_blocks;
    int64_t last, module_id;
    if (known->rollbacks != entry->rows.rollbacks) {
        known->module.n = 0;
        known->n = 0;
        known->rollbacks = entry->rows.rollbacks;
    }
    AS_TRY(last_block(entry->catalogue->experiment, &last, err));
    AS_TRY(as_catalogue_row(&entry->module, &module_id, err));
    *is_new = last == known->n && (entry->rows.has_new_blocks || !is_among(known, module_id));
    if (!*is_new || entry->rows.has_new_blocks)
        return 0;
    entry->rows.has_new_blocks = true;
    return as_vec_push(&known->module, module_id) < 0 ? as_error_nomem(err, entry->module.path) : 0;
}

static int write_new(struct as_catalogue_entry *entry, const uint32_t *block, size_t n,
                     struct as_row_block *row, struct as_error *err)
{
    int64_t *last = &entry->catalogue->new_blocks.n;
    const int64_t before = *last;
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        if (entry->rows.block[block[i]])
            continue;
        rc = as_rows_block(entry, block[i], &row[*last - before], err);
        entry->rows.block[block[i]] = ++*last;
    }
    if (rc == 0)
        rc = as_experiment_add_new_blocks(entry->catalogue->experiment, row,
                                          (size_t)(*last - before), before + 1, err);
    for (size_t i = 0; i < n && rc < 0; i++)
        if (entry->rows.block[block[i]] > before)
            entry->rows.block[block[i]] = 0;
    *last = rc < 0 ? before : *last;
    return rc;
}

int as_catalogue_rows_blocks(struct as_catalogue_module *module, const uint32_t *block, size_t n,
                             struct as_error *err)
{
    struct as_catalogue_entry *entry = as_entry_of(module);
    bool is_new;
    int64_t id;
    if (!module->program || n == 0)
        return 0;
    AS_TRY(as_rows_ready(entry, err));
    AS_TRY(is_all_new(entry, &is_new, err));
    if (is_new) {
        struct as_row_block *row = as_malloc(n * sizeof *row);
        const int rc =
            row ? write_new(entry, block, n, row, err) : as_error_nomem(err, module->path);
        as_free(row);
        return rc;
    }
    for (size_t i = 0; i < n; i++)
        AS_TRY(as_catalogue_row_block(module, block[i], &id, err));
    return 0;
}
