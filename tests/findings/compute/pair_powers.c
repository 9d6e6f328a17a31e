/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Small integer powers are computed by pow of the mathematical library.
 * place: pair_energy pow __ieee754_pow_fma __pow energy_of
 * finding: scalar_mathematics
 * false: memory_latency scalar_chain
 * flags: -O2 -g
 * libraries: -lm
 * arguments: 1200 40
 * repair: Powers are products.
 * clock: cpu */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct atom {
    double x, y, z;
};

struct potential {
    double depth, diameter, attraction, repulsion;
};

static double pair_energy(const struct potential *of, double squared)
{
#ifdef REPAIRED
    double ratio = of->diameter * of->diameter / squared, sixth = ratio * ratio * ratio;

    return 4 * of->depth * (sixth * sixth - sixth);
#else
    double ratio = of->diameter / sqrt(squared);

    return 4 * of->depth * (pow(ratio, of->repulsion) - pow(ratio, of->attraction)); /* HERE */
#endif
}

static double energy_of(const struct atom *atoms, int n, const struct potential *potential)
{
    double energy = 0;

    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n; k++) {
            double dx = atoms[i].x - atoms[k].x, dy = atoms[i].y - atoms[k].y;
            double dz = atoms[i].z - atoms[k].z;

            energy += pair_energy(potential, dx * dx + dy * dy + dz * dz);
        }
    return energy;
}

static void place_atoms(struct atom *atoms, int n)
{
    for (int i = 0; i < n; i++)
        atoms[i] = (struct atom){1.1 * (i % 11), 1.1 * (i / 11 % 11), 1.1 * (i / 121)};
}

static void disturb(struct atom *atoms, int n, int step)
{
    for (int i = step % 3; i < n; i += 3)
        atoms[i].x += 0.001 * (i % 7 - 3);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    int n = atoi(argv[1]);
    struct atom *atoms = malloc((size_t)n * sizeof *atoms);
    struct potential argon = {0.238, 1.0, 6, 12};
    double energy = 0;

    place_atoms(atoms, n);
    for (int step = 0; step < atoi(argv[2]); step++) {
        energy += energy_of(atoms, n, &argon);
        disturb(atoms, n, step);
    }
    printf("checksum %.7g\n", energy);
    return 0;
}
