/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calling contexts of an imported OTF2 archive: callers of calls and stacks of samples. A context
 * is a region and a line in it. Each context, and the start of each region, becomes a code
 * position.
 */
#include <math.h>
#include <string.h>

#include "exchange/otf2_taken.h"

#define CALLERS_N 16u /* max callers of a call */

/* ---- Definitions ----------------------------------------------------------------------------- */

static OTF2_CallbackCode note_outcome(struct as_otf2_reading *t, int rc)
{
    t->no_memory |= rc < 0;
    return rc < 0 ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_source(void *user, OTF2_SourceCodeLocationRef number,
                                   OTF2_StringRef file, uint32_t line)
{
    struct as_otf2_reading *t = user;
    const struct as_otf2_known_source source = {number, as_otf2_known_text_of(t, file), line};
    const int rc = as_vec_push(&t->source, source);
    return note_outcome(t, rc < 0 ? rc
                                  : as_map_u64_put(&t->sources, number, (uint32_t)t->source.n - 1));
}

static OTF2_CallbackCode on_context(void *user, OTF2_CallingContextRef number,
                                    OTF2_RegionRef region, OTF2_SourceCodeLocationRef source,
                                    OTF2_CallingContextRef parent)
{
    struct as_otf2_reading *t = user;
    const struct as_otf2_known_context context = {number, region, source, parent};
    const int rc = as_vec_push(&t->context, context);
    return note_outcome(
        t, rc < 0 ? rc : as_map_u64_put(&t->contexts, number, (uint32_t)t->context.n - 1));
}

/* Reads an interrupt generator. Only a timer gives samples a known time. */
static OTF2_CallbackCode on_generator(void *user, OTF2_InterruptGeneratorRef number,
                                      OTF2_StringRef name, OTF2_InterruptGeneratorMode mode,
                                      OTF2_Base base, int64_t exponent, uint64_t period)
{
    struct as_otf2_reading *t = user;
    const double seconds =
        (double)period * pow(base == OTF2_BASE_BINARY ? 2 : 10, (double)exponent);
    const bool is_time = mode == OTF2_INTERRUPT_GENERATOR_MODE_TIME && seconds > 0 && seconds < 1e6;
    (void)name;
    const struct as_otf2_known_generator generator = {
        number, is_time ? (int64_t)llround(seconds * 1e9) : 0};
    return note_outcome(t, as_vec_push(&t->generator, generator));
}

void as_otf2_place_callbacks(OTF2_GlobalDefReaderCallbacks *c)
{
    OTF2_GlobalDefReaderCallbacks_SetSourceCodeLocationCallback(c, on_source);
    OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(c, on_context);
    OTF2_GlobalDefReaderCallbacks_SetInterruptGeneratorCallback(c, on_generator);
}

/* ---- Code positions ----------------------------------------------------------------------- */

static const struct as_otf2_known_source *source_at(const struct as_otf2_reading *t,
                                                    uint32_t number)
{
    const uint32_t at = as_map_u64_get(&t->sources, number);
    return at == AS_MAP_NONE ? NULL : &t->source.at[at];
}

static bool has_begin(const struct as_otf2_known_region *region)
{
    return region->group == AS_TRACE_OF_USER && *region->file && region->line;
}

void as_otf2_define_places(const struct as_otf2_reading *t, uint32_t made)
{
    uint64_t number = 0;
    as_vec_foreach (&t->context, context) {
        const struct as_otf2_known_region *region = as_otf2_region_of(t, context->region);
        const struct as_otf2_known_source *source = source_at(t, context->source);
        const struct as_made_place place = {as_view_of(region ? region->text : ""),
                                            as_view_of(source ? source->file : ""),
                                            {"", 0}};
        as_maker_place(t->maker, made, ++number, source ? source->line : 0, &place);
    }
    as_vec_foreach (&t->region, region) {
        const struct as_made_place place = {
            as_view_of(region->text), as_view_of(region->file), {"", 0}};
        if (!has_begin(region))
            continue;
        as_maker_place(t->maker, made, ++number, region->line, &place);
        as_maker_function(t->maker, made, (uint64_t)(region - t->region.at) + 1, number);
    }
}

/* Lists the positions of a context and its parents, and returns their number. `max_n` also ends a
 * cycle in a damaged archive. */
static size_t places_from(const struct as_otf2_reading *t, uint32_t context, uint64_t *list,
                          size_t max_n)
{
    size_t n = 0;
    for (uint32_t at; n < max_n && (at = as_map_u64_get(&t->contexts, context)) != AS_MAP_NONE;
         context = t->context.at[at].parent)
        list[n++] = at + 1;
    return n;
}

/* ---- Events ---------------------------------------------------------------------------------- */

void as_otf2_make_callers(struct as_otf2_reading *t, uint32_t context)
{
    uint64_t list[CALLERS_N];
    const size_t n = places_from(t, context, list, CALLERS_N);
    if (n)
        as_maker_callers(t->maker, t->made, list, n);
}

/* Writes the caller from the first attribute that is a calling context. */
void as_otf2_make_attributes(struct as_otf2_reading *t, const OTF2_AttributeList *list)
{
    const uint32_t n = list ? OTF2_AttributeList_GetNumberOfElements(list) : 0;
    for (uint32_t i = 0; i < n; i++) {
        OTF2_AttributeRef attribute;
        OTF2_Type type;
        OTF2_AttributeValue value;
        if (OTF2_AttributeList_GetAttributeByIndex(list, i, &attribute, &type, &value) ==
                OTF2_SUCCESS &&
            type == OTF2_TYPE_CALLING_CONTEXT) {
            as_otf2_make_callers(t, value.callingContextRef);
            return;
        }
    }
}

const struct as_otf2_known_context *as_otf2_context_of(const struct as_otf2_reading *t,
                                                       uint32_t context)
{
    const uint32_t at = as_map_u64_get(&t->contexts, context);
    return at == AS_MAP_NONE ? NULL : &t->context.at[at];
}

void as_otf2_make_sample(struct as_otf2_reading *t, int64_t ns, uint32_t context,
                         uint32_t generator)
{
    uint64_t list[AS_TRACE_STACK_N];
    const struct as_otf2_known_generator *of = as_vec_find(&t->generator, number, generator);
    const size_t n = places_from(t, context, list, AS_TRACE_STACK_N);
    as_maker_sample(t->maker, t->made, ns, of ? of->period_ns : 0, list, n);
}
