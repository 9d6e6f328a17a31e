/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the file of a module again: a kept copy, the path as its process saw it, or the plain path.
 * The file must be the one that ran.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "sample/recorder.h"

/* All processes have the same vdso, so this process can use its own. */
static struct as_object *open_vdso(struct as_error *err)
{
    const uint8_t *at = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
    char line[256];
    uint64_t start, end;
    struct as_object *object = NULL;
    FILE *f = at ? fopen("/proc/self/maps", "re") : NULL;
    while (f && fgets(line, sizeof line, f)) {
        char *dash;
        start = strtoull(line, &dash, 16);
        if (*dash == '-' && start == (uint64_t)(uintptr_t)at) {
            end = strtoull(dash + 1, NULL, 16);
            as_object_open_memory(at, (size_t)(end - start), "[vdso]", NULL, &object, err);
            break;
        }
    }
    if (f)
        fclose(f);
    return object;
}

/* Opens a kept copy. It is another file than the one that ran, but assay alone wrote it. */
static int open_kept(const struct as_stream_module *module, const char *path,
                     const struct as_object_options *options, struct as_object **out,
                     struct as_error *err)
{
    if (module->file.build_id_b)
        return as_object_open_same(path, &module->file, options, out, err);
    return as_object_open(path, options, out, err);
}

int as_sample_module_open(const struct as_stream_module *module, const char *root,
                          const char *directory, const struct as_object_options *options,
                          struct as_object **out, struct as_error *err)
{
    char path[2 * 4096 + 64];
    struct as_error why = {0};
    *out = NULL;
    if (module->kind == AS_MODULE_VDSO) {
        *out = open_vdso(&why);
    } else if (module->kind == AS_MODULE_FILE) {
        if (module->kept && directory) {
            snprintf(path, sizeof path, "%.4096s/%.4096s", directory, module->kept);
            open_kept(module, path, options, out, &why);
        }
        if (!*out && root) {
            snprintf(path, sizeof path, "%.4096s%.4096s", root, module->path);
            as_object_open_same(path, &module->file, options, out, &why);
        }
        if (!*out)
            as_object_open_same(module->path, &module->file, options, out, &why);
    }
    if (*out)
        return 0;
    if (why.code) {
        if (err)
            *err = why;
        return why.code;
    }
    return as_error_set(err, AS_ERR_NOT_FOUND, "%s: is not a file; it cannot be opened",
                        module->path);
}
