/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_places.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "report/queries.h"

static int store_place_text(void *context, struct assay_rows *row, struct assay_error *err)
{
    struct as_trace_place_list *list = context;
    const int64_t at = assay_rows_integer(row, 0);
    const char *file = assay_rows_text(row, 2);
    struct as_str text = {0};
    if (at < 0 || (uint64_t)at >= list->text.n)
        return 0;
    as_str_appendz(&text, assay_rows_text(row, 1));
    if (file)
        as_str_appendf(&text, ", %s:%lld", file, (long long)assay_rows_integer(row, 3));
    if (!text.failed)
        list->text.at[at] = as_malloc(text.n + 1);
    const int rc = list->text.at[at] ? 0 : as_error_nomem(err, "places of calls");
    if (rc == 0)
        memcpy(list->text.at[at], as_str_z(&text), text.n + 1);
    as_str_fini(&text);
    return rc;
}

int as_trace_place_list_read(struct assay_experiment *experiment, int64_t run_id,
                             const struct as_analysis *analysis, struct as_trace_place_list *out,
                             struct assay_error *err)
{
    *out = (struct as_trace_place_list){.analysis = analysis};
    for (size_t i = 0; i < analysis->site.n; i++)
        if (as_vec_push(&out->text, NULL) < 0)
            return as_error_nomem(err, "places of calls");
    return as_query_each(experiment, AS_QUERY_TRACE_PLACES, run_id, store_place_text, out, err);
}

void as_trace_place_list_fini(struct as_trace_place_list *list)
{
    as_vec_foreach (&list->text, text)
        as_free(*text);
    as_vec_fini(&list->text);
}

const char *as_trace_place_text(void *list, const struct as_site *site)
{
    const struct as_trace_place_list *it = list;
    const size_t at = (size_t)(site - it->analysis->site.at);
    return at < it->text.n ? it->text.at[at] : NULL;
}
