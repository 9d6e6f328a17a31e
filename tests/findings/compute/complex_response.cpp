/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Each complex division and product checks for infinity and NaN as the standard demands.
 * place: response response_of sweep __divdc3 __muldc3
 * finding: complex_division calls_in_loop scalar_calls
 * words: (?i)\bcomplex\b|divdc3|muldc3|cx-(limited|fortran)
 * false: memory_bandwidth memory_latency cache_latency page_faults copying
 * flags: -O2 -g
 * arguments: 60000 8 300
 * repair: The compiler uses the plain formulas of complex arithmetic.
 * repair flags: -O2 -g -fcx-limited-range
 * clock: cpu */
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

/* Computes the response of a cascade of filters over a range of frequencies. */

using Complex = std::complex<double>;

struct Stage {
    double b0, b1, b2, a1, a2;
};

static std::vector<Stage> make_cascade(int stage_n)
{
    std::vector<Stage> stages;

    for (int i = 0; i < stage_n; i++) {
        double radius = 0.9 - 0.03 * i, cosine = std::cos(0.3 + 0.2 * i);
        stages.push_back({1, -1.2 * cosine, 0.8, -2 * radius * cosine, radius * radius});
    }
    return stages;
}

static std::vector<Complex> unit_circle(int n)
{
    std::vector<Complex> points(static_cast<size_t>(n));

    for (int i = 0; i < n; i++)
        points[static_cast<size_t>(i)] = std::polar(1.0, -3.141592653589793 * i / n);
    return points;
}

/* Returns the response of one stage at z, the inverse of the delay. */
static Complex response(const Stage &stage, Complex z)
{
    Complex above = stage.b0 + z * (stage.b1 + stage.b2 * z); /* HERE */
    Complex below = 1.0 + z * (stage.a1 + stage.a2 * z);      /* HERE */

    return above / below; /* HERE */
}

static Complex response_of(const std::vector<Stage> &cascade, Complex z)
{
    Complex total = 1;

    for (const Stage &stage : cascade)
        total *= response(stage, z); /* HERE */
    return total;
}

struct Summary {
    double highest = 0, power = 0;
    int peak = 0;
};

static Summary sweep(const std::vector<Stage> &cascade, const std::vector<Complex> &points)
{
    Summary summary;

    for (size_t i = 0; i < points.size(); i++) {
        double power = std::norm(response_of(cascade, points[i])); /* HERE */
        if (power > summary.highest) {
            summary.highest = power;
            summary.peak = static_cast<int>(i);
        }
        summary.power += power;
    }
    return summary;
}

/* Makes the filters a little wider, as a tuning does. */
static void widen(std::vector<Stage> &cascade)
{
    for (Stage &stage : cascade) {
        stage.a1 *= 0.999;
        stage.a2 *= 0.998;
    }
}

static bool is_stable(const std::vector<Stage> &cascade)
{
    return std::all_of(cascade.begin(), cascade.end(), [](const Stage &stage) {
        return std::abs(stage.a2) < 1 && std::abs(stage.a1) < 1 + stage.a2;
    });
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    std::vector<Complex> points = unit_circle(atoi(argv[1]));
    std::vector<Stage> cascade = make_cascade(atoi(argv[2]));

    for (int round = 0; round < atoi(argv[3]); round++) {
        if (!is_stable(cascade)) {
            fprintf(stderr, "complex_response: a filter is not stable; use fewer stages\n");
            return 1;
        }
        Summary summary = sweep(cascade, points);
        if (round % 10 == 0)
            printf("peak at %d: %.6f, mean %.6f\n", summary.peak, summary.highest,
                   summary.power / static_cast<double>(points.size()));
        widen(cascade);
    }
}
