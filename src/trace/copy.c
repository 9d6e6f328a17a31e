/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/copy.h"

#include "base/str.h"

static const char *const signature_of_kind[] = {[AS_TRACE_NONE] = "",
#define SIGNATURE(kind, name, fields) [AS_TRACE_##kind] = fields,
                                                AS_TRACE_KINDS(SIGNATURE)
#undef SIGNATURE
};

/* Writes an event with text. The two texts of a FACT are joined, with a zero byte between them. */
static bool copy_text(struct as_trace_writer *w, uint64_t tick, const struct as_trace_event *event,
                      const uint64_t *field, unsigned n)
{
    struct as_str text = {0};
    as_str_append(&text, event->text.p, event->text.n);
    if (event->kind == AS_TRACE_FACT) {
        as_str_append(&text, "", 1);
        as_str_append(&text, event->value.p, event->value.n);
    }
    const bool is_put =
        !text.failed && as_trace_emit_text(w, event->kind, tick, field, n, as_str_z(&text));
    as_str_fini(&text);
    return is_put;
}

bool as_trace_copy_event(struct as_trace_writer *w, uint64_t tick,
                         const struct as_trace_event *event)
{
    const char *of = signature_of_kind[event->kind < AS_TRACE_KINDS_N ? event->kind : 0];
    uint64_t field[AS_TRACE_FIELDS_N];
    unsigned n = 0;
    if (event->kind == AS_TRACE_SAMPLE)
        return as_trace_sample(w, tick ? tick : w->tick, (uint64_t)event->sample.period_ns,
                               event->list, (unsigned)event->list_n, false);
    for (; of[n] == 'u' || of[n] == 's'; n++)
        field[n] = of[n] == 's' ? as_trace_zigzag(event->field[n]) : (uint64_t)event->field[n];
    if (of[n] == 't')
        return copy_text(w, tick, event, field, n);
    if (of[n] == 'l')
        return as_trace_emit_list(w, event->kind, tick, field, n, event->list, event->list_n);
    as_trace_emit(w, event->kind, tick, field, n);
    return w->block != NULL;
}
