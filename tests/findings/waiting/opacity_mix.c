/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Rank 0 broadcasts the whole table of opacities before each step, although it never
 * changes.
 * place: share_table MPI_Bcast PMPI_Bcast
 * finding: parallel_overhead parallel_time
 * words: (?i)bcast|broadcast|collective
 * false: load_imbalance lock_contention oversubscribed divisions scalar_mathematics
 * compiler: mpicc
 * flags: -O2 -g
 * launcher: mpirun --oversubscribe -n 2
 * arguments: 900000 12000 1900
 * repair: The table is broadcast once before the first step.
 * clock: cpu */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct opacity_table {
    int points;
    float *value;
};

struct layer {
    int cells;
    float *heat, *flux;
};

static float *floats(int n)
{
    float *p = calloc((size_t)n, sizeof *p);

    if (!p)
        MPI_Abort(MPI_COMM_WORLD, 2);
    return p;
}

static void fill_table(struct opacity_table *t)
{
    for (int i = 0; i < t->points; i++)
        t->value[i] = 0.1f + 0.8f * (float)(i * 37 % 1009) / 1009.0f;
}

static void share_table(struct opacity_table *t)
{
    MPI_Bcast(t->value, t->points, MPI_FLOAT, 0, MPI_COMM_WORLD); /* HERE */
}

/* Cools the cells of this rank; neighbouring points of the table are mixed. */
static void __attribute__((noinline)) cool(struct layer *l, const struct opacity_table *t, int step)
{
    int at = step * 131 % 1024;

    for (int c = 0; c < l->cells; c++) {
        float local = 0;

        for (int k = 0; k < 16; k++)
            local += t->value[at + k] * (1.0f - 0.01f * (float)k);
        l->flux[c] = l->heat[c] * local * 0.01f;
        l->heat[c] -= 0.2f * l->flux[c];
        at += 64;
        if (at + 16 > t->points)
            at = c & 511;
    }
}

static double step_all(struct layer *l, struct opacity_table *t, int steps)
{
    double lost = 0, sum = 0;

#ifdef REPAIRED
    share_table(t);
#endif
    for (int s = 0; s < steps; s++) {
#ifndef REPAIRED
        share_table(t); /* HERE */
#endif
        cool(l, t, s);
        if (s % 50 == 49) {
            sum = 0;
            for (int c = 0; c < l->cells; c++)
                sum += l->flux[c];
            MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            lost += sum;
        }
    }
    return lost;
}

int main(int argc, char **argv)
{
    struct opacity_table table = {argc > 1 ? atoi(argv[1]) : 100000, NULL};
    struct layer layer = {argc > 2 ? atoi(argv[2]) : 1000, NULL, NULL};
    int rank, steps = argc > 3 ? atoi(argv[3]) : 50;
    double lost;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    table.value = floats(table.points);
    layer.heat = floats(layer.cells);
    layer.flux = floats(layer.cells);
    for (int c = 0; c < layer.cells; c++)
        layer.heat[c] = 1.0f + (float)((c + rank * layer.cells) % 77) / 77.0f;
    if (rank == 0)
        fill_table(&table);
    lost = step_all(&layer, &table, steps);
    if (rank == 0)
        printf("opacity_mix %.6f\n", lost);
    free(table.value);
    free(layer.heat);
    free(layer.flux);
    MPI_Finalize();
    return 0;
}
