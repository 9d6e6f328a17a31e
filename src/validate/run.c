/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls loops on arrays that fit into the L1 cache, at several placements. The placement matters
 * because a load seems to depend on a store whole pages away.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

#include "base/error.h"
#include "validate/suite.h"

enum {
    ARRAY_B = 16384,
    ARRAYS = 5, /* a, b, c, d, k */
    STAGGER_MOST_B = 2368,
    SCALARS_B = 1024
};
/* Gap behind each array in bytes, by placement: no two arrays start at nearly the same page
 * offset. */
static const uint16_t stagger_b[AS_SUITE_PLACES] = {832, 1216, STAGGER_MOST_B};

struct as_suite_arrays {
    void *block;
    char *array[ARRAYS];
    void *scalar;
    size_t cache_b;
};

int as_suite_arrays_new(struct as_suite_arrays **out, struct as_error *err)
{
    struct as_suite_arrays *arrays = as_calloc(1, sizeof *arrays);
    const long cache_b = sysconf(_SC_LEVEL1_DCACHE_SIZE);
    *out = arrays;
    if (!arrays || posix_memalign(&arrays->block, 4096,
                                  ARRAYS * (ARRAY_B + STAGGER_MOST_B) + (size_t)SCALARS_B) != 0) {
        as_suite_arrays_free(out);
        return as_error_nomem(err, "the arrays of the suite");
    }
    arrays->cache_b = cache_b > 0 ? (size_t)cache_b : 32768;
    as_suite_place(arrays, 0);
    return 0;
}

void as_suite_place(struct as_suite_arrays *arrays, unsigned place)
{
    const size_t step_b = ARRAY_B + stagger_b[place];
    for (unsigned i = 0; i < ARRAYS; i++)
        arrays->array[i] = (char *)arrays->block + i * step_b;
    arrays->scalar = (char *)arrays->block + ARRAYS * step_b;
}

void as_suite_arrays_free(struct as_suite_arrays **arrays)
{
    if (*arrays)
        free((*arrays)->block); /* allocated by posix_memalign */
    as_free(*arrays);
    *arrays = NULL;
}

static void set_array_element(char *array, size_t i, unsigned element_b, double value)
{
    const float narrow = (float)value;
    if (element_b == sizeof narrow)
        memcpy(array + i * element_b, &narrow, sizeof narrow);
    else
        memcpy(array + i * element_b, &value, sizeof value);
}

void as_suite_fill(struct as_suite_arrays *arrays, unsigned element_b)
{
    static const double scalar[] = {1.25, 0.5, 0.75};
    const size_t n = ARRAY_B / element_b;
    memset(arrays->scalar, 0, SCALARS_B);
    for (size_t i = 0; i < sizeof scalar / sizeof *scalar; i++)
        set_array_element(arrays->scalar, i, element_b, scalar[i]);
    for (size_t i = 0; i < n; i++) {
        const double value = 1 + (double)(i * 37 % 101) / 128;
        set_array_element(arrays->array[0], i, element_b, value);
        set_array_element(arrays->array[1], i, element_b, value + 0.125);
        set_array_element(arrays->array[2], i, element_b, 2 - value / 2);
        set_array_element(arrays->array[3], i, element_b, i % 4 < 3 ? value : -value);
    }
    for (size_t i = 0; i < ARRAY_B / sizeof(int); i++) {
        const int index = (int)(i * 37 % 251);
        memcpy(arrays->array[4] + i * sizeof index, &index, sizeof index);
    }
}

long as_suite_room(const struct as_suite_arrays *arrays, unsigned array_n, unsigned element_b)
{
    const size_t room = arrays->cache_b / 2 / ((array_n ? array_n : 1) * element_b);
    const size_t all = ARRAY_B / element_b;
    return (long)(room > all ? all : room);
}

void as_suite_run(void *context, bool longer, unsigned repeats)
{
    const struct as_suite_work *work = context;
    const struct as_suite_arrays *arrays = work->arrays;
    for (unsigned i = 0; i < repeats; i++) {
        /* Keep calls from overlapping: the amount of overlap depends on their length. */
        _mm_lfence();
        work->loop(longer ? work->longer : work->shorter, arrays->array[0], arrays->array[1],
                   arrays->array[2], arrays->array[3], (const int *)(void *)arrays->array[4],
                   arrays->scalar);
    }
}
