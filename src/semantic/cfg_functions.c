/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of functions, their parameters and filters in .cfg files. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "semantic/cfg_keys.h"

typedef struct as_cfg_place place_t;

#define LIST_MAX ((int64_t)1 << 20) /* values of a parameter */

/* ---- Slots: the place of a function in its window -------------------------------------------- */

enum {
    SLOT_THREAD = 1,
    SLOT_CPU,
    SLOT_ABOVE = 16,
    SLOT_COMPOSE = 32,
    SLOT_TOP = 64 /* and those behind it */
};

static struct as_function_use *use_at(struct as_window *w, uint32_t slot)
{
    if (slot >= SLOT_TOP)
        return slot - SLOT_TOP < w->top.n ? &w->top.at[slot - SLOT_TOP] : NULL;
    if (slot >= SLOT_COMPOSE)
        return &w->compose[slot - SLOT_COMPOSE];
    if (slot >= SLOT_ABOVE)
        return &w->above[slot - SLOT_ABOVE];
    return slot == SLOT_CPU ? &w->cpu : &w->thread;
}

static enum as_function_family family_of(uint32_t slot)
{
    return slot >= SLOT_COMPOSE ? AS_FUNCTION_COMPOSE
           : slot >= SLOT_ABOVE ? AS_FUNCTION_ABOVE
           : slot == SLOT_CPU   ? AS_FUNCTION_CPU
                                : AS_FUNCTION_THREAD;
}

static void write_slot(struct as_str *out, uint32_t slot)
{
    if (slot >= SLOT_TOP + 2)
        as_str_appendz(out, "extratopcompose1");
    else if (slot >= SLOT_TOP)
        as_str_appendz(out, slot == SLOT_TOP ? "topcompose1" : "topcompose2");
    else if (slot >= SLOT_COMPOSE)
        as_str_appendf(out, "compose_%s",
                       as_object_level_word((enum as_object_level)(slot - SLOT_COMPOSE)));
    else if (slot >= SLOT_ABOVE)
        as_str_appendz(out, as_object_level_word((enum as_object_level)(slot - SLOT_ABOVE)));
    else
        as_str_appendz(out, slot == SLOT_CPU ? "cpu" : "thread");
}

/* `top_n` says which of the extra composes is next. */
static bool read_slot(struct as_view word, uint32_t top_n, uint32_t *out)
{
    enum as_object_level level;
    if (as_view_equal(word, as_view_of("topcompose1")) ||
        as_view_equal(word, as_view_of("topcompose2"))) {
        *out = SLOT_TOP + (uint32_t)(word.p[word.n - 1] - '1');
    } else if (as_view_starts(word, "extratopcompose1")) {
        *out = SLOT_TOP + top_n;
    } else if (as_view_starts(word, "compose_") &&
               as_object_level_read((struct as_view){word.p + 8, word.n - 8}, &level)) {
        *out = SLOT_COMPOSE + level;
    } else if (as_object_level_read(word, &level)) {
        *out = level == AS_OBJECT_LEVEL_THREAD ? SLOT_THREAD
               : level == AS_OBJECT_LEVEL_CPU  ? SLOT_CPU
                                               : SLOT_ABOVE + level;
    } else {
        return false;
    }
    return true;
}

/* ---- Functions ------------------------------------------------------------------------------- */

static int choose_function(place_t *place, uint32_t slot, struct as_view name)
{
    const struct as_semantic_function *function = as_function_find(family_of(slot), name);
    if (!function)
        return as_cfg_refuse(place, AS_ERR_UNSUPPORTED, "function '%.*s' is not known",
                             (int)(name.n < 60 ? name.n : 60), name.n ? name.p : "");
    struct as_function_use *use = use_at(place->window, slot);
    while (!use) {
        if (as_vec_push(&place->window->top, (struct as_function_use){0}) < 0)
            return place->code = AS_ERR_NOMEM;
        use = use_at(place->window, slot);
    }
    if (use->function == function) /* what was said of it stays */
        return 0;
    use->function = function;
    return as_function_defaults(function, &use->parameters) < 0 ? place->code = AS_ERR_NOMEM : 0;
}

static int choose_test(place_t *place, enum as_filter_part_id part, struct as_view name)
{
    for (unsigned t = 0; t < AS_TESTS_N; t++)
        if (as_view_equal(as_view_of(as_filter_test_word((enum as_filter_test)t)), name)) {
            place->window->filter[part].test = (enum as_filter_test)t;
            return 0;
        }
    return as_cfg_refuse(place, AS_ERR_UNSUPPORTED, "filter function '%.*s' is not known",
                         (int)(name.n < 60 ? name.n : 60), name.n ? name.p : "");
}

static bool read_filter_part(struct as_view word, enum as_filter_part_id *out)
{
    for (unsigned p = 0; p < AS_FILTER_PARTS_N; p++)
        if (as_view_equal(as_view_of(as_filter_part_word((enum as_filter_part_id)p)), word)) {
            *out = (enum as_filter_part_id)p;
            return true;
        }
    return false;
}

/* "{level, Function}" off the front; false: there is none. */
static bool next_pair(struct as_view *rest, struct as_view *level, struct as_view *name)
{
    const char *open = rest->n ? memchr(rest->p, '{', rest->n) : NULL;
    if (!open)
        return false;
    rest->n -= (size_t)(open + 1 - rest->p);
    rest->p = open + 1;
    const char *close = rest->n ? memchr(rest->p, '}', rest->n) : NULL;
    const char *comma = close ? memchr(rest->p, ',', (size_t)(close - rest->p)) : NULL;
    if (!comma)
        return false;
    *level = as_view_trim((struct as_view){rest->p, (size_t)(comma - rest->p)});
    *name = as_view_trim((struct as_view){comma + 1, (size_t)(close - comma - 1)});
    rest->n -= (size_t)(close + 1 - rest->p);
    rest->p = close + 1;
    return true;
}

/* The text behind "{ n, {". */
static bool skip_count(struct as_view *value)
{
    for (unsigned i = 0; i < 2; i++) {
        const char *open = value->n ? memchr(value->p, '{', value->n) : NULL;
        if (!open || (i == 0 && open != value->p))
            return false;
        value->n -= (size_t)(open + 1 - value->p);
        value->p = open + 1;
    }
    return true;
}

static int read_pairs(place_t *place, struct as_view value, bool is_composes)
{
    struct as_view level, name;
    uint32_t slot, top_n = 2;
    if (!skip_count(&value))
        return as_cfg_refuse(place, AS_ERR_CORRUPT,
                             "a list { n, { {level, Function} } } is missing");
    while (next_pair(&value, &level, &name)) {
        enum as_filter_part_id part;
        if (!is_composes && read_filter_part(level, &part))
            AS_TRY(choose_test(place, part, name));
        else if (read_slot(level, top_n, &slot) && is_composes == (slot >= SLOT_COMPOSE))
            AS_TRY(choose_function(place, slot, name));
        else
            return as_cfg_refuse(place, AS_ERR_CORRUPT, "invalid level '%.*s'",
                                 (int)(level.n < 40 ? level.n : 40), level.n ? level.p : "");
        top_n += as_view_starts(level, "extratopcompose1");
    }
    return 0;
}

int as_cfg_read_selected(place_t *place, struct as_view value)
{
    return read_pairs(place, value, false);
}

int as_cfg_read_composed(place_t *place, struct as_view value)
{
    return read_pairs(place, value, true);
}

static void write_pair(struct as_str *out, const char *between, const char *level, const char *name)
{
    as_str_appendf(out, "%s{%s, %s}", between, level, name);
}

void as_cfg_write_selected(const place_t *place, struct as_str *out)
{
    static const enum as_object_level order[] = {AS_OBJECT_LEVEL_APPLICATION, AS_OBJECT_LEVEL_TASK,
                                                 AS_OBJECT_LEVEL_NODE, AS_OBJECT_LEVEL_SYSTEM,
                                                 AS_OBJECT_LEVEL_WORKLOAD};
    const struct as_window *w = place->window;
    as_str_appendf(out, "{ %d, { ", w->is_derived ? 5 : 14);
    if (!w->is_derived) {
        write_pair(out, "", "cpu", w->cpu.function->name);
        write_pair(out, ", ", "thread", w->thread.function->name);
    }
    for (unsigned i = 0; i < sizeof order / sizeof *order; i++)
        write_pair(out, i || !w->is_derived ? ", " : "", as_object_level_word(order[i]),
                   w->above[order[i]].function->name);
    for (unsigned p = 0; !w->is_derived && p < AS_FILTER_PARTS_N; p++)
        write_pair(out, ", ", as_filter_part_word((enum as_filter_part_id)p),
                   as_filter_test_word(w->filter[p].test));
    as_str_appendz(out, " } }");
}

void as_cfg_write_composed(const place_t *place, struct as_str *out)
{
    struct as_window *w = place->window;
    as_str_appendf(out, "{ %zu, { ", AS_OBJECT_LEVELS_N + w->top.n);
    for (uint32_t i = 0; i < AS_OBJECT_LEVELS_N + w->top.n; i++) {
        const uint32_t slot =
            i < AS_OBJECT_LEVELS_N ? SLOT_COMPOSE + i : SLOT_TOP + i - (uint32_t)AS_OBJECT_LEVELS_N;
        as_str_appendz(out, i ? ", {" : "{");
        write_slot(out, slot);
        as_str_appendf(out, ", %s}", use_at(w, slot)->function->name);
    }
    as_str_appendz(out, " } }");
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static int read_list(place_t *place, struct as_view *rest, struct as_parameters *parameters,
                     unsigned list)
{
    int64_t n;
    AS_TRY(as_cfg_whole(place, rest, &n));
    if (n < 0 || n > LIST_MAX)
        return as_cfg_refuse(place, AS_ERR_CORRUPT, "%lld values", (long long)n);
    parameters->list[list].n = 0;
    for (int64_t i = 0; i < n; i++) {
        struct as_quantity number;
        AS_TRY(as_cfg_number(place, rest, &number));
        if (as_vec_push(&parameters->list[list], number) < 0)
            return place->code = AS_ERR_NOMEM;
    }
    return 0;
}

/* Which of several extra composes a line is about: the next of this name that had none. */
static uint32_t extra_slot(const struct as_window *w, struct as_view name, uint32_t after)
{
    uint32_t at = after;
    while (at < w->top.n && !as_view_equal(as_view_of(w->top.at[at].function->name), name))
        at++;
    return SLOT_TOP + at;
}

/* "level Function { n, { n value ... } ... }" */
int as_cfg_read_parameters(place_t *place, struct as_view value)
{
    const char *brace = value.n ? memchr(value.p, '{', value.n) : NULL;
    const char *blank = brace ? memchr(value.p, ' ', (size_t)(brace - value.p)) : NULL;
    int64_t n;
    uint32_t slot;
    if (!blank)
        return as_cfg_refuse(place, AS_ERR_CORRUPT, "'level Function { n, { ... } }' is missing");
    const struct as_view level = {value.p, (size_t)(blank - value.p)};
    const struct as_view name = as_view_trim((struct as_view){blank, (size_t)(brace - blank)});
    struct as_view rest = {brace, value.n - (size_t)(brace - value.p)};
    if (!read_slot(level, 2, &slot))
        return as_cfg_refuse(place, AS_ERR_CORRUPT, "invalid level '%.*s'",
                             (int)(level.n < 40 ? level.n : 40), level.n ? level.p : "");
    if (slot >= SLOT_TOP + 2) /* the slot of the line before, if it was an extra one */
        slot = extra_slot(place->window, name,
                          place->slot >= SLOT_TOP + 2 ? place->slot - SLOT_TOP + 1 : 2);
    struct as_function_use *use = use_at(place->window, slot);
    place->slot = slot;
    if (!use || !as_view_equal(as_view_of(use->function->name), name)) {
        place->is_dropped = true; /* of a function that the window does not use */
        return 0;
    }
    AS_TRY(as_cfg_whole(place, &rest, &n));
    if (n < 0 || n > (int64_t)as_function_parameters_n(use->function))
        return as_cfg_refuse(place, AS_ERR_CORRUPT, "'%s' has %u parameters", use->function->name,
                             as_function_parameters_n(use->function));
    for (unsigned i = 0; i < (unsigned)n; i++)
        AS_TRY(read_list(place, &rest, &use->parameters, i));
    return 0;
}

bool as_cfg_has_parameters(const place_t *place)
{
    return !place->window->is_derived || place->slot > SLOT_CPU;
}

void as_cfg_write_parameters(const place_t *place, struct as_str *out)
{
    const struct as_function_use *use = use_at(place->window, place->slot);
    const unsigned n = as_function_parameters_n(use->function);
    write_slot(out, place->slot);
    as_str_appendf(out, " %s { %u, ", use->function->name, n);
    for (unsigned i = 0; i < n; i++) {
        as_str_appendf(out, "{ %zu ", use->parameters.list[i].n);
        as_vec_foreach (&use->parameters.list[i], number) {
            as_cfg_write_number(out, *number);
            as_str_appendz(out, " ");
        }
        as_str_appendz(out, "}");
        as_str_appendz(out, i + 1 < n ? ", " : " ");
    }
    as_str_appendz(out, "}");
}

/* ---- Filters --------------------------------------------------------------------------------- */

/* "evt_type n value ..." */
int as_cfg_read_filter(place_t *place, struct as_view value)
{
    struct as_view word;
    enum as_filter_part_id part;
    int64_t n;
    if (!as_cfg_word(&value, &word))
        return as_cfg_refuse(place, AS_ERR_CORRUPT, "'part n value ...' is missing");
    if (!read_filter_part(word, &part)) { /* labels: numbers stand beside them */
        place->window->has_type_label |= as_view_equal(word, as_view_of("evt_type_label"));
        place->is_kept = true;
        return 0;
    }
    AS_TRY(as_cfg_whole(place, &value, &n));
    if (n < 0 || n > LIST_MAX)
        return as_cfg_refuse(place, AS_ERR_CORRUPT, "%lld values", (long long)n);
    place->slot = part;
    place->window->filter[part].value.n = 0;
    for (int64_t i = 0; i < n; i++) {
        struct as_quantity number;
        AS_TRY(as_cfg_number(place, &value, &number));
        if (as_vec_push(&place->window->filter[part].value, number) < 0)
            return place->code = AS_ERR_NOMEM;
    }
    return 0;
}

void as_cfg_write_filter(const place_t *place, struct as_str *out)
{
    const struct as_filter_part *part = &place->window->filter[place->slot];
    as_str_appendf(out, "%s %zu", as_filter_part_word((enum as_filter_part_id)place->slot),
                   part->value.n);
    as_vec_foreach (&part->value, number) {
        as_str_appendz(out, " ");
        if (number->is_real)
            as_cfg_write_number(out, *number);
        else
            as_quantity_write(out, *number);
    }
}
