/* SPDX-License-Identifier: Apache-2.0 */
/* Adds sums of pointers and manages the objects that they point into; see base_values.h. */
#include "code/base_values.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

#define OBJECTS_MOST 4096

/* ---- Roots ----------------------------------------------------------------------------------- */

uint32_t as_base_root_result(const struct as_bases *b, uint32_t insn, unsigned reg)
{
    return AS_BASE_REGISTERS + (insn - b->first_insn) * AS_BASE_REGISTERS + reg;
}

uint32_t as_base_root_meeting(const struct as_bases *b, uint32_t block, unsigned location)
{
    const uint32_t first = as_base_root_result(b, b->first_insn + b->insns, 0);

    return first + (block - b->program->body[b->body].first_block) * AS_BASE_LOCATIONS + location;
}

uint32_t as_base_root_variable(const struct as_bases *b, uint32_t variable)
{
    const struct as_body *body = &b->program->body[b->body];

    return as_base_root_meeting(b, body->first_block + body->blocks, 0) + variable;
}

size_t as_base_roots(const struct as_bases *b)
{
    return as_base_root_variable(b, (uint32_t)b->variables.variable_n);
}

struct as_base_value as_base_value_root(uint32_t root)
{
    return (struct as_base_value){.part = {{root, 1}}, .parts = 1};
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static bool is_number(const struct as_bases *b, const struct as_base_value *value)
{
    if (value->unknown || value->tags)
        return false;
    for (unsigned i = 0; i < value->parts; i++)
        if (b->root[value->part[i].root].is_pointer)
            return false;
    return true;
}

struct as_base_value as_base_inexact(struct as_base_value value)
{
    for (unsigned i = 0; i < value.tags; i++) {
        value.tag[i].exact = false;
        value.tag[i].offset_b = 0;
    }
    return value;
}

struct as_base_value as_base_add_constant(struct as_base_value value, int64_t constant)
{
    for (unsigned i = 0; i < value.tags; i++)
        if (value.tag[i].exact)
            value.tag[i].offset_b = (int64_t)((uint64_t)value.tag[i].offset_b + (uint64_t)constant);
    return value;
}

struct as_base_value as_base_scale(const struct as_base_value *x, int64_t factor)
{
    struct as_base_value out = *x;

    if (factor == 1)
        return out;
    out.tags = 0;
    out.unknown |= factor > INT16_MAX || factor < INT16_MIN;
    for (unsigned i = 0; i < out.parts && !out.unknown; i++)
        out.unknown |=
            __builtin_mul_overflow(out.part[i].factor, (int32_t)factor, &out.part[i].factor);
    return out;
}

/* Adds `factor` times a root. */
static void add_part(struct as_base_value *out, uint32_t root, int64_t factor)
{
    unsigned at = 0;

    while (at < out->parts && out->part[at].root < root)
        at++;
    if (at < out->parts && out->part[at].root == root) {
        factor += out->part[at].factor;
        out->part[at].factor = (int32_t)factor;
        if (factor == 0) {
            memmove(out->part + at, out->part + at + 1, (out->parts - at - 1) * sizeof *out->part);
            out->parts--;
        }
    } else if (out->parts == AS_BASE_PARTS) {
        out->unknown = true;
    } else {
        memmove(out->part + at + 1, out->part + at, (out->parts - at) * sizeof *out->part);
        out->part[at] = (struct as_base_part){root, (int32_t)factor};
        out->parts++;
    }
    out->unknown |= factor > INT32_MAX || factor < INT32_MIN;
}

/* Tags a sum that is one pointer with the object of this pointer. */
static void tag_sum(const struct as_bases *b, struct as_base_value *out)
{
    if (out->unknown || out->parts != 1 || out->part[0].factor != 1)
        return;
    const uint32_t object = b->root[out->part[0].root].object;
    if (object != AS_NONE)
        out->tag[out->tags++] = (struct as_base_tag){.object = object};
}

struct as_base_value as_base_add(const struct as_bases *b, const struct as_base_value *x,
                                 const struct as_base_value *y, int64_t factor)
{
    struct as_base_value out = {.unknown = x->unknown || y->unknown};

    if (is_number(b, y))
        return is_number(b, x) ? (struct as_base_value){0} : as_base_inexact(*x);
    if (is_number(b, x))
        return as_base_inexact(as_base_scale(y, factor));
    for (unsigned i = 0; i < x->parts; i++)
        if (b->root[x->part[i].root].is_pointer)
            add_part(&out, x->part[i].root, x->part[i].factor);
    for (unsigned i = 0; i < y->parts; i++)
        if (b->root[y->part[i].root].is_pointer)
            add_part(&out, y->part[i].root, y->part[i].factor * factor);
    tag_sum(b, &out);
    return out;
}

/* ---- Merges ---------------------------------------------------------------------------------- */

static bool same_parts(const struct as_base_value *x, const struct as_base_value *y)
{
    if (x->unknown != y->unknown || x->parts != y->parts)
        return false;
    for (unsigned i = 0; i < x->parts; i++)
        if (x->part[i].root != y->part[i].root || x->part[i].factor != y->part[i].factor)
            return false;
    return true;
}

static const struct as_base_tag *find_tag(const struct as_base_value *value, uint32_t object)
{
    for (unsigned i = 0; i < value->tags; i++)
        if (value->tag[i].object == object)
            return &value->tag[i];
    return NULL;
}

/* Keeps the tags that both values have. Returns true if `into` has changed. */
static bool intersect_tags(struct as_base_value *into, const struct as_base_value *from)
{
    unsigned n = 0;
    bool changed = false;

    for (unsigned i = 0; i < into->tags; i++) {
        const struct as_base_tag *other = find_tag(from, into->tag[i].object);
        struct as_base_tag tag = into->tag[i];
        if (!other)
            continue;
        if (tag.exact && (!other->exact || other->offset_b != tag.offset_b)) {
            tag.exact = false;
            tag.offset_b = 0;
            changed = true;
        }
        into->tag[n++] = tag;
    }
    changed |= n != into->tags;
    into->tags = (uint8_t)n;
    return changed;
}

static void mark_pointer(struct as_bases *b, uint32_t root, uint32_t object)
{
    if (b->root[root].is_pointer)
        return;
    b->root[root] = (struct as_base_root){true, object};
    b->changed = true;
}

bool as_base_merge(struct as_bases *b, struct as_base_value *into, const struct as_base_value *from,
                   uint32_t root)
{
    const bool numbers = is_number(b, into) && is_number(b, from);
    bool changed = intersect_tags(into, from);

    if (into->unknown || same_parts(into, from))
        return changed;
    if (from->unknown) {
        *into = (struct as_base_value){.unknown = true};
        return true;
    }
    const bool is_met = into->parts == 1 && into->part[0].root == root && into->part[0].factor == 1;
    if (!numbers)
        mark_pointer(b, root, AS_NONE);
    if (is_met)
        return changed;
    into->part[0] = (struct as_base_part){root, 1};
    into->parts = 1;
    return true;
}

void as_base_tag_add(struct as_bases *b, struct as_base_value *value, struct as_base_tag tag,
                     uint32_t root)
{
    if (value->unknown || value->parts != 1 || value->part[0].factor != 1) {
        value->unknown = false;
        value->parts = 1;
        value->part[0] = (struct as_base_part){root, 1};
    }
    mark_pointer(b, value->part[0].root, tag.object);
    for (unsigned i = 0; i < value->tags; i++)
        if (value->tag[i].object == tag.object) {
            value->tag[i] = tag;
            return;
        }
    if (value->tags < AS_BASE_TAGS)
        value->tag[value->tags++] = tag;
}

/* ---- Objects --------------------------------------------------------------------------------- */

uint32_t as_base_object_of(struct as_bases *b, struct as_base_object object)
{
    for (uint32_t i = 0; i < b->object.n; i++) {
        const struct as_base_object *it = &b->object.at[i];
        if (it->type.unit == object.type.unit && it->type.at == object.type.at &&
            it->scope == object.scope && it->through == object.through &&
            it->loose == object.loose && strcmp(it->text, object.text) == 0)
            return i;
    }
    if (b->object.n == OBJECTS_MOST)
        return AS_NONE;
    object.text = as_arena_strndup(&b->arena, object.text, strlen(object.text));
    if (!object.text || as_vec_push(&b->object, object) < 0) {
        b->failed = true;
        return AS_NONE;
    }
    return (uint32_t)b->object.n - 1;
}

/* Sets `out` to the object that a pointer of type `ref` at `offset_b` points to. Returns false if
 * the type does not have a pointer there. */
static bool pointed_by(struct as_bases *b, const struct as_base_object *from, const char *text,
                       struct as_type_ref ref, uint64_t offset_b, struct as_base_tag *out)
{
    struct as_base_object to = {.text = text, .scope = from->scope, .through = true};
    struct as_type type;
    char element[AS_BASE_TEXT_B];

    as_type_get(ref, &type);
    if (type.kind == AS_TYPE_ARRAY && type.described) {
        to.type = ref;
        if (offset_b != 0 || (from->through && from->type.at == ref.at))
            return false; /* this is the elements, not the descriptor */
    } else if (type.kind == AS_TYPE_ARRAY) {
        as_type_get(type.target, &type);
        const int n = snprintf(element, sizeof element, "%s[]", text);
        if (type.kind != AS_TYPE_POINTER || offset_b % 8 || n >= (int)sizeof element)
            return false;
        to.text = element;
        to.type = type.target;
    } else if (type.kind == AS_TYPE_POINTER && offset_b == 0) {
        to.type = type.target;
        to.through = !type.is_reference;
    } else {
        return false;
    }
    *out = (struct as_base_tag){.object = as_base_object_of(b, to), .exact = true};
    return out->object != AS_NONE;
}

bool as_base_loaded(struct as_bases *b, const struct as_base_tag *at, struct as_base_tag *out)
{
    const struct as_base_object from = b->object.at[at->object];
    struct as_member member;
    struct as_type type;
    char text[AS_BASE_TEXT_B];

    as_type_get(from.type, &type);
    if (type.kind == AS_TYPE_POINTER && from.through) {
        snprintf(text, sizeof text, "%.250s[]", from.text);
        return pointed_by(b, &from, text, from.type, 0, out);
    }
    if (type.kind == AS_TYPE_ARRAY && !type.described)
        return pointed_by(b, &from, from.text, from.type, 0, out);
    if (!at->exact || at->offset_b < 0)
        return false;
    if (type.kind != AS_TYPE_RECORD)
        return pointed_by(b, &from, from.text, from.type, (uint64_t)at->offset_b, out);
    if (!as_type_member(from.type, (uint64_t)at->offset_b, &member))
        return false;
    const char *join = !*member.path ? "" : type.is_fortran ? "%" : from.through ? "->" : ".";
    if (snprintf(text, sizeof text, "%s%s%s", from.text, join, member.path) >= (int)sizeof text)
        return false;
    return pointed_by(b, &from, text, member.type, member.offset_b, out);
}
