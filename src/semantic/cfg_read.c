/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/error.h"
#include "semantic/cfg_keys.h"

#define WINDOWS_MAX  4096u
#define FUNCTION_MAX 65536u /* nodes of a window: windows of windows grow fast */

struct cfg_reading {
    struct as_configuration *out;
    const char *name;
    struct as_error *err;
    uint32_t number;
    enum { IN_HEADER, IN_DESCRIPTION, IN_WINDOW, IN_TABLE } where;
    uint32_t slot; /* of the latest line with parameters */
};

static int refuse_cfg_line(const struct cfg_reading *r, int code, const char *what)
{
    return as_error_set(r->err, code, "%s:%u: %s; correct the line", r->name, r->number, what);
}

static int store_cfg_line(struct cfg_reading *r, struct as_view text, int key, uint32_t slot)
{
    struct as_cfg_line line = {
        .number = r->number,
        .key = key,
        .slot = slot,
        .owner = (uint32_t)(r->where == IN_TABLE ? r->out->table.n : r->out->window.n) - 1};
    line.text = as_malloc(text.n + 1);
    if (!line.text)
        return as_error_nomem(r->err, r->name);
    if (text.n)
        memcpy(line.text, text.p, text.n);
    line.text[text.n] = 0;
    if (as_vec_push(&r->out->line, line) == 0)
        return 0;
    as_free(line.text);
    return as_error_nomem(r->err, r->name);
}

/* ---- Sections -------------------------------------------------------------------------------- */

static int begin_window(struct cfg_reading *r)
{
    struct as_window window;
    if (r->out->window.n >= WINDOWS_MAX)
        return refuse_cfg_line(r, AS_ERR_LIMIT, "more than 4096 windows");
    r->where = IN_WINDOW;
    r->slot = 0;
    if (as_window_init(&window) < 0 || as_vec_push(&r->out->window, window) < 0) {
        as_vec_fini(&window.top);
        return as_error_nomem(r->err, r->name);
    }
    r->out->window.at[r->out->window.n - 1].id = (int64_t)r->out->window.n;
    return 0;
}

static int begin_table(struct cfg_reading *r)
{
    struct as_histogram table;
    if (r->out->table.n >= WINDOWS_MAX)
        return refuse_cfg_line(r, AS_ERR_LIMIT, "more than 4096 tables");
    as_histogram_init(&table);
    r->where = IN_TABLE;
    return as_vec_push(&r->out->table, table) < 0 ? as_error_nomem(r->err, r->name) : 0;
}

static int add_description(struct cfg_reading *r, struct as_view line)
{
    struct as_str text = {0};
    struct as_cfg_place place = {0};
    if (r->out->description)
        as_str_appendf(&text, "%s\n", r->out->description);
    as_str_append(&text, line.p, line.n);
    const int rc =
        text.failed ? AS_ERR_NOMEM
                    : as_cfg_text(&place, (struct as_view){text.p, text.n}, &r->out->description);
    as_str_fini(&text);
    return rc < 0 ? as_error_nomem(r->err, r->name) : 0;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static int find_key(struct as_view line, struct as_view *value)
{
    size_t n = 0;
    while (n < line.n && line.p[n] != ' ' && line.p[n] != '\t')
        n++;
    *value = as_view_trim((struct as_view){line.p + n, line.n - n});
    for (size_t k = 0; k < as_cfg_keys_n; k++)
        if (as_view_equal(as_view_of(as_cfg_keys[k].name), (struct as_view){line.p, n}))
            return (int)k;
    return -1;
}

static int read_key(struct cfg_reading *r, struct as_view line, int key, struct as_view value)
{
    struct as_cfg_place place = {.slot = r->slot};
    const bool of_window = as_cfg_keys[key].owner == AS_CFG_OF_WINDOW;
    const bool is_name = strcmp(as_cfg_keys[key].name, "window_name") == 0;
    if (is_name && (r->where != IN_WINDOW || r->out->window.at[r->out->window.n - 1].name))
        AS_TRY(begin_window(r));
    if (!of_window && r->where != IN_TABLE)
        AS_TRY(begin_table(r));
    if (of_window && r->where != IN_WINDOW)
        return refuse_cfg_line(r, AS_ERR_CORRUPT, "a key of a window stands outside of windows");
    if (of_window)
        place.window = &r->out->window.at[r->out->window.n - 1];
    else
        place.table = &r->out->table.at[r->out->table.n - 1];
    int rc = as_cfg_keys[key].read(&place, value);
    if (rc == 0) {
        r->slot = place.slot;
        rc = place.is_dropped ? 0 : store_cfg_line(r, line, place.is_kept ? -1 : key, place.slot);
    } else if (rc == AS_ERR_NOMEM) {
        rc = as_error_nomem(r->err, r->name);
    } else {
        rc = refuse_cfg_line(r, rc, as_str_z(&place.why));
    }
    as_str_fini(&place.why);
    return rc;
}

static int read_cfg_line(struct cfg_reading *r, struct as_view line)
{
    const struct as_view trimmed = as_view_trim(line);
    struct as_view value;
    if (as_view_starts(trimmed, "ConfigFile.BeginDescription")) {
        r->where = IN_DESCRIPTION;
    } else if (as_view_starts(trimmed, "ConfigFile.EndDescription")) {
        r->where = IN_HEADER;
    } else if (r->where == IN_DESCRIPTION) {
        AS_TRY(add_description(r, trimmed));
    } else if (as_view_starts(trimmed, "< NEW DISPLAYING WINDOW")) {
        AS_TRY(begin_window(r));
    } else if (as_view_starts(trimmed, "< NEW ANALYZER2D")) {
        AS_TRY(begin_table(r));
    } else {
        const int key = trimmed.n ? find_key(trimmed, &value) : -1;
        if (key >= 0)
            return read_key(r, line, key, value);
    }
    return store_cfg_line(r, line, -1, 0);
}

/* ---- What the lines mean together ------------------------------------------------------------ */

static bool find_window(const struct as_configuration *c, int64_t id, size_t *out)
{
    for (*out = 0; *out < c->window.n; ++*out)
        if (c->window.at[*out].id == id)
            return true;
    *out = id >= 1 && (uint64_t)id <= c->window.n ? (size_t)id - 1 : SIZE_MAX;
    return *out != SIZE_MAX;
}

static int link_windows(struct cfg_reading *r)
{
    struct as_configuration *c = r->out;
    as_vec_foreach (&c->window, w) {
        struct as_cfg_place place = {0};
        if (!w->name && as_cfg_text(&place, as_view_of("window"), &w->name) < 0)
            return as_error_nomem(r->err, r->name);
        for (unsigned i = 0; w->is_derived && i < 2; i++)
            if (!find_window(c, w->operand_id[i], &w->operand[i]))
                return as_error_set(r->err, AS_ERR_CORRUPT,
                                    "%s: window '%s' is made of window %lld, which is not there; "
                                    "correct its window_identifiers",
                                    r->name, w->name, (long long)w->operand_id[i]);
        if (w->has_type_label && w->filter[AS_FILTER_TYPE].test != AS_TEST_ALL &&
            w->filter[AS_FILTER_TYPE].value.n == 0)
            return as_error_set(r->err, AS_ERR_UNSUPPORTED,
                                "%s: window '%s' names types of events by labels alone; add "
                                "window_filter_module evt_type with their numbers",
                                r->name, w->name);
    }
    return 0;
}

/* Windows of windows: none of itself, none too large. A window is reached in as many rounds as it
 * has windows below it. */
static int check_sizes(struct cfg_reading *r)
{
    struct as_configuration *c = r->out;
    uint32_t *size = as_calloc(c->window.n + 1, sizeof *size);
    size_t open_n = c->window.n, before_n;
    if (!size)
        return as_error_nomem(r->err, r->name);
    do {
        before_n = open_n;
        open_n = 0;
        for (size_t i = 0; i < c->window.n; i++) {
            const struct as_window *w = &c->window.at[i];
            if (size[i])
                continue;
            const uint32_t a = size[w->operand[0]], b = size[w->operand[1]];
            if (!w->is_derived)
                size[i] = 1;
            else if (a && b)
                size[i] = a + b + 1 < FUNCTION_MAX ? a + b + 1 : FUNCTION_MAX;
            open_n += !size[i];
        }
    } while (open_n && open_n < before_n);
    uint32_t largest = 0;
    for (size_t i = 0; i < c->window.n; i++)
        largest = size[i] > largest ? size[i] : largest;
    as_free(size);
    if (open_n)
        return as_error_set(r->err, AS_ERR_CORRUPT,
                            "%s: a window is made of itself; correct its window_identifiers",
                            r->name);
    if (largest >= FUNCTION_MAX)
        return as_error_set(r->err, AS_ERR_LIMIT,
                            "%s: a window is made of more than %u windows; use fewer", r->name,
                            FUNCTION_MAX);
    return 0;
}

static int link_tables(struct cfg_reading *r)
{
    struct as_configuration *c = r->out;
    as_vec_foreach (&c->table, t) {
        struct as_cfg_place place = {0};
        if (!t->name && as_cfg_text(&place, as_view_of("table"), &t->name) < 0)
            return as_error_nomem(r->err, r->name);
        if (!t->data_id)
            t->data_id = t->control_id;
        const bool has_all = find_window(c, t->control_id, &t->control) &&
                             find_window(c, t->data_id, &t->data) &&
                             (!t->plane_id || find_window(c, t->plane_id, &t->plane));
        if (!has_all)
            return as_error_set(r->err, AS_ERR_CORRUPT,
                                "%s: table '%s' names a window that is not there; correct its "
                                "ControlWindow, DataWindow or 3D_ControlWindow",
                                r->name, t->name);
        t->columns.uses_delta = t->fixed_delta == 1;
        if (t->columns_asked > 0 && (t->columns.is_automatic || t->fixed_delta == 0))
            t->columns.columns_n = t->columns_asked;
    }
    return 0;
}

int as_cfg_read(struct as_view text, const char *name, struct as_configuration *out,
                struct as_error *err)
{
    struct cfg_reading r = {.out = out, .name = name, .err = err};
    struct as_cfg_place place = {0};
    struct as_view line;
    *out = (struct as_configuration){0};
    int rc = as_cfg_text(&place, as_view_of(name), &out->name);
    if (rc < 0)
        rc = as_error_nomem(err, name);
    if (rc == 0 && text.n && memchr(text.p, 0, text.n))
        rc = as_error_set(err, AS_ERR_CORRUPT, "%s: has a zero byte; use a .cfg of Paraver", name);
    const bool is_empty = text.n == 0;
    if (!is_empty && text.p[text.n - 1] == '\n')
        text.n--;
    while (rc == 0 && !is_empty && as_view_split(&text, '\n', &line)) {
        if (line.n && line.p[line.n - 1] == '\r')
            line.n--;
        r.number++;
        if (r.number == 1 && !as_view_starts(line, "#ParaverCFG") &&
            !as_view_starts(line, "ConfigFile.Version") && !as_view_starts(line, "version"))
            rc = as_error_set(err, AS_ERR_CORRUPT,
                              "%s:1: #ParaverCFG is missing; use a configuration of Paraver", name);
        else
            rc = read_cfg_line(&r, line);
    }
    if (rc == 0 && r.number == 0)
        rc = as_error_set(err, AS_ERR_CORRUPT, "%s: is empty; use a .cfg of Paraver", name);
    if (rc == 0)
        rc = link_windows(&r);
    if (rc == 0)
        rc = check_sizes(&r);
    if (rc == 0)
        rc = link_tables(&r);
    if (rc < 0)
        as_configuration_fini(out);
    return rc;
}
