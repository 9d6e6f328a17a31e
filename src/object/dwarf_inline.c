/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the subprograms and inlined subroutines of one unit. A walk over its DIEs keeps those with
 * code. Abstract origins and specifications, also in other units and in the dwz file, give names
 * and declarations. The ranges are flattened for look-up by address.
 * Source: DWARF 5, sections 3.3 and 2.17.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "object/dwarf_die.h"
#include "object/order.h"

#define DEPTH_MOST 1024 /* max nesting of DIEs; real programs stay below 100 */
#define CHAIN_MOST 16   /* max origins and specifications that are followed; real chains have 3 */
#define KNOWN_BITS 8    /* log2 of the number of cached origins */

/* ---- Names -------------------------------------------------------------------------------- */

struct identity {
    const char *name;
    uint32_t decl_file, decl_line;
    uint32_t user; /* index into as_unit of the last origin */
};

uint32_t as_dw_file_of(const struct as_dw_unit *unit, struct as_dw_line_table *const *tables,
                       uint64_t number)
{
    if (unit->line_table == AS_NONE)
        return AS_NONE;
    const struct as_dw_line_table *table = tables[unit->line_table];
    return number < table->file_n ? table->file[number] : AS_NONE;
}

const struct as_dw_unit *as_dw_unit_of(const struct as_dw_unit *from, const struct as_dw_value *ref)
{
    if (ref->kind == AS_DW_REF_ALT)
        return from->module->alt ? as_dw_unit_at(from->module->alt, ref->u) : NULL;
    if (ref->kind != AS_DW_REF)
        return NULL;
    if (ref->u >= from->die && ref->u < from->end)
        return from;
    return as_dw_unit_at(from->module, ref->u);
}

/* Follows the origins and specifications of `first` until name and declaration are known. */
static void identify(const struct as_dw_unit *unit, struct as_dw_line_table *const *tables,
                     const struct as_dw_die *first, struct identity *out)
{
    struct as_dw_die die = *first;
    const char *plain = NULL;
    *out = (struct identity){.decl_file = AS_NONE, .user = unit->user};
    for (int i = 0; i < CHAIN_MOST; i++) {
        if (!plain)
            plain = die.name;
        if (!out->decl_line && die.decl_line) {
            out->decl_line = die.decl_line > UINT32_MAX ? 0 : (uint32_t)die.decl_line;
            /* A specification may omit the file, which the next DIE of the chain then has. */
        }
        if (out->decl_file == AS_NONE && die.has_decl_file)
            out->decl_file = as_dw_file_of(unit, tables, die.decl_file);
        if (die.linkage && !out->name)
            out->name = die.linkage;
        /* A clone may have a linkage name (_ZN...C1Ev), while its origin has the declaration. */
        if (out->name && out->decl_line && out->decl_file != AS_NONE)
            break;
        const struct as_dw_value *ref = die.origin.kind          ? &die.origin
                                        : die.specification.kind ? &die.specification
                                                                 : NULL;
        uint64_t offset = ref ? ref->u : 0;
        const struct as_dw_unit *next = ref ? as_dw_unit_of(unit, ref) : NULL;
        if (!next)
            break;
        struct as_read c = as_dw_read_of(next->sec.at[AS_DW_INFO], offset, next->end);
        const struct as_dw_abbrev *abbrev = as_dw_abbrev_find(next->abbrevs, as_read_uleb(&c));
        if (c.bad || !abbrev)
            break;
        unit = next;
        if (unit->user != AS_NONE)
            out->user = unit->user;
        as_dw_die_read(unit, &c, abbrev, &die);
    }
    if (!out->name)
        out->name = plain;
}

/* A cached origin of the current unit, with its identity. */
struct known_origin {
    uint64_t origin; /* any value is possible in a damaged file */
    struct identity is;
    bool is_set;
};

/*
 * Does the work of identify, with a cache of origins. An inlined instance often has an origin
 * only. Other inlined calls nearby have the same origin.
 */
static void identify_once(const struct as_dw_unit *unit, struct as_dw_line_table *const *tables,
                          const struct as_dw_die *die, struct known_origin *known,
                          struct identity *out)
{
    if (die->name || die->linkage || die->decl_line || die->has_decl_file ||
        die->origin.kind != AS_DW_REF) {
        identify(unit, tables, die, out);
        return;
    }
    struct known_origin *k = &known[die->origin.u * 0x9e3779b97f4a7c15u >> (64 - KNOWN_BITS)];
    if (!k->is_set || k->origin != die->origin.u) {
        k->is_set = true;
        k->origin = die->origin.u;
        identify(unit, tables, die, &k->is);
    }
    *out = k->is;
}

/* ---- Walk --------------------------------------------------------------------------------- */

struct inline_walk {
    const struct as_dw_unit *unit;
    struct as_dw_line_table *const *tables;
    const struct as_dw_file *main;
    struct as_dw_inlines *out;
    size_t ranges_most;              /* max number of ranges; stops a crafted file with loops */
    uint32_t parent[DEPTH_MOST + 1]; /* innermost instance at each depth */
    struct known_origin known[1 << KNOWN_BITS];
    bool artificial; /* unit "<artificial>", which contains the code of link-time optimisation */
};

/* Appends the ranges of `die` that are in code. Returns false if there are none. */
static bool append_die_ranges(struct inline_walk *w, const struct as_dw_die *die, uint32_t owner,
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
        if (start < end && as_vec_push(range, (struct as_range){start, end, 0}) < 0)
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

/* Appends `die` if it has code. Returns its index; else `parent` for an inlined instance,
 * AS_NONE for a subprogram. */
static uint32_t add_inline_instance(struct inline_walk *w, const struct as_dw_die *die,
                                    bool is_inlined, uint32_t parent)
{
    uint32_t owner = (uint32_t)w->out->at.n, first;
    uint32_t otherwise = is_inlined ? parent : AS_NONE;
    if (!append_die_ranges(w, die, owner, &first))
        return otherwise;
    struct identity id;
    identify_once(w->unit, w->tables, die, w->known, &id);
    struct as_inline entry = {.name = id.name ? id.name : "",
                              .parent = is_inlined ? parent : AS_NONE,
                              .unit = w->artificial ? id.user : w->unit->user,
                              .decl_file = id.decl_file,
                              .decl_line = id.decl_line,
                              .call_file = AS_NONE,
                              .first_range = first,
                              .ranges = (uint32_t)w->out->range.n - first};
    if (is_inlined) {
        if (die->has_call_file)
            entry.call_file = as_dw_file_of(w->unit, w->tables, die->call_file);
        entry.call_line = narrow(die->call_line);
        entry.call_column = narrow(die->call_column);
        if (parent != AS_NONE)
            entry.unit = w->out->at.at[parent].unit;
    }
    if (as_vec_push(&w->out->at, entry) < 0) {
        w->out->nomem = true;
        return otherwise;
    }
    return owner;
}

static void jump(struct as_read *c, const struct as_dw_unit *unit, uint64_t sibling)
{
    const uint8_t *to = unit->sec.at[AS_DW_INFO].p + sibling;
    if (sibling < unit->end && to > c->at)
        c->at = to;
}

/* Reads or skips one DIE. Sets `*inner` to the innermost instance that contains its children.
 * Returns true if the children must be walked. */
static bool walk_die(struct inline_walk *w, struct as_read *c, const struct as_dw_abbrev *abbrev,
                     uint32_t *inner)
{
    const struct as_dw_unit *unit = w->unit;
    const bool is_inlined = abbrev->tag == DW_TAG_inlined_subroutine;
    struct as_dw_die die;
    switch (abbrev->role) {
    case AS_DW_ROLE_INSTANCE:
        as_dw_die_read(unit, c, abbrev, &die);
        if (!c->bad && !die.is_declaration)
            *inner = add_inline_instance(w, &die, is_inlined, *inner);
        break;
    case AS_DW_ROLE_ABSTRACT:
        as_dw_die_skip(unit, c, abbrev, false);
        *inner = is_inlined ? *inner : AS_NONE;
        break;
    case AS_DW_ROLE_LEAF: {
        const uint64_t sibling = as_dw_die_skip(unit, c, abbrev, true);
        const uint8_t *before = c->at;
        if (sibling && !c->bad)
            jump(c, unit, sibling);
        return c->at == before;
    }
    default:
        as_dw_die_skip(unit, c, abbrev, false);
        break;
    }
    return abbrev->children;
}

static void walk_dies(struct inline_walk *w, struct as_read *c)
{
    const struct as_dw_unit *unit = w->unit;
    unsigned depth = 0;
    w->parent[0] = AS_NONE;
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
        const bool descend = walk_die(w, c, abbrev, &inner);
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
    /* A range has at least two bytes, and at most two DIEs of a valid file share a list. */
    w.ranges_most = unit->sec.at[AS_DW_RANGES].n + unit->sec.at[AS_DW_RNGLISTS].n +
                    (size_t)(unit->end - unit->die);
    w.artificial = unit->name && strcmp(unit->name, "<artificial>") == 0;
    struct as_read c = as_dw_read_of(unit->sec.at[AS_DW_INFO], unit->die, unit->end);
    walk_dies(&w, &c);
}

/* ---- Look-up ------------------------------------------------------------------------------ */

static int by_nesting(const void *a, const void *b)
{
    const struct as_range *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return (x->owner > y->owner) - (x->owner < y->owner);
}

/* Sorts the ranges with one start address; most groups are small. */
static void sort_equal_starts(struct as_range *at, size_t n)
{
    if (n > 32) {
        qsort(at, n, sizeof *at, by_nesting);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        const struct as_range moved = at[i];
        size_t j = i;
        for (; j > 0 && by_nesting(&at[j - 1], &moved) > 0; j--)
            at[j] = at[j - 1];
        at[j] = moved;
    }
}

static int sort_by_nesting(const struct as_range *range, size_t n, struct as_range *out)
{
    struct as_keyed *keyed = as_malloc_table(2 * n, sizeof *keyed);
    if (!keyed)
        return AS_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        keyed[i] = (struct as_keyed){range[i].start, (uint32_t)i};
    as_order_by_key(keyed, n);
    for (size_t i = 0; i < n; i++)
        out[i] = range[keyed[i].index];
    as_free(keyed);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && out[end].start == out[i].start; end++)
            ;
        sort_equal_starts(out + i, end - i);
    }
    return 0;
}

struct flat {
    struct as_dw_segment *at;
    size_t n;
    struct as_range *stack;
    size_t depth;
};

static void mark_segment(struct flat *f, uint64_t start)
{
    uint32_t owner = f->depth ? f->stack[f->depth - 1].owner : AS_NONE;
    if (f->n && f->at[f->n - 1].start == start)
        f->n--;
    if (f->n && f->at[f->n - 1].owner == owner)
        return;
    f->at[f->n++] = (struct as_dw_segment){start, owner};
}

/* Closes the ranges that end at or before `to`. A range that overlaps without nesting is cut. */
static void close_until(struct flat *f, uint64_t to)
{
    while (f->depth && f->stack[f->depth - 1].end <= to) {
        uint64_t end = f->stack[f->depth - 1].end;
        while (f->depth && f->stack[f->depth - 1].end <= end)
            f->depth--;
        mark_segment(f, end);
    }
}

int as_dw_inlines_flatten(const struct as_range *range, size_t range_n, struct as_dw_segment **out,
                          size_t *n)
{
    *out = NULL;
    *n = 0;
    if (range_n == 0)
        return 0;
    /* Each range begins one segment and ends one. */
    struct flat f = {.at = as_malloc_large(range_n, 2 * sizeof *f.at),
                     .stack = as_realloc(NULL, range_n, sizeof *f.stack)};
    struct as_range *sorted = as_malloc_table(range_n, sizeof *sorted);
    if (!f.at || !f.stack || !sorted || sort_by_nesting(range, range_n, sorted) < 0) {
        as_free(f.at);
        as_free(f.stack);
        as_free(sorted);
        return AS_ERR_NOMEM;
    }
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
