/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "Did you mean": the candidate nearest to a mistyped word.
 */
#ifndef AS_BASE_NEAREST_H
#define AS_BASE_NEAREST_H

#include <stddef.h>

struct as_nearest {
    const char *word; /* borrowed */
    size_t word_n;
    const char *best; /* nearest candidate near enough so far, borrowed; NULL = none */
    unsigned distance;
};

void as_nearest_init(struct as_nearest *nearest, const char *word, size_t word_n);
void as_nearest_offer(struct as_nearest *nearest, const char *candidate);

/*
 * Edits (insert, delete, replace, swap of neighbours) from `a` to `b`, letter case aside; any
 * number above `most` means "more than most".
 */
unsigned as_edit_distance(const char *a, size_t a_n, const char *b, size_t b_n, unsigned most);

#endif
