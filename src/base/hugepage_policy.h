/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether large pages pay on this host, by what those that were fetched took. The kernel clears one
 * in some 50 us and hands out as much in small ones in 500; where a host takes back what lies free
 * in large blocks, one takes 5 ms. The first may be such a one and the others not, or all of them.
 */
#ifndef AS_BASE_HUGEPAGE_POLICY_H
#define AS_BASE_HUGEPAGE_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#define AS_LARGE_SMALL_NS 500000  /* what the small pages of a large one take */
#define AS_LARGE_LEAST_NS 10000   /* below, the kernel had none and gave a small page */
#define AS_LARGE_LENT_NS  6000000 /* that may be lost before gains show: one slow page, not two */
#define AS_LARGE_SHARE    200     /* and one part in so many of all processor time */

/* What is lost in all once a page more took `took_ns`. Gains only make up for losses: on a host
 * that turns slow they would be spent on slow pages. */
static inline int64_t as_large_lost(int64_t lost_ns, int64_t took_ns)
{
    if (took_ns < AS_LARGE_LEAST_NS)
        return lost_ns;
    const int64_t now_ns = lost_ns + took_ns - AS_LARGE_SMALL_NS;
    return now_ns > 0 ? now_ns : 0;
}

/* Whether to fetch another, when the process has run for `ran_ns`. */
static inline bool as_large_pays(int64_t lost_ns, int64_t ran_ns)
{
    return lost_ns <= AS_LARGE_LENT_NS || lost_ns <= ran_ns / AS_LARGE_SHARE;
}

#endif
