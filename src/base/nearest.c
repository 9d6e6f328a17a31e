/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Optimal string alignment distance (Damerau-Levenshtein without repeated edits at one position),
 * on at most 63 bytes of each word. Names typed by hand are shorter.
 */
#include "base/nearest.h"

#include <ctype.h>
#include <string.h>

#define WORD_MAX 63

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned as_edit_distance(const char *a, size_t a_n, const char *b, size_t b_n, unsigned most)
{
    unsigned rows[3][WORD_MAX + 1];
    unsigned *before = rows[0], *above = rows[1], *here = rows[2];

    a_n = a_n > WORD_MAX ? WORD_MAX : a_n;
    b_n = b_n > WORD_MAX ? WORD_MAX : b_n;
    if ((a_n > b_n ? a_n - b_n : b_n - a_n) > most)
        return most + 1;
    for (size_t j = 0; j <= b_n; j++)
        above[j] = (unsigned)j;
    for (size_t i = 1; i <= a_n; i++) {
        const int p = tolower((unsigned char)a[i - 1]);

        here[0] = (unsigned)i;
        for (size_t j = 1; j <= b_n; j++) {
            const int q = tolower((unsigned char)b[j - 1]);

            here[j] = least(least(above[j], here[j - 1]) + 1, above[j - 1] + (p != q));
            if (i > 1 && j > 1 && p == tolower((unsigned char)b[j - 2]) &&
                q == tolower((unsigned char)a[i - 2]))
                here[j] = least(here[j], before[j - 2] + 1);
        }
        unsigned *spare = before;
        before = above;
        above = here;
        here = spare;
    }
    return above[b_n];
}

void as_nearest_init(struct as_nearest *nearest, const char *word, size_t word_n)
{
    /* A third of the letters may be wrong, but at least one. Other words are not worth a
     * suggestion. */
    *nearest = (struct as_nearest){
        .word = word, .word_n = word_n, .distance = (unsigned)(word_n < 3 ? 1 : word_n / 3) + 1};
}

void as_nearest_offer(struct as_nearest *nearest, const char *candidate)
{
    const unsigned distance = as_edit_distance(nearest->word, nearest->word_n, candidate,
                                               strlen(candidate), nearest->distance);

    if (distance < nearest->distance) {
        nearest->distance = distance;
        nearest->best = candidate;
    }
}
