/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The suite: its sources and builds (data/validate/), the libraries made of them, and runs of one
 * loop.
 */
#ifndef AS_VALIDATE_SUITE_H
#define AS_VALIDATE_SUITE_H

#include "validate/internal.h"

struct as_suite_build {
    const char *name, *language;
    const char *needs; /* required level of the instruction set: "x86-64-v3", or "" */
    const char *options;
};
struct as_suite_source {
    const char *file, *language, *text;
};
/* Both arrays end with an empty element (gen-validate.py). */
extern const struct as_suite_build as_suite_builds[];
extern const struct as_suite_source as_suite_sources[];

/* A library of one source, one compiler and one build. */
struct as_suite_library {
    const char *compiler; /* "gcc", "clang" or "gfortran" */
    const struct as_suite_build *build;
    const struct as_suite_source *source;
    char path[256];
};
enum { AS_SUITE_LIBRARIES = 64 };

struct as_suite {
    char directory[64];
    struct as_suite_library library[AS_SUITE_LIBRARIES];
    size_t library_n;
};

/* Finds compilers and creates a directory. Call as_suite_close to remove it. Errors: NOT_FOUND,
 * IO. */
int as_suite_open(struct as_suite *suite, struct as_error *err);
void as_suite_close(struct as_suite *suite); /* removes the directory */
/* Compiles a library; returns false if the compiler fails. */
bool as_suite_compile(const struct as_suite *suite, const struct as_suite_library *library);

/* ---- Names (names.c) ------------------------------------------------------------------------ */

/* Finds the next loop of a source. `at` is the position, NULL for the first loop. `name` is its
 * name without the number of arrays. Returns false at the end. */
bool as_suite_name_next(const struct as_suite_source *source, const char **at,
                        struct as_view *name);
/* Reports that no loop was selected, with the names of loops and builds. Returns USAGE. */
int as_suite_refuse(const struct as_suite *suite, struct as_error *err);

/* ---- Runs of a loop (run.c) ------------------------------------------------------------------ */

/* Number of lengths and of array placements that a loop is measured with. */
enum { AS_SUITE_LENGTHS = 5, AS_SUITE_PLACES = 3 };

struct as_suite_arrays; /* arrays that fit into the L1 cache */
/* Allocates the arrays at placement 0; free them with as_suite_arrays_free. Errors: NOMEM. */
int as_suite_arrays_new(struct as_suite_arrays **out, struct as_error *err);
void as_suite_arrays_free(struct as_suite_arrays **arrays);
/* Moves the arrays to placement number `place`, below AS_SUITE_PLACES. */
void as_suite_place(struct as_suite_arrays *arrays, unsigned place);
/* Fills the arrays with nonzero values of an element size in bytes. */
void as_suite_fill(struct as_suite_arrays *arrays, unsigned element_b);

struct as_suite_work {
    struct as_suite_arrays *arrays;
    void (*loop)(long n, void *a, const void *b, const void *c, const void *d, const int *k,
                 void *s);
    long shorter, longer; /* lengths in elements */
};
/* Returns the max elements of a loop over `array_n` arrays with elements of `element_b` bytes. */
long as_suite_room(const struct as_suite_arrays *arrays, unsigned array_n, unsigned element_b);
/* Function `run` of an as_meter_work; the context is an as_suite_work. */
void as_suite_run(void *context, bool longer, unsigned repeats);
/* ---- Lengths (steps.c) ----------------------------------------------------------------------- */

/* Computes lengths of up to `most` elements, ascending. The loop does `iterations` and
 * `branches` per element. */
void as_suite_lengths(long most, double iterations, double branches, long out[AS_SUITE_LENGTHS]);
/* Returns the cycles of an iteration from the steps between adjacent lengths. `spread` receives
 * the relative difference between placements, or -1 if the result is not positive. */
double as_suite_estimate(const long length[AS_SUITE_LENGTHS],
                         const double step[AS_SUITE_PLACES][AS_SUITE_LENGTHS - 1], double *spread);

#endif
