/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subprograms and inlined subroutines of one unit: a walk over its DIEs that keeps those with
 * code, their names and declarations through abstract origins and specifications (in other units
 * and in the dwz file too), and the flattening of their ranges for look-up by address.
 * Source: DWARF 5, sections 3.3 and 2.17.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "object/dwarf_internal.h"

#define DEPTH_MOST 1024 /* nesting of DIEs; real programs stay below 100 */
#define CHAIN_MOST 16   /* origins and specifications followed for a name; real ones are 3 */

struct die {
    struct as_dw_value low, high, ranges, origin, specification;
    const char *name, *linkage;
    uint64_t decl_file, decl_line, call_file, call_line, call_column, sibling;
    bool has_decl_file, has_call_file, is_declaration;
};

static bool is_number(const struct as_dw_value *v)
{
    return v->kind == AS_DW_UINT || v->kind == AS_DW_SINT;
}

static void take_name(struct die *die, uint16_t name, const struct as_dw_value *v)
{
    if (v->kind != AS_DW_STRING)
        return;
    if (name == DW_AT_name)
        die->name = v->s;
    else
        die->linkage = v->s;
}

static void take_attr(struct die *die, uint16_t name, const struct as_dw_value *v)
{
    switch (name) {
    case DW_AT_sibling:
        die->sibling = v->kind == AS_DW_REF ? v->u : 0;
        break;
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
        take_name(die, name, v);
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

/* What take_attr takes; the rest (types, frames, calls) is passed over unread. */
static bool is_taken(unsigned name)
{
    switch (name) {
    case DW_AT_type:
    case DW_AT_external:
    case DW_AT_frame_base:
    case DW_AT_object_pointer:
    case DW_AT_decl_column:
    case DW_AT_accessibility:
    case DW_AT_artificial:
    case DW_AT_prototyped:
    case DW_AT_inline:
    case DW_AT_entry_pc:
    case DW_AT_GNU_entry_view:
    case DW_AT_call_all_calls:
    case DW_AT_call_all_tail_calls:
    case DW_AT_containing_type:
        return false;
    default:
        return true;
    }
}

static void read_die(const struct as_dw_unit *unit, struct as_read *c,
                     const struct as_dw_abbrev *abbrev, struct die *die)
{
    const struct as_dw_attr *attr = as_dw_abbrev_attrs(unit->abbrevs, abbrev);
    *die = (struct die){0};
    for (uint32_t i = 0; i < abbrev->attrs && !c->bad; i++) {
        struct as_dw_value v;
        if (!is_taken(attr[i].name)) {
            as_dw_form_skip(unit, c, attr[i].form);
            continue;
        }
        as_dw_form_read(unit, c, &attr[i], &v);
        take_attr(die, attr[i].name, &v);
    }
}

/* Passes the attributes of a DIE that is of no interest; its sibling, when it says one, else 0. */
static uint64_t skip_die(const struct as_dw_unit *unit, struct as_read *c,
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
        if (attr[i].name == DW_AT_sibling) {
            struct as_dw_value v;
            as_dw_form_read(unit, c, &attr[i], &v);
            sibling = v.kind == AS_DW_REF ? v.u : 0;
        } else {
            as_dw_form_skip(unit, c, attr[i].form);
        }
    }
    return sibling;
}

/* ---- Names -------------------------------------------------------------------------------- */

struct identity {
    const char *name;
    uint32_t decl_file, decl_line;
    uint32_t user; /* unit of the outermost origin */
};

static uint32_t file_of(const struct as_dw_unit *unit, struct as_dw_line_table *const *tables,
                        uint64_t number)
{
    if (unit->line_table == ASSAY_NONE)
        return ASSAY_NONE;
    const struct as_dw_line_table *table = tables[unit->line_table];
    return number < table->file_n ? table->file[number] : ASSAY_NONE;
}

static const struct as_dw_unit *target(const struct as_dw_unit *from, const struct as_dw_value *ref)
{
    if (ref->kind == AS_DW_REF_ALT)
        return from->module->alt ? as_dw_unit_at(from->module->alt, ref->u) : NULL;
    if (ref->kind != AS_DW_REF)
        return NULL;
    if (ref->u >= from->die && ref->u < from->end)
        return from;
    return as_dw_unit_at(from->module, ref->u);
}

/* Follows origins and specifications of `die` until name and declaration are known. */
static void identify(const struct as_dw_unit *unit, struct as_dw_line_table *const *tables,
                     const struct die *first, struct identity *out)
{
    struct die die = *first;
    const char *plain = NULL;
    *out = (struct identity){.decl_file = ASSAY_NONE, .user = unit->user};
    for (int i = 0; i < CHAIN_MOST; i++) {
        if (!plain)
            plain = die.name;
        if (!out->decl_line && die.decl_line) {
            out->decl_line = die.decl_line > UINT32_MAX ? 0 : (uint32_t)die.decl_line;
            /* A specification repeats only what differs: the file may stand further on. */
        }
        if (out->decl_file == ASSAY_NONE && die.has_decl_file)
            out->decl_file = file_of(unit, tables, die.decl_file);
        if (die.linkage && !out->name)
            out->name = die.linkage;
        /* A clone may name itself (_ZN...C1Ev) and leave the declaration to its origin. */
        if (out->name && out->decl_line && out->decl_file != ASSAY_NONE)
            break;
        const struct as_dw_value *ref = die.origin.kind          ? &die.origin
                                        : die.specification.kind ? &die.specification
                                                                 : NULL;
        uint64_t offset = ref ? ref->u : 0;
        const struct as_dw_unit *next = ref ? target(unit, ref) : NULL;
        if (!next)
            break;
        struct as_read c = as_dw_read_of(next->sec.at[AS_DW_INFO], offset, next->end);
        const struct as_dw_abbrev *abbrev = as_dw_abbrev_find(next->abbrevs, as_read_uleb(&c));
        if (c.bad || !abbrev)
            break;
        unit = next;
        if (unit->user != ASSAY_NONE)
            out->user = unit->user;
        read_die(unit, &c, abbrev, &die);
    }
    if (!out->name)
        out->name = plain;
}

/* ---- Walk --------------------------------------------------------------------------------- */

struct inline_walk {
    const struct as_dw_unit *unit;
    struct as_dw_line_table *const *tables;
    const struct as_dw_file *main;
    struct as_dw_inlines *out;
    size_t ranges_most;              /* more than the sections can hold: a loop was built */
    uint32_t parent[DEPTH_MOST + 1]; /* innermost instance at each depth */
    bool artificial;                 /* the unit in which link-time optimisation puts its code */
};

/* Appends the ranges of `die` that lead to code; false when there are none. */
static bool take_ranges(struct inline_walk *w, const struct die *die, uint32_t owner,
                        uint32_t *first)
{
    as_dw_ranges *range = &w->out->range;
    size_t from = range->n;
    *first = (uint32_t)from;
    if (die->ranges.kind) {
        if (!as_dw_ranges_read(w->unit, &die->ranges, range, &w->out->nomem))
            w->out->damaged = true;
    } else if (die->low.kind == AS_DW_ADDRESS && die->high.kind) {
        uint64_t start = die->low.u;
        uint64_t end = die->high.kind == AS_DW_ADDRESS ? die->high.u : start + die->high.u;
        if (start < end && as_vec_push(range, (struct assay_range){start, end, 0}) < 0)
            w->out->nomem = true;
    }
    size_t kept = from;
    for (size_t i = from; i < range->n; i++) {
        if (as_dw_is_code(w->main, range->at[i].start)) {
            range->at[kept] = range->at[i];
            range->at[kept++].owner = owner;
        }
    }
    range->n = kept;
    if (range->n > w->ranges_most)
        w->out->damaged = true;
    return kept > from;
}

static uint32_t narrow(uint64_t v)
{
    return v > UINT32_MAX ? 0 : (uint32_t)v;
}

/* Keeps `die` if it has code; the index of its entry, or `parent` / ASSAY_NONE. */
static uint32_t take_instance(struct inline_walk *w, const struct die *die, bool is_inlined,
                              uint32_t parent)
{
    uint32_t owner = (uint32_t)w->out->at.n, first;
    uint32_t otherwise = is_inlined ? parent : ASSAY_NONE;
    if (!take_ranges(w, die, owner, &first))
        return otherwise;
    struct identity id;
    identify(w->unit, w->tables, die, &id);
    struct assay_inline entry = {.name = id.name ? id.name : "",
                                 .parent = is_inlined ? parent : ASSAY_NONE,
                                 .unit = w->artificial ? id.user : w->unit->user,
                                 .decl_file = id.decl_file,
                                 .decl_line = id.decl_line,
                                 .call_file = ASSAY_NONE,
                                 .first_range = first,
                                 .ranges = (uint32_t)w->out->range.n - first};
    if (is_inlined) {
        if (die->has_call_file)
            entry.call_file = file_of(w->unit, w->tables, die->call_file);
        entry.call_line = narrow(die->call_line);
        entry.call_column = narrow(die->call_column);
        if (parent != ASSAY_NONE)
            entry.unit = w->out->at.at[parent].unit;
    }
    if (as_vec_push(&w->out->at, entry) < 0) {
        w->out->nomem = true;
        return otherwise;
    }
    return owner;
}

/* Whether everything below such a DIE is of no interest. */
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

static void jump(struct as_read *c, const struct as_dw_unit *unit, uint64_t sibling)
{
    const uint8_t *to = unit->sec.at[AS_DW_INFO].p + sibling;
    if (sibling < unit->end && to > c->at)
        c->at = to;
}

static void walk_dies(struct inline_walk *w, struct as_read *c)
{
    const struct as_dw_unit *unit = w->unit;
    unsigned depth = 0;
    w->parent[0] = ASSAY_NONE;
    while (c->at < c->end && !w->out->nomem && !w->out->damaged) {
        uint64_t code = as_read_uleb(c);
        if (code == 0) {
            if (depth == 0)
                break;
            depth--;
            continue;
        }
        const struct as_dw_abbrev *abbrev = as_dw_abbrev_find(unit->abbrevs, code);
        if (!abbrev) {
            w->out->damaged = true;
            return;
        }
        uint32_t inner = w->parent[depth];
        bool descend = abbrev->children;
        if (abbrev->tag == DW_TAG_subprogram || abbrev->tag == DW_TAG_inlined_subroutine) {
            struct die die;
            read_die(unit, c, abbrev, &die);
            bool is_inlined = abbrev->tag == DW_TAG_inlined_subroutine;
            if (!c->bad && !die.is_declaration)
                inner = take_instance(w, &die, is_inlined, inner);
        } else {
            bool leaf = descend && is_leaf_tree(abbrev->tag);
            uint64_t sibling = skip_die(unit, c, abbrev, leaf);
            if (leaf && sibling && !c->bad) {
                const uint8_t *before = c->at;
                jump(c, unit, sibling);
                descend = c->at == before;
            }
        }
        if (descend && ++depth > DEPTH_MOST) {
            w->out->damaged = true;
            return;
        }
        if (descend)
            w->parent[depth] = inner;
    }
    w->out->damaged |= c->bad;
}

void as_dw_inlines_read(const struct as_dw_unit *unit, struct as_dw_line_table *const *tables,
                        const struct as_dw_file *main, struct as_dw_inlines *out)
{
    if (unit->damaged)
        return;
    struct inline_walk w = {.unit = unit, .tables = tables, .main = main, .out = out};
    /* A range takes two bytes at least, and an honest list is used by two DIEs at most. */
    w.ranges_most = unit->sec.at[AS_DW_RANGES].n + unit->sec.at[AS_DW_RNGLISTS].n +
                    (size_t)(unit->end - unit->die);
    w.artificial = unit->name && strcmp(unit->name, "<artificial>") == 0;
    struct as_read c = as_dw_read_of(unit->sec.at[AS_DW_INFO], unit->die, unit->end);
    walk_dies(&w, &c);
}

/* ---- Look-up ------------------------------------------------------------------------------ */

static int by_nesting(const void *a, const void *b)
{
    const struct assay_range *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return (x->owner > y->owner) - (x->owner < y->owner);
}

struct flat {
    struct as_dw_segment *at;
    size_t n;
    struct assay_range *stack;
    size_t depth;
};

static void mark_segment(struct flat *f, uint64_t start)
{
    uint32_t owner = f->depth ? f->stack[f->depth - 1].owner : ASSAY_NONE;
    if (f->n && f->at[f->n - 1].start == start)
        f->n--;
    if (f->n && f->at[f->n - 1].owner == owner)
        return;
    f->at[f->n++] = (struct as_dw_segment){start, owner};
}

/* Closes what ends at or before `to`. Ranges that overlap without nesting are cut, not trusted. */
static void close_until(struct flat *f, uint64_t to)
{
    while (f->depth && f->stack[f->depth - 1].end <= to) {
        uint64_t end = f->stack[f->depth - 1].end;
        while (f->depth && f->stack[f->depth - 1].end <= end)
            f->depth--;
        mark_segment(f, end);
    }
}

int as_dw_inlines_flatten(const struct assay_range *range, size_t range_n,
                          struct as_dw_segment **out, size_t *n)
{
    *out = NULL;
    *n = 0;
    if (range_n == 0)
        return 0;
    /* Each range opens one segment and closes one. */
    struct flat f = {.at = as_realloc(NULL, range_n, 2 * sizeof *f.at),
                     .stack = as_realloc(NULL, range_n, sizeof *f.stack)};
    struct assay_range *sorted = as_realloc(NULL, range_n, sizeof *sorted);
    if (!f.at || !f.stack || !sorted) {
        as_free(f.at);
        as_free(f.stack);
        as_free(sorted);
        return ASSAY_ERR_NOMEM;
    }
    memcpy(sorted, range, range_n * sizeof *sorted);
    qsort(sorted, range_n, sizeof *sorted, by_nesting);
    for (size_t i = 0; i < range_n; i++) {
        close_until(&f, sorted[i].start);
        f.stack[f.depth++] = sorted[i];
        mark_segment(&f, sorted[i].start);
    }
    close_until(&f, UINT64_MAX);
    as_free(f.stack);
    as_free(sorted);
    *out = f.at;
    *n = f.n;
    return 0;
}
