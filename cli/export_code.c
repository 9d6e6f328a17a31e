/* SPDX-License-Identifier: Apache-2.0 */
#include "export_code.h"

#include <stdlib.h>
#include <string.h>

#include "analytics/store/facts.h"
#include "base/alloc.h"
#include "base/error.h"
#include "report/queries.h"

static char *copy_of_text(const char *text)
{
    const size_t n = strlen(text ? text : "") + 1;
    char *copy = as_malloc(n);
    if (copy)
        memcpy(copy, text ? text : "", n);
    return copy;
}

static int add_code_place(void *context, struct as_rows *row, struct as_error *err)
{
    struct as_export_code *code = context;
    const struct as_export_place place = {.address = (uint64_t)as_rows_integer(row, 0),
                                          .path = copy_of_text(as_rows_text(row, 1)),
                                          .name = copy_of_text(as_rows_text(row, 2)),
                                          .file = copy_of_text(as_rows_text(row, 3)),
                                          .line = (uint32_t)as_rows_integer(row, 4)};
    if (place.path && place.name && place.file && as_vec_push(&code->place, place) == 0)
        return 0;
    as_free(place.path);
    as_free(place.name);
    as_free(place.file);
    return as_error_nomem(err, "functions of a trace");
}

static const char *last_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The loader knows the name by which it found the file (libmpi.so.40). The kernel knows the
 * target of the link (libmpi.so.40.30.4). */
static bool is_one_file(const char *a, const char *b)
{
    const char *x = last_of(a), *y = last_of(b);
    const size_t n = strlen(x), m = strlen(y);
    return strncmp(x, y, n < m ? n : m) == 0;
}

static const struct as_export_place *
place_at(const struct as_export_code *code, const struct as_trace_module *module, uint64_t in_file)
{
    size_t low = 0, high = code->place.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (code->place.at[middle].address < in_file)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < code->place.n && code->place.at[low].address == in_file; low++)
        if (is_one_file(code->place.at[low].path, module->path))
            return &code->place.at[low];
    return NULL;
}

/* ---- Code ------------------------------------------------------------------------------------ */

/* Returns NULL for an unknown module, or when out of memory. */
static struct as_catalogue_module *code_of(struct as_export_code *code, const char *path)
{
    struct as_export_module added = {.path = path};
    as_vec_foreach (&code->module, known)
        if (known->path == path || strcmp(known->path, path) == 0)
            return known->code;
    if (!code->catalogue && as_catalogue_new(code->experiment, NULL, &code->catalogue, NULL) < 0)
        return NULL;
    const struct as_trace_code_source from = {code->experiment, code->catalogue, code->trace};
    if (as_trace_code_open(&from, path, &added.code, NULL) < 0)
        added.code = NULL;
    if (as_vec_push(&code->module, added) == 0)
        return added.code;
    as_catalogue_close(code->catalogue, &added.code);
    return NULL;
}

static const char *own_name(struct as_export_code *code, const char *name)
{
    char *copy = copy_of_text(name);
    if (copy && as_vec_push(&code->owned, copy) == 0)
        return copy;
    as_free(copy);
    return NULL;
}

static const char *function_at(void *context, const struct as_trace_module *module,
                               uint64_t in_file)
{
    char readable[4096];
    struct as_catalogue_place place;
    struct as_catalogue_function function;
    const struct as_export_place *sampled = place_at(context, module, in_file);
    if (sampled)
        return sampled->name;
    const struct as_catalogue_module *code = code_of(context, module->path);
    if (!code)
        return NULL;
    as_catalogue_find(code, in_file, &place);
    if (place.function == AS_NONE)
        return NULL;
    const struct as_inline *inlined = as_catalogue_inlined(code, place.inlined);
    as_catalogue_function_get(code, place.function, &function);
    as_demangle(inlined && inlined->name ? inlined->name : function.linkage_name, readable,
                sizeof readable);
    return own_name(context, readable);
}

static bool line_at(void *context, const struct as_trace_module *module, uint64_t in_file,
                    const char **file, uint32_t *line)
{
    struct as_catalogue_place place;
    const struct as_export_place *sampled = place_at(context, module, in_file);
    if (sampled) {
        *file = sampled->file;
        *line = sampled->line;
        return *sampled->file && sampled->line;
    }
    const struct as_catalogue_module *code = code_of(context, module->path);
    if (!code)
        return false;
    as_catalogue_find(code, in_file, &place);
    *line = place.line;
    if (!place.line || place.file >= code->debug.file_n)
        return false;
    *file = code->debug.file[place.file];
    return true;
}

int as_export_code_read(struct as_experiment *experiment, const struct as_trace *trace,
                        struct as_export_code *out, struct as_error *err)
{
    *out = (struct as_export_code){
        .experiment = experiment, .trace = trace, .code = {out, function_at, line_at}};
    return as_query_each(experiment, AS_QUERY_CODE_PLACES, 0, add_code_place, out, err);
}

void as_export_code_fini(struct as_export_code *code)
{
    as_vec_foreach (&code->place, place) {
        as_free(place->path);
        as_free(place->name);
        as_free(place->file);
    }
    as_vec_foreach (&code->module, module)
        as_catalogue_close(code->catalogue, &module->code);
    as_catalogue_free(&code->catalogue);
    as_vec_foreach (&code->owned, name)
        as_free(*name);
    as_vec_fini(&code->place);
    as_vec_fini(&code->module);
    as_vec_fini(&code->owned);
}
