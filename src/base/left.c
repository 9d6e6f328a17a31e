/* SPDX-License-Identifier: Apache-2.0 */
#include "base/left.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void as_left_open(int directory, const char *name, uint64_t most_b, struct as_left *out)
{
    struct stat status;
    *out = (struct as_left){.directory = directory, .name = name};
    out->fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const bool is_there = out->fd >= 0 && fstat(out->fd, &status) == 0 && S_ISREG(status.st_mode) &&
                          status.st_size > 0 && (uint64_t)status.st_size < most_b;
    if (!is_there)
        return;
    void *at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, out->fd, 0);
    if (at == MAP_FAILED)
        return;
    out->at = at;
    out->size_b = (uint64_t)status.st_size;
}

void as_left_remove(struct as_left *left)
{
    if (left->at)
        munmap((void *)(uintptr_t)left->at, (size_t)left->size_b);
    if (left->fd >= 0)
        close(left->fd);
    unlinkat(left->directory, left->name, 0);
}
