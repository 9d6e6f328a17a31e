/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remarks of gcc: the text of -fopt-info ("file:line:column: optimized: ..."), and the JSON of
 * -fsave-optimization-record (gcc, optinfo-emit-json.cc). The JSON is an array of a head, the
 * passes, and the records. Records are nested as the scopes that made them.
 */
#include <string.h>

#include "base/error.h"
#include "base/json_read.h"
#include "base/vec.h"
#include "quality/remark_draft.h"

/* ---- Text ---------------------------------------------------------------------------------- */

static bool find_words(struct as_view line, const char *words, size_t *at)
{
    const char *hit = line.n ? memmem(line.p, line.n, words, strlen(words)) : NULL;

    *at = hit ? (size_t)(hit - line.p) : 0;
    return hit;
}

/* Cuts ":<digits>" off the end and sets `*out`. Returns false without a number. */
static bool cut_trailing_number(struct as_view *place, uint32_t *out)
{
    size_t n = place->n;

    while (n && place->p[n - 1] >= '0' && place->p[n - 1] <= '9')
        n--;
    if (n == 0 || n == place->n || place->p[n - 1] != ':')
        return false;
    *out = as_remark_number((struct as_view){place->p + n, place->n - n}, 0);
    place->n = n - 1;
    return true;
}

static int read_line(struct as_remarks *remarks, struct as_view line)
{
    static const struct {
        const char *words;
        enum as_remark_kind kind;
    } kinds[] = {{": optimized: ", AS_REMARK_DONE}, {": missed: ", AS_REMARK_MISSED}};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct as_remark_draft draft = {.kind = kinds[i].kind};
        size_t at;
        int rc;

        if (!find_words(line, kinds[i].words, &at))
            continue;
        draft.file = (struct as_view){line.p, at};
        if (!cut_trailing_number(&draft.file, &draft.column) ||
            !cut_trailing_number(&draft.file, &draft.line))
            continue;
        at += strlen(kinds[i].words);
        as_str_append(&draft.text, line.p + at, line.n - at);
        rc = as_remark_keep(remarks, &draft);
        as_str_fini(&draft.text);
        return rc;
    }
    return 0;
}

int as_remarks_gcc_text(struct as_remarks *remarks, struct as_view bytes, struct as_error *err)
{
    struct as_view line;

    while (as_view_split(&bytes, '\n', &line))
        if (read_line(remarks, line) < 0)
            return as_error_nomem(err, "the record of a compiler");
    return 0;
}

/* ---- JSON ---------------------------------------------------------------------------------- */

struct gcc_pass {
    char id[32], name[32];
};

struct gcc_record {
    struct as_remarks *remarks;
    struct as_json_read in;
    AS_VEC(struct gcc_pass) pass;
};

/* Fields of one object. */
struct gcc_note {
    struct as_remark_draft draft;
    struct as_str file, function, pass;
    bool counts; /* a success or a failure */
};

static bool is_key(const struct gcc_record *g, const char *word)
{
    return strcmp(as_str_z(&g->in.text), word) == 0;
}

/* Reads the next value if it is a string or a number. Skips any other value and returns false. */
static bool read_json_text(struct gcc_record *g, struct as_str *out)
{
    const enum as_json_token token = as_json_next(&g->in);

    if (token != AS_JSON_STRING && token != AS_JSON_NUMBER) {
        as_json_skip(&g->in, token);
        return false;
    }
    as_str_clear(out);
    as_str_append(out, as_str_z(&g->in.text), g->in.text.n);
    return true;
}

static void copy_short(char *to, size_t to_b, const struct as_str *from)
{
    const size_t n = from->n < to_b ? from->n : to_b - 1;

    memcpy(to, as_str_z(from), n);
    to[n] = '\0';
}

static int read_passes(struct gcc_record *g);

/* Parses the rest of { "id": ..., "name": ..., "children": [...] } after its first token. */
static int read_pass(struct gcc_record *g)
{
    struct gcc_pass pass = {{0}, {0}};
    struct as_str text = {0};
    int rc = 0;

    while (rc == 0 && as_json_next(&g->in) == AS_JSON_KEY) {
        const bool id = is_key(g, "id"), children = is_key(g, "children");

        if (id || is_key(g, "name")) {
            if (read_json_text(g, &text))
                copy_short(id ? pass.id : pass.name, sizeof pass.id, &text);
            continue;
        }
        const enum as_json_token token = as_json_next(&g->in);

        if (children && token == AS_JSON_ARRAY)
            rc = read_passes(g);
        else
            as_json_skip(&g->in, token);
    }
    as_str_fini(&text);
    return rc < 0 ? rc : as_vec_push(&g->pass, pass);
}

static int read_passes(struct gcc_record *g)
{
    int rc = 0;

    while (rc == 0 && as_json_next(&g->in) == AS_JSON_OBJECT)
        rc = read_pass(g);
    return rc;
}

/* Parses the rest of {"file": ..., "line": ..., "column": ...} after its first token. */
static void read_location(struct gcc_record *g, struct gcc_note *note)
{
    struct as_str text = {0};

    while (as_json_next(&g->in) == AS_JSON_KEY) {
        const bool line = is_key(g, "line"), column = is_key(g, "column");

        if (is_key(g, "file")) {
            read_json_text(g, &note->file);
        } else if ((line || column) && read_json_text(g, &text)) {
            const uint32_t number = as_remark_number((struct as_view){as_str_z(&text), text.n}, 0);

            *(line ? &note->draft.line : &note->draft.column) = number;
        } else if (!line && !column) {
            as_json_skip(&g->in, as_json_next(&g->in));
        }
    }
    as_str_fini(&text);
}

/* Parses the rest of ["words", {"expr": "x"}, ...] after its first token. Appends the words and the
 * names between them to `text`. */
static void read_message(struct gcc_record *g, struct as_str *text)
{
    enum as_json_token token;

    while ((token = as_json_next(&g->in)) == AS_JSON_STRING || token == AS_JSON_OBJECT) {
        if (token == AS_JSON_STRING) {
            as_str_append(text, as_str_z(&g->in.text), g->in.text.n);
            continue;
        }
        while (as_json_next(&g->in) == AS_JSON_KEY) {
            const bool named = is_key(g, "expr") || is_key(g, "stmt") || is_key(g, "symtab_node");

            token = as_json_next(&g->in);
            if (named && token == AS_JSON_STRING)
                as_str_append(text, as_str_z(&g->in.text), g->in.text.n);
            else
                as_json_skip(&g->in, token);
        }
    }
}

static int read_note(struct gcc_record *g);

static int read_notes(struct gcc_record *g)
{
    int rc = 0;

    while (rc == 0 && as_json_next(&g->in) == AS_JSON_OBJECT)
        rc = read_note(g);
    return rc;
}

static void read_kind_of(struct gcc_record *g, struct gcc_note *note)
{
    if (as_json_next(&g->in) != AS_JSON_STRING)
        return;
    note->counts = is_key(g, "success") || is_key(g, "failure");
    note->draft.kind = is_key(g, "success") ? AS_REMARK_DONE : AS_REMARK_MISSED;
}

static int read_member(struct gcc_record *g, struct gcc_note *note)
{
    const bool location = is_key(g, "location"), message = is_key(g, "message");
    const bool children = is_key(g, "children");
    enum as_json_token token;

    if (is_key(g, "kind"))
        return read_kind_of(g, note), 0;
    if (is_key(g, "pass"))
        return read_json_text(g, &note->pass), 0;
    if (is_key(g, "function"))
        return read_json_text(g, &note->function), 0;
    token = as_json_next(&g->in);
    if (location && token == AS_JSON_OBJECT)
        read_location(g, note);
    else if (message && token == AS_JSON_ARRAY)
        read_message(g, &note->draft.text);
    else if (children && token == AS_JSON_ARRAY)
        return read_notes(g);
    else
        as_json_skip(&g->in, token);
    return 0;
}

static bool concerns_loops(const char *pass)
{
    static const char *const of_interest[] = {"vect",     "slp",   "slp1",   "slp2",   "cunroll",
                                              "cunrolli", "ldist", "inline", "einline"};

    for (size_t i = 0; i < sizeof of_interest / sizeof *of_interest; i++)
        if (strcmp(pass, of_interest[i]) == 0)
            return true;
    return false;
}

static int store_gcc_note(struct gcc_record *g, struct gcc_note *note)
{
    struct as_remark_draft *draft = &note->draft;

    as_vec_foreach (&g->pass, pass)
        if (strcmp(pass->id, as_str_z(&note->pass)) == 0)
            draft->pass = as_view_of(pass->name);
    if (!note->counts || !draft->pass.n || !concerns_loops(draft->pass.p))
        return 0;
    draft->file = (struct as_view){as_str_z(&note->file), note->file.n};
    draft->function = (struct as_view){as_str_z(&note->function), note->function.n};
    return as_remark_keep(g->remarks, draft);
}

/* Parses one record and its nested records after the first token. */
static int read_note(struct gcc_record *g)
{
    struct gcc_note note = {.counts = false};
    int rc = 0;

    while (rc == 0 && as_json_next(&g->in) == AS_JSON_KEY)
        rc = read_member(g, &note);
    if (rc == 0)
        rc = store_gcc_note(g, &note);
    as_str_fini(&note.draft.text);
    as_str_fini(&note.file);
    as_str_fini(&note.function);
    as_str_fini(&note.pass);
    return rc;
}

static int read_parts(struct gcc_record *g)
{
    enum as_json_token token;
    int rc = 0;

    for (unsigned part = 0; rc == 0; part++) {
        token = as_json_next(&g->in);
        if (token == AS_JSON_ARRAY_END || token == AS_JSON_BAD || token == AS_JSON_END)
            break;
        if (part == 1 && token == AS_JSON_ARRAY)
            rc = read_passes(g);
        else if (part == 2 && token == AS_JSON_ARRAY)
            rc = read_notes(g);
        else
            as_json_skip(&g->in, token);
    }
    return rc;
}

int as_remarks_gcc_json(struct as_remarks *remarks, struct as_view bytes, const char *name,
                        struct as_error *err)
{
    struct gcc_record g = {.remarks = remarks};
    int rc;

    as_json_read_init(&g.in, bytes.p, bytes.n);
    rc = as_json_next(&g.in) == AS_JSON_ARRAY ? read_parts(&g) : 0;
    if (rc == 0 && as_json_next(&g.in) != AS_JSON_END)
        rc = g.in.text.failed ? AS_ERR_NOMEM
                              : as_error_set(err, AS_ERR_CORRUPT,
                                             "%s: byte %zu: not a remark of gcc; compile again",
                                             name, (size_t)(g.in.at - bytes.p));
    as_json_read_fini(&g.in);
    as_vec_fini(&g.pass);
    return rc == AS_ERR_NOMEM ? as_error_nomem(err, "the record of a compiler") : rc;
}
