/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing functions, loops, blocks, lines and locations of one module. Only what the samples touch
 * becomes a row, but all loops of a function that does.
 */
#include "profile/code_rows.h"

#include <string.h>

#include "base/alloc.h"

int as_code_rows_begin(struct as_code_rows *rows, struct as_attribution *all,
                       const struct as_place_code *code, int64_t module_id)
{
    const struct assay_program *program = code->program;
    *rows = (struct as_code_rows){.all = all, .code = code, .module_id = module_id};
    as_category_module(all->categories, code->module->kind, code->module->path, &rows->category);
    rows->function_n = (uint32_t)(!code->object ? code->name.n
                                  : program     ? program->body_n
                                                : code->function_n);
    as_map_u64_init(&rows->line);
    as_map_u64_init(&rows->inlining);
    as_map_u64_init(&rows->text);
    rows->function = as_calloc(rows->function_n + 1, sizeof *rows->function);
    rows->loop = as_calloc(program ? program->loop_n + 1 : 1, sizeof *rows->loop);
    rows->block = as_calloc(program ? program->block_n + 1 : 1, sizeof *rows->block);
    rows->file = as_calloc(code->debug.file_n + 1, sizeof *rows->file);
    rows->unit = as_calloc(code->debug.unit_n + 1, sizeof *rows->unit);
    return rows->function && rows->loop && rows->block && rows->file && rows->unit
               ? 0
               : ASSAY_ERR_NOMEM;
}

void as_code_rows_end(struct as_code_rows *rows)
{
    as_map_u64_fini(&rows->line);
    as_map_u64_fini(&rows->inlining);
    as_map_u64_fini(&rows->text);
    as_free(rows->function);
    as_free(rows->loop);
    as_free(rows->block);
    as_free(rows->file);
    as_free(rows->unit);
}

/* ---- Source -------------------------------------------------------------------------------- */

int as_code_rows_line(struct as_code_rows *rows, uint32_t file, uint32_t line, int64_t *id,
                      struct assay_error *err)
{
    *id = 0;
    if (file >= rows->code->debug.file_n || line == 0)
        return 0;
    const uint64_t key = (uint64_t)file << 32 | line;
    const uint32_t known = as_map_u64_get(&rows->line, key);
    if (known != AS_MAP_NONE) {
        *id = known;
        return 0;
    }
    if (!rows->file[file]) {
        const struct assay_row_source_file row = {.path = rows->code->debug.file[file]};
        AS_TRY(
            assay_experiment_add_source_file(rows->all->experiment, &row, &rows->file[file], err));
    }
    const struct assay_row_line row = {.source_file_id = rows->file[file], .number = line};
    AS_TRY(assay_experiment_add_line(rows->all->experiment, &row, id, err));
    return as_map_u64_put(&rows->line, key, (uint32_t)*id) < 0
               ? as_error_nomem(err, "the lines of a module")
               : 0;
}

static int add_unit(struct as_code_rows *rows, uint32_t unit, int64_t *id, struct assay_error *err)
{
    *id = 0;
    if (unit >= rows->code->debug.unit_n)
        return 0;
    if (!rows->unit[unit]) {
        const struct assay_unit *from = &rows->code->debug.unit[unit];
        const struct assay_row_unit row = {.module_id = rows->module_id,
                                           .name = from->name ? from->name : "",
                                           .language = from->language,
                                           .compiler = assay_compiler_word(from),
                                           .compiler_version = from->compiler_version,
                                           .flags = from->flags};
        AS_TRY(assay_experiment_add_unit(rows->all->experiment, &row, &rows->unit[unit], err));
    }
    *id = rows->unit[unit];
    return 0;
}

/* ---- Functions ----------------------------------------------------------------------------- */

static int new_function(struct as_code_rows *rows, const struct as_place_function *from,
                        struct assay_error *err)
{
    struct as_attribution *all = rows->all;
    char readable[4096];
    struct assay_row_function row = {.module_id = rows->module_id, .name = "[unknown]"};
    struct as_function_fact fact = {0};
    if (from) {
        assay_demangle(from->linkage_name, readable, sizeof readable);
        row.name = readable;
        row.linkage_name = from->linkage_name;
        row.address = assay_known((int64_t)from->start);
        row.size_b = assay_known((int64_t)from->size_b);
        row.known_from = from->known_from;
        AS_TRY(as_code_rows_line(rows, from->file, from->line, &row.line_id, err));
        AS_TRY(add_unit(rows, from->unit, &row.unit_id, err));
    }
    fact.category =
        as_category_of_symbol(all->categories, &rows->category, from ? from->linkage_name : NULL);
    AS_TRY(assay_experiment_add_function(all->experiment, &row, &fact.id, err));
    return as_vec_push(&all->function, fact) < 0 ? as_error_nomem(err, "the functions of a run")
                                                 : 0;
}

int as_code_rows_function(struct as_code_rows *rows, uint32_t function, uint32_t *index,
                          struct assay_error *err)
{
    const bool known = function < rows->function_n;
    uint32_t *slot = &rows->function[known ? function : rows->function_n];
    if (!*slot) {
        struct as_place_function from;
        if (known)
            as_place_function(rows->code, function, &from);
        AS_TRY(new_function(rows, known ? &from : NULL, err));
        *slot = (uint32_t)rows->all->function.n;
    }
    *index = *slot - 1;
    return 0;
}

static int function_id(struct as_code_rows *rows, uint32_t function, int64_t *id,
                       struct assay_error *err)
{
    uint32_t index;
    AS_TRY(as_code_rows_function(rows, function, &index, err));
    *id = rows->all->function.at[index].id;
    return 0;
}

/* ---- Loops and blocks ---------------------------------------------------------------------- */

static const char *role_word(unsigned role)
{
    switch (role) {
    case ASSAY_ROLE_PEEL:
    case ASSAY_ROLE_VECTOR_PEEL:
        return "peel";
    case ASSAY_ROLE_TAIL:
    case ASSAY_ROLE_VECTOR_TAIL:
        return "tail";
    case ASSAY_ROLE_VERSION:
        return "version";
    default:
        return "main";
    }
}

static int loop_row(struct as_code_rows *rows, uint32_t index, struct assay_row_loop *row,
                    struct assay_error *err)
{
    const struct assay_program *program = rows->code->program;
    const struct assay_loop *loop = &program->loop[index];
    *row = (struct assay_row_loop){.address = (int64_t)program->block[loop->header].start,
                                   .depth = loop->depth,
                                   .is_innermost = loop->level == ASSAY_LEVEL_INNERMOST ||
                                                   loop->level == ASSAY_LEVEL_SINGLE,
                                   .role = role_word(loop->role),
                                   .block_n = assay_known(loop->blocks),
                                   .instruction_n = assay_known(loop->insns)};
    AS_TRY(function_id(rows, loop->body, &row->function_id, err));
    if (loop->parent != ASSAY_NONE)
        AS_TRY(as_code_rows_loop(rows, loop->parent, &row->parent_id, err));
    if (loop->sources) {
        const struct assay_source_range *range = &program->loop_source[loop->source];
        AS_TRY(as_code_rows_line(rows, range->file, range->first_line, &row->first_line_id, err));
        AS_TRY(as_code_rows_line(rows, range->file, range->last_line, &row->last_line_id, err));
    }
    return 0;
}

int as_code_rows_loop(struct as_code_rows *rows, uint32_t loop, int64_t *id,
                      struct assay_error *err)
{
    *id = 0;
    if (!rows->code->program || loop == ASSAY_NONE)
        return 0;
    if (!rows->loop[loop]) {
        struct assay_row_loop row;
        AS_TRY(loop_row(rows, loop, &row, err));
        AS_TRY(assay_experiment_add_loop(rows->all->experiment, &row, &rows->loop[loop], err));
    }
    *id = rows->loop[loop];
    return 0;
}

int as_code_rows_loops(struct as_code_rows *rows, uint32_t function, struct assay_error *err)
{
    const struct assay_program *program = rows->code->program;
    if (!program || function == ASSAY_NONE)
        return 0;
    const struct assay_body *body = &program->body[function];
    const uint32_t end = body->first_loop + body->loops;
    int64_t id;
    for (uint32_t i = body->first_loop; i < end; i++)
        AS_TRY(as_code_rows_loop(rows, i, &id, err));
    /* Now that all have ids: which ones are made from one source loop. */
    for (uint32_t i = body->first_loop; i < end; i++) {
        struct assay_row_loop row;
        const uint32_t group = program->loop[i].group;
        if (group == i || group < body->first_loop || group >= end)
            continue;
        AS_TRY(loop_row(rows, i, &row, err));
        row.source_loop_id = rows->loop[group];
        AS_TRY(assay_experiment_set_loop(rows->all->experiment, rows->loop[i], &row, err));
    }
    return 0;
}

int as_code_rows_block(struct as_code_rows *rows, uint32_t block, int64_t *id,
                       struct assay_error *err)
{
    *id = 0;
    if (!rows->code->program || block == ASSAY_NONE)
        return 0;
    if (!rows->block[block]) {
        const struct assay_block *from = &rows->code->program->block[block];
        struct assay_row_block row = {.address = (int64_t)from->start,
                                      .size_b = from->size_b,
                                      .instruction_n = assay_known(from->insns)};
        AS_TRY(function_id(rows, from->body, &row.function_id, err));
        AS_TRY(as_code_rows_loop(rows, from->loop, &row.loop_id, err));
        AS_TRY(assay_experiment_add_block(rows->all->experiment, &row, &rows->block[block], err));
    }
    *id = rows->block[block];
    return 0;
}

/* ---- Locations ----------------------------------------------------------------------------- */

static int add_inlining(struct as_code_rows *rows, uint32_t inlined, int64_t function, int64_t *id,
                        struct assay_error *err)
{
    *id = 0;
    if (inlined == ASSAY_NONE || rows->code->debug.inlines[inlined].parent == ASSAY_NONE)
        return 0; /* the function itself */
    const uint32_t known = as_map_u64_get(&rows->inlining, inlined);
    if (known != AS_MAP_NONE) {
        *id = known;
        return 0;
    }
    const struct assay_inline *from = &rows->code->debug.inlines[inlined];
    char readable[4096];
    struct assay_row_inlining row = {.function_id = function, .name = readable};
    AS_TRY(add_inlining(rows, from->parent, function, &row.parent_id, err));
    AS_TRY(as_code_rows_line(rows, from->call_file, from->call_line, &row.call_line_id, err));
    assay_demangle(from->name ? from->name : "[unknown]", readable, sizeof readable);
    AS_TRY(assay_experiment_add_inlining(rows->all->experiment, &row, id, err));
    return as_map_u64_put(&rows->inlining, inlined, (uint32_t)*id) < 0
               ? as_error_nomem(err, "the inlined calls of a module")
               : 0;
}

int as_code_rows_location(struct as_code_rows *rows, uint64_t address, const struct as_place *place,
                          int64_t *id, struct assay_error *err)
{
    struct assay_row_location row = {.module_id = rows->module_id, .address = (int64_t)address};
    AS_TRY(function_id(rows, place->function, &row.function_id, err));
    AS_TRY(as_code_rows_loop(rows, place->loop, &row.loop_id, err));
    AS_TRY(as_code_rows_block(rows, place->block, &row.block_id, err));
    AS_TRY(as_code_rows_line(rows, place->file, place->line, &row.line_id, err));
    AS_TRY(add_inlining(rows, place->inlined, row.function_id, &row.inlining_id, err));
    return assay_experiment_add_location(rows->all->experiment, &row, id, err);
}
