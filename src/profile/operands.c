/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the operands of sampled instructions tell of loops: how much memory a loop ranges over at
 * least, walking or by indices, and how fast it walks. The recording has it by instruction
 * (sample/operands.c), the code says how the operand of an instruction moves; of the instructions
 * of a loop the one that proves most counts.
 */
#include <math.h>
#include <stdlib.h>

#include "profile/attribute.h"

enum { WALK_REACH, INDEX_REACH, WALK_PACE, OPERAND_METRICS };

struct reach_of_loop {
    int64_t loop_id, n;
    double value[OPERAND_METRICS];
};

static const struct as_metric operand_metric[OPERAND_METRICS] = {
    [WALK_REACH] = {.name = "operand_walk_b",
                    .unit = "b",
                    .title = "Walk covers, at least",
                    .meaning = "Least range of the sampled addresses of an operand that walks "
                               "through memory, without repeated ranges.",
                    .formula =
                        "64 KiB * pairs of addresses / (most pairs in one 64 KiB that chance "
                        "explains); at most from the lowest address to the highest",
                    .topic = "memory",
                    .position = 60},
    [INDEX_REACH] = {.name = "operand_index_b",
                     .unit = "b",
                     .title = "Indirect access covers, at least",
                     .meaning =
                         "The same for an operand with indirect access, or with varying strides in "
                         "both directions.",
                     .formula = "as for walks",
                     .topic = "memory",
                     .position = 61},
    [WALK_PACE] = {.name = "operand_pace_b_s",
                   .unit = "b/s",
                   .title = "Pace through memory",
                   .meaning = "Speed of the address of an operand that walks: distance between "
                              "two samples over their time.",
                   .formula = "median over pairs of samples of one thread, at most three samples "
                              "apart",
                   .topic = "memory",
                   .position = 62}};

/* ---- Reading -------------------------------------------------------------------------------- */

/* The numbers of `text`, separated by blanks; false unless there are `n` and no more. */
static bool read_numbers(const char *text, double *number, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *end;

        number[i] = strtod(text, &end);
        if (end == text || !(fabs(number[i]) < 0x1p62))
            return false;
        text = end;
    }
    return *text == 0;
}

int as_operand_read(const char *text, struct as_tally_operand *out)
{
    char *end;
    double number[6];

    *out = (struct as_tally_operand){0};
    out->place.module = (uint32_t)strtoul(text, &end, 10);
    out->place.address = strtoull(end, &end, 10);
    if (!read_numbers(end, number, sizeof number / sizeof *number) || number[1] < 0 ||
        number[2] < 0 || number[4] < 0 || fabs(number[0]) > 128)
        return -1;
    out->later_b = (int)number[0];
    out->n = (uint64_t)fmin(number[1], 0x1p48);
    out->reach_b = number[2];
    out->far = number[3];
    out->pace_b_s = number[4];
    out->forward = number[5];
    return 0;
}

/* ---- What the code says --------------------------------------------------------------------- */

static bool is_known_step(enum as_stride stride)
{
    return stride == AS_STRIDE_UNIT || stride == AS_STRIDE_CONSTANT;
}

/* Samples see as many moves back as forward. */
static bool goes_both_ways(const struct as_tally_operand *operand)
{
    return operand->forward > 0.35 && operand->forward < 0.65;
}

/* A walk through one record that an index names is an indirect access, wherever it steps within. */
static int entered_by_index(const struct as_program *program, uint32_t loop,
                            const struct as_memory_stream *stream, enum as_stride *out,
                            struct as_error *err)
{
    int64_t size_b;

    AS_TRY(as_loop_record_size(program, loop, stream, &size_b, err));
    if (size_b > llabs(stream->stride_b))
        *out = AS_STRIDE_INDIRECT;
    return 0;
}

/* How the operand at `address` in a loop moves; ZERO where there is none. */
static int stride_at(const struct as_program *program, uint32_t loop, uint64_t address,
                     const struct as_tally_operand *operand, enum as_stride *out,
                     struct as_error *err)
{
    const struct as_memory_stream *stream = NULL;
    struct as_streams streams;
    int rc = 0;

    *out = AS_STRIDE_ZERO;
    AS_TRY(as_loop_streams(program, loop, &streams, err));
    for (size_t i = 0; i < streams.n; i++)
        if (program->code.insn[streams.at[i].insn].address == address && !streams.at[i].stack)
            stream = &streams.at[i];
    if (stream)
        *out = stream->steady ? AS_STRIDE_CONSTANT : (enum as_stride)stream->stride;
    if (is_known_step(*out) && goes_both_ways(operand))
        rc = entered_by_index(program, loop, stream, out, err);
    as_streams_free(&streams);
    return rc;
}

/* Half of the addresses and more must be far apart: else the loop touches such memory now and then.
 */
static void set_operand_reach(struct reach_of_loop *it, const struct as_tally_operand *operand,
                              enum as_stride stride)
{
    const bool walks = is_known_step(stride);

    it->n = (int64_t)operand->n;
    /* Indices that come in order make a walk, which processors foresee. */
    if (operand->far >= 0.5 && stride != AS_STRIDE_ZERO && (walks || goes_both_ways(operand)))
        it->value[walks ? WALK_REACH : INDEX_REACH] = operand->reach_b;
    if (walks)
        it->value[WALK_PACE] = operand->pace_b_s;
}

static int look_at_operand(const struct as_catalogue_module *module,
                           const struct as_tally_operand *operand, struct reach_of_loop *it,
                           struct as_error *err)
{
    struct as_catalogue_place place, other;
    enum as_stride stride;
    uint64_t address, at;

    if (!module->program || !as_catalogue_address(module, operand->place.address, &address))
        return 0;
    at = address + (uint64_t)(int64_t)operand->later_b;
    as_catalogue_find(module, address, &place);
    as_catalogue_find(module, at, &other);
    if (place.loop == AS_NONE || place.block != other.block)
        return 0; /* another way may lead from one to the other */
    AS_TRY(stride_at(module->program, place.loop, at, operand, &stride, err));
    set_operand_reach(it, operand, stride);
    return 0;
}

/* ---- Loops ---------------------------------------------------------------------------------- */

static int compare_loops(const void *a, const void *b)
{
    const struct reach_of_loop *x = a, *y = b;

    return (x->loop_id > y->loop_id) - (x->loop_id < y->loop_id);
}

typedef AS_VEC(struct reach_of_loop) loop_list;

/* Operands [from, to) are of one module. */
static int look_at_module(struct as_attribution *all, size_t from, size_t to, loop_list *loop,
                          struct as_error *err)
{
    const struct as_tally_operand *at = all->tally.operand.at;
    struct as_catalogue_module *module;
    int rc = 0;

    AS_TRY(as_catalogue_open_row(all->catalogue, all->module[at[from].place.module].id, 1,
                                 AS_CATALOGUE_ANALYSED, &module, err));
    for (size_t i = from; i < to && rc == 0; i++) {
        struct reach_of_loop it = {0};

        it.loop_id = at[i].place.loop_id;
        if (!it.loop_id)
            continue;
        rc = look_at_operand(module, &at[i], &it, err);
        if (rc == 0 && as_vec_push(loop, it) < 0)
            rc = as_error_nomem(err, "the operands of a run");
    }
    as_catalogue_close(all->catalogue, &module);
    return rc;
}

static int store_loop(struct as_attribution *all, const int64_t *metric,
                      const struct reach_of_loop *it, struct as_error *err)
{
    const struct as_subject loop = {
        .kind = AS_OBJECT_LOOP, .object_id = it->loop_id, .run_id = all->run_id};

    for (int m = 0; m < OPERAND_METRICS; m++) {
        const double value = it->value[m], low = m == WALK_PACE ? 0 : value;

        if (value > 0)
            AS_TRY(as_experiment_value(all->experiment, metric[m], &loop,
                                       as_value_derived(value, low, INFINITY, it->n), err));
    }
    return 0;
}

static int store_loops(struct as_attribution *all, struct reach_of_loop *loop, size_t n,
                       struct as_error *err)
{
    int64_t metric[OPERAND_METRICS];
    size_t last = 0;

    for (int m = 0; m < OPERAND_METRICS; m++)
        AS_TRY(as_experiment_metric(all->experiment, &operand_metric[m], &metric[m], err));
    qsort(loop, n, sizeof *loop, compare_loops);
    for (size_t i = 1; i < n; i++) {
        if (loop[i].loop_id != loop[last].loop_id) {
            AS_TRY(store_loop(all, metric, &loop[last], err));
            last = i;
            continue;
        }
        loop[last].n += loop[i].n;
        for (int m = 0; m < OPERAND_METRICS; m++)
            loop[last].value[m] = fmax(loop[last].value[m], loop[i].value[m]);
    }
    return store_loop(all, metric, &loop[last], err);
}

int as_attribute_operands(struct as_attribution *all, struct as_error *err)
{
    const size_t n = all->tally.operand.n;
    loop_list loop = {0};
    int rc = 0;

    for (size_t from = 0, to; from < n && rc == 0; from = to) {
        const uint32_t module = all->tally.operand.at[from].place.module;

        to = as_places_end(all->tally.operand.at, n, sizeof *all->tally.operand.at, from);
        if (all->module[module].id)
            rc = look_at_module(all, from, to, &loop, err);
    }
    if (rc == 0 && loop.n)
        rc = store_loops(all, loop.at, loop.n, err);
    as_vec_fini(&loop);
    return rc;
}
