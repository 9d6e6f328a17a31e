/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares two command lines of compilers by the flags that change code. A flag has a key: -O for
 * -O2, -march for -march=native, -ftree-vectorize for -fno-tree-vectorize. The last flag of a key
 * applies, as in compilers.
 */
#include <string.h>

#include "compare/differs.h"

/* Maximum number of listed flags. gcc records a hundred flags for -march=native. */
#define FLAGS_MOST 4

/* Returns true for a flag without effect on code: messages, paths, names, debug information. */
static bool is_silent(struct as_view it)
{
    static const char *const prefix[] = {
        "-g",          "-W",          "-w",           "-I",
        "-i",          "-J",          "-o",           "-c",
        "-M",          "-dump",       "-pipe",        "-v",
        "-L",          "-l",          "-fdebug-",     "-ffile-prefix-map",
        "-fmacro-pre", "-frandom-se", "-fdiagnostic", "-fcolor-diag",
        "-frecord-",   "-grecord-",   "-fmessage-",   "-fno-diagnostic"};
    for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
        if (as_view_starts(it, prefix[i]))
            return true;
    return it.n < 2 || it.p[0] != '-';
}

/* Key of a flag in two parts; "-fno-x" and "-fx" have the same key. */
struct key {
    struct as_view front, rest;
};

static struct key key_of(struct as_view flag)
{
    struct as_view rest = {.p = flag.p + 2, .n = flag.n - 2};
    const char *equals;
    const size_t from = as_view_starts(flag, "--param=") ? sizeof "--param=" - 1 : 0;
    if (as_view_starts(flag, "-O"))
        return (struct key){{flag.p, 2}, {flag.p, 0}};
    if (as_view_starts(rest, "no-"))
        rest = (struct as_view){.p = rest.p + 3, .n = rest.n - 3};
    equals = memchr(flag.p + from, '=', flag.n - from);
    if (equals && equals > rest.p)
        rest.n = (size_t)(equals - rest.p);
    return (struct key){{flag.p, 2}, rest};
}

static bool is_key(struct key a, struct key b)
{
    return as_view_equal(a.front, b.front) && as_view_equal(a.rest, b.rest);
}

/* Returns the last flag with a key, or an empty view. */
static struct as_view last_of(const char *flags, struct key key)
{
    struct as_view rest = as_view_of(flags), flag, found = {0};
    while (as_view_split(&rest, ' ', &flag))
        if (!is_silent(flag) && is_key(key_of(flag), key))
            found = flag;
    return found;
}

static void write_change(struct as_str *out, struct as_view a, struct as_view b, bool is_level)
{
    const int an = (int)a.n, bn = (int)b.n;
    if (a.n && b.n)
        as_str_appendf(out, "%.*s -> %.*s", an, a.p, bn, b.p);
    else if (is_level)
        as_str_appendf(out, "%s%.*s -> %s%.*s", a.n ? "" : "no -O", an, a.n ? a.p : "",
                       b.n ? "" : "no -O", bn, b.n ? b.p : "");
    else if (b.n)
        as_str_appendf(out, "with %.*s", bn, b.p);
    else
        as_str_appendf(out, "without %.*s", an, a.p);
}

/* Returns the rank of a flag: level, CPU, other flags, tuning and parameters. */
#define LAST_MAIN_RANK 1
#define LAST_RANK      3
static int rank_of(struct as_view flag)
{
    return as_view_starts(flag, "-O")         ? 0
           : as_view_starts(flag, "-march=")  ? 1
           : as_view_starts(flag, "-mtune=")  ? 3
           : as_view_starts(flag, "--param=") ? 3
                                              : 2;
}

struct comparing {
    struct as_str *out; /* NULL to count only */
    const char *a, *b;
    size_t n;
};

/* Writes the differing flags of side `of` with a rank. A key on both sides is written once. */
static void emit_rank(struct comparing *it, const char *of, int rank)
{
    struct as_view rest = as_view_of(of), flag;
    while (as_view_split(&rest, ' ', &flag)) {
        if (is_silent(flag) || rank_of(flag) != rank)
            continue;
        const struct key key = key_of(flag);
        const struct as_view a = last_of(it->a, key), b = last_of(it->b, key);
        const struct as_view own = of == it->a ? a : b;
        if (own.p != flag.p || as_view_equal(a, b) || (of == it->b && a.n))
            continue;
        if (it->n++ >= FLAGS_MOST || !it->out)
            continue;
        if (it->n > 1)
            as_str_appendz(it->out, ", ");
        write_change(it->out, a, b, rank == 0);
    }
}

static void emit_ranks(struct comparing *it, int first, int last)
{
    for (int rank = first; rank <= last; rank++) {
        emit_rank(it, it->a, rank);
        emit_rank(it, it->b, rank);
    }
}

bool as_flags_differ(const char *a, const char *b)
{
    struct comparing it = {.a = a, .b = b};
    emit_ranks(&it, 0, LAST_RANK);
    return it.n > 0;
}

void as_flags_difference(struct as_str *out, const char *a, const char *b, bool is_main)
{
    struct comparing it = {.out = out, .a = a, .b = b};
    emit_ranks(&it, is_main ? 0 : LAST_MAIN_RANK + 1, is_main ? LAST_MAIN_RANK : LAST_RANK);
    if (it.n > FLAGS_MOST)
        as_str_appendf(out, ", %zu more flag%s", it.n - FLAGS_MOST,
                       it.n == FLAGS_MOST + 1 ? "" : "s");
}
