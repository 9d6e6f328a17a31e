/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of categories in memory. Reading (category_read.c) fills them; asking (category.c) only
 * looks. Both tables of rules are in order of strength: of those that match, the first holds.
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
    struct as_view limit; /* of a symbol: glob of its module; n = 0: none */
    uint32_t category;
    uint32_t order;    /* of reading: between equals the earlier holds */
    uint32_t next;     /* of a symbol: in the chain of those that may match alike, or NONE */
    uint32_t literals; /* bytes of the glob that stand for themselves */
    bool user;
    bool plain; /* the glob is one name */
    bool place; /* of a module: the glob is one of paths */
    bool open;  /* of a module: rules by symbol alone apply */
};

/* One file of data/categories/, kept in the program. */
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
    struct as_map_view plain; /* name: first rule of its chain */
    uint32_t glob[256];       /* first byte of the pattern: first rule of its chain */
    uint32_t any;             /* chain of patterns that begin with none */
    uint32_t readable;        /* how many rules there are for names as in the source */
    uint16_t *in;             /* [own * n + caller]: category of such a frame */
    bool *free;               /* [category]: is or is part of the application, never absorbed */
};

/* A name as in the source ("solver::step"), not as linked. */
bool as_category_readable(const struct as_category_rule *rule);

/* Sorts all rules, the strongest first, and makes the chains. Errors: NOMEM. */
int as_categories_order(struct as_categories *c, struct assay_error *err);

#endif
