/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the abbreviation tables and attribute forms of DWARF 2 to 5, with the GNU extensions for
 * split units and dwz. It decodes values and references, but does not interpret attributes.
 * Source: DWARF 5, sections 7.5.3 to 7.5.6.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "object/dwarf_internal.h"

const char *as_dw_string_at(struct as_dw_bytes s, uint64_t offset)
{
    /* If the last byte of the section is zero, every string in it is terminated. */
    if (offset >= s.n || (s.p[s.n - 1] && !memchr(s.p + offset, 0, s.n - offset)))
        return NULL;
    return (const char *)s.p + offset;
}

uint64_t as_dw_initial_length(struct as_read *c, uint8_t *offset_b)
{
    uint64_t length = as_read_u32(c);
    *offset_b = 4;
    if (length == 0xffffffffu) {
        *offset_b = 8;
        length = as_read_u64(c);
    } else if (length >= 0xfffffff0u) {
        as_read_fail(c);
    }
    return c->bad ? 0 : length;
}

/* ---- Sizes -------------------------------------------------------------------------------- */

enum { VARIABLE = -1, ADDRESS = -2, OFFSET = -3 };

int as_dw_form_size(unsigned form)
{
    switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
        return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
        return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
        return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
        return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
    case DW_FORM_ref_sup4:
        return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
        return 8;
    case DW_FORM_data16:
        return 16;
    case DW_FORM_addr:
        return ADDRESS;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_sec_offset:
    case DW_FORM_GNU_strp_alt:
    case DW_FORM_GNU_ref_alt:
        return OFFSET;
    default:
        return VARIABLE;
    }
}

void as_dw_form_skip(const struct as_dw_unit *unit, struct as_read *c, unsigned form)
{
    int size = as_dw_form_size(form);
    struct as_dw_value ignored;
    if (size != VARIABLE) {
        as_read_skip(c, size == ADDRESS  ? unit->address_b
                        : size == OFFSET ? unit->offset_b
                                         : (uint64_t)size);
        return;
    }
    switch (form) { /* the most frequent forms first */
    case DW_FORM_exprloc:
    case DW_FORM_block:
        as_read_skip(c, as_read_uleb(c));
        return;
    case DW_FORM_udata:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
        as_read_uleb(c);
        return;
    case DW_FORM_sdata:
        as_read_sleb(c);
        return;
    default:
        break;
    }
    as_dw_form_read(unit, c, &(struct as_dw_attr){.form = (uint16_t)form}, &ignored);
}

/* ---- Index forms -------------------------------------------------------------------------- */

static const char *strx(const struct as_dw_unit *unit, uint64_t index)
{
    struct as_dw_bytes table = unit->sec.at[AS_DW_STR_OFFSETS];
    uint64_t base = unit->str_offsets_base;
    if (base > table.n || index >= (table.n - base) / unit->offset_b)
        return NULL;
    uint64_t offset = 0;
    memcpy(&offset, table.p + base + index * unit->offset_b, unit->offset_b);
    return as_dw_string_at(unit->sec.at[AS_DW_STR], offset);
}

bool as_dw_addrx(const struct as_dw_unit *unit, uint64_t index, uint64_t *out)
{
    struct as_dw_bytes table = unit->sec.at[AS_DW_ADDR];
    uint64_t base = unit->addr_base;
    if (base > table.n || index >= (table.n - base) / unit->address_b)
        return false;
    *out = 0;
    memcpy(out, table.p + base + index * unit->address_b, unit->address_b);
    return true;
}

static void set_string(struct as_dw_value *out, const char *s)
{
    out->kind = s ? AS_DW_STRING : AS_DW_NONE;
    out->s = s;
}

static void set_strx(const struct as_dw_unit *unit, struct as_dw_value *out, uint64_t index)
{
    set_string(out, strx(unit, index));
}

static void set_addrx(const struct as_dw_unit *unit, struct as_dw_value *out, uint64_t index)
{
    out->kind = as_dw_addrx(unit, index, &out->u) ? AS_DW_ADDRESS : AS_DW_NONE;
}

/* Sets a reference relative to the unit. The kind is AS_DW_NONE if it points outside the unit. */
static void set_ref(const struct as_dw_unit *unit, struct as_dw_value *out, uint64_t rel)
{
    out->kind = rel < unit->end - unit->offset ? AS_DW_REF : AS_DW_NONE;
    out->u = unit->offset + rel;
}

static void set_number(struct as_dw_value *out, enum as_dw_class kind, uint64_t u)
{
    out->kind = kind;
    out->u = u;
}

static void set_block(struct as_read *c, struct as_dw_value *out, uint64_t n)
{
    out->kind = AS_DW_BLOCK;
    out->s = (const char *)as_read_bytes(c, n);
    out->u = n;
}

static const struct as_dw_sections *alt_sections(const struct as_dw_unit *unit)
{
    const struct as_dw_module *module = unit->module;
    return module && module->alt && module->alt->file ? &module->alt->file->plain : NULL;
}

static void set_alt_string(const struct as_dw_unit *unit, struct as_dw_value *out, uint64_t u)
{
    const struct as_dw_sections *alt = alt_sections(unit);
    set_string(out, alt ? as_dw_string_at(alt->at[AS_DW_STR], u) : NULL);
}

/* ---- One value ---------------------------------------------------------------------------- */

/* Reads a form of variable size. Returns false if the form is unknown. */
static bool read_variable(const struct as_dw_unit *unit, struct as_read *c, unsigned form,
                          struct as_dw_value *out)
{
    switch (form) {
    case DW_FORM_udata:
        set_number(out, AS_DW_UINT, as_read_uleb(c));
        return true;
    case DW_FORM_sdata:
        set_number(out, AS_DW_SINT, (uint64_t)as_read_sleb(c));
        return true;
    case DW_FORM_string:
        set_string(out, as_read_string(c).p);
        return true;
    case DW_FORM_strx:
    case DW_FORM_GNU_str_index:
        set_strx(unit, out, as_read_uleb(c));
        return true;
    case DW_FORM_addrx:
    case DW_FORM_GNU_addr_index:
        set_addrx(unit, out, as_read_uleb(c));
        return true;
    case DW_FORM_rnglistx:
        set_number(out, AS_DW_LISTX, as_read_uleb(c));
        return true;
    case DW_FORM_loclistx:
        set_number(out, AS_DW_LOCLISTX, as_read_uleb(c));
        return true;
    case DW_FORM_ref_udata:
        set_ref(unit, out, as_read_uleb(c));
        return true;
    case DW_FORM_block1:
        set_block(c, out, as_read_u8(c));
        return true;
    case DW_FORM_block2:
        set_block(c, out, as_read_u16(c));
        return true;
    case DW_FORM_block4:
        set_block(c, out, as_read_u32(c));
        return true;
    case DW_FORM_block:
    case DW_FORM_exprloc:
        set_block(c, out, as_read_uleb(c));
        return true;
    default:
        return false;
    }
}

/* Sets the value `u` of a form of offset size (4 or 8 bytes, depending on the unit). */
static void read_offset(const struct as_dw_unit *unit, unsigned form, uint64_t u,
                        struct as_dw_value *out)
{
    switch (form) {
    case DW_FORM_strp:
        set_string(out, as_dw_string_at(unit->sec.at[AS_DW_STR], u));
        break;
    case DW_FORM_line_strp:
        set_string(out, as_dw_string_at(unit->sec.at[AS_DW_LINE_STR], u));
        break;
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
        set_alt_string(unit, out, u);
        break;
    case DW_FORM_GNU_ref_alt:
        set_number(out, AS_DW_REF_ALT, u);
        break;
    default:
        set_number(out, AS_DW_OFFSET, u);
        break;
    }
}

static void read_fixed(const struct as_dw_unit *unit, unsigned form, uint64_t u,
                       struct as_dw_value *out)
{
    switch (form) {
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4:
        set_strx(unit, out, u);
        break;
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4:
        set_addrx(unit, out, u);
        break;
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8:
        set_ref(unit, out, u);
        break;
    case DW_FORM_ref_sup4:
    case DW_FORM_ref_sup8:
        set_number(out, AS_DW_REF_ALT, u);
        break;
    case DW_FORM_ref_sig8:
        set_number(out, AS_DW_SIGNATURE, u);
        break;
    default:
        set_number(out, AS_DW_UINT, u);
        break;
    }
}

void as_dw_form_read(const struct as_dw_unit *unit, struct as_read *c,
                     const struct as_dw_attr *attr, struct as_dw_value *out)
{
    unsigned form = attr->form;
    *out = (struct as_dw_value){0};
    if (form == DW_FORM_indirect) {
        form = (unsigned)(as_read_uleb(c) & 0xffff);
        /* Nested indirect forms are invalid. The value of implicit_const is in the abbreviation. */
        if (form == DW_FORM_indirect || form == DW_FORM_implicit_const)
            as_read_fail(c);
    }
    int size = as_dw_form_size(form);
    if (form == DW_FORM_implicit_const)
        set_number(out, AS_DW_SINT, (uint64_t)attr->implicit);
    else if (form == DW_FORM_flag_present)
        set_number(out, AS_DW_UINT, 1);
    else if (form == DW_FORM_data16)
        as_read_skip(c, 16);
    else if (form == DW_FORM_ref_addr) /* has the size of an address in DWARF 2 */
        set_number(out, AS_DW_REF,
                   as_read_uint(c, unit->version <= 2 ? unit->address_b : unit->offset_b));
    else if (size == ADDRESS)
        set_number(out, AS_DW_ADDRESS, as_read_uint(c, unit->address_b));
    else if (size == OFFSET)
        read_offset(unit, form, as_read_uint(c, unit->offset_b), out);
    else if (size >= 0)
        read_fixed(unit, form, as_read_uint(c, (unsigned)size), out);
    else if (!read_variable(unit, c, form, out))
        as_read_fail(c);
    if (c->bad)
        out->kind = AS_DW_NONE;
}

/* ---- Abbreviations ------------------------------------------------------------------------ */

static int read_attrs(struct as_read *c, struct as_dw_abbrevs *table, struct as_dw_abbrev *abbrev)
{
    for (;;) {
        uint64_t name = as_read_uleb(c), form = as_read_uleb(c);
        int64_t implicit = form == DW_FORM_implicit_const ? as_read_sleb(c) : 0;
        if (c->bad || name > 0xffff || form > 0xffff)
            return AS_ERR_CORRUPT;
        if (name == 0 && form == 0)
            return 0;
        const int size = as_dw_form_size((unsigned)form);
        const struct as_dw_attr attr = {.name = (uint16_t)name,
                                        .form = (uint16_t)form,
                                        .size = (int8_t)size,
                                        .is_taken = as_dw_attr_is_taken((unsigned)name),
                                        .implicit = implicit};
        if (as_vec_push(&table->attr, attr) < 0)
            return AS_ERR_NOMEM;
        abbrev->attrs++;
        if (size == VARIABLE)
            abbrev->fixed_b = AS_DW_VARIABLE;
        else if (abbrev->fixed_b == AS_DW_VARIABLE)
            continue;
        else if (size == ADDRESS)
            abbrev->addresses++;
        else if (size == OFFSET)
            abbrev->offsets++;
        else
            abbrev->fixed_b += (uint32_t)size;
    }
}

static int by_code(const void *a, const void *b)
{
    uint64_t x = ((const struct as_dw_abbrev *)a)->code, y = ((const struct as_dw_abbrev *)b)->code;
    return (x > y) - (x < y);
}

int as_dw_abbrevs_read(struct as_dw_bytes section, uint64_t offset, struct as_dw_abbrevs *out)
{
    struct as_read c = as_dw_read_of(section, offset, section.n);
    out->offset = offset;
    out->section = section.p;
    out->dense = true;
    while (!c.bad) {
        uint64_t code = as_read_uleb(&c);
        if (code == 0 || c.bad)
            break;
        uint64_t tag = as_read_uleb(&c);
        struct as_dw_abbrev abbrev = {.code = code,
                                      .tag = (uint16_t)(tag > 0xffff ? 0 : tag),
                                      .children = as_read_u8(&c) != 0,
                                      .first = (uint32_t)out->attr.n};
        AS_TRY(read_attrs(&c, out, &abbrev));
        abbrev.role = as_dw_abbrev_role(&abbrev, as_dw_abbrev_attrs(out, &abbrev));
        if (as_vec_push(&out->at, abbrev) < 0)
            return AS_ERR_NOMEM;
        if (code != out->at.n)
            out->dense = false;
    }
    if (!out->dense)
        qsort(out->at.at, out->at.n, sizeof *out->at.at, by_code);
    return c.bad ? AS_ERR_CORRUPT : 0;
}

void as_dw_abbrevs_release(struct as_dw_abbrevs *table)
{
    as_vec_fini(&table->at);
    as_vec_fini(&table->attr);
}

const struct as_dw_abbrev *as_dw_abbrev_search(const struct as_dw_abbrevs *table, uint64_t code)
{
    const struct as_dw_abbrev key = {.code = code};
    return table->at.n ? bsearch(&key, table->at.at, table->at.n, sizeof key, by_code) : NULL;
}
