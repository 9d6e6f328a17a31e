/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words for what the analysis of code knows, the same in every verb and format.
 */
#ifndef AS_CLI_LOOP_WORDS_H
#define AS_CLI_LOOP_WORDS_H

#include "base/str.h"
#include "code/code.h"

const char *as_level_word(unsigned level); /* "innermost" */
const char *as_role_word(unsigned role);   /* "vector tail" */
const char *as_edge_word(unsigned kind);   /* "taken" */

/* Appends the marks of a loop, separated by `separator`: "irreducible", "unresolved jump", "path
 * limit", "merged continue", "folded gather", "unreached". */
void as_words_loop_marks(struct as_str *out, const struct as_loop *loop, char separator);
/* "solver.c:12-17": with the file's last part only when `is_short`; nothing when unknown. */
void as_words_source(struct as_str *out, const struct as_debug *debug,
                     const struct as_source_range *range, bool is_short);
/* Calls that the loop was inlined by, innermost first: "dot at /src/solver.c:18". */
void as_words_inlined(struct as_str *out, const struct as_debug *debug, uint32_t inlined,
                      bool plain, char separator);

#endif
