/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of memory operands, from the registers of samples near them. */
#include <assert.h>
#include <math.h>

#include "base/error.h"
#include "base/search.h"
#include "profile/accesses.h"

#define LINE_B       64
#define VECTOR_B     16 /* narrower accesses are aligned, or packed by hand */
#define SPLITS_LEAST 20 /* addresses of an operand */

/* The address by the registers of a sample; false: other registers form it. */
static bool address_in(const struct as_operand_loop *loop, const struct as_memory_stream *stream,
                       const struct as_tally_draw *draw, uint64_t *out)
{
    const struct as_code *code = &loop->module->program->code;
    struct as_memory memory[2];

    if (as_insn_memory(code, &code->insn[stream->insn], memory) <= stream->operand)
        return false;
    const struct as_memory *m = &memory[stream->operand];
    const uint8_t base = as_reg_dwarf(m->base), index = as_reg_dwarf(m->index);
    if (m->rip_relative || m->segment != AS_REG_NONE ||
        (m->base != AS_REG_NONE && base == AS_REG_NONE) ||
        (m->index != AS_REG_NONE && index == AS_REG_NONE) ||
        (base == AS_REG_NONE && index == AS_REG_NONE))
        return false;
    *out = (uint64_t)m->disp;
    if (base != AS_REG_NONE)
        *out += draw->reg[base];
    if (index != AS_REG_NONE)
        *out += draw->reg[index] * m->scale;
    return true;
}

bool as_stream_address(const struct as_operand_loop *loop, const struct as_memory_stream *stream,
                       uint64_t at, const struct as_tally_draw *draw, uint64_t *out)
{
    return at >= stream->first && at <= stream->last && address_in(loop, stream, draw, out);
}

/* Those of one operand in the samples of one instruction. */
static int add_site(const struct as_operand_loop *loop, uint32_t stream,
                    const struct as_register_site *site, bool beside, as_address_list *out,
                    struct as_error *err)
{
    const struct as_memory_stream *at = &loop->streams.at[stream];
    const struct as_tally_registers *registers = site->registers;
    struct as_sampled_address one = {
        .process = registers->process, .stream = stream, .beside = beside};

    for (uint32_t d = 0; d < registers->draws; d++) {
        if (!(beside ? address_in(loop, at, &registers->draw[d], &one.low)
                     : as_stream_address(loop, at, site->address, &registers->draw[d], &one.low)))
            continue;
        one.tid = registers->draw[d].tid;
        one.time_ns = registers->draw[d].time_ns;
        one.high = one.low + (at->width_b ? at->width_b : 1);
        one.weight = (double)registers->sample_n / registers->draws;
        if (as_vec_push(out, one) < 0)
            return as_error_nomem(err, "the addresses of a loop");
    }
    return 0;
}

static int add_stream(const struct as_operand_loop *loop, uint32_t stream, bool beside,
                      as_address_list *out, struct as_error *err)
{
    for (size_t i = 0; i < loop->site_n; i++)
        AS_TRY(add_site(loop, stream, &loop->site[i], beside, out, err));
    return 0;
}

int as_addresses_of(const struct as_operand_loop *loop, as_address_list *out, struct as_error *err)
{
    for (uint32_t s = 0; s < loop->streams.n; s++) {
        const struct as_memory_stream *at = &loop->streams.at[s];
        const size_t from = out->n;
        if (at->stack)
            continue;
        AS_TRY(add_stream(loop, s, false, out, err));
        if (out->n > from || !at->nearby || !as_stream_walks(at))
            continue;
        AS_TRY(add_stream(loop, s, true, out, err));
        for (size_t i = from; i < out->n; i++)
            out->at[i].weight = 1.0 / (double)(out->n - from);
    }
    return 0;
}

/*
 * Slow accesses are sampled more often, and those that cross a line are slow. So an address of a
 * walk counts with all places that the walk goes through from there: 64 strides lead back to its
 * place in a line.
 */
static double split_part(const struct as_memory_stream *stream, uint64_t address)
{
    const unsigned steps = as_stream_walks(stream) ? LINE_B : 1;
    unsigned n = 0;

    for (unsigned k = 0; k < steps; k++)
        n += (address + k * (uint64_t)stream->stride_b) % LINE_B + stream->width_b > LINE_B;
    return (double)n / steps;
}

double as_split_share(const struct as_operand_loop *loop, uint32_t stream,
                      const as_address_list *address)
{
    const struct as_memory_stream *at = &loop->streams.at[stream];
    size_t i = as_first_not(k, address->n, address->at[k].stream < stream);
    assert(i + 1 >= address->n || address->at[i].stream <= address->at[i + 1].stream); /* sorted */
    double split = 0;
    unsigned n = 0;

    if (at->width_b < VECTOR_B || at->width_b > LINE_B)
        return (double)NAN;
    for (; i < address->n && address->at[i].stream == stream; i++, n++)
        split += split_part(at, address->at[i].low);
    return n >= SPLITS_LEAST ? split / n : (double)NAN;
}
