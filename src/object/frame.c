/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the records of .eh_frame and .debug_frame: lengths, CIEs with augmentation, FDEs with
 * range. Every read is checked, and a damaged record is left out. Sources: LSB 5.0 core, "Exception
 * Frames"; DWARF 5 section 6.4; AMD64 supplement 4.2.4.
 */
#include <string.h>

#include "object/frame.h"

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

static uint64_t read_pointer_form(struct as_read *r, uint8_t encoding)
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

uint64_t as_frame_pointer(const struct as_frame_table *table, struct as_read *r, uint8_t encoding,
                          uint64_t function)
{
    if (encoding == ENC_OMIT)
        return 0;
    if ((encoding & ENC_BASE) == ENC_ALIGNED)
        as_read_skip(r, -(table->address + as_read_offset(r)) & 7);
    uint64_t here = table->address + as_read_offset(r);
    uint64_t value =
        read_pointer_form(r, (encoding & ENC_BASE) == ENC_ALIGNED ? ENC_ABSOLUTE : encoding);
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

/* Returns the contents of the record at `r`, empty for a terminator. Moves `r` to the next record.
 */
static struct as_read read_frame_record(const struct as_frame_table *table, struct as_read *r,
                                        bool *wide)
{
    uint64_t length_b = as_read_u32(r);
    *wide = length_b == 0xffffffff;
    if (*wide)
        length_b = as_read_u64(r);
    struct as_read record = as_read_sub(r, length_b);
    record.begin = table->at; /* offsets count from the start of the table */
    return record;
}

static void read_augmentation(const struct as_frame_table *table, struct as_read *r,
                              struct as_view text, struct as_frame_cie *cie)
{
    for (size_t i = 0; i < text.n && !r->bad; i++) {
        switch (text.p[i]) {
        case 'z':
            cie->sized = true; /* the caller has read the size */
            break;
        case 'L':
            cie->lsda_encoding = as_read_u8(r);
            break;
        case 'R':
            cie->fde_encoding = as_read_u8(r);
            break;
        case 'P':
            as_frame_pointer(table, r, as_read_u8(r), 0);
            break;
        case 'S':
            cie->signal_frame = true;
            break;
        default: /* unknown data can be skipped only if its size is known */
            if (!cie->sized)
                as_read_fail(r);
            return;
        }
    }
}

struct as_frame_cie as_frame_cie_read(const struct as_frame_table *table, uint64_t offset)
{
    struct as_frame_cie cie = {.offset = offset, .known = true, .lsda_encoding = ENC_OMIT};
    struct as_read whole = as_read_of(table->at, table->size_b);
    as_read_seek(&whole, offset);
    bool wide;
    struct as_read r = read_frame_record(table, &whole, &wide);
    uint64_t id = table->debug && wide ? as_read_u64(&r) : as_read_u32(&r);
    if (id != (!table->debug ? 0 : wide ? UINT64_MAX : UINT32_MAX))
        return cie;
    unsigned version = as_read_u8(&r);
    struct as_view text = as_read_string(&r);
    if (version != 1 && version != 3 && version != 4)
        return cie;
    if (version == 4)
        as_read_skip(&r, 2); /* sizes of address and segment selector */
    if (as_view_starts(text, "eh")) {
        as_read_skip(&r, 8); /* GCC 2 stores a pointer here */
        text.p += 2;
        text.n -= 2;
    }
    cie.code_align = as_read_uleb(&r);
    cie.data_align = as_read_sleb(&r);
    cie.return_column = version == 1 ? as_read_u8(&r) : as_read_uleb(&r);
    struct as_read data = r;
    bool sized = text.n && text.p[0] == 'z';
    if (sized) {
        data = as_read_sub(&r, as_read_uleb(&r));
        data.begin = table->at;
    }
    read_augmentation(table, sized ? &data : &r, text, &cie);
    cie.good = !r.bad && !data.bad;
    cie.program = r;
    return cie;
}

bool as_frame_next(const struct as_frame_table *table, struct as_read *r, struct as_read *body,
                   uint64_t *cie)
{
    bool wide;
    *body = read_frame_record(table, r, &wide);
    uint64_t id_at = as_read_offset(body);
    if (r->bad || as_read_left(body) == 0)
        return false; /* a terminator; start files may put one between tables */
    uint64_t id = table->debug && wide ? as_read_u64(body) : as_read_u32(body);
    if (body->bad) {
        as_read_fail(r);
        return false;
    }
    *cie = table->debug ? id : id_at - id;
    if (table->debug)
        return id != (wide ? UINT64_MAX : UINT32_MAX);
    return id != 0 && id <= id_at;
}

bool as_frame_fde_read(const struct as_frame_table *table, const struct as_frame_cie *cie,
                       struct as_read *body, struct as_frame_fde *out)
{
    if (!cie->good)
        return false;
    struct as_frame_fde fde = {0};
    fde.start = as_frame_pointer(table, body, cie->fde_encoding, 0);
    uint64_t size_b = read_pointer_form(body, cie->fde_encoding & ENC_FORM);
    fde.program = *body;
    if (cie->sized) {
        struct as_read data = as_read_sub(body, as_read_uleb(body));
        data.begin = table->at;
        fde.program = *body;
        if (as_read_left(&data))
            fde.lsda = as_frame_pointer(table, &data, cie->lsda_encoding, fde.start);
        if (data.bad)
            as_read_fail(body);
    }
    *out = fde;
    /* Linkers set the start of a removed function to 0. */
    return !body->bad && size_b != 0 && fde.start != 0 &&
           !__builtin_add_overflow(fde.start, size_b, &out->end);
}

#define CIE_CACHE 64

int as_frame_scan(const struct as_frame_table *table, uint32_t index, bool until_zero,
                  struct as_frame_list *list)
{
    struct as_frame_cie cache[CIE_CACHE];
    memset(cache, 0, sizeof cache);
    struct as_read r = as_read_of(table->at, table->size_b);
    while (as_read_left(&r)) {
        struct as_read body;
        struct as_frame_fde fde;
        uint64_t cie_at, record = as_read_offset(&r);
        bool is_fde = as_frame_next(table, &r, &body, &cie_at);
        if (r.bad || (until_zero && !is_fde && as_read_left(&body) == 0))
            return 0;
        if (!is_fde)
            continue;
        struct as_frame_cie *cie = &cache[cie_at / 8 % CIE_CACHE];
        if (!cie->known || cie->offset != cie_at)
            *cie = as_frame_cie_read(table, cie_at);
        if (!as_frame_fde_read(table, cie, &body, &fde))
            continue;
        struct as_unwind_range range = {
            .start = fde.start,
            .end = fde.end,
            .lsda = fde.lsda,
            .signal_frame = cie->signal_frame,
        };
        struct as_frame_place place = {.record = record & ((1ull << 56) - 1),
                                       .table = (uint8_t)index};
        AS_TRY(as_vec_push(&list->places, place));
        AS_TRY(as_vec_push(&list->ranges, range));
    }
    return 0;
}
