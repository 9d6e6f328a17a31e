/* SPDX-License-Identifier: Apache-2.0 */
#include "base/orphan_file.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/untrusted_open.h"

void as_left_open(int directory, const char *name, uint64_t most_b, struct as_left *out)
{
    struct stat status;
    *out = (struct as_left){.directory = directory, .name = name};
    out->fd = as_foreign_open(directory, name, AS_FOREIGN_NO_LINK, &status);
    const bool is_there = out->fd >= 0 && status.st_size > 0 && (uint64_t)status.st_size < most_b;
    if (!is_there)
        return;
    if (as_filemap_open(out->fd, (size_t)status.st_size, name, &out->map) != 0)
        return;
    out->at = out->map.at;
    out->size_b = out->map.n;
}

void as_left_remove(struct as_left *left)
{
    as_filemap_close(&left->map);
    if (left->fd >= 0)
        close(left->fd);
    unlinkat(left->directory, left->name, 0);
}
