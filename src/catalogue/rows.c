/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds functions, loops, blocks, edges and paths of a module as rows. Each requested row is added
 * once with the rows that it refers to, and its id is cached. The experiment finds rows by natural
 * keys, so a lost id costs time only.
 */
#include "catalogue/rows.h"
#include "base/alloc.h"
#include "base/str.h"

/* ---- Ids ----------------------------------------------------------------------------------- */

static int make_ids(struct as_catalogue_entry *entry)
{
    const struct as_catalogue_module *module = &entry->module;
    const struct as_program *program = module->program;
    struct as_catalogue_rows *rows = &entry->rows;
    const size_t function_n = as_catalogue_function_n(module);
    *rows = (struct as_catalogue_rows){.is_made = true};
    as_id_map_init(&rows->line);
    as_id_map_init(&rows->inlining);
    as_id_map_init(&rows->path);
    as_map_u64_init(&rows->text);
    rows->function = as_calloc(function_n + 1, sizeof *rows->function);
    rows->has_loops = as_calloc(function_n + 1, sizeof *rows->has_loops);
    rows->loop = as_calloc(program ? program->loop_n + 1 : 1, sizeof *rows->loop);
    rows->block = as_calloc(program ? program->block_n + 1 : 1, sizeof *rows->block);
    rows->file = as_calloc(module->debug.file_n + 1, sizeof *rows->file);
    rows->unit = as_calloc(module->debug.unit_n + 1, sizeof *rows->unit);
    return rows->function && rows->has_loops && rows->loop && rows->block && rows->file &&
                   rows->unit
               ? 0
               : AS_ERR_NOMEM;
}

void as_rows_fini(struct as_catalogue_entry *entry)
{
    struct as_catalogue_rows *rows = &entry->rows;
    if (!rows->is_made)
        return;
    as_id_map_fini(&rows->line);
    as_id_map_fini(&rows->inlining);
    as_id_map_fini(&rows->path);
    as_map_u64_fini(&rows->text);
    as_free(rows->function);
    as_free(rows->has_loops);
    as_free(rows->loop);
    as_free(rows->block);
    as_free(rows->edge);
    as_free(rows->file);
    as_free(rows->unit);
    *rows = (struct as_catalogue_rows){0};
}

int as_rows_ready(struct as_catalogue_entry *entry, struct as_error *err)
{
    const int64_t rollbacks = as_experiment_rollbacks(entry->catalogue->experiment);
    if (entry->rows.is_made && entry->rows.rollbacks == rollbacks)
        return 0;
    as_rows_fini(entry);
    if (make_ids(entry) < 0) {
        as_rows_fini(entry);
        return as_error_nomem(err, entry->module.path);
    }
    entry->rows.rollbacks = rollbacks;
    return 0;
}

/* ---- Functions ----------------------------------------------------------------------------- */

static int add_function(struct as_catalogue_entry *entry, uint32_t function, int64_t *id,
                        struct as_error *err)
{
    char readable[4096];
    struct as_row_function row = {.name = "[unknown]"};
    AS_TRY(as_catalogue_row(&entry->module, &row.module_id, err));
    if (function != AS_NONE) {
        struct as_catalogue_function from;
        as_catalogue_function_get(&entry->module, function, &from);
        as_demangle(from.linkage_name, readable, sizeof readable);
        row.name = readable;
        row.linkage_name = from.linkage_name;
        row.address = as_known((int64_t)from.start);
        row.size_b = as_known((int64_t)from.size_b);
        row.known_from = from.known_from;
        AS_TRY(as_catalogue_row_line(&entry->module, from.file, from.line, &row.line_id, err));
        AS_TRY(as_rows_unit(entry, from.unit, &row.unit_id, err));
    }
    return as_experiment_add_function(entry->catalogue->experiment, &row, id, err);
}

int as_catalogue_row_function(struct as_catalogue_module *module, uint32_t function, int64_t *id,
                              struct as_error *err)
{
    struct as_catalogue_entry *entry = as_entry_of(module);
    const uint32_t n = as_catalogue_function_n(module);
    const bool is_known = function < n;
    *id = 0;
    AS_TRY(as_rows_ready(entry, err));
    int64_t *slot = &entry->rows.function[is_known ? function : n];
    if (!*slot)
        AS_TRY(add_function(entry, is_known ? function : AS_NONE, slot, err));
    *id = *slot;
    return 0;
}

/* ---- Loops --------------------------------------------------------------------------------- */

static const char *role_word(unsigned role)
{
    switch (role) {
    case AS_ROLE_PEEL:
    case AS_ROLE_VECTOR_PEEL:
        return "peel";
    case AS_ROLE_TAIL:
    case AS_ROLE_VECTOR_TAIL:
        return "tail";
    case AS_ROLE_VERSION:
        return "version";
    default:
        return "main";
    }
}

static int loop_row(struct as_catalogue_entry *entry, uint32_t index, struct as_row_loop *row,
                    struct as_error *err)
{
    const struct as_program *program = entry->module.program;
    const struct as_loop *loop = &program->loop[index];
    *row = (struct as_row_loop){.address = (int64_t)program->block[loop->header].start,
                                .depth = loop->depth,
                                .is_innermost = loop->level == AS_LEVEL_INNERMOST ||
                                                loop->level == AS_LEVEL_SINGLE,
                                .role = role_word(loop->role),
                                .block_n = as_known(loop->blocks),
                                .instruction_n = as_known(loop->insns)};
    struct as_catalogue_module *module = &entry->module;
    AS_TRY(as_catalogue_row_function(module, loop->body, &row->function_id, err));
    AS_TRY(as_catalogue_row_loop(module, loop->parent, &row->parent_id, err));
    AS_TRY(
        as_catalogue_row_inlining(module, loop->inlined, row->function_id, &row->inlining_id, err));
    if (loop->sources) {
        const struct as_source_range *range = &program->loop_source[loop->source];
        AS_TRY(as_catalogue_row_line(module, range->file, range->first_line, &row->first_line_id,
                                     err));
        AS_TRY(
            as_catalogue_row_line(module, range->file, range->last_line, &row->last_line_id, err));
    }
    return 0;
}

int as_catalogue_row_loop(struct as_catalogue_module *module, uint32_t loop, int64_t *id,
                          struct as_error *err)
{
    struct as_catalogue_entry *entry = as_entry_of(module);
    *id = 0;
    if (!module->program || loop >= module->program->loop_n)
        return 0;
    AS_TRY(as_rows_ready(entry, err));
    if (!entry->rows.loop[loop]) {
        struct as_row_loop row;
        AS_TRY(loop_row(entry, loop, &row, err));
        AS_TRY(as_experiment_add_loop(entry->catalogue->experiment, &row, &entry->rows.loop[loop],
                                      err));
    }
    *id = entry->rows.loop[loop];
    return 0;
}

int as_catalogue_rows_loops(struct as_catalogue_module *module, uint32_t function,
                            struct as_error *err)
{
    struct as_catalogue_entry *entry = as_entry_of(module);
    const struct as_program *program = module->program;
    if (!program || function >= program->body_n)
        return 0;
    AS_TRY(as_rows_ready(entry, err));
    if (entry->rows.has_loops[function])
        return 0;
    const struct as_body *body = &program->body[function];
    const uint32_t end = body->first_loop + body->loops;
    int64_t id;
    for (uint32_t i = body->first_loop; i < end; i++)
        AS_TRY(as_catalogue_row_loop(module, i, &id, err));
    /* All loops have ids now: link each loop to the first loop of the same source loop. */
    for (uint32_t i = body->first_loop; i < end; i++) {
        struct as_row_loop row;
        const uint32_t group = program->loop[i].group;
        if (group == i || group < body->first_loop || group >= end)
            continue;
        AS_TRY(loop_row(entry, i, &row, err));
        row.source_loop_id = entry->rows.loop[group];
        AS_TRY(
            as_experiment_set_loop(entry->catalogue->experiment, entry->rows.loop[i], &row, err));
    }
    entry->rows.has_loops[function] = true;
    return 0;
}

/* ---- Blocks and edges ---------------------------------------------------------------------- */

int as_rows_block(struct as_catalogue_entry *entry, uint32_t block, struct as_row_block *row,
                  struct as_error *err)
{
    struct as_catalogue_module *module = &entry->module;
    const struct as_block *from = &module->program->block[block];
    *row = (struct as_row_block){.address = (int64_t)from->start,
                                 .size_b = from->size_b,
                                 .instruction_n = as_known(from->insns)};
    AS_TRY(as_catalogue_row_function(module, from->body, &row->function_id, err));
    return as_catalogue_row_loop(module, from->loop, &row->loop_id, err);
}

int as_catalogue_row_block(struct as_catalogue_module *module, uint32_t block, int64_t *id,
                           struct as_error *err)
{
    struct as_catalogue_entry *entry = as_entry_of(module);
    *id = 0;
    if (!module->program || block >= module->program->block_n)
        return 0;
    AS_TRY(as_rows_ready(entry, err));
    if (!entry->rows.block[block]) {
        struct as_row_block row;
        AS_TRY(as_rows_block(entry, block, &row, err));
        AS_TRY(as_experiment_add_block(entry->catalogue->experiment, &row,
                                       &entry->rows.block[block], err));
    }
    *id = entry->rows.block[block];
    return 0;
}

static int add_edge(struct as_catalogue_entry *entry, uint32_t block, uint32_t edge, int64_t *id,
                    struct as_error *err)
{
    static const char *const word[] = {
        [AS_EDGE_FALL] = "fall",   [AS_EDGE_TAKEN] = "taken",     [AS_EDGE_JUMP] = "jump",
        [AS_EDGE_TABLE] = "table", [AS_EDGE_LANDING] = "landing",
    };
    _Static_assert(sizeof word / sizeof *word == AS_EDGE_LANDING + 1,
                   "an entry for each of the enumeration");
    const struct as_edge *from = &entry->module.program->succ[edge];
    struct as_row_edge row = {.kind = word[from->kind], .is_back = from->back};
    AS_TRY(as_catalogue_row_block(&entry->module, block, &row.from_block_id, err));
    AS_TRY(as_catalogue_row_block(&entry->module, from->block, &row.to_block_id, err));
    return as_experiment_add_edge(entry->catalogue->experiment, &row, id, err);
}

int as_catalogue_row_edge(struct as_catalogue_module *module, uint32_t block, uint32_t nth,
                          int64_t *id, struct as_error *err)
{
    struct as_catalogue_entry *entry = as_entry_of(module);
    const struct as_program *program = module->program;
    *id = 0;
    if (!program || block >= program->block_n || nth >= program->block[block].succs)
        return 0;
    AS_TRY(as_rows_ready(entry, err));
    if (!entry->rows.edge) /* allocated on first use: few callers need edges */
        entry->rows.edge = as_calloc(program->edge_n + 1, sizeof *entry->rows.edge);
    if (!entry->rows.edge)
        return as_error_nomem(err, module->path);
    const uint32_t edge = program->block[block].first_succ + nth;
    if (!entry->rows.edge[edge])
        AS_TRY(add_edge(entry, block, edge, &entry->rows.edge[edge], err));
    *id = entry->rows.edge[edge];
    return 0;
}

/* ---- Paths --------------------------------------------------------------------------------- */

static int add_path(struct as_catalogue_entry *entry, uint32_t loop, const struct as_paths *paths,
                    size_t nth, int64_t *id, struct as_error *err)
{
    struct as_experiment *experiment = entry->catalogue->experiment;
    const struct as_path *path = &paths->path[nth];
    const uint32_t *block = &paths->block[path->first];
    struct as_row_path row = {.number = paths->merged ? 0 : (int64_t)nth + 1,
                              .block_n = path->blocks};
    for (uint32_t i = 0; i < path->blocks; i++)
        row.instruction_n += entry->module.program->block[block[i]].insns;
    AS_TRY(as_catalogue_row_loop(&entry->module, loop, &row.loop_id, err));
    AS_TRY(as_experiment_add_path(experiment, &row, id, err));
    for (uint32_t i = 0; i < path->blocks; i++) {
        struct as_row_path_block step = {.path_id = *id, .position = i};
        AS_TRY(as_catalogue_row_block(&entry->module, block[i], &step.block_id, err));
        AS_TRY(as_experiment_add_path_block(experiment, &step, err));
    }
    return 0;
}

int as_catalogue_row_path(struct as_catalogue_module *module, uint32_t loop,
                          const struct as_paths *paths, size_t nth, int64_t *id,
                          struct as_error *err)
{
    struct as_catalogue_entry *entry = as_entry_of(module);
    *id = 0;
    if (!module->program || loop >= module->program->loop_n || nth >= paths->path_n)
        return 0;
    AS_TRY(as_rows_ready(entry, err));
    const uint64_t key = (uint64_t)loop << 32 | (paths->merged ? 0 : nth + 1);
    *id = as_id_map_get(&entry->rows.path, key);
    if (*id)
        return 0;
    AS_TRY(add_path(entry, loop, paths, nth, id, err));
    return as_id_map_put(&entry->rows.path, key, *id) < 0 ? as_error_nomem(err, module->path) : 0;
}
