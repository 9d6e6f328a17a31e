/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ELF64 x86-64 object (executable, PIE, shared object, relocatable file) as a set of facts. They
 * are sections, symbols, unwind ranges and needed libraries; and from DWARF 2 to 5 compilation
 * units, line table and inlined subroutines.
 *
 * Addresses are link-time virtual addresses. The allocated sections of a relocatable file get
 * consecutive aligned addresses from AS_OBJECT_REL_BASE on, so that addresses are unique.
 *
 * Sources: System V ABI, AMD64 supplement; DWARF 5; GNU debug link and dwz conventions.
 */
#ifndef AS_OBJECT_OBJECT_H
#define AS_OBJECT_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define AS_OBJECT_REL_BASE 0x10000u
#define AS_NONE            UINT32_MAX /* missing index, in every table below */

struct as_object; /* opaque; immutable after opening, except for DWARF that is loaded later */

/* A replacement of a path prefix. Every returned source path gets the first one that matches. */
struct as_source_map {
    const char *from;
    const char *to;
};

struct as_object_options {
    const struct as_source_map *source_map; /* may be NULL */
    size_t source_map_n;
    const char *debug_dirs; /* ':'-separated roots for separate debug files; NULL: /usr/lib/debug */
};

/*
 * Opens the file at `path`. Errors: NOT_FOUND, PERMISSION, NOT_REGULAR, NOT_ELF (the message names
 * the format of the file: a script, an archive, a text file), ARCH, CLASS, TRUNCATED, CORRUPT,
 * NOMEM, IO. `options` may be NULL. The caller releases `*out` with as_object_close.
 */
int as_object_open(const char *path, const struct as_object_options *options,
                   struct as_object **out, struct as_error *err);
/* Opens a file of `size_b` bytes in memory, which must outlive the object. Messages use `name`.
 * Errors: those of as_object_open. */
int as_object_open_memory(const void *bytes, size_t size_b, const char *name,
                          const struct as_object_options *options, struct as_object **out,
                          struct as_error *err);
void as_object_close(struct as_object **object); /* sets *object to NULL; NULL is allowed */

/* ---- Identity --------------------------------------------------------------------------- */

enum as_object_type {
    AS_OBJECT_RELOCATABLE,
    AS_OBJECT_EXECUTABLE, /* fixed address */
    AS_OBJECT_PIE,
    AS_OBJECT_SHARED
};

/* Places of debug information. */
enum as_debug_kind {
    AS_DEBUG_NONE,
    AS_DEBUG_EMBEDDED, /* DWARF sections in the file itself */
    AS_DEBUG_SEPARATE, /* another file, by build-id or .gnu_debuglink */
    AS_DEBUG_MISSING   /* the file names a separate debug file that was not found */
};

struct as_object_info {
    const char *path;
    enum as_object_type type;
    bool is_k1om;     /* machine is K1OM (Knights Corner), not x86-64 */
    bool is_static;   /* executable without interpreter and needed libraries */
    bool has_symtab;  /* .symtab exists in this file or in the separate debug file */
    bool is_stripped; /* this file has no .symtab */
    uint8_t build_id[64];
    size_t build_id_b;       /* 0 = none */
    uint64_t entry;          /* 0 = none */
    uint64_t size_b;         /* of the file */
    uint64_t inode;          /* of the file; 0 for a file in memory */
    int64_t mtime_ns;        /* modification time since 1970; 0 for a file in memory */
    const char *interpreter; /* or NULL */
    const char *soname;      /* or NULL */
    const char *runpath;     /* DT_RUNPATH, else DT_RPATH, or NULL */
    enum as_debug_kind debug;
    const char *debug_path;       /* separate debug file, found or missing; else NULL */
    bool debug_compressed;        /* at least one DWARF section is compressed */
    bool debug_split;             /* some units are in .dwo or .dwp files */
    uint32_t debug_split_missing; /* skeleton units without their split unit */
    const char *dwp_path;         /* package read, or NULL */
    const char *dwz_path;         /* supplementary (dwz) file, or NULL */
    bool dwz_missing;
    uint8_t dwarf_version_min, dwarf_version_max; /* 0 = no units */
    uint64_t text_b;                              /* bytes in executable sections */
};

const struct as_object_info *as_object_info(const struct as_object *object);

/* Known identity of a file besides its build-id. */
enum as_file_known {
    AS_FILE_UNSEEN, /* nothing: without a build-id, no file matches */
    AS_FILE_INODE,  /* `inode` alone */
    AS_FILE_SEEN    /* inode, size_b, mtime_ns */
};

/*
 * Identity of a file that was read or mapped. The build-id identifies the file if it has one,
 * because copies share it. Otherwise inode, size and modification time (ns) identify the file.
 * Device numbers are not compared: a mount changes them, and btrfs and overlays have several.
 */
struct as_file_identity {
    uint8_t build_id[20];
    uint8_t build_id_b; /* bytes; 0 = no build-id, or one of more than 20 bytes */
    uint8_t known;      /* as_file_known */
    uint64_t inode, size_b;
    int64_t mtime_ns;
};

/* Reads the identity of an open file. Returns false if it is not a regular file. */
bool as_file_identify(int fd, struct as_file_identity *out);
/* Returns true if both identities are those of one file, unchanged in between. */
bool as_file_same(const struct as_file_identity *a, const struct as_file_identity *b);
/*
 * Opens `path` if the file there has this identity. Errors: those of as_object_open; NOT_FOUND
 * also if another file is there now, or if `identity` cannot identify a file.
 */
int as_object_open_same(const char *path, const struct as_file_identity *identity,
                        const struct as_object_options *options, struct as_object **out,
                        struct as_error *err);

/* Sets *names to the names of the needed libraries, in file order. The object owns them. Returns
 * their number. */
size_t as_object_needed(const struct as_object *object, const char *const **names);

/* ---- Sections, segments, arrays ----------------------------------------------------------- */

struct as_section {
    const char *name;
    uint64_t address; /* 0 for a section that is not allocated */
    uint64_t size_b;
    uint64_t offset;
    uint32_t type; /* SHT_* */
    bool alloc, exec, write, compressed;
    const uint8_t *data; /* bytes of the file; NULL if not allocated, or without bytes (.bss) */
    bool replaced;       /* BOLT has moved its code: only code with a symbol still runs here */
};
size_t as_object_sections(const struct as_object *object, const struct as_section **out);

struct as_segment {
    uint64_t address, size_b, file_b, offset;
    uint32_t type; /* PT_* */
    bool exec, write, read;
};
size_t as_object_segments(const struct as_object *object, const struct as_segment **out);
/* Computes the link-time address of the byte at `offset` of the file. Returns false if no segment
 * loads the byte. */
bool as_object_address_of(const struct as_object *object, uint64_t offset, uint64_t *address);

/* Returns the bytes of the loaded image from `address` on. Sets *size_b to the number of bytes up
 * to the end of the section or segment. NULL and 0 if the file has no byte there. */
const uint8_t *as_object_bytes(const struct as_object *object, uint64_t address, uint64_t *size_b);

/* Sets *out to the function addresses of .preinit_array, .init_array, .fini_array, DT_INIT and
 * DT_FINI. Returns their number. */
size_t as_object_init_functions(const struct as_object *object, const uint64_t **out);

/* A code address in data: an entry of a jump table or of a function table, or the value of a
 * label. */
struct as_pointer {
    uint64_t at;     /* address of the pointer */
    uint64_t target; /* code address, in an executable section */
};
/* A slot that the loader fills with the address of a function of another object. */
struct as_import {
    uint64_t at;
    const char *name; /* owned by the object */
};
struct as_pointers {
    struct as_pointer *pointer; /* sorted by `at`, without duplicates of `at` */
    size_t n;
    struct as_import *import; /* sorted by `at` */
    size_t import_n;
};
/*
 * Collects the code addresses in data. A position-independent file lists them as relocations. In
 * other files, every aligned word of loaded data with the value of a code address counts. The
 * caller frees `out` with as_pointers_free. Errors: NOMEM.
 */
int as_object_pointers(const struct as_object *object, struct as_pointers *out,
                       struct as_error *err);
void as_pointers_free(struct as_pointers *list);

/* ---- Symbols ---------------------------------------------------------------------------- */

enum as_symbol_kind {
    AS_SYMBOL_FUNCTION,
    AS_SYMBOL_IFUNC,
    AS_SYMBOL_PLT, /* synthesised: "name@plt" */
    AS_SYMBOL_OBJECT,
    AS_SYMBOL_TLS,
    AS_SYMBOL_NOTYPE,
    AS_SYMBOL_OTHER
};
enum as_symbol_binding { AS_BIND_LOCAL, AS_BIND_GLOBAL, AS_BIND_WEAK };

struct as_symbol {
    const char *name; /* as linked (mangled); version suffix removed */
    uint64_t address; /* thread-local symbol: offset in the thread's TLS block, as nm shows it */
    uint64_t size_b;
    uint32_t section; /* index into sections; AS_NONE for an absolute symbol */
    uint8_t kind;     /* as_symbol_kind */
    uint8_t binding;  /* as_symbol_binding */
    bool dynamic;     /* from .dynsym only */
    bool hidden;
};

/* Sets *out to the defined symbols and returns their number. They are sorted by address, then size
 * descending, then binding (global, weak, local), then name. */
size_t as_object_symbols(const struct as_object *object, const struct as_symbol **out);

/* Returns the index, in as_object_symbols, of the data symbol that contains `address`.
 * AS_NONE if there is none. */
uint32_t as_object_data_symbol(const struct as_object *object, uint64_t address);

/* `symtab` and `dynsym` are the entries of these tables, without the null symbol. `undefined` are
 * the undefined symbols of .symtab, or of .dynsym in a file without .symtab. The other counts are
 * symbols of as_object_symbols by kind. */
struct as_symbol_counts {
    size_t symtab, dynsym, functions, objects, plt, undefined;
};
void as_object_symbol_counts(const struct as_object *object, struct as_symbol_counts *counts);

/* Writes the demangled name to `buf`: C++ (Itanium ABI), Rust, and Fortran module procedures as
 * module::procedure. Copies a name that is not mangled. Returns the length of the text. */
int as_demangle(const char *name, char *buf, size_t buf_b);

/* The code range of one FDE of .eh_frame. */
struct as_unwind_range {
    uint64_t start, end;
    uint64_t lsda; /* address of the language-specific data area (exceptions), 0 = none */
    bool signal_frame;
};
/* Sets *out to the unwind ranges, sorted by start. Returns their number. */
size_t as_object_unwind_ranges(const struct as_object *object, const struct as_unwind_range **out);

/* ---- Unwinding ---------------------------------------------------------------------------- */

/* DWARF numbers of the registers that unwinding uses (AMD64 supplement, figure 3.36). */
enum as_unwind_register {
    AS_UNWIND_RAX = 0,
    AS_UNWIND_RBX = 3,
    AS_UNWIND_RBP = 6,
    AS_UNWIND_RSP = 7,
    AS_UNWIND_R12 = 12,
    AS_UNWIND_R15 = 15,
    AS_UNWIND_RA = 16, /* in a rule: the return address; in a frame: the pc */
    AS_UNWIND_REGISTERS = 17
};

/* How the canonical frame address (CFA) is computed. */
enum as_unwind_cfa {
    AS_CFA_NONE,     /* unknown, because the unwind information is damaged */
    AS_CFA_REGISTER, /* register + value */
    AS_CFA_EXPRESSION
};

/* How the caller's value of a register is found. Defaults without a rule: rsp is the CFA, the
 * preserved registers (rbx, rbp, r12 to r15) keep their value, the others are lost. */
enum as_unwind_kind {
    AS_RULE_UNDEFINED, /* lost; for the return address: this is the outermost frame */
    AS_RULE_SAME,
    AS_RULE_OFFSET,         /* in memory at CFA + value */
    AS_RULE_VAL_OFFSET,     /* CFA + value */
    AS_RULE_REGISTER,       /* in register number `value` */
    AS_RULE_EXPRESSION,     /* in memory at the result of the expression */
    AS_RULE_VAL_EXPRESSION, /* the result of the expression */
};

struct as_unwind_rule {
    uint8_t reg;  /* DWARF number, below AS_UNWIND_REGISTERS */
    uint8_t kind; /* as_unwind_kind */
    uint16_t spare;
    int32_t value; /* expression kinds: its offset, for as_object_unwind_expression */
};

/* Unwind rules of pcs in [start, start + size_b). */
struct as_unwind_row {
    uint64_t start;
    const struct as_unwind_rule *rule; /* by register number */
    uint32_t size_b;
    int32_t cfa_value;
    uint8_t cfa_kind; /* as_unwind_cfa */
    uint8_t cfa_register;
    uint8_t rule_n;
    uint8_t signal_frame : 1; /* the caller was interrupted at its pc; it made no call there */
    uint8_t table : 7;        /* for as_object_unwind_expression */
};

/*
 * Sets `*row` to the row of .eh_frame, else of .debug_frame, that covers `address`; NULL if there
 * is none. Look up a return address minus 1, unless the callee's frame is a signal frame. The first
 * call for a function decodes its rows, and the object keeps them. O(log n). Thread-safe. Errors:
 * NOMEM.
 */
int as_object_unwind_row(struct as_object *object, uint64_t address,
                         const struct as_unwind_row **row, struct as_error *err);
/* Returns the instructions (DW_OP_*) of an expression, and in *n their size in bytes. `value` is
 * the row's cfa_value or the value of a rule. */
const uint8_t *as_object_unwind_expression(const struct as_object *object,
                                           const struct as_unwind_row *row, int32_t value,
                                           size_t *n);

/* Registers of one frame by DWARF number. The pc is at AS_UNWIND_RA. */
struct as_unwind_frame {
    uint64_t reg[AS_UNWIND_REGISTERS];
    uint32_t known;    /* bit i is set if the value of register i is known */
    bool signal_frame; /* of the row that led to this frame */
};

/* Reads the 8 bytes at `address` of the process. Returns false if they cannot be read. */
typedef bool as_unwind_read(void *context, uint64_t address, uint64_t *word);

enum as_unwind_result {
    AS_UNWIND_CALLER,    /* the frame is now the caller's */
    AS_UNWIND_OUTERMOST, /* there is no caller: the unwind information says so, or its pc is 0 */
    AS_UNWIND_NO_MEMORY, /* a word of the stack could not be read */
    AS_UNWIND_DAMAGED    /* the row or an expression cannot be evaluated */
};

/* Replaces a frame by its caller's frame, using `row`. `bias` is the load address of the object
 * minus its link-time address. Any result but AS_UNWIND_CALLER leaves the frame unchanged. */
enum as_unwind_result as_object_unwind_step(const struct as_object *object,
                                            const struct as_unwind_row *row, uint64_t bias,
                                            struct as_unwind_frame *frame, as_unwind_read *read,
                                            void *context);

/* ---- Functions -------------------------------------------------------------------------- */

enum as_function_origin {
    AS_FUNCTION_SYMBOL,
    AS_FUNCTION_PLT,
    AS_FUNCTION_DWARF,  /* subprogram without symbol */
    AS_FUNCTION_UNWIND, /* unwind range without symbol; name "func_<hex address>" */
    AS_FUNCTION_ENTRY   /* entry point or init function without any of these */
};

/* One function. Symbols at the same address are one function with aliases. */
struct as_function {
    const char *name;    /* linkage name; preferred: global, then not hidden, then shortest */
    uint64_t start, end; /* end from symbol size, else unwind range, else the next function */
    uint32_t section;
    uint32_t aliases;   /* other names at the same start */
    uint32_t symbol;    /* index into symbols or AS_NONE */
    uint32_t unit;      /* index into units or AS_NONE (set when DWARF is loaded) */
    uint32_t decl_file; /* index into files or AS_NONE */
    uint32_t decl_line; /* 0 = unknown */
    uint8_t origin;     /* as_function_origin */
    bool is_part;       /* ".cold" or ".part" split of another function */
};

/* Sets *out to the `*n` functions, sorted by start. `with_source` loads DWARF and adds unit and
 * declaration. The first call with it builds a new list and invalidates the list of earlier calls.
 * The object owns the list. */
int as_object_functions(struct as_object *object, bool with_source, const struct as_function **out,
                        size_t *n, struct as_error *err);

/* ---- DWARF ------------------------------------------------------------------------------ */

enum as_compiler {
    AS_COMPILER_UNKNOWN,
    AS_COMPILER_GCC,
    AS_COMPILER_CLANG,
    AS_COMPILER_INTEL,
    AS_COMPILER_NVHPC,
    AS_COMPILER_RUSTC,
    AS_COMPILER_GO,
    AS_COMPILER_GAS,
    AS_COMPILER_AOCC,
    AS_COMPILER_FLANG,
    AS_COMPILER_OTHER
};

struct as_unit {
    const char *name;             /* source file as compiled, source map applied */
    const char *comp_dir;         /* or NULL */
    const char *producer;         /* DW_AT_producer, or NULL */
    const char *compiler_version; /* "12.2.0", or NULL */
    const char *flags;            /* command-line switches recorded in the producer, or NULL */
    const char *language;         /* "C", "C++", "Fortran", "Rust", ... or NULL */
    const char *standard;         /* "C11", "C++17", "Fortran 2008", or NULL */
    uint16_t dw_language;         /* DW_LANG_* */
    uint8_t compiler;             /* as_compiler */
    uint8_t dwarf_version;
    bool is_split; /* its DIEs are in a .dwo or .dwp file */
    bool split_missing;
};

/* Returns "gcc", "clang" or another name, static; NULL if the compiler is unknown. */
const char *as_compiler_word(const struct as_unit *unit);

/* A row of the line table. It is valid from its address to that of the next row. End-of-sequence
 * rows have file AS_NONE and line 0. */
struct as_line {
    uint64_t address;
    uint32_t file; /* index into files */
    uint32_t line;
    uint16_t column;
    bool is_stmt;
    uint8_t spare;
};

/* One inlined instance, or an out-of-line subprogram (call_file = AS_NONE). */
struct as_inline {
    const char *name; /* of the inlined function: linkage name if any, else plain */
    uint32_t parent;  /* enclosing instance or AS_NONE at a subprogram */
    uint32_t unit;
    uint32_t decl_file, decl_line;
    uint32_t call_file, call_line, call_column; /* of the inlined call; call_file: or AS_NONE */
    uint32_t first_range, ranges;               /* into the range table */
};

struct as_range {
    uint64_t start, end;
    uint32_t owner; /* index of the inline entry */
};

/* Returns true if `path` is a header of the system or of a compiler. */
bool as_source_is_system(const char *path);

/* All tables of the debug information. The object owns them. */
struct as_debug {
    const struct as_unit *unit;
    size_t unit_n;
    const char *const *file; /* absolute paths where known, source map applied */
    size_t file_n;
    const struct as_line *line; /* sorted by address */
    size_t line_n;
    const struct as_inline *inlines; /* subprograms and inlined instances, parents first */
    size_t inline_n;
    const struct as_range *range; /* grouped by owner */
    size_t range_n;
};

enum as_debug_parts {
    AS_DEBUG_UNITS = 1 << 0,
    AS_DEBUG_LINES = 1 << 1,
    AS_DEBUG_INLINES = 1 << 2,
    AS_DEBUG_ALL = 7
};

/*
 * Loads the requested parts (as_debug_parts) that are not yet loaded, and sets `*out` to the
 * tables. Uses `jobs` threads (0 = one per CPU). Without debug information, all tables are empty.
 * Damaged DWARF units are skipped and counted in `*damaged_units` (may be NULL). Errors: NOMEM.
 */
int as_object_debug(struct as_object *object, unsigned parts, unsigned jobs, struct as_debug *out,
                    size_t *damaged_units, struct as_error *err);

/* Returns the row of `debug` that covers `address`, or NULL if there is none. O(log n). */
const struct as_line *as_debug_line_at(const struct as_debug *debug, uint64_t address);
/* Returns the index of the innermost subprogram or inlined instance at `address`; AS_NONE if
 * there is none. `parent` leads to the enclosing ones. O(log n + depth). */
uint32_t as_debug_inline_at(const struct as_object *object, uint64_t address);
/* As as_debug_inline_at; faster for many ascending addresses. `*near` is the position of the
 * last result; set it to 0 before the first call. O(log distance). */
uint32_t as_debug_inline_near(const struct as_object *object, uint64_t address, size_t *near);

#endif
