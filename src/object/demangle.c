/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demangles names. libiberty demangles C++ (Itanium ABI) and Rust (legacy and v0). This file adds
 * the module procedures of gfortran, and the suffixes of clones that compilers make.
 *
 * libiberty is used instead of the C++ runtime, because it demangles Rust and needs no heap. It
 * writes through a callback, so endless output can be cut. Its recursion limit rejects names above
 * 1 KiB, but names of templates are longer. Such names run without this limit, up to NAME_MOST_B,
 * because that recursion fits the stack of every thread.
 */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include "base/clone_suffix.h"
#include "object/object.h"

#define NAME_MOST_B    ((size_t)4096)
#define OUTPUT_MOST_B  ((size_t)1 << 20)
#define LIMITED_MOST_B ((size_t)1024) /* max length of names with libiberty's recursion limit */

/* ---- Output that cannot overflow ------------------------------------------------------------ */

struct demangled_sink {
    char *buf;
    size_t n, buf_b;
    size_t seen; /* bytes from the demangler, including those that did not fit */
    jmp_buf stop;
};

static void append_to_sink(struct demangled_sink *out, const char *s, size_t n)
{
    size_t room = out->buf_b - 1 - out->n;
    if (n > room)
        n = room;
    if (n == 0) /* libiberty passes NULL for an empty text */
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
    /* Substitutions can make the output of a short name endless, and longjmp(3) is the only way to
     * stop it. The C++ demangler has no heap memory. The Rust demangler may leak a small buffer. */
    if (out->seen > OUTPUT_MOST_B)
        longjmp(out->stop, 1);
}

typedef int (*demangler)(const char *, int, demangle_callbackref, void *);

static bool run_demangler(demangler fn, const char *name, int options, struct demangled_sink *out)
{
    if (setjmp(out->stop) != 0)
        return true; /* the output was cut; the part that fits is kept */
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

/* Demangles a name of gfortran: __MODULE_MOD_NAME or __SUBMODULE_PARENT_SMOD_NAME, where the parts
 * are in lower case. Returns false for other names. */
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

/* Returns the length of the legacy Rust symbol at the start of `name`, or 0 if there is none. Such
 * a symbol may contain dots, and ends in a hash: "17h" and 16 hexadecimal digits. */
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

/* Returns the length of `name` without its clone suffixes. In a mangled name, the first dot begins
 * the suffixes, except in legacy Rust names. A plain name may contain other dots. */
static size_t base_length(const char *name, size_t n)
{
    const bool mangled = n > 2 && name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
    const char *dot = n > 1 ? memchr(name + 1, '.', n - 1) : NULL;
    const size_t rust = mangled ? rust_n(name, n) : 0;
    if (!mangled)
        return as_clone_base_n((struct as_view){name, n});
    return rust ? rust : dot ? (size_t)(dot - name) : n;
}

/* Appends " [clone .isra.0] [clone .cold]": one bracket for each suffix with its number. */
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
    /* Rust is tried first, because legacy Rust names are valid C++ names with a hash at the end. */
    if (run_demangler(rust_demangle_callback, base, options, out))
        return true;
    out->n = 0;
    return base[1] == 'Z' && run_demangler(cplus_demangle_v3_callback, base, options, out);
}

int as_demangle(const char *name, char *buf, size_t buf_b)
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
