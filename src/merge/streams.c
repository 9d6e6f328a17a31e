/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies trace streams (doc/internals/trace.md). PID and TIME in stream.PID.TIME.TID identify a
 * process. Processes of two machines or imports may have the same PID and TIME. All streams of the
 * input then get another TIME, on which nothing else depends.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "merge/internal.h"
#include "trace/read.h"

#define TRACE_DIRECTORY "trace"

struct stream_name {
    uint32_t pid, tid;
    uint64_t time;
};

static bool parse_stream(const char *name, struct stream_name *out)
{
    return as_trace_name_parse(name, &out->pid, &out->time, &out->tid);
}

static void append_stream(const struct stream_name *name, uint64_t later, struct as_str *out)
{
    as_str_appendf(out, "/stream.%" PRIu32 ".%" PRIu64 ".%" PRIu32, name->pid, name->time + later,
                   name->tid);
}

static DIR *open_directory(int at)
{
    const int fd =
        at < 0 ? -1 : openat(at, TRACE_DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !dir)
        close(fd);
    return dir;
}

/* Sets `out` if a process of the input has the PID and TIME of an existing one. Every process
 * has a stream of definitions (thread 0) or of its first thread. */
static int meets_others(DIR *dir, const char *to, uint64_t later, bool *out, struct as_error *err)
{
    struct stream_name name;
    struct as_str path = {0};
    struct stat st;
    *out = false;
    rewinddir(dir);
    for (struct dirent *it; !*out && !path.failed && (it = readdir(dir));) {
        if (!parse_stream(it->d_name, &name))
            continue;
        for (unsigned i = 0; i < 2; i++) {
            as_str_clear(&path);
            as_str_appendz(&path, to);
            append_stream(&name, later, &path);
            *out |= lstat(as_str_z(&path), &st) == 0;
            name.tid = 0;
        }
    }
    const bool failed = path.failed;
    as_str_fini(&path);
    return failed ? as_error_nomem(err, "a trace") : 0;
}

/* Creates an empty stream as a placeholder. The request's callback copies its content later. */
static int leave_stream(const struct as_merge_files *files, const char *name, const char *to,
                        struct as_error *err)
{
    const struct as_merge_request *request = files->request;
    struct as_str from = {0};
    const int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return as_error_set(err, AS_ERR_IO, "%s: cannot be made: %s", to, strerror(errno));
    close(fd);
    as_str_appendf(&from, "%s/run-%03" PRId64 "/" TRACE_DIRECTORY "/%s",
                   as_experiment_path(files->from), files->from_run, name);
    const int rc = from.failed ? as_error_nomem(err, to)
                               : request->copy_later(request->copies, as_str_z(&from), to, err);
    as_str_fini(&from);
    return rc;
}

static int copy_streams(const struct as_merge_files *files, DIR *dir, const char *to,
                        uint64_t later, struct as_error *err)
{
    struct stream_name name;
    struct as_str path = {0};
    int rc = 0;
    rewinddir(dir);
    for (struct dirent *it; rc == 0 && (it = readdir(dir));) {
        if (!parse_stream(it->d_name, &name))
            continue;
        as_str_clear(&path);
        as_str_appendz(&path, to);
        append_stream(&name, later, &path);
        if (path.failed)
            rc = as_error_nomem(err, it->d_name);
        else if (files->request->copy_later)
            rc = leave_stream(files, it->d_name, as_str_z(&path), err);
        else
            rc = as_merge_copy_file(dirfd(dir), it->d_name, as_str_z(&path), err);
    }
    as_str_fini(&path);
    return rc;
}

static int add_streams(const struct as_merge_files *files, DIR *dir, const char *to,
                       struct as_error *err)
{
    uint64_t later = 0;
    bool meets = true;
    if (mkdir(to, 0777) != 0 && errno != EEXIST)
        return as_error_set(err, AS_ERR_IO, "%s: cannot be made: %s", to, strerror(errno));
    AS_TRY(meets_others(dir, to, later, &meets, err));
    while (meets)
        AS_TRY(meets_others(dir, to, ++later, &meets, err));
    return copy_streams(files, dir, to, later, err);
}

int as_merge_streams(const struct as_merge_files *files, struct as_error *err)
{
    const int at = as_merge_open_run(files, files->from_run);
    DIR *dir = open_directory(at);
    struct as_str to = {0};
    int rc = 0;
    if (dir) {
        as_str_appendf(&to, "%s/" TRACE_DIRECTORY, files->to);
        rc = to.failed ? as_error_nomem(err, "a trace")
                       : add_streams(files, dir, as_str_z(&to), err);
        closedir(dir);
    }
    if (at >= 0)
        close(at);
    as_str_fini(&to);
    return rc;
}
