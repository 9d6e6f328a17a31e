/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the row of a module, and opens a module by the id of its row. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "catalogue/internal.h"

/* ---- Module to row ------------------------------------------------------------------------- */

static const char *kind_word(const struct as_catalogue_entry *entry)
{
    switch (entry->module.kind) {
    case AS_MODULE_VDSO:
        return "vdso";
    case AS_MODULE_KERNEL:
        return "kernel";
    case AS_MODULE_ANON:
        return entry->name.n ? "jit" : "anonymous";
    case AS_MODULE_PYTHON:
        return "python";
    case AS_MODULE_UNKNOWN:
        return "anonymous";
    default:
        break;
    }
    if (!entry->module.object)
        return strstr(entry->module.path, ".so") ? "shared" : "executable";
    const enum as_object_type type = as_object_info(entry->module.object)->type;
    return type == AS_OBJECT_EXECUTABLE || type == AS_OBJECT_PIE ? "executable" : "shared";
}

static int add_row(struct as_catalogue_entry *entry, struct as_error *err)
{
    const struct as_stream_module *from = &entry->request.file;
    const struct as_file_identity *file = &from->file;
    char id[2 * sizeof file->build_id + 1], path[4096 + 64], kept[4096 + 64];
    struct as_row_module row = {.path = from->path, .kind = kind_word(entry)};
    as_hex_encode(id, file->build_id, file->build_id_b);
    row.build_id = file->build_id_b ? id : NULL;
    if (from->kind == AS_MODULE_UNKNOWN)
        row.path = "[unknown]";
    if (from->kind == AS_MODULE_ANON) {
        snprintf(path, sizeof path, "[generated code of process %" PRIu32 "]", entry->request.pid);
        row.path = path;
    }
    row.name = as_path_last(row.path);
    if (entry->module.object) {
        const struct as_object_info *info = as_object_info(entry->module.object);
        row.size_b = as_known((int64_t)info->size_b);
        row.has_debug =
            as_known(info->debug == AS_DEBUG_EMBEDDED || info->debug == AS_DEBUG_SEPARATE);
        if (!row.build_id && info->build_id_b && info->build_id_b <= sizeof file->build_id) {
            as_hex_encode(id, info->build_id, info->build_id_b);
            row.build_id = id;
        }
    }
    if (!row.build_id && file->known == AS_FILE_SEEN) {
        row.inode = as_known((int64_t)file->inode);
        row.mtime_ns = as_known(file->mtime_ns);
        row.size_b = as_known((int64_t)file->size_b);
    }
    if (from->kept && entry->request.directory) {
        snprintf(kept, sizeof kept, "%s/%s", as_path_last(entry->request.directory), from->kept);
        row.kept_path = kept;
    }
    return as_experiment_add_module(entry->catalogue->experiment, &row, &entry->module_id, err);
}

static bool is_id_good(const struct as_catalogue_entry *entry)
{
    return entry->module_id &&
           (entry->is_by_row ||
            entry->rollbacks == as_experiment_rollbacks(entry->catalogue->experiment));
}

int as_catalogue_row(struct as_catalogue_module *module, int64_t *id, struct as_error *err)
{
    struct as_catalogue_entry *entry = as_entry_of(module);
    *id = 0;
    if (!is_id_good(entry)) {
        AS_TRY(add_row(entry, err));
        entry->rollbacks = as_experiment_rollbacks(entry->catalogue->experiment);
    }
    *id = entry->module_id;
    return 0;
}

/* ---- Row to module ------------------------------------------------------------------------- */

static uint8_t kind_of_word(const char *word)
{
    if (strcmp(word, "executable") == 0 || strcmp(word, "shared") == 0)
        return AS_MODULE_FILE;
    if (strcmp(word, "vdso") == 0)
        return AS_MODULE_VDSO;
    if (strcmp(word, "kernel") == 0)
        return AS_MODULE_KERNEL;
    if (strcmp(word, "python") == 0)
        return AS_MODULE_PYTHON;
    return strcmp(word, "jit") == 0 ? AS_MODULE_ANON : AS_MODULE_UNKNOWN;
}

/* Parses a build id of two hexadecimal digits per byte; stops at the first other character. */
static void bytes_of(const char *hex, struct as_file_identity *file)
{
    char pair[3] = "", *end;
    while (file->build_id_b < sizeof file->build_id && hex[0] && hex[1]) {
        memcpy(pair, hex, 2);
        const unsigned long byte = strtoul(pair, &end, 16);
        if (end != pair + 2)
            break;
        file->build_id[file->build_id_b++] = (uint8_t)byte;
        hex += 2;
    }
}

/* Turns the row of a module into a request; its strings live in `arena`. Errors: NOMEM. */
static int request_of(struct as_arena *arena, struct as_experiment *experiment,
                      struct as_rows *rows, struct as_catalogue_request *out)
{
    const char *path = as_rows_stored_text(rows, 0), *build_id = as_rows_text(rows, 1);
    const char *kind = as_rows_text(rows, 2), *kept = as_rows_stored_text(rows, 3);
    out->file.path = as_arena_strndup(arena, path ? path : "", path ? strlen(path) : 0);
    out->file.kind = kind_of_word(kind ? kind : "");
    struct as_file_identity *file = &out->file.file;
    bytes_of(build_id ? build_id : "", file);
    file->inode = (uint64_t)as_rows_integer(rows, 4);
    file->mtime_ns = as_rows_integer(rows, 5);
    file->size_b = (uint64_t)as_rows_integer(rows, 6);
    file->known = file->inode ? AS_FILE_SEEN : AS_FILE_UNSEEN;
    const char *slash = kept ? strchr(kept, '/') : NULL;
    if (slash) {
        struct as_str directory = {0};
        as_str_appendf(&directory, "%s/%.*s", as_experiment_path(experiment), (int)(slash - kept),
                       kept);
        out->directory =
            directory.failed ? NULL : as_arena_strndup(arena, directory.p, directory.n);
        out->file.kept = as_arena_strndup(arena, slash + 1, strlen(slash + 1));
        as_str_fini(&directory);
    }
    return out->file.path && (!slash || (out->directory && out->file.kept)) ? 0 : AS_ERR_NOMEM;
}

static int read_row(struct as_arena *arena, struct as_experiment *experiment, int64_t module_id,
                    struct as_catalogue_request *out, struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_rows_open(experiment,
                        "SELECT path, build_id, kind, kept_path, inode, mtime_ns, size_b"
                        " FROM module WHERE module_id = ?1",
                        &rows, err));
    as_rows_bind_integer(rows, 1, module_id);
    int rc = as_rows_next(rows, err);
    if (rc == 0)
        rc = as_error_set(err, AS_ERR_NOT_FOUND, "%s: has no module %" PRId64,
                          as_experiment_path(experiment), module_id);
    else if (rc > 0)
        rc = request_of(arena, experiment, rows, out) < 0 ? as_error_nomem(err, "a module") : 0;
    as_rows_close(&rows);
    return rc;
}

/* Copies the request of the entry with this row id; false if there is none. It knows more than
 * the row: Python functions, for example. */
static bool find_request(struct as_catalogue *c, int64_t module_id,
                         struct as_catalogue_request *out)
{
    bool found = false;
    pthread_mutex_lock(&c->lock);
    as_vec_foreach (&c->entry, it) {
        if ((*it)->module_id != module_id || !is_id_good(*it))
            continue;
        *out = (*it)->request;
        found = true;
        break;
    }
    pthread_mutex_unlock(&c->lock);
    return found;
}

int as_catalogue_open_row(struct as_catalogue *catalogue, int64_t module_id, double share,
                          enum as_catalogue_depth depth, struct as_catalogue_module **out,
                          struct as_error *err)
{
    struct as_catalogue_request request = {0};
    struct as_arena arena;
    int rc = 0;
    *out = NULL;
    as_arena_init(&arena);
    const bool is_known = find_request(catalogue, module_id, &request);
    if (!is_known)
        rc = read_row(&arena, catalogue->experiment, module_id, &request, err);
    request.share = share;
    request.depth = depth;
    if (rc == 0)
        rc = as_catalogue_open(catalogue, &request, out, err);
    as_arena_fini(&arena);
    if (rc == 0 && !is_known) {
        as_entry_of(*out)->module_id = module_id;
        as_entry_of(*out)->is_by_row = true;
    }
    return rc;
}
