/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this room share: one ELF file in memory (`as_file`), and the object built of
 * the file analysed plus, perhaps, its separate debug file.
 *
 * The ELF side checks every header once on opening and then follows offsets freely; the DWARF side
 * is told bytes and addresses only (dwarf.h), debug.c joins the two.
 */
#ifndef AS_OBJECT_INTERNAL_H
#define AS_OBJECT_INTERNAL_H

#include <elf.h>
#include <sys/stat.h>

#include <assay/object.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/filemap.h"

/*
 * One ELF64 x86-64 file. Once opened: every header fits the file, every section with bytes in the
 * file lies within it, every section name is terminated; the contents of sections are unchecked.
 */
struct as_file {
    const char *path; /* in the arena */
    uint8_t *bytes;   /* NULL: no file */
    uint64_t size_b;
    struct as_filemap map; /* of `bytes`; private, as relocations of a .o are applied in place */
    bool mapped;           /* opened by its path */
    bool owned;            /* on the heap (else borrowed) */
    uint64_t inode;
    int64_t mtime_ns; /* both 0 when it was not opened by its path */
    Elf64_Ehdr ehdr;
    const Elf64_Shdr
        *shdr; /* aligned copies in the arena; index as in the file, 0 = null section */
    const char *const *section_name;
    uint32_t shdr_n;
    const Elf64_Phdr *phdr;
    uint32_t phdr_n;
};

static inline int64_t as_mtime_ns(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

/* What a file is opened for: a separate debug file has headers of sections that it does not hold.
 */
enum as_file_role { AS_FILE_MAIN, AS_FILE_DEBUG };

int as_file_open(struct as_arena *arena, const char *path, enum as_file_role role,
                 struct as_file *out, struct assay_error *err);
int as_file_open_memory(struct as_arena *arena, const void *bytes, uint64_t size_b,
                        const char *name, enum as_file_role role, struct as_file *out,
                        struct assay_error *err);
void as_file_close(struct as_file *file); /* leaves an empty one */
/* First section of that name, 0 when none. */
uint32_t as_file_section(const struct as_file *file, const char *name);
/* Its bytes in the file (as stored: perhaps compressed); NULL and 0 when it has none. */
const uint8_t *as_file_section_bytes(const struct as_file *file, uint32_t index, uint64_t *size_b);
/* Build-id (note GNU, NT_GNU_BUILD_ID) of sections or segments; 0 bytes when none. */
size_t as_file_build_id(const struct as_file *file, uint8_t *out, size_t out_b);

/* One table of symbols with its strings, wherever it stands; empty when `n` is 0. */
struct as_symtab {
    const uint8_t *at; /* Elf64_Sym, perhaps unaligned */
    uint64_t n;        /* with the null symbol */
    const char *text;
    uint64_t text_b;     /* 0, or the last byte is zero */
    const uint8_t *more; /* SHT_SYMTAB_SHNDX words, or NULL */
    uint64_t more_n;
};

/* The table of symbols with that section index; empty when the section is none. */
struct as_symtab as_file_symtab(const struct as_file *file, uint32_t index);
/* Symbol `index` and its name ("" when its offset is beyond the strings); false when beyond. */
bool as_symtab_get(const struct as_symtab *table, uint64_t index, Elf64_Sym *out,
                   const char **name);

/* Relocations with addend, perhaps unaligned. */
struct as_relocations {
    const uint8_t *at; /* Elf64_Rela */
    uint64_t n;
};
#define AS_RELOCATIONS_MOST 4

bool as_relocation_get(const struct as_relocations *table, uint64_t index, Elf64_Rela *out);

/* What the dynamic section says, as addresses and sizes; 0 = not said. */
struct as_dynamic {
    bool present;
    uint64_t strtab, strsz, symtab, hash, gnu_hash, pltgot;
    uint64_t rela, relasz, jmprel, pltrelsz;
    uint64_t init, fini, array[3], array_b[3]; /* preinit, init, fini */
    uint64_t flags_1;
};

struct as_dwarf; /* see dwarf.h */

/* Records of unwind information, see frame.h. Of more tables, the rest is left unread: a linker
 * makes one, only a .o may have some. One place more is kept for .debug_frame. */
struct as_frame_place;
struct as_frame_table;
struct as_rows;
#define AS_FRAME_TABLES 127

struct assay_object {
    struct as_arena arena; /* every table below that is not said to be elsewhere */
    struct as_file file;
    struct as_file debug_file; /* separate debug file; .bytes NULL when none */
    struct as_dwarf *dwarf;

    struct assay_object_options options; /* a copy in the arena */
    uint64_t *section_address;           /* of a .o, else NULL */

    struct assay_object_info info;
    const char **needed;
    size_t needed_n;
    struct assay_section *section; /* indices of the file's header table */
    size_t section_n;
    uint32_t *by_address; /* loaded sections with a size, by address */
    size_t by_address_n;
    struct assay_segment *segment;
    size_t segment_n;
    struct as_dynamic dynamic;
    struct as_symtab dynsym;
    struct as_relocations relocations[AS_RELOCATIONS_MOST]; /* those applied on loading */
    size_t relocations_n;
    uint64_t *init_function;
    size_t init_function_n;
    struct assay_symbol *symbol;
    size_t symbol_n;
    struct assay_symbol_counts counts;
    struct assay_unwind_range *unwind;
    size_t unwind_n;
    struct as_frame_place *frame_place; /* of each unwind range */
    struct as_frame_table *frame_table; /* AS_FRAME_TABLES; what a place refers to */
    uint32_t frame_table_n;
    struct as_rows *rows; /* decoded unwind rows (rows.c); made at the first question */

    /* Merged list, on the heap; made at the first call, again when DWARF is asked for. */
    struct assay_function *function;
    size_t function_n;
    bool function_made, function_with_source;
};

/* ---- Given by the ELF side -------------------------------------------------------------- */

/* Section that holds `address` (of those loaded), ASSAY_NONE when none. O(log n). */
uint32_t as_object_section_at(const struct assay_object *object, uint64_t address);
/* Link-time address of section `index` of the file: synthetic in a relocatable one. */
uint64_t as_object_section_address(const struct assay_object *object, uint32_t index);
/* 8 bytes of the image at `address`, 0 when the file has none there. */
uint64_t as_object_word_at(const struct assay_object *object, uint64_t address);

/* ---- Steps of opening, one file each -------------------------------------------------------- */

int as_object_load_sections(struct assay_object *object, struct assay_error *err);
void as_object_relocate(struct assay_object *object); /* a .o, in place */
int as_object_load_dynamic(struct assay_object *object, struct assay_error *err);
int as_object_load_debug(struct assay_object *object, struct assay_error *err); /* no DWARF yet */
int as_object_load_symbols(struct assay_object *object, struct assay_error *err);
int as_object_load_unwind(struct assay_object *object, struct assay_error *err);

void as_rows_free(struct as_rows **rows); /* NULL inside is fine */

#endif
