/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Laws of scaling: fitted to a factor by size with least squares, and chosen by cross-validation.
 * Pure functions of numbers; doc/reference/pop.md has the formulas.
 */
#ifndef AS_SCALING_LAW_H
#define AS_SCALING_LAW_H

#include <stdbool.h>
#include <stddef.h>

/* X(NAME, word, formula); P is the size. Equal laws are preferred in this order. */
#define AS_LAWS(X)                                                                                 \
    X(CONSTANT, "constant", "a")                                                                   \
    X(AMDAHL, "Amdahl", "a / (f + (1 - f) P)")                                                     \
    X(PIPELINE, "pipeline", "a P / ((1 - f) + f (2 P - 1))")                                       \
    X(LINEAR, "linear", "a + f P")
#define AS_LAW_ENUM(name, word, formula) AS_LAW_##name,
enum as_law_kind { AS_LAWS(AS_LAW_ENUM) AS_LAWS_N };
#undef AS_LAW_ENUM
const char *as_law_word(enum as_law_kind kind);
const char *as_law_formula(enum as_law_kind kind);

/* as_scaling_model_of refuses more sizes. */
#define AS_LAW_POINTS_MAX 64u

struct as_law {
    enum as_law_kind kind;
    double a, f;     /* f: 0 to 1; any number for a linear law */
    unsigned free_n; /* number of fitted parameters: one if f is at a bound */
    /* variance of points around the law; NAN with as many parameters as points */
    double variance;
    double inverse[3]; /* inverse of the normal matrix: aa, af, ff */
};
/* Fits a law to `n` points; n is 1 to AS_LAW_POINTS_MAX. */
struct as_law as_law_fit(enum as_law_kind kind, const double *size, const double *y, size_t n);
double as_law_at(const struct as_law *law, double size);
/* Returns half of the 95 % prediction interval at a size, or infinity without degrees of
 * freedom. */
double as_law_error_at(const struct as_law *law, double size, size_t n);
/* Returns the root mean square error of predictions of each point from the others. Returns
 * infinity if these are fewer than the parameters. */
double as_law_validate(enum as_law_kind kind, const double *size, const double *y, size_t n);

struct as_law_choice {
    struct as_law law;
    size_t n;
    double size_max;              /* largest size of the points */
    double validation[AS_LAWS_N]; /* result of as_law_validate, by law */
    bool is_possible[AS_LAWS_N];  /* its validation is about as good as the best one */
    struct as_law fitted[AS_LAWS_N];
};
/* Chooses the law with the best predictions of left-out points. With two points it is a
 * constant. */
struct as_law_choice as_law_choose(const double *size, const double *y, size_t n);

struct as_law_range {
    double value, low, high;
    enum as_law_kind used;  /* the chosen law, or the law that replaces a falling line */
    enum as_law_kind rival; /* the most distant possible law; valid if has_rival is true */
    double rival_value;
    bool has_rival; /* another law is about as good, and differs by more than a tenth */
};
/* Predicts the factor at a size. The interval covers the prediction interval and the values of
 * all possible laws. A falling line would reach zero. Beyond twice the largest size the best
 * other law replaces it, and the line counts as another possible law. */
struct as_law_range as_law_predict(const struct as_law_choice *choice, double size);

#endif
