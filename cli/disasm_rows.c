/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disassembly for programs: one row an instruction with all its facts (doc/reference/json.md).
 */
#include <inttypes.h>
#include <string.h>

#include "disasm.h"
#include "insn_words.h"
#include "names.h"

enum {
    FIELD_FUNCTION, /* CSV only: JSON has it around the rows */
    FIELD_ADDRESS,
    FIELD_LENGTH,
    FIELD_BYTES,
    FIELD_TEXT,
    FIELD_MNEMONIC,
    FIELD_CLASS,
    FIELD_ELEMENT,
    FIELD_LANES,
    FIELD_PACKING,
    FIELD_FLOPS,
    FIELD_INTOPS,
    FIELD_READS,
    FIELD_WRITES,
    FIELD_FLAGS_READ,
    FIELD_FLAGS_WRITTEN,
    FIELD_MEMORY,
    FIELD_TARGET,
    FIELD_TARGET_LABEL,
    FIELD_FILE,
    FIELD_LINE,
    FIELD_COLUMN,
    FIELD_INLINED,
    FIELDS
};

static const struct as_field fields[FIELDS] = {
    [FIELD_FUNCTION] = {"function", NULL, 0},
    [FIELD_ADDRESS] = {"address", NULL, 0},
    [FIELD_LENGTH] = {"length_b", NULL, 0},
    [FIELD_BYTES] = {"bytes", NULL, 0},
    [FIELD_TEXT] = {"text", NULL, 0},
    [FIELD_MNEMONIC] = {"mnemonic", NULL, 0},
    [FIELD_CLASS] = {"class", NULL, 0},
    [FIELD_ELEMENT] = {"element", NULL, 0},
    [FIELD_LANES] = {"lanes", NULL, 0},
    [FIELD_PACKING] = {"packing", NULL, 0},
    [FIELD_FLOPS] = {"flops", NULL, 0},
    [FIELD_INTOPS] = {"intops", NULL, 0},
    [FIELD_READS] = {"reads", NULL, 0},
    [FIELD_WRITES] = {"writes", NULL, 0},
    [FIELD_FLAGS_READ] = {"flags_read", NULL, 0},
    [FIELD_FLAGS_WRITTEN] = {"flags_written", NULL, 0},
    [FIELD_MEMORY] = {"memory", NULL, 0},
    [FIELD_TARGET] = {"target", NULL, 0},
    [FIELD_TARGET_LABEL] = {"target_label", NULL, 0},
    [FIELD_FILE] = {"file", NULL, 0},
    [FIELD_LINE] = {"line", NULL, 0},
    [FIELD_COLUMN] = {"column", NULL, 0},
    [FIELD_INLINED] = {"inlined", NULL, 0},
};

/* The texts of one row live here until the next. */
struct insn_rows {
    struct as_disasm *d;
    const struct as_disasm_range *range;
    struct as_str text[FIELDS];
};

/* The empty text of a field, to be filled. */
static struct as_str *fresh(struct insn_rows *rows, int field)
{
    as_str_clear(&rows->text[field]);
    return &rows->text[field];
}

static struct as_cell text_cell(struct insn_rows *rows, int field)
{
    return as_cell_text(rows->text[field].n ? as_str_z(&rows->text[field]) : NULL);
}

static struct as_cell list_cell(struct insn_rows *rows, int field)
{
    return as_cell_list(as_str_z(&rows->text[field]));
}

static void encoding_cells(struct insn_rows *rows, size_t i, struct as_cell *cell)
{
    const struct as_insn *insn = &rows->range->code.insn[i];
    const uint8_t *p = rows->range->bytes + (insn->address - rows->range->start);
    struct as_str *bytes = fresh(rows, FIELD_BYTES);
    char assembly[256];

    for (unsigned k = 0; k < insn->length; k++)
        as_str_appendf(bytes, "%02x", p[k]);
    as_disasm_assembly(rows->d, rows->range, i, assembly, sizeof assembly);
    as_str_appendz(fresh(rows, FIELD_TEXT), assembly);
    if (rows->range->function)
        cell[FIELD_FUNCTION] = as_cell_text(rows->range->name);
    cell[FIELD_ADDRESS] = as_cell_hex(insn->address);
    cell[FIELD_LENGTH] = as_cell_count(insn->length);
    cell[FIELD_BYTES] = text_cell(rows, FIELD_BYTES);
    cell[FIELD_TEXT] = text_cell(rows, FIELD_TEXT);
}

static void form_cells(const struct as_form *form, struct as_cell *cell)
{
    cell[FIELD_MNEMONIC] = as_cell_text(form->mnemonic);
    cell[FIELD_CLASS] = as_cell_text(as_class_name(form->insn_class));
    cell[FIELD_ELEMENT] = as_cell_text(as_element_word(form->element));
    cell[FIELD_LANES] = as_cell_count(form->lanes);
    cell[FIELD_PACKING] = as_cell_text(form->traits & AS_TRAIT_PACKED   ? "packed"
                                       : form->traits & AS_TRAIT_SCALAR ? "scalar"
                                                                        : NULL);
    cell[FIELD_FLOPS] = as_cell_count(form->flops);
    cell[FIELD_INTOPS] = as_cell_count(form->intops);
}

static void effect_cells(struct insn_rows *rows, const struct as_insn *insn, struct as_cell *cell)
{
    struct as_effects effects;

    as_insn_effects(insn, &effects);
    as_words_registers(fresh(rows, FIELD_READS), effects.read, '\n');
    as_words_registers(fresh(rows, FIELD_WRITES), effects.written, '\n');
    as_words_flags(fresh(rows, FIELD_FLAGS_READ), effects.flags_read, '\n');
    as_words_flags(fresh(rows, FIELD_FLAGS_WRITTEN), effects.flags_written, '\n');
    as_words_memory(fresh(rows, FIELD_MEMORY), &rows->range->code, insn, '\n');
    for (int i = FIELD_READS; i <= FIELD_MEMORY; i++)
        cell[i] = list_cell(rows, i);
}

static void target_cells(struct insn_rows *rows, const struct as_insn *insn, struct as_cell *cell)
{
    uint64_t address;

    if (!as_insn_target(insn, &address) && !as_insn_memory_address(insn, &address))
        return;
    cell[FIELD_TARGET] = as_cell_hex(address);
    if (as_disasm_label(rows->d, address, fresh(rows, FIELD_TARGET_LABEL)))
        cell[FIELD_TARGET_LABEL] = text_cell(rows, FIELD_TARGET_LABEL);
}

/* Inlined calls from the innermost outwards: "dot at /src/solver.c:12". */
static void inlined_words(const struct as_disasm *d, uint64_t address, struct as_str *out)
{
    uint32_t at = as_debug_inline_at(d->object, address);

    while (at < d->debug.inline_n && d->debug.inlines[at].parent != AS_NONE) {
        const struct as_inline *it = &d->debug.inlines[at];
        const char *file = as_disasm_file(d, it->call_file);

        if (out->n)
            as_str_append(out, "\n", 1);
        as_disasm_name(d, it->name ? it->name : "?", out);
        if (file)
            as_str_appendf(out, " at %s:%" PRIu32, file, it->call_line);
        at = it->parent;
    }
}

static void source_cells(struct insn_rows *rows, uint64_t address, struct as_cell *cell)
{
    const struct as_line *line = as_debug_line_at(&rows->d->debug, address);

    as_str_clear(&rows->text[FIELD_INLINED]);
    if (rows->d->with_source)
        inlined_words(rows->d, address, &rows->text[FIELD_INLINED]);
    cell[FIELD_INLINED] = list_cell(rows, FIELD_INLINED);
    if (!line || line->file == AS_NONE)
        return;
    cell[FIELD_FILE] = as_cell_text(as_disasm_file(rows->d, line->file));
    if (line->line)
        cell[FIELD_LINE] = as_cell_count(line->line);
    if (line->column)
        cell[FIELD_COLUMN] = as_cell_count(line->column);
}

static void fill_insn_row(void *context, size_t row, struct as_cell *cell)
{
    struct insn_rows *rows = context;
    const struct as_insn *insn = &rows->range->code.insn[row];

    encoding_cells(rows, row, cell);
    form_cells(as_form_get(insn->form), cell);
    effect_cells(rows, insn, cell);
    target_cells(rows, insn, cell);
    source_cells(rows, insn->address, cell);
}

/* JSON rows stand inside their function: without the first field. */
static void fill_inner(void *context, size_t row, struct as_cell *cell)
{
    struct as_cell all[FIELDS] = {0};

    fill_insn_row(context, row, all);
    memcpy(cell, all + 1, sizeof all - sizeof *all);
}

static void rows_fini(struct insn_rows *rows)
{
    for (int i = 0; i < FIELDS; i++)
        as_str_fini(&rows->text[i]);
}

void as_disasm_json(struct as_disasm *d, struct as_facts *facts,
                    const struct as_disasm_range *range)
{
    const struct as_function *f = range->function;
    struct insn_rows rows = {.d = d, .range = range};
    const struct as_sheet sheet = {fields + 1, FIELDS - 1, range->shown, &rows, fill_inner};

    as_facts_object(facts, NULL);
    as_facts_cell(facts, "function", as_cell_text(f ? range->name : NULL));
    as_facts_cell(facts, "linkage_name", as_cell_text(f ? f->name : NULL));
    as_facts_cell(facts, "origin", as_cell_text(f ? as_function_origin_word(f->origin) : NULL));
    as_facts_cell(facts, "start", as_cell_hex(range->start));
    as_facts_cell(facts, "end", as_cell_hex(range->end));
    as_facts_cell(facts, "instruction_n", as_cell_count(range->code.n));
    as_facts_cell(facts, "invalid_b", as_cell_count(range->code.invalid_n));
    if (range->block != AS_NONE) {
        struct as_str words = {0};

        as_disasm_block_words(d, range, &words, '\n');
        as_facts_cell(facts, "loop", as_cell_count(d->loop));
        as_facts_cell(facts, "block", as_cell_list(as_str_z(&words)));
        as_str_fini(&words);
    }
    as_facts_sheet(facts, "instructions", &sheet);
    as_facts_close(facts);
    rows_fini(&rows);
}

void as_disasm_csv_header(struct as_disasm *d)
{
    const struct as_sheet sheet = {fields, FIELDS, 0, NULL, fill_insn_row};

    as_sheet_csv_header(d->cli, &sheet);
}

void as_disasm_csv(struct as_disasm *d, const struct as_disasm_range *range)
{
    struct insn_rows rows = {.d = d, .range = range};
    const struct as_sheet sheet = {fields, FIELDS, range->shown, &rows, fill_insn_row};

    as_sheet_csv_rows(d->cli, &sheet);
    rows_fini(&rows);
}
