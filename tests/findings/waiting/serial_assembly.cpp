/* SPDX-License-Identifier: Apache-2.0 */
/* cause: One thread assembles the matrix while the other waits for the parallel solver.
 * place: assemble stiffness
 * finding: load_imbalance processors_idle
 * words: (?i)alone|more threads|omp parallel for
 * false: lock_contention parallel_overhead memory_bandwidth oversubscribed
 * flags: -O2 -g -fopenmp
 * variables: OMP_NUM_THREADS=2
 * arguments: 120000 36
 * repair: Both threads assemble.
 * clock: wall */
#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

using Block = std::array<double, 9>;

struct Mesh {
    std::vector<double> density;
    std::vector<Block> matrix;
    std::vector<double> load, solution;
};

static double stiffness(double density, int row, int column)
{
    double sum = 0;

    for (int point = 0; point < 12; point++) { /* HERE */
        double at = 0.08 * point + 0.01 * row - 0.02 * column;
        sum += density * at * at / (1 + at * at);
    }
    return row == column ? 8 + sum : -0.1 * sum;
}

static void assemble(Mesh &mesh)
{
#ifdef REPAIRED
#pragma omp parallel for
#endif
    for (size_t e = 0; e < mesh.matrix.size(); e++) /* HERE */
        for (int row = 0; row < 3; row++)
            for (int column = 0; column < 3; column++)
                mesh.matrix[e][3 * row + column] = /* HERE */
                    stiffness(mesh.density[e], row, column);
}

static void solve(Mesh &mesh, int round_n)
{
#pragma omp parallel for
    for (size_t e = 0; e < mesh.matrix.size(); e++) {
        double x[3] = {1, 1, 1};
        const Block &a = mesh.matrix[e];

        for (int round = 0; round < round_n; round++)
            for (int row = 0; row < 3; row++) {
                double rest = mesh.load[e];
                for (int column = 0; column < 3; column++)
                    rest -= column == row ? 0 : a[3 * row + column] * x[column];
                x[row] = rest / a[4 * row];
            }
        mesh.solution[e] = x[0] + x[1] + x[2];
    }
}

static double soften(Mesh &mesh)
{
    double sum = 0;

    for (size_t e = 0; e < mesh.density.size(); e++) {
        sum += mesh.solution[e];
        mesh.density[e] *= 1 - 0.01 * mesh.solution[e];
    }
    return sum;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    size_t n = atol(argv[1]);
    Mesh mesh = {std::vector<double>(n, 1.5), std::vector<Block>(n), std::vector<double>(n, 2),
                 std::vector<double>(n)};
    double checksum = 0;

    for (int step = 0; step < atoi(argv[2]); step++) {
        assemble(mesh);
        solve(mesh, 10);
        checksum += soften(mesh);
    }
    printf("checksum %.9g\n", checksum);
}
