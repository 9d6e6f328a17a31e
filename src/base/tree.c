/* SPDX-License-Identifier: Apache-2.0 */
#include "base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int as_tree_remove(int at, const char *name)
{
    int fd, rc = 0;
    DIR *dir;

    if (unlinkat(at, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -1;
    (void)fchmodat(at, name, 0700, 0); /* the directory may be unreadable or read-only */
    fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    for (struct dirent *it; (it = readdir(dir));)
        if (strcmp(it->d_name, ".") != 0 && strcmp(it->d_name, "..") != 0 &&
            as_tree_remove(fd, it->d_name) < 0)
            rc = -1;
    closedir(dir);
    return rc ? rc : unlinkat(at, name, AT_REMOVEDIR);
}
