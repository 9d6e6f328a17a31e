/* SPDX-License-Identifier: Apache-2.0 */
/* Buckets of instances, and detection of disturbed instances. */
#include "vprof/buckets.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/sort.h"
#include "base/stat.h"

#define DISTURBED 4.0  /* times the median */
#define RAN_LEAST 0.02 /* minimum share of an instance on the CPU */

static double cost(const struct as_instance *it)
{
    return isnan(it->trips) ? it->ticks : it->ticks / (it->trips > 1 ? it->trips : 1);
}

static int class_of(const struct as_instance *it, enum as_bucket_key key)
{
    const double of = key == AS_BUCKET_ITERATIONS ? it->trips : cost(it) * cost(it);
    return isnan(it->trips) ? INT32_MAX : of < 1 ? -1 : ilogb(of);
}

static int compare_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

static int by_cost(const void *a, const void *b)
{
    const struct as_instance *x = a, *y = b;
    const int order = compare_numbers(cost(x), cost(y));
    return order ? order : (x->begun > y->begun) - (x->begun < y->begun);
}

static int by_iterations(const void *a, const void *b)
{
    const int x = class_of(a, AS_BUCKET_ITERATIONS), y = class_of(b, AS_BUCKET_ITERATIONS);
    return x != y ? compare_numbers(x, y) : by_cost(a, b);
}

static int by_cost_class(const void *a, const void *b)
{
    const int x = class_of(a, AS_BUCKET_COST), y = class_of(b, AS_BUCKET_COST);
    return x != y ? compare_numbers(x, y) : by_cost(a, b);
}

/* ---- Spreads ------------------------------------------------------------------------------- */

/* Sorts the values and returns their statistics. */
static struct as_costs spread_of(double *value, size_t n)
{
    struct as_moments moments = {0};
    struct as_costs out = {0};
    if (n == 0)
        return out;
    as_sort_doubles(value, n);
    for (size_t i = 0; i < n; i++)
        as_moments_add(&moments, value[i]);
    out.least = value[0];
    out.mean = moments.mean;
    out.median = as_median_of_sorted(value, n);
    out.deviation = as_moments_deviation(&moments);
    out.stability = out.least > 0 ? (out.median - out.least) / out.least : 0;
    if (n < 2)
        out.deviation = out.stability = NAN;
    return out;
}

/* Describes a bucket of `n` instances. `room` is work space for `n` numbers. */
static void describe_bucket(const struct as_instance *it, size_t n, double *room,
                            struct as_bucket *out)
{
    double iterations = 0;
    for (size_t i = 0; i < n; i++) {
        room[i] = it[i].ticks;
        iterations += isnan(it[i].trips) ? 0 : it[i].trips;
    }
    out->instance = spread_of(room, n);
    for (size_t i = 0; i < n; i++)
        room[i] = cost(&it[i]);
    out->iteration = spread_of(room, n);
    out->iterations = n ? iterations / (double)n : 0;
    out->n = n;
    out->chosen_n = n < AS_BUCKET_CHOSEN_N ? n : AS_BUCKET_CHOSEN_N;
    for (size_t i = 0; i < out->chosen_n; i++) /* they are sorted by cost */
        out->chosen[i] =
            out->first + (out->chosen_n > 1 ? i * (n - 1) / (out->chosen_n - 1) : n / 2);
}

/* ---- What is disturbed --------------------------------------------------------------------- */

static size_t class_end(const struct as_instance *it, size_t from, size_t n, enum as_bucket_key key)
{
    size_t to = from;
    while (to < n && class_of(&it[to], key) == class_of(&it[from], key))
        to++;
    return to;
}

static int by_iterations_and_ticks(const void *a, const void *b)
{
    const struct as_instance *x = a, *y = b;
    const int p = class_of(x, AS_BUCKET_ITERATIONS), q = class_of(y, AS_BUCKET_ITERATIONS);
    return p != q ? compare_numbers(p, q) : compare_numbers(x->ticks, y->ticks);
}

static bool is_away(const struct as_instance *it)
{
    return it->switched || it->faulted;
}

/* Returns the median ticks of undisturbed instances, or of all if there are none. */
static double median_of_calm(const struct as_instance *it, size_t n, bool *any_calm)
{
    size_t calm = 0, at = 0;
    for (size_t i = 0; i < n; i++)
        calm += !is_away(&it[i]);
    *any_calm = calm > 0;
    if (calm == 0)
        return it[n / 2].ticks;
    for (size_t left = calm / 2; is_away(&it[at]) || left > 0; at++)
        left -= !is_away(&it[at]);
    return it[at].ticks;
}

size_t as_instances_run(struct as_instance *it, size_t n, double tick_ns)
{
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        const double ran = it[i].ticks - it[i].away_ns / tick_ns;
        if (ran < RAN_LEAST * it[i].ticks)
            continue;
        const struct as_instance swap = it[left];
        it[left] = it[i];
        it[left++].ticks = ran;
        if (left - 1 != i)
            it[i] = swap;
    }
    return left;
}

size_t as_instances_clean(struct as_instance *it, size_t n, double overhead, double limit)
{
    size_t left = 0;
    for (size_t i = 0; i < n; i++)
        it[i].ticks = it[i].ticks > overhead ? it[i].ticks - overhead : 0;
    if (n)
        qsort(it, n, sizeof *it, by_iterations_and_ticks);
    for (size_t from = 0, to; from < n; from = to) {
        bool any_calm;
        to = class_end(it, from, n, AS_BUCKET_ITERATIONS);
        const double median = median_of_calm(it + from, to - from, &any_calm);
        for (size_t i = from; i < to; i++) {
            if ((any_calm && is_away(&it[i])) ||
                (it[i].ticks > DISTURBED * median && it[i].ticks > median + limit))
                continue;
            const struct as_instance swap = it[left];
            it[left++] = it[i];
            it[i] = swap;
        }
    }
    return left;
}

/* ---- Two groups of one class --------------------------------------------------------------- */

#define GROUP_LEAST    8
#define GROUP_SHARE    0.05
#define GROUPS_APART   (4.0 / 3) /* times as long, in the mean */
#define GROUPS_SHARPLY 4.0       /* deviations: halves of one even distribution have 3.5 */

struct sums {
    double n, sum, squares, time;
};

static void sums_add(struct sums *to, double cost, double sign)
{
    const double x = log(fmax(cost, 1e-3)); /* 0 where an empty instance takes as long */
    to->n += sign;
    to->sum += sign * x;
    to->squares += sign * x * x;
    to->time += sign * cost;
}

/* Returns n times the variance. */
static double variance_of(const struct sums *of)
{
    return fmax(0, of->squares - of->sum * of->sum / of->n);
}

static bool are_apart(const struct sums *a, const struct sums *b)
{
    const double between = b->sum / b->n - a->sum / a->n;
    const double within = sqrt((variance_of(a) / a->n + variance_of(b) / b->n) / 2);
    const double all = a->n + b->n, time = a->time + b->time;
    return between >= log(GROUPS_APART) && between >= GROUPS_SHARPLY * within &&
           fmin(a->n, b->n) >= GROUP_LEAST &&
           fmin(fmax(a->n / all, a->time / time), fmax(b->n / all, b->time / time)) >= GROUP_SHARE;
}

size_t as_costs_split(const double *cost, size_t n)
{
    struct sums left = {0}, right = {0}, best_left = {0}, best_right = {0};
    double best = INFINITY;
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        sums_add(&right, cost[i], 1);
    for (size_t i = 0; i + 1 < n; i++) {
        sums_add(&left, cost[i], 1);
        sums_add(&right, cost[i], -1);
        const double variance = variance_of(&left) + variance_of(&right);
        if (variance >= best)
            continue;
        best = variance;
        at = i + 1;
        best_left = left;
        best_right = right;
    }
    return at && are_apart(&best_left, &best_right) ? at : 0;
}

/* ---- Buckets ------------------------------------------------------------------------------- */

static double bound_of(int class, enum as_bucket_key key)
{
    return class < 0 ? 0 : key == AS_BUCKET_ITERATIONS ? ldexp(1, class) : sqrt(ldexp(1, class));
}

struct bucketing {
    const struct as_instance *it;
    enum as_bucket_key key;
    double *room;
    double all; /* ticks */
    as_bucket_list *out;
};

/* Makes a bucket of the instances from `from` to `to`, of one class and sorted by cost. */
static int make_bucket(const struct bucketing *m, size_t from, size_t to, bool is_split)
{
    const int class = class_of(&m->it[from], m->key);
    struct as_bucket bucket = {.first = from, .is_split = is_split};
    describe_bucket(m->it + from, to - from, m->room, &bucket);
    bucket.low = bound_of(class, m->key);
    bucket.high = bound_of(class + 1, m->key);
    bucket.cost_low = cost(&m->it[from]);
    bucket.cost_high = cost(&m->it[to - 1]);
    bucket.share = m->all > 0 ? bucket.instance.mean * (double)bucket.n / m->all : 0;
    return as_vec_push(m->out, bucket);
}

/* Makes one bucket of a class, or one for each of its two groups. */
static int make_class(const struct bucketing *m, size_t from, size_t to, bool is_split)
{
    for (size_t i = from; i < to; i++)
        m->room[i - from] = cost(&m->it[i]);
    const size_t at = m->key == AS_BUCKET_ITERATIONS ? as_costs_split(m->room, to - from) : 0;
    if (!at)
        return make_bucket(m, from, to, is_split);
    const int rc = make_class(m, from, from + at, true);
    return rc < 0 ? rc : make_class(m, from + at, to, true);
}

int as_buckets_make(struct as_instance *it, size_t n, enum as_bucket_key key, as_bucket_list *out,
                    struct as_error *err)
{
    struct bucketing m = {
        .it = it, .key = key, .room = as_calloc(n + 1, sizeof(double)), .out = out};
    int rc = m.room ? 0 : -1;
    if (n)
        qsort(it, n, sizeof *it, key == AS_BUCKET_ITERATIONS ? by_iterations : by_cost_class);
    for (size_t i = 0; i < n; i++)
        m.all += it[i].ticks;
    for (size_t from = 0, to; rc == 0 && from < n; from = to) {
        to = class_end(it, from, n, key);
        if (class_of(&it[from], key) == INT32_MAX)
            break;
        rc = make_class(&m, from, to, false);
    }
    as_free(m.room);
    return rc < 0 ? as_error_nomem(err, "buckets of instances") : 0;
}

void as_bucket_all(struct as_instance *it, size_t n, struct as_bucket *out)
{
    double *room = as_calloc(n + 1, sizeof *room);
    *out = (struct as_bucket){.high = INFINITY, .share = 1};
    if (n)
        qsort(it, n, sizeof *it, by_cost);
    if (room)
        describe_bucket(it, n, room, out);
    as_free(room);
}
