/* SPDX-License-Identifier: Apache-2.0 */
/* Strides of memory operands, from the registers of samples. */
#include <math.h>
#include <stdlib.h>

#include "profile/accesses.h"

#define BASES_LEAST 10 /* samples of a base */

enum { STRIDES_MOST = 16 };

/* Strides of one operand, with the samples that have them. */
struct seen_strides {
    int64_t stride_b[STRIDES_MOST];
    uint64_t sample_n[STRIDES_MOST];
    unsigned n;
};

static void add_stride(struct seen_strides *out, int64_t stride_b, uint64_t n)
{
    unsigned at = 0;

    while (at < out->n && out->stride_b[at] != stride_b)
        at++;
    if (at == STRIDES_MOST)
        return;
    if (at == out->n) {
        out->stride_b[out->n++] = stride_b;
        out->sample_n[at] = 0;
    }
    out->sample_n[at] += n;
}

/* If two registers have several values each, the pairs are unknown. */
static void add_place(const struct as_register_stride *stride,
                      const struct as_tally_registers *registers, struct seen_strides *out)
{
    uint64_t fixed = (uint64_t)stride->constant_b, least = UINT64_MAX;
    const struct as_tally_value *several = NULL;
    unsigned several_n = 0;
    int64_t factor = 0;

    for (unsigned i = 0; i < stride->n; i++) {
        const unsigned reg = as_reg_dwarf(stride->reg[i]);
        const struct as_tally_value *first = NULL;
        unsigned n = 0;
        for (unsigned k = 0; k < registers->values; k++)
            if (registers->value[k].reg == reg) {
                first = n++ ? first : &registers->value[k];
            }
        if (!n || (n > 1 && several))
            return;
        if (n == 1) {
            fixed += (uint64_t)stride->factor[i] * first->value;
            least = first->n < least ? first->n : least;
        } else {
            several = first;
            several_n = n;
            factor = stride->factor[i];
        }
    }
    if (!several)
        add_stride(out, (int64_t)fixed, least);
    for (unsigned k = 0; k < several_n; k++)
        add_stride(out, (int64_t)(fixed + (uint64_t)factor * several[k].value),
                   several[k].n < least ? several[k].n : least);
}

/* The strides of one operand in all samples of its loop. */
static struct seen_strides seen_of(const struct as_operand_loop *loop,
                                   const struct as_register_stride *stride)
{
    struct seen_strides out = {0};

    for (size_t i = 0; i < loop->site_n; i++)
        add_place(stride, loop->site[i].registers, &out);
    return out;
}

/* The stride that most samples have, the shortest, and the share of the samples that any has. */
static struct as_seen_stride stride_of(const struct as_operand_loop *loop,
                                       const struct as_register_stride *stride)
{
    const struct seen_strides all = seen_of(loop, stride);
    struct as_seen_stride out = {.known = 0, .share = 0};
    uint64_t max_n = 0;

    for (unsigned i = 0; i < all.n; i++) {
        const double share = (double)all.sample_n[i] / (double)loop->sample_n;
        out.known += share;
        if (i == 0 || llabs(all.stride_b[i]) < llabs(out.shortest_b))
            out.shortest_b = all.stride_b[i];
        if (all.sample_n[i] <= max_n)
            continue;
        max_n = all.sample_n[i];
        out.stride_b = all.stride_b[i];
        out.share = share;
    }
    return out;
}

/* The value that a register holds in most samples of an instruction; NULL: in none often. */
static const struct as_tally_value *most_frequent_value(const struct as_tally_registers *registers,
                                                        unsigned reg)
{
    const struct as_tally_value *most = NULL;

    for (unsigned i = 0; i < registers->values; i++)
        if (registers->value[i].reg == reg && (!most || registers->value[i].n > most->n))
            most = &registers->value[i];
    return most;
}

/* The stride behind a base; its share is NAN if the base differs from sample to sample. */
static struct as_seen_stride based_stride(const struct as_operand_loop *loop,
                                          const struct as_based_stride *based)
{
    const unsigned reg = as_reg_dwarf(based->reg);
    const struct as_tally_value *base = NULL;
    uint64_t all_n = 0, same_n = 0;

    for (size_t i = 0; i < loop->site_n; i++) {
        if (loop->site[i].address < based->first || loop->site[i].address > based->last)
            continue;
        const struct as_tally_value *most = most_frequent_value(loop->site[i].registers, reg);
        all_n += loop->site[i].registers->sample_n;
        base = most && (!base || most->n > base->n) ? most : base;
    }
    for (size_t i = 0; i < loop->site_n && base; i++) {
        const struct as_tally_registers *registers = loop->site[i].registers;
        if (loop->site[i].address < based->first || loop->site[i].address > based->last)
            continue;
        for (unsigned k = 0; k < registers->values; k++)
            if (registers->value[k].reg == reg && registers->value[k].value == base->value)
                same_n += registers->value[k].n;
    }
    const double share = all_n >= BASES_LEAST ? (double)same_n / (double)all_n : 0;
    return share < AS_STRIDE_SHARE_SURE
               ? (struct as_seen_stride){0, 0, (double)NAN, 0}
               : (struct as_seen_stride){based->stride_b, based->stride_b, share, share};
}

void as_strides_see(struct as_operand_loop *loop)
{
    for (size_t i = 0; i < loop->streams.n; i++) {
        struct as_memory_stream *at = &loop->streams.at[i];
        struct as_seen_stride *seen = &loop->seen[i];

        *seen = (struct as_seen_stride){at->stride_b, at->stride_b, (double)NAN, 1};
        if (at->register_stride.n)
            *seen = stride_of(loop, &at->register_stride);
        else if (at->based.reg != AS_REG_NONE)
            *seen = based_stride(loop, &at->based);
        if (isnan(seen->share) || seen->known < AS_STRIDE_SHARE_SURE)
            continue;
        at->stride_b = seen->share >= AS_STRIDE_SHARE_SURE ? seen->stride_b : seen->shortest_b;
        at->stride = at->stride_b == 0                             ? AS_STRIDE_ZERO
                     : llabs(at->stride_b) == (int64_t)at->width_b ? AS_STRIDE_UNIT
                                                                   : AS_STRIDE_CONSTANT;
    }
}
