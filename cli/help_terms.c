/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 'assay --help metrics' and 'assay --help findings': the meaning of every metric and of every rule
 * of findings, as doc/reference/metrics.md and rules.md have them.
 */
#include <fnmatch.h>
#include <string.h>

#include "base/nearest.h"
#include "help.h"

static const struct as_help_term *const terms_of[AS_TOPICS] = {
    [AS_TOPIC_METRICS] = as_help_metrics, [AS_TOPIC_FINDINGS] = as_help_findings};

const char *as_help_near_term(enum as_topic topic, const char *name)
{
    struct as_nearest nearest;

    as_nearest_init(&nearest, name, strlen(name));
    for (const struct as_help_term *it = terms_of[topic]; it->name; it++)
        as_nearest_offer(&nearest, it->name);
    return nearest.best;
}

size_t as_help_of_terms(struct as_str *out, enum as_topic topic, const char *pattern,
                        unsigned width)
{
    const char *part = "";
    size_t n = 0;

    for (const struct as_help_term *it = terms_of[topic]; it->name; it++) {
        struct as_str name = {0};

        if (pattern && fnmatch(pattern, it->name, 0) != 0)
            continue;
        if (strcmp(part, it->part) != 0)
            as_str_appendf(out, "%s%s:\n", n ? "\n" : "", it->part);
        part = it->part;
        as_str_appendf(&name, *it->mark ? "%s [%s]" : "%s", it->name, it->mark);
        as_help_entry(out, as_str_z(&name), it->meaning, width);
        as_str_fini(&name);
        n++;
    }
    return n;
}
