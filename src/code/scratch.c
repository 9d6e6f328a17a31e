/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic exchanges take and fill the slots: the thread that takes a scratch owns its contents. */
#include "code/scratch.h"

static struct as_scratches *scratches_of(const struct as_program *program)
{
    return &((struct as_whole *)program)->scratches;
}

static void scratch_free(struct as_scratch *scratch)
{
    as_arena_fini(&scratch->arena);
    as_arena_fini(&scratch->iteration_arena);
    as_evaluate_fini(&scratch->evaluation);
    as_reach_fini(&scratch->reach);
    as_free(scratch);
}

struct as_scratch *as_scratch_acquire(const struct as_program *program)
{
    struct as_scratches *s = scratches_of(program);
    for (unsigned i = 0; i < AS_SCRATCHES; i++) {
        struct as_scratch *spare = atomic_exchange(&s->spare[i], NULL);
        if (spare)
            return spare;
    }
    struct as_scratch *made = as_calloc(1, sizeof *made);
    if (made) {
        as_arena_init(&made->arena);
        as_arena_init(&made->iteration_arena);
    }
    return made;
}

void as_scratch_release(const struct as_program *program, struct as_scratch *scratch)
{
    struct as_scratches *s = scratches_of(program);
    if (!scratch)
        return;
    as_arena_reset(&scratch->arena);
    for (unsigned i = 0; i < AS_SCRATCHES; i++) {
        struct as_scratch *none = NULL;
        if (atomic_compare_exchange_strong(&s->spare[i], &none, scratch))
            return;
    }
    scratch_free(scratch);
}

void as_scratches_fini(struct as_scratches *scratches)
{
    for (unsigned i = 0; i < AS_SCRATCHES; i++) {
        struct as_scratch *spare = atomic_exchange(&scratches->spare[i], NULL);
        if (spare)
            scratch_free(spare);
    }
}

const struct as_iteration *as_scratch_iteration(struct as_scratch *scratch,
                                                const struct as_program *program, uint32_t loop)
{
    if (scratch->has_iteration && scratch->iteration.loop == loop)
        return &scratch->iteration;
    as_arena_reset(&scratch->iteration_arena);
    scratch->has_iteration =
        as_iteration_make(program, loop, &scratch->iteration_arena, &scratch->iteration) == 0;
    return scratch->has_iteration ? &scratch->iteration : NULL;
}
