/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of the variants of a loop, by bucket. The buckets are those of `assay vprof`
 * (vprof/buckets.h), so both verbs agree on the same instances.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/sort.h"
#include "base/stat.h"
#include "decan/internal.h"
#include "patch/patch.h"

#define DISTURBED 4.0 /* multiple of the median, as in vprof/buckets.c */
#define CERTAIN   6u  /* minimum number of instances for an interval of the median */
#define SIGMAS    1.96

static int class_of(const struct as_varied *it)
{
    return it->whole < 1 ? -1 : ilogb(it->whole);
}

static double bound_of(int class)
{
    return class < 0 ? 0 : ldexp(1, class);
}

static int by_bucket_and_kind(const void *a, const void *b)
{
    const struct as_varied *x = a, *y = b;
    if (class_of(x) != class_of(y))
        return class_of(x) < class_of(y) ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->begun > y->begun) - (x->begun < y->begun);
}

static double varied_cost(const struct as_varied *it)
{
    return it->ticks / (it->trips > 1 ? it->trips : 1);
}

static bool is_ended(const struct as_varied *it)
{
    return it->flags &
           (AS_VARIANT_FAULTED | AS_VARIANT_ENDLESS | AS_VARIANT_WIDE | AS_VARIANT_HELD);
}

/* ---- One variant ---------------------------------------------------------------------------- */

struct sample {
    double *value; /* room for as many as there are records */
    size_t n;
};

/* Returns false if the thread left the CPU during every instance: then all of them count. */
static bool leaves_out_switched(const struct as_varied *it, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_ended(&it[i]) && !(it[i].flags & AS_VARIANT_SWITCHED))
            return true;
    return false;
}

static double median_ticks(const struct as_varied *it, size_t n, bool calm, struct sample *room)
{
    room->n = 0;
    for (size_t i = 0; i < n; i++)
        if (!is_ended(&it[i]) && !(calm && (it[i].flags & AS_VARIANT_SWITCHED)))
            room->value[room->n++] = it[i].ticks;
    as_sort_doubles(room->value, room->n);
    return room->n ? as_median_of_sorted(room->value, room->n) : 0;
}

/* Moves undisturbed records to the front, in their order, and counts the others in `take`. */
static size_t drop_disturbed(struct as_varied *it, size_t n, double limit, struct sample *room,
                             struct as_decan_measured *take)
{
    const bool calm = leaves_out_switched(it, n);
    const double median = median_ticks(it, n, calm, room);
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        const struct as_varied one = it[i];
        const bool far = one.ticks > DISTURBED * median && one.ticks > median + limit;
        if (is_ended(&one))
            take->ended++;
        else if (far || (calm && (one.flags & AS_VARIANT_SWITCHED)))
            take->disturbed++;
        else
            it[left++] = one;
    }
    return left;
}

/*
 * Sets the order statistics that contain the median with 95 %, by the normal approximation of the
 * binomial distribution.
 */
static void set_interval(const double *sorted, size_t n, double cycles, double *low, double *high)
{
    const double middle = (double)n / 2, half = SIGMAS * sqrt((double)n) / 2;
    *low = *high = (double)NAN;
    if (n < CERTAIN)
        return;
    const double first = floor(middle - half), last = ceil(middle + half);
    *low = sorted[first > 0 ? (size_t)first : 0] * cycles;
    *high = sorted[last < (double)n ? (size_t)last : n - 1] * cycles;
}

static enum as_decan_reliability reliability_of(double instance)
{
    return instance < 250   ? AS_DECAN_UNRELIABLE
           : instance < 500 ? AS_DECAN_WEAK
                            : AS_DECAN_RELIABLE;
}

static void set_variant_statistics(const struct as_varied *it, size_t n, double cycles,
                                   struct sample *room, struct as_decan_measured *take)
{
    double trips = 0;
    take->n = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        room->value[i] = it[i].ticks;
        trips += it[i].whole;
    }
    as_sort_doubles(room->value, n);
    take->instance = as_median_of_sorted(room->value, n) * cycles;
    set_interval(room->value, n, cycles, &take->instance_low, &take->instance_high);
    take->reliability = reliability_of(take->instance);
    for (size_t i = 0; i < n; i++)
        room->value[i] = varied_cost(&it[i]);
    as_sort_doubles(room->value, n);
    take->median = as_median_of_sorted(room->value, n) * cycles;
    take->least = room->value[0] * cycles;
    take->stability = n < 2             ? (double)NAN
                      : take->least > 0 ? (take->median - take->least) / take->least
                                        : 0;
    take->iterations = trips / (double)n;
    set_interval(room->value, n, cycles, &take->low, &take->high);
}

/* ---- Drift ---------------------------------------------------------------------------------- */

struct half {
    double median, low, high;
};

static struct half half_of(const struct as_varied *it, size_t n, struct sample *room)
{
    struct half out;
    for (size_t i = 0; i < n; i++)
        room->value[i] = varied_cost(&it[i]);
    as_sort_doubles(room->value, n);
    out.median = as_median_of_sorted(room->value, n);
    set_interval(room->value, n, 1, &out.low, &out.high);
    return out;
}

/* Sets the drift of instances in order of time: median of the later half over the earlier, minus 1.
 */
static void set_drift(const struct as_varied *it, size_t n, struct sample *room,
                      struct as_decan_bucket *to)
{
    const enum as_decan_bucket_column column = AS_DECAN_COLUMN_DRIFT;
    if (n < 2 * CERTAIN)
        return;
    const struct half first = half_of(it, n / 2, room);
    const struct half last = half_of(it + n - n / 2, n / 2, room);
    if (!(first.low > 0))
        return;
    to->column[column] = 100 * (last.median / first.median - 1);
    to->column_low[column] = 100 * (last.low / first.high - 1);
    to->column_high[column] = 100 * (last.high / first.low - 1);
}

/* ---- Buckets -------------------------------------------------------------------------------- */

static void add_variant_result(struct as_decan_bucket *bucket, struct as_varied *it, size_t n,
                               const struct as_decan_scale *scale, struct sample *room)
{
    struct as_decan_measured *take = &bucket->take[bucket->take_n++];
    const unsigned kind = it->kind;
    *take = (struct as_decan_measured){.kind = kind, .variant = as_variant_name(kind)};
    const size_t left = drop_disturbed(it, n, scale->limit, room, take);
    if (left == 0) {
        take->reason = take->ended ? "each ended by a fault or a timeout" : "each was disturbed";
        return;
    }
    set_variant_statistics(it, left, scale->cycles, room, take);
    if (kind == AS_VARIANT_ORIG)
        set_drift(it, left, room, bucket);
}

static void set_speedups(struct as_decan_bucket *bucket)
{
    const struct as_decan_measured *reference = as_bucket_variant(bucket, AS_VARIANT_REF);
    if (!reference)
        reference = as_bucket_variant(bucket, AS_VARIANT_ORIG);
    for (size_t i = 0; i < bucket->take_n; i++) {
        struct as_decan_measured *take = &bucket->take[i];
        take->speedup = reference && take->n && take->median > 0 ? reference->median / take->median
                                                                 : (double)NAN;
    }
    const struct as_decan_measured *own = as_bucket_variant(bucket, AS_VARIANT_ORIG);
    own = own ? own : reference;
    bucket->iterations = own ? own->iterations : 0;
}

static void make_bucket(struct as_varied *it, size_t n, const struct as_decan_scale *scale,
                        struct sample *room, struct as_decan_bucket *out)
{
    const int class = class_of(it);
    out->low = bound_of(class);
    out->high = bound_of(class + 1);
    out->share = (double)NAN;
    for (size_t i = 0; i < AS_DECAN_COLUMNS_MOST; i++)
        out->column[i] = out->column_low[i] = out->column_high[i] = (double)NAN;
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && it[to].kind == it[from].kind;)
            to++;
        if (it[from].kind != AS_VARIANT_REC)
            add_variant_result(out, it + from, to - from, scale, room);
    }
    set_speedups(out);
}

static size_t bucket_end(const struct as_varied *it, size_t from, size_t n)
{
    size_t to = from;
    while (to < n && class_of(&it[to]) == class_of(&it[from]))
        to++;
    return to;
}

static bool is_any_but_rec(const struct as_varied *it, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (it[i].kind != AS_VARIANT_REC)
            return true;
    return false;
}

int as_measurements_make(struct as_varied *record, size_t n, const struct as_decan_scale *scale,
                         struct as_decan_bucket **out, size_t *out_n, struct as_error *err)
{
    struct sample room = {as_calloc(n + 1, sizeof *room.value), 0};
    size_t buckets = 0;
    *out_n = 0;
    if (n)
        qsort(record, n, sizeof *record, by_bucket_and_kind);
    for (size_t from = 0; from < n; from = bucket_end(record, from, n))
        buckets++;
    *out = as_calloc(buckets + 1, sizeof **out);
    for (size_t from = 0, to; room.value && *out && from < n; from = to) {
        to = bucket_end(record, from, n);
        if (is_any_but_rec(record + from, to - from))
            make_bucket(record + from, to - from, scale, &room, &(*out)[(*out_n)++]);
    }
    const bool failed = !room.value || !*out;
    as_free(room.value);
    return failed ? as_error_nomem(err, "variants of a loop") : 0;
}

const struct as_decan_measured *as_bucket_variant(const struct as_decan_bucket *bucket,
                                                  unsigned kind)
{
    for (size_t i = 0; i < bucket->take_n; i++)
        if (bucket->take[i].n && bucket->take[i].kind == kind)
            return &bucket->take[i];
    return NULL;
}

bool as_measurements_exist(const struct as_decan_bucket *bucket)
{
    const struct as_decan_measured *orig = as_bucket_variant(bucket, AS_VARIANT_ORIG);
    const struct as_decan_measured *whole = orig ? orig : as_bucket_variant(bucket, AS_VARIANT_REF);
    return whole && whole->reliability > AS_DECAN_UNRELIABLE;
}

void as_bucket_name(const struct as_decan_bucket *bucket, char *out, size_t out_b)
{
    snprintf(out, out_b, "%.0f to %.0f iterations", bucket->low,
             bucket->high > bucket->low ? bucket->high - 1 : bucket->high);
}
