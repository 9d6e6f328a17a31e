/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of `assay evaluate`. */
#ifndef AS_CLI_EVALUATE_H
#define AS_CLI_EVALUATE_H

#include <stddef.h>

#include "base/json.h"
#include "cli.h"
#include "exchange/evaluated.h"
#include "exchange/ordered.h"

/* A piece of a time line, on its way to the output. */
struct as_evaluated_piece {
    int64_t place; /* time line and object */
    int64_t begin_ns, end_ns;
    struct as_quantity value;
};
_Static_assert(offsetof(struct as_evaluated_piece, place) == 0, "ordered by its first number");

struct as_evaluating {
    struct as_cli *cli;
    struct as_evaluated trace;
    struct as_evaluator *evaluation;
    AS_VEC(struct as_configuration) configuration;
    struct as_ordered_store *pieces;
    struct as_error *err;
    int64_t from_ns, to_ns;
    char directory[4096];   /* of the files made of an experiment; "": none */
    struct as_out *drawing; /* of evaluate_svg.c */
};

/* ---- evaluate_source.c: the trace, from a file or an experiment ---- */
/* Errors: those of reading it. */
int as_evaluate_open(struct as_evaluating *it, const char *path, struct as_error *err);
void as_evaluate_close(struct as_evaluating *it);
/* Notes lines that were left out. */
void as_evaluate_note_bad(const struct as_evaluating *it);

/* ---- evaluate_text.c, evaluate_data.c ---- */
int as_evaluate_text(struct as_evaluating *it, struct as_error *err);
int as_evaluate_csv(struct as_evaluating *it, struct as_error *err);
int as_evaluate_json(struct as_evaluating *it, struct as_error *err);
/* ---- evaluate_svg.c ---- */
/* Errors: LIMIT (more than 1,048 rows), NOMEM. */
int as_evaluate_svg(struct as_evaluating *it, struct as_error *err);
/* The frame of all JSON, open for more keys. */
void as_evaluate_json_begin(struct as_json *json, struct as_cli *cli, unsigned indent);
/* "Send", "[0..5)" or "7": of a column from 0. */
void as_evaluate_column(const struct as_evaluating *it, const struct as_histogram_result *table,
                        int64_t column, struct as_str *out);
void as_evaluate_plane(const struct as_evaluating *it, const struct as_histogram_result *table,
                       int64_t plane, struct as_str *out);

#endif
