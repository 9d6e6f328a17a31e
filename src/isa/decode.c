/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes a range of code. The bytes of an instruction are split into fields (split.h). Everything
 * except register numbers, displacements and immediates makes a key. The key selects a recipe,
 * which turns fields into a record. The reference decoder makes each recipe once. It also decodes
 * instructions that the splitting does not support: unusual prefixes and rare encodings.
 */
#include "isa/decode.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "isa/fast.h"

/* ---- Recipes by key --------------------------------------------------------------------- */

enum {
    CACHE_BITS = 16,
    CACHE = 1 << CACHE_BITS,
    CACHE_FULL = CACHE / 2, /* max number of recipes; it limits the length of probes */
    RECENT_BITS = 10,
    WAYS = 16, /* max number of probes for a key */
};

/*
 * Recipes of the process. cache_lock protects the writing of a slot; the key publishes it. Readers
 * need no lock because a published slot never changes.
 */
static struct slot {
    _Atomic uint64_t key; /* 0 = empty */
    struct as_recipe recipe;
} cache[CACHE];
static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned cached; /* number of recipes; cache_lock guards it */

static inline size_t slot_of(uint64_t key)
{
    return (size_t)((key * 0x9e3779b97f4a7c15u) >> (64 - CACHE_BITS));
}

static inline const struct as_recipe *cache_find(uint64_t key)
{
    size_t at = slot_of(key);
    for (unsigned i = 0; i < WAYS; i++, at = (at + 1) % CACHE) {
        uint64_t there = atomic_load_explicit(&cache[at].key, memory_order_acquire);
        if (there == key)
            return &cache[at].recipe;
        if (!there)
            return NULL;
    }
    return NULL;
}

static void cache_add(uint64_t key, const struct as_recipe *recipe)
{
    pthread_mutex_lock(&cache_lock);
    size_t at = slot_of(key);
    for (unsigned i = 0; i < WAYS && cached < CACHE_FULL; i++, at = (at + 1) % CACHE) {
        uint64_t there = atomic_load_explicit(&cache[at].key, memory_order_relaxed);
        if (there == key)
            break;
        if (there)
            continue;
        cache[at].recipe = *recipe;
        atomic_store_explicit(&cache[at].key, key, memory_order_release);
        cached++;
        break;
    }
    pthread_mutex_unlock(&cache_lock);
}

/*
 * The last recipes of one decoder. The cache of all recipes covers more pages than a TLB holds. A
 * binary uses only some hundreds of recipes again and again.
 */
struct as_recent {
    struct recent {
        uint64_t key; /* 0 = empty; never a finer key */
        struct as_recipe recipe;
    } at[1 << RECENT_BITS];
};

/* ---- One instruction -------------------------------------------------------------------- */

/* Adds the recipe to the cache. Marks it slow if it does not reproduce the reference decoder's
 * record from the same bytes. */
static void learn(const uint8_t *p, struct as_split *s, struct as_decoded *ref)
{
    struct as_insn again;
    if (!(ref->recipe.flags & AS_RECIPE_SLOW)) {
        memset(&again, 0, sizeof again);
        again.address = ref->insn.address;
        as_recipe_fill(p, s, &ref->recipe, &again, &(int64_t){0});
        if (memcmp(&again, &ref->insn, sizeof again) != 0)
            ref->recipe.flags |= AS_RECIPE_SLOW;
    }
    uint64_t key = s->key;
    if (ref->recipe.flags & AS_RECIPE_FINE) {
        struct as_recipe pointer = {.flags = AS_RECIPE_FINE};
        cache_add(key, &pointer);
        key = as_split_fine_key(s);
    }
    ref->recipe.flags &= (uint8_t)~AS_RECIPE_FINE;
    cache_add(key, &ref->recipe);
}

/* Decodes one instruction of at most `left` bytes by the reference decoder. Learns the recipe if
 * `s` is not NULL. Returns 0 or an error code. */
static int decode_slow(const uint8_t *p, size_t left, uint64_t address, bool k1om,
                       struct as_split *s, struct as_decoded *out)
{
    int rc = as_reference_decode(p, left, address, k1om, out);
    if (rc < 0 || out->insn.bits & AS_INSN_INVALID || !s)
        return rc;
    learn(p, s, out);
    return 0;
}

static inline const struct as_recipe *recipe_of(const struct as_split *s, struct as_recent *recent)
{
    struct recent *near =
        &recent->at[(size_t)((s->key * 0x9e3779b97f4a7c15u) >> (64 - RECENT_BITS))];
    if (__builtin_expect(near->key == s->key, 1))
        return &near->recipe;
    const struct as_recipe *recipe = cache_find(s->key);
    if (recipe && recipe->flags & AS_RECIPE_FINE)
        return cache_find(as_split_fine_key(s));
    if (recipe)
        *near = (struct recent){s->key, *recipe};
    return recipe;
}

/*
 * Decodes one instruction into `insn`. At `p`, 16 bytes are readable and `left` bytes belong to the
 * code. Sets `wide` to the whole immediate or displacement if the record has IMM64. Returns the
 * length in bytes or a negative error code.
 */
static inline int decode_one(const uint8_t *p, size_t left, uint64_t address, bool k1om,
                             struct as_recent *recent, struct as_insn *insn, int64_t *wide)
{
    struct as_split s;
    struct as_decoded ref;
    bool ok = as_split_bytes(p, &s);
    const struct as_recipe *recipe = ok ? recipe_of(&s, recent) : NULL;
    if (recipe && !(recipe->flags & AS_RECIPE_SLOW)) {
        insn->address = address;
        /* Use the returned length, not the one in the record: reading back a new store
         * would stall. */
        const unsigned length = as_recipe_fill(p, &s, recipe, insn, wide);
        if (length <= AS_INSN_MAX_B && length <= left)
            return (int)length;
    }
    int rc = decode_slow(p, left, address, k1om, ok && !recipe ? &s : NULL, &ref);
    if (rc < 0)
        return rc;
    *insn = ref.insn;
    *wide = insn->bits & AS_INSN_MEM ? ref.disp : ref.imm;
    return insn->length;
}

/* ---- A range ---------------------------------------------------------------------------- */

enum { READ_B = 32 }; /* max bytes that splitting and filling read from an instruction's start */

static int note_unusual(struct as_records *b, const struct as_insn *insn, int64_t wide)
{
    if (insn->bits & AS_INSN_INVALID)
        b->invalid_n++;
    if (insn->bits & AS_INSN_IMM64)
        return as_vec_push(&b->wide, (struct as_wide){(uint32_t)b->insn.n, wide});
    return 0;
}

static int decode_range(const struct as_bytes *range, struct as_records *b)
{
    const uint8_t *bytes = range->bytes;
    const size_t size_b = range->size_b;
    uint8_t tail[2 * READ_B];
    size_t tail_at = size_b < READ_B ? 0 : size_b - READ_B;
    memset(tail, 0, sizeof tail);
    if (size_b)
        memcpy(tail, bytes + tail_at, size_b - tail_at);
    for (size_t at = 0; at < size_b;) {
        const uint8_t *p = at >= tail_at ? tail + (at - tail_at) : bytes + at;
        int64_t wide;
        AS_TRY(as_vec_reserve(&b->insn, b->insn.n + 1));
        struct as_insn *insn = &b->insn.at[b->insn.n];
        const int length =
            decode_one(p, size_b - at, range->address + at, range->k1om, b->recent, insn, &wide);
        if (__builtin_expect(length < 0, 0))
            return length;
        if (__builtin_expect(insn->bits & (AS_INSN_INVALID | AS_INSN_IMM64), 0))
            AS_TRY(note_unusual(b, insn, wide));
        at += (unsigned)length;
        b->insn.n++;
    }
    return 0;
}

/* Releases the unused end of the records. Keeps the larger block if this fails. */
static void shrink(struct as_records *b)
{
    if (!b->insn.n || b->insn.n == b->insn.cap)
        return;
    void *p = as_realloc(b->insn.at, b->insn.n, sizeof *b->insn.at);
    if (p)
        b->insn.at = p;
}

int as_records_decode(struct as_records *out, const struct as_bytes *range, size_t n, size_t *first,
                      struct as_error *err)
{
    size_t size_b = 0;
    uint64_t at = 0;
    out->insn.n = out->wide.n = out->invalid_n = 0;
    for (size_t i = 0; i < n; i++)
        size_b += range[i].size_b;
    if (!out->recent)
        out->recent = as_calloc(1, sizeof *out->recent);
    int rc = out->recent ? as_vec_reserve(&out->insn, size_b / 4 + 1) : AS_ERR_NOMEM;
    for (size_t i = 0; i < n && rc == 0; i++) {
        if (first)
            first[i] = out->insn.n;
        at = range[i].address;
        rc = decode_range(&range[i], out);
    }
    if (rc == AS_ERR_LIMIT)
        return as_error_set(err, rc,
                            "decoding at %#llx: more than 65536 different encoding forms; "
                            "decode less in one process",
                            (unsigned long long)at);
    return rc < 0 ? as_error_nomem(err, "records of decoded instructions") : 0;
}

void as_records_fini(struct as_records *records)
{
    as_vec_fini(&records->insn);
    as_vec_fini(&records->wide);
    as_free(records->recent);
    records->recent = NULL;
}

int as_decode(const uint8_t *bytes, size_t size_b, uint64_t address, struct as_code *out,
              struct as_error *err)
{
    struct as_bytes range = {.bytes = bytes, .size_b = size_b, .address = address};
    return as_decode_ranges(&range, 1, out, NULL, err);
}

int as_decode_ranges(const struct as_bytes *range, size_t n, struct as_code *out, size_t *first,
                     struct as_error *err)
{
    struct as_records b = {.invalid_n = 0};
    memset(out, 0, sizeof *out);
    int rc = as_records_decode(&b, range, n, first, err);
    if (rc < 0) {
        as_records_fini(&b);
        return rc;
    }
    shrink(&b);
    out->insn = b.insn.at;
    out->n = b.insn.n;
    out->start = n ? range[0].address : 0;
    out->end = n ? range[n - 1].address + range[n - 1].size_b : 0;
    out->wide = b.wide.at;
    out->wide_n = b.wide.n;
    out->invalid_n = b.invalid_n;
    as_free(b.recent);
    return 0;
}

void as_code_free(struct as_code *code)
{
    as_free(code->insn);
    as_free(code->wide);
    memset(code, 0, sizeof *code);
}
