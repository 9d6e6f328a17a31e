/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes tables for the page of a loop: memory accesses, instruction classes, paths and vectors.
 */
#include "quality/detail.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "quality/panel.h"
#include "quality/quality.h"
#include "quality/vector.h"

#define ROWS_MOST 400 /* max rows of a table, to keep pages readable */

struct loop_page {
    struct as_panel panel;
    const struct as_program *program;
    uint32_t loop;
};

/* ---- Memory accesses ----------------------------------------------------------------------- */

static const char *step_word(const struct as_memory_stream *at)
{
    switch (at->stride) {
    case AS_STRIDE_ZERO:
        return "fixed";
    case AS_STRIDE_UNIT:
        return "without holes";
    case AS_STRIDE_CONSTANT:
        return "with holes";
    case AS_STRIDE_INDIRECT:
        return "by index";
    default:
        return at->steady ? "unknown, but constant" : "unknown";
    }
}

static const char *access_word(unsigned access)
{
    const bool reads = access & AS_ACCESS_READ, writes = access & AS_ACCESS_WRITE;

    return reads && writes ? "read, write" : writes ? "write" : "read";
}

static void access_row(struct loop_page *p, const struct as_memory_stream *at)
{
    double low, high;

    if (!as_access_efficiency(p->program, at, &low, &high))
        return;
    as_panel_address(&p->panel, p->program->code.insn[at->insn].address);
    as_panel_integer(&p->panel, at->array);
    as_panel_text(&p->panel, access_word(at->access));
    as_panel_text(&p->panel, step_word(at));
    if (at->stride == AS_STRIDE_UNIT || at->stride == AS_STRIDE_CONSTANT)
        as_panel_integer(&p->panel, at->stride_b);
    else
        as_panel_cell(&p->panel, (struct as_sql_cell){0});
    as_panel_integer(&p->panel, at->width_b);
    if (high > low) /* a bound is not a value */
        as_panel_text(&p->panel, "not known");
    else
        as_panel_real(&p->panel, 100 * low);
}

static int write_accesses(struct loop_page *p, struct as_error *err)
{
    static const char *const column[] = {"Instruction", "Array",     "Access",           "Moves",
                                         "Step (B)",    "Width (B)", "Used of lines (%)"};
    enum { ACCESS_COLUMNS = sizeof column / sizeof *column };
    static const struct as_heading heading = {
        "accesses", "Memory accesses",
        20,         "Operands outside the stack frame. Operands of one array have the same number.",
        column,     ACCESS_COLUMNS};
    struct as_streams streams;

    AS_TRY(as_loop_streams(p->program, p->loop, &streams, err));
    for (size_t i = 0; i < streams.n && p->panel.cell.n < ROWS_MOST * ACCESS_COLUMNS; i++)
        access_row(p, &streams.at[i]);
    as_streams_free(&streams);
    return as_panel_write(&p->panel, &heading, err);
}

/* ---- Instruction mix ----------------------------------------------------------------------- */

struct mix {
    int64_t n, packed_n, scalar_n;
};

static void count_mix(const struct loop_page *p, struct mix *mix)
{
    const struct as_program *program = p->program;
    const struct as_loop *loop = &program->loop[p->loop];

    for (uint32_t i = 0; i < loop->blocks; i++) {
        const struct as_block *block = &program->block[program->loop_block[loop->first_block + i]];

        for (uint32_t k = 0; block->loop == p->loop && k < block->insns; k++) {
            const struct as_form *form =
                as_form_get(program->code.insn[block->first_insn + k].form);

            mix[form->insn_class].n++;
            mix[form->insn_class].packed_n += (form->traits & AS_TRAIT_PACKED) != 0;
            mix[form->insn_class].scalar_n += (form->traits & AS_TRAIT_SCALAR) != 0;
        }
    }
}

static int write_mix(struct loop_page *p, struct as_error *err)
{
    static const char *const column[] = {"Class", "Instructions", "Packed", "Scalar vector"};
    static const struct as_heading heading = {
        "mix",  "Instruction mix",
        30,     "Instructions of the loop outside inner loops, each counted once.",
        column, sizeof column / sizeof *column};
    struct mix mix[AS_CLASS_COUNT] = {{0}};
    int64_t most = 0;

    count_mix(p, mix);
    for (unsigned c = 0; c < AS_CLASS_COUNT; c++)
        most = mix[c].n > most ? mix[c].n : most;
    for (int64_t n = most; n > 0; n--) { /* in descending order; loops are short */
        for (unsigned c = 0; c < AS_CLASS_COUNT; c++) {
            if (mix[c].n != n)
                continue;
            as_panel_text(&p->panel, as_class_name(c));
            as_panel_integer(&p->panel, mix[c].n);
            as_panel_integer(&p->panel, mix[c].packed_n);
            as_panel_integer(&p->panel, mix[c].scalar_n);
        }
    }
    return as_panel_write(&p->panel, &heading, err);
}

/* ---- Paths --------------------------------------------------------------------------------- */

static void path_row(struct loop_page *p, const struct as_paths *paths, size_t number)
{
    const struct as_path *path = &paths->path[number];
    int64_t insn_n = 0;
    char blocks[512] = "";
    size_t at = 0;

    for (uint32_t i = 0; i < path->blocks; i++) {
        const struct as_block *block = &p->program->block[paths->block[path->first + i]];
        const int n = snprintf(blocks + at, sizeof blocks - at, "%s0x%llx", i ? " " : "",
                               (unsigned long long)block->start);

        insn_n += block->insns;
        if (n > 0 && at + (size_t)n < sizeof blocks)
            at += (size_t)n;
        else
            blocks[at] = '\0';
    }
    as_panel_integer(&p->panel, (int64_t)number + 1);
    as_panel_integer(&p->panel, insn_n);
    as_panel_integer(&p->panel, path->blocks);
    as_panel_text(&p->panel, blocks);
}

static int write_paths(struct loop_page *p, struct as_error *err)
{
    static const char *const column[] = {"Path", "Instructions", "Blocks", "Through"};
    struct as_heading heading = {"paths", "Paths", 40,
                                 NULL,    column,  sizeof column / sizeof *column};
    struct as_paths paths;

    if (p->program->loop[p->loop].paths < 2)
        return 0;
    AS_TRY(as_loop_paths(p->program, p->loop, AS_PATH_LIMIT, &paths, err));
    heading.text = paths.merged ? "More paths than are listed: all blocks on some path."
                                : "Paths through one iteration, with inner loops once.";
    for (size_t i = 0; i < paths.path_n; i++)
        path_row(p, &paths, i);
    as_paths_free(&paths);
    return as_panel_write(&p->panel, &heading, err);
}

/* ---- Vectors ------------------------------------------------------------------------------- */

static const char *state_words(const struct as_vector_verdict *verdict)
{
    switch (verdict->state) {
    case AS_VECTOR_FULL:
        return "It is vectorised.";
    case AS_VECTOR_PART:
        return "It is partly vectorised. Obstacles for the rest:";
    default:
        return "It is scalar. Obstacles to vectorisation:";
    }
}

static int write_reasons(struct loop_page *p, const struct as_vector_verdict *verdict,
                         struct as_error *err)
{
    static const char *const column[] = {"Obstacle", "Shown by"};
    const struct as_heading heading = {
        "vectors", "Vectors", 10, state_words(verdict), column, sizeof column / sizeof *column};
    char text[512];

    for (size_t i = 0; i < verdict->reason_n; i++) {
        as_vector_reason_text(p->program, verdict, &verdict->reason[i], text, sizeof text);
        as_panel_text(&p->panel, as_vector_obstacle_name(verdict->reason[i].obstacle));
        as_panel_text(&p->panel, text);
    }
    return as_panel_write(&p->panel, &heading, err);
}

static int write_vectors(struct loop_page *p, struct as_error *err)
{
    struct as_vector_verdict verdict;
    int rc;

    AS_TRY(as_loop_vector_verdict(p->program, p->loop, &verdict, err));
    rc = write_reasons(p, &verdict, err);
    as_vector_verdict_free(&verdict);
    return rc;
}

int as_quality_details(struct as_experiment *experiment, int64_t loop_id,
                       const struct as_program *program, uint32_t loop, struct as_error *err)
{
    const struct as_subject of = {AS_OBJECT_LOOP, loop_id, 0, 0};
    struct loop_page p = {.program = program, .loop = loop};
    int rc;

    as_panel_init(&p.panel, experiment, &of);
    rc = write_vectors(&p, err);
    if (rc == 0)
        rc = write_accesses(&p, err);
    if (rc == 0)
        rc = write_mix(&p, err);
    if (rc == 0)
        rc = write_paths(&p, err);
    as_panel_fini(&p.panel);
    return rc;
}
