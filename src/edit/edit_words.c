/* SPDX-License-Identifier: Apache-2.0 */
/* Words of the options of `assay edit`: KEY or KEY=VALUE, one for each use of an option. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/infile.h"
#include "edit/edit_words.h"
#include "exchange/prv_lines.h"
#include "semantic/window.h"

#define SHIFTS_MAX_B ((size_t)64 << 20)

/* ---- Values ---------------------------------------------------------------------------------- */

/* Splits "KEY=VALUE"; false: there is no '='. */
static bool split_word(const char *word, struct as_view *key, struct as_view *value)
{
    const char *equal = strchr(word, '=');
    *key = as_view_of(word);
    *value = (struct as_view){0};
    if (!equal)
        return false;
    *value = as_view_of(equal + 1);
    key->n = (size_t)(equal - word);
    return true;
}

bool as_edit_number(struct as_view text, int64_t *out)
{
    struct as_view at = as_view_trim(text);
    return as_lines_wrapped(&at, out) && at.n == 0;
}

/* "7" or "7-9" */
static bool read_edit_range(struct as_view text, struct as_edit_range *out)
{
    struct as_view at = as_view_trim(text);
    if (!as_lines_integer(&at, &out->first))
        return false;
    out->last = out->first;
    return at.n == 0 || (as_lines_char(&at, '-') && as_lines_integer(&at, &out->last) &&
                         at.n == 0 && out->last >= out->first);
}

int as_edit_read_tasks(struct as_view text, struct as_edit_cut *cut)
{
    struct as_view part;
    while (as_view_split(&text, ',', &part)) {
        struct as_edit_range range;
        if (!read_edit_range(part, &range))
            return AS_ERR_CORRUPT;
        AS_TRY(as_vec_push(&cut->task, range));
    }
    return 0;
}

static int read_values_of_type(struct as_view text, struct as_edit_type *type)
{
    struct as_view part;
    while (as_view_split(&text, ',', &part)) {
        int64_t value;
        if (!as_edit_number(part, &value))
            return AS_ERR_CORRUPT;
        AS_TRY(as_vec_push(&type->value, value));
    }
    return 0;
}

/* "TYPE[:VALUE,VALUE...]" */
static int read_edit_type(struct as_view text, struct as_edit_types *types)
{
    struct as_edit_type type = {.value = {0}};
    struct as_view rest = text, range;
    if (!as_view_split(&rest, ':', &range) || !read_edit_range(range, &type.range))
        return AS_ERR_CORRUPT;
    int rc = rest.p ? read_values_of_type(rest, &type) : 0;
    if (rc == 0)
        rc = as_vec_push(&types->type, type);
    if (rc < 0)
        as_vec_fini(&type.value);
    return rc;
}

int as_edit_read_types(struct as_view text, struct as_edit_types *types)
{
    struct as_view part, of;
    while (as_view_split(&text, ';', &part)) {
        const bool has_values = part.n && memchr(part.p, ':', part.n);
        while (!has_values && as_view_split(&part, ',', &of))
            AS_TRY(read_edit_type(of, types));
        if (has_values)
            AS_TRY(read_edit_type(part, types));
    }
    return 0;
}

int as_edit_add_state(struct as_edit_filter *filter, struct as_view name)
{
    char *copy = as_malloc(name.n + 1);
    if (!copy)
        return AS_ERR_NOMEM;
    if (name.n)
        memcpy(copy, name.p, name.n);
    copy[name.n] = 0;
    if (as_vec_push(&filter->state, copy) == 0)
        return 0;
    as_free(copy);
    return AS_ERR_NOMEM;
}

int as_edit_read_states(struct as_view text, struct as_edit_filter *filter)
{
    struct as_view part;
    while (as_view_split(&text, ',', &part)) {
        part = as_view_trim(part);
        if (part.n == 0)
            return AS_ERR_CORRUPT;
        AS_TRY(as_edit_add_state(filter, part));
    }
    return 0;
}

static int read_edit_time(struct as_view text, int64_t *out)
{
    return as_time_read(text, out) && *out >= 0 ? 0 : AS_ERR_CORRUPT;
}

/* Makes the sentence of a word that was not understood. */
static int refuse_word(int rc, const char *option, const char *word, const char *fix,
                       struct as_error *err)
{
    if (rc == 0)
        return 0;
    if (rc == AS_ERR_NOMEM)
        return as_error_nomem(err, word);
    return as_error_set(err, AS_ERR_USAGE, "--%s: invalid value '%s'; use %s", option, word, fix);
}

/* ---- Cut ------------------------------------------------------------------------------------- */

static bool read_percent(struct as_view text, double *out)
{
    struct as_quantity value;
    if (!as_view_ends(text, "%"))
        return false;
    text.n--;
    if (!as_quantity_read(text, &value))
        return false;
    *out = as_quantity_double(value);
    return *out >= 0 && *out <= 100;
}

/* "FROM:TO": times, or per cent of the trace. */
static int read_part(struct as_view text, struct as_edit_cut *cut)
{
    struct as_view from, to = text;
    if (!as_view_split(&to, ':', &from) || !to.p)
        return AS_ERR_CORRUPT;
    cut->is_percent = read_percent(from, &cut->from_pct) && read_percent(to, &cut->to_pct);
    if (cut->is_percent)
        return cut->from_pct < cut->to_pct ? 0 : AS_ERR_CORRUPT;
    AS_TRY(read_edit_time(from, &cut->from_ns));
    AS_TRY(read_edit_time(to, &cut->to_ns));
    return cut->from_ns < cut->to_ns ? 0 : AS_ERR_CORRUPT;
}

static int read_cut_word(struct as_edit_cut *cut, const char *word)
{
    const struct {
        const char *word;
        bool *flag;
    } flags[] = {{"keep-times", &cut->keeps_times},
                 {"whole-states", &cut->keeps_whole_states},
                 {"drop-first-states", &cut->drops_first_states},
                 {"drop-last-states", &cut->drops_last_states},
                 {"border-events", &cut->keeps_border_events}};
    struct as_view key, value;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(word, flags[i].word) == 0) {
            *flags[i].flag = true;
            return 0;
        }
    if (split_word(word, &key, &value))
        return as_view_equal(key, as_view_of("tasks")) ? as_edit_read_tasks(value, cut)
                                                       : AS_ERR_CORRUPT;
    return read_part(key, cut);
}

void as_edit_begin_cut(struct as_edit_cut *cut)
{
    if (!cut->is_on)
        cut->to_ns = INT64_MAX;
    cut->is_on = true;
}

int as_edit_add_cut(struct as_edit *edit, const char *word, struct as_error *err)
{
    as_edit_begin_cut(&edit->cut);
    return refuse_word(read_cut_word(&edit->cut, word), "cut", word,
                       "FROM:TO (times or per cent, FROM below TO), tasks=LIST, keep-times, "
                       "whole-states, drop-first-states, drop-last-states or border-events",
                       err);
}

/* ---- Filter ---------------------------------------------------------------------------------- */

static int read_filter_word(struct as_edit_filter *f, const char *word)
{
    struct as_view key, value;
    if (!split_word(word, &key, &value) || value.n == 0)
        return AS_ERR_CORRUPT;
    const bool is_none = as_view_equal(value, as_view_of("none"));
    if (as_view_equal(key, as_view_of("states"))) {
        f->drops_states |= is_none;
        return is_none ? 0 : as_edit_read_states(value, f);
    }
    if (as_view_equal(key, as_view_of("min-state")))
        return read_edit_time(value, &f->min_state_ns);
    if (as_view_equal(key, as_view_of("messages"))) {
        f->drops_messages = true;
        return is_none ? 0 : AS_ERR_CORRUPT;
    }
    if (as_view_equal(key, as_view_of("min-size")))
        return as_edit_number(value, &f->min_size_b) && f->min_size_b >= 0 ? 0 : AS_ERR_CORRUPT;
    const bool discards = as_view_equal(key, as_view_of("no-events"));
    if (!discards && !as_view_equal(key, as_view_of("events")))
        return AS_ERR_CORRUPT;
    if (is_none && !discards) {
        f->drops_events = true;
        return 0;
    }
    if (f->types.type.n && discards != f->discards_types)
        return AS_ERR_CORRUPT;
    f->discards_types = discards;
    return as_edit_read_types(value, &f->types);
}

int as_edit_add_filter(struct as_edit *edit, const char *word, struct as_error *err)
{
    edit->filter.is_on = true;
    return refuse_word(read_filter_word(&edit->filter, word), "filter", word,
                       "states=LIST, states=none, min-state=TIME, messages=none, min-size=BYTES, "
                       "events=none, and either events=TYPES or no-events=TYPES",
                       err);
}

/* ---- Counters -------------------------------------------------------------------------------- */

static int read_counters_word(struct as_edit_counters *k, const char *word)
{
    struct as_view key, value;
    if (!split_word(word, &key, &value)) {
        bool *flag = strcmp(word, "each-value") == 0    ? &k->is_each_value
                     : strcmp(word, "no-states") == 0   ? &k->removes_states
                     : strcmp(word, "sum-running") == 0 ? &k->sums_bursts
                     : strcmp(word, "in-bursts") == 0   ? &k->is_in_bursts
                                                        : NULL;
        if (flag)
            *flag = true;
        return flag ? 0 : AS_ERR_CORRUPT;
    }
    if (as_view_equal(key, as_view_of("every")))
        return read_edit_time(value, &k->interval_ns) < 0 || k->interval_ns == 0 ? AS_ERR_CORRUPT
                                                                                 : 0;
    if (as_view_equal(key, as_view_of("bursts"))) {
        k->is_by_bursts = true;
        return read_edit_time(value, &k->min_burst_ns);
    }
    if (as_view_equal(key, as_view_of("keep")))
        return as_edit_read_types(value, &k->kept);
    k->has_types = true;
    if (as_view_equal(key, as_view_of("count")))
        return as_edit_read_types(value, &k->count);
    return as_view_equal(key, as_view_of("sum")) ? as_edit_read_types(value, &k->sum)
                                                 : AS_ERR_CORRUPT;
}

int as_edit_add_counters(struct as_edit *edit, const char *word, struct as_error *err)
{
    edit->counters.is_on = true;
    return refuse_word(read_counters_word(&edit->counters, word), "counters", word,
                       "every=TIME, bursts=TIME, count=TYPES, sum=TYPES, keep=TYPES, each-value, "
                       "no-states, sum-running or in-bursts",
                       err);
}

/* ---- Shift ----------------------------------------------------------------------------------- */

/* "1", "1.2", "1.2.3" or "all" */
static bool read_object(struct as_view text, struct as_edit_shift *out)
{
    uint32_t *const number[] = {&out->application, &out->task, &out->thread};
    struct as_view part;
    size_t n = 0;
    if (as_view_equal(text, as_view_of("all")))
        return true;
    while (as_view_split(&text, '.', &part)) {
        int64_t value;
        if (n == 3 || !as_edit_number(part, &value) || value < 1 || value > UINT32_MAX)
            return false;
        *number[n++] = (uint32_t)value;
    }
    return n > 0;
}

/* A time of each object, a line each; '#' begins a comment. */
static int read_shifts(struct as_edit_shifts_of_level *shifts, const char *path,
                       struct as_error *err)
{
    char *text = NULL, *line, *rest;
    size_t n;
    int64_t ns;
    unsigned number = 0;
    AS_TRY(as_infile_read_text(path, "the file of times", SHIFTS_MAX_B, AS_INFILE_PIPE, &text, &n,
                               err));
    int rc = 0;
    for (rest = text; rc == 0 && (line = as_infile_line(&rest));) {
        const struct as_view at = as_view_trim(as_view_of(line));
        number++;
        if (at.n == 0 || *at.p == '#')
            continue;
        if (!as_time_read(at, &ns))
            rc = as_error_set(err, AS_ERR_CORRUPT,
                              "%s:%u: invalid time '%s'; use a number with ns, us, ms or s", path,
                              number, line);
        else if (as_vec_push(&shifts->ns, ns) < 0)
            rc = as_error_nomem(err, path);
    }
    as_free(text);
    return rc;
}

int as_edit_add_shift(struct as_edit *edit, const char *word, struct as_error *err)
{
    static const char *const levels[] = {"", "applications", "tasks", "threads"};
    struct as_edit_shift shift = {0};
    struct as_view key, value;
    int rc = AS_ERR_CORRUPT;
    if (split_word(word, &key, &value)) {
        for (unsigned level = 1; level <= 3; level++)
            if (as_view_equal(key, as_view_of(levels[level]))) {
                edit->shifts.level = level;
                edit->shifts.ns.n = 0;
                return read_shifts(&edit->shifts, value.p, err);
            }
        if (read_object(key, &shift) && as_time_read(value, &shift.ns))
            rc = as_vec_push(&edit->shift, shift);
    }
    return refuse_word(rc, "shift", word,
                       "OBJECT=TIME with 'all', an application, task or thread (1.2.1), or "
                       "threads=FILE, tasks=FILE or applications=FILE",
                       err);
}

static int64_t *find_shifted(int64_t *ns, const struct as_edit_shift *shift,
                             const struct as_prv_header *h, size_t task, uint32_t thread)
{
    const struct as_prv_task *of = &h->task.at[task];
    const size_t number = task - h->application.at[of->application] + 1;
    const bool is_it = (!shift->application || shift->application == of->application + 1) &&
                       (!shift->task || shift->task == number) &&
                       (!shift->thread || shift->thread == thread + 1);
    return is_it ? &ns[of->first_thread + thread] : NULL;
}

/* Adds up to the largest time that records may have. */
static void add_shift(int64_t *to, int64_t ns)
{
    const int64_t max_ns = INT64_MAX / 16, sum_ns = *to + ns;
    *to = sum_ns > max_ns ? max_ns : sum_ns < -max_ns ? -max_ns : sum_ns;
}

/* Adds what a shift says of an object. Errors: USAGE if the trace does not have it. */
static int apply_shift(int64_t *ns, const struct as_edit_shift *shift,
                       const struct as_prv_header *h, struct as_error *err)
{
    bool is_there = false;
    for (size_t t = 0; t < h->task.n; t++)
        for (uint32_t i = 0; i < h->task.at[t].threads_n; i++) {
            int64_t *of = find_shifted(ns, shift, h, t, i);
            is_there |= of != NULL;
            if (of)
                add_shift(of, shift->ns);
        }
    if (is_there)
        return 0;
    return as_error_set(err, AS_ERR_USAGE,
                        "--shift: the trace has no object %u.%u.%u; use numbers of its header",
                        shift->application, shift->task, shift->thread);
}

/* The number of an object on the level of a file of times, from 0. */
static size_t shifted_object(const struct as_edit *edit, const struct as_prv_header *h, size_t task,
                             uint32_t thread)
{
    if (edit->shifts.level == 1)
        return h->task.at[task].application;
    return edit->shifts.level == 2 ? task : (size_t)h->task.at[task].first_thread + thread;
}

static int apply_shifts_of_level(const struct as_edit *edit, int64_t *ns,
                                 const struct as_prv_header *h, struct as_error *err)
{
    const size_t n = edit->shifts.level == 1   ? h->application.n
                     : edit->shifts.level == 2 ? h->task.n
                                               : h->threads_n;
    if (edit->shifts.level && edit->shifts.ns.n > n)
        return as_error_set(err, AS_ERR_USAGE,
                            "--shift: the file has %zu times, the trace %zu objects; use one time "
                            "for each object",
                            edit->shifts.ns.n, n);
    for (size_t t = 0; t < h->task.n; t++)
        for (uint32_t i = 0; i < h->task.at[t].threads_n; i++) {
            const size_t at = shifted_object(edit, h, t, i);
            if (edit->shifts.level && at < edit->shifts.ns.n)
                add_shift(&ns[h->task.at[t].first_thread + i], edit->shifts.ns.at[at]);
        }
    return 0;
}

int as_edit_shifts(const struct as_edit *edit, const struct as_prv_header *header, int64_t **out,
                   struct as_error *err)
{
    *out = NULL;
    if (edit->shift.n == 0 && edit->shifts.level == 0)
        return 0;
    int64_t *ns = as_calloc(header->threads_n ? header->threads_n : 1, sizeof *ns);
    int rc = ns ? apply_shifts_of_level(edit, ns, header, err) : as_error_nomem(err, "shifts");
    as_vec_foreach (&edit->shift, shift)
        if (rc == 0)
            rc = apply_shift(ns, shift, header, err);
    for (uint32_t i = 0; rc == 0 && i < header->threads_n; i++)
        ns[i] -= ns[i] % header->unit_ns; /* towards 0 */
    if (rc == 0)
        *out = ns;
    else
        as_free(ns);
    return rc;
}

/* ---- Translation ----------------------------------------------------------------------------- */

/* "TYPE" or "TYPE:VALUE" */
static bool read_pair(struct as_view text, int64_t *type, int64_t *value, bool *has_value)
{
    struct as_view rest = text, part;
    if (!as_view_split(&rest, ':', &part) || !as_edit_number(part, type))
        return false;
    *has_value = rest.p != NULL;
    return !*has_value || as_edit_number(rest, value);
}

int as_edit_add_translation(struct as_edit *edit, const char *word, struct as_error *err)
{
    struct as_edit_translation t = {0};
    struct as_view key, value;
    bool has_new_value;
    int rc = AS_ERR_CORRUPT;
    if (split_word(word, &key, &value) && as_view_equal(key, as_view_of("like")) && value.n) {
        if (as_view_ends(value, ".pcf"))
            value.n -= strlen(".pcf"); /* as_prv_pcf_read adds it */
        as_free(edit->like);
        edit->like = as_malloc(value.n + 1);
        if (edit->like) {
            memcpy(edit->like, value.p, value.n);
            edit->like[value.n] = 0;
        }
        rc = edit->like ? 0 : AS_ERR_NOMEM;
    } else if (read_pair(key, &t.type, &t.value, &t.has_value) &&
               read_pair(value, &t.new_type, &t.new_value, &has_new_value) &&
               t.has_value == has_new_value) {
        rc = as_vec_push(&edit->translation, t);
    }
    return refuse_word(rc, "translate", word, "TYPE=TYPE, TYPE:VALUE=TYPE:VALUE or like=FILE.pcf",
                       err);
}

/* ---- All ------------------------------------------------------------------------------------- */

int as_edit_check(const struct as_edit *edit, struct as_error *err)
{
    const struct as_edit_counters *k = &edit->counters;
    if (k->is_on && k->is_by_bursts == (k->interval_ns > 0))
        return as_error_set(
            err, AS_ERR_USAGE,
            "--counters: no interval, or two; use either every=TIME or bursts=TIME");
    return 0;
}

static void fini_types(struct as_edit_types *types)
{
    as_vec_foreach (&types->type, type)
        as_vec_fini(&type->value);
    as_vec_fini(&types->type);
}

void as_edit_fini(struct as_edit *edit)
{
    as_vec_fini(&edit->cut.task);
    as_vec_foreach (&edit->filter.state, state)
        as_free(*state);
    as_vec_fini(&edit->filter.state);
    fini_types(&edit->filter.types);
    fini_types(&edit->counters.count);
    fini_types(&edit->counters.sum);
    fini_types(&edit->counters.kept);
    as_vec_fini(&edit->shift);
    as_vec_fini(&edit->shifts.ns);
    as_vec_fini(&edit->translation);
    as_free(edit->like);
    as_free(edit->ignored);
    *edit = (struct as_edit){0};
}
