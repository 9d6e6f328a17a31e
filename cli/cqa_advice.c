/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advice on loops, by the rules for runs. A batch of loops is stored in an experiment in memory.
 * The rules are applied to it, and the batch is removed.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "cqa.h"

/* ---- Opening ------------------------------------------------------------------------------- */

/* The tables of metrics are made once, outside what is taken back. */
static int make_tables(void *context, struct as_error *err)
{
    const struct as_quality_view *view = context;
    const struct as_quality_code none = {.module = view->advice.module};

    return as_quality_code(view->advice.experiment, &none, NULL, err);
}

int as_cqa_advice_open(struct as_quality_view *view, struct as_error *err)
{
    struct as_cqa_advice *a = &view->advice;

    as_arena_init(&a->arena);
    AS_TRY(as_experiment_transient(&a->experiment, err));
    AS_TRY(as_catalogue_new(a->experiment, NULL, &a->catalogue, err));
    AS_TRY(as_catalogue_adopt(a->catalogue, view->chosen.object, view->chosen.program, &a->module,
                              err));
    return as_experiment_batch(a->experiment, make_tables, view, err);
}

void as_cqa_advice_close(struct as_quality_view *view)
{
    struct as_cqa_advice *a = &view->advice;

    if (a->catalogue)
        as_catalogue_close(a->catalogue, &a->module);
    as_catalogue_free(&a->catalogue);
    as_experiment_close(&a->experiment, NULL);
    as_vec_fini(&a->cause);
    as_arena_fini(&a->arena);
}

/* ---- A batch ------------------------------------------------------------------------------- */

static const char *kept_words(struct as_cqa_advice *a, const char *text)
{
    return text ? as_arena_strndup(&a->arena, text, strlen(text)) : NULL;
}

static int copy_cause(void *context, const struct as_cause *cause, struct as_error *err)
{
    struct as_cqa_advice *a = context;
    struct as_cause copy = *cause;

    copy.text = kept_words(a, cause->text);
    copy.workaround = kept_words(a, cause->workaround);
    return copy.text && copy.workaround && as_vec_push(&a->cause, copy) == 0
               ? 0
               : as_error_nomem(err, "the advice on loops");
}

static int run_advice_rules(struct as_quality_view *view, const struct as_cqa *answer, size_t n,
                            struct as_error *err)
{
    static const struct as_rule_choice all;
    struct as_cqa_advice *a = &view->advice;
    const struct as_quality_code code = {.module = a->module, .cqa = answer, .n = n};

    a->row = as_arena_array(&a->arena, int64_t, n);
    if (!a->row)
        return as_error_nomem(err, "the advice on loops");
    AS_TRY(as_quality_code(a->experiment, &code, a->row, err));
    return as_advise_causes(a->experiment, &all, copy_cause, a, err);
}

int as_cqa_advice_batch(struct as_quality_view *view, const struct as_cqa *answer, size_t n,
                        struct as_error *err)
{
    struct as_cqa_advice *a = &view->advice;

    if (!a->module)
        return 0;
    a->cause.n = 0;
    as_arena_reset(&a->arena);
    AS_TRY(as_experiment_begin(a->experiment, err));
    const int rc = run_advice_rules(view, answer, n, err);
    as_experiment_rollback(a->experiment);
    return rc;
}

/* ---- Showing ------------------------------------------------------------------------------- */

static const char *const level_key[] = {[AS_FINDING_GAIN] = "gain",
                                        [AS_FINDING_POTENTIAL] = "potential",
                                        [AS_FINDING_HINT] = "hint",
                                        [AS_FINDING_EXPERT] = "expert"};
_Static_assert(sizeof level_key / sizeof *level_key == AS_FINDING_EXPERT + 1,
               "an entry for each of the enumeration");

static bool is_level_shown(const struct as_quality_view *view, const struct as_cause *cause)
{
    return view->levels >> (cause->level - AS_FINDING_GAIN) & 1;
}

/* The variant without that cause, where it would be faster; NULL: none. */
static const struct as_cqa_what_if *variant_of(const struct as_cqa *cqa,
                                               const struct as_cause *cause)
{
    for (unsigned v = 0; cause->variant && v < AS_CQA_VARIANTS; v++) {
        const struct as_cqa_what_if *it = &cqa->mean.what_if[v];
        const bool vectors = v == AS_CQA_VECTOR || v == AS_CQA_FP_VECTOR;

        if (strcmp(as_cqa_variant_name((enum as_cqa_variant)v), cause->variant) == 0)
            return it->applies && it->speedup > 1.05 && (it->sound || !vectors) ? it : NULL;
    }
    return NULL;
}

static void write_cause(struct as_quality_view *view, const struct as_cqa *cqa,
                        const struct as_cause *cause)
{
    const struct as_cqa_what_if *without = variant_of(cqa, cause);
    struct as_str text = {0};

    as_str_appendf(&text, "It %s.", cause->text);
    if (*cause->workaround)
        as_str_appendf(&text, " %s", cause->workaround);
    if (without)
        as_str_appendf(&text,
                       " Without it: %.2f cycles instead of %.2f, at most %.1f times as fast.",
                       without->cycles, as_cqa_value(&cqa->mean, "cycles"), without->speedup);
    as_cqa_wrapped(view, "  - ", 4, &text);
    as_str_fini(&text);
}

void as_cqa_advice_report(struct as_quality_view *view, const struct as_cqa *cqa)
{
    static const char *const title[] = {[AS_FINDING_GAIN] = "usually pays off",
                                        [AS_FINDING_POTENTIAL] = "may pay off",
                                        [AS_FINDING_HINT] = "worth a look",
                                        [AS_FINDING_EXPERT] = "for experts"};
    _Static_assert(sizeof title / sizeof *title == AS_FINDING_EXPERT + 1,
                   "an entry for each of the enumeration");
    const struct as_cqa_advice *a = &view->advice;

    for (int level = AS_FINDING_GAIN; level <= AS_FINDING_EXPERT; level++) {
        bool any = false;

        as_vec_foreach (&a->cause, it) {
            if (!a->row || it->loop_id != a->row[view->at] || (int)it->level != level ||
                !is_level_shown(view, it))
                continue;
            if (!any) {
                as_cli_print(view->cli, "\n  ");
                as_cli_styled(view->cli, AS_STYLE_BOLD, title[level]);
                as_cli_print(view->cli, "\n");
            }
            any = true;
            write_cause(view, cqa, it);
        }
    }
}

void as_cqa_advice_json(struct as_quality_view *view, const struct as_cqa *cqa)
{
    const struct as_cqa_advice *a = &view->advice;
    struct as_json *json = &view->facts.json;

    as_json_key(json, "advice");
    if (!a->module) {
        as_json_null(json);
        return;
    }
    as_json_array_begin(json);
    as_vec_foreach (&a->cause, it) {
        const struct as_cqa_what_if *without = variant_of(cqa, it);

        if (it->loop_id != a->row[view->at] || !is_level_shown(view, it))
            continue;
        as_json_object_begin(json);
        as_json_key_string(json, "level", level_key[it->level]);
        as_json_key_string(json, "topic", it->topic);
        as_json_key_string(json, "rule", it->rule);
        as_json_key_string(json, "text", it->text);
        as_json_key_string(json, "workaround", it->workaround);
        as_json_key_double(json, "cycles", without ? without->cycles : NAN);
        as_json_object_end(json);
    }
    as_json_array_end(json);
}
