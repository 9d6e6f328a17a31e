/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the steps of builds: copy, command, training run, command again; see build.h. */
#include "trial/build.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "base/tree.h"
#include "trial/internal.h"

#define LOOK_NS 20000000
#define LOG     "build.log"

/* ---- The child ----------------------------------------------------------------------------- */

static bool overwrite_file(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const bool done = fd >= 0 && write(fd, text, strlen(text)) >= 0;
    if (fd >= 0)
        close(fd);
    return done;
}

/* Makes the source directory read-only for this child. This needs root or a user namespace;
 * returns false without either. */
static bool protect_source(const char *source)
{
    char map[64];
    const uid_t uid = getuid();
    const gid_t gid = getgid();

    if (uid == 0 ? unshare(CLONE_NEWNS) != 0 : unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return false;
    if (uid != 0) {
        snprintf(map, sizeof map, "%u %u 1", (unsigned)uid, (unsigned)uid);
        (void)overwrite_file("/proc/self/setgroups", "deny");
        (void)overwrite_file("/proc/self/uid_map", map);
        snprintf(map, sizeof map, "%u %u 1", (unsigned)gid, (unsigned)gid);
        (void)overwrite_file("/proc/self/gid_map", map);
    }
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount(source, source, NULL, MS_BIND | MS_REC, NULL) == 0 &&
           mount(NULL, source, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) == 0;
}

bool as_build_tree_can_protect(const char *source)
{
    int status = 1;
    const pid_t pid = fork();

    if (pid == 0)
        _exit(protect_source(source) ? 0 : 1);
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static void redirect_all(const char *log)
{
    const int in = open("/dev/null", O_RDONLY),
              out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (in >= 0)
        dup2(in, STDIN_FILENO);
    if (out >= 0) {
        dup2(out, STDOUT_FILENO);
        dup2(out, STDERR_FILENO);
    }
}

/* Starts a process in its own process group in `directory`. It builds `plan`, or runs the
 * program if `plan` is NULL. Returns its pid, or -1. */
static pid_t start_child(const struct as_build_tree *build_tree, const char *directory,
                         const char *log, const char *const *words,
                         const struct as_build_plan *plan)
{
    const pid_t pid = fork();

    if (pid != 0) {
        if (pid > 0)
            (void)setpgid(pid, pid);
        return pid;
    }
    (void)setpgid(0, 0);
    for (int i = 1; i < NSIG; i++)
        (void)signal(i, SIG_DFL);
    redirect_all(log);
    if (plan) {
        /* Temporary files of a killed compiler are removed with the build tree. */
        (void)setenv("TMPDIR", build_tree->temporary, 1);
        (void)protect_source(build_tree->source);
        if (plan->only)
            as_build_tree_enter_wrap(build_tree, plan);
    }
    if (chdir(directory) == 0)
        execvp(words[0], (char *const *)(uintptr_t)words);
    dprintf(STDERR_FILENO, "%s: %s\n", words[0], strerror(errno));
    _exit(127);
}

/* ---- Results of a child -------------------------------------------------------------------- */

/* Finds the error line of a log: the first with "error", else the last line. */
static void find_error(const char *log, char *out, size_t size_b)
{
    char line[1024];
    FILE *file = fopen(log, "re");
    bool found = false;

    snprintf(out, size_b, "the command failed and wrote nothing");
    while (file && !found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        for (char *c = line; *c; c++)
            if ((unsigned char)*c < ' ' || *c == 0x7f)
                *c = ' ';
        found = strstr(line, "error") || strstr(line, "not found") || strstr(line, "No space left");
        if (line[0])
            snprintf(out, size_b, "%.*s", (int)size_b - 1, line);
    }
    if (file)
        fclose(file);
}

static void fail_build(struct as_build *build, const char *log)
{
    build->state = AS_BUILD_FAILED;
    find_error(log, build->error, sizeof build->error);
}

/* Removes objects and programs of the training build, so that the next build makes them again. */
static int forget_object(void *context, const char *path)
{
    const char *dot = strrchr(path, '.');
    (void)context;
    if ((dot && (strcmp(dot, ".o") == 0 || strcmp(dot, ".lo") == 0)) || as_code_is_program(path))
        (void)unlink(path);
    return 0;
}

/* ---- Steps --------------------------------------------------------------------------------- */

enum { STEP_COPY, STEP_TRAIN_BUILD, STEP_TRAIN, STEP_MERGE, STEP_BUILD, STEP_END };

static void log_of(const struct as_build *build, char *path, size_t size_b)
{
    snprintf(path, size_b, "%s.log", build->directory);
}

/* Returns `text` with {profile} filled in; NULL without memory. */
static const char *with_profile(struct as_build_tree *build_tree, const struct as_build *build,
                                const char *text)
{
    char path[PATH_MAX + 16];

    snprintf(path, sizeof path, "%s.profile", build->directory);
    return as_build_tree_fill(build_tree, text, "{profile}", path);
}

static int start_shell(struct as_build_tree *build_tree, struct as_build *build,
                       const char *command, struct as_error *err)
{
    const char *const words[] = {"/bin/sh", "-c", command, NULL};
    char log[PATH_MAX + 16];

    log_of(build, log, sizeof log);
    if (!command)
        return as_error_nomem(err, "a build");
    build->pid = start_child(build_tree, build->directory, log, words, &build->plan);
    return build->pid < 0 ? as_error_set(err, AS_ERR_LIMIT, "%s: cannot be started: %s", command,
                                         strerror(errno))
                          : 0;
}

static int start_command(struct as_build_tree *build_tree, struct as_build *build,
                         const char *flags, struct as_error *err)
{
    struct as_str all = {0};

    as_str_appendz(&all, flags);
    if (build_tree->use_map)
        as_str_appendf(&all, "%s-ffile-prefix-map=%s=%s", flags[0] ? " " : "", build->directory,
                       build_tree->source);
    const char *filled = all.failed ? NULL : with_profile(build_tree, build, as_str_z(&all));
    as_str_fini(&all);
    return start_shell(build_tree, build, as_build_tree_command(build_tree, filled), err);
}

static int start_training(struct as_build_tree *build_tree, struct as_build *build,
                          const struct as_build_watch *watch, struct as_error *err)
{
    char log[PATH_MAX + 16];
    size_t replaced;
    const char *const *words =
        as_build_tree_words(build_tree, build, build_tree->options.program, &replaced);

    if (!words)
        return as_error_nomem(err, "a build");
    snprintf(log, sizeof log, "%s.train", build->directory);
    build->pid = start_child(build_tree, build_tree->here, log, words, NULL);
    build->end_ns = as_monotonic_ns() + (int64_t)(watch->train_s * 1e9);
    return build->pid < 0 ? as_error_set(err, AS_ERR_LIMIT, "%s: cannot be started: %s", words[0],
                                         strerror(errno))
                          : 0;
}

/* Copies the source. A copy that fails on a full disk fails only this build, since others may be
 * complete. */
static int copy_source(struct as_build_tree *build_tree, struct as_build *build,
                       struct as_error *err)
{
    struct as_error why = {0};

    snprintf(build->directory, sizeof build->directory, "%.3900s/%03zu", build_tree->root,
             build_tree->build_n++);
    const int rc = as_tree_copy(&build_tree->copy, build->directory, &why);
    if (rc == AS_ERR_IO) {
        build->state = AS_BUILD_FAILED;
        snprintf(build->error, sizeof build->error, "%.*s", (int)sizeof build->error - 1, why.text);
        (void)as_tree_remove(AT_FDCWD, build->directory);
        return 0;
    }
    if (rc < 0 && err)
        *err = why;
    return rc;
}

static int begin_build(struct as_build_tree *build_tree, struct as_build *build,
                       struct as_error *err)
{
    const struct as_build_plan *plan = &build->plan;

    if (plan->only)
        AS_TRY(as_build_tree_wrap(build_tree, err));
    AS_TRY(copy_source(build_tree, build, err));
    if (build->state == AS_BUILD_FAILED)
        return 0;
    build->step = plan->train ? STEP_TRAIN_BUILD : STEP_BUILD;
    build->state = AS_BUILD_AT_WORK;
    if (plan->train)
        return start_command(build_tree, build, plan->train, err);
    return start_command(build_tree, build, plan->only ? "" : plan->flags, err);
}

static int next_step(struct as_build_tree *build_tree, struct as_build *build,
                     const struct as_build_watch *watch, struct as_error *err)
{
    if (build->step == STEP_COPY)
        return begin_build(build_tree, build, err);
    build->step++;
    if (build->step == STEP_TRAIN)
        return start_training(build_tree, build, watch, err);
    if (build->step == STEP_MERGE && build->plan.merge)
        return start_shell(build_tree, build, with_profile(build_tree, build, build->plan.merge),
                           err);
    if (build->step == STEP_MERGE)
        build->step++;
    if (build->step == STEP_BUILD) {
        as_tree_files(build->directory, forget_object, NULL);
        return start_command(build_tree, build, build->plan.flags, err);
    }
    build->state = AS_BUILD_DONE;
    build->pid = 0;
    return as_code_digest(build->directory, &build->digest, err);
}

/* Checks that the user's directory is unchanged, if a build could have written there. */
static void look_at_source(struct as_build_tree *build_tree, struct as_build *build)
{
    struct as_tree_size now;

    if (build_tree->is_protected || build->plan.train)
        return;
    if (as_tree_measure(&build_tree->copy, &now, NULL) < 0 || now.digest == build_tree->size.digest)
        return;
    build_tree->size = now;
    build->state = AS_BUILD_FAILED;
    snprintf(build->error, sizeof build->error,
             "the source directory %.150s changed during the build: the build may write there",
             build_tree->source);
}

/* Continues a build after its child ended: starts the next step, or fails the build. */
static int go_on(struct as_build_tree *build_tree, struct as_build *build,
                 const struct as_build_watch *watch, int status, struct as_error *err)
{
    char log[PATH_MAX + 16];

    log_of(build, log, sizeof log);
    build->pid = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        if (build->step == STEP_TRAIN)
            snprintf(log, sizeof log, "%s.train", build->directory);
        fail_build(build, log);
        return 0;
    }
    AS_TRY(next_step(build_tree, build, watch, err));
    if (build->state == AS_BUILD_DONE)
        look_at_source(build_tree, build);
    return 0;
}

/* ---- All builds ---------------------------------------------------------------------------- */

static void end_child(struct as_build *build)
{
    if (build->pid <= 0)
        return;
    (void)kill(-build->pid, SIGKILL);
    (void)waitpid(build->pid, NULL, 0);
    build->pid = 0;
}

static int look_at_child(struct as_build_tree *build_tree, struct as_build *build,
                         const struct as_build_watch *watch, struct as_error *err)
{
    int status;

    if (build->step == STEP_TRAIN && as_monotonic_ns() > build->end_ns) {
        end_child(build);
        build->state = AS_BUILD_FAILED;
        snprintf(build->error, sizeof build->error, "the training run took too long");
        return 0;
    }
    const pid_t pid = waitpid(build->pid, &status, WNOHANG);
    return pid == build->pid ? go_on(build_tree, build, watch, status, err) : 0;
}

static bool is_at_end(const struct as_build_watch *watch)
{
    return as_monotonic_ns() > watch->end_ns || (watch->stop && watch->stop(watch->context));
}

/* Checks all builds once, and starts waiting ones. Sets `left` to the number of unfinished
 * builds. */
static int look_at_builds(struct as_build_tree *build_tree, struct as_build *build, size_t n,
                          const struct as_build_watch *watch, size_t *left, struct as_error *err)
{
    size_t at_work = 0;

    *left = 0;
    for (size_t i = 0; i < n; i++) {
        if (build[i].state == AS_BUILD_AT_WORK)
            AS_TRY(look_at_child(build_tree, &build[i], watch, err));
        at_work += build[i].state == AS_BUILD_AT_WORK;
    }
    for (size_t i = 0; i < n; i++) {
        if (build[i].state == AS_BUILD_WAITING && at_work < build_tree->options.jobs) {
            if (watch->tell)
                watch->tell(watch->context, &build[i]);
            AS_TRY(next_step(build_tree, &build[i], watch, err));
            at_work++;
        }
        *left += build[i].state == AS_BUILD_WAITING || build[i].state == AS_BUILD_AT_WORK;
    }
    return 0;
}

int as_build_tree_build(struct as_build_tree *build_tree, struct as_build *build, size_t n,
                        const struct as_build_watch *watch, struct as_error *err)
{
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    size_t left = n;
    int rc =
        build_tree->is_protected ? 0 : as_tree_measure(&build_tree->copy, &build_tree->size, err);

    while (rc == 0 && left && !is_at_end(watch)) {
        rc = look_at_builds(build_tree, build, n, watch, &left, err);
        if (rc == 0 && left)
            nanosleep(&pause, NULL);
    }
    for (size_t i = 0; i < n; i++) {
        end_child(&build[i]);
        if (build[i].state == AS_BUILD_AT_WORK) {
            build[i].state = AS_BUILD_WAITING;
            build[i].step = STEP_COPY;
        }
    }
    return rc;
}
