/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the output of a program with earlier output: word by word, and numbers as numbers. Parts
 * that differ between unchanged runs (times, dates, addresses) are left out.
 */
#ifndef AS_TRIAL_OUTPUT_H
#define AS_TRIAL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <assay/error.h>

#include "base/str.h"
#include "base/vec.h"

struct as_word {
    uint32_t at, n; /* in the text */
    uint32_t line;
    bool is_number, varies;
};

typedef AS_VEC(struct as_word) as_word_list;

/* Output of the unchanged program. */
struct as_output_model {
    struct as_str text;
    as_word_list word;
    unsigned run_n;
    bool is_wild; /* its runs have other lines or words: nothing can be compared */
    size_t varying_n;
};

struct as_output_difference {
    int digit;       /* of the number that differs most, the first that does; from 1 */
    bool is_known;   /* false: nothing could be compared */
    bool differs;    /* by words, or numbers beyond the tolerance */
    double relative; /* largest of numbers; 0: all are the same */
    uint32_t line;   /* of that, or of the first words that differ; from 1 */
    char text[200];  /* "line 4: 1.0000003 instead of 1.0000000"; "" where all is the same */
};

void as_output_model_fini(struct as_output_model *model);
/* Adds the output of an unchanged run. Errors: NOMEM. */
int as_output_learn(struct as_output_model *model, const char *text, size_t n);
/* Compares the output of a variant. `tolerance` is relative. Errors: NOMEM. */
int as_output_compare(const struct as_output_model *model, const char *text, size_t n,
                      double tolerance, struct as_output_difference *out);

/* "the same", "differ in the 9th digit", "differ: line 4: ...". */
void as_output_describe(const struct as_output_difference *it, char *text, size_t size_b);

#endif
