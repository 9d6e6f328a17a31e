/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of forms: process-wide, append-only, each distinct form once. Readers take no lock:
 * a form is written before its number is handed out and never moves. Writers hold `lock`.
 */
#include "isa/internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"

enum {
    CHUNK = 256,
    CHUNKS = 256,             /* 65,536 forms: what the record's 16 bits can name */
    BUCKETS = CHUNK * CHUNKS, /* open hashing by chains of numbers */
};

struct chunk {
    struct assay_form form[CHUNK];
    uint32_t hash[CHUNK];
    uint16_t next[CHUNK]; /* number of the next form in the same bucket, 0 = none */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct chunk *) chunks[CHUNKS];
static uint16_t bucket[BUCKETS]; /* guarded by lock; 0 = empty */
static _Atomic size_t forms = 1; /* number 0 is `invalid` */

static const struct assay_form invalid = {
    .mnemonic = "(bad)",
    .insn_class = ASSAY_CLASS_INVALID,
    .traits = ASSAY_TRAIT_ENDS,
};

const struct assay_form *assay_form_get(uint16_t form)
{
    if (form == AS_FORM_INVALID || form >= atomic_load_explicit(&forms, memory_order_acquire))
        return &invalid;
    const struct chunk *c = atomic_load_explicit(&chunks[form / CHUNK], memory_order_acquire);
    return &c->form[form % CHUNK];
}

size_t assay_form_count(void)
{
    return atomic_load_explicit(&forms, memory_order_acquire);
}

/* FNV-1a; forms are zero-initialised so that padding is equal too. */
static uint32_t hash_of(const struct assay_form *form)
{
    const uint8_t *p = (const uint8_t *)form;
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < sizeof *form; i++)
        h = (h ^ p[i]) * 16777619u;
    return h;
}

static int append(const struct assay_form *form, uint32_t hash)
{
    size_t n = atomic_load_explicit(&forms, memory_order_relaxed);
    if (n >= (size_t)CHUNK * CHUNKS)
        return ASSAY_ERR_LIMIT;
    struct chunk *c = atomic_load_explicit(&chunks[n / CHUNK], memory_order_relaxed);
    if (!c) {
        c = as_calloc(1, sizeof *c);
        if (!c)
            return ASSAY_ERR_NOMEM;
        atomic_store_explicit(&chunks[n / CHUNK], c, memory_order_release);
    }
    memcpy(&c->form[n % CHUNK], form, sizeof *form);
    c->hash[n % CHUNK] = hash;
    c->next[n % CHUNK] = bucket[hash % BUCKETS];
    bucket[hash % BUCKETS] = (uint16_t)n;
    atomic_store_explicit(&forms, n + 1, memory_order_release);
    return (int)n;
}

int as_form_intern(const struct assay_form *form)
{
    uint32_t hash = hash_of(form);
    pthread_mutex_lock(&lock);
    int n = bucket[hash % BUCKETS];
    while (n) {
        const struct chunk *c = atomic_load_explicit(&chunks[n / CHUNK], memory_order_relaxed);
        /* Forms are built on zeroed memory: equal forms have equal padding. */
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
        if (c->hash[n % CHUNK] == hash && memcmp(&c->form[n % CHUNK], form, sizeof *form) == 0)
            break;
        n = c->next[n % CHUNK];
    }
    if (!n)
        n = append(form, hash);
    pthread_mutex_unlock(&lock);
    return n;
}
