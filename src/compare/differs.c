/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds differences between aligned functions and loops: compiler, flags, static metrics,
 * instructions, versions, calls. Values differ if their intervals do not overlap; exact values
 * differ if they are not equal. An unknown value differs from no other.
 */
#include "compare/differs.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/statistics.h"
#include "experiment/metric_names.h"

/* Versions with a smaller share of the cost of their row are ignored. */
#define LEAST_PART 0.1
/* Shares of calls differ if intervals of this level do not overlap. They are many and sampled. */
#define CALL_LEVEL 0.999
#define ARROW      " -> "

/* ---- Facts of a side ----------------------------------------------------------------------- */

static void merge_code_text(const char **code_facts, const char *text)
{
    if (text && *text)
        *code_facts = !*code_facts || strcmp(*code_facts, text) == 0 ? text : AS_VARIES;
}

static bool is_alike(const struct as_bounded_value *a, const struct as_bounded_value *b)
{
    return a->low <= b->high && b->low <= a->high;
}

static int merge_code_value(struct as_object_facts *code_facts, const struct as_code_value *value,
                            struct as_arena *arena)
{
    struct as_code_value *there = code_facts->value;
    while (there && there->metric != value->metric)
        there = there->next;
    if (there) {
        if (!is_alike(&there->value, &value->value))
            there->value.origin = 0;
        return 0;
    }
    there = as_arena_array(arena, struct as_code_value, 1);
    if (!there)
        return AS_ERR_NOMEM;
    *there = *value;
    there->next = code_facts->value;
    code_facts->value = there;
    return 0;
}

static struct as_called *called_of(const struct as_object_facts *code_facts, const char *name)
{
    struct as_called *it = code_facts->called;
    while (it && strcmp(it->name, name) != 0)
        it = it->next;
    return it;
}

static int merge_code_called(struct as_object_facts *code_facts, const struct as_called *called,
                             struct as_arena *arena)
{
    struct as_called *there = called_of(code_facts, called->name);
    if (there) {
        there->sample_n += called->sample_n;
        return 0;
    }
    there = as_arena_array(arena, struct as_called, 1);
    if (!there)
        return AS_ERR_NOMEM;
    *there = *called;
    there->next = code_facts->called;
    code_facts->called = there;
    return 0;
}

static double time_of(const struct as_set *set, const struct as_compared_object *it)
{
    double sum = 0;
    for (size_t i = 0; it->cost && i < set->run.n; i++)
        sum += it->cost[i].time_s;
    return sum;
}

static int merge_code_object(struct as_object_facts *code_facts,
                             const struct as_compared_object *object, bool counts,
                             struct as_arena *arena)
{
    code_facts->is_there = true;
    code_facts->inclusive_n += object->inclusive_n;
    for (const struct as_called *it = object->called; it; it = it->next)
        if (merge_code_called(code_facts, it, arena) < 0)
            return AS_ERR_NOMEM;
    if (!counts)
        return 0;
    merge_code_text(&code_facts->compiler, object->compiler);
    merge_code_text(&code_facts->flags, object->flags);
    merge_code_text(&code_facts->versions, object->versions);
    for (const struct as_code_value *it = object->value; it; it = it->next)
        if (merge_code_value(code_facts, it, arena) < 0)
            return AS_ERR_NOMEM;
    return 0;
}

int as_fact_of(const struct as_set *set, size_t n, const struct as_alignment *alignment,
               const struct as_compared_object *part, struct as_arena *arena,
               struct as_object_facts **out)
{
    struct as_object_facts *code_facts = *out =
        as_arena_array(arena, struct as_object_facts, alignment->row.n * n + 1);
    if (!code_facts)
        return AS_ERR_NOMEM;
    for (size_t s = 0; s < n; s++) {
        for (size_t i = 0; i < set[s].object.n; i++) {
            const struct as_compared_object *it = &set[s].object.at[i];
            const size_t row = alignment->row_of[s][i], at = row * n + s;
            if (row == AS_INDEX_NONE)
                continue;
            const double whole = time_of(&set[s], &part[at]);
            if (merge_code_object(&code_facts[at], it, time_of(&set[s], it) >= LEAST_PART * whole,
                                  arena) < 0)
                return AS_ERR_NOMEM;
        }
    }
    return 0;
}

/* ---- Facts of a row ------------------------------------------------------------------------ */

/* A fact with its rank; low ranks come first. `bound`: intervals of CALL_LEVEL for calls. */
struct fact_fact {
    struct as_compare_fact fact;
    double order;
    const char **text;
    struct as_bounded_value *value, *bound;
};

struct row_comparison {
    struct as_arena *arena;
    const struct as_object_facts *code_facts;
    size_t n, base;
    struct as_compare_cell *cell;
    AS_VEC(struct fact_fact) fact;
};

static bool is_varying(const struct fact_fact *it, size_t side)
{
    return it->text[side] && strcmp(it->text[side], AS_VARIES) == 0;
}

static bool sides_differ(const struct fact_fact *it, size_t a, size_t b)
{
    if (!it->text[a] || !it->text[b] || strcmp(it->text[a], it->text[b]) == 0)
        return false;
    if (is_varying(it, a) || is_varying(it, b))
        return true;
    if (it->bound)
        return !is_alike(&it->bound[a], &it->bound[b]);
    return strcmp(it->fact.name, "flags") != 0 || as_flags_differ(it->text[a], it->text[b]);
}

static struct fact_fact *new_fact(struct row_comparison *t, const char *topic, const char *name,
                                  const char *title, const char *unit)
{
    struct fact_fact it = {.text = as_arena_array(t->arena, const char *, t->n)};
    it.fact = (struct as_compare_fact){.topic = as_set_text(t->arena, topic),
                                       .name = as_set_text(t->arena, name),
                                       .title = as_set_text(t->arena, title),
                                       .unit = as_set_text(t->arena, unit),
                                       .text = it.text};
    if (unit) {
        it.value = as_arena_array(t->arena, struct as_bounded_value, t->n);
        it.bound = as_arena_array(t->arena, struct as_bounded_value, t->n);
        it.fact.value = it.value;
    }
    if (!it.text || !it.fact.topic || !it.fact.name || !it.fact.title ||
        (unit && (!it.fact.unit || !it.value || !it.bound)) || as_vec_push(&t->fact, it) < 0)
        return NULL;
    return &t->fact.at[t->fact.n - 1];
}

/* Removes the last fact if no two sides differ in it. Otherwise sets its rank. */
static void settle_fact(struct row_comparison *t, double rank)
{
    struct fact_fact *it = &t->fact.at[t->fact.n - 1];
    double change = 0;
    bool found = false;
    for (size_t a = 0; a < t->n; a++) {
        for (size_t b = a + 1; b < t->n; b++) {
            found |= sides_differ(it, a, b);
            if (it->value && it->text[a] && it->text[b])
                change = fmax(change, fabs(it->value[a].value - it->value[b].value) /
                                          fmax(fabs(it->value[a].value), fabs(it->value[b].value)));
        }
    }
    if (found)
        it->order = rank - 0.9 * (change > 0 && change <= 1 ? change : 0);
    else
        t->fact.n--;
}

const char *as_fact_number(struct as_arena *arena, double x)
{
    struct as_str text = {0};
    const double size = fabs(x);
    const bool is_whole = size >= 100 || fabs(x - round(x)) < 0.0005;
    as_str_appendf(&text, "%.*f", is_whole ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3, x);
    const char *copy = text.failed ? NULL : as_set_text(arena, as_str_z(&text));
    as_str_fini(&text);
    return copy;
}

static int set_fact_number(struct row_comparison *t, struct fact_fact *it, size_t side,
                           struct as_bounded_value value)
{
    it->value[side] = it->bound[side] = value;
    it->text[side] = value.origin ? as_fact_number(t->arena, value.value) : AS_VARIES;
    return it->text[side] ? 0 : AS_ERR_NOMEM;
}

enum side_text { TOLD_COMPILER, TOLD_FLAGS, TOLD_VERSIONS };

static const char *text_of(const struct as_object_facts *code_facts, enum side_text which)
{
    return which == TOLD_COMPILER ? code_facts->compiler
           : which == TOLD_FLAGS  ? code_facts->flags
                                  : code_facts->versions;
}

static int add_text(struct row_comparison *t, enum side_text which, const char *name,
                    const char *title, double rank)
{
    struct fact_fact *it =
        new_fact(t, which == TOLD_VERSIONS ? "code" : "compiler", name, title, NULL);
    if (!it)
        return AS_ERR_NOMEM;
    for (size_t s = 0; s < t->n; s++) {
        const char *text = text_of(&t->code_facts[s], which);
        it->text[s] = as_set_text(t->arena, text);
        if (text && !it->text[s])
            return AS_ERR_NOMEM;
    }
    settle_fact(t, rank);
    return 0;
}

static int add_instructions(struct row_comparison *t)
{
    struct fact_fact *it = new_fact(t, "code", "instructions", "Instructions", "1");
    if (!it)
        return AS_ERR_NOMEM;
    for (size_t s = 0; s < t->n; s++)
        if (t->cell[s].instruction_n >= 0 &&
            set_fact_number(t, it, s, as_value_exact((double)t->cell[s].instruction_n, 1)) < 0)
            return AS_ERR_NOMEM;
    settle_fact(t, 5);
    return 0;
}

const struct as_code_value *as_fact_value(const struct as_object_facts *code_facts,
                                          const char *name)
{
    const struct as_code_value *it = code_facts->value;
    while (it && strcmp(it->metric->name, name) != 0)
        it = it->next;
    return it;
}

/* Returns true if a side before this one has the metric. */
static bool is_fact_on_earlier_side(const struct row_comparison *t, const char *name, size_t side)
{
    for (size_t s = 0; s < side; s++)
        if (as_fact_value(&t->code_facts[s], name))
            return true;
    return false;
}

/*
 * Returns true if a value has the origin of the first side with this metric. Measured and modelled
 * values are not compared.
 */
static bool has_one_origin(const struct row_comparison *t, const char *name,
                           const struct as_bounded_value *value)
{
    for (size_t s = 0; s < t->n; s++) {
        const struct as_code_value *first = as_fact_value(&t->code_facts[s], name);
        if (first && first->value.origin)
            return !value->origin || value->origin == first->value.origin;
    }
    return true;
}

static int add_value(struct row_comparison *t, const struct as_code_metric *metric)
{
    struct fact_fact *it = new_fact(t, metric->topic, metric->name, metric->title, metric->unit);
    if (!it)
        return AS_ERR_NOMEM;
    for (size_t s = 0; s < t->n; s++) {
        const struct as_code_value *value = as_fact_value(&t->code_facts[s], metric->name);
        if (value && strcmp(value->metric->unit, metric->unit) == 0 &&
            has_one_origin(t, metric->name, &value->value) &&
            set_fact_number(t, it, s, value->value) < 0)
            return AS_ERR_NOMEM;
    }
    const bool is_share = strcmp(metric->name, AS_METRIC_fp_packed_pct) == 0;
    settle_fact(t, is_share ? 3 : metric->is_neutral ? 7 : 4);
    return 0;
}

static int add_values(struct row_comparison *t)
{
    for (size_t s = 0; s < t->n; s++)
        for (const struct as_code_value *it = t->code_facts[s].value; it; it = it->next)
            if (!is_fact_on_earlier_side(t, it->metric->name, s) && add_value(t, it->metric) < 0)
                return AS_ERR_NOMEM;
    return 0;
}

static bool is_called_before(const struct row_comparison *t, const char *name, size_t side)
{
    for (size_t s = 0; s < side; s++)
        if (called_of(&t->code_facts[s], name))
            return true;
    return false;
}

static struct as_bounded_value times_100(struct as_bounded_value it)
{
    return (struct as_bounded_value){100 * it.value, 100 * it.low, 100 * it.high, it.n, it.origin};
}

/* Adds the share of calls of a category; it is 0 on a side without such calls. */
static int add_call(struct row_comparison *t, const struct as_called *called)
{
    struct fact_fact *it = new_fact(t, "calls", called->name, called->title, "%");
    if (!it)
        return AS_ERR_NOMEM;
    for (size_t s = 0; s < t->n; s++) {
        const struct as_called *there = called_of(&t->code_facts[s], called->name);
        const int64_t whole = t->code_facts[s].inclusive_n, all = there ? there->sample_n : 0;
        const int64_t part = all < whole ? all : whole; /* recursion counts more than once */
        if (whole <= 0)
            continue;
        if (set_fact_number(t, it, s, times_100(as_value_share(part, whole))) < 0)
            return AS_ERR_NOMEM;
        const struct as_interval wide =
            as_stat_wilson((double)part / (double)whole, (double)whole, CALL_LEVEL);
        it->bound[s].low = 100 * wide.low;
        it->bound[s].high = 100 * wide.high;
    }
    settle_fact(t, 5);
    return 0;
}

static int add_calls(struct row_comparison *t)
{
    for (size_t s = 0; s < t->n; s++)
        for (const struct as_called *it = t->code_facts[s].called; it; it = it->next)
            if (!is_called_before(t, it->name, s) && add_call(t, it) < 0)
                return AS_ERR_NOMEM;
    return 0;
}

/* ---- Short words --------------------------------------------------------------------------- */

/* Appends the title of a fact with a lower-case first letter, unless it is an abbreviation. */
static void emit_title(struct as_str *out, const struct as_compare_fact *it)
{
    const char *title = it->title;
    const bool is_word = title[0] && !isupper((unsigned char)title[1]);
    if (strcmp(it->topic, "calls") == 0)
        as_str_appendf(out, "calls of %s ", title);
    else
        as_str_appendf(out, "%c%s ", is_word ? tolower((unsigned char)title[0]) : title[0],
                       title[0] ? title + 1 : "");
}

static bool has_lists(const struct fact_fact *it, size_t a, size_t b)
{
    return strcmp(it->fact.name, "flags") == 0 && !is_varying(it, a) && !is_varying(it, b);
}

static void write_short(struct as_str *out, const struct fact_fact *it, size_t a, size_t b)
{
    const char *unit = it->fact.unit;
    if (strcmp(it->fact.name, "instructions") == 0) {
        as_str_appendf(out, "%s" ARROW "%s instructions", it->text[a], it->text[b]);
        return;
    }
    if (strcmp(it->fact.name, "compiler") != 0)
        emit_title(out, &it->fact);
    as_str_appendf(out, "%s" ARROW "%s", it->text[a], it->text[b]);
    if (unit && strcmp(unit, "1") != 0)
        as_str_appendf(out, " %s", unit);
}

/* Moves a text, if it is not empty, to the cell. Errors: NOMEM. */
static int add_short(struct row_comparison *t, struct as_compare_cell *cell, const char **to,
                     struct as_str *text)
{
    const bool failed = text->failed;
    if (text->n && !failed)
        to[cell->differs_n++] = as_set_text(t->arena, as_str_z(text));
    const bool is_kept = !text->n || to[cell->differs_n - 1];
    as_str_fini(text);
    return failed || !is_kept ? AS_ERR_NOMEM : 0;
}

/* Returns true if both sides have the same number of instructions, but different ones. */
static bool is_only_other(const struct row_comparison *t, size_t side)
{
    const struct as_compare_cell *a = &t->cell[t->base], *b = &t->cell[side];
    return b->code == AS_CODE_DIFFERS && b->instruction_n >= 0 &&
           a->instruction_n == b->instruction_n;
}

/* Describes a cell. Main flags stand at the rank of flags; other flags come last. */
static int describe_cell(struct row_comparison *t, size_t side)
{
    const char **to = as_arena_array(t->arena, const char *, t->fact.n + 2);
    struct as_compare_cell *cell = &t->cell[side];
    struct as_str text = {0}, rest = {0};
    int rc = to ? 0 : AS_ERR_NOMEM;
    cell->differs = to;
    as_vec_foreach (&t->fact, it) {
        if (rc < 0 || !as_fact_is_short(it->fact.topic, it->fact.name) ||
            !sides_differ(it, t->base, side))
            continue;
        if (has_lists(it, t->base, side)) {
            as_flags_difference(&text, it->text[t->base], it->text[side], true);
            as_flags_difference(&rest, it->text[t->base], it->text[side], false);
        } else {
            write_short(&text, it, t->base, side);
        }
        rc = add_short(t, cell, to, &text);
    }
    if (rc == 0 && is_only_other(t, side)) {
        as_str_appendf(&text, "%lld other instructions", (long long)cell->instruction_n);
        rc = add_short(t, cell, to, &text);
    }
    return rc < 0 ? (as_str_fini(&rest), rc) : add_short(t, cell, to, &rest);
}

/* ---- The row ------------------------------------------------------------------------------- */

static int by_order(const void *a, const void *b)
{
    const struct fact_fact *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return strcmp(x->fact.name, y->fact.name);
}

static int add_all(struct row_comparison *t)
{
    if (add_text(t, TOLD_COMPILER, "compiler", "Compiler", 1) < 0 ||
        add_text(t, TOLD_FLAGS, "flags", "Flags", 2) < 0 || add_values(t) < 0 ||
        add_instructions(t) < 0 || add_text(t, TOLD_VERSIONS, "versions", "Versions", 6) < 0 ||
        add_calls(t) < 0)
        return AS_ERR_NOMEM;
    if (t->fact.n)
        qsort(t->fact.at, t->fact.n, sizeof *t->fact.at, by_order);
    return 0;
}

static int store_row_facts(struct row_comparison *t, struct as_compare_row *row)
{
    struct as_compare_fact *fact = as_arena_array(t->arena, struct as_compare_fact, t->fact.n + 1);
    if (!fact)
        return AS_ERR_NOMEM;
    for (size_t i = 0; i < t->fact.n; i++)
        fact[i] = t->fact.at[i].fact;
    row->fact = fact;
    row->fact_n = t->fact.n;
    for (size_t s = t->base + 1; s < t->n; s++)
        if (t->code_facts[s].is_there && describe_cell(t, s) < 0)
            return AS_ERR_NOMEM;
    return 0;
}

int as_compare_fill_row(struct as_arena *arena, const struct as_object_facts *code_facts, size_t n,
                        struct as_compare_row *row, struct as_compare_cell *cell)
{
    struct row_comparison t = {.arena = arena, .code_facts = code_facts, .n = n, .cell = cell};
    while (t.base + 1 < n && !code_facts[t.base].is_there)
        t.base++;
    int rc = add_all(&t);
    if (rc == 0)
        rc = store_row_facts(&t, row);
    as_vec_fini(&t.fact);
    return rc;
}
