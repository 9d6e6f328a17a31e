/* SPDX-License-Identifier: Apache-2.0 */
/* Settings with several values, and their combinations. */
#include "campaign/campaign.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

struct axis {
    struct as_axis is; /* must be first: callers get a pointer to this member */
    struct as_arena arena;
    AS_VEC(const char *) value;
};

#define ENV   "env:"
#define ENV_N (sizeof ENV - 1)

/* ---- Parsing ------------------------------------------------------------------------------- */

/* Returns a copy of the next value of a list, without escapes; NULL without memory. `at` moves
 * behind its comma, or becomes NULL at the end. */
static const char *parse_axis_value(struct axis *axis, const char **at)
{
    struct as_str value = {0};
    const char *c = *at;

    for (; *c && *c != ','; c++) {
        if (c[0] == '\\' && (c[1] == ',' || c[1] == '\\'))
            c++;
        as_str_append(&value, c, 1);
    }
    *at = *c ? c + 1 : NULL;
    const char *copy =
        value.failed ? NULL : as_arena_strndup(&axis->arena, as_str_z(&value), value.n);
    as_str_fini(&value);
    return copy;
}

static int add_value(struct axis *axis, const char *text, const char *value, struct as_error *err)
{
    as_vec_foreach (&axis->value, it)
        if (strcmp(*it, value) == 0)
            return as_error_set(err, AS_ERR_USAGE,
                                "--vary: '%s' has the value '%s' twice; use each value once", text,
                                value);
    return as_vec_push(&axis->value, value) < 0 ? as_error_nomem(err, "the values of --vary") : 0;
}

/* Returns true for a name of a placeholder ({NAME} in a command) or of a variable (env:NAME). */
static bool is_name(const char *name, size_t n)
{
    if (n > ENV_N && strncmp(name, ENV, ENV_N) == 0) {
        name += ENV_N;
        n -= ENV_N;
    }
    for (size_t i = 0; i < n; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.", name[i]))
            return false;
    return n > 0;
}

static int read_axis(struct axis *axis, const char *text, struct as_error *err)
{
    const char *equals = strchr(text, '='), *at = equals ? equals + 1 : NULL;

    if (!equals || !*at || !is_name(text, (size_t)(equals - text)))
        return as_error_set(err, AS_ERR_USAGE,
                            "--vary: invalid value '%s'; use size=1000,2000 for {size} in the "
                            "command, or env:NAME=a,b for a variable",
                            text);
    axis->is.name = as_arena_strndup(&axis->arena, text, (size_t)(equals - text));
    while (at) {
        const char *value = parse_axis_value(axis, &at);

        if (!value || !axis->is.name)
            return as_error_nomem(err, "the values of --vary");
        AS_TRY(add_value(axis, text, value, err));
    }
    axis->is.value = axis->value.at;
    axis->is.value_n = axis->value.n;
    return 0;
}

int as_axis_parse(const char *text, struct as_axis **out, struct as_error *err)
{
    struct axis *axis = as_calloc(1, sizeof *axis);

    *out = NULL;
    if (!axis)
        return as_error_nomem(err, "the values of --vary");
    as_arena_init(&axis->arena);
    *out = &axis->is;
    const int rc = read_axis(axis, text, err);
    if (rc < 0)
        as_axis_free(out);
    return rc;
}

void as_axis_free(struct as_axis **it)
{
    struct axis *axis = (struct axis *)(void *)*it;

    if (axis) {
        as_arena_fini(&axis->arena);
        as_vec_fini(&axis->value);
    }
    as_free(axis);
    *it = NULL;
}

/* ---- Combinations -------------------------------------------------------------------------- */

size_t as_axes_product(struct as_axis *const *axis, size_t axis_n)
{
    size_t n = 1;

    for (size_t i = 0; i < axis_n; i++)
        if (__builtin_mul_overflow(n, axis[i]->value_n, &n))
            return SIZE_MAX;
    return n;
}

void as_axes_at(struct as_axis *const *axis, size_t axis_n, size_t combination,
                struct as_setting *out)
{
    for (size_t i = axis_n; i-- > 0;) {
        out[i] = (struct as_setting){.name = axis[i]->name,
                                     .value = axis[i]->value[combination % axis[i]->value_n]};
        combination /= axis[i]->value_n;
    }
}

/* ---- Words --------------------------------------------------------------------------------- */

/* Returns the length of "{NAME}" at `at` in bytes, or 0 if it is not there. */
static size_t placeholder_n(const char *at, const char *name)
{
    const size_t n = strlen(name);

    return at[0] == '{' && strncmp(at + 1, name, n) == 0 && at[n + 1] == '}' ? n + 2 : 0;
}

bool as_setting_is_in(const char *word, const char *name)
{
    for (; *word; word++)
        if (placeholder_n(word, name))
            return true;
    return false;
}

char *as_setting_expand(const char *word, const struct as_setting *setting, size_t n)
{
    struct as_str out = {0};

    while (*word) {
        size_t step = 0;

        for (size_t i = 0; i < n && !step; i++) {
            step = placeholder_n(word, setting[i].name);
            if (step)
                as_str_appendz(&out, setting[i].value);
        }
        if (!step)
            as_str_append(&out, word, 1);
        word += step ? step : 1;
    }
    char *copy = out.failed ? NULL : strdup(as_str_z(&out));
    as_str_fini(&out);
    return copy;
}
