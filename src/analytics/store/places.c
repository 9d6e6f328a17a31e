/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and lines of calls, by the code of the modules that they lie in. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analytics/store/facts.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "base/untrusted_open.h"

/* Finds the row of a module; 0: the experiment has none. */
static int find_module(struct as_experiment *experiment, const char *path, int64_t *id,
                       struct as_error *err)
{
    struct as_rows *rows;
    *id = 0;
    AS_TRY(as_rows_open(experiment,
                        "SELECT module_id FROM module WHERE path = ?1"
                        " ORDER BY module_id DESC LIMIT 1",
                        &rows, err));
    as_rows_bind_text(rows, 1, path);
    const int rc = as_rows_next(rows, err);
    if (rc > 0)
        *id = as_rows_integer(rows, 0);
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* When the run began: what was changed later is another file. */
static int64_t begin_real_ns(const struct as_trace *trace)
{
    int64_t begin_ns = INT64_MAX;
    as_vec_foreach (&trace->process, process)
        as_vec_foreach (&process->thread, stream) {
            const struct as_trace_stream_facts *s = as_trace_stream_facts(*stream);
            const int64_t ns = s->begin_raw_ns - s->shift_ns + s->real_less_raw_ns;
            begin_ns = ns < begin_ns ? ns : begin_ns;
        }
    return begin_ns;
}

/* Opens a module without samples, so without a row: uses the file at its path if the file is older
 * than the trace. */
static int open_unmet(const struct as_trace_code_source *from, const char *path,
                      struct as_catalogue_module **code, struct as_error *err)
{
    struct as_catalogue_request request = {.file = {.path = path, .kind = AS_MODULE_FILE},
                                           .depth = AS_CATALOGUE_LISTED};
    struct stat status;
    const int fd = as_foreign_open(AT_FDCWD, path, 0, &status);
    const bool is_there = fd >= 0 && as_file_identify(fd, &request.file.file) &&
                          as_timespec_ns(status.st_mtim) < begin_real_ns(from->trace);
    if (fd >= 0)
        close(fd);
    return is_there ? as_catalogue_open(from->catalogue, &request, code, err) : 0;
}

/* The loader says the path by which it found the file, the kernel that without links (/lib on
 * merged systems); the kernel's is in the row. */
int as_trace_code_open(const struct as_trace_code_source *from, const char *path,
                       struct as_catalogue_module **code, struct as_error *err)
{
    int64_t id;
    *code = NULL;
    AS_TRY(find_module(from->experiment, path, &id, err));
    char *real = id ? NULL : realpath(path, NULL);
    int rc = real ? find_module(from->experiment, real, &id, err) : 0;
    if (rc == 0 && id)
        rc = as_catalogue_open_row(from->catalogue, id, 0, AS_CATALOGUE_LISTED, code, err);
    else if (rc == 0 && real)
        rc = open_unmet(from, real, code, err);
    free(real);
    return rc;
}

/* Returns the address to resolve for a call site. A return address, also of a parallel region, is
 * resolved by the instruction before it. A function of the program is resolved by its entry. */
static uint64_t address_of_call(const struct as_site *site)
{
    if (site->is_function)
        return site->in_file;
    return site->in_file ? site->in_file - 1 : 0;
}

static int place_address(struct as_catalogue_module *code, uint64_t address, int64_t *function_id,
                         int64_t *line_id, struct as_error *err)
{
    struct as_catalogue_place place;
    as_catalogue_find(code, address, &place);
    if (place.function != AS_NONE) {
        AS_TRY(as_catalogue_row_function(code, place.function, function_id, err));
        AS_TRY(as_catalogue_row_inlined(code, place.inlined, function_id, err));
    }
    return place.line ? as_catalogue_row_line(code, place.file, place.line, line_id, err) : 0;
}

static bool is_in(const char *module, const char *path)
{
    return module && strcmp(module, path) == 0;
}

static int place_sites(struct as_trace_facts *f, struct as_catalogue_module *code, const char *path,
                       struct as_error *err)
{
    const struct as_analysis *a = &f->traced->analysis;
    const struct as_sampled *sampled = &f->traced->sampled;
    for (size_t i = 0; i < a->site.n; i++)
        if (is_in(a->site.at[i].module, path))
            AS_TRY(place_address(code, address_of_call(&a->site.at[i]), &f->function_id[i],
                                 &f->line_id[i], err));
    for (size_t i = 0; i < sampled->place.n; i++)
        if (is_in(sampled->place.at[i].module, path))
            AS_TRY(place_address(code,
                                 sampled->place.at[i].in_file - sampled->place.at[i].is_caller,
                                 &f->sampled_function_id[i], &f->sampled_line_id[i], err));
    return 0;
}

static int place_module(struct as_trace_facts *f, const char *path, struct as_error *err)
{
    const struct as_trace_code_source from = {f->experiment, f->catalogue, &f->traced->trace};
    struct as_catalogue_module *code;
    int rc = as_trace_code_open(&from, path, &code, err);
    if (rc == 0 && code)
        rc = place_sites(f, code, path, err);
    as_catalogue_close(f->catalogue, &code);
    return rc;
}

/* A place of an imported trace: its names are all that is known. */
static int place_named(const struct as_trace_facts *f, const struct as_trace_place *place,
                       int64_t *function_id, int64_t *line_id, struct as_error *err)
{
    const char *code = *place->code ? place->code : "[unknown]";
    const struct as_row_module module = {.path = code,
                                         .name = as_path_last(code),
                                         .kind = strstr(code, ".so") ? "shared" : "executable"};
    struct as_row_function function = {.name = *place->function ? place->function : "[unknown]",
                                       .linkage_name = *place->linkage ? place->linkage : NULL};
    AS_TRY(as_experiment_add_module(f->experiment, &module, &function.module_id, err));
    AS_TRY(as_experiment_add_function(f->experiment, &function, function_id, err));
    if (!place->line || !*place->file)
        return 0;
    const struct as_row_source_file file = {.path = place->file};
    struct as_row_line line = {.number = place->line};
    AS_TRY(as_experiment_add_source_file(f->experiment, &file, &line.source_file_id, err));
    return as_experiment_add_line(f->experiment, &line, line_id, err);
}

static int place_all_named(const struct as_trace_facts *f, struct as_error *err)
{
    const struct as_analysis *a = &f->traced->analysis;
    const struct as_sampled *sampled = &f->traced->sampled;
    for (size_t i = 0; i < a->site.n; i++)
        if (a->site.at[i].place)
            AS_TRY(place_named(f, a->site.at[i].place, &f->function_id[i], &f->line_id[i], err));
    for (size_t i = 0; i < sampled->place.n; i++)
        if (sampled->place.at[i].place)
            AS_TRY(place_named(f, sampled->place.at[i].place, &f->sampled_function_id[i],
                               &f->sampled_line_id[i], err));
    return 0;
}

/* Returns the module of call site `i`; indices behind the sites are places of samples. */
static const char *module_at(const struct as_trace_facts *f, size_t i)
{
    const struct as_analysis *a = &f->traced->analysis;
    return i < a->site.n ? a->site.at[i].module : f->traced->sampled.place.at[i - a->site.n].module;
}

int as_trace_places(struct as_trace_facts *f, struct as_error *err)
{
    const size_t n = f->traced->analysis.site.n + f->traced->sampled.place.n;
    AS_VEC(const char *) done = {0};
    int rc = as_catalogue_new(f->experiment, NULL, &f->catalogue, err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const char *module = module_at(f, i);
        bool is_done = !module;
        for (size_t k = 0; k < done.n && !is_done; k++)
            is_done = strcmp(done.at[k], module) == 0;
        if (is_done)
            continue;
        rc = as_vec_push(&done, module) < 0 ? as_error_nomem(err, "files of a trace")
                                            : place_module(f, module, err);
    }
    as_vec_fini(&done);
    as_catalogue_free(&f->catalogue);
    return rc < 0 ? rc : place_all_named(f, err);
}
