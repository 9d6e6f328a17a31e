/* SPDX-License-Identifier: Apache-2.0 */
#include "scaling/model.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/stat.h"

/* Work grows with a power of the size. Weak scaling starts at WEAK_GROWTH, strong scaling ends
 * at STRONG_GROWTH. */
#define WEAK_GROWTH   0.75
#define STRONG_GROWTH 0.25
#define SCALING_NONE  ((struct as_scaling_cell){(double)NAN, (double)NAN, (double)NAN})

const char *as_scaling_word(enum as_scaling_factor factor)
{
#define SCALING_WORD(name, word, title, depth, above) word,
    static const char *const words[] = {AS_SCALING_FACTORS(SCALING_WORD)};
#undef SCALING_WORD
    assert((size_t)factor < sizeof words / sizeof *words);
    return words[factor];
}

const char *as_scaling_title(enum as_scaling_factor factor)
{
#define SCALING_TITLE(name, word, title, depth, above) title,
    static const char *const titles[] = {AS_SCALING_FACTORS(SCALING_TITLE)};
#undef SCALING_TITLE
    assert((size_t)factor < sizeof titles / sizeof *titles);
    return titles[factor];
}

unsigned as_scaling_depth(enum as_scaling_factor factor)
{
#define SCALING_DEPTH(name, word, title, depth, above) depth,
    static const unsigned depths[] = {AS_SCALING_FACTORS(SCALING_DEPTH)};
#undef SCALING_DEPTH
    assert((unsigned)factor < sizeof depths / sizeof *depths);
    return depths[factor];
}

static enum as_scaling_factor factor_above(unsigned factor)
{
#define SCALING_ABOVE(name, word, title, depth, above) AS_SCALING_##above,
    static const uint8_t above[] = {AS_SCALING_FACTORS(SCALING_ABOVE)};
#undef SCALING_ABOVE
    assert((unsigned)factor < sizeof above / sizeof *above);
    return above[factor];
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static int compare_sizes(const void *a, const void *b)
{
    const struct as_scaling_point *const *x = a, *const *y = b;
    return ((*x)->thread_n > (*y)->thread_n) - ((*x)->thread_n < (*y)->thread_n);
}

/* Points with the same size. */
struct size_group {
    const struct as_scaling_point *const *point;
    size_t n;
};

static double mean_of(const struct size_group *group,
                      double (*value)(const struct as_scaling_point *))
{
    double sum = 0;
    for (size_t i = 0; i < group->n; i++)
        sum += value(group->point[i]) / (double)group->n;
    return sum;
}

static double useful_of(const struct as_scaling_point *p)
{
    return p->useful_ns;
}

static double elapsed_of(const struct as_scaling_point *p)
{
    return p->elapsed_ns;
}

static double instructions_of(const struct as_scaling_point *p)
{
    return p->instructions;
}

static double cycles_of(const struct as_scaling_point *p)
{
    return p->cycles;
}

/* Means of the smallest size. */
struct scaling_reference {
    double size, useful_ns, elapsed_ns, instructions, cycles;
    bool is_weak;
};

/* ---- Factors of a trace ---------------------------------------------------------------------- */

static double speedup_of(const struct as_scaling_point *p, const struct scaling_reference *ref)
{
    const double grown = ref->is_weak ? (double)p->thread_n / ref->size : 1;
    return ref->elapsed_ns / p->elapsed_ns * grown;
}

static void set_factors(const struct as_scaling_point *p, const struct scaling_reference *ref,
                        double out[static AS_SCALING_FACTORS_N])
{
    const double grown = ref->is_weak ? (double)p->thread_n / ref->size : 1;
    out[AS_SCALING_PARALLEL] = p->parallel;
    out[AS_SCALING_BALANCE] = p->balance;
    out[AS_SCALING_COMMUNICATION] = p->communication;
    out[AS_SCALING_STARTUP] = p->startup;
    out[AS_SCALING_SERIALISATION] = p->serialisation;
    out[AS_SCALING_TRANSFER] = p->transfer;
    out[AS_SCALING_THREADS] = p->threads;
    out[AS_SCALING_COMPUTATION] = ref->useful_ns / p->useful_ns * grown;
    out[AS_SCALING_GLOBAL] = p->parallel * out[AS_SCALING_COMPUTATION];
    out[AS_SCALING_INSTRUCTIONS] = ref->instructions / p->instructions * grown;
    out[AS_SCALING_IPC] = p->instructions / p->cycles / (ref->instructions / ref->cycles);
    out[AS_SCALING_FREQUENCY] = p->cycles / p->useful_ns / (ref->cycles / ref->useful_ns);
}

static struct as_scaling_cell cell_of(const struct as_moments *moments)
{
    struct as_scaling_cell cell = {moments->mean, (double)NAN, (double)NAN};
    if (moments->n >= 2 && !isnan(moments->mean)) {
        const struct as_interval interval = as_moments_interval(moments, AS_STAT_LEVEL);
        cell.low = interval.low;
        cell.high = interval.high;
    }
    return cell;
}

static int add_measured(struct as_scaling_model *model, const struct size_group *group,
                        const struct scaling_reference *ref)
{
    struct as_moments moments[AS_SCALING_FACTORS_N] = {0}, elapsed = {0}, speedup = {0};
    double value[AS_SCALING_FACTORS_N];
    struct as_scaling_row row = {
        .size = group->point[0]->thread_n, .rank_n = group->point[0]->rank_n, .trace_n = group->n};
    for (size_t i = 0; i < group->n; i++) {
        set_factors(group->point[i], ref, value);
        for (unsigned f = 0; f < AS_SCALING_FACTORS_N; f++)
            as_moments_add(&moments[f], value[f]);
        as_moments_add(&elapsed, group->point[i]->elapsed_ns * 1e-9);
        as_moments_add(&speedup, speedup_of(group->point[i], ref));
        model->has_threads |=
            group->point[i]->rank_n > 0 && group->point[i]->thread_n > group->point[i]->rank_n;
    }
    for (unsigned f = 0; f < AS_SCALING_FACTORS_N; f++)
        row.factor[f] = cell_of(&moments[f]);
    row.elapsed_s = cell_of(&elapsed);
    row.speedup = cell_of(&speedup);
    model->measured_n++;
    return as_vec_push(&model->row, row);
}

/* ---- Weak or strong -------------------------------------------------------------------------- */

/* Returns the slope of log(work) over log(size); NAN with one size. */
static double growth_of(const struct size_group *group, size_t n,
                        double (*work)(const struct as_scaling_point *))
{
    double x = 0, y = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        x += log(group[i].point[0]->thread_n) / (double)n;
        y += log(mean_of(&group[i], work)) / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        const double off = log(group[i].point[0]->thread_n) - x;
        xx += off * off;
        xy += off * (log(mean_of(&group[i], work)) - y);
    }
    return xx > 0 ? xy / xx : (double)NAN;
}

static void detect_kind(struct as_scaling_model *model, const struct size_group *group, size_t n,
                        enum as_scaling_kind kind)
{
    model->growth = growth_of(group, n, instructions_of);
    model->has_counters = !isnan(model->growth);
    if (!model->has_counters)
        model->growth = growth_of(group, n, useful_of);
    model->is_given = kind != AS_SCALING_DETECT;
    model->is_weak = model->is_given ? kind == AS_SCALING_WEAK
                                     : model->growth > (WEAK_GROWTH + STRONG_GROWTH) / 2;
    model->is_doubtful =
        !model->is_given && model->growth > STRONG_GROWTH && model->growth < WEAK_GROWTH;
}

/* ---- Projections ----------------------------------------------------------------------------- */

static bool is_known(const struct as_scaling_model *model, unsigned factor)
{
    for (size_t i = 0; i < model->measured_n; i++)
        if (isnan(model->row.at[i].factor[factor].value))
            return false;
    /* If all ranks have one thread, the factor THREADS is only rounding. */
    return factor != AS_SCALING_THREADS || model->has_threads;
}

/* If one child is missing, the product of the others is not the factor. */
bool as_scaling_is_leaf(const struct as_scaling_model *model, enum as_scaling_factor factor)
{
    bool has_below = false, has_all = true;
    for (unsigned below = factor + 1; below < AS_SCALING_FACTORS_N; below++) {
        if (factor_above(below) != factor || (below == AS_SCALING_THREADS && !model->has_threads))
            continue;
        has_below = true;
        has_all &= is_known(model, below);
    }
    return is_known(model, factor) && !(has_below && has_all);
}

static void fit_leaves(struct as_scaling_model *model)
{
    double size[AS_LAW_POINTS_MAX], value[AS_LAW_POINTS_MAX];
    for (unsigned f = 0; f < AS_SCALING_FACTORS_N; f++) {
        if (model->measured_n < AS_SCALING_SIZES_MIN || !as_scaling_is_leaf(model, f))
            continue;
        for (size_t i = 0; i < model->measured_n; i++) {
            size[i] = model->row.at[i].size;
            value[i] = model->row.at[i].factor[f].value;
        }
        model->fit[f] = (struct as_scaling_fit){
            .is_fitted = true, .choice = as_law_choose(size, value, model->measured_n)};
    }
}

/* Returns true for shares of time, which are at most 1; scalability may exceed 1. */
static bool is_share(unsigned factor)
{
    return factor == AS_SCALING_BALANCE || factor == AS_SCALING_COMMUNICATION ||
           factor == AS_SCALING_STARTUP || factor == AS_SCALING_SERIALISATION ||
           factor == AS_SCALING_TRANSFER || factor == AS_SCALING_THREADS;
}

static double bounded_factor(unsigned factor, double value)
{
    return is_share(factor) && value > 1 ? 1 : value < 0 ? 0 : value;
}

static struct as_scaling_cell predict_leaf(struct as_scaling_fit *fit, unsigned factor, double size)
{
    const struct as_law_range range = as_law_predict(&fit->choice, size);
    fit->has_rival = range.has_rival;
    fit->used = range.used;
    fit->rival = range.rival;
    fit->value = range.value;
    fit->rival_value = range.rival_value;
    return (struct as_scaling_cell){bounded_factor(factor, range.value),
                                    bounded_factor(factor, range.low),
                                    bounded_factor(factor, range.high)};
}

/* Returns the product of the known children; their relative errors add up in squares. */
static struct as_scaling_cell product_of(const struct as_scaling_model *model,
                                         const struct as_scaling_row *row, unsigned factor)
{
    struct as_scaling_cell product = {1, 1, 1};
    double low = 0, high = 0;
    for (unsigned below = factor + 1; below < AS_SCALING_FACTORS_N; below++) {
        const struct as_scaling_cell *cell = &row->factor[below];
        if (factor_above(below) != factor || !is_known(model, below))
            continue;
        product.value *= cell->value;
        low += pow(log(cell->value / cell->low), 2);
        high += pow(log(cell->high / cell->value), 2);
    }
    product.low = product.value * exp(-sqrt(low));
    product.high = product.value * exp(sqrt(high));
    if (isnan(product.low))
        product.low = 0;
    return product;
}

static struct as_scaling_cell times(struct as_scaling_cell cell, double factor)
{
    return (struct as_scaling_cell){cell.value * factor, cell.low * factor, cell.high * factor};
}

/* Sets elapsed time and speedup. The elapsed time is useful time / (size x parallel efficiency). */
static void project_times(const struct as_scaling_model *model, struct as_scaling_row *row)
{
    const struct as_scaling_row *first = &model->row.at[0];
    const struct as_scaling_cell *global = &row->factor[AS_SCALING_GLOBAL];
    const double ratio = row->size / first->size;
    const double part = first->factor[AS_SCALING_GLOBAL].value * (model->is_weak ? 1 : 1 / ratio) *
                        first->elapsed_s.value;
    row->speedup = times(*global, ratio / first->factor[AS_SCALING_GLOBAL].value);
    row->elapsed_s =
        (struct as_scaling_cell){part / global->value, part / global->high, part / global->low};
}

static int add_projection(struct as_scaling_model *model, double size)
{
    struct as_scaling_row row = {.size = size};
    for (unsigned f = AS_SCALING_FACTORS_N; f-- > 0;)
        row.factor[f] = !is_known(model, f)       ? SCALING_NONE
                        : model->fit[f].is_fitted ? predict_leaf(&model->fit[f], f, size)
                                                  : product_of(model, &row, f);
    project_times(model, &row);
    return as_vec_push(&model->row, row);
}

/* ---- Model ----------------------------------------------------------------------------------- */

static size_t group_points(const struct as_scaling_point **sorted, size_t n,
                           struct size_group *group)
{
    size_t group_n = 0;
    for (size_t i = 0; i < n; i++) {
        if (group_n == 0 || group[group_n - 1].point[0]->thread_n != sorted[i]->thread_n)
            group[group_n++] = (struct size_group){.point = &sorted[i]};
        group[group_n - 1].n++;
    }
    return group_n;
}

static int model_groups(struct as_scaling_model *model, const struct size_group *group, size_t n,
                        enum as_scaling_kind kind, struct as_error *err)
{
    if (n > AS_LAW_POINTS_MAX)
        return as_error_set(err, AS_ERR_USAGE, "the traces have %zu sizes; use at most %u", n,
                            AS_LAW_POINTS_MAX);
    detect_kind(model, group, n, kind);
    const struct scaling_reference ref = {.size = group->point[0]->thread_n,
                                          .useful_ns = mean_of(group, useful_of),
                                          .elapsed_ns = mean_of(group, elapsed_of),
                                          .instructions = mean_of(group, instructions_of),
                                          .cycles = mean_of(group, cycles_of),
                                          .is_weak = model->is_weak};
    for (size_t i = 0; i < n; i++)
        if (add_measured(model, &group[i], &ref) < 0)
            return as_error_nomem(err, "the sizes");
    fit_leaves(model);
    return 0;
}

int as_scaling_model_of(const struct as_scaling_point *point, size_t point_n,
                        enum as_scaling_kind kind, const double *project, size_t project_n,
                        struct as_scaling_model *out, struct as_error *err)
{
    *out = (struct as_scaling_model){0};
    if (point_n == 0)
        return as_error_set(err, AS_ERR_USAGE, "no trace; use one or more");
    const struct as_scaling_point **sorted = as_calloc(point_n, sizeof *sorted);
    struct size_group *group = as_calloc(point_n, sizeof *group);
    int rc = sorted && group ? 0 : as_error_nomem(err, "the traces");
    if (rc == 0) {
        for (size_t i = 0; i < point_n; i++)
            sorted[i] = &point[i];
        qsort(sorted, point_n, sizeof *sorted, compare_sizes);
        rc = model_groups(out, group, group_points(sorted, point_n, group), kind, err);
    }
    for (size_t i = 0; rc == 0 && out->measured_n >= AS_SCALING_SIZES_MIN && i < project_n; i++)
        if (add_projection(out, project[i]) < 0)
            rc = as_error_nomem(err, "the projections");
    as_free(sorted);
    as_free(group);
    return rc;
}

void as_scaling_model_fini(struct as_scaling_model *model)
{
    as_vec_fini(&model->row);
}
