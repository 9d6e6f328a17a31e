/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Analyses a binary in the order that internal.h describes, and fills the tables. Bodies are filled
 * in parallel, because their places in the tables follow from the counts alone.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "code/nest.h"
#include "code/paths.h"
#include "code/scratch.h"

#define FILL_GRAIN 32

/* ---- Tables ------------------------------------------------------------------------------ */

struct fill {
    struct as_builder *b;
    struct as_nest *nest;     /* per body */
    struct as_arena *keep;    /* per worker: memory of nests */
    size_t *first_loop_block; /* per body: its first index into program->loop_block */
};

/* Returns the name "func_<hex>" for a body without a function, or NULL if memory is short. */
static const char *make_name(struct as_program *program, uint64_t entry)
{
    char name[32];
    int n = snprintf(name, sizeof name, "func_%llx", (unsigned long long)entry);
    return as_arena_strndup(&((struct as_whole *)program)->names, name, (size_t)n);
}

/* Fills a body except for size and unresolved jumps, which fill_blocks adds. */
static void fill_body(const struct as_builder *b, size_t body, uint32_t block, uint32_t loop,
                      uint32_t loops)
{
    const struct as_body_parts *parts = &b->body.at[body];
    const struct as_region *head = &b->region.at[parts->head];
    const struct as_flow *flow = &b->flow[body];
    unsigned bits = 0;
    bits |= parts->noreturn ? AS_BODY_NORETURN : 0;
    bits |= parts->outlined ? AS_BODY_OUTLINED : 0;
    bits |= flow->has_landing ? AS_BODY_LANDING : 0;
    bits |= head->origin == AS_FUNCTION_PLT ? AS_BODY_STUB : 0;
    bits |= head->origin == AS_FUNCTION_ENTRY ? AS_BODY_GUESSED : 0;
    const struct as_function *function =
        head->function == AS_NONE ? NULL : &b->program->function[head->function];
    /* Other code searches bodies by bisection. */
    assert(body == 0 || b->program->body[body - 1].entry < head->start);
    b->program->body[body] = (struct as_body){
        .name = function ? function->name : make_name(b->program, head->start),
        .entry = head->start,
        .function = head->function,
        .first_block = block,
        .blocks = flow->blocks,
        .entry_block = flow->entry == AS_NONE ? AS_NONE : block + flow->entry,
        .first_loop = loop,
        .loops = loops,
        .parent = parts->parent,
        .names = function && function->symbol != AS_NONE ? 1 + function->aliases : 0,
        .bits = (uint8_t)bits,
        .origin = head->origin,
    };
}

static uint32_t shifted(uint32_t local, uint32_t first)
{
    return local == AS_NONE ? AS_NONE : local + first;
}

static uint16_t block_bits(const struct as_flow_block *from)
{
    const bool second = from->is_root && !(from->bits & (AS_BLOCK_ENTRY | AS_BLOCK_UNREACHED));
    return (uint16_t)(from->bits | (second ? AS_BLOCK_SECOND : 0));
}

/* Fills blocks and successors of a body. Counts the edges into each block. */
static void fill_blocks(struct as_program *program, const struct as_flow *flow,
                        const struct as_nest *nest, struct as_body *body, uint32_t edge)
{
    struct as_block *block = program->block + body->first_block;
    uint32_t self = (uint32_t)(body - program->body);
    unsigned bits = 0;
    for (uint32_t v = 0; v < flow->blocks; v++) {
        const struct as_flow_block *from = &flow->block[v];
        block[v] = (struct as_block){
            .start = from->start,
            .first_insn = from->first_insn,
            .insns = from->insns,
            .size_b = from->size_b,
            .body = self,
            .first_succ = edge + from->first_edge,
            .succs = from->edges,
            .idom = shifted(nest->idom[v], body->first_block),
            .ipdom = shifted(nest->ipdom[v], body->first_block),
            .loop = nest->loops ? shifted(nest->loop_of[v], body->first_loop) : AS_NONE,
            .bits = block_bits(from),
        };
        body->size_b += block[v].size_b;
        bits |= from->bits & AS_BLOCK_UNRESOLVED ? AS_BODY_UNRESOLVED : 0;
    }
    body->bits = (uint8_t)(body->bits | bits);
    for (uint32_t v = 0; v < flow->blocks; v++) {
        for (uint32_t e = flow->block[v].first_edge;
             e < flow->block[v].first_edge + flow->block[v].edges; e++) {
            uint32_t to = flow->edge[e].to;
            bool back = nest->loops && nest->heads[to] != AS_NONE &&
                        as_nest_holds(nest, nest->heads[to], v);
            program->succ[edge + e] = (struct as_edge){
                .block = body->first_block + to, .kind = flow->edge[e].kind, .back = back};
            block[to].preds++;
        }
    }
}

static void fill_preds(struct as_program *program, const struct as_body *body, uint32_t edge)
{
    struct as_block *block = program->block + body->first_block;
    for (uint32_t v = 0; v < body->blocks; v++) {
        block[v].first_pred = edge;
        edge += block[v].preds;
        block[v].preds = 0;
    }
    for (uint32_t v = 0; v < body->blocks; v++) {
        for (uint32_t e = block[v].first_succ; e < block[v].first_succ + block[v].succs; e++) {
            struct as_block *to = &program->block[program->succ[e].block];
            program->pred[to->first_pred + to->preds++] =
                (struct as_edge){.block = body->first_block + v,
                                 .kind = program->succ[e].kind,
                                 .back = program->succ[e].back};
        }
    }
}

/* Counts the edges into, out of and back in each loop. */
static void count_loop_edges(struct as_program *program, const struct as_body *body)
{
    struct as_loop *loop = program->loop;
    const struct as_block *block = program->block;
    for (uint32_t v = body->first_block; v < body->first_block + body->blocks; v++) {
        for (uint32_t e = block[v].first_succ; e < block[v].first_succ + block[v].succs; e++) {
            uint32_t from = block[v].loop, to = block[program->succ[e].block].loop;
            while (from != to) { /* climb to the innermost loop that holds both */
                uint32_t from_depth = from == AS_NONE ? 0 : loop[from].depth;
                uint32_t to_depth = to == AS_NONE ? 0 : loop[to].depth;
                if (from_depth >= to_depth) {
                    loop[from].exits++;
                    from = loop[from].parent;
                }
                if (to_depth >= from_depth) {
                    loop[to].entries++;
                    to = loop[to].parent;
                }
            }
            if (program->succ[e].back) { /* the header's inner loop may have been merged */
                uint32_t l = block[program->succ[e].block].loop;
                loop[l].back_edges++;
            }
        }
    }
}

static void fill_loops(struct as_program *program, const struct as_nest *nest,
                       const struct as_body *body, size_t first)
{
    struct as_loop *loop = program->loop + body->first_loop;
    for (uint32_t l = 0; l < nest->loops; l++) {
        bool is_inner = nest->loop[l].parent != AS_NONE;
        bool has_inner = l + 1 < nest->loops && nest->loop[l + 1].parent == l;
        uint32_t self = body->first_loop + l;
        assert(!is_inner || nest->loop[l].parent < l); /* walks from outer to inner rely on this */
        loop[l] = (struct as_loop){
            .body = (uint32_t)(body - program->body),
            .header = body->first_block + nest->loop[l].header,
            .parent = shifted(nest->loop[l].parent, body->first_loop),
            .depth = nest->loop[l].depth,
            .first_block = (uint32_t)first,
            .inlined = AS_NONE,
            .group = self,
            .level = is_inner ? (has_inner ? AS_LEVEL_BETWEEN : AS_LEVEL_INNERMOST)
                              : (has_inner ? AS_LEVEL_OUTERMOST : AS_LEVEL_SINGLE),
            .role = AS_ROLE_MAIN,
            .bits = nest->loop[l].bits,
        };
        first += nest->loop[l].blocks;
    }
    for (uint32_t v = body->first_block; v < body->first_block + body->blocks; v++) {
        uint32_t l = program->block[v].loop;
        for (bool is_own = true; l != AS_NONE; l = program->loop[l].parent, is_own = false) {
            struct as_loop *around = &program->loop[l];
            if (around->bits & AS_LOOP_OUTSIZE && !is_own)
                break;
            program->loop_block[around->first_block + around->blocks++] = v;
            around->insns += program->block[v].insns;
        }
    }
    count_loop_edges(program, body);
}

/* Counts the paths of all loops of one body. */
static int count_paths(struct as_program *program, const struct as_body *body, unsigned limit,
                       struct as_arena *scratch)
{
    int rc = 0;
    for (uint32_t l = body->first_loop; l < body->first_loop + body->loops && rc == 0; l++) {
        uint64_t count = 0;
        if (program->loop[l].bits & AS_LOOP_OUTSIZE)
            continue;
        as_arena_reset(scratch);
        rc = as_loop_path_count(program, l, scratch, &count);
        program->loop[l].paths = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
        if (limit && count > limit)
            program->loop[l].bits |= AS_LOOP_PATH_LIMIT;
    }
    return rc;
}

static int nest_some(void *ctx, size_t from, size_t to, unsigned worker, struct as_error *err)
{
    struct fill *f = ctx;
    int rc = 0;
    for (size_t i = from; i < to && rc == 0; i++) {
        struct as_arena *scratch = as_scratch_of(f->b, worker);
        rc = as_nest_make(f->b, &f->b->flow[i], scratch, &f->keep[worker], &f->nest[i]);
    }
    return rc < 0 ? as_error_nomem(err, "loops of code") : 0;
}

static int fill_some(void *ctx, size_t from, size_t to, unsigned worker, struct as_error *err)
{
    const struct fill *f = ctx;
    struct as_program *program = f->b->program;
    struct as_arena *scratch = as_scratch_of(f->b, worker);
    for (size_t i = from; i < to; i++) {
        struct as_body *body = &program->body[i];
        uint32_t edge = body->function; /* place_bodies stored it there */
        program->body[i].function = f->b->region.at[f->b->body.at[i].head].function;
        fill_blocks(program, &f->b->flow[i], &f->nest[i], body, edge);
        fill_preds(program, body, edge);
        if (!body->loops)
            continue;
        fill_loops(program, &f->nest[i], body, f->first_loop_block[i]);
        if (count_paths(program, body, f->b->path_limit, scratch) < 0)
            return as_error_nomem(err, "paths of loops");
    }
    return 0;
}

/* Assigns places in the tables to the blocks, edges and loops of each body.
 * Allocates the tables. */
static int place_bodies(struct fill *f, struct as_error *err)
{
    struct as_builder *b = f->b;
    struct as_program *program = b->program;
    size_t blocks = 0, edges = 0, loops = 0, loop_blocks = 0;
    program->body = as_calloc(b->body.n + 1, sizeof *program->body);
    f->first_loop_block = as_calloc(b->body.n + 1, sizeof *f->first_loop_block);
    if (!program->body || !f->first_loop_block)
        return as_error_nomem(err, "tables of code");
    program->body_n = b->body.n;
    for (size_t i = 0; i < b->body.n; i++) {
        fill_body(b, i, (uint32_t)blocks, (uint32_t)loops, f->nest[i].loops);
        if (!program->body[i].name)
            return as_error_nomem(err, "names of code");
        program->body[i].function = (uint32_t)edges;
        f->first_loop_block[i] = loop_blocks;
        blocks += b->flow[i].blocks;
        edges += b->flow[i].edges;
        loops += f->nest[i].loops;
        for (uint32_t l = 0; l < f->nest[i].loops; l++)
            loop_blocks += f->nest[i].loop[l].blocks;
        program->indirect.jumps += b->flow[i].jumps;
        program->indirect.tables += b->flow[i].tables;
        program->indirect.calls += b->flow[i].calls;
    }
    program->indirect.unresolved =
        program->indirect.jumps - program->indirect.tables - program->indirect.calls;
    if (edges >= AS_NONE || loop_blocks >= AS_NONE)
        return as_error_set(err, AS_ERR_LIMIT,
                            "more than 4,294,967,294 edges between blocks: analyse a part");
    program->block = as_malloc_table(blocks + 1, sizeof *program->block);
    program->succ = as_malloc_table(edges + 1, sizeof *program->succ);
    program->pred = as_malloc_table(edges + 1, sizeof *program->pred);
    program->loop = as_malloc_table(loops + 1, sizeof *program->loop);
    program->loop_block = as_malloc_table(loop_blocks + 1, sizeof *program->loop_block);
    if (!program->block || !program->succ || !program->pred || !program->loop ||
        !program->loop_block)
        return as_error_nomem(err, "tables of code");
    program->block_n = blocks;
    program->edge_n = edges;
    program->loop_n = loops;
    program->loop_block_n = loop_blocks;
    return 0;
}

int as_program_fill(struct as_builder *b, struct as_error *err)
{
    struct fill f = {.b = b,
                     .nest = as_calloc(b->body.n + 1, sizeof *f.nest),
                     .keep = as_calloc(b->workers, sizeof *f.keep)};
    int rc = f.nest && f.keep ? 0 : as_error_nomem(err, "loops of code");
    for (unsigned i = 0; f.keep && i < b->workers; i++)
        as_arena_init(&f.keep[i]);
    if (rc == 0)
        rc = as_pool_for(b->pool, b->body.n, FILL_GRAIN, nest_some, &f, err);
    if (rc == 0)
        rc = place_bodies(&f, err);
    if (rc == 0)
        rc = as_pool_for(b->pool, b->body.n, FILL_GRAIN, fill_some, &f, err);
    for (unsigned i = 0; f.keep && i < b->workers; i++)
        as_arena_fini(&f.keep[i]);
    as_free(f.nest);
    as_free(f.keep);
    as_free(f.first_loop_block);
    return rc;
}

/* ---- The analysis ------------------------------------------------------------------------ */

static void builder_fini(struct as_builder *b)
{
    for (unsigned i = 0; b->arena && i < 2 * b->workers; i++)
        as_arena_fini(&b->arena[i]);
    as_free(b->arena);
    as_free(b->flow);
    as_vec_fini(&b->region);
    as_free(b->near.first);
    as_notes_release(b);
    as_vec_fini(&b->crossing);
    as_vec_fini(&b->reference);
    as_vec_fini(&b->data_address);
    as_vec_fini(&b->label);
    as_vec_fini(&b->second_entry);
    as_vec_fini(&b->body);
    as_vec_fini(&b->part);
    as_pointers_free(&b->pointers);
    as_pool_free(&b->pool);
}

static int builder_init(struct as_builder *b, const struct as_program_options *options,
                        struct as_error *err)
{
    AS_TRY(as_pool_new(&b->pool, options->jobs, err));
    b->workers = as_pool_jobs(b->pool);
    b->path_limit = options->path_limit;
    b->arena = as_calloc(2 * (size_t)b->workers, sizeof *b->arena);
    if (!b->arena)
        return as_error_nomem(err, "code of a binary");
    for (unsigned i = 0; i < 2 * b->workers; i++)
        as_arena_init(&b->arena[i]);
    AS_TRY(as_object_pointers(b->object, &b->pointers, err));
    struct as_program *program = b->program;
    AS_TRY(as_object_functions(b->object, options->with_source, &program->function,
                               &program->function_n, err));
    if (options->with_source)
        AS_TRY(as_object_debug(b->object, AS_DEBUG_ALL, options->jobs, &program->debug, NULL, err));
    return 0;
}

static int analyse(struct as_builder *b, const struct as_program_options *options,
                   struct as_error *err)
{
    AS_TRY(builder_init(b, options, err));
    AS_TRY(as_regions_make(b, err));
    AS_TRY(as_regions_sweep(b, err));
    AS_TRY(as_regions_split(b, err));
    AS_TRY(as_regions_scan(b, err));
    AS_TRY(as_bodies_join(b, err));
    AS_TRY(as_flows_make(b, err));
    AS_TRY(as_program_fill(b, err));
    return as_loops_source(b, err);
}

int as_program_new(struct as_object *object, const struct as_program_options *options,
                   struct as_program **out, struct as_error *err)
{
    *out = NULL;
    struct as_whole *whole = as_calloc(1, sizeof *whole);
    if (!whole)
        return as_error_nomem(err, "code of a binary");
    struct as_program *program = &whole->program;
    as_arena_init(&whole->names);
    program->object = object;
    struct as_builder b = {.program = program, .object = object};
    int rc = analyse(&b, options, err);
    builder_fini(&b);
    if (rc < 0) {
        as_program_free(&program);
        return rc;
    }
    *out = program;
    return 0;
}

bool as_loop_holds(const struct as_program *program, uint32_t loop, uint32_t block)
{
    const uint32_t depth = program->loop[loop].depth;
    uint32_t at = program->block[block].loop;
    while (at != AS_NONE && program->loop[at].depth > depth)
        at = program->loop[at].parent;
    return at == loop;
}

void as_program_free(struct as_program **program)
{
    struct as_program *p = *program;
    if (!p)
        return;
    as_code_free(&p->code);
    as_free(p->body);
    as_free(p->block);
    as_free(p->succ);
    as_free(p->pred);
    as_free(p->loop);
    as_free(p->loop_block);
    as_free(p->loop_source);
    as_arena_fini(&((struct as_whole *)p)->names);
    as_scratches_fini(&((struct as_whole *)p)->scratches);
    as_free(p);
    *program = NULL;
}
