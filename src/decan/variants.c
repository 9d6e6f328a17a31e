/* SPDX-License-Identifier: Apache-2.0 */
/* Names of variants and columns. */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "decan/internal.h"
#include "decan/metrics.h"
#include "decan/variants.h"
#include "patch/variant.h"

const struct as_metric *as_decan_column(size_t number)
{
    return AS_TAKE_COLUMNS + number < as_decan_metric_n
               ? &as_decan_metric[AS_TAKE_COLUMNS + number].metric
               : NULL;
}

/* AS_VARIANT_REC only records the stores, so its number is skipped. */
const char *as_decan_variant(unsigned number, const char **title)
{
    const unsigned kind = number >= AS_VARIANT_REC ? number + 1 : number;
    if (kind >= AS_VARIANT_KINDS)
        return NULL;
    *title = as_variant_rules[kind].title;
    return as_variant_rules[kind].name;
}

static int kind_of(struct as_view word)
{
    for (unsigned kind = 0; kind < AS_VARIANT_KINDS; kind++)
        if (kind != AS_VARIANT_REC && as_view_equal(word, as_view_of(as_variant_name(kind))))
            return (int)kind;
    return -1;
}

static int unknown_variant(struct as_view word, struct as_error *err)
{
    struct as_str text = {0};
    const char *name, *title;
    for (unsigned i = 0; (name = as_decan_variant(i, &title)); i++)
        as_str_appendf(&text, "%s%s", i ? ", " : "", name);
    const int rc =
        as_error_set(err, AS_ERR_USAGE, "--variants: invalid value '%.*s'; use some of %s",
                     (int)word.n, word.p, as_str_z(&text));
    as_str_fini(&text);
    return rc;
}

int as_variants_parse(const char *list, uint32_t *kinds, struct as_error *err)
{
    struct as_view rest = as_view_of(list ? list : ""), word;
    *kinds = list ? 1u << AS_VARIANT_ORIG | 1u << AS_VARIANT_REC | 1u << AS_VARIANT_REF
                  : AS_VARIANTS_USUAL;
    while (list && as_view_split(&rest, ',', &word)) {
        const int kind = kind_of(word);
        if (kind < 0)
            return unknown_variant(word, err);
        *kinds |= 1u << kind;
    }
    return 0;
}

int as_decan_check_variants(const char *list, struct as_error *err)
{
    uint32_t kinds;
    return as_variants_parse(list, &kinds, err);
}
