/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a file's loops, and points in its functions. */
#include "planned.h"

#include <stdio.h>
#include <stdlib.h>

#include "isa/form.h"

void die(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", planned_program, what, why);
    exit(125);
}

/* ---- Points ---------------------------------------------------------------------------------- */

enum { PLACES = 48, ACTS = 4, EVERY = 5 };

struct as_patch_points planned_points;

/* Values of all kinds, of places that change from point to point; at some a call. */
static void fill_acts(struct as_patch_act *act, size_t point)
{
    const uint8_t reg = (uint8_t)(point % 16);
    const uint32_t place = (uint32_t)(point % PLACES);
    const struct as_patch_act none = {
        .kind = AS_PATCH_ACT_KEEPS, .place = place, .base = AS_PATCH_NONE, .index = AS_PATCH_NONE};
    for (unsigned i = 0; i < ACTS; i++)
        act[i] = none;
    act[0].reg = reg;
    act[1].source = AS_PATCH_FROM_VECTOR;
    act[1].type = point % 2 ? AS_PATCH_DOUBLE : AS_PATCH_FLOAT;
    act[1].reg = reg;
    act[2].source = AS_PATCH_FROM_MEMORY;
    act[2].base = point % 4 ? 4 : reg; /* the stack, or wherever */
    act[2].type = AS_PATCH_INT;
    act[2].offset = 8 * (int64_t)(point % 9) - 64;
    if (point % 8 == 3)
        act[3] = (struct as_patch_act){.kind = AS_PATCH_ACT_CALLS, .place = place};
}

static bool is_call(const struct as_program *p, uint32_t insn)
{
    return as_form_get(p->code.insn[insn].form)->insn_class == AS_CLASS_CALL;
}

/* Before the first instruction of each block and some more, and behind calls. Blocks are in the
 * order of their bodies: sorted by address afterwards. */
static int by_place(const void *a, const void *b)
{
    const struct as_patch_point *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->behind > y->behind) - (x->behind < y->behind);
}

static void plan_points(struct as_patch_maker *maker, const struct as_program *p, uint32_t every)
{
    struct as_patch_point *point = calloc(2 * p->code.n + 1, sizeof *point);
    struct as_patch_called *called = calloc(1, sizeof *called);
    struct as_error err;
    size_t n = 0, kept = 0;
    for (uint32_t b = 0; b < p->block_n; b++)
        for (uint32_t i = 0; i < p->block[b].insns; i++) {
            const uint32_t insn = p->block[b].first_insn + i;
            if (i % EVERY == 0)
                point[n++].address = p->code.insn[insn].address;
            if (is_call(p, insn))
                point[n++] =
                    (struct as_patch_point){.address = p->code.insn[insn].address, .behind = 1};
        }
    qsort(point, n, sizeof *point, by_place);
    for (size_t i = 0; i < n; i += every)
        point[kept++] = point[i];
    n = kept;
    struct as_patch_act *act = calloc(n * ACTS + 1, sizeof *act);
    for (size_t i = 0; i < n; i++) {
        point[i].first_act = (uint32_t)(i * ACTS);
        point[i].acts = i % 8 == 3 ? ACTS : ACTS - 1;
        fill_acts(act + i * ACTS, i);
    }
    if (as_patch_maker_text(maker, "libc.so.6", &called->library, &err) < 0 ||
        as_patch_maker_text(maker, "labs", &called->function, &err) < 0)
        die("points", err.text);
    called->probe = called->function;
    planned_points = (struct as_patch_points){point, n, act, n * ACTS, called, 1};
}

/* ---- A file ---------------------------------------------------------------------------------- */

static void plan_program(struct as_patch_maker *maker, const struct as_program *program,
                         struct planned_which which, struct planned *out)
{
    bool *wanted = calloc(program->loop_n + 1, sizeof *wanted);
    bool *whole = calloc(program->body_n + 1, sizeof *whole);
    uint8_t *refusal = calloc(program->body_n + 1, sizeof *refusal);
    struct as_patch_verdict *verdict = calloc(program->loop_n + 1, sizeof *verdict);
    const struct as_patch_bodies bodies = {whole, refusal};
    struct as_error err;
    if (which.points && planned_points.point_n == 0)
        plan_points(maker, program, which.points);
    for (size_t l = 0; l < program->loop_n; l++)
        wanted[l] = which.nests || program->loop[l].level == AS_LEVEL_INNERMOST ||
                    program->loop[l].level == AS_LEVEL_SINGLE;
    for (size_t b = 0; b < program->body_n; b++)
        whole[b] = which.bodies && !(program->body[b].bits & AS_BODY_STUB);
    if (as_patch_maker_add_bodies(maker, program, &bodies, wanted, verdict, &err) < 0)
        die("plan", err.text);
    for (size_t b = 0; b < program->body_n; b++)
        out->whole += whole[b] && !refusal[b];
    for (size_t l = 0; l < program->loop_n; l++) {
        out->asked += verdict[l].asked;
        out->refused += verdict[l].asked && verdict[l].refusal;
    }
    free(wanted);
    free(whole);
    free(refusal);
    free(verdict);
}

void plan_loops(struct as_patch_maker *maker, const char *path, struct planned_which which,
                struct planned *out)
{
    const struct as_program_options options = {.jobs = 1, .path_limit = AS_PATH_LIMIT};
    struct planned nobody = {0};
    struct as_program *program = NULL;
    struct as_object *object = NULL;
    struct as_error err;
    if (as_object_open(path, NULL, &object, &err) < 0 ||
        as_program_new(object, &options, &program, &err) < 0)
        die(path, err.text);
    plan_program(maker, program, which, out ? out : &nobody);
    as_program_free(&program);
    as_object_close(&object);
}
