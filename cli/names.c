/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a name on the command line finds functions. One exact meaning wins over a pattern, and
 * several functions of one exact name are an error that lists them: a tool that picks one of two
 * kernels silently has already misled its user.
 */
#include "names.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/search.h"
#include "base/str.h"

#define NAME_MAX_B 4096
#define LISTED     6 /* functions named in a message */

const char *as_name_readable(struct as_arena *arena, const char *linkage, bool plain)
{
    char name[NAME_MAX_B];

    if (plain)
        return linkage;
    as_demangle(linkage, name, sizeof name);
    return strcmp(name, linkage) == 0 ? linkage : as_arena_strndup(arena, name, strlen(name));
}

void as_name_append(struct as_str *out, const char *linkage, bool plain)
{
    char name[4096];

    if (!plain)
        as_demangle(linkage, name, sizeof name);
    as_str_appendz(out, plain ? linkage : name);
}

const char *as_function_origin_word(unsigned origin)
{
    switch ((enum as_function_origin)origin) {
    case AS_FUNCTION_SYMBOL:
        return "symbol";
    case AS_FUNCTION_PLT:
        return "plt";
    case AS_FUNCTION_DWARF:
        return "dwarf";
    case AS_FUNCTION_UNWIND:
        return "unwind";
    case AS_FUNCTION_ENTRY:
        return "entry";
    }
    return NULL;
}

int as_regex_compile(regex_t *out, const char *text, const char *option, struct as_error *err)
{
    const int rc = regcomp(out, text, REG_EXTENDED | REG_NOSUB);
    char why[128];

    if (rc == 0)
        return 0;
    regerror(rc, out, why, sizeof why);
    return as_error_set(err, AS_ERR_USAGE,
                        "--%s: '%s' is not a POSIX extended regular expression: %s; escape "
                        "special characters with a backslash",
                        option, text, why);
}

const struct as_function *as_function_at(const struct as_function *function, size_t n,
                                         uint64_t address)
{
    size_t low = as_first_not(i, n, function[i].start <= address);
    assert(low < 2 || function[low - 2].start <= function[low - 1].start); /* functions ascend */
    /* Parts may nest: walk back over the few that begin before and end after. */
    for (size_t i = low, tried = 0; i > 0 && tried < 8; i--, tried++)
        if (address < function[i - 1].end)
            return &function[i - 1];
    return NULL;
}

/* ---- Selecting -------------------------------------------------------------------------- */

struct name_search {
    const struct as_object *object;
    const struct as_function *function;
    size_t n;
    const char *name;
    struct as_selection found;
};

/* Length of a readable name without its parameter list: "ns::f(int) const" gives "ns::f". */
static size_t bare_length(const char *readable)
{
    const size_t n = strlen(readable);
    size_t end = n, depth = 0;

    for (size_t i = n; i > 0; i--) {
        depth += readable[i - 1] == ')';
        if (readable[i - 1] == '(' && depth && --depth == 0) {
            end = i - 1;
            break;
        }
    }
    /* "(anonymous namespace)::f" has a parenthesis that does not begin a parameter list. */
    return end == 0 || strncmp(readable + end, "(anonymous", 10) == 0 ? n : end;
}

static int add_name(struct name_search *s, size_t i, struct as_error *err)
{
    as_vec_foreach (&s->found.function, it)
        if (*it == i)
            return 0;
    return as_vec_push(&s->found.function, (uint32_t)i) < 0
               ? as_error_nomem(err, "the chosen functions")
               : 0;
}

/* By linkage name, aliases included. */
static int by_symbol(struct name_search *s, struct as_error *err)
{
    const struct as_symbol *symbol;
    const size_t n = as_object_symbols(s->object, &symbol);

    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->function[i].name, s->name) == 0)
            AS_TRY(add_name(s, i, err));
    for (size_t i = 0; i < n; i++) {
        const struct as_function *at;

        if (symbol[i].kind > AS_SYMBOL_PLT || strcmp(symbol[i].name, s->name) != 0)
            continue;
        at = as_function_at(s->function, s->n, symbol[i].address);
        if (at && at->start == symbol[i].address)
            AS_TRY(add_name(s, (size_t)(at - s->function), err));
    }
    return 0;
}

/* By readable name, whole or without parameters. */
static int by_readable(struct name_search *s, bool bare, struct as_error *err)
{
    const size_t name_n = strlen(s->name);
    char readable[NAME_MAX_B];

    for (size_t i = 0; i < s->n; i++) {
        as_demangle(s->function[i].name, readable, sizeof readable);
        if (strncmp(readable, s->name, name_n) == 0 &&
            name_n == (bare ? bare_length(readable) : strlen(readable)))
            AS_TRY(add_name(s, i, err));
    }
    return 0;
}

static int by_pattern(struct name_search *s, struct as_error *err)
{
    char readable[NAME_MAX_B];
    regex_t regex;
    int rc = as_regex_compile(&regex, s->name, "function", err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < s->n && rc == 0; i++) {
        as_demangle(s->function[i].name, readable, sizeof readable);
        if (regexec(&regex, s->function[i].name, 0, NULL, 0) == 0 ||
            regexec(&regex, readable, 0, NULL, 0) == 0)
            rc = add_name(s, i, err);
    }
    regfree(&regex);
    return rc;
}

static int several(const struct name_search *s, struct as_error *err)
{
    struct as_str list = {0};
    const size_t n = s->found.function.n;
    int rc;

    for (size_t i = 0; i < n && i < LISTED; i++) {
        const struct as_function *f = &s->function[s->found.function.at[i]];

        as_str_appendf(&list, "%s%s at %" PRIx64 "-%" PRIx64, i ? ", " : "", f->name, f->start,
                       f->end);
    }
    if (n > LISTED)
        as_str_appendf(&list, " and %zu more", n - LISTED);
    rc = as_error_set(err, AS_ERR_NO_SYMBOL,
                      "%s: '%s' names %zu functions: %s; use the linkage name, or --range with "
                      "the addresses of one",
                      as_object_info(s->object)->path, s->name, n, as_str_z(&list));
    as_str_fini(&list);
    return rc;
}

struct near {
    const char *name;
    unsigned distance;
};

/* Keeps the three nearest in order. */
static void near_offer(struct near near[3], const char *name, unsigned distance)
{
    for (int i = 0; i < 3; i++) {
        if (near[i].name && strcmp(near[i].name, name) == 0)
            return;
        if (near[i].name && near[i].distance <= distance)
            continue;
        for (int k = 2; k > i; k--)
            near[k] = near[k - 1];
        near[i] = (struct near){name, distance};
        return;
    }
}

static int none(const struct name_search *s, struct as_error *err)
{
    const size_t name_n = strlen(s->name);
    const unsigned most = (unsigned)(name_n < 6 ? 2 : name_n / 3);
    struct near near[3] = {0};
    struct as_str list = {0};
    char readable[NAME_MAX_B];
    int rc;

    for (size_t i = 0; i < s->n; i++) {
        unsigned distance;

        as_demangle(s->function[i].name, readable, sizeof readable);
        distance = as_edit_distance(s->name, name_n, readable, bare_length(readable), most);
        if (distance <= most)
            near_offer(near, s->function[i].name, distance);
        else if (strstr(readable, s->name))
            near_offer(near, s->function[i].name, most + 1);
    }
    for (int i = 0; i < 3 && near[i].name; i++)
        as_str_appendf(&list, "%s%s", i ? ", " : "", near[i].name);
    if (list.n)
        rc = as_error_set(err, AS_ERR_NO_SYMBOL, "%s: no function matches '%s'; did you mean %s?",
                          as_object_info(s->object)->path, s->name, as_str_z(&list));
    else
        rc = as_error_set(err, AS_ERR_NO_SYMBOL,
                          "%s: no function matches '%s'; 'assay functions' lists them",
                          as_object_info(s->object)->path, s->name);
    as_str_fini(&list);
    return rc;
}

static int search_names(struct name_search *s, struct as_error *err)
{
    AS_TRY(by_symbol(s, err));
    if (!s->found.function.n)
        AS_TRY(by_readable(s, false, err));
    if (!s->found.function.n)
        AS_TRY(by_readable(s, true, err));
    if (s->found.function.n > 1)
        return several(s, err);
    if (!s->found.function.n && strpbrk(s->name, "^$*+?[](){}|\\"))
        AS_TRY(by_pattern(s, err));
    return s->found.function.n ? 0 : none(s, err);
}

static int ascending_index(const void *a, const void *b)
{
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

    return (i > k) - (i < k);
}

int as_select_function(const struct as_object *object, const struct as_function *function, size_t n,
                       const char *name, struct as_selection *out, struct as_error *err)
{
    struct name_search s = {object, function, n, name, *out};
    const size_t before = out->function.n;
    int rc;

    /* Search afresh, then merge: what earlier names chose must not make this one ambiguous. */
    memset(&s.found, 0, sizeof s.found);
    rc = search_names(&s, err);
    for (size_t i = 0; rc == 0 && i < s.found.function.n; i++)
        if (as_vec_push(&out->function, s.found.function.at[i]) < 0)
            rc = as_error_nomem(err, "the chosen functions");
    as_vec_fini(&s.found.function);
    if (rc == 0 && out->function.n > before) {
        size_t kept = 0;

        qsort(out->function.at, out->function.n, sizeof *out->function.at, ascending_index);
        for (size_t i = 0; i < out->function.n; i++)
            if (i == 0 || out->function.at[i] != out->function.at[kept - 1])
                out->function.at[kept++] = out->function.at[i];
        out->function.n = kept;
    }
    return rc;
}
