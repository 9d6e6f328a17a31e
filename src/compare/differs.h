/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What differs between sides beside their times: of aligned functions and loops, and of the runs as
 * a whole. It is told and never called a cause.
 */
#ifndef AS_COMPARE_DIFFERS_H
#define AS_COMPARE_DIFFERS_H

#include "base/str.h"
#include "compare/align.h"

/* Told where a side's own runs, or versions of code, are not alike. */
#define AS_VARIES "varies"

/* ---- Flags --------------------------------------------------------------------------------- */

/*
 * How two command lines differ in what changes code; what only concerns messages, places and debug
 * information does not. Of the main ones, level and processor ("-O2 -> -O3, with -march=native"),
 * or of all others ("without -ffast-math"); nothing is appended where they do not differ.
 */
bool as_flags_differ(const char *a, const char *b);
void as_flags_difference(struct as_str *out, const char *a, const char *b, bool is_main);

/* ---- Functions and loops ------------------------------------------------------------------- */

/* What a side says of the code of a row. Zero: it does not have it. */
struct as_object_facts {
    bool is_there;
    const char *compiler, *flags, *versions;
    struct as_code_value *value; /* of origin 0: they vary */
    struct as_called *called;
    int64_t inclusive_n;
};

/*
 * [row * n + side] in `arena`. `part` has what a row took on a side: versions with less than a
 * tenth of it do not count.
 */
int as_fact_of(const struct as_set *set, size_t n, const struct as_alignment *alignment,
               const struct as_object *part, struct as_arena *arena, struct as_object_facts **out);

/* A value of the code by the name of its metric, or NULL. */
const struct as_code_value *as_fact_value(const struct as_object_facts *code_facts,
                                          const char *name);
/* As it is shown, a copy in the arena; NULL without memory. */
const char *as_fact_number(struct as_arena *arena, double x);
/* Whether a fact is told in the line under a row: of code quality analysis the few of loop_code.c.
 */
bool as_fact_is_short(const char *topic, const char *name);
/* Gives a row of a loop its code, side by side. */
int as_loop_code_compare(struct as_arena *arena, const struct as_object_facts *code_facts, size_t n,
                         struct assay_compare_row *row);

/* Gives a row of `n` sides its facts, and its cells what differs from the first that has it. */
int as_compare_fill_row(struct as_arena *arena, const struct as_object_facts *code_facts, size_t n,
                        struct assay_compare_row *row, struct assay_compare_cell *cell);

/* ---- The whole ----------------------------------------------------------------------------- */

/* Facts of the chosen runs that differ between sides: machine, environment, libraries, ... */
int as_environments_compare(struct as_arena *arena, const struct assay_compare_request *request,
                            struct as_set *set, size_t n, struct assay_comparison *out,
                            struct assay_error *err);

#endif
