/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Option files of Paraver's cutter, filter and software counters: XML with a section for each.
 * Names of elements are those of the samples that Paraver's releases have. Reads what such files
 * need of XML: elements, attributes, comments, the five named entities.
 */
#include <string.h>

#include "base/error.h"
#include "edit/edit_words.h"

#define DEPTH_MAX 8

struct option_reading {
    struct as_edit *edit;
    const char *name;
    struct as_view at, all;
    struct as_view element[DEPTH_MAX]; /* that are open */
    size_t depth;
    struct as_str text;
    bool adds_up;
    struct as_edit_types events; /* what is counted or added up */
    struct as_error *err;
};

static int refuse_option(const struct option_reading *r, const char *what)
{
    unsigned line = 1;
    for (const char *p = r->all.p; p < r->at.p; p++)
        line += *p == '\n';
    return as_error_set(r->err, AS_ERR_CORRUPT, "%s:%u: %s; correct the option file", r->name, line,
                        what);
}

static bool is_element(const struct option_reading *r, size_t from_inside, const char *name)
{
    return r->depth > from_inside &&
           as_view_equal(r->element[r->depth - 1 - from_inside], as_view_of(name));
}

/* ---- Keys ------------------------------------------------------------------------------------ */

enum option_kind {
    OPTION_ON,
    OPTION_OFF,   /* the flag is set by 0 */
    OPTION_TIME,  /* nanoseconds */
    OPTION_SHARE, /* per cent */
    OPTION_TYPES,
    OPTION_TASKS,
    OPTION_STATES,
    OPTION_EVENTS,
    OPTION_COUNTS, /* 1: events are counted, 0: their values are added up */
    OPTION_BY_TIME,
    OPTION_IGNORED /* has no effect unless 0 */
};

struct option_key {
    const char *section, *name;
    enum option_kind kind;
    size_t offset; /* in struct as_edit */
};

#define KEY_OF(section, name, kind, member)                                                        \
    {                                                                                              \
        section, name, kind, offsetof(struct as_edit, member)                                      \
    }

static const struct option_key option_keys[] = {
    KEY_OF("cutter", "tasks", OPTION_TASKS, cut),
    KEY_OF("cutter", "max_trace_size", OPTION_IGNORED, cut),
    KEY_OF("cutter", "by_time", OPTION_BY_TIME, cut.is_percent),
    KEY_OF("cutter", "minimum_time", OPTION_TIME, cut.from_ns),
    KEY_OF("cutter", "maximum_time", OPTION_TIME, cut.to_ns),
    KEY_OF("cutter", "minimum_time_percentage", OPTION_SHARE, cut.from_pct),
    KEY_OF("cutter", "maximum_time_percentage", OPTION_SHARE, cut.to_pct),
    KEY_OF("cutter", "original_time", OPTION_ON, cut.keeps_times),
    KEY_OF("cutter", "break_states", OPTION_OFF, cut.keeps_whole_states),
    KEY_OF("cutter", "remove_first_states", OPTION_ON, cut.drops_first_states),
    KEY_OF("cutter", "remove_last_states", OPTION_ON, cut.drops_last_states),
    KEY_OF("cutter", "keep_events", OPTION_ON, cut.keeps_border_events),
    KEY_OF("filter", "discard_states", OPTION_ON, filter.drops_states),
    KEY_OF("filter", "discard_events", OPTION_ON, filter.drops_events),
    KEY_OF("filter", "discard_communications", OPTION_ON, filter.drops_messages),
    KEY_OF("filter", "states", OPTION_STATES, filter),
    KEY_OF("filter", "min_state_time", OPTION_TIME, filter.min_state_ns),
    KEY_OF("filter", "comms", OPTION_TIME, filter.min_size_b),
    KEY_OF("software_counters", "by_intervals_vs_by_states", OPTION_OFF, counters.is_by_bursts),
    KEY_OF("software_counters", "sampling_interval", OPTION_TIME, counters.interval_ns),
    KEY_OF("software_counters", "minimum_burst_time", OPTION_TIME, counters.min_burst_ns),
    KEY_OF("software_counters", "events", OPTION_EVENTS, counters),
    KEY_OF("software_counters", "count_events", OPTION_TYPES, counters.count),
    KEY_OF("software_counters", "accum_events", OPTION_TYPES, counters.sum),
    KEY_OF("software_counters", "count_events_vs_acummulate_values", OPTION_COUNTS, counters),
    KEY_OF("software_counters", "count_events_vs_accumulate_values", OPTION_COUNTS, counters),
    KEY_OF("software_counters", "remove_states", OPTION_ON, counters.removes_states),
    KEY_OF("software_counters", "summarize_useful_states", OPTION_ON, counters.sums_bursts),
    KEY_OF("software_counters", "summarize_useful", OPTION_ON, counters.sums_bursts),
    KEY_OF("software_counters", "global_counters", OPTION_OFF, counters.is_each_value),
    KEY_OF("software_counters", "only_in_burst_counting", OPTION_ON, counters.is_in_bursts),
    KEY_OF("software_counters", "keep_events", OPTION_TYPES, counters.kept),
};

static int read_option_states(struct option_reading *r, struct as_view text)
{
    struct as_view rest = text, part;
    while (as_view_split(&rest, ',', &part))
        if (as_view_equal(as_view_trim(part), as_view_of("All")))
            return 0;
    return as_edit_read_states(text, &r->edit->filter);
}

static int note_ignored(struct option_reading *r, const char *name)
{
    as_free(r->edit->ignored);
    r->edit->ignored = as_malloc(strlen(name) + 1);
    if (!r->edit->ignored)
        return AS_ERR_NOMEM;
    memcpy(r->edit->ignored, name, strlen(name) + 1);
    return 0;
}

static int apply_number(struct option_reading *r, const struct option_key *key, struct as_view text)
{
    void *to = (char *)r->edit + key->offset;
    int64_t number;
    if (!as_edit_number(text, &number))
        return AS_ERR_CORRUPT;
    switch (key->kind) {
    case OPTION_ON:
        *(bool *)to = number != 0;
        return 0;
    case OPTION_OFF:
    case OPTION_BY_TIME:
        *(bool *)to = number == 0;
        return 0;
    case OPTION_SHARE:
        *(double *)to = (double)number;
        return number >= 0 && number <= 100 ? 0 : AS_ERR_CORRUPT;
    case OPTION_COUNTS:
        r->adds_up = number == 0;
        return 0;
    case OPTION_IGNORED:
        return number ? note_ignored(r, key->name) : 0;
    default:
        *(int64_t *)to = number < INT64_MAX / 16 ? number : INT64_MAX / 16;
        return number >= 0 ? 0 : AS_ERR_CORRUPT;
    }
}

static int apply_key(struct option_reading *r, const struct option_key *key, struct as_view text)
{
    switch (key->kind) {
    case OPTION_TASKS:
        return as_edit_read_tasks(text, &r->edit->cut);
    case OPTION_STATES:
        return read_option_states(r, text);
    case OPTION_EVENTS:
        return as_edit_read_types(text, &r->events);
    case OPTION_TYPES:
        r->edit->counters.has_types |= strcmp(key->name, "keep_events") != 0;
        return as_edit_read_types(text, (struct as_edit_types *)((char *)r->edit + key->offset));
    default:
        return apply_number(r, key, text);
    }
}

/* ---- Elements -------------------------------------------------------------------------------- */

/* The section that is open: behind the outermost element. */
static bool is_in_section(const struct option_reading *r, const char *section)
{
    return r->depth > 2 && as_view_equal(r->element[1], as_view_of(section));
}

/* Text of <type>, and of <value> in it. */
static int add_filter_type(struct option_reading *r, struct as_view text)
{
    struct as_edit_types *types = &r->edit->filter.types;
    int64_t value;
    if (is_element(r, 0, "type"))
        return as_edit_read_types(text, types);
    if (types->type.n == 0 || !as_edit_number(text, &value))
        return AS_ERR_CORRUPT;
    return as_vec_push(&types->type.at[types->type.n - 1].value, value);
}

static int apply_element_text(struct option_reading *r, struct as_view text)
{
    int rc = 0;
    if (is_in_section(r, "filter") && (is_element(r, 0, "type") || is_element(r, 1, "type")))
        rc = add_filter_type(r, text);
    for (size_t i = 0; rc == 0 && i < sizeof option_keys / sizeof *option_keys; i++)
        if (is_in_section(r, option_keys[i].section) && is_element(r, 0, option_keys[i].name))
            rc = apply_key(r, &option_keys[i], text);
    if (rc == AS_ERR_NOMEM)
        return as_error_nomem(r->err, r->name);
    return rc == 0 ? 0 : refuse_option(r, "has a value that does not fit its element");
}

static void begin_section(struct option_reading *r)
{
    struct as_edit *e = r->edit;
    if (r->depth != 2)
        return;
    if (is_element(r, 0, "cutter"))
        as_edit_begin_cut(&e->cut);
    e->filter.is_on |= is_element(r, 0, "filter");
    e->counters.is_on |= is_element(r, 0, "software_counters");
}

static int note_attribute(struct option_reading *r, struct as_view key, struct as_view value)
{
    if (is_in_section(r, "filter") && is_element(r, 0, "types") &&
        as_view_equal(key, as_view_of("use")))
        r->edit->filter.discards_types = as_view_equal(value, as_view_of("discard"));
    if (is_in_section(r, "filter") && is_element(r, 0, "type") &&
        as_view_equal(key, as_view_of("min_time")) && note_ignored(r, "min_time") < 0)
        return as_error_nomem(r->err, r->name);
    return 0;
}

/* ---- XML ------------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void pass_bytes(struct option_reading *r, size_t n)
{
    r->at.p += n;
    r->at.n -= n;
}

/* Passes all up to and with `end`; false: it does not come. */
static bool pass_to(struct option_reading *r, const char *end)
{
    const char *found = r->at.n ? memmem(r->at.p, r->at.n, end, strlen(end)) : NULL;
    if (!found)
        return false;
    pass_bytes(r, (size_t)(found - r->at.p) + strlen(end));
    return true;
}

static void pass_blanks(struct option_reading *r)
{
    while (r->at.n && is_blank(*r->at.p))
        pass_bytes(r, 1);
}

static struct as_view read_xml_name(struct option_reading *r)
{
    struct as_view name = {r->at.p, 0};
    while (name.n < r->at.n && !is_blank(name.p[name.n]) && !strchr("/>=<\"'", name.p[name.n]))
        name.n++;
    pass_bytes(r, name.n);
    return name;
}

/* KEY="VALUE" of the element that was opened last. */
static int read_attribute(struct option_reading *r)
{
    const struct as_view key = read_xml_name(r);
    pass_blanks(r);
    if (key.n == 0 || r->at.n < 2 || *r->at.p != '=')
        return refuse_option(r, "has an attribute without a value");
    pass_bytes(r, 1);
    pass_blanks(r);
    if (r->at.n == 0 || (*r->at.p != '"' && *r->at.p != '\''))
        return refuse_option(r, "has an attribute without quotes");
    const char quote[2] = {*r->at.p, 0};
    struct as_view value = {r->at.p + 1, 0};
    pass_bytes(r, 1);
    if (!pass_to(r, quote))
        return refuse_option(r, "has an attribute without an end");
    value.n = (size_t)(r->at.p - value.p) - 1;
    return note_attribute(r, key, value);
}

static int open_element(struct option_reading *r)
{
    const struct as_view name = read_xml_name(r);
    if (name.n == 0 || r->depth == DEPTH_MAX)
        return refuse_option(r, name.n ? "has elements deeper than 8" : "has no element behind <");
    r->element[r->depth++] = name;
    begin_section(r);
    for (;;) {
        pass_blanks(r);
        if (r->at.n == 0)
            return refuse_option(r, "ends inside an element");
        if (as_view_starts(r->at, "/>")) {
            pass_bytes(r, 2);
            r->depth--;
            return 0;
        }
        if (*r->at.p == '>') {
            pass_bytes(r, 1);
            return 0;
        }
        AS_TRY(read_attribute(r));
    }
}

static int close_element(struct option_reading *r)
{
    const struct as_view name = read_xml_name(r);
    pass_blanks(r);
    if (r->depth == 0 || !as_view_equal(name, r->element[r->depth - 1]) || r->at.n == 0 ||
        *r->at.p != '>')
        return refuse_option(r, "closes an element that is not open");
    pass_bytes(r, 1);
    r->depth--;
    return 0;
}

/* Text up to the next element, with entities replaced. */
static int read_xml_text(struct option_reading *r)
{
    static const struct {
        const char *name;
        char c;
    } entities[] = {
        {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    as_str_clear(&r->text);
    while (r->at.n && *r->at.p != '<') {
        size_t n = 1;
        char c = *r->at.p;
        for (size_t i = 0; c == '&' && n == 1 && i < sizeof entities / sizeof *entities; i++)
            if (as_view_starts(r->at, entities[i].name)) {
                n = strlen(entities[i].name);
                c = entities[i].c;
            }
        as_str_append(&r->text, &c, 1);
        pass_bytes(r, n);
    }
    if (r->text.failed)
        return as_error_nomem(r->err, r->name);
    const struct as_view text = as_view_trim(as_view_of(as_str_z(&r->text)));
    return text.n ? apply_element_text(r, text) : 0;
}

static int read_markup(struct option_reading *r)
{
    static const struct {
        const char *begin, *end;
    } passed[] = {{"<!--", "-->"}, {"<?", "?>"}, {"<!", ">"}};
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
        if (as_view_starts(r->at, passed[i].begin))
            return pass_to(r, passed[i].end) ? 0 : refuse_option(r, "has a comment without an end");
    const bool closes = as_view_starts(r->at, "</");
    pass_bytes(r, closes ? 2 : 1);
    return closes ? close_element(r) : open_element(r);
}

/* Sorts the listed events: the key that says how they count may come behind them. */
static void end_options(struct option_reading *r)
{
    struct as_edit_counters *k = &r->edit->counters;
    struct as_edit_types *to = r->adds_up ? &k->sum : &k->count;
    if (r->events.type.n && to->type.n == 0) {
        *to = r->events;
        r->events = (struct as_edit_types){0};
        k->has_types = true;
    }
    if (k->is_by_bursts)
        k->interval_ns = 0;
}

int as_edit_parse_options(struct as_edit *edit, struct as_view text, const char *name,
                          struct as_error *err)
{
    struct option_reading r = {.edit = edit, .name = name, .at = text, .all = text, .err = err};
    int rc = 0;
    while (rc == 0 && r.at.n)
        rc = *r.at.p == '<' ? read_markup(&r) : read_xml_text(&r);
    if (rc == 0 && r.depth)
        rc = refuse_option(&r, "ends inside an element");
    if (rc == 0 && !edit->cut.is_on && !edit->filter.is_on && !edit->counters.is_on)
        rc = refuse_option(&r, "has no section cutter, filter or software_counters");
    if (rc == 0)
        end_options(&r);
    as_vec_foreach (&r.events.type, type)
        as_vec_fini(&type->value);
    as_vec_fini(&r.events.type);
    as_str_fini(&r.text);
    return rc;
}
