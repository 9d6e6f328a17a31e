/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The analysis of code on foreign bytes: an ELF file as it is, or machine code in a minimal
 * executable. Its results must keep the promises of code/code.h.
 */
#include "fuzz.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "../code/check.h"

#define CODE_AT 0x401000u

/* Builds an executable of one segment; its entry is the first byte of `code`. */
static uint8_t *wrap(const uint8_t *code, size_t code_b, size_t *size_b)
{
    struct {
        Elf64_Ehdr ehdr;
        Elf64_Phdr phdr;
    } head = {
        .ehdr = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                 .e_type = ET_EXEC,
                 .e_machine = EM_X86_64,
                 .e_version = EV_CURRENT,
                 .e_entry = CODE_AT,
                 .e_phoff = sizeof head.ehdr,
                 .e_ehsize = sizeof head.ehdr,
                 .e_phentsize = sizeof head.phdr,
                 .e_phnum = 1},
        .phdr = {.p_type = PT_LOAD,
                 .p_flags = PF_R | PF_X,
                 .p_offset = sizeof head,
                 .p_vaddr = CODE_AT,
                 .p_paddr = CODE_AT,
                 .p_filesz = code_b,
                 .p_memsz = code_b,
                 .p_align = 1},
    };
    uint8_t *file = malloc(sizeof head + code_b);
    if (!file)
        abort();
    memcpy(file, &head, sizeof head);
    if (code_b)
        memcpy(file + sizeof head, code, code_b);
    *size_b = sizeof head + code_b;
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    bool is_elf = size_b > 4 && memcmp(bytes,
                                       "\x7f"
                                       "ELF",
                                       4) == 0;
    size_t file_b = size_b;
    uint8_t *file = is_elf ? NULL : wrap(bytes, size_b, &file_b);
    struct as_program_options options = {
        .jobs = 1, .path_limit = AS_PATH_LIMIT, .with_source = size_b % 2};
    struct as_object *object = NULL;
    struct as_program *program = NULL;
    struct as_error err = {0};
    int rc = as_object_open_memory(is_elf ? bytes : file, file_b, "fuzzed", NULL, &object, &err);
    if (rc == 0)
        rc = as_program_new(object, &options, &program, &err);
    if (rc < 0)
        fuzz_check_error(rc, &err);
    if (program) {
        size_t where = 0;
        const char *bad = check_program(program, 64, &where);
        if (bad)
            fuzz_fail(__FILE__, __LINE__, bad);
    }
    as_program_free(&program);
    as_object_close(&object);
    free(file);
    return 0;
}
