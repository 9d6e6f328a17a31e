/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Rank 0 computes the spectrum alone in each step, and the other rank waits.
 * place: spectrum diagnose
 * finding: load_imbalance late
 * false: parallel_overhead lock_contention oversubscribed
 * compiler: mpicc
 * flags: -O2 -g
 * libraries: -lm
 * launcher: mpirun --oversubscribe -n 2
 * arguments: 20000 300 96
 * repair: Each rank computes its part of the spectrum.
 * clock: wall */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define LENGTH 1024

struct field {
    double *values;
    int n, rank, rank_n;
};

static void advance(struct field *field)
{
    double *values = field->values;

    for (int round = 0; round < 40; round++)
        for (int i = 1; i < field->n; i++)
            values[i] = 0.25 * values[i - 1] + 0.75 * values[i];
}

static double mode_of(const double *signal, int mode)
{
    double cosine = 0, sine = 0, step_c = cos(0.01 * mode), step_s = sin(0.01 * mode);
    double c = 1, s = 0;

    for (int i = 0; i < LENGTH; i++) {
        double next = c * step_c - s * step_s;

        cosine += signal[i] * c;
        sine += signal[i] * s;
        s = s * step_c + c * step_s;
        c = next;
    }
    return cosine * cosine + sine * sine;
}

static double spectrum(const double *signal, int first, int step, int mode_n)
{
    double power = 0;

    for (int mode = first; mode < mode_n; mode += step) /* HERE */
        power += mode_of(signal, mode);                 /* HERE */
    return power;
}

/* Returns the power of all modes on every rank. */
static double diagnose(const struct field *field, int mode_n)
{
    double signal[LENGTH], power = 0, total;

    for (int i = 0; i < LENGTH; i++)
        signal[i] = field->values[i];
    MPI_Bcast(signal, LENGTH, MPI_DOUBLE, 0, MPI_COMM_WORLD);
#ifdef REPAIRED
    power = spectrum(signal, field->rank, field->rank_n, mode_n);
#else
    if (field->rank == 0)
        power = spectrum(signal, 0, 1, mode_n); /* HERE */
#endif
    MPI_Allreduce(&power, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return total;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    struct field field = {NULL, atoi(argv[1]), 0, 1};
    double checksum = 0;

    MPI_Comm_rank(MPI_COMM_WORLD, &field.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &field.rank_n);
    field.values = malloc((size_t)field.n * sizeof(double));
    for (int i = 0; i < field.n; i++)
        field.values[i] = (i * 7 + field.rank) % 64;
    for (int step = 0; step < atoi(argv[2]); step++) {
        advance(&field);
        checksum += diagnose(&field, 10 * atoi(argv[3]));
    }
    if (field.rank == 0)
        printf("checksum %.8g\n", checksum);
    MPI_Finalize();
    return 0;
}
