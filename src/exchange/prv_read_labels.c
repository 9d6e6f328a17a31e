/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the files beside a Paraver trace: labels of numbers (.pcf), names of nodes (.row). */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "exchange/prv_lines.h"
#include "exchange/prv_read.h"

static char *copy_text(struct as_view text)
{
    char *copy = as_malloc(text.n + 1);
    if (!copy)
        return NULL;
    if (text.n)
        memcpy(copy, text.p, text.n);
    copy[text.n] = 0;
    return copy;
}

/* Opens the file beside a trace: "x.prv", "x.prv.gz" and "x" give "x.pcf". */
static int open_beside(const char *path, const char *ending, struct as_lines **out)
{
    struct as_view stem = as_view_of(path);
    struct as_str name = {0};
    struct as_error ignored;
    if (as_view_ends(stem, ".gz"))
        stem.n -= 3;
    if (as_view_ends(stem, ".prv"))
        stem.n -= 4;
    as_str_append(&name, stem.p, stem.n);
    as_str_appendz(&name, ending);
    const int rc = name.failed ? AS_ERR_NOMEM : as_lines_open(as_str_z(&name), out, &ignored);
    as_str_fini(&name);
    return rc;
}

/* ---- Labels ---------------------------------------------------------------------------------- */

struct pcf_reading {
    struct as_prv_pcf *pcf;
    enum { PCF_NOTHING, PCF_STATES, PCF_TYPES, PCF_VALUES } where;
    size_t first_type; /* index of the first type of the current EVENT_TYPE */
};

static void skip_blanks(struct as_view *at)
{
    while (as_lines_char(at, ' ') || as_lines_char(at, '\t'))
        continue;
}

static int add_pcf_value(struct pcf_reading *r, int64_t value, struct as_view label)
{
    for (size_t i = r->first_type; i < r->pcf->type.n; i++) {
        const struct as_prv_pcf_value one = {r->pcf->type.at[i].number, value, copy_text(label)};
        if (!one.label || as_vec_push(&r->pcf->value, one) < 0) {
            as_free(one.label);
            return AS_ERR_NOMEM;
        }
    }
    return 0;
}

/* Parses "gradient type label" or, for values and states, "number label". */
static int read_pcf_row(struct pcf_reading *r, struct as_view at)
{
    int64_t first, type;
    if (r->where == PCF_NOTHING || !as_lines_integer(&at, &first))
        return 0;
    skip_blanks(&at);
    if (r->where == PCF_VALUES)
        return add_pcf_value(r, first, as_view_trim(at));
    if (r->where == PCF_STATES) {
        const struct as_prv_pcf_value state = {0, first, copy_text(as_view_trim(at))};
        if (state.label && as_vec_push(&r->pcf->state, state) == 0)
            return 0;
        as_free(state.label);
        return AS_ERR_NOMEM;
    }
    if (!as_lines_integer(&at, &type))
        return 0;
    const struct as_prv_pcf_type one = {type, copy_text(as_view_trim(at)), 0};
    if (one.label && as_vec_push(&r->pcf->type, one) == 0)
        return 0;
    as_free(one.label);
    return AS_ERR_NOMEM;
}

static int read_pcf_line(struct pcf_reading *r, struct as_view line)
{
    struct as_view at = as_view_trim(line);
    int64_t precision;
    if (as_view_equal(at, as_view_of("EVENT_TYPE"))) {
        r->where = PCF_TYPES;
        r->first_type = r->pcf->type.n;
    } else if (as_view_equal(at, as_view_of("VALUES"))) {
        r->where = r->where == PCF_TYPES ? PCF_VALUES : PCF_NOTHING;
    } else if (as_view_equal(at, as_view_of("STATES"))) {
        r->where = PCF_STATES;
    } else if (as_view_starts(at, "PRECISION ")) {
        at.p += 10, at.n -= 10;
        skip_blanks(&at);
        const bool is_one = as_lines_integer(&at, &precision) && precision >= 0 && precision <= 18;
        for (size_t i = r->first_type; is_one && i < r->pcf->type.n; i++)
            r->pcf->type.at[i].precision = (unsigned)precision;
    } else if (at.n && *at.p >= 'A' && *at.p <= 'Z') {
        r->where = PCF_NOTHING; /* a section that is not used */
    } else {
        return read_pcf_row(r, at);
    }
    return 0;
}

static int compare_values(const void *a, const void *b)
{
    const struct as_prv_pcf_value *x = a, *y = b;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

/* ---- Names of nodes -------------------------------------------------------------------------- */

struct row_file_reading {
    char level[sizeof((struct as_prv_row_label *)0)->level];
    int64_t left;
    uint32_t at;
};

/* Parses "LEVEL NODE SIZE 2" behind LEVEL. */
static void begin_row_level(struct row_file_reading *r, struct as_view at)
{
    size_t n = 0;
    r->left = 0;
    r->at = 0;
    skip_blanks(&at);
    while (n < at.n && at.p[n] != ' ' && n + 1 < sizeof r->level)
        n++;
    memcpy(r->level, at.p, n);
    r->level[n] = 0;
    at.p += n, at.n -= n;
    if (!as_view_starts(at, " SIZE "))
        return;
    at.p += 6, at.n -= 6;
    skip_blanks(&at);
    if (!as_lines_integer(&at, &r->left) || r->left < 0)
        r->left = 0;
}

static int read_row_line(struct as_prv_pcf *pcf, struct as_view line, struct row_file_reading *r)
{
    struct as_view at = as_view_trim(line);
    if (as_view_starts(at, "LEVEL ")) {
        at.p += 6, at.n -= 6;
        begin_row_level(r, at);
        return 0;
    }
    if (r->left == 0 || at.n == 0)
        return 0;
    r->left--;
    struct as_prv_row_label row = {.at = r->at++, .label = copy_text(at)};
    memcpy(row.level, r->level, sizeof row.level);
    if (!row.label || as_vec_push(&pcf->row, row) < 0) {
        as_free(row.label);
        return AS_ERR_NOMEM;
    }
    if (strcmp(r->level, "NODE") != 0)
        return 0;
    char *name = copy_text(at);
    if (name && as_vec_push(&pcf->node, name) == 0)
        return 0;
    as_free(name);
    return AS_ERR_NOMEM;
}

int as_prv_pcf_read(const char *path, struct as_prv_pcf *out, struct as_error *err)
{
    struct pcf_reading reading = {.pcf = out};
    struct as_lines *lines = NULL;
    struct as_view line;
    struct as_error ignored;
    struct row_file_reading row = {.left = 0};
    *out = (struct as_prv_pcf){0};
    int rc = open_beside(path, ".pcf", &lines);
    while (rc == 0 && as_lines_next(lines, &line, &ignored) > 0)
        rc = read_pcf_line(&reading, line);
    as_lines_close(&lines);
    if (rc != AS_ERR_NOMEM)
        rc = open_beside(path, ".row", &lines);
    while (rc == 0 && as_lines_next(lines, &line, &ignored) > 0)
        rc = read_row_line(out, line, &row);
    as_lines_close(&lines);
    if (out->value.n > 1)
        qsort(out->value.at, out->value.n, sizeof *out->value.at, compare_values);
    if (rc != AS_ERR_NOMEM)
        return 0;
    as_prv_pcf_fini(out);
    return as_error_nomem(err, "labels of a trace");
}

void as_prv_pcf_fini(struct as_prv_pcf *pcf)
{
    as_vec_foreach (&pcf->type, type)
        as_free(type->label);
    as_vec_foreach (&pcf->value, value)
        as_free(value->label);
    as_vec_foreach (&pcf->state, state)
        as_free(state->label);
    as_vec_foreach (&pcf->node, node)
        as_free(*node);
    as_vec_foreach (&pcf->row, row)
        as_free(row->label);
    as_vec_fini(&pcf->row);
    as_vec_fini(&pcf->type);
    as_vec_fini(&pcf->value);
    as_vec_fini(&pcf->state);
    as_vec_fini(&pcf->node);
}

const struct as_prv_pcf_type *as_prv_pcf_type_of(const struct as_prv_pcf *pcf, int64_t type)
{
    return as_vec_find(&pcf->type, number, type);
}

const char *as_prv_pcf_label(const struct as_prv_pcf *pcf, int64_t type, int64_t value)
{
    const struct as_prv_pcf_value key = {.type = type, .value = value};
    const struct as_prv_pcf_value *found =
        pcf->value.n ? bsearch(&key, pcf->value.at, pcf->value.n, sizeof key, compare_values)
                     : NULL;
    return found ? found->label : NULL;
}

const char *as_prv_pcf_state(const struct as_prv_pcf *pcf, int64_t state)
{
    const struct as_prv_pcf_value *found = as_vec_find(&pcf->state, value, state);
    return found ? found->label : NULL;
}
