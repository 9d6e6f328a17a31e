/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the unwind ranges: the FDEs of .eh_frame with their language-specific data areas. Call
 * frame instructions are not read. A damaged record ends the table; the records before it are kept.
 * Sources: LSB 5.0 core, "Exception Frames"; AMD64 supplement 4.2.4.
 */
#include <string.h>

#include "base/alloc.h"
#include "object/frame.h"
#include "object/order.h"

/* Stores the table, so that its records can be read again, and scans it. Errors: NOMEM. */
static int read_table(struct as_object *object, struct as_frame_table table, bool until_zero,
                      struct as_frame_list *list)
{
    if (object->frame_table_n == AS_FRAME_TABLES)
        return 0;
    uint32_t index = object->frame_table_n++;
    object->frame_table[index] = table;
    return as_frame_scan(&table, index, until_zero, list);
}

static int read_sections(struct as_object *object, struct as_frame_table table,
                         struct as_frame_list *list)
{
    for (uint32_t i = 1; i < object->section_n; i++) {
        const struct as_section *section = &object->section[i];
        if (!section->data || strcmp(section->name, ".eh_frame") != 0)
            continue;
        table.at = section->data;
        table.size_b = section->size_b;
        table.address = section->address;
        AS_TRY(read_table(object, table, false, list));
    }
    return 0;
}

/* Reads .eh_frame of a file without sections, through .eh_frame_hdr, which has a segment. */
static int read_segment(struct as_object *object, struct as_frame_table table,
                        struct as_frame_list *list)
{
    for (size_t i = 0; i < object->segment_n; i++) {
        const struct as_segment *segment = &object->segment[i];
        if (segment->type != PT_GNU_EH_FRAME || segment->file_b < 4)
            continue;
        table.at = object->file.bytes + segment->offset;
        table.size_b = segment->file_b;
        struct as_read r = as_read_of(table.at, table.size_b);
        table.address = segment->address;
        table.data_base = segment->address;
        unsigned version = as_read_u8(&r);
        uint8_t encoding = as_read_u8(&r);
        as_read_skip(&r, 2); /* encodings of the search table, not needed */
        uint64_t frames = as_frame_pointer(&table, &r, encoding, 0);
        if (r.bad || version != 1 || frames == 0)
            continue;
        table.address = frames;
        table.data_base = object->dynamic.pltgot;
        table.at = as_object_bytes(object, frames, &table.size_b);
        return table.at ? read_table(object, table, true, list) : 0;
    }
    return 0;
}

static int store_sorted_ranges(struct as_object *object, const struct as_frame_list *list)
{
    size_t n = list->ranges.n;
    struct as_keyed *keyed = as_malloc(2 * (n + 1) * sizeof *keyed);
    object->unwind = as_arena_array(&object->arena, struct as_unwind_range, n + 1);
    object->frame_place = as_arena_array(&object->arena, struct as_frame_place, n + 1);
    bool good = keyed && object->unwind && object->frame_place;
    if (good) {
        for (size_t i = 0; i < n; i++)
            keyed[i] = (struct as_keyed){list->ranges.at[i].start, (uint32_t)i};
        as_order_by_key(keyed, n);
        for (size_t i = 0; i < n; i++) {
            object->unwind[i] = list->ranges.at[keyed[i].index];
            object->frame_place[i] = list->places.at[keyed[i].index];
        }
        object->unwind_n = n;
    }
    as_free(keyed);
    return good ? 0 : AS_ERR_NOMEM;
}

int as_object_load_unwind(struct as_object *object, struct as_error *err)
{
    struct as_frame_table table = {.object = object, .data_base = object->dynamic.pltgot};
    struct as_frame_list list = {0};
    uint32_t text = as_file_section(&object->file, ".text");
    table.text_base = as_object_section_address(object, text);
    object->frame_table =
        as_arena_array(&object->arena, struct as_frame_table, AS_FRAME_TABLES + 1);
    int rc = object->frame_table ? 0 : AS_ERR_NOMEM;
    if (rc == 0)
        rc = read_sections(object, table, &list);
    if (rc == 0 && object->section_n == 0)
        rc = read_segment(object, table, &list);
    if (rc == 0)
        rc = store_sorted_ranges(object, &list);
    as_vec_fini(&list.ranges);
    as_vec_fini(&list.places);
    return rc < 0 ? as_error_nomem(err, object->file.path) : 0;
}

size_t as_object_unwind_ranges(const struct as_object *object, const struct as_unwind_range **out)
{
    *out = object->unwind;
    return object->unwind_n;
}
