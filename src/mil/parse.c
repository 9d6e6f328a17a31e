/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses probe files. Each line is a statement: `probe NAME`, `at EVENT`, `where FILTER [and ...]`,
 * `do ACTION, ...`, `end`. An error names file, line and column.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/infile.h"
#include "mil/parser.h"

#define FILE_MOST_B  ((size_t)1 << 20)
#define PROBES_MOST  4096
#define FILTERS_MOST 256

/* ---- Events ---------------------------------------------------------------------------------- */

static const struct {
    const char *words;
    bool spans;
} events[AS_PROBE_EVENTS] = {
#define EVENT_WORDS(name, words, spans) {words, spans},
    AS_PROBE_EVENT_LIST(EVENT_WORDS)
#undef EVENT_WORDS
};

const char *as_probe_event_words(enum as_probe_event event)
{
    return (unsigned)event < AS_PROBE_EVENTS ? events[event].words : "";
}

static bool find_event(const char *words, enum as_probe_event *out)
{
    for (unsigned e = 0; e < AS_PROBE_EVENTS; e++)
        if (strcmp(events[e].words, words) == 0) {
            *out = (enum as_probe_event)e;
            return true;
        }
    return false;
}

static int parse_event(struct as_probe_parser *p)
{
    char words[64] = "";
    int length = 0;
    const struct as_probe_token first = p->now;
    if (p->probe->has_event)
        return AS_PROBE_REFUSE(
            p, &first, "probe '%s' has an event already; use a second probe for another event",
            p->probe->name);
    for (unsigned n = 0; p->now.kind == AS_PROBE_WORD && n < 2; n++) {
        if (p->now.text.n > 20)
            break;
        length += snprintf(words + length, sizeof words - (size_t)length, "%s%.*s", n ? " " : "",
                           AS_PROBE_V(p->now.text));
        AS_TRY(as_probe_advance(p));
    }
    if (!find_event(words, &p->probe->event))
        return AS_PROBE_REFUSE(
            p, &first,
            "unknown event '%s'; use program, function or loop (each also with entry or exit), "
            "loop back, call before, call after, block or instruction",
            words);
    p->probe->has_event = true;
    return as_probe_end_line(p);
}

/* ---- Filters --------------------------------------------------------------------------------- */

static const char *const subjects[AS_PROBE_SUBJECTS] = {
    [AS_PROBE_OF_FUNCTION] = "function", [AS_PROBE_OF_FILE] = "file",
    [AS_PROBE_OF_CALLEE] = "callee",     [AS_PROBE_OF_CLASS] = "class",
    [AS_PROBE_OF_MNEMONIC] = "mnemonic", [AS_PROBE_OF_LINE] = "line",
    [AS_PROBE_OF_LEVEL] = "level",       [AS_PROBE_OF_DEPTH] = "depth",
    [AS_PROBE_OF_SHARE] = "share",       [AS_PROBE_OF_ADDRESS] = "address"};

static int parse_texts(struct as_probe_parser *p, struct as_probe_filter *out)
{
    out->is_pattern = as_probe_is_symbol(p, "~");
    if (!out->is_pattern && !as_probe_is_symbol(p, "="))
        return as_probe_refuse_now(p, "= and a name in quotes, or ~ and a pattern");
    do {
        AS_TRY(as_probe_advance(p));
        if (p->now.kind != AS_PROBE_TEXT)
            return as_probe_refuse_now(p, "a name in quotes");
        if (as_vec_push(&out->text, p->now.text) < 0)
            return as_error_nomem(p->err, "probes");
        AS_TRY(as_probe_advance(p));
    } while (as_probe_is_symbol(p, ","));
    return 0;
}

/* Parses "= 3", ">= 3", "<= 3", "3" or "3 - 7". */
static int parse_range(struct as_probe_parser *p, struct as_probe_filter *out)
{
    const bool least = as_probe_is_symbol(p, ">="), most = as_probe_is_symbol(p, "<=");
    if (least || most || as_probe_is_symbol(p, "="))
        AS_TRY(as_probe_advance(p));
    if (p->now.kind != AS_PROBE_NUMBER)
        return as_probe_refuse_now(p, "a number");
    out->low = most ? -INFINITY : p->now.number;
    out->high = least ? INFINITY : p->now.number;
    AS_TRY(as_probe_advance(p));
    if (!least && !most && as_probe_is_symbol(p, "-")) {
        AS_TRY(as_probe_advance(p));
        if (p->now.kind != AS_PROBE_NUMBER || p->now.number < out->low)
            return as_probe_refuse_now(p, "a number not below the first one");
        out->high = p->now.number;
        AS_TRY(as_probe_advance(p));
    }
    return 0;
}

static int parse_share(struct as_probe_parser *p, struct as_probe_filter *out)
{
    AS_TRY(parse_range(p, out));
    if (!as_probe_is_symbol(p, "%"))
        return as_probe_refuse_now(p, "% after the share");
    out->low /= 100;
    out->high /= 100;
    return as_probe_advance(p);
}

static int parse_address(struct as_probe_parser *p, struct as_probe_filter *out)
{
    if (as_probe_is_symbol(p, "="))
        AS_TRY(as_probe_advance(p));
    if (p->now.kind != AS_PROBE_NUMBER || !p->now.is_integer)
        return as_probe_refuse_now(p, "an address, such as 0x401a40");
    out->address = p->now.integer;
    return as_probe_advance(p);
}

static int parse_levels(struct as_probe_parser *p, struct as_probe_filter *out)
{
    static const char *const level[] = {"single", "outermost", "between", "innermost"};
    for (;;) {
        unsigned found = 4;
        for (unsigned i = 0; i < 4; i++)
            if (as_probe_is_word(p, level[i]))
                found = i;
        if (found == 4)
            return as_probe_refuse_now(p, "single, outermost, between or innermost");
        out->levels |= 1u << found;
        AS_TRY(as_probe_advance(p));
        if (!as_probe_is_symbol(p, ","))
            return 0;
        AS_TRY(as_probe_advance(p));
    }
}

static int parse_condition(struct as_probe_parser *p, struct as_probe_filter *out)
{
    switch (out->subject) {
    case AS_PROBE_OF_LINE:
    case AS_PROBE_OF_DEPTH:
        return parse_range(p, out);
    case AS_PROBE_OF_SHARE:
        return parse_share(p, out);
    case AS_PROBE_OF_LEVEL:
        return parse_levels(p, out);
    case AS_PROBE_OF_ADDRESS:
        return parse_address(p, out);
    default:
        return parse_texts(p, out);
    }
}

static int parse_filter(struct as_probe_parser *p)
{
    struct as_probe_filter filter = {.negated = as_probe_is_word(p, "not")};
    unsigned subject = 0;
    if (filter.negated)
        AS_TRY(as_probe_advance(p));
    while (subject < AS_PROBE_SUBJECTS && !as_probe_is_word(p, subjects[subject]))
        subject++;
    if (subject == AS_PROBE_SUBJECTS)
        return as_probe_refuse_now(
            p, "function, file, line, callee, level, depth, share, address, class or "
               "mnemonic");
    if (p->probe->filter.n >= FILTERS_MOST)
        return AS_PROBE_REFUSE(p, &p->now, "a probe has at most %d filters", FILTERS_MOST);
    filter.subject = (enum as_probe_subject)subject;
    AS_TRY(as_probe_advance(p));
    const int rc = parse_condition(p, &filter);
    if (rc < 0 || as_vec_push(&p->probe->filter, filter) < 0) {
        as_vec_fini(&filter.text);
        return rc < 0 ? rc : as_error_nomem(p->err, "probes");
    }
    return 0;
}

static int parse_filters(struct as_probe_parser *p)
{
    AS_TRY(parse_filter(p));
    while (as_probe_is_word(p, "and")) {
        AS_TRY(as_probe_advance(p));
        AS_TRY(parse_filter(p));
    }
    return as_probe_end_line(p);
}

/* ---- Statements ------------------------------------------------------------------------------ */

static int begin_probe(struct as_probe_parser *p, const struct as_probe_token *keyword)
{
    struct as_mil_probe probe = {.line = keyword->line};
    if (p->probe)
        return AS_PROBE_REFUSE(p, keyword, "probe '%s' has no end yet", p->probe->name);
    if (p->now.kind != AS_PROBE_WORD)
        return as_probe_refuse_now(p, "a name for the probe");
    as_vec_foreach (&p->probes->probe, other)
        if (as_view_equal(p->now.text, as_view_of(other->name)))
            return AS_PROBE_REFUSE(p, &p->now, "the probe of line %u has the name '%s' too",
                                   other->line, other->name);
    if (p->probes->probe.n >= PROBES_MOST)
        return AS_PROBE_REFUSE(p, keyword, "a file has at most %d probes", PROBES_MOST);
    probe.name = as_arena_strndup(&p->probes->arena, p->now.text.p, p->now.text.n);
    if (!probe.name || as_vec_push(&p->probes->probe, probe) < 0)
        return as_error_nomem(p->err, "probes");
    p->probe = &p->probes->probe.at[p->probes->probe.n - 1];
    AS_TRY(as_probe_advance(p));
    return as_probe_end_line(p);
}

/* Refuses filters that do not apply to the event. Errors: USAGE. */
static int check_filters(struct as_probe_parser *p, const struct as_probe_token *end)
{
    const enum as_probe_event event = p->probe->event;
    const bool is_program = event <= AS_PROBE_PROGRAM_EXIT;
    const bool is_call = event == AS_PROBE_CALL_BEFORE || event == AS_PROBE_CALL_AFTER;
    const bool is_insn = event == AS_PROBE_INSTRUCTION || is_call;
    as_vec_foreach (&p->probe->filter, filter) {
        const enum as_probe_subject of = filter->subject;
        if (is_program || (of == AS_PROBE_OF_CALLEE && !is_call) ||
            ((of == AS_PROBE_OF_CLASS || of == AS_PROBE_OF_MNEMONIC) && !is_insn))
            return AS_PROBE_REFUSE(p, end, "probe '%s': %s has no filter %s", p->probe->name,
                                   events[event].words, subjects[of]);
    }
    return 0;
}

static int end_probe(struct as_probe_parser *p, const struct as_probe_token *keyword)
{
    const struct as_mil_probe *probe = p->probe;
    if (!probe->has_event)
        return AS_PROBE_REFUSE(p, keyword, "probe '%s' has no event; add a line 'at EVENT'",
                               probe->name);
    if (!probe->actions)
        return AS_PROBE_REFUSE(p, keyword, "probe '%s' has no action; add a line 'do ACTION'",
                               probe->name);
    if (probe->actions & AS_PROBE_TIME && !events[probe->event].spans)
        return AS_PROBE_REFUSE(p, keyword,
                               "probe '%s': %s has no duration; use time with program, function "
                               "or loop",
                               probe->name, events[probe->event].words);
    AS_TRY(as_probe_check_actions(p, keyword));
    AS_TRY(check_filters(p, keyword));
    p->probe = NULL;
    return as_probe_end_line(p);
}

static int parse_statement(struct as_probe_parser *p)
{
    static const char *const words[] = {"probe", "at", "where", "do", "end"};
    static int (*const parts[])(struct as_probe_parser *) = {NULL, parse_event, parse_filters,
                                                             as_probe_parse_actions, NULL};
    const struct as_probe_token keyword = p->now;
    unsigned i = 0;
    while (i < 5 && !as_probe_is_word(p, words[i]))
        i++;
    if (i == 5)
        return as_probe_refuse_now(p, "probe, at, where, do or end");
    if (i && !p->probe)
        return AS_PROBE_REFUSE(
            p, &keyword, "'%s' is outside of a probe; begin one with probe and a name", words[i]);
    AS_TRY(as_probe_advance(p));
    return i == 0 ? begin_probe(p, &keyword) : i == 4 ? end_probe(p, &keyword) : parts[i](p);
}

static int parse_file(struct as_probe_parser *p)
{
    AS_TRY(as_probe_advance(p));
    while (p->now.kind != AS_PROBE_FILE_END) {
        if (p->now.kind != AS_PROBE_LINE_END)
            AS_TRY(parse_statement(p));
        if (p->now.kind == AS_PROBE_LINE_END)
            AS_TRY(as_probe_advance(p));
    }
    if (p->probe)
        return AS_PROBE_REFUSE(p, &p->now, "probe '%s' has no end; add end after it",
                               p->probe->name);
    if (!p->probes->probe.n)
        return AS_PROBE_REFUSE(p, &p->now, "the file has no probe; add one");
    return 0;
}

/* ---- Files ----------------------------------------------------------------------------------- */

int as_probes_parse(const char *text, size_t n, const char *name, struct as_probes **out,
                    struct as_error *err)
{
    struct as_probes *probes = as_calloc(1, sizeof *probes);
    *out = NULL;
    if (!probes)
        return as_error_nomem(err, "probes");
    as_arena_init(&probes->arena);
    /* texts of filters point into this copy */
    const char *kept = as_arena_strndup(&probes->arena, text, n);
    struct as_probe_parser p = {.lexer = {{kept, n}, name, 1, 1}, .probes = probes, .err = err};
    const int rc = kept ? parse_file(&p) : as_error_nomem(err, "probes");
    if (rc < 0)
        as_probes_free(&probes);
    *out = probes;
    return rc;
}

int as_probes_read(const char *path, struct as_probes **out, struct as_error *err)
{
    char *text;
    size_t n;
    *out = NULL;
    AS_TRY(as_infile_read(path, "the file of probes", FILE_MOST_B, 0, &text, &n, err));
    const int rc = as_probes_parse(text, n, path, out, err);
    as_free(text);
    return rc;
}

void as_probes_free(struct as_probes **probes)
{
    if (!*probes)
        return;
    as_vec_foreach (&(*probes)->probe, probe) {
        as_vec_foreach (&probe->filter, filter)
            as_vec_fini(&filter->text);
        as_vec_fini(&probe->filter);
        as_vec_fini(&probe->record);
        as_vec_fini(&probe->call);
    }
    as_vec_fini(&(*probes)->probe);
    as_arena_fini(&(*probes)->arena);
    as_free(*probes);
    *probes = NULL;
}

size_t as_probes_count(const struct as_probes *probes)
{
    return probes->probe.n;
}

void as_probes_get(const struct as_probes *probes, size_t number, struct as_probe_facts *out)
{
    const struct as_mil_probe *it = &probes->probe.at[number];
    *out = (struct as_probe_facts){.name = it->name,
                                   .event = it->event,
                                   .actions = it->actions,
                                   .line = it->line,
                                   .records = it->record.n,
                                   .calls = it->call.n};
    as_vec_foreach (&it->filter, filter)
        out->asks_share |= filter->subject == AS_PROBE_OF_SHARE;
}

const char *as_probes_record_text(const struct as_probes *probes, size_t number, size_t record)
{
    return probes->probe.at[number].record.at[record].text;
}
