/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the category of a module, a function and a frame. A function needs one look-up in a hash
 * map, and matches of patterns with the same first letter.
 */
#include "profile/category.h"

#include <assert.h>
#include <string.h>

#include "base/clone_suffix.h"
#include "base/glob.h"
#include "object/object.h"
#include "profile/category_rules.h"
#include "sample/sample.h"

#define READABLE_B 4096

size_t as_categories_n(const struct as_categories *categories)
{
    return categories->category.n;
}

const struct as_category *as_category_at(const struct as_categories *categories, size_t i)
{
    assert(i < categories->category.n);
    return &categories->category.at[i];
}

int as_category_find(const struct as_categories *categories, const char *name)
{
    for (size_t i = 0; i < categories->category.n; i++)
        if (strcmp(categories->category.at[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* ---- Modules ------------------------------------------------------------------------------ */

static struct as_view path_view(const struct as_category_module *m)
{
    return (struct as_view){m->path, m->path_n};
}

static struct as_view name_view(const struct as_category_module *m)
{
    return (struct as_view){m->path + m->name_at, m->path_n - m->name_at};
}

static bool matches(struct as_view glob, bool plain, struct as_view text)
{
    return plain ? as_view_equal(glob, text) : as_glob_match(glob, text);
}

static void name_module(unsigned kind, const char *path, struct as_category_module *out)
{
    switch (kind) {
    case AS_MODULE_FILE:
        out->path = path ? path : "";
        break;
    case AS_MODULE_VDSO:
        out->path = "[vdso]";
        break;
    case AS_MODULE_KERNEL:
        out->path = "[kernel]";
        break;
    case AS_MODULE_PYTHON:
        out->path = "[python]";
        break;
    case AS_MODULE_ANON:
        out->path = "[anon]";
        break;
    default:
        out->path = "[unknown]";
        break;
    }
    struct as_view it = as_view_of(out->path);
    /* The kernel appends " (deleted)" to the path of a removed or replaced file. */
    if (as_view_ends(it, " (deleted)"))
        it.n -= strlen(" (deleted)");
    out->path_n = (uint32_t)it.n;
    const char *slash = it.n ? memrchr(it.p, '/', it.n) : NULL;
    out->name_at = slash ? (uint32_t)(slash + 1 - it.p) : 0;
}

void as_category_module(const struct as_categories *categories, unsigned kind, const char *path,
                        struct as_category_module *out)
{
    *out = (struct as_category_module){.home = AS_CATEGORY_APPLICATION, .open = true};
    name_module(kind, path, out);
    as_vec_foreach (&categories->module, rule) {
        if (!matches(rule->glob, rule->plain, rule->place ? path_view(out) : name_view(out)))
            continue;
        out->home = rule->category;
        out->open = rule->open;
        out->by_user = rule->user && !rule->open;
        return;
    }
}

/* ---- Functions ---------------------------------------------------------------------------- */

bool as_category_readable(const struct as_category_rule *rule)
{
    const struct as_view glob = rule->glob;
    return rule->user && (memmem(glob.p, glob.n, "::", 2) || memchr(glob.p, '(', glob.n));
}

static bool holds(const struct as_category_rule *rule, const struct as_category_module *m)
{
    if (!rule->user && m->by_user)
        return false;
    if (rule->limit.n == 0)
        return rule->user || m->open;
    const bool place = memchr(rule->limit.p, '/', rule->limit.n) != NULL;
    return as_view_equal(rule->limit, name_view(m)) ||
           as_glob_match(rule->limit, place ? path_view(m) : name_view(m));
}

/* Returns the strongest rule for the name that is stronger than `best`; `best` if there is none. */
static uint32_t strongest(const struct as_categories *c, const struct as_category_module *m,
                          struct as_view name, uint32_t best)
{
    uint32_t i = as_map_view_get(&c->plain, name);
    for (; i < best; i = c->symbol.at[i].next)
        if (holds(&c->symbol.at[i], m))
            best = i;
    const uint32_t chains[] = {c->glob[(unsigned char)name.p[0]], c->any};
    for (size_t chain = 0; chain < 2; chain++)
        for (i = chains[chain]; i < best; i = c->symbol.at[i].next)
            if (as_glob_match(c->symbol.at[i].glob, name) && holds(&c->symbol.at[i], m))
                best = i;
    return best;
}

/* Returns the name without suffixes of clones and parts, and without the prefix "__GI_" of glibc's
 * internal names. */
static struct as_view original(struct as_view name)
{
    if (as_view_starts(name, "__GI_") && name.n > 5)
        name = (struct as_view){name.p + 5, name.n - 5};
    return (struct as_view){name.p, as_clone_original_n(name)};
}

/* Returns "solver::step" for "solver::step(int)", for rules without parameters. */
static struct as_view without_parameters(struct as_view text)
{
    for (size_t i = 1, depth = 0; i < text.n; i++) {
        if (text.p[i] == '(' && depth == 0)
            return (struct as_view){text.p, i};
        depth += text.p[i] == '<';
        depth -= text.p[i] == '>' && depth > 0;
    }
    return text;
}

/* Returns the strongest of the user's rules for source names. The user's rules are the first of the
 * table. */
static uint32_t strongest_readable(const struct as_categories *c,
                                   const struct as_category_module *m, const char *symbol,
                                   uint32_t best)
{
    char buf[READABLE_B];
    const int n = as_demangle(symbol, buf, sizeof buf);
    if (n <= 0)
        return best;
    const struct as_view whole = as_view_of(buf), bare = without_parameters(whole);
    for (uint32_t i = 0; i < c->symbol.n && i < best && c->symbol.at[i].user; i++) {
        const struct as_category_rule *rule = &c->symbol.at[i];
        if (as_category_readable(rule) && holds(rule, m) &&
            (as_glob_match(rule->glob, whole) || as_glob_match(rule->glob, bare)))
            return i;
    }
    return best;
}

bool as_category_by_rule(const struct as_categories *categories,
                         const struct as_category_module *module, const char *symbol,
                         unsigned *category)
{
    struct as_view name = as_view_of(symbol);
    if (as_view_ends(name, "@plt"))
        name.n -= strlen("@plt");
    if (name.n == 0)
        return false;
    uint32_t best = strongest(categories, module, name, AS_CATEGORY_NONE);
    const struct as_view base = original(name);
    if (best == AS_CATEGORY_NONE && base.n < name.n)
        best = strongest(categories, module, base, best);
    if (categories->readable)
        best = strongest_readable(categories, module, symbol, best);
    if (best != AS_CATEGORY_NONE)
        *category = categories->symbol.at[best].category;
    return best != AS_CATEGORY_NONE;
}

unsigned as_category_of_symbol(const struct as_categories *categories,
                               const struct as_category_module *module, const char *symbol)
{
    unsigned category = module->home;
    as_category_by_rule(categories, module, symbol, &category);
    return category;
}

/* ---- Frames ------------------------------------------------------------------------------- */

unsigned as_category_in(const struct as_categories *categories, unsigned own, unsigned caller)
{
    return categories->in[own * categories->category.n + caller];
}
