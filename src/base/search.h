/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one binary search: where in an ordered array something changes from true to false.
 */
#ifndef AS_BASE_SEARCH_H
#define AS_BASE_SEARCH_H

/* The halving of both: `as_low` and `as_high` close in on the place. */
#define AS_SEARCH_BETWEEN(i, before)                                                               \
    while (as_low < as_high) {                                                                     \
        const __typeof__(as_low) i = as_low + (as_high - as_low) / 2;                              \
        if (before)                                                                                \
            as_low = i + 1;                                                                        \
        else                                                                                       \
            as_high = i;                                                                           \
    }

/*
 * How many of the first `n` things are `before` what is sought: an expression of `i`, the number of
 * one of them, that is true of all up to some place and false from there on. The type is that of
 * `n`. So the first that starts at `x` or behind it is as_first_not(i, n, at[i].start < x).
 */
#define as_first_not(i, n, before)                                                                 \
    ({                                                                                             \
        __typeof__((n) + 0) as_low = 0, as_high = (n);                                             \
        AS_SEARCH_BETWEEN(i, before)                                                               \
        as_low;                                                                                    \
    })

/*
 * The same, where the place is near one found before: the steps away from `from` double until the
 * place lies between two of them. Who asks for ascending things takes a few steps for each.
 */
#define as_first_not_near(i, n, from, before)                                                      \
    ({                                                                                             \
        const __typeof__((n) + 0) as_n = (n);                                                      \
        __typeof__((n) + 0) as_low = (from) < as_n ? (from) : as_n, as_high = as_low, as_step;     \
        for (as_step = 1; as_high < as_n; as_step *= 2) { /* upwards, while before */              \
            const __typeof__((n) + 0) i = as_high;                                                 \
            if (!(before))                                                                         \
                break;                                                                             \
            as_low = as_high + 1;                                                                  \
            as_high = as_n - as_high > as_step ? as_high + as_step : as_n;                         \
        }                                                                                          \
        for (as_step = 1; as_low > 0; as_step *= 2) { /* downwards, while not */                   \
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
