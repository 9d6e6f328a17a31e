/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps an ELF file and checks its headers, so that later readers can follow offsets without
 * checks. The contents of sections are not checked.
 * Source: System V gABI, "Object Files" (incl. extended section and segment numbering).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/build_id.h"
#include "base/untrusted_open.h"
#include "object/identify.h"
#include "object/internal.h"
#include "object/order.h"

#define AGAIN "build or copy it again"

static bool beyond(uint64_t offset, uint64_t size_b, uint64_t limit_b)
{
    return offset > limit_b || size_b > limit_b - offset;
}

/* Checks that a table of `n` headers of `each_b` bytes at `offset` is inside the file. Errors:
 * TRUNCATED, CORRUPT. */
static int check_table(const struct as_file *file, const char *what, uint64_t offset, uint64_t n,
                       uint64_t each_b, struct as_error *err)
{
    uint64_t size_b, end;
    if (__builtin_mul_overflow(n, each_b, &size_b) || __builtin_add_overflow(offset, size_b, &end))
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: is corrupted: its %s header table at byte %" PRIu64
                            " says it has %" PRIu64 " entries; " AGAIN,
                            file->path, what, offset, n);
    if (end > file->size_b)
        return as_error_set(err, AS_ERR_TRUNCATED,
                            "%s: is truncated: its %s header table stands at bytes %" PRIu64
                            " to %" PRIu64 ", but the file ends at byte %" PRIu64 "; " AGAIN,
                            file->path, what, offset, end, file->size_b);
    return 0;
}

static int load_section_headers(struct as_arena *arena, struct as_file *file, struct as_error *err)
{
    const Elf64_Ehdr *ehdr = &file->ehdr;
    if (ehdr->e_shoff == 0) {
        if (ehdr->e_shnum != 0)
            return as_error_set(err, AS_ERR_CORRUPT,
                                "%s: is corrupted: it says it has %u sections but not where their "
                                "headers stand; " AGAIN,
                                file->path, ehdr->e_shnum);
        return 0;
    }
    if (ehdr->e_shentsize != sizeof(Elf64_Shdr))
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: is corrupted: its section headers have %u bytes, not 64; " AGAIN,
                            file->path, ehdr->e_shentsize);
    AS_TRY(check_table(file, "section", ehdr->e_shoff, 1, sizeof(Elf64_Shdr), err));
    Elf64_Shdr first;
    memcpy(&first, file->bytes + ehdr->e_shoff, sizeof first);
    uint64_t n = ehdr->e_shnum ? ehdr->e_shnum : first.sh_size;
    AS_TRY(check_table(file, "section", ehdr->e_shoff, n, sizeof(Elf64_Shdr), err));
    if (n >= UINT32_MAX)
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: is corrupted: it says it has %" PRIu64 " sections; " AGAIN,
                            file->path, n);
    Elf64_Shdr *shdr = as_arena_alloc(arena, n * sizeof *shdr, _Alignof(Elf64_Shdr));
    if (!shdr)
        return as_error_nomem(err, file->path);
    memcpy(shdr, file->bytes + ehdr->e_shoff, n * sizeof *shdr);
    file->shdr = shdr;
    file->shdr_n = (uint32_t)n;
    return 0;
}

static int load_program_headers(struct as_arena *arena, struct as_file *file, struct as_error *err)
{
    const Elf64_Ehdr *ehdr = &file->ehdr;
    uint64_t n = ehdr->e_phnum;
    if (n == PN_XNUM && file->shdr_n)
        n = file->shdr[0].sh_info;
    if (n == 0)
        return 0;
    if (ehdr->e_phentsize != sizeof(Elf64_Phdr))
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: is corrupted: its program headers have %u bytes, not 56; " AGAIN,
                            file->path, ehdr->e_phentsize);
    AS_TRY(check_table(file, "program", ehdr->e_phoff, n, sizeof(Elf64_Phdr), err));
    Elf64_Phdr *phdr = as_arena_alloc(arena, n * sizeof *phdr, _Alignof(Elf64_Phdr));
    if (!phdr)
        return as_error_nomem(err, file->path);
    memcpy(phdr, file->bytes + ehdr->e_phoff, n * sizeof *phdr);
    file->phdr = phdr;
    file->phdr_n = (uint32_t)n;
    return 0;
}

static bool has_bytes(const Elf64_Shdr *shdr)
{
    return shdr->sh_type != SHT_NULL && shdr->sh_type != SHT_NOBITS;
}

/* Sets the section names, after a check of the name table. Without a name table (index 0), all
 * names are empty. Errors: CORRUPT, NOMEM. */
static int load_section_names(struct as_arena *arena, struct as_file *file, struct as_error *err)
{
    const char **names = as_arena_array(arena, const char *, file->shdr_n + 1);
    if (!names)
        return as_error_nomem(err, file->path);
    for (uint32_t i = 0; i < file->shdr_n; i++)
        names[i] = "";
    file->section_name = names;
    uint32_t index = file->ehdr.e_shstrndx;
    if (index == SHN_XINDEX && file->shdr_n)
        index = file->shdr[0].sh_link;
    if (index == SHN_UNDEF || file->shdr_n == 0)
        return 0;
    if (index >= file->shdr_n || file->shdr[index].sh_type != SHT_STRTAB)
        return as_error_set(
            err, AS_ERR_CORRUPT,
            "%s: is corrupted: its section name table (section %u of %u) is %s; " AGAIN, file->path,
            index, file->shdr_n, index >= file->shdr_n ? "not there" : "not a string table");
    const Elf64_Shdr *table = &file->shdr[index];
    if (beyond(table->sh_offset, table->sh_size, file->size_b))
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: is corrupted: its section name table stands at byte %" PRIu64
                            " with %" PRIu64 " bytes, beyond the end of the file at byte %" PRIu64
                            "; " AGAIN,
                            file->path, table->sh_offset, table->sh_size, file->size_b);
    const char *text = (const char *)file->bytes + table->sh_offset;
    if (table->sh_size == 0 || text[table->sh_size - 1] != '\0')
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: is corrupted: its section name table does not end in a zero "
                            "byte; " AGAIN,
                            file->path);
    for (uint32_t i = 1; i < file->shdr_n; i++) {
        if (file->shdr[i].sh_name >= table->sh_size)
            return as_error_set(err, AS_ERR_CORRUPT,
                                "%s: is corrupted: the name of section %u stands at byte %u of a "
                                "name table of %" PRIu64 " bytes; " AGAIN,
                                file->path, i, file->shdr[i].sh_name, table->sh_size);
        names[i] = text + file->shdr[i].sh_name;
    }
    return 0;
}

/* Returns the entry size in bytes that this section type requires; 0 = any. */
static uint64_t entry_size(uint32_t type)
{
    switch (type) {
    case SHT_SYMTAB:
    case SHT_DYNSYM:
        return sizeof(Elf64_Sym);
    case SHT_RELA:
        return sizeof(Elf64_Rela);
    case SHT_REL:
        return sizeof(Elf64_Rel);
    case SHT_DYNAMIC:
        return sizeof(Elf64_Dyn);
    default:
        return 0;
    }
}

static int check_section_extent(const struct as_file *file, uint32_t i, struct as_error *err)
{
    const Elf64_Shdr *shdr = &file->shdr[i];
    uint64_t end;
    if (!has_bytes(shdr) || !beyond(shdr->sh_offset, shdr->sh_size, file->size_b))
        return 0;
    /* A truncated file loses bytes at its end. If the section headers come after this section, they
     * would be missing too, so the file is damaged instead. */
    bool cut = !__builtin_add_overflow(shdr->sh_offset, shdr->sh_size, &end) &&
               file->ehdr.e_shoff < shdr->sh_offset;
    return as_error_set(err, cut ? AS_ERR_TRUNCATED : AS_ERR_CORRUPT,
                        "%s: is %s: section %u (%s) stands at byte %" PRIu64 " with %" PRIu64
                        " bytes, beyond the end of the file at byte %" PRIu64 "; " AGAIN,
                        file->path, cut ? "truncated" : "corrupted", i, file->section_name[i],
                        shdr->sh_offset, shdr->sh_size, file->size_b);
}

static int check_section(const struct as_file *file, uint32_t i, struct as_error *err)
{
    const Elf64_Shdr *shdr = &file->shdr[i];
    const char *name = file->section_name[i];
    uint64_t end;
    if (shdr->sh_type == SHT_NULL)
        return 0;
    AS_TRY(check_section_extent(file, i, err));
    if ((shdr->sh_flags & SHF_ALLOC) && __builtin_add_overflow(shdr->sh_addr, shdr->sh_size, &end))
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: is corrupted: section %u (%s) at address 0x%" PRIx64
                            " with %" PRIu64 " bytes wraps around the address space; " AGAIN,
                            file->path, i, name, shdr->sh_addr, shdr->sh_size);
    if (shdr->sh_addralign & (shdr->sh_addralign - 1))
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: is corrupted: section %u (%s) asks to be aligned to %" PRIu64
                            ", which is no power of two; " AGAIN,
                            file->path, i, name, shdr->sh_addralign);
    uint64_t each_b = entry_size(shdr->sh_type);
    if (each_b && shdr->sh_size && (shdr->sh_entsize != each_b || shdr->sh_size % each_b))
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: is corrupted: section %u (%s) has %" PRIu64
                            " bytes in entries of %" PRIu64 " where entries of %" PRIu64
                            " are due; " AGAIN,
                            file->path, i, name, shdr->sh_size, shdr->sh_entsize, each_b);
    if (each_b && shdr->sh_link >= file->shdr_n)
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: is corrupted: section %u (%s) refers to section %u of %u; " AGAIN,
                            file->path, i, name, shdr->sh_link, file->shdr_n);
    if (shdr->sh_type == SHT_STRTAB && shdr->sh_size &&
        file->bytes[shdr->sh_offset + shdr->sh_size - 1] != 0)
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: is corrupted: string table %u (%s) does not end in a zero "
                            "byte; " AGAIN,
                            file->path, i, name);
    return 0;
}

static int check_segment(const struct as_file *file, uint32_t i, struct as_error *err)
{
    const Elf64_Phdr *phdr = &file->phdr[i];
    uint64_t end;
    if (phdr->p_type == PT_NULL)
        return 0;
    if (__builtin_add_overflow(phdr->p_vaddr, phdr->p_memsz, &end) ||
        __builtin_add_overflow(phdr->p_offset, phdr->p_filesz, &end))
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: is corrupted: segment %u at address 0x%" PRIx64 " with 0x%" PRIx64
                            " bytes wraps around the address space; " AGAIN,
                            file->path, i, phdr->p_vaddr, phdr->p_memsz);
    if (phdr->p_filesz && end > file->size_b)
        return as_error_set(err, AS_ERR_TRUNCATED,
                            "%s: is truncated: segment %u stands at bytes %" PRIu64 " to %" PRIu64
                            ", but the file ends at byte %" PRIu64 "; " AGAIN,
                            file->path, i, phdr->p_offset, end, file->size_b);
    if (phdr->p_type == PT_LOAD && phdr->p_filesz > phdr->p_memsz)
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: is corrupted: segment %u has %" PRIu64
                            " bytes in the file but only %" PRIu64 " in memory; " AGAIN,
                            file->path, i, phdr->p_filesz, phdr->p_memsz);
    return 0;
}

/*
 * Checks that the sections of a .o overlap neither each other nor the headers. A .o is relocated in
 * place, which must not change the tables in use. Errors: CORRUPT, NOMEM.
 */
static int check_no_overlap(const struct as_file *file, struct as_error *err)
{
    size_t n = 0, most = (size_t)file->shdr_n + 2;
    struct as_keyed *at = as_malloc(2 * most * sizeof *at);
    if (!at)
        return as_error_nomem(err, file->path);
    at[n++] = (struct as_keyed){0, UINT32_MAX};
    at[n++] = (struct as_keyed){file->ehdr.e_shoff, 0};
    for (uint32_t i = 1; i < file->shdr_n; i++)
        if (has_bytes(&file->shdr[i]) && file->shdr[i].sh_size)
            at[n++] = (struct as_keyed){file->shdr[i].sh_offset, i};
    as_order_by_key(at, n);
    int rc = 0;
    for (size_t i = 1; i < n && rc == 0; i++) {
        uint32_t a = at[i - 1].index, b = at[i].index;
        uint64_t size_b = a == UINT32_MAX ? sizeof file->ehdr
                          : a == 0        ? file->shdr_n * sizeof *file->shdr
                                          : file->shdr[a].sh_size;
        if (at[i].key - at[i - 1].key < size_b)
            rc = as_error_set(
                err, AS_ERR_CORRUPT,
                "%s: is corrupted: %s and %s share bytes at offset %" PRIu64 "; " AGAIN, file->path,
                a && a != UINT32_MAX ? file->section_name[a] : "its headers",
                b && b != UINT32_MAX ? file->section_name[b] : "its headers", at[i].key);
    }
    as_free(at);
    return rc;
}

static int check_contents(const struct as_file *file, enum as_file_role role, struct as_error *err)
{
    for (uint32_t i = 1; i < file->shdr_n; i++)
        AS_TRY(check_section(file, i, err));
    /* A separate debug file has the program headers of its binary, which do not match its bytes. */
    for (uint32_t i = 0; role == AS_FILE_MAIN && i < file->phdr_n; i++)
        AS_TRY(check_segment(file, i, err));
    if (file->ehdr.e_type == ET_REL && file->shdr_n)
        AS_TRY(check_no_overlap(file, err));
    if (file->shdr_n == 0 && file->phdr_n == 0)
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: is corrupted: it has neither sections nor segments; " AGAIN,
                            file->path);
    return 0;
}

static int load_headers(struct as_arena *arena, enum as_file_role role, struct as_file *file,
                        struct as_error *err)
{
    AS_TRY(as_identify(file->path, file->bytes, file->size_b, err));
    memcpy(&file->ehdr, file->bytes, sizeof file->ehdr);
    AS_TRY(load_section_headers(arena, file, err));
    AS_TRY(load_program_headers(arena, file, err));
    AS_TRY(load_section_names(arena, file, err));
    AS_TRY(check_contents(file, role, err));
    return 0;
}

static int fail_open(const char *path, int error, struct as_error *err)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return as_error_set(err, AS_ERR_NOT_FOUND, "%s: no such file; check the path", path);
    case EACCES:
    case EPERM:
        return as_error_set(err, AS_ERR_PERMISSION,
                            "%s: permission denied: it is not readable; ask its owner for read "
                            "permission",
                            path);
    case ENXIO:
        return as_error_set(err, AS_ERR_NOT_REGULAR,
                            "%s: is a socket or device, not a regular file; use a compiled "
                            "program, library or .o file",
                            path);
    default:
        return as_foreign_fail(path, "the binary", error, err);
    }
}

static int fail_not_regular(const char *path, mode_t mode, struct as_error *err)
{
    if (S_ISDIR(mode))
        return as_error_set(err, AS_ERR_NOT_REGULAR,
                            "%s: is a directory, not an ELF file; use a file in it", path);
    const char *what = S_ISCHR(mode)    ? "a character device"
                       : S_ISBLK(mode)  ? "a block device"
                       : S_ISFIFO(mode) ? "a pipe"
                                        : "a socket";
    return as_error_set(err, AS_ERR_NOT_REGULAR,
                        "%s: is %s, not a regular file; use a compiled program, library or .o file",
                        path, what);
}

static int map(const char *path, struct as_file *file, struct as_error *err)
{
    struct stat st;
    const int fd = as_foreign_open(AT_FDCWD, path, 0, &st);
    if (fd < 0)
        return errno == EMEDIUMTYPE ? fail_not_regular(path, st.st_mode, err)
                                    : fail_open(path, errno, err);
    const int number = as_filemap_open(fd, (size_t)st.st_size, path, &file->map);
    close(fd);
    if (number)
        return fail_open(path, number, err);
    if (file->map.n > 0) {
        file->bytes = file->map.at;
        file->size_b = file->map.n;
        file->mapped = true;
        file->inode = st.st_ino;
        file->mtime_ns = as_mtime_ns(&st);
    }
    return 0;
}

int as_file_open(struct as_arena *arena, const char *path, enum as_file_role role,
                 struct as_file *out, struct as_error *err)
{
    *out = (struct as_file){.path = as_arena_strndup(arena, path, strlen(path))};
    if (!out->path)
        return as_error_nomem(err, path);
    int rc = map(path, out, err);
    if (rc == 0)
        rc = load_headers(arena, role, out, err);
    if (rc < 0)
        as_file_close(out);
    return rc;
}

int as_file_open_memory(struct as_arena *arena, const void *bytes, uint64_t size_b,
                        const char *name, enum as_file_role role, struct as_file *out,
                        struct as_error *err)
{
    *out = (struct as_file){.path = as_arena_strndup(arena, name, strlen(name))};
    if (!out->path)
        return as_error_nomem(err, name);
    out->bytes = (uint8_t *)(uintptr_t)bytes;
    out->size_b = size_b;
    /* A .o is relocated in place. The caller owns these bytes, so a copy is made. */
    if (size_b > EI_NIDENT + 2 && memcmp(bytes, ELFMAG, SELFMAG) == 0 &&
        out->bytes[EI_NIDENT] == ET_REL) {
        out->bytes = as_malloc(size_b);
        if (!out->bytes)
            return as_error_nomem(err, name);
        memcpy(out->bytes, bytes, size_b);
        out->owned = true;
    }
    int rc = load_headers(arena, role, out, err);
    if (rc < 0)
        as_file_close(out);
    return rc;
}

void as_file_close(struct as_file *file)
{
    as_filemap_close(&file->map);
    if (file->owned)
        as_free(file->bytes);
    *file = (struct as_file){0};
}

uint32_t as_file_section(const struct as_file *file, const char *name)
{
    for (uint32_t i = 1; i < file->shdr_n; i++)
        if (strcmp(file->section_name[i], name) == 0)
            return i;
    return 0;
}

const uint8_t *as_file_section_bytes(const struct as_file *file, uint32_t index, uint64_t *size_b)
{
    *size_b = 0;
    if (index == 0 || index >= file->shdr_n || !has_bytes(&file->shdr[index]))
        return NULL;
    *size_b = file->shdr[index].sh_size;
    return file->bytes + file->shdr[index].sh_offset;
}

size_t as_file_build_id(const struct as_file *file, uint8_t *out, size_t out_b)
{
    size_t id_b = 0;
    for (uint32_t i = 1; i < file->shdr_n && id_b == 0; i++) {
        uint64_t n;
        const uint8_t *p = as_file_section_bytes(file, i, &n);
        if (p && file->shdr[i].sh_type == SHT_NOTE)
            id_b = as_build_id_of_notes(p, n, file->shdr[i].sh_addralign, out, out_b);
    }
    for (uint32_t i = 0; i < file->phdr_n && id_b == 0; i++) {
        const Elf64_Phdr *phdr = &file->phdr[i];
        if (phdr->p_type == PT_NOTE && !beyond(phdr->p_offset, phdr->p_filesz, file->size_b))
            id_b = as_build_id_of_notes(file->bytes + phdr->p_offset, phdr->p_filesz, phdr->p_align,
                                        out, out_b);
    }
    return id_b < out_b ? id_b : out_b;
}
