/* SPDX-License-Identifier: Apache-2.0 */
/* Orders a table of passes into waves with Kahn's algorithm; ties keep the order of the table. */
#include "pipeline/plan.h"

#include "base/error.h"

/* ---- Facts --------------------------------------------------------------------------------- */

static int fact_bit(struct as_pass_plan *plan, struct as_view word, uint64_t *bits,
                    struct as_error *err)
{
    size_t i = 0;

    while (i < plan->fact_n && !as_view_equal(plan->fact[i], word))
        i++;
    if (i == AS_PLAN_FACTS_MOST)
        return as_error_set(err, AS_ERR_LIMIT, "passes: they name more than %d facts",
                            AS_PLAN_FACTS_MOST);
    if (i == plan->fact_n)
        plan->fact[plan->fact_n++] = word;
    *bits |= UINT64_C(1) << i;
    return 0;
}

static int fact_bits(struct as_pass_plan *plan, const char *words, uint64_t *bits,
                     struct as_error *err)
{
    struct as_view rest = as_view_of(words ? words : ""), word;

    *bits = 0;
    while (as_view_split(&rest, ' ', &word))
        if (word.n)
            AS_TRY(fact_bit(plan, word, bits, err));
    return 0;
}

struct as_view as_plan_fact(const struct as_pass_plan *plan, uint64_t facts)
{
    for (size_t i = 0; i < plan->fact_n; i++)
        if (facts >> i & 1)
            return plan->fact[i];
    return as_view_of("");
}

/* ---- Waves --------------------------------------------------------------------------------- */

struct ready_pass {
    struct as_step step;
    bool is_placed;
};

/* Returns true if `it` is not placed, and all makers of its facts are in earlier waves. */
static bool is_ready(const struct ready_pass *all, size_t n, const struct ready_pass *it,
                     unsigned wave)
{
    const uint64_t facts = it->step.needs | it->step.uses;

    for (size_t i = 0; i < n; i++)
        if (&all[i] != it && (all[i].step.makes & facts) &&
            (!all[i].is_placed || all[i].step.wave == wave))
            return false;
    return !it->is_placed;
}

/* Places the next wave. A pass that starts the program gets its own wave, after the passes that
 * are ready without it. Returns false if no pass is ready. */
static bool place_wave(struct as_pass_plan *plan, struct ready_pass *all, size_t n, unsigned wave)
{
    const size_t before = plan->step_n;

    for (size_t i = 0; i < n; i++) {
        const bool starts = all[i].step.pass->starts;

        if (!is_ready(all, n, &all[i], wave) || (starts && plan->step_n > before))
            continue;
        all[i].step.wave = wave;
        all[i].is_placed = true;
        plan->step[plan->step_n++] = all[i].step;
        if (starts)
            break;
    }
    return plan->step_n > before;
}

static int report_pass_cycle(const struct ready_pass *all, size_t n, struct as_error *err)
{
    struct as_str names = {0};

    for (size_t i = 0; i < n; i++)
        if (!all[i].is_placed)
            as_str_appendf(&names, "%s%s", names.n ? ", " : "", all[i].step.pass->name);
    const int rc = as_error_set(err, AS_ERR_INTERNAL,
                                "passes: %s wait for what each other makes; take one of the needs "
                                "away",
                                names.failed ? "some" : as_str_z(&names));
    as_str_fini(&names);
    return rc;
}

static int collect_ready_passes(struct as_pass_plan *plan, const struct as_pass *pass,
                                size_t pass_n, int level, struct ready_pass *all, size_t *n,
                                struct as_error *err)
{
    for (size_t i = 0; i < pass_n; i++) {
        struct as_step step = {.pass = &pass[i]};

        AS_TRY(fact_bits(plan, pass[i].needs, &step.needs, err));
        AS_TRY(fact_bits(plan, pass[i].uses, &step.uses, err));
        AS_TRY(fact_bits(plan, pass[i].makes, &step.makes, err));
        if (pass[i].level <= level && (!step.makes || (step.makes & ~plan->there)))
            all[(*n)++] = (struct ready_pass){.step = step};
    }
    return 0;
}

int as_plan_make(const struct as_pass *pass, size_t pass_n, int level, const char *there,
                 struct as_pass_plan *plan, struct as_error *err)
{
    struct ready_pass all[AS_PIPELINE_PASSES_MAX];
    size_t n = 0;

    *plan = (struct as_pass_plan){0};
    if (pass_n > AS_PIPELINE_PASSES_MAX)
        return as_error_set(err, AS_ERR_LIMIT, "passes: %zu are more than %d", pass_n,
                            AS_PIPELINE_PASSES_MAX);
    AS_TRY(fact_bits(plan, there, &plan->there, err));
    AS_TRY(collect_ready_passes(plan, pass, pass_n, level, all, &n, err));
    for (unsigned wave = 0; place_wave(plan, all, n, wave); wave++)
        ;
    return plan->step_n == n ? 0 : report_pass_cycle(all, n, err);
}
