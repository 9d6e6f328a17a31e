/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: files that are mapped for execution, identified by path and file identity (build-id, or
 * inode, size and time of change). module_file.c opens the files.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample/recorder.h"
#include "sample/sampler.h"

static int add_module(struct as_modules *modules, const struct as_stream_module *fact, uint32_t pid)
{
    struct as_module module = {.fact = *fact, .fd = -1, .pid = pid};
    module.fact.path = as_arena_strndup(&modules->arena, fact->path, strlen(fact->path));
    return module.fact.path ? as_vec_push(&modules->module, module) : AS_ERR_NOMEM;
}

int as_modules_init(struct as_modules *modules)
{
    static const struct as_stream_module known[] = {
        {.path = "", .kind = AS_MODULE_UNKNOWN},
        {.path = "[kernel]", .kind = AS_MODULE_KERNEL},
        {.path = "//anon", .kind = AS_MODULE_ANON},
    };
    memset(modules, 0, sizeof *modules);
    as_arena_init(&modules->arena);
    as_map_view_init(&modules->by_key);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        AS_TRY(add_module(modules, &known[i], 0));
    return 0;
}

void as_modules_fini(struct as_modules *modules)
{
    as_vec_foreach (&modules->module, module) {
        as_object_close(&module->object);
        if (module->fd >= 0)
            close(module->fd);
    }
    as_vec_fini(&modules->module);
    as_map_view_fini(&modules->by_key);
    as_arena_fini(&modules->arena);
}

/* Returns true for memory without a file: executable heaps and stacks, generated code. */
static bool is_anonymous(const char *path)
{
    return path[0] != '/' || strncmp(path, "//anon", 6) == 0 ||
           strncmp(path, "/dev/zero", 9) == 0 || strncmp(path, "/anon_hugepage", 14) == 0 ||
           strncmp(path, "/SYSV", 5) == 0;
}

static int index_of(const struct as_modules *modules, const char *key, uint32_t *out)
{
    *out = as_map_view_get(&modules->by_key, as_view_of(key));
    return *out != AS_MAP_NONE;
}

static int store_module_index(struct as_modules *modules, const char *key, uint32_t index)
{
    const size_t n = strlen(key);
    const struct as_view view = {.p = as_arena_strndup(&modules->arena, key, n), .n = n};
    return view.p ? as_map_view_put(&modules->by_key, view, index) : AS_ERR_NOMEM;
}

#define KEY_B (4096 + 192)

/* Makes the key of a mapping from all fields of its record. */
static void mapping_key(const struct as_sample_record *map, char *key)
{
    size_t n = (size_t)snprintf(key, KEY_B, "%x.%x:%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%" PRIx64,
                                map->device_major, map->device_minor, map->inode, map->generation,
                                map->file_b, (uint64_t)map->mtime_ns);
    key[n++] = ':';
    n += as_hex_encode(key + n, map->build_id, map->build_id_b);
    snprintf(key + n, KEY_B - n, ":%.4096s", map->text);
}

/* Makes the key of a file from its identity. Returns false if the file has no identity. */
static bool file_key(const struct as_stream_module *fact, char *key)
{
    const struct as_file_identity *file = &fact->file;
    size_t n = (size_t)snprintf(key, KEY_B, "=");
    if (file->build_id_b == 0 && file->known != AS_FILE_SEEN)
        return false;
    if (file->build_id_b)
        n += as_hex_encode(key + n, file->build_id, file->build_id_b);
    else
        n += (size_t)snprintf(key + n, KEY_B - n, "%" PRIx64 ".%" PRIx64 ".%" PRIx64, file->inode,
                              file->size_b, (uint64_t)file->mtime_ns);
    snprintf(key + n, KEY_B - n, ":%.4096s", fact->path);
    return true;
}

/* Finds the module of an open file. Its inode stays reserved, even if no path leads to it. */
static bool is_open_file(const struct as_modules *modules, const struct as_sample_record *map,
                         uint32_t *out)
{
    for (uint32_t i = 0; i < modules->module.n; i++) {
        const struct as_module *module = &modules->module.at[i];
        if (module->fd >= 0 && module->fact.file.inode == map->inode &&
            strcmp(module->fact.path, map->text) == 0 && as_mapped_is(map, module->fd)) {
            *out = i;
            return true;
        }
    }
    return false;
}

/* Sets the file of a known module. A file that was missing at first, but has the same build-id, is
 * found here. */
static void set_module_file(struct as_modules *modules, uint32_t index,
                            const struct as_sample_record *map, const struct as_file_identity *file,
                            int fd, bool nameless)
{
    struct as_module *module = &modules->module.at[index];
    if (fd < 0)
        return;
    if (module->fd >= 0) {
        close(fd);
        return;
    }
    if (module->fact.file.known == AS_FILE_UNSEEN) {
        module->fact.file = *file;
        module->pid = map->pid;
        module->nameless = nameless;
        module->tried = module->object != NULL;
    }
    as_module_file_take(modules, index, fd);
}

/* Finds or adds the module of a new mapping; another mapping may have the same file. `*out` comes
 * in as the module without a file so far, or AS_MAP_NONE. */
static int settle_mapping(struct as_modules *modules, const struct as_sample_record *map,
                          uint32_t *out)
{
    struct as_stream_module fact = {
        .path = map->text,
        .device = (uint64_t)map->device_major << 32 | map->device_minor,
        .file = {.inode = map->inode, .build_id_b = map->build_id_b},
        .kind = strcmp(map->text, "[vdso]") == 0 ? AS_MODULE_VDSO : AS_MODULE_FILE,
    };
    char key[KEY_B];
    bool nameless = false;
    int fd = -1;
    memcpy(fact.file.build_id, map->build_id, sizeof fact.file.build_id);
    if (fact.kind == AS_MODULE_FILE) {
        if (is_open_file(modules, map, out))
            return 0;
        fd = modules->imported ? as_mapped_recorded(modules, map, &fact.file)
                               : as_mapped_open(map, &fact.file, &nameless);
    }
    if (fd < 0 && *out != AS_MAP_NONE)
        return 0;
    const bool has_key = file_key(&fact, key);
    if (has_key && index_of(modules, key, out)) {
        set_module_file(modules, *out, map, &fact.file, fd, nameless);
        return 0;
    }
    *out = (uint32_t)modules->module.n;
    int rc = add_module(modules, &fact, map->pid);
    if (rc < 0) {
        if (fd >= 0)
            close(fd);
        return rc;
    }
    modules->module.at[*out].nameless = nameless;
    if (fd >= 0)
        as_module_file_take(modules, *out, fd);
    return has_key ? store_module_index(modules, key, *out) : 0;
}

/* Removes the mark of the kernel for a deleted file. The module is known by the earlier path. */
static void restore_name(struct as_sample_record *map, char *room, size_t room_b)
{
    static const char mark[] = " (deleted)";
    struct stat st;
    const size_t n = strlen(map->text), mark_n = sizeof mark - 1;
    if (n <= mark_n || n >= room_b || strcmp(map->text + n - mark_n, mark) != 0 ||
        stat(map->text, &st) == 0)
        return;
    snprintf(room, room_b, "%.*s", (int)(n - mark_n), map->text);
    map->text = room;
}

/* Returns true if the first process did not give access to the file. Another process may. */
static bool is_unseen(const struct as_modules *modules, uint32_t index)
{
    const struct as_stream_module *fact = &modules->module.at[index].fact;
    return fact->kind == AS_MODULE_FILE && fact->file.known == AS_FILE_UNSEEN && !modules->imported;
}

int as_modules_of(struct as_modules *modules, const struct as_sample_record *map, uint32_t *out)
{
    char key[KEY_B], name[4096];
    struct as_sample_record known = *map;
    if (strcmp(map->text, "[vdso]") != 0 && is_anonymous(map->text)) {
        *out = AS_MODULE_ID_ANON;
        return 0;
    }
    restore_name(&known, name, sizeof name);
    mapping_key(&known, key);
    if (index_of(modules, key, out) && !is_unseen(modules, *out))
        return 0;
    AS_TRY(settle_mapping(modules, &known, out));
    return store_module_index(modules, key, *out);
}

int as_modules_python(struct as_modules *modules, const char *path, uint32_t *out)
{
    const struct as_stream_module fact = {.path = path, .kind = AS_MODULE_PYTHON};
    char key[KEY_B];
    snprintf(key, sizeof key, "python:%.4096s", path);
    if (index_of(modules, key, out))
        return 0;
    *out = (uint32_t)modules->module.n;
    AS_TRY(add_module(modules, &fact, 0));
    return store_module_index(modules, key, *out);
}

static void open_module_object(struct as_module *module)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", module->fd);
    if (module->fd >= 0)
        as_object_open_same(path, &module->fact.file, NULL, &module->object, NULL);
}

/* Tries the path first: debug information is found from there. */
struct as_object *as_module_object(struct as_modules *modules, uint32_t index)
{
    struct as_module *module = &modules->module.at[index];
    char root[64];
    if (!module->tried) {
        module->tried = true;
        if (module->nameless)
            open_module_object(module);
        snprintf(root, sizeof root, "/proc/%" PRIu32 "/root", module->pid);
        if (!module->object)
            as_sample_module_open(&module->fact, modules->imported ? NULL : root, NULL, NULL,
                                  &module->object, NULL);
        if (!module->object)
            open_module_object(module);
    }
    return module->object;
}
