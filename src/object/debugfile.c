/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds debug information outside of the binary: the separate file by build-id or .gnu_debuglink,
 * the dwz supplementary file, the package of split units (.dwp).
 * Source: the GDB manual, "Debugging Information in Separate Files"; dwz(1); DWARF 5, 7.3.6.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/str.h"
#include "object/dwarf_internal.h"

#define DEFAULT_DIRS "/usr/lib/debug"

static bool has_dwarf(const struct as_dw_file *file)
{
    return file->plain.at[AS_DW_INFO].n || file->plain.at[AS_DW_LINE].n;
}

/* Maps and reads `path` into `file`. Errors, without a message: NOT_FOUND (missing, or not ELF),
 * NOMEM. */
static int open_file(const char *path, struct as_dw_file *file)
{
    struct as_dw_image image;
    if (as_dw_image_map(path, &image) < 0)
        return AS_ERR_NOT_FOUND;
    *file = (struct as_dw_file){.image = image};
    file->path = as_malloc(strlen(path) + 1);
    int rc = file->path ? 0 : AS_ERR_NOMEM;
    if (rc == 0) {
        memcpy(file->path, path, strlen(path) + 1);
        rc = as_dw_file_read(file, NULL, 0);
    }
    if (rc < 0)
        as_dw_file_release(file);
    return rc == AS_ERR_NOT_ELF ? AS_ERR_NOT_FOUND : rc;
}

static bool same_id(const struct as_dw_file *file, const uint8_t *id, size_t id_b)
{
    return file->build_id_b == id_b && memcmp(file->build_id, id, id_b) == 0;
}

/* Copies the next directory of the ':'-separated list `*rest` to `dir`, and advances `*rest`.
 * Returns false at the end of the list. */
static bool next_dir(const char **rest, char *dir, size_t dir_b)
{
    while (**rest) {
        size_t n = strcspn(*rest, ":");
        const char *from = *rest;
        *rest += n + ((*rest)[n] == ':');
        if (n && n < dir_b) {
            memcpy(dir, from, n);
            dir[n] = 0;
            return true;
        }
    }
    return false;
}

static const char *dirs_of(const struct as_dwarf *dw)
{
    const struct as_object_options *options = dw->in.options;
    return options && options->debug_dirs ? options->debug_dirs : DEFAULT_DIRS;
}

/* ---- By build-id -------------------------------------------------------------------------- */

static int by_build_id(struct as_dwarf *dw, const uint8_t *id, size_t id_b, struct as_dw_file *out)
{
    const char *rest = dirs_of(dw);
    char dir[2048], path[4096], hex[2 * 64 + 1];
    if (id_b < 2 || id_b > 64)
        return AS_ERR_NOT_FOUND;
    as_hex_encode(hex, id, id_b);
    while (next_dir(&rest, dir, sizeof dir)) {
        snprintf(path, sizeof path, "%s/.build-id/%.2s/%s.debug", dir, hex, hex + 2);
        int rc = open_file(path, out);
        if (rc == AS_ERR_NOMEM || (rc == 0 && same_id(out, id, id_b)))
            return rc;
        if (rc == 0)
            as_dw_file_release(out);
    }
    return AS_ERR_NOT_FOUND;
}

/* ---- By debug link ------------------------------------------------------------------------ */

static bool link_parse(struct as_dw_bytes link, const char **name, uint32_t *crc)
{
    *name = as_dw_string_at(link, 0);
    if (!*name || !**name)
        return false;
    size_t at = (strlen(*name) + 4) & ~(size_t)3; /* name and zero byte, padded to 4 bytes */
    if (at > link.n || link.n - at < sizeof *crc)
        return false;
    memcpy(crc, link.p + at, sizeof *crc);
    return true;
}

static uint32_t crc_of(struct as_dw_image image)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), image.p, image.n);
}

static int try_link(struct as_dwarf *dw, const char *path, uint32_t crc, struct as_dw_file *out)
{
    int rc = open_file(path, out);
    if (rc < 0)
        return rc;
    bool is_itself = out->image.n == dw->main.image.n &&
                     memcmp(out->image.p, dw->main.image.p, out->image.n) == 0;
    if (!is_itself && has_dwarf(out) && crc_of(out->image) == crc)
        return 0;
    as_dw_file_release(out);
    return AS_ERR_NOT_FOUND;
}

static int by_link(struct as_dwarf *dw, const char *name, uint32_t crc, struct as_dw_file *out)
{
    char real[PATH_MAX], path[2 * PATH_MAX], dir[2048];
    if (!dw->in.path || strchr(name, '/') || !realpath(dw->in.path, real))
        return AS_ERR_NOT_FOUND;
    char *slash = strrchr(real, '/');
    *slash = 0; /* realpath(3) returns an absolute path, so a slash exists */
    snprintf(path, sizeof path, "%s/%s", real, name);
    int rc = try_link(dw, path, crc, out);
    if (rc == AS_ERR_NOT_FOUND) {
        snprintf(path, sizeof path, "%s/.debug/%s", real, name);
        rc = try_link(dw, path, crc, out);
    }
    const char *rest = dirs_of(dw);
    while (rc == AS_ERR_NOT_FOUND && next_dir(&rest, dir, sizeof dir)) {
        snprintf(path, sizeof path, "%s%s/%s", dir, real, name);
        rc = try_link(dw, path, crc, out);
    }
    return rc;
}

static int find_separate(struct as_dwarf *dw)
{
    const char *name;
    uint32_t crc;
    bool named = link_parse(dw->main.debug_link, &name, &crc);
    int rc = by_build_id(dw, dw->in.build_id, dw->in.build_id_b, &dw->separate);
    if (rc == AS_ERR_NOT_FOUND && named)
        rc = by_link(dw, name, crc, &dw->separate);
    if (rc == AS_ERR_NOMEM)
        return rc;
    if (rc == 0) {
        dw->kind = AS_DEBUG_SEPARATE;
        dw->debug = &dw->separate;
        dw->debug_path = dw->separate.path;
    } else if (named) {
        dw->kind = AS_DEBUG_MISSING;
        dw->debug_path = name;
    }
    return 0;
}

/* ---- dwz ---------------------------------------------------------------------------------- */

static int try_dwz(struct as_dwarf *dw, const char *path, const uint8_t *id, size_t id_b)
{
    int rc = open_file(path, &dw->dwz);
    if (rc == 0 && id_b && dw->dwz.build_id_b && !same_id(&dw->dwz, id, id_b)) {
        as_dw_file_release(&dw->dwz);
        rc = AS_ERR_NOT_FOUND;
    }
    return rc;
}

/* Returns the name of the dwz file, and its build-id in *id; NULL if there is none. Layouts:
 * .gnu_debugaltlink has name and build-id; .debug_sup has version, flag, name, length and id. */
static const char *dwz_name(const struct as_dw_file *file, const uint8_t **id, size_t *id_b)
{
    const char *name = as_dw_string_at(file->alt_link, 0);
    if (name) {
        *id = (const uint8_t *)name + strlen(name) + 1;
        *id_b = file->alt_link.n - strlen(name) - 1;
        return name;
    }
    struct as_read c = as_dw_read_of(file->sup, 0, file->sup.n);
    if (!file->sup.n || as_read_u16(&c) < 2)
        return NULL;
    bool is_supplementary = as_read_u8(&c) != 0;
    name = as_read_string(&c).p;
    *id_b = (size_t)as_read_uleb(&c);
    *id = c.at;
    if (c.bad || *id_b > as_read_left(&c) || is_supplementary)
        return NULL;
    return name;
}

static int find_dwz(struct as_dwarf *dw)
{
    char path[PATH_MAX * 2], real[PATH_MAX];
    const uint8_t *id = NULL;
    size_t id_b = 0;
    const char *name = dwz_name(dw->debug, &id, &id_b);
    const char *near = dw->debug->path ? dw->debug->path : dw->in.path;
    if (!name || !*name)
        return 0;
    int rc = AS_ERR_NOT_FOUND;
    if (near && name[0] == '/')
        rc = try_dwz(dw, name, id, id_b);
    if (rc == AS_ERR_NOT_FOUND && near && name[0] != '/' && realpath(near, real)) {
        *strrchr(real, '/') = 0;
        snprintf(path, sizeof path, "%s/%s", real, name);
        rc = try_dwz(dw, path, id, id_b);
    }
    if (rc == AS_ERR_NOT_FOUND)
        rc = by_build_id(dw, id, id_b, &dw->dwz);
    const char *rest = dirs_of(dw), *base = strrchr(name, '/');
    char dir[2048];
    while (rc == AS_ERR_NOT_FOUND && next_dir(&rest, dir, sizeof dir)) {
        snprintf(path, sizeof path, "%s/.dwz/%s", dir, base ? base + 1 : name);
        rc = try_dwz(dw, path, id, id_b);
    }
    if (rc == AS_ERR_NOMEM)
        return rc;
    dw->dwz_missing = rc < 0;
    dw->dwz_path = rc == 0 ? dw->dwz.path : name;
    return 0;
}

/* ---- Package ------------------------------------------------------------------------------ */

static int find_package(struct as_dwarf *dw)
{
    const char *const near[] = {dw->in.path, dw->separate.path};
    for (size_t i = 0; i < 2; i++) {
        char path[PATH_MAX + 8];
        if (!near[i] || strlen(near[i]) + 5 > sizeof path)
            continue;
        snprintf(path, sizeof path, "%s.dwp", near[i]);
        int rc = open_file(path, &dw->dwp);
        if (rc == AS_ERR_NOMEM)
            return rc;
        if (rc == 0) {
            dw->dwp_path = dw->dwp.path;
            return 0;
        }
    }
    return 0;
}

int as_debugfile_find(struct as_dwarf *dw)
{
    dw->kind = AS_DEBUG_NONE;
    if (has_dwarf(&dw->main)) {
        dw->kind = AS_DEBUG_EMBEDDED;
        dw->debug = &dw->main;
    } else {
        AS_TRY(find_separate(dw));
    }
    if (!dw->debug)
        return 0;
    AS_TRY(find_dwz(dw));
    return find_package(dw);
}
