/* SPDX-License-Identifier: Apache-2.0 */
/* cause: sqrt may set errno and -O2 vectorises little, so the distances stay scalar.
 * place: distances_to
 * finding: scalar_errno scalar_options
 * words: -O3.*-fno-math-errno|-fno-math-errno.*-O3|-Ofast|-O3.*-ffast-math
 * false: scalar_chain memory_bandwidth memory_latency
 * flags: -O2 -g
 * libraries: -lm
 * arguments: 4000 100000
 * repair: The compiler vectorises the loop.
 * repair flags: -O3 -g -fno-math-errno
 * clock: cpu */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct cloud {
    double *x, *y, *z;
    long n;
};

static double *coordinates(long n, long step)
{
    double *array = malloc((size_t)n * sizeof *array);

    for (long i = 0; i < n; i++)
        array[i] = (double)(i * step % 1009) * 0.01;
    return array;
}

static void distances_to(const struct cloud *cloud, const double at[3], double *restrict distance)
{
    const double *restrict x = cloud->x, *restrict y = cloud->y, *restrict z = cloud->z;

    for (long i = 0; i < cloud->n; i++) { /* HERE */
        double dx = x[i] - at[0], dy = y[i] - at[1], dz = z[i] - at[2];

        distance[i] = sqrt(dx * dx + dy * dy + dz * dz); /* HERE */
    }
}

static long count_near(const double *distance, long n, double limit)
{
    long near = 0;

    for (long i = 0; i < n; i += 8)
        near += distance[i] < limit;
    return near;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    long n = atol(argv[1]), near = 0;
    struct cloud cloud = {coordinates(n, 17), coordinates(n, 29), coordinates(n, 31), n};
    double *distance = malloc((size_t)n * sizeof *distance);

    for (int query = 0; query < atoi(argv[2]); query++) {
        double at[3] = {query % 10, query % 7, query % 5};

        distances_to(&cloud, at, distance);
        near += count_near(distance, n, 4);
    }
    printf("checksum %ld %.9g\n", near, distance[n / 2]);
    return 0;
}
