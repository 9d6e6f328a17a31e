/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the results of the analysis as JSON for tests/loops/truth.py: dump FILE. They are bodies
 * with their parents, indirect jumps with their targets, and loops.
 */
#include <inttypes.h>
#include <stdio.h>

#include "code/code.h"

static void print_bodies(const struct as_program *p)
{
    printf("{\"bodies\": [");
    for (size_t i = 0; i < p->body_n; i++) {
        const struct as_body *b = &p->body[i];
        printf("%s\n  {\"name\": \"%s\", \"entry\": %" PRIu64 ", \"size\": %" PRIu64
               ", \"names\": %u, \"noreturn\": %d, \"outlined\": %d, \"stub\": %d, \"parent\": ",
               i ? "," : "", b->name, b->entry, b->size_b, b->names,
               (b->bits & AS_BODY_NORETURN) != 0, (b->bits & AS_BODY_OUTLINED) != 0,
               (b->bits & AS_BODY_STUB) != 0);
        if (b->parent == AS_NONE)
            printf("null}");
        else
            printf("\"%s\"}", p->body[b->parent].name);
    }
    printf("]");
}

static bool is_indirect(const struct as_insn *insn)
{
    uint64_t target;
    return as_form_get(insn->form)->insn_class == AS_CLASS_JUMP && !as_insn_target(insn, &target);
}

static void print_jumps(const struct as_program *p)
{
    const char *before = "";
    printf(",\n \"jumps\": [");
    for (size_t i = 0; i < p->block_n; i++) {
        const struct as_block *b = &p->block[i];
        const struct as_insn *last = &p->code.insn[b->first_insn + b->insns - 1];
        if (!is_indirect(last))
            continue;
        printf("%s\n  {\"at\": %" PRIu64
               ", \"body\": \"%s\", \"unresolved\": %d, \"tail\": %d, \"targets\": [",
               before, last->address, p->body[b->body].name, (b->bits & AS_BLOCK_UNRESOLVED) != 0,
               (b->bits & AS_BLOCK_TAILCALL) != 0);
        for (uint32_t e = 0; e < b->succs; e++)
            printf("%s%" PRIu64, e ? ", " : "", p->block[p->succ[b->first_succ + e].block].start);
        printf("]}");
        before = ",";
    }
    printf("]");
}

static void print_loops(const struct as_program *p)
{
    static const char *const level[] = {"single", "outermost", "between", "innermost"};
    printf(",\n \"loops\": [");
    for (uint32_t l = 0; l < p->loop_n; l++) {
        const struct as_loop *loop = &p->loop[l];
        printf("%s\n  {\"address\": %" PRIu64
               ", \"body\": \"%s\", \"depth\": %u, \"level\": \"%s\", "
               "\"blocks\": %u, \"irreducible\": %d, \"unresolved\": %d}",
               l ? "," : "", p->block[loop->header].start, p->body[loop->body].name, loop->depth,
               level[loop->level], loop->blocks, (loop->bits & AS_LOOP_IRREDUCIBLE) != 0,
               (loop->bits & AS_LOOP_UNRESOLVED) != 0);
    }
    printf("]}\n");
}

int main(int argc, char **argv)
{
    struct as_program_options options = {.jobs = 2, .path_limit = AS_PATH_LIMIT};
    struct as_program *program = NULL;
    struct as_object *object = NULL;
    struct as_error err;
    if (argc != 2) {
        fprintf(stderr, "usage: dump FILE\n");
        return 2;
    }
    if (as_object_open(argv[1], NULL, &object, &err) < 0 ||
        as_program_new(object, &options, &program, &err) < 0) {
        fprintf(stderr, "dump: %s\n", err.text);
        return 2;
    }
    print_bodies(program);
    print_jumps(program);
    print_loops(program);
    as_program_free(&program);
    as_object_close(&object);
    return 0;
}
