/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a variant will write, as the run before it noted: kept, and put back. Only bytes that are
 * written are touched, never gaps between them, which other threads may own. A variant whose
 * branches or addresses may come from what it writes does not run.
 */
#include "agent/patcher/variant.h"

#include <string.h>

#define WORD_BITS 2
#define NOTE_AT   ((UINT64_C(1) << AS_VARIANT_NOTE_BITS) - 1)

static unsigned note_b(uint64_t note)
{
    return (unsigned)(note >> AS_VARIANT_NOTE_BITS) & (AS_VARIANT_NOTE_SLOT - 1);
}

static bool is_load(uint64_t note)
{
    return note >> 63;
}

static bool is_of_slot(uint64_t note)
{
    return note >> AS_VARIANT_NOTE_BITS & AS_VARIANT_NOTE_SLOT;
}

/* ---- Loads of what is stored ----------------------------------------------------------------- */

struct reach {
    uint64_t low, high;
};

static void widen_reach(struct reach *reach, uint64_t note)
{
    const uint64_t at = note & NOTE_AT;
    reach->low = at < reach->low ? at : reach->low;
    reach->high = at + note_b(note) > reach->high ? at + note_b(note) : reach->high;
}

/* Words of 4 bytes by a hash of 23 bits: two that fall together are taken for one. */
static uint64_t bit_of(uint64_t word)
{
    return word * UINT64_C(0x9e3779b97f4a7c15) >> 41;
}

static bool has_word(const struct as_variant_area *area, uint64_t word)
{
    return area->stored[bit_of(word) / 8] >> (bit_of(word) % 8) & 1;
}

static void set_words(struct as_variant_area *area, uint64_t note, bool is)
{
    const uint64_t at = note & NOTE_AT;
    for (uint64_t w = at >> WORD_BITS; w <= (at + note_b(note) - 1) >> WORD_BITS; w++) {
        uint8_t *bits = &area->stored[bit_of(w) / 8];
        *bits = is ? *bits | (uint8_t)(1 << bit_of(w) % 8) : 0;
    }
}

static bool has_words(const struct as_variant_area *area, uint64_t note)
{
    const uint64_t at = note & NOTE_AT;
    bool has = false;
    for (uint64_t w = at >> WORD_BITS; w <= (at + note_b(note) - 1) >> WORD_BITS; w++)
        has |= has_word(area, w);
    return has;
}

/* In the order of the loop: what is loaded before it is stored is what the program has there. */
static bool loads_stored(struct as_variant_area *area)
{
    bool meet = false;
    uint64_t seen = 0;
    for (; seen < area->notes && !meet; seen++)
        if (is_load(area->log[seen]))
            meet = has_words(area, area->log[seen]);
        else if (!is_of_slot(area->log[seen])) /* the run had what it stored */
            set_words(area, area->log[seen], true);
    for (uint64_t i = 0; i < seen; i++)
        if (!is_load(area->log[i]) && !is_of_slot(area->log[i]))
            set_words(area, area->log[i], false);
    return meet;
}

bool as_variant_loads_stores(struct as_variant_area *area)
{
    struct reach stores = {UINT64_MAX, 0}, loads = {UINT64_MAX, 0};
    for (uint64_t i = 0; i < area->notes; i++)
        if (!is_of_slot(area->log[i]))
            widen_reach(is_load(area->log[i]) ? &loads : &stores, area->log[i]);
    return stores.low < loads.high && loads.low < stores.high && loads_stored(area);
}

/* ---- Copies ---------------------------------------------------------------------------------- */

/* Past the caches, whose contents the variant is to find as the loop does. */
static void copy_out(uint8_t *to, const uint8_t *from, uint64_t n)
{
    uint64_t i = 0;
    for (; i + 8 <= n && ((uintptr_t)to & 7) == 0; i += 8) {
        uint64_t word;
        memcpy(&word, from + i, sizeof word);
        __asm__ volatile("movnti %1, %0" : "=m"(*(uint64_t *)(void *)(to + i)) : "r"(word));
    }
    for (; i < n; i++)
        ((volatile uint8_t *)to)[i] = from[i];
}

static void copy_back(uint8_t *to, const uint8_t *from, uint64_t n)
{
    if (n == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, n);
}

/* Copies are inlined: most are of a number. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

typedef void copy_fn(struct as_variant_area *area, uint8_t *program, uint64_t n);

static void save_piece(struct as_variant_area *area, uint8_t *program, uint64_t n)
{
    copy_out(area->copy + area->copied_b - n, program, n);
}

static void restore_piece(struct as_variant_area *area, uint8_t *program, uint64_t n)
{
    copy_back(program, area->copy + area->copied_b - n, n);
}

/* ---- Notes ----------------------------------------------------------------------------------- */

/* What is being copied counts as copied: after a fault the next goes on. */
ALWAYS_INLINE void copy_notes(struct as_variant_area *area, copy_fn *copy)
{
    while (area->at < area->notes) {
        const uint64_t note = area->log[area->at++];
        const unsigned n = note_b(note);
        if (is_load(note) || is_of_slot(note))
            continue;
        if (area->copied_b + n > AS_VARIANT_COPY_B) {
            area->flags |= AS_VARIANT_WIDE;
            return;
        }
        area->copied_b += n;
        copy(area, (uint8_t *)(uintptr_t)(note & NOTE_AT), n);
    }
}

/* ---- Streams --------------------------------------------------------------------------------- */

/* What a stream writes: `pieces` times `each_b`, `step` apart; or one piece, page by page. */
struct span {
    uint64_t from, pieces, each_b;
    int64_t step;
};

static uint64_t general_of(const struct as_variant_area *area, unsigned reg)
{
    return reg == AS_PATCH_NONE ? 0 : area->local.general[reg];
}

/* In the first iteration. */
static uint64_t stream_at(const struct as_variant_area *area, const struct as_patch_stream *s)
{
    const uint64_t bias = s->of_module ? as_patcher.module[area->region->module].bias : 0;
    return bias + (uint64_t)s->offset + general_of(area, s->base) +
           general_of(area, s->index) * s->scale;
}

static struct span span_of(const struct as_variant_area *area, const struct as_patch_stream *s)
{
    struct span it = {
        .from = stream_at(area, s), .pieces = area->trips, .each_b = s->width_b, .step = s->step};
    if (s->step == 0)
        it.pieces = 1;
    if (s->step == -(int64_t)s->width_b)
        it.from += (uint64_t)(s->step * (int64_t)(area->trips - 1));
    if (s->step == s->width_b || s->step == -(int64_t)s->width_b) {
        it.each_b *= area->trips;
        it.pieces = 1;
    }
    return it;
}

ALWAYS_INLINE void copy_span(struct as_variant_area *area, const struct span *span, copy_fn *copy)
{
    const uint64_t page_b = AS_AGENT_PAGE_B;
    while (span->pieces == 1 && area->at < span->each_b) {
        const uint64_t from = span->from + area->at, rest = span->each_b - area->at;
        const uint64_t page = page_b - (from & (page_b - 1)), n = rest < page ? rest : page;
        area->at += n;
        area->copied_b += n;
        copy(area, (uint8_t *)(uintptr_t)from, n);
    }
    while (span->pieces != 1 && area->at < span->pieces) {
        const uint64_t from = span->from + (uint64_t)((int64_t)area->at * span->step);
        area->at++;
        area->copied_b += span->each_b;
        copy(area, (uint8_t *)(uintptr_t)from, span->each_b);
    }
}

ALWAYS_INLINE void copy_streams(struct as_variant_area *area, copy_fn *copy)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_stream *stream =
        (const struct as_patch_stream *)as_patch_at(plan, &plan->stream) +
        area->region->first_stream;
    for (; area->stream < area->region->streams; area->stream++, area->at = 0) {
        const struct span span = span_of(area, &stream[area->stream]);
        copy_span(area, &span, copy);
    }
}

static bool streams_are_wide(const struct as_variant_area *area)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_stream *stream =
        (const struct as_patch_stream *)as_patch_at(plan, &plan->stream) +
        area->region->first_stream;
    uint64_t sum_b = 0;
    for (uint32_t i = 0; i < area->region->streams; i++)
        sum_b += stream[i].width_b * (stream[i].step ? area->trips : 1);
    return sum_b > AS_VARIANT_COPY_B;
}

/* ---- Slots ----------------------------------------------------------------------------------- */

#define RED_ZONE_B 128u
#define FRAME_B    (UINT64_C(1) << 20) /* not further from the stack pointer */
#define RSP        4

static const struct as_patch_stream *slots_of(const struct as_variant_area *area)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    return (const struct as_patch_stream *)as_patch_at(plan, &plan->stream) +
           area->region->first_stream + area->region->streams;
}

static bool lies_in_frame(const struct as_variant_area *area, uint64_t at)
{
    const uint64_t low = area->local.general[RSP] - RED_ZONE_B;
    return at >= low && at - low <= FRAME_B;
}

static void save_slots(struct as_variant_area *area)
{
    const struct as_patch_stream *slot = slots_of(area);
    for (uint32_t i = 0; i < area->region->slots; i++)
        memcpy(area->frame[i], (const void *)(uintptr_t)stream_at(area, &slot[i]), slot[i].width_b);
}

/* Places of the stack are the thread's own; others are put back where the loop stored to them. */
bool as_variant_save_frame(struct as_variant_area *area)
{
    const struct as_patch_stream *slot = slots_of(area);
    area->stored_slots = 0;
    if (area->region->slots == 0)
        return true;
    for (uint32_t i = 0; i < area->region->slots; i++) {
        if (lies_in_frame(area, stream_at(area, &slot[i])))
            area->stored_slots |= 1u << i;
        else if (slot[i].base == RSP)
            return false;
    }
    area->guard = AS_VARIANT_RUNS;
    as_variant_call(area, save_slots);
    area->guard = AS_VARIANT_FREE;
    return !(area->flags & AS_VARIANT_FAULTED);
}

void as_variant_see_slots(struct as_variant_area *area)
{
    const struct as_patch_stream *slot = slots_of(area);
    if (area->region->streams) /* one block, which stores in each iteration */
        area->stored_slots = area->local.trips ? UINT32_MAX : area->stored_slots;
    for (uint64_t i = 0; i < area->notes && area->region->slots; i++)
        for (uint32_t s = 0; is_of_slot(area->log[i]) && s < area->region->slots; s++) {
            const uint64_t at = stream_at(area, &slot[s]), noted = area->log[i] & NOTE_AT;
            if (noted < at + slot[s].width_b && at < noted + note_b(area->log[i]))
                area->stored_slots |= 1u << s;
        }
}

static void restore_slots(struct as_variant_area *area)
{
    const struct as_patch_stream *slot = slots_of(area);
    while (area->slot < area->region->slots) {
        const uint32_t i = area->slot++;
        if (area->stored_slots >> i & 1)
            memcpy((void *)(uintptr_t)stream_at(area, &slot[i]), area->frame[i], slot[i].width_b);
    }
}

/* A place that cannot be written now could not be before. */
void as_variant_restore_frame(struct as_variant_area *area)
{
    const uint32_t flags = area->flags;
    area->slot = 0;
    area->guard = AS_VARIANT_RESTORES;
    while (area->slot < area->region->slots)
        as_variant_call(area, restore_slots);
    area->guard = AS_VARIANT_FREE;
    area->flags = flags;
}

static bool hits_slot(const struct as_variant_area *area, uint64_t from, uint64_t end)
{
    const struct as_patch_stream *slot = slots_of(area);
    for (uint32_t i = 0; i < area->region->slots; i++) {
        const uint64_t at = stream_at(area, &slot[i]);
        if (from < at + slot[i].width_b && at < end)
            return true;
    }
    return false;
}

/* Streams as wholes, gaps and all: what is near enough is not tried. */
bool as_variant_hits_frame(const struct as_variant_area *area)
{
    const struct as_patch_stream *stream = slots_of(area) - area->region->streams;
    bool hits = false;
    if (area->region->slots == 0)
        return false;
    for (uint32_t i = 0; i < area->region->streams && area->trips; i++) {
        const uint64_t from = stream_at(area, &stream[i]);
        const uint64_t to = from + (uint64_t)(stream[i].step * (int64_t)(area->trips - 1));
        hits |= hits_slot(area, from < to ? from : to, (from < to ? to : from) + stream[i].width_b);
    }
    for (uint64_t i = 0; i < area->notes; i++) {
        const uint64_t at = area->log[i] & NOTE_AT;
        hits |= !is_load(area->log[i]) && !is_of_slot(area->log[i]) &&
                hits_slot(area, at, at + note_b(area->log[i]));
    }
    return hits;
}

/* ---- All ------------------------------------------------------------------------------------- */

static void save_region_data(struct as_variant_area *area)
{
    if (area->region->streams)
        copy_streams(area, save_piece);
    else
        copy_notes(area, save_piece);
}

static void restore_region_data(struct as_variant_area *area)
{
    if (area->region->streams)
        copy_streams(area, restore_piece);
    else
        copy_notes(area, restore_piece);
}

static void go_to_start(struct as_variant_area *area)
{
    area->at = area->copied_b = 0;
    area->stream = 0;
}

/* What went past the caches is on its way for a while, and loads of the variant would wait behind
 * it: loops of 500 ticks took 500 or 5,000. 8 bytes a tick is what it takes; after 16 KiB no
 * difference is seen. */
void as_variant_drain(uint64_t copied_b)
{
    const uint64_t from = as_variant_ticks(), ticks = copied_b / 8 < 2048 ? copied_b / 8 : 2048;
    __asm__ volatile("sfence" ::: "memory");
    while (as_variant_ticks() - from < ticks)
        __builtin_ia32_pause();
}

bool as_variant_save(struct as_variant_area *area)
{
    if (streams_are_wide(area)) {
        area->flags |= AS_VARIANT_WIDE;
        return false;
    }
    go_to_start(area);
    area->guard = AS_VARIANT_RUNS;
    as_variant_call(area, save_region_data);
    area->guard = AS_VARIANT_FREE;
    as_variant_drain(area->copied_b);
    return !(area->flags & (AS_VARIANT_WIDE | AS_VARIANT_FAULTED | AS_VARIANT_ENDLESS));
}

/* A place that cannot be written now could not be before. */
void as_variant_restore(struct as_variant_area *area)
{
    const uint32_t flags = area->flags;
    go_to_start(area);
    area->guard = AS_VARIANT_RESTORES;
    while (area->region->streams ? area->stream < area->region->streams : area->at < area->notes)
        as_variant_call(area, restore_region_data);
    area->guard = AS_VARIANT_FREE;
    area->flags = flags;
}
