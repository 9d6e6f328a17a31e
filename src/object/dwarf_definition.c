/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions of records that a unit only declares. clang describes a class in the units that
 * define its constructors or its key function; all others declare it. The one-definition rule of
 * C++ makes two records of one qualified name the same type. Type units are found by signature.
 * Names of records without linkage, and names that two definitions share, lead nowhere.
 * Source: DWARF 5, sections 3.1.4 and 5.7.1; ISO C++17, 6.2 [basic.def.odr].
 */
#include <dwarf.h>
#include <stdlib.h>

#include "base/index.h"
#include "base/search.h"
#include "object/dwarf_die.h"
#include "object/dwarf_variable.h"

#define DEFINITION_DEPTH_MOST 256 /* nesting of DIEs that have names of interest */
#define DEFINITIONS_MOST      4000000
#define FIRST_HASH            7

/* A record of a qualified name. */
struct named_record {
    uint64_t hash, size_b;
    struct as_type_ref at;
    uint32_t order; /* of the walk */
};

typedef AS_VEC(struct named_record) named_record_list;

struct definition_walk {
    const struct as_dw_unit *unit;
    struct as_dw_definitions *out;
    named_record_list definition, declaration;
    struct {
        uint64_t hash;
        bool open;      /* what is declared below has linkage */
        bool is_record; /* its name has no arguments of a template */
    } at[DEFINITION_DEPTH_MOST + 1];
    bool plain_templates; /* names of templates leave the arguments out */
};

/* ---- Order ----------------------------------------------------------------------------------- */

static int by_record_hash(const void *a, const void *b)
{
    const struct named_record *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static int compare_type_refs(struct as_type_ref x, struct as_type_ref y)
{
    if (x.unit != y.unit)
        return (uintptr_t)x.unit < (uintptr_t)y.unit ? -1 : 1;
    return (x.at > y.at) - (x.at < y.at);
}

static int by_declaration(const void *a, const void *b)
{
    const struct as_dw_definition *x = a, *y = b;

    return compare_type_refs(x->declared, y->declared);
}

static int by_signature(const void *a, const void *b)
{
    const struct as_dw_signature *x = a, *y = b;

    if (x->signature != y->signature)
        return x->signature < y->signature ? -1 : 1;
    return (x->type.at > y->type.at) - (x->type.at < y->type.at);
}

/* ---- References ------------------------------------------------------------------------------ */

/* The type of a type unit; `unit` NULL: there is none. */
static struct as_type_ref signed_type(const struct as_dw_unit *from, uint64_t signature)
{
    const struct as_dw_definitions *all = from->module->definitions;

    if (!all)
        return (struct as_type_ref){0};
    const size_t at = as_first_not(i, all->type.n, all->type.at[i].signature < signature);
    return at < all->type.n && all->type.at[at].signature == signature ? all->type.at[at].type
                                                                       : (struct as_type_ref){0};
}

struct as_type_ref as_dw_type_ref(const struct as_dw_unit *unit, const struct as_dw_value *value)
{
    const struct as_dw_unit *to = as_dw_unit_of(unit, value);

    if (value->kind == AS_DW_SIGNATURE)
        return signed_type(unit, value->u);
    return to ? (struct as_type_ref){to, value->u} : (struct as_type_ref){0};
}

/* ---- Walk ------------------------------------------------------------------------------------ */

static bool is_cpp(const struct as_dw_unit *unit)
{
    switch (unit->language) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
        return true;
    default:
        return unit->language == 0x2b || unit->language == 0x2c; /* C++17, C++20 */
    }
}

static bool is_record_tag(unsigned tag)
{
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* Arguments of a template may have no linkage: other units have other types of that name. */
static bool has_linkage(const char *name)
{
    return !strstr(name, "(anonymous") && !strstr(name, "(lambda") && !strstr(name, "'lambda") &&
           !strstr(name, "(unnamed") && !strstr(name, "'unnamed") && !strstr(name, "<unnamed");
}

static int add_definition(struct definition_walk *w, struct as_type_ref declared,
                          struct as_type_ref type)
{
    return declared.unit && type.unit
               ? as_vec_push(&w->out->of, (struct as_dw_definition){declared, type})
               : 0;
}

/* One record at a depth: keeps it by name, and what leads to it or from it. 0 or NOMEM. */
static int see_record(struct definition_walk *w, const struct as_dw_data_die *die, uint64_t at,
                      unsigned depth, uint64_t hash)
{
    const struct as_type_ref self = {w->unit, at};
    const struct named_record it = {hash, die->byte_size.u, self,
                                    (uint32_t)(w->definition.n + w->declaration.n)};

    if (w->definition.n + w->declaration.n + w->out->of.n >= DEFINITIONS_MOST)
        return 0;
    if (die->signature.kind)
        return add_definition(w, self, as_dw_type_ref(w->unit, &die->signature));
    if (die->specification.kind && !die->is_declaration)
        return add_definition(w, as_dw_type_ref(w->unit, &die->specification), self);
    if (!w->at[depth].open || !die->name || !*die->name || !has_linkage(die->name))
        return 0;
    if (die->is_declaration)
        return as_vec_push(&w->declaration, it);
    return die->byte_size.kind ? as_vec_push(&w->definition, it) : 0;
}

/* Reads a DIE that names a scope; `w->at[depth + 1]` becomes that of what stands below. */
static int enter_named(struct definition_walk *w, struct as_read *c,
                       const struct as_dw_abbrev *abbrev, uint64_t at, unsigned depth)
{
    struct as_dw_data_die die;
    const bool is_record = is_record_tag(abbrev->tag);

    as_dw_data_die_read(w->unit, c, abbrev, &die);
    if (c->bad)
        return 0;
    const bool has_name = die.name && *die.name;
    const uint64_t hash =
        has_name ? as_hash_text(as_hash_mix(w->at[depth].hash, is_record ? 2 : 1), die.name) : 0;
    w->at[depth + 1].hash = hash;
    w->at[depth + 1].open = w->at[depth].open && has_name;
    w->at[depth + 1].is_record = is_record && has_name && !strchr(die.name, '<');
    return is_record ? see_record(w, &die, at, depth, hash) : 0;
}

/* One DIE, and what holds below it. 0 or NOMEM. */
static int walk_definition_die(struct definition_walk *w, struct as_read *c,
                               const struct as_dw_abbrev *abbrev, uint64_t at, unsigned depth)
{
    const unsigned tag = abbrev->tag;

    if (tag == DW_TAG_namespace || is_record_tag(tag))
        return enter_named(w, c, abbrev, at, depth);
    if (tag == DW_TAG_template_type_parameter || tag == DW_TAG_template_value_parameter)
        w->plain_templates |= w->at[depth].is_record;
    w->at[depth + 1] = w->at[depth];
    if (tag != DW_TAG_compile_unit && tag != DW_TAG_type_unit)
        w->at[depth + 1].open = false;
    w->at[depth + 1].is_record = false;
    as_dw_die_skip(w->unit, c, abbrev, false);
    return 0;
}

static int walk_unit_definitions(struct definition_walk *w, const struct as_dw_unit *unit)
{
    const struct as_dw_bytes info = unit->sec.at[AS_DW_INFO];
    struct as_read c = as_dw_read_of(info, unit->die, unit->end);
    unsigned depth = 0;

    w->unit = unit;
    w->at[0].hash = FIRST_HASH;
    w->at[0].open = is_cpp(unit);
    w->at[0].is_record = false;
    while (!c.bad && c.at < c.end) {
        const uint64_t at = (uint64_t)(c.at - info.p), code = as_read_uleb(&c);
        const struct as_dw_abbrev *abbrev = code ? as_dw_abbrev_find(unit->abbrevs, code) : NULL;
        if (code && (!abbrev || depth == DEFINITION_DEPTH_MOST))
            return 0;
        if (!code && depth-- == 0)
            return 0;
        if (!code)
            continue;
        AS_TRY(walk_definition_die(w, &c, abbrev, at, depth));
        depth += abbrev->children;
    }
    return 0;
}

/* ---- Index ----------------------------------------------------------------------------------- */

/* The definition of a name; NULL: none, or several that differ. `list` is by hash. */
static const struct named_record *find_definition(const named_record_list *list, uint64_t hash)
{
    const size_t first = as_first_not(i, list->n, list->at[i].hash < hash);

    for (size_t i = first + 1; i < list->n && list->at[i].hash == hash; i++)
        if (list->at[i].size_b != list->at[first].size_b ||
            list->at[i].at.unit == list->at[i - 1].at.unit)
            return NULL; /* a unit defines a type once */
    return first < list->n && list->at[first].hash == hash ? &list->at[first] : NULL;
}

static int resolve_declarations(struct definition_walk *w)
{
    if (w->definition.n)
        qsort(w->definition.at, w->definition.n, sizeof *w->definition.at, by_record_hash);
    for (size_t i = 0; i < w->declaration.n && !w->plain_templates; i++) {
        const struct named_record *it = &w->declaration.at[i];
        const struct named_record *found = find_definition(&w->definition, it->hash);
        if (found)
            AS_TRY(add_definition(w, it->at, found->at));
    }
    if (w->out->of.n)
        qsort(w->out->of.at, w->out->of.n, sizeof *w->out->of.at, by_declaration);
    return 0;
}

static int list_signatures(const struct as_dw_module *module, struct as_dw_definitions *out)
{
    as_vec_foreach (&module->unit, unit)
        if (!unit->damaged && unit->tag == DW_TAG_type_unit && unit->type_at < unit->end)
            AS_TRY(as_vec_push(
                &out->type,
                (struct as_dw_signature){unit->signature, {unit, unit->offset + unit->type_at}}));
    return 0;
}

/* gcc describes each record in all units that use it. */
static bool is_complete(const struct as_dw_unit *unit)
{
    return unit->producer && strncmp(unit->producer, "GNU ", 4) == 0;
}

static int walk_module(struct definition_walk *w, const struct as_dw_module *module)
{
    as_vec_foreach (&module->unit, unit)
        if (!unit->damaged && (w->out->type.n || (is_cpp(unit) && !is_complete(unit))))
            AS_TRY(walk_unit_definitions(w, unit));
    return 0;
}

/* Lists type units, then walks all units. 0 or NOMEM. */
static int fill_definitions(struct as_dwarf *dw, struct definition_walk *w)
{
    AS_TRY(list_signatures(&dw->module, w->out));
    as_vec_foreach (&dw->split, module)
        AS_TRY(list_signatures(*module, w->out));
    if (w->out->type.n)
        qsort(w->out->type.at, w->out->type.n, sizeof *w->out->type.at, by_signature);
    AS_TRY(walk_module(w, &dw->module));
    as_vec_foreach (&dw->split, module)
        AS_TRY(walk_module(w, *module));
    return resolve_declarations(w);
}

int as_dw_definitions_find(struct as_dwarf *dw)
{
    struct definition_walk *w;
    int rc;

    if (dw->definitions.is_known)
        return 0;
    w = as_calloc(1, sizeof *w);
    if (!w)
        return AS_ERR_NOMEM;
    as_dw_definitions_release(&dw->definitions);
    w->out = &dw->definitions;
    dw->module.definitions = w->out;
    as_vec_foreach (&dw->split, module)
        (*module)->definitions = w->out;
    rc = fill_definitions(dw, w);
    dw->definitions.is_known = rc == 0;
    if (rc < 0)
        as_dw_definitions_release(&dw->definitions);
    as_vec_fini(&w->definition);
    as_vec_fini(&w->declaration);
    as_free(w);
    return rc;
}

struct as_type_ref as_dw_definition_of(struct as_type_ref declared)
{
    const struct as_dw_unit *unit = declared.unit;
    const struct as_dw_definitions *all = unit->module->definitions;

    if (!all || !all->is_known)
        return (struct as_type_ref){0};
    const size_t at =
        as_first_not(i, all->of.n, compare_type_refs(all->of.at[i].declared, declared) < 0);
    return at < all->of.n && compare_type_refs(all->of.at[at].declared, declared) == 0
               ? all->of.at[at].type
               : (struct as_type_ref){0};
}
