/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses the text of a core table. A faulty line is an error with its line number, because a
 * misspelt table would give wrong cycles silently.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "machine/uarch_table.h"

enum { UARCH_COLUMNS = 8, LIKE_DEPTH = 8 };

struct table_reading {
    struct as_uarch_table *table;
    const char *name;
    unsigned line;
    char *column[UARCH_COLUMNS];
    unsigned column_n;
    /* Facts about the table named by 'like'. This table may replace each of its lines once. */
    unsigned depth;
    size_t base_forms;
    unsigned base_groups;
    uint64_t *form_again; /* one bit per row: the row was replaced */
    uint64_t group_again;
    struct as_error *err;
};

static int report_table_line(const struct table_reading *r, const char *what, const char *word)
{
    return as_error_set(r->err, AS_ERR_CORRUPT,
                        "%s: line %u: %s '%s'; use the format of doc/reference/uarch.md", r->name,
                        r->line, what, word);
}

static bool read_real(const char *text, float *out)
{
    char *end;
    *out = strtof(text, &end);
    return end != text && !*end;
}

/* Parses "13-20" or "13"; returns false if it is malformed or the second number is smaller. */
static bool read_span(char *text, float *best, float *worst)
{
    char *dash = *text ? strchr(text + 1, '-') : NULL;
    if (dash)
        *dash = 0;
    return read_real(text, best) && read_real(dash ? dash + 1 : text, worst) && *worst >= *best;
}

/* Parses an unsigned number; 0 if there are no digits. */
static unsigned read_count(const char *text)
{
    return (unsigned)strtoul(text, NULL, 10);
}

static int find_source(const struct table_reading *r, const char *id)
{
    /* Search from the end: a source of this table hides one of the 'like' table. */
    for (size_t i = r->table->source.n; i-- > 0;)
        if (strcmp(r->table->source.at[i].id, id) == 0)
            return (int)i;
    return report_table_line(r, "no line 'source' before it is named", id);
}

/* ---- Kinds of lines ------------------------------------------------------------------------ */

static int read_core(struct table_reading *r)
{
    r->table->uarch.name = r->column[1];
    r->table->uarch.words = r->column[2];
    return 0;
}

static int read_match(struct table_reading *r)
{
    char *rest = r->column[3];
    for (char *part; (part = strsep(&rest, ",")) != NULL;) {
        struct as_uarch_match match = {.vendor = r->column[1], .family = read_count(r->column[2])};
        char *dash = strchr(part, '-');
        match.model_first = read_count(part);
        match.model_last = dash ? read_count(dash + 1) : match.model_first;
        if (!isdigit((unsigned char)*part))
            return report_table_line(r, "no model number", part);
        if (as_vec_push(&r->table->match, match) < 0)
            return as_error_nomem(r->err, "the table of a core");
    }
    return 0;
}

/* Adds the extensions of "+CORE" (data/machine/features.txt), or one extension; false if
 * unknown. */
static bool read_extension(const char *word, uint64_t *out)
{
    const int at = *word == '+' ? -1 : as_extension_find(word);
    if (at >= 0)
        *out |= UINT64_C(1) << at;
    return at >= 0 || (*word == '+' && as_core_extensions(word + 1, out));
}

/* Sets the extensions. The line lists all of them: those of the 'like' table are dropped. */
static int read_isa(struct table_reading *r)
{
    uint64_t found = 0;
    AS_TRY(find_source(r, r->column[2]));
    char *rest = r->column[1];
    for (char *part; (part = strsep(&rest, " ")) != NULL;)
        if (!read_extension(part, &found))
            return report_table_line(r, "neither an extension nor +CORE:", part);
    r->table->uarch.extensions = found;
    return 0;
}

static int read_source(struct table_reading *r)
{
    const struct as_uarch_source source = {r->column[1], r->column[2]};
    if (as_vec_push(&r->table->source, source) < 0)
        return as_error_nomem(r->err, "the table of a core");
    return 0;
}

static const char *const parameter_names[] = {
#define NAME_OF(name, value) #name,
    AS_UARCH_PARAMETER_LIST(NAME_OF)
#undef NAME_OF
};

static int parameter_find(const char *name)
{
    for (int i = 0; i < AS_UARCH_PARAMETERS; i++)
        if (strcmp(parameter_names[i], name) == 0)
            return i;
    return -1;
}

int as_uarch_parameter_of(const char *name)
{
    return parameter_find(name);
}

bool as_uarch_is_parameter(const char *name)
{
    return parameter_find(name) >= 0;
}

/* Returns the index of the source in a column; sets `spread` to its percentage / 100, or to -1. */
static int find_source_spread(struct table_reading *r, char *column, float *spread)
{
    char *percent = strchr(column, ' ');
    *spread = -1;
    if (percent) {
        *percent++ = 0;
        *spread = strtof(percent, NULL) / 100;
    }
    return find_source(r, column);
}

/* Sets a parameter; '-' means that a measurement found no value, and the old value stays. */
static int read_set(struct table_reading *r)
{
    struct as_uarch *uarch = &r->table->uarch;
    float value, spread;
    const int source = find_source_spread(r, r->column[3], &spread);
    AS_TRY(source);
    const int at = parameter_find(r->column[1]);
    if (at < 0)
        return report_table_line(r, "no parameter is named", r->column[1]);
    if (strcmp(r->column[2], "-") == 0) {
        uarch->is_unseen[at] = true;
        return 0;
    }
    if (!read_real(r->column[2], &value) || value < 0)
        return report_table_line(r, "not a number:", r->column[2]);
    uarch->set[at] = (double)value;
    uarch->set_spread[at] = spread;
    uarch->set_source[at] = (uint16_t)source;
    uarch->is_set[at] = true;
    uarch->is_unseen[at] = false;
    return 0;
}

static int find_port(struct table_reading *r, const char *name)
{
    struct as_uarch *uarch = &r->table->uarch;
    for (unsigned i = 0; i < uarch->port_n; i++)
        if (strcmp(uarch->port[i], name) == 0)
            return (int)i;
    if (uarch->port_n == AS_UARCH_PORTS)
        return report_table_line(r, "more than 64 ports with", name);
    uarch->port[uarch->port_n] = name;
    return (int)uarch->port_n++;
}

/* Returns the new group, or that of the 'like' table; NULL for a repeated or surplus one. */
static struct as_uarch_group *group_place(struct table_reading *r, const char *name)
{
    struct as_uarch *uarch = &r->table->uarch;
    const int there = as_uarch_group_find(uarch, name);
    if (there < 0)
        return uarch->group_n < AS_UARCH_GROUPS ? &uarch->group[uarch->group_n++] : NULL;
    if ((unsigned)there >= r->base_groups || r->group_again >> there & 1)
        return NULL;
    r->group_again |= (uint64_t)1 << there;
    return &uarch->group[there];
}

static int read_group(struct table_reading *r)
{
    struct as_uarch_group group = {.name = r->column[1]};
    AS_TRY(find_source(r, r->column[3]));
    char *rest = r->column[2];
    for (char *part; (part = strsep(&rest, " ")) != NULL;) {
        if (!*part)
            continue;
        const int port = find_port(r, part);
        AS_TRY(port);
        group.ports |= (uint64_t)1 << port;
    }
    struct as_uarch_group *place = group.ports ? group_place(r, group.name) : NULL;
    if (!place)
        return report_table_line(r, "no ports, too many groups, or twice:", group.name);
    *place = group;
    return 0;
}

static int find_class(struct table_reading *r, const char *name)
{
    struct as_uarch *uarch = &r->table->uarch;
    for (unsigned i = 1; i < uarch->bypass_class_n; i++)
        if (strcmp(uarch->bypass_class[i], name) == 0)
            return (int)i;
    if (uarch->bypass_class_n == AS_UARCH_CLASSES)
        return report_table_line(r, "too many bypass classes with", name);
    uarch->bypass_class[uarch->bypass_class_n] = name;
    return (int)uarch->bypass_class_n++;
}

/* Parses a bypass delay. FROM and TO may be * (any) or !x (any but x); later lines win. */
static int read_bypass(struct table_reading *r)
{
    unsigned at[2];
    float cycles;
    AS_TRY(find_source(r, r->column[4]));
    for (int side = 0; side < 2; side++) {
        const char *word = r->column[1 + side];
        const int class = strcmp(word, "*") == 0 ? 0 : find_class(r, word + (*word == '!'));
        AS_TRY(class);
        at[side] = (unsigned)class;
    }
    if (!read_real(r->column[3], &cycles))
        return report_table_line(r, "not a number:", r->column[3]);
    for (unsigned from = 0; from < AS_UARCH_CLASSES; from++)
        for (unsigned to = 0; to < AS_UARCH_CLASSES; to++) {
            const bool from_fits = !at[0] || (from == at[0]) != (*r->column[1] == '!');
            const bool to_fits = !at[1] || (to == at[1]) != (*r->column[2] == '!');
            if (from_fits && to_fits)
                r->table->uarch.bypass[from][to] = cycles;
        }
    return 0;
}

static int read_line(struct table_reading *r)
{
    const unsigned slots = read_count(r->column[1]);
    AS_TRY(find_source(r, r->column[3]));
    if (slots < 1 || slots >= AS_UARCH_LINE ||
        !read_real(r->column[2], &r->table->uarch.line_cycles[slots]))
        return report_table_line(r,
                                 "not slots and cycles of a line of the op cache:", r->column[1]);
    return 0;
}

/* ---- Forms --------------------------------------------------------------------------------- */

static int read_uses(struct table_reading *r, char *text, struct as_core_timing *timing)
{
    for (char *part; (part = strsep(&text, " ")) != NULL;) {
        char *colon = strchr(part, ':');
        struct as_uarch_use use = {0};
        if (!*part || strcmp(part, "-") == 0)
            continue;
        if (!colon || !read_span(colon + 1, &use.n, &use.worst))
            return report_table_line(r, "not GROUP:n:", part);
        *colon = 0;
        if (strcmp(part, "own") == 0) {
            timing->own = use.n;
            continue;
        }
        const int group = as_uarch_group_find(&r->table->uarch, part);
        if (group < 0 || timing->use_n == AS_UARCH_USES)
            return report_table_line(r, "no group of this name, or too many uses:", part);
        use.group = (uint8_t)group;
        timing->use[timing->use_n++] = use;
    }
    return 0;
}

static int read_place(const char *text, size_t n)
{
    if (n != 1)
        return -1;
    switch (*text) {
    case 'm':
        return AS_PLACE_MEMORY;
    case 'f':
        return AS_PLACE_FLAGS;
    case 'x':
        return AS_PLACE_IMPLICIT;
    case 'i':
        return AS_PLACE_INDEX;
    default:
        return *text >= '0' && *text < '0' + AS_OPERANDS_MAX ? *text - '0' : -1;
    }
}

/* Parses a latency such as "4 2>0:1 f>0:2", "13-20" or "-". */
static int read_latency(struct table_reading *r, char *text, struct as_core_timing *timing)
{
    timing->latency = timing->worst = -1;
    for (char *part; (part = strsep(&text, " ")) != NULL;) {
        char *arrow = strchr(part, '>'), *colon = strchr(part, ':');
        if (!*part || strcmp(part, "-") == 0)
            continue;
        if (!arrow) {
            if (!read_span(part, &timing->latency, &timing->worst))
                return report_table_line(r, "not a latency:", part);
            continue;
        }
        const int from = read_place(part, (size_t)(arrow - part));
        const int to = colon > arrow ? read_place(arrow + 1, (size_t)(colon - arrow - 1)) : -1;
        float latency;
        if (from < 0 || to < 0 || !read_real(colon + 1, &latency) ||
            timing->pair_n == AS_UARCH_PAIRS)
            return report_table_line(r, "not SRC>DST:n, or too many:", part);
        timing->pair[timing->pair_n++] =
            (struct as_uarch_pair){(uint8_t)from, (uint8_t)to, latency};
    }
    return 0;
}

static int read_flags(struct table_reading *r, char *text, struct as_core_timing *timing)
{
    static const struct {
        const char *word;
        uint8_t flag;
    } known[] = {{"move", AS_TIMING_MOVE},
                 {"zero", AS_TIMING_ZERO},
                 {"complex", AS_TIMING_COMPLEX},
                 {"microcode", AS_TIMING_MICROCODE},
                 {"unlaminate", AS_TIMING_UNLAMINATE},
                 {"nofuse", AS_TIMING_NOFUSE},
                 {"estimated", AS_TIMING_ESTIMATED},
                 {"-", 0}};
    for (char *part; (part = strsep(&text, ",")) != NULL;) {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (strcmp(known[i].word, part) == 0) {
                timing->flags |= known[i].flag;
                found = true;
            }
        if (strncmp(part, "class=", 6) == 0) {
            const int class = find_class(r, part + 6);
            AS_TRY(class);
            timing->bypass = (uint8_t) class;
            found = true;
        }
        if (!found)
            return report_table_line(r, "no flag is named", part);
    }
    return 0;
}

/* Replaces a line of the 'like' table. */
static int replace_timing(struct table_reading *r, uint32_t row,
                          const struct as_core_timing *timing)
{
    if (row >= r->base_forms || r->form_again[row / 64] >> row % 64 & 1)
        return report_table_line(r, "there is a line already for", timing->key);
    r->form_again[row / 64] |= (uint64_t)1 << row % 64;
    r->table->timing.at[row] = *timing;
    return 0;
}

static int add_timing(struct table_reading *r, const struct as_core_timing *timing)
{
    struct as_uarch_table *table = r->table;
    struct as_key_parts parts;
    const uint32_t row = (uint32_t)table->timing.n;
    const uint64_t hash = as_key_hash(as_view_of(timing->key));
    struct as_probe probe = as_index_probe(&table->by_key, hash);
    for (uint32_t at; (at = as_index_next(&table->by_key, &probe)) != AS_INDEX_NONE;)
        if (strcmp(table->timing.at[at].key, timing->key) == 0)
            return replace_timing(r, at, timing);
    as_key_split(timing->key, &parts);
    if (as_vec_push(&table->timing, *timing) < 0 || as_vec_push(&table->parts, parts) < 0 ||
        as_index_add(&table->by_key, hash, row) < 0 ||
        as_index_add(&table->by_family, as_key_hash(as_key_family(parts.mnemonic)), row) < 0)
        return as_error_nomem(r->err, "the table of a core");
    return 0;
}

static int read_form(struct table_reading *r)
{
    struct as_core_timing timing = {.key = r->column[1]};
    const int source = find_source_spread(r, r->column[6], &timing.spread);
    AS_TRY(source);
    timing.source = (uint16_t)source;
    if (!read_real(r->column[2], &timing.slots) || timing.slots < 0)
        return report_table_line(r, "slots are not a number:", r->column[2]);
    AS_TRY(read_uses(r, r->column[3], &timing));
    AS_TRY(read_latency(r, r->column[4], &timing));
    AS_TRY(read_flags(r, r->column[5], &timing));
    return add_timing(r, &timing);
}

/* ---- The text ------------------------------------------------------------------------------ */

static int read_text(struct table_reading *r, char *text);

/* Reads another table without its 'match' lines. Its sources keep their ids: lines of this table
 * can refer to them. */
static int read_like(struct table_reading *r)
{
    struct as_uarch_table *table = r->table;
    const struct as_uarch_text *base = as_uarch_text_find(r->column[1]);
    if (!base || r->depth == LIKE_DEPTH || table->uarch.name || table->source.n || table->timing.n)
        return report_table_line(
            r, "'like' stands first, and names a table of the program:", r->column[1]);
    struct table_reading inner = {
        .table = table, .name = base->name, .depth = r->depth + 1, .err = r->err};
    char *copy = as_arena_strndup(&table->arena, base->text, base->text_b);
    AS_TRY(copy ? read_text(&inner, copy) : as_error_nomem(r->err, "the table of a core"));
    table->uarch.name = NULL;
    table->match.n = 0;
    r->base_forms = table->timing.n;
    r->base_groups = table->uarch.group_n;
    table->uarch.source_own = table->source.n;
    r->form_again = as_arena_calloc(&table->arena, r->base_forms / 64 + 1, sizeof(uint64_t),
                                    _Alignof(uint64_t));
    return r->form_again ? 0 : as_error_nomem(r->err, "the table of a core");
}

static int read_columns(struct table_reading *r, char *line)
{
    static const struct {
        const char *word;
        unsigned columns;
        int (*read)(struct table_reading *);
    } kind[] = {{"core", 3, read_core},     {"match", 4, read_match}, {"source", 3, read_source},
                {"isa", 3, read_isa},       {"set", 4, read_set},     {"group", 4, read_group},
                {"bypass", 5, read_bypass}, {"line", 4, read_line},   {"form", 7, read_form},
                {"like", 2, read_like}};
    r->column_n = 0;
    for (char *part; r->column_n < UARCH_COLUMNS && (part = strsep(&line, "\t")) != NULL;)
        r->column[r->column_n++] = part;
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
        if (strcmp(kind[i].word, r->column[0]) != 0)
            continue;
        if (r->column_n != kind[i].columns || line)
            return report_table_line(r, "too few or too many columns of kind", r->column[0]);
        return kind[i].read(r);
    }
    return report_table_line(r, "no line begins with", r->column[0]);
}

static int read_text(struct table_reading *r, char *text)
{
    for (char *line; (line = strsep(&text, "\n")) != NULL;) {
        r->line++;
        if (*line && *line != '#')
            AS_TRY(read_columns(r, line));
    }
    return 0;
}

static int read_table(struct table_reading *r, char *text)
{
    struct as_uarch *uarch = &r->table->uarch;
    AS_TRY(read_text(r, text));
    uarch->source = r->table->source.at;
    uarch->source_n = r->table->source.n;
    uarch->match = r->table->match.at;
    uarch->match_n = r->table->match.n;
    uarch->timing = r->table->timing.at;
    uarch->timing_n = r->table->timing.n;
    if (!uarch->name || !uarch->timing_n)
        return report_table_line(r, "the table ends without a line 'core' or 'form':", r->name);
    return 0;
}

int as_uarch_parse(const char *text, size_t text_b, const char *name, struct as_uarch **out,
                   struct as_error *err)
{
    static const double initial[] = {
#define VALUE_OF(parameter, value) value,
        AS_UARCH_PARAMETER_LIST(VALUE_OF)
#undef VALUE_OF
    };
    struct as_uarch_table *table = as_calloc(1, sizeof *table);
    *out = NULL;
    if (!table)
        return as_error_nomem(err, "the table of a core");
    struct as_uarch *made = &table->uarch;
    as_arena_init(&table->arena);
    memcpy(made->set, initial, sizeof initial);
    made->bypass_class[made->bypass_class_n++] = "-";
    struct table_reading reading = {.table = table, .name = name, .err = err};
    char *copy = as_arena_strndup(&table->arena, text, text_b);
    const int rc = copy ? read_table(&reading, copy) : as_error_nomem(err, "the table of a core");
    if (rc < 0)
        as_uarch_free(&made);
    *out = made;
    return rc;
}
