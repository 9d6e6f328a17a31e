/* SPDX-License-Identifier: Apache-2.0 */
/* Parses filter files. Each word is a keyword or a pattern; anything else is an error. */
#include "trace/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/infile.h"

#define FILE_MOST_B    (1u << 20)
#define PATTERN_MOST_B 1024u

/* ---- Words --------------------------------------------------------------------------------- */

struct filter_reader {
    struct as_view rest;
    const char *name;
    unsigned line;
    struct as_str word; /* the current word as written, for messages */
    struct as_str glob; /* the current word as a pattern of base/glob.h */
    bool is_escaped;    /* the word has a backslash, so it is not a keyword */
    unsigned word_line;
    /* State: the current block, and EXCLUDE or INCLUDE. */
    enum { IN_NONE, IN_REGIONS, IN_FILES } block;
    unsigned block_line;
    enum { NO_MODE, MODE_INCLUDE, MODE_EXCLUDE } mode;
    bool is_bare;    /* no name has followed the mode yet */
    bool is_mangled; /* MANGLED has followed the mode */
    struct as_trace_filter *out;
    struct as_error *err;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

__attribute__((format(printf, 3, 4))) static int fault_at(struct filter_reader *r, unsigned line,
                                                          const char *fmt, ...)
{
    char sentence[512];
    va_list list;
    va_start(list, fmt);
    vsnprintf(sentence, sizeof sentence, fmt, list);
    va_end(list);
    return as_error_set(r->err, AS_ERR_USAGE, "%s:%u: %s", r->name, line, sentence);
}

static void skip_blanks(struct filter_reader *r)
{
    bool in_comment = false;
    for (; r->rest.n; r->rest.p++, r->rest.n--) {
        const char c = *r->rest.p;
        if (c == '\n') {
            r->line++;
            in_comment = false;
        } else if (c == '#') {
            in_comment = true;
        } else if (!in_comment && !is_blank(c)) {
            return;
        }
    }
}

/* Appends a byte that follows a backslash, which is not a wildcard. */
static void add_literal(struct as_str *glob, char c)
{
    const char set[] = {'[', c, ']'};
    if (c == '*' || c == '?' || c == '[')
        as_str_append(glob, set, 3);
    else
        as_str_append(glob, &c, 1);
}

/* Reads the next word. Returns 1, or 0 at the end of the text. */
static int next_word(struct filter_reader *r)
{
    as_str_clear(&r->word);
    as_str_clear(&r->glob);
    r->is_escaped = false;
    skip_blanks(r);
    r->word_line = r->line;
    for (; r->rest.n && !is_blank(*r->rest.p) && *r->rest.p != '#'; r->rest.p++, r->rest.n--) {
        const char c = *r->rest.p;
        if (c == 0)
            return fault_at(r, r->line, "not a text file: it has a zero byte");
        if (c == '\\' && (r->rest.n < 2 || r->rest.p[1] == '\n' || r->rest.p[1] == 0))
            return fault_at(r, r->line, "a backslash at the end; remove it");
        if (c == '\\') {
            r->is_escaped = true;
            as_str_append(&r->word, r->rest.p++, 1);
            r->rest.n--;
            add_literal(&r->glob, *r->rest.p);
        } else {
            as_str_append(&r->glob, &c, 1);
        }
        as_str_append(&r->word, r->rest.p, 1);
    }
    return r->word.n ? 1 : 0;
}

/* Rejects sets of characters without an end, and negated sets, which base/glob.h does not have. */
static int check_sets(struct filter_reader *r)
{
    const char *p = as_str_z(&r->glob);
    while ((p = strchr(p, '['))) {
        const char *end = p[1] ? strchr(p + 2, ']') : NULL;
        if (!end)
            return fault_at(r, r->word_line,
                            "'%s': the set after '[' is not closed; close it, or use '\\['",
                            as_str_z(&r->word));
        if ((p[1] == '!' || p[1] == '^') && end > p + 2)
            return fault_at(
                r, r->word_line,
                "'%s': negated sets ('[%c') are not supported; exclude more, and include again",
                as_str_z(&r->word), p[1]);
        p = end + 1;
    }
    return 0;
}

/* ---- Rules --------------------------------------------------------------------------------- */

static void add_packed(struct as_trace_filter *filter, enum as_filter_verdict verdict,
                       const char *pattern, size_t n)
{
    const char letter = (char)('0' + verdict);
    as_str_append(&filter->rules, &letter, 1);
    as_str_append(&filter->rules, pattern, n);
    as_str_append(&filter->rules, "", 1);
    filter->rules_n++;
}

void as_trace_filter_add(struct as_trace_filter *filter, enum as_filter_verdict verdict,
                         const char *name)
{
    struct as_str glob = {0};
    for (const char *c = name; *c; c++)
        add_literal(&glob, *c);
    filter->rules.failed |= glob.failed;
    add_packed(filter, verdict, as_str_z(&glob), glob.n);
    as_str_fini(&glob);
}

static int add_filter_pattern(struct filter_reader *r)
{
    if (r->mode == NO_MODE)
        return fault_at(r, r->word_line,
                        "'%.100s' is before EXCLUDE or INCLUDE; add one of them first",
                        as_str_z(&r->word));
    if (r->glob.n > PATTERN_MOST_B)
        return fault_at(r, r->word_line, "a pattern has more than %u bytes; shorten it with '*'",
                        PATTERN_MOST_B);
    AS_TRY(check_sets(r));
    r->is_bare = false;
    if (r->block == IN_FILES)
        r->out->rules_of_file++;
    else
        add_packed(r->out, r->mode == MODE_EXCLUDE ? AS_FILTER_LEFT_OUT : AS_FILTER_RECORDED,
                   as_str_z(&r->glob), r->glob.n);
    return 0;
}

static bool is_word(const struct filter_reader *r, const char *keyword)
{
    return !r->is_escaped && strcmp(as_str_z(&r->word), keyword) == 0;
}

static int end_mode(struct filter_reader *r)
{
    if (r->mode != NO_MODE && r->is_bare)
        return fault_at(r, r->word_line, "%s has no name; add names after it",
                        r->mode == MODE_EXCLUDE ? "EXCLUDE" : "INCLUDE");
    return 0;
}

static int begin_mode(struct filter_reader *r, bool excludes)
{
    AS_TRY(end_mode(r));
    r->mode = excludes ? MODE_EXCLUDE : MODE_INCLUDE;
    r->is_bare = true;
    r->is_mangled = false;
    return 0;
}

static int begin_filter_block(struct filter_reader *r)
{
    const bool regions = is_word(r, "SCOREP_REGION_NAMES_BEGIN");
    if (!regions && !is_word(r, "SCOREP_FILE_NAMES_BEGIN"))
        return fault_at(r, r->word_line,
                        "'%.100s' is outside of a block; use rules between "
                        "SCOREP_REGION_NAMES_BEGIN and SCOREP_REGION_NAMES_END",
                        as_str_z(&r->word));
    r->block = regions ? IN_REGIONS : IN_FILES;
    r->block_line = r->word_line;
    r->mode = NO_MODE;
    return 0;
}

static int parse_filter_word(struct filter_reader *r)
{
    static const char *const end[] = {
        [IN_REGIONS] = "SCOREP_REGION_NAMES_END", [IN_FILES] = "SCOREP_FILE_NAMES_END"};
    _Static_assert(sizeof end / sizeof *end == IN_FILES + 1,
                   "an entry for each of the enumeration");
    if (r->block == IN_NONE)
        return begin_filter_block(r);
    if (is_word(r, end[r->block])) {
        AS_TRY(end_mode(r));
        r->block = IN_NONE;
        return 0;
    }
    if (!r->is_escaped && as_view_starts(as_view_of(as_str_z(&r->word)), "SCOREP_"))
        return fault_at(r, r->word_line, "'%.100s' is in a block that ends with %s",
                        as_str_z(&r->word), end[r->block]);
    if (is_word(r, "EXCLUDE") || is_word(r, "INCLUDE"))
        return begin_mode(r, is_word(r, "EXCLUDE"));
    /* Recorded names are linkage names, so MANGLED changes nothing. */
    if (is_word(r, "MANGLED") && r->block == IN_REGIONS && r->is_bare && !r->is_mangled) {
        r->is_mangled = true;
        return 0;
    }
    return add_filter_pattern(r);
}

static int parse_words(struct filter_reader *r)
{
    static const char *const word[] = {[IN_REGIONS] = "REGION", [IN_FILES] = "FILE"};
    _Static_assert(sizeof word / sizeof *word == IN_FILES + 1,
                   "an entry for each of the enumeration");
    int rc;
    while ((rc = next_word(r)) > 0)
        AS_TRY(parse_filter_word(r));
    if (rc == 0 && r->block != IN_NONE)
        rc = fault_at(r, r->block_line, "this block has no end; add SCOREP_%s_NAMES_END",
                      word[r->block]);
    return rc;
}

int as_trace_filter_parse(struct as_view text, const char *name, struct as_trace_filter *out,
                          struct as_error *err)
{
    struct filter_reader r = {.rest = text, .name = name, .line = 1, .out = out, .err = err};
    *out = (struct as_trace_filter){0};
    int rc = parse_words(&r);
    if (r.word.failed || r.glob.failed || out->rules.failed)
        rc = as_error_nomem(err, "a filter");
    as_str_fini(&r.word);
    as_str_fini(&r.glob);
    return rc;
}

/* ---- The file ------------------------------------------------------------------------------ */

int as_trace_filter_read(const char *path, struct as_trace_filter *out, struct as_error *err)
{
    char *text;
    size_t n;
    *out = (struct as_trace_filter){0};
    AS_TRY(as_infile_read(path, "the filter", FILE_MOST_B, 0, &text, &n, err));
    const int rc = as_trace_filter_parse((struct as_view){text, n}, path, out, err);
    as_free(text);
    return rc;
}

void as_trace_filter_fini(struct as_trace_filter *filter)
{
    as_str_fini(&filter->rules);
    filter->rules_n = filter->rules_of_file = 0;
}
