/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making a directory ready for agents: the control file, the words of the environment, where the
 * library is; and which programs a library cannot be preloaded into (ld.so(8), secure execution).
 */
#include <assay/object.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sample/timer.h"

#define STACK_B 16384u
/* A handler copies what there is, and no more: few stacks are as deep as this. */
#define STACK_MOST_B  65528u
#define RING_LEAST_B  (256u << 10)
#define RING_MOST_B   (64u << 20)
#define RING_STACKS_B (1024u << 10)

/* ---- The library -------------------------------------------------------------------------- */

/* Beside this program, as built or as installed; or where the environment says. */
static int find_library(char *out, struct assay_error *err)
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
        return as_error_set(err, ASSAY_ERR_NOT_FOUND,
                            "%s: the library for timers is not there; install it beside assay, or "
                            "set ASSAY_AGENT_LIBRARY to its path",
                            AS_AGENT_LIBRARY);
    if (strpbrk(out, " :"))
        return as_error_set(err, ASSAY_ERR_USAGE,
                            "%s: a path with a space or colon cannot be preloaded; move it", out);
    return 0;
}

/* ---- Opening ------------------------------------------------------------------------------ */

static int failed(struct assay_error *err, const char *path, int error)
{
    int code =
        error == EACCES || error == EPERM || error == EROFS ? ASSAY_ERR_PERMISSION : ASSAY_ERR_IO;
    return as_error_set(err, code,
                        "%s: cannot be made ready for timers: %s; give a directory that can be "
                        "written",
                        path, strerror(error));
}

static int make_directory(struct assay_timer_sampler *s, const char *directory,
                          struct assay_error *err)
{
    if (mkdir(directory, 0700) < 0 && errno != EEXIST)
        return failed(err, directory, errno);
    char *real = realpath(directory, NULL);
    if (!real)
        return failed(err, directory, errno);
    int n = snprintf(s->directory, sizeof s->directory, AS_AGENT_DIRECTORY "=%s", real);
    free(real);
    /* The agent puts a name behind it. */
    if (n >= (int)sizeof s->directory - 256)
        return as_error_set(err, ASSAY_ERR_LIMIT, "%s: its path is too long; give a shorter one",
                            directory);
    s->word[0] = s->directory;
    return 0;
}

static void fill_control(struct assay_timer_sampler *s)
{
    struct as_agent_control *control = s->control;
    struct as_agent_part *part = &control->part[0];
    struct as_agent_sampling *sampling = s->sampling = (void *)part->data;
    const struct assay_sample_options *o = &s->options;
    bool copy = o->stacks == ASSAY_STACKS_DWARF;
    uint32_t least_b = copy ? RING_STACKS_B : RING_LEAST_B;
    control->version = AS_AGENT_VERSION;
    sampling->stacks = copy                              ? AS_AGENT_COPY
                       : o->stacks == ASSAY_STACKS_FRAME ? AS_AGENT_FRAME
                                                         : AS_AGENT_OFF;
    sampling->period_ns = 1000000000u / o->rate_hz;
    sampling->stack_b = o->stack_b;
    while (o->ring_b && least_b < o->ring_b && least_b < RING_MOST_B)
        least_b *= 2;
    sampling->ring_least_b = least_b;
    sampling->ring_most_b = o->ring_b ? least_b : RING_MOST_B;
    /* Half a second: a quarter of usual copies, or a chain. */
    const uint32_t usual_b = o->stack_b < STACK_B ? o->stack_b : STACK_B;
    sampling->ring_processor_b = o->rate_hz / 2 * (copy ? usual_b / 4 + 256 : 256);
    s->choice.ring_b = least_b;
    struct stat status;
    control->pid_namespace = stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
    control->locked = flock(s->control_fd, LOCK_EX | LOCK_NB) == 0;
    sampling->enabled = 1;
    snprintf(part->client, sizeof part->client, "sampler");
    control->magic = AS_AGENT_MAGIC;
}

static int make_control(struct assay_timer_sampler *s, struct assay_error *err)
{
    char path[sizeof s->directory + 32];
    snprintf(path, sizeof path, "%s/%s", AS_TIMER_PATH(s), AS_AGENT_CONTROL);
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

/* Timers are looked at when the scheduler's clock ticks. */
static void choose_period(struct assay_timer_sampler *s, const char *why)
{
    struct timespec tick = {0, 4000000};
    struct assay_sample_choice *choice = &s->choice;
    char rate[160] = "";
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    uint64_t most_hz = tick.tv_nsec ? 1000000000u / (uint64_t)tick.tv_nsec : 1000;
    choice->event = ASSAY_EVENT_TIMER;
    choice->kernel = true; /* at the place that called it */
    choice->rate_hz = s->options.rate_hz;
    if (most_hz && choice->rate_hz > most_hz) {
        choice->rate_hz = (uint32_t)most_hz;
        snprintf(rate, sizeof rate,
                 "the rate is %u, not %u a second: timers of CPU time are looked at when this "
                 "kernel ticks",
                 choice->rate_hz, s->options.rate_hz);
    }
    snprintf(choice->reason, sizeof choice->reason, "%s%.*s%s%s", why ? "no perf events: " : "",
             360, why ? why : "", why && rate[0] ? "; " : "", rate);
}

static int take_options(struct assay_timer_sampler *s, const struct assay_sample_options *options,
                        struct assay_error *err)
{
    struct assay_sample_options *o = &s->options;
    if (options)
        *o = *options;
    if (o->rate_hz == 0)
        o->rate_hz = ASSAY_RATE_MEDIUM;
    if (o->stack_b == 0)
        o->stack_b = STACK_MOST_B;
    o->stack_b = o->stack_b > STACK_MOST_B ? STACK_MOST_B : (o->stack_b + 7) & ~7u;
    if (o->stacks <= ASSAY_STACKS_DWARF && o->rate_hz <= 1000000)
        return 0;
    return as_error_set(err, ASSAY_ERR_USAGE,
                        "timers: stacks %u and a rate of %u a second cannot be; the rate is at "
                        "most 1000000",
                        o->stacks, o->rate_hz);
}

int assay_timer_sampler_open(const char *directory, const struct assay_sample_options *options,
                             const char *why, struct assay_timer_sampler **out,
                             struct assay_error *err)
{
    struct assay_timer_sampler *s = as_calloc(1, sizeof *s);
    *out = NULL;
    if (!s)
        return as_error_nomem(err, "a sampling session");
    s->control_fd = -1;
    as_arena_init(&s->arena);
    as_map_view_init(&s->files);
    as_spaces_init(&s->spaces);
    int rc = take_options(s, options, err);
    if (rc == 0)
        rc = find_library(s->preload, err);
    if (rc == 0)
        rc = make_directory(s, directory, err);
    if (rc == 0)
        rc = make_control(s, err);
    if (rc == 0)
        choose_period(s, why);
    if (rc < 0)
        assay_timer_sampler_close(&s);
    *out = s;
    return rc;
}

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

static void remove_all(int place, const char *name, int directory)
{
    const int again = dup(directory);
    DIR *dir = again < 0 ? NULL : fdopendir(again);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (strncmp(entry->d_name, AS_AGENT_PREFIX, strlen(AS_AGENT_PREFIX)) == 0)
            unlinkat(directory, entry->d_name, 0);
    unlinkat(directory, AS_AGENT_CONTROL, 0);
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

void assay_timer_sampler_sweep(const char *place, const char *prefix)
{
    DIR *dir = opendir(place);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));)
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
            sweep_directory(dirfd(dir), entry->d_name);
    closedir(dir);
}

/* What stands in the directory is ours: programs that still run find nothing there to use. */
static void clean(struct assay_timer_sampler *s)
{
    char path[sizeof s->directory + 32];
    if (!s->control)
        return;
    s->sampling->enabled = 0;
    munmap(s->control, AS_AGENT_PAGE_B);
    snprintf(path, sizeof path, "%s/%s", AS_TIMER_PATH(s), AS_AGENT_CONTROL);
    unlink(path);
    as_timer_find(s, NULL);
}

void assay_timer_sampler_close(struct assay_timer_sampler **sampler)
{
    struct assay_timer_sampler *s = *sampler;
    if (!s)
        return;
    clean(s);
    if (s->control_fd >= 0)
        close(s->control_fd);
    as_vec_foreach (&s->ring, ring)
        as_timer_ring_close(ring);
    as_vec_fini(&s->ring);
    as_vec_fini(&s->item);
    as_vec_fini(&s->bytes);
    as_vec_fini(&s->spare);
    as_spaces_fini(&s->spaces);
    as_map_view_fini(&s->files);
    as_arena_fini(&s->arena);
    as_free(s);
    *sampler = NULL;
}

const char *const *assay_timer_sampler_environment(const struct assay_timer_sampler *sampler)
{
    return sampler->word;
}

const char *assay_timer_sampler_preload(const struct assay_timer_sampler *sampler)
{
    return sampler->preload;
}

void assay_timer_sampler_only(struct assay_timer_sampler *sampler, pid_t pid)
{
    sampler->control->only_pid = (uint32_t)pid;
}

const struct assay_sample_choice *
assay_timer_sampler_choice(const struct assay_timer_sampler *sampler)
{
    return &sampler->choice;
}

const struct assay_sample_counts *
assay_timer_sampler_counts(const struct assay_timer_sampler *sampler)
{
    return &sampler->counts;
}

const struct assay_timer_facts *assay_timer_sampler_facts(const struct assay_timer_sampler *sampler)
{
    return &sampler->facts;
}

int assay_timer_sampler_enable(struct assay_timer_sampler *sampler, bool on,
                               struct assay_error *err)
{
    (void)err;
    sampler->sampling->enabled = on;
    return 0;
}

/* ---- What can be preloaded ---------------------------------------------------------------- */

/* The interpreter of a script; false: it is none. */
static bool script_of(const char *path, char *out, size_t n)
{
    char line[512] = "";
    FILE *f = fopen(path, "re");
    bool script = f && fgets(line, sizeof line, f) && strncmp(line, "#!", 2) == 0;
    if (f)
        fclose(f);
    const char *at = line + 2 + strspn(line + (script ? 2 : 0), " \t");
    if (script)
        snprintf(out, n, "%.*s", (int)strcspn(at, " \t\r\n"), at);
    return script;
}

/* Whether the kernel gives it more rights than its user has. */
static bool gains(const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0)
        return false;
    return ((status.st_mode & S_ISUID) && status.st_uid != getuid()) ||
           ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) &&
            status.st_gid != getgid()) ||
           (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

static bool needs(const struct assay_object *object, const char *library)
{
    const char *const *name;
    const size_t n = assay_object_needed(object, &name);
    for (size_t i = 0; i < n; i++)
        if (strncmp(name[i], library, strlen(library)) == 0)
            return true;
    return false;
}

int assay_timer_sampler_check(const char *path, struct assay_error *err)
{
    char interpreter[512];
    struct assay_object *object;
    if (script_of(path, interpreter, sizeof interpreter))
        path = interpreter;
    if (gains(path))
        return as_error_set(err, ASSAY_ERR_PERMISSION,
                            "%s: has set-user-ID or capabilities: the loader preloads nothing into "
                            "it, so it cannot be sampled by timers; run it as its owner, or permit "
                            "perf events",
                            path);
    AS_TRY(assay_object_open(path, NULL, &object, err));
    const struct assay_object_info *info = assay_object_info(object);
    int rc = 0;
    if (!info->interpreter)
        rc =
            as_error_set(err, ASSAY_ERR_UNSUPPORTED,
                         "%s: is statically linked: nothing can be preloaded into it, so it cannot "
                         "be sampled by timers; link it dynamically, or permit perf events",
                         path);
    else if (!strstr(info->interpreter, "ld-linux-x86-64"))
        rc = as_error_set(err, ASSAY_ERR_UNSUPPORTED,
                          "%s: its loader is %s, and timers need the GNU C library; permit perf "
                          "events",
                          path, info->interpreter);
    else if (needs(object, "libasan.so"))
        rc = as_error_set(err, ASSAY_ERR_UNSUPPORTED,
                          "%s: is built with AddressSanitizer, which lets nothing be preloaded "
                          "before it, so it cannot be sampled by timers; build it without, or "
                          "permit perf events",
                          path);
    assay_object_close(&object);
    return rc;
}
