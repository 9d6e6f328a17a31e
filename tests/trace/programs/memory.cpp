// SPDX-License-Identifier: Apache-2.0
// Allocates and frees memory in every way. Logs each call of 1000 bytes and more, in the words of
// tests/trace/dump.c. usage: memory LOG
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

static char own_log[1 << 16];
static size_t logged;

static void say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    logged += (size_t)vsnprintf(own_log + logged, sizeof own_log - logged, format, list);
    va_end(list);
}

static unsigned long of(const void *p)
{
    return (unsigned long)p;
}

static void gave(const char *name, const void *p, size_t n)
{
    say("%s allocate %lx %zu\n", name, of(p), n);
}

static void takes(const char *name, const void *p)
{
    say("%s release %lx\n", name, of(p));
}

struct alignas(128) Wide {
    char bytes[4096];
};

static void use_malloc()
{
    void *p = malloc(5000);
    gave("malloc", p, 5000);
    say("realloc release %lx", of(p)); /* one call */
    p = realloc(p, 90000);
    say(" allocate %lx %d\n", of(p), 90000);
    takes("free", p);
    free(p);
    p = calloc(50, 100);
    gave("calloc", p, 5000);
    takes("free", p);
    free(p);
    free(malloc(10)); /* too small */
    for (int i = 0; i < 3; i++)
        free(calloc(3, 30));
    p = aligned_alloc(256, 2048);
    gave("aligned_alloc", p, 2048);
    takes("free", p);
    free(p);
    if (posix_memalign(&p, 4096, 4096) == 0)
        gave("posix_memalign", p, 4096);
    takes("free", p);
    free(p);
    volatile size_t too_much = ~(size_t)0 / 4;
    p = malloc(too_much);
    gave("malloc", p, too_much);
}

static void use_new()
{
    char *one = new char[3000];
    gave("operator new[]", one, 3000);
    Wide *wide = new Wide;
    gave("operator new", wide, sizeof *wide);
    void *quiet = operator new(7000, std::nothrow);
    gave("operator new", quiet, 7000);
    takes("operator delete[]", one);
    delete[] one;
    takes("operator delete", wide);
    delete wide;
    takes("operator delete", quiet);
    operator delete(quiet);
    volatile size_t too_much = ~(size_t)0 / 4;
    try {
        one = new char[too_much];
    } catch (const std::bad_alloc &) {
        gave("operator new[]", nullptr, too_much);
    }
    void *after = malloc(1500); /* by its own name */
    gave("malloc", after, 1500);
    takes("free", after);
    free(after);
}

int main(int argc, char **argv)
{
    void *first = malloc(1234);
    gave("malloc", first, 1234);
    use_malloc();
    use_new();
    void *map = mmap(nullptr, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    gave("mmap", map, 1 << 20);
    takes("munmap", map);
    munmap(map, 1 << 20);
    map = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, 99, 0);
    gave("mmap", nullptr, 4096);
    takes("free", first);
    free(first);
    const long fd =
        syscall(SYS_openat, AT_FDCWD, argv[argc - 1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    return syscall(SYS_write, fd, own_log, logged) != (long)logged;
}
