/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one binary search: where in an ordered array something changes from true to false.
 */
#ifndef AS_BASE_SEARCH_H
#define AS_BASE_SEARCH_H

/*
 * How many of the first `n` things are `before` what is sought: an expression of `i`, the number of
 * one of them, that is true of all up to some place and false from there on. The type is that of
 * `n`. So the first that starts at `x` or behind it is as_first_not(i, n, at[i].start < x).
 */
#define as_first_not(i, n, before)                                                                 \
    ({                                                                                             \
        __typeof__((n) + 0) as_low = 0, as_high = (n);                                             \
        while (as_low < as_high) {                                                                 \
            const __typeof__((n) + 0) i = as_low + (as_high - as_low) / 2;                         \
            if (before)                                                                            \
                as_low = i + 1;                                                                    \
            else                                                                                   \
                as_high = i;                                                                       \
        }                                                                                          \
        as_low;                                                                                    \
    })

#endif
