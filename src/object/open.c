/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens and closes an object, in steps. Each step fills its tables in the arena. If a step fails,
 * everything is released.
 */
#include <string.h>

#include "base/alloc.h"
#include "object/dwarf_side.h"
#include "object/internal.h"

/* Copies the options to the arena, because those of the caller may end with the call. */
static int copy_options(struct as_object *object, const struct as_object_options *options)
{
    static const struct as_object_options none;
    if (!options)
        options = &none;
    const char *dirs = options->debug_dirs ? options->debug_dirs : "/usr/lib/debug";
    object->options.debug_dirs = as_arena_strndup(&object->arena, dirs, strlen(dirs));
    struct as_source_map *map =
        as_arena_array(&object->arena, struct as_source_map, options->source_map_n + 1);
    if (!object->options.debug_dirs || !map)
        return AS_ERR_NOMEM;
    for (size_t i = 0; i < options->source_map_n; i++) {
        const struct as_source_map *from = &options->source_map[i];
        map[i].from = as_arena_strndup(&object->arena, from->from, strlen(from->from));
        map[i].to = as_arena_strndup(&object->arena, from->to, strlen(from->to));
        if (!map[i].from || !map[i].to)
            return AS_ERR_NOMEM;
    }
    object->options.source_map = map;
    object->options.source_map_n = options->source_map_n;
    return 0;
}

static int load_tables(struct as_object *object, struct as_error *err)
{
    struct as_object_info *info = &object->info;
    info->path = object->file.path;
    info->size_b = object->file.size_b;
    info->inode = object->file.inode;
    info->mtime_ns = object->file.mtime_ns;
    info->entry = object->file.ehdr.e_entry;
    info->build_id_b = as_file_build_id(&object->file, info->build_id, sizeof info->build_id);
    AS_TRY(as_object_load_sections(object, err));
    if (object->file.ehdr.e_type == ET_REL)
        as_object_relocate(object);
    AS_TRY(as_object_load_dynamic(object, err));
    AS_TRY(as_object_load_debug(object, err));
    AS_TRY(as_object_load_symbols(object, err));
    return as_object_load_unwind(object, err);
}

/* Opens the file at `path`; or, unless NULL, the file in `bytes`, with `path` as its name. */
static int open_object(const char *path, const void *bytes, size_t size_b,
                       const struct as_object_options *options, struct as_object **out,
                       struct as_error *err)
{
    *out = NULL;
    struct as_object *object = as_calloc(1, sizeof *object);
    if (!object)
        return as_error_nomem(err, path);
    as_arena_init(&object->arena);
    int rc = copy_options(object, options);
    if (rc < 0)
        as_error_nomem(err, path);
    else if (bytes)
        rc = as_file_open_memory(&object->arena, bytes, size_b, path, AS_FILE_MAIN, &object->file,
                                 err);
    else
        rc = as_file_open(&object->arena, path, AS_FILE_MAIN, &object->file, err);
    if (rc == 0)
        rc = load_tables(object, err);
    if (rc < 0)
        as_object_close(&object);
    *out = object;
    return rc;
}

int as_object_open(const char *path, const struct as_object_options *options,
                   struct as_object **out, struct as_error *err)
{
    return open_object(path, NULL, 0, options, out, err);
}

int as_object_open_memory(const void *bytes, size_t size_b, const char *name,
                          const struct as_object_options *options, struct as_object **out,
                          struct as_error *err)
{
    return open_object(name, bytes ? bytes : "", bytes ? size_b : 0, options, out, err);
}

void as_object_close(struct as_object **object)
{
    struct as_object *o = *object;
    if (!o)
        return;
    as_dwarf_close(&o->dwarf);
    as_file_close(&o->debug_file);
    as_file_close(&o->file);
    as_unwind_rows_free(&o->rows);
    as_free(o->function);
    as_arena_fini(&o->arena);
    as_free(o);
    *object = NULL;
}

const struct as_object_info *as_object_info(const struct as_object *object)
{
    return &object->info;
}
