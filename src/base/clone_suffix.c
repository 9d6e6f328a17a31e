/* SPDX-License-Identifier: Apache-2.0 */
/* Sources: symbols as GCC (cgraphclones, ipa-split, target_clones), LLVM (hot-cold splitting,
 * function specialization, ThinLTO promotion) and BOLT (function splitting) write them. */
#include "base/clone_suffix.h"

#include <string.h>

/* Numbers that may follow the word of a suffix. */
enum suffix_number {
    MAY,   /* any count, also none: ".cold", ".cold.1" */
    MUST,  /* at least one: ".part.0" */
    LONGER /* more letters, then any count of numbers: ".arch_haswell" */
};

enum suffix_result { COPY, PART, OUTLINED };

struct suffix {
    const char *word;
    enum suffix_number number;
    enum suffix_result result;
};

static const struct suffix suffixes[] = {
    {".cold", MAY, PART},
    {".warm", MAY, PART},
    {".part", MUST, PART},
    {".__part", MUST, PART},
    {".constprop", MAY, COPY},
    {".isra", MAY, COPY},
    {".lto_priv", MAY, COPY},
    {"._omp_fn", MUST, OUTLINED},
    {"._omp_cpyfn", MUST, OUTLINED},
    {".omp_outlined", LONGER, OUTLINED},
    {".llvm", MUST, COPY},
    {".specialized", MAY, COPY},
    {".__uniq", MUST, COPY},
    {".localalias", MAY, COPY},
    {".simdclone", MUST, COPY},
    {".clone", MUST, COPY},
    {".memprof", MUST, COPY},
    {".extracted", MAY, COPY},
    {".argprom", MAY, COPY},
    {".argelim", MAY, COPY},
    {".retelim", MAY, COPY},
    {".arch_", LONGER, COPY},
    {".default", MAY, COPY},
    {".resolver", MAY, COPY},
    {".ifunc", MAY, COPY},
    {".avx", LONGER, COPY},
    {".sse", LONGER, COPY},
    {".fma", LONGER, COPY},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || c == '_';
}

/* Returns the length of numbers such as ".12.0" at `from`. */
static size_t numbers_n(struct as_view text, size_t from)
{
    size_t at = from;
    while (at + 1 < text.n && text.p[at] == '.' && is_digit(text.p[at + 1])) {
        size_t end = at + 1;
        while (end < text.n && is_digit(text.p[end]))
            end++;
        if (end < text.n && text.p[end] != '.')
            break;
        at = end;
    }
    return at - from;
}

static const struct suffix *suffix_at(struct as_view text, size_t *n)
{
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const struct suffix *s = &suffixes[i];
        if (!as_view_starts(text, s->word))
            continue;
        size_t at = as_view_of(s->word).n;
        while (s->number == LONGER && at < text.n && is_word(text.p[at]))
            at++;
        const size_t digits = numbers_n(text, at);
        if ((s->number == MUST && digits == 0) ||
            (at + digits < text.n && text.p[at + digits] != '.'))
            continue;
        *n = at + digits;
        return s;
    }
    *n = 0;
    return NULL;
}

size_t as_clone_suffix_n(struct as_view text)
{
    size_t n;
    suffix_at(text, &n);
    return n;
}

/* Returns true if only suffixes follow `at`. Sets `has[r]` for each result `r` of these
 * suffixes. */
static bool are_suffixes(struct as_view name, size_t at, bool has[3])
{
    memset(has, 0, 3 * sizeof *has);
    while (at < name.n) {
        size_t n;
        const struct suffix *s = suffix_at((struct as_view){name.p + at, name.n - at}, &n);
        if (!s)
            return false;
        has[s->result] = true;
        at += n;
    }
    return true;
}

size_t as_clone_base_n(struct as_view name)
{
    bool has[3];
    for (size_t i = 1; i < name.n; i++)
        if (name.p[i] == '.' && are_suffixes(name, i, has))
            return i;
    return name.n;
}

size_t as_clone_original_n(struct as_view name)
{
    bool has[3];
    for (size_t i = 1; i < name.n; i++)
        if (name.p[i] == '.' && are_suffixes(name, i, has) && !has[OUTLINED])
            return i;
    return name.n;
}

bool as_clone_is_part(struct as_view name)
{
    bool has[3];
    for (size_t i = 1; i < name.n; i++)
        if (name.p[i] == '.' && are_suffixes(name, i, has))
            return has[PART];
    return false;
}
