/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the promises of the analysis of whole binaries (check.h), with one thread and with two.
 * Compares the two results: big FILE... Missing files are skipped.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

#define SLOW_MOST 300

/* Field by field: what stands between fields is not set. */
static bool same_block(const struct as_block *a, const struct as_block *b)
{
    return a->start == b->start && a->first_insn == b->first_insn && a->insns == b->insns &&
           a->size_b == b->size_b && a->body == b->body && a->first_succ == b->first_succ &&
           a->succs == b->succs && a->first_pred == b->first_pred && a->preds == b->preds &&
           a->idom == b->idom && a->ipdom == b->ipdom && a->loop == b->loop && a->bits == b->bits;
}

static bool same_edge(const struct as_edge *a, const struct as_edge *b)
{
    return a->block == b->block && a->kind == b->kind && a->back == b->back;
}

static bool same_loop(const struct as_loop *a, const struct as_loop *b)
{
    return a->body == b->body && a->header == b->header && a->parent == b->parent &&
           a->depth == b->depth && a->first_block == b->first_block && a->blocks == b->blocks &&
           a->entries == b->entries && a->exits == b->exits && a->back_edges == b->back_edges &&
           a->source == b->source && a->sources == b->sources && a->inlined == b->inlined &&
           a->group == b->group && a->paths == b->paths && a->unroll == b->unroll &&
           a->unroll_confidence == b->unroll_confidence && a->level == b->level &&
           a->role == b->role && a->bits == b->bits;
}

static bool same(const struct as_program *a, const struct as_program *b)
{
    bool equal = a->body_n == b->body_n && a->block_n == b->block_n && a->edge_n == b->edge_n &&
                 a->loop_n == b->loop_n && a->loop_block_n == b->loop_block_n;
    for (size_t i = 0; equal && i < a->block_n; i++)
        equal = same_block(&a->block[i], &b->block[i]);
    for (size_t i = 0; equal && i < a->edge_n; i++)
        equal = same_edge(&a->succ[i], &b->succ[i]) && same_edge(&a->pred[i], &b->pred[i]);
    for (size_t i = 0; equal && i < a->loop_n; i++)
        equal = same_loop(&a->loop[i], &b->loop[i]);
    return equal &&
           memcmp(a->loop_block, b->loop_block, sizeof *a->loop_block * a->loop_block_n) == 0;
}

static const char *analyse(const char *path, size_t *where, char text[static 128])
{
    struct as_program_options options = {.jobs = 1, .path_limit = AS_PATH_LIMIT};
    struct as_program *one = NULL, *two = NULL;
    struct as_object *object = NULL;
    struct as_error err;
    const char *bad = NULL;
    if (as_object_open(path, NULL, &object, &err) < 0 ||
        as_program_new(object, &options, &one, &err) < 0)
        return "the binary can be analysed";
    options.jobs = 2;
    bad = as_program_new(object, &options, &two, &err) < 0 ? "two threads can analyse it"
                                                           : check_program(one, SLOW_MOST, where);
    if (!bad && !same(one, two))
        bad = "the number of threads changes nothing";
    snprintf(text, 128, "%zu loops, %zu of %zu indirect jumps understood", one->loop_n,
             one->indirect.tables + one->indirect.calls, one->indirect.jumps);
    as_program_free(&one);
    as_program_free(&two);
    as_object_close(&object);
    return bad;
}

int main(int argc, char **argv)
{
    int failed = 0;
    printf("1..%d\n", argc - 1);
    for (int i = 1; i < argc; i++) {
        size_t where = 0;
        char text[128] = "";
        if (access(argv[i], R_OK) != 0) {
            printf("ok %d - %s # SKIP not installed\n", i, argv[i]);
            continue;
        }
        const char *bad = analyse(argv[i], &where, text);
        printf("%s %d - %s: %s\n", bad ? "not ok" : "ok", i, argv[i], text);
        if (bad)
            printf("# broken at %zu: %s\n", where, bad);
        fflush(stdout);
        failed += bad != NULL;
    }
    return failed > 0;
}
