/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads locations of variables and lists of them (.debug_loc, .debug_loclists). A location is a
 * register, a place in memory or in the frame, or an address, alone or in pieces. Other
 * expressions give no place. Source: DWARF 5, sections 2.6 and 7.7.3.
 */
#include <dwarf.h>

#include "base/error.h"
#include "object/dwarf_variable.h"

#define VIEW_PAIR 9 /* DW_LLE_GNU_view_pair */

/* ---- Expressions --------------------------------------------------------------------------- */

struct loc_expression {
    const struct as_dw_unit *unit;
    const struct as_dw_frame_base *base;
    struct as_read c;
};

static uint8_t peek_op(const struct loc_expression *e)
{
    return !e->c.bad && e->c.at < e->c.end ? *e->c.at : 0;
}

static bool start_at_frame(struct loc_expression *e, struct as_storage *out)
{
    const int64_t offset_b = as_read_sleb(&e->c);
    if (!e->base->known)
        return false;
    out->kind = e->base->is_cfa ? AS_STORAGE_FRAME : AS_STORAGE_MEMORY;
    out->reg = e->base->reg;
    out->offset_b = (int64_t)((uint64_t)offset_b + (uint64_t)e->base->offset_b);
    return true;
}

static bool start_at_address(struct loc_expression *e, uint8_t op, struct as_storage *out)
{
    uint64_t address;
    out->kind = AS_STORAGE_STATIC;
    if (op == DW_OP_addr)
        address = as_read_uint(&e->c, e->unit->address_b);
    else if (!as_dw_addrx(e->unit, as_read_uleb(&e->c), &address))
        return false;
    out->offset_b = (int64_t)address;
    return true;
}

/* Reads the first operation of a place. Sets `*is_register` if the register itself is the place.
 * Returns false for other operations. */
static bool start_place(struct loc_expression *e, struct as_storage *out, bool *is_register)
{
    const uint8_t op = as_read_u8(&e->c);
    *is_register = (op >= DW_OP_reg0 && op < DW_OP_reg0 + 16) || op == DW_OP_regx;
    out->kind = *is_register ? AS_STORAGE_VALUE : AS_STORAGE_MEMORY;
    out->offset_b = 0;
    if (op >= DW_OP_reg0 && op < DW_OP_reg0 + 16) {
        out->reg = (uint8_t)(op - DW_OP_reg0);
    } else if (op >= DW_OP_breg0 && op < DW_OP_breg0 + 16) {
        out->reg = (uint8_t)(op - DW_OP_breg0);
        out->offset_b = as_read_sleb(&e->c);
    } else if (op == DW_OP_regx || op == DW_OP_bregx) {
        const uint64_t reg = as_read_uleb(&e->c);
        out->reg = (uint8_t)(reg & 15);
        out->offset_b = op == DW_OP_bregx ? as_read_sleb(&e->c) : 0;
        return reg < 16;
    } else if (op == DW_OP_fbreg) {
        return start_at_frame(e, out);
    } else if (op == DW_OP_addr || op == DW_OP_addrx || op == DW_OP_GNU_addr_index) {
        return start_at_address(e, op, out);
    } else {
        return false;
    }
    return !e->c.bad;
}

/* Reads one place, up to DW_OP_piece or the end. Returns false if it is not an as_storage. */
static bool read_place(struct loc_expression *e, struct as_storage *out)
{
    bool is_register;
    out->behind = false;
    if (!start_place(e, out, &is_register))
        return false;
    if (!is_register && peek_op(e) == DW_OP_plus_uconst) {
        as_read_skip(&e->c, 1);
        out->offset_b = (int64_t)((uint64_t)out->offset_b + as_read_uleb(&e->c));
    }
    if (!is_register && peek_op(e) == DW_OP_deref) {
        as_read_skip(&e->c, 1);
        out->behind = out->kind != AS_STORAGE_STATIC;
        if (!out->behind)
            return false;
    }
    if (peek_op(e) == DW_OP_stack_value) {
        as_read_skip(&e->c, 1);
        if (out->kind != AS_STORAGE_MEMORY || out->behind)
            return false;
        out->kind = AS_STORAGE_VALUE;
    }
    return !e->c.bad && (e->c.at == e->c.end || peek_op(e) == DW_OP_piece);
}

/* Appends the places of an expression, up to the first place that as_storage cannot express. */
static int add_expression(const struct as_dw_unit *unit, struct as_read bytes,
                          const struct as_dw_frame_base *base, struct as_storage place,
                          as_dw_places *out)
{
    struct loc_expression e = {.unit = unit, .base = base, .c = bytes};
    uint64_t part_b = 0;
    while (!e.c.bad && e.c.at < e.c.end) {
        const bool absent = peek_op(&e) == DW_OP_piece;
        if (!absent && !read_place(&e, &place))
            return 0;
        place.part_b = (uint32_t)part_b;
        if (!absent && place.start < place.end && as_vec_push(out, place) < 0)
            return AS_ERR_NOMEM;
        if (e.c.at == e.c.end)
            return 0;
        as_read_skip(&e.c, 1);
        part_b += as_read_uleb(&e.c);
        if (part_b > UINT32_MAX)
            return 0;
    }
    return 0;
}

/* ---- Lists --------------------------------------------------------------------------------- */

struct loc_list {
    const struct as_dw_unit *unit;
    struct as_read c;
    uint64_t base;
    struct as_read bytes; /* the expression of the current entry */
    uint64_t start, end;
    bool is_entry; /* the current entry has an expression */
};

/* Reads one entry of .debug_loc. Returns false at the end of the list, or if it is damaged. */
static bool next_v4(struct loc_list *l)
{
    const unsigned wide_b = l->unit->address_b;
    const uint64_t select = wide_b == 8 ? UINT64_MAX : UINT32_MAX;
    l->start = as_read_uint(&l->c, wide_b);
    l->end = as_read_uint(&l->c, wide_b);
    if (l->c.bad || (l->start == 0 && l->end == 0))
        return false;
    l->is_entry = l->start != select;
    if (!l->is_entry) {
        l->base = l->end;
        return true;
    }
    l->start += l->base;
    l->end += l->base;
    l->bytes = as_read_sub(&l->c, as_read_u16(&l->c));
    return !l->c.bad;
}

/* Reads the range of an entry of .debug_loclists. Returns false at the end, or if damaged. */
static bool range_v5(struct loc_list *l, uint8_t kind)
{
    uint64_t a, b;
    switch (kind) {
    case DW_LLE_base_addressx:
        l->is_entry = false;
        return as_dw_addrx(l->unit, as_read_uleb(&l->c), &l->base);
    case DW_LLE_startx_endx:
        a = as_read_uleb(&l->c);
        b = as_read_uleb(&l->c);
        return as_dw_addrx(l->unit, a, &l->start) && as_dw_addrx(l->unit, b, &l->end);
    case DW_LLE_startx_length:
        a = as_read_uleb(&l->c);
        b = as_read_uleb(&l->c);
        if (!as_dw_addrx(l->unit, a, &l->start))
            return false;
        l->end = l->start + b;
        return true;
    case DW_LLE_offset_pair:
        l->start = l->base + as_read_uleb(&l->c);
        l->end = l->base + as_read_uleb(&l->c);
        return true;
    case DW_LLE_default_location: /* its range depends on all other entries; it is ignored */
        l->start = l->end = 0;
        return true;
    case DW_LLE_base_address:
        l->is_entry = false;
        l->base = as_read_uint(&l->c, l->unit->address_b);
        return true;
    case DW_LLE_start_end:
        l->start = as_read_uint(&l->c, l->unit->address_b);
        l->end = as_read_uint(&l->c, l->unit->address_b);
        return true;
    case DW_LLE_start_length:
        l->start = as_read_uint(&l->c, l->unit->address_b);
        l->end = l->start + as_read_uleb(&l->c);
        return true;
    case VIEW_PAIR:
        l->is_entry = false;
        as_read_uleb(&l->c);
        as_read_uleb(&l->c);
        return true;
    default:
        return false;
    }
}

static bool next_v5(struct loc_list *l)
{
    l->is_entry = true;
    if (!range_v5(l, as_read_u8(&l->c)) || l->c.bad)
        return false;
    if (l->is_entry)
        l->bytes = as_read_sub(&l->c, as_read_uleb(&l->c));
    return !l->c.bad;
}

static int add_list(const struct as_dw_unit *unit, uint64_t offset,
                    const struct as_dw_frame_base *base, struct as_storage place, as_dw_places *out)
{
    const bool is_v5 = unit->version >= 5;
    const struct as_dw_bytes section = unit->sec.at[is_v5 ? AS_DW_LOCLISTS : AS_DW_LOC];
    struct loc_list l = {
        .unit = unit, .c = as_dw_read_of(section, offset, section.n), .base = unit->low_pc};
    if (!is_v5 && unit->module && unit->module->skeleton)
        return 0; /* .debug_loc.dwo of version 4 has another format, which is not read */
    while (is_v5 ? next_v5(&l) : next_v4(&l)) {
        if (!l.is_entry)
            continue;
        place.start = l.start;
        place.end = l.end;
        AS_TRY(add_expression(unit, l.bytes, base, place, out));
    }
    return 0;
}

int as_dw_places_read(const struct as_dw_unit *unit, const struct as_dw_value *location,
                      const struct as_dw_frame_base *base, struct as_storage all, as_dw_places *out)
{
    const struct as_dw_bytes lists = unit->sec.at[AS_DW_LOCLISTS];
    uint64_t offset = 0;
    switch (location->kind) {
    case AS_DW_BLOCK:
        return add_expression(unit, as_read_of(location->s, location->u), base, all, out);
    case AS_DW_OFFSET:
        return add_list(unit, location->u, base, all, out);
    case AS_DW_UINT: /* a list offset in DWARF 2 and 3 */
        return unit->version < 4 ? add_list(unit, location->u, base, all, out) : 0;
    case AS_DW_LOCLISTX:
        if (unit->loclists_base > lists.n ||
            location->u >= (lists.n - unit->loclists_base) / unit->offset_b)
            return 0;
        memcpy(&offset, lists.p + unit->loclists_base + location->u * unit->offset_b,
               unit->offset_b);
        return add_list(unit, unit->loclists_base + offset, base, all, out);
    default:
        return 0;
    }
}

struct as_dw_frame_base as_dw_frame_base_of(const struct as_dw_unit *unit,
                                            const struct as_dw_value *value)
{
    struct as_dw_frame_base out = {0};
    const struct as_dw_frame_base none = {0};
    struct as_storage place = {0};
    bool is_register;
    if (value->kind != AS_DW_BLOCK)
        return out;
    struct loc_expression e = {.unit = unit, .base = &none, .c = as_read_of(value->s, value->u)};
    if (value->u == 1 && value->s[0] == (char)DW_OP_call_frame_cfa) {
        out.known = out.is_cfa = true;
        return out;
    }
    if (!start_place(&e, &place, &is_register) || e.c.at != e.c.end ||
        place.kind == AS_STORAGE_STATIC)
        return out;
    out.known = true;
    out.reg = place.reg;
    out.offset_b = place.offset_b;
    return out;
}

/* ---- Frames -------------------------------------------------------------------------------- */

bool as_frame_is_aligned(const struct as_object *object, const struct as_unwind_row *row,
                         unsigned reg)
{
    size_t n = 0;

    if (row->cfa_kind != AS_CFA_EXPRESSION)
        return false;
    const uint8_t *at = as_object_unwind_expression(object, row, row->cfa_value, &n);
    struct as_read c = as_read_of(at, at ? n : 0);
    const bool starts = as_read_u8(&c) == DW_OP_breg0 + reg;
    as_read_sleb(&c);
    return starts && as_read_u8(&c) == DW_OP_deref && !c.bad && !as_read_left(&c);
}
