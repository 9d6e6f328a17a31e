/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads rules of categories, with one statement in each line (doc/reference/categories.md).
 * Built-in files and the user's file have the same format. The user's rules are stronger. New
 * categories of the user are parts of the application, unless a statement names another parent.
 */
#include "profile/category_rules.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/glob.h"
#include "base/infile.h"

#define CATEGORY_MAX 255
#define NAME_MAX_B   63
#define FILE_MAX_B   (16u << 20)

/* A category named by `absorbs`. It is looked up after all categories are known. */
struct mention {
    const char *file;
    unsigned line;
    uint32_t category;
    struct as_view words;
};

struct reader {
    struct as_categories *c;
    AS_VEC(struct mention) absorbs;
    const char *file;
    unsigned line;
    bool user;
    uint32_t category; /* of the current statements, or AS_CATEGORY_NONE */
    bool *absorbing;   /* [caller * n + own] */
    struct as_error *err;
};

#define WRONG(r, fmt, ...)                                                                         \
    as_error_set((r)->err, AS_ERR_USAGE, "%s:%u: " fmt, (r)->file, (r)->line, __VA_ARGS__)
#define V(view) (int)(view).n, (view).p

static bool next_word(struct as_view *rest, struct as_view *out)
{
    while (as_view_split(rest, ' ', out))
        if (out->n)
            return true;
    return false;
}

static int find_category(const struct as_categories *c, struct as_view name)
{
    for (size_t i = 0; i < c->category.n; i++)
        if (as_view_equal(as_view_of(c->category.at[i].name), name))
            return (int)i;
    return -1;
}

static int copy_rule_text(struct reader *r, struct as_view text, const char **out)
{
    *out = as_arena_strndup(&r->c->arena, text.p, text.n);
    return *out ? 0 : as_error_nomem(r->err, r->file);
}

/* ---- Statements --------------------------------------------------------------------------- */

static bool is_name(struct as_view s)
{
    if (s.n == 0 || s.n > NAME_MAX_B || !islower((unsigned char)s.p[0]))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!islower((unsigned char)s.p[i]) && !isdigit((unsigned char)s.p[i]) && s.p[i] != '_')
            return false;
    return true;
}

static int read_category(struct reader *r, struct as_view rest)
{
    rest = as_view_trim(rest);
    if (!is_name(rest))
        return WRONG(r,
                     "'%.*s': invalid name of a category; use up to %d lower-case letters, digits "
                     "and '_', beginning with a letter",
                     V(rest), NAME_MAX_B);
    const int known = find_category(r->c, rest);
    if (known >= 0) {
        r->category = (uint32_t)known;
        return 0;
    }
    if (r->c->category.n == CATEGORY_MAX)
        return WRONG(r, "'%.*s': too many categories; use at most %d", V(rest), CATEGORY_MAX);
    struct as_category it = {.meaning = "", .parent = r->user ? 0 : -1};
    AS_TRY(copy_rule_text(r, rest, &it.name));
    it.title = it.name;
    if (as_vec_push(&r->c->category, it) < 0)
        return as_error_nomem(r->err, r->file);
    r->category = (uint32_t)r->c->category.n - 1;
    return 0;
}

static int read_title(struct reader *r, struct as_view rest)
{
    return copy_rule_text(r, rest, &r->c->category.at[r->category].title);
}

static int read_meaning(struct reader *r, struct as_view rest)
{
    return copy_rule_text(r, rest, &r->c->category.at[r->category].meaning);
}

/* Reads the parent, which must be an earlier category. This excludes cycles, and a writer of rows
 * finds the parent first. */
static int read_parent(struct reader *r, struct as_view rest)
{
    const int parent = find_category(r->c, rest);
    if (parent >= (int)r->category || (parent < 0 && !as_view_equal(rest, as_view_of("none"))))
        return WRONG(r, "'parent %.*s': no such category above '%s'; define it before", V(rest),
                     r->c->category.at[r->category].name);
    r->c->category.at[r->category].parent = parent;
    return 0;
}

static int read_absorbs(struct reader *r, struct as_view rest)
{
    const struct mention it = {r->file, r->line, r->category, rest};
    return as_vec_push(&r->absorbs, it) < 0 ? as_error_nomem(r->err, r->file) : 0;
}

static int add_module(struct reader *r, struct as_view glob, bool open)
{
    /* The names of modules without a file; their brackets are not sets of characters. */
    static const char *const nameless[] = {"[kernel]", "[vdso]", "[anon]", "[unknown]", "[python]"};
    struct as_category_rule rule = {.glob = glob,
                                    .category = r->category,
                                    .order = (uint32_t)r->c->module.n,
                                    .next = AS_CATEGORY_NONE,
                                    .literals = (uint32_t)as_glob_literals(glob),
                                    .user = r->user,
                                    .plain = as_glob_plain(glob),
                                    .place = memchr(glob.p, '/', glob.n) != NULL,
                                    .open = open};
    for (size_t i = 0; i < sizeof nameless / sizeof *nameless; i++)
        rule.plain |= as_view_equal(glob, as_view_of(nameless[i]));
    return as_vec_push(&r->c->module, rule) < 0 ? as_error_nomem(r->err, r->file) : 0;
}

static int read_modules(struct reader *r, struct as_view rest, bool open)
{
    struct as_view glob;
    while (next_word(&rest, &glob))
        AS_TRY(add_module(r, glob, open));
    return 0;
}

/* Adds libraries by name. "m" means libm.so, libm.so.6, libm-2.31.so, and libm-0cf96a72.so.6 of
 * Python wheels. */
static int read_libraries(struct reader *r, struct as_view rest, bool open)
{
    static const char *const forms[] = {"lib%.*s.so", "lib%.*s.so.*", "lib%.*s-*.so*"};
    struct as_view name;
    while (next_word(&rest, &name)) {
        if (memchr(name.p, '/', name.n))
            return WRONG(r,
                         "'%.*s': is a path; use the name without 'lib' and '.so' after "
                         "'library', or use 'module'",
                         V(name));
        for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
            char text[256];
            const int n = snprintf(text, sizeof text, forms[i], V(name));
            if (n >= (int)sizeof text)
                return WRONG(r, "'%.*s': is too long for a library name", V(name));
            const char *kept;
            AS_TRY(copy_rule_text(r, (struct as_view){text, (size_t)n}, &kept));
            AS_TRY(add_module(r, as_view_of(kept), open));
        }
    }
    return 0;
}

static int add_symbol(struct reader *r, struct as_view glob, struct as_view limit)
{
    const struct as_category_rule rule = {.glob = glob,
                                          .limit = limit,
                                          .category = r->category,
                                          .order = (uint32_t)r->c->symbol.n,
                                          .next = AS_CATEGORY_NONE,
                                          .literals = (uint32_t)as_glob_literals(glob),
                                          .user = r->user,
                                          .plain = as_glob_plain(glob)};
    r->c->readable += as_category_readable(&rule);
    return as_vec_push(&r->c->symbol, rule) < 0 ? as_error_nomem(r->err, r->file) : 0;
}

/* Reads "GLOB... [in MODULE...]". */
static int read_symbols(struct reader *r, struct as_view rest)
{
    struct as_view globs = rest, limits = {0}, at = rest, it;
    while (next_word(&at, &it))
        if (as_view_equal(it, as_view_of("in"))) {
            globs.n = (size_t)(it.p - rest.p);
            limits = at.p ? at : (struct as_view){"", 0};
            break;
        }
    if (as_view_trim(globs).n == 0)
        return WRONG(r, "%s: the symbols are missing; use 'symbol NAME... in MODULE...'", "'in'");
    if (limits.p && as_view_trim(limits).n == 0)
        return WRONG(r, "%s: the module is missing; use 'symbol NAME... in MODULE...'", "'in'");
    do {
        struct as_view limit = {0}, names = globs;
        if (limits.p && !next_word(&limits, &limit))
            break;
        while (next_word(&names, &it))
            AS_TRY(add_symbol(r, it, limit));
    } while (limits.p);
    return 0;
}

/* Adds routines with C and Fortran interfaces. "MPI_Send" is also MPI_SEND and mpi_send, with up to
 * two trailing underscores. "dgemm" means only the names that Fortran compilers make of it, because
 * other code may have a function dgemm. */
static int read_routines(struct reader *r, struct as_view rest)
{
    struct as_view name;
    while (next_word(&rest, &name)) {
        char *lower = as_arena_alloc(&r->c->arena, name.n * 2 + 2, 1);
        if (!lower)
            return as_error_nomem(r->err, r->file);
        char *upper = lower + name.n + 2;
        bool capitals = false;
        for (size_t i = 0; i < name.n; i++) {
            lower[i] = (char)tolower((unsigned char)name.p[i]);
            upper[i] = (char)toupper((unsigned char)name.p[i]);
            capitals |= lower[i] != name.p[i];
        }
        lower[name.n] = lower[name.n + 1] = '_';
        const struct as_view none = {0};
        AS_TRY(add_symbol(r, (struct as_view){lower, name.n + 1}, none));
        AS_TRY(add_symbol(r, (struct as_view){lower, name.n + 2}, none));
        if (capitals) {
            AS_TRY(add_symbol(r, name, none));
            AS_TRY(add_symbol(r, (struct as_view){lower, name.n}, none));
            AS_TRY(add_symbol(r, (struct as_view){upper, name.n}, none));
        }
    }
    return 0;
}

/* ---- Lines -------------------------------------------------------------------------------- */

enum keyword {
    KEYWORD_CATEGORY,
    KEYWORD_TITLE,
    KEYWORD_MEANING,
    KEYWORD_PARENT,
    KEYWORD_ABSORBS,
    KEYWORD_LIBRARY,
    KEYWORD_MODULE,
    KEYWORD_SYMBOL,
    KEYWORD_ROUTINE
};
static const char *const keywords[] = {
    [KEYWORD_CATEGORY] = "category", [KEYWORD_TITLE] = "title",     [KEYWORD_MEANING] = "meaning",
    [KEYWORD_PARENT] = "parent",     [KEYWORD_ABSORBS] = "absorbs", [KEYWORD_LIBRARY] = "library",
    [KEYWORD_MODULE] = "module",     [KEYWORD_SYMBOL] = "symbol",   [KEYWORD_ROUTINE] = "routine"};
_Static_assert(sizeof keywords / sizeof *keywords == KEYWORD_ROUTINE + 1,
               "an entry for each of the enumeration");
#define KEYWORDS (sizeof keywords / sizeof *keywords)

static int read_statement(struct reader *r, unsigned keyword, bool open, struct as_view rest)
{
    switch (keyword) {
    case KEYWORD_CATEGORY:
        return read_category(r, rest);
    case KEYWORD_TITLE:
        return read_title(r, rest);
    case KEYWORD_MEANING:
        return read_meaning(r, rest);
    case KEYWORD_PARENT:
        return read_parent(r, rest);
    case KEYWORD_ABSORBS:
        return read_absorbs(r, rest);
    case KEYWORD_LIBRARY:
        return read_libraries(r, rest, open);
    case KEYWORD_MODULE:
        return read_modules(r, rest, open);
    case KEYWORD_SYMBOL:
        return read_symbols(r, rest);
    default:
        return read_routines(r, rest);
    }
}

static int read_line(struct reader *r, struct as_view line)
{
    struct as_view first;
    if (!next_word(&line, &first))
        return 0;
    const bool open = as_view_equal(first, as_view_of("open"));
    if (open && !next_word(&line, &first))
        return WRONG(r, "'%s': 'library' or 'module' is missing after it", "open");
    unsigned keyword = 0;
    while (keyword < KEYWORDS && !as_view_equal(first, as_view_of(keywords[keyword])))
        keyword++;
    if (keyword == KEYWORDS)
        return WRONG(r,
                     "'%.*s': unknown statement; use category, title, meaning, parent, absorbs, "
                     "library, module, symbol or routine",
                     V(first));
    if (open && keyword != KEYWORD_LIBRARY && keyword != KEYWORD_MODULE)
        return WRONG(r, "'open %.*s': only 'library' and 'module' can be open", V(first));
    line = as_view_trim(line);
    if (line.n == 0)
        return WRONG(r, "'%.*s': its value is missing", V(first));
    if (keyword != KEYWORD_CATEGORY && r->category == AS_CATEGORY_NONE)
        return WRONG(r, "'%.*s': belongs to no category; begin with a line 'category NAME'",
                     V(first));
    return read_statement(r, keyword, open, line);
}

/* Replaces tabs and carriage returns by blanks, and removes the comment. */
static struct as_view clean_line(char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '\t' || p[i] == '\r')
            p[i] = ' ';
        if (p[i] == '#' && (i == 0 || p[i - 1] == ' '))
            n = i;
    }
    return (struct as_view){p, n};
}

static int read_rule_text(struct reader *r, const char *file, const char *text, size_t n)
{
    char *copy = as_arena_strndup(&r->c->arena, text, n);
    if (!copy)
        return as_error_nomem(r->err, file);
    r->file = file;
    r->line = 0;
    r->category = AS_CATEGORY_NONE;
    for (char *p = copy, *end = copy + n; p < end;) {
        char *stop = memchr(p, '\n', (size_t)(end - p));
        stop = stop ? stop : end;
        r->line++;
        if (memchr(p, 0, (size_t)(stop - p)))
            return WRONG(r, "is not a text file: %s; use a file of rules", "it has a zero byte");
        AS_TRY(read_line(r, clean_line(p, (size_t)(stop - p))));
        p = stop + 1;
    }
    return 0;
}

static int read_user(struct reader *r, const char *path)
{
    char *text;
    size_t n;
    AS_TRY(as_infile_read(path, "the file of categories", FILE_MAX_B, 0, &text, &n, r->err));
    r->user = true;
    const char *file;
    int rc = copy_rule_text(r, as_view_of(path), &file);
    if (rc == 0)
        rc = read_rule_text(r, file, text, n);
    as_free(text);
    return rc;
}

/* ---- Absorption --------------------------------------------------------------------------- */

static int unknown_category(struct reader *r, const struct mention *m, struct as_view name)
{
    r->file = m->file;
    r->line = m->line;
    return WRONG(r, "'absorbs %.*s': no such category; define it by 'category %.*s'", V(name),
                 V(name));
}

static int resolve_absorbs(struct reader *r, bool *declared)
{
    const size_t n = r->c->category.n;
    as_vec_foreach (&r->absorbs, m) {
        bool *row = r->absorbing + m->category * n;
        struct as_view rest = m->words, name;
        memset(row, 0, n * sizeof *row);
        declared[m->category] = true;
        while (next_word(&rest, &name)) {
            const int own = find_category(r->c, name);
            if (as_view_equal(name, as_view_of("all")))
                memset(row, 1, n * sizeof *row);
            else if (own >= 0)
                row[own] = true;
            else if (!as_view_equal(name, as_view_of("none")))
                return unknown_category(r, m, name);
        }
    }
    return 0;
}

/* Copies `absorbs` from the nearest parent with that statement to categories without it. */
static void inherit_absorbs(struct reader *r, const bool *declared)
{
    const size_t n = r->c->category.n;
    for (size_t i = 0; i < n; i++) {
        const int parent = r->c->category.at[i].parent;
        if (!declared[i] && parent >= 0)
            memcpy(r->absorbing + i * n, r->absorbing + (size_t)parent * n, n);
    }
}

static int resolve(struct reader *r)
{
    struct as_categories *c = r->c;
    const size_t n = c->category.n;
    bool *declared = as_arena_array(&c->arena, bool, n);
    r->absorbing = as_arena_array(&c->arena, bool, n *n);
    c->free = as_arena_array(&c->arena, bool, n);
    c->in = as_arena_array(&c->arena, uint16_t, n * n);
    if (!declared || !r->absorbing || !c->free || !c->in)
        return as_error_nomem(r->err, "the categories");
    for (size_t i = 0; i < n; i++)
        for (int up = (int)i; up >= 0; up = c->category.at[up].parent)
            c->free[i] |= up == (int)AS_CATEGORY_APPLICATION;
    AS_TRY(resolve_absorbs(r, declared));
    inherit_absorbs(r, declared);
    for (size_t own = 0; own < n; own++)
        for (size_t caller = 0; caller < n; caller++) {
            const bool taken = r->absorbing[caller * n + own] && !c->free[own];
            c->in[own * n + caller] = (uint16_t)(taken ? caller : own);
            c->category.at[caller].absorbs |= taken && own != caller;
        }
    return 0;
}

/* ---- All of it ---------------------------------------------------------------------------- */

static int read_rules(struct reader *r, const char *user_file)
{
    for (size_t i = 0; i < as_category_data_n; i++) {
        const struct as_category_data *it = &as_category_data[i];
        AS_TRY(read_rule_text(r, it->name, it->text, it->n));
    }
    if (user_file)
        AS_TRY(read_user(r, user_file));
    AS_TRY(resolve(r));
    return as_categories_order(r->c, r->err);
}

int as_categories_read(const char *user_file, struct as_categories **out, struct as_error *err)
{
    struct as_categories *c = as_calloc(1, sizeof *c);
    *out = NULL;
    if (!c)
        return as_error_nomem(err, "the categories");
    as_arena_init(&c->arena);
    as_map_view_init(&c->plain);
    struct reader r = {.c = c, .err = err};
    const int rc = read_rules(&r, user_file);
    as_vec_fini(&r.absorbs);
    if (rc < 0)
        as_categories_free(&c);
    *out = c;
    return rc;
}

void as_categories_free(struct as_categories **categories)
{
    struct as_categories *c = *categories;
    if (!c)
        return;
    as_map_view_fini(&c->plain);
    as_vec_fini(&c->category);
    as_vec_fini(&c->symbol);
    as_vec_fini(&c->module);
    as_arena_fini(&c->arena);
    as_free(c);
    *categories = NULL;
}
