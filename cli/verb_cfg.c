/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay cfg BIN`: the control flow of one function or loop, listed, drawn, or as data.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "report/graph.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/search.h"
#include "loop_words.h"
#include "program.h"
#include "sheet.h"

#define BOXES_MOST 5000 /* of a drawing anybody looks at */

struct cfg_view {
    struct as_cli *cli;
    struct as_chosen chosen;
    struct as_arena arena;
    const uint32_t *block; /* of the program, ascending */
    uint32_t blocks;
    uint32_t loop; /* shown alone, or AS_NONE */
    uint32_t body;
    bool with_instructions;
};

static const struct as_block *block_of(const struct cfg_view *v, uint32_t i)
{
    return &v->chosen.program->block[v->block[i]];
}

/* Number of a program's block in the view, or AS_NONE. O(log n). */
static uint32_t shown_block(const struct cfg_view *v, uint32_t block)
{
    uint32_t low = as_first_not(i, v->blocks, v->block[i] < block);
    assert(low + 1 >= v->blocks || v->block[low] < v->block[low + 1]); /* shown blocks ascend */
    return low < v->blocks && v->block[low] == block ? low : AS_NONE;
}

static uint32_t depth_of(const struct cfg_view *v, const struct as_block *block)
{
    return block->loop == AS_NONE ? 0 : v->chosen.program->loop[block->loop].depth;
}

static void block_marks(struct as_str *out, const struct as_block *block, char separator)
{
    static const struct {
        unsigned bit;
        const char *word;
    } mark[] = {
        {AS_BLOCK_ENTRY, "entry"},         {AS_BLOCK_LANDING, "landing pad"},
        {AS_BLOCK_UNREACHED, "unreached"}, {AS_BLOCK_CALL, "calls"},
        {AS_BLOCK_NORETURN, "no return"},  {AS_BLOCK_RETURN, "returns"},
        {AS_BLOCK_TAILCALL, "tail call"},  {AS_BLOCK_UNRESOLVED, "unresolved jump"},
        {AS_BLOCK_SECOND, "second entry"},
    };
    for (size_t i = 0; i < sizeof mark / sizeof *mark; i++) {
        if (!(block->bits & mark[i].bit))
            continue;
        if (out->n)
            as_str_append(out, &separator, 1);
        as_str_appendz(out, mark[i].word);
    }
}

/* "solver.c:12-14": lines of the block's own rows in the file of its first. */
static void block_lines(const struct cfg_view *v, const struct as_block *block, struct as_str *out)
{
    const struct as_debug *debug = &v->chosen.program->debug;
    const struct as_line *row = as_debug_line_at(debug, block->start);
    const struct as_line *end = debug->line + debug->line_n;
    struct as_source_range range = {AS_NONE, 0, 0};

    for (; row && row < end && row->address < block->start + block->size_b; row++) {
        if (row->file == AS_NONE || row->line == 0)
            continue;
        if (range.file == AS_NONE)
            range = (struct as_source_range){row->file, row->line, row->line};
        if (row->file != range.file)
            continue;
        range.first_line = row->line < range.first_line ? row->line : range.first_line;
        range.last_line = row->line > range.last_line ? row->line : range.last_line;
    }
    if (range.file != AS_NONE)
        as_words_source(out, debug, &range, true);
}

static void append_assembly(const struct cfg_view *v, const struct as_block *block, uint32_t i,
                            char text[static 256])
{
    const struct as_insn *insn = &v->chosen.program->code.insn[block->first_insn + i];
    uint64_t size_b = insn->length;
    const uint8_t *bytes = as_object_bytes(v->chosen.object, insn->address, &size_b);

    text[0] = '\0';
    if (bytes)
        as_insn_format(bytes, insn->length, insn->address, AS_SYNTAX_INTEL, text, 256);
}

/* ---- Listing ----------------------------------------------------------------------------- */

static void list_block(const struct cfg_view *v, uint32_t i)
{
    const struct as_program *program = v->chosen.program;
    const struct as_block *block = block_of(v, i);
    struct as_str s = {0}, marks = {0};

    as_str_appendf(&s, "%*sb%" PRIu32 "  0x%" PRIx64 "  %" PRIu32 " instruction%s",
                   (int)(2 * depth_of(v, block)), "", i, block->start, block->insns,
                   block->insns == 1 ? "" : "s");
    if (block->loop != AS_NONE)
        as_str_appendf(&s, ", loop %" PRIu32 "%s", block->loop,
                       program->loop[block->loop].header == v->block[i] ? " (header)" : "");
    block_marks(&marks, block, ',');
    if (marks.n)
        as_str_appendf(&s, ", %s", as_str_z(&marks));
    as_str_clear(&marks);
    block_lines(v, block, &marks);
    if (marks.n)
        as_str_appendf(&s, "  %s", as_str_z(&marks));
    as_cli_print(v->cli, "%s\n", as_str_z(&s));
    for (uint32_t k = 0; v->with_instructions && k < block->insns; k++) {
        char text[256];
        append_assembly(v, block, k, text);
        as_cli_print(v->cli, "%*s      %s\n", (int)(2 * depth_of(v, block)), "", text);
    }
    for (uint32_t e = block->first_succ; e < block->first_succ + block->succs; e++) {
        const struct as_edge *edge = &program->succ[e];
        const uint32_t to = shown_block(v, edge->block);

        as_str_clear(&s);
        if (to != AS_NONE)
            as_str_appendf(&s, "b%" PRIu32, to);
        else
            as_str_appendf(&s, "0x%" PRIx64 " outside", program->block[edge->block].start);
        as_cli_print(v->cli, "%*s    -> %s, %s%s\n", (int)(2 * depth_of(v, block)), "",
                     as_str_z(&s), as_edge_word(edge->kind), edge->back ? ", back" : "");
    }
    as_str_fini(&s);
    as_str_fini(&marks);
}

/* ---- Data -------------------------------------------------------------------------------- */

enum {
    BLOCK_ID,
    BLOCK_ADDRESS,
    BLOCK_SIZE,
    BLOCK_INSNS,
    BLOCK_LOOP,
    BLOCK_DEPTH,
    BLOCK_HEADER,
    BLOCK_IDOM,
    BLOCK_IPDOM,
    BLOCK_LINES,
    BLOCK_MARKS,
    BLOCK_FIELDS
};
enum { EDGE_FROM, EDGE_TO, EDGE_KIND, EDGE_BACK, EDGE_FIELDS };

static const struct as_field block_fields[BLOCK_FIELDS] = {
    [BLOCK_ID] = {"id", 0, 0},
    [BLOCK_ADDRESS] = {"address", 0, 0},
    [BLOCK_SIZE] = {"size_b", 0, 0},
    [BLOCK_INSNS] = {"instructions", 0, 0},
    [BLOCK_LOOP] = {"loop", 0, 0},
    [BLOCK_DEPTH] = {"depth", 0, 0},
    [BLOCK_HEADER] = {"header", 0, 0},
    [BLOCK_IDOM] = {"immediate_dominator", 0, 0},
    [BLOCK_IPDOM] = {"immediate_post_dominator", 0, 0},
    [BLOCK_LINES] = {"source", 0, 0},
    [BLOCK_MARKS] = {"marks", 0, 0},
};
static const struct as_field edge_fields[EDGE_FIELDS] = {
    [EDGE_FROM] = {"from", 0, 0},
    [EDGE_TO] = {"to", 0, 0},
    [EDGE_KIND] = {"kind", 0, 0},
    [EDGE_BACK] = {"back", 0, 0},
};

struct cfg_rows {
    const struct cfg_view *v;
    struct as_str lines, marks;
    AS_VEC(struct as_graph_arrow) arrow; /* edges between blocks shown; kind as as_edge_kind */
};

static struct as_cell shown_cell(const struct cfg_view *v, uint32_t block)
{
    const uint32_t i = block == AS_NONE ? AS_NONE : shown_block(v, block);
    return i == AS_NONE ? as_cell_text(NULL) : as_cell_count(i);
}

static void block_row(void *context, size_t row, struct as_cell *cell)
{
    struct cfg_rows *rows = context;
    const struct cfg_view *v = rows->v;
    const struct as_block *block = block_of(v, (uint32_t)row);

    cell[BLOCK_ID] = as_cell_count(row);
    cell[BLOCK_ADDRESS] = as_cell_hex(block->start);
    cell[BLOCK_SIZE] = as_cell_count(block->size_b);
    cell[BLOCK_INSNS] = as_cell_count(block->insns);
    if (block->loop != AS_NONE)
        cell[BLOCK_LOOP] = as_cell_count(block->loop);
    cell[BLOCK_DEPTH] = as_cell_count(depth_of(v, block));
    cell[BLOCK_HEADER] = as_cell_bool(block->loop != AS_NONE &&
                                      v->chosen.program->loop[block->loop].header == v->block[row]);
    cell[BLOCK_IDOM] = shown_cell(v, block->idom);
    cell[BLOCK_IPDOM] = shown_cell(v, block->ipdom);
    as_str_clear(&rows->lines);
    as_str_clear(&rows->marks);
    block_lines(v, block, &rows->lines);
    block_marks(&rows->marks, block, '\n');
    cell[BLOCK_LINES] = as_cell_text(rows->lines.n ? as_str_z(&rows->lines) : NULL);
    cell[BLOCK_MARKS] = as_cell_list(as_str_z(&rows->marks));
}

static void edge_row(void *context, size_t row, struct as_cell *cell)
{
    const struct cfg_rows *rows = context;
    const struct as_graph_arrow *arrow = &rows->arrow.at[row];

    cell[EDGE_FROM] = as_cell_count(arrow->from);
    cell[EDGE_TO] = as_cell_count(arrow->to);
    cell[EDGE_KIND] = as_cell_text(as_edge_word(arrow->kind));
    cell[EDGE_BACK] = as_cell_bool(arrow->back);
}

static int collect_edges(const struct cfg_view *v, struct cfg_rows *rows, struct as_error *err)
{
    for (uint32_t i = 0; i < v->blocks; i++) {
        const struct as_block *block = block_of(v, i);
        for (uint32_t e = block->first_succ; e < block->first_succ + block->succs; e++) {
            const struct as_edge *edge = &v->chosen.program->succ[e];
            const uint32_t to = shown_block(v, edge->block);

            if (to != AS_NONE && as_vec_push(&rows->arrow, (struct as_graph_arrow){
                                                               i, to, edge->kind, edge->back}) < 0)
                return as_error_nomem(err, "the edges of a graph");
        }
    }
    return 0;
}

static void show_data(const struct cfg_view *v, struct cfg_rows *rows)
{
    const struct as_sheet blocks = {block_fields, BLOCK_FIELDS, v->blocks, rows, block_row};
    const struct as_sheet edges = {edge_fields, EDGE_FIELDS, rows->arrow.n, rows, edge_row};
    struct as_str name = {0};
    struct as_facts facts;

    if (v->cli->format == AS_FORMAT_CSV) { /* a table can hold one of them: the edges */
        as_sheet_csv_header(v->cli, &edges);
        as_sheet_csv_rows(v->cli, &edges);
        return;
    }
    as_chosen_name(&v->chosen, v->body, &name);
    as_facts_begin(&facts, v->cli);
    as_facts_binary(&facts, v->chosen.object);
    as_facts_cell(&facts, "function", as_cell_text(as_str_z(&name)));
    as_facts_cell(&facts, "linkage_name", as_cell_text(v->chosen.program->body[v->body].name));
    as_facts_cell(&facts, "loop", v->loop == AS_NONE ? as_cell_text(NULL) : as_cell_count(v->loop));
    as_facts_sheet(&facts, "blocks", &blocks);
    as_facts_sheet(&facts, "edges", &edges);
    as_facts_end(&facts);
    as_str_fini(&name);
}

/* ---- Drawing ----------------------------------------------------------------------------- */

static uint8_t arrow_kind(uint8_t kind)
{
    switch ((enum as_edge_kind)kind) {
    case AS_EDGE_TAKEN:
        return AS_GRAPH_YES;
    case AS_EDGE_TABLE:
        return AS_GRAPH_TABLE;
    case AS_EDGE_LANDING:
        return AS_GRAPH_EXCEPTION;
    case AS_EDGE_FALL:
    case AS_EDGE_JUMP:
        break;
    }
    return AS_GRAPH_PLAIN;
}

static const char *kept_label(struct cfg_view *v, struct as_str *s)
{
    const char *text = as_arena_strndup(&v->arena, as_str_z(s), s->n);
    as_str_clear(s);
    return text ? text : "";
}

static void make_box(struct cfg_view *v, uint32_t i, struct as_graph_box *box, struct as_str *s)
{
    const struct as_block *block = block_of(v, i);
    struct as_str more = {0};

    as_str_appendf(s, "b%" PRIu32, i);
    box->id = kept_label(v, s);
    as_str_appendf(s, "b%" PRIu32 "  0x%" PRIx64, i, block->start);
    block_lines(v, block, &more);
    if (more.n)
        as_str_appendf(s, "  %s", as_str_z(&more));
    if (!v->with_instructions)
        as_str_appendf(s, "\n%" PRIu32 " instruction%s", block->insns,
                       block->insns == 1 ? "" : "s");
    for (uint32_t k = 0; v->with_instructions && k < block->insns; k++) {
        char text[256];
        append_assembly(v, block, k, text);
        as_str_appendf(s, "\n%s", text);
    }
    box->text = kept_label(v, s);
    as_str_appendf(s, "block %" PRIu32 " at 0x%" PRIx64, i, block->start);
    if (block->loop != AS_NONE)
        as_str_appendf(s, ", loop %" PRIu32, block->loop);
    as_str_clear(&more);
    block_marks(&more, block, ',');
    if (more.n)
        as_str_appendf(s, ", %s", as_str_z(&more));
    box->title = kept_label(v, s);
    box->depth = depth_of(v, block);
    box->marked = block->bits & (AS_BLOCK_UNRESOLVED | AS_BLOCK_UNREACHED);
    as_str_fini(&more);
}

static int show_picture(struct cfg_view *v, struct cfg_rows *rows, struct as_error *err)
{
    struct as_graph_picture picture = {
        .boxes = v->blocks, .arrow = rows->arrow.at, .arrows = rows->arrow.n};
    struct as_graph_box *box = as_arena_array(&v->arena, struct as_graph_box, v->blocks + 1u);
    struct as_str s = {0};
    int rc = 0;

    if (!box)
        return as_error_nomem(err, "the drawing of a graph");
    if (v->blocks > BOXES_MOST && v->cli->format == AS_FORMAT_SVG)
        return as_error_set(err, AS_ERR_LIMIT,
                            "cfg: %" PRIu32
                            " blocks are too many to draw (at most %d); use --loop, "
                            "or --format dot",
                            v->blocks, BOXES_MOST);
    for (uint32_t i = 0; i < v->blocks; i++) {
        make_box(v, i, &box[i], &s);
        if (block_of(v, i)->bits & AS_BLOCK_ENTRY)
            picture.entry = i;
    }
    if (v->loop != AS_NONE)
        picture.entry = shown_block(v, v->chosen.program->loop[v->loop].header);
    as_vec_foreach (&rows->arrow, arrow)
        arrow->kind = arrow_kind(arrow->kind);
    as_chosen_name(&v->chosen, v->body, &s);
    if (v->loop != AS_NONE)
        as_str_appendf(&s, ", loop %" PRIu32, v->loop);
    picture.title = kept_label(v, &s);
    picture.box = box;
    if (v->cli->format == AS_FORMAT_SVG)
        rc = as_graph_svg(&picture, &v->cli->out, err);
    else
        as_graph_dot(&picture, &v->cli->out);
    as_str_fini(&s);
    return rc;
}

/* ---- The verb ---------------------------------------------------------------------------- */

static int choose_blocks(struct cfg_view *v, struct as_error *err)
{
    const struct as_program *program = v->chosen.program;
    uint32_t chosen = 0;

    if (as_given(&v->cli->args, AS_OPTION_LOOP)) {
        AS_TRY(as_loop_of_option(v->cli, program, &v->loop, err));
        v->body = program->loop[v->loop].body;
        v->block = &program->loop_block[program->loop[v->loop].first_block];
        v->blocks = program->loop[v->loop].blocks;
        return 0;
    }
    for (uint32_t i = 0; i < program->body_n; i++) {
        if (!v->chosen.body[i] || program->body[i].parent != AS_NONE)
            continue;
        v->body = i;
        chosen++;
    }
    if (chosen != 1)
        return as_error_set(err, AS_ERR_USAGE,
                            "cfg: --function means %" PRIu32 " functions; name one", chosen);
    uint32_t *block = as_arena_array(&v->arena, uint32_t, program->body[v->body].blocks + 1u);
    if (!block)
        return as_error_nomem(err, "the blocks of a function");
    v->blocks = program->body[v->body].blocks;
    for (uint32_t i = 0; i < v->blocks; i++)
        block[i] = program->body[v->body].first_block + i;
    v->block = block;
    return 0;
}

static int show_cfg(struct cfg_view *v, struct as_error *err)
{
    struct cfg_rows rows = {.v = v};
    struct as_str name = {0};
    int rc = collect_edges(v, &rows, err);

    if (rc == 0 && v->cli->format == AS_FORMAT_TEXT) {
        as_chosen_name(&v->chosen, v->body, &name);
        as_cli_styled(v->cli, AS_STYLE_BOLD, as_str_z(&name));
        as_cli_print(v->cli, ": %" PRIu32 " blocks, %zu edges\n", v->blocks, rows.arrow.n);
        for (uint32_t i = 0; i < v->blocks; i++)
            list_block(v, i);
    } else if (rc == 0 && (v->cli->format == AS_FORMAT_JSON || v->cli->format == AS_FORMAT_CSV)) {
        show_data(v, &rows);
    } else if (rc == 0) {
        rc = show_picture(v, &rows, err);
    }
    as_vec_fini(&rows.arrow);
    as_str_fini(&rows.lines);
    as_str_fini(&rows.marks);
    as_str_fini(&name);
    return rc;
}

int as_verb_cfg(struct as_cli *cli, struct as_error *err)
{
    struct cfg_view v = {.cli = cli, .loop = AS_NONE};
    int rc;

    if (!as_given(&cli->args, AS_OPTION_FUNCTION) && !as_given(&cli->args, AS_OPTION_LOOP))
        return as_error_set(err, AS_ERR_USAGE,
                            "cfg: nothing chosen; use --function NAME or --loop ID");
    v.with_instructions = as_given(&cli->args, AS_OPTION_INSTRUCTIONS);
    rc = as_chosen_load(cli, 0, &v.chosen, err);
    as_arena_init(&v.arena);
    if (rc == 0 && v.chosen.object)
        rc = choose_blocks(&v, err);
    if (rc == 0 && v.chosen.object)
        rc = show_cfg(&v, err);
    as_arena_fini(&v.arena);
    as_chosen_free(&v.chosen);
    return rc;
}
