/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damaged files: every cut of a small one, and every change of its headers. Each ends in a readable
 * object or in one sentence, also if memory runs out half way.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "object/object.h"
#include "program.h"

/* Opens and walks everything; the code of opening. */
static int walk(const uint8_t *bytes, size_t n, struct as_error *err)
{
    /* An exact heap copy, so that the sanitizer sees one byte too far. */
    uint8_t *copy = malloc(n ? n : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    struct as_object *object;
    *err = (struct as_error){0};
    int rc = as_object_open_memory(copy, n, "damaged", NULL, &object, err);
    if (rc == 0) {
        const struct as_function *f;
        size_t f_n;
        uint64_t sum = 0;
        assert_int_equal(as_object_functions(object, true, &f, &f_n, err), 0);
        for (size_t i = 0; i < f_n; i++) {
            uint64_t size_b;
            assert_true(f[i].end >= f[i].start);
            const uint8_t *p = as_object_bytes(object, f[i].start, &size_b);
            sum += strlen(f[i].name) + (p ? p[size_b - 1] : 0u);
        }
        const struct as_symbol *s;
        size_t s_n = as_object_symbols(object, &s);
        for (size_t i = 0; i < s_n; i++)
            sum += strlen(s[i].name);
        assert_true(sum != 1); /* all was really read */
    } else {
        assert_int_equal(err->code, rc);
        assert_int_equal(strncmp(err->text, "damaged: ", 9), 0);
        assert_null(object);
    }
    as_object_close(&object);
    free(copy);
    return rc;
}

static const char *const targets[] = {"small.o", "stripped"};

static void test_every_length(void **state)
{
    (void)state;
    for (size_t t = 0; t < 2; t++) {
        size_t n;
        struct as_error err;
        uint8_t *bytes = program_read(program_path(targets[t]), &n);
        assert_int_equal(walk(bytes, n, &err), 0);
        for (size_t cut = 0; cut < n; cut += cut < 4096 ? 1 : 61) {
            int rc = walk(bytes, cut, &err);
            assert_int_equal(rc, cut < 4 ? AS_ERR_NOT_ELF : AS_ERR_TRUNCATED);
        }
        assert_int_equal(walk(bytes, n - 1, &err), AS_ERR_TRUNCATED);
        assert_non_null(strstr(err.text, "its section header table stands at bytes "));
        free(bytes);
    }
}

static void test_every_header_byte(void **state)
{
    (void)state;
    static const uint8_t change[] = {0x01, 0x80, 0xff};
    for (size_t t = 0; t < 2; t++) {
        size_t n, refused = 0;
        struct as_error err;
        uint8_t *bytes = program_read(program_path(targets[t]), &n);
        Elf64_Ehdr ehdr;
        memcpy(&ehdr, bytes, sizeof ehdr);
        for (size_t i = 0; i < n; i++) {
            if (i >= 4096 && i < ehdr.e_shoff && i % 17)
                continue; /* contents: a sample */
            for (size_t c = 0; c < sizeof change; c++) {
                bytes[i] ^= change[c];
                int rc = walk(bytes, n, &err);
                refused += rc < 0;
                assert_true(rc == 0 || as_error_exit_status(rc) == 2);
                bytes[i] ^= change[c];
            }
        }
        assert_true(refused > 100);
        free(bytes);
    }
}

/* One section header of "stripped" changed, and the sentence that it must lead to. */
struct damage {
    const char *section;
    void (*change)(Elf64_Shdr *shdr);
    int code;
    const char *part;
};

static void entsize_0(Elf64_Shdr *shdr)
{
    shdr->sh_entsize = 0;
}
static void align_3(Elf64_Shdr *shdr)
{
    shdr->sh_addralign = 3;
}
static void size_huge(Elf64_Shdr *shdr)
{
    shdr->sh_size = UINT64_MAX - 3;
}
static void offset_beyond(Elf64_Shdr *shdr)
{
    shdr->sh_offset = 1 << 30;
}
static void name_beyond(Elf64_Shdr *shdr)
{
    shdr->sh_name = 1 << 20;
}
static void link_beyond(Elf64_Shdr *shdr)
{
    shdr->sh_link = 999;
}
static void address_wraps(Elf64_Shdr *shdr)
{
    shdr->sh_addr = UINT64_MAX - 1;
}
static void larger(Elf64_Shdr *shdr)
{
    shdr->sh_size += 0x40;
}
static void cut_string(Elf64_Shdr *shdr)
{
    shdr->sh_size -= 1;
}
static void type_progbits(Elf64_Shdr *shdr)
{
    shdr->sh_type = SHT_PROGBITS;
}

static const struct damage damages[] = {
    {".dynsym", entsize_0, AS_ERR_CORRUPT, "(.dynsym) has "},
    {".rela.dyn", entsize_0, AS_ERR_CORRUPT, "in entries of 0 where entries of 24 are due"},
    {".text", align_3, AS_ERR_CORRUPT, "(.text) asks to be aligned to 3"},
    {".text", size_huge, AS_ERR_CORRUPT, "beyond the end of the file at byte "},
    {".data", offset_beyond, AS_ERR_TRUNCATED, "(.data) stands at byte 1073741824 with "},
    {".data", name_beyond, AS_ERR_CORRUPT, "stands at byte 1048576 of a name table of "},
    {".dynsym", link_beyond, AS_ERR_CORRUPT, "(.dynsym) refers to section 999 of "},
    {".bss", address_wraps, AS_ERR_CORRUPT, "wraps around the address space"},
    {".init", larger, AS_ERR_CORRUPT, "its code sections .init and .plt overlap at address"},
    {".shstrtab", cut_string, AS_ERR_CORRUPT, "does not end in a zero byte"},
    {".dynstr", cut_string, AS_ERR_CORRUPT, "(.dynstr) does not end in a zero byte"},
    {".shstrtab", type_progbits, AS_ERR_CORRUPT, "is not a string table"},
    {".shstrtab", offset_beyond, AS_ERR_CORRUPT, "its section name table stands at byte"},
};

static void test_section_damage(void **state)
{
    (void)state;
    size_t n;
    uint8_t *bytes = program_read(program_path("stripped"), &n);
    Elf64_Ehdr ehdr;
    memcpy(&ehdr, bytes, sizeof ehdr);
    Elf64_Shdr names, shdr;
    memcpy(&names, bytes + ehdr.e_shoff + ehdr.e_shstrndx * sizeof names, sizeof names);
    for (size_t d = 0; d < sizeof damages / sizeof *damages; d++) {
        bool found = false;
        for (unsigned i = 1; i < ehdr.e_shnum && !found; i++) {
            uint8_t *at = bytes + ehdr.e_shoff + i * sizeof shdr;
            memcpy(&shdr, at, sizeof shdr);
            const char *name = (const char *)bytes + names.sh_offset + shdr.sh_name;
            if (strcmp(name, damages[d].section) != 0)
                continue;
            found = true;
            Elf64_Shdr changed = shdr;
            damages[d].change(&changed);
            memcpy(at, &changed, sizeof changed);
            struct as_error err;
            int rc = walk(bytes, n, &err);
            memcpy(at, &shdr, sizeof shdr);
            if (rc != damages[d].code || !strstr(err.text, damages[d].part))
                fail_msg("%d '%s' does not say '%s'", rc, err.text, damages[d].part);
        }
        if (!found)
            fail_msg("no section %s", damages[d].section);
    }
    free(bytes);
}

static void test_segment_damage(void **state)
{
    (void)state;
    size_t n;
    struct as_error err;
    uint8_t *bytes = program_read(program_path("stripped"), &n);
    Elf64_Ehdr ehdr;
    memcpy(&ehdr, bytes, sizeof ehdr);
    for (unsigned i = 0; i < ehdr.e_phnum; i++) {
        uint8_t *at = bytes + ehdr.e_phoff + i * sizeof(Elf64_Phdr);
        Elf64_Phdr phdr, changed;
        memcpy(&phdr, at, sizeof phdr);
        if (phdr.p_type != PT_LOAD)
            continue;
        changed = phdr;
        changed.p_filesz = changed.p_memsz = n + 1;
        memcpy(at, &changed, sizeof changed);
        assert_int_equal(walk(bytes, n, &err), AS_ERR_TRUNCATED);
        assert_non_null(strstr(err.text, "but the file ends at byte "));
        changed.p_memsz = UINT64_MAX;
        changed.p_vaddr = 0x1000;
        memcpy(at, &changed, sizeof changed);
        assert_int_equal(walk(bytes, n, &err), AS_ERR_CORRUPT);
        assert_non_null(strstr(err.text, "wraps around the address space"));
        changed = phdr;
        changed.p_memsz = phdr.p_filesz - 1;
        memcpy(at, &changed, sizeof changed);
        assert_int_equal(walk(bytes, n, &err), AS_ERR_CORRUPT);
        assert_non_null(strstr(err.text, "bytes in the file but only "));
        memcpy(at, &phdr, sizeof phdr);
    }
    free(bytes);
}

/* A .o with sections that share bytes could rewrite its own tables in relocation. */
static void test_shared_bytes(void **state)
{
    (void)state;
    size_t n;
    struct as_error err;
    uint8_t *bytes = program_read(program_path("small.o"), &n);
    Elf64_Ehdr ehdr;
    Elf64_Shdr first;
    memcpy(&ehdr, bytes, sizeof ehdr);
    uint8_t *at = bytes + ehdr.e_shoff + sizeof first; /* .text */
    memcpy(&first, at, sizeof first);
    first.sh_size = n - first.sh_offset;
    memcpy(at, &first, sizeof first);
    assert_int_equal(walk(bytes, n, &err), AS_ERR_CORRUPT);
    assert_non_null(strstr(err.text, " share bytes at offset "));
    free(bytes);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    for (size_t t = 0; t < 2; t++) {
        bool whole = false;
        for (int64_t after = 0; !whole; after++) {
            struct as_object *object;
            struct as_error err = {0};
            const struct as_function *f;
            size_t n;
            assert_true(after < 10000);
            as_alloc_fail_after(after);
            int rc = as_object_open(program_path(targets[t]), NULL, &object, &err);
            if (rc == 0) {
                rc = as_object_functions(object, true, &f, &n, &err);
                whole = rc == 0;
            }
            as_alloc_fail_after(-1);
            assert_true(rc == 0 || rc == AS_ERR_NOMEM);
            assert_true(rc == 0 || strstr(err.text, "out of memory"));
            as_object_close(&object);
        }
    }
}

static int build(void **state)
{
    if (program_setup(state) < 0)
        return -1;
    program_build("small.o", "-O1 -c");
    program_build("stripped", "-O1 -s -Wl,-z,lazy");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_length),   cmocka_unit_test(test_every_header_byte),
        cmocka_unit_test(test_section_damage), cmocka_unit_test(test_segment_damage),
        cmocka_unit_test(test_shared_bytes),   cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests_name("object/damage", tests, build, program_teardown);
}
