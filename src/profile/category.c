/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the rules and asking them. A rule is a glob (fnmatch(3)) over the file name of a module
 * or over a symbol, perhaps of certain modules only. Of the user's rules those for symbols come
 * before those for modules; of the built-in ones a symbol of a certain module, the module, any
 * symbol: a library's category is known by its name, a static program's only by its symbols.
 */
#include "profile/category.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <assay/sample.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "profile/category_data.h"

enum rule_kind { RULE_SYMBOL_IN, RULE_MODULE, RULE_SYMBOL, RULE_KIND };

struct rule {
    uint8_t kind;
    bool user;
    unsigned category;
    const char *module; /* glob over the file name; of SYMBOL_IN and MODULE */
    const char *symbol; /* glob; of SYMBOL_IN and SYMBOL; word of KIND */
};

struct as_categories {
    struct as_arena arena;
    AS_VEC(struct as_category) category;
    AS_VEC(struct rule) rule; /* the user's first */
    unsigned application;
};

/* One file while it is read. */
struct parse {
    struct as_categories *all;
    const char *path;
    unsigned line;
    bool user;
    int category; /* -1: before the first */
    struct assay_error *err;
};

/* ---- Reading ------------------------------------------------------------------------------- */

static int bad(struct parse *p, const char *what, struct as_view word)
{
    return as_error_set(p->err, ASSAY_ERR_USAGE, "%s:%u: '%.*s': %s; see doc/categories.md",
                        p->path, p->line, (int)word.n, word.p, what);
}

static const char *keep(struct parse *p, struct as_view text)
{
    return as_arena_strndup(&p->all->arena, text.p, text.n);
}

static int find(const struct as_categories *all, struct as_view name)
{
    for (size_t i = 0; i < all->category.n; i++)
        if (as_view_equal(as_view_of(all->category.at[i].name), name))
            return (int)i;
    return -1;
}

static int begin_category(struct parse *p, struct as_view name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_", name.p[i]))
            return bad(p, "a category's name has small letters, digits and _ only", name);
    if (name.n == 0)
        return bad(p, "a category needs a name", name);
    p->category = find(p->all, name);
    if (p->category >= 0)
        return 0;
    const struct as_category category = {.name = keep(p, name), .parent = -1};
    p->category = (int)p->all->category.n;
    if (!category.name || as_vec_push(&p->all->category, category) < 0)
        return as_error_nomem(p->err, p->path);
    return 0;
}

static int add_rules(struct parse *p, enum rule_kind kind, struct as_view module,
                     struct as_view globs)
{
    struct as_view word;
    while (as_view_split(&globs, ' ', &word)) {
        if (word.n == 0)
            continue;
        struct rule rule = {
            .kind = (uint8_t)kind, .user = p->user, .category = (unsigned)p->category};
        const char *glob = keep(p, word), *of = module.p ? keep(p, module) : NULL;
        if (!glob || (module.p && !of))
            return as_error_nomem(p->err, p->path);
        rule.module = kind == RULE_MODULE ? glob : of;
        rule.symbol = kind == RULE_MODULE ? NULL : glob;
        if (as_vec_push(&p->all->rule, rule) < 0)
            return as_error_nomem(p->err, p->path);
    }
    return 0;
}

static int set_flag(struct parse *p, struct as_view value, bool *out)
{
    *out = as_view_equal(value, as_view_of("yes"));
    if (!*out && !as_view_equal(value, as_view_of("no")))
        return bad(p, "say yes or no", value);
    return 0;
}

static int set_parent(struct parse *p, struct as_view value)
{
    const int parent = find(p->all, value);
    if (parent < 0 || parent == p->category)
        return bad(p, "no category of this name stands above", value);
    p->all->category.at[p->category].parent = parent;
    return 0;
}

/* The first to say it is right: the user comes before the built-in file. */
static int set_text(struct parse *p, struct as_view value, const char **out)
{
    if (!*out)
        *out = keep(p, value);
    return *out ? 0 : as_error_nomem(p->err, p->path);
}

static int take_value(struct parse *p, struct as_view key, struct as_view value)
{
    const struct as_view none = {0};
    if (p->category < 0)
        return bad(p, "a [category] must stand before", key);
    struct as_category *category = &p->all->category.at[p->category];
    if (as_view_equal(key, as_view_of("title")))
        return set_text(p, value, &category->title);
    if (as_view_equal(key, as_view_of("meaning")))
        return set_text(p, value, &category->meaning);
    if (as_view_equal(key, as_view_of("parent")))
        return set_parent(p, value);
    if (as_view_equal(key, as_view_of("absorbs")))
        return set_flag(p, value, &category->absorbs);
    if (as_view_equal(key, as_view_of("yields")))
        return set_flag(p, value, &category->yields);
    if (as_view_equal(key, as_view_of("module")))
        return add_rules(p, RULE_MODULE, none, value);
    if (as_view_equal(key, as_view_of("symbol")))
        return add_rules(p, RULE_SYMBOL, none, value);
    if (as_view_equal(key, as_view_of("kind")))
        return add_rules(p, RULE_KIND, none, value);
    if (as_view_starts(key, "symbol in ")) {
        const struct as_view module = {.p = key.p + 10, .n = key.n - 10};
        return add_rules(p, RULE_SYMBOL_IN, as_view_trim(module), value);
    }
    return bad(p, "is none of title, meaning, parent, absorbs, yields, module, symbol, kind", key);
}

static int take_line(struct parse *p, struct as_view line)
{
    line = as_view_trim(line);
    if (line.n == 0 || line.p[0] == '#')
        return 0;
    if (line.p[0] == '[') {
        if (line.p[line.n - 1] != ']')
            return bad(p, "a category is written [name]", line);
        return begin_category(p, (struct as_view){.p = line.p + 1, .n = line.n - 2});
    }
    const char *equals = memchr(line.p, '=', line.n);
    if (!equals)
        return bad(p, "is neither [category] nor key = value", line);
    const struct as_view key = {.p = line.p, .n = (size_t)(equals - line.p)};
    const struct as_view value = {.p = equals + 1, .n = line.n - key.n - 1};
    return take_value(p, as_view_trim(key), as_view_trim(value));
}

static int take_text(struct parse *p, struct as_view text)
{
    struct as_view line;
    while (as_view_split(&text, '\n', &line)) {
        p->line++;
        AS_TRY(take_line(p, line));
    }
    return 0;
}

static int read_file(const char *path, struct as_str *out, struct assay_error *err)
{
    char buffer[4096];
    FILE *f = fopen(path, "re");
    size_t n;
    if (!f) {
        const int code = errno == ENOENT   ? ASSAY_ERR_NOT_FOUND
                         : errno == EACCES ? ASSAY_ERR_PERMISSION
                                           : ASSAY_ERR_IO;
        return as_error_set(err, code,
                            "%s: cannot be read: %s; name a file of categories "
                            "(doc/categories.md)",
                            path, strerror(errno));
    }
    while ((n = fread(buffer, 1, sizeof buffer, f)) > 0)
        as_str_append(out, buffer, n);
    const bool failed = ferror(f);
    fclose(f);
    return failed ? as_error_set(err, ASSAY_ERR_IO, "%s: cannot be read: %s; name another file",
                                 path, strerror(errno))
                  : 0;
}

static int read_user(struct as_categories *all, const char *path, struct assay_error *err)
{
    struct as_str text = {0};
    struct parse p = {.all = all, .path = path, .user = true, .category = -1, .err = err};
    int rc = read_file(path, &text, err);
    if (rc == 0)
        rc = take_text(&p, as_view_of(as_str_z(&text)));
    as_str_fini(&text);
    return rc;
}

int as_categories_read(const char *user_file, struct as_categories **out, struct assay_error *err)
{
    struct as_categories *all = as_calloc(1, sizeof *all);
    struct parse builtin = {.all = all, .path = "categories.txt", .category = -1, .err = err};
    *out = NULL;
    if (!all)
        return as_error_nomem(err, "categories");
    as_arena_init(&all->arena);
    int rc = user_file ? read_user(all, user_file, err) : 0;
    if (rc == 0)
        rc = take_text(&builtin, as_view_of(as_category_text));
    as_vec_foreach (&all->category, category) {
        category->title = category->title ? category->title : category->name;
        category->meaning = category->meaning ? category->meaning : "";
    }
    if (rc < 0) {
        as_categories_free(&all);
        return rc;
    }
    all->application = (unsigned)find(all, as_view_of("application"));
    *out = all;
    return 0;
}

void as_categories_free(struct as_categories **categories)
{
    struct as_categories *all = *categories;
    if (!all)
        return;
    as_vec_fini(&all->category);
    as_vec_fini(&all->rule);
    as_arena_fini(&all->arena);
    as_free(all);
    *categories = NULL;
}

/* ---- Asking -------------------------------------------------------------------------------- */

size_t as_categories_n(const struct as_categories *categories)
{
    return categories->category.n;
}

const struct as_category *as_category_at(const struct as_categories *categories, size_t index)
{
    return &categories->category.at[index];
}

unsigned as_category_named(const struct as_categories *categories, const char *name)
{
    const int found = find(categories, as_view_of(name));
    return found < 0 ? categories->application : (unsigned)found;
}

static bool matches(const char *glob, const char *text)
{
    return fnmatch(glob, text, 0) == 0;
}

static const char *kind_word(unsigned kind)
{
    static const char *const word[] = {
        [ASSAY_MODULE_FILE] = "file",       [ASSAY_MODULE_VDSO] = "vdso",
        [ASSAY_MODULE_KERNEL] = "kernel",   [ASSAY_MODULE_ANON] = "generated",
        [ASSAY_MODULE_UNKNOWN] = "unknown",
    };
    return word[kind];
}

static bool applies(const struct rule *rule, unsigned kind, const char *file, const char *symbol)
{
    switch (rule->kind) {
    case RULE_SYMBOL_IN:
        return matches(rule->module, file) && matches(rule->symbol, symbol);
    case RULE_MODULE:
        return kind == ASSAY_MODULE_FILE && matches(rule->module, file);
    case RULE_SYMBOL:
        return kind != ASSAY_MODULE_KERNEL && symbol[0] && matches(rule->symbol, symbol);
    default:
        return strcmp(rule->symbol, kind_word(kind)) == 0;
    }
}

/* The first rule of a kind that applies; -1: none. */
static int ask(const struct as_categories *all, bool user, enum rule_kind kind, unsigned module,
               const char *file, const char *symbol)
{
    for (size_t i = 0; i < all->rule.n; i++) {
        const struct rule *rule = &all->rule.at[i];
        if (rule->kind == kind && rule->user == user && applies(rule, module, file, symbol))
            return (int)rule->category;
    }
    return -1;
}

unsigned as_category_of(const struct as_categories *categories, unsigned kind, const char *path,
                        const char *symbol)
{
    static const struct {
        bool user;
        enum rule_kind kind;
    } order[] = {
        {true, RULE_SYMBOL_IN},  {true, RULE_SYMBOL},  {true, RULE_MODULE},  {true, RULE_KIND},
        {false, RULE_SYMBOL_IN}, {false, RULE_MODULE}, {false, RULE_SYMBOL}, {false, RULE_KIND},
    };
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const int found = ask(categories, order[i].user, order[i].kind, kind, file, symbol);
        if (found >= 0)
            return (unsigned)found;
    }
    return categories->application;
}

unsigned as_category_in(const struct as_categories *categories, unsigned own, unsigned caller)
{
    const struct as_category *it = &categories->category.at[own];
    const struct as_category *by = &categories->category.at[caller];
    if (own == caller || !by->absorbs)
        return own;
    return it->yields ? caller : own;
}
