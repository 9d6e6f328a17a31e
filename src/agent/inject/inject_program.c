/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's way into a program that has just been executed: nothing of it ran, and of the system
 * only what the kernel mapped is there. Its first instruction lends its place for two system calls.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/inject/inject.h"
#include "agent/inject/inject_internal.h"

#define SIGTRAP_BIT (UINT64_C(1) << 4)

/* ---- What /proc tells ------------------------------------------------------------------------ */

char *as_inject_number(char *at, uint64_t value)
{
    char digits[24];
    unsigned n = 0;
    do
        digits[n++] = (char)('0' + value % 10);
    while (value /= 10);
    while (n)
        *at++ = digits[--n];
    *at = 0;
    return at;
}

static void proc_path(pid_t pid, const char *name, char *path)
{
    memcpy(path, "/proc/", 6);
    char *at = as_inject_number(path + 6, (uint64_t)pid);
    *at++ = '/';
    memcpy(at, name, strlen(name) + 1);
}

static size_t read_proc(pid_t pid, const char *name, void *out, size_t n)
{
    char path[64];
    proc_path(pid, name, path);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? -1 : read(fd, out, n);
    if (fd >= 0)
        close(fd);
    return got < 0 ? 0 : (size_t)got;
}

uint64_t as_inject_status(pid_t pid, const char *key, unsigned base)
{
    char text[4096];
    uint64_t value = 0;
    text[read_proc(pid, "status", text, sizeof text - 1)] = 0;
    const char *at = strstr(text, key);
    for (at = at ? at + strlen(key) : ""; *at == ' ' || *at == '\t'; at++)
        ;
    for (;; at++) {
        const unsigned digit = *at >= '0' && *at <= '9'   ? (unsigned)(*at - '0')
                               : *at >= 'a' && *at <= 'f' ? (unsigned)(*at - 'a') + 10
                                                          : base;
        if (digit >= base)
            return value;
        value = value * base + digit;
    }
}

static uint64_t auxiliary(pid_t pid, uint64_t type)
{
    Elf64_auxv_t all[64];
    const size_t n = read_proc(pid, "auxv", all, sizeof all) / sizeof *all;
    for (size_t i = 0; i < n; i++)
        if (all[i].a_type == type)
            return all[i].a_un.a_val;
    return 0;
}

bool as_inject_is_confined(pid_t tid)
{
    const uint64_t mode = as_inject_status(tid, "\nSeccomp:", 10);
    return mode && (mode != as_inject_status(getpid(), "\nSeccomp:", 10) ||
                    as_inject_status(tid, "\nSeccomp_filters:", 10) !=
                        as_inject_status(getpid(), "\nSeccomp_filters:", 10));
}

/* ---- Whether it is wanted -------------------------------------------------------------------- */

static int open_executable(pid_t pid)
{
    char path[64];
    proc_path(pid, "exe", path);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* The loader of the C library that the other agent is written for preloads it. */
static bool has_preloader(int fd, const Elf64_Phdr *loader)
{
    char path[256] = "";
    const size_t n = loader->p_filesz < sizeof path ? loader->p_filesz : sizeof path - 1;
    return pread(fd, path, n, (off_t)loader->p_offset) == (ssize_t)n &&
           strstr(path, AS_LOADER_PRELOADS);
}

/* Code of this processor that cannot take the library otherwise. */
static bool takes_image(int fd, Elf64_Ehdr *head)
{
    if (pread(fd, head, sizeof *head, 0) != sizeof *head ||
        memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        head->e_machine != EM_X86_64 || head->e_phentsize != sizeof(Elf64_Phdr))
        return false;
    for (unsigned i = 0; i < head->e_phnum; i++) {
        Elf64_Phdr segment;
        const off_t at = (off_t)(head->e_phoff + (uint64_t)i * sizeof segment);
        if (pread(fd, &segment, sizeof segment, at) != sizeof segment ||
            (segment.p_type == PT_INTERP && has_preloader(fd, &segment)))
            return false;
    }
    return true;
}

static void count_missed(struct as_agent_control *control, int error)
{
    atomic_fetch_add(&control->processes_missed, 1);
    atomic_store(&control->missed_errno, (uint32_t)error);
}

static bool is_wanted(pid_t pid, struct as_agent_control *control)
{
    struct stat status;
    Elf64_Ehdr head;
    const int fd = open_executable(pid);
    const bool wanted = fd >= 0 && fstat(fd, &status) == 0 &&
                        (control->program_inode == 0 || (status.st_ino == control->program_inode &&
                                                         status.st_dev == control->program_dev)) &&
                        takes_image(fd, &head);
    if (fd >= 0)
        close(fd);
    if (!wanted)
        return false;
    if (!as_inject_is_confined(pid))
        return true;
    count_missed(control, EPERM); /* what it may call is not known */
    return false;
}

/* ---- Bringing it there ----------------------------------------------------------------------- */

bool as_inject_map_image(pid_t pid, uint64_t at, const struct as_image *image, uint64_t more_b,
                         uint64_t *out)
{
    const uint64_t room_b = image->size_b + AS_AGENT_PAGE_B + more_b;
    const uint64_t map[7] = {
        SYS_mmap, 0, room_b, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX, 0};
    int64_t base = -1, rc = -1;
    if (as_inject_syscall(pid, at, map, &base) < 0 || base <= 0)
        return false;
    const uint64_t protect[7] = {SYS_mprotect, (uint64_t)base + image->text,
                                 image->text_end - image->text, PROT_READ | PROT_EXEC};
    *out = (uint64_t)base;
    return as_inject_syscall(pid, at, protect, &rc) == 0 && rc == 0;
}

/* By a `syscall` in place of its first instruction. */
static bool make_room(pid_t pid, int memory, uint64_t at, const struct as_image *image,
                      uint64_t *base)
{
    static const uint8_t call[] = {0x0f, 0x05};
    uint8_t before[sizeof call];
    if (!as_inject_read(memory, at, before, sizeof before) ||
        !as_inject_write(memory, at, call, sizeof call))
        return false;
    const bool mapped = as_inject_map_image(pid, at, image, 0, base);
    return as_inject_write(memory, at, before, sizeof before) && mapped;
}

bool as_inject_copy_image(int memory, const struct as_image *image, uint64_t base)
{
    for (uint64_t i = 0; i < image->places; i++) {
        const uint64_t address = base + image->place[i].value;
        memcpy(image->bytes + image->place[i].at, &address, sizeof address);
    }
    return as_inject_write(memory, base, image->bytes, image->size_b);
}

/* What the C library would know of itself; `more`: what else is told, or NULL. */
bool as_inject_write_facts(pid_t pid, int memory, const struct as_bare_given *more, uint64_t at,
                           const char *directory)
{
    static struct as_bare_given given;
    Elf64_Ehdr head;
    const int fd = open_executable(pid);
    const bool is_read = fd >= 0 && pread(fd, &head, sizeof head, 0) == sizeof head;
    if (fd >= 0)
        close(fd);
    if (!is_read)
        return false;
    given = more ? *more : (struct as_bare_given){0};
    given.phdr = auxiliary(pid, AT_PHDR);
    given.phnum = auxiliary(pid, AT_PHNUM);
    given.bias = auxiliary(pid, AT_ENTRY) - head.e_entry;
    given.hwcap2 = auxiliary(pid, AT_HWCAP2);
    given.ignore[0] = 1; /* SIG_IGN */
    memcpy(given.directory, directory, strlen(directory) + 1);
    return as_inject_write(memory, at, &given, sizeof given);
}

/* The kernel takes a trap for a reason to end who ignores it, and changes that. */
int as_inject_run_hook(const struct as_injected *it, pid_t tid, uint64_t hook)
{
    const bool ignores = as_inject_status(tid, "\nSigIgn:", 16) & SIGTRAP_BIT;
    if (as_inject_hook(tid, it->entry, hook, it->given) < 0)
        return -1;
    if (!ignores)
        return 0;
    const uint64_t ignore[7] = {SYS_rt_sigaction, 5 /* SIGTRAP */,
                                it->given + offsetof(struct as_bare_given, ignore), 0, 8};
    int64_t rc;
    return as_inject_syscall(tid, it->entry - AS_BARE_SYSCALL_B, ignore, &rc);
}

/* It stands in its new image, at its first instruction. */
static int begin_agent(pid_t pid, int memory, const struct as_image *image, const char *directory,
                       struct as_injected *out)
{
    uint64_t base = 0;
    struct as_bare_given given;
    if (!make_room(pid, memory, auxiliary(pid, AT_ENTRY), image, &base))
        return -1;
    *out = (struct as_injected){
        .pid = pid, .entry = base + image->entry, .given = base + image->size_b};
    if (!as_inject_copy_image(memory, image, base) ||
        !as_inject_write_facts(pid, memory, NULL, out->given, directory) ||
        as_inject_run_hook(out, pid, AS_BARE_BEGIN) < 0 ||
        !as_inject_read(memory, out->given, &given, sizeof given))
        return -1;
    out->nowhere = given.nowhere;
    out->missed = given.missed;
    return 0;
}

int as_inject_program(pid_t pid, struct as_agent_control *control, const struct as_image *image,
                      const char *directory, struct as_injected *out)
{
    if (!is_wanted(pid, control))
        return -1;
    const int memory = as_inject_leave_execve(pid) ? as_inject_memory(pid) : -1;
    const int rc = memory < 0 ? -1 : begin_agent(pid, memory, image, directory, out);
    const int why = rc < 0 && errno ? errno : EIO;
    if (memory >= 0)
        close(memory);
    if (rc < 0)
        count_missed(control, why);
    return rc < 0 || out->nowhere == 0 ? -1 : 0;
}

/* ---- Threads and forks ----------------------------------------------------------------------- */

/* What it counts goes where nobody reads. */
static void miss_thread(const struct as_injected *it, pid_t tid)
{
    const int memory = as_inject_memory(tid);
    uint64_t n;
    as_inject_set_gs(tid, it->nowhere);
    if (memory >= 0 && as_inject_read(memory, it->missed, &n, sizeof n)) {
        n++;
        as_inject_write(memory, it->missed, &n, sizeof n);
    }
    if (memory >= 0)
        close(memory);
}

void as_inject_notify_thread(const struct as_injected *it, pid_t tid, uint64_t hook)
{
    if (as_inject_is_confined(tid) || as_inject_run_hook(it, tid, hook) < 0)
        miss_thread(it, tid);
}

void as_inject_leave_out(const struct as_injected *it, pid_t tid)
{
    as_inject_set_gs(tid, it->nowhere);
}
