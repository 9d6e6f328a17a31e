/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies the relocations of a relocatable file, as a linker does, for the assigned addresses. The
 * code, .eh_frame and DWARF of a .o then read like those of a linked file. References to undefined
 * symbols are left unchanged. Source: AMD64 supplement, table 4.9.
 */
#include <string.h>

#include "object/internal.h"

/* Returns the number of bytes that a relocation type writes; 0 = the type is not applied. */
static unsigned width_b(uint32_t type, bool *relative)
{
    *relative = type == R_X86_64_PC64 || type == R_X86_64_PC32 || type == R_X86_64_PLT32 ||
                type == R_X86_64_PC16 || type == R_X86_64_PC8;
    switch (type) {
    case R_X86_64_64:
    case R_X86_64_PC64:
    case R_X86_64_DTPOFF64:
        return 8;
    case R_X86_64_32:
    case R_X86_64_32S:
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
    case R_X86_64_DTPOFF32:
        return 4;
    case R_X86_64_16:
    case R_X86_64_PC16:
        return 2;
    case R_X86_64_8:
    case R_X86_64_PC8:
        return 1;
    default:
        return 0;
    }
}

/* Computes the assigned address of a symbol. Returns false if the symbol is undefined. */
static bool symbol_value(const struct as_object *object, const struct as_symtab *symtab,
                         uint64_t index, uint64_t *value)
{
    Elf64_Sym symbol;
    const char *name;
    *value = 0;
    if (index == 0)
        return true;
    if (!as_symtab_get(symtab, index, &symbol, &name))
        return false;
    uint32_t section = symbol.st_shndx;
    if (section == SHN_XINDEX && symtab->more && index < symtab->more_n)
        memcpy(&section, symtab->more + 4 * index, sizeof section);
    else if (section == SHN_ABS)
        section = 0;
    else if (section == SHN_UNDEF || section >= SHN_LORESERVE)
        return false;
    *value = as_object_section_address(object, section) + symbol.st_value;
    return true;
}

static void apply_relocation(const struct as_object *object, uint32_t target,
                             const struct as_symtab *symtab, const Elf64_Rela *rela, uint8_t *bytes,
                             uint64_t size_b)
{
    bool relative;
    unsigned n = width_b(ELF64_R_TYPE(rela->r_info), &relative);
    uint64_t value;
    if (n == 0 || rela->r_offset > size_b || n > size_b - rela->r_offset)
        return;
    if (!symbol_value(object, symtab, ELF64_R_SYM(rela->r_info), &value))
        return;
    value += (uint64_t)rela->r_addend;
    if (relative)
        value -= as_object_section_address(object, target) + rela->r_offset;
    memcpy(bytes + rela->r_offset, &value, n); /* little-endian host and file */
}

static void apply_table(const struct as_object *object, uint32_t table, uint8_t *bytes,
                        uint64_t size_b)
{
    const Elf64_Shdr *shdr = &object->file.shdr[table];
    struct as_symtab symtab = as_file_symtab(&object->file, shdr->sh_link);
    uint64_t table_b;
    const uint8_t *p = as_file_section_bytes(&object->file, table, &table_b);
    for (uint64_t i = 0; p && i < table_b / sizeof(Elf64_Rela); i++) {
        Elf64_Rela rela;
        memcpy(&rela, p + i * sizeof rela, sizeof rela);
        apply_relocation(object, shdr->sh_info, &symtab, &rela, bytes, size_b);
    }
}

void as_object_relocate(struct as_object *object)
{
    const struct as_file *file = &object->file;
    for (uint32_t i = 1; i < file->shdr_n; i++) {
        uint32_t target = file->shdr[i].sh_info;
        uint64_t size_b;
        if (file->shdr[i].sh_type != SHT_RELA || target >= file->shdr_n || target == i ||
            (file->shdr[target].sh_flags & SHF_COMPRESSED))
            continue;
        uint32_t type = file->shdr[target].sh_type;
        /* A damaged file must not change the tables that this loop reads. */
        if (type == SHT_RELA || type == SHT_SYMTAB || type == SHT_STRTAB ||
            type == SHT_SYMTAB_SHNDX || !as_file_section_bytes(file, target, &size_b))
            continue;
        apply_table(object, i, file->bytes + file->shdr[target].sh_offset, size_b);
    }
}
