/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the attributes of variable, scope and type DIEs. */
#include <dwarf.h>

#include "object/dwarf_variable.h"

static struct as_dw_value *slot_of(struct as_dw_data_die *die, uint16_t name)
{
    switch (name) {
    case DW_AT_low_pc:
        return &die->low;
    case DW_AT_high_pc:
        return &die->high;
    case DW_AT_ranges:
        return &die->ranges;
    case DW_AT_abstract_origin:
        return &die->origin;
    case DW_AT_specification:
        return &die->specification;
    case DW_AT_sibling:
        return &die->sibling;
    case DW_AT_type:
        return &die->type;
    case DW_AT_location:
        return &die->location;
    case DW_AT_frame_base:
        return &die->frame_base;
    case DW_AT_byte_size:
        return &die->byte_size;
    case DW_AT_lower_bound:
        return &die->lower;
    case DW_AT_upper_bound:
        return &die->upper;
    case DW_AT_count:
        return &die->count;
    case DW_AT_data_member_location:
        return &die->member_location;
    case DW_AT_byte_stride:
        return &die->byte_stride;
    case DW_AT_signature:
        return &die->signature;
    default:
        return NULL;
    }
}

static void set_plain(struct as_dw_data_die *die, uint16_t name, const struct as_dw_value *v)
{
    switch (name) {
    case DW_AT_name:
        die->name = v->kind == AS_DW_STRING ? v->s : NULL;
        break;
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
        die->linkage = v->kind == AS_DW_STRING ? v->s : NULL;
        break;
    case DW_AT_decl_file:
        die->decl_file = v->u;
        die->has_decl_file = v->kind == AS_DW_UINT || v->kind == AS_DW_SINT;
        break;
    case DW_AT_declaration:
        die->is_declaration = v->u != 0;
        break;
    case DW_AT_data_location:
        die->has_data_location = true;
        break;
    case DW_AT_allocated:
        die->has_allocated = true;
        break;
    default:
        break;
    }
}

void as_dw_data_die_read(const struct as_dw_unit *unit, struct as_read *c,
                         const struct as_dw_abbrev *abbrev, struct as_dw_data_die *out)
{
    const struct as_dw_attr *attr = as_dw_abbrev_attrs(unit->abbrevs, abbrev);
    *out = (struct as_dw_data_die){0};
    for (uint32_t i = 0; i < abbrev->attrs && !c->bad; i++) {
        struct as_dw_value v;
        struct as_dw_value *slot = slot_of(out, attr[i].name);
        as_dw_form_read(unit, c, &attr[i], &v);
        if (slot)
            *slot = v;
        else
            set_plain(out, attr[i].name, &v);
    }
}

const struct as_dw_abbrev *as_dw_data_die_at(const struct as_dw_unit *unit, uint64_t at,
                                             struct as_read *c, struct as_dw_data_die *out)
{
    *c = as_dw_read_of(unit->sec.at[AS_DW_INFO], at, unit->end);
    const struct as_dw_abbrev *abbrev = as_dw_abbrev_find(unit->abbrevs, as_read_uleb(c));
    if (c->bad || !abbrev)
        return NULL;
    as_dw_data_die_read(unit, c, abbrev, out);
    return c->bad ? NULL : abbrev;
}

bool as_dw_is_fortran(const struct as_dw_unit *unit)
{
    switch (unit->language) {
    case DW_LANG_Fortran77:
    case DW_LANG_Fortran90:
    case DW_LANG_Fortran95:
    case DW_LANG_Fortran03:
    case DW_LANG_Fortran08:
        return true;
    default:
        return unit->language == 0x2d; /* Fortran 2018 */
    }
}
