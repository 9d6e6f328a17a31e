/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads single entries of the tables of symbols and relocations of an ELF file. The tables may be
 * unaligned. Source: System V gABI, "Symbol Table".
 */
#include <string.h>

#include "object/internal.h"

struct as_symtab as_file_symtab(const struct as_file *file, uint32_t index)
{
    struct as_symtab table = {0};
    if (index == 0 || index >= file->shdr_n ||
        (file->shdr[index].sh_type != SHT_SYMTAB && file->shdr[index].sh_type != SHT_DYNSYM))
        return table;
    uint64_t size_b;
    table.at = as_file_section_bytes(file, index, &size_b);
    table.n = size_b / sizeof(Elf64_Sym);
    uint32_t text = file->shdr[index].sh_link;
    if (text < file->shdr_n && file->shdr[text].sh_type == SHT_STRTAB)
        table.text = (const char *)as_file_section_bytes(file, text, &table.text_b);
    for (uint32_t i = 1; i < file->shdr_n; i++) {
        if (file->shdr[i].sh_type == SHT_SYMTAB_SHNDX && file->shdr[i].sh_link == index) {
            table.more = as_file_section_bytes(file, i, &size_b);
            table.more_n = size_b / sizeof(uint32_t);
        }
    }
    return table;
}

bool as_symtab_get(const struct as_symtab *table, uint64_t index, Elf64_Sym *out, const char **name)
{
    if (index >= table->n)
        return false;
    memcpy(out, table->at + index * sizeof *out, sizeof *out);
    *name = out->st_name < table->text_b ? table->text + out->st_name : "";
    return true;
}

bool as_relocation_get(const struct as_relocations *table, uint64_t index, Elf64_Rela *out)
{
    if (index >= table->n)
        return false;
    memcpy(out, table->at + index * sizeof *out, sizeof *out);
    return true;
}
