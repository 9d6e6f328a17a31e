/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of a loop. A loop stands at one level of inlining: the innermost instance that holds its
 * ways back and most of its code. Rows of that level give its own range; code inlined into the loop
 * counts with the line of its call, and its own lines become further ranges.
 */
#include "code/source.h"

#include <string.h>

#define RANGES_MOST   8  /* of one loop */
#define LEVEL_PERCENT 75 /* of the rows of a loop that its level of inlining holds */
#define SOURCE_GRAIN  64

/* Instance of `at` or around it whose parent is `level`; `level` itself when `at` is it. */
static uint32_t climb_to(const struct assay_debug *debug, uint32_t at, uint32_t level)
{
    while (at != ASSAY_NONE && at != level && debug->inlines[at].parent != level)
        at = debug->inlines[at].parent;
    return at;
}

static uint32_t depth_of(const struct assay_debug *debug, uint32_t at)
{
    uint32_t depth = 0;
    for (; at != ASSAY_NONE; at = debug->inlines[at].parent)
        depth++;
    return depth;
}

/* Innermost instance that holds both. */
static uint32_t common(const struct assay_debug *debug, uint32_t a, uint32_t b)
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

static uint64_t last_address(const struct assay_program *program, uint32_t block)
{
    const struct assay_block *b = &program->block[block];
    return program->code.insn[b->first_insn + b->insns - 1].address;
}

/* Whether `at` is `level` or inlined into it. */
static bool is_in(const struct assay_debug *debug, uint32_t at, uint32_t level)
{
    while (at != ASSAY_NONE && at != level)
        at = debug->inlines[at].parent;
    return at == level;
}

/* Rows of the line table in a loop, and how many of them `level` holds. */
struct share {
    uint32_t all, inside;
};

static void count_block(const struct assay_program *program, const struct assay_block *block,
                        uint32_t level, struct share *share)
{
    const struct assay_debug *debug = &program->debug;
    const struct assay_line *row = assay_debug_line_at(debug, block->start);
    const struct assay_line *end = debug->line + debug->line_n;
    for (; row && row < end && row->address < block->start + block->size_b; row++) {
        uint64_t address = row->address > block->start ? row->address : block->start;
        share->all++;
        share->inside += is_in(debug, assay_debug_inline_at(program->object, address), level);
    }
}

static bool holds_most(const struct assay_program *program, const struct assay_loop *loop,
                       uint32_t level)
{
    struct share share = {0};
    for (uint32_t k = 0; k < loop->blocks; k++)
        count_block(program, &program->block[program->loop_block[loop->first_block + k]], level,
                    &share);
    return (uint64_t)share.inside * 100 >= (uint64_t)share.all * LEVEL_PERCENT;
}

/*
 * The innermost instance around all ways back that holds most of the loop: single instructions of
 * a loop may count to the function around it, and a test that was inlined is not the loop's level.
 */
static uint32_t level_of(const struct assay_program *program, const struct assay_loop *loop)
{
    const struct assay_block *header = &program->block[loop->header];
    uint32_t level = ASSAY_NONE;
    bool any = false;
    for (uint32_t e = header->first_pred; e < header->first_pred + header->preds; e++) {
        if (!program->pred[e].back)
            continue;
        uint32_t at =
            assay_debug_inline_at(program->object, last_address(program, program->pred[e].block));
        level = any ? common(&program->debug, level, at) : at;
        any = true;
    }
    while (level != ASSAY_NONE && program->debug.inlines[level].parent != ASSAY_NONE &&
           !holds_most(program, loop, level))
        level = program->debug.inlines[level].parent;
    return level;
}

struct lines {
    struct assay_program *program;
    uint32_t level;
    struct assay_source_range range[RANGES_MOST];
    bool own[RANGES_MOST]; /* of rows at the loop's level or of calls made there */
    uint32_t rows[RANGES_MOST];
    uint32_t ranges;
};

static void add_line(struct lines *l, uint32_t file, uint32_t line, bool own)
{
    uint32_t i = 0;
    if (file == ASSAY_NONE || line == 0)
        return;
    while (i < l->ranges && !(l->range[i].file == file && l->own[i] == own))
        i++;
    if (i == RANGES_MOST)
        return;
    if (i == l->ranges) {
        l->range[i] = (struct assay_source_range){file, line, line};
        l->own[i] = own;
        l->rows[i] = 0;
        l->ranges++;
    }
    l->rows[i]++;
    if (line < l->range[i].first_line)
        l->range[i].first_line = line;
    if (line > l->range[i].last_line)
        l->range[i].last_line = line;
}

/* One row of the line table inside the loop. */
static void add_row(struct lines *l, const struct assay_line *row, uint64_t address)
{
    const struct assay_debug *debug = &l->program->debug;
    uint32_t at = assay_debug_inline_at(l->program->object, address);
    uint32_t below = climb_to(debug, at, l->level);
    if (at == l->level || below == ASSAY_NONE) {
        /* Rows from above the function's own line are of calls whose instance has no range here. */
        bool above = at != ASSAY_NONE && row->file == debug->inlines[at].decl_file &&
                     row->line < debug->inlines[at].decl_line;
        add_line(l, row->file, row->line, at == l->level && !above);
        return;
    }
    add_line(l, debug->inlines[below].call_file, debug->inlines[below].call_line, true);
    add_line(l, row->file, row->line, false);
}

static void add_block(struct lines *l, const struct assay_block *block)
{
    const struct assay_debug *debug = &l->program->debug;
    const struct assay_line *row = assay_debug_line_at(debug, block->start);
    const struct assay_line *end = debug->line + debug->line_n;
    uint64_t address = block->start;
    if (!row)
        return;
    while (row < end && row->address < block->start + block->size_b) {
        if (row->address > address)
            address = row->address;
        add_row(l, row, address);
        row++;
    }
}

/* The loop's own file first: that of its ways back, else the one with most rows at its level. */
static void put_own_first(struct lines *l, const struct assay_loop *loop)
{
    const struct assay_program *program = l->program;
    const struct assay_block *header = &program->block[loop->header];
    uint32_t best = 0;
    for (uint32_t i = 1; i < l->ranges; i++) {
        if (l->own[i] > l->own[best] || (l->own[i] == l->own[best] && l->rows[i] > l->rows[best]))
            best = i;
    }
    for (uint32_t e = header->first_pred; e < header->first_pred + header->preds; e++) {
        if (!program->pred[e].back)
            continue;
        uint64_t address = last_address(program, program->pred[e].block);
        const struct assay_line *row = assay_debug_line_at(&program->debug, address);
        if (!row || assay_debug_inline_at(program->object, address) != l->level)
            continue;
        for (uint32_t i = 0; i < l->ranges; i++) {
            if (l->own[i] && l->range[i].file == row->file) {
                best = i;
                break;
            }
        }
    }
    struct assay_source_range range = l->range[best];
    memmove(l->range + 1, l->range, sizeof *l->range * best);
    l->range[0] = range;
}

int as_source_lines(struct assay_program *program, uint32_t body, as_source_ranges *ranges)
{
    const struct assay_body *b = &program->body[body];
    for (uint32_t i = b->first_loop; i < b->first_loop + b->loops; i++) {
        struct assay_loop *loop = &program->loop[i];
        struct lines l = {.program = program, .level = level_of(program, loop)};
        for (uint32_t k = 0; k < loop->blocks; k++)
            add_block(&l, &program->block[program->loop_block[loop->first_block + k]]);
        loop->source = (uint32_t)ranges->n;
        loop->sources = l.ranges;
        if (l.level != ASSAY_NONE && program->debug.inlines[l.level].call_line != 0)
            loop->inlined = l.level;
        if (l.ranges == 0)
            continue;
        put_own_first(&l, loop);
        for (uint32_t k = 0; k < l.ranges; k++)
            AS_TRY(as_vec_push(ranges, l.range[k]));
    }
    return 0;
}

/* ---- All bodies -------------------------------------------------------------------------- */

struct source {
    struct assay_program *program;
    as_source_ranges *chunk; /* per SOURCE_GRAIN bodies */
};

static int lines_some(void *ctx, size_t from, size_t to, unsigned worker, struct assay_error *err)
{
    (void)worker;
    struct source *s = ctx;
    int rc = 0;
    for (size_t body = from; body < to && rc == 0; body++)
        rc = as_source_lines(s->program, (uint32_t)body, &s->chunk[body / SOURCE_GRAIN]);
    return rc < 0 ? as_error_nomem(err, "source of loops") : 0;
}

static int groups_some(void *ctx, size_t from, size_t to, unsigned worker, struct assay_error *err)
{
    (void)worker;
    struct source *s = ctx;
    int rc = 0;
    for (size_t body = from; body < to && rc == 0; body++) {
        struct as_arena arena;
        if (s->program->body[body].loops == 0)
            continue;
        as_arena_init(&arena);
        rc = as_source_groups(s->program, (uint32_t)body, &arena);
        if (rc == 0)
            rc = as_source_unroll(s->program, (uint32_t)body, &arena);
        as_arena_fini(&arena);
    }
    return rc < 0 ? as_error_nomem(err, "source of loops") : 0;
}

/* Puts the ranges of all chunks into one table and shifts the loops' references to it. */
static int gather_ranges(struct source *s, size_t chunks)
{
    struct assay_program *program = s->program;
    size_t n = 0;
    for (size_t c = 0; c < chunks; c++)
        n += s->chunk[c].n;
    program->loop_source = as_malloc(sizeof *program->loop_source * (n + 1));
    if (!program->loop_source)
        return ASSAY_ERR_NOMEM;
    for (size_t c = 0; c < chunks; c++) {
        size_t last =
            (c + 1) * SOURCE_GRAIN < program->body_n ? (c + 1) * SOURCE_GRAIN : program->body_n;
        if (s->chunk[c].n)
            memcpy(program->loop_source + program->loop_source_n, s->chunk[c].at,
                   sizeof *s->chunk[c].at * s->chunk[c].n);
        for (size_t body = c * SOURCE_GRAIN; body < last; body++) {
            struct assay_loop *loop = &program->loop[program->body[body].first_loop];
            for (uint32_t l = 0; l < program->body[body].loops; l++)
                loop[l].source += (uint32_t)program->loop_source_n;
        }
        program->loop_source_n += s->chunk[c].n;
    }
    return 0;
}

int as_loops_source(struct as_builder *b, struct assay_error *err)
{
    struct assay_program *program = b->program;
    size_t chunks = (program->body_n + SOURCE_GRAIN - 1) / SOURCE_GRAIN;
    struct source s = {.program = program, .chunk = as_calloc(chunks + 1, sizeof *s.chunk)};
    if (!s.chunk)
        return as_error_nomem(err, "source of loops");
    int rc = program->debug.line_n
                 ? as_pool_for(b->pool, program->body_n, SOURCE_GRAIN, lines_some, &s, err)
                 : 0;
    if (rc == 0 && gather_ranges(&s, chunks) < 0)
        rc = as_error_nomem(err, "source of loops");
    if (rc == 0)
        rc = as_pool_for(b->pool, program->body_n, SOURCE_GRAIN, groups_some, &s, err);
    for (size_t c = 0; c < chunks; c++)
        as_vec_fini(&s.chunk[c]);
    as_free(s.chunk);
    return rc;
}
