/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences between sides other than times: in aligned functions and loops, and in the runs as a
 * whole. The report shows them beside the times, never as a cause.
 */
#ifndef AS_COMPARE_DIFFERS_H
#define AS_COMPARE_DIFFERS_H

#include "base/str.h"
#include "compare/align.h"

/* Shown if the runs of one side, or versions of the code, differ from each other. */
#define AS_VARIES "varies"

/* ---- Flags --------------------------------------------------------------------------------- */

/*
 * Compares two command lines of a compiler by the options that change code. Options for messages,
 * paths and debug information are ignored. as_flags_difference appends the differences, if any.
 * Main options are level and CPU ("-O2 -> -O3, with -march=native"). Without `is_main` it appends
 * those in other options ("without -ffast-math").
 */
bool as_flags_differ(const char *a, const char *b);
void as_flags_difference(struct as_str *out, const char *a, const char *b, bool is_main);

/* ---- Functions and loops ------------------------------------------------------------------- */

/* Facts of the code of a row on one side. All zero if the side lacks the object. */
struct as_object_facts {
    bool is_there;
    const char *compiler, *flags, *versions;
    struct as_code_value *value; /* origin 0 if the versions differ in it */
    struct as_called *called;
    int64_t inclusive_n;
};

/*
 * Allocates the facts [row * n + side] in `arena`. `part` has the costs of each row on each side.
 * Versions with less than a tenth of the cost of their row are ignored.
 */
int as_fact_of(const struct as_set *set, size_t n, const struct as_alignment *alignment,
               const struct as_compared_object *part, struct as_arena *arena,
               struct as_object_facts **out);

/* Returns the static metric with this name, or NULL. */
const struct as_code_value *as_fact_value(const struct as_object_facts *code_facts,
                                          const char *name);
/* Formats a number as the report shows it, in the arena. Returns NULL without memory. */
const char *as_fact_number(struct as_arena *arena, double x);
/* Returns true if the line under a row shows the fact. loop_code.c has the list of metrics. */
bool as_fact_is_short(const char *topic, const char *name);
/* Sets the code of a loop in its row, side by side. Errors: NOMEM. */
int as_loop_code_compare(struct as_arena *arena, const struct as_object_facts *code_facts, size_t n,
                         struct as_compare_row *row);

/* Sets the facts of a row, and in its cells the differences from the first side that has it. */
int as_compare_fill_row(struct as_arena *arena, const struct as_object_facts *code_facts, size_t n,
                        struct as_compare_row *row, struct as_compare_cell *cell);

/* ---- The whole ----------------------------------------------------------------------------- */

/* Finds the differences between the chosen runs of sides: machine, environment, libraries. */
int as_environments_compare(struct as_arena *arena, const struct as_compare_request *request,
                            struct as_set *set, size_t n, struct as_comparison *out,
                            struct as_error *err);

#endif
