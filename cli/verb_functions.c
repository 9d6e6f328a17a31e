/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay functions BIN`: gathers, filters and sorts the functions; one sheet shows them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "info.h"
#include "names.h"
#include "sheet.h"
#include "text.h"

struct row {
    const struct as_function *function;
    const char *name; /* as shown */
};

struct function_list {
    struct as_cli *cli;
    struct as_arena arena;
    const struct as_section *section;
    struct as_debug debug;
    AS_VEC(struct row) rows;
};

/* ---- Columns ---------------------------------------------------------------------------- */

enum {
    COLUMN_ADDRESS,
    COLUMN_SIZE,
    COLUMN_NAME,
    COLUMN_LINKAGE,
    COLUMN_SOURCE,
    COLUMN_LINE,
    COLUMN_COMPILER,
    COLUMN_VERSION,
    COLUMN_LANGUAGE,
    COLUMN_UNIT,
    COLUMN_ALIASES,
    COLUMN_ORIGIN,
    COLUMN_PART,
    COLUMN_SECTION,
    COLUMNS
};

static const struct as_field columns[COLUMNS] = {
    [COLUMN_ADDRESS] = {"address", NULL, 0},   [COLUMN_SIZE] = {"size_b", NULL, 0},
    [COLUMN_NAME] = {"name", NULL, 0},         [COLUMN_LINKAGE] = {"linkage_name", NULL, 0},
    [COLUMN_SOURCE] = {"file", NULL, 0},       [COLUMN_LINE] = {"line", NULL, 0},
    [COLUMN_COMPILER] = {"compiler", NULL, 0}, [COLUMN_VERSION] = {"compiler_version", NULL, 0},
    [COLUMN_LANGUAGE] = {"language", NULL, 0}, [COLUMN_UNIT] = {"unit", NULL, 0},
    [COLUMN_ALIASES] = {"aliases", NULL, 0},   [COLUMN_ORIGIN] = {"origin", NULL, 0},
    [COLUMN_PART] = {"part", NULL, 0},         [COLUMN_SECTION] = {"section", NULL, 0},
};

static const struct as_unit *unit_of(const struct function_list *list, const struct as_function *f)
{
    return f->unit < list->debug.unit_n ? &list->debug.unit[f->unit] : NULL;
}

static const char *file_of(const struct function_list *list, const struct as_function *f)
{
    return f->decl_file < list->debug.file_n ? list->debug.file[f->decl_file] : NULL;
}

static void fill_function_row(void *context, size_t row, struct as_cell *cell)
{
    const struct function_list *list = context;
    const struct as_function *f = list->rows.at[row].function;
    const struct as_unit *unit = unit_of(list, f);

    cell[COLUMN_ADDRESS] = as_cell_hex(f->start);
    cell[COLUMN_SIZE] = as_cell_count(f->end - f->start);
    cell[COLUMN_NAME] = as_cell_text(list->rows.at[row].name);
    cell[COLUMN_LINKAGE] = as_cell_text(f->name);
    cell[COLUMN_SOURCE] = as_cell_text(file_of(list, f));
    if (f->decl_line)
        cell[COLUMN_LINE] = as_cell_count(f->decl_line);
    if (unit) {
        cell[COLUMN_COMPILER] = as_cell_text(as_compiler_word(unit));
        cell[COLUMN_VERSION] = as_cell_text(unit->compiler_version);
        cell[COLUMN_LANGUAGE] = as_cell_text(unit->language);
        cell[COLUMN_UNIT] = as_cell_text(unit->name);
    }
    cell[COLUMN_ALIASES] = as_cell_count(f->aliases);
    cell[COLUMN_ORIGIN] = as_cell_text(as_function_origin_word(f->origin));
    cell[COLUMN_PART] = as_cell_bool(f->is_part);
    if (f->section != AS_NONE)
        cell[COLUMN_SECTION] = as_cell_text(list->section[f->section].name);
}

/* ---- Text ------------------------------------------------------------------------------- */

static const char *short_compiler(struct function_list *list, const struct as_function *f)
{
    const struct as_unit *unit = unit_of(list, f);
    char text[64];

    if (!unit || !as_compiler_word(unit))
        return "";
    snprintf(text, sizeof text, "%s%s%s", as_compiler_word(unit), unit->compiler_version ? " " : "",
             unit->compiler_version ? unit->compiler_version : "");
    return as_arena_strndup(&list->arena, text, strlen(text));
}

static const char *short_source(struct function_list *list, const struct as_function *f)
{
    const char *file = file_of(list, f), *slash = file ? strrchr(file, '/') : NULL;
    char text[256];

    if (!file)
        return "";
    snprintf(text, sizeof text, "%s:%" PRIu32, slash ? slash + 1 : file, f->decl_line);
    return as_arena_strndup(&list->arena, text, strlen(text));
}

static void fill_text(void *context, size_t row, struct as_cell *cell)
{
    struct function_list *list = context;
    const struct as_function *f = list->rows.at[row].function;

    cell[0] = as_cell_hex(f->start);
    cell[1] = as_cell_count(f->end - f->start);
    cell[2] = f->aliases ? as_cell_count(f->aliases) : as_cell_text("");
    cell[3] = as_cell_text(as_function_origin_word(f->origin));
    cell[4] = as_cell_text(short_compiler(list, f));
    cell[5] = as_cell_text(short_source(list, f));
    cell[6] = as_cell_text(list->rows.at[row].name);
}

/* The name stands last: in a pipe nothing is cut, and one long name would push all else away. */
static const struct as_field text_columns[] = {
    {"", "address", AS_FIELD_RIGHT},
    {"", "bytes", AS_FIELD_RIGHT},
    {"", "aliases", AS_FIELD_RIGHT | AS_FIELD_IF_VARIED},
    {"", "origin", AS_FIELD_IF_VARIED},
    {"", "compiler", AS_FIELD_IF_VARIED},
    {"", "source", AS_FIELD_IF_VARIED},
    {"", "name", AS_FIELD_ELASTIC},
};

static int show_function_text(struct function_list *list, struct as_error *err)
{
    const struct as_sheet sheet = {text_columns, sizeof text_columns / sizeof *text_columns,
                                   list->rows.n, list, fill_text};
    uint64_t size_b = 0;
    struct as_str s = {0};
    struct as_str same = {0};
    int rc = as_sheet_text(list->cli, &sheet, &same, err);

    as_vec_foreach (&list->rows, row)
        size_b += row->function->end - row->function->start;
    as_append_counted(&s, list->rows.n, "function");
    as_str_appendz(&s, ", ");
    as_append_size(&s, size_b);
    as_str_appendz(&s, as_str_z(&same));
    as_cli_styled(list->cli, AS_STYLE_DIM, as_str_z(&s));
    as_cli_print(list->cli, "\n");
    as_str_fini(&s);
    as_str_fini(&same);
    return rc;
}

/* ---- Choosing and sorting --------------------------------------------------------------- */

static int choose_functions(struct function_list *list, const struct as_function *function,
                            size_t n, const regex_t *filter, struct as_error *err)
{
    const bool plain = as_given(&list->cli->args, AS_OPTION_NO_DEMANGLE);

    for (size_t i = 0; i < n; i++) {
        const struct as_function *f = &function[i];
        const char *name = as_name_readable(&list->arena, f->name, plain);

        if (!name)
            return as_error_nomem(err, "the names of functions");
        if (filter && regexec(filter, name, 0, NULL, 0) != 0 &&
            regexec(filter, f->name, 0, NULL, 0) != 0)
            continue;
        if (as_vec_push(&list->rows, (struct row){f, name}) < 0)
            return as_error_nomem(err, "the list of functions");
    }
    return 0;
}

static int by_address(const struct row *a, const struct row *b)
{
    return (a->function->start > b->function->start) - (a->function->start < b->function->start);
}

static int largest_first(const void *a, const void *b)
{
    const struct as_function *f = ((const struct row *)a)->function;
    const struct as_function *g = ((const struct row *)b)->function;
    const uint64_t f_b = f->end - f->start, g_b = g->end - g->start;

    return f_b != g_b ? (f_b < g_b) - (f_b > g_b) : by_address(a, b);
}

static int by_name(const void *a, const void *b)
{
    const int order = strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);

    return order ? order : by_address(a, b);
}

static void sort_functions(struct function_list *list)
{
    static int (*const order[])(const void *, const void *) = {NULL, largest_first, by_name};
    const uint64_t key = list->cli->args.number[AS_OPTION_SORT];
    const uint64_t limit = list->cli->args.number[AS_OPTION_LIMIT];

    if (order[key] && list->rows.n)
        qsort(list->rows.at, list->rows.n, sizeof *list->rows.at, order[key]);
    if (limit && limit < list->rows.n)
        list->rows.n = limit;
}

static int collect_functions(struct function_list *list, struct as_object *object,
                             struct as_error *err)
{
    const char *filter = list->cli->args.value[AS_OPTION_FILTER];
    const struct as_function *function;
    regex_t regex;
    size_t n;
    int rc;

    AS_TRY(as_object_debug(object, AS_DEBUG_UNITS, list->cli->jobs, &list->debug, NULL, err));
    AS_TRY(as_object_functions(object, true, &function, &n, err));
    /* Again: files of declarations may have joined the table. */
    AS_TRY(as_object_debug(object, AS_DEBUG_UNITS, list->cli->jobs, &list->debug, NULL, err));
    as_object_sections(object, &list->section);
    if (filter)
        AS_TRY(as_regex_compile(&regex, filter, "filter", err));
    rc = choose_functions(list, function, n, filter ? &regex : NULL, err);
    if (filter)
        regfree(&regex);
    sort_functions(list);
    return rc;
}

static int show_functions(struct function_list *list, const struct as_object *object,
                          struct as_error *err)
{
    const struct as_sheet sheet = {columns, COLUMNS, list->rows.n, list, fill_function_row};

    if (list->cli->format == AS_FORMAT_TEXT)
        return show_function_text(list, err);
    as_sheet_answer(list->cli, object, "functions", &sheet);
    return 0;
}

int as_verb_functions(struct as_cli *cli, struct as_error *err)
{
    struct as_object *object = as_cli_open(cli, cli->args.positional[0]);
    struct function_list list = {.cli = cli};
    int rc;

    if (!object)
        return 0;
    as_arena_init(&list.arena);
    rc = collect_functions(&list, object, err);
    if (rc == 0)
        rc = show_functions(&list, object, err);
    as_vec_fini(&list.rows);
    as_arena_fini(&list.arena);
    as_object_close(&object);
    return rc;
}
