/* SPDX-License-Identifier: Apache-2.0 */
/* Callers of calls and stacks of samples in a Paraver file: values of functions and lines. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "exchange/common.h"
#include "exchange/prv_write.h"

/* ---- Values ---------------------------------------------------------------------------------- */

/* Returns the number of a text in `texts`, from AS_PRV_FIRST_PLACE, or -1 without memory. */
static int64_t number_place_text(struct as_map_view *numbers, struct as_prv_texts *texts,
                                 const char *text)
{
    const struct as_view view = as_view_of(text);
    const uint32_t known = as_map_view_get(numbers, view);
    if (known != AS_MAP_NONE)
        return (int64_t)known + AS_PRV_FIRST_PLACE;
    if (as_vec_push(texts, text) < 0 ||
        as_map_view_put(numbers, view, (uint32_t)(texts->n - 1)) < 0)
        return -1;
    return (int64_t)(texts->n - 1) + AS_PRV_FIRST_PLACE;
}

/* Returns a label such as "71 (balance.F90, epoch2d)", owned by the writer. */
static const char *own_line_text(struct as_prv_writer *w, const struct as_exchange_place *place)
{
    struct as_str text = {0};
    char *copy = NULL;
    as_str_appendf(&text, "%u (%s, %s)", place->line, as_path_last(place->file),
                   as_path_last(place->code));
    if (!text.failed)
        copy = as_malloc(text.n + 1);
    if (copy)
        memcpy(copy, as_str_z(&text), text.n + 1);
    as_str_fini(&text);
    if (copy && as_vec_push(&w->owned, copy) == 0)
        return copy;
    as_free(copy);
    return NULL;
}

static int find_values(struct as_prv_writer *w, const struct as_trace_process *process,
                       uint64_t address, bool is_return, struct as_prv_place *out)
{
    struct as_exchange_place place;
    as_exchange_place_of(w->trace, process, address, is_return, &place);
    out->function = place.function
                        ? number_place_text(&w->function_texts, &w->functions_named, place.function)
                        : AS_PRV_UNRESOLVED;
    out->line = AS_PRV_UNRESOLVED;
    if (place.line) {
        const char *text = own_line_text(w, &place);
        out->line = text ? number_place_text(&w->line_texts, &w->lines_named, text) : -1;
    }
    return out->function < 0 || out->line < 0 ? AS_ERR_NOMEM : 0;
}

/* Finds the values of an address. Addresses repeat, so each is resolved once per process. */
static int values_of(struct as_prv_writer *w, uint32_t process, uint64_t address, bool is_return,
                     struct as_prv_place *out)
{
    const uint64_t hash = as_hash_mix(as_hash_mix(process, is_return), address);
    uint32_t at;
    for (struct as_probe probe = as_index_probe(&w->places, hash);
         (at = as_index_next(&w->places, &probe)) != AS_INDEX_NONE;) {
        *out = w->place.at[at];
        if (out->process == process && out->address == address && out->is_return == is_return)
            return 0;
    }
    *out = (struct as_prv_place){.process = process, .address = address, .is_return = is_return};
    AS_TRY(find_values(w, &w->trace->process.at[process], address, is_return, out));
    AS_TRY(as_vec_push(&w->place, *out));
    return as_index_add(&w->places, hash, (uint32_t)(w->place.n - 1));
}

/* ---- Events ---------------------------------------------------------------------------------- */

static int store_prv_place(struct as_prv_writer *w, uint32_t location, int64_t ns, int64_t type,
                           int64_t line_type, const struct as_prv_place *place)
{
    AS_TRY(as_prv_store_event(w, location, ns, type, place->function));
    return as_prv_store_event(w, location, ns, line_type, place->line);
}

int as_prv_store_callers(struct as_prv_writer *w, uint32_t location,
                         const struct as_trace_event *event)
{
    for (size_t i = 0; i < event->list_n && i < AS_PRV_CALLERS_N; i++) {
        const int64_t level = 1 + (int64_t)i;
        struct as_prv_place place;
        if (values_of(w, w->thread.at[location].process, event->list[i], true, &place) < 0)
            return as_error_nomem(w->err, "callers of a trace");
        AS_TRY(store_prv_place(w, location, event->raw_ns, AS_PRV_CALLER + level,
                               AS_PRV_CALLER_LINE + level, &place));
        w->callers_n = level > w->callers_n ? (uint32_t)level : w->callers_n;
    }
    return 0;
}

/* Stores a sample. Levels of the last sample that this one lacks are ended. */
int as_prv_store_sample(struct as_prv_writer *w, uint32_t location,
                        const struct as_trace_event *event)
{
    const size_t n = event->list_n < AS_PRV_LEVELS_N ? event->list_n : AS_PRV_LEVELS_N;
    for (size_t i = 0; i < n || i < w->levels_n[location]; i++) {
        const int64_t level = 1 + (int64_t)i;
        struct as_prv_place place = {.function = 0};
        /* Callers are return addresses; the call is before them. */
        if (i < n &&
            values_of(w, w->thread.at[location].process, event->list[i], i > 0, &place) < 0)
            return as_error_nomem(w->err, "samples of a trace");
        AS_TRY(store_prv_place(w, location, event->raw_ns, AS_PRV_SAMPLED + level,
                               AS_PRV_SAMPLED_LINE + level, &place));
        w->sampled_n = level > w->sampled_n ? (uint32_t)level : w->sampled_n;
    }
    w->levels_n[location] = (uint8_t)n;
    return 0;
}

/* ---- Labels ---------------------------------------------------------------------------------- */

static void write_place_types(struct as_out *out, unsigned first, unsigned n, const char *what)
{
    for (unsigned level = 1; level <= n; level++)
        as_out_f(out, "0    %u    %s %u\n", first + level, what, level);
}

static void write_place_values(struct as_out *out, const struct as_prv_texts *texts,
                               const char *unknown)
{
    as_out_f(out, "VALUES\n0    End\n%u    %s\n", AS_PRV_UNRESOLVED, unknown);
    for (size_t i = 0; i < texts->n; i++)
        as_out_f(out, "%zu    %s\n", i + AS_PRV_FIRST_PLACE, texts->at[i]);
}

void as_prv_write_places(const struct as_prv_writer *w, struct as_out *out)
{
    if (!w->callers_n && !w->sampled_n)
        return;
    as_out_z(out, "\nEVENT_TYPE\n");
    write_place_types(out, AS_PRV_CALLER, w->callers_n, "Caller at level");
    write_place_types(out, AS_PRV_SAMPLED, w->sampled_n, "Sampled functions at level");
    write_place_values(out, &w->functions_named, "Unresolved");
    as_out_z(out, "\nEVENT_TYPE\n");
    write_place_types(out, AS_PRV_CALLER_LINE, w->callers_n, "Caller line at level");
    write_place_types(out, AS_PRV_SAMPLED_LINE, w->sampled_n, "Sampled lines at level");
    write_place_values(out, &w->lines_named, "0 (Unresolved)");
}
