/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables behind the figures of a loop, for its page: operand by operand, class by class, way by
 * way.
 */
#include "quality/detail.h"

#include <stdio.h>
#include <string.h>

#include <assay/quality.h>
#include <assay/vector.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

#define ROWS_MOST 400 /* of one table: a page is to be read */

struct sheet {
    struct assay_experiment *experiment;
    const struct assay_program *program;
    uint32_t loop;
    int64_t loop_id;
    AS_VEC(struct assay_cell) cell;
    struct as_arena arena;
    bool failed; /* out of memory */
};

/* ---- Cells --------------------------------------------------------------------------------- */

static void push_cell(struct sheet *s, struct assay_cell cell)
{
    s->failed |= as_vec_push(&s->cell, cell) < 0;
}

static void push_integer(struct sheet *s, int64_t value)
{
    push_cell(s, assay_cell_integer(value));
}

static void push_text(struct sheet *s, const char *z)
{
    const char *copy = as_arena_strndup(&s->arena, z, strlen(z));

    s->failed |= !copy;
    push_cell(s, assay_cell_text(copy ? copy : ""));
}

static void address(struct sheet *s, uint64_t value)
{
    char hex[24];

    snprintf(hex, sizeof hex, "0x%llx", (unsigned long long)value);
    push_text(s, hex);
}

/* A table of the page: its name, title, place on the page, and the text above it. */
struct heading {
    const char *name, *title;
    int position;
    const char *text;
};

/* Writes the rows that were pushed, if there are any. */
static int finish(struct sheet *s, const struct heading *heading, const char *const *column,
                  size_t column_n, struct assay_error *err)
{
    const struct assay_detail detail = {.of = {ASSAY_OBJECT_LOOP, s->loop_id, 0, 0},
                                        .name = heading->name,
                                        .title = heading->title,
                                        .position = heading->position,
                                        .text = heading->text,
                                        .column = column,
                                        .column_n = column_n,
                                        .cell = s->cell.at,
                                        .row_n = s->cell.n / column_n};

    s->cell.n = 0;
    if (s->failed)
        return as_error_nomem(err, "the page of a loop");
    return detail.row_n ? assay_experiment_detail(s->experiment, &detail, err) : 0;
}

/* ---- Memory accesses ----------------------------------------------------------------------- */

static const char *step_word(const struct assay_memory_stream *at)
{
    switch (at->stride) {
    case ASSAY_STRIDE_ZERO:
        return "fixed";
    case ASSAY_STRIDE_UNIT:
        return "without holes";
    case ASSAY_STRIDE_CONSTANT:
        return "with holes";
    case ASSAY_STRIDE_INDIRECT:
        return "by index";
    default:
        return at->steady ? "not in the code, but steady" : "unknown";
    }
}

static const char *access_word(unsigned access)
{
    const bool reads = access & ASSAY_ACCESS_READ, writes = access & ASSAY_ACCESS_WRITE;

    return reads && writes ? "read, write" : writes ? "write" : "read";
}

static void access_row(struct sheet *s, const struct assay_memory_stream *at)
{
    double low, high;

    if (!assay_access_efficiency(at, &low, &high))
        return;
    address(s, s->program->code.insn[at->insn].address);
    push_integer(s, at->array);
    push_text(s, access_word(at->access));
    push_text(s, step_word(at));
    if (at->stride == ASSAY_STRIDE_UNIT || at->stride == ASSAY_STRIDE_CONSTANT)
        push_integer(s, at->stride_b);
    else
        push_cell(s, (struct assay_cell){0});
    push_integer(s, at->width_b);
    if (high > low) /* a bound is no value */
        push_text(s, "not known");
    else
        push_cell(s, assay_cell_real(100 * low));
}

static int write_accesses(struct sheet *s, struct assay_error *err)
{
    static const char *const column[] = {"Instruction", "Array",     "Access",           "Moves",
                                         "Step (B)",    "Width (B)", "Used of lines (%)"};
    static const struct heading heading = {"accesses", "Memory accesses", 20,
                                           "Operands outside the frame of the function. Those of "
                                           "one array share its number."};
    const size_t n = sizeof column / sizeof *column;
    struct assay_streams streams;

    AS_TRY(assay_loop_streams(s->program, s->loop, &streams, err));
    for (size_t i = 0; i < streams.n && s->cell.n < ROWS_MOST * n; i++)
        access_row(s, &streams.at[i]);
    assay_streams_free(&streams);
    return finish(s, &heading, column, n, err);
}

/* ---- Instruction mix ----------------------------------------------------------------------- */

struct mix {
    int64_t n, packed_n, scalar_n;
};

static void count_mix(const struct sheet *s, struct mix *mix)
{
    const struct assay_program *program = s->program;
    const struct assay_loop *loop = &program->loop[s->loop];

    for (uint32_t i = 0; i < loop->blocks; i++) {
        const struct assay_block *block =
            &program->block[program->loop_block[loop->first_block + i]];

        for (uint32_t k = 0; block->loop == s->loop && k < block->insns; k++) {
            const struct assay_form *form =
                assay_form_get(program->code.insn[block->first_insn + k].form);

            mix[form->insn_class].n++;
            mix[form->insn_class].packed_n += (form->traits & ASSAY_TRAIT_PACKED) != 0;
            mix[form->insn_class].scalar_n += (form->traits & ASSAY_TRAIT_SCALAR) != 0;
        }
    }
}

static int write_mix(struct sheet *s, struct assay_error *err)
{
    static const char *const column[] = {"Class", "Instructions", "Packed", "Scalar vector"};
    static const struct heading heading = {
        "mix", "Instruction mix", 30,
        "Instructions of the loop outside inner loops, each counted once."};
    struct mix mix[ASSAY_CLASS_COUNT] = {{0}};
    int64_t most = 0;

    count_mix(s, mix);
    for (unsigned c = 0; c < ASSAY_CLASS_COUNT; c++)
        most = mix[c].n > most ? mix[c].n : most;
    for (int64_t n = most; n > 0; n--) { /* most first; loops are short */
        for (unsigned c = 0; c < ASSAY_CLASS_COUNT; c++) {
            if (mix[c].n != n)
                continue;
            push_text(s, assay_class_name(c));
            push_integer(s, mix[c].n);
            push_integer(s, mix[c].packed_n);
            push_integer(s, mix[c].scalar_n);
        }
    }
    return finish(s, &heading, column, sizeof column / sizeof *column, err);
}

/* ---- Paths --------------------------------------------------------------------------------- */

static void path_row(struct sheet *s, const struct assay_paths *paths, size_t number)
{
    const struct assay_path *path = &paths->path[number];
    int64_t insn_n = 0;
    char blocks[512] = "";
    size_t at = 0;

    for (uint32_t i = 0; i < path->blocks; i++) {
        const struct assay_block *block = &s->program->block[paths->block[path->first + i]];
        const int n = snprintf(blocks + at, sizeof blocks - at, "%s0x%llx", i ? " " : "",
                               (unsigned long long)block->start);

        insn_n += block->insns;
        if (n > 0 && at + (size_t)n < sizeof blocks)
            at += (size_t)n;
        else
            blocks[at] = '\0';
    }
    push_integer(s, (int64_t)number + 1);
    push_integer(s, insn_n);
    push_integer(s, path->blocks);
    push_text(s, blocks);
}

static int write_paths(struct sheet *s, struct assay_error *err)
{
    static const char *const column[] = {"Path", "Instructions", "Blocks", "Through"};
    struct heading heading = {"paths", "Paths", 40, NULL};
    struct assay_paths paths;

    if (s->program->loop[s->loop].paths < 2)
        return 0;
    AS_TRY(assay_loop_paths(s->program, s->loop, ASSAY_PATH_LIMIT, &paths, err));
    heading.text = paths.merged ? "More ways than are listed: all blocks that stand on some way."
                                : "Ways through one iteration, inner loops once.";
    for (size_t i = 0; i < paths.path_n; i++)
        path_row(s, &paths, i);
    assay_paths_free(&paths);
    return finish(s, &heading, column, sizeof column / sizeof *column, err);
}

/* ---- Vectors ------------------------------------------------------------------------------- */

static const char *state_words(const struct assay_vector_verdict *verdict)
{
    switch (verdict->state) {
    case ASSAY_VECTOR_FULL:
        return "It works on whole vectors.";
    case ASSAY_VECTOR_PART:
        return "Part of it works on whole vectors. What its code shows that stands against the "
               "rest:";
    default:
        return "It works on one value at a time. What its code shows that stands against vectors:";
    }
}

static int write_reasons(struct sheet *s, const struct assay_vector_verdict *verdict,
                         struct assay_error *err)
{
    static const char *const column[] = {"Obstacle", "Shown by"};
    const struct heading heading = {"vectors", "Vectors", 10, state_words(verdict)};
    char text[512];

    for (size_t i = 0; i < verdict->reason_n; i++) {
        assay_vector_reason_text(s->program, verdict, &verdict->reason[i], text, sizeof text);
        push_text(s, assay_vector_obstacle_name(verdict->reason[i].obstacle));
        push_text(s, text);
    }
    return finish(s, &heading, column, sizeof column / sizeof *column, err);
}

static int write_vectors(struct sheet *s, struct assay_error *err)
{
    struct assay_vector_verdict verdict;
    int rc;

    AS_TRY(assay_loop_vector_verdict(s->program, s->loop, &verdict, err));
    rc = write_reasons(s, &verdict, err);
    assay_vector_verdict_free(&verdict);
    return rc;
}

int as_quality_details(struct assay_experiment *experiment, int64_t loop_id,
                       const struct assay_program *program, uint32_t loop, struct assay_error *err)
{
    struct sheet s = {
        .experiment = experiment, .program = program, .loop = loop, .loop_id = loop_id};
    int rc;

    as_arena_init(&s.arena);
    rc = write_vectors(&s, err);
    if (rc == 0)
        rc = write_accesses(&s, err);
    if (rc == 0)
        rc = write_mix(&s, err);
    if (rc == 0)
        rc = write_paths(&s, err);
    as_vec_fini(&s.cell);
    as_arena_fini(&s.arena);
    return rc;
}
