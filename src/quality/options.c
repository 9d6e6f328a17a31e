/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scores the options of a compiler, as DW_AT_producer records them. GCC, with its Fortran and C++
 * front ends, records all options that affect code. Clang does so with -grecord-command-line. The
 * options of other compilers are unknown.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quality/options.h"
#include "quality/quality.h"

/* Values of instruction sets for the speed of a program, from 0 to 1. The four levels are those of
 * the x86-64 psABI (v2 SSE4.2, v3 AVX2 and FMA, v4 AVX-512). */
static const struct {
    const char *name;
    double value;
} architectures[] = {
    {"x86-64", 0},      {"k8", 0},          {"nocona", 0},      {"core2", 0.1},
    {"nehalem", 0.3},   {"westmere", 0.3},  {"x86-64-v2", 0.3}, {"sandybridge", 0.5},
    {"ivybridge", 0.5}, {"x86-64-v3", 0.9},
};

static double value_of_architecture(const char *name)
{
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
        if (strcmp(name, architectures[i].name) == 0)
            return architectures[i].value;
    return 1; /* a CPU by name, or native */
}

/* Returns the value of an optimisation level, from 0 to 1. Clang, and GCC since version 12 (release
 * notes), vectorise at -O2, so it is close to -O3. */
static double value_of_level(const char *word, const char *compiler, const char *version)
{
    const bool gcc = !compiler || strcmp(compiler, "gcc") == 0;

    if (strcmp(word, "-O3") == 0 || strcmp(word, "-Ofast") == 0)
        return 1;
    if (strcmp(word, "-O2") == 0)
        return gcc ? (version && strtol(version, NULL, 10) >= 12 ? 0.9 : 0.6) : 1;
    if (strcmp(word, "-O1") == 0 || strcmp(word, "-O") == 0 || strcmp(word, "-Os") == 0 ||
        strcmp(word, "-Oz") == 0 || strcmp(word, "-Og") == 0)
        return 0.3;
    return 0;
}

static void note_option_word(const char *word, size_t n, struct as_options_score *out)
{
    if (n >= 2 && strncmp(word, "-O", 2) == 0)
        snprintf(out->level_word, sizeof out->level_word, "%.*s", (int)n, word);
    else if (n > 7 && strncmp(word, "-march=", 7) == 0)
        snprintf(out->architecture_word, sizeof out->architecture_word, "%.*s", (int)n, word);
}

void as_score_options(const char *compiler, const char *version, const char *flags,
                      struct as_options_score *out)
{
    struct as_unit_options unit;

    *out = (struct as_options_score){.score = -1};
    if (!flags || !*flags)
        return;
    for (const char *at = flags; *at;) { /* the last option of a kind is valid */
        const size_t n = strcspn(at, " ");

        note_option_word(at, n, out);
        at += n;
        at += strspn(at, " ");
    }
    out->level = value_of_level(out->level_word, compiler, version);
    out->architecture =
        out->architecture_word[0] ? value_of_architecture(out->architecture_word + 7) : 0;
    as_unit_options(compiler, flags, &unit);
    out->score = 0.5 * out->level + 0.5 * out->architecture - unit.cost / 100;
    if (out->score < 0)
        out->score = 0;
}
