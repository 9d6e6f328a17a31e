/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of tables of cores share: the table with its memory and its index, and keys of
 * lines in parts, so that what two lines differ in can be weighed.
 */
#ifndef AS_MACHINE_UARCH_H
#define AS_MACHINE_UARCH_H

#include <assay/uarch.h>

#include "base/arena.h"
#include "base/index.h"
#include "base/str.h"
#include "base/vec.h"

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
    AS_KEY_OTHER = 1 << 13 /* words of implicit operands */
};

/* One operand of a key: r(egister), v(ector), m(emory), a(ddress), i(mmediate), j(ump), k, x, ...
 */
struct as_key_operand {
    char kind;
    bool fixed;
    uint16_t bits; /* width */
};

struct as_key_parts {
    struct as_view mnemonic; /* into the text taken apart */
    uint32_t bits;           /* as_key_bits */
    uint8_t operand_n;
    struct as_key_operand operand[ASSAY_OPERANDS_MAX];
};

void as_key_split(const char *key, struct as_key_parts *out);
/* Mnemonic without what its relatives differ in (the v of AVX, the condition): for the index. */
struct as_view as_key_family(struct as_view mnemonic);
/* What `line` lacks to be `asked`: 0 the same; below 10 alike; below 100 another width; below 200
 * the register form of what is asked with memory; else another thing. */
unsigned as_key_distance(const struct as_key_parts *asked, const struct as_key_parts *line);

struct as_uarch_table {
    struct assay_uarch uarch; /* first: what users hold */
    struct as_arena arena;
    AS_VEC(struct assay_timing) timing;
    AS_VEC(struct as_key_parts) parts; /* by timing */
    AS_VEC(struct assay_uarch_source) source;
    AS_VEC(struct assay_uarch_match) match;
    struct as_index by_key, by_family;
};

uint64_t as_key_hash(struct as_view text);

/* The text of a table that the program carries. */
struct as_uarch_text {
    const char *name;
    const char *text;
    size_t text_b;
};
extern const struct as_uarch_text as_uarch_texts[];
extern const size_t as_uarch_texts_n;
extern const char *const as_uarch_names[];
/* By its name; NULL: the program has none. */
const struct as_uarch_text *as_uarch_text_find(const char *name);

/* A name of ASSAY_UARCH_PARAMETER_LIST. */
bool as_uarch_is_parameter(const char *name);
/* Its place in `set`; below 0: none. */
int as_uarch_parameter_of(const char *name);

/* Adds the extensions of a core of data/machine/features.txt; false: there is no such core. */
bool as_core_extensions(const char *core, uint64_t *out);
/* Bits by assay_extension of the features of a processor (assay_processor.features). */
uint64_t as_extensions_of_features(uint64_t features);

struct assay_host;
/* Which table predictions for this host take, and where it is from, as words. */
void as_uarch_describe_host(const struct assay_host *host, char *out, size_t out_b);

#endif
