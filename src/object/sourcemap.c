/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source paths: replacement of prefixes, and the table of all files of an object. The table has one
 * entry for all spellings of a path. Paths are normalised as text, because the sources may be on
 * another machine.
 */
#include "base/fnv.h"
#include "object/dwarf_internal.h"

const char *as_source_map_apply(const struct as_object_options *options, const char *path,
                                char *buf, size_t buf_b)
{
    size_t n = options && options->source_map ? options->source_map_n : 0;
    for (size_t i = 0; i < n; i++) {
        const char *from = options->source_map[i].from, *to = options->source_map[i].to;
        size_t from_n = strlen(from), to_n = strlen(to);
        while (from_n > 1 && from[from_n - 1] == '/')
            from_n--;
        while (to_n > 1 && to[to_n - 1] == '/')
            to_n--;
        if (from_n == 0 || strncmp(path, from, from_n) != 0)
            continue;
        const char *rest = path + from_n;
        bool is_root = from_n == 1 && from[0] == '/';
        if (*rest && *rest != '/' && !is_root)
            continue; /* "/src" does not match "/srcs/a.c" */
        while (*rest == '/')
            rest++;
        const char *slash = !*rest || to_n == 0 || to[to_n - 1] == '/' ? "" : "/";
        size_t rest_n = strlen(rest), slash_n = strlen(slash);
        if (to_n + slash_n + rest_n + 1 > buf_b)
            return NULL;
        memcpy(buf, to, to_n);
        memcpy(buf + to_n, slash, slash_n);
        memcpy(buf + to_n + slash_n, rest, rest_n + 1);
        return buf;
    }
    return path;
}

/* ---- Normalising -------------------------------------------------------------------------- */

/* Appends the components of `path` to buf[0, n) and resolves "." and "..". Returns the new length.
 * `buf` must have space for all of `path` and a slash. */
static size_t append_path(char *buf, size_t n, const char *path)
{
    if (*path == '/')
        n = 0;
    bool absolute = *path == '/' || (n && buf[0] == '/');
    if (*path == '/')
        buf[n++] = '/';
    while (*path) {
        size_t part = strcspn(path, "/");
        bool up = part == 2 && path[0] == '.' && path[1] == '.';
        size_t last = n;
        while (last && buf[last - 1] != '/')
            last--;
        bool last_is_up = n - last == 2 && buf[last] == '.' && buf[last + 1] == '.';
        if (part == 0 || (part == 1 && path[0] == '.')) {
            /* nothing to add */
        } else if (up && n > last && !last_is_up) {
            n = last > 1 ? last - 1 : last;
        } else if (up && absolute) {
            /* the parent of the root is the root */
        } else {
            if (n && buf[n - 1] != '/')
                buf[n++] = '/';
            memcpy(buf + n, path, part);
            n += part;
        }
        path += part;
        while (*path == '/')
            path++;
    }
    return n;
}

static bool make_room(struct as_dw_files *files, size_t want_b)
{
    if (want_b <= files->buf_b)
        return true;
    char *bigger = as_realloc(files->buf, want_b * 2, 1);
    if (!bigger)
        return false;
    files->buf = bigger;
    files->buf_b = want_b * 2;
    return true;
}

/* ---- Table -------------------------------------------------------------------------------- */

static uint32_t hash_of(const char *s, size_t n)
{
    const uint64_t h = as_fnv_mix(AS_FNV_BASIS, s, n);
    return (uint32_t)(h ^ h >> 32);
}

static bool rehash(struct as_dw_files *files)
{
    size_t slots = files->slots ? files->slots * 2 : 256;
    uint32_t *slot = as_calloc(slots, sizeof *slot);
    if (!slot)
        return false;
    for (size_t i = 0; i < files->path.n; i++) {
        size_t at = hash_of(files->path.at[i], strlen(files->path.at[i])) & (slots - 1);
        while (slot[at])
            at = (at + 1) & (slots - 1);
        slot[at] = (uint32_t)i + 1;
    }
    as_free(files->slot);
    files->slot = slot;
    files->slots = slots;
    return true;
}

static uint32_t intern_path(struct as_dw_files *files, const char *path, size_t n)
{
    if ((files->path.n + 1) * 2 > files->slots && !rehash(files))
        return AS_NONE;
    size_t at = hash_of(path, n) & (files->slots - 1);
    for (; files->slot[at]; at = (at + 1) & (files->slots - 1)) {
        const char *other = files->path.at[files->slot[at] - 1];
        if (strncmp(other, path, n) == 0 && other[n] == 0)
            return files->slot[at] - 1;
    }
    const char *copy = as_arena_strndup(files->arena, path, n);
    if (!copy || as_vec_push(&files->path, copy) < 0)
        return AS_NONE;
    files->slot[at] = (uint32_t)files->path.n;
    return (uint32_t)files->path.n - 1;
}

uint32_t as_dw_file_intern(struct as_dw_files *files, const char *comp_dir, const char *dir,
                           const char *name)
{
    comp_dir = comp_dir ? comp_dir : "";
    size_t path_b = strlen(comp_dir) + strlen(dir) + strlen(name) + 8;
    /* The mapped path is stored after the plain path. */
    size_t to_b = 0;
    for (size_t i = 0; files->options && i < files->options->source_map_n; i++) {
        size_t n = strlen(files->options->source_map[i].to) + 2;
        to_b = n > to_b ? n : to_b;
    }
    if (!make_room(files, 2 * path_b + to_b))
        return AS_NONE;
    size_t n = 0;
    if (*name != '/') {
        if (*dir != '/')
            n = append_path(files->buf, n, comp_dir);
        n = append_path(files->buf, n, dir);
    }
    n = append_path(files->buf, n, name);
    files->buf[n] = 0;
    const char *mapped =
        as_source_map_apply(files->options, files->buf, files->buf + path_b, files->buf_b - path_b);
    return mapped ? intern_path(files, mapped, strlen(mapped)) : AS_NONE;
}

void as_dw_files_release(struct as_dw_files *files)
{
    as_vec_fini(&files->path);
    as_free(files->slot);
    as_free(files->buf);
    *files = (struct as_dw_files){0};
}

bool as_source_is_system(const char *path)
{
    return strncmp(path, "/usr/include/", 13) == 0 || strncmp(path, "/usr/lib/", 9) == 0 ||
           strstr(path, "/include/c++/") || strstr(path, "/lib/gcc/");
}
