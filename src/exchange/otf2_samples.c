/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes samples as OTF2 samples. Calling contexts form a tree with a function and a line per node.
 * Each sampling period is an interrupt generator. Callers of calls are contexts of the same tree,
 * as an attribute of the enter event. So a reader without contexts still sees the call.
 */
#include <string.h>

#include "base/error.h"
#include "exchange/common.h"
#include "exchange/otf2_write.h"

#define NO_CONTEXT OTF2_UNDEFINED_CALLING_CONTEXT

static int source_of(struct as_otf2_samples *s, const char *file, uint32_t line, uint32_t *out)
{
    const uint64_t hash = as_hash_mix(as_hash_text(31, file), line);
    for (struct as_probe probe = as_index_probe(&s->sources, hash);
         (*out = as_index_next(&s->sources, &probe)) != AS_INDEX_NONE;)
        if (s->source.at[*out].line == line && strcmp(s->source.at[*out].file, file) == 0)
            return 0;
    AS_TRY(as_vec_push(&s->source, (struct as_otf2_source){file, line}));
    *out = (uint32_t)(s->source.n - 1);
    return as_index_add(&s->sources, hash, *out);
}

static int context_of(struct as_otf2_samples *s, const struct as_otf2_context *like, uint32_t *out)
{
    const uint64_t hash =
        as_hash_mix(as_hash_mix(as_hash_mix(37, like->parent), like->region), like->source);
    for (struct as_probe probe = as_index_probe(&s->contexts, hash);
         (*out = as_index_next(&s->contexts, &probe)) != AS_INDEX_NONE;) {
        const struct as_otf2_context *known = &s->context.at[*out];
        if (known->parent == like->parent && known->region == like->region &&
            known->source == like->source)
            return 0;
    }
    AS_TRY(as_vec_push(&s->context, *like));
    *out = (uint32_t)(s->context.n - 1);
    return as_index_add(&s->contexts, hash, *out);
}

/* Finds or adds the node of an address below its caller `*context`. */
static int node_below(struct as_otf2_writer *w, const struct as_trace_process *process,
                      uint64_t address, bool is_return, uint32_t *context)
{
    struct as_otf2_samples *s = &w->samples;
    struct as_otf2_context node = {.parent = *context, .source = OTF2_UNDEFINED_UINT32};
    struct as_exchange_place place;
    node.depth = *context == NO_CONTEXT ? 1 : s->context.at[*context].depth + 1;
    as_exchange_place_of(w->trace, process, address, is_return, &place);
    AS_TRY(as_otf2_list_region(w, place.function ? place.function : "?", AS_OTF2_SAMPLED,
                               &node.region));
    if (place.line)
        AS_TRY(source_of(s, place.file, place.line, &node.source));
    return context_of(s, &node, context);
}

/* Finds the context of a stack. For `are_callers` the first address is a return address too. */
static int leaf_of(struct as_otf2_writer *w, const struct as_trace_process *process,
                   const struct as_trace_event *stack, bool are_callers, uint32_t *context)
{
    *context = NO_CONTEXT;
    for (size_t i = stack->list_n; i-- > 0;)
        AS_TRY(node_below(w, process, stack->list[i], are_callers || i > 0, context));
    const struct as_otf2_context unknown = {
        .parent = NO_CONTEXT, .region = 0, .source = OTF2_UNDEFINED_UINT32, .depth = 1};
    return *context == NO_CONTEXT ? context_of(&w->samples, &unknown, context) : 0;
}

static int generator_of(struct as_otf2_samples *s, int64_t period_ns, uint32_t *out)
{
    *out = as_index_of_word(&s->periods, s->period_ns.at, sizeof period_ns, (uint64_t)period_ns);
    if (*out != AS_INDEX_NONE)
        return 0;
    AS_TRY(as_vec_push(&s->period_ns, period_ns));
    *out = (uint32_t)(s->period_ns.n - 1);
    return as_index_add_word(&s->periods, (uint64_t)period_ns, *out);
}

/* Returns 1 plus the number of nodes that are new since the last sample. The next node made
 * progress. */
static uint32_t unwind_distance(const struct as_otf2_samples *s, uint32_t before, uint32_t now)
{
    uint32_t new_n = 0;
    while (before != now && now != NO_CONTEXT) {
        const uint32_t depth = s->context.at[now].depth;
        while (before != NO_CONTEXT && s->context.at[before].depth > depth)
            before = s->context.at[before].parent;
        if (before == now)
            break;
        now = s->context.at[now].parent;
        new_n++;
    }
    return new_n + 1;
}

OTF2_ErrorCode as_otf2_write_sample(struct as_otf2_writer *w, struct as_otf2_thread *thread,
                                    const struct as_trace_event *event, OTF2_TimeStamp time)
{
    uint32_t context, generator;
    if (leaf_of(w, &w->trace->process.at[thread->process], event, false, &context) < 0 ||
        generator_of(&w->samples, event->sample.period_ns, &generator) < 0)
        return OTF2_ERROR_MEM_FAULT;
    const uint32_t before = thread->is_sampled ? thread->context : NO_CONTEXT;
    thread->is_sampled = true;
    thread->context = context;
    return OTF2_EvtWriter_CallingContextSample(thread->events, NULL, time, context,
                                               unwind_distance(&w->samples, before, context),
                                               generator);
}

/* Finds the context of callers. They are often those of the last call, so each tree path is
 * searched once. */
static int context_of_callers(struct as_otf2_writer *w, const struct as_otf2_thread *thread,
                              const struct as_trace_event *callers, uint32_t *context)
{
    struct as_otf2_samples *s = &w->samples;
    uint64_t hash = thread->process;
    for (size_t i = 0; i < callers->list_n; i++)
        hash = as_hash_mix(hash, callers->list[i]);
    *context = as_map_u64_get(&s->callers, hash);
    if (*context != AS_MAP_NONE)
        return 0;
    AS_TRY(leaf_of(w, &w->trace->process.at[thread->process], callers, true, context));
    return as_map_u64_put(&s->callers, hash, *context);
}

OTF2_ErrorCode as_otf2_write_enter(struct as_otf2_writer *w, struct as_otf2_thread *thread,
                                   const struct as_trace_event *callers)
{
    OTF2_AttributeList *with = NULL;
    OTF2_ErrorCode rc = OTF2_SUCCESS;
    uint32_t context;
    if (!thread->is_entering)
        return OTF2_SUCCESS;
    thread->is_entering = false;
    if (callers && callers->list_n) {
        with = OTF2_AttributeList_New();
        if (!with || context_of_callers(w, thread, callers, &context) < 0)
            rc = OTF2_ERROR_MEM_FAULT;
        else
            rc = OTF2_AttributeList_AddCallingContextRef(with, AS_OTF2_CALLER, context);
    }
    if (rc == OTF2_SUCCESS)
        rc = OTF2_EvtWriter_Enter(thread->events, with, thread->enter_time, thread->region);
    OTF2_AttributeList_Delete(with);
    return rc;
}

void as_otf2_samples_fini(struct as_otf2_samples *s)
{
    as_map_u64_fini(&s->callers);
    as_vec_fini(&s->context);
    as_vec_fini(&s->source);
    as_vec_fini(&s->period_ns);
    as_index_fini(&s->contexts);
    as_index_fini(&s->sources);
    as_index_fini(&s->periods);
}
