/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the limits of the front end: renamed slots, taken branches, and the supply from the op
 * cache, the loop buffer or the decoders.
 */
#include <math.h>

#include "predict/internal.h"

double as_front_dispatch(const struct as_piece_of_code *block)
{
    const double *set = block->uarch->set;
    double slots = 0, vectors = 0;
    for (uint32_t i = 0; i < block->op_n; i++)
        vectors += block->op[i].vector ? (double)block->op[i].slots : 0;
    for (uint32_t i = 0; i < block->op_n; i++)
        slots += block->op[i].move ? (double)block->op[i].slots * set[AS_UARCH_move_slots]
                                   : (double)block->op[i].slots;
    const double cycles = slots / set[AS_UARCH_dispatch_width];
    const double width = set[AS_UARCH_dispatch_fp];
    return width > 0 && vectors / width > cycles ? vectors / width : cycles;
}

double as_front_branch(const struct as_piece_of_code *block)
{
    const double *set = block->uarch->set;
    double taken = 0;
    for (uint32_t i = 0; i < block->op_n; i++)
        taken += block->op[i].jump_taken;
    const double each = taken * set[AS_UARCH_taken_branch];
    return taken > 0 ? fmax(each, set[AS_UARCH_same_branch]) : 0;
}

/* ---- The op cache, line by line ------------------------------------------------------------ */

enum { LINE_SLOTS = AS_UARCH_LINE, COPIES_MOST = 64 };

/* State of reading the lines of a loop from the op cache. The entries of one cycle may belong to
 * several lines. Only the line at the branch target is read again after a pause. This happens if it
 * has more slots than one read returns. Further entries follow without gaps. */
struct line_reading {
    double cycles;
    double left; /* entries that the current cycle can still read */
    bool behind; /* the first line has been read */
};

static void read_entries(double entries, double a_cycle, struct line_reading *r)
{
    while (entries > r->left) {
        entries -= r->left;
        r->left = a_cycle;
        r->cycles++;
    }
    r->left -= entries;
}

static void read_looped_line(const struct as_uarch *uarch, double slots, struct line_reading *r)
{
    const double fetch = uarch->set[AS_UARCH_opcache_fetch];
    const double entry = uarch->set[AS_UARCH_opcache_line_slots];
    const double a_cycle = fmax(floor(fetch / entry), 1);
    const double again = r->behind ? 0 : ceil(slots / fetch - 1e-9) - 1;
    /* A line that holds only the end of an instruction is read too. */
    const double entries = fmax(ceil((again > 0 ? fetch : slots) / entry - 1e-9), 1);
    if (entries > r->left && entries <= a_cycle)
        r->left = 0; /* entries of one line are read in one cycle if possible */
    read_entries(entries, a_cycle, r);
    if (again > 0) {
        r->cycles += uarch->set[AS_UARCH_opcache_again] * again;
        r->left = 0;
    }
    r->behind = true;
}

/* Returns the cycles of a line in straight code: the measured value, or else the cycles of
 * dispatch. */
static double straight_line(const struct as_uarch *uarch, double slots)
{
    const double width = uarch->set[AS_UARCH_dispatch_width];
    const unsigned low = (unsigned)slots;
    if (low + 1 >= LINE_SLOTS)
        return slots / width;
    const double at_low =
        uarch->line_cycles[low] > 0 ? (double)uarch->line_cycles[low] : low / width;
    const double at_high =
        uarch->line_cycles[low + 1] > 0 ? (double)uarch->line_cycles[low + 1] : (low + 1) / width;
    return at_low + (at_high - at_low) * (slots - low);
}

/* Returns the cycles of a window of code at one op-cache line per cycle (Intel). */
static double windowed_line(const struct as_uarch *uarch, double slots)
{
    return ceil(slots / uarch->set[AS_UARCH_opcache_line_slots] - 1e-9);
}

static void read_line(const struct as_uarch *uarch, double slots, bool loop, struct line_reading *r)
{
    if (!(uarch->set[AS_UARCH_opcache_fetch] > 0))
        r->cycles += windowed_line(uarch, slots);
    else if (loop)
        read_looped_line(uarch, slots, r);
    else
        r->cycles += straight_line(uarch, slots);
}

/* Returns the operation that the last taken branch of a loop leads to. A rotated loop falls through
 * to its first operation. */
static uint32_t branch_target(const struct as_piece_of_code *block)
{
    for (uint32_t i = block->op_n; i-- > 0;)
        if (block->op[i].jump_taken)
            return (i + 1) % block->op_n;
    return 0;
}

/* Returns the cycles per copy of the block. Straight code is repeated until a line begins where the
 * first one did. */
static double opcache_cycles(const struct as_piece_of_code *block, bool loop)
{
    const struct as_uarch *uarch = block->uarch;
    const uint64_t line_b = (uint64_t)uarch->set[AS_UARCH_opcache_line_b];
    const bool crossing =
        loop ? uarch->set[AS_UARCH_opcache_fetch] > 0 : uarch->set[AS_UARCH_opcache_cross] > 0;
    const bool by_start = uarch->set[AS_UARCH_opcache_by_start] > 0 ||
                          (loop && uarch->set[AS_UARCH_opcache_fetch] > 0);
    const uint32_t start = loop ? branch_target(block) : 0;
    uint64_t line = UINT64_MAX;
    struct line_reading reading = {0};
    double slots = 0;
    unsigned copies = 0;
    do {
        for (uint32_t i = 0; i < block->op_n; i++) {
            const struct as_op *op = &block->op[(start + i) % block->op_n];
            const uint64_t first = (uint64_t)copies * block->size_b + as_op_address(block, op);
            const uint64_t end = first + op->length - 1u, at = by_start ? first : end;
            const double own = (double)op->decoded + (loop ? (double)op->decoded_more : 0);
            if (at / line_b != line) {
                if (line != UINT64_MAX)
                    read_line(uarch, slots, loop, &reading);
                slots = 0;
                line = at / line_b;
            }
            slots += own;
            if (crossing && first / line_b != end / line_b) {
                read_line(uarch, slots, loop, &reading);
                slots = loop ? 0 : own;
                line = end / line_b;
            }
        }
        copies++;
    } while (!loop && copies < COPIES_MOST && (uint64_t)copies * block->size_b % line_b);
    read_line(uarch, slots, loop, &reading);
    return reading.cycles / copies;
}

/* ---- Microcode ----------------------------------------------------------------------------- */

bool as_front_begins_group(const struct as_piece_of_code *block, const struct as_op *op)
{
    return block->uarch->set[AS_UARCH_microcode_groups] > 0 && op->flags & AS_TIMING_MICROCODE;
}

/* ---- Legacy decode ------------------------------------------------------------------------- */

static bool changes_length(const struct as_piece_of_code *block, const struct as_op *op)
{
    if (op->at == UINT32_MAX)
        return false;
    const struct as_form *form = as_form_get(block->code->insn[op->at].form);
    for (unsigned i = 0; i < form->operands; i++)
        if (form->operand[i].kind == AS_OPERAND_IMM && form->operand[i].width_b == 2 &&
            !form->operand[i].fixed)
            return true;
    return false;
}

/* Returns true if the code has length-changing prefixes. Outside of close loops it is decoded each
 * time. */
static bool has_stalls(const struct as_piece_of_code *block)
{
    for (uint32_t i = 0; i < block->op_n; i++)
        if (block->uarch->set[AS_UARCH_lcp_stall] > 0 && changes_length(block, &block->op[i]))
            return true;
    return false;
}

/* Returns the cycles of the decoders. The first decoder handles any instruction up to its slot
 * limit, the others only simple ones. A branch ends a group (Fog; uiCA, 4.1). */
static double decoder_groups(const struct as_piece_of_code *block)
{
    const double *set = block->uarch->set;
    double cycles = 0;
    unsigned in_group = 0;
    for (uint32_t i = 0; i < block->op_n; i++) {
        const struct as_op *op = &block->op[i];
        const bool complex =
            op->flags & AS_TIMING_COMPLEX || (double)op->decoded > set[AS_UARCH_simple_slots];
        const bool microcode = (double)op->decoded > set[AS_UARCH_complex_slots];
        if (!in_group || complex || in_group >= set[AS_UARCH_decode_width]) {
            cycles++;
            in_group = 0;
        }
        in_group++;
        if (microcode)
            cycles += (double)op->decoded / 4;
        if (op->branch || microcode)
            in_group = 0;
    }
    return cycles;
}

static double length_stalls(const struct as_piece_of_code *block)
{
    double stalls = 0;
    for (uint32_t i = 0; i < block->op_n; i++)
        if (changes_length(block, &block->op[i]))
            stalls += block->uarch->set[AS_UARCH_lcp_stall];
    return stalls;
}

/* Returns the cycles of legacy decoding. Bytes are fetched in blocks, and length-changing prefixes
 * stall. */
static double legacy_cycles(const struct as_piece_of_code *block)
{
    const double groups = decoder_groups(block);
    const double bytes = block->size_b / block->uarch->set[AS_UARCH_decode_b];
    return (groups > bytes ? groups : bytes) + length_stalls(block);
}

/* Returns true if the jcc erratum keeps branches of the block out of the op cache. */
static bool has_erratum(const struct as_piece_of_code *block)
{
    return block->uarch->set[AS_UARCH_jcc_erratum] > 0 && as_branches_at_end(block) > 0;
}

static double slots_decoded(const struct as_piece_of_code *block)
{
    double slots = 0;
    for (uint32_t i = 0; i < block->op_n; i++)
        slots += (double)block->op[i].decoded;
    return slots;
}

/* Returns the cycles of the loop buffer or the op cache. Returns -1 if the decoders supply the
 * code. */
static double cached_cycles(const struct as_piece_of_code *block)
{
    const double *set = block->uarch->set;
    const double slots = slots_decoded(block);
    const bool loop = block->mode == AS_PREDICT_LOOP, erratum = has_erratum(block);
    if (loop && slots <= set[AS_UARCH_loop_buffer] && !erratum)
        return ceil(slots / set[AS_UARCH_dispatch_width] - 1e-9); /* whole iterations only */
    if (!(set[AS_UARCH_opcache_width] > 0) || erratum || (!loop && has_stalls(block)) ||
        (loop && slots > set[AS_UARCH_opcache_slots]))
        return -1;
    const bool reads_again = set[AS_UARCH_opcache_fetch] > 0;
    double lines = 0;
    const bool by_windows = reads_again || set[AS_UARCH_opcache_loop] > 0;
    if (loop && !by_windows) /* lines hold rows of slots; the branch ends a row */
        lines = windowed_line(block->uarch, slots);
    else if (set[AS_UARCH_opcache_line_b] > 0)
        lines = opcache_cycles(block, loop);
    const double width = slots / set[AS_UARCH_opcache_width];
    return lines > width ? lines : width;
}

double as_front_decode(const struct as_piece_of_code *block)
{
    const double cached = cached_cycles(block);
    return cached < 0 ? legacy_cycles(block) : cached;
}

struct as_front_stages as_front_stages(const struct as_piece_of_code *block)
{
    const double bytes = block->uarch->set[AS_UARCH_decode_b];
    if (block->uarch->set[AS_UARCH_in_order] > 0 || !(bytes > 0))
        return (struct as_front_stages){-1, -1, -1, -1};
    return (struct as_front_stages){block->size_b / bytes, length_stalls(block),
                                    decoder_groups(block), cached_cycles(block)};
}
