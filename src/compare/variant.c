/* SPDX-License-Identifier: Apache-2.0 */
/* Settings that differ from run to run; see variant.h. */
#include "compare/variant.h"

#include <string.h>

#include "base/str.h"

#define BETWEEN_SETTINGS '\x1e'
#define BEHIND_NAME      '\x1f'

bool as_variant_same(const struct as_run *a, const struct as_run *b)
{
    return strcmp(a->setting ? a->setting : "", b->setting ? b->setting : "") == 0;
}

/* Reads the next setting in the text of a run. Returns false at the end. */
static bool next_setting(struct as_view *rest, struct as_view *name, struct as_view *value)
{
    if (!as_view_split(rest, BETWEEN_SETTINGS, value))
        return false;
    return as_view_split(value, BEHIND_NAME, name);
}

static int add_name(struct as_arena *arena, const char **name, size_t *n, size_t most,
                    struct as_view it)
{
    for (size_t i = 0; i < *n; i++)
        if (as_view_equal(as_view_of(name[i]), it))
            return 0;
    if (*n == most)
        return 0;
    name[*n] = as_arena_strndup(arena, it.p, it.n);
    return name[(*n)++] ? 0 : AS_ERR_NOMEM;
}

int as_variant_names(const struct as_set *set, struct as_arena *arena, const char *const **out,
                     size_t *n)
{
    size_t most = 0;

    as_vec_foreach (&set->run, run)
        for (const char *c = run->setting; c && *c; c++)
            most += *c == BEHIND_NAME;
    const char **name = as_arena_array(arena, const char *, most + 1);
    *out = name;
    *n = 0;
    if (!name)
        return AS_ERR_NOMEM;
    as_vec_foreach (&set->run, run) {
        struct as_view rest = as_view_of(run->setting), it, value;

        while (run->setting && next_setting(&rest, &it, &value))
            if (add_name(arena, name, n, most, it) < 0)
                return AS_ERR_NOMEM;
    }
    return 0;
}

const char *const *as_variant_values(const struct as_run *run, struct as_arena *arena,
                                     const char *const *name, size_t n)
{
    const char **value = as_arena_array(arena, const char *, n + 1);
    struct as_view rest = as_view_of(run->setting), it, text;

    while (value && run->setting && next_setting(&rest, &it, &text))
        for (size_t i = 0; i < n; i++)
            if (as_view_equal(as_view_of(name[i]), it)) {
                value[i] = as_arena_strndup(arena, text.p ? text.p : "", text.n);
                if (!value[i])
                    return NULL;
            }
    return value;
}
