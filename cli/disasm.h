/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about the code that `assay disasm` shows. verb_disasm.c collects them; disasm_text.c (text)
 * and disasm_rows.c (JSON and CSV) print them.
 */
#ifndef AS_CLI_DISASM_H
#define AS_CLI_DISASM_H

#include "base/arena.h"
#include "code/code.h"
#include "code/source_text.h"
#include "isa/isa.h"
#include "object/object.h"
#include "sheet.h"

struct as_disasm {
    struct as_cli *cli;
    const struct as_object *object;
    const struct as_function *function; /* all of the object */
    size_t function_n;
    const struct as_symbol *symbol;
    size_t symbol_n;
    struct as_debug debug;
    struct as_sources sources;
    const struct as_program *program; /* with --loop, else NULL */
    uint32_t loop;                    /* with --loop, else AS_NONE */
    enum as_syntax syntax;
    bool with_source, with_bytes, with_facts, plain_names;
    bool with_dependences, with_streams;
};

/* One decoded range. */
struct as_disasm_range {
    const struct as_function *function; /* it belongs to; NULL = none */
    const char *name;                   /* readable; "" without function */
    uint64_t start, end;
    const uint8_t *bytes;
    struct as_code code;
    size_t shown;   /* instructions, after --limit */
    uint32_t block; /* of the program, with --loop, else AS_NONE */
    bool *target;   /* per instruction: a branch of this range goes there */
};

/* Appends "name+0x10" for an address in a function or object; false when in none. */
bool as_disasm_label(const struct as_disasm *d, uint64_t address, struct as_str *out);
/* Readable name of a linkage name into `out`. */
void as_disasm_name(const struct as_disasm *d, const char *linkage, struct as_str *out);
const char *as_disasm_file(const struct as_disasm *d, uint32_t file); /* NULL = unknown */
/* Assembly text; returns its length. */
int as_disasm_assembly(const struct as_disasm *d, const struct as_disasm_range *range, size_t i,
                       char *buf, size_t buf_b);

/* "header, back to 12, leaves for 0x...": the part of the range's block in the loop. */
void as_disasm_block_words(const struct as_disasm *d, const struct as_disasm_range *range,
                           struct as_str *out, char separator);
/* Loops by id, then what they are: role, source. */
void as_disasm_loop_words(const struct as_disasm *d, struct as_str *out);

/* Tables of the loop's dependences and streams, those asked for; `facts` is open for JSON, NULL
 * for text. Errors: NOMEM. */
int as_disasm_loop_tables(struct as_disasm *d, struct as_facts *facts, struct as_error *err);

void as_disasm_text(struct as_disasm *d, const struct as_disasm_range *range);

/* JSON: one object a range, inside an open array. CSV: rows. */
void as_disasm_json(struct as_disasm *d, struct as_facts *facts,
                    const struct as_disasm_range *range);
void as_disasm_csv_header(struct as_disasm *d);
void as_disasm_csv(struct as_disasm *d, const struct as_disasm_range *range);

#endif
