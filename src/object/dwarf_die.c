/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the attributes of subprograms and inlined subroutines, and decides the role of an
 * abbreviation in the walk over them. Source: DWARF 5, sections 3.3 and 7.5.3.
 */
#include "object/dwarf_die.h"

#include <dwarf.h>

static bool is_number(const struct as_dw_value *v)
{
    return v->kind == AS_DW_UINT || v->kind == AS_DW_SINT;
}

static void set_die_name(struct as_dw_die *die, uint16_t name, const struct as_dw_value *v)
{
    if (v->kind != AS_DW_STRING)
        return;
    if (name == DW_AT_name)
        die->name = v->s;
    else
        die->linkage = v->s;
}

static void set_die_attribute(struct as_dw_die *die, uint16_t name, const struct as_dw_value *v)
{
    switch (name) {
    case DW_AT_low_pc:
        die->low = *v;
        break;
    case DW_AT_high_pc:
        die->high = *v;
        break;
    case DW_AT_ranges:
        die->ranges = *v;
        break;
    case DW_AT_abstract_origin:
        die->origin = *v;
        break;
    case DW_AT_specification:
        die->specification = *v;
        break;
    case DW_AT_name:
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
        set_die_name(die, name, v);
        break;
    case DW_AT_decl_file:
        die->decl_file = v->u;
        die->has_decl_file = is_number(v);
        break;
    case DW_AT_decl_line:
        die->decl_line = is_number(v) ? v->u : 0;
        break;
    case DW_AT_call_file:
        die->call_file = v->u;
        die->has_call_file = is_number(v);
        break;
    case DW_AT_call_line:
        die->call_line = is_number(v) ? v->u : 0;
        break;
    case DW_AT_call_column:
        die->call_column = is_number(v) ? v->u : 0;
        break;
    case DW_AT_declaration:
        die->is_declaration = v->u != 0;
        break;
    default:
        break;
    }
}

/* Must agree with set_die_attribute. Other attributes (types, frames, calls) are skipped. */
bool as_dw_attr_is_taken(unsigned name)
{
    switch (name) {
    case DW_AT_low_pc:
    case DW_AT_high_pc:
    case DW_AT_ranges:
    case DW_AT_abstract_origin:
    case DW_AT_specification:
    case DW_AT_name:
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
    case DW_AT_decl_file:
    case DW_AT_decl_line:
    case DW_AT_call_file:
    case DW_AT_call_line:
    case DW_AT_call_column:
    case DW_AT_declaration:
        return true;
    default:
        return false;
    }
}

/* Does the work of as_dw_form_skip, without a call for a form of fixed size. */
static inline void skip_attr(const struct as_dw_unit *unit, struct as_read *c,
                             const struct as_dw_attr *attr)
{
    if (attr->size >= 0)
        as_read_skip(c, (uint64_t)attr->size);
    else
        as_dw_form_skip(unit, c, attr->form);
}

/* Does the work of as_dw_form_read, without a call for the forms that are frequent in instances. */
static inline void read_attr(const struct as_dw_unit *unit, struct as_read *c,
                             const struct as_dw_attr *attr, struct as_dw_value *v)
{
    *v = (struct as_dw_value){0};
    switch (attr->form) {
    case DW_FORM_data1:
    case DW_FORM_data2:
    case DW_FORM_data4:
    case DW_FORM_data8:
        v->kind = AS_DW_UINT;
        v->u = as_read_uint(c, (unsigned)attr->size);
        break;
    case DW_FORM_ref4:
        v->u = as_read_uint(c, 4);
        v->kind = v->u < unit->end - unit->offset ? AS_DW_REF : AS_DW_NONE;
        v->u += unit->offset;
        break;
    case DW_FORM_addr:
        v->kind = AS_DW_ADDRESS;
        v->u = as_read_uint(c, unit->address_b);
        break;
    case DW_FORM_sec_offset:
        v->kind = AS_DW_OFFSET;
        v->u = as_read_uint(c, unit->offset_b);
        break;
    case DW_FORM_implicit_const:
        v->kind = AS_DW_SINT;
        v->u = (uint64_t)attr->implicit;
        break;
    default:
        as_dw_form_read(unit, c, attr, v);
        return;
    }
    if (c->bad)
        v->kind = AS_DW_NONE;
}

void as_dw_die_read(const struct as_dw_unit *unit, struct as_read *c,
                    const struct as_dw_abbrev *abbrev, struct as_dw_die *die)
{
    const struct as_dw_attr *attr = as_dw_abbrev_attrs(unit->abbrevs, abbrev);
    *die = (struct as_dw_die){0};
    for (uint32_t i = 0; i < abbrev->attrs && !c->bad; i++) {
        struct as_dw_value v;
        if (!attr[i].is_taken) {
            skip_attr(unit, c, &attr[i]);
            continue;
        }
        read_attr(unit, c, &attr[i], &v);
        set_die_attribute(die, attr[i].name, &v);
    }
}

uint64_t as_dw_die_skip(const struct as_dw_unit *unit, struct as_read *c,
                        const struct as_dw_abbrev *abbrev, bool want_sibling)
{
    if (abbrev->fixed_b != AS_DW_VARIABLE && !want_sibling) {
        as_read_skip(c, abbrev->fixed_b + (uint64_t)abbrev->addresses * unit->address_b +
                            (uint64_t)abbrev->offsets * unit->offset_b);
        return 0;
    }
    const struct as_dw_attr *attr = as_dw_abbrev_attrs(unit->abbrevs, abbrev);
    uint64_t sibling = 0;
    for (uint32_t i = 0; i < abbrev->attrs && !c->bad; i++) {
        if (want_sibling && attr[i].name == DW_AT_sibling) {
            struct as_dw_value v;
            as_dw_form_read(unit, c, &attr[i], &v);
            sibling = v.kind == AS_DW_REF ? v.u : 0;
        } else {
            skip_attr(unit, c, &attr[i]);
        }
    }
    return sibling;
}

/* ---- Roles -------------------------------------------------------------------------------- */

/* Returns true if the children of a DIE with this tag contain no code. */
static bool is_leaf_tree(unsigned tag)
{
    switch (tag) {
    case DW_TAG_enumeration_type:
    case DW_TAG_array_type:
    case DW_TAG_subroutine_type:
    case DW_TAG_variable:
    case DW_TAG_call_site:
    case DW_TAG_GNU_call_site:
    case DW_TAG_formal_parameter:
    case DW_TAG_GNU_formal_parameter_pack:
        return true;
    default:
        return false;
    }
}

uint8_t as_dw_abbrev_role(const struct as_dw_abbrev *abbrev, const struct as_dw_attr *attr)
{
    bool low = false, high = false, ranges = false, declared = false, perhaps = false;
    if (abbrev->tag != DW_TAG_subprogram && abbrev->tag != DW_TAG_inlined_subroutine)
        return abbrev->children && is_leaf_tree(abbrev->tag) ? AS_DW_ROLE_LEAF : AS_DW_ROLE_PASSED;
    for (uint32_t i = 0; i < abbrev->attrs; i++) {
        low |= attr[i].name == DW_AT_low_pc;
        high |= attr[i].name == DW_AT_high_pc;
        ranges |= attr[i].name == DW_AT_ranges;
        if (attr[i].name != DW_AT_declaration)
            continue;
        declared |= attr[i].form == DW_FORM_flag_present;
        perhaps |= attr[i].form != DW_FORM_flag_present; /* the value in the DIE decides */
    }
    if (perhaps)
        return AS_DW_ROLE_INSTANCE;
    if (declared)
        return AS_DW_ROLE_DECLARED;
    return ranges || (low && high) ? AS_DW_ROLE_INSTANCE : AS_DW_ROLE_ABSTRACT;
}
