/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds hazards: a block with them costs more than its operations show. The first kind is a load of
 * bytes that a store wrote only in part. The second is a load that aliases a store at a distance of
 * 4 KiB. The third is a branch at the end of 32 bytes. Sources: Intel, Optimization Reference
 * Manual (248966), store forwarding and 4-KByte aliasing; Intel, Mitigations for Jump Conditional
 * Code Erratum, 2019.
 */
#include "predict/internal.h"

#define PAGE_B 4096

unsigned as_branches_at_end(const struct as_piece_of_code *block)
{
    unsigned n = 0;

    for (uint32_t i = 0; i < block->op_n; i++) {
        const struct as_op *op = &block->op[i];
        const uint64_t at = as_op_address(block, op);

        n += op->branch && at / 32 != (at + op->length) / 32;
    }
    return n;
}

/* Returns true if the bytes of load and store overlap in the lower 12 address bits but not in
 * memory. */
static bool looks_alike(const struct as_op *load, const struct as_op *store)
{
    const int64_t apart = load->address_offset - store->address_offset;
    const int64_t low = apart & (PAGE_B - 1);
    const int64_t load_b = load->memory[0].width_b, store_b = store->memory[0].width_b;

    return load->address_base == store->address_base && !(apart < store_b && -apart < load_b) &&
           (low < store_b || PAGE_B - low < load_b);
}

/* Returns the number of loads with the page offset of a nearby store to other memory. */
static unsigned loads_that_look_like_stores(const struct as_piece_of_code *block)
{
    unsigned n = 0;

    for (uint32_t i = 0; i < block->op_n; i++) {
        const struct as_op *load = &block->op[i];
        bool alike = false;

        for (uint32_t k = 0; load->loads && load->memory_n == 1 && k < block->op_n && !alike; k++)
            alike = block->op[k].stores && block->op[k].memory_n == 1 &&
                    looks_alike(load, &block->op[k]);
        n += alike;
    }
    return n;
}

void as_find_hazards(const struct as_piece_of_code *block, struct as_prediction *out)
{
    out->forward_failed_n = block->forward_failed_n;
    out->page_alias_n = loads_that_look_like_stores(block);
    out->branch_at_end_n =
        block->uarch->set[AS_UARCH_jcc_erratum] > 0 ? as_branches_at_end(block) : 0;
}
