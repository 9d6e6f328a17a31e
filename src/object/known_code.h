/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the C library that are known by their instructions: stripped libraries name none. */
#ifndef AS_OBJECT_KNOWN_CODE_H
#define AS_OBJECT_KNOWN_CODE_H

#include "object/internal.h"

/* Returns the name of the function whose instructions begin at `address`, static; NULL if they are
 * not known. */
const char *as_known_code_name(const struct assay_object *object, uint64_t address);

/* A function that is known by a jump to it. */
struct as_known_jump {
    uint64_t address;
    const char *name; /* static */
};
#define AS_KNOWN_JUMPS 2

/* Fills `out` with nameless functions that the symbol's code at [start, end) leads to by tail
 * calls; address 0 where it leads to none. */
void as_known_jumps(const struct assay_object *object, const char *symbol, uint64_t start,
                    uint64_t end, struct as_known_jump out[AS_KNOWN_JUMPS]);

/* Returns the address of the only function that the object's code starts a thread with: the third
 * argument of calls of pthread_create(3), by its stub at `create`. 0: there is none, or several. */
uint64_t as_known_thread_start(const struct assay_object *object, uint64_t create);

/* Returns the address of the function in which libgomp's threads wait between regions. Short
 * functions, called from the start of threads at `start`, end in a jump to it. The wait of a team
 * at `team_wait` is another one. 0: none was found, or several. */
uint64_t as_known_dock_wait(const struct assay_object *object, uint64_t start, uint64_t team_wait);

#endif
