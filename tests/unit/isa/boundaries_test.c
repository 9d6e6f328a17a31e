/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instruction boundaries against `objdump -d` on the whole text of a large library: both sweep
 * .text from its start, so the two lists of addresses must be the same. Skipped where binutils or
 * the library is missing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isa/isa.h"

static const Elf64_Shdr *text_section(const char *file)
{
    const Elf64_Ehdr *eh = (const Elf64_Ehdr *)file;
    const Elf64_Shdr *sh = (const Elf64_Shdr *)(file + eh->e_shoff);
    const char *names = file + sh[eh->e_shstrndx].sh_offset;
    for (unsigned i = 0; i < eh->e_shnum; i++)
        if (!strcmp(names + sh[i].sh_name, ".text"))
            return &sh[i];
    return NULL;
}

static void compare(FILE *objdump, const struct as_code *code)
{
    char line[4096];
    size_t i = 0;
    while (fgets(line, sizeof line, objdump)) {
        char *end;
        unsigned long long address = strtoull(line, &end, 16);
        if (end == line || end[0] != ':' || end[1] != '\t')
            continue;
        if (i >= code->n || code->insn[i].address != address)
            fail_msg("objdump has an instruction at %#llx: %s", address, line);
        i++;
    }
    assert_int_equal(i, code->n);
}

static void same_as_objdump(void **state)
{
    const char *path = *state;
    struct stat st;
    char command[512];
    int fd = path ? open(path, O_RDONLY) : -1;
    if (fd < 0 || system("objdump --version >/dev/null 2>&1") != 0) {
        print_message("# skipped: needs objdump and libopenblas\n");
        skip();
    }
    assert_int_equal(fstat(fd, &st), 0);
    const char *file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_true(file != MAP_FAILED);
    const Elf64_Shdr *text = text_section(file);
    struct as_code code;
    assert_non_null(text);
    assert_int_equal(as_decode((const uint8_t *)file + text->sh_offset, text->sh_size,
                               text->sh_addr, &code, NULL),
                     0);
    assert_true(code.n > 1000);
    assert_int_equal(code.invalid_n, 0);
    snprintf(command, sizeof command, "LC_ALL=C objdump -dw --no-show-raw-insn -j .text '%s'",
             path);
    FILE *objdump = popen(command, "r");
    assert_non_null(objdump);
    compare(objdump, &code);
    assert_int_equal(pclose(objdump), 0);
    as_code_free(&code);
    munmap((void *)file, (size_t)st.st_size);
    close(fd);
}

int main(int argc, char **argv)
{
    static const char *const places[] = {
        "/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0",
        "/usr/lib/x86_64-linux-gnu/openblas-serial/libopenblas.so.0",
        "/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0"};
    char *path = argc > 1 ? argv[1] : NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places && !path; i++)
        if (!access(places[i], R_OK))
            path = (char *)(uintptr_t)places[i];
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(same_as_objdump, path)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
