// SPDX-License-Identifier: Apache-2.0
/* cause: Nothing can be gained. The direct sum is vectorised, fits into the near cache and is
 * shared evenly between the ranks.
 * place: attract
 * finding: nothing
 * flags: -O3 -g -march=x86-64-v3 -ffast-math
 * compiler: mpicxx -std=c++17
 * launcher: mpirun --allow-run-as-root --oversubscribe -n 2
 * arguments: 4096 160
 * naive: Each pair is computed once, and its force is added to both bodies.
 * clock: wall */
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace
{

struct Bodies {
    std::vector<float> x, y, z, m;
    explicit Bodies(int n) : x(n), y(n), z(n), m(n)
    {
    }
};

struct Forces {
    std::vector<float> x, y, z;
    explicit Forces(int n) : x(n), y(n), z(n)
    {
    }
};

constexpr float kSoft = 1e-2f;

void place(Bodies &b)
{
    unsigned s = 20011u;
    auto draw = [&s] {
        s = s * 1664525u + 1013904223u;
        return static_cast<float>(s >> 8) / 16777216.0f - 0.5f;
    };
    for (std::size_t i = 0; i < b.x.size(); ++i) {
        b.x[i] = draw();
        b.y[i] = draw();
        b.z[i] = draw();
        b.m[i] = 1.0f / static_cast<float>(b.x.size());
    }
}

#ifndef NAIVE
__attribute__((noinline)) void attract(const Bodies &b, Forces &f, int first, int last)
{
    const int n = static_cast<int>(b.x.size());
    const float *__restrict x = b.x.data(), *__restrict y = b.y.data();
    const float *__restrict z = b.z.data(), *__restrict m = b.m.data();
    for (int i = first; i < last; i += 2) {
        const float x0 = x[i], y0 = y[i], z0 = z[i];
        const float x1 = x[i + 1], y1 = y[i + 1], z1 = z[i + 1];
        float ax0 = 0.0f, ay0 = 0.0f, az0 = 0.0f;
        float ax1 = 0.0f, ay1 = 0.0f, az1 = 0.0f;
        for (int j = 0; j < n; ++j) {
            float dx = x[j] - x0, dy = y[j] - y0, dz = z[j] - z0;
            float ex = x[j] - x1, ey = y[j] - y1, ez = z[j] - z1;
            float inv0 = 1.0f / std::sqrt(dx * dx + dy * dy + dz * dz + kSoft);
            float inv1 = 1.0f / std::sqrt(ex * ex + ey * ey + ez * ez + kSoft);
            float w0 = m[j] * inv0 * inv0 * inv0;
            float w1 = m[j] * inv1 * inv1 * inv1;
            ax0 += w0 * dx;
            ay0 += w0 * dy;
            az0 += w0 * dz;
            ax1 += w1 * ex;
            ay1 += w1 * ey;
            az1 += w1 * ez;
        }
        f.x[i] = ax0;
        f.y[i] = ay0;
        f.z[i] = az0;
        f.x[i + 1] = ax1;
        f.y[i + 1] = ay1;
        f.z[i + 1] = az1;
    }
}
#else
__attribute__((noinline)) void attract(const Bodies &b, Forces &f, int rank, int ranks)
{
    const int n = static_cast<int>(b.x.size());
    std::vector<float> a(3 * static_cast<std::size_t>(n));
    for (int i = rank; i < n; i += ranks)
        for (int j = i + 1; j < n; ++j) {
            float dx = b.x[j] - b.x[i], dy = b.y[j] - b.y[i], dz = b.z[j] - b.z[i];
            float r2 = dx * dx + dy * dy + dz * dz + kSoft;
            float inv = 1.0f / std::sqrt(r2);
            float w = inv * inv * inv;
            float wi = w * b.m[j], wj = w * b.m[i];
            a[3 * i] += wi * dx;
            a[3 * i + 1] += wi * dy;
            a[3 * i + 2] += wi * dz;
            a[3 * j] -= wj * dx;
            a[3 * j + 1] -= wj * dy;
            a[3 * j + 2] -= wj * dz;
        }
    MPI_Allreduce(MPI_IN_PLACE, a.data(), 3 * n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; ++i) {
        f.x[i] = a[3 * i];
        f.y[i] = a[3 * i + 1];
        f.z[i] = a[3 * i + 2];
    }
}
#endif

void share(std::vector<float> &v, int count)
{
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, v.data(), count, MPI_FLOAT, MPI_COMM_WORLD);
}

} // namespace

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int n = argc > 1 ? std::atoi(argv[1]) : 1024;
    int steps = argc > 2 ? std::atoi(argv[2]) : 10;
    int part = n / ranks & ~1, first = rank * part, last = first + part;
    n = part * ranks;
    Bodies bodies(n);
    Forces forces(n), speed(n);
    const float dt = 1e-4f;

    place(bodies);
    for (int s = 0; s < steps; ++s) {
#ifdef NAIVE
        attract(bodies, forces, rank, ranks);
#else
        attract(bodies, forces, first, last);
#endif
        for (int i = first; i < last; ++i) {
            bodies.x[i] += dt * (speed.x[i] += dt * forces.x[i]);
            bodies.y[i] += dt * (speed.y[i] += dt * forces.y[i]);
            bodies.z[i] += dt * (speed.z[i] += dt * forces.z[i]);
        }
        share(bodies.x, part);
        share(bodies.y, part);
        share(bodies.z, part);
    }
    double sum = 0.0;
    for (int i = 0; i < n; ++i)
        sum += std::fabs(bodies.x[i]) + std::fabs(bodies.y[i]) + std::fabs(bodies.z[i]);
    if (rank == 0)
        std::printf("clusterforce %.3f\n", sum);
    MPI_Finalize();
    return 0;
}
