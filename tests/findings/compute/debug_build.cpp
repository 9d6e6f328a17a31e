/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The program was compiled without optimisation.
 * place: run
 * finding: not_optimised
 * false: scalar_chain scalar_calls calls_in_loop straight_code memory_bandwidth
 * flags: -O0 -g
 * arguments: 220 200
 * repair: The program is compiled with -O2.
 * repair flags: -O2 -g
 * clock: cpu */
#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

template <int N> struct Vector {
    std::array<double, N> e{};

    Vector operator+(const Vector &other) const
    {
        Vector sum;
        for (int i = 0; i < N; i++)
            sum.e[i] = e[i] + other.e[i];
        return sum;
    }
    Vector operator-(const Vector &other) const
    {
        Vector difference;
        for (int i = 0; i < N; i++)
            difference.e[i] = e[i] - other.e[i];
        return difference;
    }
    Vector operator*(double by) const
    {
        Vector product;
        for (int i = 0; i < N; i++)
            product.e[i] = e[i] * by;
        return product;
    }
    double dot(const Vector &other) const
    {
        double sum = 0;
        for (int i = 0; i < N; i++)
            sum += e[i] * other.e[i];
        return sum;
    }
};

using Place = Vector<3>;

struct Star {
    Place at, velocity;
    double mass;
};

static void pull_stars(std::vector<Star> &stars, double dt)
{
    for (Star &one : stars) {
        Place pull;
        for (const Star &other : stars) {
            Place apart = other.at - one.at;
            double squared = apart.dot(apart) + 0.05;
            pull = pull + apart * (other.mass / (squared * squared));
        }
        one.velocity = one.velocity + pull * dt;
    }
    for (Star &one : stars)
        one.at = one.at + one.velocity * dt;
}

static double total_energy(const std::vector<Star> &stars)
{
    double sum = 0;

    for (const Star &one : stars)
        sum += 0.5 * one.mass * one.velocity.dot(one.velocity);
    return sum;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    std::vector<Star> stars(atoi(argv[1]));

    for (size_t i = 0; i < stars.size(); i++) {
        stars[i].at.e = {double(i % 7), double(i % 11), double(i % 13)};
        stars[i].mass = 1 + i % 3;
    }
    for (int n = 0; n < atoi(argv[2]); n++)
        pull_stars(stars, 0.001);
    printf("checksum %.9g\n", total_energy(stars));
}
