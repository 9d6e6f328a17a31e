/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores the forms of the process: append-only, each distinct form once. Readers take no lock,
 * because a form is written before its number is returned and never moves. Writers hold `lock`.
 */
#include "isa/form.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "isa/internal.h"

enum { BUCKETS = AS_FORMS_MOST }; /* hash table with chains of form numbers */

/* Pages of the table without a form use no memory. */
struct as_form as_form_table[AS_FORMS_MOST];
uint8_t as_form_flows[AS_FORMS_MOST];

static struct entry {
    uint32_t hash;
    uint16_t next; /* next form of the same bucket; 0 = none */
} entries[AS_FORMS_MOST];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint16_t bucket[BUCKETS]; /* lock guards it; 0 = empty */
static _Atomic size_t forms = 1; /* number 0 is `invalid` */

const struct as_form as_form_invalid = {
    .mnemonic = "(bad)",
    .insn_class = AS_CLASS_INVALID,
    .traits = AS_TRAIT_ENDS,
};

const struct as_form *as_form_get(uint16_t form)
{
    if (form == AS_FORM_INVALID || form >= atomic_load_explicit(&forms, memory_order_acquire))
        return &as_form_invalid;
    return &as_form_table[form];
}

size_t as_form_count(void)
{
    return atomic_load_explicit(&forms, memory_order_acquire);
}

/* Returns the FNV-1a hash of a form. Forms start as zeroes, so padding is equal too. */
static uint32_t form_hash(const struct as_form *form)
{
    const uint8_t *p = (const uint8_t *)form;
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < sizeof *form; i++)
        h = (h ^ p[i]) * 16777619u;
    return h;
}

static uint8_t flow_of(const struct as_form *form)
{
    unsigned c = form->insn_class, flow = 0;
    if (c != AS_CLASS_BRANCH && c != AS_CLASS_JUMP && c != AS_CLASS_CALL && c != AS_CLASS_RETURN &&
        c != AS_CLASS_TRAP && c != AS_CLASS_INVALID)
        flow |= AS_FORM_GOES_ON;
    if (form->operands && form->operand[0].kind == AS_OPERAND_REL)
        flow |= AS_FORM_LEADS;
    if (c == AS_CLASS_CALL)
        flow |= AS_FORM_CALLS;
    if (c == AS_CLASS_PUSH || c == AS_CLASS_POP)
        flow |= AS_FORM_STACKS;
    if ((c == AS_CLASS_MOVE || c == AS_CLASS_PUSH) && form->operands &&
        form->operand[form->operands - 1].kind == AS_OPERAND_IMM)
        flow |= AS_FORM_ADDRESS;
    return (uint8_t)flow;
}

static int append_form(const struct as_form *form, uint32_t hash)
{
    size_t n = atomic_load_explicit(&forms, memory_order_relaxed);
    if (n >= AS_FORMS_MOST)
        return AS_ERR_LIMIT;
    memcpy(&as_form_table[n], form, sizeof *form);
    as_form_flows[n] = flow_of(form);
    entries[n] = (struct entry){.hash = hash, .next = bucket[hash % BUCKETS]};
    bucket[hash % BUCKETS] = (uint16_t)n;
    atomic_store_explicit(&forms, n + 1, memory_order_release);
    return (int)n;
}

int as_form_intern(const struct as_form *form)
{
    uint32_t hash = form_hash(form);
    pthread_mutex_lock(&lock);
    int n = bucket[hash % BUCKETS];
    while (n) {
        /* Forms start as zeroes: equal forms have equal padding. */
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
        if (entries[n].hash == hash && memcmp(&as_form_table[n], form, sizeof *form) == 0)
            break;
        n = entries[n].next;
    }
    if (!n)
        n = append_form(form, hash);
    pthread_mutex_unlock(&lock);
    return n;
}
