/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of many values: of all objects below one, of what runs on a CPU, of two windows. Rows
 * of the tables below.
 */
#include "semantic/function.h"

typedef const struct as_parameters *parameters_t;

#define ABOVE_FUNCTION(name)                                                                       \
    static struct as_quantity name(parameters_t parameters, const struct as_quantity *value,       \
                                   size_t n, size_t changed)

/* ---- All objects below ----------------------------------------------------------------------- */

/* From 0. */
ABOVE_FUNCTION(above_maximum)
{
    struct as_quantity most = as_whole(0);
    (void)parameters, (void)changed;
    for (size_t i = 0; i < n; i++)
        most = as_quantity_compare(value[i], most) > 0 ? value[i] : most;
    return most;
}

/* 0 counts as not set. */
ABOVE_FUNCTION(above_minimum)
{
    struct as_quantity min = as_whole(0);
    (void)parameters, (void)changed;
    for (size_t i = 0; i < n; i++)
        if (as_quantity_is_zero(min) || as_quantity_compare(value[i], min) < 0)
            min = value[i];
    return min;
}

/* The value that all have, if it is listed and not 0. */
static struct as_quantity common_value(parameters_t parameters, const struct as_quantity *value,
                                       size_t n)
{
    if (n == 0 || !as_parameter_has(parameters, 0, value[0]))
        return as_whole(0);
    for (size_t i = 1; i < n; i++)
        if (as_quantity_compare(value[i], value[0]) != 0)
            return as_whole(0);
    return value[0];
}

ABOVE_FUNCTION(above_activity)
{
    (void)changed;
    return common_value(parameters, value, n);
}

ABOVE_FUNCTION(above_in_activity)
{
    (void)changed;
    return as_whole(!as_quantity_is_zero(common_value(parameters, value, n)));
}

/* The first that reaches the highest count, in the order of objects. */
ABOVE_FUNCTION(above_mode)
{
    struct as_quantity mode = as_whole(0);
    size_t best_n = 0;
    (void)parameters, (void)changed;
    for (size_t i = 0; i < n; i++) {
        size_t same_n = 0;
        for (size_t j = 0; j <= i; j++)
            same_n += as_quantity_compare(value[j], value[i]) == 0;
        if (same_n > best_n) {
            best_n = same_n;
            mode = value[i];
        }
    }
    return mode;
}

/* A place in the list of objects; false: there is none. */
static bool place_of(struct as_quantity number, size_t n, size_t *out)
{
    if (number.is_real || number.whole < 0 || (uint64_t)number.whole >= n)
        return false;
    *out = (size_t)number.whole;
    return true;
}

ABOVE_FUNCTION(above_one)
{
    size_t at;
    (void)changed;
    const struct as_quantity number =
        as_quantity_subtract(as_parameter(parameters, 0, 0), as_whole(1));
    return place_of(number, n, &at) ? value[at] : as_whole(0);
}

ABOVE_FUNCTION(above_some)
{
    struct as_quantity sum = as_whole(0);
    size_t at;
    (void)changed;
    as_vec_foreach (&parameters->list[0], number)
        if (place_of(*number, n, &at))
            sum = as_quantity_add(sum, value[at]);
    return sum;
}

ABOVE_FUNCTION(above_changed)
{
    (void)parameters;
    return changed < n ? value[changed] : as_whole(0);
}

#define ROW(function, text, names, values, says, ...)                                              \
    {                                                                                              \
        .family = AS_FUNCTION_ABOVE, .name = text, .parameters = names, .defaults = values,        \
        .summary = says, .above = function, __VA_ARGS__                                            \
    }

const struct as_semantic_function as_above_functions[] = {
    ROW(NULL, "Adding", "", "", "the sum", .special = AS_SPECIAL_SUM),
    ROW(NULL, "AddingSign", "", "", "1 if the sum is above 0", .special = AS_SPECIAL_SUM_SIGN),
    ROW(NULL, "Average", "", "", "the mean", .special = AS_SPECIAL_AVERAGE),
    ROW(above_maximum, "Maximum", "", "", "the largest, 0 or above"),
    ROW(above_minimum, "Minimum", "", "", "the smallest; 0 counts as not set"),
    ROW(above_activity, "Activity", "Values", "1", "the value if listed and all have it"),
    ROW(above_in_activity, "In Activity", "Values", "1", "1 if it is listed and all have it"),
    ROW(above_mode, "Mode", "", "", "the most frequent value"),
    ROW(above_one, "Thread i", "Object", "1", "the value of one object, from 1"),
    ROW(above_some, "Add Tasks", "Objects", "0", "the sum over some objects, from 0"),
    ROW(above_changed, "Changed value", "", "", "the value that changed last", .has_history = true),
};
const size_t as_above_functions_n = sizeof as_above_functions / sizeof *as_above_functions;

/* ---- CPUs ------------------------------------------------------------------------------------ */

static struct as_quantity cpu_value(parameters_t parameters, struct as_quantity value)
{
    (void)parameters;
    return value;
}

static struct as_quantity cpu_sign(parameters_t parameters, struct as_quantity value)
{
    (void)parameters;
    return as_whole(!as_quantity_is_zero(value));
}

static struct as_quantity cpu_given(parameters_t parameters, struct as_quantity value)
{
    return as_parameter_has(parameters, 0, value) ? value : as_whole(0);
}

static struct as_quantity cpu_given_sign(parameters_t parameters, struct as_quantity value)
{
    return as_whole(as_parameter_has(parameters, 0, value));
}

#undef ROW
#define ROW(function, text, names, values, says)                                                   \
    {                                                                                              \
        .family = AS_FUNCTION_CPU, .name = text, .parameters = names, .defaults = values,          \
        .summary = says, .cpu = function                                                           \
    }

const struct as_semantic_function as_cpu_functions[] = {
    ROW(cpu_value, "Active Thd", "", "", "the value of what runs on the CPU"),
    ROW(cpu_sign, "Active Thd Sign", "", "", "1 if it is not 0"),
    ROW(cpu_given, "Active Thd Val", "Values", "1", "the value if listed"),
    ROW(cpu_given_sign, "Active Thd Val Sign", "Values", "1", "1 if it is listed"),
};
const size_t as_cpu_functions_n = sizeof as_cpu_functions / sizeof *as_cpu_functions;

/* ---- Two windows ----------------------------------------------------------------------------- */

#define DERIVED_FUNCTION(name)                                                                     \
    static struct as_quantity name(struct as_derived_state *state, struct as_quantity a,           \
                                   struct as_quantity b, bool new_data)
#define UNUSED_STATE ((void)state, (void)new_data)

DERIVED_FUNCTION(derived_add)
{
    UNUSED_STATE;
    return as_quantity_add(a, b);
}

DERIVED_FUNCTION(derived_product)
{
    UNUSED_STATE;
    return as_quantity_multiply(a, b);
}

DERIVED_FUNCTION(derived_subtract)
{
    UNUSED_STATE;
    return as_quantity_subtract(a, b);
}

DERIVED_FUNCTION(derived_divide)
{
    UNUSED_STATE;
    return as_quantity_divide(a, b);
}

DERIVED_FUNCTION(derived_maximum)
{
    UNUSED_STATE;
    return as_quantity_compare(a, b) > 0 ? a : b;
}

DERIVED_FUNCTION(derived_minimum)
{
    UNUSED_STATE;
    return as_quantity_compare(a, b) < 0 ? a : b;
}

DERIVED_FUNCTION(derived_different)
{
    UNUSED_STATE;
    return as_whole(as_quantity_compare(a, b) != 0);
}

/* When the control falls, the data is 0 until its next piece begins. */
DERIVED_FUNCTION(controlled_clear)
{
    if (new_data)
        state->is_cleared = false;
    if (as_quantity_compare(b, state->last_control) < 0)
        state->is_cleared = true;
    state->last_control = b;
    return state->is_cleared ? as_whole(0) : a;
}

/* Counts pieces of the data that are not 0, from anew when the control falls. */
DERIVED_FUNCTION(controlled_enumerate)
{
    if (as_quantity_compare(b, state->last_control) < 0)
        state->count = 0;
    else if (new_data && !as_quantity_is_zero(a))
        state->count++;
    state->last_control = b;
    return as_whole(state->count);
}

#undef ROW
#define ROW(function, text, says, ...)                                                             \
    {                                                                                              \
        .family = AS_FUNCTION_DERIVED, .name = text, .parameters = "", .defaults = "",             \
        .summary = says, .derived = function, __VA_ARGS__                                          \
    }

const struct as_semantic_function as_derived_functions[] = {
    ROW(derived_add, "add", "the sum"),
    ROW(derived_product, "product", "the product"),
    ROW(derived_subtract, "substract", "the first less the second"),
    ROW(derived_divide, "divide", "the first by the second; 0 by 0"),
    ROW(derived_maximum, "maximum", "the larger"),
    ROW(derived_minimum, "minimum", "the smaller"),
    ROW(derived_different, "different", "1 if they differ"),
    ROW(controlled_clear, "controlled: clear by",
        "the first, but 0 after the second fell, until the first has its next piece",
        .has_history = true),
    ROW(NULL, "controlled: maximum",
        "the largest of the first in a piece of the second, 0 or above",
        .special = AS_SPECIAL_FOLD_MAXIMUM),
    ROW(NULL, "controlled: add", "the sum of the pieces of the first in a piece of the second",
        .special = AS_SPECIAL_FOLD_ADD),
    ROW(controlled_enumerate, "controlled: enumerate",
        "how many pieces of the first were not 0 since the second fell", .has_history = true),
    ROW(NULL, "controlled: average", "their mean over time", .special = AS_SPECIAL_FOLD_AVERAGE),
};
const size_t as_derived_functions_n = sizeof as_derived_functions / sizeof *as_derived_functions;
