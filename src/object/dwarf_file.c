/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the debug sections of an ELF file by name. It decompresses them (SHF_COMPRESSED with zlib
 * or zstd, and the older .zdebug_*) and relocates those of a .o. It reads the section headers
 * itself, with bounds checks, so it accepts damaged files. Thread-safe for different files.
 * Source: System V ABI (gabi 4.3 compression), AMD64 supplement (relocations).
 */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/untrusted_open.h"
#include "object/dwarf_internal.h"
#include "object/identify.h"

/* The max compression ratio of deflate. A header with a larger size is damaged. */
#define ZLIB_MOST_RATIO 1032u
/* The max size of a section with zstd, because zstd has no max ratio. */
#define ZSTD_MOST_B ((uint64_t)8 << 30)

static const char *const section_names[AS_DW_SECTIONS] = {
    [AS_DW_INFO] = "info",   [AS_DW_ABBREV] = "abbrev",     [AS_DW_LINE] = "line",
    [AS_DW_STR] = "str",     [AS_DW_LINE_STR] = "line_str", [AS_DW_STR_OFFSETS] = "str_offsets",
    [AS_DW_ADDR] = "addr",   [AS_DW_RANGES] = "ranges",     [AS_DW_RNGLISTS] = "rnglists",
    [AS_DW_LOC] = "loc",     [AS_DW_LOCLISTS] = "loclists", [AS_DW_CU_INDEX] = "cu_index",
    [AS_DW_FRAME] = "frame",
};

int as_dw_image_map(const char *path, struct as_dw_image *out)
{
    *out = (struct as_dw_image){0};
    struct stat st;
    const int fd = as_foreign_open(AT_FDCWD, path, 0, &st);
    if (fd < 0)
        return AS_ERR_NOT_FOUND;
    const int number = as_filemap_open(fd, (size_t)st.st_size, path, &out->map);
    close(fd);
    if (number || out->map.n == 0) {
        as_filemap_close(&out->map);
        return AS_ERR_NOT_FOUND;
    }
    out->p = out->map.at;
    out->n = out->map.n;
    return 0;
}

void as_dw_image_release(struct as_dw_image *image)
{
    as_filemap_close(&image->map);
    *image = (struct as_dw_image){0};
}

void as_dw_file_release(struct as_dw_file *file)
{
    as_vec_foreach (&file->owned, it)
        as_free(it->p);
    as_vec_fini(&file->owned);
    as_vec_fini(&file->exec);
    as_dw_image_release(&file->image);
    as_free(file->path);
    *file = (struct as_dw_file){0};
}

bool as_dw_expand(struct as_dw_bytes in, bool zstd, uint8_t *out, size_t size_b)
{
    if (zstd) {
        size_t got = ZSTD_decompress(out, size_b, in.p, in.n);
        return !ZSTD_isError(got) && got == size_b;
    }
    uLongf got = size_b;
    return uncompress(out, &got, in.p, in.n) == Z_OK && got == size_b;
}

/* ---- Section headers ---------------------------------------------------------------------- */

struct elf_view {
    const uint8_t *p;
    size_t n;
    uint64_t shoff;
    size_t shnum;
    uint32_t shstrndx;
    uint16_t type;
};

static bool header_at(const struct elf_view *v, size_t i, Elf64_Shdr *out)
{
    if (i >= v->shnum)
        return false;
    memcpy(out, v->p + v->shoff + i * sizeof *out, sizeof *out);
    return true;
}

static struct as_dw_bytes contents(const struct elf_view *v, const Elf64_Shdr *sh)
{
    if (sh->sh_type == SHT_NOBITS || sh->sh_offset > v->n || sh->sh_size > v->n - sh->sh_offset)
        return (struct as_dw_bytes){0};
    return (struct as_dw_bytes){v->p + sh->sh_offset, sh->sh_size};
}

static bool view_open(struct as_dw_image image, struct elf_view *v)
{
    Elf64_Ehdr eh;
    if (image.n < sizeof eh)
        return false;
    memcpy(&eh, image.p, sizeof eh);
    if (memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
        eh.e_ident[EI_DATA] != ELFDATA2LSB ||
        (eh.e_machine != EM_X86_64 && eh.e_machine != AS_MACHINE_K1OM))
        return false;
    *v = (struct elf_view){.p = image.p, .n = image.n, .shoff = eh.e_shoff, .type = eh.e_type};
    if (eh.e_shoff == 0 || eh.e_shoff > image.n || eh.e_shentsize != sizeof(Elf64_Shdr))
        return true;
    size_t room = (image.n - eh.e_shoff) / sizeof(Elf64_Shdr);
    if (room == 0)
        return true;
    /* Header 0 has the number of sections and the name table if they are 0xff00 or more. */
    v->shnum = 1;
    Elf64_Shdr zero;
    header_at(v, 0, &zero);
    v->shnum = eh.e_shnum ? eh.e_shnum : zero.sh_size;
    v->shstrndx = eh.e_shstrndx == SHN_XINDEX ? zero.sh_link : eh.e_shstrndx;
    if (v->shnum > room)
        v->shnum = room;
    return true;
}

/* ---- Decompression ------------------------------------------------------------------------ */

static uint8_t *own(struct as_dw_file *file, size_t size_b)
{
    uint8_t *p = as_malloc(size_b ? size_b : 1);
    if (!p || as_vec_push(&file->owned, (struct as_dw_owned){p}) < 0) {
        as_free(p);
        return NULL;
    }
    return p;
}

static int expand_section(struct as_dw_file *file, struct as_dw_bytes in, uint64_t size_b,
                          bool zstd, struct as_dw_bytes *out)
{
    *out = (struct as_dw_bytes){0};
    if (zstd ? size_b > ZSTD_MOST_B : size_b / ZLIB_MOST_RATIO > in.n)
        return 0;
    uint8_t *p = own(file, size_b);
    if (!p)
        return AS_ERR_NOMEM;
    file->compressed = true;
    if (as_dw_expand(in, zstd, p, size_b))
        *out = (struct as_dw_bytes){p, size_b};
    return 0;
}

/* Sets *out to the decompressed contents of a section, empty if damaged. Errors: NOMEM. */
static int plain_contents(struct as_dw_file *file, const struct elf_view *v, const Elf64_Shdr *sh,
                          const char *name, struct as_dw_bytes *out)
{
    struct as_dw_bytes raw = contents(v, sh);
    if (sh->sh_flags & SHF_COMPRESSED) {
        Elf64_Chdr ch;
        *out = (struct as_dw_bytes){0};
        if (raw.n < sizeof ch)
            return 0;
        memcpy(&ch, raw.p, sizeof ch);
        /* 2 is ELFCOMPRESS_ZSTD, which is missing in older versions of elf.h. */
        if (ch.ch_type != ELFCOMPRESS_ZLIB && ch.ch_type != 2)
            return 0;
        struct as_dw_bytes in = {raw.p + sizeof ch, raw.n - sizeof ch};
        return expand_section(file, in, ch.ch_size, ch.ch_type == 2, out);
    }
    if (strncmp(name, ".zdebug_", 8) == 0) {
        *out = (struct as_dw_bytes){0};
        if (raw.n < 12 || memcmp(raw.p, "ZLIB", 4) != 0)
            return 0;
        uint64_t size_b = 0;
        for (int i = 4; i < 12; i++)
            size_b = size_b << 8 | raw.p[i];
        return expand_section(file, (struct as_dw_bytes){raw.p + 12, raw.n - 12}, size_b, false,
                              out);
    }
    *out = raw;
    return 0;
}

/* ---- Relocation of a .o ------------------------------------------------------------------- */

struct symbols {
    struct as_dw_bytes table, xindex;
};

static bool symbol_value(const struct symbols *syms, uint64_t i, const uint64_t *address,
                         size_t address_n, uint64_t *value)
{
    Elf64_Sym sym;
    if (i >= syms->table.n / sizeof sym)
        return false;
    memcpy(&sym, syms->table.p + i * sizeof sym, sizeof sym);
    uint32_t shndx = sym.st_shndx;
    if (shndx == SHN_XINDEX && i < syms->xindex.n / 4)
        memcpy(&shndx, syms->xindex.p + i * 4, 4);
    *value = sym.st_value;
    if (sym.st_shndx == SHN_XINDEX || (shndx != SHN_UNDEF && shndx < SHN_LORESERVE))
        *value += shndx < address_n ? address[shndx] : 0;
    return true;
}

static void relocate(uint8_t *p, size_t n, struct as_dw_bytes rela, const struct symbols *syms,
                     const uint64_t *address, size_t address_n)
{
    for (size_t at = 0; at + sizeof(Elf64_Rela) <= rela.n; at += sizeof(Elf64_Rela)) {
        Elf64_Rela r;
        memcpy(&r, rela.p + at, sizeof r);
        unsigned width_b;
        switch (ELF64_R_TYPE(r.r_info)) {
        case R_X86_64_64:
        case R_X86_64_PC64:
            width_b = 8;
            break;
        case R_X86_64_32:
        case R_X86_64_32S:
        case R_X86_64_PC32:
            width_b = 4;
            break;
        default:
            continue; /* the other types, such as thread-local offsets, affect variables only */
        }
        uint64_t value;
        if (r.r_offset > n || n - r.r_offset < width_b ||
            !symbol_value(syms, ELF64_R_SYM(r.r_info), address, address_n, &value))
            continue;
        value += (uint64_t)r.r_addend;
        if (ELF64_R_TYPE(r.r_info) == R_X86_64_PC32 || ELF64_R_TYPE(r.r_info) == R_X86_64_PC64)
            value -= r.r_offset;
        memcpy(p + r.r_offset, &value, width_b);
    }
}

/* Applies every SHT_RELA section for `target` to a private copy of `*out`. */
static int relocate_section(struct as_dw_file *file, const struct elf_view *v, size_t target,
                            const uint64_t *address, size_t address_n, struct as_dw_bytes *out)
{
    uint8_t *copy = NULL;
    Elf64_Shdr sh, sym;
    for (size_t i = 1; header_at(v, i, &sh); i++) {
        if (sh.sh_type != SHT_RELA || sh.sh_info != target || !header_at(v, sh.sh_link, &sym))
            continue;
        struct symbols syms = {.table = contents(v, &sym)};
        Elf64_Shdr x;
        for (size_t k = 1; header_at(v, k, &x); k++) {
            if (x.sh_type == SHT_SYMTAB_SHNDX && x.sh_link == sh.sh_link)
                syms.xindex = contents(v, &x);
        }
        if (!copy) {
            copy = own(file, out->n);
            if (!copy)
                return AS_ERR_NOMEM;
            if (out->n)
                memcpy(copy, out->p, out->n);
            out->p = copy;
        }
        relocate(copy, out->n, contents(v, &sh), &syms, address, address_n);
    }
    return 0;
}

/* ---- All sections ------------------------------------------------------------------------- */

/* Returns the field of `file` for a section with this name, or NULL if the section is not used. */
static struct as_dw_bytes *place_of(struct as_dw_file *file, const char *name)
{
    if (strcmp(name, ".gnu_debugaltlink") == 0)
        return &file->alt_link;
    if (strcmp(name, ".gnu_debuglink") == 0)
        return &file->debug_link;
    if (strncmp(name, ".debug_", 7) == 0)
        name += 7;
    else if (strncmp(name, ".zdebug_", 8) == 0)
        name += 8;
    else
        return NULL;
    if (strcmp(name, "sup") == 0)
        return &file->sup;
    for (int i = 0; i < AS_DW_SECTIONS; i++) {
        size_t n = strlen(section_names[i]);
        if (strncmp(name, section_names[i], n) != 0)
            continue;
        if (name[n] == 0)
            return &file->plain.at[i];
        if (strcmp(name + n, ".dwo") == 0)
            return &file->dwo.at[i];
    }
    return NULL;
}

static void note_build_id(struct as_dw_file *file, struct as_dw_bytes notes)
{
    size_t at = 0;
    while (notes.n - at >= 12) {
        uint32_t head[3];
        memcpy(head, notes.p + at, sizeof head);
        at += 12;
        uint64_t name_b = ((uint64_t)head[0] + 3) & ~(uint64_t)3;
        uint64_t desc_b = ((uint64_t)head[1] + 3) & ~(uint64_t)3;
        if (name_b > notes.n - at || desc_b > notes.n - at - name_b)
            return;
        if (head[2] == NT_GNU_BUILD_ID && head[0] == 4 && memcmp(notes.p + at, "GNU", 4) == 0 &&
            head[1] > 1 && head[1] <= 64) {
            file->build_id = notes.p + at + name_b;
            file->build_id_b = head[1];
            return;
        }
        at += name_b + desc_b;
    }
}

static int load_dwarf_section(struct as_dw_file *file, const struct elf_view *v, size_t i,
                              const Elf64_Shdr *sh, const char *name, const uint64_t *address,
                              size_t address_n)
{
    struct as_dw_bytes *place = place_of(file, name);
    /* A .o has type units in more sections with the same name, which are members of a group. */
    if (!place || sh->sh_type == SHT_NOBITS || (place->p && (sh->sh_flags & SHF_GROUP)))
        return 0;
    if (place->p && place->n && !(sh->sh_flags & SHF_GROUP) && v->type != ET_REL)
        return 0;
    AS_TRY(plain_contents(file, v, sh, name, place));
    if (v->type == ET_REL && place->n && address)
        AS_TRY(relocate_section(file, v, i, address, address_n, place));
    return 0;
}

int as_dw_file_read(struct as_dw_file *file, const uint64_t *address, size_t address_n)
{
    struct elf_view v;
    Elf64_Shdr sh;
    if (!view_open(file->image, &v))
        return AS_ERR_NOT_ELF;
    struct as_dw_bytes names = {0};
    if (header_at(&v, v.shstrndx, &sh))
        names = contents(&v, &sh);
    for (size_t i = 1; header_at(&v, i, &sh); i++) {
        if (sh.sh_type == SHT_NOTE)
            note_build_id(file, contents(&v, &sh));
        if ((sh.sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) == (SHF_ALLOC | SHF_EXECINSTR)) {
            uint64_t start = address && i < address_n ? address[i] : sh.sh_addr;
            struct as_dw_span span = {start, start + sh.sh_size};
            if (span.end > span.start && as_vec_push(&file->exec, span) < 0)
                return AS_ERR_NOMEM;
        }
        const char *name = as_dw_string_at(names, sh.sh_name);
        if (name && !(sh.sh_flags & SHF_ALLOC))
            AS_TRY(load_dwarf_section(file, &v, i, &sh, name, address, address_n));
    }
    return 0;
}
