/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the paths through one iteration of a loop. Paths are counted backwards on the graph without
 * cycles, so a loop with 2^64 paths costs only its edges. Paths are listed only if they are few.
 */
#include "code/paths.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "code/scratch.h"

/* Max number of blocks in a list of paths. Beyond it, even "any number" of paths yields the merged
 * view. */
#define BLOCKS_MOST ((size_t)1 << 26)

/* Depth-first walk along nodes that lead to the end of the iteration. `edge` has one element per
 * depth. */
struct walk {
    const struct as_iteration *it;
    uint32_t *node, *edge;
    uint32_t depth;
};

static void push_node(struct walk *w, uint32_t node)
{
    w->node[w->depth] = node;
    w->edge[w->depth++] = w->it->first_succ[node];
}

/* Goes on to the next back edge; the nodes on the stack are then a path. Returns false if none is
 * left. */
static bool next_path(struct walk *w)
{
    const struct as_iteration *it = w->it;
    while (w->depth) {
        uint32_t node = w->node[w->depth - 1];
        if (w->edge[w->depth - 1] == it->first_succ[node + 1]) {
            w->depth--;
            continue;
        }
        uint32_t to = it->succ[w->edge[w->depth - 1]++];
        if (to == 0)
            return true;
        if (it->ways[to])
            push_node(w, to);
    }
    return false;
}

static int walk_make(struct walk *w, const struct as_iteration *it, struct as_arena *arena)
{
    *w = (struct walk){.it = it};
    w->node = as_arena_array(arena, uint32_t, it->nodes);
    w->edge = as_arena_array(arena, uint32_t, it->nodes);
    if (!w->node || !w->edge)
        return AS_ERR_NOMEM;
    push_node(w, 0);
    return 0;
}

/* Returns the number of blocks of all paths together, or SIZE_MAX beyond BLOCKS_MOST. Sets `rc` to
 * 0 or AS_ERR_NOMEM. */
static size_t total_blocks(const struct as_iteration *it, struct as_arena *arena, int *rc)
{
    struct walk w;
    size_t n = 0;
    *rc = walk_make(&w, it, arena);
    while (*rc == 0 && n <= BLOCKS_MOST && next_path(&w))
        n += w.depth;
    return n <= BLOCKS_MOST ? n : SIZE_MAX;
}

static int list_paths(const struct as_iteration *it, size_t block_n, struct as_arena *arena,
                      struct as_paths *out)
{
    struct walk w;
    AS_TRY(walk_make(&w, it, arena));
    out->block = as_malloc((block_n ? block_n : 1) * sizeof *out->block);
    out->path = as_calloc(it->ways[0] ? it->ways[0] : 1, sizeof *out->path);
    if (!out->block || !out->path)
        return AS_ERR_NOMEM;
    while (next_path(&w)) {
        out->path[out->path_n++] =
            (struct as_path){.first = (uint32_t)out->block_n, .blocks = w.depth};
        for (uint32_t i = 0; i < w.depth; i++)
            out->block[out->block_n++] = it->block[w.node[i]];
    }
    return 0;
}

static int merge_paths(const struct as_iteration *it, struct as_paths *out)
{
    out->block = as_calloc(it->nodes, sizeof *out->block);
    out->path = as_calloc(1, sizeof *out->path);
    if (!out->block || !out->path)
        return AS_ERR_NOMEM;
    for (uint32_t u = 0; u < it->nodes; u++) {
        if (it->ways[u])
            out->block[out->block_n++] = it->block[u];
    }
    out->path[0].blocks = (uint32_t)out->block_n;
    out->path_n = 1;
    out->merged = true;
    return 0;
}

int as_paths_of(const struct as_iteration *iteration, unsigned limit, struct as_arena *arena,
                struct as_paths *out)
{
    size_t block_n = SIZE_MAX;
    int rc = 0;
    *out = (struct as_paths){.count = iteration->ways[0]};
    if (!limit || out->count <= limit)
        block_n = total_blocks(iteration, arena, &rc);
    if (rc == 0)
        rc = block_n == SIZE_MAX ? merge_paths(iteration, out)
                                 : list_paths(iteration, block_n, arena, out);
    if (rc < 0)
        as_paths_free(out);
    return rc;
}

int as_loop_paths(const struct as_program *program, uint32_t loop, unsigned limit,
                  struct as_paths *out, struct as_error *err)
{
    *out = (struct as_paths){0};
    struct as_scratch *scratch = as_scratch_acquire(program);
    const struct as_iteration *iteration =
        scratch ? as_scratch_iteration(scratch, program, loop) : NULL;
    int rc = iteration ? as_paths_of(iteration, limit, &scratch->arena, out) : AS_ERR_NOMEM;
    as_scratch_release(program, scratch);
    return rc < 0 ? as_error_nomem(err, "the paths of a loop") : 0;
}

void as_paths_free(struct as_paths *paths)
{
    as_free(paths->block);
    as_free(paths->path);
    *paths = (struct as_paths){0};
}

int as_loop_path_count(const struct as_program *program, uint32_t loop, struct as_arena *arena,
                       uint64_t *count)
{
    struct as_iteration iteration;
    *count = 1;
    if (program->loop[loop].blocks == 1)
        return 0;
    AS_TRY(as_iteration_make(program, loop, arena, &iteration));
    *count = iteration.ways[0];
    return 0;
}

int as_path_code(const struct as_program *program, const struct as_paths *paths, size_t path,
                 struct as_code *out, struct as_error *err)
{
    const uint32_t *block = paths->block + paths->path[path].first;
    size_t n = 0;

    *out = (struct as_code){0};
    for (uint32_t i = 0; i < paths->path[path].blocks; i++)
        n += program->block[block[i]].insns;
    out->insn = as_calloc(n + 1, sizeof *out->insn);
    if (!out->insn)
        return as_error_nomem(err, "the instructions of a path");
    for (uint32_t i = 0; i < paths->path[path].blocks; i++) {
        const struct as_block *from = &program->block[block[i]];
        memcpy(out->insn + out->n, program->code.insn + from->first_insn,
               from->insns * sizeof *out->insn);
        out->n += from->insns;
    }
    return 0;
}
