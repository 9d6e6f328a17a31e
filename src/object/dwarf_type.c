/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types of variables: what a pointer points to, extents of arrays, members of records by offset.
 * Source: DWARF 5, chapter 5; Fortran arrays behind descriptors by section 5.18.
 */
#include <dwarf.h>
#include <stdio.h>

#include "object/dwarf_variable.h"

#define NESTED_MOST 16 /* records inside records */
#define MEMBERS_MOST                                                                               \
    20000 /* looked at for one byte: in foreign bytes records may nest in circles */

static bool is_see_through(unsigned tag)
{
    switch (tag) {
    case DW_TAG_typedef:
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
        return true;
    default:
        return false;
    }
}

/* True for a record that its unit only declares; `*definition` then leads to its definition. */
static bool is_declared(struct as_type_ref ref, unsigned tag, const struct as_dw_data_die *die,
                        struct as_type_ref *definition)
{
    if (!die->is_declaration ||
        (tag != DW_TAG_structure_type && tag != DW_TAG_class_type && tag != DW_TAG_union_type))
        return false;
    *definition = as_dw_definition_of(ref);
    return definition->unit;
}

/* The DIE of a type behind its names and qualifiers; NULL: none. */
static const struct as_dw_abbrev *type_die(struct as_type_ref *ref, struct as_read *c,
                                           struct as_dw_data_die *die)
{
    for (int i = 0; i < AS_DW_CHAIN_MOST && ref->unit; i++) {
        const struct as_dw_unit *unit = ref->unit;
        const struct as_dw_abbrev *abbrev = as_dw_data_die_at(unit, ref->at, c, die);
        struct as_type_ref definition;
        if (abbrev && is_declared(*ref, abbrev->tag, die, &definition)) {
            *ref = definition;
            continue;
        }
        if (!abbrev || !is_see_through(abbrev->tag))
            return abbrev;
        *ref = as_dw_type_ref(unit, &die->type);
    }
    return NULL;
}

static bool is_constant(const struct as_dw_value *v)
{
    return v->kind == AS_DW_UINT || v->kind == AS_DW_SINT;
}

/* ---- Arrays -------------------------------------------------------------------------------- */

static int64_t extent_of(const struct as_dw_data_die *die, bool fortran)
{
    const int64_t lower = is_constant(&die->lower) ? (int64_t)die->lower.u : fortran ? 1 : 0;
    int64_t n = 0;

    if (is_constant(&die->count))
        n = (int64_t)die->count.u;
    else if (is_constant(&die->upper) &&
             (die->lower.kind == AS_DW_NONE || is_constant(&die->lower)))
        n = (int64_t)(die->upper.u - (uint64_t)lower + 1);
    return n > 0 ? n : 0;
}

/* Place of the stride in a descriptor: its expression begins with "object address, plus N,
 * dereference". 0: not known. */
static int64_t stride_place(const struct as_dw_data_die *die)
{
    struct as_read c = as_read_of(die->byte_stride.s, die->byte_stride.u);

    if (die->byte_stride.kind != AS_DW_BLOCK || as_read_u8(&c) != DW_OP_push_object_address ||
        as_read_u8(&c) != DW_OP_plus_uconst)
        return 0;
    const uint64_t at = as_read_uleb(&c);
    return as_read_u8(&c) == DW_OP_deref && !c.bad && at < UINT16_MAX ? (int64_t)at : 0;
}

/* Reads the dimensions behind an array's DIE. */
static void read_extents(const struct as_dw_unit *unit, struct as_read *c, struct as_type *out)
{
    while (!c->bad && out->rank < AS_RANK_MAX) {
        struct as_dw_data_die die;
        const struct as_dw_abbrev *abbrev = as_dw_abbrev_find(unit->abbrevs, as_read_uleb(c));
        if (c->bad || !abbrev || abbrev->children)
            return;
        as_dw_data_die_read(unit, c, abbrev, &die);
        if (abbrev->tag != DW_TAG_subrange_type)
            continue;
        out->stride_at[out->rank] = stride_place(&die);
        out->extent[out->rank++] = extent_of(&die, out->is_fortran);
    }
}

/* Arrays of arrays have a size of their own, or none is known. */
static void size_array(struct as_type *out)
{
    struct as_type_ref element = out->target;
    struct as_dw_data_die die;
    struct as_read c;
    const bool known = type_die(&element, &c, &die) && is_constant(&die.byte_size);
    uint64_t size_b = known ? die.byte_size.u : 0;

    for (unsigned i = 0; i < out->rank; i++)
        if (__builtin_mul_overflow(size_b, (uint64_t)out->extent[i], &size_b))
            size_b = 0;
    out->size_b = size_b;
}

void as_type_get(struct as_type_ref ref, struct as_type *out)
{
    struct as_dw_data_die die;
    struct as_read c;
    const struct as_dw_abbrev *abbrev = type_die(&ref, &c, &die);
    const struct as_dw_unit *unit = ref.unit;

    *out = (struct as_type){0};
    if (!abbrev)
        return;
    out->is_fortran = as_dw_is_fortran(unit);
    out->size_b = is_constant(&die.byte_size) ? die.byte_size.u : 0;
    switch (abbrev->tag) {
    case DW_TAG_base_type:
    case DW_TAG_enumeration_type:
        out->kind = AS_TYPE_NUMBER;
        break;
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        out->kind = AS_TYPE_POINTER;
        out->is_reference = abbrev->tag != DW_TAG_pointer_type;
        out->target = as_dw_type_ref(unit, &die.type);
        out->size_b = out->size_b ? out->size_b : unit->address_b;
        break;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        out->kind = AS_TYPE_RECORD;
        break;
    case DW_TAG_array_type:
        out->kind = AS_TYPE_ARRAY;
        out->described = die.has_data_location;
        out->is_allocated = die.has_allocated;
        out->target = as_dw_type_ref(unit, &die.type);
        if (abbrev->children)
            read_extents(unit, &c, out);
        if (!out->size_b && !out->described)
            size_array(out);
        break;
    default:
        break;
    }
}

/* ---- Members ------------------------------------------------------------------------------- */

/* Passes what is below a DIE that has children. */
static void skip_children(const struct as_dw_unit *unit, struct as_read *c)
{
    for (unsigned depth = 1; depth && !c->bad;) {
        const uint64_t code = as_read_uleb(c);
        const struct as_dw_abbrev *abbrev = code ? as_dw_abbrev_find(unit->abbrevs, code) : NULL;
        struct as_dw_data_die ignored;
        if (!code) {
            depth--;
            continue;
        }
        if (!abbrev) {
            as_read_fail(c);
            return;
        }
        as_dw_data_die_read(unit, c, abbrev, &ignored);
        depth += abbrev->children;
    }
}

static uint64_t bytes_of(struct as_type_ref ref)
{
    struct as_type type;

    as_type_get(ref, &type);
    if (type.kind == AS_TYPE_ARRAY && type.described) /* a descriptor: head and dimensions */
        return (type.rank ? (uint64_t)type.stride_at[type.rank - 1] : 0) + 24;
    return type.size_b;
}

/* Names that begin so are reserved for compilers and their libraries. */
static bool is_reserved(const char *name)
{
    return name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'));
}

/* A walk over the members of a record: the record's DIE, and what comes next. */
struct member_walk {
    const struct as_dw_unit *unit;
    struct as_read c;
    struct as_dw_data_die die; /* of the member at hand */
    bool is_base;
    unsigned *left; /* members that may still be looked at */
};

static bool start_members(struct as_type_ref record, struct member_walk *w)
{
    const struct as_dw_abbrev *abbrev = type_die(&record, &w->c, &w->die);

    w->unit = record.unit;
    return abbrev && abbrev->children &&
           (abbrev->tag == DW_TAG_structure_type || abbrev->tag == DW_TAG_class_type);
}

/* The next member or base at a constant place; false at the end. */
static bool next_member(struct member_walk *w)
{
    for (;;) {
        const struct as_dw_abbrev *abbrev =
            as_dw_abbrev_find(w->unit->abbrevs, as_read_uleb(&w->c));
        if (w->c.bad || !abbrev || !*w->left)
            return false;
        --*w->left;
        as_dw_data_die_read(w->unit, &w->c, abbrev, &w->die);
        if (abbrev->children)
            skip_children(w->unit, &w->c);
        w->is_base = abbrev->tag == DW_TAG_inheritance;
        if (abbrev->tag != DW_TAG_member && !w->is_base)
            continue;
        if (!w->die.is_declaration &&
            (w->die.member_location.kind == AS_DW_NONE || is_constant(&w->die.member_location)))
            return true;
    }
}

/* Appends a name to the path; false: it is too long. */
static bool add_name(struct as_member *out, const char *name, bool fortran)
{
    const size_t n = strlen(out->path);
    const int more =
        snprintf(out->path + n, sizeof out->path - n, "%s%s", n ? (fortran ? "%" : ".") : "", name);

    return more >= 0 && (size_t)more < sizeof out->path - n;
}

/* An empty base may stand where a member begins: the member is what holds the byte. */
static bool find_member(struct as_type_ref record, uint64_t offset_b, int depth, unsigned *left,
                        struct as_member *out)
{
    const size_t n = strlen(out->path);
    struct member_walk w = {.left = left};

    if (depth == NESTED_MOST || !start_members(record, &w))
        return false;
    while (next_member(&w)) {
        const uint64_t at = w.die.member_location.u;
        const struct as_type_ref ref = as_dw_type_ref(w.unit, &w.die.type);
        struct as_type type;
        if (offset_b < at || !ref.unit || offset_b - at >= bytes_of(ref))
            continue;
        if (!w.is_base && w.die.name && *w.die.name && !is_reserved(w.die.name) &&
            !add_name(out, w.die.name, as_dw_is_fortran(w.unit)))
            return false;
        as_type_get(ref, &type);
        if (type.kind != AS_TYPE_RECORD) {
            out->type = ref;
            out->offset_b = offset_b - at;
            return true;
        }
        if (find_member(ref, offset_b - at, depth + 1, left, out))
            return true;
        out->path[n] = 0;
    }
    return false;
}

bool as_type_member(struct as_type_ref record, uint64_t offset_b, struct as_member *out)
{
    unsigned left = MEMBERS_MOST;

    *out = (struct as_member){0};
    return find_member(record, offset_b, 0, &left, out);
}
