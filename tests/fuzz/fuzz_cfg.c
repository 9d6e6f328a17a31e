/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: the bytes are a configuration of Paraver. It is refused with one sentence, or it is
 * read: then what is written of it reads the same, and it evaluates a small trace.
 */
#include "fuzz.h"

#include <string.h>

#include "semantic/evaluate.h"

#define LINES_N 12

bool fuzz_taken;

static int count_piece(void *context, uint32_t time_line, uint32_t object, int64_t begin_ns,
                       int64_t end_ns, struct as_quantity value)
{
    (void)time_line, (void)object, (void)value;
    FUZZ_CHECK(begin_ns <= end_ns);
    ++*(size_t *)context;
    return 0;
}

static void fill_line(struct as_semantic_line *line, unsigned at)
{
    *line = (struct as_semantic_line){.ns = at * 5,
                                      .number = at,
                                      .kind = (enum as_line_kind)(at % 3),
                                      .thread = at % 2,
                                      .cpu = 1};
    if (line->kind == AS_LINE_STATE) {
        line->state.value = at % 4;
        line->state.end_ns = line->ns + at;
    } else if (line->kind == AS_LINE_EVENT) {
        line->event.type = 50000001;
        line->event.value = at % 5 ? INT64_MAX - at : 0;
    } else {
        line->message = (struct as_semantic_message){.sender = 0,
                                                     .receiver = 1,
                                                     .sender_cpu = 1,
                                                     .logical_send_ns = line->ns + 2,
                                                     .physical_send_ns = line->ns + 2,
                                                     .logical_receive_ns = line->ns,
                                                     .physical_receive_ns = line->ns + at,
                                                     .size_b = 1 << at};
    }
}

static int give_lines(struct as_evaluator *evaluation)
{
    for (unsigned i = 0; i < LINES_N; i++) {
        struct as_semantic_line line;
        fill_line(&line, i);
        FUZZ_CHECK(as_evaluator_add_line(evaluation, &line) == 0);
    }
    return 0;
}

static int evaluate_all(struct as_evaluator *evaluation, const struct as_configuration *c,
                        struct as_error *err)
{
    bool is_needed;
    int rc = as_evaluator_add(evaluation, c, err);
    while (rc == 0 && (rc = as_evaluator_begin_pass(evaluation, &is_needed, err)) == 0 &&
           is_needed) {
        FUZZ_CHECK(give_lines(evaluation) == 0);
        rc = as_evaluator_end_pass(evaluation, 100, err);
    }
    return rc;
}

static void check_evaluation(const struct as_configuration *c)
{
    struct as_machine_objects objects = {0};
    struct as_evaluator *evaluation = NULL;
    struct as_error err = {0};
    size_t pieces_n = 0, n;
    const struct as_evaluator_options options = {
        .to_ns = INT64_MAX, .on_piece = count_piece, .context = &pieces_n};
    static const enum as_object_level levels[] = {
        AS_OBJECT_LEVEL_WORKLOAD, AS_OBJECT_LEVEL_APPLICATION, AS_OBJECT_LEVEL_TASK,
        AS_OBJECT_LEVEL_THREAD,   AS_OBJECT_LEVEL_THREAD,      AS_OBJECT_LEVEL_SYSTEM,
        AS_OBJECT_LEVEL_NODE,     AS_OBJECT_LEVEL_CPU};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        FUZZ_CHECK(as_objects_add(&objects, levels[i]) == 0);
    FUZZ_CHECK(as_vec_push(&objects.node_of_task, 0) == 0);
    FUZZ_CHECK(as_evaluator_new(&objects, &options, &evaluation) == 0);
    const int rc = evaluate_all(evaluation, c, &err);
    if (rc < 0)
        fuzz_check_error(rc, &err);
    const struct as_histogram_result *table = as_evaluator_tables(evaluation, &n);
    for (size_t i = 0; rc == 0 && i < n; i++)
        as_vec_foreach (&table[i].cell, cell) {
            FUZZ_CHECK(cell->column >= 0 && cell->column < table[i].columns.columns_n);
            as_histogram_cell_value(evaluation, &table[i], cell);
        }
    as_evaluator_free(&evaluation);
    as_objects_fini(&objects);
}

/* Read, written, read and written: the two texts are one. */
static void check_written(const struct as_configuration *c)
{
    struct as_configuration again;
    struct as_str first = {0}, second = {0};
    struct as_error err = {0};
    FUZZ_CHECK(as_cfg_write(c, &first, &err) == 0);
    FUZZ_CHECK(as_cfg_read((struct as_view){first.p, first.n}, "again", &again, &err) == 0);
    FUZZ_CHECK(as_cfg_write(&again, &second, &err) == 0);
    FUZZ_CHECK(first.n == second.n && memcmp(as_str_z(&first), as_str_z(&second), first.n) == 0);
    FUZZ_CHECK(again.window.n == c->window.n && again.table.n == c->table.n);
    as_configuration_fini(&again);
    as_str_fini(&first);
    as_str_fini(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    struct as_configuration c;
    struct as_error err = {0};
    const int rc = as_cfg_read((struct as_view){(const char *)bytes, size_b}, "input", &c, &err);
    if (rc < 0) {
        fuzz_check_error(rc, &err);
        return 0;
    }
    fuzz_taken = true;
    check_written(&c);
    if (c.window.n + c.table.n <= 16) /* windows of windows cost the fuzzer its time */
        check_evaluation(&c);
    as_configuration_fini(&c);
    return 0;
}
