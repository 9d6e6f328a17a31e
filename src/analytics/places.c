/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and lines of calls, by the code of the modules that they lie in. */
#include <string.h>

#include "analytics/facts.h"
#include "base/error.h"

/* Its row; 0: no run has met it. */
static int find_module(const struct as_trace_facts *f, const char *path, int64_t *id,
                       struct assay_error *err)
{
    struct assay_rows *rows;
    *id = 0;
    AS_TRY(assay_rows_open(f->experiment,
                           "SELECT module_id FROM module WHERE path = ?1"
                           " ORDER BY module_id DESC LIMIT 1",
                           &rows, err));
    assay_rows_bind_text(rows, 1, path);
    const int rc = assay_rows_next(rows, err);
    if (rc > 0)
        *id = assay_rows_integer(rows, 0);
    assay_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* What an address is in the code is asked of the instruction before: it is one to return to, but
 * for parallel regions, which are named by their function. */
static uint64_t address_of_call(const struct as_site *site)
{
    return site->in_file - (site->group == AS_TRACE_OF_OPENMP ? 0 : 1);
}

static int place_sites(struct as_trace_facts *f, struct assay_catalogue_module *code,
                       const char *path, struct assay_error *err)
{
    const struct as_analysis *a = &f->traced->analysis;
    for (size_t i = 0; i < a->site.n; i++) {
        const struct as_site *site = &a->site.at[i];
        struct assay_catalogue_place place;
        if (!site->module || strcmp(site->module, path) != 0)
            continue;
        assay_catalogue_find(code, address_of_call(site), &place);
        if (place.function != ASSAY_NONE)
            AS_TRY(assay_catalogue_row_function(code, place.function, &f->function_id[i], err));
        if (place.line)
            AS_TRY(assay_catalogue_row_line(code, place.file, place.line, &f->line_id[i], err));
    }
    return 0;
}

static int place_module(struct as_trace_facts *f, const char *path, struct assay_error *err)
{
    struct assay_catalogue_module *code = NULL;
    int64_t id;
    AS_TRY(find_module(f, path, &id, err));
    if (!id)
        return 0;
    int rc = assay_catalogue_open_row(f->catalogue, id, 0, ASSAY_CATALOGUE_LISTED, &code, err);
    if (rc == 0)
        rc = place_sites(f, code, path, err);
    assay_catalogue_close(f->catalogue, &code);
    return rc;
}

int as_trace_places(struct as_trace_facts *f, struct assay_error *err)
{
    const struct as_analysis *a = &f->traced->analysis;
    int rc = assay_catalogue_new(f->experiment, NULL, &f->catalogue, err);
    for (size_t i = 0; rc == 0 && i < a->site.n; i++) {
        bool is_done = !a->site.at[i].module;
        for (size_t k = 0; k < i && !is_done; k++)
            is_done =
                a->site.at[k].module && strcmp(a->site.at[k].module, a->site.at[i].module) == 0;
        if (!is_done)
            rc = place_module(f, a->site.at[i].module, err);
    }
    assay_catalogue_free(&f->catalogue);
    return rc;
}
