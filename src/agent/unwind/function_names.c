/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each file is mapped when one of its functions is asked for first, and its symbols are put into a
 * table by their addresses then. The file is foreign: all that it says is held against its size.
 */
#include "agent/unwind/function_names.h"

#include <elf.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/core/agent.h"

#define FILES_N 128u
#define POOL_B  (64u << 10)

/* Symbols of a file. */
static struct symbol_file {
    uintptr_t start; /* of its module */
    const Elf64_Sym *symbol;
    uint64_t symbol_n;
    const char *text; /* its last byte is zero */
    uint64_t text_b;
    uint32_t *slot; /* by address: place of a symbol and 1; 0: free. NULL: no symbols */
    uint64_t slots; /* a power of two */
} file[FILES_N];
static unsigned files_n;
static char *pool, *pool_end;    /* for names that are made */
static _Atomic pid_t naming_tid; /* who holds all of this; 0: nobody */

/* The C library's mmap may be wrapped. */
static void *map_memory(size_t size_b, int fd)
{
    const int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE;
    const long at =
        syscall(SYS_mmap, NULL, size_b, fd < 0 ? PROT_READ | PROT_WRITE : PROT_READ, flags, fd, 0L);
    return at == -1 ? NULL : (void *)at;
}

/* ---- Files ---------------------------------------------------------------------------------- */

static const uint8_t *map_file(const char *path, uint64_t *size_b)
{
    struct stat status;
    const uint8_t *bytes = NULL;
    const int fd = as_agent_open(path, O_RDONLY);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size >= (off_t)sizeof(Elf64_Ehdr)) {
        *size_b = (uint64_t)status.st_size;
        bytes = map_memory(*size_b, fd);
    }
    syscall(SYS_close, fd);
    return bytes;
}

static bool lies_within(uint64_t offset, uint64_t n, uint64_t each_b, uint64_t size_b)
{
    return offset <= size_b && each_b && n <= (size_b - offset) / each_b && offset % 8 == 0;
}

/* Sections of symbols and of their names; false: there are none, or they make no sense. */
static bool find_symbols(struct symbol_file *f, const uint8_t *bytes, uint64_t size_b)
{
    const Elf64_Ehdr *head = (const void *)bytes;
    const Elf64_Shdr *section = (const void *)(bytes + head->e_shoff), *found = NULL;
    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        !head->e_shoff || !lies_within(head->e_shoff, head->e_shnum, sizeof *section, size_b))
        return false;
    for (unsigned i = 0; i < head->e_shnum; i++)
        if (section[i].sh_type == SHT_SYMTAB || (section[i].sh_type == SHT_DYNSYM && !found))
            found = &section[i];
    if (!found || found->sh_link >= head->e_shnum)
        return false;
    const Elf64_Shdr *text = &section[found->sh_link];
    f->symbol_n = found->sh_size / sizeof *f->symbol;
    if (!lies_within(found->sh_offset, f->symbol_n, sizeof *f->symbol, size_b) ||
        text->sh_offset > size_b || text->sh_size > size_b - text->sh_offset || !text->sh_size ||
        bytes[text->sh_offset + text->sh_size - 1] != 0)
        return false;
    f->symbol = (const void *)(bytes + found->sh_offset);
    f->text = (const char *)bytes + text->sh_offset;
    f->text_b = text->sh_size;
    return f->symbol_n > 0 && f->symbol_n < UINT32_MAX;
}

/* ---- Symbols by address ---------------------------------------------------------------------- */

static bool is_function(const struct symbol_file *f, const Elf64_Sym *symbol)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
           symbol->st_name < f->text_b && f->text[symbol->st_name];
}

/* Where the symbol of an address stands, or would. */
static uint32_t *slot_of(const struct symbol_file *f, uint64_t value)
{
    uint64_t at = value * 0x9e3779b97f4a7c15u >> 20;
    for (;; at++) {
        uint32_t *slot = &f->slot[at & (f->slots - 1)];
        if (!*slot || f->symbol[*slot - 1].st_value == value)
            return slot;
    }
}

/* Of several names of one function a global one is what the program calls it by. */
static void index_symbols(struct symbol_file *f)
{
    for (f->slots = 16; f->slots < 2 * f->symbol_n; f->slots *= 2)
        ;
    f->slot = map_memory(f->slots * sizeof *f->slot, -1);
    for (uint64_t i = 0; f->slot && i < f->symbol_n; i++) {
        if (!is_function(f, &f->symbol[i]))
            continue;
        uint32_t *slot = slot_of(f, f->symbol[i].st_value);
        if (!*slot || (ELF64_ST_BIND(f->symbol[i].st_info) == STB_GLOBAL &&
                       ELF64_ST_BIND(f->symbol[*slot - 1].st_info) != STB_GLOBAL))
            *slot = (uint32_t)i + 1;
    }
}

/* What lay there before may be gone: the latest counts. */
static const struct symbol_file *file_of(const struct as_unwind_module *module, const char *path)
{
    for (unsigned i = files_n; i-- > 0;)
        if (file[i].start == module->start)
            return &file[i];
    if (files_n == FILES_N)
        return NULL;
    struct symbol_file *f = &file[files_n++];
    uint64_t size_b = 0;
    const uint8_t *bytes = map_file(path, &size_b);
    *f = (struct symbol_file){.start = module->start};
    if (bytes && find_symbols(f, bytes, size_b))
        index_symbols(f);
    return f;
}

/* ---- Names that are made --------------------------------------------------------------------- */

static const char *make_name(uint64_t value, const char *path)
{
    static const char digits[] = "0123456789abcdef";
    const char *slash = strrchr(path, '/');
    char hex[20], *at = hex + sizeof hex;
    *--at = 0;
    do
        *--at = digits[value & 15];
    while (value >>= 4);
    const size_t most_b = 256 + sizeof hex + 4;
    if (!pool || (size_t)(pool_end - pool) < most_b) {
        pool = map_memory(POOL_B, -1);
        pool_end = pool ? pool + POOL_B : NULL;
    }
    char *name = pool;
    if (!name)
        return NULL;
    char *end = as_agent_append(name, name + 256, slash ? slash + 1 : path);
    end = as_agent_append(end, pool_end - 1, "+0x");
    end = as_agent_append(end, pool_end - 1, at);
    *end = 0;
    pool = end + 1;
    return name;
}

/* ---- For others ------------------------------------------------------------------------------ */

const char *as_function_name(uintptr_t address, const struct as_unwind_module *module,
                             const char *path)
{
    pid_t nobody = 0;
    while (!atomic_compare_exchange_weak(&naming_tid, &nobody, as_agent_self.tid)) {
        if (nobody == as_agent_self.tid)
            return NULL;
        nobody = 0;
        syscall(SYS_sched_yield);
    }
    const uint64_t value = address - module->bias;
    const struct symbol_file *f = file_of(module, path);
    const uint32_t *slot = f && f->slot ? slot_of(f, value) : NULL;
    const char *name =
        slot && *slot ? f->text + f->symbol[*slot - 1].st_name : make_name(value, path);
    atomic_store_explicit(&naming_tid, 0, memory_order_release);
    return name;
}

void as_function_names_forked(void)
{
    atomic_store(&naming_tid, 0);
}
