/* SPDX-License-Identifier: Apache-2.0 */
/* Finds views by name; the tables are generated. */
#include "report/views.h"

#include <assert.h>
#include <string.h>

const struct as_report_view *as_report_view(const char *name)
{
    for (size_t i = 0; name && i < as_report_view_n; i++)
        if (strcmp(as_report_views[i].name, name) == 0)
            return &as_report_views[i];
    return NULL;
}

const char *as_column_kind_word(enum as_column_kind kind)
{
    static const char *const word[] = {
        [AS_COLUMN_UNKNOWN] = "number",  [AS_COLUMN_NUMBER] = "number",
        [AS_COLUMN_INTEGER] = "integer", [AS_COLUMN_SHARE] = "share",
        [AS_COLUMN_TEXT] = "text",       [AS_COLUMN_CODE] = "code",
        [AS_COLUMN_FLAG] = "flag",       [AS_COLUMN_ADDRESS] = "address",
        [AS_COLUMN_ID] = "id",
    };
    _Static_assert(sizeof word / sizeof *word == AS_COLUMN_ID + 1,
                   "an entry for each of the enumeration");

    assert((unsigned)kind < sizeof word / sizeof *word);
    return word[kind];
}
