/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator other than the C library's: memory from one piece, sizes before the blocks. */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static _Alignas(4096) char all[64 << 20];
static _Atomic size_t used;

static void *take(size_t alignment, size_t n)
{
    const size_t step = alignment < 64 ? 64 : alignment;
    size_t at = atomic_fetch_add(&used, n < sizeof all ? n + 2 * step : 0);
    if (n >= sizeof all || at + n + 2 * step > sizeof all) {
        errno = ENOMEM;
        return NULL;
    }
    at = (at + step - 1) / step * step + step;
    memcpy(all + at - sizeof n, &n, sizeof n);
    return all + at;
}

size_t malloc_usable_size(void *p)
{
    size_t n = 0;
    if (p)
        memcpy(&n, (char *)p - sizeof n, sizeof n);
    return n;
}

void *malloc(size_t n)
{
    return take(64, n);
}

void free(void *p)
{
    (void)p;
}

void *calloc(size_t n, size_t m)
{
    return take(64, n * m); /* never used before */
}

void *realloc(void *p, size_t n)
{
    void *to = take(64, n);
    const size_t old = malloc_usable_size(p);
    return to && p ? memcpy(to, p, old < n ? old : n) : to;
}

void *aligned_alloc(size_t alignment, size_t n)
{
    return take(alignment, n);
}

int posix_memalign(void **out, size_t alignment, size_t n)
{
    *out = take(alignment, n);
    return *out ? 0 : ENOMEM;
}
