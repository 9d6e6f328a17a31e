/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: the bytes are the index of a time line. It is refused with a sentence, or pictures,
 * tables, searches and evaluations of it come to an end. Digests are not checked.
 */
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scratch.h"
#include "timeline/find.h"
#include "timeline/replay.h"

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

static int count_piece(void *context, uint32_t time_line, uint32_t object, int64_t begin_ns,
                       int64_t end_ns, struct as_quantity value)
{
    (void)time_line, (void)value;
    FUZZ_CHECK(object < ROWS_N && begin_ns >= 0 && end_ns >= begin_ns);
    ++*(unsigned *)context;
    return 0;
}

/* Evaluates a trace of three threads without lines: the index has them. */
static void evaluate_index(const struct as_timeline_index *index, const char *name, bool by_time)
{
    static const char header[] = "#Paraver (01/01/2026 at 00:00):9_ns:1(2):1:1(3:1),0\n";
    struct as_timeline_evaluation how = {.index = index, .part_blocks = 2, .by_time = by_time};
    struct as_configuration c = {0};
    struct as_evaluated trace;
    struct as_evaluator *evaluation;
    struct as_error err = {0};
    unsigned pieces_n = 0;
    const struct as_evaluator_options options = {
        .to_ns = INT64_MAX, .on_piece = count_piece, .context = &pieces_n};
    for (size_t i = 0; i < as_ready_n; i++)
        if (strcmp(as_ready_configurations[i].name, name) == 0)
            FUZZ_CHECK(as_cfg_read(as_view_of(as_ready_configurations[i].text), name, &c, &err) ==
                       0);
    FUZZ_CHECK(as_evaluated_open(scratch_write("x.prv", header, sizeof header - 1), &trace, &err) ==
               0);
    FUZZ_CHECK(as_evaluator_new(&trace.objects, &options, &evaluation) == 0);
    FUZZ_CHECK(as_evaluator_add(evaluation, &c, &err) == 0);
    FUZZ_CHECK(as_timeline_evaluate(&trace, evaluation, &how, &err) == 0);
    as_evaluator_free(&evaluation);
    as_evaluated_close(&trace);
    as_configuration_fini(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    const char *path = scratch_write("x.index", bytes, size_b);
    struct as_timeline_index index;
    struct as_error err = {0};

    if (as_timeline_index_open(path, NULL, &index, &err) < 0) {
        FUZZ_CHECK(*err.text);
        return 0;
    }
    draw_all(&index, 0, index.head->end_ns);
    draw_all(&index, index.head->end_ns / 3, index.head->end_ns / 2);
    draw_all(&index, 0, 5);
    search_all(&index, 0, index.head->end_ns);
    search_all(&index, index.head->end_ns / 2, INT64_MAX - 1);
    evaluate_index(&index, "states", false);
    evaluate_index(&index, "mpi-profile", false);
    evaluate_index(&index, "message-size", true);
    as_timeline_index_close(&index);
    return 0;
}
