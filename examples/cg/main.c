/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bundled mini-application: temperatures in a cube under several loads, by conjugate gradients
 * over ranks (MPI) and threads (OpenMP). The answer is known and checked: exit status 1 when it is
 * wrong, 2 for wrong usage. README.md says what the faults are.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cg.h"
#include "comm.h"

struct settings {
    int size, loads, iterations;
    struct faults faults;
};

static const char usage[] =
    "usage: cg [--size N] [--loads N] [--iterations N] [--faults LIST]\n"
    "  --size N        inner points along an edge of the cube (96)\n"
    "  --loads N       right sides to solve for, one after the other (4)\n"
    "  --iterations N  at most so many for each load (1000)\n"
    "  --faults LIST   none (the default), all, or some of divide, stride, scalar,\n"
    "                  imbalance, critical, separated by commas\n";

static int wrong_usage(const char *what, const char *why)
{
    if (comm_rank() == 0)
        fprintf(stderr, "cg: %s: %s\n%s", what, why, usage);
    return 2;
}

static int read_faults(const char *list, struct faults *f)
{
    const struct {
        const char *name;
        bool *flag;
    } known[] = {{"divide", &f->divide},
                 {"stride", &f->stride},
                 {"scalar", &f->scalar},
                 {"imbalance", &f->imbalance},
                 {"critical", &f->critical}};
    *f = (struct faults){0};
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
        const size_t length = strcspn(at, ",");
        const bool all = length == 3 && !strncmp(at, "all", 3);
        bool found = all || (length == 4 && !strncmp(at, "none", 4));
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (all || (strlen(known[i].name) == length && !strncmp(at, known[i].name, length)))
                found = *known[i].flag = true;
        if (!found)
            return wrong_usage(at, "there is no such fault");
    }
    return 0;
}

static int read_settings(int argc, char **argv, struct settings *s)
{
    for (int i = 1; i < argc; i += 2) {
        if (!strcmp(argv[i], "--help")) {
            if (comm_rank() == 0)
                fputs(usage, stdout);
            return -1;
        }
        int *number = !strcmp(argv[i], "--size")         ? &s->size
                      : !strcmp(argv[i], "--loads")      ? &s->loads
                      : !strcmp(argv[i], "--iterations") ? &s->iterations
                                                         : NULL;
        const bool faults = !strcmp(argv[i], "--faults");
        if (!number && !faults)
            return wrong_usage(argv[i], "there is no such option");
        if (i + 1 == argc)
            return wrong_usage(argv[i], "needs a value");
        if (faults && read_faults(argv[i + 1], &s->faults))
            return 2;
        char *end = NULL;
        const long value = number ? strtol(argv[i + 1], &end, 10) : 1;
        if (number && (*end || value < 1 || value > 100000))
            return wrong_usage(argv[i + 1], "is no number from 1 to 100000");
        if (number)
            *number = (int)value;
    }
    if (s->size > 1000 || s->size < 4 || s->size < 2 * comm_size())
        return wrong_usage("--size", "must be from 4 to 1000 and at least two planes a rank");
    return 0;
}

static void print_head(const struct settings *s)
{
    const struct faults f = s->faults;
    const bool any = f.divide || f.stride || f.scalar || f.imbalance || f.critical;
    printf("cg: %d^3 points, %d loads, %d ranks of %d threads, faults:%s%s%s%s%s%s\n", s->size,
           s->loads, comm_size(), omp_get_max_threads(), any ? "" : " none",
           f.divide ? " divide" : "", f.stride ? " stride" : "", f.scalar ? " scalar" : "",
           f.imbalance ? " imbalance" : "", f.critical ? " critical" : "");
}

/* True when every load was solved, and to its known answer. */
static bool run(const struct settings *s)
{
    struct problem p = problem_new(s->size, s->faults);
    double *u = field_new(&p.grid);
    const double begin = omp_get_wtime(), tolerance = 1e-8;
    /* Second order: 8 h^2 bounds what the grid leaves of two half waves along each axis. */
    const double bound = 8.0 * p.grid.h * p.grid.h;
    bool right = true;
    for (int load = 0; load < s->loads; load++) {
        problem_load(&p, load);
        const struct solution found = solve(&p, u, s->iterations, tolerance);
        const double error = problem_error(&p, load, u);
        const bool good = found.residual <= tolerance && error <= bound;
        right = right && good;
        if (comm_rank() == 0)
            printf("load %d: %d iterations, residual %.2e, error %.4e (at most %.4e): %s\n",
                   load + 1, found.iterations, found.residual, error, bound,
                   good ? "right" : "WRONG");
    }
    if (comm_rank() == 0)
        printf("time %.2f s\n", omp_get_wtime() - begin);
    free(u);
    problem_free(&p);
    return right;
}

int main(int argc, char **argv)
{
    struct settings settings = {.size = 96, .loads = 4, .iterations = 1000};
    comm_begin(&argc, &argv);
    int status = read_settings(argc, argv, &settings);
    if (status == 0) {
        if (comm_rank() == 0)
            print_head(&settings);
        status = run(&settings) ? 0 : 1;
    }
    comm_end();
    return status < 0 ? 0 : status;
}
