/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects kept instances of a loop in order of time: a random one of each of equal parts of the
 * list. Every k-th one could always hit the same phase of a program that alternates.
 */
#include "vprof/line.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"

static int by_beginning(const void *a, const void *b)
{
    const struct as_instance *x = a, *y = b;
    return x->begun != y->begun ? (x->begun > y->begun ? 1 : -1)
                                : (x->thread > y->thread) - (x->thread < y->thread);
}

static uint64_t next_draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

int as_line_make(const struct as_instance *it, size_t n, struct as_instance **out, size_t *out_n,
                 struct as_error *err)
{
    const size_t most = n < AS_LINE_MOST ? n : AS_LINE_MOST;
    uint64_t state = n;
    *out_n = 0;
    *out = as_calloc(n + 1, sizeof **out);
    if (!*out)
        return as_error_nomem(err, "a time line");
    for (size_t i = 0; i < n; i++)
        (*out)[i] = it[i];
    qsort(*out, n, sizeof **out, by_beginning);
    for (size_t i = 0; i < most; i++) {
        const size_t from = i * n / most, to = (i + 1) * n / most;
        (*out)[(*out_n)++] = (*out)[from + (size_t)next_draw(&state) % (to - from)];
    }
    return 0;
}
