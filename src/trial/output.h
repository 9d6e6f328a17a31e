/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the output of a program with earlier output, word by word, and numbers by value. Parts
 * that differ between unchanged runs (times, dates, addresses) are left out.
 */
#ifndef AS_TRIAL_OUTPUT_H
#define AS_TRIAL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

struct as_word {
    uint32_t at, n; /* offset and length in the text, bytes */
    uint32_t line;
    bool is_number, varies;
};

typedef AS_VEC(struct as_word) as_word_list;

/* Output of the unchanged program. */
struct as_output_model {
    struct as_str text;
    as_word_list word;
    unsigned run_n;
    bool is_wild; /* lines or words differ between unchanged runs, so nothing can be compared */
    size_t varying_n;
};

struct as_output_difference {
    int digit;       /* first differing digit, from 1, of the number that differs most */
    bool is_known;   /* false: nothing could be compared */
    bool differs;    /* words differ, or numbers by more than the tolerance */
    double relative; /* largest relative difference of numbers; 0 = all are equal */
    uint32_t line;   /* line of that number, or of the first differing word; from 1 */
    char text[200];  /* "line 4: 1.0000003 instead of 1.0000000"; "" if equal */
};

void as_output_model_fini(struct as_output_model *model);
/* Adds the output of an unchanged run. Errors: NOMEM. */
int as_output_learn(struct as_output_model *model, const char *text, size_t n);
/* Compares the output of a variant. `tolerance` is relative. Errors: NOMEM. */
int as_output_compare(const struct as_output_model *model, const char *text, size_t n,
                      double tolerance, struct as_output_difference *out);

/* Writes the difference as "the same", "differ in the 9th digit" or "differ: line 4: ...". */
void as_output_describe(const struct as_output_difference *it, char *text, size_t size_b);

#endif
