/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of the source that memory operands belong to, with what their types say. */
#include <string.h>

#include "base/error.h"
#include "profile/accesses.h"

static int bases_of(struct as_access_names *names, const struct as_program *program, uint32_t body,
                    struct as_bases **out, struct as_error *err)
{
    for (unsigned i = 0; i < AS_ACCESS_BODIES; i++) {
        *out = names->at[i].bases;
        if (names->at[i].is_known && names->at[i].body == body)
            return 0;
    }
    const unsigned at = names->next++ % AS_ACCESS_BODIES;
    as_bases_free(&names->at[at].bases);
    names->at[at].is_known = false;
    AS_TRY(as_bases_new(program, body, &names->at[at].bases, err));
    names->at[at].body = body;
    names->at[at].is_known = true;
    *out = names->at[at].bases;
    return 0;
}

/* The element of an array of arrays, its dimensions, and the extent of the contiguous one. */
static void see_type(struct as_access_name *name)
{
    struct as_type type, element;

    as_type_get(name->base.type, &type);
    name->element_b = type.kind == AS_TYPE_ARRAY ? 0 : type.size_b;
    if (type.kind != AS_TYPE_ARRAY || !type.rank)
        return;
    as_type_get(type.target, &element);
    name->element_b = element.size_b;
    name->dimension_n = type.rank + (unsigned)(!type.is_fortran && name->base.through);
    if (type.is_fortran)
        name->row_n = type.rank > 1 ? type.extent[0] : 0;
    else if (type.rank > 1 || name->base.through)
        name->row_n = type.extent[type.rank - 1];
}

/* The member of a record in an array of records, by the place of an address in its object. */
static void see_member(struct as_access_name *name, const struct as_memory_stream *stream,
                       int64_t offset_b)
{
    struct as_type_ref element = name->base.type;
    struct as_type type;

    as_type_get(element, &type);
    while (type.kind == AS_TYPE_ARRAY) {
        element = type.target;
        as_type_get(element, &type);
    }
    if (type.kind != AS_TYPE_RECORD || type.size_b != name->element_b || offset_b < 0 ||
        !as_stream_walks(stream) || stream->stride_b % (int64_t)type.size_b ||
        !as_type_member(element, (uint64_t)offset_b % type.size_b, &name->member))
        name->member.path[0] = 0;
}

/* The variables of a stride that nearly all samples have. */
static void see_extent(struct as_access_name *name, const struct as_bases *bases,
                       const struct as_memory_stream *stream, const struct as_seen_stride *seen)
{
    struct as_extent_name extent;

    if (!stream->register_stride.n || !(seen->share >= AS_STRIDE_SHARE_SURE) || !seen->stride_b ||
        !as_bases_extent(bases, stream->insn, &stream->register_stride, &extent) ||
        seen->stride_b % extent.factor_b)
        return;
    memcpy(name->extent, extent.text, sizeof name->extent);
    name->extent_n = seen->stride_b / extent.factor_b;
}

int as_access_name_of(struct as_access_names *names, const struct as_operand_loop *loop, size_t s,
                      struct as_access_name *out, struct as_error *err)
{
    const struct as_memory_stream *stream = &loop->streams.at[s];
    const struct as_program *program = loop->module->program;
    struct as_bases *bases;

    *out = (struct as_access_name){0};
    AS_TRY(bases_of(names, program, program->loop[loop->site->loop].body, &bases, err));
    if (bases)
        see_extent(out, bases, stream, &loop->seen[s]);
    if (!bases || !as_bases_name(bases, stream->insn, stream->operand, &out->base)) {
        out->base.text[0] = 0;
        return 0;
    }
    see_type(out);
    if (out->element_b)
        see_member(out, stream, loop->offset_b[s]);
    return 0;
}

void as_access_names_fini(struct as_access_names *names)
{
    for (unsigned i = 0; i < AS_ACCESS_BODIES; i++)
        as_bases_free(&names->at[i].bases);
    *names = (struct as_access_names){0};
}
