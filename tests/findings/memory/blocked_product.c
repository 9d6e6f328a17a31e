/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The matrix product is packed, blocked and vectorised already.
 * place: multiply_block pack_right
 * finding: nothing
 * false: strided_walk set_conflicts array_access memory_bandwidth memory_latency
 * false: scalar_arithmetic scalar_chain oldest_instruction_set
 * flags: -O3 -g -march=haswell
 * arguments: 1152 16
 * naive: The loops run along memory without blocks.
 * clock: cpu */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS    4
#define COLUMNS 12
#define DEPTH   384
#define HEIGHT  96

typedef double quad __attribute__((vector_size(32), aligned(8)));

static double *matrix_of(int n, int seed)
{
    double *matrix = aligned_alloc(64, (size_t)n * (size_t)n * sizeof *matrix);

    for (int i = 0; i < n * n; i++)
        matrix[i] = (double)((i * 7 + seed) % 5 - 2);
    return matrix;
}

#ifdef NAIVE
static void multiply(double *to, const double *left, const double *right, int n)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                to[i * n + j] += left[i * n + k] * right[k * n + j];
}
#else
static void pack_right(double *packed, const double *right, int n, int depth)
{
    for (int j = 0; j < n; j += COLUMNS)
        for (int k = 0; k < depth; k++, packed += COLUMNS)
            memcpy(packed, &right[k * n + j], COLUMNS * sizeof *packed);
}

/* Packs strips of 4 rows, one after the other. */
static void pack_left(double *packed, const double *left, int n, int depth)
{
    for (int i = 0; i < HEIGHT; i += ROWS)
        for (int k = 0; k < depth; k++)
            for (int r = 0; r < ROWS; r++)
                *packed++ = left[(i + r) * n + k];
}

/* Adds the product of a strip of 4 rows and a strip of 12 columns to a tile in registers. */
static void multiply_block(double *to, const double *left, const double *right, int n, int depth)
{
    quad sum[ROWS][3] = {0};

    for (int k = 0; k < depth; k++, left += ROWS, right += COLUMNS) {
        const quad *row = (const quad *)right;

        for (int r = 0; r < ROWS; r++)
            for (int c = 0; c < 3; c++)
                sum[r][c] += left[r] * row[c];
    }
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < 3; c++)
            *(quad *)&to[r * n + 4 * c] += sum[r][c];
}

static void multiply(double *to, const double *left, const double *right, int n)
{
    static double rows[DEPTH * HEIGHT] __attribute__((aligned(64)));
    double *columns = aligned_alloc(64, (size_t)(DEPTH * n) * sizeof *columns);

    for (int k = 0; k < n; k += DEPTH) {
        pack_right(columns, &right[k * n], n, DEPTH);
        for (int i = 0; i < n; i += HEIGHT) {
            pack_left(rows, &left[i * n + k], n, DEPTH);
            for (int j = 0; j < n; j += COLUMNS)
                for (int r = 0; r < HEIGHT; r += ROWS)
                    multiply_block(&to[(i + r) * n + j], &rows[r * DEPTH], &columns[j * DEPTH], n,
                                   DEPTH);
        }
    }
    free(columns);
}
#endif

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    int n = atoi(argv[1]);
    double *left = matrix_of(n, 1), *right = matrix_of(n, 3), sum = 0;
    double *to = aligned_alloc(64, (size_t)n * (size_t)n * sizeof *to);

    memset(to, 0, (size_t)n * (size_t)n * sizeof *to);
    for (int round = 0; round < atoi(argv[2]); round++)
        multiply(to, left, right, n);
    for (int i = 0; i < n * n; i++)
        sum += to[i] * (i % 3);
    printf("checksum %.0f\n", sum);
    return 0;
}
