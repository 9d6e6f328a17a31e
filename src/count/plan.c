/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the plan that counts the chosen code, and the objects of the result. Functions are counted
 * whole if they can be patched; otherwise their loops are counted.
 */
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "count/traffic.h"

static bool wants_any(const struct as_counted_module *module)
{
    const struct as_program *p = module->code ? module->code->program : NULL;
    for (uint32_t b = 0; p && b < p->body_n; b++)
        if (module->body[b])
            return true;
    for (uint32_t l = 0; p && l < p->loop_n; l++)
        if (module->loop[l])
            return true;
    return false;
}

/* Adds a module to the plan. If a wanted body is refused, its loops are planned in its place. */
static int plan_module(struct as_counted_module *module, struct as_patch_maker *maker,
                       struct as_error *err)
{
    const struct as_program *p = module->code->program;
    const struct as_patch_bodies bodies = {module->body, module->refusal};
    bool *loops = as_calloc(p->loop_n + 1, sizeof *loops);
    int rc = loops ? 0 : as_error_nomem(err, "a plan");
    for (uint32_t l = 0; rc == 0 && l < p->loop_n; l++)
        loops[l] = module->loop[l] || module->body[p->loop[l].body];
    if (rc == 0)
        rc = as_patch_maker_add_bodies(maker, p, &bodies, loops, module->verdict, err);
    as_free(loops);
    return rc;
}

/* ---- Objects ------------------------------------------------------------------------------- */

/* Returns the region of a planned module that begins at `address`, or AS_NONE. */
static uint32_t region_at(const struct as_patch_plan *plan, uint32_t planned, uint64_t address)
{
    const struct as_patch_region *region = as_patch_at(plan, &plan->region);
    for (uint64_t r = 0; r < plan->region.n; r++)
        if (region[r].module == planned && region[r].header == address)
            return (uint32_t)r;
    return AS_NONE;
}

static int add_object(struct as_block_counting *counting, uint32_t module, uint32_t number,
                      uint32_t region, const struct as_count_object *it, uint32_t *at,
                      struct as_error *err)
{
    const struct as_counted_object object = {
        .it = *it, .module = module, .number = number, .region = region};
    *at = (uint32_t)counting->object.n;
    return as_vec_push(&counting->object, object) < 0 ? as_error_nomem(err, "what is counted") : 0;
}

static int add_loop(struct as_block_counting *counting, const struct as_patch_plan *plan,
                    uint32_t m, uint32_t loop, uint32_t around, struct as_error *err)
{
    struct as_counted_module *module = &counting->module.at[m];
    const struct as_program *p = module->code->program;
    const struct as_patch_verdict *verdict = &module->verdict[loop];
    const struct as_patch_loop *planned = plan ? as_patch_at(plan, &plan->loop) : NULL;
    const struct as_count_object it = {
        .kind = AS_OBJECT_LOOP,
        .module_id = module->id,
        .address = p->block[p->loop[loop].header].start,
        .depth = p->loop[loop].depth,
        .reason = verdict->refusal ? as_patch_refusal_text(verdict->refusal) : NULL};
    const uint32_t region =
        verdict->loop != AS_NONE && planned ? planned[verdict->loop].region : around;
    return add_object(counting, m, loop, region, &it, &module->loop_object[loop], err);
}

static int add_body(struct as_block_counting *counting, const struct as_patch_plan *plan,
                    uint32_t m, uint32_t body, struct as_error *err)
{
    struct as_counted_module *module = &counting->module.at[m];
    const struct as_program *p = module->code->program;
    const struct as_body *b = &p->body[body];
    uint32_t region = AS_NONE;
    if (module->body[body]) {
        const struct as_count_object it = {
            .kind = AS_OBJECT_FUNCTION,
            .module_id = module->id,
            .address = b->entry,
            .reason = module->refusal[body] ? as_patch_refusal_text(module->refusal[body]) : NULL};
        if (!it.reason && plan)
            region = region_at(plan, module->planned, p->block[b->entry_block].start);
        AS_TRY(add_object(counting, m, body, region, &it, &module->body_object[body], err));
    }
    for (uint32_t l = b->first_loop; l < b->first_loop + b->loops; l++)
        if (module->body[body] || module->loop[l])
            AS_TRY(add_loop(counting, plan, m, l, region, err));
    return 0;
}

static int add_objects(struct as_block_counting *counting, const struct as_patch_plan *plan,
                       struct as_error *err)
{
    for (uint32_t m = 0; m < counting->module.n; m++) {
        const struct as_counted_module *module = &counting->module.at[m];
        for (uint32_t b = 0; wants_any(module) && b < module->code->program->body_n; b++)
            AS_TRY(add_body(counting, plan, m, b, err));
    }
    return 0;
}

int as_counting_plan(struct as_block_counting *counting, uint8_t **bytes, size_t *n,
                     struct as_error *err)
{
    const struct as_patch_wish wish = {.mode = AS_PATCH_COUNT,
                                       .addresses_b = counting->traffic ? AS_TRAFFIC_BUFFER_B : 0};
    struct as_patch_maker *maker = NULL;
    uint32_t planned = 0;
    *bytes = NULL;
    int rc = as_patch_maker_new(&wish, &maker, err);
    as_vec_foreach (&counting->module, module) {
        if (rc < 0 || !wants_any(module))
            continue;
        if (module->is_executable && !counting->program[0])
            snprintf(counting->program, sizeof counting->program, "%s", module->code->path);
        rc = plan_module(module, maker, err);
        module->planned = planned++;
    }
    if (rc == 0 && planned)
        rc = as_patch_maker_bytes(maker, bytes, n, err);
    if (rc == 0 && planned && counting->traffic)
        as_patch_maker_addresses(maker, &counting->traffic->plan);
    as_patch_maker_free(&maker);
    if (rc == 0)
        rc = add_objects(counting, (const void *)*bytes, err);
    if (*bytes && ((const struct as_patch_plan *)(const void *)*bytes)->region.n == 0) {
        as_free(*bytes);
        *bytes = NULL;
    }
    return rc;
}
