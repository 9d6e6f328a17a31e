/* SPDX-License-Identifier: Apache-2.0 */
/* Adds source files, lines, units, inlined calls and addresses of a module as rows. */
#include "base/str.h"
#include "catalogue/rows.h"

/* ---- Source -------------------------------------------------------------------------------- */

static int add_line(struct as_catalogue_entry *entry, uint32_t file, uint32_t line, int64_t *id,
                    struct as_error *err)
{
    struct as_experiment *experiment = entry->catalogue->experiment;
    int64_t *file_id = &entry->rows.file[file];
    if (!*file_id) {
        const struct as_row_source_file row = {.path = entry->module.debug.file[file]};
        AS_TRY(as_experiment_add_source_file(experiment, &row, file_id, err));
    }
    const struct as_row_line row = {.source_file_id = *file_id, .number = line};
    return as_experiment_add_line(experiment, &row, id, err);
}

int as_catalogue_row_line(struct as_catalogue_module *module, uint32_t file, uint32_t line,
                          int64_t *id, struct as_error *err)
{
    struct as_catalogue_entry *entry = as_entry_of(module);
    const uint64_t key = (uint64_t)file << 32 | line;
    *id = 0;
    if (file >= module->debug.file_n || line == 0)
        return 0;
    AS_TRY(as_rows_ready(entry, err));
    *id = as_id_map_get(&entry->rows.line, key);
    if (*id)
        return 0;
    AS_TRY(add_line(entry, file, line, id, err));
    return as_id_map_put(&entry->rows.line, key, *id) < 0 ? as_error_nomem(err, module->path) : 0;
}

int as_rows_unit(struct as_catalogue_entry *entry, uint32_t unit, int64_t *id, struct as_error *err)
{
    *id = 0;
    if (unit >= entry->module.debug.unit_n)
        return 0;
    if (!entry->rows.unit[unit]) {
        const struct as_unit *from = &entry->module.debug.unit[unit];
        struct as_row_unit row = {.name = from->name ? from->name : "",
                                  .language = from->language,
                                  .compiler = as_compiler_word(from),
                                  .compiler_version = from->compiler_version,
                                  .flags = from->flags};
        AS_TRY(as_catalogue_row(&entry->module, &row.module_id, err));
        AS_TRY(as_experiment_add_unit(entry->catalogue->experiment, &row, &entry->rows.unit[unit],
                                      err));
    }
    *id = entry->rows.unit[unit];
    return 0;
}

/* ---- Locations ----------------------------------------------------------------------------- */

/* Adds the inlined function. It has no code of its own, so its name identifies the row. */
static int add_inlined(struct as_catalogue_entry *entry, const struct as_inline *from, int64_t *id,
                       struct as_error *err)
{
    char readable[4096];
    struct as_row_function row = {
        .name = readable, .linkage_name = from->name, .known_from = "inlined"};
    as_demangle(from->name ? from->name : "[inlined]", readable, sizeof readable);
    AS_TRY(as_catalogue_row(&entry->module, &row.module_id, err));
    AS_TRY(
        as_catalogue_row_line(&entry->module, from->decl_file, from->decl_line, &row.line_id, err));
    return as_experiment_add_function(entry->catalogue->experiment, &row, id, err);
}

int as_catalogue_row_inlining(struct as_catalogue_module *module, uint32_t inlined,
                              int64_t function_id, int64_t *id, struct as_error *err)
{
    struct as_catalogue_entry *entry = as_entry_of(module);
    const struct as_inline *from = as_catalogue_inlined(module, inlined);
    *id = 0;
    if (!from)
        return 0;
    AS_TRY(as_rows_ready(entry, err));
    *id = as_id_map_get(&entry->rows.inlining, inlined);
    if (*id)
        return 0;
    struct as_row_inlining row = {.function_id = function_id};
    AS_TRY(as_catalogue_row_inlining(module, from->parent, function_id, &row.parent_id, err));
    AS_TRY(add_inlined(entry, from, &row.inlined_id, err));
    AS_TRY(as_catalogue_row_line(module, from->call_file, from->call_line, &row.call_line_id, err));
    AS_TRY(as_experiment_add_inlining(entry->catalogue->experiment, &row, id, err));
    return as_id_map_put(&entry->rows.inlining, inlined, *id) < 0
               ? as_error_nomem(err, module->path)
               : 0;
}

int as_catalogue_row_inlined(struct as_catalogue_module *module, uint32_t inlined, int64_t *id,
                             struct as_error *err)
{
    struct as_catalogue_entry *entry = as_entry_of(module);
    const struct as_inline *from = as_catalogue_inlined(module, inlined);
    if (!from)
        return 0;
    AS_TRY(as_rows_ready(entry, err));
    return add_inlined(entry, from, id, err);
}

int as_catalogue_location(struct as_catalogue_module *module, uint64_t address,
                          const struct as_catalogue_place *place, struct as_row_location *row,
                          struct as_error *err)
{
    struct as_catalogue_entry *entry = as_entry_of(module);
    *row = (struct as_row_location){.address = (int64_t)address};
    AS_TRY(as_rows_ready(entry, err));
    AS_TRY(as_catalogue_row(module, &row->module_id, err));
    AS_TRY(as_catalogue_row_function(module, place->function, &row->function_id, err));
    AS_TRY(as_catalogue_row_loop(module, place->loop, &row->loop_id, err));
    AS_TRY(as_catalogue_row_block(module, place->block, &row->block_id, err));
    AS_TRY(as_catalogue_row_line(module, place->file, place->line, &row->line_id, err));
    return as_catalogue_row_inlining(module, place->inlined, row->function_id, &row->inlining_id,
                                     err);
}
