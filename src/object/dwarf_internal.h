/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the DWARF reader: sections of a debug file, units, abbreviations, forms, and the
 * tables that it builds. libdw 0.188 is not used, because it is not thread-safe, does not read .dwp
 * files and does not check damaged files. Little endian only (x86-64).
 *
 * Returned strings point into the sections, which live as long as the struct as_dwarf.
 */
#ifndef AS_OBJECT_DWARF_INTERNAL_H
#define AS_OBJECT_DWARF_INTERNAL_H

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/filemap.h"
#include "base/read.h"
#include "base/vec.h"
#include "object/dwarf_side.h"
#include "object/variables.h"

/* ---- Sections of one file ---------------------------------------------------------------- */

enum as_dw_section {
    AS_DW_INFO,
    AS_DW_ABBREV,
    AS_DW_LINE,
    AS_DW_STR,
    AS_DW_LINE_STR,
    AS_DW_STR_OFFSETS,
    AS_DW_ADDR,
    AS_DW_RANGES,
    AS_DW_RNGLISTS,
    AS_DW_LOC,
    AS_DW_LOCLISTS,
    AS_DW_CU_INDEX,
    AS_DW_FRAME,
    AS_DW_SECTIONS
};

struct as_dw_bytes {
    const uint8_t *p;
    size_t n;
};

struct as_dw_sections {
    struct as_dw_bytes at[AS_DW_SECTIONS];
};

/* The bytes of a file, mapped or owned by the caller. */
struct as_dw_image {
    const uint8_t *p;
    size_t n;
    struct as_filemap map; /* empty: the caller owns the bytes */
};

struct as_dw_owned {
    uint8_t *p;
};

struct as_dw_span {
    uint64_t start, end;
};

/* A file with debug sections: plain ones, and those with the suffix ".dwo". */
struct as_dw_file {
    char *path; /* owned; NULL for bytes in memory */
    struct as_dw_image image;
    struct as_dw_sections plain, dwo;
    struct as_dw_bytes alt_link; /* .gnu_debugaltlink, .debug_sup */
    struct as_dw_bytes sup;
    struct as_dw_bytes debug_link;
    const uint8_t *build_id; /* of its NT_GNU_BUILD_ID note */
    size_t build_id_b;
    bool compressed;
    AS_VEC(struct as_dw_owned) owned; /* decompressed or relocated copies */
    AS_VEC(struct as_dw_span) exec;   /* address ranges of executable sections */
};

/* Maps a regular file. Errors, without a message: NOT_FOUND if it cannot be mapped. */
int as_dw_image_map(const char *path, struct as_dw_image *out);
void as_dw_image_release(struct as_dw_image *image);

/*
 * Finds the sections and links of `file->image`; damaged sections stay empty. `address` are the
 * section addresses of a relocatable file, or NULL. Errors, without a message: NOMEM; NOT_ELF if
 * the image is not an ELF64 x86-64 file.
 */
int as_dw_file_read(struct as_dw_file *file, const uint64_t *address, size_t address_n);
void as_dw_file_release(struct as_dw_file *file);

/* Decompresses `in` (zlib, or zstd if `zstd` is set) to `out`. Returns false unless the result has
 * exactly `size_b` bytes. */
bool as_dw_expand(struct as_dw_bytes in, bool zstd, uint8_t *out, size_t size_b);

/* ---- Cursor ------------------------------------------------------------------------------ */

/* Returns a cursor over the bytes [from, to) of a section; `to` is cut at its end. The cursor is
 * bad if `from` is outside. */
static inline struct as_read as_dw_read_of(struct as_dw_bytes s, uint64_t from, uint64_t to)
{
    if (to > s.n)
        to = s.n;
    if (from > to || !s.p)
        return (struct as_read){.bad = true};
    return as_read_of(s.p + from, (size_t)(to - from));
}

/* Returns the string at `offset` of a string section; NULL if it is outside or not terminated. */
const char *as_dw_string_at(struct as_dw_bytes s, uint64_t offset);

/* Reads an initial length. Returns the length in bytes, and sets *offset_b to 4 or 8. The cursor
 * goes bad for a reserved value. */
uint64_t as_dw_initial_length(struct as_read *c, uint8_t *offset_b);

/* ---- Abbreviations ------------------------------------------------------------------------ */

struct as_dw_attr {
    uint16_t name, form;
    int8_t size;   /* as_dw_form_size of the form; set in abbreviations */
    bool is_taken; /* as_dw_die_read reads it */
    int64_t implicit;
};

struct as_dw_abbrev {
    uint64_t code;
    uint16_t tag;
    bool children;
    uint8_t role;          /* as_dw_role */
    uint32_t first, attrs; /* index and number of its attributes in as_dw_abbrevs.attr */
    /* Bytes of a DIE, or AS_DW_VARIABLE if a form has a variable size. `addresses` and `offsets`
     * count the values with a size that depends on the unit. */
    uint32_t fixed_b, addresses, offsets;
};
#define AS_DW_VARIABLE UINT32_MAX

struct as_dw_abbrevs {
    uint64_t offset; /* in its section */
    const uint8_t *section;
    bool dense; /* the abbreviation with code i has index i - 1 */
    AS_VEC(struct as_dw_abbrev) at;
    AS_VEC(struct as_dw_attr) attr;
};

/* Reads the abbreviation table at `offset`. Errors, without a message: NOMEM, CORRUPT. */
int as_dw_abbrevs_read(struct as_dw_bytes section, uint64_t offset, struct as_dw_abbrevs *out);
void as_dw_abbrevs_release(struct as_dw_abbrevs *table);
/* Finds the abbreviation with a code by binary search, or returns NULL. */
const struct as_dw_abbrev *as_dw_abbrev_search(const struct as_dw_abbrevs *table, uint64_t code);
/* Returns the abbreviation with a code, or NULL if there is none. */
static inline const struct as_dw_abbrev *as_dw_abbrev_find(const struct as_dw_abbrevs *table,
                                                           uint64_t code)
{
    if (!table->dense)
        return as_dw_abbrev_search(table, code);
    return code - 1 < table->at.n ? &table->at.at[code - 1] : NULL;
}
/* Returns true if as_dw_die_read reads attributes with this name (DW_AT_*). */
bool as_dw_attr_is_taken(unsigned name);
/* Returns the role (as_dw_role, dwarf_die.h) of DIEs with this abbreviation. */
uint8_t as_dw_abbrev_role(const struct as_dw_abbrev *abbrev, const struct as_dw_attr *attr);
/* Returns the attributes of one abbreviation, or NULL if it has none. */
static inline const struct as_dw_attr *as_dw_abbrev_attrs(const struct as_dw_abbrevs *table,
                                                          const struct as_dw_abbrev *abbrev)
{
    return abbrev->attrs ? table->attr.at + abbrev->first : NULL;
}

/* ---- Units -------------------------------------------------------------------------------- */

struct as_dw_module;

struct as_dw_unit {
    const struct as_dw_module *module;
    struct as_dw_sections sec; /* that its forms refer to; in a package, the parts of this unit */
    uint64_t offset, end, die; /* in sec.at[AS_DW_INFO] */
    const struct as_dw_abbrevs *abbrevs;
    uint64_t str_offsets_base, addr_base, rnglists_base, loclists_base, ranges_base;
    uint64_t low_pc;
    uint64_t dwo_id;
    uint64_t signature, type_at; /* of a type unit; type_at: from the start of the unit */
    uint64_t line_offset;        /* DW_AT_stmt_list, UINT64_MAX = none */
    const char *name, *comp_dir, *producer, *dwo_name;
    struct as_dw_unit *split; /* the full unit of a skeleton */
    uint32_t line_table;      /* index of its line table or AS_NONE */
    uint32_t user;            /* index into as_unit or AS_NONE */
    uint16_t version, tag, language;
    uint8_t address_b, offset_b, type; /* type: DW_UT_*, 0 before DWARF 5 */
    bool has_dwo_id, split_missing, damaged, low_pc_indexed;
};

/* The units of one file (in a .dwp: of one package entry), sorted by offset. */
struct as_dw_module {
    struct as_dw_file *file;
    const struct as_dw_module *alt;              /* dwz supplementary file */
    const struct as_dw_unit *skeleton;           /* of a split module: gives bases and addresses */
    const struct as_dw_definitions *definitions; /* NULL: not looked for; owned by the as_dwarf */
    AS_VEC(struct as_dw_unit) unit;
    AS_VEC(struct as_dw_abbrevs *) abbrevs; /* owned, one per offset */
    size_t damaged;
};

/*
 * Reads unit headers, abbreviations and root DIEs from `sec` into module->unit. A damaged unit of
 * known length is kept, with `damaged` set. Errors: NOMEM.
 */
int as_dw_units_read(struct as_dw_module *module, const struct as_dw_sections *sec);
void as_dw_module_release(struct as_dw_module *module);
/* Returns the unit that contains `offset` of .debug_info, or NULL if there is none. */
const struct as_dw_unit *as_dw_unit_at(const struct as_dw_module *module, uint64_t offset);

/* ---- Forms -------------------------------------------------------------------------------- */

enum as_dw_class {
    AS_DW_NONE,
    AS_DW_UINT,
    AS_DW_SINT,
    AS_DW_ADDRESS,
    AS_DW_STRING,
    AS_DW_REF,       /* u: offset in the unit's own section */
    AS_DW_REF_ALT,   /* u: offset in the dwz file */
    AS_DW_SIGNATURE, /* u: of a type unit */
    AS_DW_OFFSET,    /* sec_offset */
    AS_DW_LISTX,     /* index of a range list */
    AS_DW_LOCLISTX,
    AS_DW_BLOCK, /* s: u bytes */
    AS_DW_OTHER
};

struct as_dw_value {
    enum as_dw_class kind;
    uint64_t u;
    const char *s;
};

/* Returns the unit that a reference in a DIE of `from` points into. NULL if `ref` is not a
 * reference, or if it points to no unit. */
const struct as_dw_unit *as_dw_unit_of(const struct as_dw_unit *from,
                                       const struct as_dw_value *ref);

/* Reads one value and resolves index forms through the bases of `unit`. The cursor goes bad on an
 * unknown form. An index without a target gives kind AS_DW_NONE. */
void as_dw_form_read(const struct as_dw_unit *unit, struct as_read *c,
                     const struct as_dw_attr *attr, struct as_dw_value *out);
void as_dw_form_skip(const struct as_dw_unit *unit, struct as_read *c, unsigned form);
/* Returns the size of a form in bytes; -1 for a variable size, -2 for the address size of the unit,
 * -3 for its offset size. */
int as_dw_form_size(unsigned form);
/* Reads the address with this index in .debug_addr. Returns false if there is none. */
bool as_dw_addrx(const struct as_dw_unit *unit, uint64_t index, uint64_t *out);

/* ---- Ranges ------------------------------------------------------------------------------- */

typedef AS_VEC(struct as_range) as_dw_ranges;

/* Appends the ranges of a DW_AT_ranges value. Returns false if they are damaged, or if memory is
 * exhausted, which sets *nomem. */
bool as_dw_ranges_read(const struct as_dw_unit *unit, const struct as_dw_value *value,
                       as_dw_ranges *out, bool *nomem);

/* ---- Line tables --------------------------------------------------------------------------- */

struct as_dw_sequence {
    uint64_t start, end;
    size_t first, n; /* index and number of its rows, including the end row */
    uint32_t table;
};

struct as_dw_line_table {
    const uint8_t *section; /* start of the section; identifies the table together with `offset` */
    uint64_t offset;
    const struct as_dw_unit *unit;
    struct as_dw_bytes bytes; /* of the line section */
    uint64_t program, end;
    uint16_t version;
    uint8_t address_b, offset_b, min_inst_b, opcode_base, line_range;
    int8_t line_base;
    bool default_stmt, damaged, is_rows; /* is_rows: its program is read, not only its files */
    const uint8_t *opcode_lengths;
    uint32_t *file; /* index into as_dw_files of each file number; in the arena */
    uint32_t file_n;
    AS_VEC(struct as_line) row;
    AS_VEC(struct as_dw_sequence) seq;
};

/* The table of all source files of an object. Used by one thread only. */
struct as_dw_files {
    AS_VEC(const char *) path;
    uint32_t *slot; /* hash table with open addressing: index + 1; 0 = free */
    size_t slots;
    struct as_arena *arena;
    const struct as_object_options *options;
    char *buf; /* scratch */
    size_t buf_b;
};

/* Returns the index of the file COMP_DIR/DIR/NAME, and adds the file if it is new. The path is
 * normalised and source-mapped. AS_NONE if memory is exhausted. */
uint32_t as_dw_file_intern(struct as_dw_files *files, const char *comp_dir, const char *dir,
                           const char *name);
void as_dw_files_release(struct as_dw_files *files);

/* Returns the index into as_dw_files of a file number of a unit, or AS_NONE. */
uint32_t as_dw_file_of(const struct as_dw_unit *unit, struct as_dw_line_table *const *tables,
                       uint64_t number);

/* Reads the header and the file table; sets `damaged` if they are. Errors: NOMEM. */
int as_dw_line_header(struct as_dw_line_table *table, struct as_dw_files *files);
/* Runs the line number program and adds rows and sequences. Sequences outside the code of `main`
 * are dropped. Errors: NOMEM. Thread-safe for different tables. */
int as_dw_line_program(struct as_dw_line_table *table, const struct as_dw_file *main);
/* Merges the rows of all tables by address, without duplicate sequences. The caller frees `*out`
 * with as_free. Errors: NOMEM. */
int as_dw_lines_merge(struct as_dw_line_table *const *table, size_t n, struct as_line **out,
                      size_t *out_n);

/* Returns true if `address` is in an executable section of the main file. */
bool as_dw_is_code(const struct as_dw_file *main, uint64_t address);

/* ---- Inlines ------------------------------------------------------------------------------- */

struct as_dw_inlines {
    AS_VEC(struct as_inline) at;
    as_dw_ranges range;
    bool damaged, nomem;
};

/* Reads the subprograms and inlined instances of one unit. `tables` resolve its file numbers.
 * Thread-safe for different units. */
void as_dw_inlines_read(const struct as_dw_unit *unit, struct as_dw_line_table *const *tables,
                        const struct as_dw_file *main, struct as_dw_inlines *out);

/* An interval of addresses, from `start` to the next segment. Its innermost instance is `owner`. */
struct as_dw_segment {
    uint64_t start;
    uint32_t owner; /* index of the inline entry, or AS_NONE */
};
/* Splits nested ranges into segments without overlap, sorted by start. The caller frees `*out` with
 * as_free. Errors: NOMEM. */
int as_dw_inlines_flatten(const struct as_range *range, size_t range_n, struct as_dw_segment **out,
                          size_t *n);

/* ---- Definitions of types ------------------------------------------------------------------ */

/* A record that a unit declares, and the DIE that defines it. */
struct as_dw_definition {
    struct as_type_ref declared, type;
};

struct as_dw_signature {
    uint64_t signature;
    struct as_type_ref type;
};

struct as_dw_definitions {
    AS_VEC(struct as_dw_definition) of;  /* by declaration */
    AS_VEC(struct as_dw_signature) type; /* by signature */
    bool is_known;
};

/* Finds the definitions of all records once; needs the units. 0 or NOMEM. */
int as_dw_definitions_find(struct as_dwarf *dw);
void as_dw_definitions_release(struct as_dw_definitions *all);

/* ---- Separate files, split units ----------------------------------------------------------- */

struct as_dwarf {
    struct as_dwarf_input in;
    struct as_arena arena;
    struct as_dw_file main;     /* the object itself */
    struct as_dw_file separate; /* by build-id or debug link */
    struct as_dw_file *debug;   /* `main` or `separate`, the one with DWARF; or NULL */
    struct as_dw_file dwz;
    struct as_dw_file dwp;
    struct as_dw_module module, alt;
    AS_VEC(struct as_dw_module *) split; /* owned */
    struct as_dw_definitions definitions;
    AS_VEC(struct as_dw_file *) split_file;
    struct as_dw_files files;
    AS_VEC(struct as_dw_line_table *) table;
    AS_VEC(struct as_unit) unit;
    AS_VEC(struct as_dw_unit *) unit_dw; /* the DWARF unit of each as_unit */
    struct as_line *line;
    size_t line_n;
    struct as_inline *inlines;
    size_t inline_n;
    struct as_range *range;
    size_t range_n;
    struct as_dw_segment *segment;
    size_t segment_n;
    unsigned loaded; /* AS_DEBUG_* */
    bool prepared;   /* units read */
    bool failed;     /* memory was exhausted; the tables are incomplete */
    size_t damaged;
    uint32_t split_missing;
    bool has_split, dwz_missing;
    enum as_debug_kind kind;
    const char *debug_path, *dwz_path, *dwp_path;
};

/* Finds and maps the separate, dwz and dwp files. Errors: NOMEM. */
int as_debugfile_find(struct as_dwarf *dw);
/* Finds and reads the split unit of a skeleton unit, or marks it as missing. Errors: NOMEM. */
int as_dw_split_read(struct as_dwarf *dw, struct as_dw_unit *skeleton);

/* ---- Facts from strings -------------------------------------------------------------------- */

/* Sets compiler, compiler_version, flags, language and standard of `unit` from its producer and
 * DW_LANG. Errors: NOMEM. */
int as_producer_parse(struct as_arena *arena, struct as_unit *unit);

/* Replaces the first matching prefix of `path` (as_source_map) and returns `buf` with the
 * result. Returns `path` if no prefix matches, NULL if `buf` is too small. A prefix matches whole
 * path components only. */
const char *as_source_map_apply(const struct as_object_options *options, const char *path,
                                char *buf, size_t buf_b);

#endif
