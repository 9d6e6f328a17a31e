/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads facts about a process: program, command and rank while it runs, its map of generated code
 * also soon after.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/io_full.h"
#include "base/untrusted_open.h"
#include "experiment/secrets.h"
#include "profile/record.h"

/* Reads the command line of a process, without secrets, as one text with blanks. Returns false if
 * there is none. */
static bool read_command(uint32_t pid, struct as_str *out)
{
    char path[64], words[4096];
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/cmdline", pid);
    ssize_t n = as_whole_text(path, words, sizeof words);
    while (n > 0 && words[n - 1] == 0)
        n--;
    if (n > 0)
        as_secrets_words(out, words, (size_t)n);
    return n > 0;
}

static bool read_exe(uint32_t pid, char *out, size_t out_b)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/exe", pid);
    const ssize_t n = readlink(path, out, out_b - 1);
    out[n > 0 ? n : 0] = 0;
    return n > 0;
}

static int record_rank(struct as_recorder *recorder, uint32_t pid, uint64_t time_ns,
                       struct as_error *err)
{
    char text[32];
    struct as_job_rank rank;
    if (!as_launch_rank_of_process((pid_t)pid, &rank))
        return 0;
    snprintf(text, sizeof text, "%" PRId64, rank.rank);
    AS_TRY(as_recorder_process(recorder, pid, time_ns, "rank", text, err));
    return as_recorder_process(recorder, pid, time_ns, "launcher", rank.launcher, err);
}

int as_record_process(struct as_recorder *recorder, uint32_t pid, uint64_t time_ns, bool is_last,
                      struct as_error *err)
{
    char exe[4096];
    struct as_str command = {0};
    const bool is_there = read_exe(pid, exe, sizeof exe);
    int rc = 0;
    /* The kernel reports an exec before the arguments and the environment can be read. */
    if (!read_command(pid, &command) && is_there && !is_last)
        return 1;
    if (command.failed)
        rc = as_error_nomem(err, "the command of a process");
    if (rc == 0 && is_there)
        rc = as_recorder_process(recorder, pid, time_ns, "exe", exe, err);
    if (rc == 0 && command.n)
        rc = as_recorder_process(recorder, pid, time_ns, "command", as_str_z(&command), err);
    as_str_fini(&command);
    return rc < 0 ? rc : record_rank(recorder, pid, time_ns, err);
}

int as_record_end(struct as_recorder *recorder, uint32_t pid, uint64_t time_ns, int status,
                  struct as_error *err)
{
    char text[16];
    const bool by_signal = WIFSIGNALED(status);
    snprintf(text, sizeof text, "%d", by_signal ? WTERMSIG(status) : WEXITSTATUS(status));
    return as_recorder_process(recorder, pid, time_ns, by_signal ? "exit_signal" : "exit_code",
                               text, err);
}

/* Returns true if the user of the process owns the file, because any user can make such a file. */
static bool is_from(int fd, uid_t user)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
           (status.st_uid == user || status.st_uid == 0);
}

void as_record_generated(const char *directory, uint32_t pid, uid_t user)
{
    char from[64], to[4096 + 64];
    snprintf(from, sizeof from, "/tmp/perf-%" PRIu32 ".map", pid);
    const int in = as_foreign_open(AT_FDCWD, from, AS_FOREIGN_NO_LINK, NULL);
    if (in < 0)
        return;
    snprintf(to, sizeof to, "%.4096s/perf-%" PRIu32 ".map", directory, pid);
    const int out = is_from(in, user) ? as_foreign_create(AT_FDCWD, to) : -1;
    while (out >= 0 && sendfile(out, in, NULL, 16u << 20) > 0)
        continue;
    if (out >= 0)
        close(out);
    close(in);
}

uid_t as_record_user(uint32_t pid)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%" PRIu32, pid);
    return stat(path, &status) == 0 ? status.st_uid : geteuid();
}
