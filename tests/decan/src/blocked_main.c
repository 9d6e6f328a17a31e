/* SPDX-License-Identifier: Apache-2.0 */
/* blocked N SWEEPS: the example's strided smoother on N planes of N x N points, sweep by sweep, and
 * the same sweeps tile by tile (blocked.f90). Prints what they computed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void smooth_step_strided(int n, int planes, int first, int last, double omega,
                         const double *inverse, const double *cx, const double *cy,
                         const double *cz, const double *r, const double *z0, double *z);
void smooth_tiles(int n, int planes, int sweeps, double omega, const double *inverse,
                  const double *cx, const double *cy, const double *cz, const double *r,
                  const double *z0, double *z);

__attribute__((noinline, noclone)) static void set_number(double *at, size_t i)
{
    *at = 0.1 + (double)(i * 7919 % 1000) / 5000;
}

static double *map_grid(size_t points, size_t number)
{
    /* Not all of them at the same place of a page; huge pages, so that the data alone count. */
    const size_t size_b = points * sizeof(double) + 4096;
    char *at = mmap(NULL, size_b, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        perror("blocked");
        exit(3);
    }
    madvise(at, size_b, MADV_HUGEPAGE);
    double *grid = (double *)(void *)(at + number % 8 * 448);
    for (size_t i = 0; i < points; i++)
        set_number(grid + i, i + number);
    return grid;
}

int main(int argc, char **argv)
{
    const int n = argc == 3 ? atoi(argv[1]) : 0, sweeps = argc == 3 ? atoi(argv[2]) : 0;
    if (n < 1 || sweeps < 1) {
        fprintf(stderr, "usage: blocked N SWEEPS\n");
        return 2;
    }
    const size_t points = (size_t)(n + 2) * (size_t)(n + 2) * (size_t)(n + 2);
    double *grid[7];
    for (size_t g = 0; g < 7; g++)
        grid[g] = map_grid(points, g);
    for (int sweep = 0; sweep < sweeps; sweep++)
        smooth_step_strided(n, n, 1, n, 0.8, grid[0], grid[1], grid[2], grid[3], grid[4], grid[5],
                            grid[6]);
    printf("%.17g", grid[6][points / 2]);
    smooth_tiles(n, n, sweeps, 0.8, grid[0], grid[1], grid[2], grid[3], grid[4], grid[5], grid[6]);
    printf(" %.17g\n", grid[6][points / 2]);
    return 0;
}
