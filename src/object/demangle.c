/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readable names: C++ (Itanium ABI) and Rust (legacy and v0) by libiberty, Fortran module
 * procedures of gfortran, and the suffixes that compilers give to clones.
 *
 * libiberty rather than the C++ runtime: it knows Rust too, writes through a callback (so that
 * output which grows without bound can be cut), and needs no heap. Its own recursion limit
 * refuses names beyond 1 KiB, which templates reach; those run without that limit but cut at a
 * length whose recursion fits any thread's stack.
 */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include <assay/object.h>

#include "base/clone_suffix.h"

#define NAME_MOST_B    ((size_t)4096)
#define OUTPUT_MOST_B  ((size_t)1 << 20)
#define LIMITED_MOST_B ((size_t)1024) /* up to here libiberty's own limit lets names pass */

/* ---- Output that cannot overflow ------------------------------------------------------------ */

struct demangled_sink {
    char *buf;
    size_t n, buf_b;
    size_t seen; /* bytes written by the demangler, kept or not */
    jmp_buf stop;
};

static void append_to_sink(struct demangled_sink *out, const char *s, size_t n)
{
    size_t room = out->buf_b - 1 - out->n;
    if (n > room)
        n = room;
    if (n == 0) /* libiberty hands NULL for an empty piece */
        return;
    memcpy(out->buf + out->n, s, n);
    out->n += n;
    out->buf[out->n] = 0;
}

static void putz(struct demangled_sink *out, const char *z)
{
    append_to_sink(out, z, strlen(z));
}

static void append_demangled(const char *s, size_t n, void *opaque)
{
    struct demangled_sink *out = opaque;
    append_to_sink(out, s, n);
    out->seen += n;
    /* Substitutions can make a short name endless: then there is no other way out. All that the
     * C++ demangler holds is on its stack; Rust's may lose one small buffer. */
    if (out->seen > OUTPUT_MOST_B)
        longjmp(out->stop, 1);
}

typedef int (*demangler)(const char *, int, demangle_callbackref, void *);

static bool run_demangler(demangler fn, const char *name, int options, struct demangled_sink *out)
{
    if (setjmp(out->stop) != 0)
        return true; /* what fits is kept */
    return fn(name, options, append_demangled, out) != 0;
}

/* ---- Fortran -------------------------------------------------------------------------------- */

static bool is_word(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool good = (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= '0' && s[i] <= '9') || s[i] == '_';
        if (!good)
            return false;
    }
    return n > 0;
}

/* gfortran: __MODULE_MOD_NAME, and __SUBMODULE_PARENT_SMOD_NAME; names are lower case there. */
static bool fortran(const char *name, size_t n, struct demangled_sink *out)
{
    if (n < 8 || strncmp(name, "__", 2) != 0)
        return false;
    const char *mark = NULL;
    size_t mark_n = 0;
    for (size_t i = 3; i + 5 < n && !mark; i++) {
        if (strncmp(name + i, "_MOD_", 5) == 0)
            mark_n = 5;
        else if (i + 6 < n && strncmp(name + i, "_SMOD_", 6) == 0)
            mark_n = 6;
        if (mark_n)
            mark = name + i;
    }
    if (!mark || !is_word(name + 2, (size_t)(mark - name) - 2))
        return false;
    const char *procedure = mark + mark_n;
    size_t left = n - (size_t)(procedure - name);
    if (left == 0)
        return false;
    append_to_sink(out, name + 2, (size_t)(mark - name) - 2);
    putz(out, "::");
    append_to_sink(out, procedure, left);
    return true;
}

/* ---- Clones --------------------------------------------------------------------------------- */

/* The length of a legacy Rust symbol that `name` starts with, or 0: such symbols hold dots of their
 * own and end in a hash, "17h" and 16 hexadecimal digits. */
static size_t rust_n(const char *name, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    if (n < 3 || strncmp(name, "_ZN", 3) != 0)
        return 0;
    for (size_t i = 3; i + 20 <= n; i++) {
        const size_t end = i + 20;
        if (strncmp(name + i, "17h", 3) == 0 && strspn(name + i + 3, digits) == 16 &&
            name[end - 1] == 'E' && (end == n || name[end] == '.'))
            return end;
    }
    return 0;
}

/* The length of `name` without its clone suffixes. Mangled names hold no dots but those of Rust, so
 * that every suffix ends them; plain names hold dots of their own. */
static size_t base_length(const char *name, size_t n)
{
    const bool mangled = n > 2 && name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
    const char *dot = n > 1 ? memchr(name + 1, '.', n - 1) : NULL;
    const size_t rust = mangled ? rust_n(name, n) : 0;
    if (!mangled)
        return as_clone_base_n((struct as_view){name, n});
    return rust ? rust : dot ? (size_t)(dot - name) : n;
}

/* " [clone .isra.0] [clone .cold]": one bracket a suffix, its number with it. */
static void append_clone_suffixes(struct demangled_sink *out, const char *s, size_t n)
{
    size_t at = 0;
    while (at < n) {
        size_t end = at + 1;
        while (end < n &&
               !(s[end] == '.' && end + 1 < n && !(s[end + 1] >= '0' && s[end + 1] <= '9')))
            end++;
        putz(out, " [clone ");
        append_to_sink(out, s + at, end - at);
        putz(out, "]");
        at = end;
    }
}

/* ---- Door ----------------------------------------------------------------------------------- */

static bool demangle_base(const char *base, size_t n, struct demangled_sink *out)
{
    int options = DMGL_PARAMS | DMGL_ANSI | (n > LIMITED_MOST_B ? DMGL_NO_RECURSE_LIMIT : 0);
    if (n < 3 || base[0] != '_' || (base[1] != 'Z' && base[1] != 'R'))
        return fortran(base, n, out);
    /* Rust first: its older names are C++ names with a hash at the end. */
    if (run_demangler(rust_demangle_callback, base, options, out))
        return true;
    out->n = 0;
    return base[1] == 'Z' && run_demangler(cplus_demangle_v3_callback, base, options, out);
}

int assay_demangle(const char *name, char *buf, size_t buf_b)
{
    if (buf_b == 0)
        return 0;
    struct demangled_sink out = {.buf = buf, .buf_b = buf_b};
    size_t n = strlen(name);
    buf[0] = 0;
    if (n > NAME_MOST_B) {
        append_to_sink(&out, name, n);
        return (int)out.n;
    }
    char base[NAME_MOST_B + 1];
    const char *at = memchr(name, '@', n);
    size_t base_n = at ? (size_t)(at - name) : n;
    size_t plain = base_length(name, base_n);
    memcpy(base, name, plain);
    base[plain] = 0;
    if (!demangle_base(base, plain, &out)) {
        out.n = 0;
        plain = as_clone_base_n((struct as_view){name, base_n});
        append_to_sink(&out, name, plain);
    }
    append_clone_suffixes(&out, name + plain, base_n - plain);
    append_to_sink(&out, name + base_n, n - base_n);
    return (int)out.n;
}
