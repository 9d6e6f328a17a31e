/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel and the part of its data that one call works on. */
#ifndef DECAN_KERNELS_H
#define DECAN_KERNELS_H

#ifndef TYPE
#define TYPE double
#endif
#ifndef WIDTH
#if defined __AVX512F__
#define WIDTH 64
#elif defined __AVX2__
#define WIDTH 32
#else
#define WIDTH 16
#endif
#endif

typedef TYPE V __attribute__((vector_size(WIDTH), may_alias));

struct part {
    void *a;
    const void *b, *c;
    V x;
    long n;    /* vectors, nodes, elements, or repetitions */
    long mask; /* AGAIN: of numbers of vectors; NUMBERS: of elements */
};

enum data {
    STREAMS,      /* a is written, b and c are read, from end to end */
    AGAIN,        /* the same of few data, a thousand times what they are */
    LIST,         /* b: nodes of a line each, in one cycle by chance; *c is where it goes on */
    NUMBERS,      /* b: elements, c: their numbers by chance */
    NUMBERS_LONG, /* the same of 8 bytes */
    NOTHING
};

struct kernel {
    const char *name;
    double (*run)(const struct part *part);
    enum data data;
    unsigned arrays; /* that it streams through */
};

extern const struct kernel kernels[];
extern const struct kernel held_kernels[];   /* held.c */
extern const struct kernel unseen_kernels[]; /* unseen.c */
extern const struct kernel later_kernels[];  /* later.c */
extern const struct kernel fresh_kernels[];  /* fresh.c */

#endif
