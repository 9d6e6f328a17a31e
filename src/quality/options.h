/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiler options of a unit, from DW_AT_producer: options that matter to speed, harmful ones,
 * missing ones (data/quality/options.txt). GCC and its front ends record all options that shape
 * code; Clang does so with -grecord-command-line. Part of the room quality/.
 */
#ifndef AS_QUALITY_OPTIONS_H
#define AS_QUALITY_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as_compiler_option {
    const char *name;     /* "x87" */
    const char *title;    /* "arithmetic on the x87"; useful ones: the option itself */
    const char *meaning;  /* what it does or leaves undone, and what to do */
    bool harmful;         /* else useful */
    double cost;          /* points of 100, harmful ones */
    const char *words;    /* that give it, blanks between, `*` at an end for anything */
    const char *off;      /* that take it back */
    const char *compiler; /* that know it, blanks between; NULL: all */
};

/* The table; numbers are below 64. */
size_t as_compiler_option_count(void);
const struct as_compiler_option *as_compiler_option_get(size_t number);
/* By name; as_compiler_option_count: none. */
size_t as_compiler_option_find(const char *name);

struct as_unit_options {
    bool known;       /* options are recorded */
    uint64_t given;   /* bit i: option i holds, harmful or useful */
    uint64_t harmful; /* of them */
    uint64_t missing; /* useful ones that do not hold */
    double cost;      /* points that the harmful ones take */
    /* The instruction set is that of a CPU by name (native, skylake-avx512), not a level shared
     * by many (x86-64-v3). */
    bool specific;
    char architecture[48]; /* "skylake-avx512"; "" = not given */
};
void as_unit_options(const char *compiler, const char *flags, struct as_unit_options *out);

#endif
