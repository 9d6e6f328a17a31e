/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses states, events and messages, and gives events other numbers. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "edit/edit_stage.h"
#include "exchange/prv_lines.h"

/* ---- Types ----------------------------------------------------------------------------------- */

bool as_edit_types_have(const struct as_edit_types *types, int64_t type, int64_t value)
{
    as_vec_foreach (&types->type, of) {
        if (type < of->range.first || type > of->range.last)
            continue;
        if (of->value.n == 0)
            return true;
        as_vec_foreach (&of->value, one)
            if (*one == value)
                return true;
    }
    return false;
}

/* ---- Filter ---------------------------------------------------------------------------------- */

struct filter_stage {
    struct as_edit_stage stage;
    const struct as_edit_filter *filter;
    AS_VEC(int64_t) state; /* numbers; empty: all */
};

static bool is_state_kept(const struct filter_stage *f, const struct as_prv_line_read *line)
{
    if (f->filter->drops_states ||
        (line->end_ns >= 0 && line->end_ns - line->ns < f->filter->min_state_ns))
        return false;
    as_vec_foreach (&f->state, state)
        if (*state == line->state)
            return true;
    return f->filter->state.n == 0;
}

static bool are_events_kept(const struct filter_stage *f, struct as_prv_line_read *line)
{
    const struct as_edit_filter *filter = f->filter;
    size_t n = 0;
    if (filter->drops_events || filter->types.type.n == 0)
        return !filter->drops_events;
    for (size_t i = 0; i + 1 < line->value.n; i += 2) {
        const int64_t type = line->value.at[i], value = line->value.at[i + 1];
        if (as_edit_types_have(&filter->types, type, value) == filter->discards_types)
            continue;
        line->value.at[n++] = type;
        line->value.at[n++] = value;
    }
    line->value.n = n;
    return n > 0;
}

static int filter_line(struct as_edit_stage *stage, struct as_prv_line_read *line,
                       struct as_error *err)
{
    struct filter_stage *f = (struct filter_stage *)stage;
    bool is_kept = true;
    if (line->kind == AS_PRV_LINE_STATE)
        is_kept = is_state_kept(f, line);
    else if (line->kind == AS_PRV_LINE_EVENTS)
        is_kept = are_events_kept(f, line);
    else if (line->kind == AS_PRV_LINE_MESSAGE)
        is_kept = !f->filter->drops_messages && line->size_b >= f->filter->min_size_b;
    return is_kept ? as_edit_pass(stage, line, err) : 0;
}

static void free_filter(struct as_edit_stage *stage)
{
    struct filter_stage *f = (struct filter_stage *)stage;
    as_vec_fini(&f->state);
    as_free(f);
}

/* A number, or all states with this label. */
static int add_state_of(struct filter_stage *f, const char *name, const struct as_prv_pcf *labels,
                        struct as_error *err)
{
    const size_t before_n = f->state.n;
    struct as_view at = as_view_of(name);
    int64_t number;
    int rc = 0;
    if (as_lines_integer(&at, &number) && at.n == 0)
        rc = as_vec_push(&f->state, number);
    as_vec_foreach (&labels->state, state)
        if (rc == 0 && strcmp(state->label, name) == 0)
            rc = as_vec_push(&f->state, state->value);
    if (rc < 0)
        return as_error_nomem(err, "a filter");
    if (f->state.n > before_n)
        return 0;
    return as_error_set(err, AS_ERR_USAGE,
                        "the filter: the .pcf of the trace has no state '%s'; use a number or a "
                        "label of its STATES",
                        name);
}

int as_edit_filter_new(const struct as_edit *edit, const struct as_edit_trace *trace,
                       struct as_edit_stage **out, struct as_error *err)
{
    struct filter_stage *f = as_calloc(1, sizeof *f);
    if (!f)
        return as_error_nomem(err, "a filter");
    f->stage = (struct as_edit_stage){.on_line = filter_line, .fini = free_filter};
    f->filter = &edit->filter;
    int rc = 0;
    as_vec_foreach (&edit->filter.state, name)
        if (rc == 0)
            rc = add_state_of(f, *name, trace->labels, err);
    if (rc < 0)
        free_filter(&f->stage);
    else
        *out = &f->stage;
    return rc;
}

/* ---- Translation ----------------------------------------------------------------------------- */

struct translate_stage {
    struct as_edit_stage stage;
    struct as_edit_translations translations;
};

static int compare_translations(const void *a, const void *b)
{
    const struct as_edit_translation *x = a, *y = b;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    if (x->has_value != y->has_value)
        return x->has_value ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

/* The label of `value` in the reference; false: it has none. */
static bool find_value_of(const struct as_prv_pcf *reference, int64_t type, const char *label,
                          int64_t *value)
{
    as_vec_foreach (&reference->value, one)
        if (one->type == type && strcmp(one->label, label) == 0) {
            *value = one->value;
            return true;
        }
    return false;
}

/* The first number above all of a type in both files. */
static int64_t next_free_value(const struct as_prv_pcf *a, const struct as_prv_pcf *b, int64_t type)
{
    int64_t max = 0;
    as_vec_foreach (&a->value, one)
        if (one->type == type && one->value > max)
            max = one->value;
    as_vec_foreach (&b->value, one)
        if (one->type == type && one->value > max)
            max = one->value;
    return max < INT64_MAX ? max + 1 : max;
}

/* Values with the same label get the number of the reference. A number that the reference uses for
 * another label is replaced by a new one. */
static int translate_like(const struct as_prv_pcf *labels, const struct as_prv_pcf *reference,
                          struct as_edit_translations *out)
{
    int64_t type = 0, next = 0;
    bool has_next = false;
    as_vec_foreach (&labels->value, one) {
        struct as_edit_translation t = {
            .type = one->type, .value = one->value, .has_value = true, .new_type = one->type};
        if (!has_next || one->type != type) {
            type = one->type;
            next = next_free_value(labels, reference, type);
            has_next = true;
        }
        const char *other = as_prv_pcf_label(reference, one->type, one->value);
        if (!find_value_of(reference, one->type, one->label, &t.new_value)) {
            if (!other)
                continue;
            t.new_value = next++;
        }
        if (t.new_value != t.value)
            AS_TRY(as_vec_push(&out->at, t));
    }
    return 0;
}

int as_edit_translations_of(const struct as_edit *edit, const struct as_prv_pcf *labels,
                            struct as_edit_translations *out, struct as_error *err)
{
    struct as_prv_pcf reference = {0};
    int rc = 0;
    *out = (struct as_edit_translations){0};
    as_vec_foreach (&edit->translation, t)
        if (rc == 0)
            rc = as_vec_push(&out->at, *t);
    if (rc == 0 && edit->like) {
        rc = as_prv_pcf_read(edit->like, &reference, err);
        if (rc == 0 && reference.type.n == 0) {
            as_prv_pcf_fini(&reference);
            as_vec_fini(&out->at);
            return as_error_set(err, AS_ERR_NOT_FOUND,
                                "--translate: %s.pcf has no labels of events; use another .pcf",
                                edit->like);
        }
        if (rc == 0)
            rc = translate_like(labels, &reference, out);
        as_prv_pcf_fini(&reference);
    }
    if (rc < 0) {
        as_vec_fini(&out->at);
        return as_error_nomem(err, "a translation");
    }
    if (out->at.n > 1)
        qsort(out->at.at, out->at.n, sizeof *out->at.at, compare_translations);
    return 0;
}

static const struct as_edit_translation *
find_translation(const struct as_edit_translations *translations,
                 const struct as_edit_translation *key)
{
    return translations->at.n ? bsearch(key, translations->at.at, translations->at.n, sizeof *key,
                                        compare_translations)
                              : NULL;
}

bool as_edit_translate(const struct as_edit_translations *translations, int64_t *type,
                       int64_t *value)
{
    struct as_edit_translation key = {.type = *type, .value = *value, .has_value = true};
    const struct as_edit_translation *found = find_translation(translations, &key);
    if (!found) {
        key = (struct as_edit_translation){.type = *type};
        found = find_translation(translations, &key);
    }
    if (!found)
        return false;
    *type = found->new_type;
    if (found->has_value)
        *value = found->new_value;
    return true;
}

static int translate_line(struct as_edit_stage *stage, struct as_prv_line_read *line,
                          struct as_error *err)
{
    const struct translate_stage *t = (struct translate_stage *)stage;
    if (line->kind == AS_PRV_LINE_EVENTS)
        for (size_t i = 0; i + 1 < line->value.n; i += 2)
            as_edit_translate(&t->translations, &line->value.at[i], &line->value.at[i + 1]);
    return as_edit_pass(stage, line, err);
}

static void free_translate(struct as_edit_stage *stage)
{
    struct translate_stage *t = (struct translate_stage *)stage;
    as_vec_fini(&t->translations.at);
    as_free(t);
}

int as_edit_translate_new(const struct as_edit *edit, const struct as_edit_trace *trace,
                          struct as_edit_stage **out, struct as_error *err)
{
    struct translate_stage *t = as_calloc(1, sizeof *t);
    if (!t)
        return as_error_nomem(err, "a translation");
    t->stage = (struct as_edit_stage){.on_line = translate_line, .fini = free_translate};
    const int rc = as_edit_translations_of(edit, trace->labels, &t->translations, err);
    if (rc < 0)
        free_translate(&t->stage);
    else
        *out = &t->stage;
    return rc;
}
