/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about one binary for `assay info`. verb_info.c collects them; info_text.c (text) and
 * info_facts.c (JSON and CSV) print them.
 */
#ifndef AS_CLI_INFO_H
#define AS_CLI_INFO_H

#include "cli.h"
#include "code/code.h"
#include "sheet.h"

/* Units that were built alike: one language, compiler, version, flags, DWARF version. */
struct as_unit_group {
    uint32_t unit; /* the first of them */
    size_t n;
};

/* Counts of the code analysis. */
struct as_code_counts {
    uint64_t instructions, functions, parts, outlined, noreturn, guessed, blocks, unreached, edges;
    uint64_t loops, level[4], irreducible, merged, folded, over_limit;
    uint64_t jumps, tables, calls, unresolved; /* indirect jumps */
};

struct as_info {
    bool with_code;
    struct as_code_counts code;
    const struct as_object *object;
    const struct as_object_info *identity;
    struct as_symbol_counts symbols;
    struct as_debug debug;
    size_t damaged_units;
    AS_VEC(struct as_unit_group) groups; /* most units first */
};

/* Returns the share of indirect jumps with known targets or that are calls, in per cent. */
double as_understood_percent(const struct as_code_counts *code);
void as_info_text(struct as_cli *cli, const struct as_info *info, bool first);
void as_info_facts(struct as_facts *facts, const struct as_info *info);

/* Words shared by both: "pie", "embedded". */
const char *as_type_word(enum as_object_type type);
const char *as_debug_word(enum as_debug_kind kind);

#endif
