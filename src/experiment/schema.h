/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schema that tools/gen-schema.py generates from data/experiment/: the SQL that creates it, and
 * the mapping of structs to rows.
 */
#ifndef AS_EXPERIMENT_SCHEMA_H
#define AS_EXPERIMENT_SCHEMA_H

#include <stddef.h>

#include "experiment/row_tables.h"

extern const int as_schema_version;
extern const char as_schema_sql[];
extern const char as_schema_values[]; /* SELECT of v_values without metric sets */

/* "ASAY" in the header of every experiment.db (PRAGMA application_id). */
#define AS_SCHEMA_APPLICATION 0x41534159
/* "ASSY": experiments from before the first release; they are refused. */
#define AS_SCHEMA_FORMER 0x41535359

/* Type of a struct member, as in the head of data/experiment/tables.txt. */
enum as_row_kind {
    AS_ROW_TEXT,
    AS_ROW_NUMBER,
    AS_ROW_INTEGER,
    AS_ROW_REAL,
    AS_ROW_BOOL,
    AS_ROW_ID,
    AS_ROW_OBJECT,
    AS_ROW_ORIGIN
};

struct as_row_column {
    const char *name;
    enum as_row_kind kind;
    size_t offset;
};

struct as_row_table {
    const char *name, *writing;
    const struct as_row_column *column;
    size_t column_n;
    const char *add, *set; /* SQL; `set` is NULL for rows without ids */
    const char *conflict;  /* what `add` does with an existing row; may be NULL */
    const char *key;       /* makes the index of a brief key; else NULL */
};

extern const struct as_row_table as_row_tables[AS_TABLE_COUNT];

#endif
