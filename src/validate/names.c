/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the names of the suite's loops in its sources, and reports a selection without loops. */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "validate/suite.h"

bool as_suite_name_next(const struct as_suite_source *source, const char **at, struct as_view *name)
{
    static const char *const before[] = {"LOOP(", "subroutine "};
    for (*at = *at ? *at : source->text; (*at = strchr(*at, '\n'));) {
        ++*at;
        for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
            const size_t skipped = strlen(before[i]);
            if (strncmp(*at, before[i], skipped) != 0)
                continue;
            /* NAME_N: N is the number of its arrays */
            *name = (struct as_view){*at + skipped, strcspn(*at + skipped, ",(") - 2};
            return true;
        }
    }
    return false;
}

int as_suite_refuse(const struct as_suite *suite, struct as_error *err)
{
    enum { LISTED_B = 640 };
    struct as_str names = {0}, builds = {0};
    size_t left = 0;
    for (const struct as_suite_source *source = as_suite_sources; source->file; source++) {
        struct as_view name;
        for (const char *at = NULL; as_suite_name_next(source, &at, &name);)
            if (names.n + name.n < LISTED_B)
                as_str_appendf(&names, "%s%.*s", names.n ? ", " : "", (int)name.n, name.p);
            else
                left++;
    }
    for (size_t i = 0; i < suite->library_n; i++)
        as_str_appendf(&builds, "%s%s %s", i ? ", " : "", suite->library[i].compiler,
                       suite->library[i].build->name);
    const int rc =
        as_error_set(err, AS_ERR_USAGE,
                     "the suite: no such loop; use NAME COMPILER BUILD, with %s, and %s and %zu "
                     "more",
                     as_str_z(&builds), as_str_z(&names), left);
    as_str_fini(&names);
    as_str_fini(&builds);
    return rc;
}
