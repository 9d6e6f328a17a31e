/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 'assay --help metrics': name, unit and meaning of every metric, as doc/reference/metrics.md has
 * them.
 */
#include <fnmatch.h>
#include <string.h>

#include "base/nearest.h"
#include "help.h"

const char *as_help_near_metric(const char *name)
{
    struct as_nearest nearest;

    as_nearest_init(&nearest, name, strlen(name));
    for (const struct as_help_metric *it = as_help_metrics; it->name; it++)
        as_nearest_offer(&nearest, it->name);
    return nearest.best;
}

size_t as_help_of_metrics(struct as_str *out, const char *pattern, unsigned width)
{
    const char *part = "";
    size_t n = 0;

    for (const struct as_help_metric *it = as_help_metrics; it->name; it++) {
        struct as_str name = {0};

        if (pattern && fnmatch(pattern, it->name, 0) != 0)
            continue;
        if (strcmp(part, it->part) != 0)
            as_str_appendf(out, "%s%s:\n", n ? "\n" : "", it->part);
        part = it->part;
        as_str_appendf(&name, "%s [%s]", it->name, it->unit);
        as_help_entry(out, as_str_z(&name), it->meaning, width);
        as_str_fini(&name);
        n++;
    }
    return n;
}
