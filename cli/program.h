/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The analysed code of one binary, as the verbs on loops need it, and the functions a user chose.
 */
#ifndef AS_CLI_PROGRAM_H
#define AS_CLI_PROGRAM_H

#include "cli.h"
#include "code/code.h"

struct as_chosen {
    struct as_object *object;
    struct as_program *program;
    bool *body; /* per body: chosen by --function, itself or through the one it was outlined from */
    bool plain_names;
};

/* Opens and analyses positional argument `index`; reads --jobs, --paths, --no-demangle and
 * --function. A refused file leaves `object` NULL and returns 0. */
int as_chosen_load(struct as_cli *cli, size_t index, struct as_chosen *out, struct as_error *err);
/* The same of the file `path`. */
int as_chosen_open(struct as_cli *cli, const char *path, struct as_chosen *out,
                   struct as_error *err);
void as_chosen_free(struct as_chosen *chosen);

/* The value of --loop as an index into program->loop. Errors: USAGE (not a loop of the program). */
int as_loop_of_option(const struct as_cli *cli, const struct as_program *program, uint32_t *loop,
                      struct as_error *err);

/* Readable (or linkage) name of a body into `out`. */
void as_chosen_name(const struct as_chosen *chosen, uint32_t body, struct as_str *out);

#endif
