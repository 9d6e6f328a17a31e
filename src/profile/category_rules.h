/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of categories in memory. category_read.c writes them, category.c reads them. Both
 * tables of rules are sorted by strength, so the first matching rule applies.
 */
#ifndef AS_PROFILE_CATEGORY_RULES_H
#define AS_PROFILE_CATEGORY_RULES_H

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "profile/category.h"

#define AS_CATEGORY_NONE UINT32_MAX

struct as_category_rule {
    struct as_view glob;
    struct as_view limit; /* symbol rule: glob of its module; empty = all modules */
    uint32_t category;
    uint32_t order;    /* position in the file; the earlier of two equal rules applies */
    uint32_t next;     /* symbol rule: next rule of its chain, or AS_CATEGORY_NONE */
    uint32_t literals; /* bytes of the glob that are not wildcards */
    bool user;         /* from the user's file */
    bool plain;        /* the glob has no wildcards */
    bool place;        /* module rule: the glob matches the path, not the file name */
    bool open;         /* module rule: symbol rules without a module apply in it */
};

/* A file of data/categories/ that is built into the program. */
struct as_category_data {
    const char *name;
    const char *text;
    size_t n;
};
extern const struct as_category_data as_category_data[];
extern const size_t as_category_data_n;

struct as_categories {
    struct as_arena arena; /* all texts */
    AS_VEC(struct as_category) category;
    AS_VEC(struct as_category_rule) symbol;
    AS_VEC(struct as_category_rule) module;
    struct as_map_view plain; /* from a name to the first rule of its chain */
    uint32_t glob[256];       /* by first byte of the pattern: first rule of its chain */
    uint32_t any;             /* chain of patterns that begin with a wildcard */
    uint32_t readable;        /* number of rules for source names */
    uint16_t *in;             /* [own * n + caller]: result of as_category_in */
    bool *free;               /* [category]: part of the application, so never absorbed */
};

/* Returns true if the rule is for a source name ("solver::step"), not for a linkage name. */
bool as_category_readable(const struct as_category_rule *rule);

/* Sorts all rules, the strongest first, and builds the chains. Errors: NOMEM. */
int as_categories_order(struct as_categories *c, struct as_error *err);

#endif
