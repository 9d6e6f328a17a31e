/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of one value: rows of the table at the end. */
#include <math.h>

#include "base/error.h"
#include "semantic/function.h"

typedef struct as_compose_state compose_t;

#define COMPOSE_FUNCTION(name)                                                                     \
    static struct as_quantity name(compose_t *state, struct as_quantity value, int64_t begin_ns,   \
                                   int64_t end_ns)
#define UNUSED_TIMES ((void)state, (void)begin_ns, (void)end_ns)

static struct as_quantity first_of(const compose_t *state)
{
    return as_parameter(state->parameters, 0, 0);
}

static struct as_quantity time_in_units(const compose_t *state, int64_t ns)
{
    return as_quantity_divide(as_whole(ns), as_whole(state->unit_ns));
}

/* ---- Arithmetic ------------------------------------------------------------------------------ */

COMPOSE_FUNCTION(compose_as_is)
{
    UNUSED_TIMES;
    return value;
}

COMPOSE_FUNCTION(compose_sign)
{
    UNUSED_TIMES;
    return as_whole(!as_quantity_is_zero(value));
}

COMPOSE_FUNCTION(compose_one_minus_sign)
{
    UNUSED_TIMES;
    return as_whole(as_quantity_is_zero(value));
}

COMPOSE_FUNCTION(compose_mod)
{
    UNUSED_TIMES;
    return as_quantity_modulo(value, first_of(state));
}

COMPOSE_FUNCTION(compose_mod_plus_one)
{
    UNUSED_TIMES;
    return as_quantity_add(as_quantity_modulo(value, first_of(state)), as_whole(1));
}

/* By 0: the remainder by 1. */
COMPOSE_FUNCTION(compose_divide)
{
    UNUSED_TIMES;
    if (as_quantity_is_zero(first_of(state)))
        return as_quantity_modulo(value, as_whole(1));
    return as_quantity_divide(value, first_of(state));
}

COMPOSE_FUNCTION(compose_product)
{
    UNUSED_TIMES;
    return as_quantity_multiply(value, first_of(state));
}

COMPOSE_FUNCTION(compose_add)
{
    UNUSED_TIMES;
    return as_quantity_add(value, first_of(state));
}

COMPOSE_FUNCTION(compose_subtract)
{
    UNUSED_TIMES;
    return as_quantity_subtract(value, first_of(state));
}

COMPOSE_FUNCTION(compose_complement)
{
    UNUSED_TIMES;
    return as_quantity_subtract(first_of(state), value);
}

COMPOSE_FUNCTION(compose_inverse)
{
    UNUSED_TIMES;
    return as_quantity_divide(first_of(state), value);
}

static struct as_quantity rounded_by(struct as_quantity value, double (*round_to)(double))
{
    return value.is_real ? as_real(round_to(value.real)) : value;
}

COMPOSE_FUNCTION(compose_floor)
{
    UNUSED_TIMES;
    return rounded_by(value, floor);
}

COMPOSE_FUNCTION(compose_ceil)
{
    UNUSED_TIMES;
    return rounded_by(value, ceil);
}

/* Halves go to the even number. */
COMPOSE_FUNCTION(compose_round)
{
    UNUSED_TIMES;
    return rounded_by(value, rint);
}

COMPOSE_FUNCTION(compose_absolute)
{
    UNUSED_TIMES;
    return as_quantity_absolute(value);
}

COMPOSE_FUNCTION(compose_sine)
{
    UNUSED_TIMES;
    return as_real(sin(as_quantity_double(value)));
}

COMPOSE_FUNCTION(compose_cosine)
{
    UNUSED_TIMES;
    return as_real(cos(as_quantity_double(value)));
}

COMPOSE_FUNCTION(compose_root)
{
    UNUSED_TIMES;
    return as_real(sqrt(fabs(as_quantity_double(value))));
}

COMPOSE_FUNCTION(compose_arc_tangent)
{
    UNUSED_TIMES;
    return as_real(atan(as_quantity_double(value)));
}

/* 0 of 0 and below, and where the logarithm is below 0. */
COMPOSE_FUNCTION(compose_logarithm)
{
    UNUSED_TIMES;
    const double of = as_quantity_double(value);
    const double log_of = of > 0 ? log(of) / log(as_quantity_double(first_of(state))) : 0;
    return as_real(log_of > 0 ? log_of : 0);
}

/* 0 where the power does not exist, or is too large. */
COMPOSE_FUNCTION(compose_power)
{
    UNUSED_TIMES;
    return as_real(pow(as_quantity_double(first_of(state)), as_quantity_double(value)));
}

/* ---- Selection ------------------------------------------------------------------------------- */

/* Pairs of a max (first list) and a min (second list). */
static bool in_ranges(const compose_t *state, struct as_quantity value, bool with_max)
{
    const struct as_parameters *p = state->parameters;
    for (size_t i = 0; i < p->list[0].n && i < p->list[1].n; i++) {
        const int to_max = as_quantity_compare(value, p->list[0].at[i]);
        if ((with_max ? to_max <= 0 : to_max < 0) &&
            as_quantity_compare(value, p->list[1].at[i]) >= 0)
            return true;
    }
    return false;
}

COMPOSE_FUNCTION(compose_select)
{
    UNUSED_TIMES;
    return in_ranges(state, value, true) ? value : as_whole(0);
}

COMPOSE_FUNCTION(compose_select_open)
{
    UNUSED_TIMES;
    return in_ranges(state, value, false) ? value : as_whole(0);
}

COMPOSE_FUNCTION(compose_in_range)
{
    UNUSED_TIMES;
    return as_whole(in_ranges(state, value, true));
}

COMPOSE_FUNCTION(compose_in_range_open)
{
    UNUSED_TIMES;
    return as_whole(in_ranges(state, value, false));
}

COMPOSE_FUNCTION(compose_equal)
{
    UNUSED_TIMES;
    return as_parameter_has(state->parameters, 0, value) ? value : as_whole(0);
}

COMPOSE_FUNCTION(compose_equal_sign)
{
    UNUSED_TIMES;
    return as_whole(as_parameter_has(state->parameters, 0, value));
}

/* Pairs in one list: from, to, from, to ... */
COMPOSE_FUNCTION(compose_translate)
{
    UNUSED_TIMES;
    for (size_t i = 0; i + 1 < state->parameters->list[0].n; i += 2)
        if (as_quantity_compare(state->parameters->list[0].at[i], value) == 0)
            return state->parameters->list[0].at[i + 1];
    return value;
}

/* ---- History --------------------------------------------------------------------------------- */

/* A value that is not 0 goes on top, 0 takes the top off. */
static struct as_quantity stack_value(compose_t *state, struct as_quantity value)
{
    if (!as_quantity_is_zero(value))
        state->failed |= as_vec_push(&state->stack, value) < 0;
    else if (state->stack.n)
        state->stack.n--;
    return state->stack.n ? state->stack.at[state->stack.n - 1] : as_whole(0);
}

COMPOSE_FUNCTION(compose_stacked)
{
    UNUSED_TIMES;
    return stack_value(state, value);
}

COMPOSE_FUNCTION(compose_in_stacked)
{
    UNUSED_TIMES;
    const struct as_quantity top = stack_value(state, value);
    return as_quantity_compare(top, first_of(state)) == 0 ? top : as_whole(0);
}

COMPOSE_FUNCTION(compose_nesting)
{
    UNUSED_TIMES;
    if (!as_quantity_is_zero(value))
        state->count++;
    else if (state->count)
        state->count--;
    return as_whole(state->count);
}

/* How many values were seen since this one, from 1; one more than the size if it is not kept. The
 * latest value is the last of the stack. */
COMPOSE_FUNCTION(compose_depth)
{
    UNUSED_TIMES;
    if (as_quantity_is_zero(value))
        return as_whole(0);
    const double wanted = as_quantity_double(first_of(state));
    const size_t size = wanted >= 1 && wanted < 1e9 ? (size_t)wanted : 0;
    size_t at = state->stack.n;
    while (at && as_quantity_compare(state->stack.at[at - 1], value) != 0)
        at--;
    const int64_t depth = at ? (int64_t)(state->stack.n - at) + 1 : (int64_t)size + 1;
    const size_t out = at ? at - 1 : 0;
    if (at || state->stack.n >= size) {
        for (size_t i = out; i + 1 < state->stack.n; i++)
            state->stack.at[i] = state->stack.at[i + 1];
        state->stack.n -= state->stack.n != 0;
    }
    if (size)
        state->failed |= as_vec_push(&state->stack, value) < 0;
    return as_whole(depth);
}

COMPOSE_FUNCTION(compose_enumerate)
{
    UNUSED_TIMES;
    state->count += !as_quantity_is_zero(value);
    return as_whole(state->count);
}

COMPOSE_FUNCTION(compose_accumulate)
{
    UNUSED_TIMES;
    return as_quantity_add(state->value, value);
}

COMPOSE_FUNCTION(compose_delta)
{
    UNUSED_TIMES;
    const struct as_quantity before = state->stack.n ? state->stack.at[0] : as_whole(0);
    if (state->stack.n)
        state->stack.at[0] = value;
    else
        state->failed |= as_vec_push(&state->stack, value) < 0;
    return as_quantity_subtract(value, before);
}

/* ---- Times ----------------------------------------------------------------------------------- */

COMPOSE_FUNCTION(compose_burst_time)
{
    (void)value;
    return time_in_units(state, end_ns - begin_ns);
}

COMPOSE_FUNCTION(compose_by_burst_time)
{
    return as_quantity_divide(value, time_in_units(state, end_ns - begin_ns));
}

COMPOSE_FUNCTION(compose_begin_time)
{
    (void)value, (void)end_ns;
    return time_in_units(state, begin_ns);
}

COMPOSE_FUNCTION(compose_end_time)
{
    (void)value, (void)begin_ns;
    return time_in_units(state, end_ns);
}

/* ---- The table ------------------------------------------------------------------------------- */

#define ROW(function, text, names, values, says, ...)                                              \
    {                                                                                              \
        .family = AS_FUNCTION_COMPOSE, .name = text, .parameters = names, .defaults = values,      \
        .summary = says, .compose = function, __VA_ARGS__                                          \
    }

const struct as_semantic_function as_compose_functions[] = {
    ROW(compose_as_is, "As Is", "", "", "the value"),
    ROW(compose_sign, "Sign", "", "", "1 if it is not 0"),
    ROW(compose_one_minus_sign, "1-Sign", "", "", "1 if it is 0"),
    ROW(compose_mod, "Mod", "Divider", "1", "the remainder"),
    ROW(compose_mod_plus_one, "Mod+1", "Divider", "1", "the remainder and 1"),
    ROW(compose_divide, "Div", "Divider", "1", "the quotient"),
    ROW(compose_product, "Prod", "Factor", "0", "the product"),
    ROW(compose_add, "Add", "Value", "0", "the sum"),
    ROW(compose_subtract, "Subs", "Value", "0", "the difference"),
    ROW(compose_complement, "Complement", "Minuend", "0", "the parameter less the value"),
    ROW(compose_inverse, "Inverse Div", "Factor", "1", "the parameter by the value; 0 of 0"),
    ROW(compose_floor, "Floor", "", "", "rounded down"),
    ROW(compose_ceil, "Ceil", "", "", "rounded up"),
    ROW(compose_round, "Round", "", "", "rounded, halves to even"),
    ROW(compose_absolute, "Abs", "", "", "without its sign"),
    ROW(compose_select, "Select Range", "Max value|Min value", "1|0",
        "the value if min <= it <= max"),
    ROW(compose_select_open, "Select Range [)", "Max value|Min value", "1|0",
        "the value if min <= it < max"),
    ROW(compose_in_range, "Is In Range", "Max value|Min value", "1|0", "1 if min <= it <= max"),
    ROW(compose_in_range_open, "Is In Range [)", "Max value|Min value", "1|0",
        "1 if min <= it < max"),
    ROW(compose_equal, "Is Equal", "Values", "1", "the value if listed"),
    ROW(compose_equal_sign, "Is Equal (Sign)", "Values", "1", "1 if listed"),
    ROW(compose_translate, "Translate", "Translation list", "", "from, to, from, to ..."),
    ROW(compose_stacked, "Stacked Val", "", "", "top of a stack that 0 takes from",
        .has_history = true),
    ROW(compose_in_stacked, "In Stacked Val", "Value", "1", "that top if it is the parameter",
        .has_history = true),
    ROW(compose_nesting, "Nesting level", "", "", "height of that stack", .has_history = true),
    ROW(compose_depth, "LRU Depth", "Stack size", "256", "values since this one was there",
        .has_history = true),
    ROW(compose_enumerate, "Enumerate", "", "", "how many values were not 0", .has_history = true),
    ROW(compose_accumulate, "Accumulate", "", "", "sum of all values so far", .has_history = true),
    ROW(compose_delta, "Delta", "", "", "difference to the value before", .has_history = true),
    ROW(compose_burst_time, "Burst Time", "", "", "length of the piece", .needs_end = true),
    ROW(compose_as_is, "Join Bursts", "", "", "equal neighbours as one piece", .has_history = true,
        .special = AS_SPECIAL_JOIN),
    ROW(compose_by_burst_time, "Divide by Burst Time", "", "",
        "the value by the length of the piece", .needs_end = true),
    ROW(compose_as_is, "Timer", "Delta time", "1", "values last no longer than the parameter",
        .has_history = true, .special = AS_SPECIAL_TIMER),
    ROW(compose_begin_time, "Begin Time", "", "", "when the piece begins"),
    ROW(compose_end_time, "End Time", "", "", "when the piece ends", .needs_end = true),
    ROW(compose_sine, "sin", "", "", "sine"),
    ROW(compose_cosine, "cos", "", "", "cosine"),
    ROW(compose_root, "sqrt (abs)", "", "", "square root of the value without its sign"),
    ROW(compose_arc_tangent, "arc tan", "", "", "arc tangent"),
    ROW(compose_logarithm, "log N", "Base", "2.718281828459045", "logarithm; 0 where below 0"),
    ROW(compose_power, "exp", "Base", "2.718281828459045", "the base to the power of the value"),
};
const size_t as_compose_functions_n = sizeof as_compose_functions / sizeof *as_compose_functions;
