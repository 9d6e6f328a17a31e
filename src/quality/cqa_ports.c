/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions that few ports execute, by kind: shuffles, conversions, integer products, ... If one
 * kind fills its one or two ports, the other ports are idle. The table of the core has the ports;
 * other metrics cover memory ports and units that are not pipelined.
 */
#include <string.h>

#include "isa/packed.h"
#include "quality/cqa.h"

#define FEW 2

static bool executes(const char *group)
{
    static const char *const other[] = {"LD", "AGU", "ST", "FDIV", "IDIV", "DIV", "BR"};

    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (strncmp(group, other[i], strlen(other[i])) == 0)
            return false;
    return true;
}

void as_cqa_find_few(struct as_cqa_engine *engine)
{
    const struct as_uarch *uarch = engine->uarch;

    for (unsigned i = 0; i < uarch->group_n; i++) {
        const uint64_t ports = uarch->group[i].ports;
        bool known = !ports || __builtin_popcountll(ports) > FEW || !executes(uarch->group[i].name);

        for (unsigned k = 0; k < engine->few_n; k++)
            known |= engine->few[k] == ports;
        if (!known && engine->few_n < AS_CQA_FEW_MOST)
            engine->few[engine->few_n++] = ports;
    }
}

/* ---- Kinds --------------------------------------------------------------------------------- */

static bool has_file(const struct as_form *form, unsigned from, unsigned to)
{
    for (unsigned i = 0; i < form->operands; i++)
        if (form->operand[i].kind == AS_OPERAND_REG && form->operand[i].file >= from &&
            form->operand[i].file <= to)
            return true;
    return false;
}

enum as_cqa_few as_cqa_few_of(const struct as_form *form)
{
    const bool vector = has_file(form, AS_FILE_XMM, AS_FILE_ZMM);
    const bool general = has_file(form, AS_FILE_GPR8, AS_FILE_GPR64);

    switch (form->insn_class) {
    case AS_CLASS_CONVERT:
        return vector ? AS_FEW_CONVERT : AS_FEW_NONE;
    case AS_CLASS_SHUFFLE:
    case AS_CLASS_COMPRESS:
        return AS_FEW_SHUFFLE;
    case AS_CLASS_BROADCAST:
    case AS_CLASS_INSERT:
    case AS_CLASS_EXTRACT:
        return vector && general ? AS_FEW_TRANSFER : AS_FEW_SHUFFLE;
    case AS_CLASS_MUL:
        return form->flops ? AS_FEW_NONE : AS_FEW_MULTIPLY;
    case AS_CLASS_BIT:
    case AS_CLASS_SHIFT:
        return vector ? AS_FEW_NONE : AS_FEW_BITS;
    case AS_CLASS_MASK:
        return AS_FEW_MASK;
    case AS_CLASS_COMPARE:
        return vector && has_file(form, AS_FILE_MASK, AS_FILE_MASK) ? AS_FEW_MASK : AS_FEW_NONE;
    case AS_CLASS_MOVE:
        return vector && general ? AS_FEW_TRANSFER : AS_FEW_NONE;
    default:
        return AS_FEW_NONE;
    }
}

/* ---- Cycles -------------------------------------------------------------------------------- */

/* Adds the port cycles of the instruction to each set that contains its ports. */
static void add_uses(const struct as_cqa_engine *engine, const struct as_core_timing *timing,
                     double *busy)
{
    for (unsigned i = 0; timing && i < timing->use_n; i++) {
        const uint64_t ports = engine->uarch->group[timing->use[i].group].ports;

        for (unsigned k = 0; ports && k < engine->few_n; k++)
            if (!(ports & ~engine->few[k]))
                busy[k] += (double)timing->use[i].n;
    }
}

enum as_cqa_few as_cqa_set_few(const struct as_cqa_engine *engine, const struct as_cqa_body *body,
                               const struct as_prediction *prediction, double *m)
{
    double busy[AS_FEWS][AS_CQA_FEW_MOST] = {{0}};
    enum as_cqa_few most = AS_FEW_NONE;

    for (size_t i = 0; i < prediction->insn_n; i++) {
        const enum as_cqa_few kind = as_cqa_few_of(body->item[i].form);

        if (kind != AS_FEW_NONE && !prediction->insn[i].eliminated)
            add_uses(engine, prediction->insn[i].timing, busy[kind]);
    }
    for (unsigned kind = 0; kind < AS_FEWS; kind++) {
        double *value = &m[AS_CQA_FEW_PORTS_SHUFFLE_CY + kind];

        for (unsigned k = 0; k < engine->few_n; k++) {
            const double cycles = busy[kind][k] / __builtin_popcountll(engine->few[k]);
            *value = cycles > *value ? cycles : *value;
        }
        if (*value > 0 && (most == AS_FEW_NONE || *value > m[AS_CQA_FEW_PORTS_SHUFFLE_CY + most]))
            most = (enum as_cqa_few)kind;
    }
    return most;
}
