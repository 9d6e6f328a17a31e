/* SPDX-License-Identifier: Apache-2.0 */
/* Reads call stacks; see stacks.h. Tables are kept in memory: a run has about ten thousand
 * frames. */
#include "report/stacks.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "report/profile.h"

struct stack_reading {
    struct as_stacks *stacks;
    struct as_rows *rows;
    struct as_str text;
    bool failed; /* no memory */
};

#define PUSH(in, list, ...) ((in)->failed |= as_vec_push(&(in)->stacks->list, __VA_ARGS__) < 0)

/* ---- Texts --------------------------------------------------------------------------------- */

/* Appends a name with escapes, so that it cannot affect terminals or line formats. */
static void append_clean(struct as_str *out, const char *z)
{
    for (size_t n = strlen(z); n;) {
        uint32_t c;
        const int step = as_utf8_next(z, n, &c);
        const size_t skip = (size_t)(step < 0 ? -step : step);

        if (step < 0)
            as_str_appendz(out, AS_UTF8_REPLACEMENT_Z);
        else if (c < 0x20 || (c >= 0x7f && c < 0xa0))
            as_str_appendz(out, " ");
        else
            as_str_append(out, z, skip);
        z += skip;
        n -= skip;
    }
}

static const char *kept_text(struct stack_reading *in)
{
    const char *copy = in->text.failed
                           ? NULL
                           : as_arena_strndup(&in->stacks->arena, as_str_z(&in->text), in->text.n);

    in->failed |= !copy;
    return copy ? copy : "";
}

static const char *text_of_row(struct stack_reading *in, int column)
{
    const char *z = as_rows_text(in->rows, column);

    if (!z || !*z)
        return NULL;
    as_str_clear(&in->text);
    append_clean(&in->text, z);
    return kept_text(in);
}

/* ---- Rows ---------------------------------------------------------------------------------- */

static int64_t integer_or(struct stack_reading *in, int column, int64_t unknown)
{
    return as_rows_kind(in->rows, column) == AS_SQL_CELL_NULL ? unknown
                                                              : as_rows_integer(in->rows, column);
}

/* Returns the index of the object with the id in a column; `none` for NULL or an unknown id. */
static uint32_t place(struct stack_reading *in, int column, const struct as_map_u64 *map,
                      uint32_t none)
{
    const uint32_t at = as_map_u64_get(map, (uint64_t)as_rows_integer(in->rows, column));

    return at == AS_MAP_NONE ? none : at;
}

/* Maps the id in column 0 to the last element of a list. */
static void name_last(struct stack_reading *in, struct as_map_u64 *map, size_t n)
{
    const uint64_t id = (uint64_t)as_rows_integer(in->rows, 0);

    in->failed |= !n || as_map_u64_put(map, id, (uint32_t)(n - 1)) < 0;
}

/* Reads a source line from two columns: file and number. */
static const char *file_and_line(struct stack_reading *in, int column, int64_t *line)
{
    *line = integer_or(in, column + 1, 0);
    return text_of_row(in, column);
}

static void read_stack_run(struct stack_reading *in)
{
    in->stacks->run = (struct as_stack_run){.command = text_of_row(in, 1),
                                            .label = text_of_row(in, 2),
                                            .event = text_of_row(in, 3),
                                            .assay_version = text_of_row(in, 4),
                                            .run_id = integer_or(in, 0, 0),
                                            .start_ns = integer_or(in, 5, 0),
                                            .wall_ns = integer_or(in, 6, 0),
                                            .rate_hz = integer_or(in, 7, 0),
                                            .host_n = integer_or(in, 8, 0)};
}

static const char run_sql[] =
    "SELECT run_id, command, label, event, assay_version, start_ns, wall_ns, rate_hz,"
    " (SELECT count(DISTINCT host_id) FROM process p WHERE p.run_id = run.run_id)"
    " FROM run WHERE run_id = ?1";

static void read_stack_process(struct stack_reading *in)
{
    PUSH(in, process,
         (struct as_stack_process){.name = as_path_last(text_of_row(in, 1)),
                                   .host = text_of_row(in, 2),
                                   .pid = integer_or(in, 3, 0),
                                   .rank = integer_or(in, 4, -1)});
    name_last(in, &in->stacks->process_of, in->stacks->process.n);
}

static const char process_sql[] =
    "SELECT process_id, ifnull(exe, command), name, pid, rank FROM process"
    " LEFT JOIN host USING (host_id) WHERE run_id = ?1 ORDER BY rank IS NULL, rank, process_id";

static void read_stack_thread(struct stack_reading *in)
{
    PUSH(in, thread,
         (struct as_stack_thread){.name = text_of_row(in, 1),
                                  .tid = integer_or(in, 2, 0),
                                  .omp_thread = integer_or(in, 3, -1),
                                  .process = place(in, 4, &in->stacks->process_of, 0)});
    name_last(in, &in->stacks->thread_of, in->stacks->thread.n);
}

static const char thread_sql[] =
    "SELECT thread_id, name, tid, omp_thread, process_id FROM thread JOIN process"
    " USING (process_id) WHERE run_id = ?1 ORDER BY rank IS NULL, rank, process_id, thread_id";

static void read_stack_module(struct stack_reading *in)
{
    const char *kind = as_rows_text(in->rows, 4);

    PUSH(in, module,
         (struct as_stack_module){.path = text_of_row(in, 1),
                                  .name = text_of_row(in, 2),
                                  .build_id = text_of_row(in, 3),
                                  .is_kernel = kind && strcmp(kind, "kernel") == 0});
    name_last(in, &in->stacks->module_of, in->stacks->module.n);
}

static const char module_sql[] =
    "SELECT module_id, path, name, build_id, kind FROM module LEFT JOIN (SELECT object_id, "
    "exclusive_ns FROM object_time WHERE run_id = ?1 AND object_kind = 'module') ON object_id = "
    "module_id"
    " ORDER BY kind = 'executable' DESC, exclusive_ns DESC, module_id";

/* Returns a name for an unknown function, such as "[libx.so]". */
static const char *unknown_name(struct stack_reading *in, const char *module)
{
    if (!module || module[0] == '[')
        return module ? module : "[unknown]";
    as_str_clear(&in->text);
    as_str_appendf(&in->text, "[%s]", module);
    return kept_text(in);
}

static void read_stack_function(struct stack_reading *in)
{
    struct as_stack_function it = {.name = text_of_row(in, 1), .linkage_name = text_of_row(in, 2)};

    it.module = place(in, 3, &in->stacks->module_of, 0);
    it.file = file_and_line(in, 4, &it.line);
    if (!it.name || strcmp(it.name, "[unknown]") == 0)
        it.name = unknown_name(in, in->stacks->module.at[it.module].name);
    if (!it.linkage_name)
        it.linkage_name = it.name;
    PUSH(in, function, it);
    name_last(in, &in->stacks->function_of, in->stacks->function.n);
}

static const char function_sql[] =
    "SELECT function_id, name, linkage_name, module_id, path, number FROM function"
    " LEFT JOIN line USING (line_id) LEFT JOIN source_file USING (source_file_id)"
    " ORDER BY function_id";

static void read_stack_location(struct stack_reading *in)
{
    struct as_stack_location it = {.address = integer_or(in, 1, 0),
                                   .module = place(in, 2, &in->stacks->module_of, 0),
                                   .inlining =
                                       place(in, 3, &in->stacks->inlining_of, AS_STACK_NONE)};

    it.file = file_and_line(in, 4, &it.line);
    PUSH(in, location, it);
    name_last(in, &in->stacks->location_of, in->stacks->location.n);
}

static const char location_sql[] =
    "SELECT location_id, address, module_id, inlining_id, path, number FROM location"
    " LEFT JOIN line USING (line_id) LEFT JOIN source_file USING (source_file_id)"
    " ORDER BY location_id";

static void read_stack_path(struct stack_reading *in)
{
    PUSH(in, path,
         (struct as_stack_path){.id = integer_or(in, 0, 0),
                                .parent_id = integer_or(in, 1, 0),
                                .function = place(in, 2, &in->stacks->function_of, 0),
                                .call_location =
                                    place(in, 3, &in->stacks->location_of, AS_STACK_NONE),
                                .call_site = AS_STACK_NONE});
    name_last(in, &in->stacks->path_of, in->stacks->path.n);
}

static const char path_sql[] =
    "SELECT callpath_id, parent_id, function_id, call_location_id FROM callpath"
    " ORDER BY callpath_id";

static void read_sample(struct stack_reading *in)
{
    PUSH(in, sample,
         (struct as_stack_sample){.thread = place(in, 0, &in->stacks->thread_of, 0),
                                  .path = place(in, 1, &in->stacks->path_of, AS_STACK_NONE),
                                  .location = place(in, 2, &in->stacks->location_of, AS_STACK_NONE),
                                  .n = integer_or(in, 3, 0),
                                  .time_ns = integer_or(in, 4, 0)});
}

static const char sample_sql[] =
    "SELECT thread_id, callpath_id, location_id, n, time_ns FROM sample JOIN thread USING "
    "(thread_id) JOIN process USING (process_id) WHERE run_id = ?1 AND state = ?2"
    " ORDER BY rank IS NULL, rank, process_id, thread_id, callpath_id, location_id";

/* ---- Inlined functions --------------------------------------------------------------------- */

static void read_stack_inlining(struct stack_reading *in)
{
    struct as_stack_inlining it = {.parent_id = integer_or(in, 1, 0),
                                   .function = place(in, 2, &in->stacks->function_of, 0)};

    it.call_file = file_and_line(in, 3, &it.call_line);
    PUSH(in, inlining, it);
    name_last(in, &in->stacks->inlining_of, in->stacks->inlining.n);
}

static const char inlining_sql[] =
    "SELECT inlining_id, parent_id, inlined_id, path, number FROM inlining"
    " LEFT JOIN line ON line_id = call_line_id LEFT JOIN source_file USING (source_file_id)"
    " ORDER BY inlining_id";

/* ---- All of it ----------------------------------------------------------------------------- */

static int each_stack_row(struct as_stacks *stacks, struct as_experiment *experiment,
                          const char *sql, bool blocked, void (*take)(struct stack_reading *),
                          struct as_error *err)
{
    struct stack_reading in = {.stacks = stacks};
    int rc;

    AS_TRY(as_rows_open(experiment, sql, &in.rows, err));
    as_rows_bind_integer(in.rows, 1, stacks->run.run_id);
    as_rows_bind_integer(in.rows, 2, blocked ? AS_SAMPLE_BLOCKED : AS_SAMPLE_RUNNING);
    while ((rc = as_rows_next(in.rows, err)) > 0) {
        take(&in);
        if (in.failed) {
            rc = as_error_nomem(err, "the call stacks");
            break;
        }
    }
    as_rows_close(&in.rows);
    as_str_fini(&in.text);
    return rc;
}

/* Sets the parents of paths. A parent may be read after its child. */
static void link_parents(struct as_stacks *stacks)
{
    as_vec_foreach (&stacks->path, it)
        it->parent = as_map_u64_get(&stacks->path_of, (uint64_t)it->parent_id);
    as_vec_foreach (&stacks->inlining, it)
        it->parent = as_map_u64_get(&stacks->inlining_of, (uint64_t)it->parent_id);
}

static int begin_stacks(struct as_stacks *stacks, struct as_error *err)
{
    struct as_map_u64 *const maps[] = {
        &stacks->module_of, &stacks->function_of, &stacks->process_of, &stacks->thread_of,
        &stacks->path_of,   &stacks->location_of, &stacks->inlining_of};

    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        as_map_u64_init(maps[i]);
    as_arena_init(&stacks->arena);
    if (as_vec_push(&stacks->module, (struct as_stack_module){.name = "[unknown]"}) < 0 ||
        as_vec_push(&stacks->function, (struct as_stack_function){.name = "[unknown]",
                                                                  .linkage_name = "[unknown]"}) < 0)
        return as_error_nomem(err, "the call stacks");
    return 0;
}

int as_stacks_read(struct as_experiment *experiment, int64_t run_id, bool blocked,
                   struct as_stacks *stacks, struct as_error *err)
{
    const struct {
        const char *sql;
        void (*take)(struct stack_reading *);
    } part[] = {
        {run_sql, read_stack_run},           {process_sql, read_stack_process},
        {thread_sql, read_stack_thread},     {module_sql, read_stack_module},
        {function_sql, read_stack_function}, {inlining_sql, read_stack_inlining},
        {location_sql, read_stack_location}, {path_sql, read_stack_path},
        {sample_sql, read_sample},
    };
    int64_t run_n;

    *stacks = (struct as_stacks){0};
    AS_TRY(begin_stacks(stacks, err));
    AS_TRY(as_report_run(experiment, run_id, &stacks->run.run_id, &run_n, err));
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        AS_TRY(each_stack_row(stacks, experiment, part[i].sql, blocked, part[i].take, err));
    link_parents(stacks);
    return 0;
}

void as_stacks_release(struct as_stacks *stacks)
{
    as_vec_fini(&stacks->module);
    as_vec_fini(&stacks->function);
    as_vec_fini(&stacks->process);
    as_vec_fini(&stacks->thread);
    as_vec_fini(&stacks->sample);
    as_vec_fini(&stacks->site);
    as_vec_fini(&stacks->line);
    as_vec_fini(&stacks->path);
    as_vec_fini(&stacks->location);
    as_vec_fini(&stacks->inlining);
    as_map_u64_fini(&stacks->module_of);
    as_map_u64_fini(&stacks->function_of);
    as_map_u64_fini(&stacks->process_of);
    as_map_u64_fini(&stacks->thread_of);
    as_map_u64_fini(&stacks->path_of);
    as_map_u64_fini(&stacks->location_of);
    as_map_u64_fini(&stacks->inlining_of);
    as_index_fini(&stacks->sites);
    as_arena_fini(&stacks->arena);
}

/* ---- Sites --------------------------------------------------------------------------------- */

/* Adds a line. A function without a known file gets the file of its lines. */
static int add_stack_line(struct as_stacks *stacks, uint32_t function, const char *file,
                          int64_t line, struct as_error *err)
{
    assert(function < stacks->function.n);
    struct as_stack_function *it = &stacks->function.at[function];
    struct as_stack_line row = {.function = function};

    if (!it->file)
        it->file = file;
    if (file && strcmp(file, it->file) == 0)
        row.line = line;
    return as_vec_push(&stacks->line, row) < 0 ? as_error_nomem(err, "the call stacks") : 0;
}

/* Reverses the lines, which are found from the inside out. */
static void reverse(struct as_stack_line *line, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        const struct as_stack_line first = line[i];

        line[i] = line[n - 1 - i];
        line[n - 1 - i] = first;
    }
}

static int add_lines(struct as_stacks *stacks, uint32_t function,
                     const struct as_stack_location *location, struct as_error *err)
{
    const size_t first = stacks->line.n;
    const char *file = location ? location->file : NULL;
    int64_t line = location ? location->line : 0;
    uint32_t at = location ? location->inlining : AS_STACK_NONE;

    for (size_t guard = 0; at != AS_STACK_NONE; guard++) {
        const struct as_stack_inlining *it = &stacks->inlining.at[at];

        if (guard > stacks->inlining.n)
            return as_error_set(err, AS_ERR_CORRUPT,
                                "inlined functions stand in a circle; the experiment is damaged");
        AS_TRY(add_stack_line(stacks, it->function, file, line, err));
        file = it->call_file;
        line = it->call_line;
        at = it->parent;
    }
    AS_TRY(add_stack_line(stacks, function, file, line, err));
    reverse(&stacks->line.at[first], stacks->line.n - first);
    return 0;
}

/* Finds or adds the site of a function and a location (or AS_STACK_NONE). Its outermost line is
 * that of the function. */
static int site_of(struct as_stacks *stacks, uint32_t function, uint32_t location, uint32_t *out,
                   struct as_error *err)
{
    const struct as_stack_location *at =
        location == AS_STACK_NONE ? NULL : &stacks->location.at[location];
    const uint64_t hash = as_hash_mix(as_hash_mix(2, function), location);
    struct as_stack_site site = {.address = at ? at->address : 0,
                                 .module = at ? at->module : stacks->function.at[function].module,
                                 .location = location,
                                 .line = (uint32_t)stacks->line.n};

    for (struct as_probe probe = as_index_probe(&stacks->sites, hash);
         (*out = as_index_next(&stacks->sites, &probe)) != AS_INDEX_NONE;) {
        const struct as_stack_site *it = &stacks->site.at[*out];

        if (it->location == location && stacks->line.at[it->line].function == function)
            return 0;
    }
    AS_TRY(add_lines(stacks, function, at, err));
    site.line_n = (uint32_t)stacks->line.n - site.line;
    *out = (uint32_t)stacks->site.n;
    if (as_vec_push(&stacks->site, site) < 0 || as_index_add(&stacks->sites, hash, *out) < 0)
        return as_error_nomem(err, "the call stacks");
    return 0;
}

int as_stacks_walk(struct as_stacks *stacks, const struct as_stack_sample *sample,
                   as_stack_list *sites, struct as_error *err)
{
    uint32_t at = sample->path, site = AS_STACK_NONE;

    sites->n = 0;
    while (at != AS_STACK_NONE) {
        struct as_stack_path *path = &stacks->path.at[at];
        const uint32_t parent = path->parent;

        if (sites->n > stacks->path.n)
            return as_error_set(err, AS_ERR_CORRUPT,
                                "call path %lld leads back to itself; the experiment is damaged",
                                (long long)path->id);
        if (site == AS_STACK_NONE)
            AS_TRY(site_of(stacks, path->function, sample->location, &site, err));
        if (as_vec_push(sites, site) < 0)
            return as_error_nomem(err, "a call stack");
        if (parent != AS_STACK_NONE && path->call_site == AS_STACK_NONE)
            AS_TRY(site_of(stacks, stacks->path.at[parent].function, path->call_location,
                           &path->call_site, err));
        site = path->call_site;
        at = parent;
    }
    return 0;
}
