/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay disasm --loop`: what the loop is, and what part each block plays in it.
 */
#include <inttypes.h>
#include <stdio.h>

#include "disasm.h"
#include "loop_words.h"
#include "text.h"

void as_disasm_loop_words(const struct as_disasm *d, struct as_str *out)
{
    const struct as_program *program = d->program;
    const struct as_loop *loop = &program->loop[d->loop];
    struct as_str more = {0};

    as_str_appendf(out, "loop %" PRIu32 ": %s, %s", d->loop, as_level_word(loop->level),
                   as_role_word(loop->role));
    if (loop->sources) {
        as_str_appendz(out, ", ");
        as_words_source(out, &program->debug, &program->loop_source[loop->source], true);
    }
    as_words_inlined(&more, &program->debug, loop->inlined, d->plain_names, ',');
    if (more.n)
        as_str_appendf(out, ", inlined: %s", as_str_z(&more));
    as_str_clear(&more);
    as_words_loop_marks(&more, loop, ',');
    if (more.n)
        as_str_appendf(out, ", %s", as_str_z(&more));
    as_str_appendz(out, "; ");
    as_append_counted(out, loop->insns, "instruction");
    as_str_appendz(out, " in ");
    as_append_counted(out, loop->blocks, "block");
    as_str_fini(&more);
}

static void append_word(struct as_str *out, char separator, const char *text)
{
    if (out->n)
        as_str_append(out, &separator, 1);
    as_str_appendz(out, text);
}

static bool is_inside(const struct as_program *program, uint32_t loop, uint32_t outer)
{
    while (loop != AS_NONE && loop != outer)
        loop = program->loop[loop].parent;
    return loop == outer;
}

void as_disasm_block_words(const struct as_disasm *d, const struct as_disasm_range *range,
                           struct as_str *out, char separator)
{
    const struct as_program *program = d->program;
    const struct as_block *block = &program->block[range->block];
    char text[64];

    if (range->block == program->loop[d->loop].header)
        append_word(out, separator, "header");
    if (block->loop != d->loop && block->loop != AS_NONE) {
        snprintf(text, sizeof text, "in loop %" PRIu32, block->loop);
        append_word(out, separator, text);
    }
    for (uint32_t e = block->first_succ; e < block->first_succ + block->succs; e++) {
        const struct as_edge *edge = &program->succ[e];
        const struct as_block *to = &program->block[edge->block];
        const char *verb = edge->back                               ? "back to"
                           : !is_inside(program, to->loop, d->loop) ? "leaves for"
                           : edge->kind == AS_EDGE_FALL             ? "then"
                                                                    : "or";
        snprintf(text, sizeof text, "%s 0x%" PRIx64, verb, to->start);
        append_word(out, separator, text);
    }
    if (block->bits & AS_BLOCK_UNRESOLVED)
        append_word(out, separator, "unresolved jump");
    if (block->bits & AS_BLOCK_RETURN)
        append_word(out, separator, "returns");
}
