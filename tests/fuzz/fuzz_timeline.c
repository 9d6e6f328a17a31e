/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: the bytes are the index of a time line. It is refused with a sentence, or pictures,
 * tables and searches of it come to an end.
 */
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scratch.h"
#include "timeline/find.h"

#define PIXELS_N 37u
#define ROWS_N   3u

static void draw_all(const struct as_timeline_index *index, int64_t from_ns, int64_t to_ns)
{
    static struct as_timeline_shares shares[PIXELS_N * ROWS_N];
    static struct as_timeline_levels levels[PIXELS_N * ROWS_N];
    static uint16_t events[PIXELS_N * ROWS_N];
    const struct as_timeline_view v = {from_ns, to_ns, 0, ROWS_N, PIXELS_N};

    if (index->head->is_code) {
        FUZZ_CHECK(as_timeline_draw_codes(index, &v, AS_DRAW_BY_KIND, shares) == 0);
        FUZZ_CHECK(as_timeline_draw_codes(index, &v, AS_DRAW_LAST, shares) == 0);
        FUZZ_CHECK(as_timeline_draw_codes(index, &v, AS_DRAW_RANDOM, shares) == 0);
    } else {
        as_timeline_draw_levels(index, &v, levels);
        FUZZ_CHECK(as_timeline_draw_mode_levels(index, &v, AS_DRAW_MODE, levels) == 0);
    }
    as_timeline_draw_events(index, &v, INT64_MIN, events);
    for (uint32_t row = 0; index->head->is_code && row < ROWS_N; row++) {
        uint64_t times[AS_TIMELINE_CODES_MAX] = {0};
        as_timeline_add_code_times(index, row, from_ns, to_ns, times);
    }
}

static void search_all(const struct as_timeline_index *index, int64_t from_ns, int64_t to_ns)
{
    struct as_timeline_found found;
    struct as_timeline_types types = {0};
    struct as_timeline_picked picked = {0};
    struct as_timeline_pairs pairs = {0};
    double min, max;

    as_timeline_extremes(index, &min, &max);
    as_timeline_next_event(index, INT64_MIN, -1, from_ns, false, &found);
    as_timeline_next_event(index, INT64_MIN, 0, to_ns, true, &found);
    as_timeline_next_code(index, 0, 1, from_ns, &found);
    FUZZ_CHECK(as_timeline_list_types(index, &types) == 0);
    FUZZ_CHECK(as_timeline_pick_messages(index, from_ns, to_ns, 10, &picked) == 0);
    FUZZ_CHECK(as_timeline_add_pairs(index, from_ns, to_ns, &pairs) == 0);
    as_vec_fini(&types);
    as_vec_fini(&picked.message);
    as_vec_fini(&pairs.pair);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    const char *path = scratch_write("x.index", bytes, size_b);
    struct as_timeline_index index;
    struct assay_error err = {0};

    if (as_timeline_index_open(path, NULL, &index, &err) < 0) {
        FUZZ_CHECK(*err.text);
        return 0;
    }
    draw_all(&index, 0, index.head->end_ns);
    draw_all(&index, index.head->end_ns / 3, index.head->end_ns / 2);
    draw_all(&index, 0, 5);
    search_all(&index, 0, index.head->end_ns);
    search_all(&index, index.head->end_ns / 2, INT64_MAX - 1);
    as_timeline_index_close(&index);
    return 0;
}
