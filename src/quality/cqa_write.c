/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the metric set `cqa`. It has a column cqa_NAME for each metric and one for the speed-up of
 * each variant. A run has a row for the mean and one for each path, by its context. Gains assume
 * data in the first cache level, so their interval starts at no gain.
 */
#include "quality/cqa_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "quality/cqa.h"

/* Variants that may change the results of the program. */
static const enum as_cqa_variant doubtful[] = {AS_CQA_FP_VECTOR, AS_CQA_VECTOR};
static const char *const sound_name[] = {"cqa_fp_vector_sound", "cqa_vector_sound"};

#define VALUE_MOST 9e15 /* as_metric_set holds 9e18, here with three decimals */

enum {
    DIGITS = 3,
    DOUBTFUL = sizeof doubtful / sizeof *doubtful,
    SOUND_AT = AS_CQA_METRICS + AS_CQA_VARIANTS,
    WEIGHT_AT = SOUND_AT + DOUBTFUL,
    BEST_AT,
    PROMISE_AT,
    CQA_COLUMNS,
    NAME_B = 64
};

/* ---- Keeping ------------------------------------------------------------------------------- */

static double *copy_of(struct as_arena *arena, const double *values)
{
    double *copy = as_arena_fresh(arena, double, AS_CQA_METRICS);

    if (copy)
        memcpy(copy, values, AS_CQA_METRICS * sizeof *copy);
    return copy;
}

int as_cqa_keep(struct as_arena *arena, const struct as_cqa *cqa, struct as_cqa_kept *out,
                struct as_error *err)
{
    *out = (struct as_cqa_kept){.is_there = cqa->path_n > 0};
    if (!out->is_there)
        return 0;
    memcpy(out->what_if, cqa->mean.what_if, sizeof out->what_if);
    const int best = as_cqa_best(&cqa->mean);
    out->best_x = best < 0 ? 1 : cqa->mean.what_if[best].speedup;
    out->promise_cy = as_cqa_promise(cqa);
    out->mean = copy_of(arena, cqa->mean.value);
    out->path_n = cqa->path_n > 1 ? cqa->path_n : 0;
    out->path = as_arena_array(arena, double *, out->path_n + 1);
    out->weight = as_arena_array(arena, double, out->path_n + 1);
    if (!out->mean || !out->path || !out->weight)
        return as_error_nomem(err, "code quality analysis");
    for (size_t i = 0; i < out->path_n; i++)
        out->weight[i] = cqa->path[i].weight;
    for (size_t i = 0; i < out->path_n; i++)
        if (!(out->path[i] = copy_of(arena, cqa->path[i].value)))
            return as_error_nomem(err, "code quality analysis");
    return 0;
}

/* ---- The set ------------------------------------------------------------------------------- */

static bool is_modelled(const struct as_metric *metric)
{
    static const char *const topic[] = {"cycles", "front_end", "back_end", "peak", "machine"};

    for (size_t i = 0; i < sizeof topic / sizeof *topic; i++)
        if (strcmp(metric->topic, topic[i]) == 0)
            return true;
    return false;
}

static void describe_columns(char name[][NAME_B], struct as_set_metric *out)
{
    for (size_t i = 0; i < AS_CQA_METRICS; i++) {
        out[i] = (struct as_set_metric){.metric = *as_cqa_metric(i), .digits = DIGITS};
        snprintf(name[i], NAME_B, "cqa_%s", out[i].metric.name);
        out[i].metric.name = name[i];
        out[i].origin = is_modelled(as_cqa_metric(i)) ? AS_ORIGIN_MODELLED : AS_ORIGIN_DERIVED;
        out[i].metric.topic = "cqa";
    }
    for (unsigned v = 0; v < AS_CQA_VARIANTS; v++) {
        const size_t i = AS_CQA_METRICS + v;

        snprintf(name[i], NAME_B, "cqa_%s_x", as_cqa_variant_name((enum as_cqa_variant)v));
        out[i] = (struct as_set_metric){
            .metric = {.name = name[i],
                       .unit = "x",
                       .meaning = as_cqa_variant_words((enum as_cqa_variant)v),
                       .formula = "cycles / cycles of the variant, with data in L1: an upper "
                                  "bound for loops that wait for memory",
                       .better = AS_BETTER_NEITHER,
                       .title = as_cqa_variant_words((enum as_cqa_variant)v),
                       .topic = "cqa"},
            .origin = AS_ORIGIN_MODELLED,
            .digits = DIGITS,
            .bounded = true};
    }
    for (unsigned i = 0; i < DOUBTFUL; i++)
        out[SOUND_AT + i] = (struct as_set_metric){
            .metric = {.name = sound_name[i],
                       .unit = "1",
                       .meaning =
                           "1: the vectorised loop computes the same, except for the order of "
                           "sums; 0: obstacles have to be removed first.",
                       .formula = "0 with calls, several paths, x87, or recurrences other than "
                                  "sums and products",
                       .better = AS_BETTER_HIGHER,
                       .title = i ? "Vectorisable completely" : "Arithmetic is vectorisable",
                       .topic = "cqa"},
            .origin = AS_ORIGIN_DERIVED,
            .digits = 0};
    out[WEIGHT_AT] = (struct as_set_metric){
        .metric = {.name = "cqa_weight_pct",
                   .unit = "%",
                   .meaning = "Share of the iterations on this path: the weight of the path in "
                              "means.",
                   .formula =
                       "maximum likelihood from the samples of its blocks, with the mean modelled "
                       "time per instruction of its path; below 30 samples by the heuristics of "
                       "doc/internals/cqa.md",
                   .better = AS_BETTER_NEITHER,
                   .title = "Iterations",
                   .topic = "cqa"},
        .origin = AS_ORIGIN_MODELLED,
        .digits = DIGITS};
    out[BEST_AT] = (struct as_set_metric){
        .metric = {.name = "cqa_best_x",
                   .unit = "x",
                   .meaning =
                       "Speed-up of the best possible variant: clean, vectorised, or without the "
                       "recurrence. An upper bound, because data is assumed in L1.",
                   .formula = "the largest sound one of these; 1 if none gains 5 %",
                   .better = AS_BETTER_LOWER,
                   .title = "Largest possible gain",
                   .topic = "cqa"},
        .origin = AS_ORIGIN_MODELLED,
        .digits = DIGITS};
    out[PROMISE_AT] = (struct as_set_metric){
        .metric = {.name = "cqa_promise_cy",
                   .unit = "cy",
                   .meaning = "Order of loops without measured time: cycles that the best variant "
                              "would save per call of the function.",
                   .formula = "(cycles - cycles of the best variant) * iterations: 10 for the "
                              "loop and up to two outer loops if the code has no constant; 1 for "
                              "remainder loops and loops with calls",
                   .better = AS_BETTER_LOWER,
                   .title = "Cycles to gain",
                   .topic = "cqa"},
        .origin = AS_ORIGIN_MODELLED,
        .digits = DIGITS};
}

int as_cqa_writer_open(struct as_experiment *experiment, int64_t run_id, struct as_cqa_writer *out,
                       struct as_error *err)
{
    /* Each writer writes the same text; the experiment's lock guards it. */
    static char name[CQA_COLUMNS][NAME_B];
    struct as_set_metric column[CQA_COLUMNS];

    *out = (struct as_cqa_writer){.experiment = experiment, .run_id = run_id};
    describe_columns(name, column);
    return as_metric_set_open(experiment, "cqa", AS_OBJECT_LOOP, AS_QUALITY_PASS, column,
                              CQA_COLUMNS, &out->set, err);
}

void as_cqa_writer_close(struct as_cqa_writer *writer)
{
    as_metric_set_close(&writer->set);
}

/* Returns true if a column with DIGITS decimals can hold the value. Iterations of endless loops are
 * larger. */
static bool has_room(double value)
{
    return fabs(value) <= VALUE_MOST; /* false for NAN */
}

static void fill_columns(const double *value, struct as_bounded_value *out)
{
    for (size_t i = 0; i < AS_CQA_METRICS; i++)
        if (has_room(value[i]))
            out[i] = is_modelled(as_cqa_metric(i))
                         ? as_value_modelled(value[i], value[i], value[i])
                         : as_value_derived(value[i], value[i], value[i], 1);
}

static void fill_gains(const struct as_cqa_kept *kept, struct as_bounded_value *out)
{
    for (unsigned v = 0; v < AS_CQA_VARIANTS; v++) {
        const struct as_cqa_what_if *it = &kept->what_if[v];
        const double x = it->speedup;

        if (it->applies && x > 0)
            out[AS_CQA_METRICS + v] = as_value_modelled(x, x < 1 ? x : 1, x);
    }
    out[BEST_AT] = as_value_modelled(kept->best_x, kept->best_x, kept->best_x);
    for (unsigned i = 0; i < DOUBTFUL; i++) {
        const struct as_cqa_what_if *it = &kept->what_if[doubtful[i]];

        if (it->applies)
            out[SOUND_AT + i] = as_value_derived(it->sound, it->sound, it->sound, 1);
    }
}

/* ---- The page of the loop ------------------------------------------------------------------ */

static int write_page(const struct as_cqa_writer *w, int64_t loop_id,
                      const struct as_cqa_kept *kept, struct as_error *err)
{
    static const char *const column[] = {"With other code", "Cycles", "Speed-up", "Then limited by",
                                         "Computes the same"};
    enum { SAID_OF_ONE = sizeof column / sizeof *column };
    const struct as_subject loop = {.kind = AS_OBJECT_LOOP, .object_id = loop_id};
    struct as_sql_cell cell[AS_CQA_VARIANTS * SAID_OF_ONE];
    size_t rows = 0;

    for (unsigned v = 0; v < AS_CQA_VARIANTS; v++) {
        const struct as_cqa_what_if *it = &kept->what_if[v];
        const bool vectors = v == AS_CQA_FP_VECTOR || v == AS_CQA_VECTOR;

        if (!it->applies)
            continue;
        struct as_sql_cell *at = &cell[rows++ * SAID_OF_ONE];
        at[0] = as_sql_cell_text(as_cqa_variant_words((enum as_cqa_variant)v));
        at[1] = as_sql_cell_real(it->cycles);
        at[2] = as_sql_cell_real(it->speedup);
        at[3] = as_sql_cell_text(it->why);
        at[4] = as_sql_cell_text(vectors ? it->sound ? "yes" : "no" : "");
    }
    const struct as_detail detail = {
        .of = loop,
        .name = "what_if",
        .title = "What if",
        .position = 35,
        .text = "Cycles per iteration by a model of the core, with data in L1: upper bounds of "
                "the gains.",
        .column = column,
        .column_n = SAID_OF_ONE,
        .cell = cell,
        .row_n = rows};

    return rows ? as_experiment_detail(w->experiment, &detail, err) : 0;
}

/* Writes the cycles by memory level, as far as the machine was measured. */
static int write_levels(const struct as_cqa_writer *w, int64_t loop_id,
                        const struct as_cqa_kept *kept, struct as_error *err)
{
    static const char *const column[] = {"Data come from", "Cycles", "Times as long",
                                         "Bytes moved per cycle"};
    static const struct {
        const char *words;
        int metric;
    } level[] = {{"first level of the cache", AS_CQA_CYCLES},
                 {"second level", AS_CQA_L2_CY},
                 {"third level", AS_CQA_L3_CY},
                 {"memory", AS_CQA_RAM_CY}};
    enum { SAID_OF_ONE = sizeof column / sizeof *column, LEVELS = sizeof level / sizeof *level };
    const double moved = kept->mean[AS_CQA_MOVED_READ_B] + kept->mean[AS_CQA_MOVED_WRITTEN_B];
    const double first = kept->mean[AS_CQA_CYCLES];
    struct as_sql_cell cell[LEVELS * SAID_OF_ONE];
    size_t rows = 0;

    for (size_t i = 0; i < LEVELS; i++) {
        const double cycles = kept->mean[level[i].metric];

        if (isnan(cycles) || !(cycles > 0))
            continue;
        struct as_sql_cell *at = &cell[rows++ * SAID_OF_ONE];
        at[0] = as_sql_cell_text(level[i].words);
        at[1] = as_sql_cell_real(cycles);
        at[2] = as_sql_cell_real(cycles / first);
        at[3] = i ? as_sql_cell_real(moved / cycles) : as_sql_cell_text("");
    }
    const struct as_detail detail = {
        .of = {.kind = AS_OBJECT_LOOP, .object_id = loop_id},
        .name = "levels",
        .title = "Cycles by memory level",
        .position = 36,
        .text = "Cycles per iteration by the model and by measured bandwidths of one core of this "
                "machine. They are equal if computing takes longer than moving data.",
        .column = column,
        .column_n = SAID_OF_ONE,
        .cell = cell,
        .row_n = rows};

    return rows > 1 ? as_experiment_detail(w->experiment, &detail, err) : 0;
}

int as_cqa_write(struct as_cqa_writer *writer, int64_t loop_id, const struct as_cqa_kept *kept,
                 struct as_error *err)
{
    struct as_subject loop = {
        .kind = AS_OBJECT_LOOP, .object_id = loop_id, .run_id = writer->run_id};
    struct as_bounded_value value[CQA_COLUMNS];

    memset(value, 0, sizeof value);
    fill_columns(kept->mean, value);
    fill_gains(kept, value);
    if (!writer->run_id && has_room(kept->promise_cy)) /* a run has measured times */
        value[PROMISE_AT] = as_value_modelled(kept->promise_cy, kept->promise_cy, kept->promise_cy);
    AS_TRY(as_metric_set_add(writer->set, &loop, 1, value, err));
    for (size_t i = 0; i < kept->path_n; i++) {
        const struct as_row_context of = {.path = as_known((int64_t)i + 1)};

        memset(value, 0, sizeof value);
        fill_columns(kept->path[i], value);
        const double pct = 100 * kept->weight[i];
        value[WEIGHT_AT] = as_value_modelled(pct, pct, pct);
        AS_TRY(as_experiment_add_context(writer->experiment, &of, &loop.context_id, err));
        AS_TRY(as_metric_set_add(writer->set, &loop, 1, value, err));
    }
    AS_TRY(write_page(writer, loop_id, kept, err));
    return write_levels(writer, loop_id, kept, err);
}
