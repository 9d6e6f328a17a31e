/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The suite: its sources and ways to build it (data/validate/), the libraries that become of them,
 * and running one loop of a library.
 */
#ifndef AS_VALIDATE_SUITE_H
#define AS_VALIDATE_SUITE_H

#include "validate/internal.h"

struct as_suite_build {
    const char *name, *language;
    const char *needs; /* "x86-64-v3", "" */
    const char *options;
};
struct as_suite_source {
    const char *file, *language, *text;
};
/* Both end in an empty one (gen-validate.py). */
extern const struct as_suite_build as_suite_builds[];
extern const struct as_suite_source as_suite_sources[];

/* A library of one source, one compiler and one build. */
struct as_suite_library {
    const char *compiler; /* "gcc", "clang", "gfortran" */
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

/* Finds compilers and makes a directory. Errors: NOT_FOUND, IO. */
int as_suite_open(struct as_suite *suite, struct assay_error *err);
void as_suite_close(struct as_suite *suite); /* removes the directory */
/* Compiles it; false: the compiler refuses. */
bool as_suite_compile(const struct as_suite *suite, const struct as_suite_library *library);

/* ---- Names (names.c) ------------------------------------------------------------------------ */

/* The next loop of a source, behind `*at` (NULL: the first), without the number of its arrays. */
bool as_suite_name_next(const struct as_suite_source *source, const char **at,
                        struct as_view *name);
/* USAGE: no loop is wanted, with the names that there are. */
int as_suite_refuse(const struct as_suite *suite, struct assay_error *err);

/* ---- Running a loop (run.c) ------------------------------------------------------------------ */

/* A loop is measured in so many lengths, on arrays that lie at so many places. */
enum { AS_SUITE_LENGTHS = 5, AS_SUITE_PLACES = 3 };

struct as_suite_arrays; /* in the first level of the cache */
int as_suite_arrays_new(struct as_suite_arrays **out, struct assay_error *err);
void as_suite_arrays_free(struct as_suite_arrays **arrays);
void as_suite_place(struct as_suite_arrays *arrays, unsigned place);
/* Values that are not 0, of that type. */
void as_suite_fill(struct as_suite_arrays *arrays, unsigned element_b);

struct as_suite_work {
    struct as_suite_arrays *arrays;
    void (*loop)(long n, void *a, const void *b, const void *c, const void *d, const int *k,
                 void *s);
    long shorter, longer; /* elements */
};
/* Elements of a loop through `array_n` arrays with elements of `element_b` bytes, at most. */
long as_suite_room(const struct as_suite_arrays *arrays, unsigned array_n, unsigned element_b);
/* `run` of an assay_meter_work; the context is an as_suite_work. */
void as_suite_run(void *context, bool longer, unsigned repeats);
/* ---- Lengths (steps.c) ----------------------------------------------------------------------- */

/* Lengths up to `most` elements, the shortest first, for a loop that does `iterations` and
 * `branches` an element. */
void as_suite_lengths(long most, double iterations, double branches, long out[AS_SUITE_LENGTHS]);
/* Cycles of an iteration out of those in the step from each length to the next, and how far places
 * differ, as a share of them. */
double as_suite_estimate(const long length[AS_SUITE_LENGTHS],
                         const double step[AS_SUITE_PLACES][AS_SUITE_LENGTHS - 1], double *spread);

#endif
