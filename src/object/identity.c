/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that a file is the one that was mapped or read before. All code that reopens a file of a
 * recording uses this check. The file at a path may have changed. Two builds may have the
 * same size. A new file with the same inode, size and time in ns is practically impossible.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/build_id.h"
#include "object/internal.h"

static size_t read_at(void *context, uint64_t offset, void *to, size_t n)
{
    size_t have = 0;
    for (ssize_t got = 1; got > 0 && have < n;) {
        got = pread(*(const int *)context, (char *)to + have, n - have, (off_t)(offset + have));
        have += got > 0 ? (size_t)got : 0;
    }
    return have;
}

bool as_file_same(const struct as_file_identity *a, const struct as_file_identity *b)
{
    if (a->build_id_b || b->build_id_b)
        return a->build_id_b == b->build_id_b &&
               memcmp(a->build_id, b->build_id, a->build_id_b) == 0;
    return a->known == b->known && a->inode == b->inode && a->size_b == b->size_b &&
           a->mtime_ns == b->mtime_ns;
}

bool as_file_identify(int fd, struct as_file_identity *out)
{
    uint8_t room[4096];
    struct stat st;
    *out = (struct as_file_identity){0};
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    out->known = AS_FILE_SEEN;
    out->inode = st.st_ino;
    out->size_b = (uint64_t)st.st_size;
    out->mtime_ns = as_mtime_ns(&st);
    out->build_id_b = (uint8_t)as_build_id_find(read_at, &fd, room, sizeof room, out->build_id);
    return true;
}

static int refuse(const char *path, const char *why, struct as_error *err)
{
    return as_error_set(err, AS_ERR_NOT_FOUND, "%s: %s", path, why);
}

static int check_build_id(const char *path, const struct as_object_info *info,
                          const struct as_file_identity *identity, struct as_error *err)
{
    if (info->build_id_b >= identity->build_id_b &&
        memcmp(info->build_id, identity->build_id, identity->build_id_b) == 0)
        return 0;
    return refuse(path,
                  "is not the file that ran: its build-id differs; profile again, or restore the "
                  "old file",
                  err);
}

static int check_file(const char *path, const struct as_object_info *info,
                      const struct as_file_identity *identity, struct as_error *err)
{
    if (identity->known == AS_FILE_UNSEEN)
        return refuse(path,
                      "cannot be identified: the file that ran was removed or changed before its "
                      "build-id was read; link it with -Wl,--build-id, or keep it in place, and "
                      "profile again",
                      err);
    if (info->inode == identity->inode &&
        (identity->known == AS_FILE_INODE ||
         (info->size_b == identity->size_b && info->mtime_ns == identity->mtime_ns)))
        return 0;
    return refuse(path,
                  "may not be the file that ran: its inode, size or modification time differs, "
                  "and it has no build-id; link it with -Wl,--build-id, and profile again",
                  err);
}

int as_object_open_same(const char *path, const struct as_file_identity *identity,
                        const struct as_object_options *options, struct as_object **out,
                        struct as_error *err)
{
    AS_TRY(as_object_open(path, options, out, err));
    const struct as_object_info *info = as_object_info(*out);
    const int rc = identity->build_id_b ? check_build_id(path, info, identity, err)
                                        : check_file(path, info, identity, err);
    if (rc < 0)
        as_object_close(out);
    return rc;
}
