/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the source lines of a loop. A loop is at one level of inlining: the innermost instance that
 * holds its back edges and most of its code. Rows of this level make the loop's own range. Code
 * inlined into the loop counts with the line of its call; its own lines become further ranges. Rows
 * without instructions and rows with line 0 are ignored (DWARF 5, 6.2.2).
 */
#include "code/source.h"

#include <string.h>

#include "base/search.h"

#define RANGES_MOST   16 /* of one loop */
#define LEVEL_PERCENT 75 /* min share of the rows of a loop at its level of inlining */

/* ---- Rows of a body ---------------------------------------------------------------------- */

/*
 * Returns the index of the line-table row that covers `address`, or else of the first row after it.
 * The search starts at the result of the previous one, because the addresses mostly ascend.
 */
static size_t first_row_at(struct as_source *s, uint64_t address)
{
    const struct as_debug *debug = &s->program->debug;
    s->near_line =
        as_first_not_near(i, debug->line_n, s->near_line, debug->line[i].address <= address);
    const struct as_line *before = s->near_line ? &debug->line[s->near_line - 1] : NULL;
    if (before && !(before->file == AS_NONE && before->line == 0))
        return s->near_line - 1;
    return as_first_not_near(i, debug->line_n, s->near_line, debug->line[i].address < address);
}

static uint64_t end_of(const struct as_block *block)
{
    return block->start + block->size_b;
}

/* Returns the number of rows that may cover bytes of the block. Sets `*first` to the index of the
 * first row. */
static uint32_t count_rows(struct as_source *s, const struct as_block *block, size_t *first)
{
    const struct as_debug *debug = &s->program->debug;
    uint32_t n = 0;
    *first = first_row_at(s, block->start);
    for (size_t i = *first; i < debug->line_n && debug->line[i].address < end_of(block); i++)
        n++;
    return n;
}

bool as_source_has_place(struct as_source *s, uint32_t block, uint64_t place)
{
    const struct as_debug *debug = &s->program->debug;
    const uint64_t end = end_of(&s->program->block[block]);

    for (size_t i = first_row_at(s, s->program->block[block].start);
         i < debug->line_n && debug->line[i].address < end; i++) {
        const struct as_source_row row = {.file = debug->line[i].file,
                                          .line = debug->line[i].line,
                                          .column = debug->line[i].column};
        if (as_source_place(&row) == place)
            return true;
    }
    return false;
}

/* Returns the line of the first code of the body: gcc opens the function there. Sets `file` to its
 * file, or to AS_NONE with line 0. */
static uint32_t opening_line(const struct as_source *s, uint32_t *file)
{
    const struct as_line *row = as_debug_line_at(&s->program->debug, s->body->entry);
    const struct as_line *first = s->program->debug.line;
    while (row && row > first && row[-1].address == s->body->entry)
        row--;
    *file = row ? row->file : AS_NONE;
    return row ? row->line : 0;
}

static uint32_t fill_rows(struct as_source *s, const struct as_block *block, size_t first,
                          uint32_t file, uint32_t line, struct as_source_row *out)
{
    const struct as_debug *debug = &s->program->debug;
    const struct as_line *row = debug->line + first;
    const struct as_line *end = debug->line + debug->line_n;
    uint32_t n = 0;
    for (; row < end && row->address < end_of(block); row++) {
        if (row + 1 < end && row[1].address <= block->start)
            continue;
        if (row + 1 < end && row[1].address == row->address)
            continue; /* the row covers nothing: often a statement before the loop */
        if (row->line == 0 || row->file == AS_NONE)
            continue;
        uint64_t address = row->address > block->start ? row->address : block->start;
        uint32_t at = as_debug_inline_near(s->program->object, address, &s->near_inline);
        const struct as_inline *in = at == AS_NONE ? NULL : &debug->inlines[at];
        bool declared = in && row->file == in->decl_file && row->line == in->decl_line;
        bool opened = row->file == file && row->line == line && (!in || in->call_line == 0);
        out[n++] = (struct as_source_row){.address = address,
                                          .file = row->file,
                                          .line = row->line,
                                          .at = at,
                                          .column = row->column,
                                          .opening = declared || opened};
    }
    return n;
}

/* Makes rows of the blocks in loops. Other blocks have no rows. */
static int make_rows(struct as_source *s)
{
    const struct as_block *block = &s->program->block[s->body->first_block];
    size_t *first = as_arena_fresh(s->arena, size_t, (size_t)s->body->blocks + 1);
    uint32_t n = 0, file, line = opening_line(s, &file);
    if (!first)
        return AS_ERR_NOMEM;
    for (uint32_t v = 0; v < s->body->blocks; v++)
        n += block[v].loop == AS_NONE ? 0 : count_rows(s, &block[v], &first[v]);
    s->row = as_arena_fresh(s->arena, struct as_source_row, (size_t)n + 1);
    if (!s->row)
        return AS_ERR_NOMEM;
    n = 0;
    for (uint32_t v = 0; v < s->body->blocks; v++) {
        s->first_row[v] = n;
        if (block[v].loop != AS_NONE)
            n += fill_rows(s, &block[v], first[v], file, line, s->row + n);
    }
    s->first_row[s->body->blocks] = n;
    return 0;
}

/* ---- Level of inlining ------------------------------------------------------------------- */

/* Returns the instance around `at` with the parent `level`, or `at` itself. Returns `level` if `at`
 * is this level, and AS_NONE if it is outside of the level. */
static uint32_t climb_to(const struct as_debug *debug, uint32_t at, uint32_t level)
{
    while (at != AS_NONE && at != level && debug->inlines[at].parent != level)
        at = debug->inlines[at].parent;
    return at;
}

static uint32_t depth_of(const struct as_debug *debug, uint32_t at)
{
    uint32_t depth = 0;
    for (; at != AS_NONE; at = debug->inlines[at].parent)
        depth++;
    return depth;
}

/* Returns the innermost instance that holds both. */
static uint32_t common(const struct as_debug *debug, uint32_t a, uint32_t b)
{
    uint32_t a_depth = depth_of(debug, a), b_depth = depth_of(debug, b);
    for (; a_depth > b_depth; a_depth--)
        a = debug->inlines[a].parent;
    for (; b_depth > a_depth; b_depth--)
        b = debug->inlines[b].parent;
    while (a != b) {
        a = debug->inlines[a].parent;
        b = debug->inlines[b].parent;
    }
    return a;
}

/* Returns true if `at` is `level` or is inlined into it. */
static bool is_in(const struct as_debug *debug, uint32_t at, uint32_t level)
{
    while (at != AS_NONE && at != level)
        at = debug->inlines[at].parent;
    return at == level;
}

/* Iterates over each row of a loop, inner loops included; `it` is the row. */
#define FOR_ROWS(s, loop, it)                                                                      \
    for (uint32_t k_ = 0; k_ < (loop)->blocks; k_++)                                               \
        for (const struct as_source_row *it = first_of(s, loop, k_), *e_ = last_of(s, loop, k_);   \
             it < e_; it++)

static const struct as_source_row *first_of(const struct as_source *s, const struct as_loop *loop,
                                            uint32_t k)
{
    uint32_t block = s->program->loop_block[loop->first_block + k];
    return s->row + s->first_row[block - s->body->first_block];
}

static const struct as_source_row *last_of(const struct as_source *s, const struct as_loop *loop,
                                           uint32_t k)
{
    uint32_t block = s->program->loop_block[loop->first_block + k];
    return s->row + s->first_row[block - s->body->first_block + 1];
}

static bool holds_most(const struct as_source *s, const struct as_loop *loop, uint32_t level)
{
    uint64_t all = 0, inside = 0;
    FOR_ROWS(s, loop, row)
    {
        if (row->opening)
            continue;
        all++;
        inside += is_in(&s->program->debug, row->at, level);
    }
    return inside * 100 >= all * LEVEL_PERCENT;
}

/* Returns the row of the last instruction of a block, or NULL. */
static const struct as_source_row *last_row(const struct as_source *s, uint32_t block)
{
    const struct as_block *b = &s->program->block[block];
    uint64_t address = s->program->code.insn[b->first_insn + b->insns - 1].address;
    const uint32_t *first = &s->first_row[block - s->body->first_block];
    for (uint32_t i = first[1]; i > first[0]; i--) {
        if (s->row[i - 1].address <= address)
            return &s->row[i - 1];
    }
    return NULL;
}

/*
 * Returns the innermost instance that holds all back edges and most of the loop. Single
 * instructions of a loop may belong to the function around it. A test that was inlined is not the
 * level of the loop.
 */
static uint32_t level_of(const struct as_source *s, const struct as_loop *loop)
{
    const struct as_program *program = s->program;
    const struct as_block *header = &program->block[loop->header];
    uint32_t level = AS_NONE;
    bool any = false;
    for (uint32_t e = header->first_pred; e < header->first_pred + header->preds; e++) {
        if (!program->pred[e].back)
            continue;
        const struct as_block *from = &program->block[program->pred[e].block];
        uint32_t at = as_debug_inline_at(
            program->object, program->code.insn[from->first_insn + from->insns - 1].address);
        level = any ? common(&program->debug, level, at) : at;
        any = true;
    }
    while (level != AS_NONE && program->debug.inlines[level].parent != AS_NONE &&
           !holds_most(s, loop, level))
        level = program->debug.inlines[level].parent;
    return level;
}

/* ---- Ranges ------------------------------------------------------------------------------ */

struct lines {
    struct range {
        struct as_source_range sure, weak; /* weak: only lines that open functions */
        uint32_t file;
        uint32_t rows;
        bool own; /* the rows are at the loop's level, or are calls made there */
    } range[RANGES_MOST];
    uint32_t n;
};

static void widen(struct as_source_range *r, uint32_t line)
{
    if (r->first_line == 0 || line < r->first_line)
        r->first_line = line;
    if (line > r->last_line)
        r->last_line = line;
}

static void add_line(struct lines *l, uint32_t file, uint32_t line, bool own, bool opening)
{
    uint32_t i = 0;
    if (file == AS_NONE || line == 0)
        return;
    while (i < l->n && !(l->range[i].file == file && l->range[i].own == own))
        i++;
    if (i == RANGES_MOST)
        return;
    if (i == l->n)
        l->range[l->n++] = (struct range){.file = file, .own = own};
    if (opening) {
        widen(&l->range[i].weak, line);
    } else {
        l->range[i].rows++;
        widen(&l->range[i].sure, line);
    }
}

static void add_row(const struct as_source *s, struct lines *l, const struct as_source_row *row,
                    uint32_t level)
{
    const struct as_debug *debug = &s->program->debug;
    uint32_t below = climb_to(debug, row->at, level);
    if (row->at == level || below == AS_NONE) {
        /* A row above the function's own line belongs to a call without a range of its instance. */
        bool above = row->at != AS_NONE && row->file == debug->inlines[row->at].decl_file &&
                     row->line < debug->inlines[row->at].decl_line;
        add_line(l, row->file, row->line, row->at == level && !above, row->opening);
        return;
    }
    const struct as_inline *call = &debug->inlines[below];
    add_line(l, call->call_file, call->call_line, true, false);
    add_line(l, row->file, row->line, false, row->opening);
}

/* Returns the number of the loop's own range: the range with the file of a back edge, or else with
 * most rows at the loop's level. */
static uint32_t own_range(const struct as_source *s, const struct as_loop *loop, uint32_t level,
                          const struct lines *l)
{
    const struct as_block *header = &s->program->block[loop->header];
    uint32_t best = 0;
    for (uint32_t i = 1; i < l->n; i++) {
        const struct range *a = &l->range[i], *b = &l->range[best];
        if (a->own > b->own || (a->own == b->own && a->rows > b->rows))
            best = i;
    }
    for (uint32_t e = header->first_pred; e < header->first_pred + header->preds; e++) {
        if (!s->program->pred[e].back)
            continue;
        const struct as_source_row *row = last_row(s, s->program->pred[e].block);
        for (uint32_t i = 0; row && row->at == level && i < l->n; i++) {
            if (l->range[i].own && l->range[i].file == row->file)
                return i;
        }
    }
    return best;
}

static int add_source_range(struct as_source *s, struct as_loop *loop, const struct range *r)
{
    struct as_source_range lines = r->sure.first_line ? r->sure : r->weak;
    lines.file = r->file;
    loop->sources++;
    return as_vec_push(s->ranges, lines);
}

static int tie_loop(struct as_source *s, struct as_loop *loop)
{
    const struct as_debug *debug = &s->program->debug;
    uint32_t level = level_of(s, loop);
    struct lines l = {.n = 0};
    FOR_ROWS(s, loop, row)
    add_row(s, &l, row, level);
    loop->source = (uint32_t)s->ranges->n;
    loop->sources = 0;
    if (level != AS_NONE && debug->inlines[level].call_line != 0)
        loop->inlined = level;
    if (l.n == 0)
        return 0;
    uint32_t own = own_range(s, loop, level, &l);
    AS_TRY(add_source_range(s, loop, &l.range[own]));
    for (uint32_t i = 0; i < l.n; i++) {
        if (i != own)
            AS_TRY(add_source_range(s, loop, &l.range[i]));
    }
    return 0;
}

int as_source_lines(struct as_source *s)
{
    s->first_row = as_arena_array(s->arena, uint32_t, (size_t)s->body->blocks + 1);
    if (!s->first_row)
        return AS_ERR_NOMEM;
    AS_TRY(make_rows(s));
    for (uint32_t l = 0; l < s->body->loops; l++)
        AS_TRY(tie_loop(s, &s->program->loop[s->body->first_loop + l]));
    return 0;
}
