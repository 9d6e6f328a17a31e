/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Categories of time: whose time a function's own is (application, MPI, a math library, ...), by
 * the rules of data/categories/ and of the user's own file (doc/reference/categories.md). Knows
 * names and paths only; what ran is the business of the caller. After reading, nothing changes: any
 * number of threads may ask.
 */
#ifndef AS_PROFILE_CATEGORY_H
#define AS_PROFILE_CATEGORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <assay/error.h>

struct as_categories;

#define AS_CATEGORY_APPLICATION 0u /* index of the category that is always the first */

/* Texts live as long as the categories. */
struct as_category {
    const char *name;    /* snake_case */
    const char *title;   /* "Math libraries" */
    const char *meaning; /* one sentence; "" when a user gave none */
    int parent;          /* index of the category it is a part of, a lower one, or -1 */
    bool absorbs;        /* some of what it calls belongs to it */
};

/*
 * Reads the rules of the house, and before them those of `user_file` unless NULL. Errors:
 * NOT_FOUND, PERMISSION, NOT_REGULAR, LIMIT (absurdly large), IO, USAGE (a line that is wrong, with
 * its number and what to write), NOMEM.
 */
int as_categories_read(const char *user_file, struct as_categories **out, struct assay_error *err);
void as_categories_free(struct as_categories **categories); /* NULL inside is fine */

size_t as_categories_n(const struct as_categories *categories);
const struct as_category *as_category_at(const struct as_categories *categories, size_t i);
/* Index of a name, or -1. */
int as_category_find(const struct as_categories *categories, const char *name);

/*
 * What the rules say of a module as a whole; prepare it once for many functions. `kind`: enum
 * assay_module_kind; `path`: as recorded, borrowed, "" when there is none.
 */
struct as_category_module {
    const char *path;
    uint32_t path_n, name_at; /* without " (deleted)"; where its last part begins */
    uint32_t home;            /* category of functions that no symbol rule claims */
    bool open;                /* rules by symbol alone apply in it */
    bool by_user;             /* a closed rule of the user's: not even those "in" it */
};
void as_category_module(const struct as_categories *categories, unsigned kind, const char *path,
                        struct as_category_module *out);

/* Category of a function by itself; `symbol`: as linked, "" or NULL when unknown. Ends "@plt" and
 * those that compilers add to clones (".part.0", ".constprop.0", ".cold") do not matter. */
unsigned as_category_of_symbol(const struct as_categories *categories,
                               const struct as_category_module *module, const char *symbol);

/* Whether a rule by symbol says it: what the module is as a whole says nothing then. */
bool as_category_by_rule(const struct as_categories *categories,
                         const struct as_category_module *module, const char *symbol,
                         unsigned *category);

/*
 * Category of a frame whose own is `own`, called by a frame of category `caller` (what this
 * function gave for that one; AS_CATEGORY_APPLICATION for the outermost frame).
 */
unsigned as_category_in(const struct as_categories *categories, unsigned own, unsigned caller);

#endif
