/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where there is no C library nothing runs as a variant: taking one back needs handlers of faults
 * and timers of our own. A plan of them, or of probes, ends before anything is patched.
 */
#include "agent/prober.h"
#include "agent/variant.h"

struct as_variants as_variants;

bool as_variant_begin(void)
{
    return as_patcher.plan->mode != AS_PATCH_VARY;
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
    return as_patcher.plan->mode != AS_PATCH_PROBE;
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
