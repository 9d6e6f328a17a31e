/* SPDX-License-Identifier: Apache-2.0 */
/* A parsed probe file, shared by the files of this room. */
#ifndef AS_MIL_PROBE_H
#define AS_MIL_PROBE_H

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "mil/mil.h"

/* ---- Tokens (lex.c) -------------------------------------------------------------------------- */

enum as_probe_token_kind {
    AS_PROBE_WORD,
    AS_PROBE_TEXT, /* text in quotes, without the quotes */
    AS_PROBE_NUMBER,
    AS_PROBE_SYMBOL, /* one of = ~ >= <= , - % */
    AS_PROBE_LINE_END,
    AS_PROBE_FILE_END
};

struct as_probe_token {
    enum as_probe_token_kind kind;
    struct as_view text;
    double number;
    uint64_t integer; /* value of a number without a fraction */
    bool is_integer;
    unsigned line, column;
};

struct as_probe_lexer {
    struct as_view rest;
    const char *name; /* name of the probe file */
    unsigned line, column;
};

/* Reads the next token. Errors: USAGE. */
int as_probe_next(struct as_probe_lexer *lexer, struct as_probe_token *out, struct as_error *err);

/* ---- Probes (parse.c) ------------------------------------------------------------------------ */

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
    bool is_pattern;             /* `~`: the texts are patterns (base/glob.h) */
    AS_VEC(struct as_view) text; /* one of them must match */
    double low, high;            /* range of numbers, both ends included */
    uint64_t address;
    unsigned levels; /* bits by as_loop_level */
};

enum as_probe_value_kind {
    AS_PROBE_VALUE_GENERAL,
    AS_PROBE_VALUE_VECTOR,
    AS_PROBE_VALUE_MEMORY,
    AS_PROBE_VALUE_ARGUMENT /* its register or stack slot depends on the event */
};

struct as_probe_record {
    uint8_t of;                 /* as_probe_value_kind */
    uint8_t type;               /* as_patch_value_type */
    uint8_t reg;                /* register number */
    uint8_t base, index, scale; /* parts of a memory operand; AS_PATCH_NONE if missing */
    int64_t offset;
    unsigned argument; /* number of the argument, from 1 */
    const char *text;  /* as in the probe file */
};

struct as_probe_call {
    const char *library, *function; /* as in the probe file */
    unsigned line;
};

struct as_mil_probe {
    const char *name;
    unsigned line;
    bool has_event;
    enum as_probe_event event;
    unsigned actions;
    AS_VEC(struct as_probe_filter) filter; /* all of them must match */
    AS_VEC(struct as_probe_record) record;
    AS_VEC(struct as_probe_call) call;
};

struct as_probes {
    struct as_arena arena;
    AS_VEC(struct as_mil_probe) probe;
};

/* Compares the filter with the demangled name of a function, the same without parameters, and
 * its linkage name (resolve.c). */
bool as_probe_fits_name(const struct as_probe_filter *filter, const char *linkage);

#endif
