/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files that read core tables: the table with its memory and index, and keys split
 * into parts. The parts of two keys give the distance between their lines.
 */
#ifndef AS_MACHINE_UARCH_TABLE_H
#define AS_MACHINE_UARCH_TABLE_H

#include "base/arena.h"
#include "base/index.h"
#include "base/str.h"
#include "base/vec.h"
#include "machine/uarch.h"

enum as_key_bits {
    AS_KEY_INDEXED = 1 << 0,
    AS_KEY_SAME = 1 << 1,
    AS_KEY_EVEX = 1 << 2,
    AS_KEY_VEX = 1 << 3,
    AS_KEY_MASKED = 1 << 4,
    AS_KEY_ZEROED = 1 << 5,
    AS_KEY_BROADCAST = 1 << 6,
    AS_KEY_LOCK = 1 << 7,
    AS_KEY_REP = 1 << 8,
    AS_KEY_LEA_BASE = 1 << 9,
    AS_KEY_LEA_INDEX = 1 << 10,
    AS_KEY_LEA_SCALE = 1 << 11,
    AS_KEY_LEA_DISP = 1 << 12,
    AS_KEY_OTHER = 1 << 13 /* words for implicit operands */
};

/* One operand of a key. `kind` is a letter: r(egister), v(ector), m(emory), a(ddress),
 * i(mmediate), j(ump), k, x, ... */
struct as_key_operand {
    char kind;
    bool fixed;
    uint16_t bits; /* width in bits */
};

struct as_key_parts {
    struct as_view mnemonic; /* points into the text of the key */
    uint32_t bits;           /* bits of as_key_bits */
    uint8_t operand_n;
    struct as_key_operand operand[AS_OPERANDS_MAX];
};

/* Splits a key into its parts; `out` points into `key`. */
void as_key_split(const char *key, struct as_key_parts *out);
/* Returns the mnemonic without the parts in which its relatives differ, such as the v of AVX or
 * a condition. It is the key of the index `by_family`. */
struct as_view as_key_family(struct as_view mnemonic);
/* Returns the distance from `line` to `asked`: 0 for the same key, below 10 for a similar one,
 * below 100 for another width. From 100 on, `line` has a register in place of the memory operand
 * of `asked`. At 1000 or more the two cannot be compared. */
unsigned as_key_distance(const struct as_key_parts *asked, const struct as_key_parts *line);

struct as_uarch_table {
    struct as_uarch uarch; /* must be first: callers get a pointer to this member */
    struct as_arena arena;
    AS_VEC(struct as_core_timing) timing;
    AS_VEC(struct as_key_parts) parts; /* key parts; same index as `timing` */
    AS_VEC(struct as_uarch_source) source;
    AS_VEC(struct as_uarch_match) match;
    struct as_index by_key, by_family;
};

uint64_t as_key_hash(struct as_view text);

/* The text of a table that is built into the program. */
struct as_uarch_text {
    const char *name;
    const char *text;
    size_t text_b;
};
extern const struct as_uarch_text as_uarch_texts[];
extern const size_t as_uarch_texts_n;
extern const char *const as_uarch_table_names[];
/* Returns the built-in table with this name, or NULL if there is none. */
const struct as_uarch_text *as_uarch_text_find(const char *name);

/* Returns true if `name` is in AS_UARCH_PARAMETER_LIST. */
bool as_uarch_is_parameter(const char *name);
/* Returns the index of the parameter in `set`, or a negative number if there is none. */
int as_uarch_parameter_of(const char *name);

/* Adds the extensions of a core in data/machine/features.txt to `out`. Returns false if the file
 * has no such core. */
bool as_core_extensions(const char *core, uint64_t *out);
/* Returns the extensions (bits by as_extension) that match as_processor.features. */
uint64_t as_extensions_of_features(uint64_t features);

struct as_host;
/* Writes which table predictions for this host use, and the source of that table. */
void as_uarch_describe_host(const struct as_host *host, char *out, size_t out_b);

#endif
