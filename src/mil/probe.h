/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the room share: a file of probes as it was understood. */
#ifndef AS_MIL_PROBE_H
#define AS_MIL_PROBE_H

#include <assay/mil.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

/* ---- Words of a file (lex.c) ----------------------------------------------------------------- */

enum as_probe_token_kind {
    AS_PROBE_WORD,
    AS_PROBE_TEXT, /* between quotes, without them */
    AS_PROBE_NUMBER,
    AS_PROBE_SYMBOL, /* = ~ >= <= , - % */
    AS_PROBE_LINE_END,
    AS_PROBE_FILE_END
};

struct as_probe_token {
    enum as_probe_token_kind kind;
    struct as_view text;
    double number;
    uint64_t integer; /* of a number without fraction */
    bool is_integer;
    unsigned line, column;
};

struct as_probe_lexer {
    struct as_view rest;
    const char *name; /* of the file */
    unsigned line, column;
};

/* The next token. Errors: USAGE. */
int as_probe_next(struct as_probe_lexer *lexer, struct as_probe_token *out,
                  struct assay_error *err);

/* ---- What it says (parse.c) ------------------------------------------------------------------ */

enum as_probe_subject {
    AS_PROBE_OF_FUNCTION,
    AS_PROBE_OF_FILE,
    AS_PROBE_OF_CALLEE,
    AS_PROBE_OF_CLASS,
    AS_PROBE_OF_MNEMONIC,
    AS_PROBE_OF_LINE,
    AS_PROBE_OF_LEVEL,
    AS_PROBE_OF_DEPTH,
    AS_PROBE_OF_SHARE,
    AS_PROBE_OF_ADDRESS,
    AS_PROBE_SUBJECTS
};

struct as_probe_filter {
    enum as_probe_subject subject;
    bool negated;
    bool is_pattern;             /* `~`: texts are patterns (base/glob.h) */
    AS_VEC(struct as_view) text; /* any of them */
    double low, high;            /* of numbers, both within */
    uint64_t address;
    unsigned levels; /* bits by assay_loop_level */
};

enum as_probe_value_kind {
    AS_PROBE_VALUE_GENERAL,
    AS_PROBE_VALUE_VECTOR,
    AS_PROBE_VALUE_MEMORY,
    AS_PROBE_VALUE_ARGUMENT /* where it is depends on the event */
};

struct as_probe_record {
    uint8_t of;                 /* as_probe_value_kind */
    uint8_t type;               /* as_patch_value_type */
    uint8_t reg;                /* its number */
    uint8_t base, index, scale; /* of memory; AS_PATCH_NONE: without */
    int64_t offset;
    unsigned argument; /* from 1 */
    const char *text;  /* as the user wrote it */
};

struct as_probe_call {
    const char *library, *function; /* as the user wrote them */
    unsigned line;
};

struct as_mil_probe {
    const char *name;
    unsigned line;
    bool has_event;
    enum assay_probe_event event;
    unsigned actions;
    AS_VEC(struct as_probe_filter) filter; /* all of them */
    AS_VEC(struct as_probe_record) record;
    AS_VEC(struct as_probe_call) call;
};

struct assay_probes {
    struct as_arena arena;
    AS_VEC(struct as_mil_probe) probe;
};

/* By the readable name of a function, that without parameters, or its linkage name. (resolve.c) */
bool as_probe_fits_name(const struct as_probe_filter *filter, const char *linkage);

#endif
