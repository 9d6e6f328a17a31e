/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that is not ELF64 x86-64 gets its own code, and a sentence that names its kind.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "object/object.h"
#include "program.h"

static void refuses_memory(const void *bytes, size_t n, int code, const char *part)
{
    struct as_error err = {0};
    struct as_object *object = (struct as_object *)&err;
    assert_int_equal(as_object_open_memory(bytes, n, "the-file", NULL, &object, &err), code);
    assert_null(object);
    assert_int_equal(err.code, code);
    if (strncmp(err.text, "the-file: ", 10) != 0 || !strstr(err.text, part))
        fail_msg("'%s' does not say '%s'", err.text, part);
    assert_null(strchr(err.text, '\n'));
}

static void test_other_formats(void **state)
{
    (void)state;
#define SAYS(bytes, part) refuses_memory(bytes, sizeof(bytes) - 1, AS_ERR_NOT_ELF, part)
    SAYS("", "is empty (0 bytes)");
    SAYS("#!/bin/sh\necho\n", "is a script for '/bin/sh'");
    SAYS("#! /usr/bin/python3 -u\n", "is a script for '/usr/bin/python3'");
    SAYS("#!/usr/bin/env -S perl -w\n", "is a script for 'perl'");
    SAYS("#!\n", "is a script without interpreter line");
    SAYS("!<arch>\n/               0", "is a static archive (ar)");
    SAYS("!<thin>\n/               0", "is a thin static archive");
    SAYS("\xcf\xfa\xed\xfe\7\0\0\1", "is a Mach-O file");
    SAYS("\xca\xfe\xba\xbe\0\0\0\2", "is a universal Mach-O file");
    SAYS("\xca\xfe\xba\xbe\0\0\0\x34", "is a Java class file");
    SAYS("MZ\x90\0\3", "is a PE/DOS file");
    SAYS("BC\xc0\xde\x35", "is LLVM bitcode");
    SAYS("\x1f\x8b\x08", "is a gzip file");
    SAYS("\xfd"
         "7zXZ\0",
         "is an xz file");
    SAYS("/* GNU ld script\n*/ GROUP(libm.so.6)", "is a linker script");
    SAYS("int main(void)\n{\n}\n", "is a text file");
    SAYS("na\xc3\xafve text", "is a text file");
    SAYS("\1\2\3", "it starts with the bytes 01 02 03 instead");
    SAYS("\x7f"
         "ELG\2\1\1",
         "it starts with the bytes 7f 45 4c 47 instead");
#undef SAYS
}

/* A header that would be right but for what the caller changes. */
static Elf64_Ehdr header(void)
{
    return (Elf64_Ehdr){
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_ehsize = sizeof(Elf64_Ehdr)};
}

static void refuses_header(Elf64_Ehdr ehdr, int code, const char *part)
{
    refuses_memory(&ehdr, sizeof ehdr, code, part);
}

static void test_machines(void **state)
{
    (void)state;
    static const struct {
        uint16_t machine;
        const char *part;
    } machines[] = {{EM_AARCH64, "is an ELF file for AArch64:"},
                    {EM_RISCV, "is an ELF file for RISC-V:"},
                    {EM_PPC64, "is an ELF file for PowerPC64:"},
                    {EM_CUDA, "is an ELF file for NVIDIA CUDA:"},
                    {EM_386, "is an ELF file for Intel 80386:"},
                    {4711, "is an ELF file for machine number 4711:"}};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        Elf64_Ehdr ehdr = header();
        ehdr.e_machine = machines[i].machine;
        refuses_header(ehdr, AS_ERR_ARCH, machines[i].part);
    }
    Elf64_Ehdr k1om = header(); /* Knights Corner's is read */
    k1om.e_machine = 181;
    refuses_header(k1om, AS_ERR_CORRUPT, "neither sections nor segments");
    Elf64_Ehdr big = header();
    big.e_ident[EI_DATA] = ELFDATA2MSB;
    big.e_machine = EM_PPC64 << 8;
    refuses_header(big, AS_ERR_ARCH, "is a big-endian ELF file for PowerPC64:");
    Elf64_Ehdr small = header();
    small.e_ident[EI_CLASS] = ELFCLASS32;
    refuses_header(small, AS_ERR_CLASS, "is a 32-bit ELF file (x86-64, x32)");
    small.e_machine = EM_386;
    refuses_header(small, AS_ERR_CLASS, "is a 32-bit ELF file (Intel 80386)");
}

static void test_headers(void **state)
{
    (void)state;
    Elf64_Ehdr ehdr = header();
    refuses_header(ehdr, AS_ERR_CORRUPT, "neither sections nor segments");
    ehdr.e_type = ET_CORE;
    refuses_header(ehdr, AS_ERR_UNSUPPORTED, "is a core dump");
    ehdr.e_type = ET_NONE;
    refuses_header(ehdr, AS_ERR_CORRUPT, "its ELF type is 0");
    ehdr = header();
    ehdr.e_ident[EI_CLASS] = 7;
    refuses_header(ehdr, AS_ERR_CORRUPT, "its ELF class is 7");
    ehdr = header();
    ehdr.e_ident[EI_DATA] = 9;
    refuses_header(ehdr, AS_ERR_CORRUPT, "its ELF byte order is 9");
    ehdr = header();
    ehdr.e_version = 2;
    refuses_header(ehdr, AS_ERR_CORRUPT, "its ELF version is 2");
    ehdr = header();
    ehdr.e_ehsize = 52;
    refuses_header(ehdr, AS_ERR_CORRUPT, "says it has 52 bytes");
    ehdr = header();
    for (size_t n = 4; n < sizeof ehdr; n++)
        refuses_memory(&ehdr, n, AS_ERR_TRUNCATED, "inside the ELF header");
}

static void refuses_path(const char *path, int code, const char *part)
{
    struct as_error err = {0};
    struct as_object *object = NULL;
    assert_int_equal(as_object_open(path, NULL, &object, &err), code);
    assert_null(object);
    if (strncmp(err.text, path, strlen(path)) != 0 || !strstr(err.text, part))
        fail_msg("'%s' does not say '%s'", err.text, part);
}

static void test_paths(void **state)
{
    (void)state;
    refuses_path(program_path("missing"), AS_ERR_NOT_FOUND, "no such file");
    refuses_path(program_path("p.c/below"), AS_ERR_NOT_FOUND, "no such file");
    refuses_path("/", AS_ERR_NOT_REGULAR, "is a directory");
    refuses_path("/dev/null", AS_ERR_NOT_REGULAR, "is a character device");
    assert_int_equal(mkfifo(program_path("pipe"), 0600), 0);
    refuses_path(program_path("pipe"), AS_ERR_NOT_REGULAR, "is a pipe");
    program_write("empty", "", 0);
    refuses_path(program_path("empty"), AS_ERR_NOT_ELF, "is empty");
    refuses_path(program_path("p.c"), AS_ERR_NOT_ELF, "is a text file");
}

static void test_permission(void **state)
{
    (void)state;
    program_write("secret", "x", 1);
    assert_int_equal(chmod(program_path("secret"), 0), 0);
    bool root = geteuid() == 0;
    /* Root may read everything: change the user for the call. */
    if (root && seteuid(65534) != 0)
        skip();
    struct as_object *object;
    struct as_error err = {0};
    /* The other user may not even be let into the directory; the sentence is the same. */
    int rc = as_object_open(program_path("secret"), NULL, &object, &err);
    if (root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(rc, AS_ERR_PERMISSION);
    assert_non_null(strstr(err.text, "permission denied: it is not readable"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_formats), cmocka_unit_test(test_machines),
        cmocka_unit_test(test_headers),       cmocka_unit_test(test_paths),
        cmocka_unit_test(test_permission),
    };
    return cmocka_run_group_tests_name("object/identify", tests, program_setup, program_teardown);
}
