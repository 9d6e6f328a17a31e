/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores assembly and source of hot functions in the experiment. Reports then need neither the
 * binary nor the sources.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "catalogue/rows.h"

/* source lines stored before and after each line of the line table */
#define AROUND 3
/* greatest distance in lines between the first and the last line of a loop that is stored whole */
#define LOOP_LINES 400

static int store_excerpt_line(struct as_catalogue_entry *entry, uint32_t file, uint32_t line,
                              struct as_error *err)
{
    int64_t id;
    char text[1024];
    const uint64_t key = (uint64_t)file << 32 | line;
    if (as_map_u64_get(&entry->rows.text, key) != AS_MAP_NONE)
        return 0;
    if (as_map_u64_put(&entry->rows.text, key, 1) < 0)
        return as_error_nomem(err, "the lines of a module");
    const struct as_view view =
        as_texts_line(&entry->catalogue->texts, entry->module.debug.file[file], line);
    if (!view.p)
        return 0;
    const size_t n = view.n < sizeof text - 1 ? view.n : sizeof text - 1;
    memcpy(text, view.p, n);
    text[n] = 0;
    AS_TRY(as_catalogue_row_line(&entry->module, file, line, &id, err));
    const struct as_row_line row = {
        .source_file_id = entry->rows.file[file], .number = line, .text = text};
    return as_experiment_add_line(entry->catalogue->experiment, &row, NULL, err);
}

static int store_excerpt_lines(struct as_catalogue_entry *entry, uint32_t file, uint32_t first,
                               uint32_t last, struct as_error *err)
{
    if (file >= entry->module.debug.file_n || first == 0)
        return 0;
    for (uint32_t line = first > AROUND ? first - AROUND : 1; line <= last + AROUND; line++)
        AS_TRY(store_excerpt_line(entry, file, line, err));
    return 0;
}

/* Instructions of one function, written together. */
struct instructions {
    AS_VEC(struct as_row_disassembly) row;
    struct as_arena text;
};

static int store_excerpt_insn(struct as_catalogue_entry *entry, const struct as_insn *insn,
                              uint32_t block, int64_t function, struct instructions *out,
                              struct as_error *err)
{
    char text[256];
    uint64_t have_b;
    const struct as_debug *debug = &entry->module.debug;
    const struct as_line *line = as_debug_line_at(debug, insn->address);
    const uint8_t *bytes = as_object_bytes(entry->module.object, insn->address, &have_b);
    if (!bytes || have_b < insn->length)
        return 0;
    as_insn_format(bytes, insn->length, insn->address, AS_SYNTAX_INTEL, text, sizeof text);
    struct as_row_disassembly row = {.address = (int64_t)insn->address,
                                     .function_id = function,
                                     .size_b = insn->length,
                                     .text = as_arena_strndup(&out->text, text, strlen(text))};
    AS_TRY(as_catalogue_row(&entry->module, &row.module_id, err));
    AS_TRY(as_catalogue_row_block(&entry->module, block, &row.block_id, err));
    AS_TRY(as_catalogue_row_loop(&entry->module, entry->module.program->block[block].loop,
                                 &row.loop_id, err));
    if (line)
        AS_TRY(as_catalogue_row_line(&entry->module, line->file, line->line, &row.line_id, err));
    return !row.text || as_vec_push(&out->row, row) < 0 ? as_error_nomem(err, entry->module.path)
                                                        : 0;
}

static int store_excerpt_block(struct as_catalogue_entry *entry, uint32_t index, int64_t function,
                               size_t *room, struct instructions *out, struct as_error *err)
{
    const struct as_program *program = entry->module.program;
    const struct as_block *block = &program->block[index];
    const struct as_line *last = NULL;
    for (uint32_t i = 0; i < block->insns && *room; i++, --*room) {
        const struct as_insn *insn = &program->code.insn[block->first_insn + i];
        AS_TRY(store_excerpt_insn(entry, insn, index, function, out, err));
        const struct as_line *line = as_debug_line_at(&entry->module.debug, insn->address);
        if (line && line != last)
            AS_TRY(store_excerpt_lines(entry, line->file, line->line, line->line, err));
        last = line;
    }
    return 0;
}

/* Returns how many leading blocks fit into `room` instructions; the last one may exceed it. */
static uint32_t blocks_kept(const struct as_program *program, const struct as_body *body,
                            size_t room)
{
    const struct as_block *block = &program->block[body->first_block];
    uint32_t n = 0;
    for (; n < body->blocks && room; n++)
        room -= block[n].insns < room ? block[n].insns : room;
    return n;
}

static int add_blocks(struct as_catalogue_entry *entry, uint32_t first, uint32_t n,
                      struct as_error *err)
{
    uint32_t *number = as_malloc(((size_t)n + 1) * sizeof *number);
    if (!number)
        return as_error_nomem(err, entry->module.path);
    for (uint32_t i = 0; i < n; i++)
        number[i] = first + i;
    const int rc = as_catalogue_rows_blocks(&entry->module, number, n, err);
    as_free(number);
    return rc;
}

/* Adds the edges from one stored block to another. */
static int add_edges(struct as_catalogue_entry *entry, uint32_t first, uint32_t n,
                     struct as_error *err)
{
    const struct as_program *program = entry->module.program;
    int64_t id;
    for (uint32_t i = first; i < first + n; i++) {
        const struct as_block *block = &program->block[i];
        for (uint32_t k = 0; k < block->succs; k++) {
            const uint32_t to = program->succ[block->first_succ + k].block;
            if (to >= first && to < first + n)
                AS_TRY(as_catalogue_row_edge(&entry->module, i, k, &id, err));
        }
    }
    return 0;
}

static int store_excerpt_insns(struct as_catalogue_entry *entry, const struct as_body *body,
                               int64_t function, size_t *room, struct as_error *err)
{
    struct instructions all = {0};
    const uint32_t kept = blocks_kept(entry->module.program, body, *room);
    AS_TRY(add_blocks(entry, body->first_block, kept, err));
    AS_TRY(add_edges(entry, body->first_block, kept, err));
    as_arena_init(&all.text);
    int rc = 0;
    for (uint32_t i = 0; i < body->blocks && rc == 0; i++)
        rc = store_excerpt_block(entry, body->first_block + i, function, room, &all, err);
    if (rc == 0)
        rc = as_experiment_add_disassemblies(entry->catalogue->experiment, all.row.at, all.row.n,
                                             err);
    as_arena_fini(&all.text);
    as_vec_fini(&all.row);
    return rc;
}

int as_catalogue_rows_source(struct as_catalogue_module *module, uint32_t file, uint32_t line,
                             struct as_error *err)
{
    struct as_catalogue_entry *entry = as_entry_of(module);
    AS_TRY(as_rows_ready(entry, err));
    return store_excerpt_lines(entry, file, line, line, err);
}

int as_catalogue_rows_excerpt(struct as_catalogue_module *module, uint32_t function, size_t *room,
                              struct as_error *err)
{
    struct as_catalogue_entry *entry = as_entry_of(module);
    const struct as_program *program = module->program;
    int64_t id;
    if (!program || function >= program->body_n)
        return 0;
    const struct as_body *body = &program->body[function];
    AS_TRY(as_catalogue_row_function(module, function, &id, err));
    AS_TRY(store_excerpt_insns(entry, body, id, room, err));
    for (uint32_t i = 0; i < body->loops; i++) {
        const struct as_loop *loop = &program->loop[body->first_loop + i];
        if (!loop->sources)
            continue;
        const struct as_source_range *range = &program->loop_source[loop->source];
        if (range->last_line - range->first_line <= LOOP_LINES)
            AS_TRY(
                store_excerpt_lines(entry, range->file, range->first_line, range->last_line, err));
    }
    return 0;
}
