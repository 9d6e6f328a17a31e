/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of an experiment: makes, replaces and checks it, and holds the writer's lock. It
 * never opens experiment.db, because closing a descriptor would drop SQLite's locks (fcntl(2)). The
 * directory is untrusted: no symbolic link in it is followed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/tree.h"
#include "base/untrusted_open.h"
#include "experiment/internal.h"

static bool exists_beside(const struct as_experiment *experiment, const char *suffix)
{
    struct as_str path = {0};
    struct stat st;
    bool found;

    as_str_appendf(&path, "%s%s", experiment->db_path, suffix);
    found = stat(as_str_z(&path), &st) == 0 && st.st_size > 0;
    as_str_fini(&path);
    return found;
}

bool as_directory_has_journal(const struct as_experiment *experiment)
{
    return exists_beside(experiment, "-wal") || exists_beside(experiment, "-journal");
}

bool as_directory_writable(const struct as_experiment *experiment)
{
    return access(experiment->db_path, W_OK) == 0 && access(experiment->path, W_OK | X_OK) == 0;
}

bool as_directory_shares_memory(const struct as_experiment *experiment)
{
    /* Network and parallel file systems, by the numbers of their super blocks (statfs(2)): NFS,
     * CIFS, SMB2, Lustre, GPFS, BeeGFS, CephFS, OrangeFS, AFS, FUSE (sshfs and others). */
    static const unsigned apart[] = {
        0x6969,     0xff534d42, 0xfe534d42, 0x0bd00bd3, 0x47504653,
        0x19830326, 0x00c36400, 0x20030528, 0x5346414f, 0x65735546,
    };
    struct statfs st;

    if (statfs(experiment->path, &st) != 0)
        return false;
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if ((unsigned)st.f_type == apart[i])
            return false;
    return true;
}

/* Returns true if `path` with ".assay" added is a directory: the user typed "run" for run.assay. */
static bool is_short_for_one(const char *path, char *full, size_t full_b)
{
    const int n = snprintf(full, full_b, "%s.assay", path);
    struct stat st;

    return n > 0 && (size_t)n < full_b && stat(full, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The database, and files that SQLite may leave beside it. */
#define DATABASE "experiment.db"
static const char packed_file[] = DATABASE AS_PACKED_TAIL;
static const char *const database_file[] = {DATABASE, DATABASE "-wal", DATABASE "-shm",
                                            DATABASE "-journal", packed_file};
#define DATABASE_FILE_N (sizeof database_file / sizeof *database_file)

/* Refuses special files: SQLite would block on a pipe, and write through a symbolic link. */
static int check_regular(const struct as_experiment *experiment, int at, struct as_error *err)
{
    struct stat st;

    for (size_t i = 0; i < DATABASE_FILE_N; i++)
        if (fstatat(at, database_file[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(st.st_mode))
            return as_error_set(err, AS_ERR_CORRUPT,
                                "%s: not an experiment: %s in it is %s, not a regular file; use a "
                                "directory that assay created",
                                experiment->path, database_file[i],
                                S_ISLNK(st.st_mode) ? "a link" : "a directory, pipe or device");
    return 0;
}

/*
 * Refuses a rollback journal that names a super-journal. SQLite deletes the named file after a
 * rollback (sqlite.org/fileformat2.html, section 3; pager.c, readSuperJournal). Transactions of
 * assay use one database and never have one. A crafted journal could thus delete any file.
 */
static int check_journal(const struct as_experiment *experiment, int at, struct as_error *err)
{
    static const unsigned char names_another[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    unsigned char end[sizeof names_another] = {0};
    struct stat st;
    const int fd = as_foreign_open(at, "experiment.db-journal", AS_FOREIGN_NO_LINK, &st);
    bool is_foreign = false;

    if (fd < 0)
        return 0; /* no journal, or SQLite reports why it is unreadable */
    if (st.st_size >= (off_t)sizeof end)
        is_foreign = pread(fd, end, sizeof end, st.st_size - (off_t)sizeof end) == sizeof end &&
                     memcmp(end, names_another, sizeof end) == 0;
    close(fd);
    if (!is_foreign)
        return 0;
    return as_error_set(err, AS_ERR_CORRUPT,
                        "%s: not an experiment: its journal is not from assay; remove %s-journal, "
                        "and do not trust the content",
                        experiment->path, experiment->db_path);
}

static int check_files(const struct as_experiment *experiment, struct as_error *err)
{
    const int at = open(experiment->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int rc;

    if (at < 0)
        return as_error_set(err, AS_ERR_IO, "%s: cannot be opened: %s; check its permissions",
                            experiment->path, strerror(errno));
    rc = check_regular(experiment, at, err);
    if (rc == 0)
        rc = check_journal(experiment, at, err);
    close(at);
    return rc;
}

int as_directory_check(const struct as_experiment *experiment, struct as_error *err)
{
    struct stat st;

    if (stat(experiment->path, &st) != 0) {
        const int code = errno == EACCES ? AS_ERR_PERMISSION : AS_ERR_NOT_FOUND;
        char full[1024];

        if (errno == ENOENT && is_short_for_one(experiment->path, full, sizeof full))
            return as_error_set(err, code, "%s: no such experiment; did you mean %s?",
                                experiment->path, full);
        return as_error_set(err, code,
                            "%s: no such experiment: %s; use a directory that assay created",
                            experiment->path, strerror(errno));
    }
    if (!S_ISDIR(st.st_mode))
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: not an experiment: it is not a directory; use a directory that "
                            "assay created",
                            experiment->path);
    if (access(experiment->path, X_OK) != 0 ||
        (access(experiment->db_path, R_OK) != 0 && errno == EACCES))
        return as_error_set(err, AS_ERR_PERMISSION,
                            "%s: cannot be read: %s; ask its owner for permission",
                            experiment->path, strerror(errno));
    if (stat(experiment->db_path, &st) != 0)
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: not an experiment: experiment.db in it: %s; use a directory that "
                            "assay created",
                            experiment->path, strerror(errno));
    return check_files(experiment, err);
}

/* ---- Replacing --------------------------------------------------------------------------- */

static bool is_ours(const char *name)
{
    for (size_t i = 0; i < DATABASE_FILE_N; i++)
        if (strcmp(name, database_file[i]) == 0)
            return true;
    return strncmp(name, "run-", 4) == 0 && name[4] &&
           strspn(name + 4, "0123456789") == strlen(name + 4);
}

/* Removes the experiment's files, the database last: until then the directory is an experiment.
 * Returns 0, or a number other than 0 and errno. */
static int remove_ours(const char *path)
{
    DIR *dir = opendir(path);
    int rc = 0;

    if (!dir)
        return -1;
    for (struct dirent *it; rc == 0 && (it = readdir(dir));)
        if (is_ours(it->d_name) && strcmp(it->d_name, "experiment.db") != 0)
            rc = as_tree_remove(dirfd(dir), it->d_name);
    if (rc == 0)
        rc = as_tree_remove(dirfd(dir), "experiment.db");
    closedir(dir);
    return rc;
}

void as_directory_remove(const char *path)
{
    if (remove_ours(path) == 0)
        rmdir(path); /* fails if other files are there, which stay */
}

int as_directory_remove_run(const struct as_experiment *experiment, int64_t run_id)
{
    char name[32];
    int fd = open(experiment->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), why;

    if (fd < 0)
        return errno;
    snprintf(name, sizeof name, "run-%03lld", (long long)run_id);
    why = as_tree_remove(fd, name) == 0 ? 0 : errno;
    close(fd);
    return why;
}

static bool is_empty(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;

    if (!dir)
        return false;
    for (struct dirent *it; (it = readdir(dir));)
        n += strcmp(it->d_name, ".") != 0 && strcmp(it->d_name, "..") != 0;
    closedir(dir);
    return n == 0;
}

/* Checks that the path may become this experiment. Sets `is_there` if an experiment there must
 * be removed first. */
static int check_place(const struct as_experiment *experiment, bool force, bool *is_there,
                       struct as_error *err)
{
    struct stat st;
    const bool is_directory = stat(experiment->path, &st) == 0 && S_ISDIR(st.st_mode);
    const bool is_experiment = is_directory && lstat(experiment->db_path, &st) == 0;

    *is_there = false;
    if (is_directory && is_empty(experiment->path))
        return 0;
    if (!is_experiment)
        return as_error_set(err, AS_ERR_USAGE,
                            "%s: exists and is not an experiment; use another name",
                            experiment->path);
    if (!force)
        return as_error_set(err, AS_ERR_USAGE,
                            "%s: exists; use another name, or replace it with --force",
                            experiment->path);
    *is_there = true;
    return 0;
}

static int replace_directory(const struct as_experiment *experiment, bool force,
                             struct as_error *err)
{
    bool is_there;

    AS_TRY(check_place(experiment, force, &is_there, err));
    if (is_there && remove_ours(experiment->path) != 0)
        return as_error_set(err, errno == EACCES || errno == EPERM ? AS_ERR_PERMISSION : AS_ERR_IO,
                            "%s: cannot be replaced: %s; use another name", experiment->path,
                            strerror(errno));
    return 0;
}

static int cannot_make(const char *path, struct as_error *err)
{
    if (errno == ENOENT)
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "%s: cannot be created: its parent directory is missing; create it "
                            "first",
                            path);
    return as_error_set(err, errno == EACCES || errno == EROFS ? AS_ERR_PERMISSION : AS_ERR_IO,
                        "%s: cannot be created: %s; use a %s", path, strerror(errno),
                        errno == ENAMETOOLONG ? "shorter name" : "writable place");
}

static bool is_shared; /* written before threads start */

void as_experiment_share(bool share)
{
    is_shared = share;
}

/*
 * Another process may take the lock between mkdir and as_lock_acquire. The lock owner therefore
 * checks the directory again, and only the lock owner removes files.
 */
int as_directory_make(struct as_experiment *experiment, unsigned flags, bool *is_taken,
                      struct as_error *err)
{
    const bool force = flags & AS_EXPERIMENT_FORCE;
    const bool is_new = mkdir(experiment->path, is_shared ? 0777 : 0700) == 0;
    bool is_there;
    int rc;

    *is_taken = !is_new && errno == EEXIST;
    if (!is_new && errno != EEXIST)
        return cannot_make(experiment->path, err);
    if (!is_new)
        AS_TRY(check_place(experiment, force, &is_there, err));
    rc = as_lock_acquire(experiment, err);
    *is_taken |= rc == AS_ERR_LIMIT;
    if (rc == 0 && !(is_new && is_empty(experiment->path))) {
        rc = replace_directory(experiment, force, err);
        if (rc < 0)
            as_lock_release(experiment);
        *is_taken |= rc < 0;
    }
    return rc;
}

/* ---- Moving ------------------------------------------------------------------------------ */

static int cannot_move(const char *from, const char *to, struct as_error *err)
{
    return as_error_set(err, errno == EACCES || errno == EPERM ? AS_ERR_PERMISSION : AS_ERR_IO,
                        "%s: cannot be renamed to %s: %s; use another name", from, to,
                        strerror(errno));
}

/* Moves the experiment's files to a directory without an experiment, the database last. */
static int move_ours(const char *from, const char *to, struct as_error *err)
{
    const int into = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = into < 0 ? NULL : opendir(from);
    int failed = !dir;

    for (struct dirent *it; !failed && (it = readdir(dir));)
        if (is_ours(it->d_name) && strcmp(it->d_name, "experiment.db") != 0)
            failed = renameat(dirfd(dir), it->d_name, into, it->d_name) != 0;
    if (!failed)
        failed = renameat(dirfd(dir), "experiment.db", into, "experiment.db") != 0;
    const int rc = failed ? cannot_move(from, to, err) : 0;
    if (dir)
        closedir(dir);
    if (into >= 0)
        close(into);
    if (rc == 0)
        rmdir(from);
    return rc;
}

int as_directory_move(const struct as_experiment *from, struct as_experiment *to, unsigned flags,
                      struct as_error *err)
{
    bool is_taken;
    int rc;

    if (rename(from->path, to->path) == 0)
        return 0;
    if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
        return cannot_move(from->path, to->path, err);
    rc = as_directory_make(to, flags, &is_taken, err);
    if (rc == 0)
        rc = move_ours(from->path, to->path, err);
    as_lock_release(to);
    return rc;
}

int as_directory_check_new(const struct as_experiment *experiment, unsigned flags,
                           struct as_error *err)
{
    struct stat st;
    bool is_there;

    if (lstat(experiment->path, &st) != 0)
        return 0;
    return check_place(experiment, flags & AS_EXPERIMENT_FORCE, &is_there, err);
}

void as_directory_unmake(const struct as_experiment *experiment)
{
    remove_ours(experiment->path);
    rmdir(experiment->path); /* fails if the user has files in it */
}

/* ---- Lock -------------------------------------------------------------------------------- */

/*
 * The lock is a flock(2) on the directory itself, so that no lock file is left behind. If the file
 * system has no such locks, only SQLite keeps two writers apart.
 */
int as_lock_acquire(struct as_experiment *experiment, struct as_error *err)
{
    const int fd = open(experiment->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return as_error_set(err, errno == EACCES ? AS_ERR_PERMISSION : AS_ERR_IO,
                            "%s: cannot be opened: %s; check its permissions", experiment->path,
                            strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        close(fd);
        return as_error_set(err, AS_ERR_LIMIT,
                            "%s: another assay process is writing it; wait until it has ended",
                            experiment->path);
    }
    experiment->lock = fd;
    return 0;
}

void as_lock_release(struct as_experiment *experiment)
{
    if (experiment->lock >= 0)
        close(experiment->lock);
    experiment->lock = -1;
}

/* ---- Runs -------------------------------------------------------------------------------- */

int as_experiment_run_directory(struct as_experiment *experiment, int64_t run_id, char *path,
                                size_t size_b, struct as_error *err)
{
    const int n = snprintf(path, size_b, "%s/run-%03lld", experiment->path, (long long)run_id);
    struct stat st;

    if (experiment->in_memory)
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "%s: an experiment in memory has no files; create one on disk",
                            experiment->path);
    if (n < 0 || (size_t)n >= size_b)
        return as_error_set(err, AS_ERR_LIMIT, "%s: the path is too long; use a shorter one",
                            experiment->path);
    if (experiment->lock >= 0 && mkdir(path, 0777) != 0 && errno != EEXIST)
        return as_error_set(err, errno == EACCES ? AS_ERR_PERMISSION : AS_ERR_IO,
                            "%s: cannot be created: %s; free some space or use another place", path,
                            strerror(errno));
    if (lstat(path, &st) == 0 && !S_ISDIR(st.st_mode))
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: is %s instead of a directory of assay; remove it", path,
                            S_ISLNK(st.st_mode) ? "a link" : "a file");
    return 0;
}
