/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binary search: finds the position in an ordered array at which a condition turns false.
 */
#ifndef AS_BASE_SEARCH_H
#define AS_BASE_SEARCH_H

/* The bisection of both macros: `as_low` and `as_high` converge to the position. */
#define AS_SEARCH_BETWEEN(i, before)                                                               \
    while (as_low < as_high) {                                                                     \
        const __typeof__(as_low) i = as_low + (as_high - as_low) / 2;                              \
        if (before)                                                                                \
            as_low = i + 1;                                                                        \
        else                                                                                       \
            as_high = i;                                                                           \
    }

/*
 * Returns the number of leading items, of the first `n`, that are `before` the sought one. `before`
 * is an expression of `i`, true up to some position and false afterwards. The type is that of `n`.
 * The first item that starts at `x` or later is as_first_not(i, n, at[i].start < x).
 */
#define as_first_not(i, n, before)                                                                 \
    ({                                                                                             \
        __typeof__((n) + 0) as_low = 0, as_high = (n);                                             \
        AS_SEARCH_BETWEEN(i, before)                                                               \
        as_low;                                                                                    \
    })

/*
 * As as_first_not, but starts near the earlier position `from`. The distance from `from` doubles
 * until the result lies between two steps. Ascending searches need only a few steps each.
 */
#define as_first_not_near(i, n, from, before)                                                      \
    ({                                                                                             \
        const __typeof__((n) + 0) as_n = (n);                                                      \
        __typeof__((n) + 0) as_low = (from) < as_n ? (from) : as_n, as_high = as_low, as_step;     \
        for (as_step = 1; as_high < as_n; as_step *= 2) { /* upwards while `before` is true */     \
            const __typeof__((n) + 0) i = as_high;                                                 \
            if (!(before))                                                                         \
                break;                                                                             \
            as_low = as_high + 1;                                                                  \
            as_high = as_n - as_high > as_step ? as_high + as_step : as_n;                         \
        }                                                                                          \
        for (as_step = 1; as_low > 0; as_step *= 2) { /* downwards while `before` is false */      \
            const __typeof__((n) + 0) i = as_low - 1;                                              \
            if (before)                                                                            \
                break;                                                                             \
            as_high = as_low - 1;                                                                  \
            as_low = as_low > as_step ? as_low - as_step : 0;                                      \
        }                                                                                          \
        AS_SEARCH_BETWEEN(i, before)                                                               \
        as_low;                                                                                    \
    })

#endif
