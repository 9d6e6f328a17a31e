/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts that should be equal in all inputs: each has its values and the inputs with each value.
 * Also names inputs in messages.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "merge/internal.h"

#define PATHS_NAMED 4

const char *as_merge_keep(struct as_merge *merge, const char *text)
{
    return as_arena_strndup(&merge->arena, text, strlen(text));
}

const struct as_merge_fact *as_merge_fact_of(const struct as_merge *merge, const char *name)
{
    const uint32_t at = as_map_view_get(&merge->fact_of, as_view_of(name));

    return at == AS_MAP_NONE ? NULL : &merge->fact.at[at];
}

static struct as_merge_fact *find_or_add(struct as_merge *merge, const char *name)
{
    const uint32_t at = as_map_view_get(&merge->fact_of, as_view_of(name));
    struct as_merge_fact fact = {0};

    if (at != AS_MAP_NONE)
        return &merge->fact.at[at];
    fact.name = as_merge_keep(merge, name);
    if (!fact.name || as_vec_push(&merge->fact, fact) < 0 ||
        as_map_view_put(&merge->fact_of, as_view_of(fact.name), (uint32_t)merge->fact.n - 1) < 0)
        return NULL;
    return &merge->fact.at[merge->fact.n - 1];
}

static int add_variant(struct as_merge *merge, struct as_merge_fact *fact, const char *text,
                       uint32_t part)
{
    struct as_merge_variant variant = {0};

    as_vec_foreach (&fact->variant, it)
        if (strcmp(it->text, text) == 0)
            return as_vec_push(&it->part, part);
    variant.text = as_merge_keep(merge, text);
    if (!variant.text || as_vec_push(&fact->variant, variant) < 0)
        return AS_ERR_NOMEM;
    return as_vec_push(&fact->variant.at[fact->variant.n - 1].part, part);
}

int as_merge_note(struct as_merge *merge, const char *group, const char *name, const char *text,
                  uint32_t part, struct as_error *err)
{
    struct as_str full = {0};
    struct as_merge_fact *fact;
    int rc = 0;

    if (!text)
        return 0;
    as_str_appendf(&full, "%s.%s", group, name);
    fact = full.failed ? NULL : find_or_add(merge, as_str_z(&full));
    if (!fact || add_variant(merge, fact, text, part) < 0)
        rc = as_error_nomem(err, "what is known of the ranks");
    as_str_fini(&full);
    return rc;
}

const char *as_merge_value(const struct as_merge *merge, const char *name, uint32_t part)
{
    const struct as_merge_fact *fact = as_merge_fact_of(merge, name);

    if (fact)
        as_vec_foreach (&fact->variant, it)
            as_vec_foreach (&it->part, at)
                if (*at == part)
                    return it->text;
    return NULL;
}

const char *as_merge_common(const struct as_merge *merge, const char *name)
{
    const struct as_merge_fact *fact = as_merge_fact_of(merge, name);

    return fact && fact->variant.n == 1 && fact->variant.at[0].part.n == merge->part.n
               ? fact->variant.at[0].text
               : NULL;
}

/* ---- Names of inputs ----------------------------------------------------------------------- */

void as_merge_append_numbers(const int64_t *number, size_t n, struct as_str *out)
{
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && number[end] <= number[end - 1] + 1;)
            end++;
        as_str_appendf(out, "%s%" PRId64, i ? ", " : "", number[i]);
        if (number[end - 1] != number[i])
            as_str_appendf(out, "-%" PRId64, number[end - 1]);
    }
}

static bool is_in(const as_merge_parts *part, uint32_t number)
{
    as_vec_foreach (part, it)
        if (*it == number)
            return true;
    return false;
}

static void append_paths(const struct as_merge *merge, const as_merge_parts *part,
                         struct as_str *out)
{
    for (size_t i = 0; i < part->n && i < PATHS_NAMED; i++)
        as_str_appendf(out, "%s%s", i ? ", " : "", merge->part.at[part->at[i]].path);
    if (part->n > PATHS_NAMED)
        as_str_appendf(out, " and %zu more", part->n - PATHS_NAMED);
}

void as_merge_append_owners(const struct as_merge *merge, const as_merge_parts *part,
                            struct as_str *out)
{
    AS_VEC(int64_t) number = {0};
    bool has_ranks = part->n > 0;

    as_vec_foreach (part, it)
        has_ranks &= merge->part.at[*it].rank >= 0;
    as_vec_foreach (&merge->rank, it)
        if (has_ranks && is_in(part, it->part))
            has_ranks = as_vec_push(&number, it->rank) == 0;
    if (has_ranks) {
        as_str_appendz(out, number.n == 1 ? "rank " : "ranks ");
        as_merge_append_numbers(number.at, number.n, out);
    } else {
        append_paths(merge, part, out);
    }
    as_vec_fini(&number);
}
