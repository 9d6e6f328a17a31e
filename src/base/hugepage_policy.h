/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether large pages pay on this host, from the cost of earlier ones. The kernel clears
 * one large page in about 50 us; the same memory in small pages takes 500 us. If the host must
 * reclaim a free large block first, one page takes 5 ms. This can happen for the first page only,
 * or for all pages.
 */
#ifndef AS_BASE_HUGEPAGE_POLICY_H
#define AS_BASE_HUGEPAGE_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#define AS_LARGE_SMALL_NS 500000  /* cost of the small pages that one large page replaces */
#define AS_LARGE_LEAST_NS 10000   /* below: the kernel gave a small page instead */
#define AS_LARGE_LENT_NS  6000000 /* allowed loss before gains show: one slow page, but not two */
#define AS_LARGE_SHARE    200     /* allowed loss is also 1/AS_LARGE_SHARE of the CPU time */

/* Returns the new total loss in ns after a page that took `took_ns`. The loss never falls below
 * zero: saved-up gains would be spent on slow pages once the host becomes slow. */
static inline int64_t as_large_lost(int64_t lost_ns, int64_t took_ns)
{
    if (took_ns < AS_LARGE_LEAST_NS)
        return lost_ns;
    const int64_t now_ns = lost_ns + took_ns - AS_LARGE_SMALL_NS;
    return now_ns > 0 ? now_ns : 0;
}

/* Returns true if another large page pays. `ran_ns` is the CPU time of the process. */
static inline bool as_large_pays(int64_t lost_ns, int64_t ran_ns)
{
    return lost_ns <= AS_LARGE_LENT_NS || lost_ns <= ran_ns / AS_LARGE_SHARE;
}

#endif
