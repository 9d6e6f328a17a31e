/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the options of the table that a unit has: the last word that sets or unsets an option
 * decides. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "quality/options.h"
#include "quality/options_table.h"

size_t as_compiler_option_count(void)
{
    return as_quality_option_n;
}

const struct as_compiler_option *as_compiler_option_get(size_t number)
{
    return &as_quality_option[number];
}

size_t as_compiler_option_find(const char *name)
{
    size_t i = 0;

    while (i < as_quality_option_n && strcmp(as_quality_option[i].name, name) != 0)
        i++;
    return i;
}

static bool fits_word(struct as_view pattern, struct as_view word)
{
    if (pattern.n && pattern.p[pattern.n - 1] == '*') {
        pattern.n--;
        return word.n >= pattern.n && memcmp(word.p, pattern.p, pattern.n) == 0;
    }
    return as_view_equal(pattern, word);
}

/* Returns 2 if `list` has the word, 1 if a pattern with a star matches, else 0. */
static int is_listed(const char *list, struct as_view word)
{
    struct as_view rest = as_view_of(list), pattern;
    int best = 0;

    while (as_view_split(&rest, ' ', &pattern))
        if (pattern.n && fits_word(pattern, word)) {
            const int how = pattern.p[pattern.n - 1] == '*' ? 1 : 2;

            best = how > best ? how : best;
        }
    return best;
}

/* Returns true if the option is one of the compiler, or if either is not named. */
static bool knows(const char *compilers, const char *compiler)
{
    return !compilers || !compiler || is_listed(compilers, as_view_of(compiler));
}

static void apply_unit_option(struct as_view word, const char *compiler,
                              struct as_unit_options *out)
{
    if (as_view_starts(word, "-march=")) {
        snprintf(out->architecture, sizeof out->architecture, "%.*s", (int)(word.n - 7),
                 word.p + 7);
        out->specific = strncmp(out->architecture, "x86-64", 6) != 0;
    }
    for (size_t i = 0; i < as_quality_option_n; i++) {
        const struct as_compiler_option *it = &as_quality_option[i];
        const int on = is_listed(it->words, word), off = is_listed(it->off, word);

        if (!knows(it->compiler, compiler) || (!on && !off))
            continue;
        if (on > off)
            out->given |= 1ull << i;
        else
            out->given &= ~(1ull << i);
    }
}

void as_unit_options(const char *compiler, const char *flags, struct as_unit_options *out)
{
    struct as_view rest = as_view_of(flags), word;
    bool level = false;

    *out = (struct as_unit_options){.known = flags && *flags};
    if (!out->known)
        return;
    while (as_view_split(&rest, ' ', &word)) {
        level |= as_view_starts(word, "-O");
        apply_unit_option(word, compiler, out);
    }
    for (size_t i = 0; i < as_quality_option_n; i++) {
        const struct as_compiler_option *it = &as_quality_option[i];
        const uint64_t bit = 1ull << i;

        if (!level && is_listed(it->words, as_view_of("-O0")) == 2)
            out->given |= bit; /* the default of compilers */
        if (it->harmful && out->given & bit) {
            out->harmful |= bit;
            out->cost += it->cost;
        } else if (!it->harmful && !(out->given & bit) && knows(it->compiler, compiler)) {
            out->missing |= bit;
        }
    }
}
