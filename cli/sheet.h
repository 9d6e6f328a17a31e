/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content of output, apart from its form: cells and sheets. A sheet describes the columns of any
 * number of rows. It is printed as a text table, JSON objects or CSV rows. Nested facts are printed
 * as JSON, or flattened to CSV as "property,value".
 */
#ifndef AS_CLI_SHEET_H
#define AS_CLI_SHEET_H

#include "base/csv.h"
#include "base/json.h"
#include "cli.h"

enum as_cell_kind {
    AS_CELL_NONE, /* not known: null in JSON, empty elsewhere */
    AS_CELL_TEXT,
    AS_CELL_COUNT,
    AS_CELL_SIGNED, /* the number is an int64_t */
    AS_CELL_REAL,
    AS_CELL_HEX, /* an address: "0x..." in JSON too, since doubles cannot hold all of them */
    AS_CELL_BOOL,
    AS_CELL_LIST /* words separated by newlines: an array in JSON, "a;b" elsewhere */
};

struct as_cell {
    enum as_cell_kind kind;
    const char *text; /* borrowed until the next row is asked for */
    uint64_t number;
    double real;
};

struct as_cell as_cell_text(const char *text); /* NULL gives AS_CELL_NONE */
struct as_cell as_cell_list(const char *words);
struct as_cell as_cell_count(uint64_t number);
struct as_cell as_cell_signed(int64_t number);
struct as_cell as_cell_real(double number);
struct as_cell as_cell_hex(uint64_t address);
struct as_cell as_cell_bool(bool value);

/* A cell in each of the formats. */
void as_cell_csv(struct as_csv *csv, const struct as_cell *cell);
void as_cell_json(struct as_json *json, const struct as_cell *cell);
void as_cell_print(const struct as_cell *cell, struct as_str *out); /* appends */

#define AS_SHEET_FIELDS_MAX 64

enum as_field_bits {
    AS_FIELD_RIGHT = 1 << 0,     /* aligned right in text */
    AS_FIELD_ELASTIC = 1 << 1,   /* shortened in text when the line is too long */
    AS_FIELD_IF_VARIED = 1 << 2, /* left out of a text table where all rows say the same */
    AS_FIELD_FUNCTION = 1 << 3   /* the name of one, shortened as such */
};

struct as_field {
    const char *key;   /* JSON key and CSV header: snake_case, with its unit */
    const char *title; /* heading in text; NULL = not shown in text */
    unsigned bits;
};

struct as_sheet {
    const struct as_field *field;
    size_t field_n; /* at most AS_SHEET_FIELDS_MAX */
    size_t row_n;
    void *context;
    /* Fills the cells of a row; all are AS_CELL_NONE before. Texts live in the context, until the
     * next call; for as_sheet_text until the end. */
    void (*row)(void *context, size_t row, struct as_cell *cell);
};

/* A table; `same` receives ", title: value" for each field left out because all rows say the same
 * (may be NULL). Errors: NOMEM. */
int as_sheet_text(struct as_cli *cli, const struct as_sheet *sheet, struct as_str *same,
                  struct as_error *err);
void as_sheet_csv_header(struct as_cli *cli, const struct as_sheet *sheet);
void as_sheet_csv_rows(struct as_cli *cli, const struct as_sheet *sheet);

/* The whole answer of a verb with one sheet, as JSON (under `key`, after the binary) or CSV. */
void as_sheet_answer(struct as_cli *cli, const struct as_object *object, const char *key,
                     const struct as_sheet *sheet);

/* ---- Facts: JSON, or CSV "property,value" ------------------------------------------------- */

struct as_facts {
    struct as_cli *cli;
    struct as_json json;
    struct as_csv csv;
    struct as_str path; /* CSV: "binaries.0.units.3" */
    size_t level;       /* of open objects and arrays */
    struct {
        size_t path_n; /* length of `path` outside this level */
        size_t next;   /* number of the next element of an array */
        bool is_array;
    } at[16];
};

/* Opens the document: schema, version, command (CSV: the header row). */
void as_facts_begin(struct as_facts *facts, struct as_cli *cli);
/* Lists refused inputs and closes the document. */
void as_facts_end(struct as_facts *facts);
/* The build-id in hexadecimal, nothing when there is none; the text lives in `buf`, which has room
 * for two digits a byte and a zero. */
struct as_cell as_cell_build_id(const struct as_object_info *identity, char *buf);
/* "binary": its path and build-id. */
void as_facts_binary(struct as_facts *facts, const struct as_object *object);
/* `key` is NULL inside an array. Each open is matched by as_facts_close. */
void as_facts_object(struct as_facts *facts, const char *key);
void as_facts_array(struct as_facts *facts, const char *key);
void as_facts_close(struct as_facts *facts);
void as_facts_cell(struct as_facts *facts, const char *key, struct as_cell cell);
/* An array of one object a row. */
void as_facts_sheet(struct as_facts *facts, const char *key, const struct as_sheet *sheet);

#endif
