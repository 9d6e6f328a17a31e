/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Experiments made by hand: a program of functions with one loop each, and runs. The test sets the
 * number of samples in each loop and thread. Also a seeded source of noise.
 */
#ifndef AS_TESTS_SYNTHETIC_H
#define AS_TESTS_SYNTHETIC_H

#include "place.h"

#include "compare/compare.h"

#define SYNTHETIC_MOST      512
#define SYNTHETIC_SAMPLE_NS 2000000

/* Changes that a test may make to the code of a version; zero is a valid default. */
struct synthetic_code {
    const char *build_id; /* NULL: "1" */
    const char *prefix;   /* of the functions' names; NULL: "kernel_" */
    const char *suffix;   /* NULL: "" */
    const char *file;     /* NULL: "/src/program.c"; "" = no lines */
    int64_t line_shift;   /* added to every line */
    int64_t address_shift;
    int changed; /* the instructions of this loop differ; -1 = none. 0 is a loop. */
    bool no_disassembly;
};

struct synthetic {
    struct as_experiment *experiment;
    size_t loop_n;
    int64_t function[SYNTHETIC_MOST], loop[SYNTHETIC_MOST], location[SYNTHETIC_MOST],
        path[SYNTHETIC_MOST];
    int64_t category;
};

struct synthetic_run {
    const char *kind, *label, *host, *event;
    double wall_s;
    int exit_code;
    size_t thread_n;
    const int64_t *sample_n; /* [thread * loop_n + loop] */
    const struct as_scale_setting *setting;
    int64_t cpu_n;
    int64_t steal_ns; /* external load */
};

/* Loop i is in the function "kernel_i", lines 10 i + 2 to 10 i + 5, of 8 + i instructions. */
void synthetic_open(struct synthetic *s, const char *path, size_t loop_n,
                    const struct synthetic_code *code);
int64_t synthetic_add(struct synthetic *s, const struct synthetic_run *run);

/* ---- Noise -------------------------------------------------------------------------------- */

/* xoshiro256** by D. Blackman and S. Vigna, seeded by splitmix64. */
struct noise {
    uint64_t state[4];
};

void noise_seed(struct noise *noise, uint64_t seed);
double noise_uniform(struct noise *noise); /* above 0, below 1 */
double noise_normal(struct noise *noise);
int64_t noise_poisson(struct noise *noise, double mean);

#endif
