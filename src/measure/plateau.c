/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A level is flat while everything fits. Beyond its size the curve climbs to the next level over
 * one or two octaves. A run that is too short is part of a climb.
 */
#include "measure/plateau.h"

#include <math.h>

#include "measure/chain.h"

#define FLAT   1.2 /* max over min of a run */
#define OCTAVE 1.9 /* last over first size: an octave minus rounding */
#define NEAR   1.7
#define APART  1.5 /* min ratio of two levels: less is one level that climbs */

/* Returns the last point of the run that begins at `from`. A single outlier does not end the
 * run. */
static size_t run_end(const double *y, size_t n, size_t from)
{
    double least = y[from], most = y[from];
    size_t end = from;

    for (size_t i = from + 1; i < n; i++) {
        const double low = fmin(least, y[i]), high = fmax(most, y[i]);
        if (high > FLAT * low) {
            const bool sticks_out =
                i + 1 < n && fmax(most, y[i + 1]) <= FLAT * fmin(least, y[i + 1]);
            if (sticks_out)
                continue;
            break;
        }
        least = low, most = high;
        end = i;
    }
    return end;
}

static struct as_plateau describe_run(const double *x, const double *y, size_t from, size_t end)
{
    double value[512];
    size_t n = 0;

    for (size_t i = from; i <= end && n < 512; i++)
        value[n++] = y[i];
    struct as_plateau p = {.first_b = x[from], .last_b = x[end], .level = -1};
    p.value = as_sample_quantile(value, n, 0.5);
    p.spread = value[n - 1] / value[0] - 1; /* the values are sorted */
    return p;
}

size_t as_plateaus_find(const double *x, const double *y, size_t n,
                        struct as_plateau out[AS_PLATEAUS_MOST])
{
    size_t found = 0;

    for (size_t i = 0; i < n && found < AS_PLATEAUS_MOST;) {
        /* Uses the longest run that begins in the first half of this one: the last point of a climb
         * is not the first of a plateau. */
        size_t from = i, end = run_end(y, n, i);
        for (size_t k = i + 1; k <= (i + end) / 2; k++) {
            const size_t other = run_end(y, n, k);
            if (x[other] / x[k] > x[end] / x[from]) {
                from = k;
                end = other;
            }
        }
        if (x[end] / x[from] >= OCTAVE) {
            out[found++] = describe_run(x, y, from, end);
            i = end + 1;
        } else {
            i++;
        }
    }
    return found;
}

static double distance(double a, double b)
{
    return fabs(log(a / b));
}

static void name_one(struct as_plateau *p, const uint64_t cache_b[4])
{
    double largest_b = 0, best = log(NEAR);

    for (int level = 1; level < 4; level++) {
        if (!cache_b[level])
            continue;
        largest_b = (double)cache_b[level];
        if (distance(p->last_b, largest_b) < best) {
            best = distance(p->last_b, largest_b);
            p->level = level;
        }
    }
    if (p->level < 0 && largest_b > 0 && p->last_b > 2 * largest_b)
        p->level = 0;
}

/* Handles two plateaus between the second last cache and the size of the last, and none beyond.
 * That size belongs to the whole CPU. The first plateau is the usable part and the last one is
 * memory. */
static void name_memory(struct as_plateau *plateau, size_t n, const uint64_t cache_b[4])
{
    int last = 3;

    while (last > 1 && !cache_b[last])
        last--;
    int before = last - 1;
    while (before > 0 && !cache_b[before])
        before--;
    if (n < 2 || before < 1 || plateau[n - 1].first_b <= NEAR * (double)cache_b[before])
        return;
    for (size_t i = 0; i < n; i++)
        if (plateau[i].level == 0 || (plateau[i].level == last && i + 1 < n))
            return;
    for (size_t i = 0; i + 1 < n; i++)
        if (plateau[i].last_b > NEAR * (double)cache_b[before] &&
            plateau[n - 1].value >= 2 * APART * plateau[i].value) {
            plateau[n - 1].level = 0;
            return;
        }
}

/* Names a plateau between two levels as the usable part of the larger one. Others use the rest, or
 * scattered pages of a hypervisor conflict before it is full. */
static void name_share(struct as_plateau *plateau, size_t n, const uint64_t cache_b[4], int level)
{
    int before = level - 1;

    while (before > 0 && !cache_b[before])
        before--;
    for (size_t i = 0; i < n; i++)
        if (plateau[i].level == level)
            return;
    for (size_t i = n; cache_b[level] && before > 0 && i-- > 0;) {
        struct as_plateau *p = &plateau[i];
        if (p->level < 0 && p->last_b > NEAR * (double)cache_b[before] &&
            p->last_b < (double)cache_b[level]) {
            p->level = level;
            p->is_share = true;
            return;
        }
    }
}

void as_plateaus_name(struct as_plateau *plateau, size_t n, const uint64_t cache_b[4])
{
    for (size_t i = 0; i < n; i++) {
        struct as_plateau *p = &plateau[i];
        p->level = -1;
        p->is_share = false;
        if (i + 1 == n || plateau[i + 1].value >= APART * p->value)
            name_one(p, cache_b);
        for (size_t k = 0; k < i && p->level >= 0; k++) {
            if (plateau[k].level != p->level)
                continue;
            const double size_b = p->level ? (double)cache_b[p->level] : INFINITY;
            /* The plateau with the nearer end wins; beyond all caches the later one. */
            const bool takes =
                p->level == 0 || distance(p->last_b, size_b) <= distance(plateau[k].last_b, size_b);
            if (takes)
                plateau[k].level = -1;
            else
                p->level = -1;
        }
    }
    name_memory(plateau, n, cache_b);
    for (int level = 3; level > 1; level--)
        name_share(plateau, n, cache_b, level);
}
