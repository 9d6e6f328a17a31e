/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The first rank passes on its edge only after its whole half of the sweep. The second
 * rank starts then.
 * place: sweep MPI_Recv MPI_Allreduce
 * finding: late waiting_in_turn load_imbalance
 * flags: -O2 -g
 * libraries: -lm
 * compiler: mpicc
 * launcher: mpirun --allow-run-as-root --oversubscribe -n 2
 * arguments: 2048 1024 140
 * repair: The edge is passed on in blocks of rows, so that the second rank follows closely
 * behind the first.
 * clock: wall */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK 128

struct part {
    int rows;
    int columns;
    int rank;
    int ranks;
    double *flux;
    double *edge_in;
    double *edge_out;
};

static void *claim(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p)
        MPI_Abort(MPI_COMM_WORLD, 2);
    return p;
}

static void set_up(struct part *p, int rows, int columns)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &p->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p->ranks);
    p->rows = rows;
    p->columns = columns / p->ranks;
    p->flux = claim((size_t)(rows + 1) * p->columns, sizeof(double));
    p->edge_in = claim((size_t)rows, sizeof(double));
    p->edge_out = claim((size_t)rows, sizeof(double));
    for (int c = 0; c < p->columns; c++)
        p->flux[c] = 1.0 + 0.001 * c;
    for (int r = 0; r < rows; r++)
        p->edge_in[r] = 1.0;
}

/* Upwind transport through the cells of some rows: each cell needs its
 * neighbours to the west and to the south. */
static double __attribute__((noinline)) transport(struct part *p, int first, int last, double sigma)
{
    double change = 0.0;
    for (int r = first; r < last; r++) {
        const double *south = p->flux + (size_t)r * p->columns;
        double *here = p->flux + (size_t)(r + 1) * p->columns;
        double west = p->edge_in[r];
        for (int c = 0; c < p->columns; c++) {
            double f = 0.46 * west + 0.46 * south[c] + sigma;
            double d = f - here[c];
            change += d * d;
            here[c] = f;
            west = f;
        }
        p->edge_out[r] = west;
    }
    return change;
}

static double __attribute__((noinline)) sweep(struct part *p, double sigma)
{
    double change = 0.0, all;
#ifdef REPAIRED
    int step = BLOCK;
#else
    int step = p->rows; /* HERE */
#endif
    for (int r = 0; r < p->rows; r += step) {
        int n = p->rows - r < step ? p->rows - r : step;
        if (p->rank > 0)
            MPI_Recv(p->edge_in + r, n, MPI_DOUBLE, p->rank - 1, 7, /* HERE */
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        change += transport(p, r, r + n, sigma);
        if (p->rank < p->ranks - 1)
            MPI_Send(p->edge_out + r, n, MPI_DOUBLE, p->rank + 1, 7, /* HERE */
                     MPI_COMM_WORLD);
    }
    MPI_Allreduce(&change, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    struct part p;
    double sigma = 0.05, change = 0.0, local = 0.0, sum;

    MPI_Init(&argc, &argv);
    int rows = argc > 1 ? atoi(argv[1]) : 256;
    int columns = argc > 2 ? atoi(argv[2]) : 256;
    int sweeps = argc > 3 ? atoi(argv[3]) : 10;
    set_up(&p, rows, columns);
    for (int s = 0; s < sweeps; s++) {
        change = sweep(&p, sigma);
        /* The source of the next sweep follows from the last one. */
        sigma = 0.05 + 0.01 * change / (change + 1.0) + 0.0005 * (s % 7);
    }
    for (int c = 0; c < p.columns; c++)
        local += p.flux[(size_t)p.rows * p.columns + c];
    MPI_Reduce(&local, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (p.rank == 0)
        printf("sweepfront %.8e %.6e\n", sum, sqrt(change));
    free(p.flux);
    free(p.edge_in);
    free(p.edge_out);
    MPI_Finalize();
    return 0;
}
