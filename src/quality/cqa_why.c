/* SPDX-License-Identifier: Apache-2.0 */
/* Names of variants, and reasons why a variant is not faster or does not apply. */
#include "quality/cqa.h"

const char *as_cqa_variant_name(enum as_cqa_variant variant)
{
    static const char *const name[] = {
#define NAME_OF(enumerator, word, words) word,
        AS_CQA_VARIANT_LIST(NAME_OF)
#undef NAME_OF
    };
    return (unsigned)variant < AS_CQA_VARIANTS ? name[variant] : "?";
}

const char *as_cqa_variant_words(enum as_cqa_variant variant)
{
    static const char *const all[] = {
#define WORDS_OF(enumerator, word, words) words,
        AS_CQA_VARIANT_LIST(WORDS_OF)
#undef WORDS_OF
    };
    return (unsigned)variant < AS_CQA_VARIANTS ? all[variant] : "?";
}

static const char *why_not(enum as_cqa_variant variant, const struct as_cqa_as_is *as_is)
{
    switch (variant) {
    case AS_CQA_CLEAN:
        return "the loop has no scalar integer instructions except loop control, or no others";
    case AS_CQA_FP_VECTOR:
        return "no floating-point arithmetic can use wider vectors";
    case AS_CQA_VECTOR:
        return as_is->obstacles & AS_CQA_OBSTACLE_X87 ? "x87 instructions have no vector form"
                                                      : "no instruction can use wider vectors";
    case AS_CQA_INDEPENDENT:
        return "the loop has no loop-carried dependence";
    case AS_CQA_FEW_PORTS:
        return "no kind of instructions keeps one or two ports busy for half of the cycles";
    case AS_CQA_PERFECT_L1:
        return "the loop has no memory access";
    case AS_CQA_ONLY_ARITHMETIC:
        return "the loop has no floating-point arithmetic, or no other code";
    default:
        return "the loop has no other code";
    }
}

static const char *why_bounded(const struct as_cqa_what_if *what_if)
{
    switch (what_if->bound) {
    case AS_BOUND_DISPATCH:
        return "bounded by dispatch (micro-operations per cycle of the front end)";
    case AS_BOUND_DECODE:
        return "bounded by fetch and decode";
    case AS_BOUND_BRANCH:
        return "bounded by the branch of the loop";
    case AS_BOUND_PORTS:
        return "bounded by execution ports";
    case AS_BOUND_UNIT:
        return "bounded by a unit that is not pipelined";
    case AS_BOUND_LATENCY:
        return "bounded by the loop-carried dependence";
    default:
        return "bounded by the buffers of the core and the issue order";
    }
}

const char *as_cqa_why(enum as_cqa_variant variant, const struct as_cqa_what_if *what_if,
                       const struct as_cqa_as_is *as_is)
{
    if (!what_if->applies)
        return why_not(variant, as_is);
    if (variant == AS_CQA_VECTOR && what_if->bound == AS_BOUND_LATENCY &&
        as_is->obstacles & AS_CQA_OBSTACLE_RECURRENCE)
        return "bounded by a recurrence: each iteration needs the result of the previous one";
    return why_bounded(what_if);
}
