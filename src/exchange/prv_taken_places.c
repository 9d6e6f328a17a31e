/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callers and samples of Paraver traces. Their values are labels of functions and lines, level by
 * level (types 70000001, 80000001, 30000001, 30000101 and up). Each pair is a code position.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "exchange/prv_taking.h"

/* ---- Labels ---------------------------------------------------------------------------------- */

static bool is_unknown(struct as_view text)
{
    return text.n == 0 || as_view_equal(text, as_view_of("Unresolved")) ||
           as_view_equal(text, as_view_of("_NOT_Found")) || as_view_equal(text, as_view_of("End"));
}

/* Returns the function of a label. A long name is in brackets behind a shortened one. */
static struct as_view function_in(const char *label)
{
    const struct as_view all = as_view_of(label);
    const char *open = strstr(label, " [");
    if (!open || label[all.n - 1] != ']')
        return is_unknown(all) ? (struct as_view){"", 0} : all;
    const struct as_view before = {label, (size_t)(open - label)};
    const struct as_view within = {open + 2, all.n - before.n - 3};
    if (is_unknown(before))
        return (struct as_view){"", 0};
    const bool is_cut = memmem(before.p, before.n, "..", 2) != NULL;
    const bool is_begin = within.n >= before.n && memcmp(within.p, before.p, before.n) == 0;
    return is_cut || is_begin ? within : all;
}

struct prv_line_label {
    uint32_t line;
    struct as_view file, code;
};

/* Parses "71 (balance.F90, epoch2d)" or "balance.F90:71". Other labels have no line. */
static struct prv_line_label line_in(const char *label)
{
    struct prv_line_label out = {0, {"", 0}, {"", 0}};
    struct as_view at = as_view_of(label), rest;
    int64_t line;
    const char *colon = strrchr(label, ':');
    if (as_lines_integer(&at, &line) && as_view_starts(at, " (") && at.p[at.n - 1] == ')') {
        rest = (struct as_view){at.p + 2, at.n - 3};
        for (size_t i = rest.n; i-- > 1;)
            if (rest.p[i] == ' ' && rest.p[i - 1] == ',') {
                out.code = (struct as_view){rest.p + i + 1, rest.n - i - 1};
                rest.n = i - 1;
                break;
            }
    } else if (colon) {
        rest = (struct as_view){label, (size_t)(colon - label)};
        at = as_view_of(colon + 1);
        if (!as_lines_integer(&at, &line) || at.n)
            return out;
    } else {
        return out;
    }
    if (line <= 0 || line > UINT32_MAX || is_unknown(rest))
        return out;
    out.line = (uint32_t)line;
    out.file = rest;
    return out;
}

/* ---- Code positions ----------------------------------------------------------------------- */

static int add_taken_place(struct as_prv_reading *t, const struct as_prv_import_level *level,
                           uint64_t key, uint64_t *number)
{
    const char *function = as_prv_pcf_label(&t->pcf, level->function_type, level->function);
    const char *line = as_prv_pcf_label(&t->pcf, level->line_type, level->line);
    const struct as_prv_import_place_name place = {.function_value = level->function,
                                                   .line_value = level->line,
                                                   .function =
                                                       function_in(function ? function : ""),
                                                   .line = line_in(line ? line : "").line,
                                                   .file = line_in(line ? line : "").file,
                                                   .code = line_in(line ? line : "").code};
    *number = 0;
    if (place.function.n || place.line) {
        AS_TRY(as_vec_push(&t->place, place));
        *number = t->place.n;
    }
    return as_map_u64_put(&t->places, key, (uint32_t)*number);
}

/* Finds or adds a position. Sets `*number` from 1, or 0 if nothing is known. Returns -1 without
 * memory. */
static int number_place(struct as_prv_reading *t, const struct as_prv_import_level *level,
                        uint64_t *number)
{
    const uint64_t key = as_hash_mix(as_hash_mix(17, (uint64_t)level->function_type),
                                     as_hash_mix((uint64_t)level->function, (uint64_t)level->line));
    const uint32_t known = as_map_u64_get(&t->places, key);
    *number = known;
    return known == AS_MAP_NONE ? add_taken_place(t, level, key, number) : 0;
}

/* ---- Callers and samples --------------------------------------------------------------------- */

bool as_prv_is_place(int64_t type)
{
    return (type > AS_PRV_CALLER && type <= AS_PRV_CALLER + AS_TAKEN_LEVELS_N) ||
           (type > AS_PRV_CALLER_LINE && type <= AS_PRV_CALLER_LINE + AS_TAKEN_LEVELS_N) ||
           (type > AS_PRV_SAMPLED && type <= AS_PRV_SAMPLED + AS_TAKEN_LEVELS_N) ||
           (type > AS_PRV_SAMPLED_LINE && type <= AS_PRV_SAMPLED_LINE + AS_TAKEN_LEVELS_N);
}

static bool is_sampled(int64_t type)
{
    return type < AS_PRV_CALLER;
}

static bool is_line(int64_t type)
{
    return type > AS_PRV_CALLER_LINE || (is_sampled(type) && type > AS_PRV_SAMPLED_LINE);
}

int as_prv_import_place(struct as_prv_reading *t, struct as_prv_import_thread *thread, int64_t ns,
                        int64_t type, int64_t value)
{
    struct as_prv_import_stack *stack = &thread->stack[is_sampled(type)];
    const int64_t level = (type % 100) - 1;
    if (stack->n && stack->ns != ns)
        AS_TRY(as_prv_emit_stacks(t, thread, true));
    if (!value) /* an end */
        return 0;
    stack->ns = ns;
    for (; stack->n <= (uint64_t)level; stack->n++)
        stack->level[stack->n] = (struct as_prv_import_level){0};
    struct as_prv_import_level *it = &stack->level[level];
    *(is_line(type) ? &it->line : &it->function) = value;
    *(is_line(type) ? &it->line_type : &it->function_type) = type;
    return 0;
}

/* Returns true if the call at this time has begun: its event may be behind its callers in the
 * line. */
static bool has_begun(const struct as_prv_import_thread *thread, int64_t ns)
{
    return thread->call.n && thread->call.at[thread->call.n - 1].enter_ns == ns;
}

static int emit_stack(struct as_prv_reading *t, struct as_prv_import_thread *thread, bool is_sample)
{
    struct as_prv_import_stack *stack = &thread->stack[is_sample];
    uint64_t list[AS_TAKEN_LEVELS_N];
    const uint32_t n = stack->n;
    for (uint32_t i = 0; i < n; i++)
        if (number_place(t, &stack->level[i], &list[i]) < 0)
            return as_error_nomem(t->err, t->path);
    stack->n = 0;
    if (is_sample)
        as_maker_sample(t->maker, thread->made, stack->ns, t->sample_ns, list, n);
    else if (has_begun(thread, stack->ns))
        as_maker_callers(t->maker, thread->made, list, n);
    else
        t->counts->left_out_n += n;
    return 0;
}

int as_prv_emit_stacks(struct as_prv_reading *t, struct as_prv_import_thread *thread, bool is_over)
{
    if (thread->stack[1].n)
        AS_TRY(emit_stack(t, thread, true));
    if (thread->stack[0].n && (is_over || has_begun(thread, thread->stack[0].ns)))
        AS_TRY(emit_stack(t, thread, false));
    return 0;
}

/* ---- Time between samples -------------------------------------------------------------------- */

int as_prv_note_sample(struct as_prv_reading *t, struct as_prv_import_thread *thread, int64_t ns)
{
    const int64_t gap_ns = ns - thread->sampled_ns;
    const bool has_gap = thread->is_sampled && gap_ns > 0;
    thread->sampled_ns = ns;
    thread->is_sampled = true;
    return has_gap ? as_vec_push(&t->gap_ns, gap_ns) : 0;
}

static int compare_gaps(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Sets the time of a sample to the median distance of two samples of a thread: files do not have
 * it. */
void as_prv_time_samples(struct as_prv_reading *t)
{
    if (t->gap_ns.n > 1)
        qsort(t->gap_ns.at, t->gap_ns.n, sizeof *t->gap_ns.at, compare_gaps);
    t->sample_ns = t->gap_ns.n ? t->gap_ns.at[t->gap_ns.n / 2] : 0;
}

/* ---- Definitions ----------------------------------------------------------------------------- */

void as_prv_define_places(const struct as_prv_reading *t, uint32_t made)
{
    as_vec_foreach (&t->place, place)
        as_maker_place(t->maker, made, (uint64_t)(place - t->place.at) + 1, place->line,
                       &(struct as_made_place){place->function, place->file, place->code});
}
