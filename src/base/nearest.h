/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the candidate that is most similar to a mistyped word, for "did you mean".
 */
#ifndef AS_BASE_NEAREST_H
#define AS_BASE_NEAREST_H

#include <stddef.h>

struct as_nearest {
    const char *word; /* borrowed */
    size_t word_n;
    const char *best; /* best candidate that is similar enough, borrowed; NULL: none */
    unsigned distance;
};

void as_nearest_init(struct as_nearest *nearest, const char *word, size_t word_n);
void as_nearest_offer(struct as_nearest *nearest, const char *candidate);

/*
 * Returns the number of edits (insert, delete, replace, swap of neighbours) from `a` to `b`,
 * without letter case. Only the first 63 bytes of each word count. A result above `most` may be too
 * small.
 */
unsigned as_edit_distance(const char *a, size_t a_n, const char *b, size_t b_n, unsigned most);

#endif
