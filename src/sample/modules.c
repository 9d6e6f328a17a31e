/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: files that are mapped for execution, told apart by path and identity (build-id, else
 * device and inode). A file is looked for where its process sees it (/proc/PID/root), then here; a
 * deleted one through /proc/PID/map_files.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample/recorder.h"
#include "sample/sampler.h"

static int add(struct as_modules *modules, const struct assay_stream_module *fact, uint32_t pid)
{
    struct as_module module = {.fact = *fact, .fd = -1, .pid = pid};
    module.fact.path = as_arena_strndup(&modules->arena, fact->path, strlen(fact->path));
    return module.fact.path ? as_vec_push(&modules->module, module) : ASSAY_ERR_NOMEM;
}

int as_modules_init(struct as_modules *modules)
{
    static const struct assay_stream_module known[] = {
        {.path = "", .kind = ASSAY_MODULE_UNKNOWN},
        {.path = "[kernel]", .kind = ASSAY_MODULE_KERNEL},
        {.path = "//anon", .kind = ASSAY_MODULE_ANON},
    };
    memset(modules, 0, sizeof *modules);
    as_arena_init(&modules->arena);
    as_map_view_init(&modules->by_key);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        AS_TRY(add(modules, &known[i], 0));
    return 0;
}

void as_modules_fini(struct as_modules *modules)
{
    as_vec_foreach (&modules->module, module) {
        assay_object_close(&module->object);
        if (module->fd >= 0)
            close(module->fd);
    }
    as_vec_fini(&modules->module);
    as_map_view_fini(&modules->by_key);
    as_arena_fini(&modules->arena);
}

/* Memory without a file: heaps and stacks made executable, generated code. */
static bool is_anonymous(const char *path)
{
    return path[0] != '/' || strncmp(path, "//anon", 6) == 0 ||
           strncmp(path, "/dev/zero", 9) == 0 || strncmp(path, "/anon_hugepage", 14) == 0 ||
           strncmp(path, "/SYSV", 5) == 0;
}

/* The inode of a mapping; 0: not to be had. With a build-id the kernel's record does not say it. */
static uint64_t inode_of(const struct assay_sample_record *map)
{
    char path[64], line[4096 + 128];
    uint64_t inode = map->inode;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/maps", map->pid);
    FILE *f = inode ? NULL : fopen(path, "re");
    while (f && !inode && fgets(line, sizeof line, f)) {
        struct assay_sample_record record = {0};
        if (as_sample_map_line(line, &record) && map->address >= record.address &&
            map->address < record.address + record.size_b)
            inode = record.inode;
    }
    if (f)
        fclose(f);
    return inode;
}

/* Whether the file at `path` is the one that was mapped. Devices are not compared: file systems of
 * several parts (btrfs, overlays) tell others to stat than to maps. */
static bool is_mapped(const struct as_module *module, const struct assay_sample_record *map,
                      const char *path, uint64_t inode)
{
    const uint64_t mapped = inode_of(map);
    if (mapped == 0 || mapped == inode)
        return true;
    if (map->build_id_b == 0)
        return false;
    struct assay_object *same = as_open_same(&module->fact, path, NULL, NULL);
    const bool is = same && assay_object_info(same)->build_id_b > 0;
    assay_object_close(&same);
    return is;
}

/* A file that its path does not lead to here (deleted, replaced, in a container) can be had only
 * now, while the process maps it. -1: the path will do, or nothing can be had. */
static int hold_hidden(const struct as_module *module, const struct assay_sample_record *map)
{
    char path[4096 + 64];
    struct stat seen, here;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/root%.4096s", map->pid, map->text);
    if (stat(path, &seen) == 0 && is_mapped(module, map, path, seen.st_ino)) {
        if (stat(map->text, &here) == 0 && here.st_dev == seen.st_dev && here.st_ino == seen.st_ino)
            return -1;
        return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    }
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, map->pid,
             map->address, map->address + map->size_b);
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* Copies what `fd` holds to a file `name` in the directory for it. */
static bool copy_to(const char *directory, const char *name, int fd)
{
    char path[4096 + 64];
    off_t at = 0;
    ssize_t n = 1;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (to < 0)
        return false;
    while (n > 0)
        n = sendfile(to, fd, &at, 16u << 20);
    if (close(to) < 0 || n < 0) {
        unlink(path);
        return false;
    }
    return true;
}

/* Such a file is gone with its process: `fact.kept` names our copy. */
static int hold(struct as_modules *modules, struct as_module *module,
                const struct assay_sample_record *map)
{
    char name[64];
    module->fd = hold_hidden(module, map);
    if (module->fd < 0 || !modules->keep)
        return 0;
    snprintf(name, sizeof name, "module-%zu", modules->module.n - 1);
    if (!copy_to(modules->keep, name, module->fd))
        return 0;
    module->fact.kept = as_arena_strndup(&modules->arena, name, strlen(name));
    return module->fact.kept ? 0 : ASSAY_ERR_NOMEM;
}

int as_modules_of(struct as_modules *modules, const struct assay_sample_record *map, uint32_t *out)
{
    char key[4096 + 128];
    struct assay_stream_module fact = {
        .path = map->text,
        .device = (uint64_t)map->device_major << 32 | map->device_minor,
        .inode = map->inode,
        .build_id_b = map->build_id_b,
        .kind = ASSAY_MODULE_FILE,
    };
    memcpy(fact.build_id, map->build_id, sizeof fact.build_id);
    if (strcmp(map->text, "[vdso]") == 0) {
        fact.kind = ASSAY_MODULE_VDSO;
    } else if (is_anonymous(map->text)) {
        *out = AS_MODULE_ANON;
        return 0;
    }
    int n = snprintf(key, sizeof key, "%" PRIx64 ":%" PRIx64 ":", fact.device, fact.inode);
    for (unsigned i = 0; i < fact.build_id_b; i++)
        n += snprintf(key + n, sizeof key - (size_t)n, "%02x", fact.build_id[i]);
    n += snprintf(key + n, sizeof key - (size_t)n, ":%.4096s", map->text);
    struct as_view view = {.p = key, .n = (size_t)n};
    *out = as_map_view_get(&modules->by_key, view);
    if (*out != AS_MAP_NONE)
        return 0;
    view.p = as_arena_strndup(&modules->arena, key, view.n);
    *out = (uint32_t)modules->module.n;
    if (!view.p)
        return ASSAY_ERR_NOMEM;
    AS_TRY(add(modules, &fact, map->pid));
    if (fact.kind == ASSAY_MODULE_FILE && !modules->imported)
        AS_TRY(hold(modules, &modules->module.at[*out], map));
    return as_map_view_put(&modules->by_key, view, *out);
}

struct assay_object *as_module_object(struct as_modules *modules, uint32_t index)
{
    struct as_module *module = &modules->module.at[index];
    char root[64];
    if (!module->tried) {
        module->tried = true;
        if (module->fd >= 0) {
            snprintf(root, sizeof root, "/proc/self/fd/%d", module->fd);
            module->object = as_open_same(&module->fact, root, NULL, NULL);
        }
        snprintf(root, sizeof root, "/proc/%" PRIu32 "/root", module->pid);
        if (!module->object)
            assay_sample_module_open(&module->fact, modules->imported ? NULL : root, NULL, NULL,
                                     &module->object, NULL);
    }
    return module->object;
}
