/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a file's loops. */
#include "planned.h"

#include <stdio.h>
#include <stdlib.h>

void die(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", planned_program, what, why);
    exit(125);
}

static void plan_program(struct as_patch_maker *maker, const struct assay_program *program,
                         struct planned_which which, struct planned *out)
{
    bool *wanted = calloc(program->loop_n + 1, sizeof *wanted);
    bool *whole = calloc(program->body_n + 1, sizeof *whole);
    uint8_t *refusal = calloc(program->body_n + 1, sizeof *refusal);
    struct as_patch_verdict *verdict = calloc(program->loop_n + 1, sizeof *verdict);
    const struct as_patch_bodies bodies = {whole, refusal};
    struct assay_error err;
    for (size_t l = 0; l < program->loop_n; l++)
        wanted[l] = which.nests || program->loop[l].level == ASSAY_LEVEL_INNERMOST ||
                    program->loop[l].level == ASSAY_LEVEL_SINGLE;
    for (size_t b = 0; b < program->body_n; b++)
        whole[b] = which.bodies && !(program->body[b].bits & ASSAY_BODY_STUB);
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
    const struct assay_program_options options = {.jobs = 1, .path_limit = ASSAY_PATH_LIMIT};
    struct planned nobody = {0};
    struct assay_program *program = NULL;
    struct assay_object *object = NULL;
    struct assay_error err;
    if (assay_object_open(path, NULL, &object, &err) < 0 ||
        assay_program_new(object, &options, &program, &err) < 0)
        die(path, err.text);
    plan_program(maker, program, which, out ? out : &nobody);
    assay_program_free(&program);
    assay_object_close(&object);
}
