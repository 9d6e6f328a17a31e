/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ELF64 x86-64 object (executable, PIE, shared object, relocatable file) as a set of facts. They
 * are sections, symbols, unwind ranges and needed libraries; and from DWARF 2 to 5 compilation
 * units, line table and inlined subroutines.
 *
 * Addresses are link-time virtual addresses. In a relocatable file the allocated sections are laid
 * out one after the other (each aligned) from ASSAY_OBJECT_REL_BASE, so that addresses are unique.
 *
 * Sources: System V ABI, AMD64 supplement; DWARF 5; GNU debug link and dwz conventions.
 */
#ifndef ASSAY_OBJECT_H
#define ASSAY_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <assay/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_OBJECT_REL_BASE 0x10000u
#define ASSAY_NONE            UINT32_MAX /* "no such index" in every table below */

struct assay_object; /* opaque; immutable after opening but for lazily loaded DWARF */

/* OLD=NEW prefixes applied in order, first match wins, to every source path handed out. */
struct assay_source_map {
    const char *from;
    const char *to;
};

struct assay_object_options {
    const struct assay_source_map *source_map; /* may be NULL */
    size_t source_map_n;
    const char *debug_dirs; /* ':'-separated roots for separate debug files; NULL: /usr/lib/debug */
};

/*
 * Opens `path`. Errors: NOT_FOUND, PERMISSION, NOT_REGULAR, NOT_ELF (the sentence names what it
 * is: a script, an archive, a text file), ARCH, CLASS, TRUNCATED, CORRUPT, NOMEM, IO.
 * `options` may be NULL. On success `*out` is released by assay_object_close.
 */
int assay_object_open(const char *path, const struct assay_object_options *options,
                      struct assay_object **out, struct assay_error *err);
/* As above on bytes in memory, which must outlive the object; `name` is for messages. */
int assay_object_open_memory(const void *bytes, size_t size_b, const char *name,
                             const struct assay_object_options *options, struct assay_object **out,
                             struct assay_error *err);
void assay_object_close(struct assay_object **object); /* nulls the pointer; NULL is fine */

/* ---- Identity --------------------------------------------------------------------------- */

enum assay_object_type {
    ASSAY_OBJECT_RELOCATABLE,
    ASSAY_OBJECT_EXECUTABLE, /* fixed address */
    ASSAY_OBJECT_PIE,
    ASSAY_OBJECT_SHARED
};

/* Places of debug information. */
enum assay_debug_kind {
    ASSAY_DEBUG_NONE,
    ASSAY_DEBUG_EMBEDDED, /* DWARF sections in the file itself */
    ASSAY_DEBUG_SEPARATE, /* another file, by build-id or .gnu_debuglink */
    ASSAY_DEBUG_MISSING   /* the file names a separate debug file that was not found */
};

struct assay_object_info {
    const char *path;
    enum assay_object_type type;
    bool is_k1om;     /* for Knights Corner, not for x86-64 at large */
    bool is_static;   /* executable without interpreter and needed libraries */
    bool has_symtab;  /* full symbol table, here or in the separate debug file */
    bool is_stripped; /* this file has no .symtab */
    uint8_t build_id[64];
    size_t build_id_b; /* 0 = none */
    uint64_t entry;    /* 0 = none */
    uint64_t size_b;   /* of the file */
    uint64_t inode;    /* of the file; 0 when it is in memory, mtime_ns too */
    int64_t mtime_ns;
    const char *interpreter; /* or NULL */
    const char *soname;      /* or NULL */
    const char *runpath;     /* DT_RUNPATH, else DT_RPATH, or NULL */
    enum assay_debug_kind debug;
    const char *debug_path;       /* separate debug file found, or the name missed; else NULL */
    bool debug_compressed;        /* any compressed DWARF section */
    bool debug_split;             /* units stand in .dwo or .dwp files */
    uint32_t debug_split_missing; /* skeleton units without their split unit */
    const char *dwp_path;         /* package read, or NULL */
    const char *dwz_path;         /* supplementary (dwz) file, or NULL */
    bool dwz_missing;
    uint8_t dwarf_version_min, dwarf_version_max; /* 0 = no units */
    uint64_t text_b;                              /* bytes in executable sections */
};

const struct assay_object_info *assay_object_info(const struct assay_object *object);

/* Known identity of a file besides its build-id. */
enum assay_file_known {
    ASSAY_FILE_UNSEEN, /* nothing: without a build-id no file is the same */
    ASSAY_FILE_INODE,  /* `inode` alone */
    ASSAY_FILE_SEEN    /* inode, size_b, mtime_ns */
};

/*
 * Identity of a file that was read or mapped: the build-id if there is one, because it holds for
 * copies too. Else inode, size and modification time to the nanosecond. Devices are not compared:
 * file systems get new numbers when they are mounted, and some (btrfs, overlays) have several.
 */
struct assay_file_identity {
    uint8_t build_id[20];
    uint8_t build_id_b; /* 0 = it has none, or none of up to 20 bytes */
    uint8_t known;      /* assay_file_known */
    uint64_t inode, size_b;
    int64_t mtime_ns;
};

/* The identity of an open file; false when it is not a regular one. */
bool assay_file_identify(int fd, struct assay_file_identity *out);
/* Returns true if two files of one name are the same, each as it was when seen. */
bool assay_file_same(const struct assay_file_identity *a, const struct assay_file_identity *b);
/*
 * Opens `path` if it is the file of that identity. Errors: NOT_FOUND also when another stands there
 * now, or when nothing tells; those of assay_object_open.
 */
int assay_object_open_same(const char *path, const struct assay_file_identity *identity,
                           const struct assay_object_options *options, struct assay_object **out,
                           struct assay_error *err);

/* Needed libraries in file order: borrowed names. */
size_t assay_object_needed(const struct assay_object *object, const char *const **names);

/* ---- Sections, segments, arrays ----------------------------------------------------------- */

struct assay_section {
    const char *name;
    uint64_t address; /* 0 when not allocated */
    uint64_t size_b;
    uint64_t offset;
    uint32_t type; /* SHT_* */
    bool alloc, exec, write, compressed;
    const uint8_t *data; /* bytes of the file, NULL for .bss-like or non-allocated sections */
    bool replaced;       /* BOLT has copied its code elsewhere: live only where a symbol leads */
};
size_t assay_object_sections(const struct assay_object *object, const struct assay_section **out);

struct assay_segment {
    uint64_t address, size_b, file_b, offset;
    uint32_t type; /* PT_* */
    bool exec, write, read;
};
size_t assay_object_segments(const struct assay_object *object, const struct assay_segment **out);
/* Link-time address of the byte at `offset` of the file; false when it is not loaded. */
bool assay_object_address_of(const struct assay_object *object, uint64_t offset, uint64_t *address);

/* Bytes of the loaded image from `address` on; *size_b becomes how many there are up to the end of
 * the section or segment. NULL and 0 when nothing of the file stands there. */
const uint8_t *assay_object_bytes(const struct assay_object *object, uint64_t address,
                                  uint64_t *size_b);

/* Function addresses of .preinit_array, .init_array, .fini_array, DT_INIT and DT_FINI. */
size_t assay_object_init_functions(const struct assay_object *object, const uint64_t **out);

/* Addresses of code that stand in data: jump tables, labels taken as values, function tables;
 * and the slots for those of other objects. */
struct assay_pointer {
    uint64_t at;     /* where it stands */
    uint64_t target; /* in an executable section */
};
/* A slot that the loader fills with the address of a function of another object. */
struct assay_import {
    uint64_t at;
    const char *name; /* borrowed from the object */
};
struct assay_pointers {
    struct assay_pointer *pointer; /* by place, one a place */
    size_t n;
    struct assay_import *import; /* by place */
    size_t import_n;
};
/*
 * From the relocations of position-independent files; in others every aligned word of loaded data
 * that has the value of a code address. Caller owns `out` (assay_pointers_free). Errors: NOMEM.
 */
int assay_object_pointers(const struct assay_object *object, struct assay_pointers *out,
                          struct assay_error *err);
void assay_pointers_free(struct assay_pointers *list);

/* ---- Symbols ---------------------------------------------------------------------------- */

enum assay_symbol_kind {
    ASSAY_SYMBOL_FUNCTION,
    ASSAY_SYMBOL_IFUNC,
    ASSAY_SYMBOL_PLT, /* synthesised: "name@plt" */
    ASSAY_SYMBOL_OBJECT,
    ASSAY_SYMBOL_TLS,
    ASSAY_SYMBOL_NOTYPE,
    ASSAY_SYMBOL_OTHER
};
enum assay_symbol_binding { ASSAY_BIND_LOCAL, ASSAY_BIND_GLOBAL, ASSAY_BIND_WEAK };

struct assay_symbol {
    const char *name; /* as linked (mangled); version suffix removed */
    uint64_t address; /* of a thread-local symbol: offset in the thread's block, as nm shows it */
    uint64_t size_b;
    uint32_t section; /* index into sections, ASSAY_NONE when absolute */
    uint8_t kind;     /* assay_symbol_kind */
    uint8_t binding;  /* assay_symbol_binding */
    bool dynamic;     /* from .dynsym only */
    bool hidden;
};

/* Defined symbols sorted by address, then size descending, then binding (global, weak, local),
 * then name. */
size_t assay_object_symbols(const struct assay_object *object, const struct assay_symbol **out);

/* The data symbol that holds `address`, as its number among these; ASSAY_NONE: there is none. */
uint32_t assay_object_data_symbol(const struct assay_object *object, uint64_t address);

/* `symtab`, `dynsym`: entries of the tables; `undefined`: of .symtab, without one of .dynsym. */
struct assay_symbol_counts {
    size_t symtab, dynsym, functions, objects, plt, undefined;
};
void assay_object_symbol_counts(const struct assay_object *object,
                                struct assay_symbol_counts *counts);

/* Readable name into `buf` (C++ Itanium and Rust by the runtime's rules, Fortran module
 * procedures as module::procedure); the name itself when nothing applies. Returns its length. */
int assay_demangle(const char *name, char *buf, size_t buf_b);

/* One range of unwind information (.eh_frame FDE), sorted by start. */
struct assay_unwind_range {
    uint64_t start, end;
    uint64_t lsda; /* address of the language-specific data area (exceptions), 0 = none */
    bool signal_frame;
};
size_t assay_object_unwind_ranges(const struct assay_object *object,
                                  const struct assay_unwind_range **out);

/* ---- Unwinding ---------------------------------------------------------------------------- */

/* DWARF numbers of the registers that a caller's frame is found with (AMD64 supplement, 3.36). */
enum assay_unwind_register {
    ASSAY_UNWIND_RAX = 0,
    ASSAY_UNWIND_RBX = 3,
    ASSAY_UNWIND_RBP = 6,
    ASSAY_UNWIND_RSP = 7,
    ASSAY_UNWIND_R12 = 12,
    ASSAY_UNWIND_R15 = 15,
    ASSAY_UNWIND_RA = 16, /* of the caller: the return address; of a frame: its pc */
    ASSAY_UNWIND_REGISTERS = 17
};

/* How the canonical frame address (CFA) is computed. */
enum assay_unwind_cfa {
    ASSAY_CFA_NONE,     /* damaged information: nothing is known here */
    ASSAY_CFA_REGISTER, /* register + value */
    ASSAY_CFA_EXPRESSION
};

/* How the caller's value of a register is had. A register without rule: rsp is the CFA, those
 * that calls preserve (rbx, rbp, r12 to r15) have the same value, others are lost. */
enum assay_unwind_kind {
    ASSAY_RULE_UNDEFINED, /* lost; of the return address: the outermost frame */
    ASSAY_RULE_SAME,
    ASSAY_RULE_OFFSET,         /* in memory at CFA + value */
    ASSAY_RULE_VAL_OFFSET,     /* CFA + value */
    ASSAY_RULE_REGISTER,       /* in register number `value` */
    ASSAY_RULE_EXPRESSION,     /* in memory at what the expression yields */
    ASSAY_RULE_VAL_EXPRESSION, /* what the expression yields */
};

struct assay_unwind_rule {
    uint8_t reg;  /* DWARF number, below ASSAY_UNWIND_REGISTERS */
    uint8_t kind; /* assay_unwind_kind */
    uint16_t spare;
    int32_t value; /* an expression: where it stands, for assay_object_unwind_expression */
};

/* Unwind rules of pcs in [start, start + size_b). */
struct assay_unwind_row {
    uint64_t start;
    const struct assay_unwind_rule *rule; /* by register number */
    uint32_t size_b;
    int32_t cfa_value;
    uint8_t cfa_kind; /* assay_unwind_cfa */
    uint8_t cfa_register;
    uint8_t rule_n;
    uint8_t
        signal_frame : 1; /* the pc of the caller is where it was interrupted, not behind a call */
    uint8_t table : 7;    /* for assay_object_unwind_expression */
};

/*
 * Returns in `*row` the row of .eh_frame, else of .debug_frame, that covers `address`; NULL if
 * there is none. Look up return addresses less 1, unless the callee's frame is a signal frame.
 * Decoded on first use of a function and kept with the object. O(log n). Thread-safe. Errors:
 * NOMEM.
 */
int assay_object_unwind_row(struct assay_object *object, uint64_t address,
                            const struct assay_unwind_row **row, struct assay_error *err);
/* Instructions (DW_OP_*) of an expression: `value` is the row's cfa_value or a rule's value. */
const uint8_t *assay_object_unwind_expression(const struct assay_object *object,
                                              const struct assay_unwind_row *row, int32_t value,
                                              size_t *n);

/* Registers of one frame by DWARF number, the pc as ASSAY_UNWIND_RA; bit i of `known` for each. */
struct assay_unwind_frame {
    uint64_t reg[ASSAY_UNWIND_REGISTERS];
    uint32_t known;
    bool signal_frame; /* of the row that led here */
};

/* Reads 8 bytes of the process at `address`; false when they are not to be had. */
typedef bool assay_unwind_read(void *context, uint64_t address, uint64_t *word);

enum assay_unwind_result {
    ASSAY_UNWIND_CALLER,    /* the frame is now the caller's */
    ASSAY_UNWIND_OUTERMOST, /* there is no caller: said by the information, or pc 0 */
    ASSAY_UNWIND_NO_MEMORY, /* a word of the stack could not be read */
    ASSAY_UNWIND_DAMAGED    /* the row or an expression cannot be followed */
};

/* Goes from a frame to its caller by `row`. `bias`: where the object is loaded, less its link-time
 * address. The frame is unchanged unless the caller was reached. Never fails otherwise. */
enum assay_unwind_result assay_object_unwind_step(const struct assay_object *object,
                                                  const struct assay_unwind_row *row, uint64_t bias,
                                                  struct assay_unwind_frame *frame,
                                                  assay_unwind_read *read, void *context);

/* ---- Functions -------------------------------------------------------------------------- */

enum assay_function_origin {
    ASSAY_FUNCTION_SYMBOL,
    ASSAY_FUNCTION_PLT,
    ASSAY_FUNCTION_DWARF,  /* subprogram without symbol */
    ASSAY_FUNCTION_UNWIND, /* unwind range without symbol; name "func_<hex address>" */
    ASSAY_FUNCTION_ENTRY   /* entry point or init array without either */
};

/* One body of code with a name; aliases at the same address are counted, not repeated. */
struct assay_function {
    const char *name;    /* linkage name; preferred: global, then not hidden, then shortest */
    uint64_t start, end; /* end from symbol size, else unwind range, else the next function */
    uint32_t section;
    uint32_t aliases;   /* further symbols at the same start */
    uint32_t symbol;    /* index into symbols or ASSAY_NONE */
    uint32_t unit;      /* index into units or ASSAY_NONE (set when DWARF is loaded) */
    uint32_t decl_file; /* index into files, ASSAY_NONE */
    uint32_t decl_line; /* 0 = unknown */
    uint8_t origin;     /* assay_function_origin */
    bool is_part;       /* ".cold" or ".part" split of another function */
};

/* Sorted by start. Loads DWARF when `with_source` asks for unit and declaration lines; the first
 * call that does replaces the list, and what was handed out before is gone. */
int assay_object_functions(struct assay_object *object, bool with_source,
                           const struct assay_function **out, size_t *n, struct assay_error *err);

/* ---- DWARF ------------------------------------------------------------------------------ */

enum assay_compiler {
    ASSAY_COMPILER_UNKNOWN,
    ASSAY_COMPILER_GCC,
    ASSAY_COMPILER_CLANG,
    ASSAY_COMPILER_INTEL,
    ASSAY_COMPILER_NVHPC,
    ASSAY_COMPILER_RUSTC,
    ASSAY_COMPILER_GO,
    ASSAY_COMPILER_GAS,
    ASSAY_COMPILER_AOCC,
    ASSAY_COMPILER_FLANG,
    ASSAY_COMPILER_OTHER
};

struct assay_unit {
    const char *name;             /* source file as compiled, source map applied */
    const char *comp_dir;         /* or NULL */
    const char *producer;         /* DW_AT_producer, or NULL */
    const char *compiler_version; /* "12.2.0", or NULL */
    const char *flags;            /* command-line switches recorded in the producer, or NULL */
    const char *language;         /* "C", "C++", "Fortran", "Rust", ... or NULL */
    const char *standard;         /* "C11", "C++17", "Fortran 2008", or NULL */
    uint16_t dw_language;         /* DW_LANG_* */
    uint8_t compiler;             /* assay_compiler */
    uint8_t dwarf_version;
    bool is_split; /* its DIEs stand in a .dwo or .dwp */
    bool split_missing;
};

/* "gcc", "clang", ...; NULL when the compiler is unknown. */
const char *assay_compiler_word(const struct assay_unit *unit);

/* A row holds from its address to that of the next row; end-of-sequence rows have file
 * ASSAY_NONE and line 0. Sorted by address. */
struct assay_line {
    uint64_t address;
    uint32_t file; /* index into files */
    uint32_t line;
    uint16_t column;
    bool is_stmt;
    uint8_t spare;
};

/* One inlined instance (or out-of-line subprogram, call_file = ASSAY_NONE). */
struct assay_inline {
    const char *name; /* of the inlined function: linkage name if any, else plain */
    uint32_t parent;  /* enclosing instance or ASSAY_NONE at a subprogram */
    uint32_t unit;
    uint32_t decl_file, decl_line;
    uint32_t call_file, call_line, call_column; /* where it was inlined; call_file may be NONE */
    uint32_t first_range, ranges;               /* into the range table */
};

struct assay_range {
    uint64_t start, end;
    uint32_t owner; /* index of the inline entry */
};

/* True for a source file of the distribution: a header of the system or of a compiler. */
bool assay_source_is_system(const char *path);

/* All tables of the debug information, borrowed from the object. */
struct assay_debug {
    const struct assay_unit *unit;
    size_t unit_n;
    const char *const *file; /* absolute paths where known, source map applied */
    size_t file_n;
    const struct assay_line *line;
    size_t line_n;
    const struct assay_inline *inlines; /* subprograms and inlined instances, parents first */
    size_t inline_n;
    const struct assay_range *range; /* grouped by owner */
    size_t range_n;
};

enum assay_debug_parts {
    ASSAY_DEBUG_UNITS = 1 << 0,
    ASSAY_DEBUG_LINES = 1 << 1,
    ASSAY_DEBUG_INLINES = 1 << 2,
    ASSAY_DEBUG_ALL = 7
};

/*
 * Loads the requested parts that are not yet loaded, with `jobs` threads (0 = one per CPU), and
 * returns the tables. Without debug information all tables are empty. Damaged units of DWARF are
 * skipped and counted in `*damaged_units` (may be NULL).
 */
int assay_object_debug(struct assay_object *object, unsigned parts, unsigned jobs,
                       struct assay_debug *out, size_t *damaged_units, struct assay_error *err);

/* Row of `debug` that covers `address`, or NULL. O(log n). */
const struct assay_line *assay_debug_line_at(const struct assay_debug *debug, uint64_t address);
/* Innermost subprogram or inlined instance at `address`; follow .parent outwards. ASSAY_NONE
 * when none. O(log n + depth). */
uint32_t assay_debug_inline_at(const struct assay_object *object, uint64_t address);
/* The same for many addresses that mostly ascend: `*near` is the position of the last result (0
 * at first). O(log distance). */
uint32_t assay_debug_inline_near(const struct assay_object *object, uint64_t address, size_t *near);

#ifdef __cplusplus
}
#endif
#endif
