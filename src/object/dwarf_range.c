/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads range lists as absolute address ranges: .debug_ranges of DWARF 3 and 4, .debug_rnglists of
 * DWARF 5. Ranges of removed code (tombstones) are included; the caller drops them.
 * Source: DWARF 5, section 2.17.3.
 */
#include <dwarf.h>

#include "object/dwarf_internal.h"

static bool push_range(as_dw_ranges *out, uint64_t start, uint64_t end, bool *nomem)
{
    if (start >= end)
        return true; /* empty ranges are valid and are left out */
    if (as_vec_push(out, (struct as_range){start, end, 0}) < 0) {
        *nomem = true;
        return false;
    }
    return true;
}

static bool read_v4(const struct as_dw_unit *unit, uint64_t offset, as_dw_ranges *out, bool *nomem)
{
    const struct as_dw_bytes section = unit->sec.at[AS_DW_RANGES];
    const uint64_t select = unit->address_b == 8 ? UINT64_MAX : UINT32_MAX;
    struct as_read c = as_dw_read_of(section, offset, section.n);
    uint64_t base = unit->low_pc;
    for (;;) {
        uint64_t start = as_read_uint(&c, unit->address_b), end = as_read_uint(&c, unit->address_b);
        if (c.bad)
            return false;
        if (start == 0 && end == 0)
            return true;
        if (start == select)
            base = end;
        else if (!push_range(out, base + start, base + end, nomem))
            return false;
    }
}

/* Reads one entry of .debug_rnglists. Sets `*last` at the end of the list. Returns false if the
 * entry is damaged. */
static bool entry_v5(const struct as_dw_unit *unit, struct as_read *c, uint64_t *base,
                     struct as_range *out, bool *last)
{
    uint64_t a, b;
    *out = (struct as_range){0};
    switch (as_read_u8(c)) {
    case DW_RLE_end_of_list:
        *last = true;
        return !c->bad;
    case DW_RLE_base_addressx:
        return as_dw_addrx(unit, as_read_uleb(c), base);
    case DW_RLE_startx_endx:
        a = as_read_uleb(c);
        b = as_read_uleb(c);
        return as_dw_addrx(unit, a, &out->start) && as_dw_addrx(unit, b, &out->end);
    case DW_RLE_startx_length:
        a = as_read_uleb(c);
        b = as_read_uleb(c);
        if (!as_dw_addrx(unit, a, &out->start))
            return false;
        out->end = out->start + b;
        return true;
    case DW_RLE_offset_pair:
        out->start = *base + as_read_uleb(c);
        out->end = *base + as_read_uleb(c);
        return true;
    case DW_RLE_base_address:
        *base = as_read_uint(c, unit->address_b);
        return true;
    case DW_RLE_start_end:
        out->start = as_read_uint(c, unit->address_b);
        out->end = as_read_uint(c, unit->address_b);
        return true;
    case DW_RLE_start_length:
        out->start = as_read_uint(c, unit->address_b);
        out->end = out->start + as_read_uleb(c);
        return true;
    default:
        return false;
    }
}

static bool read_v5(const struct as_dw_unit *unit, uint64_t offset, as_dw_ranges *out, bool *nomem)
{
    const struct as_dw_bytes section = unit->sec.at[AS_DW_RNGLISTS];
    struct as_read c = as_dw_read_of(section, offset, section.n);
    uint64_t base = unit->low_pc;
    bool last = false;
    while (!last) {
        struct as_range range;
        if (!entry_v5(unit, &c, &base, &range, &last) || c.bad ||
            !push_range(out, range.start, range.end, nomem))
            return false;
    }
    return true;
}

bool as_dw_ranges_read(const struct as_dw_unit *unit, const struct as_dw_value *value,
                       as_dw_ranges *out, bool *nomem)
{
    bool is_split = unit->module && unit->module->skeleton;
    if (unit->version < 5)
        return read_v4(unit, value->u + (is_split ? unit->ranges_base : 0), out, nomem);
    if (value->kind != AS_DW_LISTX)
        return read_v5(unit, value->u, out, nomem);
    const struct as_dw_bytes section = unit->sec.at[AS_DW_RNGLISTS];
    uint64_t base = unit->rnglists_base, offset = 0;
    if (base > section.n || value->u >= (section.n - base) / unit->offset_b)
        return false;
    memcpy(&offset, section.p + base + value->u * unit->offset_b, unit->offset_b);
    return read_v5(unit, base + offset, out, nomem);
}
