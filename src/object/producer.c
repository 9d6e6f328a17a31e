/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes DW_AT_producer and DW_AT_language: compiler, version, switches, language, standard. The
 * producer is free text. Unknown text gives AS_COMPILER_OTHER.
 */
#include <ctype.h>
#include <stdio.h>

#include "object/dwarf_internal.h"

struct language {
    uint16_t code;
    const char *name, *standard;
};

/* DWARF 5, table 7.17, and the later codes of dwarfstd.org. */
static const struct language languages[] = {
    {0x01, "C", "C89"},
    {0x02, "C", NULL},
    {0x03, "Ada", "Ada 83"},
    {0x04, "C++", NULL},
    {0x05, "Cobol", "Cobol 74"},
    {0x06, "Cobol", "Cobol 85"},
    {0x07, "Fortran", "Fortran 77"},
    {0x08, "Fortran", "Fortran 90"},
    {0x09, "Pascal", NULL},
    {0x0a, "Modula-2", NULL},
    {0x0b, "Java", NULL},
    {0x0c, "C", "C99"},
    {0x0d, "Ada", "Ada 95"},
    {0x0e, "Fortran", "Fortran 95"},
    {0x0f, "PL/I", NULL},
    {0x10, "Objective-C", NULL},
    {0x11, "Objective-C++", NULL},
    {0x12, "UPC", NULL},
    {0x13, "D", NULL},
    {0x14, "Python", NULL},
    {0x15, "OpenCL", NULL},
    {0x16, "Go", NULL},
    {0x17, "Modula-3", NULL},
    {0x18, "Haskell", NULL},
    {0x19, "C++", "C++03"},
    {0x1a, "C++", "C++11"},
    {0x1b, "OCaml", NULL},
    {0x1c, "Rust", NULL},
    {0x1d, "C", "C11"},
    {0x1e, "Swift", NULL},
    {0x1f, "Julia", NULL},
    {0x20, "Dylan", NULL},
    {0x21, "C++", "C++14"},
    {0x22, "Fortran", "Fortran 2003"},
    {0x23, "Fortran", "Fortran 2008"},
    {0x26, "Kotlin", NULL},
    {0x27, "Zig", NULL},
    {0x28, "Crystal", NULL},
    {0x2a, "C++", "C++17"},
    {0x2b, "C++", "C++20"},
    {0x2c, "C", "C17"},
    {0x2d, "Fortran", "Fortran 2018"},
    {0x2e, "Ada", "Ada 2005"},
    {0x2f, "Ada", "Ada 2012"},
    {0x30, "HIP", NULL},
    {0x31, "Assembly", NULL},
    {0x8001, "Assembly", NULL},
};

static void from_code(struct as_unit *unit)
{
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        if (languages[i].code == unit->dw_language) {
            unit->language = languages[i].name;
            unit->standard = languages[i].standard;
        }
    }
}

/* ---- Compilers ---------------------------------------------------------------------------- */

struct form {
    const char *mark; /* text that names the compiler */
    uint8_t compiler;
};

/* The first match counts, so a derived compiler comes before its base. */
static const struct form forms[] = {
    {"rustc version ", AS_COMPILER_RUSTC}, {"AOCC_", AS_COMPILER_AOCC},
    {"AOCC.LLVM.", AS_COMPILER_AOCC},      {"Intel(R)", AS_COMPILER_INTEL},
    {"flang version ", AS_COMPILER_FLANG}, {"flang-new version ", AS_COMPILER_FLANG},
    {"flang", AS_COMPILER_FLANG},          {"clang version ", AS_COMPILER_CLANG},
    {"GNU AS ", AS_COMPILER_GAS},          {"GNU ", AS_COMPILER_GCC},
    {"Go cmd/compile go", AS_COMPILER_GO}, {"nvc++ ", AS_COMPILER_NVHPC},
    {"nvc ", AS_COMPILER_NVHPC},           {"nvfortran ", AS_COMPILER_NVHPC},
    {"NVC++ ", AS_COMPILER_NVHPC},         {"NVC ", AS_COMPILER_NVHPC},
    {"NVFORTRAN ", AS_COMPILER_NVHPC},     {"pgcc ", AS_COMPILER_NVHPC},
    {"PGC++ ", AS_COMPILER_NVHPC},         {"PGF90 ", AS_COMPILER_NVHPC},
};

/* Returns a copy of the first version in `s`: a word that starts with a digit. Sets *nomem if
 * memory is exhausted. */
static const char *version_at(struct as_arena *arena, const char *s, bool *nomem)
{
    bool word = true;
    for (; *s; s++) {
        if (word && isdigit((unsigned char)*s))
            break;
        word = *s == ' ' || *s == '(';
    }
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || (s[n] && strchr(".-_+~", s[n])))
        n++;
    if (n == 0)
        return NULL;
    char *copy = as_arena_strndup(arena, s, n);
    *nomem |= !copy;
    return copy;
}

/* Sets language and standard from "C17", "C++14" or "Fortran2008", which GCC writes after "GNU ".
 */
static int gnu_standard(struct as_arena *arena, struct as_unit *unit, const char *s)
{
    size_t n = strcspn(s, " "), name = 0;
    while (name < n && !isdigit((unsigned char)s[name]))
        name++;
    bool fortran = name == 7 && strncmp(s, "Fortran", 7) == 0;
    bool c = (name == 1 && s[0] == 'C') || (name == 3 && strncmp(s, "C++", 3) == 0);
    if (name == n || !(fortran || c))
        return 0;
    char text[64];
    snprintf(text, sizeof text, "%.*s%s%.*s", (int)name, s, fortran ? " " : "",
             (int)(n - name > 32 ? 32 : n - name), s + name);
    unit->standard = as_arena_strndup(arena, text, strlen(text));
    return unit->standard ? 0 : AS_ERR_NOMEM;
}

/* Sets the standard from the last -std= switch, for compilers without another record of it. */
static int switch_standard(struct as_arena *arena, struct as_unit *unit)
{
    const char *last = NULL, *s = unit->flags;
    while (s && (s = strstr(s, "-std="))) {
        s += 5;
        last = s;
    }
    if (!last)
        return 0;
    size_t n = strcspn(last, " \"'");
    if (n > 3 && strncmp(last, "gnu", 3) == 0) {
        last += 3;
        n -= 3;
    } else if (n > 1 && (*last == 'c' || *last == 'f')) {
        last++;
        n--;
    }
    bool fortran = unit->language && strcmp(unit->language, "Fortran") == 0;
    const char *head = fortran ? "Fortran " : "C"; /* for C++, "++17" follows */
    if (n == 0 || n > 16)
        return 0;
    char text[64];
    snprintf(text, sizeof text, "%s%.*s", head, (int)n, last);
    unit->standard = as_arena_strndup(arena, text, strlen(text));
    return unit->standard ? 0 : AS_ERR_NOMEM;
}

int as_producer_parse(struct as_arena *arena, struct as_unit *unit)
{
    bool nomem = false;
    const char *producer = unit->producer, *mark = NULL;
    from_code(unit);
    if (!producer || !*producer)
        return 0;
    unit->compiler = AS_COMPILER_OTHER;
    for (size_t i = 0; i < sizeof forms / sizeof *forms && !mark; i++) {
        mark = strstr(producer, forms[i].mark);
        if (mark && forms[i].compiler == AS_COMPILER_GCC && mark != producer)
            mark = NULL;
        if (mark) {
            unit->compiler = forms[i].compiler;
            mark += strlen(forms[i].mark);
        }
    }
    unit->compiler_version = version_at(arena, mark ? mark : producer, &nomem);
    const char *flags = strstr(producer, " -");
    unit->flags = flags ? flags + 1 : NULL;
    if (nomem)
        return AS_ERR_NOMEM;
    if (unit->compiler == AS_COMPILER_GCC)
        return gnu_standard(arena, unit, mark);
    return switch_standard(arena, unit);
}

const char *as_compiler_word(const struct as_unit *unit)
{
    switch ((enum as_compiler)unit->compiler) {
    case AS_COMPILER_GCC:
        return "gcc";
    case AS_COMPILER_CLANG:
        return "clang";
    case AS_COMPILER_INTEL:
        return "intel";
    case AS_COMPILER_NVHPC:
        return "nvhpc";
    case AS_COMPILER_RUSTC:
        return "rustc";
    case AS_COMPILER_GO:
        return "go";
    case AS_COMPILER_GAS:
        return "gas";
    case AS_COMPILER_AOCC:
        return "aocc";
    case AS_COMPILER_FLANG:
        return "flang";
    case AS_COMPILER_OTHER:
        return "other";
    case AS_COMPILER_UNKNOWN:
        break;
    }
    return NULL;
}
