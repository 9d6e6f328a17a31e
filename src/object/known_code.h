/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises functions of system libraries by their instructions, for libraries without symbols. */
#ifndef AS_OBJECT_KNOWN_CODE_H
#define AS_OBJECT_KNOWN_CODE_H

#include "object/internal.h"

/* Returns the name of the known function that starts at `address`, static; NULL if its instructions
 * are not known. */
const char *as_known_code_name(const struct as_object *object, uint64_t address);

/* A function that is recognised by a jump to it. */
struct as_known_jump {
    uint64_t address;
    const char *name; /* static */
};
#define AS_KNOWN_JUMPS 2

/* Sets `out` to the functions without a symbol that tail calls reach from `symbol`, with code in
 * [start, end). The address of an unused entry is 0. */
void as_known_jumps(const struct as_object *object, const char *symbol, uint64_t start,
                    uint64_t end, struct as_known_jump out[AS_KNOWN_JUMPS]);

/* Returns the address of the only function that the object starts threads with. That is the third
 * argument of all calls of pthread_create(3), with its PLT stub at `create`. Returns 0 if there is
 * no such function, or more than one. */
uint64_t as_known_thread_start(const struct as_object *object, uint64_t create);

/* Returns the address of the function in which libgomp's threads wait between regions. Short
 * functions, called by the thread start function at `start`, end in a jump to it. The function at
 * `team_wait` waits in a team and is ignored. Returns 0 if no function or several were found. */
uint64_t as_known_dock_wait(const struct as_object *object, uint64_t start, uint64_t team_wait);

#endif
