/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: files that are mapped for execution, told apart by path and identity (build-id, else
 * device and inode). A file is looked for where its process sees it (/proc/PID/root), then here; a
 * deleted one through /proc/PID/map_files. The vdso is read from this process: all have the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "sample/recorder.h"

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

/* A file that has lost its name can be had only now, while the process maps it. */
static int hold_nameless(const struct assay_sample_record *map)
{
    char path[4096 + 64];
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/root%.4096s", map->pid, map->text);
    if (access(path, F_OK) == 0 || access(map->text, F_OK) == 0)
        return -1;
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

/* A file without a name is gone with its process: `fact.kept` names our copy. */
static int hold(struct as_modules *modules, struct as_module *module,
                const struct assay_sample_record *map)
{
    char name[64];
    module->fd = hold_nameless(map);
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
    if (fact.kind == ASSAY_MODULE_FILE)
        AS_TRY(hold(modules, &modules->module.at[*out], map));
    return as_map_view_put(&modules->by_key, view, *out);
}

static struct assay_object *open_vdso(void)
{
    const uint8_t *at = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
    char line[256];
    uint64_t start, end = 0;
    struct assay_object *object = NULL;
    FILE *f = at ? fopen("/proc/self/maps", "re") : NULL;
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 &&
            start == (uint64_t)(uintptr_t)at) {
            assay_object_open_memory(at, (size_t)(end - start), "[vdso]", NULL, &object, NULL);
            break;
        }
    }
    if (f)
        fclose(f);
    return object;
}

/* Opens `path`; a file of another build-id than the one that ran is none. */
static struct assay_object *try_path(const struct as_module *module, const char *path)
{
    struct assay_object *object;
    if (assay_object_open(path, NULL, &object, NULL) < 0)
        return NULL;
    const struct assay_object_info *info = assay_object_info(object);
    if (module->fact.build_id_b && info->build_id_b &&
        (info->build_id_b < module->fact.build_id_b ||
         memcmp(info->build_id, module->fact.build_id, module->fact.build_id_b) != 0))
        assay_object_close(&object);
    return object;
}

static struct assay_object *open_file(const struct as_module *module)
{
    char path[4096 + 64];
    struct assay_object *object = NULL;
    if (module->fd >= 0) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", module->fd);
        object = try_path(module, path);
    }
    if (!object) {
        snprintf(path, sizeof path, "/proc/%" PRIu32 "/root%s", module->pid, module->fact.path);
        object = try_path(module, path);
    }
    return object ? object : try_path(module, module->fact.path);
}

struct assay_object *as_module_object(struct as_modules *modules, uint32_t index)
{
    struct as_module *module = &modules->module.at[index];
    if (!module->tried) {
        module->tried = true;
        if (module->fact.kind == ASSAY_MODULE_VDSO)
            module->object = open_vdso();
        else if (module->fact.kind == ASSAY_MODULE_FILE)
            module->object = open_file(module);
    }
    return module->object;
}

bool as_module_address(const struct assay_object *object, uint64_t offset, uint64_t *address)
{
    const struct assay_segment *segment;
    size_t n = assay_object_segments(object, &segment);
    for (size_t i = 0; i < n; i++) {
        if (segment[i].type != 1 /* PT_LOAD */ || offset < segment[i].offset ||
            offset - segment[i].offset >= segment[i].file_b)
            continue;
        *address = segment[i].address + (offset - segment[i].offset);
        return true;
    }
    return false;
}
