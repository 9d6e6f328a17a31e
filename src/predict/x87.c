/* SPDX-License-Identifier: Apache-2.0 */
/* Source: Intel SDM volume 1, chapter 8. The names of mnemonics show pushes and pops. */
#include "predict/x87.h"

#include <string.h>

void as_x87_init(struct as_x87 *stack)
{
    for (uint8_t i = 0; i < 8; i++)
        stack->st[i] = i;
}

unsigned as_x87_place(const struct as_x87 *stack, unsigned reg)
{
    return reg >= AS_REG_X87 && reg < AS_REG_X87 + 8
               ? (unsigned)AS_REG_X87 + stack->st[reg - AS_REG_X87]
               : reg;
}

static bool is_one_of(const char *mnemonic, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(mnemonic, *names) == 0)
            return true;
    return false;
}

bool as_x87_pushes(const struct as_form *form)
{
    static const char *const others[] = {"fild", "fbld", "fdecstp", "fsincos", "fptan", NULL};
    static const char *const loads[] = {"fldcw", "fldenv", NULL};
    const char *m = form->mnemonic;
    return form->traits & AS_TRAIT_X87 &&
           ((strncmp(m, "fld", 3) == 0 && !is_one_of(m, loads)) || is_one_of(m, others));
}

unsigned as_x87_pops(const struct as_form *form)
{
    static const char *const twice[] = {"fcompp", "fucompp", NULL};
    static const char *const once[] = {"fstp",   "fistp",   "fisttp", "fbstp",  "faddp",   "fsubp",
                                       "fsubrp", "fmulp",   "fdivp",  "fdivrp", "fcomp",   "fucomp",
                                       "fcomip", "fucomip", "ficomp", "ffreep", "fincstp", "fpatan",
                                       "fyl2x",  "fyl2xp1", NULL};
    if (!(form->traits & AS_TRAIT_X87))
        return 0;
    return is_one_of(form->mnemonic, twice) ? 2 : is_one_of(form->mnemonic, once);
}

bool as_x87_swaps(const struct as_form *form)
{
    return strcmp(form->mnemonic, "fxch") == 0;
}

void as_x87_push(struct as_x87 *stack)
{
    const uint8_t last = stack->st[7];
    memmove(stack->st + 1, stack->st, 7);
    stack->st[0] = last;
}

void as_x87_pop(struct as_x87 *stack)
{
    const uint8_t first = stack->st[0];
    memmove(stack->st, stack->st + 1, 7);
    stack->st[7] = first;
}

void as_x87_swap(struct as_x87 *stack, const struct as_insn *insn)
{
    for (unsigned i = 0; i < 4; i++) {
        const unsigned at = insn->reg[i] - AS_REG_X87;
        if (insn->reg[i] < AS_REG_X87 || at == 0 || at > 7)
            continue;
        const uint8_t first = stack->st[0];
        stack->st[0] = stack->st[at];
        stack->st[at] = first;
        return;
    }
}

/* ---- Implicit operands ---------------------------------------------------------------------- */

/* Returns true for instructions that push or pop. Their register sets hold the whole stack, so the
 * names must tell the reads and writes. */
static bool moves_top(const struct as_form *form)
{
    return as_x87_pushes(form) || as_x87_pops(form);
}

static bool only_turns(const struct as_form *form)
{
    static const char *const names[] = {"fincstp", "fdecstp", "ffreep", NULL};
    return is_one_of(form->mnemonic, names);
}

static bool makes_two(const struct as_form *form)
{
    static const char *const names[] = {"fsincos", "fptan", NULL};
    return is_one_of(form->mnemonic, names);
}

static bool joins_two(const struct as_form *form)
{
    static const char *const names[] = {"fpatan", "fyl2x", "fyl2xp1", NULL};
    return is_one_of(form->mnemonic, names);
}

bool as_x87_reads(const struct as_form *form, unsigned i)
{
    if (!(form->traits & AS_TRAIT_X87) || only_turns(form))
        return false;
    if (!moves_top(form))
        return as_regset_has(form->implicit_read, AS_REG_X87 + i) ||
               as_regset_has(form->implicit_merge, AS_REG_X87 + i);
    if (as_x87_pushes(form))
        return i == 0 && makes_two(form);
    return i == 0 || joins_two(form) || as_x87_pops(form) == 2;
}

bool as_x87_writes(const struct as_form *form, unsigned i)
{
    if (!(form->traits & AS_TRAIT_X87) || only_turns(form))
        return false;
    if (!moves_top(form))
        return as_regset_has(form->implicit_write, AS_REG_X87 + i);
    return as_x87_pushes(form) ? i == 0 || makes_two(form) : i == 1 && joins_two(form);
}
