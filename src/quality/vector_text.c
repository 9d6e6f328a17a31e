/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of the obstacles to vectorisation, with their evidence. */
#include <stdio.h>

#include "quality/vector_verdict.h"

#define SHOWN_MOST 4

const char *as_vector_obstacle_name(enum as_vector_obstacle obstacle)
{
    static const char *const word[] = {
#define AS_VECTOR_WORD(name, text) text,
        AS_VECTOR_OBSTACLE_LIST(AS_VECTOR_WORD)
#undef AS_VECTOR_WORD
    };

    return (unsigned)obstacle < AS_VECTOR_OBSTACLES ? word[obstacle] : "?";
}

static int write_what(const struct as_program *program, const struct as_vector_reason *reason,
                      char *buf, size_t buf_b)
{
    const long long n = reason->amount;

    switch (reason->obstacle) {
    case AS_VECTOR_CALL:
        return snprintf(buf, buf_b, "it has calls at %lld address%s", n, n == 1 ? "" : "s");
    case AS_VECTOR_CHAIN:
        return n == 1 ? snprintf(buf, buf_b, "each iteration needs what the one before computed")
                      : snprintf(buf, buf_b,
                                 "each iteration needs what the one %lld before computed", n);
    case AS_VECTOR_REDUCTION:
        return snprintf(buf, buf_b, "it collects into one value, in the order of the source");
    case AS_VECTOR_STRIDE:
        return n ? snprintf(buf, buf_b, "it walks with holes, %lld bytes from step to step", n)
                 : snprintf(buf, buf_b, "it walks by a step that only the running program knows");
    case AS_VECTOR_INDIRECT:
        return snprintf(buf, buf_b, "it goes by addresses from memory");
    case AS_VECTOR_WAYS:
        return snprintf(buf, buf_b, "it has %lld ways", n);
    case AS_VECTOR_EXITS:
        return n > 1 ? snprintf(buf, buf_b, "it is left from %lld places", n)
                     : snprintf(buf, buf_b, "it goes on until it finds its end");
    case AS_VECTOR_ALIAS:
        return snprintf(
            buf, buf_b,
            "whether its arrays overlap is looked up when it runs, and the "
            "loop at 0x%llx taken if they do not suit",
            (unsigned long long)program->block[program->loop[(uint32_t)reason->amount].header]
                .start);
    default:
        return snprintf(buf, buf_b, "its arrays may overlap as far as its code tells");
    }
}

static unsigned line_at(const struct as_program *program, uint64_t address)
{
    const struct as_line *line = as_debug_line_at(&program->debug, address);

    return line ? line->line : 0;
}

static size_t clip(int n, size_t at, size_t buf_b)
{
    return n < 0 ? at : at + (size_t)n < buf_b ? at + (size_t)n : buf_b - 1;
}

int as_vector_reason_text(const struct as_program *program, const struct as_vector_verdict *verdict,
                          const struct as_vector_reason *reason, char *buf, size_t buf_b)
{
    size_t at = clip(write_what(program, reason, buf, buf_b), 0, buf_b);

    for (uint32_t k = 0; k < reason->n && k < SHOWN_MOST; k++) {
        const struct as_insn *insn = &program->code.insn[verdict->insn[reason->first + k]];
        const unsigned line = line_at(program, insn->address);

        at = clip(snprintf(buf + at, buf_b - at, "%s0x%llx %s", k ? ", " : ": ",
                           (unsigned long long)insn->address, as_form_get(insn->form)->mnemonic),
                  at, buf_b);
        if (line)
            at = clip(snprintf(buf + at, buf_b - at, " (line %u)", line), at, buf_b);
    }
    if (reason->n > SHOWN_MOST)
        at = clip(snprintf(buf + at, buf_b - at, ", and %u more", reason->n - SHOWN_MOST), at,
                  buf_b);
    return (int)at;
}
