/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks and copies directories; see tree.h. File systems that can share blocks do so
 * (copy_file_range(2)).
 */
#include "trial/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fnv.h"
#include "base/untrusted_open.h"

#define PATH_ROOM (2 * PATH_MAX)

/* ---- Exclusions ---------------------------------------------------------------------------- */

static bool has_ending(const char *name, const char *ending)
{
    const size_t n = strlen(name), m = strlen(ending);
    return n > m && strcmp(name + n - m, ending) == 0;
}

static bool has_file(const char *directory, const char *name)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return access(path, F_OK) == 0;
}

static bool is_made_by_builds(const FTSENT *it)
{
    static const char *const ending[] = {".o", ".lo", ".obj", ".gcda", ".gcno", ".mod", ".smod"};
    if (it->fts_info == FTS_D)
        return has_file(it->fts_path, "CMakeCache.txt") ||
               has_file(it->fts_path, "meson-private/coredata.dat");
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (has_ending(it->fts_name, ending[i]))
            return true;
    return false;
}

static bool is_left_out(const struct as_tree_copy *copy, const FTSENT *it)
{
    if (it->fts_level == 0)
        return false;
    if (it->fts_info == FTS_D &&
        (strcmp(it->fts_name, ".git") == 0 || has_file(it->fts_path, "experiment.db")))
        return true;
    for (const char *const *leave = copy->leave; leave && *leave; leave++)
        if (strcmp(it->fts_path, *leave) == 0)
            return true;
    return copy->sources && is_made_by_builds(it);
}

/* ---- Walk ---------------------------------------------------------------------------------- */

struct tree_walk {
    const struct as_tree_copy *copy;
    const char *to;
    struct as_tree_size size;
    int (*take)(struct tree_walk *, const FTSENT *, struct as_error *);
};

static int by_file_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int cannot_read(const char *path, int why, struct as_error *err)
{
    return as_error_set(err, why == ENOENT ? AS_ERR_NOT_FOUND : AS_ERR_IO, "%s: cannot be read: %s",
                        path, strerror(why));
}

static int visit(struct tree_walk *walk, FTS *fts, FTSENT *it, struct as_error *err)
{
    switch (it->fts_info) {
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        return cannot_read(it->fts_path, it->fts_errno, err);
    case FTS_D:
    case FTS_F:
    case FTS_SL:
    case FTS_SLNONE:
        if (!is_left_out(walk->copy, it))
            return walk->take(walk, it, err);
        if (it->fts_info == FTS_D)
            fts_set(fts, it, FTS_SKIP);
        return 0;
    default:
        return 0;
    }
}

static int walk_tree(struct tree_walk *walk, struct as_error *err)
{
    char *const roots[] = {(char *)(uintptr_t)walk->copy->from, NULL};
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_file_name);
    FTSENT *it;
    int rc = 0;

    if (!fts)
        return cannot_read(walk->copy->from, errno, err);
    while (rc == 0 && (it = fts_read(fts)))
        rc = visit(walk, fts, it, err);
    fts_close(fts);
    return rc;
}

/* ---- Size ---------------------------------------------------------------------------------- */

/* Returns true for the output of assay itself, which grows during the copy. */
static bool is_our_output(const struct stat *st)
{
    struct stat own;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (fstat(fd, &own) == 0 && own.st_dev == st->st_dev && own.st_ino == st->st_ino)
            return true;
    return false;
}

static int add_size(struct tree_walk *walk, const FTSENT *it, struct as_error *err)
{
    const struct stat *st = it->fts_statp;
    (void)err;
    if (it->fts_info == FTS_D || is_our_output(st))
        return 0;
    walk->size.size_b += (uint64_t)st->st_size;
    walk->size.file_n++;
    walk->size.digest = as_fnv_mix(walk->size.digest, it->fts_path, strlen(it->fts_path));
    walk->size.digest = as_fnv_mix(walk->size.digest, &st->st_size, sizeof st->st_size);
    walk->size.digest = as_fnv_mix(walk->size.digest, &st->st_mtim, sizeof st->st_mtim);
    return 0;
}

int as_tree_measure(const struct as_tree_copy *copy, struct as_tree_size *out, struct as_error *err)
{
    struct tree_walk walk = {.copy = copy, .take = add_size, .size = {.digest = AS_FNV_BASIS}};
    AS_TRY(walk_tree(&walk, err));
    *out = walk.size;
    return 0;
}

/* ---- Copying ------------------------------------------------------------------------------- */

static int cannot_copy(const char *path, struct as_error *err)
{
    const int why = errno;
    return as_error_set(err, AS_ERR_IO, "%s: cannot be copied to: %s%s", path, strerror(why),
                        why == ENOSPC || why == EDQUOT
                            ? "; free some space, or set TMPDIR to where there is some"
                            : "");
}

/* Copies a file with copy_file_range, or with read and write if that is impossible. */
static bool copy_bytes(int from, int to)
{
    char block[1 << 16];
    ssize_t n;

    while ((n = copy_file_range(from, NULL, to, NULL, SSIZE_MAX / 2, 0)) > 0)
        continue;
    if (n == 0)
        return true;
    if (errno == ENOSPC || errno == EDQUOT)
        return false;
    while ((n = read(from, block, sizeof block)) > 0)
        for (ssize_t at = 0, w; at < n; at += w)
            if ((w = write(to, block + at, (size_t)(n - at))) < 0)
                return false;
    return n == 0;
}

static int copy_file(const FTSENT *it, const char *to, struct as_error *err)
{
    const struct stat *st = it->fts_statp;
    const struct timespec times[] = {st->st_atim, st->st_mtim};
    const int in = as_foreign_open(AT_FDCWD, it->fts_path, AS_FOREIGN_NO_LINK, NULL);
    if (in < 0)
        return cannot_read(it->fts_path, errno, err);
    const int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, st->st_mode & 0777);
    int rc = out < 0 || !copy_bytes(in, out) ? cannot_copy(to, err) : 0;
    if (rc == 0) {
        (void)fchmod(out, st->st_mode & 0777);
        (void)futimens(out, times);
    }
    close(in);
    if (out >= 0 && close(out) != 0 && rc == 0)
        rc = cannot_copy(to, err);
    return rc;
}

/* Copies a symbolic link; a link into the directory points into the copy. */
static int copy_link(const struct tree_walk *walk, const FTSENT *it, const char *to,
                     struct as_error *err)
{
    char target[PATH_MAX], inside[PATH_ROOM];
    const size_t from_n = strlen(walk->copy->from);
    const ssize_t n = readlink(it->fts_path, target, sizeof target - 1);

    if (n < 0)
        return cannot_read(it->fts_path, errno, err);
    target[n] = '\0';
    if (strncmp(target, walk->copy->from, from_n) == 0 && target[from_n] == '/')
        snprintf(inside, sizeof inside, "%s%s", walk->to, target + from_n);
    else
        snprintf(inside, sizeof inside, "%s", target);
    return symlink(inside, to) != 0 ? cannot_copy(to, err) : 0;
}

static int copy_entry(struct tree_walk *walk, const FTSENT *it, struct as_error *err)
{
    char to[PATH_ROOM];

    snprintf(to, sizeof to, "%s%s", walk->to, it->fts_path + strlen(walk->copy->from));
    if (it->fts_info == FTS_D)
        return mkdir(to, 0700) != 0 ? cannot_copy(to, err) : 0;
    return it->fts_info == FTS_F ? copy_file(it, to, err) : copy_link(walk, it, to, err);
}

int as_tree_copy(const struct as_tree_copy *copy, const char *to, struct as_error *err)
{
    struct tree_walk walk = {.copy = copy, .to = to, .take = copy_entry};
    return walk_tree(&walk, err);
}

/* ---- List ---------------------------------------------------------------------------------- */

int as_tree_files(const char *path, int (*take)(void *context, const char *path), void *context)
{
    char *const roots[] = {(char *)(uintptr_t)path, NULL};
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_file_name);
    FTSENT *it;
    int rc = 0;

    while (fts && rc == 0 && (it = fts_read(fts)))
        if (it->fts_info == FTS_F)
            rc = take(context, it->fts_path);
    if (fts)
        fts_close(fts);
    return rc;
}
