/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes ELF files of a container of debug sections. Fuzzing need not find its way through ELF
 * headers first. The main file has a .text of a page at TEXT and no other code.
 */
#include "pack.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define TEXT   0x401000u
#define TEXT_B 0x1000u

/* Numbers are part of the kept corpus: append only. */
static const char *const PACK_NAME[PACK_SECTIONS] = {
    ".debug_info",         ".debug_abbrev",          ".debug_line",     ".debug_str",
    ".debug_line_str",     ".debug_rnglists",        ".debug_ranges",   ".debug_str_offsets",
    ".debug_addr",         ".debug_aranges",         ".debug_types",    ".debug_names",
    ".debug_info.dwo",     ".debug_abbrev.dwo",      ".debug_line.dwo", ".debug_str.dwo",
    ".debug_rnglists.dwo", ".debug_str_offsets.dwo", ".debug_cu_index", ".debug_tu_index",
    ".gnu_debugaltlink",   ".note.gnu.build-id",     ".eh_frame",       ".debug_types.dwo",
};

void pack_read(const uint8_t *bytes, size_t size_b, struct pack *out)
{
    memset(out, 0, sizeof *out);
    while (size_b >= PACK_HEAD_B) {
        unsigned file = bytes[0] >> 6, number = bytes[0] & 63;
        size_t want = bytes[1] | (size_t)bytes[2] << 8 | (size_t)bytes[3] << 16;
        bytes += PACK_HEAD_B;
        size_b -= PACK_HEAD_B;
        if (want > size_b)
            want = size_b;
        if (number < PACK_SECTIONS)
            out->section[file][number] = (struct pack_section){bytes, want};
        bytes += want;
        size_b -= want;
    }
}

struct builder {
    uint8_t *elf;
    Elf64_Shdr *shdr;
    size_t at; /* bytes written */
    size_t shdr_n, name_b;
    char name[1024];
};

static Elf64_Shdr *add_section(struct builder *b, const char *name, uint32_t type,
                               const void *bytes, size_t size_b)
{
    Elf64_Shdr *shdr = &b->shdr[b->shdr_n++];
    *shdr = (Elf64_Shdr){.sh_name = (uint32_t)b->name_b,
                         .sh_type = type,
                         .sh_offset = b->at,
                         .sh_size = size_b,
                         .sh_addralign = 1};
    memcpy(b->name + b->name_b, name, strlen(name) + 1);
    b->name_b += strlen(name) + 1;
    if (bytes)
        memcpy(b->elf + b->at, bytes, size_b);
    b->at += size_b;
    return shdr;
}

static void add_text(struct builder *b)
{
    Elf64_Shdr *text = add_section(b, ".text", SHT_PROGBITS, NULL, 0);
    memset(b->elf + b->at, 0x90, TEXT_B);
    b->at += TEXT_B;
    text->sh_size = TEXT_B;
    text->sh_flags = SHF_ALLOC | SHF_EXECINSTR;
    text->sh_addr = TEXT;
}

uint8_t *pack_elf(const struct pack *pack, unsigned file, size_t *size_b)
{
    struct builder b = {.name_b = 1};
    Elf64_Shdr shdr[PACK_SECTIONS + 3];
    size_t total = 0, sections = 0;
    for (unsigned i = 0; i < PACK_SECTIONS; i++) {
        total += pack->section[file][i].size_b;
        sections += pack->section[file][i].bytes ? 1 : 0;
    }
    if (!sections)
        return NULL;
    total += sizeof(Elf64_Ehdr) + TEXT_B + sizeof b.name + sizeof shdr + 8;
    b.elf = calloc(1, total);
    if (!b.elf)
        abort();
    b.shdr = shdr;
    memset(&shdr[0], 0, sizeof shdr[0]);
    b.shdr_n = 1;
    b.at = sizeof(Elf64_Ehdr);
    add_text(&b);
    for (unsigned i = 0; i < PACK_SECTIONS; i++) {
        const struct pack_section *s = &pack->section[file][i];
        if (!s->bytes)
            continue;
        uint32_t type = !strncmp(PACK_NAME[i], ".note", 5) ? SHT_NOTE : SHT_PROGBITS;
        Elf64_Shdr *made = add_section(&b, PACK_NAME[i], type, s->bytes, s->size_b);
        if (!strcmp(PACK_NAME[i], ".eh_frame") || type == SHT_NOTE) {
            made->sh_flags = SHF_ALLOC;
            made->sh_addr = TEXT + 0x10000 + made->sh_offset;
        }
    }
    Elf64_Shdr *names = add_section(&b, ".shstrtab", SHT_STRTAB, NULL, 0);
    names->sh_size = b.name_b;
    memcpy(b.elf + b.at, b.name, b.name_b);
    b.at = (b.at + b.name_b + 7) & ~(size_t)7;

    Elf64_Ehdr ehdr = {.e_type = ET_EXEC,
                       .e_machine = EM_X86_64,
                       .e_version = EV_CURRENT,
                       .e_entry = TEXT,
                       .e_shoff = b.at,
                       .e_ehsize = sizeof ehdr,
                       .e_shentsize = sizeof *shdr,
                       .e_shnum = (uint16_t)b.shdr_n,
                       .e_shstrndx = (uint16_t)(b.shdr_n - 1)};
    memcpy(ehdr.e_ident, ELFMAG, SELFMAG);
    ehdr.e_ident[EI_CLASS] = ELFCLASS64;
    ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
    ehdr.e_ident[EI_VERSION] = EV_CURRENT;
    memcpy(b.elf, &ehdr, sizeof ehdr);
    memcpy(b.elf + b.at, shdr, b.shdr_n * sizeof *shdr);
    *size_b = b.at + b.shdr_n * sizeof *shdr;
    return b.elf;
}
