/* SPDX-License-Identifier: Apache-2.0 */
/* A random selection of samples with their registers. */
#include "sample/draws.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint32_t as_draw_place(uint64_t *random, uint64_t seen, uint32_t capacity)
{
    if (seen < capacity)
        return (uint32_t)seen;
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    const uint64_t at = (*random >> 33) % (seen + 1);
    return at < capacity ? (uint32_t)at : capacity;
}

int as_draws_add(struct as_register_draws *draws, uint64_t *random,
                 const struct as_sample_record *sample)
{
    const uint32_t place = as_draw_place(random, draws->sample_n++, AS_DRAWS_MOST);
    struct as_register_draw draw = {.tid = sample->tid, .time_ns = sample->time_ns};

    memcpy(draw.reg, sample->regs, sizeof draw.reg);
    if (place >= AS_DRAWS_MOST)
        return 0;
    if (place == draws->at.n)
        return as_vec_push(&draws->at, draw);
    draws->at.at[place] = draw;
    return 0;
}

/* A draw has at most 26 + 16 * 17 characters. */
_Static_assert(AS_DRAWS_TEXT_N *(27 + AS_DRAW_REGISTERS * 17) < AS_DRAWS_TEXT_B,
               "all draws of a text fit");

void as_draws_text(const struct as_register_draws *draws, size_t from, char *out)
{
    int at = 0;

    *out = 0;
    for (size_t i = from; i < draws->at.n && i < from + AS_DRAWS_TEXT_N; i++) {
        const struct as_register_draw *draw = &draws->at.at[i];
        at += snprintf(out + at, (size_t)(AS_DRAWS_TEXT_B - at), "%s%" PRIx32 "@%" PRIx64,
                       at ? " " : "", draw->tid, draw->time_ns);
        for (unsigned reg = 0; reg < AS_DRAW_REGISTERS; reg++)
            at += snprintf(out + at, (size_t)(AS_DRAWS_TEXT_B - at), "%c%" PRIx64, reg ? ',' : ':',
                           draw->reg[reg]);
    }
}
