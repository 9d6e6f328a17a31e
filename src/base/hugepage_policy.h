/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether large pages pay on this host, from the time of earlier ones. The kernel clears
 * one in about 50 us and the same amount in small pages in 500 us. If the host reclaims free large
 * blocks, one takes 5 ms. The first page may be slow and the others not, or all of them.
 */
#ifndef AS_BASE_HUGEPAGE_POLICY_H
#define AS_BASE_HUGEPAGE_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#define AS_LARGE_SMALL_NS 500000  /* what the small pages of a large one take */
#define AS_LARGE_LEAST_NS 10000   /* below, the kernel had none and gave a small page */
#define AS_LARGE_LENT_NS  6000000 /* that may be lost before gains show: one slow page, not two */
#define AS_LARGE_SHARE    200     /* and this part of all CPU time */

/* Returns the total loss after a page that took `took_ns`. Gains only compensate losses: on a
 * host that becomes slow they would be spent on slow pages. */
static inline int64_t as_large_lost(int64_t lost_ns, int64_t took_ns)
{
    if (took_ns < AS_LARGE_LEAST_NS)
        return lost_ns;
    const int64_t now_ns = lost_ns + took_ns - AS_LARGE_SMALL_NS;
    return now_ns > 0 ? now_ns : 0;
}

/* Returns true to request another page, after `ran_ns` of the process. */
static inline bool as_large_pays(int64_t lost_ns, int64_t ran_ns)
{
    return lost_ns <= AS_LARGE_LENT_NS || lost_ns <= ran_ns / AS_LARGE_SHARE;
}

#endif
