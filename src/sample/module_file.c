/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of modules. A mapped file is opened when it first appears and stays open. It is copied at
 * the end if its path no longer leads to it. A file is searched in the root of its process
 * (/proc/PID/root) and as its program (/proc/PID/exe). Then it is searched in /proc/PID/map_files,
 * and under its path here.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/untrusted_open.h"
#include "sample/recorder.h"

/* Descriptors reserved for other uses. */
#define SPARE_FDS 64
/* File times have the resolution of the clock tick, at least 100 a second. */
#define TICK_NS 10000000

/* ---- The same file ------------------------------------------------------------------------- */

/* Returns true if the inode is still the mapped one, not a later file with the same number. Few
 * file systems have this generation number; without it returns true. */
static bool is_generation(int fd, uint64_t generation)
{
    long found = 0;
    return generation == 0 || ioctl(fd, FS_IOC_GETVERSION, &found) < 0 ||
           (uint32_t)found == (uint32_t)generation;
}

static bool is_same(const struct as_sample_record *map, int fd, const struct as_file_identity *file)
{
    if (map->build_id_b)
        return file->build_id_b == map->build_id_b &&
               memcmp(file->build_id, map->build_id, map->build_id_b) == 0;
    if (map->inode == 0 || map->inode != file->inode)
        return false;
    if ((map->file_b || map->mtime_ns) &&
        (map->file_b != file->size_b || map->mtime_ns != file->mtime_ns))
        return false;
    return is_generation(fd, map->generation);
}

bool as_mapped_is(const struct as_sample_record *map, int fd)
{
    struct as_file_identity file;
    return as_file_identify(fd, &file) && is_same(map, fd, &file);
}

/* ---- Finding ------------------------------------------------------------------------------- */

/* Opens `path` and returns a descriptor if it is the mapped file; otherwise returns -1. */
static int open_mapped(const char *path, const struct as_sample_record *map,
                       struct as_file_identity *out)
{
    struct as_file_identity file;
    struct stat st;
    int fd = as_foreign_open(AT_FDCWD, path, 0, &st);
    if (fd < 0)
        return -1;
    if (as_file_identify(fd, &file) && is_same(map, fd, &file)) {
        *out = file;
        return fd;
    }
    close(fd);
    return -1;
}

static bool leads_to(const char *path, int fd)
{
    struct stat here, held;
    return stat(path, &here) == 0 && fstat(fd, &held) == 0 && here.st_dev == held.st_dev &&
           here.st_ino == held.st_ino;
}

int as_mapped_open(const struct as_sample_record *map, struct as_file_identity *out, bool *nameless)
{
    char path[4096 + 64];
    int fd;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/root%.4096s", map->pid, map->text);
    fd = open_mapped(path, map, out);
    if (fd < 0) {
        snprintf(path, sizeof path, "/proc/%" PRIu32 "/exe", map->pid);
        fd = open_mapped(path, map, out);
    }
    if (fd < 0) {
        snprintf(path, sizeof path, "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, map->pid,
                 map->address, map->address + map->size_b);
        fd = open_mapped(path, map, out);
    }
    if (fd < 0) /* the process has ended or belongs to another user */
        fd = open_mapped(map->text, map, out);
    *nameless = fd >= 0 && !leads_to(map->text, fd);
    return fd;
}

/* ---- Recorded earlier ----------------------------------------------------------------------- */

/* Returns the last change of the file or its inode. A file that was moved here has an old content
 * time. */
static int64_t changed_ns(const struct stat *st)
{
    const int64_t content = as_timespec_ns(st->st_mtim), inode = as_timespec_ns(st->st_ctim);
    return content > inode ? content : inode;
}

int as_mapped_recorded(const struct as_modules *modules, const struct as_sample_record *map,
                       struct as_file_identity *out)
{
    struct stat st;
    int fd = as_foreign_open(AT_FDCWD, map->text, 0, &st);
    if (fd < 0)
        return -1;
    const bool is_other = map->inode && map->inode != st.st_ino;
    const int64_t mapped_ns = (int64_t)map->time_ns + modules->clock_offset_ns + TICK_NS;
    const int64_t written_ns = modules->written_ns + TICK_NS, at_ns = changed_ns(&st);
    if (out->build_id_b) {
        /* Replaced while it ran: the build-id belongs to the file at the end of the recording. */
        if (map->build_id_by_path && is_other && at_ns > mapped_ns && at_ns <= written_ns)
            *out = (struct as_file_identity){.inode = map->inode};
    } else if (!is_other && at_ns <= mapped_ns && at_ns <= written_ns &&
               is_generation(fd, map->generation) && as_file_identify(fd, out)) {
        return fd;
    }
    close(fd);
    return -1;
}

/* ---- Open files ----------------------------------------------------------------------------- */

static bool has_room(int fd)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) < 0 || (rlim_t)fd + SPARE_FDS < limit.rlim_cur;
}

static void let_go(struct as_modules *modules, struct as_module *module)
{
    close(module->fd);
    module->fd = -1;
    modules->held_n--;
}

/* Closes the oldest file without samples that still has its name. Returns false if there is
 * none. */
static bool make_room(struct as_modules *modules)
{
    as_vec_foreach (&modules->module, module) {
        if (module->fd >= 0 && !module->sampled && !module->nameless) {
            let_go(modules, module);
            return true;
        }
    }
    return false;
}

void as_module_file_take(struct as_modules *modules, uint32_t index, int fd)
{
    assert(index < modules->module.n);
    if (!has_room(fd) || (modules->held_n >= AS_STOPPED_MAX && !make_room(modules))) {
        close(fd);
        return;
    }
    modules->module.at[index].fd = fd;
    modules->held_n++;
}

/* ---- Copying ------------------------------------------------------------------------------- */

/* Copies the file `fd` to a file `name` in `directory`. */
static bool copy_to(const char *directory, const char *name, int fd)
{
    char path[4096 + 64];
    off_t at = 0;
    ssize_t n = 1;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (to < 0)
        return false;
    while (n > 0)
        n = sendfile(to, fd, &at, 16u << 20);
    if (close(to) < 0 || n < 0) {
        unlink(path);
        return false;
    }
    return true;
}

/* Returns true if the file was not overwritten in place since it was mapped. */
static bool is_unchanged(const struct as_module *module)
{
    const struct as_file_identity *then = &module->fact.file;
    struct as_file_identity now;
    return as_file_identify(module->fd, &now) && now.size_b == then->size_b &&
           now.mtime_ns == then->mtime_ns;
}

int as_module_file_copy(struct as_modules *modules, bool all, struct as_writer *writer)
{
    char name[64];
    for (uint32_t i = 0; modules->keep && i < modules->module.n; i++) {
        struct as_module *module = &modules->module.at[i];
        if (module->fd < 0 || !module->sampled || module->fact.kept ||
            !(module->nameless || (all && !leads_to(module->fact.path, module->fd))))
            continue;
        snprintf(name, sizeof name, "module-%" PRIu32, i);
        if (!is_unchanged(module) || !copy_to(modules->keep, name, module->fd))
            continue;
        module->fact.kept = as_arena_strndup(&modules->arena, name, strlen(name));
        if (module->fact.kept)
            AS_TRY(as_writer_kept(writer, i, name));
    }
    return 0;
}
