/* SPDX-License-Identifier: Apache-2.0 */
#include "scaling/law.h"

#include <assert.h>
#include <math.h>

#include "base/stat.h"

#define GRID_STEPS   256
#define GOLDEN_STEPS 60
/* A law is about as good as the best one if its validation is at most this many times larger. */
#define ABOUT_AS_GOOD 2.0
/* Smaller differences of factors are rounding errors. */
#define ROUNDING 1e-9
/* A law within this share of the value agrees with it. */
#define RIVAL_SHARE 0.1

const char *as_law_word(enum as_law_kind kind)
{
#define AS_LAW_WORD(name, word, formula) word,
    static const char *const words[] = {AS_LAWS(AS_LAW_WORD)};
#undef AS_LAW_WORD
    assert((size_t)kind < sizeof words / sizeof *words);
    return words[kind];
}

const char *as_law_formula(enum as_law_kind kind)
{
#define AS_LAW_FORMULA(name, word, formula) formula,
    static const char *const formulas[] = {AS_LAWS(AS_LAW_FORMULA)};
#undef AS_LAW_FORMULA
    assert((size_t)kind < sizeof formulas / sizeof *formulas);
    return formulas[kind];
}

/* Returns the law at a size for a = 1; for a linear law, 1. */
static double shape_of(enum as_law_kind kind, double f, double size)
{
    switch (kind) {
    case AS_LAW_AMDAHL:
        return 1 / (f + (1 - f) * size);
    case AS_LAW_PIPELINE:
        return size / ((1 - f) + f * (2 * size - 1));
    default:
        return 1;
    }
}

double as_law_at(const struct as_law *law, double size)
{
    return law->kind == AS_LAW_LINEAR ? law->a + law->f * size
                                      : law->a * shape_of(law->kind, law->f, size);
}

struct law_points {
    const double *size, *y;
    size_t n;
};

/* Returns the best `a` for an `f`. */
static double scale_of(enum as_law_kind kind, double f, const struct law_points *p)
{
    double gy = 0, gg = 0;
    for (size_t i = 0; i < p->n; i++) {
        const double g = shape_of(kind, f, p->size[i]);
        gy += g * p->y[i];
        gg += g * g;
    }
    return gy / gg;
}

static double squares_of(const struct as_law *law, const struct law_points *p)
{
    double sum = 0;
    for (size_t i = 0; i < p->n; i++) {
        const double off = p->y[i] - as_law_at(law, p->size[i]);
        sum += off * off;
    }
    return sum;
}

static double squares_at(enum as_law_kind kind, double f, const struct law_points *p)
{
    const struct as_law law = {.kind = kind, .a = scale_of(kind, f, p), .f = f};
    return squares_of(&law, p);
}

/* Minimises the squares over f. A grid finds the lowest of several minima; a golden-section
 * search refines it. */
static double best_f(enum as_law_kind kind, const struct law_points *p)
{
    const double golden = (sqrt(5) - 1) / 2;
    int best = 0;
    double lowest = INFINITY;
    for (int i = 0; i <= GRID_STEPS; i++) {
        const double squares = squares_at(kind, (double)i / GRID_STEPS, p);
        if (squares < lowest) {
            lowest = squares;
            best = i;
        }
    }
    double low = fmax(0, (double)(best - 1) / GRID_STEPS);
    double high = fmin(1, (double)(best + 1) / GRID_STEPS);
    for (int i = 0; i < GOLDEN_STEPS; i++) {
        const double span = golden * (high - low);
        if (squares_at(kind, high - span, p) < squares_at(kind, low + span, p))
            high = low + span;
        else
            low = high - span;
    }
    const double middle = (low + high) / 2;
    const double squares = squares_at(kind, middle, p);
    if (squares_at(kind, 0, p) <= squares)
        return 0;
    return squares_at(kind, 1, p) <= squares ? 1 : middle;
}

static void fit_line(struct as_law *law, const struct law_points *p)
{
    double x = 0, y = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < p->n; i++) {
        x += p->size[i] / (double)p->n;
        y += p->y[i] / (double)p->n;
    }
    for (size_t i = 0; i < p->n; i++) {
        xx += (p->size[i] - x) * (p->size[i] - x);
        xy += (p->size[i] - x) * (p->y[i] - y);
    }
    law->f = xx > 0 ? xy / xx : 0;
    law->a = y - law->f * x;
}

/* Sets the derivatives of the law by a and f. */
static void slopes_at(const struct as_law *law, double size, double *by_a, double *by_f)
{
    if (law->kind == AS_LAW_LINEAR) {
        *by_a = 1;
        *by_f = size;
        return;
    }
    const double g = shape_of(law->kind, law->f, size);
    *by_a = g;
    *by_f = law->kind == AS_LAW_AMDAHL     ? law->a * g * g * (size - 1)
            : law->kind == AS_LAW_PIPELINE ? -law->a * g * g * (2 * size - 2) / size
                                           : 0;
    if (law->free_n < 2)
        *by_f = 0;
}

static void set_variance(struct as_law *law, const struct law_points *p)
{
    double aa = 0, af = 0, ff = 0;
    for (size_t i = 0; i < p->n; i++) {
        double by_a, by_f;
        slopes_at(law, p->size[i], &by_a, &by_f);
        aa += by_a * by_a;
        af += by_a * by_f;
        ff += by_f * by_f;
    }
    const double determinant = aa * ff - af * af;
    if (law->free_n == 2 && determinant > 0) {
        law->inverse[0] = ff / determinant;
        law->inverse[1] = -af / determinant;
        law->inverse[2] = aa / determinant;
    } else {
        law->inverse[0] = 1 / aa;
    }
    law->variance =
        p->n > law->free_n ? squares_of(law, p) / (double)(p->n - law->free_n) : (double)NAN;
}

struct as_law as_law_fit(enum as_law_kind kind, const double *size, const double *y, size_t n)
{
    const struct law_points p = {size, y, n};
    struct as_law law = {.kind = kind, .free_n = kind == AS_LAW_CONSTANT ? 1 : 2};
    assert(n >= 1 && n <= AS_LAW_POINTS_MAX);
    if (kind == AS_LAW_LINEAR) {
        fit_line(&law, &p);
    } else {
        law.f = kind == AS_LAW_CONSTANT ? 0 : best_f(kind, &p);
        law.a = scale_of(kind, law.f, &p);
        if (law.f <= 0 || law.f >= 1)
            law.free_n = 1;
    }
    set_variance(&law, &p);
    return law;
}

double as_law_error_at(const struct as_law *law, double size, size_t n)
{
    double by_a, by_f;
    if (n <= law->free_n || isnan(law->variance))
        return INFINITY;
    slopes_at(law, size, &by_a, &by_f);
    const double spread = by_a * by_a * law->inverse[0] + 2 * by_a * by_f * law->inverse[1] +
                          by_f * by_f * law->inverse[2];
    const double t = as_stat_student_quantile(0.5 + AS_STAT_LEVEL / 2, (double)(n - law->free_n));
    return t * sqrt(law->variance * (1 + spread));
}

double as_law_validate(enum as_law_kind kind, const double *size, const double *y, size_t n)
{
    double kept_size[AS_LAW_POINTS_MAX], kept_y[AS_LAW_POINTS_MAX], sum = 0;
    assert(n >= 1 && n <= AS_LAW_POINTS_MAX);
    if (n - 1 < (kind == AS_LAW_CONSTANT ? 1 : 2))
        return INFINITY;
    for (size_t left = 0; left < n; left++) {
        size_t kept_n = 0;
        for (size_t i = 0; i < n; i++)
            if (i != left) {
                kept_size[kept_n] = size[i];
                kept_y[kept_n++] = y[i];
            }
        const struct as_law law = as_law_fit(kind, kept_size, kept_y, kept_n);
        const double off = y[left] - as_law_at(&law, size[left]);
        sum += off * off;
    }
    return sqrt(sum / (double)n);
}

struct as_law_choice as_law_choose(const double *size, const double *y, size_t n)
{
    struct as_law_choice choice = {.n = n};
    for (size_t i = 0; i < n; i++)
        choice.size_max = fmax(choice.size_max, size[i]);
    double lowest = INFINITY;
    for (unsigned kind = 0; kind < AS_LAWS_N; kind++) {
        choice.validation[kind] = as_law_validate(kind, size, y, n);
        choice.fitted[kind] = as_law_fit(kind, size, y, n);
        lowest = fmin(lowest, choice.validation[kind]);
    }
    unsigned best = AS_LAW_CONSTANT;
    while (best + 1 < AS_LAWS_N && choice.validation[best] > lowest + ROUNDING)
        best++;
    if (!isfinite(lowest))
        best = AS_LAW_CONSTANT;
    choice.law = choice.fitted[best];
    for (unsigned kind = 0; kind < AS_LAWS_N; kind++)
        choice.is_possible[kind] = choice.validation[kind] <= ABOUT_AS_GOOD * lowest + ROUNDING;
    return choice;
}

/* Returns the law for predictions at a size. */
static enum as_law_kind law_beyond(const struct as_law_choice *choice, double size)
{
    const bool is_falling = choice->law.kind == AS_LAW_LINEAR && choice->law.f < 0;
    unsigned best = AS_LAW_CONSTANT;
    if (!is_falling || size <= 2 * choice->size_max)
        return choice->law.kind;
    for (unsigned kind = 0; kind < AS_LAW_LINEAR; kind++)
        if (choice->validation[kind] < choice->validation[best])
            best = kind;
    return best;
}

struct as_law_range as_law_predict(const struct as_law_choice *choice, double size)
{
    const enum as_law_kind used = law_beyond(choice, size);
    const double value = as_law_at(&choice->fitted[used], size);
    const double error = as_law_error_at(&choice->fitted[used], size, choice->n);
    struct as_law_range range = {
        .value = value, .low = value - error, .high = value + error, .used = used};
    double farthest = RIVAL_SHARE * fabs(value);
    for (unsigned kind = 0; kind < AS_LAWS_N; kind++) {
        if (!choice->is_possible[kind] || kind == used)
            continue;
        const double other = as_law_at(&choice->fitted[kind], size);
        range.low = fmin(range.low, other);
        range.high = fmax(range.high, other);
        if (fabs(other - value) > farthest) {
            farthest = fabs(other - value);
            range.has_rival = true;
            range.rival = kind;
            range.rival_value = other;
        }
    }
    return range;
}
