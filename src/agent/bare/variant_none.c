/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bare agent runs no variants. Taking one back needs signal handlers and timers, which the
 * program may replace unnoticed, and %gs, which leads to the file of the thread here. A plan of
 * variants or of probes ends before anything is patched, and the outcomes say why.
 */
#include "agent/patcher/prober.h"
#include "agent/patcher/variant.h"

struct as_variants as_variants;

static bool refuse_regions(void)
{
    for (uint64_t r = 0; r < as_patcher.plan->region.n; r++)
        as_patcher_outcome(r)->kind = AS_PATCH_BARE;
    return false;
}

bool as_variant_begin(void)
{
    return as_patcher.plan->mode != AS_PATCH_VARY || refuse_regions();
}

void as_variant_thread_begin(void)
{
}

void as_variant_thread_end(void)
{
}

void as_variant_forked(void)
{
}

void as_variant_stub_entry(struct as_patcher_code *code, const struct as_patch_region *region,
                           const uint8_t *plain, const uint8_t *measured)
{
    (void)code, (void)region, (void)plain, (void)measured;
}

void as_variant_stub_edge(struct as_patcher_code *code)
{
    (void)code;
}

int32_t as_variant_limit_offset(uint64_t region)
{
    (void)region;
    return 0;
}

const uint8_t *as_variant_stub_left(struct as_patcher_code *code)
{
    return code->at;
}

bool as_prober_begin(void)
{
    return as_patcher.plan->mode != AS_PATCH_PROBE || refuse_regions();
}

void as_prober_thread_begin(void)
{
}

void as_prober_thread_end(void)
{
}

void as_prober_forked(void)
{
}

const uint8_t *as_prober_stub(struct as_patcher_code *code)
{
    return code->at;
}
