/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: the bytes are a plan of patches. One that passes its check is followed as the agent
 * does it: all that it leads to lies inside.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "patch/plan.h"
#include "patch/probe_plan.h"
#include "patch/variant_plan.h"

bool fuzz_taken;
static const struct as_patch_plan *plan;

static void walk_template(const struct as_patch_template *t)
{
    const struct as_patch_reloc *reloc = as_patch_at(plan, &plan->reloc);
    const struct as_patch_span *span = as_patch_at(plan, &plan->span);
    if (t->size_b == 0)
        return;
    const uint8_t *code = (const uint8_t *)as_patch_at(plan, &plan->code) + t->code;
    fuzz_touch(code, t->size_b);
    FUZZ_CHECK(t->header < t->size_b);
    for (uint64_t i = 0; i < t->relocs; i++)
        fuzz_touch(code + reloc[t->first_reloc + i].at, 4);
    for (uint64_t i = 0; i < t->spans; i++)
        fuzz_touch(code + span[t->first_span + i].at, span[t->first_span + i].size_b);
}

static void walk_variants(const struct as_patch_region *region)
{
    const struct as_patch_variant *variant = as_patch_at(plan, &plan->variant);
    for (uint64_t i = region->first_variant; i < (uint64_t)region->first_variant + region->variants;
         i++) {
        walk_template(&variant[i].code);
        FUZZ_CHECK(variant[i].enter < variant[i].code.size_b);
        FUZZ_CHECK(variant[i].tally == AS_PATCH_NONE || variant[i].tally < 16);
        FUZZ_CHECK(variant[i].log == AS_PATCH_NONE || variant[i].log < 16);
    }
}

/* Places on the stack are copied into room of a fixed size. */
static void walk_streams(const struct as_patch_region *region)
{
    const struct as_patch_stream *stream = as_patch_at(plan, &plan->stream);
    stream += region->first_stream;
    fuzz_touch(stream, (region->streams + (uint64_t)region->slots) * sizeof *stream);
    FUZZ_CHECK(region->slots <= AS_VARIANT_FRAME_MOST);
    for (uint64_t i = 0; i < region->slots; i++)
        FUZZ_CHECK(stream[region->streams + i].base < 16 &&
                   stream[region->streams + i].width_b <= AS_VARIANT_FRAME_B);
    FUZZ_CHECK(region->slice_reg == AS_PATCH_NONE || region->slice_reg < 16);
}

static void walk_points(void)
{
    const struct as_patch_point *point = as_patch_at(plan, &plan->point);
    const struct as_patch_act *act = as_patch_at(plan, &plan->act);
    const struct as_patch_called *called = as_patch_at(plan, &plan->called);
    const char *text = as_patch_at(plan, &plan->text);
    for (uint64_t i = 0; i < plan->point.n; i++)
        fuzz_touch(&act[point[i].first_act], point[i].acts * sizeof *act);
    for (uint64_t i = 0; i < plan->act.n; i++) {
        FUZZ_CHECK(act[i].kind < AS_PATCH_ACT_KINDS && act[i].place < plan->act.n);
        if (act[i].kind == AS_PATCH_ACT_CALLS)
            fuzz_touch(&called[act[i].called], sizeof *called);
        if (act[i].kind == AS_PATCH_ACT_KEEPS)
            FUZZ_CHECK(act[i].reg < 16 && act[i].type < AS_PATCH_TYPES &&
                       (act[i].base < 16 || act[i].base == AS_PATCH_NONE));
    }
    for (uint64_t i = 0; i < plan->called.n; i++) {
        fuzz_touch_string(text + called[i].library);
        fuzz_touch_string(text + called[i].function);
        fuzz_touch_string(text + called[i].probe);
    }
}

static void walk_edges(const struct as_patch_region *region)
{
    const struct as_patch_edge *edge = as_patch_at(plan, &plan->edge);
    const struct as_patch_event *event = as_patch_at(plan, &plan->event);
    const struct as_patch_loop *loop = as_patch_at(plan, &plan->loop);
    const struct as_patch_exit *exit = as_patch_at(plan, &plan->exit);
    edge += region->first_edge;
    for (uint64_t i = 0; i < region->edges; i++) {
        for (uint64_t k = edge[i].first_event; k < (uint64_t)edge[i].first_event + edge[i].events;
             k++) {
            const struct as_patch_loop *it = &loop[event[k].loop];
            if (event[k].kind == AS_PATCH_LEAVE)
                as_patch_trips(it, exit[it->first_exit + event[k].exit].add, 0, 1);
            FUZZ_CHECK(it->induction == AS_PATCH_NONE || it->induction < 16);
        }
    }
}

static void walk_plan(void)
{
    const struct as_patch_module *module = as_patch_at(plan, &plan->module);
    const struct as_patch_region *region = as_patch_at(plan, &plan->region);
    const struct as_patch_site *site = as_patch_at(plan, &plan->site);
    for (uint64_t m = 0; m < plan->module.n; m++) {
        fuzz_touch_string((const char *)as_patch_at(plan, &plan->text) + module[m].path);
        for (uint64_t r = 0; r < module[m].regions; r++)
            fuzz_touch(&region[module[m].first_region + r], sizeof *region);
    }
    for (uint64_t r = 0; r < plan->region.n; r++) {
        walk_template(&region[r].plain);
        walk_template(&region[r].measured);
        walk_variants(&region[r]);
        walk_streams(&region[r]);
        walk_edges(&region[r]);
        for (uint64_t i = 0; i < region[r].sites; i++)
            fuzz_touch(&site[region[r].first_site + i], sizeof *site);
    }
    walk_points();
    FUZZ_CHECK(as_patch_thread_b(plan) < UINT64_C(1) << 32);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    uint8_t *copy = malloc(size_b + 1);
    FUZZ_CHECK(copy);
    if (size_b)
        memcpy(copy, bytes, size_b);
    if (!as_patch_plan_check(copy, size_b)) {
        plan = (const struct as_patch_plan *)(const void *)copy;
        fuzz_taken = true;
        walk_plan();
    }
    free(copy);
    return 0;
}
