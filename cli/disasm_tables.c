/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay disasm --loop --dependences --streams`: tables below the instructions. Dependences are
 * those of the loop's one path, or of all its paths together where there are several.
 */
#include <inttypes.h>
#include <string.h>

#include "disasm.h"
#include "insn_words.h"

#include "base/error.h"

struct tables {
    const struct as_disasm *d;
    struct as_paths paths;
    struct as_dependences dependences;
    struct as_streams streams;
    struct as_str what, marks; /* of one row */
    struct as_arena arena;     /* texts, which a table keeps until it is printed */
};

static uint64_t address_of(const struct tables *t, uint32_t insn)
{
    return t->d->program->code.insn[insn].address;
}

static struct as_cell assembly_cell(struct tables *t, uint32_t index)
{
    char text[256] = "";
    const struct as_insn *insn = &t->d->program->code.insn[index];
    uint64_t size_b = insn->length;
    const uint8_t *bytes = as_object_bytes(t->d->object, insn->address, &size_b);

    if (bytes)
        as_insn_format(bytes, insn->length, insn->address, t->d->syntax, text, sizeof text);
    return as_cell_text(as_arena_strndup(&t->arena, text, strlen(text)));
}

static struct as_cell kept_list(struct tables *t, const struct as_str *words)
{
    const char *text = as_arena_strndup(&t->arena, as_str_z(words), words->n);

    return as_cell_list(text ? text : "");
}

static void mark_if(struct as_str *out, bool is_set, const char *word)
{
    if (!is_set)
        return;
    if (out->n)
        as_str_append(out, "\n", 1);
    as_str_appendz(out, word);
}

/* ---- Dependences ------------------------------------------------------------------------- */

static const struct as_field dependence_fields[] = {
    {"to", "waits", AS_FIELD_RIGHT},
    {"to_text", "instruction", 0},
    {"distance", "back", AS_FIELD_RIGHT},
    {"from", "for", AS_FIELD_RIGHT},
    {"from_text", "instruction", 0},
    {"through", "through", 0},
    {"what", "what", 0},
    {"marks", "marks", AS_FIELD_IF_VARIED},
};

static void dependence_row(void *context, size_t row, struct as_cell *cell)
{
    static const char *const through[] = {"register", "flags", "memory"};
    struct tables *t = context;
    const struct as_dependence *it = &t->dependences.at[row];
    const uint32_t to = t->dependences.insn[it->to], from = t->dependences.insn[it->from];

    as_str_clear(&t->what);
    as_str_clear(&t->marks);
    if (it->kind == AS_DEPENDENCE_REGISTER)
        as_str_appendz(&t->what, as_reg_name(it->what, it->what < AS_REG_VEC ? 8 : 16));
    else if (it->kind == AS_DEPENDENCE_FLAGS)
        as_words_flags(&t->what, it->what, '\n');
    mark_if(&t->marks, it->bits & AS_DEPENDENCE_ADDRESS, "address");
    mark_if(&t->marks, it->bits & AS_DEPENDENCE_MERGE, "merge");
    mark_if(&t->marks, it->bits & AS_DEPENDENCE_MAYBE, "maybe");
    mark_if(&t->marks, it->bits & AS_DEPENDENCE_PARTIAL, "partial");
    *cell++ = as_cell_hex(address_of(t, to));
    *cell++ = assembly_cell(t, to);
    *cell++ = as_cell_count(it->distance);
    *cell++ = as_cell_hex(address_of(t, from));
    *cell++ = assembly_cell(t, from);
    *cell++ = as_cell_text(through[it->kind]);
    *cell++ = kept_list(t, &t->what);
    *cell++ = kept_list(t, &t->marks);
}

/* ---- Streams ----------------------------------------------------------------------------- */

static const struct as_field stream_fields[] = {
    {"address", "address", AS_FIELD_RIGHT},
    {"text", "instruction", 0},
    {"access", "access", 0},
    {"width_b", "bytes", AS_FIELD_RIGHT},
    {"stride", "stride", 0},
    {"stride_b", "step", AS_FIELD_RIGHT},
    {"array", "array", AS_FIELD_RIGHT},
    {"offset_b", "offset", AS_FIELD_RIGHT},
    {"stack", "stack", AS_FIELD_IF_VARIED},
};

static void stream_row(void *context, size_t row, struct as_cell *cell)
{
    static const char *const stride[] = {"zero", "unit", "constant", "indirect", "unknown"};
    struct tables *t = context;
    const struct as_memory_stream *it = &t->streams.at[row];
    const unsigned access = it->access & (AS_ACCESS_READ | AS_ACCESS_WRITE);
    const bool known = it->stride <= AS_STRIDE_CONSTANT;

    cell[0] = as_cell_hex(address_of(t, it->insn));
    cell[1] = assembly_cell(t, it->insn);
    cell[2] = as_cell_text(access == AS_ACCESS_READ    ? "load"
                           : access == AS_ACCESS_WRITE ? "store"
                                                       : "update");
    if (it->width_b)
        cell[3] = as_cell_count(it->width_b);
    cell[4] = as_cell_text(stride[it->stride]);
    if (known) {
        cell[5] = as_cell_signed(it->stride_b);
        cell[7] = as_cell_signed(it->offset_b);
    }
    cell[6] = as_cell_count(it->array);
    cell[8] = as_cell_bool(it->stack);
}

/* ---- Both -------------------------------------------------------------------------------- */

static int show_sheet(struct as_disasm *d, struct as_facts *facts, const char *key,
                      const struct as_sheet *sheet, struct as_error *err)
{
    struct as_str same = {0};
    int rc = 0;

    if (facts) {
        as_facts_sheet(facts, key, sheet);
        return 0;
    }
    as_cli_styled(d->cli, AS_STYLE_BOLD, key);
    as_cli_print(d->cli, "%s\n", sheet->row_n ? "" : ": none");
    if (sheet->row_n)
        rc = as_sheet_text(d->cli, sheet, &same, err);
    if (same.n)
        as_cli_print(d->cli, "%s\n", as_str_z(&same) + 2);
    as_cli_print(d->cli, "\n");
    as_str_fini(&same);
    return rc;
}

static int show_dependences(struct tables *t, struct as_facts *facts, struct as_error *err)
{
    const struct as_disasm *d = t->d;

    AS_TRY(as_loop_paths(d->program, d->loop, 1, &t->paths, err));
    AS_TRY(as_loop_dependences(d->program, d->loop, &t->paths, 0, &t->dependences, err));
    const struct as_sheet sheet = {dependence_fields,
                                   sizeof dependence_fields / sizeof *dependence_fields,
                                   t->dependences.n, t, dependence_row};
    return show_sheet((struct as_disasm *)d, facts, "dependences", &sheet, err);
}

static int show_streams(struct tables *t, struct as_facts *facts, struct as_error *err)
{
    const struct as_disasm *d = t->d;

    AS_TRY(as_loop_streams(d->program, d->loop, &t->streams, err));
    const struct as_sheet sheet = {stream_fields, sizeof stream_fields / sizeof *stream_fields,
                                   t->streams.n, t, stream_row};
    return show_sheet((struct as_disasm *)d, facts, "streams", &sheet, err);
}

int as_disasm_loop_tables(struct as_disasm *d, struct as_facts *facts, struct as_error *err)
{
    struct tables t = {.d = d};
    int rc;

    as_arena_init(&t.arena);
    rc = d->with_dependences ? show_dependences(&t, facts, err) : 0;

    if (rc == 0 && d->with_streams)
        rc = show_streams(&t, facts, err);
    as_paths_free(&t.paths);
    as_dependences_free(&t.dependences);
    as_streams_free(&t.streams);
    as_str_fini(&t.what);
    as_str_fini(&t.marks);
    as_arena_fini(&t.arena);
    return rc;
}
