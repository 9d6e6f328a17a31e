/* SPDX-License-Identifier: Apache-2.0 */
/* The .pcf of a changed trace: the lines of the old one, and labels of what is new. */
#include <string.h>

#include "base/error.h"
#include "edit/edit_stage.h"
#include "exchange/prv_lines.h"

#define TYPE_OF_RUNNING 1

void as_edit_name_beside(const char *path, const char *ending, struct as_str *out)
{
    struct as_view stem = as_view_of(path);
    if (as_view_ends(stem, ".gz"))
        stem.n -= 3;
    if (as_view_ends(stem, ".prv"))
        stem.n -= 4;
    as_str_append(out, stem.p, stem.n);
    as_str_appendz(out, ending);
}

/* "EVENT_TYPE", a type without values. */
static void append_type(struct as_str *out, int64_t type, const char *label, const char *behind)
{
    as_str_appendf(out, "\nEVENT_TYPE\n0    %lld    %s%s\n", (long long)type, label, behind);
}

static bool is_counted(const struct as_edit_counters *k, int64_t type, int64_t value)
{
    return !k->has_types || as_edit_types_have(&k->count, type, value);
}

static void append_counters(const struct as_edit_counters *k, const struct as_prv_pcf *labels,
                            struct as_str *out)
{
    if (k->sums_bursts && !k->is_by_bursts)
        append_type(out, TYPE_OF_RUNNING, "Running time", "");
    if (!k->is_each_value) {
        as_vec_foreach (&labels->type, type) {
            bool is_any = !k->has_types;
            as_vec_foreach (&k->count.type, of)
                is_any |= type->number >= of->range.first && type->number <= of->range.last;
            if (is_any)
                append_type(out, as_edit_counter_type(k, type->number, 0), type->label,
                            " (number)");
        }
        return;
    }
    as_vec_foreach (&labels->value, value)
        if (value->value && is_counted(k, value->type, value->value))
            append_type(out, as_edit_counter_type(k, value->type, value->value), value->label,
                        " (number)");
}

/* Types and values that a translation makes and the file does not have. */
static int append_translations(const struct as_edit *edit, const struct as_prv_pcf *labels,
                               struct as_str *out, struct as_error *err)
{
    struct as_edit_translations translations;
    AS_TRY(as_edit_translations_of(edit, labels, &translations, err));
    as_vec_foreach (&translations.at, t) {
        const struct as_prv_pcf_type *old = as_prv_pcf_type_of(labels, t->type);
        if (t->has_value || !old || as_prv_pcf_type_of(labels, t->new_type))
            continue;
        append_type(out, t->new_type, old->label, "");
        bool has_values = false;
        as_vec_foreach (&labels->value, value)
            if (value->type == t->type) {
                as_str_appendf(out, "%s%lld      %s\n", has_values ? "" : "VALUES\n",
                               (long long)value->value, value->label);
                has_values = true;
            }
    }
    as_vec_fini(&translations.at);
    return 0;
}

/* The pcf is copied by line. A value that a translation moves gets its new number. */
struct label_copying {
    struct as_str *out;
    const struct as_edit_translations *translations;
    AS_VEC(int64_t) type; /* of the block that is read */
    enum { LABELS_OF_NOTHING, LABELS_OF_TYPES, LABELS_OF_VALUES } where;
};

static bool note_type_of_block(struct label_copying *c, struct as_view at)
{
    int64_t gradient, type;
    if (!as_lines_integer(&at, &gradient))
        return true;
    at = as_view_trim(at);
    return !as_lines_integer(&at, &type) || as_vec_push(&c->type, type) == 0;
}

/* A block of several types keeps its values: they may be moved for one of them only. */
static void copy_value(struct label_copying *c, struct as_view line)
{
    struct as_view at = as_view_trim(line);
    int64_t value, type;
    if (c->type.n == 1 && as_lines_integer(&at, &value)) {
        type = c->type.at[0];
        if (as_edit_translate(c->translations, &type, &value) && type == c->type.at[0]) {
            at = as_view_trim(at);
            as_str_appendf(c->out, "%lld      ", (long long)value);
            as_str_append(c->out, at.p, at.n);
            as_str_append(c->out, "\n", 1);
            return;
        }
    }
    as_str_append(c->out, line.p, line.n);
    as_str_append(c->out, "\n", 1);
}

static int copy_label_line(struct label_copying *c, struct as_view line)
{
    const struct as_view at = as_view_trim(line);
    if (as_view_equal(at, as_view_of("EVENT_TYPE"))) {
        c->where = LABELS_OF_TYPES;
        c->type.n = 0;
    } else if (as_view_equal(at, as_view_of("VALUES")) && c->where == LABELS_OF_TYPES) {
        c->where = LABELS_OF_VALUES;
    } else if (at.n && *at.p >= 'A' && *at.p <= 'Z' && !as_view_starts(at, "PRECISION ")) {
        c->where = LABELS_OF_NOTHING;
    } else if (c->where == LABELS_OF_TYPES && !note_type_of_block(c, at)) {
        return AS_ERR_NOMEM;
    } else if (c->where == LABELS_OF_VALUES && at.n) {
        copy_value(c, line);
        return 0;
    }
    as_str_append(c->out, line.p, line.n);
    as_str_append(c->out, "\n", 1);
    return 0;
}

static int copy_labels(const struct as_edit *edit, const char *path,
                       const struct as_prv_pcf *labels, struct as_str *out, struct as_error *err)
{
    struct as_edit_translations translations;
    struct label_copying c = {.out = out, .translations = &translations};
    struct as_str name = {0};
    struct as_lines *lines = NULL;
    struct as_view line;
    AS_TRY(as_edit_translations_of(edit, labels, &translations, err));
    as_edit_name_beside(path, ".pcf", &name);
    int rc = name.failed ? as_error_nomem(err, path) : as_lines_open(as_str_z(&name), &lines, err);
    while (rc >= 0 && lines && (rc = as_lines_next(lines, &line, err)) > 0)
        if (copy_label_line(&c, line) < 0)
            rc = as_error_nomem(err, path);
    as_lines_close(&lines);
    as_vec_fini(&c.type);
    as_vec_fini(&translations.at);
    as_str_fini(&name);
    return rc;
}

int as_edit_labels(const struct as_edit *edit, const char *path, struct as_str *out,
                   struct as_error *err)
{
    struct as_prv_pcf labels;
    AS_TRY(as_prv_pcf_read(path, &labels, err));
    int rc = copy_labels(edit, path, &labels, out, err);
    if (rc == AS_ERR_NOT_FOUND)
        rc = 0; /* there is no .pcf */
    if (rc == 0 && out->n)
        rc = append_translations(edit, &labels, out, err);
    if (rc == 0 && out->n && edit->counters.is_on)
        append_counters(&edit->counters, &labels, out);
    as_prv_pcf_fini(&labels);
    return rc == 0 && out->failed ? as_error_nomem(err, path) : rc;
}
