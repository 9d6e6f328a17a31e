/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of test programs on the loops of a file, and their results. */
#ifndef TESTS_PATCH_PLANNED_H
#define TESTS_PATCH_PLANNED_H

#include <stdbool.h>
#include <stdint.h>

#include "patch/patch.h"

extern const char planned_program[]; /* for messages */
_Noreturn void die(const char *what, const char *why);

struct planned_which {
    bool nests;      /* loops of all levels, not only innermost ones */
    bool bodies;     /* functions whole, where they can be */
    uint32_t points; /* in them: one of so many places; 0: none */
};

/* PROBE: points of the file that was planned first, many in each function: values are kept there,
 * and a function is called that does nothing. */
extern struct as_patch_points planned_points;

struct planned {
    uint64_t asked, refused; /* loops */
    uint64_t whole;          /* functions */
};

/* Adds to `out`, which may be NULL; ends the program where the file cannot be read. */
void plan_loops(struct as_patch_maker *maker, const char *path, struct planned_which which,
                struct planned *out);

#endif
