/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The transposition writes whole columns, and each store touches another line and page.
 * place: transpose transform_plane
 * finding: strided_walk memory_latency cache_latency array_access set_conflicts
 * words: (?i)\btil(e|es|ing)\b|block|stride|interchange|column
 * false: scalar_chain scalar_arithmetic scalar_options divisions scalar_calls
 * flags: -O2 -g
 * arguments: 2600 12
 * repair: The transposition goes tile by tile.
 * clock: cpu */
#include <stdio.h>
#include <stdlib.h>

/* Filters a plane along both directions; rows are filtered, and transpositions swap directions. */

struct plane {
    int n;
    double *values;
};

static struct plane create_plane(int n)
{
    struct plane plane = {n, malloc(sizeof(double) * (size_t)n * (size_t)n)};

    if (!plane.values)
        abort();
    return plane;
}

static double *row_of(const struct plane *plane, int row)
{
    return plane->values + (size_t)row * (size_t)plane->n;
}

static void fill_plane(struct plane *plane)
{
    for (int i = 0; i < plane->n; i++) {
        double *row = row_of(plane, i);
        for (int j = 0; j < plane->n; j++)
            row[j] = (i * 7 + j * 3) % 64;
    }
}

/* Replaces each pair of neighbours by mean and difference: a step of a Haar transform. */
static void filter_row(double *row, int n)
{
    for (int j = 0; j + 1 < n; j += 2) {
        double left = row[j], right = row[j + 1];
        row[j] = 0.5 * (left + right);
        row[j + 1] = 0.5 * (left - right);
    }
}

static void filter_rows(struct plane *plane)
{
    for (int i = 0; i < plane->n; i++)
        filter_row(row_of(plane, i), plane->n);
}

#ifdef REPAIRED
#define TILE 32

static int min_of(int a, int b)
{
    return a < b ? a : b;
}

static void transpose(const struct plane *from, struct plane *to)
{
    int n = from->n;

    for (int i0 = 0; i0 < n; i0 += TILE)
        for (int j0 = 0; j0 < n; j0 += TILE)
            for (int i = i0; i < min_of(i0 + TILE, n); i++) {
                const double *row = row_of(from, i);
                for (int j = j0; j < min_of(j0 + TILE, n); j++)
                    to->values[(size_t)j * (size_t)n + (size_t)i] = row[j];
            }
}
#else
static void transpose(const struct plane *from, struct plane *to)
{
    int n = from->n;

    for (int i = 0; i < n; i++) {
        const double *row = row_of(from, i);
        for (int j = 0; j < n; j++)                                 /* HERE */
            to->values[(size_t)j * (size_t)n + (size_t)i] = row[j]; /* HERE */
    }
}
#endif

static void transform_plane(struct plane *plane, struct plane *scratch)
{
    filter_rows(plane);
    transpose(plane, scratch); /* HERE */
    filter_rows(scratch);
    transpose(scratch, plane); /* HERE */
}

/* Returns the sum of all means: the values that have no difference in them. */
static double sum_of_means(const struct plane *plane)
{
    double total = 0;

    for (int i = 0; i < plane->n; i += 2)
        for (int j = 0; j < plane->n; j += 2)
            total += row_of(plane, i)[j];
    return total;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    int n = atoi(argv[1]);
    struct plane plane = create_plane(n), scratch = create_plane(n);

    fill_plane(&plane);
    for (int level = 0; level < atoi(argv[2]); level++)
        transform_plane(&plane, &scratch);
    printf("sum of means %.6e\n", sum_of_means(&plane));
    free(plane.values);
    free(scratch.values);
    return 0;
}
