/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells and sheets as text tables, JSON and CSV; facts as JSON or flattened CSV. The only file of
 * the room that knows both what a cell is and how each format writes it.
 */
#include "sheet.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "base/short_name.h"
#include "base/table.h"
#include "base/version.h"
#include "info.h"

struct as_cell as_cell_text(const char *text)
{
    return (struct as_cell){.kind = text ? AS_CELL_TEXT : AS_CELL_NONE, .text = text};
}

struct as_cell as_cell_list(const char *words)
{
    return (struct as_cell){.kind = AS_CELL_LIST, .text = words};
}

struct as_cell as_cell_count(uint64_t number)
{
    return (struct as_cell){.kind = AS_CELL_COUNT, .number = number};
}

struct as_cell as_cell_signed(int64_t number)
{
    return (struct as_cell){.kind = AS_CELL_SIGNED, .number = (uint64_t)number};
}

struct as_cell as_cell_real(double number)
{
    return (struct as_cell){.kind = AS_CELL_REAL, .real = number};
}

struct as_cell as_cell_hex(uint64_t address)
{
    return (struct as_cell){.kind = AS_CELL_HEX, .number = address};
}

struct as_cell as_cell_bool(bool value)
{
    return (struct as_cell){.kind = AS_CELL_BOOL, .number = value};
}

static bool cell_equal(const struct as_cell *a, const struct as_cell *b)
{
    if (a->kind != b->kind || a->number != b->number ||
        (a->kind == AS_CELL_REAL && a->real != b->real))
        return false;
    return a->text == b->text || (a->text && b->text && strcmp(a->text, b->text) == 0);
}

/* ---- CSV --------------------------------------------------------------------------------- */

static void csv_list(struct as_csv *csv, const char *words)
{
    struct as_str joined = {0};

    as_str_appendz(&joined, words);
    for (size_t i = 0; i < joined.n; i++)
        if (joined.p[i] == '\n')
            joined.p[i] = ';';
    as_csv_string(csv, as_str_z(&joined));
    as_str_fini(&joined);
}

/* An infinite bound is said, where as_csv_double has an empty cell. */
static void csv_real(struct as_csv *csv, double number)
{
    if (isinf(number))
        as_csv_string(csv, number < 0 ? "-inf" : "inf");
    else
        as_csv_double(csv, number);
}

void as_cell_csv(struct as_csv *csv, const struct as_cell *cell)
{
    switch (cell->kind) {
    case AS_CELL_NONE:
        as_csv_string(csv, NULL);
        break;
    case AS_CELL_TEXT:
        as_csv_string(csv, cell->text);
        break;
    case AS_CELL_COUNT:
        as_csv_u64(csv, cell->number);
        break;
    case AS_CELL_SIGNED:
        as_csv_i64(csv, (int64_t)cell->number);
        break;
    case AS_CELL_REAL:
        csv_real(csv, cell->real);
        break;
    case AS_CELL_HEX:
        as_csv_hex(csv, cell->number);
        break;
    case AS_CELL_BOOL:
        as_csv_string(csv, cell->number ? "true" : "false");
        break;
    case AS_CELL_LIST:
        csv_list(csv, cell->text);
        break;
    }
}

void as_sheet_csv_header(struct as_cli *cli, const struct as_sheet *sheet)
{
    const char *key[AS_SHEET_FIELDS_MAX];
    struct as_csv csv;

    assert(sheet->field_n <= AS_SHEET_FIELDS_MAX);
    for (size_t i = 0; i < sheet->field_n; i++)
        key[i] = sheet->field[i].key;
    as_cli_csv(cli, &csv);
    as_csv_header(&csv, key, sheet->field_n);
}

static void row_get(const struct as_sheet *sheet, size_t row, struct as_cell *cell)
{
    memset(cell, 0, AS_SHEET_FIELDS_MAX * sizeof *cell);
    sheet->row(sheet->context, row, cell);
}

void as_sheet_csv_rows(struct as_cli *cli, const struct as_sheet *sheet)
{
    struct as_cell cell[AS_SHEET_FIELDS_MAX];
    struct as_csv csv;

    as_cli_csv(cli, &csv);
    for (size_t row = 0; row < sheet->row_n; row++) {
        row_get(sheet, row, cell);
        for (size_t i = 0; i < sheet->field_n; i++)
            as_cell_csv(&csv, &cell[i]);
        as_csv_row_end(&csv);
    }
}

/* ---- Text -------------------------------------------------------------------------------- */

static void print_real(double number, struct as_str *to)
{
    struct as_out out;

    as_out_init_str(&out, to);
    as_out_double(&out, number);
    as_out_flush(&out, NULL);
    as_out_fini(&out);
}

void as_cell_print(const struct as_cell *cell, struct as_str *out)
{
    switch (cell->kind) {
    case AS_CELL_NONE:
        break;
    case AS_CELL_TEXT:
    case AS_CELL_LIST:
        as_str_appendz(out, cell->text);
        break;
    case AS_CELL_COUNT:
        as_str_appendf(out, "%" PRIu64, cell->number);
        break;
    case AS_CELL_SIGNED:
        as_str_appendf(out, "%" PRId64, (int64_t)cell->number);
        break;
    case AS_CELL_REAL:
        print_real(cell->real, out);
        break;
    case AS_CELL_HEX:
        as_str_appendf(out, "%" PRIx64, cell->number);
        break;
    case AS_CELL_BOOL:
        as_str_appendz(out, cell->number ? "yes" : "no");
        break;
    }
}

/* Marks the fields to show; what is left out because all rows say the same goes to `same`. */
static void choose_fields(const struct as_sheet *sheet, bool *shown, struct as_str *same)
{
    struct as_cell first[AS_SHEET_FIELDS_MAX], cell[AS_SHEET_FIELDS_MAX];

    for (size_t i = 0; i < sheet->field_n; i++)
        shown[i] = sheet->field[i].title && !(sheet->field[i].bits & AS_FIELD_IF_VARIED);
    if (sheet->row_n)
        row_get(sheet, 0, first);
    for (size_t row = 1; row < sheet->row_n; row++) {
        row_get(sheet, row, cell);
        for (size_t i = 0; i < sheet->field_n; i++)
            shown[i] |= sheet->field[i].title && !cell_equal(&first[i], &cell[i]);
    }
    for (size_t i = 0; i < sheet->field_n && sheet->row_n && same; i++) {
        const size_t begin = same->n;

        if (shown[i] || !sheet->field[i].title || first[i].kind == AS_CELL_NONE ||
            (first[i].text && !*first[i].text))
            continue;
        as_str_appendf(same, ", %s%s ", begin ? "" : "all: ", sheet->field[i].title);
        as_cell_print(&first[i], same);
    }
}

static size_t table_columns(const struct as_sheet *sheet, const bool *shown,
                            struct as_column *column)
{
    size_t n = 0;

    for (size_t i = 0; i < sheet->field_n; i++) {
        const struct as_field *field = &sheet->field[i];

        if (!shown[i])
            continue;
        column[n++] = (struct as_column){
            .title = field->title,
            .align = field->bits & AS_FIELD_RIGHT ? AS_ALIGN_RIGHT : AS_ALIGN_LEFT,
            .shrink = field->bits & AS_FIELD_FUNCTION  ? AS_SHRINK_MIDDLE
                      : field->bits & AS_FIELD_ELASTIC ? AS_SHRINK_END
                                                       : AS_SHRINK_NOT,
            .shorten = field->bits & AS_FIELD_FUNCTION ? as_short_name : NULL,
            .least = 16,
        };
    }
    return n;
}

int as_sheet_text(struct as_cli *cli, const struct as_sheet *sheet, struct as_str *same,
                  struct as_error *err)
{
    struct as_column column[AS_SHEET_FIELDS_MAX];
    struct as_cell cell[AS_SHEET_FIELDS_MAX];
    bool shown[AS_SHEET_FIELDS_MAX];
    struct as_str text = {0};
    struct as_table table;
    int rc;

    assert(sheet->field_n <= AS_SHEET_FIELDS_MAX);
    choose_fields(sheet, shown, same);
    as_table_init(&table, column, table_columns(sheet, shown, column));
    for (size_t row = 0; row < sheet->row_n; row++) {
        row_get(sheet, row, cell);
        for (size_t i = 0; i < sheet->field_n; i++) {
            if (!shown[i])
                continue;
            as_str_clear(&text);
            as_cell_print(&cell[i], &text);
            as_table_string(&table, as_str_z(&text));
        }
    }
    rc = as_table_print(&table, &cli->out, as_cli_table_width(cli), cli->color, err);
    as_table_fini(&table);
    as_str_fini(&text);
    return rc;
}

/* ---- Facts ------------------------------------------------------------------------------- */

static bool is_csv(const struct as_facts *facts)
{
    return facts->cli->format == AS_FORMAT_CSV;
}

/* Extends the path by `key`, or by the number of the next element of an array. */
static void path_enter(struct as_facts *facts, const char *key)
{
    if (facts->path.n)
        as_str_append(&facts->path, ".", 1);
    if (key)
        as_str_appendz(&facts->path, key);
    else
        as_str_appendf(&facts->path, "%zu", facts->at[facts->level].next++);
}

static void path_leave(struct as_facts *facts, size_t path_n)
{
    if (facts->path.p)
        facts->path.p[path_n] = '\0';
    facts->path.n = path_n;
}

static void open_level(struct as_facts *facts, const char *key, bool is_array)
{
    const size_t path_n = facts->path.n;

    if (is_csv(facts)) {
        path_enter(facts, key);
    } else {
        if (key)
            as_json_key(&facts->json, key);
        (is_array ? as_json_array_begin : as_json_object_begin)(&facts->json);
    }
    facts->level++;
    assert(facts->level < sizeof facts->at / sizeof *facts->at);
    facts->at[facts->level].path_n = path_n;
    facts->at[facts->level].next = 0;
    facts->at[facts->level].is_array = is_array;
}

void as_facts_object(struct as_facts *facts, const char *key)
{
    open_level(facts, key, false);
}

void as_facts_array(struct as_facts *facts, const char *key)
{
    open_level(facts, key, true);
}

void as_facts_close(struct as_facts *facts)
{
    if (is_csv(facts))
        path_leave(facts, facts->at[facts->level].path_n);
    else
        (facts->at[facts->level].is_array ? as_json_array_end : as_json_object_end)(&facts->json);
    facts->level--;
}

static void json_list(struct as_json *json, const char *words)
{
    struct as_view rest = as_view_of(words), word;

    as_json_array_begin(json);
    while (rest.n && as_view_split(&rest, '\n', &word))
        as_json_view(json, word);
    as_json_array_end(json);
}

void as_cell_json(struct as_json *json, const struct as_cell *cell)
{
    switch (cell->kind) {
    case AS_CELL_NONE:
        as_json_null(json);
        break;
    case AS_CELL_TEXT:
        as_json_string(json, cell->text);
        break;
    case AS_CELL_COUNT:
        as_json_u64(json, cell->number);
        break;
    case AS_CELL_SIGNED:
        as_json_i64(json, (int64_t)cell->number);
        break;
    case AS_CELL_REAL:
        as_json_double(json, cell->real);
        break;
    case AS_CELL_HEX:
        as_json_hex(json, cell->number);
        break;
    case AS_CELL_BOOL:
        as_json_bool(json, cell->number != 0);
        break;
    case AS_CELL_LIST:
        json_list(json, cell->text);
        break;
    }
}

void as_facts_cell(struct as_facts *facts, const char *key, struct as_cell cell)
{
    if (is_csv(facts)) {
        const size_t path_n = facts->path.n;

        path_enter(facts, key);
        as_csv_string(&facts->csv, as_str_z(&facts->path));
        as_cell_csv(&facts->csv, &cell);
        as_csv_row_end(&facts->csv);
        path_leave(facts, path_n);
        return;
    }
    if (key)
        as_json_key(&facts->json, key);
    as_cell_json(&facts->json, &cell);
}

void as_facts_sheet(struct as_facts *facts, const char *key, const struct as_sheet *sheet)
{
    struct as_cell cell[AS_SHEET_FIELDS_MAX];

    as_facts_array(facts, key);
    for (size_t row = 0; row < sheet->row_n; row++) {
        row_get(sheet, row, cell);
        as_facts_object(facts, NULL);
        for (size_t i = 0; i < sheet->field_n; i++)
            as_facts_cell(facts, sheet->field[i].key, cell[i]);
        as_facts_close(facts);
    }
    as_facts_close(facts);
}

void as_facts_begin(struct as_facts *facts, struct as_cli *cli)
{
    static const char *const columns[] = {"property", "value"};

    *facts = (struct as_facts){.cli = cli};
    if (is_csv(facts)) {
        as_cli_csv(cli, &facts->csv);
        as_csv_header(&facts->csv, columns, 2);
        return;
    }
    as_json_init(&facts->json, &cli->out, 1);
    as_json_object_begin(&facts->json);
    as_json_key_u64(&facts->json, "schema", AS_JSON_SCHEMA);
    as_json_key_string(&facts->json, "assay", AS_VERSION);
    as_json_key_string(&facts->json, "command", as_verbs[cli->args.verb].name);
}

void as_facts_end(struct as_facts *facts)
{
    as_facts_array(facts, "errors");
    as_vec_foreach (&facts->cli->refused, it) {
        as_facts_object(facts, NULL);
        as_facts_cell(facts, "path", as_cell_text(it->path));
        as_facts_cell(facts, "message", as_cell_text(it->text));
        as_facts_close(facts);
    }
    as_facts_close(facts);
    if (!is_csv(facts)) {
        as_json_object_end(&facts->json);
        as_json_finish(&facts->json);
    }
    as_str_fini(&facts->path);
}

struct as_cell as_cell_build_id(const struct as_object_info *identity, char *buf)
{
    return as_cell_text(as_hex_encode(buf, identity->build_id, identity->build_id_b) ? buf : NULL);
}

void as_facts_binary(struct as_facts *facts, const struct as_object *object)
{
    const struct as_object_info *it = as_object_info(object);
    char build_id[2 * sizeof it->build_id + 1];

    as_facts_object(facts, "binary");
    as_facts_cell(facts, "path", as_cell_text(it->path));
    as_facts_cell(facts, "build_id", as_cell_build_id(it, build_id));
    as_facts_close(facts);
}

void as_sheet_answer(struct as_cli *cli, const struct as_object *object, const char *key,
                     const struct as_sheet *sheet)
{
    struct as_facts facts;

    if (cli->format == AS_FORMAT_CSV) {
        as_sheet_csv_header(cli, sheet);
        as_sheet_csv_rows(cli, sheet);
        return;
    }
    as_facts_begin(&facts, cli);
    as_facts_binary(&facts, object);
    as_facts_sheet(&facts, key, sheet);
    as_facts_end(&facts);
}
