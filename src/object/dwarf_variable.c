/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the variables of some functions of one unit. A walk over its DIEs keeps the scopes with
 * code in a range of addresses, with their variables. It also keeps the variables of the file.
 * Source: DWARF 5, sections 3.3 to 3.5 and 4.1.
 */
#include "object/dwarf_variable.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"
#include "object/dwarf_die.h"
#include "object/internal.h"

#define DEPTH_MOST     1024    /* max nesting of DIEs, as in dwarf_inline.c */
#define VARIABLES_MOST 1000000 /* max variables of one unit */

enum { OUT_OF_RANGE = AS_NONE - 1 }; /* scope number of a DIE without code in the range */

/* ---- Origins -------------------------------------------------------------------------------- */

/* Takes name, type and file from the origins of a DIE if the DIE does not have them. */
static void complete_die(const struct as_dw_unit *unit, struct as_dw_line_table *const *tables,
                         struct as_dw_data_die *die, struct as_type_ref *type, uint32_t *file)
{
    struct as_dw_data_die at = *die;
    *type = as_dw_type_ref(unit, &die->type);
    *file = AS_NONE;
    for (int i = 0; i < AS_DW_CHAIN_MOST; i++) {
        struct as_read c;
        if (*file == AS_NONE && at.has_decl_file)
            *file = as_dw_file_of(unit, tables, at.decl_file);
        const struct as_dw_value *ref = at.origin.kind ? &at.origin : &at.specification;
        const struct as_dw_unit *next = ref->kind ? as_dw_unit_of(unit, ref) : NULL;
        if (!next || !as_dw_data_die_at(next, ref->u, &c, &at))
            return;
        unit = next;
        die->name = die->name ? die->name : at.name;
        die->linkage = die->linkage ? die->linkage : at.linkage;
        if (!type->unit)
            *type = as_dw_type_ref(unit, &at.type);
    }
}

/* ---- Walk ---------------------------------------------------------------------------------- */

struct data_walk {
    const struct as_dw_unit *unit;
    const struct as_dwarf *dwarf;
    uint64_t start, end;
    AS_VEC(struct as_data_variable) variable;
    as_dw_places place;
    AS_VEC(struct as_data_scope) scope;
    as_dw_ranges range;
    struct {
        uint32_t scope; /* AS_NONE: the file */
        struct as_dw_frame_base base;
    } at[DEPTH_MOST + 1];
    bool nomem, damaged;
};

/* Appends the ranges of a DIE. Returns false if none of them overlaps the requested range. */
static bool add_scope_ranges(struct data_walk *w, const struct as_dw_data_die *die)
{
    const size_t from = w->range.n;
    bool meets = false;
    if (die->ranges.kind) {
        if (!as_dw_ranges_read(w->unit, &die->ranges, &w->range, &w->nomem))
            w->range.n = from;
    } else if (die->low.kind == AS_DW_ADDRESS && die->high.kind) {
        const uint64_t start = die->low.u;
        const uint64_t end = die->high.kind == AS_DW_ADDRESS ? die->high.u : start + die->high.u;
        if (start < end && as_vec_push(&w->range, (struct as_range){start, end, 0}) < 0)
            w->nomem = true;
    }
    for (size_t i = from; i < w->range.n; i++)
        meets |= w->range.at[i].start < w->end && w->range.at[i].end > w->start;
    if (!meets)
        w->range.n = from;
    return meets;
}

/* Adds the scope of a function, an inlined call or a block. Returns the scope of its children. */
static uint32_t enter_scope(struct data_walk *w, unsigned tag, struct as_dw_data_die *die,
                            uint32_t parent)
{
    const bool is_function = tag == DW_TAG_subprogram;
    const bool is_block = tag == DW_TAG_lexical_block;
    const size_t from = w->range.n;
    if (!is_function && parent >= OUT_OF_RANGE)
        return parent;
    if (!add_scope_ranges(w, die)) /* a block may have no ranges; its parent is the scope then */
        return is_block && !die->ranges.kind && !die->low.kind ? parent : OUT_OF_RANGE;
    struct as_data_scope scope = {.parent = is_function ? AS_NONE : parent,
                                  .first_range = (uint32_t)from,
                                  .ranges = (uint32_t)(w->range.n - from),
                                  .file = AS_NONE,
                                  .is_block = is_block};
    if (!is_function)
        scope.depth = w->scope.at[parent].depth + 1;
    if (is_block)
        scope.file = w->scope.at[parent].file;
    else
        complete_die(w->unit, w->dwarf->table.at, die, &scope.result, &scope.file);
    if (as_vec_push(&w->scope, scope) < 0) {
        w->nomem = true;
        return OUT_OF_RANGE;
    }
    return (uint32_t)w->scope.n - 1;
}

static void add_variable(struct data_walk *w, struct as_dw_data_die *die, uint32_t scope,
                         const struct as_dw_frame_base *base)
{
    const bool is_elsewhere = scope == AS_NONE && die->is_declaration;
    struct as_data_variable it = {.scope = scope};
    uint32_t file;
    if (scope == OUT_OF_RANGE || (!die->location.kind && !is_elsewhere) ||
        w->variable.n >= VARIABLES_MOST)
        return;
    complete_die(w->unit, w->dwarf->table.at, die, &it.type, &file);
    it.name = die->name;
    it.linked = is_elsewhere ? (die->linkage ? die->linkage : die->name) : NULL;
    if (!it.name || !*it.name)
        return;
    const struct as_storage all = {.start = scope == AS_NONE ? 0 : w->start,
                                   .end = scope == AS_NONE ? UINT64_MAX : w->end,
                                   .variable = (uint32_t)w->variable.n};
    if (as_vec_push(&w->variable, it) < 0 ||
        as_dw_places_read(w->unit, &die->location, base, all, &w->place) < 0)
        w->nomem = true;
}

/*
 * Skips the children of a DIE with DW_AT_sibling if they contain no variable of interest: types,
 * and functions outside the range. Fortran functions are walked, because they may contain others.
 */
static bool skip_below(struct data_walk *w, struct as_read *c, unsigned tag, uint32_t scope,
                       uint64_t sibling)
{
    const uint8_t *to = w->unit->sec.at[AS_DW_INFO].p + sibling;
    switch (tag) {
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_array_type:
    case DW_TAG_subroutine_type:
    case DW_TAG_call_site:
    case DW_TAG_GNU_call_site:
        break;
    case DW_TAG_subprogram:
        if (scope == OUT_OF_RANGE && !as_dw_is_fortran(w->unit))
            break;
        return false;
    default:
        return false;
    }
    if (!sibling || sibling >= w->unit->end || to <= c->at)
        return false;
    c->at = to;
    return true;
}

/* Reads one DIE. Sets the scope and frame base of its children. Returns its sibling, or 0. */
static uint64_t walk_data_die(struct data_walk *w, struct as_read *c,
                              const struct as_dw_abbrev *abbrev, unsigned depth, uint32_t *scope,
                              struct as_dw_frame_base *base)
{
    struct as_dw_data_die die;
    *scope = w->at[depth].scope;
    *base = w->at[depth].base;
    switch (abbrev->tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
        as_dw_data_die_read(w->unit, c, abbrev, &die);
        if (die.frame_base.kind)
            *base = as_dw_frame_base_of(w->unit, &die.frame_base);
        if (!c->bad)
            *scope = enter_scope(w, abbrev->tag, &die, *scope);
        break;
    case DW_TAG_variable:
    case DW_TAG_formal_parameter:
        as_dw_data_die_read(w->unit, c, abbrev, &die);
        if (!c->bad)
            add_variable(w, &die, *scope, base);
        break;
    default:
        return as_dw_die_skip(w->unit, c, abbrev, abbrev->children);
    }
    return die.sibling.kind == AS_DW_REF ? die.sibling.u : 0;
}

static void walk_unit_data(struct data_walk *w)
{
    const struct as_dw_unit *unit = w->unit;
    struct as_read c = as_dw_read_of(unit->sec.at[AS_DW_INFO], unit->die, unit->end);
    unsigned depth = 0;
    w->at[0].scope = AS_NONE;
    w->at[0].base = (struct as_dw_frame_base){0};
    while (!c.bad && c.at < c.end && !w->nomem) {
        const uint64_t code = as_read_uleb(&c);
        if (!code) {
            if (depth == 0)
                return;
            depth--;
            continue;
        }
        const struct as_dw_abbrev *abbrev = as_dw_abbrev_find(unit->abbrevs, code);
        struct as_dw_frame_base base;
        uint32_t scope;
        if (!abbrev || depth == DEPTH_MOST) {
            w->damaged = true;
            return;
        }
        const uint64_t sibling = walk_data_die(w, &c, abbrev, depth, &scope, &base);
        if (!abbrev->children || skip_below(w, &c, abbrev->tag, scope, sibling))
            continue;
        depth++;
        w->at[depth].scope = scope;
        w->at[depth].base = base;
    }
    w->damaged |= c.bad;
}

/* ---- Door ---------------------------------------------------------------------------------- */

static int by_place_start(const void *a, const void *b)
{
    const struct as_storage *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->variable != y->variable)
        return x->variable < y->variable ? -1 : 1;
    return (x->part_b > y->part_b) - (x->part_b < y->part_b);
}

static void move_variables_out(struct data_walk *w, struct as_data_variables *out)
{
    if (w->place.n)
        qsort(w->place.at, w->place.n, sizeof *w->place.at, by_place_start);
    *out = (struct as_data_variables){
        .variable = w->variable.at,
        .variable_n = w->variable.n,
        .place = w->place.at,
        .place_n = w->place.n,
        .scope = w->scope.at,
        .scope_n = w->scope.n,
        .range = w->range.at,
        .range_n = w->range.n,
    };
}

/* Returns the unit of the function at `address`, or NULL if there is none. */
static const struct as_dw_unit *unit_of_code(const struct as_dwarf *dw, uint64_t address)
{
    const uint32_t at = as_dwarf_inline_at(dw, address);
    const uint32_t unit = at < dw->inline_n ? dw->inlines[at].unit : AS_NONE;

    return unit < dw->unit_dw.n && !dw->unit_dw.at[unit]->damaged ? dw->unit_dw.at[unit] : NULL;
}

/* Returns true for a unit with code that link-time optimisation moved there. */
static bool is_artificial(const struct as_dw_unit *unit)
{
    return !unit->damaged && unit->name && strcmp(unit->name, "<artificial>") == 0;
}

static void walk_units(struct data_walk *w, const struct as_dw_unit *first)
{
    w->unit = first;
    walk_unit_data(w);
    for (size_t i = 0; i < w->dwarf->unit_dw.n && !w->scope.n && !w->nomem; i++) {
        w->unit = w->dwarf->unit_dw.at[i];
        if (w->unit != first && is_artificial(w->unit))
            walk_unit_data(w);
    }
}

int as_object_variables(struct as_object *object, uint64_t start, uint64_t end,
                        struct as_data_variables *out, struct as_error *err)
{
    struct as_debug debug;
    *out = (struct as_data_variables){0};
    AS_TRY(as_object_debug(object, AS_DEBUG_UNITS | AS_DEBUG_INLINES, 1, &debug, NULL, err));
    const struct as_dw_unit *unit = object->dwarf ? unit_of_code(object->dwarf, start) : NULL;
    if (!unit)
        return 0;
    if (as_dw_definitions_find(object->dwarf) < 0)
        return as_error_nomem(err, "variables");
    struct data_walk *w = as_calloc(1, sizeof *w);
    if (!w)
        return as_error_nomem(err, "variables");
    w->dwarf = object->dwarf;
    w->start = start;
    w->end = end;
    walk_units(w, unit);
    move_variables_out(w, out);
    const bool nomem = w->nomem;
    as_free(w);
    if (!nomem)
        return 0;
    as_data_variables_free(out);
    return as_error_nomem(err, "variables");
}

void as_data_variables_free(struct as_data_variables *list)
{
    as_free(list->variable);
    as_free(list->place);
    as_free(list->scope);
    as_free(list->range);
    *list = (struct as_data_variables){0};
}

bool as_scope_holds(const struct as_data_variables *list, uint32_t scope, uint64_t pc)
{
    const struct as_data_scope *at = &list->scope[scope];

    for (uint32_t i = 0; i < at->ranges; i++)
        if (pc >= list->range[at->first_range + i].start &&
            pc < list->range[at->first_range + i].end)
            return true;
    return false;
}

/* Returns the innermost function or inlined call that contains `pc`, at a smaller depth than
 * `depth`. AS_NONE if there is none. */
static uint32_t function_above(const struct as_data_variables *list, uint64_t pc, uint32_t depth)
{
    uint32_t best = AS_NONE;

    for (uint32_t i = 0; i < list->scope_n; i++) {
        const struct as_data_scope *it = &list->scope[i];
        if (!it->is_block && it->depth < depth && as_scope_holds(list, i, pc) &&
            (best == AS_NONE || it->depth > list->scope[best].depth))
            best = i;
    }
    return best;
}

bool as_scope_returns_pointer(const struct as_data_variables *list, uint64_t pc, unsigned level)
{
    uint32_t at = function_above(list, pc, UINT32_MAX);
    struct as_type type;

    while (level-- && at != AS_NONE)
        at = function_above(list, pc, list->scope[at].depth);
    if (at == AS_NONE)
        return false;
    as_type_get(list->scope[at].result, &type);
    return type.kind == AS_TYPE_POINTER && !type.is_reference;
}
