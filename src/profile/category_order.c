/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts the rules of categories by strength, which is the order of matching. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "profile/category_rules.h"

static int stronger(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;
}

static int by_strength_symbol(const void *x, const void *y)
{
    const struct as_category_rule *a = x, *b = y;
    int d = stronger(a->user, b->user);
    d = d ? d : stronger(a->plain, b->plain);
    d = d ? d : stronger(a->limit.n > 0, b->limit.n > 0);
    d = d ? d : stronger(a->literals, b->literals);
    return d ? d : stronger(b->order, a->order);
}

static int by_strength_module(const void *x, const void *y)
{
    const struct as_category_rule *a = x, *b = y;
    int d = stronger(a->user, b->user);
    d = d ? d : stronger(b->place, a->place);
    d = d ? d : stronger(a->plain, b->plain);
    d = d ? d : stronger(a->literals, b->literals);
    return d ? d : stronger(b->order, a->order);
}

/* Builds the chains from the weakest rule on, so that each chain begins with its strongest rule. */
static int chain_symbols(struct as_categories *c, struct as_error *err)
{
    memset(c->glob, 0xff, sizeof c->glob);
    c->any = AS_CATEGORY_NONE;
    for (size_t i = c->symbol.n; i-- > 0;) {
        struct as_category_rule *rule = &c->symbol.at[i];
        uint32_t *head =
            strchr("*?[", rule->glob.p[0]) ? &c->any : &c->glob[(unsigned char)rule->glob.p[0]];
        if (!rule->plain) {
            rule->next = *head;
            *head = (uint32_t)i;
            continue;
        }
        rule->next = as_map_view_get(&c->plain, rule->glob);
        if (as_map_view_put(&c->plain, rule->glob, (uint32_t)i) < 0)
            return as_error_nomem(err, "the categories");
    }
    return 0;
}

int as_categories_order(struct as_categories *c, struct as_error *err)
{
    qsort(c->symbol.at, c->symbol.n, sizeof *c->symbol.at, by_strength_symbol);
    qsort(c->module.at, c->module.n, sizeof *c->module.at, by_strength_module);
    return chain_symbols(c, err);
}
