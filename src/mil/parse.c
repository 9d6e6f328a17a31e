/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The language of probes: a statement a line, `probe NAME`, `at EVENT`, `where FILTER [and ...]`,
 * `do ACTION, ...`, `end`. A mistake is told with file, line and column.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "mil/probe.h"
#include "profile/text.h"

#define FILE_MOST_B  ((size_t)1 << 20)
#define PROBES_MOST  4096
#define FILTERS_MOST 256

struct parser {
    struct as_probe_lexer lexer;
    struct as_probe_token now;
    struct assay_probes *probes;
    struct as_mil_probe *probe; /* the one that is open, or NULL */
    struct assay_error *err;
};

#define V(view) (int)((view).n > 60 ? 60 : (view).n), (view).p
#define REFUSE(p, token, fmt, ...)                                                                 \
    as_error_set((p)->err, ASSAY_ERR_USAGE, "%s:%u:%u: " fmt, (p)->lexer.name, (token)->line,      \
                 (token)->column, ##__VA_ARGS__)

static int next_token(struct parser *p)
{
    return as_probe_next(&p->lexer, &p->now, p->err);
}

static bool is_word(const struct parser *p, const char *word)
{
    return p->now.kind == AS_PROBE_WORD && as_view_equal(p->now.text, as_view_of(word));
}

static bool is_symbol(const struct parser *p, const char *symbol)
{
    return p->now.kind == AS_PROBE_SYMBOL && as_view_equal(p->now.text, as_view_of(symbol));
}

static bool is_line_end(const struct parser *p)
{
    return p->now.kind == AS_PROBE_LINE_END || p->now.kind == AS_PROBE_FILE_END;
}

/* What was found, in a sentence that goes on with what was expected. */
static int refuse_now(struct parser *p, const char *expected)
{
    if (is_line_end(p))
        return REFUSE(p, &p->now, "the line ends here; expected %s", expected);
    return REFUSE(p, &p->now, "'%.*s' stands here; expected %s", V(p->now.text), expected);
}

static int end_line(struct parser *p)
{
    return is_line_end(p) ? 0 : refuse_now(p, "the end of the line");
}

/* ---- Events ---------------------------------------------------------------------------------- */

static const struct {
    const char *words;
    bool spans;
} events[ASSAY_PROBE_EVENTS] = {
#define EVENT_WORDS(name, words, spans) {words, spans},
    ASSAY_PROBE_EVENT_LIST(EVENT_WORDS)
#undef EVENT_WORDS
};

const char *assay_probe_event_words(enum assay_probe_event event)
{
    return (unsigned)event < ASSAY_PROBE_EVENTS ? events[event].words : "";
}

static bool find_event(const char *words, enum assay_probe_event *out)
{
    for (unsigned e = 0; e < ASSAY_PROBE_EVENTS; e++)
        if (strcmp(events[e].words, words) == 0) {
            *out = (enum assay_probe_event)e;
            return true;
        }
    return false;
}

static int parse_event(struct parser *p)
{
    char words[64] = "";
    int length = 0;
    const struct as_probe_token first = p->now;
    if (p->probe->has_event)
        return REFUSE(p, &first, "probe '%s' has an event; write a second probe for another",
                      p->probe->name);
    for (unsigned n = 0; p->now.kind == AS_PROBE_WORD && n < 2; n++) {
        if (p->now.text.n > 20)
            break;
        length += snprintf(words + length, sizeof words - (size_t)length, "%s%.*s", n ? " " : "",
                           V(p->now.text));
        AS_TRY(next_token(p));
    }
    if (!find_event(words, &p->probe->event))
        return REFUSE(p, &first,
                      "no event is called '%s'; there are program, function and loop (each also "
                      "with entry or exit), loop back, call before, call after, block, instruction",
                      words);
    p->probe->has_event = true;
    return end_line(p);
}

/* ---- Filters --------------------------------------------------------------------------------- */

static const char *const subjects[AS_PROBE_SUBJECTS] = {
    [AS_PROBE_OF_FUNCTION] = "function", [AS_PROBE_OF_FILE] = "file",
    [AS_PROBE_OF_CALLEE] = "callee",     [AS_PROBE_OF_CLASS] = "class",
    [AS_PROBE_OF_MNEMONIC] = "mnemonic", [AS_PROBE_OF_LINE] = "line",
    [AS_PROBE_OF_LEVEL] = "level",       [AS_PROBE_OF_DEPTH] = "depth",
    [AS_PROBE_OF_SHARE] = "share",       [AS_PROBE_OF_ADDRESS] = "address"};

static int parse_texts(struct parser *p, struct as_probe_filter *out)
{
    out->is_pattern = is_symbol(p, "~");
    if (!out->is_pattern && !is_symbol(p, "="))
        return refuse_now(p, "= and a name in quotes, or ~ and a pattern");
    do {
        AS_TRY(next_token(p));
        if (p->now.kind != AS_PROBE_TEXT)
            return refuse_now(p, "a name in quotes");
        if (as_vec_push(&out->text, p->now.text) < 0)
            return as_error_nomem(p->err, "probes");
        AS_TRY(next_token(p));
    } while (is_symbol(p, ","));
    return 0;
}

/* "= 3", ">= 3", "<= 3", "3", "3 - 7". */
static int parse_range(struct parser *p, struct as_probe_filter *out)
{
    const bool least = is_symbol(p, ">="), most = is_symbol(p, "<=");
    if (least || most || is_symbol(p, "="))
        AS_TRY(next_token(p));
    if (p->now.kind != AS_PROBE_NUMBER)
        return refuse_now(p, "a number");
    out->low = most ? -INFINITY : p->now.number;
    out->high = least ? INFINITY : p->now.number;
    AS_TRY(next_token(p));
    if (!least && !most && is_symbol(p, "-")) {
        AS_TRY(next_token(p));
        if (p->now.kind != AS_PROBE_NUMBER || p->now.number < out->low)
            return refuse_now(p, "a number that is not less than the one before");
        out->high = p->now.number;
        AS_TRY(next_token(p));
    }
    return 0;
}

static int parse_share(struct parser *p, struct as_probe_filter *out)
{
    AS_TRY(parse_range(p, out));
    if (!is_symbol(p, "%"))
        return refuse_now(p, "% behind the share");
    out->low /= 100;
    out->high /= 100;
    return next_token(p);
}

static int parse_address(struct parser *p, struct as_probe_filter *out)
{
    if (is_symbol(p, "="))
        AS_TRY(next_token(p));
    if (p->now.kind != AS_PROBE_NUMBER || !p->now.is_integer)
        return refuse_now(p, "an address, as 0x401a40");
    out->address = p->now.integer;
    return next_token(p);
}

static int parse_levels(struct parser *p, struct as_probe_filter *out)
{
    static const char *const level[] = {"single", "outermost", "between", "innermost"};
    for (;;) {
        unsigned found = 4;
        for (unsigned i = 0; i < 4; i++)
            if (is_word(p, level[i]))
                found = i;
        if (found == 4)
            return refuse_now(p, "single, outermost, between or innermost");
        out->levels |= 1u << found;
        AS_TRY(next_token(p));
        if (!is_symbol(p, ","))
            return 0;
        AS_TRY(next_token(p));
    }
}

static int parse_condition(struct parser *p, struct as_probe_filter *out)
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

static int parse_filter(struct parser *p)
{
    struct as_probe_filter filter = {.negated = is_word(p, "not")};
    unsigned subject = 0;
    if (filter.negated)
        AS_TRY(next_token(p));
    while (subject < AS_PROBE_SUBJECTS && !is_word(p, subjects[subject]))
        subject++;
    if (subject == AS_PROBE_SUBJECTS)
        return refuse_now(p, "function, file, line, callee, level, depth, share, address, class or "
                             "mnemonic");
    if (p->probe->filter.n >= FILTERS_MOST)
        return REFUSE(p, &p->now, "a probe has %d filters at most", FILTERS_MOST);
    filter.subject = (enum as_probe_subject)subject;
    AS_TRY(next_token(p));
    const int rc = parse_condition(p, &filter);
    if (rc < 0 || as_vec_push(&p->probe->filter, filter) < 0) {
        as_vec_fini(&filter.text);
        return rc < 0 ? rc : as_error_nomem(p->err, "probes");
    }
    return 0;
}

static int parse_filters(struct parser *p)
{
    AS_TRY(parse_filter(p));
    while (is_word(p, "and")) {
        AS_TRY(next_token(p));
        AS_TRY(parse_filter(p));
    }
    return end_line(p);
}

/* ---- Actions --------------------------------------------------------------------------------- */

/* record register rdi, record argument 1, record memory "[rdi+8]". */
static int parse_record(struct parser *p)
{
    const bool number = is_word(p, "argument"), text = is_word(p, "memory");
    if (!number && !text && !is_word(p, "register"))
        return refuse_now(p, "register, argument or memory");
    AS_TRY(next_token(p));
    if (p->now.kind != (number ? AS_PROBE_NUMBER : text ? AS_PROBE_TEXT : AS_PROBE_WORD))
        return refuse_now(p, number ? "the number of the argument"
                             : text ? "the place in quotes, as \"[rdi+8]\""
                                    : "the name of a register");
    return next_token(p);
}

/* call "lib.so" "function". */
static int parse_call(struct parser *p)
{
    for (unsigned i = 0; i < 2; i++) {
        if (p->now.kind != AS_PROBE_TEXT)
            return refuse_now(p, i ? "the function in quotes" : "the library in quotes");
        AS_TRY(next_token(p));
    }
    return 0;
}

static int parse_action(struct parser *p)
{
    static const char *const words[] = {"count", "time", "record", "call"};
    const struct as_probe_token first = p->now;
    unsigned i = 0;
    while (i < 4 && !is_word(p, words[i]))
        i++;
    if (i == 4)
        return refuse_now(p, "count, time, record or call");
    if (p->probe->actions & 1u << i && i < 2)
        return REFUSE(p, &first, "'%s' stands in this probe already", words[i]);
    p->probe->actions |= 1u << i;
    AS_TRY(next_token(p));
    return i == 2 ? parse_record(p) : i == 3 ? parse_call(p) : 0;
}

static int parse_actions(struct parser *p)
{
    AS_TRY(parse_action(p));
    while (is_symbol(p, ",")) {
        AS_TRY(next_token(p));
        AS_TRY(parse_action(p));
    }
    return end_line(p);
}

/* ---- Statements ------------------------------------------------------------------------------ */

static int begin_probe(struct parser *p, const struct as_probe_token *keyword)
{
    struct as_mil_probe probe = {.line = keyword->line};
    if (p->probe)
        return REFUSE(p, keyword, "probe '%s' has no end yet", p->probe->name);
    if (p->now.kind != AS_PROBE_WORD)
        return refuse_now(p, "a name for the probe");
    as_vec_foreach (&p->probes->probe, other)
        if (as_view_equal(p->now.text, as_view_of(other->name)))
            return REFUSE(p, &p->now, "a probe of line %u is called '%s'", other->line,
                          other->name);
    if (p->probes->probe.n >= PROBES_MOST)
        return REFUSE(p, keyword, "a file has %d probes at most", PROBES_MOST);
    probe.name = as_arena_strndup(&p->probes->arena, p->now.text.p, p->now.text.n);
    if (!probe.name || as_vec_push(&p->probes->probe, probe) < 0)
        return as_error_nomem(p->err, "probes");
    p->probe = &p->probes->probe.at[p->probes->probe.n - 1];
    AS_TRY(next_token(p));
    return end_line(p);
}

/* Filters that ask what the event does not have. */
static int check_filters(struct parser *p, const struct as_probe_token *end)
{
    const enum assay_probe_event event = p->probe->event;
    const bool is_program = event <= ASSAY_PROBE_PROGRAM_EXIT;
    const bool is_call = event == ASSAY_PROBE_CALL_BEFORE || event == ASSAY_PROBE_CALL_AFTER;
    const bool is_insn = event == ASSAY_PROBE_INSTRUCTION || is_call;
    as_vec_foreach (&p->probe->filter, filter) {
        const enum as_probe_subject of = filter->subject;
        if (is_program || (of == AS_PROBE_OF_CALLEE && !is_call) ||
            ((of == AS_PROBE_OF_CLASS || of == AS_PROBE_OF_MNEMONIC) && !is_insn))
            return REFUSE(p, end, "probe '%s': %s has no %s to filter by", p->probe->name,
                          events[event].words, subjects[of]);
    }
    return 0;
}

static int end_probe(struct parser *p, const struct as_probe_token *keyword)
{
    const struct as_mil_probe *probe = p->probe;
    if (!probe->has_event)
        return REFUSE(p, keyword, "probe '%s' has no event; write at and which", probe->name);
    if (!probe->actions)
        return REFUSE(p, keyword, "probe '%s' does nothing; write do and what", probe->name);
    if (probe->actions & ASSAY_PROBE_TIME && !events[probe->event].spans)
        return REFUSE(p, keyword,
                      "probe '%s': %s takes no time; time is of program, function or loop, from "
                      "entry to exit",
                      probe->name, events[probe->event].words);
    AS_TRY(check_filters(p, keyword));
    p->probe = NULL;
    return end_line(p);
}

static int parse_statement(struct parser *p)
{
    static const char *const words[] = {"probe", "at", "where", "do", "end"};
    static int (*const parts[])(struct parser *) = {NULL, parse_event, parse_filters, parse_actions,
                                                    NULL};
    const struct as_probe_token keyword = p->now;
    unsigned i = 0;
    while (i < 5 && !is_word(p, words[i]))
        i++;
    if (i == 5)
        return refuse_now(p, "probe, at, where, do or end");
    if (i && !p->probe)
        return REFUSE(p, &keyword, "'%s' stands in no probe; begin one with probe and a name",
                      words[i]);
    AS_TRY(next_token(p));
    return i == 0 ? begin_probe(p, &keyword) : i == 4 ? end_probe(p, &keyword) : parts[i](p);
}

static int parse_file(struct parser *p)
{
    AS_TRY(next_token(p));
    while (p->now.kind != AS_PROBE_FILE_END) {
        if (p->now.kind != AS_PROBE_LINE_END)
            AS_TRY(parse_statement(p));
        if (p->now.kind == AS_PROBE_LINE_END)
            AS_TRY(next_token(p));
    }
    if (p->probe)
        return REFUSE(p, &p->now, "probe '%s' has no end; write end behind it", p->probe->name);
    if (!p->probes->probe.n)
        return REFUSE(p, &p->now, "the file has no probe");
    return 0;
}

/* ---- Files ----------------------------------------------------------------------------------- */

int assay_probes_parse(const char *text, size_t n, const char *name, struct assay_probes **out,
                       struct assay_error *err)
{
    struct assay_probes *probes = as_calloc(1, sizeof *probes);
    *out = NULL;
    if (!probes)
        return as_error_nomem(err, "probes");
    as_arena_init(&probes->arena);
    const char *kept = as_arena_strndup(&probes->arena, text, n); /* texts of filters lie in it */
    struct parser p = {.lexer = {{kept, n}, name, 1, 1}, .probes = probes, .err = err};
    const int rc = kept ? parse_file(&p) : as_error_nomem(err, "probes");
    if (rc < 0)
        assay_probes_free(&probes);
    *out = probes;
    return rc;
}

int assay_probes_read(const char *path, struct assay_probes **out, struct assay_error *err)
{
    char *text;
    size_t n;
    *out = NULL;
    AS_TRY(as_text_read(path, "the file of probes", FILE_MOST_B, &text, &n, err));
    const int rc = assay_probes_parse(text, n, path, out, err);
    as_free(text);
    return rc;
}

void assay_probes_free(struct assay_probes **probes)
{
    if (!*probes)
        return;
    as_vec_foreach (&(*probes)->probe, probe) {
        as_vec_foreach (&probe->filter, filter)
            as_vec_fini(&filter->text);
        as_vec_fini(&probe->filter);
    }
    as_vec_fini(&(*probes)->probe);
    as_arena_fini(&(*probes)->arena);
    as_free(*probes);
    *probes = NULL;
}

size_t assay_probes_count(const struct assay_probes *probes)
{
    return probes->probe.n;
}

void assay_probes_get(const struct assay_probes *probes, size_t number,
                      struct assay_probe_facts *out)
{
    const struct as_mil_probe *it = &probes->probe.at[number];
    *out = (struct assay_probe_facts){it->name, it->event, it->actions, it->line, false};
    as_vec_foreach (&it->filter, filter)
        out->asks_share |= filter->subject == AS_PROBE_OF_SHARE;
}
