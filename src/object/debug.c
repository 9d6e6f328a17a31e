/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins the ELF reader and the DWARF reader, and has the public functions for debug information. It
 * gives the bytes of the ELF file to the DWARF reader, and reads symbols from the separate file.
 */
#include "object/dwarf_side.h"
#include "object/internal.h"

/* Sets the section addresses of a .o, which its DWARF is relocated with. Errors: NOMEM. */
static int section_addresses(struct as_object *object)
{
    if (object->file.ehdr.e_type != ET_REL)
        return 0;
    object->section_address = as_arena_array(&object->arena, uint64_t, object->section_n + 1);
    if (!object->section_address)
        return AS_ERR_NOMEM;
    for (size_t i = 0; i < object->section_n; i++)
        object->section_address[i] = object->section[i].address;
    return 0;
}

int as_object_load_debug(struct as_object *object, struct as_error *err)
{
    if (section_addresses(object) < 0)
        return as_error_nomem(err, object->file.path);
    struct as_dwarf_input input = {
        .path = object->file.mapped ? object->file.path : NULL,
        .bytes = object->file.bytes,
        .size_b = object->file.size_b,
        .build_id = object->info.build_id,
        .build_id_b = object->info.build_id_b,
        .options = &object->options,
        .section_address = object->section_address,
        .section_n = object->section_n,
    };
    AS_TRY(as_dwarf_open(&input, &object->dwarf, err));
    as_dwarf_fill_info(object->dwarf, &object->info);
    size_t size_b;
    const uint8_t *separate = as_dwarf_separate_image(object->dwarf, &size_b);
    if (!separate || object->info.has_symtab)
        return 0;
    /* The object is usable without these symbols, so a damaged debug file is not an error. */
    int rc = as_file_open_memory(&object->arena, separate, size_b,
                                 object->info.debug_path ? object->info.debug_path : "debug file",
                                 AS_FILE_DEBUG, &object->debug_file, NULL);
    return rc == AS_ERR_NOMEM ? as_error_nomem(err, object->file.path) : 0;
}

int as_object_debug(struct as_object *object, unsigned parts, unsigned jobs, struct as_debug *out,
                    size_t *damaged_units, struct as_error *err)
{
    AS_TRY(as_dwarf_load(object->dwarf, parts, jobs, out, damaged_units, err));
    as_dwarf_fill_info(object->dwarf, &object->info);
    return 0;
}

uint32_t as_debug_inline_at(const struct as_object *object, uint64_t address)
{
    return as_dwarf_inline_at(object->dwarf, address);
}

uint32_t as_debug_inline_near(const struct as_object *object, uint64_t address, size_t *near)
{
    return as_dwarf_inline_near(object->dwarf, address, near);
}
