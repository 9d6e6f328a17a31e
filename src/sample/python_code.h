/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of CPython 3.11 as the sampler in the program records them: name, file and line table.
 * The bytes are foreign.
 */
#ifndef AS_SAMPLE_PYTHON_CODE_H
#define AS_SAMPLE_PYTHON_CODE_H

#include "agent/shared/ring.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "sample/sample.h"

struct as_python_code {
    const char *file, *name;
    uint32_t first_line, table_b;
    const uint8_t *table;
};

struct as_python_codes {
    AS_VEC(struct as_python_code) code;
    struct as_map_u64 by_hash;
    struct as_arena arena;
    AS_VEC(struct as_python_frame) frame; /* frames of the current sample */
};

void as_python_codes_init(struct as_python_codes *codes);
void as_python_codes_fini(struct as_python_codes *codes);
/* Returns true if the texts and the line table of a record are valid and fill its `size_b`
 * bytes. */
bool as_python_code_is_whole(const struct as_agent_code_record *record, uint32_t size_b);
/* Adds the function of a complete record unless it is known. Returns 0 or NOMEM. */
int as_python_code_add(struct as_python_codes *codes, const struct as_agent_code_record *record);
/* Sets the Python frames of a sample. They are in the memory of `codes` until the next call.
 * Returns 0 or NOMEM. */
int as_python_frames(struct as_python_codes *codes, const struct as_agent_python_frame *from,
                     uint32_t n, struct as_sample_record *out);

/* Returns the line of the instruction at byte offset `byte` (co_linetable, Objects/locations.md of
 * 3.11). Returns 0 if the instruction has no line or the table is damaged. */
uint32_t as_python_line(uint32_t first_line, const uint8_t *table, size_t table_b, uint32_t byte);

#endif
