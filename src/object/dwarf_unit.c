/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit headers and root DIEs of one .debug_info: where each unit stands, its abbreviations, its
 * bases and what its root says. Type units of DWARF 5 are among them. Knows nothing of other
 * files.
 * Source: DWARF 5, section 7.5.1; GNU split DWARF for version 4.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "base/search.h"
#include "object/dwarf_internal.h"

/* ---- Headers ------------------------------------------------------------------------------ */

/* Reads the header at the cursor; false when it makes no sense (the unit is skipped). */
static bool read_header(struct as_read *c, struct as_dw_unit *unit, uint64_t *abbrev_offset)
{
    unit->version = as_read_u16(c);
    if (unit->version < 2 || unit->version > 5)
        return false;
    if (unit->version >= 5) {
        unit->type = as_read_u8(c);
        unit->address_b = as_read_u8(c);
        *abbrev_offset = as_read_uint(c, unit->offset_b);
        if (unit->type == DW_UT_skeleton || unit->type == DW_UT_split_compile) {
            unit->dwo_id = as_read_u64(c);
            unit->has_dwo_id = true;
        }
        if (unit->type == DW_UT_type || unit->type == DW_UT_split_type) {
            unit->signature = as_read_u64(c);
            unit->type_at = as_read_uint(c, unit->offset_b);
        }
    } else {
        *abbrev_offset = as_read_uint(c, unit->offset_b);
        unit->address_b = as_read_u8(c);
    }
    /* x86-64: 8; 4 for the x32 convention, which is rare but costs nothing. */
    return !c->bad && (unit->address_b == 8 || unit->address_b == 4);
}

struct pending {
    uint64_t abbrev_offset;
    size_t unit;
};

typedef AS_VEC(struct pending) pending_list;

static int read_headers(struct as_dw_module *module, const struct as_dw_sections *sec,
                        pending_list *list)
{
    const struct as_dw_bytes info = sec->at[AS_DW_INFO];
    uint64_t at = 0;
    while (at < info.n) {
        struct as_read c = as_dw_read_of(info, at, info.n);
        struct as_dw_unit unit = {.module = module,
                                  .sec = *sec,
                                  .offset = at,
                                  .line_offset = UINT64_MAX,
                                  .line_table = AS_NONE,
                                  .user = AS_NONE};
        uint64_t length = as_dw_initial_length(&c, &unit.offset_b);
        if (c.bad || length > as_read_left(&c)) {
            /* Without a length there is no next unit. */
            module->damaged++;
            return 0;
        }
        at = unit.end = (uint64_t)(c.at - info.p) + length;
        c.end = info.p + unit.end;
        uint64_t abbrev_offset = 0;
        if (length == 0)
            continue; /* padding between units, as dwp and ld -r leave it */
        if (!read_header(&c, &unit, &abbrev_offset)) {
            module->damaged++;
            continue;
        }
        unit.die = (uint64_t)(c.at - info.p);
        struct pending pending = {abbrev_offset, module->unit.n};
        if (as_vec_push(&module->unit, unit) < 0 || as_vec_push(list, pending) < 0)
            return AS_ERR_NOMEM;
    }
    return 0;
}

/* ---- Root DIE ----------------------------------------------------------------------------- */

/* Bases first: forms of other attributes need them, wherever they stand in the DIE. */
static void root_bases(struct as_dw_unit *unit, struct as_read c, const struct as_dw_abbrev *abbrev)
{
    const struct as_dw_attr *attr = as_dw_abbrev_attrs(unit->abbrevs, abbrev);
    for (uint32_t i = 0; i < abbrev->attrs && !c.bad; i++) {
        struct as_dw_value v;
        switch (attr[i].name) {
        case DW_AT_str_offsets_base:
            as_dw_form_read(unit, &c, &attr[i], &v);
            unit->str_offsets_base = v.u;
            break;
        case DW_AT_addr_base:
        case DW_AT_GNU_addr_base:
            as_dw_form_read(unit, &c, &attr[i], &v);
            unit->addr_base = v.u;
            break;
        case DW_AT_rnglists_base:
            as_dw_form_read(unit, &c, &attr[i], &v);
            unit->rnglists_base = v.u;
            break;
        case DW_AT_loclists_base:
            as_dw_form_read(unit, &c, &attr[i], &v);
            unit->loclists_base = v.u;
            break;
        case DW_AT_GNU_ranges_base:
            as_dw_form_read(unit, &c, &attr[i], &v);
            unit->ranges_base = v.u;
            break;
        default:
            as_dw_form_skip(unit, &c, attr[i].form);
            break;
        }
    }
}

static void root_attr(struct as_dw_unit *unit, uint16_t name, const struct as_dw_value *v)
{
    const char *s = v->kind == AS_DW_STRING ? v->s : NULL;
    switch (name) {
    case DW_AT_name:
        unit->name = s;
        break;
    case DW_AT_comp_dir:
        unit->comp_dir = s;
        break;
    case DW_AT_producer:
        unit->producer = s;
        break;
    case DW_AT_dwo_name:
    case DW_AT_GNU_dwo_name:
        unit->dwo_name = s;
        break;
    case DW_AT_GNU_dwo_id:
        unit->dwo_id = v->u;
        unit->has_dwo_id = true;
        break;
    case DW_AT_language:
        unit->language = (uint16_t)v->u;
        break;
    case DW_AT_stmt_list:
        if (v->kind == AS_DW_OFFSET || v->kind == AS_DW_UINT)
            unit->line_offset = v->u;
        break;
    case DW_AT_low_pc:
        if (v->kind == AS_DW_ADDRESS)
            unit->low_pc = v->u;
        break;
    default:
        break;
    }
}

static bool read_root(struct as_dw_unit *unit)
{
    struct as_read c = as_dw_read_of(unit->sec.at[AS_DW_INFO], unit->die, unit->end);
    const struct as_dw_abbrev *abbrev = as_dw_abbrev_find(unit->abbrevs, as_read_uleb(&c));
    if (c.bad || !abbrev)
        return false;
    unit->tag = abbrev->tag;
    root_bases(unit, c, abbrev);
    const struct as_dw_attr *attr = as_dw_abbrev_attrs(unit->abbrevs, abbrev);
    for (uint32_t i = 0; i < abbrev->attrs; i++) {
        struct as_dw_value v;
        as_dw_form_read(unit, &c, &attr[i], &v);
        if (c.bad)
            return false;
        root_attr(unit, attr[i].name, &v);
    }
    return true;
}

/* Sets the bases that a unit has if its root does not set them. */
static void default_bases(struct as_dw_unit *unit, const struct as_dw_unit *skeleton)
{
    bool wide = unit->offset_b == 8;
    if (unit->version >= 5) {
        unit->str_offsets_base = wide ? 16 : 8;
        unit->rnglists_base = unit->loclists_base = wide ? 20 : 12;
        unit->addr_base = wide ? 16 : 8;
    }
    if (skeleton) {
        unit->addr_base = skeleton->addr_base;
        unit->ranges_base = skeleton->ranges_base;
        unit->low_pc = skeleton->low_pc;
        unit->comp_dir = skeleton->comp_dir;
    }
}

/* ---- All units ---------------------------------------------------------------------------- */

static int by_abbrev(const void *a, const void *b)
{
    const struct pending *x = a, *y = b;
    if (x->abbrev_offset != y->abbrev_offset)
        return x->abbrev_offset < y->abbrev_offset ? -1 : 1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

/* One table of abbreviations for each offset, shared by the units that name it. */
static int read_abbrevs(struct as_dw_module *module, const struct as_dw_sections *sec,
                        pending_list *list)
{
    struct as_dw_abbrevs *table = NULL;
    bool good = false;
    if (list->n)
        qsort(list->at, list->n, sizeof *list->at, by_abbrev);
    as_vec_foreach (list, it) {
        if (!table || table->offset != it->abbrev_offset) {
            table = as_calloc(1, sizeof *table);
            if (!table || as_vec_push(&module->abbrevs, table) < 0) {
                as_free(table);
                return AS_ERR_NOMEM;
            }
            int rc = as_dw_abbrevs_read(sec->at[AS_DW_ABBREV], it->abbrev_offset, table);
            if (rc == AS_ERR_NOMEM)
                return rc;
            good = rc == 0;
        }
        module->unit.at[it->unit].abbrevs = table;
        module->unit.at[it->unit].damaged = !good;
    }
    return 0;
}

int as_dw_units_read(struct as_dw_module *module, const struct as_dw_sections *sec)
{
    pending_list list = {0};
    int rc = read_headers(module, sec, &list);
    if (rc == 0)
        rc = read_abbrevs(module, sec, &list);
    as_vec_fini(&list);
    if (rc < 0)
        return rc;
    as_vec_foreach (&module->unit, unit) {
        default_bases(unit, module->skeleton);
        if (!unit->damaged)
            unit->damaged = !read_root(unit);
        module->damaged += unit->damaged;
    }
    return 0;
}

void as_dw_module_release(struct as_dw_module *module)
{
    as_vec_foreach (&module->abbrevs, it) {
        as_dw_abbrevs_release(*it);
        as_free(*it);
    }
    as_vec_fini(&module->abbrevs);
    as_vec_fini(&module->unit);
    *module = (struct as_dw_module){0};
}

void as_dw_definitions_release(struct as_dw_definitions *all)
{
    as_vec_fini(&all->of);
    as_vec_fini(&all->type);
    *all = (struct as_dw_definitions){0};
}

const struct as_dw_unit *as_dw_unit_at(const struct as_dw_module *module, uint64_t offset)
{
    size_t low = as_first_not(i, module->unit.n, module->unit.at[i].end <= offset);
    if (low == module->unit.n)
        return NULL;
    const struct as_dw_unit *unit = &module->unit.at[low];
    return offset >= unit->die && !unit->damaged ? unit : NULL;
}
