/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Categories of time: what kind of code a function is (MPI, mathematics, the application, ...), by
 * rules that stand in data files: data/categories/, and a user's own. doc/categories.md explains
 * the format and which rule wins.
 */
#ifndef AS_PROFILE_CATEGORY_H
#define AS_PROFILE_CATEGORY_H

#include <stdbool.h>
#include <stddef.h>

#include <assay/error.h>

struct as_categories; /* the rules, read */

struct as_category {
    const char *name; /* snake_case */
    const char *title, *meaning;
    int parent;   /* index of another one, or -1 */
    bool absorbs; /* what it calls, and yields, is of it */
    bool yields;
};

/* Reads the built-in rules after those of `user_file` (NULL: none). Errors: NOT_FOUND, PERMISSION,
 * IO, USAGE (FILE:LINE: what is wrong), NOMEM. */
int as_categories_read(const char *user_file, struct as_categories **out, struct assay_error *err);
void as_categories_free(struct as_categories **categories); /* NULL inside is fine */

size_t as_categories_n(const struct as_categories *categories);
const struct as_category *as_category_at(const struct as_categories *categories, size_t index);

/* Index of the category `name`, which must be a built-in one. */
unsigned as_category_named(const struct as_categories *categories, const char *name);

/*
 * The category of a function by itself. `kind`: assay_module_kind; `path`: of the module;
 * `symbol`: its linkage name, "" when unknown.
 */
unsigned as_category_of(const struct as_categories *categories, unsigned kind, const char *path,
                        const char *symbol);

/* The category of time in a frame whose own is `own`, called by a frame of category `caller`. */
unsigned as_category_in(const struct as_categories *categories, unsigned own, unsigned caller);

#endif
