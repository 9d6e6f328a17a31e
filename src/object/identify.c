/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognises ELF64 x86-64 files. For other files, the message names their format and a remedy. It
 * reads only the first bytes of common formats and the ELF header (System V gABI, "ELF Header").
 */
#include "object/identify.h"

#include <elf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* A file format ("a gzip file") that is recognised by its first bytes. */
struct magic {
    const char *bytes;
    uint8_t n;
    const char *what;
    const char *advice;
};

#define UNPACK_IT "unpack it and use the program or library in it"

static const struct magic MAGICS[] = {
    {"!<arch>\n", 8, "a static archive (ar)",
     "extract its members with 'ar x' and use one .o file"},
    {"!<thin>\n", 8, "a thin static archive (ar)", "use one of the .o files that it lists"},
    {"\xfe\xed\xfa\xce", 4, "a Mach-O file (macOS)", "build it for Linux x86-64"},
    {"\xfe\xed\xfa\xcf", 4, "a Mach-O file (macOS)", "build it for Linux x86-64"},
    {"\xce\xfa\xed\xfe", 4, "a Mach-O file (macOS)", "build it for Linux x86-64"},
    {"\xcf\xfa\xed\xfe", 4, "a Mach-O file (macOS)", "build it for Linux x86-64"},
    {"BC\xc0\xde", 4, "LLVM bitcode", "compile it to an object file first"},
    {"\0asm", 4, "a WebAssembly module", "build it for Linux x86-64"},
    {"\x1f\x8b", 2, "a gzip file", UNPACK_IT},
    {"\xfd"
     "7zXZ",
     5, "an xz file", UNPACK_IT},
    {"BZh", 3, "a bzip2 file", UNPACK_IT},
    {"\x28\xb5\x2f\xfd", 4, "a zstd file", UNPACK_IT},
    {"PK\3\4", 4, "a zip file", UNPACK_IT},
    {"MZ", 2, "a PE/DOS file (Windows)", "build it for Linux x86-64"},
};

struct elf_machine {
    uint16_t number;
    const char *name;
};

static const struct elf_machine MACHINES[] = {
    {EM_SPARC, "SPARC"},        {EM_386, "Intel 80386"},
    {EM_68K, "Motorola 68000"}, {EM_MIPS, "MIPS"},
    {EM_PARISC, "PA-RISC"},     {EM_SPARC32PLUS, "SPARC v8+"},
    {EM_PPC, "PowerPC"},        {EM_PPC64, "PowerPC64"},
    {EM_S390, "IBM S/390"},     {EM_ARM, "ARM"},
    {EM_SH, "SuperH"},          {EM_SPARCV9, "SPARC v9"},
    {EM_IA_64, "Itanium"},      {EM_AARCH64, "AArch64"},
    {EM_RISCV, "RISC-V"},       {EM_BPF, "eBPF"},
    {EM_AMDGPU, "AMD GPU"},     {EM_CUDA, "NVIDIA CUDA"},
    {EM_ALPHA, "Alpha"},        {AS_MACHINE_K1OM, "Xeon Phi K1OM"},
    {EM_XTENSA, "Xtensa"},      {EM_MICROBLAZE, "MicroBlaze"},
    {251, "NEC SX-Aurora"},     {258, "LoongArch"},
    {EM_X86_64, "x86-64"},      {0x9026, "Alpha"},
    {EM_NONE, "no machine"},
};

static void machine_name(uint16_t number, char *buf, size_t buf_b)
{
    for (size_t i = 0; i < sizeof MACHINES / sizeof *MACHINES; i++) {
        if (MACHINES[i].number == number) {
            snprintf(buf, buf_b, "%s", MACHINES[i].name);
            return;
        }
    }
    snprintf(buf, buf_b, "machine number %u", number);
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

/* Copies the next word of a "#!" line from *at on to `buf`, and advances *at. Keeps printable
 * characters, at most buf_b - 1. */
static void script_word(const uint8_t *bytes, uint64_t size_b, uint64_t *at, char *buf,
                        size_t buf_b)
{
    uint64_t i = *at;
    size_t n = 0;
    while (i < size_b && is_blank(bytes[i]))
        i++;
    for (; i < size_b && bytes[i] > ' ' && bytes[i] < 0x7f; i++)
        if (n + 1 < buf_b)
            buf[n++] = (char)bytes[i];
    buf[n] = '\0';
    *at = i;
}

static int fail_script(const char *path, const uint8_t *bytes, uint64_t size_b,
                       struct as_error *err)
{
    char interpreter[256], word[256];
    uint64_t at = 2;
    script_word(bytes, size_b, &at, interpreter, sizeof interpreter);
    size_t n = strlen(interpreter);
    /* "/usr/bin/env -S python3": the next word that is not an option is the interpreter. */
    if (n >= 4 && strcmp(interpreter + n - 4, "/env") == 0) {
        do
            script_word(bytes, size_b, &at, word, sizeof word);
        while (word[0] == '-');
        if (word[0])
            snprintf(interpreter, sizeof interpreter, "%s", word);
    }
    if (!interpreter[0])
        return as_error_set(err, AS_ERR_NOT_ELF,
                            "%s: is a script without interpreter line, not an ELF file; use the "
                            "program that it runs",
                            path);
    return as_error_set(err, AS_ERR_NOT_ELF,
                        "%s: is a script for '%s', not an ELF file; use the program that it runs, "
                        "or the interpreter",
                        path, interpreter);
}

/* Returns true if the first 4096 bytes are text: no control characters except white space. */
static bool is_text(const uint8_t *bytes, uint64_t size_b)
{
    uint64_t n = size_b < 4096 ? size_b : 4096;
    for (uint64_t i = 0; i < n; i++)
        if ((bytes[i] < ' ' && !strchr("\t\n\r\f\v\b\x1b", bytes[i])) || bytes[i] == 0x7f ||
            bytes[i] == 0)
            return false;
    return true;
}

static bool starts(const uint8_t *bytes, uint64_t size_b, const char *with)
{
    size_t n = strlen(with);
    return size_b >= n && memcmp(bytes, with, n) == 0;
}

static int fail_not_elf(const char *path, const uint8_t *bytes, uint64_t size_b,
                        struct as_error *err)
{
    if (starts(bytes, size_b, "#!"))
        return fail_script(path, bytes, size_b, err);
    for (size_t i = 0; i < sizeof MAGICS / sizeof *MAGICS; i++)
        if (size_b >= MAGICS[i].n && memcmp(bytes, MAGICS[i].bytes, MAGICS[i].n) == 0)
            return as_error_set(err, AS_ERR_NOT_ELF, "%s: is %s, not an ELF file; %s", path,
                                MAGICS[i].what, MAGICS[i].advice);
    if (starts(bytes, size_b, "\xca\xfe\xba\xbe")) {
        /* Bytes 4 to 7 are the number of architectures of a Mach-O file, or a Java class version.
         */
        bool java = size_b >= 8 && bytes[7] >= 30;
        return as_error_set(err, AS_ERR_NOT_ELF,
                            "%s: is a %s, not an ELF file; build it for Linux x86-64", path,
                            java ? "Java class file" : "universal Mach-O file (macOS)");
    }
    if (starts(bytes, size_b, "/* GNU ld script"))
        return as_error_set(err, AS_ERR_NOT_ELF,
                            "%s: is a linker script, not an ELF file; use the shared object that "
                            "it mentions",
                            path);
    if (is_text(bytes, size_b))
        return as_error_set(err, AS_ERR_NOT_ELF,
                            "%s: is a text file, not an ELF file; use a compiled program, library "
                            "or .o file",
                            path);
    char hex[4 * 3 + 1] = "";
    size_t n = 0;
    for (size_t i = 0; i < 4 && i < size_b; i++)
        n += (size_t)snprintf(hex + n, sizeof hex - n, i ? " %02x" : "%02x", bytes[i]);
    return as_error_set(err, AS_ERR_NOT_ELF,
                        "%s: is not an ELF file: it starts with the bytes %s instead of 7f 45 4c "
                        "46; use a compiled program, library or .o file",
                        path, hex);
}

/* Checks class, byte order and machine. `bytes` must have at least 20 bytes, up to e_machine. */
static int check_machine(const char *path, const uint8_t *bytes, struct as_error *err)
{
    char name[64];
    bool big = bytes[EI_DATA] == ELFDATA2MSB;
    uint16_t number = (uint16_t)(big ? bytes[18] << 8 | bytes[19] : bytes[19] << 8 | bytes[18]);
    machine_name(number, name, sizeof name);
    if (bytes[EI_CLASS] != ELFCLASS32 && bytes[EI_CLASS] != ELFCLASS64)
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: is corrupted: its ELF class is %u, neither 1 (32-bit) nor 2 "
                            "(64-bit); build or copy it again",
                            path, bytes[EI_CLASS]);
    if (!big && bytes[EI_DATA] != ELFDATA2LSB)
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: is corrupted: its ELF byte order is %u, neither 1 nor 2; build or "
                            "copy it again",
                            path, bytes[EI_DATA]);
    if (bytes[EI_CLASS] == ELFCLASS32)
        return as_error_set(err, AS_ERR_CLASS,
                            "%s: is a 32-bit ELF file (%s%s): only 64-bit x86-64 files are "
                            "analysed; build it without -m32 or -mx32",
                            path, name, number == EM_X86_64 ? ", x32" : "");
    if (big || (number != EM_X86_64 && number != AS_MACHINE_K1OM))
        return as_error_set(err, AS_ERR_ARCH,
                            "%s: is %s ELF file for %s: only x86-64 files are analysed; build it "
                            "for x86-64",
                            path, big ? "a big-endian" : "an", name);
    return 0;
}

static int check_type(const char *path, const Elf64_Ehdr *ehdr, struct as_error *err)
{
    switch (ehdr->e_type) {
    case ET_REL:
    case ET_EXEC:
    case ET_DYN:
        return 0;
    case ET_CORE:
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "%s: is a core dump, not a program; use the program that dumped it",
                            path);
    default:
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: is corrupted: its ELF type is %u, not that of a program, library "
                            "or .o file; build or copy it again",
                            path, ehdr->e_type);
    }
}

int as_identify(const char *path, const uint8_t *bytes, uint64_t size_b, struct as_error *err)
{
    if (size_b == 0)
        return as_error_set(err, AS_ERR_NOT_ELF,
                            "%s: is empty (0 bytes), not an ELF file; build or copy it again",
                            path);
    if (size_b < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return fail_not_elf(path, bytes, size_b, err);
    if (size_b >= 20)
        AS_TRY(check_machine(path, bytes, err));
    if (size_b < sizeof(Elf64_Ehdr))
        return as_error_set(err, AS_ERR_TRUNCATED,
                            "%s: is truncated: it ends at byte %" PRIu64
                            " inside the ELF header of 64 bytes; build or copy it again",
                            path, size_b);
    Elf64_Ehdr ehdr;
    memcpy(&ehdr, bytes, sizeof ehdr);
    if (ehdr.e_ident[EI_VERSION] != EV_CURRENT || ehdr.e_version != EV_CURRENT)
        return as_error_set(
            err, AS_ERR_CORRUPT,
            "%s: is corrupted: its ELF version is %u, not 1; build or copy it again", path,
            ehdr.e_version != EV_CURRENT ? ehdr.e_version : ehdr.e_ident[EI_VERSION]);
    if (ehdr.e_ehsize != sizeof ehdr)
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: is corrupted: its ELF header says it has %u bytes, not 64; build "
                            "or copy it again",
                            path, ehdr.e_ehsize);
    return check_type(path, &ehdr, err);
}
