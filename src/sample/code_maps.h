/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that runs at another address than the original code: clones of loops with their stubs. The
 * agent records the original address of each piece (agent/shared/code_map.h). Samples in a piece
 * belong to the original code. Stacks are unwound by the unwind rows of the original code.
 */
#ifndef AS_SAMPLE_CODE_MAPS_H
#define AS_SAMPLE_CODE_MAPS_H

#include "sample/sample.h"

struct as_code_maps;

int as_code_maps_new(struct as_code_maps **out); /* returns 0 or NOMEM */
void as_code_maps_free(struct as_code_maps **maps);
/*
 * Reads the new maps in the directory of an agent and removes their files. With `last` it removes
 * incomplete maps too. A code map is known for records with times before this call. Returns 0 or
 * NOMEM.
 */
int as_code_maps_look(struct as_code_maps *maps, const char *directory, bool last);
/* As as_code_maps_look, but only if `time_ns` is later than the last call. */
int as_code_maps_follow(struct as_code_maps *maps, const char *directory, uint64_t time_ns);
/* Marks the code of a process that executes another program as gone. */
void as_code_maps_exec(struct as_code_maps *maps, uint32_t pid, uint64_t time_ns);

struct as_code_origin {
    uint64_t address;
    uint32_t depth_b; /* additional bytes on the stack in comparison to the original code */
    bool is_stub;     /* caller-saved registers do not have the values of the program */
};
/* Sets `*out` to the original code of `address`. Returns false if `address` is not in a clone.
 * `maps` may be NULL. */
bool as_code_maps_find(const struct as_code_maps *maps, uint32_t pid, uint64_t time_ns,
                       uint64_t address, struct as_code_origin *out);

/* Sets the code maps that the recorder uses; they are borrowed. */
void as_recorder_code_maps(struct as_recorder *recorder, struct as_code_maps *maps);

#endif
