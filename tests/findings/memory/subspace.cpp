/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Nothing can be gained. Each iteration reads the whole matrix of 128 MiB once. It is as
 * fast as the memory allows.
 * place: apply iterate
 * finding: nothing
 * false: oldest_instruction_set scalar_chain scalar_options memory_latency array_access divisions
 * flags: -O3 -g -ffast-math -march=x86-64-v3
 * arguments: 4096 270
 * naive: The loops are unrolled.
 * naive flags: -O3 -g -ffast-math -march=x86-64-v3 -funroll-loops
 * clock: cpu */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace
{

// A dense matrix without symmetry; its rows lie one after the other.
class Operator
{
  public:
    explicit Operator(std::size_t n) : n_(n), entries_(n * n)
    {
        std::uint32_t s = 12345u;
        for (std::size_t i = 0; i < n; i++)
            for (std::size_t j = 0; j < n; j++) {
                s = s * 1664525u + 1013904223u;
                entries_[i * n + j] = (s >> 8) * 0x1p-24 / static_cast<double>(n);
            }
        for (std::size_t i = 0; i < n; i++)
            entries_[i * n + i] += 0.5;
    }

    std::size_t size() const
    {
        return n_;
    }

    void apply(const std::vector<double> &x, std::vector<double> &y) const;

  private:
    std::size_t n_;
    std::vector<double> entries_;
};

// Computes y = A x for four rows at a time, so that x comes from the near cache.
__attribute__((noinline)) void Operator::apply(const std::vector<double> &x,
                                               std::vector<double> &y) const
{
    const double *v = x.data();

    for (std::size_t i = 0; i + 4 <= n_; i += 4) {
        const double *a = entries_.data() + i * n_, *b = a + n_, *c = b + n_, *d = c + n_;
        double sum_a = 0, sum_b = 0, sum_c = 0, sum_d = 0;

        for (std::size_t j = 0; j < n_; j++) {
            sum_a += a[j] * v[j];
            sum_b += b[j] * v[j];
            sum_c += c[j] * v[j];
            sum_d += d[j] * v[j];
        }
        y[i] = sum_a;
        y[i + 1] = sum_b;
        y[i + 2] = sum_c;
        y[i + 3] = sum_d;
    }
}

double norm(const std::vector<double> &x)
{
    double sum = 0;
    for (double value : x)
        sum += value * value;
    return std::sqrt(sum);
}

// Returns the largest eigenvalue after some iterations.
double iterate(const Operator &matrix, int iterations)
{
    std::vector<double> x(matrix.size(), 1.0), y(matrix.size());
    double value = 0;

    for (int k = 0; k < iterations; k++) {
        matrix.apply(x, y);
        value = norm(y);
        const double scale = 1 / value;
        for (std::size_t i = 0; i < x.size(); i++)
            x[i] = y[i] * scale;
    }
    return value;
}

} // namespace

int main(int argc, char **argv)
{
    const long n = argc > 1 ? std::atol(argv[1]) : 512;
    const int iterations = argc > 2 ? std::atoi(argv[2]) : 10;
    const Operator matrix(static_cast<std::size_t>(n - n % 4));

    std::printf("subspace %.6f\n", iterate(matrix, iterations));
    return 0;
}
