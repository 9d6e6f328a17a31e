/* SPDX-License-Identifier: Apache-2.0 */
#include "semantic/window.h"

#include <assert.h>

#include "base/error.h"

/* ---- Words ----------------------------------------------------------------------------------- */

static const struct {
    const char *word, *label;
    int64_t ns;
} time_units[] = {
    {"Nanoseconds", "ns", 1},
    {"Microseconds", "us", 1000},
    {"Milliseconds", "ms", 1000000},
    {"Seconds", "s", 1000000000},
    {"Minutes", "min", 60 * INT64_C(1000000000)},
    {"Hours", "h", 3600 * INT64_C(1000000000)},
    {"Days", "d", 86400 * INT64_C(1000000000)},
};

const char *as_unit_word(int64_t unit_ns)
{
    for (size_t i = 0; i < sizeof time_units / sizeof *time_units; i++)
        if (time_units[i].ns == unit_ns)
            return time_units[i].word;
    return NULL;
}

bool as_unit_read(struct as_view word, int64_t *unit_ns)
{
    for (size_t i = 0; i < sizeof time_units / sizeof *time_units; i++)
        if (as_view_equal(as_view_of(time_units[i].word), word) ||
            as_view_equal(as_view_of(time_units[i].label), word)) {
            *unit_ns = time_units[i].ns;
            return true;
        }
    return false;
}

bool as_time_read(struct as_view text, int64_t *ns)
{
    const int64_t max_ns = INT64_MAX / 16;
    struct as_view number = text, unit = text;
    struct as_quantity value;
    int64_t unit_ns = 1;
    size_t n = text.n && *text.p == '-';
    while (n < text.n && (text.p[n] == '.' || (text.p[n] >= '0' && text.p[n] <= '9')))
        n++;
    number.n = n;
    unit.p += n;
    unit.n -= n;
    if ((unit.n && !as_unit_read(unit, &unit_ns)) || !as_quantity_read(number, &value))
        return false;
    value = as_quantity_multiply(value, as_whole(unit_ns));
    const double real = as_quantity_double(value);
    *ns = real > (double)max_ns    ? max_ns
          : real < -(double)max_ns ? -max_ns
          : value.is_real          ? (int64_t)value.real
                                   : value.whole;
    return true;
}

const char *as_filter_part_word(enum as_filter_part_id part)
{
    static const char *const words[AS_FILTER_PARTS_N] = {
        "from_obj", "to_obj", "tag_msg", "size_msg", "bw_msg", "evt_type", "evt_value"};
    assert((unsigned)part < sizeof words / sizeof *words);
    return words[part];
}

const char *as_filter_test_word(enum as_filter_test test)
{
    static const char *const words[AS_TESTS_N] = {"All", "None", "=", "!=", ">", "<", "[x,y]"};
    assert((unsigned)test < sizeof words / sizeof *words);
    return words[test];
}

/* ---- Filters --------------------------------------------------------------------------------- */

static bool test_passes(enum as_filter_test test, int to_value)
{
    return test == AS_TEST_EQUAL       ? to_value == 0
           : test == AS_TEST_NOT_EQUAL ? to_value != 0
           : test == AS_TEST_GREATER   ? to_value > 0
                                       : to_value < 0;
}

/* A test without values lets nothing pass, but for All. */
bool as_filter_passes(const struct as_filter_part *part, struct as_quantity value)
{
    const size_t n = part->value.n;
    if (part->test == AS_TEST_ALL || part->test == AS_TEST_NONE || n == 0)
        return part->test == AS_TEST_ALL;
    if (part->test == AS_TEST_RANGE) {
        for (size_t i = 0; i + 1 < n; i += 2)
            if (as_quantity_compare(value, part->value.at[i]) < 0 ||
                as_quantity_compare(value, part->value.at[i + 1]) > 0)
                return false;
        return n > 1;
    }
    for (size_t i = 0; i < n; i++) {
        const bool passes = test_passes(part->test, as_quantity_compare(value, part->value.at[i]));
        if (passes == (part->test == AS_TEST_EQUAL))
            return passes;
    }
    return part->test != AS_TEST_EQUAL;
}

/* ---- Windows --------------------------------------------------------------------------------- */

static struct as_function_use use_of(enum as_function_family family, const char *name)
{
    return (struct as_function_use){.function = as_function_find(family, as_view_of(name))};
}

int as_window_init(struct as_window *w)
{
    *w = (struct as_window){.level = AS_OBJECT_LEVEL_THREAD,
                            .unit_ns = 1,
                            .takes_logical = true,
                            .takes_physical = true,
                            .takes_same_node = true,
                            .takes_other_node = true,
                            .both_ends = true,
                            .both_tag_size = true,
                            .both_type_value = true,
                            .factor = {as_whole(1), as_whole(1)}};
    w->thread = use_of(AS_FUNCTION_THREAD, "State As Is");
    w->cpu = use_of(AS_FUNCTION_CPU, "Active Thd");
    for (unsigned l = 0; l < AS_OBJECT_LEVELS_N; l++) {
        w->above[l] = use_of(AS_FUNCTION_ABOVE, "Adding");
        w->compose[l] = use_of(AS_FUNCTION_COMPOSE, "As Is");
    }
    w->operation = use_of(AS_FUNCTION_DERIVED, "add");
    for (unsigned i = 0; i < 2; i++)
        AS_TRY(as_vec_push(&w->top, use_of(AS_FUNCTION_COMPOSE, "As Is")));
    return 0;
}

static void window_fini(struct as_window *w)
{
    as_free(w->name);
    as_parameters_fini(&w->thread.parameters);
    as_parameters_fini(&w->cpu.parameters);
    as_parameters_fini(&w->operation.parameters);
    for (unsigned l = 0; l < AS_OBJECT_LEVELS_N; l++) {
        as_parameters_fini(&w->above[l].parameters);
        as_parameters_fini(&w->compose[l].parameters);
    }
    as_vec_foreach (&w->top, use)
        as_parameters_fini(&use->parameters);
    as_vec_fini(&w->top);
    for (unsigned i = 0; i < AS_FILTER_PARTS_N; i++)
        as_vec_fini(&w->filter[i].value);
}

void as_histogram_init(struct as_histogram *t)
{
    *t = (struct as_histogram){
        .statistic = as_statistic_find(as_view_of("Time")), .fixed_delta = -1, .decimals = 2};
    t->columns = t->planes = (struct as_histogram_scale){.max = as_whole(1), .delta = as_whole(1)};
    t->columns.is_automatic = true;
}

void as_configuration_fini(struct as_configuration *c)
{
    as_vec_foreach (&c->window, window)
        window_fini(window);
    as_vec_foreach (&c->table, table)
        as_free(table->name);
    as_vec_foreach (&c->line, line)
        as_free(line->text);
    as_vec_fini(&c->window);
    as_vec_fini(&c->table);
    as_vec_fini(&c->line);
    as_free(c->name);
    as_free(c->description);
}

unsigned as_window_kinds(const struct as_window *w)
{
    if (w->is_derived)
        return 0;
    const unsigned messages =
        w->thread.function->ahead == AS_AHEAD_BYTES ? AS_KINDS_SEND | AS_KINDS_RECEIVE : 0;
    return w->thread.function->kinds | messages;
}

const struct as_semantic_function *as_window_meaning(const struct as_window *w)
{
    static const char *const keeps[] = {"As Is",           "Stacked Val", "In Stacked Val",
                                        "Join Bursts",     "Is Equal",    "Select Range",
                                        "Select Range [)", "Timer"};
    const struct as_function_use *use = &w->compose[AS_OBJECT_LEVEL_THREAD];
    if (w->is_derived)
        return NULL;
    for (size_t i = 0; i <= w->top.n; use = &w->top.at[i++]) {
        bool is_kept = false;
        for (size_t k = 0; k < sizeof keeps / sizeof *keeps; k++)
            is_kept |= as_view_equal(as_view_of(use->function->name), as_view_of(keeps[k]));
        if (!is_kept)
            return NULL;
    }
    return w->level == AS_OBJECT_LEVEL_THREAD || w->level == AS_OBJECT_LEVEL_TASK ||
                   w->level == AS_OBJECT_LEVEL_APPLICATION || w->level == AS_OBJECT_LEVEL_CPU
               ? w->thread.function
               : NULL;
}
