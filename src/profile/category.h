/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Categories of time: application, MPI, a math library and others. Each function has a category, by
 * the rules of data/categories/ and of the user's file (doc/reference/categories.md). The input is
 * names and paths. The categories do not change after reading, so they are thread-safe.
 */
#ifndef AS_PROFILE_CATEGORY_H
#define AS_PROFILE_CATEGORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct as_categories;

#define AS_CATEGORY_APPLICATION 0u /* index of the application, always the first category */

/* Texts live as long as the categories. */
struct as_category {
    const char *name;    /* snake_case */
    const char *title;   /* "Math libraries" */
    const char *meaning; /* one sentence; "" if the user's file has none */
    int parent;          /* index of the category that contains this one, lower; or -1 */
    bool absorbs;        /* some of its callees belong to this category */
};

/*
 * Reads the built-in rules, and the stronger rules of `user_file` unless it is NULL. The caller
 * frees `*out` with as_categories_free. Errors: NOT_FOUND, PERMISSION, NOT_REGULAR, LIMIT (the file
 * is too large), IO, USAGE (an invalid line; the message has its number and the fix), NOMEM.
 */
int as_categories_read(const char *user_file, struct as_categories **out, struct as_error *err);
void as_categories_free(struct as_categories **categories); /* *categories may be NULL */

size_t as_categories_n(const struct as_categories *categories);
const struct as_category *as_category_at(const struct as_categories *categories, size_t i);
/* Returns the index of the category with this name, or -1 if there is none. */
int as_category_find(const struct as_categories *categories, const char *name);

/*
 * Prepares the rules for one module, once for all its functions. `kind` is an as_module_kind.
 * `path` is as recorded, or "" for none; it must outlive `out`.
 */
struct as_category_module {
    const char *path;
    uint32_t path_n, name_at; /* length without " (deleted)"; offset of the file name */
    uint32_t home;            /* category of functions without a symbol rule */
    bool open;                /* symbol rules without a module apply in it */
    bool by_user;             /* the user's file closes the module to all symbol rules */
};
void as_category_module(const struct as_categories *categories, unsigned kind, const char *path,
                        struct as_category_module *out);

/* Returns the category of a function without regard to its callers. `symbol` is the linkage name,
 * "" or NULL if unknown. The suffix "@plt" and suffixes of clones (".part.0", ".cold") are ignored.
 */
unsigned as_category_of_symbol(const struct as_categories *categories,
                               const struct as_category_module *module, const char *symbol);

/* Returns true if a symbol rule applies, and sets *category. The category of the module is not used
 * then. */
bool as_category_by_rule(const struct as_categories *categories,
                         const struct as_category_module *module, const char *symbol,
                         unsigned *category);

/*
 * Returns the category of a frame with the function category `own` and the caller's category
 * `caller`. `caller` is a result of this function; AS_CATEGORY_APPLICATION for the outermost frame.
 */
unsigned as_category_in(const struct as_categories *categories, unsigned own, unsigned caller);

#endif
