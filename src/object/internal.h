/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of this room: one ELF file in memory (`as_file`), and the object. An object
 * is made of the analysed file and of its separate debug file, if it has one.
 *
 * The ELF reader checks every header on opening, and later follows offsets without checks. The
 * DWARF reader knows only bytes and addresses (dwarf_side.h). debug.c joins both.
 */
#ifndef AS_OBJECT_INTERNAL_H
#define AS_OBJECT_INTERNAL_H

#include <elf.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/filemap.h"
#include "object/object.h"

/*
 * One ELF64 x86-64 file. After opening, all headers and all sections with bytes are inside the
 * file, and every section name is terminated. The contents of sections are not checked.
 */
struct as_file {
    const char *path; /* in the arena */
    uint8_t *bytes;   /* NULL: no file */
    uint64_t size_b;
    struct as_filemap map; /* of `bytes`; private, because a .o is relocated in place */
    bool mapped;           /* opened by its path */
    bool owned;            /* `bytes` are on the heap; the file frees them */
    uint64_t inode;        /* 0 if not opened by its path */
    int64_t mtime_ns;      /* modification time since 1970; 0 if not opened by its path */
    Elf64_Ehdr ehdr;
    const Elf64_Shdr *shdr; /* aligned copies in the arena, indexed as in the file */
    const char *const *section_name;
    uint32_t shdr_n;
    const Elf64_Phdr *phdr;
    uint32_t phdr_n;
};

static inline int64_t as_mtime_ns(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

/* Role of a file. A separate debug file keeps headers of sections and segments without their bytes.
 */
enum as_file_role { AS_FILE_MAIN, AS_FILE_DEBUG };

/* Maps the file at `path` and checks its headers. Errors: those of as_object_open. */
int as_file_open(struct as_arena *arena, const char *path, enum as_file_role role,
                 struct as_file *out, struct as_error *err);
/* As as_file_open, for bytes that must outlive `*out`. Copies a relocatable file. */
int as_file_open_memory(struct as_arena *arena, const void *bytes, uint64_t size_b,
                        const char *name, enum as_file_role role, struct as_file *out,
                        struct as_error *err);
void as_file_close(struct as_file *file); /* frees the bytes and empties *file */
/* Returns the index of the first section with this name, or 0 if there is none. */
uint32_t as_file_section(const struct as_file *file, const char *name);
/* Returns the bytes of a section as stored, which may be compressed. NULL and 0 if the section has
 * no bytes in the file. */
const uint8_t *as_file_section_bytes(const struct as_file *file, uint32_t index, uint64_t *size_b);
/* Copies the build-id (note NT_GNU_BUILD_ID) to `out`. Returns its size in bytes; 0 if the file has
 * none. */
size_t as_file_build_id(const struct as_file *file, uint8_t *out, size_t out_b);

/* A symbol table with its string table. It is empty if `n` is 0. */
struct as_symtab {
    const uint8_t *at; /* Elf64_Sym, may be unaligned */
    uint64_t n;        /* entries, including the null symbol */
    const char *text;
    uint64_t text_b;     /* 0, or the last byte is zero */
    const uint8_t *more; /* SHT_SYMTAB_SHNDX words, or NULL */
    uint64_t more_n;
};

/* Returns the symbol table in section `index`; an empty table if that section is not one. */
struct as_symtab as_file_symtab(const struct as_file *file, uint32_t index);
/* Reads symbol `index` and its name ("" if the name is outside the string table). Returns false if
 * the table has no such symbol. */
bool as_symtab_get(const struct as_symtab *table, uint64_t index, Elf64_Sym *out,
                   const char **name);

/* A table of relocations with addend, which may be unaligned. */
struct as_relocations {
    const uint8_t *at; /* Elf64_Rela */
    uint64_t n;
};
#define AS_RELOCATIONS_MOST 4

/* Reads relocation `index`. Returns false if the table has no such entry. */
bool as_relocation_get(const struct as_relocations *table, uint64_t index, Elf64_Rela *out);

/* Entries of the dynamic section: addresses, and sizes in bytes; 0 = missing. */
struct as_dynamic {
    bool present;
    uint64_t strtab, strsz, symtab, hash, gnu_hash, pltgot;
    uint64_t rela, relasz, jmprel, pltrelsz;
    uint64_t init, fini, array[3], array_b[3]; /* preinit, init, fini */
    uint64_t flags_1;
};

struct as_dwarf; /* see dwarf_side.h */

/* Unwind tables, see frame.h. An object has at most AS_FRAME_TABLES tables of .eh_frame; further
 * tables are not read. A linked file has one, a .o may have several. The array has one more entry,
 * for .debug_frame. */
struct as_frame_place;
struct as_frame_table;
struct as_unwind_rows;
#define AS_FRAME_TABLES 127

struct as_object {
    struct as_arena arena; /* of the tables below, unless their comment names another owner */
    struct as_file file;
    struct as_file debug_file; /* separate debug file; .bytes is NULL if there is none */
    struct as_dwarf *dwarf;

    struct as_object_options options; /* a copy in the arena */
    uint64_t *section_address;        /* of each section of a .o; else NULL */

    struct as_object_info info;
    const char **needed;
    size_t needed_n;
    struct as_section *section; /* indexed as in the file */
    size_t section_n;
    uint32_t *by_address; /* indices of loaded sections that are not empty, sorted by address */
    size_t by_address_n;
    struct as_segment *segment;
    size_t segment_n;
    struct as_dynamic dynamic;
    struct as_symtab dynsym;
    struct as_relocations relocations[AS_RELOCATIONS_MOST]; /* that the loader applies */
    size_t relocations_n;
    uint64_t *init_function;
    size_t init_function_n;
    struct as_symbol *symbol;
    size_t symbol_n;
    struct as_symbol_counts counts;
    struct as_unwind_range *unwind;
    size_t unwind_n;
    struct as_frame_place *frame_place; /* of each unwind range */
    struct as_frame_table *frame_table; /* capacity AS_FRAME_TABLES + 1; as_frame_place.table */
    uint32_t frame_table_n;
    struct as_unwind_rows *rows; /* decoded unwind rows (rows.c); made by the first lookup */

    /* List of as_object_functions, on the heap. Made by the first call, and again by the first
     * call with DWARF. */
    struct as_function *function;
    size_t function_n;
    bool function_made, function_with_source;
};

/* ---- Given by the ELF side -------------------------------------------------------------- */

/* Returns the index of the loaded section that contains `address`; AS_NONE if there is none.
 * O(log n). */
uint32_t as_object_section_at(const struct as_object *object, uint64_t address);
/* Returns the link-time address of section `index`; in a relocatable file, its assigned address. */
uint64_t as_object_section_address(const struct as_object *object, uint32_t index);
/* Returns the 8 bytes of the image at `address`; 0 if the file has no bytes there. */
uint64_t as_object_word_at(const struct as_object *object, uint64_t address);

/* ---- Steps of opening, one file each -------------------------------------------------------- */

int as_object_load_sections(struct as_object *object, struct as_error *err);
void as_object_relocate(struct as_object *object); /* relocates a .o in place */
int as_object_load_dynamic(struct as_object *object, struct as_error *err);
int as_object_load_debug(struct as_object *object, struct as_error *err); /* finds files */
int as_object_load_symbols(struct as_object *object, struct as_error *err);
int as_object_load_unwind(struct as_object *object, struct as_error *err);

void as_unwind_rows_free(struct as_unwind_rows **rows); /* *rows may be NULL */

#endif
