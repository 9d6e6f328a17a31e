/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Laws of scaling, fitted to a factor over sizes by least squares, chosen by cross-validation. Pure
 * functions of numbers; doc/reference/pop.md has the formulas.
 */
#ifndef AS_SCALING_LAW_H
#define AS_SCALING_LAW_H

#include <stdbool.h>
#include <stddef.h>

/* Constant, word, formula; P is the size. In the order in which equal ones are preferred. */
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

/* Sizes beyond are refused by as_scaling_model_of. */
#define AS_LAW_POINTS_MAX 64u

struct as_law {
    enum as_law_kind kind;
    double a, f;       /* f is 0 to 1, of a linear law any number */
    unsigned free_n;   /* parameters that the points decide: one where f is at a bound */
    double variance;   /* of a point around the law; NAN: as many parameters as points */
    double inverse[3]; /* of the normal matrix: aa, af, ff */
};
/* Fits a law to `n` points, n >= 1 and at most AS_LAW_POINTS_MAX. */
struct as_law as_law_fit(enum as_law_kind kind, const double *size, const double *y, size_t n);
double as_law_at(const struct as_law *law, double size);
/* Half of the 95 % prediction interval at a size; infinite where no freedom is left. */
double as_law_error_at(const struct as_law *law, double size, size_t n);
/* Root mean square of what each point is off the law that is fitted to the others; infinite where
 * these are fewer than the parameters. */
double as_law_validate(enum as_law_kind kind, const double *size, const double *y, size_t n);

struct as_law_choice {
    struct as_law law;
    size_t n;
    double size_max;              /* of the points */
    double validation[AS_LAWS_N]; /* as_law_validate of each */
    bool is_possible[AS_LAWS_N];  /* about as good as the chosen one */
    struct as_law fitted[AS_LAWS_N];
};
/* Chooses the law that predicts points best that it has not seen. With two points it is a constant.
 */
struct as_law_choice as_law_choose(const double *size, const double *y, size_t n);

struct as_law_range {
    double value, low, high;
    enum as_law_kind used;  /* the law that was chosen, or the one in place of a falling line */
    enum as_law_kind rival; /* the possible law that is farthest off; CONSTANT: see `has_rival` */
    double rival_value;
    bool has_rival; /* another law is about as good, and more than a tenth off */
};
/* A prediction. Its interval has the prediction interval, and the values of other laws that are
 * about as good. A falling line ends at zero: beyond twice the largest size the best other law
 * takes its place, and the line is one of the others. */
struct as_law_range as_law_predict(const struct as_law_choice *choice, double size);

#endif
