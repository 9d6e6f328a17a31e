/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of probe files and its error messages, shared by the files that parse them. */
#ifndef AS_MIL_PARSER_H
#define AS_MIL_PARSER_H

#include "base/error.h"
#include "mil/probe.h"

struct as_probe_parser {
    struct as_probe_lexer lexer;
    struct as_probe_token now;
    struct as_probes *probes;
    struct as_mil_probe *probe; /* the probe that is being parsed, or NULL */
    struct as_error *err;
};

#define AS_PROBE_V(view) (int)((view).n > 60 ? 60 : (view).n), (view).p
#define AS_PROBE_REFUSE(p, token, fmt, ...)                                                        \
    as_error_set((p)->err, AS_ERR_USAGE, "%s:%u:%u: " fmt, (p)->lexer.name, (token)->line,         \
                 (token)->column, ##__VA_ARGS__)

static inline int as_probe_advance(struct as_probe_parser *p)
{
    return as_probe_next(&p->lexer, &p->now, p->err);
}

static inline bool as_probe_is_word(const struct as_probe_parser *p, const char *word)
{
    return p->now.kind == AS_PROBE_WORD && as_view_equal(p->now.text, as_view_of(word));
}

static inline bool as_probe_is_symbol(const struct as_probe_parser *p, const char *symbol)
{
    return p->now.kind == AS_PROBE_SYMBOL && as_view_equal(p->now.text, as_view_of(symbol));
}

static inline bool as_probe_is_line_end(const struct as_probe_parser *p)
{
    return p->now.kind == AS_PROBE_LINE_END || p->now.kind == AS_PROBE_FILE_END;
}

/* Reports the current token and what was expected in its place. Returns AS_ERR_USAGE. */
static inline int as_probe_refuse_now(struct as_probe_parser *p, const char *expected)
{
    if (as_probe_is_line_end(p))
        return AS_PROBE_REFUSE(p, &p->now, "the line ends here; expected %s", expected);
    return AS_PROBE_REFUSE(p, &p->now, "'%.*s' stands here; expected %s", AS_PROBE_V(p->now.text),
                           expected);
}

static inline int as_probe_end_line(struct as_probe_parser *p)
{
    return as_probe_is_line_end(p) ? 0 : as_probe_refuse_now(p, "the end of the line");
}

/* Parses actions (count, time, record ..., call ...) to the end of the line (actions.c). Errors:
 * USAGE, NOMEM. */
int as_probe_parse_actions(struct as_probe_parser *p);
/* Checks that the actions of a complete probe are valid for its event. Errors: USAGE. */
int as_probe_check_actions(struct as_probe_parser *p, const struct as_probe_token *end);

#endif
