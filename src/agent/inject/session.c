/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making a directory ready for agents, outside the program: the control file, the words of the
 * environment, where the library is; and removing what killed readers left.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/inject/session.h"
#include "base/error.h"

/* ---- The library -------------------------------------------------------------------------- */

/* Beside this program, as built or as installed; or where the environment says. */
static int find_library(char *out, struct as_error *err)
{
    static const char *const places[] = {"src/agent", AS_AGENT_RELATIVE, AS_AGENT_INSTALLED};
    char self[PATH_MAX], path[2 * PATH_MAX];
    const char *said = getenv("ASSAY_AGENT_LIBRARY");
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n < 0 ? 0 : n] = 0;
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = 0;
    bool found = said && *said && realpath(said, out);
    for (size_t i = 0; !found && i < sizeof places / sizeof *places; i++) {
        bool whole = places[i][0] == '/';
        snprintf(path, sizeof path, "%s%s%s/" AS_AGENT_LIBRARY, whole ? "" : self, whole ? "" : "/",
                 places[i]);
        found = realpath(path, out);
    }
    if (!found)
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "%s: the agent library is missing; install it beside assay, or set "
                            "ASSAY_AGENT_LIBRARY to its path",
                            AS_AGENT_LIBRARY);
    if (strpbrk(out, " :"))
        return as_error_set(err, AS_ERR_USAGE,
                            "%s: a path with a space or colon cannot be preloaded; move it", out);
    return 0;
}

int as_agent_library_beside(const char *name, char *out, struct as_error *err)
{
    AS_TRY(find_library(out, err));
    char *last = strrchr(out, '/') + 1;
    const size_t room_b = PATH_MAX - (size_t)(last - out);
    const int n = snprintf(last, room_b, "%s", name);
    return n >= 0 && (size_t)n < room_b
               ? 0
               : as_error_set(err, AS_ERR_LIMIT, "%s: the path is too long; move the file", name);
}

/* ---- Opening ------------------------------------------------------------------------------ */

static int failed(struct as_error *err, const char *path, int error)
{
    int code = error == EACCES || error == EPERM || error == EROFS ? AS_ERR_PERMISSION : AS_ERR_IO;
    return as_error_set(err, code,
                        "%s: cannot be prepared for the agent: %s; use a writable directory", path,
                        strerror(error));
}

static int make_directory(struct as_agent_session *s, const char *directory, struct as_error *err)
{
    if (mkdir(directory, 0700) < 0 && errno != EEXIST)
        return failed(err, directory, errno);
    char *real = realpath(directory, NULL);
    if (!real)
        return failed(err, directory, errno);
    int n = snprintf(s->environment, sizeof s->environment, AS_AGENT_DIRECTORY "=%s", real);
    free(real);
    /* The agent puts a name behind it. */
    if (n >= (int)sizeof s->environment - 256)
        return as_error_set(err, AS_ERR_LIMIT, "%s: the path is too long; use a shorter one",
                            directory);
    s->word[0] = s->environment;
    return 0;
}

static void fill_control(struct as_agent_session *s)
{
    struct as_agent_control *control = s->control;
    struct stat status;
    control->version = AS_AGENT_VERSION;
    control->pid_namespace = stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
    control->locked = flock(s->control_fd, LOCK_EX | LOCK_NB) == 0;
}

static int make_control(struct as_agent_session *s, struct as_error *err)
{
    char path[sizeof s->environment + 32];
    snprintf(path, sizeof path, "%s/%s", as_agent_session_path(s), AS_AGENT_CONTROL);
    unlink(path);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return failed(err, path, errno);
    int rc = posix_fallocate(fd, 0, AS_AGENT_PAGE_B);
    void *at =
        rc ? MAP_FAILED : mmap(NULL, AS_AGENT_PAGE_B, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        rc = failed(err, path, rc ? rc : errno);
    else
        s->control = at;
    s->control_fd = fd;
    if (rc == 0)
        fill_control(s);
    return rc;
}

int as_agent_session_open(const char *directory, struct as_agent_session *s, struct as_error *err)
{
    memset(s, 0, sizeof *s);
    s->control_fd = -1;
    AS_TRY(find_library(s->preload, err));
    AS_TRY(make_directory(s, directory, err));
    return make_control(s, err);
}

void *as_agent_session_part(struct as_agent_session *s, const char *client)
{
    for (unsigned i = 0; i < AS_AGENT_PARTS_N; i++) {
        struct as_agent_part *part = &s->control->part[i];
        if (part->client[0])
            continue;
        snprintf(part->client, sizeof part->client, "%s", client);
        return part->data;
    }
    return NULL;
}

void as_agent_session_only(struct as_agent_session *s, const char *program)
{
    struct stat status;
    if (stat(program, &status) < 0)
        return;
    s->control->program_dev = status.st_dev;
    s->control->program_inode = status.st_ino;
}

void as_agent_session_begin(struct as_agent_session *s)
{
    s->control->magic = AS_AGENT_MAGIC;
}

void as_agent_session_end(struct as_agent_session *s)
{
    char path[sizeof s->environment + 32];
    if (!s->control)
        return;
    munmap(s->control, AS_AGENT_PAGE_B);
    s->control = NULL;
    snprintf(path, sizeof path, "%s/%s", as_agent_session_path(s), AS_AGENT_CONTROL);
    unlink(path);
}

void as_agent_session_close(struct as_agent_session *s)
{
    as_agent_session_end(s);
    if (s->control_fd >= 0)
        close(s->control_fd);
    s->control_fd = -1;
}

/* ---- What was left ------------------------------------------------------------------------ */

static bool is_ours(int fd, mode_t kind)
{
    struct stat status;
    return fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) == kind &&
           status.st_uid == geteuid();
}

/* A reader makes its file a moment after its directory, and takes its lock a moment after. */
static bool is_old(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && status.st_mtime + 60 < time(NULL);
}

/* What agents and we make there. */
static bool is_made(const char *name)
{
    static const char *const prefix[] = {AS_AGENT_CONTROL, AS_AGENT_PLAN, "ring.", "regions.",
                                         "objects.",       "patch",       "trace", "filter"};
    bool made = false;
    for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
        made |= strncmp(name, prefix[i], strlen(prefix[i])) == 0;
    return made;
}

static void remove_all(int place, const char *name, int directory)
{
    const int again = dup(directory);
    DIR *dir = again < 0 ? NULL : fdopendir(again);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (is_made(entry->d_name))
            unlinkat(directory, entry->d_name, 0);
    unlinkat(place, name, AT_REMOVEDIR);
    if (dir)
        closedir(dir);
}

/* What others made there may be anything: nothing is opened that could make us wait. A reader that
 * lives holds a lock. */
static void sweep_directory(int place, const char *name)
{
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    const int directory = openat(place, name, flags | O_DIRECTORY);
    if (directory < 0)
        return;
    const bool ours = is_ours(directory, S_IFDIR);
    const int control = ours ? openat(directory, AS_AGENT_CONTROL, flags) : -1;
    const bool begun = control >= 0 || errno != ENOENT;
    if (ours && !begun && is_old(directory)) /* killed before, or while it cleaned up */
        remove_all(place, name, directory);
    else if (control >= 0 && is_ours(control, S_IFREG) && is_old(control) &&
             flock(control, LOCK_EX | LOCK_NB) == 0)
        remove_all(place, name, directory);
    if (control >= 0)
        close(control);
    close(directory);
}

void as_agent_session_sweep(const char *place, const char *prefix)
{
    DIR *dir = opendir(place);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));)
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
            sweep_directory(dirfd(dir), entry->d_name);
    closedir(dir);
}
