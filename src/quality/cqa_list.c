/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of generated instructions, and the prediction of a list. */
#include <string.h>

#include "quality/cqa.h"

/* Gap after a jump in bytes: the target is not contiguous and keeps its offset in the lines of the
 * op cache. */
#define GAP_B 64

void as_cqa_list_clear(struct as_cqa_list *list)
{
    list->insn.n = list->leaves.n = list->ready.n = 0;
    list->failed = false;
}

void as_cqa_list_fini(struct as_cqa_list *list)
{
    as_vec_fini(&list->insn);
    as_vec_fini(&list->leaves);
    as_vec_fini(&list->ready);
}

void as_cqa_list_add(struct as_cqa_list *list, const struct as_insn *insn, bool leaves)
{
    list->failed |= as_vec_push(&list->insn, *insn) < 0 || as_vec_push(&list->leaves, leaves) < 0;
}

/* Places instructions `from` to `end` - 1 one after the other, from address `start`. */
static void place_part(struct as_cqa_list *list, size_t from, size_t end, uint64_t start)
{
    for (size_t i = from; i < end; i++) {
        struct as_insn *insn = &list->insn.at[i];

        if (insn->base == AS_REG_IP) /* its memory operand keeps its address */
            insn->disp += (int32_t)(insn->address - start);
        insn->address = start;
        start += insn->length + (list->leaves.at[i] ? GAP_B : 0);
    }
}

void as_cqa_list_place(struct as_cqa_list *list, uint64_t start)
{
    const size_t n = list->insn.n;
    size_t tail = n; /* rotated loop: the part that falls through to the first instruction */
    uint64_t tail_b = 0;

    while (tail > 0 && !list->leaves.at[tail - 1])
        tail_b += list->insn.at[--tail].length;
    if (tail == 0) /* without a jump: straight code */
        tail = n;
    place_part(list, 0, tail, start);
    place_part(list, tail, n, start - tail_b);
}

int as_cqa_list_predict(struct as_cqa_engine *engine, bool simulate, uint32_t without,
                        struct as_prediction *out, struct as_error *err)
{
    const struct as_cqa_list *list = &engine->list;
    const struct as_code code = {.insn = list->insn.at, .n = list->insn.n};
    const unsigned last =
        code.n ? as_form_get(code.insn[code.n - 1].form)->insn_class : AS_CLASS_NOP;
    const bool branches = last == AS_CLASS_BRANCH || last == AS_CLASS_JUMP;
    const struct as_predict_options options = {
        /* A list without loop control is predicted as unrolled copies. */
        .mode = branches ? AS_PREDICT_LOOP : AS_PREDICT_UNROLLED,
        .without = without | AS_WITHOUT_SPREAD | (simulate ? 0 : AS_WITHOUT_SIMULATION),
        .ready = list->ready.n ? list->ready.at : NULL};

    return as_predict(engine->predictor, &code, 0, code.n, &options, out, err);
}
