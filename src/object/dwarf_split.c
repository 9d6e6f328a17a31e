/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the split unit of a skeleton unit. The source is a package (BINARY.dwp) or a .dwo file
 * beside the object or the binary. The index of a package has version 2 (GNU) or 5.
 * Source: DWARF 5, sections 7.3.2 to 7.3.5; the GCC wiki's DebugFission and DebugFissionDWP.
 */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>

#include "object/dwarf_internal.h"

/* ---- Package ------------------------------------------------------------------------------ */

struct package {
    struct as_dw_bytes index;
    uint32_t columns, units, slots;
    bool is_v5;
    uint64_t ids, rows, heads, offsets, sizes; /* positions of the tables */
};

static uint32_t u32_at(struct as_dw_bytes s, uint64_t at)
{
    uint32_t v = 0;
    if (at <= s.n && s.n - at >= sizeof v)
        memcpy(&v, s.p + at, sizeof v);
    return v;
}

static bool package_open(struct as_dw_bytes index, struct package *out)
{
    struct as_read c = as_dw_read_of(index, 0, index.n);
    uint32_t version = as_read_u32(&c);
    *out = (struct package){.index = index, .columns = as_read_u32(&c)};
    out->units = as_read_u32(&c);
    out->slots = as_read_u32(&c);
    /* Version 5 has two bytes of version and two bytes of padding. */
    out->is_v5 = (version & 0xffff) == 5;
    if (c.bad || (!out->is_v5 && version != 2) || out->slots == 0 ||
        (out->slots & (out->slots - 1)) || out->columns > 64)
        return false;
    out->ids = 16;
    out->rows = out->ids + (uint64_t)out->slots * 8;
    out->heads = out->rows + (uint64_t)out->slots * 4;
    out->offsets = out->heads + (uint64_t)out->columns * 4;
    out->sizes = out->offsets + (uint64_t)out->units * out->columns * 4;
    return out->sizes + (uint64_t)out->units * out->columns * 4 <= index.n;
}

/* Returns the row of the unit with this DWO id, counted from 1; 0 if there is none. */
static uint32_t package_row(const struct package *pack, uint64_t id)
{
    uint32_t mask = pack->slots - 1;
    uint32_t slot = (uint32_t)id & mask, step = ((uint32_t)(id >> 32) & mask) | 1;
    for (uint32_t tries = 0; tries < pack->slots; tries++) {
        uint64_t at;
        memcpy(&at, pack->index.p + pack->ids + (uint64_t)slot * 8, sizeof at);
        uint32_t row = u32_at(pack->index, pack->rows + (uint64_t)slot * 4);
        if (row == 0)
            return 0;
        if (at == id)
            return row <= pack->units ? row : 0;
        slot = (slot + step) & mask;
    }
    return 0;
}

static int package_section(const struct package *pack, uint32_t id)
{
    switch (id) {
    case 1:
        return AS_DW_INFO;
    case 3:
        return AS_DW_ABBREV;
    case 4:
        return AS_DW_LINE;
    case 5:
        return pack->is_v5 ? AS_DW_LOCLISTS : -1;
    case 6:
        return AS_DW_STR_OFFSETS;
    case 8:
        return pack->is_v5 ? AS_DW_RNGLISTS : -1;
    default:
        return -1;
    }
}

/* Sets `out` to the parts of the sections `all` that belong to the row. Returns false if the index
 * is damaged. */
static bool package_slice(const struct package *pack, uint32_t row,
                          const struct as_dw_sections *all, struct as_dw_sections *out)
{
    *out = *all;
    for (uint32_t i = 0; i < pack->columns; i++) {
        int section = package_section(pack, u32_at(pack->index, pack->heads + i * 4u));
        uint64_t cell = ((uint64_t)(row - 1) * pack->columns + i) * 4;
        uint64_t offset = u32_at(pack->index, pack->offsets + cell);
        uint64_t size = u32_at(pack->index, pack->sizes + cell);
        if (section < 0)
            continue;
        struct as_dw_bytes from = all->at[section];
        if (offset > from.n || size > from.n - offset)
            return false;
        out->at[section] = (struct as_dw_bytes){from.p + offset, size};
    }
    return true;
}

/* ---- One unit ----------------------------------------------------------------------------- */

/* Reads the units of `sec` and sets skeleton->split. Sets *found if the unit exists. Errors: NOMEM.
 */
static int load_split_unit(struct as_dwarf *dw, struct as_dw_unit *skeleton,
                           struct as_dw_file *file, struct as_dw_sections sec, bool *found)
{
    struct as_dw_module *module = as_calloc(1, sizeof *module);
    if (!module || as_vec_push(&dw->split, module) < 0) {
        as_free(module);
        return AS_ERR_NOMEM;
    }
    module->file = file;
    module->skeleton = skeleton;
    module->alt = skeleton->module->alt;
    /* The file of the skeleton has the addresses, and before DWARF 5 also the ranges. */
    sec.at[AS_DW_ADDR] = skeleton->sec.at[AS_DW_ADDR];
    if (skeleton->version < 5)
        sec.at[AS_DW_RANGES] = skeleton->sec.at[AS_DW_RANGES];
    AS_TRY(as_dw_units_read(module, &sec));
    as_vec_foreach (&module->unit, unit) {
        bool is_full = !unit->damaged && unit->tag == DW_TAG_compile_unit;
        if (is_full && unit->has_dwo_id && unit->dwo_id == skeleton->dwo_id) {
            skeleton->split = unit;
            *found = true;
            return 0;
        }
    }
    return 0;
}

static int from_package(struct as_dwarf *dw, struct as_dw_unit *skeleton, bool *found)
{
    struct package pack;
    struct as_dw_sections sec;
    if (!package_open(dw->dwp.plain.at[AS_DW_CU_INDEX], &pack))
        return 0;
    uint32_t row = package_row(&pack, skeleton->dwo_id);
    if (row == 0 || !package_slice(&pack, row, &dw->dwp.dwo, &sec))
        return 0;
    return load_split_unit(dw, skeleton, &dw->dwp, sec, found);
}

static int from_file(struct as_dwarf *dw, struct as_dw_unit *skeleton, const char *path,
                     bool *found)
{
    struct as_dw_image image;
    if (as_dw_image_map(path, &image) < 0)
        return 0;
    struct as_dw_file *file = as_calloc(1, sizeof *file);
    if (!file || as_vec_push(&dw->split_file, file) < 0) {
        as_free(file);
        as_dw_image_release(&image);
        return AS_ERR_NOMEM;
    }
    file->image = image;
    int rc = as_dw_file_read(file, NULL, 0);
    if (rc == AS_ERR_NOT_ELF)
        return 0;
    AS_TRY(rc);
    return load_split_unit(dw, skeleton, file, file->dwo, found);
}

/* Searches the .dwo file: at its path, at the mapped path, and beside the binary, because both may
 * have been moved together. */
static int from_dwo(struct as_dwarf *dw, struct as_dw_unit *skeleton, bool *found)
{
    char path[4096], mapped[4096];
    const char *name = skeleton->dwo_name, *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    bool absolute = name[0] == '/';
    const char *dir = absolute || !skeleton->comp_dir ? "" : skeleton->comp_dir;
    if (absolute || skeleton->comp_dir) {
        snprintf(path, sizeof path, "%s%s%s", dir, absolute ? "" : "/", name);
        AS_TRY(from_file(dw, skeleton, path, found));
        const char *other = as_source_map_apply(dw->in.options, path, mapped, sizeof mapped);
        if (!*found && other && other != path)
            AS_TRY(from_file(dw, skeleton, other, found));
    }
    if (*found || !dw->in.path)
        return 0;
    const char *end = strrchr(dw->in.path, '/');
    int dir_n = end ? (int)(end - dw->in.path) + 1 : 0;
    if (!absolute) {
        snprintf(path, sizeof path, "%.*s%s", dir_n, dw->in.path, name);
        AS_TRY(from_file(dw, skeleton, path, found));
    }
    if (!*found && base != name) {
        snprintf(path, sizeof path, "%.*s%s", dir_n, dw->in.path, base);
        AS_TRY(from_file(dw, skeleton, path, found));
    }
    return 0;
}

int as_dw_split_read(struct as_dwarf *dw, struct as_dw_unit *skeleton)
{
    bool found = false;
    if (!skeleton->has_dwo_id || !skeleton->dwo_name)
        return 0;
    dw->has_split = true;
    AS_TRY(from_package(dw, skeleton, &found));
    /* Bytes in memory have no path, and must not open files of this machine. */
    if (!found && dw->in.path)
        AS_TRY(from_dwo(dw, skeleton, &found));
    skeleton->split_missing = !found;
    dw->split_missing += !found;
    return 0;
}
