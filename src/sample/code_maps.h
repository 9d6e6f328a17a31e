/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that runs elsewhere than where it stands: clones of loops, with the stubs around them. The
 * agent says which original code each place of them stands for (agent/shared/code_map.h); samples
 * that fall there belong to it, and stacks are unwound by its rows.
 */
#ifndef AS_SAMPLE_CODE_MAPS_H
#define AS_SAMPLE_CODE_MAPS_H

#include <assay/sample.h>

struct as_code_maps;

int as_code_maps_new(struct as_code_maps **out); /* 0 or NOMEM */
void as_code_maps_free(struct as_code_maps **maps);
/*
 * Takes the maps that are new in the directory of an agent, and removes their files; `last`: also
 * of those that nobody has finished. What is in them by `time_ns` of a record is known when this
 * was called after that time. 0 or NOMEM.
 */
int as_code_maps_look(struct as_code_maps *maps, const char *directory, bool last);
/* Looks when `time_ns` is later than the last look. */
int as_code_maps_follow(struct as_code_maps *maps, const char *directory, uint64_t time_ns);
/* The process executes another program: its code is gone. */
void as_code_maps_exec(struct as_code_maps *maps, uint32_t pid, uint64_t time_ns);

struct as_code_origin {
    uint64_t address;
    uint32_t depth_b; /* more on the stack than there */
    bool is_stub;     /* registers that calls destroy are not those of the program */
};
/* False: `address` is where it seems to be. `maps` may be NULL. */
bool as_code_maps_find(const struct as_code_maps *maps, uint32_t pid, uint64_t time_ns,
                       uint64_t address, struct as_code_origin *out);

/* The recorder looks there; borrowed. */
void as_recorder_code_maps(struct assay_recorder *recorder, struct as_code_maps *maps);

#endif
