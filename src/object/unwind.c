/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind ranges: the frame description entries (FDEs) of .eh_frame, with their language-specific
 * data. Only ranges are read, no call frame instructions. A damaged record ends the table; what
 * was read before it stands. Sources: LSB 5.0 core, "Exception Frames"; AMD64 supplement 4.2.4.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/read.h"
#include "base/vec.h"
#include "object/internal.h"
#include "object/order.h"

/* Pointer encodings (LSB, "DWARF Exception Header Encoding"). */
enum {
    ENC_FORM = 0x0f,
    ENC_ABSOLUTE = 0x00,
    ENC_ULEB = 0x01,
    ENC_UDATA2 = 0x02,
    ENC_UDATA4 = 0x03,
    ENC_UDATA8 = 0x04,
    ENC_SLEB = 0x09,
    ENC_SDATA2 = 0x0a,
    ENC_SDATA4 = 0x0b,
    ENC_SDATA8 = 0x0c,
    ENC_BASE = 0x70,
    ENC_PCREL = 0x10,
    ENC_TEXTREL = 0x20,
    ENC_DATAREL = 0x30,
    ENC_FUNCREL = 0x40,
    ENC_ALIGNED = 0x50,
    ENC_INDIRECT = 0x80,
    ENC_OMIT = 0xff
};

struct cie {
    uint64_t offset; /* of the record; the key of the cache */
    bool known, good, signal_frame, sized;
    uint8_t fde_encoding, lsda_encoding;
};

#define CIE_CACHE 64

struct frame_table {
    const struct assay_object *object;
    const uint8_t *at;
    uint64_t size_b;
    uint64_t address;
    uint64_t text_base, data_base;
    struct cie cache[CIE_CACHE];
    AS_VEC(struct assay_unwind_range) ranges;
};

static uint64_t take_form(struct as_read *r, uint8_t encoding)
{
    switch (encoding & ENC_FORM) {
    case ENC_ABSOLUTE:
    case ENC_UDATA8:
    case ENC_SDATA8:
        return as_read_u64(r);
    case ENC_ULEB:
        return as_read_uleb(r);
    case ENC_SLEB:
        return (uint64_t)as_read_sleb(r);
    case ENC_UDATA2:
        return as_read_u16(r);
    case ENC_SDATA2:
        return (uint64_t)as_read_i16(r);
    case ENC_UDATA4:
        return as_read_u32(r);
    case ENC_SDATA4:
        return (uint64_t)as_read_i32(r);
    default:
        as_read_fail(r);
        return 0;
    }
}

/* A pointer as encoded; a stored 0 means "none" whatever its base. */
static uint64_t take_pointer(const struct frame_table *table, struct as_read *r, uint8_t encoding,
                             uint64_t function)
{
    if (encoding == ENC_OMIT)
        return 0;
    if ((encoding & ENC_BASE) == ENC_ALIGNED)
        as_read_skip(r, -(table->address + as_read_offset(r)) & 7);
    uint64_t here = table->address + as_read_offset(r);
    uint64_t value = take_form(r, (encoding & ENC_BASE) == ENC_ALIGNED ? ENC_ABSOLUTE : encoding);
    if (value == 0 || r->bad)
        return 0;
    switch (encoding & ENC_BASE) {
    case ENC_PCREL:
        value += here;
        break;
    case ENC_TEXTREL:
        value += table->text_base;
        break;
    case ENC_DATAREL:
        value += table->data_base;
        break;
    case ENC_FUNCREL:
        value += function;
        break;
    default:
        break;
    }
    return encoding & ENC_INDIRECT ? as_object_word_at(table->object, value) : value;
}

/* The contents of the record at `r`, which passes it; empty for a terminator. */
static struct as_read take_record(struct as_read *r)
{
    uint64_t length_b = as_read_u32(r);
    if (length_b == 0xffffffff)
        length_b = as_read_u64(r);
    return as_read_sub(r, length_b);
}

/* Offsets and addresses are of the table, not of the record in it. */
static struct as_read within(const struct frame_table *table, struct as_read record)
{
    record.begin = table->at;
    return record;
}

static void read_augmentation(const struct frame_table *table, struct as_read *r,
                              struct as_view text, struct cie *cie)
{
    for (size_t i = 0; i < text.n && !r->bad; i++) {
        switch (text.p[i]) {
        case 'z':
            cie->sized = true;
            as_read_uleb(r);
            break;
        case 'L':
            cie->lsda_encoding = as_read_u8(r);
            break;
        case 'R':
            cie->fde_encoding = as_read_u8(r);
            break;
        case 'P':
            take_pointer(table, r, as_read_u8(r), 0);
            break;
        case 'S':
            cie->signal_frame = true;
            break;
        default: /* without the size, what follows could not be told */
            if (!cie->sized)
                as_read_fail(r);
            return;
        }
    }
}

static struct cie read_cie(const struct frame_table *table, uint64_t offset)
{
    struct cie cie = {.offset = offset, .known = true, .lsda_encoding = ENC_OMIT};
    struct as_read whole = as_read_of(table->at, table->size_b);
    as_read_seek(&whole, offset);
    struct as_read r = within(table, take_record(&whole));
    if (as_read_u32(&r) != 0)
        return cie;
    unsigned version = as_read_u8(&r);
    struct as_view text = as_read_string(&r);
    if (version != 1 && version != 3 && version != 4)
        return cie;
    if (version == 4)
        as_read_skip(&r, 2); /* sizes of address and segment selector */
    if (as_view_starts(text, "eh")) {
        as_read_skip(&r, 8); /* a pointer of GCC 2 */
        text.p += 2;
        text.n -= 2;
    }
    as_read_uleb(&r); /* code alignment */
    as_read_sleb(&r); /* data alignment */
    if (version == 1)
        as_read_skip(&r, 1); /* return address column */
    else
        as_read_uleb(&r);
    read_augmentation(table, &r, text, &cie);
    cie.good = !r.bad;
    return cie;
}

static const struct cie *find_cie(struct frame_table *table, uint64_t offset)
{
    struct cie *cie = &table->cache[offset / 8 % CIE_CACHE];
    if (!cie->known || cie->offset != offset)
        *cie = read_cie(table, offset);
    return cie;
}

/* The FDE whose contents stand at `r`, behind its CIE pointer. */
static int read_fde(struct frame_table *table, struct as_read *r, uint64_t cie_offset)
{
    const struct cie *cie = find_cie(table, cie_offset);
    if (!cie->good)
        return 0;
    struct assay_unwind_range range = {.signal_frame = cie->signal_frame};
    range.start = take_pointer(table, r, cie->fde_encoding, 0);
    uint64_t size_b = take_form(r, cie->fde_encoding & ENC_FORM);
    if (cie->sized) {
        as_read_uleb(r);
        range.lsda = take_pointer(table, r, cie->lsda_encoding, range.start);
    }
    /* Start 0 is what linkers leave of a function that they dropped. */
    if (r->bad || size_b == 0 || range.start == 0 ||
        __builtin_add_overflow(range.start, size_b, &range.end))
        return 0;
    return as_vec_push(&table->ranges, range);
}

/* `until_zero`: the end of the table is known only by its terminator. */
static int read_table(struct frame_table *table, bool until_zero)
{
    struct as_read r = as_read_of(table->at, table->size_b);
    memset(table->cache, 0, sizeof table->cache);
    while (as_read_left(&r)) {
        struct as_read record = within(table, take_record(&r));
        uint64_t id_at = as_read_offset(&record);
        if (r.bad || (as_read_left(&record) == 0 && until_zero))
            return 0;
        /* Start files may put terminators between tables. */
        uint64_t back_b = as_read_left(&record) ? as_read_u32(&record) : 0;
        if (record.bad)
            return 0;
        if (back_b != 0 && back_b <= id_at)
            AS_TRY(read_fde(table, &record, id_at - back_b));
    }
    return 0;
}

static int read_sections(struct frame_table *table)
{
    const struct assay_object *object = table->object;
    for (uint32_t i = 1; i < object->section_n; i++) {
        const struct assay_section *section = &object->section[i];
        if (!section->data || strcmp(section->name, ".eh_frame") != 0)
            continue;
        table->at = section->data;
        table->size_b = section->size_b;
        table->address = section->address;
        AS_TRY(read_table(table, false));
    }
    return 0;
}

/* Without sections: .eh_frame_hdr, which has a segment, points to .eh_frame. */
static int read_segment(struct frame_table *table)
{
    const struct assay_object *object = table->object;
    for (size_t i = 0; i < object->segment_n; i++) {
        const struct assay_segment *segment = &object->segment[i];
        if (segment->type != PT_GNU_EH_FRAME || segment->file_b < 4)
            continue;
        struct as_read r = as_read_of(object->file.bytes + segment->offset, segment->file_b);
        table->address = segment->address;
        table->data_base = segment->address;
        unsigned version = as_read_u8(&r);
        uint8_t encoding = as_read_u8(&r);
        as_read_skip(&r, 2); /* encodings of the search table, not needed */
        uint64_t frames = take_pointer(table, &r, encoding, 0);
        if (r.bad || version != 1 || frames == 0)
            continue;
        table->address = frames;
        table->data_base = object->dynamic.pltgot;
        table->at = assay_object_bytes(object, frames, &table->size_b);
        return table->at ? read_table(table, true) : 0;
    }
    return 0;
}

static int keep_sorted(struct assay_object *object, const struct frame_table *table)
{
    size_t n = table->ranges.n;
    struct as_keyed *keyed = as_malloc(2 * (n + 1) * sizeof *keyed);
    object->unwind = as_arena_array(&object->arena, struct assay_unwind_range, n + 1);
    if (keyed && object->unwind) {
        for (size_t i = 0; i < n; i++)
            keyed[i] = (struct as_keyed){table->ranges.at[i].start, (uint32_t)i};
        as_order_by_key(keyed, n);
        for (size_t i = 0; i < n; i++)
            object->unwind[i] = table->ranges.at[keyed[i].index];
        object->unwind_n = n;
    }
    as_free(keyed);
    return keyed && object->unwind ? 0 : ASSAY_ERR_NOMEM;
}

int as_object_load_unwind(struct assay_object *object, struct assay_error *err)
{
    struct frame_table table = {.object = object, .data_base = object->dynamic.pltgot};
    uint32_t text = as_file_section(&object->file, ".text");
    table.text_base = as_object_section_address(object, text);
    int rc = read_sections(&table);
    if (rc == 0 && object->section_n == 0)
        rc = read_segment(&table);
    if (rc == 0)
        rc = keep_sorted(object, &table);
    as_vec_fini(&table.ranges);
    return rc < 0 ? as_error_nomem(err, object->file.path) : 0;
}

size_t assay_object_unwind_ranges(const struct assay_object *object,
                                  const struct assay_unwind_range **out)
{
    *out = object->unwind;
    return object->unwind_n;
}
