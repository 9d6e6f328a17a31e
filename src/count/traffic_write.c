/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes traffic to the profiled run: metrics of loops and functions, sections of their pages, and
 * flags if some accesses were not replayed.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "count/metrics.h"
#include "count/traffic.h"

/* Minimum share of replayed accesses; an object with less gets a flag. */
#define COVERED_LEAST 0.99

const char *as_traffic_word(unsigned value)
{
    static const char *const words[] = {
#define TRAFFIC_WORD(name, word) word,
        AS_TRAFFIC_LIST(TRAFFIC_WORD)
#undef TRAFFIC_WORD
    };
    return value < AS_TRAFFICS ? words[value] : "";
}

void as_traffic_values(const struct as_count_traffic *it, double out[AS_TRAFFICS])
{
    for (unsigned i = 0; i < AS_TRAFFICS; i++)
        out[i] = (double)NAN;
    if (!it->is_known)
        return;
    out[AS_TRAFFIC_L2_L1] = it->bytes_l2_l1;
    out[AS_TRAFFIC_L3_L2] = it->bytes_l3_l2;
    out[AS_TRAFFIC_MEMORY] = it->bytes_memory;
    out[AS_TRAFFIC_STREAMED] = it->stream_b;
    for (unsigned k = 0; k < it->levels; k++) {
        out[AS_TRAFFIC_L1_IN + k] = it->line_in_n[k];
        out[AS_TRAFFIC_L1_OUT + k] = it->line_out_n[k];
    }
}

/* ---- Sets ----------------------------------------------------------------------------------- */

static int open_traffic(const struct as_block_counting *counting, const char *name,
                        enum as_object_kind kind, struct as_metric_set **out, struct as_error *err)
{
    struct as_set_metric metric[AS_TRAFFICS];
    assert(as_traffic_metric_n == AS_TRAFFICS);
    for (unsigned i = 0; i < AS_TRAFFICS; i++) {
        metric[i] = (struct as_set_metric){
            .metric = as_traffic_metric[i].metric, .origin = AS_ORIGIN_SIMULATED, .bounded = true};
        assert(strcmp(metric[i].metric.name, as_traffic_word(i)) == 0);
        metric[i].metric.pass = AS_COUNT_PASS;
    }
    return as_metric_set_open(counting->experiment, name, kind, AS_COUNT_PASS, metric, AS_TRAFFICS,
                              out, err);
}

static int write_traffic(const struct as_block_counting *counting, struct as_metric_set *set,
                         const struct as_count_object *it, struct as_error *err)
{
    const struct as_subject of = {it->kind, it->id, counting->run_id, 0};
    const int64_t n = (int64_t)it->traffic.event_n;
    struct as_bounded_value value[AS_TRAFFICS] = {0};
    double number[AS_TRAFFICS];
    as_traffic_values(&it->traffic, number);
    for (unsigned i = 0; i < AS_TRAFFICS; i++)
        if (!isnan(number[i]))
            value[i] = as_value_simulated(number[i], number[i] * (1 - it->traffic.error),
                                          number[i] * (1 + it->traffic.error), n);
    return as_metric_set_add(set, &of, n, value, err);
}

/* ---- Pages ---------------------------------------------------------------------------------- */

/* Writes a page of an object: `page` has everything but the object and the pass. */
static int write_traffic_page(const struct as_block_counting *counting,
                              const struct as_count_object *it, struct as_detail page,
                              struct as_error *err)
{
    page.of = (struct as_subject){it->kind, it->id, counting->run_id, 0};
    page.pass = AS_COUNT_PASS;
    return as_experiment_detail(counting->experiment, &page, err);
}

static int write_levels_page(const struct as_block_counting *counting,
                             const struct as_count_object *it, struct as_error *err)
{
    static const char *const name[] = {"L1", "L2", "L3"};
    static const char *const column[] = {"level", "lines in", "lines out", "bytes"};
    const struct as_count_traffic *t = &it->traffic;
    struct as_sql_cell cell[AS_COUNT_LEVELS * 4];
    assert(t->levels >= 1 && t->levels <= AS_COUNT_LEVELS);
    for (unsigned k = 0; k < t->levels; k++) {
        cell[4 * k] = as_sql_cell_text(name[k]);
        cell[4 * k + 1] = as_sql_cell_real(t->line_in_n[k]);
        cell[4 * k + 2] = as_sql_cell_real(t->line_out_n[k]);
        cell[4 * k + 3] = as_sql_cell_real(AS_REPLAY_LINE_B * (t->line_in_n[k] + t->line_out_n[k]));
    }
    const struct as_detail detail = {
        .name = "traffic",
        .title = "Traffic beyond each cache level",
        .position = 44,
        .text = "Simulated: addresses of the run were replayed through a model of the caches.",
        .column = column,
        .column_n = 4,
        .cell = cell,
        .row_n = t->levels};
    return write_traffic_page(counting, it, detail, err);
}

static int write_curve_page(const struct as_block_counting *counting,
                            const struct as_count_object *it, struct as_error *err)
{
    static const char *const column[] = {"cache KiB", "bytes loaded into it"};
    struct as_sql_cell cell[AS_COUNT_CURVE * 2];
    for (unsigned i = 0; i < AS_COUNT_CURVE; i++) {
        cell[2 * i] = as_sql_cell_integer((AS_COUNT_CURVE_B >> 10) * (INT64_C(1) << i));
        cell[2 * i + 1] = as_sql_cell_real(it->traffic.curve_b[i]);
    }
    const struct as_detail detail = {
        .name = "miss_curve",
        .title = "Bytes by cache size",
        .position = 45,
        .text = "From reuse distances of sampled lines, for a fully associative cache.",
        .column = column,
        .column_n = 2,
        .cell = cell,
        .row_n = AS_COUNT_CURVE};
    return it->traffic.curve_b[0] > 0 ? write_traffic_page(counting, it, detail, err) : 0;
}

static int write_covered_flag(const struct as_block_counting *counting,
                              const struct as_count_object *it, struct as_error *err)
{
    char text[160];
    snprintf(text, sizeof text,
             "the addresses of %.1f %% of its accesses were not replayed: its traffic is scaled",
             100 * (1 - it->traffic.covered));
    const struct as_flag flag = {.run_id = counting->run_id,
                                 .kind = it->kind,
                                 .object_id = it->id,
                                 .name = "traffic_part",
                                 .text = text,
                                 .n = 1,
                                 .pass = AS_COUNT_PASS};
    return it->traffic.covered < COVERED_LEAST
               ? as_experiment_flag(counting->experiment, &flag, err)
               : 0;
}

static int write_traffic_object(const struct as_block_counting *counting, struct as_metric_set *set,
                                const struct as_count_object *it, struct as_error *err)
{
    AS_TRY(write_traffic(counting, set, it, err));
    AS_TRY(write_levels_page(counting, it, err));
    AS_TRY(write_curve_page(counting, it, err));
    return write_covered_flag(counting, it, err);
}

int as_level_traffic_write(const struct as_block_counting *counting, struct as_error *err)
{
    struct as_metric_set *loops = NULL, *functions = NULL;
    int rc = open_traffic(counting, "loop_traffic", AS_OBJECT_LOOP, &loops, err);
    if (rc == 0)
        rc = open_traffic(counting, "function_traffic", AS_OBJECT_FUNCTION, &functions, err);
    as_vec_foreach (&counting->object, object)
        if (rc == 0 && object->it.traffic.is_known && !object->it.reason)
            rc = write_traffic_object(
                counting, object->it.kind == AS_OBJECT_LOOP ? loops : functions, &object->it, err);
    as_metric_set_close(&loops);
    as_metric_set_close(&functions);
    return rc;
}
